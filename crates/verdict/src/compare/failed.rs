//! Rows that no ratio tells apart: shares that are often 0, and percentiles that are over the time limit.
//!
//! A share is judged by its difference, with the runs of a side as its sample, or the takes of a single run. A
//! percentile that falls on a failed request is slower than any number; that it does, and that the other side's does
//! not, is tested by the shares of failed requests in the takes against the share that the percentile leaves beyond
//! it.

use model::card;
use model::data::Series;
use model::metrics::load::REQUESTS;
use model::why::{OverLimit, Reason};
use stats::{Shares, Verdict};

use super::judged::{Apart, Found};
use super::matching::RowKey;
use super::prepared::Entry;
use super::side::CompareOptions;
use crate::quantiles::Quantile;

/// A side by its name and the entries that speak.
pub type Speaking<'e, 'a> = (&'e str, &'e [&'e Entry<'a>]);

/// `None` where the row is judged by its ratio, as others are.
pub fn found(
    key: &RowKey,
    arm: Speaking<'_, '_>,
    base: Speaking<'_, '_>,
    options: &CompareOptions,
) -> Option<Found> {
    let info = card::find(options.cards, &key.instrument)?.metric(&key.metric)?;
    if let Some(margin) = info.apart {
        return Some(shares(arm.1, base.1, margin));
    }
    info.quantile_of?;
    let (of_arm, of_base) = (pooled(arm.1)?, pooled(base.1)?);
    let (is_arm_over, is_base_over) = (of_arm.value()?.is_infinite(), of_base.value()?.is_infinite());
    let over = |sides: &[&str]| {
        Reason::OverLimit(OverLimit { sides: sides.iter().map(|side| (*side).to_owned()).collect() })
    };
    let beyond = 1.0 - of_arm.q;
    let p = || {
        let p = |side: &Quantile| {
            let (each, events) = side.over();
            stats::share_p(Shares { each: &each, events, between: 0.0 }, beyond)
        };
        Some(p(&of_arm)?.max(p(&of_base)?))
    };
    Some(match (is_arm_over, is_base_over) {
        (false, false) => return None,
        (true, true) => Found::Nothing(over(&[arm.0, base.0])),
        (true, false) => {
            Found::Apart(Apart { verdict: Verdict::Worse, p: p(), reason: Some(over(&[arm.0])) })
        }
        (false, true) => {
            Found::Apart(Apart { verdict: Verdict::Better, p: p(), reason: Some(over(&[base.0])) })
        }
    })
}

/// The quantile of all runs of a side together.
fn pooled(entries: &[&Entry<'_>]) -> Option<Quantile> {
    let each = entries.iter().filter_map(|entry| entry.quantile.clone());
    each.reduce(|mut all, one| {
        all.extend(one);
        all
    })
}

/// The share by which an error rate is assumed to differ from run to run, which one run each cannot show: a quarter.
const BETWEEN_RUNS: f64 = 0.25;

/// The shares of a side, one a run where both sides have several runs, else one a take; and the requests behind them.
fn sample(entries: &[&Entry<'_>], by_run: bool) -> (Vec<f64>, f64) {
    let usable = |entry: &&Entry<'_>| -> Vec<f64> {
        entry.series.measured().into_iter().filter(|share| share.is_finite()).collect()
    };
    let shares: Vec<Vec<f64>> = entries.iter().map(usable).collect();
    let each =
        if by_run { shares.iter().filter_map(|run| stats::mean(run)).collect() } else { shares.concat() };
    let requests = |entry: &&Entry<'_>| -> f64 {
        let key = &entry.series.key;
        let is_of = |other: &&Series| other.key.metric == REQUESTS.name() && other.key.is_beside(key);
        entry.run.series.iter().find(is_of).map_or(0.0, |series| series.measured().iter().sum())
    };
    (each, entries.iter().map(requests).sum())
}

/// Shares of which less is better: the arm's against the base's, by their difference.
fn shares(arm: &[&Entry<'_>], base: &[&Entry<'_>], margin: f64) -> Found {
    let by_run = arm.len() > 1 && base.len() > 1;
    let study = |entries: &[&Entry<'_>]| entries.first().map(|entry| entry.run.head.study.clone());
    let of_one_study = study(arm).is_some_and(|id| !id.is_empty()) && study(arm) == study(base);
    let ((arm, of_arm), (base, of_base)) = (sample(arm, by_run), sample(base, by_run));
    let nothing = |side: &[f64]| side.iter().all(|share| *share == 0.0);
    if nothing(&arm) && nothing(&base) && !arm.is_empty() && !base.is_empty() {
        return Found::Apart(Apart { verdict: Verdict::Tie, p: None, reason: None });
    }
    let of = |each, events| Shares {
        each,
        events,
        between: if by_run || of_one_study { 0.0 } else { BETWEEN_RUNS },
    };
    let Some((apart, p)) = stats::shares_apart(of(&arm, of_arm), of(&base, of_base)) else {
        let have = arm.len().min(base.len());
        return Found::Nothing(super::why::no_interval(None, &stats::Unfit::TooFew { have, need: 2 }));
    };
    let verdict = match apart {
        apart if apart.low > margin => Verdict::Worse,
        apart if apart.high < -margin => Verdict::Better,
        apart if apart.low >= -margin && apart.high <= margin => Verdict::Tie,
        _ => Verdict::CannotTell(stats::Held::Interval),
    };
    Found::Apart(Apart { verdict, p: Some(p), reason: None })
}

#[cfg(test)]
mod tests {
    use model::Value;
    use model::data::RunData;
    use model::doc::{MachineDoc, RowDoc, VerdictWord};

    use crate::loads::planted::{one, times};
    use crate::{CompareOptions, Side, compare, run_doc};

    const GIVEN: &str = "arrivals=poisson;connections=50;rate=1000";

    /// An open loop of 1,000 requests a second for ten seconds a take, of which these shares failed in the takes.
    fn served(id: &str, level_us: u64, failed: &[f64]) -> RunData {
        let share = failed[0];
        let figures = [
            ("throughput", 1_000.0 * (1.0 - share)),
            ("offered-load", 1_000.0),
            ("requests", 10_000.0),
            ("window", 10.0),
            ("response-time-p99", 1e-3),
            ("error-rate", share),
            ("failed;kind=reset", 10_000.0 * share),
        ];
        let mut run = one(GIVEN, &figures);
        (run.head.id, run.head.study, run.head.machine_id) = (id.into(), id.into(), id.into());
        let seqs: Vec<u64> = run.takes.iter().map(|take| take.seq).collect();
        let spread = [(level_us, 9_500), (level_us * 2, 490), (level_us * 3, 10)];
        times(&mut run, &seqs, "response-times", GIVEN, &spread);
        let share_of = |at: usize| failed[at % failed.len()];
        for series in &mut run.series {
            for (at, point) in series.points.iter_mut().enumerate() {
                match (&mut point.value, series.key.metric.as_str()) {
                    (Value::Histogram(times), _) => {
                        let over = (10_000.0 * share_of(at) / (1.0 - share_of(at))) as u64;
                        times.record_over(over);
                    }
                    (Value::Number(number), "error-rate") => *number = share_of(at),
                    (Value::Number(number), "response-time-p99") if share_of(at) > 0.01 => {
                        *number = f64::INFINITY
                    }
                    (Value::Number(_), _) => {}
                }
            }
        }
        run
    }

    fn rows(arm: &RunData, base: &RunData) -> (Vec<RowDoc>, model::doc::CompareDoc) {
        let side = |run| {
            let machine = MachineDoc { id: String::new(), name: String::new() };
            Side { runs: vec![run], ..Side::new(&RunData::clone(run).head.id, machine) }
        };
        let options = CompareOptions { all: true, cards: instruments::cards(), ..CompareOptions::default() };
        let doc = compare(&[side(base), side(arm)], &options);
        (doc.rows.clone(), doc)
    }

    fn verdict(arm: &RunData, base: &RunData, metric: &str) -> (VerdictWord, String) {
        let row = rows(arm, base).0.into_iter().find(|row| row.metric == metric).unwrap();
        (row.verdict, row.why.to_string())
    }

    #[test]
    fn who_resets_a_third_of_its_requests_wins_nothing() {
        // Those that it answers, it answers in half the time.
        let good = served("good", 1_000, &[0.0]);
        let resets = served("resets", 500, &[0.3, 0.29, 0.31]);
        let (word, why) = verdict(&resets, &good, "response-time-p99");
        assert_eq!(word, VerdictWord::Worse);
        assert!(why.starts_with("resets is over the time limit: it falls on a failed request"), "{why}");
        assert_eq!(verdict(&good, &resets, "response-time-p99").0, VerdictWord::Better);
        assert_eq!(verdict(&resets, &good, "error-rate").0, VerdictWord::Worse);
        assert_eq!(verdict(&good, &resets, "error-rate").0, VerdictWord::Better);
        assert_eq!(verdict(&resets, &good, "throughput").0, VerdictWord::Worse);
        let doc = rows(&resets, &good).1;
        assert!(doc.rows.iter().all(|row| row.verdict != VerdictWord::Better), "{:?}", doc.rows);
    }

    #[test]
    fn few_failures_make_a_percentile_slower_and_not_endless() {
        // 0.5 %: the p99 is what the p99.5 would be, which is still an answer.
        let (good, fails) = (served("good", 1_000, &[0.0]), served("fails", 1_000, &[0.005]));
        assert_eq!(verdict(&fails, &good, "error-rate").0, VerdictWord::Worse);
        let all = rows(&fails, &good).0;
        let p99 = all.into_iter().find(|row| row.metric == "response-time-p99").unwrap();
        assert!(p99.arm_value.is_some_and(f64::is_finite) && p99.low.is_some(), "{p99:?}");
        let (hardly, both) = (served("hardly", 1_000, &[0.0005]), served("both", 1_000, &[0.02, 0.021]));
        assert_eq!(verdict(&hardly, &good, "error-rate").0, VerdictWord::Tie);
        let of_both = verdict(&served("other", 1_000, &[0.03]), &both, "response-time-p99");
        assert_eq!(of_both.0, VerdictWord::CannotTell);
        assert!(of_both.1.contains("are over the time limit"), "{of_both:?}");
        // Now and then: whether the next run's falls on one is open.
        let (verdict, _) =
            verdict(&served("some", 1_000, &[0.0, 0.0, 0.0, 0.09]), &good, "response-time-p99");
        assert_eq!(verdict, VerdictWord::CannotTell);
    }

    #[test]
    fn no_failures_on_both_sides_are_a_tie_without_a_test() {
        let (a, b) = (served("a", 1_000, &[0.0]), served("b", 1_000, &[0.0]));
        let row = rows(&a, &b).0.into_iter().find(|row| row.metric == "error-rate").unwrap();
        assert_eq!((row.verdict, row.p, row.p_holm), (VerdictWord::Tie, None, None));
    }

    #[test]
    fn a_load_with_failures_is_not_served_in_full() {
        let context = || crate::RunContext { cards: instruments::cards(), ..crate::RunContext::default() };
        let says = |run: &RunData| run_doc(run, &context()).bottlenecks[0].sentence.clone();
        assert!(says(&served("good", 1_000, &[0.0])).starts_with("serves all that is offered (1.00 k/s)"));
        assert!(says(&served("hardly", 1_000, &[0.0009])).starts_with("serves all that is offered"));
        assert_eq!(
            says(&served("fails", 1_000, &[0.045])),
            "answers 95.5 % of what is offered (1.00 k/s), 4.5 % fail: 3,600 reset"
        );
        let doc = run_doc(&served("resets", 1_000, &[0.3]), &context());
        let p99 = doc.series.iter().find(|row| row.metric == "response-time-p99").unwrap();
        assert_eq!((p99.median, p99.why.as_deref()), (Some(f64::INFINITY), Some("over the time limit")));
    }
}
