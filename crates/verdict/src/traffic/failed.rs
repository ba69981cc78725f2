//! Failures of groups of requests: how often the server failed to answer, judged beside another group; when that was
//! and what it cost; and the client behind most of what was refused.
//!
//! Requests, seconds. A failure is a status from 500 on: a status from 400 to 499 is said to be the client's. Failures
//! of a few quarter hours tell of that time alone: they are judged by what happened in it (Fisher's exact test).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use model::doc::{AnswersDoc, AskedDoc, EpisodeDoc, FailedDoc, MostlyDoc, MostlyOf, NamesDoc, RowDoc};
use model::finding::{LogsFailed, Mostly, Stretch};
use model::metrics::logs::SAME_ERRORS;
use model::traffic::{Cell, FAILED, StatusClass, Traffic, status_of};
use model::why::{Blocks, FailedWithin, Reason, Why};
use model::{Better, Finding, Subject, Unit};
use stats::{Held, MIN_N, Margin, Verdict};

use super::answers;
use super::draft::{Concluded, blank};
use crate::compare::value;
use crate::compare::why::{held_back, no_interval};

/// Failures and requests by block of time.
pub type Counts = BTreeMap<i64, (f64, f64)>;

/// Adds the requests of a class of work to those of a block.
pub fn count(counts: &mut Counts, block: i64, class: u32, cell: &Cell) {
    let sums = counts.entry(block).or_default();
    let is_failed = status_of(class) == StatusClass::Server;
    sums.0 += if is_failed { cell.requests as f64 } else { 0.0 };
    sums.1 += cell.requests as f64;
}

/// A group by its label, and its counts.
pub type Counted<'a> = (&'a str, &'a Counts);

/// The row on the share of failures; none where neither group has any.
pub fn row((arm, of_arm): Counted<'_>, (base, of_base): Counted<'_>, margin: Margin) -> Option<Concluded> {
    let failed = |counts: &Counts| counts.values().map(|one| one.0).sum::<f64>();
    if failed(of_arm) + failed(of_base) <= 0.0 {
        return None;
    }
    let share = |counts: &Counts| {
        let requests: f64 = counts.values().map(|one| one.1).sum();
        (requests > 0.0).then(|| failed(counts) / requests)
    };
    let (verdict, p, why) = judged(of_arm, of_base);
    let row = RowDoc {
        arm_value: share(of_arm),
        base_value: share(of_base),
        p,
        p_holm: p,
        verdict: value::word(verdict),
        why,
        ..blank(FAILED, Unit::Ratio, Better::Lower, (arm, base), margin)
    };
    Some(Concluded { row, verdict, effect: None })
}

fn judged(arm: &Counts, base: &Counts) -> (Verdict, Option<f64>, Why) {
    let held = Verdict::CannotTell(Held::Interval);
    if let Some(once) = at_once(arm, base) {
        return once.judged();
    }
    let counts = |all: &Counts| all.values().copied().collect::<Vec<_>>();
    let (apart, p) = match stats::failed_apart(&counts(arm), &counts(base)) {
        Ok(found) => found,
        Err(unfit) => return (held, None, no_interval(Some(Blocks::Shared), &unfit).into()),
    };
    match apart {
        apart if apart.low > SAME_ERRORS => (Verdict::Worse, Some(p), Why::default()),
        apart if apart.high < -SAME_ERRORS => (Verdict::Better, Some(p), Why::default()),
        apart if apart.low >= -SAME_ERRORS && apart.high <= SAME_ERRORS => {
            (Verdict::Tie, Some(p), Why::default())
        }
        _ => (held, Some(p), held_back(Held::Interval, 1).into()),
    }
}

/// Fewer failures than this, unless they are a large share, are told further down.
const LEAST: u64 = 10;
/// Shares of the requests, and of the time, from which on failures are told first.
const SHARE: f64 = 0.001;
const TIME_SHARE: f64 = 0.05;
/// The share of the failures that a path has that they are mostly of.
const MOSTLY: f64 = 0.5;

/// The share of the failures that makes an episode of the few quarter hours that they stand in, and one of their
/// folder, client or host a thing that they have in common.
pub const NEARLY_ALL: f64 = 0.9;

/// Failures of few quarter hours.
struct AtOnce {
    /// The share of all failures, the quarter hours that they stand in, and all quarter hours.
    share: f64,
    blocks: usize,
    of: usize,
    /// Failed requests and all, in these quarter hours.
    arm: (u64, u64),
    base: (u64, u64),
}

impl AtOnce {
    /// A verdict on what happened then: that the two failed unlike, by an exact test of the counts. It speaks of no
    /// other time.
    fn judged(&self) -> (Verdict, Option<f64>, Why) {
        let p = stats::fisher_exact(self.arm, self.base);
        let share = |(failed, all): (u64, u64)| failed as f64 / all.max(1) as f64;
        let apart = share(self.arm) - share(self.base);
        let verdict = match () {
            () if self.arm.1 == 0 || self.base.1 == 0 || p > stats::ALPHA => {
                Verdict::CannotTell(Held::Interval)
            }
            () if apart > SAME_ERRORS => Verdict::Worse,
            () if apart < -SAME_ERRORS => Verdict::Better,
            () => Verdict::CannotTell(Held::Interval),
        };
        let reason = Reason::FailedAtOnce {
            share: self.share,
            blocks: self.blocks as u64,
            of: self.of as u64,
            within: Some(FailedWithin { arm: self.arm, base: self.base, p }),
        };
        (verdict, Some(p), reason.into())
    }
}

/// Nearly all failures stand in fewer quarter hours than an interval needs; there may be no more than these.
fn at_once(arm: &Counts, base: &Counts) -> Option<AtOnce> {
    let of = arm.len().max(base.len());
    let failed_in =
        |block: &i64| [arm, base].iter().filter_map(|all| all.get(block)).map(|one| one.0).sum::<f64>();
    let blocks: BTreeSet<&i64> = arm.keys().chain(base.keys()).collect();
    let mut failed: Vec<(f64, i64)> = blocks.into_iter().map(|block| (failed_in(block), *block)).collect();
    failed.retain(|(failed, _)| *failed > 0.0);
    failed.sort_by(|a, b| b.0.total_cmp(&a.0));
    let all: f64 = failed.iter().map(|one| one.0).sum();
    let (mut within, mut counts) = (0.0, [(0, 0); 2]);
    for (blocks, (one, block)) in (1..MIN_N).zip(failed) {
        within += one;
        for (sum, side) in counts.iter_mut().zip([arm, base]) {
            let (failed, requests) = side.get(&block).copied().unwrap_or_default();
            *sum = (sum.0 + failed as u64, sum.1 + requests as u64);
        }
        if within >= NEARLY_ALL * all {
            let [arm, base] = counts;
            return Some(AtOnce { share: within / all, blocks, of, arm, base });
        }
    }
    None
}

/// Requests of a label, the time that they took, and the length of its log.
#[derive(Clone, Copy, Debug, Default)]
pub struct Whole {
    pub seconds: Option<f64>,
    pub span: Option<f64>,
}

/// The share of the requests from which on a path that is not there is told first.
const REFUSED: f64 = 0.01;

/// Failures of the server of a label, and a path that many clients asked for and did not get, where they are the first
/// thing to know of it.
pub fn findings(label: &str, answers: &AnswersDoc, whole: Whole) -> Vec<Finding> {
    [server(label, answers, whole), refused(label, answers, whole)].into_iter().flatten().collect()
}

fn refused(label: &str, answers: &AnswersDoc, whole: Whole) -> Option<Finding> {
    let refused = answers.client_errors.as_ref().filter(|refused| refused.requests >= LEAST)?;
    let of_path = |one: &&MostlyDoc| matches!(one.what, MostlyOf::Path | MostlyOf::Folder);
    let mostly = refused.mostly.iter().find(of_path)?;
    let of_one = refused.clients.top.first().map_or(0, |client| client.requests);
    let is_probe = of_one as f64 >= MOSTLY * refused.requests as f64;
    if is_probe || answers.one_client || refused.share < REFUSED {
        return None;
    }
    let mut statuses = refused.asked.iter().filter(|one| one.path == mostly.name).map(|one| one.status);
    let first = statuses.next().flatten();
    let rule = LogsFailed::Refused {
        label: label.to_owned(),
        requests: refused.requests,
        share: refused.share,
        mostly: mostly.clone(),
        status: first.filter(|_| statuses.all(|status| status == first)),
        episode: refused.episode.map(|episode| stretch(&episode, answers.zone)),
        span: whole.span.unwrap_or(0.0),
    };
    Some(Finding::new(rule).about(Subject::label(label)))
}

fn server(label: &str, answers: &AnswersDoc, whole: Whole) -> Option<Finding> {
    let failed = answers.server_errors.as_ref().filter(|failed| failed.requests > 0)?;
    let all = whole.seconds.filter(|seconds| *seconds > 0.0);
    let time_share = failed.seconds.zip(all).map(|(failed, all)| failed / all);
    let is_told = failed.requests >= LEAST && (failed.share >= SHARE || failed.episode.is_some())
        || time_share.is_some_and(|share| share >= TIME_SHARE);
    if !is_told {
        return None;
    }
    let time_share = time_share.filter(|share| *share >= TIME_SHARE);
    let rule = LogsFailed::Server {
        label: label.to_owned(),
        requests: failed.requests,
        share: failed.share,
        mostly: failed.mostly.clone(),
        episode: failed.episode.map(|episode| stretch(&episode, answers.zone)),
        outage: failed.outage.clone(),
        span: whole.span.unwrap_or(0.0),
        time_share,
        seconds: failed.seconds.filter(|_| time_share.is_some()).map(|all| all / failed.requests as f64),
    };
    Some(Finding::new(rule).about(Subject::label(label)))
}

/// The same of a stored run, under the name of its side.
pub fn of_stored(name: &str, traffic: &Traffic) -> Vec<Finding> {
    let Some(answers) = answers::of_stored(traffic) else { return Vec::new() };
    let requests = traffic.group.requests as f64;
    let span = answers.rate.filter(|rate| *rate > 0.0).map(|rate| requests / rate);
    findings(name, &answers, Whole { seconds: Some(traffic.group.seconds), span })
}

/// An episode by the log's own clock.
pub fn stretch(episode: &EpisodeDoc, zone: i64) -> Stretch {
    let EpisodeDoc { from, to, failures, from_start, to_end } = *episode;
    let local = |at: f64| at + zone as f64;
    Stretch { from: local(from), to: local(to), failures, from_start, to_end }
}

/// The names that most failures have in common: the path of over half, or else its first folder of nearly all; the
/// client and the virtual host of nearly all.
/// A name that all requests have is none.
pub fn mostly(failed: &FailedDoc, answers: &AnswersDoc) -> Vec<MostlyDoc> {
    let all = failed.requests;
    let of = |what: MostlyOf, names: &NamesDoc, share: f64| {
        let top = names.top.first().filter(|_| all > 1)?;
        // A sketch may count a little too much.
        let requests = top.requests.min(all);
        let is_most = requests as f64 >= share * all as f64;
        is_most.then(|| MostlyDoc { what, name: top.name.clone(), requests })
    };
    let path = of(MostlyOf::Path, &failed.paths, MOSTLY).or_else(|| {
        let folder = failed.folder.as_ref().filter(|_| all > 1)?;
        let names = NamesDoc { top: vec![folder.clone()], ..NamesDoc::default() };
        of(MostlyOf::Folder, &names, NEARLY_ALL)
    });
    let client = of(MostlyOf::Client, &failed.clients, NEARLY_ALL).filter(|_| !answers.one_client);
    let host = of(MostlyOf::Host, &failed.hosts, NEARLY_ALL).filter(|_| !answers.one_host);
    [path, client, host].into_iter().flatten().collect()
}

/// Fewer refused requests than this of one client are no probe.
const LEAST_PROBED: u64 = 50;
/// Parts of paths that scanners ask for, whatever the site.
const PROBED: [&str; 11] = [
    "/wp-",
    "xmlrpc.php",
    "/.env",
    "/.git",
    "phpmyadmin",
    "/cgi-bin/",
    "/admin",
    "/actuator",
    "/vendor/",
    "/.aws",
    "/etc/passwd",
];

/// The client behind most of what was refused (4xx), over all labels.
pub fn probe(labels: &[&AnswersDoc]) -> Option<Finding> {
    let refused = || labels.iter().filter_map(|one| one.client_errors.as_ref());
    let all: u64 = refused().map(|one| one.requests).sum();
    let mut clients: BTreeMap<&str, u64> = BTreeMap::new();
    let tops = refused().flat_map(|one| &one.clients.top);
    tops.for_each(|client| *clients.entry(&client.name).or_default() += client.requests);
    let (client, requests) = clients.into_iter().max_by_key(|(_, requests)| *requests)?;
    if requests < LEAST_PROBED || (requests as f64) < MOSTLY * all as f64 {
        return None;
    }
    let asked: Vec<&AskedDoc> =
        refused().flat_map(|one| &one.asked).filter(|one| one.client == client).collect();
    let mut paths: BTreeMap<&str, u64> = BTreeMap::new();
    asked.iter().for_each(|one| *paths.entry(&one.path).or_default() += one.requests);
    let (path, count) = paths.into_iter().max_by_key(|(path, count)| (*count, Reverse(*path)))?;
    let first = asked.iter().find(|one| one.path == path)?;
    let is_whole = asked.iter().map(|one| one.requests).sum::<u64>() >= requests;
    let is_one = is_whole && asked.iter().all(|one| one.status == first.status);
    let rule = LogsFailed::Probe {
        client: client.to_owned(),
        agent: first.agent.as_deref().and_then(program),
        requests,
        path: Mostly { name: path.to_owned(), is_all: count >= requests },
        status: first.status.filter(|_| is_one),
        is_known: asked.iter().any(|one| PROBED.iter().any(|mark| one.path.to_lowercase().contains(mark))),
    };
    Some(Finding::new(rule))
}

/// The name of a program; a browser's would say little, and a scanner can claim to be one.
fn program(agent: &str) -> Option<String> {
    let name = agent.split(' ').next().filter(|name| !name.is_empty() && !name.starts_with("Mozilla/"))?;
    Some(name.to_owned())
}

#[cfg(test)]
mod tests {
    use model::doc::{NameDoc, VerdictWord};

    use super::*;

    /// A day of quarter hours of 1,000 requests, so many of which failed.
    fn day(failed: impl Fn(i64) -> f64) -> Counts {
        (0..96).map(|block| (block, (failed(block), 1000.0))).collect()
    }

    fn judged_row(arm: &Counts, base: &Counts) -> Option<RowDoc> {
        row(("b", arm), ("a", base), Margin::MACHINES).map(|one| one.row)
    }

    #[test]
    fn one_outage_is_judged_by_what_happened_in_it() {
        let outage = day(|block| if block == 56 || block == 57 { 90.0 } else { 0.0 });
        let row = judged_row(&outage, &day(|_| 0.0)).unwrap();
        assert_eq!((row.verdict, row.ratio, row.base_value), (VerdictWord::Worse, None, Some(0.0)));
        assert!((row.arm_value.unwrap() - 180.0 / 96_000.0).abs() < 1e-12);
        let [Reason::FailedAtOnce { share, blocks: 2, of: 96, within: Some(within) }] = row.why.reasons[..]
        else {
            panic!("{row:?}")
        };
        assert_eq!((share, within.arm, within.base), (1.0, (180, 2000), (0, 2000)));
        assert_eq!(judged_row(&day(|_| 0.0), &outage).unwrap().verdict, VerdictWord::Better);
        assert!(judged_row(&day(|_| 0.0), &day(|_| 0.0)).is_none());
        // Both failed alike in it, or too few did.
        assert_eq!(judged_row(&outage, &outage).unwrap().verdict, VerdictWord::CannotTell);
        let few = day(|block| if block == 56 { 3.0 } else { 0.0 });
        assert_eq!(judged_row(&few, &day(|_| 0.0)).unwrap().verdict, VerdictWord::CannotTell);
    }

    #[test]
    fn an_outage_is_judged_where_nothing_else_was_read() {
        let quarters = |failed: f64| -> Counts { (0..2).map(|block| (block, (failed, 160.0))).collect() };
        let row = judged_row(&quarters(30.0), &quarters(0.0)).unwrap();
        assert_eq!((row.verdict, row.why.failed_at_once()), (VerdictWord::Worse, true), "{row:?}");
        assert_eq!(judged_row(&quarters(2.0), &quarters(1.0)).unwrap().verdict, VerdictWord::CannotTell);
    }

    #[test]
    fn what_failures_have_in_common_is_counted() {
        let names = |name: &str, requests| NamesDoc {
            top: vec![NameDoc { name: name.to_owned(), requests }],
            ..NamesDoc::default()
        };
        let failed = FailedDoc {
            requests: 61,
            paths: names("/api/items", 35),
            clients: names("10.0.0.7", 60),
            hosts: names("shop.example", 62),
            ..FailedDoc::default()
        };
        let list = |failed: &FailedDoc, answers: &AnswersDoc| MostlyDoc::list(&mostly(failed, answers), 61);
        assert_eq!(
            list(&failed, &AnswersDoc::default()).as_deref(),
            Some("35 of 61 of them for /api/items, 60 of 61 from 10.0.0.7, all 61 on shop.example")
        );
        // All requests were of that client and that host: it tells nothing of the failures.
        let one = AnswersDoc { one_client: true, one_host: true, ..AnswersDoc::default() };
        assert_eq!(list(&failed, &one).as_deref(), Some("35 of 61 of them for /api/items"));
        let spread = FailedDoc { paths: names("/a", 20), clients: names("10.0.0.7", 40), ..failed };
        let folder = |requests| FailedDoc {
            folder: Some(NameDoc { name: "/checkout/".to_owned(), requests }),
            hosts: NamesDoc::default(),
            ..spread.clone()
        };
        assert_eq!(list(&folder(61), &AnswersDoc::default()).as_deref(), Some("all 61 in /checkout/"));
        assert_eq!(list(&folder(50), &AnswersDoc::default()), None);
        assert_eq!(list(&FailedDoc { hosts: names("b", 50), ..spread }, &AnswersDoc::default()), None);
    }

    #[test]
    fn failures_all_day_are_worse_and_equal_ones_tie() {
        let often = day(|block| 20.0 + (block * 37 % 11) as f64);
        assert_eq!(judged_row(&often, &day(|_| 0.0)).unwrap().verdict, VerdictWord::Worse);
        assert_eq!(judged_row(&day(|_| 0.0), &often).unwrap().verdict, VerdictWord::Better);
        let seldom = day(|block| if block % 9 == 0 { 1.0 } else { 0.0 });
        assert_eq!(judged_row(&seldom, &seldom).unwrap().verdict, VerdictWord::Tie);
    }
}
