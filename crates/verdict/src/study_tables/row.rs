//! One row of a table: its cells, and the unit in which they are shown.

use model::data::Published;
use model::doc::{StudyCellDoc, StudyRowDoc};
use model::format::{Kind, Scale, fixed, quantity};
use model::study_file::{Column, Content, FigureKey, Per, Row, Statistic, published};
use model::{Basis, Cards, Fact, FactValue, Unit, card, printed};

use super::TableSide;
use super::measured::{NOT_YET, measured};

type Sides<'a> = [(&'a Column, TableSide<'a>)];

pub fn row(row: &Row, sides: &Sides<'_>, cards: Cards) -> StudyRowDoc {
    let cells: Vec<StudyCellDoc> =
        sides.iter().map(|(column, side)| cell(row, column, side, cards)).collect();
    let (key, ours) = match &row.what {
        Content::Figure { key, ours, .. } => (Some(key), ours.as_ref()),
        Content::Fact(..) | Content::Texts => (None, None),
    };
    let unit = key.map(|key| unit_of(ours.unwrap_or(key), cards));
    let (shown_unit, shown_factor) = match (key, unit, &row.what) {
        (_, _, Content::Figure { per: Some(per), .. }) => (per_unit(*per, sides), 1.0),
        (Some(key), Some(unit), _) => shown(row, ours.unwrap_or(key), unit, &cells, cards),
        _ => (String::new(), 1.0),
    };
    StudyRowDoc {
        label: row.label.clone(),
        figure: key.map(ToString::to_string),
        ours: ours.map(ToString::to_string),
        unit,
        shown_unit,
        shown_factor,
        note: row.note.clone(),
        cells,
    }
}

fn unit_of(key: &FigureKey, cards: Cards) -> Unit {
    let card = card::find(cards, &key.instrument);
    if ratio_of(key, cards).is_some() {
        return Unit::Ratio;
    }
    card.and_then(|card| card.metric(&key.metric)).map_or(Unit::Count, |metric| metric.unit)
}

/// The parameter of a ratio with its two values, by the card.
pub fn ratio_of(key: &FigureKey, cards: Cards) -> Option<(String, String, String)> {
    let card = card::find(cards, &key.instrument)?;
    key.ratio(|name, value| card.any_param(name).is_some_and(|spec| spec.canonical(value).is_ok()))
}

/// The unit that the file asks for, else one that suits all values of the row.
fn shown(row: &Row, key: &FigureKey, unit: Unit, cells: &[StudyCellDoc], cards: Cards) -> (String, f64) {
    if let Some((name, (_, factor))) =
        row.unit.as_ref().and_then(|name| Some((name, printed::unit(name, &key.instrument)?)))
    {
        let name = if matches!(name.as_str(), "1" | "ratio") { "" } else { name };
        return (name.to_owned(), factor);
    }
    let values: Vec<f64> = cells.iter().filter_map(|cell| cell.value).collect();
    let kind = match unit {
        Unit::Ratio => Kind::for_unit(unit),
        _ => Kind::shown(card::find(cards, &key.instrument), &key.metric, unit),
    };
    let scale = Scale::common(&values, kind);
    (scale.unit.clone(), scale.divisor)
}

/// `/USD` or `/W`.
fn per_unit(per: Per, sides: &Sides<'_>) -> String {
    match per {
        Per::Watt => "/W".to_owned(),
        Per::Price => {
            let price = sides.iter().find_map(|(_, side)| side.price);
            price.map_or_else(|| "/price".to_owned(), |price| format!("/{}", price.currency))
        }
    }
}

fn cell(row: &Row, column: &Column, side: &TableSide<'_>, cards: Cards) -> StudyCellDoc {
    if let Some(text) = row.cells.get(&column.head) {
        return StudyCellDoc::text(text);
    }
    match &row.what {
        Content::Texts => StudyCellDoc::default(),
        Content::Fact(key, ours) => of_sheet(key, ours.as_ref(), column, side),
        Content::Figure { key, stated, ours, cannot, per } => {
            let found = match (column.is_here(), cannot) {
                (true, Some(why)) => return StudyCellDoc::absent(why),
                (true, None) => {
                    let key = ours.as_ref().unwrap_or(key).with(&column.with);
                    measured(&key, column.show, &side.runs, cards, &side.absent)
                }
                (false, _) if side.runs.is_empty() => of_published(&key.with(stated), column, side.published),
                (false, _) => measured(&key.with(&column.with), column.show, &side.runs, cards, &[]),
            };
            per.map_or(found.clone(), |per| divided(found, per, side))
        }
    }
}

/// A line of the spec sheet; that of this machine may be another one.
fn of_sheet(key: &str, ours: Option<&String>, column: &Column, side: &TableSide<'_>) -> StudyCellDoc {
    let key = ours.filter(|_| column.is_here()).map_or(key, String::as_str);
    match side.facts.iter().find(|fact| fact.key == key) {
        Some(fact) => of_fact(fact),
        None if column.is_here() && side.facts.is_empty() => StudyCellDoc::absent(NOT_YET),
        None if column.is_here() => StudyCellDoc::absent("boxscore does not read it"),
        None => StudyCellDoc::default(),
    }
}

fn of_fact(fact: &Fact) -> StudyCellDoc {
    let text = match &fact.value {
        None => return StudyCellDoc::absent(fact.why.clone().unwrap_or_else(|| "not known".to_owned())),
        Some(FactValue::Flag(flag)) => if *flag { "yes" } else { "no" }.to_owned(),
        Some(FactValue::Text(text)) => text.clone(),
        Some(FactValue::Number(number)) => match fact.unit {
            None | Some(Unit::Count) => fixed(*number, if number.fract() == 0.0 { 0 } else { 2 }),
            // Transfers, as data sheets of memory have them.
            Some(Unit::PerSec) if *number >= 1e6 => format!("{} MT/s", fixed(number / 1e6, 0)),
            Some(unit) => quantity(*number, unit),
        },
    };
    StudyCellDoc { why: fact.why.clone(), ..StudyCellDoc::text(text) }
}

/// A published figure.
fn of_published(key: &FigureKey, column: &Column, figures: &[Published]) -> StudyCellDoc {
    // Several that fit are refused where the file is read.
    let Ok(Some(figure)) = published(key, column, figures) else { return StudyCellDoc::default() };
    match column.show {
        Statistic::Figure => {}
        Statistic::Least => return StudyCellDoc { value: figure.low, ..StudyCellDoc::default() },
        Statistic::Most => return StudyCellDoc { value: figure.high, ..StudyCellDoc::default() },
        // A study that printed its figure alone has none of its takes.
        Statistic::Mean | Statistic::Deviation | Statistic::Student => return StudyCellDoc::default(),
    }
    let middle = figure.low.zip(figure.high).map(|(low, high)| (low * high).sqrt());
    let is_range = figure.bounds != "best-worst"
        && middle.is_some_and(|middle| (figure.value / middle - 1.0).abs() < 1e-9);
    StudyCellDoc {
        value: Some(figure.value),
        low: figure.low,
        high: figure.high,
        bounds: Some(figure.bounds.clone()).filter(|bounds| !bounds.is_empty()),
        is_range,
        why: match figure.basis {
            Basis::Measured => None,
            basis => basis.caveat().map(str::to_owned),
        },
        ..StudyCellDoc::default()
    }
}

/// The same by what the machine costs or draws.
fn divided(cell: StudyCellDoc, per: Per, side: &TableSide<'_>) -> StudyCellDoc {
    let (cost, what, flag) = match per {
        Per::Price => (side.price.map(|price| price.amount), "price", "--price 429"),
        Per::Watt => (side.watts, "power", "--watts 40"),
    };
    if cell.value.is_none() {
        return cell;
    }
    let Some(cost) = cost.filter(|cost| *cost > 0.0) else {
        return StudyCellDoc::absent(format!("its {what} is not known: boxscore note NAME {flag}"));
    };
    let by = |value: Option<f64>| value.map(|value| value / cost);
    StudyCellDoc { value: by(cell.value), low: by(cell.low), high: by(cell.high), ..cell }
}
