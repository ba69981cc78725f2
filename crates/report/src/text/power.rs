//! Power at levels of a load, as a small table: what was done, what was drawn, and the energy of one request or job.

use model::doc::{EstimateDoc, PowerDoc, PowerLevelDoc, SeriesDoc};
use model::format::{Kind, Scale, number};
use model::power::level_name;
use model::unit::Unit;

use super::fit::{Part, Rank};
use super::grid::{Align, Grid, ranges};
use super::{Look, hang};

/// True if a figure stands in one of the tables.
pub fn has(all: &[PowerDoc], series: &SeriesDoc) -> bool {
    all.iter().any(|one| one.instrument == series.instrument && one.arm == series.arm)
}

/// The tables of all loads, each with what must be known of it.
pub fn part(all: &[PowerDoc], look: Look) -> Part {
    let several = all.len() > 1;
    let whole: Vec<String> = all.iter().map(|one| table(one, several, look)).collect();
    let remarks =
        |one: &PowerDoc| one.remarks().iter().map(|text| hang("- ", text, look.columns)).collect::<String>();
    let mut known: Vec<String> = all.iter().map(remarks).collect();
    // What holds of all loads is said once.
    known.dedup();
    let (tables, remarks) = (whole.join("\n"), known.concat());
    Part::new(format!("{tables}{remarks}")).or(Rank::Reason, "what the watts are of", tables)
}

fn table(one: &PowerDoc, is_named: bool, look: Look) -> String {
    let name = if one.arm.is_empty() { &one.instrument } else { &one.arm };
    let head = if is_named { name.as_str() } else { "level" };
    let (rate, each) = (format!("{}s/s", one.unit), format!("energy a {}", one.unit));
    let numbers = [rate.as_str(), "power", "95 % interval", each.as_str(), "95 % interval"];
    let heads: Vec<(&str, Align)> = std::iter::once((head, Align::Left))
        .chain(numbers.into_iter().map(|text| (text, Align::Right)))
        .collect();
    let mut grid = Grid::new(&heads);
    let rows: Vec<[String; 5]> = cells(one);
    for (level, [rate, watts, of_watts, joules, of_joules]) in one.levels.iter().zip(rows) {
        grid.row(vec![
            level_name(level.level).into(),
            rate.into(),
            watts.into(),
            of_watts.into(),
            joules.into(),
            of_joules.into(),
        ]);
    }
    grid.render(look.columns, look.paint)
}

/// The figures of each level: rate, watts with their interval, joules with theirs.
pub fn cells(one: &PowerDoc) -> Vec<[String; 5]> {
    let rate = |level: &PowerLevelDoc| level.rate.value.map_or_else(|| "-".to_owned(), number);
    let rates: Vec<String> = one.levels.iter().map(rate).collect();
    let watts = column(one, |level| &level.watts, Kind::for_unit(Unit::Watt));
    let joules = column(one, |level| &level.joules, Kind::for_unit(Unit::Joule));
    let all = rates.into_iter().zip(watts).zip(joules);
    all.map(|((rate, (watts, of_watts)), (joules, of_joules))| [rate, watts, of_watts, joules, of_joules])
        .collect()
}

/// The values of a column in one unit, and their intervals.
fn column(one: &PowerDoc, of: fn(&PowerLevelDoc) -> &EstimateDoc, kind: Kind) -> Vec<(String, String)> {
    let values: Vec<f64> = one.levels.iter().filter_map(|level| of(level).value).collect();
    let scale = Scale::common(&values, kind);
    let interval = |level: &PowerLevelDoc| scale.interval(of(level).low?, of(level).high?);
    let intervals: Vec<Option<(String, String)>> = one.levels.iter().map(interval).collect();
    let dash = |text: String| if text.is_empty() { "-".to_owned() } else { text };
    let value = |level: &PowerLevelDoc| match of(level).value.filter(|value| value.is_finite()) {
        Some(value) => format!("{} {}", scale.number(value), scale.ascii_unit()),
        None => "-".to_owned(),
    };
    one.levels.iter().map(value).zip(ranges(&intervals).into_iter().map(dash)).collect()
}

/// A load at its levels, for tests of what is drawn.
#[cfg(test)]
pub fn planted() -> PowerDoc {
    let known = |value: f64, share: f64| EstimateDoc {
        value: Some(value),
        low: Some(value * (1.0 - share)),
        high: Some(value * (1.0 + share)),
        why: None,
    };
    let none = || EstimateDoc { value: None, low: None, high: None, why: None };
    let level = |share: f64, watts: f64| PowerLevelDoc {
        level: share,
        n: 8,
        watts: known(watts, 0.02),
        rate: if share > 0.0 { known(12_300.0 * share, 0.01) } else { none() },
        joules: if share > 0.0 { known(watts / (12_300.0 * share), 0.02) } else { none() },
    };
    PowerDoc {
        instrument: model::names::instrument::WEB_POWER.to_owned(),
        params: model::Params::default(),
        arm: String::new(),
        meter: "command".to_owned(),
        unit: "request".to_owned(),
        levels: vec![
            level(0.0, 41.0),
            level(0.25, 55.0),
            level(0.5, 64.0),
            level(0.75, 72.0),
            level(1.0, 78.0),
        ],
        with_generator: true,
        generator_limit: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_a_line() {
        let text = table(&planted(), false, Look::plain());
        let lines: Vec<String> =
            text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(lines[0], "level requests/s power 95 % interval energy a request 95 % interval");
        assert_eq!(lines[1], "idle - 41.0 W 40.2 - 41.8 - -");
        assert_eq!(lines[5], "at 100 % 12,300 78.0 W 76.4 - 79.6 6.34 mJ 6.21 - 6.47");
        assert_eq!(lines.len(), 6);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn what_must_be_known_stands_below() {
        let all = [planted(), PowerDoc { arm: "b".to_owned(), ..planted() }];
        let text = super::super::fit::Screen::default();
        let mut screen = text;
        screen.add(part(&all, Look::plain()));
        let text = screen.fit(Look::plain(), "show", |text| text);
        assert_eq!(text.matches("the load generator works on this machine too").count(), 1, "{text}");
        assert!(text.contains("web-power ") && text.contains("\nb "), "{text}");
    }
}
