//! The commands of a run, each with the spread that the layout of its memory makes, and its time without its shell.

use std::collections::BTreeMap;

use model::Phase;
use model::data::{RunData, Series};
use model::doc::{CommandDoc, WithoutShellDoc};
use model::metrics::command::{SHELL, SHELL_HIGH, SHELL_LOW, WALL};

/// Said of a time that is not told from that of an empty command.
const BELOW_SHELL: &str = "below what the shell costs: cannot be told";

/// The commands by arm; none in a run of instruments.
pub fn of_run(run: &RunData) -> Vec<CommandDoc> {
    let doc = |arm: &model::Arm| {
        let command = run.plan.command_of(arm)?;
        let spread = spread(run, &arm.name);
        Some(CommandDoc {
            arm: arm.name.clone(),
            run: command.run,
            dir: command.dir,
            layout: spread.map(|spread| spread.between),
            relinked: command.relink.is_some(),
            takes: spread.map(|spread| spread.within),
            without_shell: without_shell(run, &arm.name),
        })
    };
    run.plan.arms.iter().filter_map(doc).collect()
}

/// The measured series of an arm.
fn series<'a>(run: &'a RunData, arm: &str, metric: &str) -> Option<&'a Series> {
    run.series.iter().find(|series| series.key.metric == metric && series.key.arm == arm)
}

/// Of the logarithms of its wall times, so that both are shares.
fn spread(run: &RunData, arm: &str) -> Option<stats::Spread> {
    let series = series(run, arm, WALL.name())?;
    let log = |values: Vec<f64>| values.into_iter().filter(|value| *value > 0.0).map(f64::ln).collect();
    let logs: Vec<Vec<f64>> = series.by_sitting().into_iter().map(log).collect();
    stats::spread(&logs.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// Each take less what an empty command took in its sitting. Takes of one sitting share that start of the shell, whose
/// own uncertainty shows between sittings; of a single one the spread of empty commands is added to the interval.
fn without_shell(run: &RunData, arm: &str) -> Option<WithoutShellDoc> {
    let wall = series(run, arm, WALL.name())?;
    let starts = of_takes(series(run, arm, SHELL.name())?);
    let mut sittings = BTreeMap::<u32, Vec<f64>>::new();
    for point in wall.points.iter().filter(|point| point.phase == Phase::Measured) {
        if let (Some(number), Some(start)) = (point.number(), starts.get(&point.seq)) {
            sittings.entry(point.sitting).or_default().push(number - start);
        }
    }
    let shell = stats::median(&series(run, arm, SHELL.name())?.measured())?;
    let sittings: Vec<Vec<f64>> = sittings.into_values().collect();
    let summary = stats::summary_of_sittings(&sittings).ok()?;
    let end = |metric: &str| stats::median(&series(run, arm, metric)?.measured());
    let (below, above) = match sittings.len() {
        // Without the ends of an older run nothing is added.
        1 => (
            end(SHELL_HIGH.name()).map_or(0.0, |high| high - shell),
            end(SHELL_LOW.name()).map_or(0.0, |low| shell - low),
        ),
        _ => (0.0, 0.0),
    };
    let low = summary.interval.map(|interval| summary.median - (summary.median - interval.low).hypot(below));
    let high =
        summary.interval.map(|interval| summary.median + (interval.high - summary.median).hypot(above));
    if low.unwrap_or(summary.median - below) > 0.0 {
        return Some(WithoutShellDoc { shell, seconds: Some(summary.median), low, high, why: None });
    }
    let why = Some(BELOW_SHELL.to_owned());
    Some(WithoutShellDoc { shell, seconds: None, low: None, high: None, why })
}

/// The numbers of a series by take.
fn of_takes(series: &Series) -> BTreeMap<u64, f64> {
    series.points.iter().filter_map(|point| Some((point.seq, point.number()?))).collect()
}

#[cfg(test)]
mod tests {
    use model::data::Point;
    use model::{SeriesKey, Unit, Value};

    use super::*;
    use crate::loads::planted::empty;

    /// The times of a sitting's takes, and what the shell took in it.
    type Sitting<'a> = (&'a [f64], f64);

    /// A run whose takes, by sitting, are of these times and starts of the shell.
    fn run(sittings: &[Sitting<'_>], ends: Option<(f64, f64)>) -> RunData {
        let mut run = empty();
        let mut add = |metric: &str, value: &dyn Fn(&Sitting<'_>, usize) -> f64| {
            let mut points = Vec::new();
            for (sitting, one) in (0..).zip(sittings) {
                for at in 0..one.0.len() {
                    let seq = points.len() as u64;
                    let value = Value::Number(value(one, at));
                    let phase = Phase::Measured;
                    points.push(Point { seq, block: 0, sitting, phase, at_ns: 0, window_ns: 1, value });
                }
            }
            let (instrument, metric) = ("cmd".to_owned(), metric.to_owned());
            let params = model::Params::default();
            let key = SeriesKey {
                instrument,
                metric,
                unit: Unit::Second,
                params,
                arm: "a".to_owned(),
                definition: 1,
            };
            run.series.push(Series { key, better: model::Better::Lower, points });
        };
        add("wall", &|one, at| one.0[at]);
        add("shell", &|one, _| one.1);
        if let Some((low, high)) = ends {
            add("shell-low", &|_, _| low);
            add("shell-high", &|_, _| high);
        }
        run
    }

    const TEN: [f64; 10] = [10.0, 10.3, 9.7, 10.1, 9.9, 10.2, 9.8, 10.05, 9.95, 10.0];

    #[test]
    fn each_take_is_less_its_own_sittings_shell() {
        let later = TEN.map(|take| take + 3.0);
        let doc = without_shell(&run(&[(&TEN, 1.0), (&later, 4.0), (&TEN, 1.0)], None), "a").unwrap();
        assert_eq!((doc.shell, doc.seconds, doc.why), (1.0, Some(9.0), None));
        assert!(doc.low.unwrap() > 8.5 && doc.high.unwrap() < 9.5);
    }

    #[test]
    fn the_shell_s_own_spread_widens_the_interval_of_one_sitting() {
        let plain = without_shell(&run(&[(&TEN, 1.0)], None), "a").unwrap();
        let wide = without_shell(&run(&[(&TEN, 1.0)], Some((0.5, 3.0))), "a").unwrap();
        assert_eq!(plain.seconds, wide.seconds);
        assert!(wide.low.unwrap() < 7.0 && plain.low.unwrap() > 8.5);
        assert!(wide.high.unwrap() > 9.5 && plain.high.unwrap() < 9.5);
    }

    #[test]
    fn what_is_not_told_from_an_empty_command_has_no_figure() {
        for (shell, ends) in [(12.0, None), (10.0, None), (9.9, Some((9.5, 10.5)))] {
            let doc = without_shell(&run(&[(&TEN, shell)], ends), "a").unwrap();
            assert_eq!((doc.seconds, doc.low, doc.high), (None, None, None), "{shell}");
            assert!(doc.why.unwrap().contains("cannot be told"));
        }
        // Of few takes there is no interval; the spread of the shell decides.
        let few = |high| without_shell(&run(&[(&[10.0, 10.1, 9.9], 9.0)], Some((8.5, high))), "a").unwrap();
        assert_eq!((few(9.5).seconds, few(9.5).low), (Some(1.0), None));
        assert_eq!(few(10.5).seconds, None);
        let none = empty();
        assert_eq!(without_shell(&none, "a"), None);
    }
}
