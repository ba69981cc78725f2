//! The largest load on a web server that keeps a percentile of response times within a limit.
//!
//! Requests per second of an open loop; arrivals are evenly spaced, or Poisson where that is asked for. Each take
//! is a search of its own, of [`STEPS`] steps (`search.rs`); the spread of the takes is the interval. Further steps
//! check the rate that was found, and lower ones where it is not kept. A step holds if its percentile is within the
//! limit, at least [`WELL`] of its requests have a good answer, and no queue grows: at least [`HELD`] of those that
//! are due early enough have it in the step's own time, and at its end no more are on their way than answers' times
//! explain. A rate above what the server can do would break the limit later. A step lasts until ten requests are
//! beyond its percentile, for a minute at most; lower rates are not asked for. Between two steps nothing is sent. A
//! search that the user ends is of the steps until then.

use model::flags;
use model::format;
use model::generate::{HELD, WELL};
use model::histogram::percentile_needs;
use model::metrics::load::{self, CAPACITY, SLO};
use model::note::CutAt;
use model::params::{parse_span, show_time};
use model::progress::REMARK;
use model::{
    Cadence, Card, Count, Example, Family, Fault, Flag, Histogram, Label, Means, MetricInfo, Need, NoteBody,
    ParamKind, ParamSpec, Params, PerSec, Probe, Ratio, Record, RecordExt, Role, Seconds, Setup, Shown,
    Simple, Size, Tier, Unfit, Variant,
};

use super::search::{Answer, ENOUGH, Range, STEPS, check, search};
use super::web::metrics;
use super::web::params::{self, Ask, searching};
use super::web::probe::{Loads, Watched};
use super::web::seconds;
use crate::load::Outcome;
use crate::progress;

const PERCENTILES: &[&str] = &["p50", "p90", "p95", "p99", "p99.9", "p99.99"];

/// Shares of the capacity: at which a search starts, and between which it looks.
const FROM: f64 = 0.3;
const LEAST: f64 = 1e-3;
const MOST: f64 = 8.0;

pub(super) const OWN: [ParamSpec; 3] = [
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
    ParamSpec::new(
        "arrivals",
        ParamKind::Choice(&["constant", "poisson"]),
        "constant",
        "constant: requests are due evenly spaced, as with load --rate; poisson: at random, as those of many users are",
    )
    .label(Label::Form("{} arrivals")),
];
/// `--slo` of every search.
const GOAL: Flag = Flag::new(
    "slo",
    "PNN=TIME",
    "Search the largest load that keeps this percentile of response times within a limit",
    Means::Read(goal),
);

/// Reads `p99=10ms` as the two parameters; `p99<10ms`, as needs are written, is the same. Fails when it is no such
/// pair, or the limit is out of range.
fn goal(text: &str) -> Result<flags::Settings, String> {
    let (percentile, limit) =
        text.split_once(['=', '<']).ok_or("not of the form PERCENTILE=TIME, such as p99=10ms")?;
    let seconds = parse_span(limit.trim()).ok_or("the limit is not a time, as in p99=10ms")?;
    let limit = show_time(seconds).ok_or("the limit must be from 1us to 1h")?;
    Ok(vec![("percentile", percentile.trim().to_owned()), ("limit", limit)])
}

const OF_LOAD: [ParamSpec; ParamSpec::count_unscheduled(params::PARAMS)] =
    ParamSpec::unscheduled(params::PARAMS);
const PARAMS: [ParamSpec; OWN.len() + OF_LOAD.len()] = model::joined(&[&OWN, &OF_LOAD]);

const OF_SEARCH: &[MetricInfo] = &[
    SLO.info(),
    load::STEPS.info(),
    load::STEP_RATE.info(),
    load::STEP_REQUESTS.info(),
    load::STEP_ANSWERED.info(),
    load::STEP_TIME.info(),
    load::STEP_HELD.info(),
    CAPACITY.info(),
];
pub(super) const METRICS: [MetricInfo; metrics::count_sent(OF_SEARCH)] = metrics::sent(OF_SEARCH);

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
    definition: 7,
    params: &PARAMS,
    metrics: &METRICS,
    needs: &[Need::Server, Need::Objective],
    variants: &[Variant { tier: Tier::Full, set: "", headline: &[SLO.name()] }],
    examples: &[Example::new("boxscore run web --slo p99=10ms", "the largest load that holds it")],
    ..Card::DEFAULT
};

/// A step lasts at least so many times the limit, else few requests could break it.
const LIMITS: f64 = 4.0;
/// No step is made longer than this by itself; one that is asked for may be.
const LONGEST_S: f64 = 60.0;
/// The share of the capacity at which a search spends most of its steps, to tell how long it takes.
const USUAL: f64 = 0.6;
/// Shares of the capacity that the largest rate may be, to tell how long a search takes.
const LARGEST: [f64; 3] = [0.4, USUAL, 0.95];
/// Steps of a search that are far beyond the capacity, so that their last answers come as late as they may.
const OVER: f64 = 2.0;
/// A search that takes longer says so before it starts.
const LONG_S: f64 = 60.0;

/// A goal: the share of requests and the time within which they must be answered.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Goal {
    share: f64,
    limit_s: f64,
    /// How long a step lasts at least; `None` where its percentile may be of few requests.
    step_s: Option<f64>,
}

/// Seconds of a step that is as long as the limit needs.
fn least_step_s(duration_s: f64, limit_s: f64) -> f64 {
    duration_s.max((LIMITS * limit_s).ceil())
}

/// How long a search takes whose steps last so long, at least.
fn search_s(step_s: f64) -> f64 {
    step_s * f64::from(STEPS + ENOUGH)
}

impl Goal {
    /// Reads the goal of a setup. Fails when it is malformed or no step is long enough to show it.
    fn from_setup(setup: &Setup) -> Result<Goal, Unfit> {
        let text = |name: &str| setup.params.get(name).unwrap_or_default();
        let percent = text("percentile").strip_prefix('p').and_then(|text| text.parse::<f64>().ok());
        let percent = percent.filter(|percent| *percent > 0.0 && *percent < 100.0);
        let percent = percent.ok_or_else(|| {
            Unfit::new(format!("percentile={}: one of {}", text("percentile"), PERCENTILES.join(", ")))
        })?;
        let limit_s = parse_span(text("limit"));
        let wrong = || Unfit::new(format!("limit={}: a time such as 500us, 10ms or 2s", text("limit")));
        let limit_s = limit_s.ok_or_else(wrong)?;
        let asked = text("duration").parse::<f64>().ok().filter(|_| setup.size != Size::Smoke);
        let step_s = asked.map(|seconds| least_step_s(seconds, limit_s));
        if let Some((asked, needed)) = asked.zip(step_s).filter(|(asked, step)| *step > asked.max(LONGEST_S))
        {
            return Err(Unfit::new(format!(
                "limit={}: a step of {LONGEST_S:.0} s cannot show it: --set duration={needed:.0} (it is {asked:.0}) makes \
                 the steps long enough; a search then takes about {}",
                text("limit"),
                format::duration(search_s(needed))
            )));
        }
        Ok(Goal { share: percent / 100.0, limit_s, step_s })
    }

    /// True if a load kept to the goal, with the percentile that it had. Failed requests are over any limit.
    fn held(&self, outcome: &Outcome) -> (bool, Option<f64>) {
        let times = outcome.response_time();
        let reached = times.quantile_s(self.share);
        let is_well = outcome.error_rate().is_none_or(|failed| failed <= 1.0 - WELL);
        let is_within = reached.is_some_and(|seconds| seconds <= self.limit_s);
        (is_within && is_well && keeps_up(outcome, &times), reached)
    }

    /// Requests of which surely ten are beyond the percentile, whatever chance gives a step.
    fn needs(&self) -> f64 {
        let needs = percentile_needs(self.share) as f64;
        needs + 3.0 * needs.sqrt()
    }

    /// How long a step at this rate lasts: as asked for, or until its percentile has enough requests.
    fn step_s(&self, rate: f64) -> Option<f64> {
        Some(self.step_s?.max((self.needs() / rate).ceil()))
    }

    /// The lowest rate at which a step has enough requests before it is too long.
    fn least_rate(&self) -> f64 {
        self.step_s.map_or(0.0, |seconds| self.needs() / seconds.max(LONGEST_S))
    }

    /// Where to look on a server of this capacity. Fails when no step can have enough requests there.
    fn range(&self, capacity: f64) -> Result<Range, Fault> {
        let (least, most) = (self.least_rate().max(LEAST * capacity), MOST * capacity);
        if least > capacity {
            let step_s = (self.needs() / (USUAL * capacity)).ceil();
            return Err(Fault::new(format!(
                "no step of {:.0} s has ten requests beyond p{}: that takes {} requests per second, and the server \
                 answers {}; --set duration={step_s:.0} makes the steps long enough, and a search takes about {}; a \
                 lower percentile takes less (--slo p90=...)",
                self.step_s.unwrap_or_default().max(LONGEST_S),
                self.share * 100.0,
                format::number(least),
                format::number(capacity),
                format::duration(search_s(step_s))
            )));
        }
        Ok(Range { from: (FROM * capacity).max(least), least, most })
    }

    /// The time that a search takes on a server of this capacity, if the largest rate that holds is this one, with the
    /// late answers of steps beyond the capacity.
    fn lasts_s(&self, capacity: f64, range: Range, largest: f64, drain_s: f64) -> f64 {
        let mut all = 0.0;
        let mut step = |rate: f64| {
            let step_s = self.step_s(rate).unwrap_or_default();
            all += step_s + ((rate / capacity - 1.0) * step_s).clamp(0.0, drain_s) + seconds::AROUND;
            Ok(Answer::Tried(rate <= largest, None))
        };
        // A search that finds nothing takes as long.
        if let Ok(found) = search(range, &mut step) {
            check(found, range.least, &mut step).unwrap_or_default();
        }
        all
    }

    /// The time that a search takes on a server of this capacity, where that is long.
    fn cost(&self, capacity: f64, drain_s: f64) -> Option<String> {
        self.step_s?;
        let range = self.range(capacity).ok()?;
        let lasts = LARGEST.map(|share| self.lasts_s(capacity, range, share * capacity, drain_s));
        let least = lasts.into_iter().fold(f64::INFINITY, f64::min);
        let most = lasts.into_iter().fold(0.0, f64::max);
        let percent = self.share * 100.0;
        (most >= LONG_S).then(|| {
            format!(
                "a search takes about {} to {}: {STEPS} steps, {ENOUGH} or more that check the rate found, and answers \
                 that come late; p{percent} needs {:.0} requests a step and the server answers {} a second; each take is \
                 one search",
                format::duration(least),
                format::duration(most),
                self.needs(),
                format::number(capacity)
            )
        })
    }

    /// Makes one search in a range and pushes the load that it found, after the user's end of it too. Fails when it
    /// finds none.
    fn search(
        self,
        (capacity, range): (f64, Range),
        loads: &mut Loads,
        record: &mut dyn Record,
    ) -> Result<(), Fault> {
        let mut tries = Tries { goal: self, loads, record, made: 0, searched: STEPS, held: Vec::new() };
        let found = search(range, |rate| tries.at(rate)).and_then(|found| {
            tries.searched = tries.made.min(STEPS);
            check(found, range.least, |rate| tries.at(rate)).map(|()| found)
        });
        let Tries { loads, record, searched, held, .. } = tries;
        loads.last_for(None);
        let found = found?;
        let apart = |(rate, _): &(f64, Watched)| (rate / found).ln().abs();
        let best = held.into_iter().min_by(|a, b| apart(a).total_cmp(&apart(b)));
        let Some((_, best)) = best else {
            return Err(Fault::new("no load was tried that kept to the limit"));
        };
        record.push(&SLO, PerSec(found));
        record.push(&load::STEPS, Count(f64::from(searched)));
        record.push(&CAPACITY, PerSec(capacity));
        metrics::push_evidence(&best.outcome, record);
        loads.push_machine(&best, record);
        Ok(())
    }
}

/// The share of the requests that may be without an answer at the end, whatever their times.
const FEW: f64 = 0.01;
/// In a queue that grows the last request waits longest: longer than four in five, and than this many times the median.
const LATE: f64 = 0.8;
const LATER: f64 = 1.3;

/// True of a load whose requests were answered as fast as they came.
fn keeps_up(outcome: &Outcome, times: &Histogram) -> bool {
    let (late, usual) = (times.quantile_s(LATE), times.quantile_s(0.5));
    let counts = (outcome.requests(), outcome.record.good_in_window);
    late.zip(usual).is_some_and(|times| no_queue_grows(counts, outcome.elapsed_s, times))
}

/// By Little's law, the requests without an answer at the end, over the rate at which they came, are the time that they
/// wait. Where nothing grows, that is about the median of all times; where a queue grows, about twice that.
fn no_queue_grows((requests, answered): (u64, u64), elapsed_s: f64, (late_s, usual_s): (f64, f64)) -> bool {
    let (all, open) = (requests as f64, requests.saturating_sub(answered) as f64);
    let wait_s = open * elapsed_s / all.max(1.0);
    let grows = open > FEW * all && wait_s > late_s && wait_s > LATER * usual_s;
    // Those that came in so shortly before the end that no answer could be there.
    let excused = all * (LATER * usual_s / elapsed_s.max(f64::MIN_POSITIVE)).min(1.0);
    !grows && open - excused <= (1.0 - HELD) * all
}

/// The steps of one search, and those that check what it found.
struct Tries<'t> {
    goal: Goal,
    loads: &'t mut Loads,
    record: &'t mut dyn Record,
    made: u32,
    /// How many of them searched.
    searched: u32,
    /// Those that held, by rate.
    held: Vec<(f64, Watched)>,
}

impl Tries<'_> {
    /// Makes a step at this rate and pushes it. Fails when its load fails.
    fn at(&mut self, rate: f64) -> Result<Answer, Fault> {
        if self.record.is_cut() {
            self.record.note(NoteBody::Cut(CutAt::Load));
            return Ok(Answer::Ended);
        }
        let lasts = self.goal.step_s(rate);
        tell(self.made + 1, rate, lasts);
        self.loads.last_for(lasts);
        let watched = self.loads.one(rate, self.record)?;
        // A step that the user cut short says nothing of its rate.
        if self.record.is_cut() {
            return Ok(Answer::Ended);
        }
        self.made += 1;
        let (is_held, reached) = self.goal.held(&watched.outcome);
        push_step(self.made, (rate, is_held), reached, &watched.outcome, self.record);
        if is_held {
            self.held.push((rate, watched));
        }
        Ok(Answer::Tried(is_held, reached))
    }
}

/// Pushes what a step offered, what came of it, and whether it held.
fn push_step(
    step: u32,
    (rate, is_held): (f64, bool),
    reached: Option<f64>,
    outcome: &Outcome,
    record: &mut dyn Record,
) {
    let mut extra = Params::default();
    extra.set(load::STEP, &step.to_string());
    let requests = outcome.requests() as f64;
    record.push_of(&load::STEP_RATE, &extra, PerSec(rate));
    record.push_of(&load::STEP_REQUESTS, &extra, Count(requests));
    let answered = (requests > 0.0).then(|| Ratio(outcome.record.good_in_window as f64 / requests));
    record.push_of_if(&load::STEP_ANSWERED, &extra, answered);
    record.push_of_if(&load::STEP_TIME, &extra, reached.filter(|time| time.is_finite()).map(Seconds));
    record.push_of(&load::STEP_HELD, &extra, Count(f64::from(u8::from(is_held))));
}

/// Says which step comes where it is a long one.
fn tell(step: u32, rate: f64, lasts: Option<f64>) {
    if let Some(seconds) = lasts.filter(|seconds| *seconds >= LONG_S / f64::from(STEPS)) {
        let rate = format::number(rate);
        let what = match step.checked_sub(STEPS).filter(|check| *check > 0) {
            None => format!("step {step} of {STEPS}"),
            Some(check) => format!("check {check}"),
        };
        progress::current().report(&format!("{what}: {rate} requests/s for {seconds:.0} s"));
    }
}

pub static INSTRUMENT: Simple =
    Simple::new(&CARD, prepare::<Loads>).fits(fit::<Loads>).lasts(seconds_of_search);

/// How long a search lasts, as far as the parameters tell it: a slow server makes its steps longer.
pub(super) fn seconds_of_search(params: &Params) -> Option<f64> {
    let asked = params.get("duration")?.parse::<f64>().ok()?;
    let limit_s = parse_span(params.get("limit")?)?;
    let step_s = seconds::take(params)? - asked + least_step_s(asked, limit_s);
    let drain_s = params.get("timeout").and_then(|text| text.parse::<f64>().ok()).unwrap_or_default();
    Some(search_s(step_s) + OVER * drain_s.min(step_s))
}

/// Fails where a setup is no search of such loads.
pub(super) fn fit<L: Placed>(setup: &Setup) -> Result<(), Unfit> {
    Goal::from_setup(setup)?;
    L::check(&searching(setup))
}

/// Searches of such loads.
pub(super) fn prepare<L: Placed>(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let goal = Goal::from_setup(setup)?;
    let loads = L::start(&searching(setup))?;
    Ok(Box::new(Searches { goal, loads, hopeless: None }))
}

/// Loads, with what must be in place for them.
pub(super) trait Placed: Sized + 'static {
    /// The family of instruments that they are of, as people call it.
    const WHAT: &'static str;

    /// Starts and asks nothing. Fails where a setup is none of such loads.
    fn check(setup: &Setup) -> Result<(), Unfit>;
    /// Finds or starts the server. Fails when it cannot be reached or started.
    fn start(setup: &Setup) -> Result<Self, Unfit>;
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
    const WHAT: &'static str = "web";

    fn check(setup: &Setup) -> Result<(), Unfit> {
        Ask::from_setup(setup).map(drop)
    }

    fn start(setup: &Setup) -> Result<Loads, Unfit> {
        Loads::prepare(setup, Ask::from_setup(setup)?)
    }

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
struct Searches<L> {
    goal: Goal,
    loads: L,
    /// Why no search can find anything on this server.
    hopeless: Option<String>,
}

impl<L: Placed> Probe for Searches<L> {
    fn calibrate(&mut self, _: Seconds) -> Result<u64, Fault> {
        let goal = self.goal;
        self.loads.before(|loads| {
            if let Some(cost) = goal.cost(loads.capacity()?, loads.drain_s()) {
                progress::current().report(&format!("{REMARK}{cost}"));
            }
            Ok(1)
        })
    }

    fn take(&mut self, _repeats: u64, record: &mut dyn Record) -> Result<(), Fault> {
        let (goal, hopeless) = (self.goal, &mut self.hopeless);
        self.loads.during(record, |loads, record| {
            let capacity = loads.capacity()?;
            let range = goal.range(capacity).inspect_err(|fault| *hopeless = Some(fault.text.clone()))?;
            goal.search((capacity, range), loads, record)
        })
    }

    fn given_up(&self) -> Option<String> {
        self.hopeless.clone().or_else(|| self.loads.given_up())
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
        assert_eq!(goal("limit=2s;duration=7").unwrap().step_s, Some(8.0), "longer by itself");
        let why = goal("limit=20s;duration=7").unwrap_err().why;
        assert!(why.contains("--set duration=80 (it is 7)") && why.contains("takes about 24 min"), "{why}");
    }

    #[test]
    fn a_queue_that_grows_is_seen_before_it_breaks_the_limit() {
        // A server that takes 21 ms and answers 388/s is asked for 412/s for 3 s: at the end 80 requests are on their
        // way, and the last one takes 0.21 s.
        assert!(!no_queue_grows((1236, 1156), 3.0, (0.169, 0.114)));
        // 1 % and 15 % more than it can do.
        assert!(!no_queue_grows((1176, 1156), 3.0, (0.045, 0.036)));
        assert!(!no_queue_grows((446, 380), 1.0, (0.141, 0.096)));
        // It keeps up: 8 are on their way, each takes 21 ms.
        assert!(no_queue_grows((1140, 1132), 3.0, (0.022, 0.021)));
        // Slow answers are not late ones: each takes 150 ms, and 15 of 100 requests are on their way.
        assert!(no_queue_grows((100, 85), 1.0, (0.151, 0.15)));
        // Answers that stop come no more in the time that answers take.
        assert!(!no_queue_grows((1000, 500), 1.0, (0.01, 0.01)));
    }

    #[test]
    fn a_step_is_as_long_as_its_percentile_needs() {
        let goal = |share| Goal { share, limit_s: 0.01, step_s: Some(1.0) };
        let fast = goal(0.99).range(10_000.0).unwrap();
        assert_eq!(
            (fast.from, goal(0.99).step_s(3_000.0), goal(0.99).cost(10_000.0, 10.0)),
            (3_000.0, Some(1.0), None)
        );
        // 1,000 requests and what chance may take of them.
        assert_eq!(goal(0.99).step_s(44.0), Some(25.0));
        let slow = goal(0.99).range(44.0).unwrap();
        assert!((18.0..19.0).contains(&slow.least), "{slow:?}");
        let cost = goal(0.99).cost(44.0, 10.0).unwrap();
        assert!(cost.contains(": 16 steps, 2 or more that check the rate found"), "{cost}");
        let lasts = |drain_s| goal(0.99).lasts_s(44.0, slow, 0.6 * 44.0, drain_s);
        // 18 steps of about 42 s, and answers that come later.
        assert!((700.0..1_000.0).contains(&lasts(0.0)), "{}", lasts(0.0));
        assert!(lasts(10.0) >= lasts(0.0) + 5.0, "late answers take time: {} {}", lasts(10.0), lasts(0.0));
        let asked = Goal { step_s: Some(300.0), ..goal(0.99) };
        assert!(asked.range(5.0).is_ok(), "who asks for longer steps gets them");
    }

    #[test]
    fn a_percentile_that_no_step_can_show_is_refused_with_what_it_takes() {
        let goal = Goal { share: 0.9999, limit_s: 0.01, step_s: Some(1.0) };
        let why = goal.range(100.0).unwrap_err().text;
        assert!(why.contains("no step of 60 s has ten requests beyond p99.99"), "{why}");
        assert!(
            why.contains("--set duration=1683") && why.contains("a search takes about 8 h 24 min"),
            "{why}"
        );
        assert_eq!(goal.cost(100.0, 10.0), None);
        let smoke = Goal { step_s: None, ..goal };
        assert!(smoke.range(20_000.0).is_ok());
    }
}
