//! Comparisons, ratios and decisions as comma-separated values (RFC 4180): one line a row of the document, base units.
//!
//! A missing value is an empty field. Ratios per hourly price and per purchase price have a column each, so that the
//! two never meet in one.

use model::doc::{
    BoundsDoc, CandidateDoc, CapacityDoc, CompareDoc, DecideDoc, ExcludedDoc, Method, RatioDoc, RowDoc,
};

const HEAD: [&str; 30] = [
    "instrument",
    "metric",
    "unit",
    "better",
    "params",
    "headline",
    "arm",
    "base",
    "arm_value",
    "base_value",
    "ratio",
    "low",
    "high",
    "p",
    "p_holm",
    "floor",
    "noise",
    "margin",
    "verdict",
    "why",
    "point",
    "per_hourly_price",
    "per_purchase_price",
    "currency",
    "per_watt",
    "price_unit",
    "base_per_price",
    "arm_per_price",
    "base_per_watt",
    "arm_per_watt",
];

/// The rows of a comparison.
pub fn compare(doc: &CompareDoc) -> String {
    let mut out = line(&HEAD.map(str::to_owned));
    for row in &doc.rows {
        out.push_str(&line(&fields(doc, row)));
    }
    out
}

/// The columns that ratios have before and behind those of a comparison.
const RATIO: [&str; 3] = ["kind", "machine", "method"];
const BOUNDS: [&str; 3] = ["printed_low", "printed_high", "printed_bounds"];

/// Columns that every row has; the others are about money and power.
const FIGURE: usize = 21;

/// Ratios and ratios of ratios: one line a row, told apart by `kind`.
pub fn ratio(doc: &RatioDoc) -> String {
    let head = RATIO.iter().chain(&HEAD[..FIGURE]).chain(&BOUNDS).map(|name| (*name).to_owned());
    let mut out = line(&head.collect::<Vec<_>>());
    let mut add = |kind: &str, machine: &str, method: Method, row: &RowDoc, printed: Option<&BoundsDoc>| {
        let bounds = [
            number(printed.map(|bounds| bounds.low)),
            number(printed.map(|bounds| bounds.high)),
            printed.map_or(String::new(), |bounds| bounds.kind.clone()),
        ];
        let first = [kind.to_owned(), machine.to_owned(), method.word().to_owned()];
        out.push_str(&line(&first.into_iter().chain(figure(row)).chain(bounds).collect::<Vec<_>>()));
    };
    for one in &doc.rows {
        add("ratio", &one.machine, one.method, &one.row, one.bounds.as_ref());
    }
    for one in &doc.ratios_of_ratios {
        add("ratio-of-ratios", &one.row.arm, one.method, &one.row, one.bounds.as_ref());
    }
    out
}

/// Columns of a decision: of a candidate, then of what a box of it does for one need, and how far that may be believed.
const DECIDE: [&str; 40] = [
    "candidate",
    "published",
    "boxes",
    "spare",
    "total",
    "probability",
    "at_most",
    "binding",
    "utilisation",
    "cost",
    "cost_low",
    "cost_high",
    "per_month",
    "boxes_cost",
    "energy_cost",
    "space_cost",
    "currency",
    "watts",
    "rack_units",
    "racks",
    "cheapest",
    "tie",
    "need",
    "demand",
    "unit",
    "capacity",
    "low",
    "high",
    "at_least",
    "per_price",
    "per_watt",
    "per_million",
    "joules",
    "figure",
    "validity",
    "point",
    "doubted_by",
    "why",
    "excluded",
    "command",
];

/// A line for each candidate and need, then one for each side and need that is left out, with the reason and the
/// command that would measure it.
pub fn decide(doc: &DecideDoc) -> String {
    let mut out = line(&DECIDE.map(str::to_owned));
    for one in &doc.candidates {
        for (at, need) in doc.needs.iter().enumerate() {
            let own = one.capacities.get(at);
            let listed = |values: &[Option<f64>]| number(values.get(at).copied().flatten());
            let of_need = [need.name.clone(), number(Some(need.grown)), need.unit.symbol().to_owned()];
            let worth = [listed(&one.per_million), listed(&one.joules)];
            let all = candidate(one, doc).into_iter().chain(of_need).chain(capacity(own)).chain(worth);
            out.push_str(&line(&all.chain(trust(own)).collect::<Vec<_>>()));
        }
    }
    out.extend(doc.excluded.iter().map(|one| line(&excluded(one, doc))));
    out
}

/// How far a capacity may be believed. A point has no interval.
fn trust(own: Option<&CapacityDoc>) -> [String; 7] {
    let text = |of: fn(&CapacityDoc) -> String| own.map_or(String::new(), of);
    [
        text(|own| own.figure.clone()),
        text(|own| own.validity.word().to_owned()),
        text(|own| own.low.is_none().to_string()),
        text(|own| own.doubted_by.join(";")),
        text(|own| own.why.clone().unwrap_or_default()),
        false.to_string(),
        String::new(),
    ]
}

/// A side that is left out: the fields of figures are empty.
fn excluded(one: &ExcludedDoc, doc: &DecideDoc) -> Vec<String> {
    let need = one.need.as_ref().and_then(|name| doc.needs.iter().find(|need| need.name == *name));
    let field = |column: &&str| match *column {
        "candidate" => one.name.clone(),
        "need" => one.need.clone().unwrap_or_default(),
        "demand" => number(need.map(|need| need.grown)),
        "unit" => need.map_or(String::new(), |need| need.unit.symbol().to_owned()),
        "why" => one.why.clone(),
        "excluded" => true.to_string(),
        "command" => one.command.clone().unwrap_or_default(),
        _ => String::new(),
    };
    DECIDE.iter().map(field).collect()
}

fn candidate(one: &CandidateDoc, doc: &DecideDoc) -> [String; 22] {
    let (cost, boxes) = (one.cost.as_ref(), &one.boxes);
    let whole = |value: Option<u64>| value.map_or(String::new(), |value| value.to_string());
    [
        one.name.clone(),
        one.published.to_string(),
        boxes.needed.to_string(),
        boxes.spare.to_string(),
        boxes.total.to_string(),
        number(Some(boxes.probability)),
        boxes.at_most.to_string(),
        boxes.binding.clone(),
        number(boxes.utilisation),
        number(cost.map(|cost| cost.life)),
        number(cost.map(|cost| cost.low)),
        number(cost.map(|cost| cost.high)),
        number(cost.map(|cost| cost.per_month)),
        number(cost.map(|cost| cost.boxes)),
        number(cost.and_then(|cost| cost.energy)),
        number(cost.and_then(|cost| cost.space)),
        doc.currency.clone().unwrap_or_default(),
        number(one.total_watts),
        number(one.total_rack_units),
        whole(one.racks),
        number(one.cheapest),
        whole(one.tie),
    ]
}

fn capacity(own: Option<&CapacityDoc>) -> [String; 6] {
    [
        number(own.map(|own| own.value)),
        number(own.and_then(|own| own.low)),
        number(own.and_then(|own| own.high)),
        own.map_or(String::new(), |own| own.at_least.to_string()),
        number(own.and_then(|own| own.per_price)),
        number(own.and_then(|own| own.per_watt)),
    ]
}

fn fields(doc: &CompareDoc, row: &RowDoc) -> Vec<String> {
    let price = doc.arms.iter().find(|arm| arm.name == row.arm).and_then(|arm| arm.price.as_ref());
    let hourly = price.is_some_and(|price| price.hourly);
    let per_price = |wanted: bool| number(row.per_price.filter(|_| price.is_some() && hourly == wanted));
    let mut fields = figure(row).to_vec();
    fields.extend([
        per_price(true),
        per_price(false),
        price.map_or(String::new(), |price| price.currency.clone()),
        number(row.per_watt),
    ]);
    let worth = row.worth.clone().unwrap_or_default();
    let worths = [worth.base_per_price, worth.arm_per_price, worth.base_per_watt, worth.arm_per_watt];
    fields.push(worth.price.unwrap_or_default());
    fields.extend(worths.map(number));
    fields
}

fn figure(row: &RowDoc) -> [String; FIGURE] {
    [
        row.instrument.clone(),
        row.metric.clone(),
        row.unit.symbol().to_owned(),
        row.better.word().to_owned(),
        row.params.to_string(),
        row.headline.to_string(),
        row.arm.clone(),
        row.base.clone(),
        number(row.arm_value),
        number(row.base_value),
        number(row.ratio),
        number(row.low),
        number(row.high),
        number(row.p),
        number(row.p_holm),
        number(row.floor),
        row.noise.map_or(String::new(), |noise| noise.word().to_owned()),
        number(Some(row.margin)),
        row.verdict.word().to_owned(),
        row.why.to_string(),
        row.point.to_string(),
    ]
}

/// The shortest text that reads back as the same number.
fn number(value: Option<f64>) -> String {
    value.filter(|value| value.is_finite()).map_or(String::new(), |value| value.to_string())
}

/// One line; fields are quoted where they must be.
pub fn line(fields: &[String]) -> String {
    let quoted = fields.iter().map(|field| {
        if field.contains([',', '"', '\n', '\r']) {
            format!("\"{}\"", field.replace('"', "\"\""))
        } else {
            field.clone()
        }
    });
    let mut out = quoted.collect::<Vec<_>>().join(",");
    out.push('\n');
    out
}
