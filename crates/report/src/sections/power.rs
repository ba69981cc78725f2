//! Power at levels of a load: the watts over the level beside a line that is proportional to it, and the energy of one
//! request or job.
//!
//! A machine that is proportional draws nothing when idle. Loads by different meters stand in figures of their own.

use maud::{Markup, html};
use model::doc::{EstimateDoc, PowerDoc, PowerLevelDoc};
use model::format::{Kind, percent, quantity};
use model::power::level_name;
use model::unit::Unit;

use crate::page::{self, Column};
use crate::plot::line::{Point, Series};
use crate::plot::{Caption, LinePlot};
use crate::scale::AxisSpec;
use crate::section::{ReportInput, Section, sentence};
use crate::text::power::cells;

pub static SECTION: Section = Section::by_run(43, draw);

/// A load with its name on the page.
type Named<'a> = (String, &'a PowerDoc);

fn draw(input: &ReportInput) -> Option<Markup> {
    let several = input.runs.len() > 1;
    let mut all: Vec<Named<'_>> = Vec::new();
    for (run, (doc, _)) in input.runs.iter().enumerate().take(input.drawn().end) {
        let many = doc.power.len() > 1;
        for one in &doc.power {
            let load = if one.arm.is_empty() { one.instrument.clone() } else { one.arm.clone() };
            let words = [several.then(|| input.name(run)), many.then_some(load)];
            all.push((words.into_iter().flatten().collect::<Vec<_>>().join(", "), one));
        }
    }
    let title = all.iter().find_map(|(name, one)| title(name, one));
    let title = title.unwrap_or_else(|| "Power at levels of load".to_owned());
    let mut parts: Vec<Markup> = Vec::new();
    for group in groups(&all) {
        parts.push(watts(&group));
        parts.push(joules(&group));
    }
    let mut remarks: Vec<String> = all.iter().flat_map(|(_, one)| one.remarks()).collect();
    remarks.dedup();
    let body = html! {
        (page::grid(&parts))
        @for (name, one) in &all { (page::card(name, &table(one))) }
        @for remark in &remarks { p { (page::prose(&sentence(remark))) "." } }
    };
    (!all.is_empty()).then(|| page::section("power", &title, &body))
}

/// `Idle draws 53 % of what full load draws (41.0 W of 78.0 W)`.
fn title(name: &str, one: &PowerDoc) -> Option<String> {
    let of = |level: f64| Some(quantity(one.at(level)?.watts.value?, Kind::for_unit(Unit::Watt)));
    let share = percent(one.idle_share()?);
    let head = if name.is_empty() { "Idle".to_owned() } else { format!("{name}: idle") };
    Some(format!("{head} draws {share} of what full load draws ({} of {})", of(0.0)?, of(1.0)?))
}

/// Loads that may stand in one figure: by the same meter, of the same things.
fn groups<'a>(all: &[Named<'a>]) -> Vec<Vec<Named<'a>>> {
    let mut groups: Vec<Vec<Named<'a>>> = Vec::new();
    for (name, one) in all {
        let is_alike = |group: &&mut Vec<Named<'a>>| {
            group[0].1.meter == one.meter && group[0].1.instrument == one.instrument
        };
        match groups.iter_mut().find(is_alike) {
            Some(group) => group.push((name.clone(), one)),
            None => groups.push(vec![(name.clone(), *one)]),
        }
    }
    groups
}

fn points(one: &PowerDoc, of: fn(&PowerLevelDoc) -> &EstimateDoc) -> Vec<Point> {
    let point = |level: &PowerLevelDoc| {
        let estimate = of(level);
        let interval = estimate.low.zip(estimate.high);
        Some(Point { interval, bar: true, ..Point::at(level.level, estimate.value?) })
    };
    one.levels.iter().filter_map(point).collect()
}

/// The words for a meter.
fn by(meter: &str) -> &'static str {
    match model::power::Meter::parse(meter) {
        Some(model::power::Meter::Rapl) => "by RAPL: processor and memory alone",
        Some(model::power::Meter::Command) => "by the command of the user's",
        Some(model::power::Meter::Typed) => "by readings that were typed",
        Some(model::power::Meter::Bmc) => "by the BMC of the node",
        None => "",
    }
}

fn axis() -> AxisSpec {
    AxisSpec::new("share of saturation", Kind::percent()).from_zero()
}

fn watts(group: &[Named<'_>]) -> Markup {
    let named = |name: &str| if name.is_empty() { "measured".to_owned() } else { name.to_owned() };
    let measured = group.iter().map(|(name, one)| Series {
        name: named(name),
        points: points(one, |l| &l.watts),
        reference: false,
    });
    let ideal = group.iter().filter_map(|(name, one)| {
        let full = one.at(1.0)?.watts.value?;
        let points = vec![Point::at(0.0, 0.0), Point::at(1.0, full)];
        let name = if name.is_empty() { String::new() } else { format!("{name}, ") };
        Some(Series { name: format!("{name}proportional"), points, reference: true })
    });
    LinePlot::new(
        Caption::new("Power over the level").subtitle(by(&group[0].1.meter)),
        axis(),
        AxisSpec::new("power", Kind::for_unit(Unit::Watt)).from_zero(),
        measured.chain(ideal).collect(),
    )
    .render()
}

fn joules(group: &[Named<'_>]) -> Markup {
    let series = group.iter().map(|(name, one)| Series {
        name: name.clone(),
        points: points(one, |l| &l.joules),
        reference: false,
    });
    LinePlot::new(
        Caption::new(format!("Energy a {} over the level", group[0].1.unit))
            .subtitle("what idle draws is shared by few at low levels"),
        axis(),
        AxisSpec::new(format!("energy a {}", group[0].1.unit), Kind::for_unit(Unit::Joule)).from_zero(),
        series.collect(),
    )
    .render()
}

fn table(one: &PowerDoc) -> Markup {
    let (rate, each) = (format!("{}s/s", one.unit), format!("energy a {}", one.unit));
    let heads = [
        ("level", Column::Text),
        (rate.as_str(), Column::Number),
        ("power", Column::Number),
        ("95 % interval", Column::Number),
        (each.as_str(), Column::Number),
        ("95 % interval", Column::Number),
    ];
    let row = |(level, cells): (&PowerLevelDoc, [String; 5])| {
        std::iter::once(level_name(level.level)).chain(cells).map(|text| html! { (text) }).collect()
    };
    let rows: Vec<Vec<Markup>> = one.levels.iter().zip(cells(one)).map(row).collect();
    page::table(&heads, &rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::check;
    use crate::text::power::planted;

    #[test]
    fn the_curve_stands_beside_a_proportional_line() {
        let one = planted();
        let drawn =
            html! { (watts(&[(String::new(), &one)])) (joules(&[(String::new(), &one)])) (table(&one)) };
        let text = drawn.into_string();
        check::balanced(&text);
        check::finite(&text);
        check::inside(&text);
        assert!(text.contains("proportional") && text.contains("Energy a request over the level"), "{text}");
        assert_eq!(
            title("", &one).as_deref(),
            Some("Idle draws 53 % of what full load draws (41.0 W of 78.0 W)")
        );
    }

    #[test]
    fn loads_by_unlike_meters_share_no_figure() {
        let (one, other) = (planted(), PowerDoc { meter: "rapl".to_owned(), ..planted() });
        let all = [(String::new(), &one), ("a".to_owned(), &other), ("b".to_owned(), &one)];
        let sizes: Vec<usize> = groups(&all).iter().map(Vec::len).collect();
        assert_eq!(sizes, [2, 1]);
        let none = ReportInput::default();
        assert!(draw(&none).is_none());
    }
}
