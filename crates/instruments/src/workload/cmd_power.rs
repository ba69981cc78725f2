//! The power of a machine while the user's own command runs and while nothing does, and the energy a job.
//!
//! A job is one run of the command, and a take repeats it for the measured time; where something is to be done between
//! two runs (`--prepare`, `--conclude`, `--cold`) a take is one run. Jobs are counted over all of the time that the
//! meter read, the start of the shell included. Whatever else the machine does is in the watts.

use std::time::Duration;

use model::metrics::power::{JOULES_PER_JOB, RATE, SAMPLE, SAMPLE_AT, WATTS};
use model::power::{IDLE, LEVEL, METER, level_name};
use model::{
    Cadence, Card, Example, Family, Fault, Joules, Label, Need, ParamKind, ParamSpec, PerSec, Probe, Record,
    RecordExt, Role, Seconds, Setup, Shown, Simple, Size, Tell, Tier, Unfit, Variant,
};
use sys::clock;

use super::cmd::{CALLED, TIMEOUT, Work, work};
use super::guard;
use super::levels::meter::Source;
use super::levels::{DURATION, FLAGS, OWN, SETTLE, SORTED, fit_meter, level_of, time_of, wait};

/// Nothing, or the command one run after the other: it has no shares of its own.
const LEVELS: ParamSpec = ParamSpec::new(
    LEVEL,
    ParamKind::Choice(&[IDLE, "100"]),
    "100",
    "100 runs the command one time after the other, idle runs nothing",
)
.label(Label::Words(&[(IDLE, "idle"), ("100", "busy")]));
const TIME: ParamSpec = ParamSpec::new(
    "duration",
    ParamKind::Seconds { max: 86_400 },
    DURATION,
    "seconds for which idle is measured, and for which the command is repeated",
);
const PAUSE: ParamSpec =
    ParamSpec { says: "seconds for which nothing is done before idle is measured", ..OWN[2] };
const PARAMS: &[ParamSpec] = &[LEVELS, OWN[1], PAUSE, TIME, TIMEOUT];

static CARD: Card = Card {
    name: model::names::instrument::CMD_POWER,
    family: Family::User,
    says: "power while your own command runs and while nothing does, and the energy a job",
    source: "own; levels as SERT's",
    shown: Shown {
        label: "power",
        main: WATTS.name(),
        tells: &[Tell::always("command"), Tell::always(LEVEL), Tell::always(METER)],
        sorted: SORTED,
        place: 1,
        ..Shown::PLAIN
    },
    role: Role::Power { load: Some(model::names::instrument::CMD) },
    parts: &[CALLED],
    cadence: Cadence::Repeat,
    definition: 1,
    params: PARAMS,
    metrics: &[JOULES_PER_JOB.info(), WATTS.info(), RATE.info(), SAMPLE.info(), SAMPLE_AT.info()],
    needs: &[Need::Command, Need::Meter],
    variants: &[
        Variant { tier: Tier::Full, set: "level=idle", headline: &[WATTS.name()] },
        Variant { tier: Tier::Full, set: "level=100", headline: &[JOULES_PER_JOB.name()] },
    ],
    flags: FLAGS,
    examples: &[Example::new(
        "boxscore run --cmd 'make -j8' --watts-cmd 'ssh root@bmc ipmitool dcmi power reading'",
        "joules a job of a command, and the power of the idle machine",
    )],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare).fits(fit);

fn fit(setup: &Setup) -> Result<(), Unfit> {
    fit_meter(setup)?;
    work(setup)?;
    match setup.command.as_ref().is_some_and(|command| !command.metrics.is_empty()) {
        true => {
            Err(Unfit::new("numbers that a command prints are not read with its power: leave out --metric"))
        }
        false => Ok(()),
    }
}

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    guard::available().map_err(Unfit::new)?;
    let level = level_of(setup)?;
    let is_smoke = setup.size == Size::Smoke;
    let of = |name: &str| if is_smoke { Ok(Duration::ZERO) } else { time_of(setup, name) };
    let times = (of(SETTLE)?, of("duration")?);
    let source = Source::open(setup, &format!("the command {}", level_name(level)))?;
    let mut work = work(setup)?;
    if level > 0.0 {
        work.set_up().map_err(|fault| Unfit::new(fault.to_string()))?;
    }
    Ok(Box::new(Jobs { is_idle: level <= 0.0, times, source, work }))
}

/// The command over and over, or nothing.
struct Jobs {
    is_idle: bool,
    /// How long nothing is done before idle is measured, and how long a take lasts at least.
    times: (Duration, Duration),
    source: Source,
    work: Work,
}

/// The runs of a take, and how long they lasted together.
struct Done {
    jobs: u64,
    seconds: f64,
}

/// Runs the command until the time is over, once at least.
fn run(work: &Work, long: Duration, record: &mut dyn Record) -> Result<Done, Fault> {
    let from_ns = clock::now_ns();
    let elapsed = || Duration::from_nanos(clock::now_ns().saturating_sub(from_ns));
    work.run(record)?;
    let mut jobs = 1;
    while work.is_seamless() && elapsed() < long && !record.is_cut() {
        work.run_again(record)?;
        jobs += 1;
    }
    Ok(Done { jobs, seconds: elapsed().as_secs_f64() })
}

impl Probe for Jobs {
    fn take(&mut self, _repeats: u64, record: &mut dyn Record) -> Result<(), Fault> {
        let (settle, long) = self.times;
        let extra = self.work.extra().clone();
        if self.is_idle {
            wait(settle, record);
            let idle = || {
                wait(long, record);
                Ok(())
            };
            self.source.during(long, idle)?.1.push_of(&extra, record);
            return Ok(());
        }
        self.work.before()?;
        let (done, readings) = self.source.while_working(long, || run(&self.work, long, record))?;
        self.work.after()?;
        let rate = done.jobs as f64 / done.seconds;
        record.push_of(&RATE, &extra, PerSec(rate));
        readings.push_of(&extra, record);
        record.push_of_if(&JOULES_PER_JOB, &extra, readings.watts().map(|watts| Joules(watts / rate)));
        Ok(())
    }

    fn calibrate(&mut self, _: Seconds) -> Result<u64, Fault> {
        Ok(1)
    }

    fn end(&mut self) -> Result<(), Fault> {
        self.work.end()
    }

    fn cpus(&self) -> Vec<u32> {
        self.work.cpus()
    }
}

#[cfg(test)]
mod tests {
    use model::Params;
    use model::plan::Command;

    use super::*;

    #[test]
    fn what_cannot_be_measured_is_said_before() {
        let of = |params: &str, command: Option<&str>| {
            let mut setup = Setup::bare(Params::parse(params).unwrap(), vec![0], std::env::temp_dir());
            setup.command = command.map(|run| Command { run: run.to_owned(), ..Command::default() });
            fit(&setup).err().map_or_else(String::new, |unfit| unfit.why)
        };
        let params = "level=100;meter=command;settle=0;duration=1;timeout=60";
        assert_eq!(of(params, Some("true")), "");
        assert!(of(params, None).contains("needs a command"));
        let with_metric = |setup: &mut Setup| {
            let metrics = [("tps".to_owned(), "([0-9]+)".to_owned())].into_iter().collect();
            setup.command = Some(Command { run: "true".to_owned(), metrics, ..Command::default() });
        };
        let mut setup = Setup::bare(Params::parse(params).unwrap(), vec![0], std::env::temp_dir());
        with_metric(&mut setup);
        assert!(fit(&setup).is_err_and(|unfit| unfit.why.contains("leave out --metric")));
        assert!(of("level=much;meter=command;timeout=60", Some("true")).contains("level=much"));
        assert!(CARD.resolve(&Params::parse("level=50").unwrap()).is_err());
    }
}
