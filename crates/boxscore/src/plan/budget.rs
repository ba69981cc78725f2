//! The time of a run: how many takes of each figure, until when, and which cells that leaves time for. Seconds.

use std::collections::BTreeSet;

use model::fake::FakeWorld;
use model::params::parse_span;
use model::plan::{Level, Takes};
use model::{Cell, Family, Role, card};

use harness::order::sittings_of;

use super::choice::is_telemetry_alone;
use crate::cli::run::RunArgs;
use crate::error::CliError;

const QUICK_BUDGET: f64 = 110.0;
/// Of instruments that the user named: the command ends within 3 minutes.
const QUICK_NAMED_BUDGET: f64 = 165.0;
/// Of searches for the largest load, whose takes are some twenty loads each: the command ends within 5 minutes.
const QUICK_SEARCH_BUDGET: f64 = 285.0;
const DEFAULT_BUDGET: f64 = 570.0;
/// Of jobs on a cluster, each of which takes a good part of a minute: the command ends within 5 and 15 minutes.
const QUICK_JOBS_BUDGET: f64 = 225.0;
const JOBS_BUDGET: f64 = 885.0;
const TARGET: f64 = 0.02;
/// Of commands beside each other, where 3 % shall be told from the 2 % that nobody would act on.
const TARGET_BESIDE: f64 = 0.005;
const QUICK_SITTINGS: u32 = 3;
const SITTINGS: u32 = 5;
/// Takes of jobs on one cluster: another cluster may be another level, and takes of one follow each other.
const TAKES_OF_A_CLUSTER: u32 = 2;
/// Takes without which a figure has no interval.
const LEAST_TAKES: u32 = 6;
/// The data of jobs on a cluster where there are several, so that each has these takes in time.
const DATA: &str = "data";
const NODES: &str = "nodes";
const DATA_OF_SEVERAL: &str = "64MiB";
/// Time to start servers and to make their content.
const SETTING_UP: f64 = 20.0;

/// Seconds of a take of `--soak`, as a part of its time, and the least and most: so short that a burst of ten seconds
/// has several takes of each figure.
const SOAK_PART: f64 = 1.0 / 1000.0;
const SOAK_TAKE: (f64, f64) = (0.05, 0.2);
/// More than any soak has time for.
const SOAK_MOST: u32 = 10_000_000;

/// Time and length of takes of a soak.
pub struct Soak {
    pub seconds: f64,
    pub take_seconds: f64,
}

/// The soak that is asked for, if any. Fails when --soak is malformed.
pub fn soak(args: &RunArgs) -> Result<Option<Soak>, CliError> {
    let Some(text) = &args.soak else { return Ok(None) };
    let seconds = parse_span(text).ok_or_else(|| {
        CliError::usage(format!("--soak {text}: not a duration")).hint("write it as 20s, 10m or 2h")
    })?;
    let take_seconds = (seconds * SOAK_PART).clamp(SOAK_TAKE.0, SOAK_TAKE.1);
    Ok(Some(Soak { seconds, take_seconds }))
}

/// Takes of a soak, as many as there is time for, and its seconds. A planted world has no time of its own, so its takes
/// are counted.
pub fn soak_limits(
    soak: &Soak,
    cells: usize,
    machines: usize,
    fake: Option<&FakeWorld>,
) -> (Takes, Option<f64>) {
    let count = |world: &FakeWorld| {
        let block = world.take_seconds * (cells * machines).max(1) as f64;
        (soak.seconds / block).clamp(1.0, f64::from(SOAK_MOST)) as u32
    };
    (Takes::Fixed(fake.map_or(SOAK_MOST, count)), Some(soak.seconds))
}

/// How many takes a figure gets, and how many seconds the run may last. Fails when --within or --for is malformed.
pub fn limits(args: &RunArgs, level: Level, cells: &[Cell]) -> Result<(Takes, Option<f64>), CliError> {
    let target = match &args.within {
        None if args.commands.cmds.len() > 1 => TARGET_BESIDE,
        None => TARGET,
        Some(text) => share("--within", text)?,
    };
    let is_short_search = args.usual.quick && is_of_searches(cells);
    let takes = match args.usual.takes {
        Some(n) => Takes::Fixed(n),
        None if is_short_search => Takes::Fixed(LEAST_TAKES),
        None => Takes::Adaptive { quick: args.usual.quick, target },
    };
    let budget = match (&args.usual.span, level) {
        (Some(text), _) => Some(parse_span(text).ok_or_else(|| {
            CliError::usage(format!("--for {text}: not a duration")).hint("write it as 90s, 10m or 24h")
        })?),
        (None, _) if args.usual.takes.is_some() => None,
        (None, Level::Quick) => Some(QUICK_BUDGET),
        (None, Level::Named) if is_of_jobs(args) => {
            Some(if args.usual.quick { QUICK_JOBS_BUDGET } else { JOBS_BUDGET })
        }
        (None, Level::Named) if is_short_search => Some(QUICK_SEARCH_BUDGET),
        (None, Level::Named) if args.usual.quick => Some(QUICK_NAMED_BUDGET),
        (None, Level::Default) => Some(DEFAULT_BUDGET),
        // One run of a command may take longer than any budget of ours.
        (None, Level::Named) if args.commands.is_empty() && !is_telemetry_alone(args) => Some(DEFAULT_BUDGET),
        (None, _) => None,
    };
    if is_telemetry_alone(args) && budget.is_none() {
        return Err(
            CliError::usage("`run telemetry` needs an end").hint("say how long, for example --for 24h")
        );
    }
    Ok((takes, budget))
}

/// True if a run is of jobs on a cluster alone.
fn is_of_jobs(args: &RunArgs) -> bool {
    let is_job = |name: &String| {
        let card = card::find(instruments::cards(), name);
        name == Family::Hadoop.name() || card.is_some_and(|card| card.family == Family::Hadoop)
    };
    !args.usual.names.is_empty() && args.usual.names.iter().all(is_job)
}

/// Gives several jobs less data than one alone has, unless the user says how much; a note on it. `beside` counts the
/// arms and machines that each have their takes of a cell.
pub fn smaller_jobs(cells: &mut [Cell], beside: usize, is_told: impl Fn(&str) -> bool) -> Option<String> {
    let is_job = |cell: &Cell| {
        let card = card::find(instruments::cards(), &cell.instrument);
        card.is_some_and(|card| card.family == Family::Hadoop) && cell.params.get(DATA).is_some()
    };
    let jobs = cells.iter().filter(|cell| is_job(cell)).count() * beside.max(1);
    if jobs < 2 || is_told(DATA) {
        return None;
    }
    cells.iter_mut().filter(|cell| is_job(cell)).for_each(|cell| cell.params.set(DATA, DATA_OF_SEVERAL));
    Some(format!(
        "each of {jobs} jobs is about {DATA_OF_SEVERAL}, so that there is time for more takes: --data gives them more"
    ))
}

/// True if a run is of searches for the largest load alone.
fn is_of_searches(cells: &[Cell]) -> bool {
    let is_search = |cell: &Cell| {
        let card = card::find(instruments::cards(), &cell.instrument);
        card.is_some_and(|card| matches!(card.role, Role::Search { .. }))
    };
    !cells.is_empty() && cells.iter().all(is_search)
}

/// A share that a flag was given.
pub fn share(flag: &str, text: &str) -> Result<f64, CliError> {
    parse_share(text).ok_or_else(|| {
        CliError::usage(format!("{flag} {text}: not a share")).hint("write it as 2% or 0.02, above 0")
    })
}

/// `2%` or `0.02`.
fn parse_share(text: &str) -> Option<f64> {
    let (number, scale) = match text.trim().strip_suffix('%') {
        Some(number) => (number.trim(), 100.0),
        None => (text.trim(), 1.0),
    };
    let share = number.parse::<f64>().ok()? / scale;
    (share.is_finite() && share > 0.0 && share < 10.0).then_some(share)
}

/// Time of one take of a cell, as far as its parameters tell.
fn seconds(cell: &Cell) -> Option<f64> {
    instruments::find(&cell.instrument)?.take_seconds(&cell.params)
}

/// The time of a plan: takes of each figure, warm-up takes of the first sitting, and the seconds there are.
pub struct Time<'a> {
    pub takes: &'a Takes,
    pub warm_up: u32,
    pub sittings: u32,
    pub seconds: Option<f64>,
}

impl Time<'_> {
    /// A note where the time is too short; for figures without a duration of their own only if it `is_bounded` by the
    /// user. `beside` counts the arms and machines that each have their takes of a cell.
    pub fn too_short(&self, cells: &[Cell], beside: usize, is_bounded: bool) -> Option<String> {
        let budget = self.seconds?;
        let warm_ups = self.warm_up + self.sittings.saturating_sub(1) * self.warm_up.min(1);
        let too_many = || too_many(cells, beside, self.takes, self.warm_up, budget).filter(|_| is_bounded);
        short_of_time(cells, beside, self.takes, warm_ups, budget).or_else(too_many)
    }
}

/// Says so where a budget has no time for as many takes as a figure with an interval needs.
fn short_of_time(cells: &[Cell], beside: usize, takes: &Takes, warm_ups: u32, budget: f64) -> Option<String> {
    let takes = match takes {
        Takes::Fixed(count) => f64::from(*count),
        Takes::Adaptive { .. } => f64::from(LEAST_TAKES),
    };
    let known: Vec<f64> = cells.iter().filter_map(seconds).collect();
    let needed = known.iter().sum::<f64>() * (takes + f64::from(warm_ups)) * beside.max(1) as f64;
    let span = |seconds: f64| model::format::duration(seconds.ceil());
    (needed > budget).then(|| {
        format!(
            "{} of {} need about {} with the warm-up, and there are {}: expect fewer takes and wider intervals, or \
             give it more with --for",
            if takes > 1.0 { format!("{takes} takes") } else { "one take".to_owned() },
            model::format::count(known.len() * beside.max(1), "load"),
            span(needed),
            span(budget)
        )
    })
}

/// Seconds of a first take with all that it prepares, and of a further one, where no parameter tells: they depend on
/// the machine, so that these are a guess.
const FIRST: f64 = 0.5;
const FURTHER: f64 = 0.12;

/// Says so where a budget that the user gave ends before every figure can have an interval, with about how many fit:
/// those are finished first.
fn too_many(cells: &[Cell], beside: usize, takes: &Takes, warm_up: u32, budget: f64) -> Option<String> {
    let takes = match takes {
        Takes::Fixed(count) => f64::from((*count).min(LEAST_TAKES)),
        Takes::Adaptive { .. } => f64::from(LEAST_TAKES),
    };
    let first = |cell: &Cell| seconds(cell).unwrap_or_default() + FIRST;
    let each = |cell: &Cell| first(cell) * f64::from(warm_up) + takes * seconds(cell).unwrap_or(FURTHER);
    let all = cells.iter().map(each).sum::<f64>() * beside.max(1) as f64;
    if all <= budget || cells.len() < 2 {
        return None;
    }
    let mut left = budget;
    let fits = |cell: &&Cell| {
        left -= each(cell) * beside.max(1) as f64;
        left >= 0.0
    };
    let fitting = cells.iter().take_while(fits).count().max(1);
    let warm_up = cells.iter().map(first).sum::<f64>() * beside.max(1) as f64;
    let what = match warm_up > budget {
        true => format!("whose warm-up alone takes about {}", model::format::duration(warm_up.ceil())),
        false => format!("which need about {}", model::format::duration(all.ceil())),
    };
    Some(format!(
        "{} is too short for {}, {what}: they are finished one after the other in their order, about {fitting} of them; \
         give it more with --for, or name fewer",
        model::format::duration(budget),
        model::format::count(cells.len(), "figure"),
    ))
}

/// The cells that a budget has time for with the fewest takes that give an interval, and a note on the others; the last
/// ones go first. `beside` counts the arms and machines that each have their takes of a cell, one after the other.
pub fn kept(mut cells: Vec<Cell>, beside: usize, budget: Option<f64>) -> (Vec<Cell>, Option<String>) {
    let Some(budget) = budget else { return (cells, None) };
    let all = cells.len();
    // What has no duration of its own is left as it is.
    let known: Vec<f64> = cells.iter().filter_map(seconds).collect();
    let takes = f64::from(LEAST_TAKES) * beside.max(1) as f64;
    let mut total = known.iter().sum::<f64>() * takes + SETTING_UP;
    while total > budget && cells.len() > 1 {
        let Some(last) = cells.iter().rposition(|cell| seconds(cell).is_some()) else { break };
        let cell = cells.remove(last);
        total -= seconds(&cell).unwrap_or(0.0) * takes;
    }
    let gone = all - cells.len();
    let said = (gone > 0).then(|| {
        format!(
            "{gone} of {} are left out for want of time: give it more with --for, or leave out --quick",
            model::format::count(all, "load")
        )
    });
    (cells, said)
}

/// Parts of a run before each of which everything is prepared anew. Telemetry alone prepares nothing, and each take of
/// a command of the user's is a process of its own; beside another one it is measured with several layouts of its
/// memory, one a sitting.
pub fn sittings(args: &RunArgs, arms: usize, cells: &[Cell], takes: &Takes) -> u32 {
    let usual = match args.usual.quick {
        _ if !args.commands.is_empty() && arms < 2 => 1,
        // What was prepared anew would be another level.
        _ if args.soak.is_some() => 1,
        _ if is_of_jobs(args) => jobs_sittings(args.usual.quick, cells, takes),
        true => QUICK_SITTINGS,
        false => SITTINGS,
    };
    if is_telemetry_alone(args) { 1 } else { args.usual.sittings.unwrap_or(usual) }
}

/// One where a start takes too much of the time: of a quick run, and of several numbers of nodes, each a cluster of its
/// own, whose takes are compared block by block.
fn jobs_sittings(is_quick: bool, cells: &[Cell], takes: &Takes) -> u32 {
    let clusters: BTreeSet<_> = cells.iter().map(|cell| cell.params.get(NODES)).collect();
    if is_quick || clusters.len() > 1 { 1 } else { sittings_of(takes, TAKES_OF_A_CLUSTER) }
}

/// Warm-up takes: a quick run of loads alone has none, since each server is loaded for a moment before. Searches have
/// none either: a search is many loads, and its server is loaded before its first one. A level of power is held for a
/// while before each take. A job's processes are new in each take.
pub fn warm_up(args: &RunArgs, cells: &[Cell]) -> u32 {
    if let Some(warm) = args.commands.warm {
        return warm;
    }
    let role = |cell: &Cell| card::find(instruments::cards(), &cell.instrument).map(|card| card.role);
    let is_load = |cell: &Cell| role(cell).is_some_and(|role| role != Role::Plain);
    let is_search = |cell: &Cell| matches!(role(cell), Some(Role::Search { .. } | Role::Power { .. }));
    let is_warm =
        (args.usual.quick && cells.iter().all(is_load)) || cells.iter().all(is_search) || is_of_jobs(args);
    u32::from(cells.is_empty() || !is_warm)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_shares() {
        assert_eq!(parse_span("90s"), Some(90.0));
        assert_eq!(parse_span("1h30m"), Some(5400.0));
        assert_eq!(parse_span("24h"), Some(86400.0));
        assert_eq!(parse_span("10"), Some(10.0));
        assert_eq!(parse_span("10 parsecs"), None);
        assert_eq!(parse_span("-1s"), None);
        assert_eq!(parse_share("2%"), Some(0.02));
        assert_eq!(parse_share("0.02"), Some(0.02));
        assert_eq!(parse_share("0"), None);
    }
}
