//! The figures of `run --soak`: the first minute beside what lasts, where the level falls, and how it changes.

use model::doc::{SeriesDoc, SoakDoc};
use model::format::{self, Kind, Scale};
use model::names::{self, Key};

use super::grid::{Align, Cell, Cut, Grid, ranges};
use super::{Look, Tone, hang};

/// The table, with a line about what its columns mean; empty where nothing was soaked.
pub fn table(all: &[SoakDoc], look: Look) -> String {
    let Some(longest) = all.iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds)) else {
        return String::new();
    };
    let beginning = format::duration(longest.first_seconds.round());
    let first = format!("first {beginning}");
    let mut grid = Grid::new(&[
        ("", Align::Left),
        ("", Align::Left),
        (&first, Align::Right),
        ("lasts", Align::Right),
        ("95 % interval", Align::Right),
        ("share", Align::Right),
        ("falls at", Align::Right),
    ])
    .cutting(Cut::Middle);
    let scales: Vec<Scale> = all.iter().map(scale).collect();
    let interval = |(one, scale): (&SoakDoc, &Scale)| Some(scale.interval(one.low?, one.high?));
    let intervals: Vec<_> = all.iter().zip(&scales).map(interval).collect();
    for (((one, label), scale), interval) in all.iter().zip(labels(all)).zip(&scales).zip(ranges(&intervals))
    {
        let shown = |value: Option<f64>| value.map_or("-".to_owned(), |value| scale.number(value)).into();
        let tone = if one.knee.is_some() { Tone::Warn } else { Tone::Plain };
        grid.row(vec![
            label.into(),
            scale.ascii_unit().into(),
            shown(one.first),
            shown(one.sustained),
            if interval.is_empty() { "-".into() } else { interval.into() },
            Cell::tone(one.share.map_or("-".to_owned(), format::percent), tone),
            Cell::tone(one.knee.map_or("-".to_owned(), |knee| format::duration(knee.at)), tone),
        ]);
    }
    let mut out = grid.render(look.columns, look.paint);
    let over = format!(
        "over {}: lasts = the last third, or since the level fell; share = of the first {beginning}",
        format::duration(longest.seconds.round())
    );
    out.push_str(&hang("", &over, look.columns));
    out.push_str(&slopes(all, look));
    let mut whys: Vec<&str> =
        all.iter().filter(|one| one.sustained.is_none()).filter_map(|one| one.why.as_deref()).collect();
    whys.dedup();
    if let Some(why) = whys.first() {
        out.push_str(&hang("", &format!("what lasts is not known: {why}"), look.columns));
    }
    out
}

/// `a minute: integer -0.8 % (-0.9 to -0.7)`, of the figures that move for sure.
fn slopes(all: &[SoakDoc], look: Look) -> String {
    let signed = |share: f64| match share < 0.0 {
        true => format!("-{}", format::percent(-share)),
        false => format!("+{}", format::percent(share)),
    };
    let moving = all.iter().zip(labels(all)).filter_map(|(one, label)| {
        let slope = one.slope.filter(|slope| slope.low > 0.0 || slope.high < 0.0)?;
        Some(format!(
            "{label} {} ({} to {})",
            signed(slope.per_minute),
            signed(slope.low),
            signed(slope.high)
        ))
    });
    let moving: Vec<String> = moving.collect();
    match moving.as_slice() {
        [] => hang("", "no figure has a slope beyond chance", look.columns),
        some => hang("", &format!("change a minute: {}", some.join(", ")), look.columns),
    }
}

pub fn labels(all: &[SoakDoc]) -> Vec<String> {
    let named = names::labels(&all.iter().map(Key::from).collect::<Vec<_>>());
    let arm = |(label, one): (String, &SoakDoc)| match one.arm.as_str() {
        "" => label,
        arm => format!("{label} [{arm}]"),
    };
    named.into_iter().zip(all).map(arm).collect()
}

/// The scale that the levels of a figure share.
pub fn scale(one: &SoakDoc) -> Scale {
    let values: Vec<f64> = [one.first, one.sustained].into_iter().flatten().collect();
    Scale::common(&values, Kind::shown(one.card, &one.metric, one.unit))
}

/// True of a series that the table has.
pub fn has(all: &[SoakDoc], series: &SeriesDoc) -> bool {
    all.iter().any(|one| {
        one.instrument == series.instrument
            && one.metric == series.metric
            && one.params == series.params
            && one.arm == series.arm
    })
}
