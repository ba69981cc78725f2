//! Conditions of a take: steal, load of others, throttling, faults, swapping, clock steps; differences over the take.
//!
//! Counts, shares and seconds; a note names the processes of others that were busy. A condition that this system does
//! not report is missing, not 0. Not seen: what a hypervisor hides, and load in bursts shorter than the kernel's ticks.

use model::metrics::machine::{
    BACKGROUND, CLOCK_STEP, MAJOR_FAULTS, PRESSURE, STEAL, SWAPPED, THERMAL, THROTTLED, THROTTLED_TIME,
};
use model::{
    Cadence, Card, Count, Family, Fault, Metric, NoteBody, Probe, Ratio, Record, RecordExt, Seconds, Setup,
    Simple, Unfit,
};

use super::watch::{Files, Moment, disturbers, load};
use crate::telemetry::parse::float;

static CARD: Card = Card {
    name: model::names::instrument::CONDITIONS,
    family: Family::Machine,
    says: "what each take met: steal, load of others, throttling, faults, swapping, clock steps",
    source: "own: /proc, /sys and control group counters",
    cadence: Cadence::Around,
    definition: 1,
    metrics: &[
        STEAL.info(),
        BACKGROUND.info(),
        THROTTLED.info(),
        THROTTLED_TIME.info(),
        MAJOR_FAULTS.info(),
        SWAPPED.info(),
        CLOCK_STEP.info(),
        THERMAL.info(),
        PRESSURE.info(),
    ],
    ..Card::DEFAULT
};

/// CPUs that make others worth naming.
const BUSY: f64 = 0.05;

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare);

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let ticks_per_s = sys::system::clock_ticks_per_s().map_err(|error| Unfit::new(error.to_string()))?;
    let mut watch =
        Watch { files: Files::open(&setup.cpus), cpus: setup.cpus.clone(), ticks_per_s, before: None };
    watch.files.read(&watch.cpus).load.into_iter().for_each(load::remember);
    Ok(Box::new(watch))
}

struct Watch {
    files: Files,
    cpus: Vec<u32>,
    ticks_per_s: u64,
    before: Option<Moment>,
}

impl Probe for Watch {
    fn take(&mut self, side: u64, record: &mut dyn Record) -> Result<(), Fault> {
        let now = self.files.read(&self.cpus);
        if side == 0 {
            disturbers::before_take();
            now.load.into_iter().for_each(load::remember);
            self.before = Some(now);
        } else if let Some(before) = self.before.take() {
            let early = load::reach_back(now.at_ns);
            now.load.into_iter().for_each(load::remember);
            push(&before, &now, early, self.ticks_per_s, record);
            let window = early.as_ref().or(before.load.as_ref()).zip(now.load.as_ref());
            let others = window.and_then(|(from, to)| load::background(from, to, self.ticks_per_s));
            // Who they are is asked only where there are some.
            if others.is_some_and(|cpus| cpus >= BUSY)
                && let Some(busy) = disturbers::after_take(before.at_ns)
            {
                record.note(NoteBody::Disturbers(busy));
            }
        }
        Ok(())
    }
}

/// Pushes every difference whose two sides are known. `early` is where the window of the load begins.
fn push(before: &Moment, now: &Moment, early: Option<load::Mark>, ticks_per_s: u64, record: &mut dyn Record) {
    let elapsed_ns = now.at_ns.saturating_sub(before.at_ns);
    if let (Some(from), Some(to)) = (&before.load, &now.load) {
        if let Some(cpus) = load::background(early.as_ref().unwrap_or(from), to, ticks_per_s) {
            record.push(&BACKGROUND, Count(cpus));
        }
        record.push_if(&STEAL, load::steal(from, to).map(Ratio));
    }
    if let (Some(from), Some(to)) = (before.throttle, now.throttle) {
        record.push_if(&THROTTLED, to.count.checked_sub(from.count).map(|count| Count(float(count))));
        record.push_if(&THROTTLED_TIME, to.time_ns.checked_sub(from.time_ns).map(Seconds::from_ns));
    }
    let mut count = |metric: &Metric<Count>, from: Option<u64>, to: Option<u64>| {
        if let Some(difference) = to.zip(from).and_then(|(to, from)| to.checked_sub(from)) {
            record.push(metric, Count(float(difference)));
        }
    };
    count(&MAJOR_FAULTS, before.major_faults, now.major_faults);
    count(&SWAPPED, before.swapped, now.swapped);
    count(&THERMAL, before.thermal, now.thermal);
    let waited = now.waited_us.zip(before.waited_us).and_then(|(to, from)| to.checked_sub(from));
    if let Some(waited_us) = waited.filter(|_| elapsed_ns > 0) {
        record.push(&PRESSURE, Ratio((float(waited_us) * 1000.0 / float(elapsed_ns)).min(1.0)));
    }
    record.push(&CLOCK_STEP, step(before, now));
}

fn step(before: &Moment, now: &Moment) -> Seconds {
    let apart = |moment: &Moment| i128::from(moment.wall_ns) - i128::from(moment.at_ns);
    let ns = apart(now) - apart(before);
    let size = Seconds::from_ns(u64::try_from(ns.unsigned_abs()).unwrap_or(u64::MAX));
    if ns < 0 { Seconds(-size.0) } else { size }
}

#[cfg(test)]
mod tests {
    use model::Instrument;

    use super::*;
    use crate::telemetry::parse::throttle::Throttle;
    use crate::telemetry::record::Values;

    #[test]
    fn differences_and_missing_ones() {
        let before = Moment {
            at_ns: 1_000_000_000,
            wall_ns: 50_000_000_000,
            throttle: Some(Throttle { count: 3, time_ns: 10 }),
            major_faults: Some(5),
            waited_us: Some(1000),
            thermal: Some(2),
            ..Moment::default()
        };
        let now = Moment {
            at_ns: 2_000_000_000,
            wall_ns: 50_500_000_000,
            throttle: Some(Throttle { count: 7, time_ns: 500_000_010 }),
            major_faults: Some(5),
            waited_us: Some(251_000),
            thermal: Some(1),
            ..Moment::default()
        };
        let mut values = Values::default();
        push(&before, &now, None, 100, &mut values);
        assert_eq!(values.get("throttled"), Some(4.0));
        assert_eq!(values.get("throttled-time"), Some(0.5));
        assert_eq!(values.get("major-faults"), Some(0.0));
        assert_eq!(values.get("cpu-pressure"), Some(0.25));
        assert_eq!(values.get("clock-step"), Some(-0.5));
        for missing in ["steal", "background", "swapped", "thermal-throttle"] {
            assert_eq!(values.get(missing), None, "{missing}");
        }
    }

    #[test]
    fn every_take_has_conditions() {
        let setup = Setup {
            size: model::Size::Smoke,
            ..Setup::bare(model::Params::default(), vec![0], std::env::temp_dir())
        };
        let mut probe = INSTRUMENT.prepare(&setup).unwrap();
        let mut values = Values::default();
        probe.take(1, &mut values).unwrap();
        assert_eq!(values.get("clock-step"), None, "there was no before");
        probe.take(0, &mut values).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        probe.take(1, &mut values).unwrap();
        assert!(values.get("background").is_some_and(|cpus| cpus >= 0.0));
        assert!(values.get("clock-step").is_some() && values.get("major-faults").is_some());
    }
}
