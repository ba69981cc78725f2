//! The largest load on a web server that keeps a percentile of response times within a limit.
//!
//! Requests per second of an open loop, Poisson arrivals. Each take is a search of its own: steps up by a half until
//! the limit is broken, then bisection until the bounds are 2 % apart; the spread of the takes is the interval.
//! A failed request breaks the limit, however fast it failed, and so does a queue that grows: at least [`HELD`] of the
//! requests must be answered in the step's own time. Between two steps nothing is sent.

use model::flags;
use model::generate::HELD;
use model::metrics::load::{self, CAPACITY, RESPONSES, SERVICES, SHARE, SLO, STEPS};
use model::params::{parse_span, show_time};
use model::{
    Cadence, Card, Count, Example, Family, Fault, Flag, Label, Means, MetricInfo, Need, ParamKind, ParamSpec,
    PerSec, Probe, Record, RecordExt, Role, Seconds, Setup, Shown, Simple, Size, Tier, Unfit, Variant,
};

use super::web::metrics;
use super::web::params::{self, Ask};
use super::web::probe::{Loads, Watched};
use super::web::seconds;
use crate::load::Outcome;

const PERCENTILES: &[&str] = &["p50", "p90", "p95", "p99", "p99.9", "p99.99", "p100"];

/// How much more a step up asks for.
const UP: f64 = 1.5;
/// The bounds are this close in the end.
const CLOSE: f64 = 1.02;
const MOST_STEPS: u32 = 24;
/// Loads that a search tries as a rule: some steps up, then five that halve the distance of a step up to [`CLOSE`].
pub(super) const USUAL_STEPS: f64 = 10.0;
/// The share of the capacity at which a search starts.
const FROM: f64 = 0.3;

pub(super) const OWN: [ParamSpec; 2] = [
    ParamSpec::new(
        "percentile",
        ParamKind::Choice(PERCENTILES),
        "p99",
        "the percentile of response times that has a limit",
    )
    .label(Label::Value)
    .flag(GOAL),
    ParamSpec::new("limit", ParamKind::Time { max: 3600 }, "10ms", "the limit, such as 10ms")
        .label(Label::Form("within {}")),
];
/// `--slo` of every search.
const GOAL: Flag = Flag::new(
    "slo",
    "PNN=TIME",
    "Search the largest load that keeps this percentile of response times within a limit",
    Means::Read(goal),
);

/// Reads `p99=10ms` as the two parameters. Fails when it is no such pair, or the limit is out of range.
fn goal(text: &str) -> Result<flags::Settings, String> {
    let (percentile, limit) =
        text.split_once('=').ok_or("not of the form PERCENTILE=TIME, such as p99=10ms")?;
    let seconds = parse_span(limit.trim()).ok_or("the limit is not a time, as in p99=10ms")?;
    let limit = show_time(seconds).ok_or("the limit must be from 1us to 1h")?;
    Ok(vec![("percentile", percentile.trim().to_owned()), ("limit", limit)])
}

const OF_LOAD: [ParamSpec; ParamSpec::count_unscheduled(params::PARAMS)] =
    ParamSpec::unscheduled(params::PARAMS);
const PARAMS: [ParamSpec; OWN.len() + OF_LOAD.len()] = ParamSpec::joined(&[&OWN, &OF_LOAD]);

const OF_SEARCH: &[MetricInfo] = &[
    SLO.info(),
    STEPS.info(),
    CAPACITY.info(),
    RESPONSES.info(),
    SERVICES.info(),
    SHARE.info(),
    load::THREAD.info(),
    load::REQUESTS.info(),
    load::REDIRECTS.info(),
    load::STATUSES.info(),
    load::STALL.info(),
    load::STALL_AT.info(),
    load::STALL_WAITING.info(),
    load::WINDOW.info(),
    load::FAILED.info(),
    load::LATE.info(),
    load::LATE_READ.info(),
    load::LATE_READ_P99.info(),
    load::IN_FLIGHT.info(),
    load::LITTLE.info(),
];
const ALL: usize = OF_SEARCH.len() + metrics::OF_MACHINE.len();
pub(super) const METRICS: [MetricInfo; ALL] = metrics::joined(OF_SEARCH);

static CARD: Card = Card {
    name: "web-slo",
    family: Family::Web,
    says: "the largest load on a web server that keeps a percentile of response times within a limit",
    source: "own",
    shown: Shown {
        label: "web",
        main: SLO.name(),
        tells: super::web::shown::TELLS,
        sorted: super::web::shown::SORTED,
        place: 1,
        ..Shown::PLAIN
    },
    role: Role::Search { rate: SLO.name(), load: model::names::instrument::WEB },
    parts: super::web::metrics::PARTS,
    cadence: Cadence::Repeat,
    definition: 4,
    params: &PARAMS,
    metrics: &METRICS,
    needs: &[Need::Server, Need::Objective],
    variants: &[Variant { tier: Tier::Full, set: "", headline: &[SLO.name()] }],
    examples: &[Example::new("boxscore run web --slo p99=10ms", "the largest load that holds it")],
    ..Card::DEFAULT
};

/// A step lasts at least so many times the limit, else few requests could break it.
const LIMITS: f64 = 4.0;

/// A goal: the share of requests and the time within which they must be answered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Goal {
    share: f64,
    limit_s: f64,
}

impl Goal {
    /// Reads the goal of a setup. Fails when it is malformed or a step is too short to show it.
    pub(super) fn from_setup(setup: &Setup) -> Result<Goal, Unfit> {
        let text = |name: &str| setup.params.get(name).unwrap_or_default();
        let percent = text("percentile").strip_prefix('p').and_then(|text| text.parse::<f64>().ok());
        let percent = percent.filter(|percent| (0.0..=100.0).contains(percent));
        let percent = percent.ok_or_else(|| {
            Unfit::new(format!("percentile={}: one of {}", text("percentile"), PERCENTILES.join(", ")))
        })?;
        let limit_s = parse_span(text("limit"));
        let wrong = || Unfit::new(format!("limit={}: a time such as 500us, 10ms or 2s", text("limit")));
        let limit_s = limit_s.ok_or_else(wrong)?;
        let lasts = text("duration").parse::<f64>().ok().filter(|_| setup.size != Size::Smoke);
        if lasts.is_some_and(|seconds| seconds < LIMITS * limit_s) {
            return Err(Unfit::new(format!(
                "limit={}: a load of {} s cannot show it: make the steps longer (--set duration={:.0} or more)",
                text("limit"),
                text("duration"),
                (LIMITS * limit_s).ceil()
            )));
        }
        Ok(Goal { share: percent / 100.0, limit_s })
    }

    /// True if a load kept to the goal, with the percentile that it had. Failed requests are over any limit.
    fn held(&self, outcome: &Outcome) -> (bool, Option<f64>) {
        let reached = outcome.response_time().quantile_s(self.share);
        let keeps_up = outcome.record.good_in_window as f64 >= HELD * outcome.requests() as f64;
        (keeps_up && reached.is_some_and(|seconds| seconds <= self.limit_s), reached)
    }

    /// Makes one search and pushes the load that it found. Fails when it finds none.
    pub(super) fn search(self, loads: &mut Loads, record: &mut dyn Record) -> Result<(), Fault> {
        let capacity = loads.capacity()?;
        let mut best: Option<Watched> = None;
        let found = search(capacity * FROM, |rate| {
            let watched = loads.one(rate, record)?;
            let (held, reached) = self.held(&watched.outcome);
            if held {
                best = Some(watched);
            }
            Ok((held, reached))
        })?;
        let Some(best) = best else { return Err(Fault::new("no load was tried that kept to the limit")) };
        record.push(&SLO, PerSec(found.rate));
        record.push(&STEPS, Count(f64::from(found.steps)));
        record.push(&CAPACITY, PerSec(capacity));
        metrics::push_evidence(&best.outcome, record);
        loads.push_machine(&best, record);
        Ok(())
    }
}

pub static INSTRUMENT: Simple =
    Simple::new(&CARD, prepare).fits(fit).lasts(|params| Some(seconds::take(params)? * USUAL_STEPS));

fn fit(setup: &Setup) -> Result<(), Unfit> {
    Goal::from_setup(setup)?;
    Ask::searching(setup).map(|_| ())
}

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let goal = Goal::from_setup(setup)?;
    Ok(Box::new(Searches { goal, loads: Loads::prepare(setup, Ask::searching(setup)?)? }))
}

/// Loads, with what must be in place for them.
pub(super) trait Placed {
    /// Does something before the takes, where what it needs is in place then.
    fn before(&mut self, work: impl FnOnce(&mut Loads) -> Result<u64, Fault>) -> Result<u64, Fault>;
    /// Does a take.
    fn during(
        &mut self,
        record: &mut dyn Record,
        work: impl FnOnce(&mut Loads, &mut dyn Record) -> Result<(), Fault>,
    ) -> Result<(), Fault>;
    fn busy_cpus(&self) -> Vec<u32>;
    /// Why no take can come any more.
    fn given_up(&self) -> Option<String>;
}

impl Placed for Loads {
    fn before(&mut self, work: impl FnOnce(&mut Loads) -> Result<u64, Fault>) -> Result<u64, Fault> {
        work(self)
    }

    fn during(
        &mut self,
        record: &mut dyn Record,
        work: impl FnOnce(&mut Loads, &mut dyn Record) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        work(self, record)
    }

    fn busy_cpus(&self) -> Vec<u32> {
        Loads::busy_cpus(self)
    }

    fn given_up(&self) -> Option<String> {
        None
    }
}

/// Searches, one a take.
pub(super) struct Searches<L> {
    pub(super) goal: Goal,
    pub(super) loads: L,
}

impl<L: Placed> Probe for Searches<L> {
    fn calibrate(&mut self, _: Seconds) -> Result<u64, Fault> {
        self.loads.before(|loads| loads.capacity().map(|_| 1))
    }

    fn take(&mut self, _repeats: u64, record: &mut dyn Record) -> Result<(), Fault> {
        let goal = self.goal;
        self.loads.during(record, |loads, record| goal.search(loads, record))
    }

    fn given_up(&self) -> Option<String> {
        self.loads.given_up()
    }

    fn cpus(&self) -> Vec<u32> {
        self.loads.busy_cpus()
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Found {
    rate: f64,
    steps: u32,
}

/// Searches the largest rate that holds, from `from` on. `holds` tries one and also gives the percentile it had. The
/// rate found is the last one tried that held.
fn search(
    from: f64,
    mut holds: impl FnMut(f64) -> Result<(bool, Option<f64>), Fault>,
) -> Result<Found, Fault> {
    let (mut low, mut high, mut rate) = (None::<f64>, None::<f64>, from);
    let mut reached = None;
    for steps in 1..=MOST_STEPS {
        let (held, had) = holds(rate)?;
        if held {
            low = Some(rate);
        } else {
            high = Some(rate);
            reached = had;
        }
        rate = match (low, high) {
            (Some(low), Some(high)) if high <= low * CLOSE => return Ok(Found { rate: low, steps }),
            (Some(low), Some(high)) => (low * high).sqrt(),
            (Some(low), None) => low * UP,
            (None, Some(high)) => high / (UP * UP),
            (None, None) => from,
        };
        // Less than a request in a take is no load.
        if rate < 1.0 {
            break;
        }
    }
    Err(Fault::new(unfound(low, high, reached)))
}

/// Why a search has no end: the goal was held at every load or at none.
fn unfound(low: Option<f64>, high: Option<f64>, reached: Option<f64>) -> String {
    let at = |rate: Option<f64>| format!("{:.1} requests per second", rate.unwrap_or_default());
    match (low, high, reached) {
        (Some(_), Some(_), _) => format!(
            "the search did not come to an end: the goal was held at {} and not at {}; steps that differ so much from \
             each other must be longer (duration=5)",
            at(low),
            at(high)
        ),
        (Some(_), None, _) => format!(
            "the goal was held at every load, up to {}, the highest tried: make the steps longer, so that a queue can \
             grow (duration=5), or the limit shorter",
            at(low)
        ),
        (None, _, Some(had)) => format!(
            "the goal was held at no load, down to {}, the lowest tried, where the percentile was {:.3} ms: take a longer \
             limit or a lower percentile, or see what slows single answers (arrivals=closed, connections=1)",
            at(high),
            had * 1e3
        ),
        (None, ..) => format!(
            "no load had an answer, down to {}, the lowest tried: make the steps or the timeout longer (duration=5)",
            at(high)
        ),
    }
}

#[cfg(test)]
mod tests {
    use model::Params;

    use super::*;

    #[test]
    fn a_search_comes_close_from_any_start() {
        for from in [1.0, 300.0, 999.0, 1000.0, 1001.0, 50_000.0] {
            let mut tried = Vec::new();
            let found = search(from, |rate| {
                tried.push(rate);
                Ok((rate <= 1000.0, Some(0.02)))
            });
            let found = found.unwrap();
            assert!(found.rate <= 1000.0 && found.rate >= 1000.0 / CLOSE, "{from}: {found:?}");
            assert_eq!(tried.len(), found.steps as usize);
            // What was found was tried last among those that held.
            assert_eq!(tried.iter().copied().rfind(|rate| *rate <= 1000.0), Some(found.rate));
        }
    }

    #[test]
    fn a_search_is_bounded_and_says_what_it_met() {
        let mut tried = 0;
        let why = search(100.0, |_| {
            tried += 1;
            Ok((true, Some(0.001)))
        });
        let why = why.unwrap_err().text;
        // 23 steps up from 100.
        assert!(why.contains("held at every load, up to 1122274.1 requests"), "{why}");
        assert_eq!(tried, MOST_STEPS);
        let why = search(100.0, |_| Ok((false, Some(0.0251)))).unwrap_err().text;
        assert!(why.contains("held at no load, down to 1.7 requests") && why.contains("25.100 ms"), "{why}");
        let why = search(100.0, |_| Ok((false, None))).unwrap_err().text;
        assert!(why.contains("no load had an answer, down to 1.7"), "{why}");
        let why = search(100.0, |_| Err(Fault::new("gone"))).unwrap_err();
        assert_eq!(why.text, "gone");
    }

    #[test]
    fn goals_are_read() {
        let goal = |text: &str| {
            let params = CARD.resolve(&Params::parse(text).unwrap()).unwrap();
            let setup = Setup { size: Size::Full, ..Setup::bare(params, vec![0], std::env::temp_dir()) };
            Goal::from_setup(&setup)
        };
        assert_eq!(goal(""), Ok(Goal { share: 0.99, limit_s: 0.01 }));
        assert_eq!(goal("percentile=p100;limit=2s;duration=8"), Ok(Goal { share: 1.0, limit_s: 2.0 }));
        let why = goal("limit=2s;duration=7").unwrap_err().why;
        assert!(why.contains("a load of 7 s cannot show it") && why.contains("duration=8 or more"), "{why}");
    }
}
