//! A load at a level of what its server can do, with the power that the machine draws meanwhile.
//!
//! SERT's idea: saturation first, then shares of it. 100 % is a closed loop; below that an open loop asks for its share
//! of the capacity that a closed loop found before the takes; idle sends nothing. A level is held for a while before it
//! is measured. Energy a request is that of the whole machine, idle power included. Whatever else the machine does is
//! in it, and so is the load generator where that works on the same machine.

pub mod meter;
pub mod rapl;

use std::net::{ToSocketAddrs, UdpSocket};
use std::time::Duration;

use model::metrics::load::{CAPACITY, OFFERED};
use model::metrics::power::{JOULES_PER_REQUEST, RATE, SAMPLE, SAMPLE_AT, WATTS};
use model::power::{
    BMC_FLAG, COMMAND_FLAG, FLAG, LEVEL, LEVELS, METER, Meter, TYPED_FLAG, level_name, share,
};
use model::{
    By, Cadence, Card, Fault, Flag, Joules, Label, Matched, Means, MetricInfo, Need, ParamKind, ParamSpec,
    Params, PerSec, Probe, Record, RecordExt, Seconds, Setup, Shown, Size, Tier, Unfit, Variant,
};

use super::web::metrics;
use super::web::params::searching;
use super::web::probe::Loads;
use super::web::seconds;
use super::web::subject::{AUTO, NONE};
use super::web_slo::Placed;
use meter::Source;

/// Seconds that a level is measured where nobody says how long.
pub const DURATION: &str = "10";
/// The parameter that says how long a level is held before.
pub const SETTLE: &str = "settle";

pub(super) const OWN: [ParamSpec; 3] = [
    ParamSpec::new(
        LEVEL,
        ParamKind::Choice(LEVELS),
        "100",
        "per cent of saturation: 100 is a closed loop, less an open one at that share of its capacity, idle sends nothing",
    )
    .label(Label::Words(&[
        ("idle", "idle"),
        ("25", "at 25 %"),
        ("50", "at 50 %"),
        ("75", "at 75 %"),
        ("100", "at 100 %"),
    ])),
    ParamSpec::new(
        METER,
        ParamKind::Choice(Meter::WORDS),
        "rapl",
        "what reads the power: the processor's own estimate, a command (--watts-cmd), somebody (--watts-typed), or the BMC of a \
         node (--watts-bmc)",
    )
    .label(Label::Words(&[("rapl", "by RAPL"), ("command", "by command"), ("typed", "as typed"), ("bmc", "by BMC")]))
    .remedy("read both by the same meter: RAPL sees the processor and its memory, a meter at the plug sees all"),
    ParamSpec::new(
        SETTLE,
        ParamKind::Seconds { max: 3600 },
        "3",
        "seconds for which the level is held before it is measured",
    )
    .label(Label::Form("settled {} s"))
    .matched(Matched::Extent),
];

/// The options that ask for power.
pub(super) const FLAGS: &[Flag] = &[
    Flag::new(
        FLAG,
        "",
        "Measure the power instead: idle and at 25, 50, 75 and 100 % of saturation, or while a command runs, with the energy a \
         request or job",
        Means::Chooses(None),
    )
    .conflicts(&["slo"]),
    Flag::new(
        COMMAND_FLAG,
        "COMMAND",
        "The same by this command, run once a second: the last number of watts that it prints. The plan keeps the command, so \
         it should name no password",
        Means::Chooses(Some((METER, "command"))),
    )
    .conflicts(&["slo", TYPED_FLAG]),
    Flag::new(
        TYPED_FLAG,
        "FILE|-",
        "The same by readings off a meter, one a take, out of a file or from standard input; on a terminal without RAPL they \
         are asked for by themselves",
        Means::Chooses(Some((METER, "typed"))),
    )
    .conflicts(&["slo"]),
    Flag::new(
        BMC_FLAG,
        "",
        "The same by the BMCs of the nodes of --on, which this program asks once a second",
        Means::Chooses(Some((METER, "bmc"))),
    )
    .conflicts(&["slo", COMMAND_FLAG, TYPED_FLAG]),
];

/// The levels with their rows of a comparison: what is drawn for nothing, and what a request costs when all is used.
const VARIANTS: &[Variant] = &[
    Variant { tier: Tier::Full, set: "level=idle", headline: &[WATTS.name()] },
    Variant { tier: Tier::Full, set: "level=25|50|75", headline: &[] },
    Variant { tier: Tier::Full, set: "level=100", headline: &[JOULES_PER_REQUEST.name()] },
];

pub(super) const SORTED: &[By] = &[By::Metric, By::Param(LEVEL)];

const OF_LEVEL: &[MetricInfo] = &[
    JOULES_PER_REQUEST.info(),
    WATTS.info(),
    RATE.info(),
    SAMPLE.info(),
    SAMPLE_AT.info(),
    CAPACITY.info(),
    OFFERED.info(),
];
const METRICS: [MetricInfo; metrics::count_sent(OF_LEVEL)] = metrics::sent(OF_LEVEL);

/// How the figures of all loads at levels are shown, but for their names.
pub(super) const SHOWN: Shown = Shown { main: WATTS.name(), sorted: SORTED, ..Shown::PLAIN };

/// All that the data sheets of loads at levels have in common.
pub(super) const CARD: Card = Card {
    source: "own; levels as SERT's",
    shown: SHOWN,
    parts: metrics::PARTS,
    cadence: Cadence::Repeat,
    definition: 1,
    metrics: &METRICS,
    needs: &[Need::Server, Need::Meter],
    variants: VARIANTS,
    flags: FLAGS,
    ..Card::DEFAULT
};

/// The `N` parameters of a load at levels: these, and those of the level, which is the schedule.
pub(super) const fn params<const N: usize>(unscheduled: &[ParamSpec]) -> [ParamSpec; N] {
    ParamSpec::defaulting(model::joined(&[&OWN, unscheduled]), "duration", DURATION)
}

/// Fails where a setup is no level of such loads, or nothing reads the power here.
pub(super) fn fit<L: Placed>(setup: &Setup) -> Result<(), Unfit> {
    fit_meter(setup)?;
    L::check(&scheduled(setup)?)
}

/// Such loads at the level of a setup.
pub(super) fn prepare<L: Placed>(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let loads = L::start(&scheduled(setup)?)?;
    Ok(Box::new(Levels::new(setup, loads)?))
}

/// The level of a setup, from 0 to 1. Fails when it is malformed.
pub(super) fn level_of(setup: &Setup) -> Result<f64, Unfit> {
    let text = setup.params.get(LEVEL).unwrap_or_default();
    share(text).ok_or_else(|| Unfit::new(format!("{LEVEL}={text}: one of {}", LEVELS.join(", "))))
}

/// The time of a setup that a parameter names. Fails when it is malformed.
pub(super) fn time_of(setup: &Setup, name: &str) -> Result<Duration, Unfit> {
    let text = setup.params.get(name).unwrap_or_default();
    let time = text.parse::<f64>().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.ok_or_else(|| Unfit::new(format!("{name}={text}: a number of seconds")))
}

/// Fails where what reads the power is not here.
pub(super) fn fit_meter(setup: &Setup) -> Result<(), Unfit> {
    level_of(setup)?;
    match setup.params.get(METER).and_then(Meter::parse) {
        Some(Meter::Rapl) => rapl::Rapl::open().map(drop),
        Some(_) => Ok(()),
        None => Err(Unfit::new(format!("{METER}: one of {}", Meter::WORDS.join(", ")))),
    }
}

/// The setup with the schedule of its level: a closed loop, or an open one whose rate is chosen later.
fn scheduled(setup: &Setup) -> Result<Setup, Unfit> {
    let is_open =
        (0.0..1.0).contains(&level_of(setup)?) && setup.params.get(LEVEL) != Some(model::power::IDLE);
    let mut scheduled = searching(setup);
    if !is_open {
        scheduled.params.set("arrivals", "closed");
        scheduled.params.set("load", AUTO);
    }
    Ok(scheduled)
}

/// How long a take lasts: the level is held twice, and measured the second time.
pub(super) fn seconds_of_level(params: &Params) -> Option<f64> {
    Some(params.get(SETTLE)?.parse::<f64>().ok()? + seconds::take(params)?)
}

/// Fails where RAPL would be read of this machine while the server is on another one.
fn check_place(setup: &Setup) -> Result<(), Unfit> {
    let url = setup.params.get("url").filter(|url| !matches!(*url, NONE | ""));
    let Some(url) = url.filter(|_| setup.params.get(METER) == Some(Meter::Rapl.word())) else {
        return Ok(());
    };
    let first = url.split_whitespace().next().unwrap_or_default();
    let url: model::url::Url = first.parse().map_err(|error| Unfit::new(format!("{error}")))?;
    let addresses = (url.host.as_str(), url.port).to_socket_addrs();
    let mut addresses = addresses.map_err(|error| Unfit::new(format!("{}: {error}", url.host)))?;
    // What can be bound here is an address of this machine.
    match addresses.any(|address| UdpSocket::bind((address.ip(), 0)).is_ok()) {
        true => Ok(()),
        false => Err(Unfit::new(format!(
            "RAPL is of this machine, and the server is on {}: read its power there with --watts-cmd 'ssh {0} ...', or off \
             its meter with --watts-typed",
            url.host
        ))),
    }
}

/// Loads at one level, one a take.
struct Levels<L> {
    level: f64,
    settle: Duration,
    duration: Duration,
    source: Source,
    loads: L,
}

impl<L: Placed> Levels<L> {
    /// Fails when the meter cannot be read.
    fn new(setup: &Setup, loads: L) -> Result<Levels<L>, Unfit> {
        check_place(setup)?;
        let level = level_of(setup)?;
        let is_smoke = setup.size == Size::Smoke;
        let settle = if is_smoke { Duration::ZERO } else { time_of(setup, SETTLE)? };
        let duration = time_of(setup, "duration")?;
        let source = Source::open(setup, &format!("{} {}", L::WHAT, level_name(level)))?;
        Ok(Levels { level, settle, duration, source, loads })
    }
}

/// Waits, until the user wants the end.
pub(super) fn wait(long: Duration, record: &dyn Record) {
    const LOOK: Duration = Duration::from_millis(50);
    let from_ns = sys::clock::now_ns();
    let left = || long.saturating_sub(Duration::from_nanos(sys::clock::now_ns().saturating_sub(from_ns)));
    while !left().is_zero() && !record.is_cut() {
        std::thread::sleep(left().min(LOOK));
    }
}

/// One take of a level that sends something.
fn held(
    level: f64,
    (settle, duration): (Duration, Duration),
    source: &mut Source,
    (loads, record): (&mut Loads, &mut dyn Record),
) -> Result<(), Fault> {
    let capacity = loads.capacity()?;
    let open = (level < 1.0).then_some(level * capacity);
    let rate = open.unwrap_or_default();
    if !settle.is_zero() {
        loads.last_for(Some(settle.as_secs_f64()));
        loads.unmeasured(rate)?;
    }
    loads.last_for(None);
    let (watched, readings) = source.during(duration, || loads.one(rate, record))?;
    let outcome = &watched.outcome;
    let failed = outcome.record.failures.total() > 0;
    if outcome.record.good == 0 {
        return Err(Fault::new(format!("no good answer: {}", metrics::failures(outcome))));
    }
    let answered = loads.rate_of(outcome).filter(|rate| *rate > 0.0);
    record.push_if(&RATE, answered.map(PerSec));
    readings.push(record);
    let each = readings.watts().zip(answered).map(|(watts, rate)| Joules(watts / rate));
    record.push_if(&JOULES_PER_REQUEST, each);
    record.push(&CAPACITY, PerSec(capacity));
    record.push_if(&OFFERED, open.map(PerSec));
    metrics::push_evidence(outcome, record);
    if failed {
        record.remark("errors", &metrics::failures(outcome));
    }
    loads.push_machine(&watched, record);
    Ok(())
}

impl<L: Placed> Probe for Levels<L> {
    fn calibrate(&mut self, _: Seconds) -> Result<u64, Fault> {
        match self.level > 0.0 {
            true => self.loads.before(|loads| loads.capacity().map(|_| 1)),
            false => Ok(1),
        }
    }

    fn take(&mut self, _repeats: u64, record: &mut dyn Record) -> Result<(), Fault> {
        let (level, times, source) = (self.level, (self.settle, self.duration), &mut self.source);
        self.loads.during(record, |loads, record| {
            if level > 0.0 {
                return held(level, times, source, (loads, record));
            }
            wait(times.0, record);
            let work = || {
                wait(times.1, record);
                Ok(())
            };
            let ((), readings) = source.during(times.1, work)?;
            readings.push(record);
            Ok(())
        })
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
    use super::*;

    fn setup(params: &str) -> Setup {
        Setup::bare(Params::parse(params).unwrap(), vec![0], std::env::temp_dir())
    }

    #[test]
    fn a_level_is_an_open_loop_below_saturation() {
        let arrivals = |level: &str| {
            let scheduled = scheduled(&setup(&format!("level={level}"))).unwrap();
            ["arrivals", "load"].map(|name| scheduled.params.get(name).unwrap().to_owned())
        };
        assert_eq!(arrivals("25"), ["poisson", "100%"]);
        assert_eq!(arrivals("100"), ["closed", "auto"]);
        assert_eq!(arrivals("idle"), ["closed", "auto"]);
        assert!(scheduled(&setup("level=much")).is_err());
    }

    #[test]
    fn rapl_is_of_this_machine() {
        let of = |params: &str| check_place(&setup(params)).err().map_or_else(String::new, |unfit| unfit.why);
        assert_eq!(of("meter=rapl;url=http://127.0.0.1:80/"), "");
        assert_eq!(of("meter=rapl;url=none"), "");
        assert_eq!(of("meter=command;url=http://192.0.2.7/"), "");
        let why = of("meter=rapl;url=http://192.0.2.7/");
        assert!(
            why.contains("the server is on 192.0.2.7") && why.contains("--watts-cmd 'ssh 192.0.2.7"),
            "{why}"
        );
    }
}
