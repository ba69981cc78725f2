//! The largest load on a web server that keeps a percentile of response times within a limit.
//!
//! Requests per second of an open loop, Poisson arrivals. Each take is a search of its own, of [`STEPS`] steps
//! (`search.rs`); the spread of the takes is the interval. A step holds if its percentile is within the limit, at least
//! [`WELL`] of its requests have a good answer, and no queue grows: at least [`HELD`] of them have it in the step's own
//! time. A percentile with fewer than ten requests beyond it in a step is not asked for: rates have a lower end.
//! Between two steps nothing is sent.

use model::flags;
use model::generate::{HELD, WELL};
use model::histogram::percentile_needs;
use model::metrics::load::{self, CAPACITY, RESPONSES, SERVICES, SHARE, SLO};
use model::params::{parse_span, show_time};
use model::{
    Cadence, Card, Count, Example, Family, Fault, Flag, Label, Means, MetricInfo, Need, ParamKind, ParamSpec,
    PerSec, Probe, Record, RecordExt, Role, Seconds, Setup, Shown, Simple, Size, Tier, Unfit, Variant,
};

use super::search::{Range, STEPS, search};
use super::web::metrics;
use super::web::params::{self, Ask};
use super::web::probe::{Loads, Watched};
use super::web::seconds;
use crate::load::Outcome;

const PERCENTILES: &[&str] = &["p50", "p90", "p95", "p99", "p99.9", "p99.99"];

/// Shares of the capacity: at which a search starts, and between which it looks.
const FROM: f64 = 0.3;
const LEAST: f64 = 1e-3;
const MOST: f64 = 8.0;

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
    load::STEPS.info(),
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
    definition: 5,
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
    /// How long a step lasts; `None` where its percentile may be of few requests.
    step_s: Option<f64>,
}

impl Goal {
    /// Reads the goal of a setup. Fails when it is malformed or a step is too short to show it.
    pub(super) fn from_setup(setup: &Setup) -> Result<Goal, Unfit> {
        let text = |name: &str| setup.params.get(name).unwrap_or_default();
        let percent = text("percentile").strip_prefix('p').and_then(|text| text.parse::<f64>().ok());
        let percent = percent.filter(|percent| *percent > 0.0 && *percent < 100.0);
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
        Ok(Goal { share: percent / 100.0, limit_s, step_s: lasts })
    }

    /// True if a load kept to the goal, with the percentile that it had. Failed requests are over any limit.
    fn held(&self, outcome: &Outcome) -> (bool, Option<f64>) {
        let reached = outcome.response_time().quantile_s(self.share);
        let keeps_up = outcome.record.good_in_window as f64 >= HELD * outcome.requests() as f64;
        let is_well = outcome.error_rate().is_none_or(|failed| failed <= 1.0 - WELL);
        (keeps_up && is_well && reached.is_some_and(|seconds| seconds <= self.limit_s), reached)
    }

    /// The lowest rate at which a step surely has ten requests beyond the percentile, whatever chance gives it.
    fn least_rate(&self) -> f64 {
        let needs = percentile_needs(self.share) as f64;
        self.step_s.map_or(0.0, |seconds| (needs + 3.0 * needs.sqrt()) / seconds)
    }

    /// Where to look on a server of this capacity. Fails when no step can have enough requests there.
    fn range(&self, capacity: f64) -> Result<Range, Fault> {
        let (least, most) = (self.least_rate().max(LEAST * capacity).max(1.0), MOST * capacity);
        if least > capacity {
            return Err(Fault::new(format!(
                "no step has ten requests beyond p{}: that takes {least:.0} requests per second, and the server answers \
                 {capacity:.0}: make the steps longer (duration={:.0} or more), or take a lower percentile",
                self.share * 100.0,
                (self.step_s.unwrap_or(1.0) * 2.0 * least / capacity).ceil()
            )));
        }
        Ok(Range { from: (FROM * capacity).max(least), least, most })
    }

    /// Makes one search and pushes the load that it found. Fails when it finds none.
    pub(super) fn search(self, loads: &mut Loads, record: &mut dyn Record) -> Result<(), Fault> {
        let capacity = loads.capacity()?;
        let mut held: Vec<(f64, Watched)> = Vec::new();
        let found = search(self.range(capacity)?, |rate| {
            let watched = loads.one(rate, record)?;
            let (is_held, reached) = self.held(&watched.outcome);
            if is_held {
                held.push((rate, watched));
            }
            Ok((is_held, reached))
        })?;
        let apart = |(rate, _): &(f64, Watched)| (rate / found).ln().abs();
        let best = held.into_iter().min_by(|a, b| apart(a).total_cmp(&apart(b)));
        let Some((_, best)) = best else {
            return Err(Fault::new("no load was tried that kept to the limit"));
        };
        record.push(&SLO, PerSec(found));
        record.push(&load::STEPS, Count(f64::from(STEPS)));
        record.push(&CAPACITY, PerSec(capacity));
        metrics::push_evidence(&best.outcome, record);
        loads.push_machine(&best, record);
        Ok(())
    }
}

pub static INSTRUMENT: Simple =
    Simple::new(&CARD, prepare).fits(fit).lasts(|params| Some(seconds::take(params)? * f64::from(STEPS)));

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

#[cfg(test)]
mod tests {
    use model::Params;

    use super::*;

    #[test]
    fn goals_are_read() {
        let goal = |text: &str| {
            let params = CARD.resolve(&Params::parse(text).unwrap()).unwrap();
            let setup = Setup { size: Size::Full, ..Setup::bare(params, vec![0], std::env::temp_dir()) };
            Goal::from_setup(&setup)
        };
        assert_eq!(goal(""), Ok(Goal { share: 0.99, limit_s: 0.01, step_s: Some(1.0) }));
        assert_eq!(
            goal("percentile=p50;limit=2s;duration=8"),
            Ok(Goal { share: 0.5, limit_s: 2.0, step_s: Some(8.0) })
        );
        let why = goal("limit=2s;duration=7").unwrap_err().why;
        assert!(why.contains("a load of 7 s cannot show it") && why.contains("duration=8 or more"), "{why}");
    }
    #[test]
    fn a_percentile_of_few_requests_is_refused() {
        let goal = |share| Goal { share, limit_s: 0.01, step_s: Some(1.0) };
        assert_eq!(goal(0.99).range(10_000.0).unwrap().from, 3_000.0);
        // 1,000 requests and what chance may take of them.
        assert!((1_000.0..1_150.0).contains(&goal(0.99).range(2_000.0).unwrap().least));
        let why = goal(0.9999).range(20_000.0).unwrap_err().text;
        assert!(
            why.contains("no step has ten requests beyond p99.99") && why.contains("duration=11"),
            "{why}"
        );
        let smoke = Goal { step_s: None, ..goal(0.9999) };
        assert!(smoke.range(20_000.0).is_ok());
    }
}
