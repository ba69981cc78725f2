//! The figures of `run --soak`: the best level at the beginning beside what lasts, where the level falls, and how it
//! changes.

use model::Validity;
use model::doc::{KneeDoc, SeriesDoc, SoakDoc};
use model::format::{self, Kind, Scale};
use model::names::{self, Key};

use super::grid::{Align, Cell, Cut, Grid, ranges};
use super::{Look, Tone, hang};

/// The table, with lines about what its columns mean; empty where nothing was soaked.
pub fn table(all: &[SoakDoc], look: Look) -> String {
    if all.is_empty() {
        return String::new();
    }
    let mut grid = Grid::new(&[
        ("", Align::Left),
        ("", Align::Left),
        ("at first ", Align::Right),
        ("lasts ", Align::Right),
        ("95 % interval", Align::Right),
        ("share", Align::Right),
        ("falls at", Align::Right),
    ])
    .cutting(Cut::Middle);
    let scales: Vec<Scale> = all.iter().map(scale).collect();
    let interval = |(one, scale): (&SoakDoc, &Scale)| scale.interval(one.low?, one.high?);
    let intervals: Vec<_> = all.iter().zip(&scales).map(interval).collect();
    for (((one, label), scale), interval) in all.iter().zip(labels(all)).zip(&scales).zip(ranges(&intervals))
    {
        let tone = if one.knee.is_some() { Tone::Warn } else { Tone::Plain };
        grid.row(vec![
            label.into(),
            scale.ascii_unit().into(),
            level(one, one.first, scale).into(),
            level(one, one.sustained, scale).into(),
            if interval.is_empty() { "-".into() } else { interval.into() },
            Cell::tone(one.share.map_or("-".to_owned(), format::percent), tone),
            Cell::tone(one.knee.map_or("-".to_owned(), |knee| format::duration(knee.at)), tone),
        ]);
    }
    let grid = if grid.width() > look.columns { grid.gap(1) } else { grid };
    let mut out = grid.render(look.columns, look.paint);
    out.push_str(&meaning(all, look));
    out.push_str(&falls(all, look));
    out.push_str(&slopes(all, look));
    out.push_str(&unknown(all, look));
    out
}

/// A level with the mark of a doubt, or the word of what was refused.
fn level(one: &SoakDoc, value: Option<f64>, scale: &Scale) -> String {
    let mark = if one.validity == Validity::Doubtful { "!" } else { " " };
    match value {
        _ if one.validity == Validity::Invalid => "refused ".to_owned(),
        Some(value) => format!("{}{mark}", scale.number(value)),
        None => "- ".to_owned(),
    }
}

fn meaning(all: &[SoakDoc], look: Look) -> String {
    let most = |of: fn(&SoakDoc) -> f64| format::duration(all.iter().map(of).fold(0.0, f64::max).round());
    let text = format!(
        "over {}: at first = the first {}, or until the level falls; lasts = the last third, or since the level fell; \
         share = lasts over at first",
        most(|one| one.seconds),
        most(|one| one.beginning_seconds),
    );
    let mut out = hang("", &text, look.columns);
    if all.iter().any(|one| one.validity == Validity::Doubtful) {
        out.push_str("! = doubtful: the lines below say why\n");
    }
    out
}

/// `falls: integer at 20 s (18 s to 22 s) by 30 %`, and which falls are not told.
fn falls(all: &[SoakDoc], look: Look) -> String {
    let of_one = |(one, label): (&SoakDoc, String)| {
        let KneeDoc { at, low, high, before, after, .. } = one.knee?;
        let [at, low, high] = [at, low, high].map(format::duration);
        let change = format::percent((after / before - 1.0).abs());
        Some(format!("{label} at {at} ({low} to {high}) by {change}"))
    };
    let told: Vec<String> = all.iter().zip(labels(all)).filter_map(of_one).collect();
    let mut out = String::new();
    if !told.is_empty() {
        out.push_str(&hang("", &format!("falls (95 % interval): {}", told.join(", ")), look.columns));
    }
    let blind = all.iter().filter_map(|one| one.blind_seconds).max_by(f64::total_cmp);
    if let Some(why) = all.iter().find_map(|one| one.no_knee.as_deref()) {
        out.push_str(&hang(
            "",
            &format!("too short to show whether a level falls: {why}; soak for longer, such as --soak 10m"),
            look.columns,
        ));
    } else if let Some(blind) = blind {
        let blind = format::duration(blind);
        let text =
            format!("a fall in the first or the last {blind} is not told: there are too few takes in it");
        out.push_str(&hang("", &text, look.columns));
    }
    out
}

/// Why levels or their intervals are not known.
fn unknown(all: &[SoakDoc], look: Look) -> String {
    let shown = || all.iter().filter(|one| one.validity != Validity::Invalid);
    let why = |is_open: fn(&&SoakDoc) -> bool| shown().filter(is_open).find_map(|one| one.why.as_deref());
    if let Some(why) = why(|one| one.sustained.is_none()) {
        return hang("", &format!("what lasts is not known: {why}"), look.columns);
    }
    match why(|one| one.low.is_none()) {
        Some(why) => hang("", &format!("no interval of what lasts: {why}"), look.columns),
        None => String::new(),
    }
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
    let since = if all.iter().any(|one| one.knee.is_some()) { ", since the level fell" } else { "" };
    match moving.as_slice() {
        [] if all.iter().all(|one| one.slope.is_none()) => String::new(),
        [] => hang("", &format!("no figure has a slope beyond chance{since}"), look.columns),
        some => hang("", &format!("change a minute{since}: {}", some.join(", ")), look.columns),
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
