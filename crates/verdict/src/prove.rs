//! Holds what was planted against what was read of it, line by line.
//!
//! A line passes where both agree, fails where they do not or where nothing was read, and is unknown only where the
//! host did not let the fault be planted, or where a single gap that other work tore into the cores is longer than what
//! a time was missed by. Times are s, shares 0 to 1. Nothing is measured here.

use std::collections::BTreeMap;

use model::data::{RunData, Series};
use model::doc::{Binding, ProofDoc, ProofLineDoc, ProofState, ProveDoc};
use model::metrics::load;
use model::reading::{Phase, Value};
use model::{Cards, FactValue, Histogram, Unit, Validity};

use crate::bottleneck::bottlenecks;
use crate::rules::rulings;
use crate::run_index::RunContext;
use crate::run_index::RunIndex;
use model::format;

/// How far a time may be from the planted one: the larger of both.
const TIME_S: f64 = 50e-6;
const TIME_SHARE: f64 = 0.01;
/// How late sends may be that have a core of their own.
const LATE_S: f64 = 100e-6;
/// Delays of the machine itself, if they are longer: gaps of a loop that only reads the clock, or the time that a bare
/// reader who sleeps takes to wake.
const JITTER: &str = " (jitter)";
const WAKING: &str = " (wake-ups)";

/// A line of a proof, with its state.
fn line(what: &str, planted: FactValue, read: Option<FactValue>, wanted: String, pass: bool) -> ProofLineDoc {
    let why = read.is_none().then(|| "nothing was read".to_owned());
    let state = if pass && read.is_some() { ProofState::Pass } else { ProofState::Fail };
    ProofLineDoc { what: what.to_owned(), unit: None, planted, read, wanted, state, why }
}

fn number(value: Option<f64>) -> Option<FactValue> {
    value.filter(|value| value.is_finite()).map(FactValue::Number)
}

/// A number that must be read to within `off`.
pub fn within(what: &str, unit: Unit, planted: f64, read: Option<f64>, off: f64) -> ProofLineDoc {
    let pass = read.is_some_and(|read| (read - planted).abs() <= off);
    let wanted = format!("within {}", format::quantity(off, unit));
    ProofLineDoc { unit: Some(unit), ..line(what, FactValue::Number(planted), number(read), wanted, pass) }
}

/// A count that must be read exactly.
pub fn same(what: &str, planted: u64, read: Option<u64>) -> ProofLineDoc {
    let read_number = number(read.map(|count| count as f64));
    let planted_number = FactValue::Number(planted as f64);
    let count = line(what, planted_number, read_number, "the same".to_owned(), read == Some(planted));
    ProofLineDoc { unit: Some(Unit::Count), ..count }
}

/// A number that must stay below `limit`, whatever was planted.
pub fn at_most(what: &str, unit: Unit, planted: f64, limit: f64, read: Option<f64>) -> ProofLineDoc {
    let pass = read.is_some_and(|read| read <= limit);
    let wanted = format!("at most {}", format::quantity(limit, unit));
    let below = line(what, FactValue::Number(planted), number(read), wanted, pass);
    ProofLineDoc { unit: Some(unit), ..below }
}

/// A fault that this host did not let be planted, or a measurement that failed.
pub fn missing(what: &str, planted: &str, state: ProofState, why: &str) -> ProofLineDoc {
    ProofLineDoc {
        what: what.to_owned(),
        unit: None,
        planted: FactValue::Text(planted.to_owned()),
        read: None,
        wanted: String::new(),
        state,
        why: Some(why.to_owned()),
    }
}

/// The machine's own gaps while a loop only reads the clock: what somebody who comes at any moment waits for. Gaps of
/// several places that a request passes add up. Beside them, how long a bare reader took to wake who slept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gaps {
    pub span_ns: u64,
    pub gaps_ns: Vec<u64>,
    pub wakes_ns: Vec<u64>,
}

/// Others that have more than this share of the cores spoil times.
const BUSY: f64 = 0.01;

impl Gaps {
    /// The share of the time that lay in gaps.
    pub fn lost(&self) -> f64 {
        self.gaps_ns.iter().map(|gap| *gap as f64).sum::<f64>() / self.span_ns.max(1) as f64
    }

    /// The mean wait of somebody who comes at any moment and then wakes a reader, in seconds.
    pub fn mean_s(&self) -> f64 {
        let squares = self.gaps_ns.iter().map(|gap| (*gap as f64 / 1e9).powi(2)).sum::<f64>();
        let wakes = self.wakes_ns.iter().map(|wake| *wake as f64 / 1e9).sum::<f64>();
        squares / 2.0 / (self.span_ns.max(1) as f64 / 1e9) + wakes / self.wakes_ns.len().max(1) as f64
    }

    /// By how much a quantile of times rises, in seconds, where each ends with a wake-up, whichever.
    pub fn woken_s(&self, quantile: f64, times: &Histogram) -> f64 {
        let mut late = Histogram::default();
        for (ns, count) in times.bins() {
            self.wakes_ns.iter().for_each(|wake| late.record_n(ns.saturating_add(*wake), count));
        }
        let (Some(without), Some(with)) = (times.quantile_ns(quantile), late.quantile_ns(quantile)) else {
            return 0.0;
        };
        with.saturating_sub(without) as f64 / 1e9
    }

    /// Tolerance at a quantile of these times in s: `least`, or the delay of the machine itself with its name.
    fn allowed(&self, least: f64, quantile: f64, times: &Histogram) -> (f64, &'static str) {
        let added = [(self.wait_s(quantile), JITTER), (self.woken_s(quantile, times), WAKING)];
        added.into_iter().fold((least, ""), |most, one| if one.0 > most.0 { one } else { most })
    }

    /// The longest time that the machine itself kept somebody waiting, in seconds.
    fn longest_s(&self) -> f64 {
        self.gaps_ns.iter().chain(&self.wakes_ns).max().map_or(0.0, |longest| *longest as f64 / 1e9)
    }

    /// Says what else may have spoilt a line that is wrong by `beyond` seconds more than is allowed. Nobody can tell
    /// whether it was that or the reading where one gap alone is as long.
    pub fn blamed(&self, mut line: ProofLineDoc, beyond: f64) -> ProofLineDoc {
        let (lost, longest) = (self.lost(), self.longest_s());
        if line.state == ProofState::Fail && line.read.is_some() && lost > BUSY {
            let (share, most) = (format::percent(lost), format::quantity(longest, Unit::Second));
            line.why = Some(format!(
                "other work took {share} of a core's time here, up to {most} at once: try again on a quiet machine"
            ));
            if beyond <= longest {
                line.state = ProofState::Unknown;
            }
        }
        line
    }

    /// The wait that a share `quantile` of all moments does not exceed, in seconds.
    pub fn wait_s(&self, quantile: f64) -> f64 {
        let beyond = |wait: f64| -> f64 {
            let over = self.gaps_ns.iter().map(|gap| (*gap as f64 - wait).max(0.0)).sum::<f64>();
            over / self.span_ns.max(1) as f64
        };
        let longest = self.gaps_ns.iter().copied().max().unwrap_or(0) as f64;
        let (mut low, mut high) = (0.0, longest);
        if beyond(0.0) <= 1.0 - quantile {
            return 0.0;
        }
        // Halved 60 times, it is known to less than a nanosecond.
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            if beyond(middle) > 1.0 - quantile { low = middle } else { high = middle }
        }
        high / 1e9
    }
}

/// How long the server itself had the same requests: until their answers began to leave, and until they had left.
#[derive(Clone, Copy, Debug)]
pub struct Own<'h> {
    pub held: &'h Histogram,
    pub answered: &'h Histogram,
}

/// A percentile of a metric of times against the server's own: within 50 us, 1 %, or what the machine itself adds
/// there.
/// The answer left somewhere between the server's two readings of the clock; the middle of both is what was planted.
pub fn percentile(
    name: &str,
    quantile: f64,
    own: Own<'_>,
    read: Option<&Histogram>,
    gaps: &Gaps,
) -> ProofLineDoc {
    let seconds = |histogram: &Histogram| histogram.quantile_ns(quantile).map(|ns| ns as f64 / 1e9);
    let percent = format!("{:.1}", quantile * 100.0);
    let what = format!("p{} {name}", percent.trim_end_matches(".0"));
    let (Some(held), Some(answered)) = (seconds(own.held), seconds(own.answered)) else {
        return missing(&what, "none", ProofState::Fail, "the server answered nothing");
    };
    let (middle, half) = ((held + answered) / 2.0, (answered - held) / 2.0);
    let (off, whose) = gaps.allowed(TIME_S.max(TIME_SHARE * held), quantile, own.held);
    let read = read.and_then(seconds);
    let mut line = within(&what, Unit::Second, middle, read, half + off);
    line.wanted.push_str(whose);
    gaps.blamed(line, read.map_or(f64::INFINITY, |read| (read - middle).abs() - half - off))
}

/// How late 99 in 100 sends at most were: 100 us, or what the machine itself adds there.
pub fn late(run: &RunData, instrument: &str, gaps: &Gaps) -> ProofLineDoc {
    let mut at_once = Histogram::default();
    at_once.record(1);
    let (limit, whose) = gaps.allowed(LATE_S, 0.99, &at_once);
    let read = median(run, instrument, load::LATE.name());
    let mut line = at_most("p99 lateness of sends", Unit::Second, 0.0, limit, read);
    line.wanted.push_str(whose);
    gaps.blamed(line, read.map_or(f64::INFINITY, |read| read - limit))
}

/// All measured values of one metric of an instrument.
fn series<'r>(run: &'r RunData, instrument: &str, metric: &str) -> Option<&'r Series> {
    run.series.iter().find(|series| series.key.instrument == instrument && series.key.metric == metric)
}

/// The median of a metric's measured values.
pub fn median(run: &RunData, instrument: &str, metric: &str) -> Option<f64> {
    stats::median(&series(run, instrument, metric)?.measured())
}

/// The measured histograms of a metric as one.
pub fn histogram(run: &RunData, instrument: &str, metric: &str) -> Option<Histogram> {
    let mut all = Histogram::default();
    for point in &series(run, instrument, metric)?.points {
        if let (Phase::Measured, Value::Histogram(histogram)) = (point.phase, &point.value) {
            all.merge(histogram).ok()?;
        }
    }
    (all.count() > 0).then_some(all)
}

/// Requests of a load that are over, good and failed, over all its measured takes.
pub fn requests(run: &RunData, instrument: &str) -> Option<u64> {
    let counts = series(run, instrument, load::REQUESTS.name())?.measured();
    (!counts.is_empty()).then(|| counts.iter().sum::<f64>().round() as u64)
}

/// Failed requests of a load by kind, over all its measured takes.
pub fn failed(run: &RunData, instrument: &str) -> BTreeMap<String, u64> {
    let mut kinds = BTreeMap::new();
    let of =
        |series: &&Series| series.key.instrument == instrument && series.key.metric == load::FAILED.name();
    for series in run.series.iter().filter(of) {
        let sum: f64 = series.measured().iter().sum();
        let kind = series.key.params.get("kind").unwrap_or("unknown").to_owned();
        *kinds.entry(kind).or_default() += sum.round() as u64;
    }
    kinds
}

/// A fault that must be named by one of the rules of `kinds`, which must not leave the figures as they are.
pub fn refused(what: &str, planted: &str, run: &RunData, kinds: &[&str], cards: Cards) -> ProofLineDoc {
    let all = rulings(run, &RunContext { cards, ..RunContext::default() });
    let named = all.iter().find(|ruling| {
        let finding = &ruling.finding;
        kinds.contains(&finding.kind()) && matches!(finding.state, Validity::Doubtful | Validity::Invalid)
    });
    let wanted = format!("named by {}", kinds.join(" or "));
    let planted = FactValue::Text(planted.to_owned());
    let Some(ruling) = named else {
        let mut line = line(what, planted, None, wanted, false);
        line.why = Some(silent(run, kinds, cards));
        return line;
    };
    let finding = &ruling.finding;
    let text = format!("{} ({}): {}", finding.kind(), finding.state.word(), finding.text());
    line(what, planted, Some(FactValue::Text(text)), wanted, true)
}

/// The same where the rule's inputs may be missing on this host: then it must say so, and the line is unknown.
pub fn refused_if_seen(what: &str, planted: &str, run: &RunData, kind: &str, cards: Cards) -> ProofLineDoc {
    let line = refused(what, planted, run, &[kind], cards);
    let all = rulings(run, &RunContext { cards, ..RunContext::default() });
    let unknown =
        all.iter().find(|ruling| ruling.finding.kind() == kind && ruling.finding.state == Validity::Unknown);
    match (line.state, unknown) {
        (ProofState::Fail, Some(unknown)) => {
            missing(what, planted, ProofState::Unknown, &unknown.finding.text())
        }
        _ => line,
    }
}

/// The resource that must be named as binding the load of the highest throughput that was not served in full.
pub fn binds(what: &str, planted: &str, run: &RunData, kinds: &[Binding], cards: Cards) -> ProofLineDoc {
    let context = RunContext { cards, ..RunContext::default() };
    let found = bottlenecks(&RunIndex::new(run, &context)).into_iter().next();
    let pass = found.as_ref().is_some_and(|found| kinds.contains(&found.kind));
    let is_others = found.as_ref().is_some_and(|found| found.kind == Binding::Others);
    let read = found.map(|found| FactValue::Text(found.sentence));
    let mut line = line(what, FactValue::Text(planted.to_owned()), read, "named".to_owned(), pass);
    if is_others && !pass {
        line.state = ProofState::Unknown;
        line.why = Some("other work fills the server's cores: try again on a quiet machine".to_owned());
    }
    line
}

/// Why no rule named it: what they said instead.
fn silent(run: &RunData, kinds: &[&str], cards: Cards) -> String {
    let all = rulings(run, &RunContext { cards, ..RunContext::default() });
    let said = all.iter().filter(|ruling| kinds.contains(&ruling.finding.kind()));
    let said: Vec<String> = said.map(|ruling| ruling.finding.text()).collect();
    let fault = run.takes.iter().find_map(|take| take.fault.clone());
    match (fault, said.is_empty()) {
        (Some(fault), _) => format!("a take failed: {fault}"),
        (None, true) => "no rule spoke of it".to_owned(),
        (None, false) => format!("the rule says only: {}", said.join("; ")),
    }
}

/// Requests in flight, as both sides count them.
pub fn in_flight(run: &RunData, instrument: &str, planted: Option<f64>, gaps: &Gaps) -> Vec<ProofLineDoc> {
    let read = median(run, instrument, load::IN_FLIGHT.name());
    let mut lines = Vec::new();
    match planted {
        Some(own) => {
            // On its way to and from the server a request is in flight for its client alone.
            let rate = median(run, instrument, load::THROUGHPUT.name()).unwrap_or(0.0);
            let off = (0.02 * own).max(rate * gaps.mean_s());
            // By so many seconds each request would have had to stay longer.
            let beyond = read.map_or(f64::INFINITY, |read| ((read - own).abs() - off) / rate);
            lines.push(gaps.blamed(within("requests in flight", Unit::Count, own, read, off), beyond));
        }
        None => lines.push(missing(
            "requests in flight",
            "none",
            ProofState::Fail,
            "the server had no two requests",
        )),
    }
    lines
}

/// One stall in a take at a constant rate. Seconds.
#[derive(Clone, Copy, Debug)]
pub struct Stall {
    pub stalled_s: f64,
    pub take_s: f64,
    pub rate: f64,
    pub connections: f64,
}

/// Requests that are due in a stall wait for its end, so that the longest waits are the stall's length and the others
/// spread evenly below. They are then answered one after the other on each connection, as fast as the cores allow.
pub fn stall(run: &RunData, instrument: &str, stall: Stall, gaps: &Gaps) -> Vec<ProofLineDoc> {
    let Stall { stalled_s, take_s, rate, connections } = stall;
    // Of the requests, 1 in 100 waits longer: those due in the first hundredth of the take's time of the stall.
    let first_s = 0.01 * take_s;
    let planted = (stalled_s - first_s).max(0.0);
    let least = 0.05 * planted;
    let queued = first_s * rate / connections * gaps.mean_s();
    let p99 = |metric: &str| Some(histogram(run, instrument, metric)?.quantile_ns(0.99)? as f64 / 1e9);
    let (response, service) = (p99(load::RESPONSES.name()), p99(load::SERVICES.name()));
    let off = least.max(queued);
    let mut shows = within("p99 response time (shows it)", Unit::Second, planted, response, off);
    shows.wanted.push_str(if queued > least { JITTER } else { "" });
    let beyond = response.map_or(f64::INFINITY, |read| (read - planted).abs() - off);
    vec![
        gaps.blamed(shows, beyond),
        at_most("p99 service time (hides it)", Unit::Second, stalled_s, 0.1 * stalled_s, service),
    ]
}

/// All proofs together.
pub fn document(proofs: Vec<ProofDoc>, seconds: f64) -> ProveDoc {
    let count = |state: ProofState| {
        proofs.iter().flat_map(|proof| &proof.lines).filter(|line| line.state == state).count() as u64
    };
    let (passed, failed, unknown) =
        (count(ProofState::Pass), count(ProofState::Fail), count(ProofState::Unknown));
    ProveDoc { schema: "boxscore.doctor-prove/1".to_owned(), proofs, passed, failed, unknown, seconds }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::loads::planted::{one, times};

    #[test]
    fn numbers_agree_or_fail_and_what_was_not_read_fails() {
        let of = |read| within("x", Unit::Second, 1.0, read, 0.01);
        assert_eq!(of(Some(1.009)).state, ProofState::Pass);
        assert_eq!(of(Some(1.011)).state, ProofState::Fail);
        let unread = of(None);
        assert_eq!((unread.state, unread.why.as_deref()), (ProofState::Fail, Some("nothing was read")));
        assert_eq!(of(Some(f64::NAN)).state, ProofState::Fail);
        assert_eq!(same("x", 3, Some(3)).state, ProofState::Pass);
        assert_eq!(same("x", 3, Some(2)).state, ProofState::Fail);
        assert_eq!(same("x", 0, None).state, ProofState::Fail);
        assert_eq!(at_most("x", Unit::Second, 1.0, 0.1, Some(0.2)).state, ProofState::Fail);
        assert_eq!(at_most("x", Unit::Second, 1.0, 0.1, Some(0.1)).state, ProofState::Pass);
    }

    #[test]
    fn a_wait_at_a_quantile_is_what_the_gaps_leave() {
        // One gap of 1 ms in 100 ms: 1 % of all moments lie in it, half of them wait for more than 0.5 ms.
        let gaps = Gaps { span_ns: 100_000_000, gaps_ns: vec![1_000_000], ..Gaps::default() };
        assert!((gaps.wait_s(0.995) - 0.5e-3).abs() < 1e-8, "{}", gaps.wait_s(0.995));
        assert_eq!(gaps.wait_s(0.5), 0.0);
        assert_eq!(Gaps::default().wait_s(0.999), 0.0);
        // One in a hundred waits, for half a millisecond on average.
        assert!((gaps.mean_s() - 5e-6).abs() < 1e-9 && (gaps.lost() - 0.01).abs() < 1e-12);
    }

    #[test]
    fn wake_ups_shift_times_that_are_spread_by_their_mean_and_equal_ones_by_their_own_quantile() {
        // Half of them 20 us, half 180 us; and nothing is added where nothing was timed.
        let gaps = Gaps { wakes_ns: vec![20_000, 180_000], ..Gaps::default() };
        let mut spread = Histogram::default();
        (1_000_000..51_000_000).step_by(10_000).for_each(|ns| spread.record(ns));
        let mean = gaps.woken_s(0.1, &spread);
        assert!((mean - 100e-6).abs() < 15e-6, "{mean}");
        let mut equal = Histogram::default();
        equal.record_n(1_000_000, 100);
        let ends = [gaps.woken_s(0.1, &equal), gaps.woken_s(0.9, &equal)];
        assert!((ends[0] - 20e-6).abs() < 2e-6 && (ends[1] - 180e-6).abs() < 2e-6, "{ends:?}");
        assert!((gaps.mean_s() - 100e-6).abs() < 1e-9);
        assert_eq!(Gaps::default().woken_s(0.5, &equal), 0.0);
        let read = |ns: u64| {
            let mut read = Histogram::default();
            read.record_n(ns, 100);
            percentile("service time", 0.9, Own { held: &equal, answered: &equal }, Some(&read), &gaps)
        };
        let (late, later) = (read(1_170_000), read(1_200_000));
        assert_eq!((late.state, later.state), (ProofState::Pass, ProofState::Fail));
        assert!(late.wanted.ends_with("(wake-ups)"), "{}", late.wanted);
    }

    proptest! {
        #[test]
        fn waits_rise_with_the_quantile(gaps_ns in proptest::collection::vec(1u64..10_000_000, 0..20)) {
            let gaps = Gaps { span_ns: 100_000_000, gaps_ns, ..Gaps::default() };
            let waits: Vec<f64> = [0.5, 0.9, 0.99, 0.999].map(|quantile| gaps.wait_s(quantile)).to_vec();
            prop_assert!(waits.is_sorted(), "{:?}", waits);
            let longest = gaps.gaps_ns.iter().max().copied().unwrap_or(0) as f64 / 1e9;
            prop_assert!(waits[3] <= longest + 1e-9);
        }
    }

    #[test]
    fn percentiles_agree_within_one_percent_or_the_jitter() {
        let times = |ms: u64| {
            let mut histogram = Histogram::default();
            histogram.record_n(ms * 1_000_000, 1000);
            histogram
        };
        let quiet = Gaps::default();
        let (planted, empty) = (times(20), Histogram::default());
        let own = Own { held: &planted, answered: &planted };
        let state =
            |read: &Histogram, gaps: &Gaps| percentile("service time", 0.999, own, Some(read), gaps).state;
        assert_eq!(state(&times(20), &quiet), ProofState::Pass);
        assert_eq!(state(&times(21), &quiet), ProofState::Fail);
        let noisy = Gaps { span_ns: 100_000_000, gaps_ns: vec![3_000_000], ..Gaps::default() };
        assert_eq!(state(&times(21), &noisy), ProofState::Pass);
        let far = percentile("service time", 0.999, own, Some(&times(60)), &noisy);
        // Wrong by more than any gap is wrong, whatever else went on; by less, nobody can tell.
        assert!(
            far.state == ProofState::Fail && far.why.is_some_and(|why| why.contains("up to 3.00 ms at once"))
        );
        let near = percentile("service time", 0.5, own, Some(&times(22)), &noisy);
        assert!(
            near.state == ProofState::Unknown && near.why.is_some_and(|why| why.contains("quiet machine"))
        );
        assert_eq!(percentile("service time", 0.5, own, Some(&times(22)), &quiet).state, ProofState::Fail);
        // An answer that took from 20 to 22 ms to leave is in time anywhere between.
        let left = times(22);
        let slow = Own { answered: &left, ..own };
        let of_slow = |ms: u64| percentile("service time", 0.999, slow, Some(&times(ms)), &quiet).state;
        assert_eq!([19, 20, 21, 22, 23].map(of_slow), {
            use ProofState::{Fail, Pass};
            [Fail, Pass, Pass, Pass, Fail]
        });
        assert_eq!(percentile("service time", 0.5, own, None, &quiet).state, ProofState::Fail);
        let none = Own { held: &empty, answered: &empty };
        assert_eq!(percentile("service time", 0.5, none, None, &quiet).state, ProofState::Fail);
        assert_eq!(percentile("service time", 0.5, own, None, &quiet).what, "p50 service time");
        assert_eq!(percentile("service time", 0.999, own, None, &quiet).what, "p99.9 service time");
    }

    #[test]
    fn a_rule_must_speak_and_must_not_be_content() {
        let shared = [("throughput", 1.0), ("core-busy;cpu=0;role=both", 0.98)];
        let run = one("connections=1", &shared);
        let read = refused("a", "one core", &run, &["same-cores"], instruments::cards());
        assert_eq!(read.state, ProofState::Pass);
        assert!(
            matches!(&read.read, Some(FactValue::Text(text)) if text.starts_with("same-cores (doubtful): "))
        );
        let content = refused("a", "x", &run, &["errors"], instruments::cards());
        assert_eq!((content.state, content.read.is_none()), (ProofState::Fail, true));
        assert!(content.why.unwrap().contains("no request failed"));
        assert_eq!(
            refused("a", "x", &run, &["nothing"], instruments::cards()).why.unwrap(),
            "no rule spoke of it"
        );
    }

    #[test]
    fn figures_are_found_in_a_run() {
        let run = one(
            "connections=1",
            &[("throughput", 5.0), ("in-flight", 10.0), ("failed;kind=reset", 3.0), ("requests", 50.0)],
        );
        let instrument = run.series[0].key.instrument.clone();
        assert!(median(&run, &instrument, "throughput").is_some_and(|rate| (rate - 5.0).abs() < 0.01));
        // Over eight takes, each off by less than a thousandth.
        assert!(requests(&run, &instrument).is_some_and(|count| (398..=402).contains(&count)));
        assert_eq!(requests(&run, "other"), None);
        assert!(failed(&run, &instrument).get("reset").is_some_and(|count| *count >= 3));
        let states = |planted| -> Vec<ProofState> {
            in_flight(&run, &instrument, planted, &Gaps::default()).iter().map(|line| line.state).collect()
        };
        assert_eq!(
            (states(Some(10.1)), states(Some(12.0))),
            (vec![ProofState::Pass], vec![ProofState::Fail])
        );
        assert_eq!(states(None)[0], ProofState::Fail);
        assert!(histogram(&run, &instrument, "throughput").is_none());
        let stalled = Stall { stalled_s: 1.0, take_s: 10.0, rate: 1000.0, connections: 10.0 };
        let lines = stall(&run, &instrument, stalled, &Gaps::default());
        assert!(lines.iter().all(|line| line.state == ProofState::Fail));
    }

    #[test]
    fn what_waits_for_the_end_of_a_stall_is_answered_as_fast_as_the_cores_allow() {
        let mut run = one("connections=10", &[("throughput", 1000.0)]);
        times(&mut run, &[0], load::RESPONSES.name(), "connections=10", &[(1_140_000, 200), (500, 9800)]);
        let instrument = run.series[0].key.instrument.clone();
        let of = |gaps: &Gaps| {
            let stalled = Stall { stalled_s: 1.0, take_s: 10.0, rate: 1000.0, connections: 10.0 };
            stall(&run, &instrument, stalled, gaps).remove(0)
        };
        let quiet = of(&Gaps { span_ns: 1_000_000_000, ..Gaps::default() });
        assert_eq!((quiet.state, quiet.wanted.as_str()), (ProofState::Fail, "within 45.0 ms"));
        // A wait of 25 ms before each of ten answers.
        let busy = of(&Gaps { span_ns: 1_000_000_000, gaps_ns: vec![50_000_000; 20], wakes_ns: Vec::new() });
        assert_eq!((busy.state, busy.wanted.as_str()), (ProofState::Pass, "within 250 ms (jitter)"));
        // One gap alone may have been it.
        let once = of(&Gaps { span_ns: 10_000_000_000, gaps_ns: vec![300_000_000], wakes_ns: Vec::new() });
        assert_eq!((once.state, once.why.is_some()), (ProofState::Unknown, true));
    }

    #[test]
    fn lines_are_counted_by_state() {
        let lines = vec![
            same("a", 1, Some(1)),
            same("b", 1, Some(2)),
            missing("c", "a quota", ProofState::Unknown, "no control group can be made"),
        ];
        let proof = ProofDoc { key: "x".to_owned(), says: "x".to_owned(), lines };
        let document = document(vec![proof], 1.0);
        assert_eq!((document.passed, document.failed, document.unknown), (1, 1, 1));
    }
}
