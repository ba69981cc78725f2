//! The drawings of a decision: probabilities, cost against demand, and the tornado.

use maud::Markup;
use model::doc::{CostCurveDoc, DecideDoc, SwingDoc};
use model::format::{self, Kind, NEARLY_ALL};
use model::unit::Unit;

use crate::plot::bars::BarGroup;
use crate::plot::line::{LinePlot, Marker, Point, Series};
use crate::plot::swing::{SwingPlot, SwingRow};
use crate::plot::{Bars, Caption, Estimate, Size};
use crate::scale::AxisSpec;
use crate::text::decide::cells;

/// More bars and crossings than these are not read.
const BARS: usize = 8;
const CROSSINGS: usize = 4;

/// The probability of each candidate that no other is cheaper.
pub fn cheapest(doc: &DecideDoc) -> Option<Markup> {
    let with: Vec<_> =
        doc.candidates.iter().filter_map(|one| Some((one, one.cheapest?))).take(BARS).collect();
    let (first, share) = with.first().filter(|_| with.len() > 1)?;
    // One bar that is all of it says what the table does.
    if *share >= NEARLY_ALL {
        return None;
    }
    let group = |(one, share): &(&model::doc::CandidateDoc, f64)| BarGroup {
        name: one.name.clone(),
        values: vec![Some(Estimate { value: *share, interval: None })],
    };
    let bars = Bars {
        caption: Caption::new(format!("{} is the cheapest with {}", first.name, cells::probability(*share)))
            .subtitle("probability that no other candidate costs less"),
        y: AxisSpec::new("cheapest", Kind::percent()).tight(),
        series: vec![String::new()],
        groups: with.iter().map(group).collect(),
        size: Size::Half,
        text: Some(cells::probability),
    };
    Some(bars.render())
}

/// Cost over the demand, in steps of whole boxes.
pub fn costs(doc: &DecideDoc) -> Option<Markup> {
    let drawn: Vec<&CostCurveDoc> =
        doc.curves.iter().filter(|curve| curve.points.iter().any(|point| point.cost.is_some())).collect();
    if drawn.iter().all(|curve| is_flat(curve)) {
        return None;
    }
    let need = doc.needs.first().filter(|_| doc.needs.len() == 1);
    let unit = need.map_or(1.0, |need| need.demand);
    let cheapest = cheapest_by_demand(&drawn);
    let (_, first) = cheapest.first()?;
    let crossings = cheapest.get(1..).unwrap_or_default();
    let title = match crossings {
        [] => format!("{first} is the cheapest at every demand shown"),
        [(_, then)] => format!("{first} is the cheapest at a small demand, {then} at a large one"),
        some => format!("The cheapest changes {} times with the demand", some.len()),
    };
    let crossings = crossings.get(..crossings.len().min(CROSSINGS)).unwrap_or_default();
    let now = Marker { at: unit, label: "asked for".to_owned(), upright: true };
    let crossing = |(at, name): &(f64, String)| Marker {
        at: at * unit,
        label: format!("{name} from here"),
        upright: true,
    };
    let (name, kind) = match need {
        Some(need) => (format!("demand of {}", need.name), Kind::for_unit(need.unit)),
        None => ("times the demand".to_owned(), Kind::for_unit(Unit::Ratio)),
    };
    let series = drawn.iter().map(|curve| steps(curve, unit)).collect();
    let caption = Caption::new(title).subtitle(format!(
        "{} over {}, bands: with the ends of the number of boxes",
        cells::currency(doc),
        cells::life(doc)
    ));
    let money =
        AxisSpec::new(format!("cost, {}", cells::currency(doc)), Kind::for_unit(Unit::Count)).from_zero();
    let plot = LinePlot {
        markers: std::iter::once(now).chain(crossings.iter().map(crossing)).collect(),
        size: Size::Wide,
        ..LinePlot::new(caption, AxisSpec::new(name, kind), money, series)
    };
    Some(plot.render())
}

/// The same boxes at every demand that was looked at.
fn is_flat(curve: &CostCurveDoc) -> bool {
    let mut boxes = curve.points.iter().filter(|point| point.cost.is_some()).map(|point| point.boxes);
    let first = boxes.next();
    boxes.all(|other| Some(other) == first)
}

/// The sentence on cost against demand where a drawing would be flat lines: `From 20.6/s to 618/s the boxes and their
/// cost stay as they are`.
pub fn flat(doc: &DecideDoc) -> Option<String> {
    let with: Vec<&CostCurveDoc> = doc.curves.iter().filter(|curve| !curve.points.is_empty()).collect();
    let points = &with.first().filter(|_| with.iter().all(|curve| is_flat(curve)))?.points;
    let (least, most) = (points.first()?.factor, points.last()?.factor);
    let shown = |factor: f64| match doc.needs.as_slice() {
        [need] => format::amount(need.demand * factor, need.unit),
        _ => format!("{} times the demand", format::number(factor)),
    };
    Some(format!(
        "From {} to {} today the numbers of boxes and their cost stay as they are.",
        shown(least),
        shown(most)
    ))
}

/// A curve whose cost stays until the next box is bought.
fn steps(curve: &CostCurveDoc, unit: f64) -> Series {
    let mut points: Vec<Point> = Vec::new();
    let mut boxes = None;
    for point in &curve.points {
        let Some(cost) = point.cost else { continue };
        let x = point.factor * unit;
        if let Some(last) = points.last().copied().filter(|_| boxes != Some(point.boxes)) {
            points.push(Point { x, ..last });
        }
        boxes = Some(point.boxes);
        points.push(Point { interval: point.low.zip(point.high), ..Point::at(x, cost) });
    }
    Series { name: curve.candidate.clone(), points, reference: false }
}

/// The factors of the demand at which another candidate becomes the cheapest, with its name; first the smallest one.
fn cheapest_by_demand(curves: &[&CostCurveDoc]) -> Vec<(f64, String)> {
    let best = |at: usize| {
        let costs = curves.iter().filter_map(|curve| {
            let point = curve.points.get(at)?;
            Some((point.cost?, point.factor, &curve.candidate))
        });
        costs.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, factor, name)| (factor, name))
    };
    let most = curves.iter().map(|curve| curve.points.len()).max().unwrap_or(0);
    let mut found: Vec<(f64, String)> = Vec::new();
    for (factor, name) in (0..most).filter_map(best) {
        if found.last().is_none_or(|(_, before)| before != name) {
            found.push((factor, name.clone()));
        }
    }
    found
}

/// The change by each input.
pub fn tornado(doc: &DecideDoc) -> Option<Markup> {
    let first = doc.candidates.first()?;
    let moving = cells::moving(doc);
    if moving.is_empty() {
        return None;
    }
    let is_alone = cells::is_alone(doc);
    let row = |swing: &SwingDoc| SwingRow {
        label: swing.input.clone(),
        at: cells::swing_ends(swing),
        ends: (swing.low.clone(), swing.high.clone()),
        range: cells::ends(&swing.low, &swing.high),
        shown: cells::swing(swing, doc),
        says: cells::best(swing, doc),
        flips: swing.best_at_low != first.name || swing.best_at_high != first.name,
    };
    let rows: Vec<SwingRow> = moving.into_iter().map(row).collect();
    let flips = rows.iter().filter(|row| row.flips).count();
    let title = match flips {
        _ if is_alone => format!("What the cost of {} depends on", first.name),
        0 => format!("{} stays the cheapest within every range", first.name),
        flips => format!("{flips} of {} inputs would change the answer", doc.tornado.len()),
    };
    let axis = match cells::second(doc) {
        Some(second) => format!("cost of {} as a multiple of {}'s", second.name, first.name),
        None => format!("cost of {}, {}", first.name, cells::currency(doc)),
    };
    let plot = SwingPlot {
        caption: Caption::new(title).subtitle("each input alone between its ends, the others as they are"),
        rows,
        axis,
        kind: Kind::for_unit(if is_alone { Unit::Count } else { Unit::Ratio }),
        line: (!is_alone).then_some(1.0),
        head: if is_alone { cells::currency(doc).to_owned() } else { "ratio".to_owned() },
    };
    Some(plot.render())
}
