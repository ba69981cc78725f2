//! Runs of access logs side by side: judged like with like, as `boxscore logs` judges them ([`crate::traffic`]), before
//! and after a moment where the logs were cut at one.
//!
//! An hour's figures depend on what was asked for in it, so that hours are no takes of one thing: their rows are shown
//! and never judged. What was served comes from the notes of the runs. Runs of one side are put together; of hours that
//! were read twice the newest reading counts. Runs of filtered logs (`--where`) are compared with runs of the same
//! filter alone. What a machine did meanwhile is that of the newest run that tells it.

use std::collections::{BTreeMap, BTreeSet};

use model::doc::{BesideDoc, RowDoc};
use model::traffic::{CutSide, INSTRUMENT, ServerGroup, Traffic};
use model::why::Reason;
use model::{Finding, Params, Samples};
use stats::Margin;

use super::judged::{Judged, margin};
use super::matching::RowKey;
use super::prepared::Prepared;
use super::side::{CompareOptions, Side};
use crate::traffic;
use crate::traffic::draft::{Pair, resamples};

/// The requests that a side served.
pub struct Served {
    /// The label that its log was read under: resamples are drawn by it, so that verdicts are those of `boxscore logs`.
    read_as: String,
    /// By the side's name.
    group: ServerGroup,
    cut: Option<CutSide>,
    /// By the side's name.
    pub beside: Option<BesideDoc>,
    /// Figures over all requests, by metric; none where several logs were put together.
    whole: BTreeMap<String, f64>,
    definition: u32,
    /// With the filter that the requests met.
    params: Params,
    /// Failures of the server, if they are the first thing to know.
    failures: Vec<Finding>,
}

/// The requests that each side served, by definition and filter; none where a run is not of a log or does not store
/// them.
pub fn of_sides(sides: &[Prepared<'_>]) -> Vec<Vec<Served>> {
    sides.iter().map(|side| of_side(side.side)).collect()
}

/// Runs of one definition and one filter.
type Alike<'a> = BTreeMap<(u32, Params), Vec<&'a Traffic>>;

fn of_side(side: &Side<'_>) -> Vec<Served> {
    let mut alike = Alike::new();
    for run in &side.runs {
        let Some(traffic) = &run.traffic else { return Vec::new() };
        let key = run.series.iter().map(|series| &series.key).find(|key| key.instrument == INSTRUMENT);
        let Some(key) = key else { return Vec::new() };
        alike.entry((key.definition, key.params.clone())).or_default().push(traffic);
    }
    let of =
        |((definition, params), all): ((u32, Params), Vec<&Traffic>)| of_runs(side, definition, params, &all);
    alike.into_iter().filter_map(of).collect()
}

/// Runs of one side, oldest first.
fn of_runs(side: &Side<'_>, definition: u32, params: Params, all: &[&Traffic]) -> Option<Served> {
    let beside = all.iter().rev().find_map(|traffic| traffic.beside.clone());
    let mut newest_first = all.iter().rev().copied().cloned();
    let newest = newest_first.next()?;
    let failures = traffic::failed::of_stored(&side.name, &newest);
    let Traffic { group, cut, whole, .. } = newest;
    let mut served = Served {
        read_as: group.label.clone(),
        group,
        cut,
        whole,
        beside: beside.map(|doc| BesideDoc { label: side.name.clone(), ..doc }),
        definition,
        params,
        failures,
    };
    for other in newest_first {
        if !other.group.hours.keys().any(|hour| served.group.hours.contains_key(hour)) {
            served.add(other);
        }
    }
    served.group.label.clone_from(&side.name);
    Some(served)
}

impl Served {
    /// Adds what was served in other hours.
    fn add(&mut self, other: Traffic) {
        self.whole.clear();
        add(&mut self.group, other.group);
        self.cut = match (self.cut.take(), other.cut) {
            (Some(mine), Some(theirs)) => put_together(mine, theirs),
            _ => None,
        };
    }

    /// Compares this side with another one.
    fn found(&self, base: &Served, margin: Margin) -> Pair {
        let rng = resamples(traffic::SEED, &self.read_as, &base.read_as);
        match self.cut.as_ref().zip(base.cut.as_ref()).filter(|(arm, base)| arm.is_opposite(base)) {
            Some((of_arm, of_base)) => {
                let side = |group, cut| traffic::cut::Side { group, cut };
                traffic::cut::pair(side(&self.group, of_arm), side(&base.group, of_base), margin, &rng)
            }
            None => traffic::pair(&self.group, &base.group, margin, &rng),
        }
    }
}

/// Adds what was served in other hours.
fn add(sum: &mut ServerGroup, mut other: ServerGroup) {
    if sum.tells_bots() != other.tells_bots() {
        sum.join_bots();
        other.join_bots();
    }
    sum.bots = sum.bots.zip(other.bots).map(|(bots, more)| bots.saturating_add(more));
    let mean = |group: &ServerGroup| Some((group.mean_of_ratios?, group.requests as f64));
    sum.mean_of_ratios = match (mean(sum), mean(&other)) {
        (Some((a, n)), Some((b, m))) if n + m > 0.0 => Some((a * n + b * m) / (n + m)),
        _ => None,
    };
    sum.requests = sum.requests.saturating_add(other.requests);
    sum.bytes += other.bytes;
    sum.seconds += other.seconds;
    for (status, count) in other.statuses {
        let all = sum.statuses.entry(status).or_default();
        *all = all.saturating_add(count);
    }
    sum.sizes.extend(other.sizes);
    sum.sizes.sort_by(|a, b| a.0.total_cmp(&b.0));
    sum.hours.extend(other.hours);
    // Folders of a part of the time are those of no whole.
    let are_alike = sum.has_routes == other.has_routes;
    match are_alike && sum.folders.is_empty() == other.folders.is_empty() {
        true => {
            for (name, cells) in other.folders {
                sum.folders.entry(name).or_default().extend(cells);
            }
        }
        false => sum.folders.clear(),
    }
    sum.cells.extend(other.cells);
}

/// Parts of one side of one cut; of others the two have no moment in common.
fn put_together(mut mine: CutSide, theirs: CutSide) -> Option<CutSide> {
    (mine.is_same_cut(&theirs) && mine.is_after == theirs.is_after).then(|| {
        (mine.first, mine.last) = (mine.first.min(theirs.first), mine.last.max(theirs.last));
        mine.step = mine.step.max(theirs.step);
        mine.buckets.extend(theirs.buckets);
        mine.buckets.sort_by_key(|bucket| bucket.at);
        mine
    })
}

/// Says of rows of periods why they have no verdict, and adds those on what was served; what is unlike between the two.
pub fn judge(
    rows: &mut Vec<Judged>,
    of_arm: &[Served],
    of_base: &[Served],
    options: &CompareOptions,
) -> Vec<Finding> {
    let is_like =
        |arm: &Served, base: &Served| (arm.definition, &arm.params) == (base.definition, &base.params);
    let both: Vec<(&Served, &Served)> = of_arm
        .iter()
        .filter_map(|arm| Some((arm, of_base.iter().find(|base| is_like(arm, base))?)))
        .collect();
    let of_periods =
        |judged: &&mut Judged| judged.key.samples(options.cards) == Samples::Periods && !judged.row.point;
    for judged in rows.iter_mut().filter(of_periods) {
        let pair = both.iter().find(|(arm, _)| arm.params == judged.key.params);
        explain(judged, pair.is_some());
        if let Some((arm, base)) = pair {
            of_all_requests(&mut judged.row, arm, base);
        }
    }
    let mut findings = Vec::new();
    for (of_arm, of_base) in both {
        let found = of_arm.found(of_base, margin(false, options));
        findings.extend(found.findings);
        for concluded in found.rows {
            let row = RowDoc { params: of_arm.params.clone(), ..concluded.row };
            let key = RowKey {
                instrument: row.instrument.clone(),
                metric: row.metric.clone(),
                unit: row.unit,
                definition: of_arm.definition,
                params: row.params.clone(),
            };
            rows.push(Judged { row, key, verdict: concluded.verdict, effect: concluded.effect });
        }
    }
    findings
}

/// The figures over all requests in place of medians over the hours, where both sides have them.
fn of_all_requests(row: &mut RowDoc, of_arm: &Served, of_base: &Served) {
    let whole = |of: &Served| of.whole.get(&row.metric).copied();
    if let Some((arm, base)) = whole(of_arm).zip(whole(of_base)) {
        (row.arm_value, row.base_value) = (Some(arm), Some(base));
        row.ratio = (base > 0.0).then(|| arm / base);
    }
}

/// A row of hours: the figures, and where a verdict is to be had.
fn explain(judged: &mut Judged, stands_elsewhere: bool) {
    let row = &mut judged.row;
    row.headline &= !stands_elsewhere;
    row.why = Reason::Hours { judged_elsewhere: stands_elsewhere }.into();
}

/// The requests that values of rows like with like are of, since the totals of a log are others.
pub fn footnote(rows: &[RowDoc]) -> Option<String> {
    let is_like = |row: &RowDoc| {
        row.instrument == INSTRUMENT && [traffic::SPEED, traffic::TIME].contains(&row.metric.as_str())
    };
    rows.iter().any(|row| is_like(row) && row.ratio.is_some()).then(|| {
        "logs speed and time: of requests of one size and one class of status in one quarter hour that both served, \
         or of one time of day where one log follows the other, without 5xx; `boxscore show RUN --all` has those of the whole logs"
            .to_owned()
    })
}

/// Telemetry of the machine of a side meanwhile.
pub fn beside(side: &[Served]) -> Option<&BesideDoc> {
    side.iter().find_map(|served| served.beside.as_ref())
}

/// Failures of each side, and differences between the first side and the others in the requests served and in the
/// machines meanwhile; each once.
pub fn findings(unlike: &[Finding], served: &[Vec<Served>]) -> Vec<Finding> {
    let mut said = BTreeSet::new();
    let beside: Vec<&BesideDoc> = served.iter().filter_map(|side| beside(side)).collect();
    let told =
        |side: &Vec<Served>| side.iter().map(|served| &served.failures).find(|all| !all.is_empty()).cloned();
    let failures = served.iter().filter_map(told).flatten();
    let all = failures.chain(unlike.iter().cloned()).chain(traffic::beside::findings(&beside));
    all.filter(|finding| said.insert((finding.kind().to_owned(), finding.subject.clone()))).collect()
}

#[cfg(test)]
mod tests {
    use model::Value;
    use model::data::RunData;
    use model::doc::{CompareDoc, MachineDoc, VerdictWord};
    use model::traffic::{Bucket, Cell};

    use super::*;
    use crate::compare;
    use crate::loads::planted;

    const HOUR: i64 = 3600;

    /// Two days of requests of 1000 bytes from an hour on, `us` each; cut before or after this side where asked.
    fn run(name: &str, from: i64, us: f64, is_after: Option<bool>) -> RunData {
        let mut run = planted::empty();
        (run.head.id, run.head.machine_id) = (name.into(), name.into());
        let mut group = ServerGroup { label: name.into(), ..ServerGroup::default() };
        let mut buckets = Vec::new();
        for quarter in 0..192i64 {
            let requests = 50 + quarter as u64 % 7;
            let seconds = requests as f64 * us * (1.0 + 0.01 * (quarter * 37 % 11) as f64) / 1e6;
            let cell = Cell { requests, bytes: 1000.0 * requests as f64, seconds };
            let at = from * HOUR + quarter * 900;
            (group.requests, group.bytes) = (group.requests + requests, group.bytes + cell.bytes);
            group.seconds += seconds;
            *group.hours.entry(at / HOUR).or_default() += requests;
            group.cells.insert((at as u64 / 900, 2), cell);
            buckets.push(Bucket { at, local: at, cells: BTreeMap::from([(2, cell)]) });
        }
        group.statuses = BTreeMap::from([(200, group.requests)]);
        let (first, last) = (from * HOUR, (from + 48) * HOUR - 1);
        let given = "noon".to_owned();
        let side = |is_after| CutSide {
            of: "log".into(),
            given,
            at: 48 * HOUR,
            is_after,
            first,
            last,
            step: 900,
            buckets,
        };
        let traffic = Traffic { group, cut: is_after.map(side), ..Traffic::default() };
        run.traffic = Some(traffic);
        let points: Vec<(u64, Value)> = (0..8).map(|seq| (seq, Value::Number(1e6 / us))).collect();
        planted::series(&mut run, INSTRUMENT, "bandwidth", Params::default(), "", &points);
        run
    }

    fn of(runs: &[&RunData]) -> CompareDoc {
        let sides: Vec<Side<'_>> = runs
            .iter()
            .map(|run| {
                let machine = MachineDoc { id: run.head.machine_id.clone(), name: run.head.id.clone() };
                Side { runs: vec![run], ..Side::new(&run.head.id, machine) }
            })
            .collect();
        let cards = instruments::cards();
        compare(&sides, &CompareOptions { all: true, cards, ..CompareOptions::default() })
    }

    fn speed(doc: &CompareDoc) -> &model::doc::RowDoc {
        doc.rows.iter().find(|row| row.metric == traffic::SPEED).unwrap()
    }

    #[test]
    fn resamples_are_drawn_once_for_each_pair() {
        let runs = [run("a", 0, 2000.0, None), run("b", 0, 1000.0, None), run("c", 0, 1500.0, None)];
        traffic::draft::DRAWN.set(0);
        let two = of(&[&runs[0], &runs[1]]);
        assert_eq!(traffic::draft::DRAWN.get(), 1);
        assert_eq!(speed(&two).verdict, VerdictWord::Better, "{:?}", speed(&two));
        traffic::draft::DRAWN.set(0);
        of(&[&runs[0], &runs[1], &runs[2]]);
        assert_eq!(traffic::draft::DRAWN.get(), 3);
    }

    #[test]
    fn stored_sides_of_a_cut_are_judged_as_sides() {
        let (before, after) = (run("before", 0, 2000.0, Some(false)), run("after", 48, 1000.0, Some(true)));
        let doc = of(&[&before, &after]);
        assert_eq!(speed(&doc).verdict, VerdictWord::Better, "{:?}", speed(&doc));
        assert!(doc.findings.iter().any(|finding| finding.kind() == "time-confounded"), "{:?}", doc.findings);
        assert_eq!(speed(&of(&[&after, &before])).verdict, VerdictWord::Worse);
        // A log that follows another one is compared with it in the same way.
        let plain = [run("before", 0, 2000.0, None), run("after", 48, 1000.0, None)];
        let doc = of(&[&plain[0], &plain[1]]);
        assert_eq!(speed(&doc).verdict, VerdictWord::Better, "{:?}", speed(&doc));
        assert!(doc.findings.iter().any(|finding| finding.kind() == "time-confounded"), "{:?}", doc.findings);
    }

    #[test]
    fn hours_are_shown_and_not_judged() {
        let doc = of(&[&run("a", 0, 2000.0, None), &run("b", 0, 1000.0, None)]);
        let hours = doc.rows.iter().find(|row| row.metric == "bandwidth").unwrap();
        assert_eq!(
            (hours.verdict, hours.low, hours.floor, hours.p),
            (VerdictWord::CannotTell, None, None, None)
        );
        assert!(hours.ratio.is_some_and(|ratio| (ratio - 2.0).abs() < 1e-9), "{hours:?}");
        assert_eq!(hours.why, Reason::Hours { judged_elsewhere: true }.into());
    }

    #[test]
    fn ranks_and_ties_are_those_of_the_judged_rows() {
        let ranks = |doc: &CompareDoc| -> Vec<(String, String, u32, u32)> {
            let of =
                |one: &model::doc::RankDoc| (one.metric.clone(), one.arm.clone(), one.rank, one.worst_rank);
            doc.ranks.iter().map(of).collect()
        };
        let mut runs = [run("a", 0, 2000.0, None), run("b", 0, 1000.0, None), run("c", 0, 1001.0, None)];
        for run in &mut runs {
            let (instrument, headline) = (INSTRUMENT.to_owned(), vec!["bandwidth".to_owned()]);
            run.plan.cells = vec![model::Cell { instrument, params: Params::default(), headline }];
        }
        let doc = of(&[&runs[0], &runs[1]]);
        let row = |metric: &str, arm: &str, rank, worst| (metric.to_owned(), arm.to_owned(), rank, worst);
        let both = [
            row("speed", "b", 1, 1),
            row("speed", "a", 2, 2),
            row("time", "b", 1, 1),
            row("time", "a", 2, 2),
        ];
        assert_eq!((ranks(&doc), doc.ties.len()), (both.into(), 0), "{:?}", doc.ties);
        let doc = of(&[&runs[0], &runs[1], &runs[2]]);
        assert_eq!(ranks(&doc)[2], row("speed", "a", 3, 3));
        let ties: Vec<_> = doc.ties.iter().map(|tie| (tie.metric.as_str(), tie.arms.join(" "))).collect();
        assert_eq!(ties, [("speed", "b c".to_owned()), ("time", "b c".to_owned())]);
    }

    #[test]
    fn figures_are_those_over_all_requests_where_the_logs_have_them() {
        let mut runs = [run("a", 0, 2000.0, None), run("b", 0, 1000.0, None)];
        for (run, whole) in runs.iter_mut().zip([400.0, 1000.0]) {
            run.traffic.as_mut().unwrap().whole.insert("bandwidth".into(), whole);
        }
        let doc = of(&[&runs[0], &runs[1]]);
        let row = doc.rows.iter().find(|row| row.metric == "bandwidth").unwrap();
        assert_eq!((row.base_value, row.arm_value, row.ratio), (Some(400.0), Some(1000.0), Some(2.5)));
        let shown = crate::run_doc(
            &runs[0],
            &crate::RunContext { cards: instruments::cards(), ..Default::default() },
        );
        let figure = shown.series.iter().find(|series| series.metric == "bandwidth").unwrap();
        assert_eq!((figure.median, figure.method.as_str()), (Some(400.0), "over all requests of the log"));
    }

    #[test]
    fn readings_of_other_hours_are_put_together() {
        let sides = [run("x", 0, 2000.0, Some(false)), run("x", 48, 2000.0, Some(false))];
        let cut = |run: &RunData| run.traffic.clone().unwrap().cut.unwrap();
        let all = put_together(cut(&sides[1]), cut(&sides[0])).unwrap();
        assert_eq!((all.first, all.last, all.buckets.len()), (0, 96 * HOUR - 1, 384));
        assert!(all.buckets.windows(2).all(|pair| pair[0].at < pair[1].at));
        let after = CutSide { is_after: true, ..cut(&sides[0]) };
        assert!(put_together(cut(&sides[1]), after).is_none());
    }
}
