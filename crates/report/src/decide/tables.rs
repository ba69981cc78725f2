//! The tables of a decision's page.

use maud::{Markup, html};
use model::Validity;
use model::doc::{BoughtDoc, CandidateDoc, CapacityDoc, DecideDoc, InputDoc, NeedDoc};
use model::format::{self, percent};

use crate::page::{Column, prose, table};
use crate::text::decide::{cells, tables::bracket};

/// Letters from which on a text is broken into lines.
const LONG: usize = 24;

/// A column with its cells; `None` is a dash.
type Cells = (String, Column, Vec<Option<String>>);

/// A table without the columns in which no row has anything.
fn set(head: &str, names: Vec<Markup>, columns: Vec<Cells>) -> Markup {
    let columns: Vec<Cells> =
        columns.into_iter().filter(|(_, _, cells)| cells.iter().any(Option::is_some)).collect();
    let mut heads = vec![(head, Column::Text)];
    heads.extend(columns.iter().map(|(head, kind, _)| (head.as_str(), *kind)));
    let rows: Vec<Vec<Markup>> = names
        .into_iter()
        .enumerate()
        .map(|(row, name)| {
            let cell = |(_, kind, cells): &Cells| {
                let text = cells.get(row).and_then(Option::as_deref).unwrap_or("-");
                // A sentence may be broken, in a column wide enough to be read.
                let class = if *kind == Column::Text && text.len() > LONG { "why" } else { "n" };
                html! { span class=(class) { (crate::plot::tied(text)) } }
            };
            std::iter::once(name).chain(columns.iter().map(cell)).collect()
        })
        .collect();
    table(&heads, &rows)
}

fn column<T>(head: &str, all: &[T], cell: impl Fn(&T) -> Option<String>) -> Cells {
    (head.to_owned(), Column::Number, all.iter().map(cell).collect())
}

/// The names of the candidates, those in one bracket marked.
fn names(all: &[CandidateDoc]) -> Vec<Markup> {
    let name = |(at, one): (usize, &CandidateDoc)| {
        let mark = bracket(all, at);
        html! {
            span class="n" {
                @if mark != " " { (mark) " " } (one.name)
                @if cells::is_doubtful(one) { " !" }
                @if one.published { " " small class="mut" { "published" } }
            }
        }
    };
    all.iter().enumerate().map(name).collect()
}

/// A table of candidates, if it has a column.
fn of_candidates(all: &[CandidateDoc], columns: Vec<Cells>) -> Option<Markup> {
    let has_cells = columns.iter().any(|(_, _, cells)| cells.iter().any(Option::is_some));
    has_cells.then(|| set("", names(all), columns))
}

/// The candidates, cheapest first.
pub fn candidates(doc: &DecideDoc) -> Markup {
    let all = &doc.candidates;
    let (currency, life) = (cells::currency(doc), cells::life(doc));
    let several = all.len() > 1;
    let columns = vec![
        column("boxes", all, |one| Some(cells::boxes(&one.boxes))),
        column(&format!("{currency}, {life}"), all, |one| {
            one.cost.as_ref().map(|cost| cells::money(cost.life))
        }),
        column("a month", all, |one| one.cost.as_ref().map(|cost| cells::money(cost.per_month))),
        column("busy at the demand", all, |one| one.boxes.utilisation.map(percent)),
        column("W", all, |one| one.total_watts.map(cells::plain)),
        column("U", all, |one| one.total_rack_units.map(cells::plain)),
        column("cheapest", all, |one| one.cheapest.filter(|_| several).map(cells::probability)),
    ];
    html! {
        (set("", names(all), columns))
        @if all.iter().any(cells::is_doubtful) { p class="note" { "!: in doubt; the notes say why." } }
        @if (0..all.len()).any(|at| bracket(all, at) != " ") {
            p class="note" { "Candidates in one bracket cannot be told apart by cost." }
        }
        @for one in all { @if let Some(why) = &one.no_cost { p class="note" { "No cost: " (prose(why)) } } }
    }
}

/// The parts of the cost, its interval, and the racks; `None` where the cost is that of the boxes alone, and known.
pub fn parts(doc: &DecideDoc) -> Option<Markup> {
    let all = &doc.candidates;
    let interval = |one: &CandidateDoc| {
        let cost = one.cost.as_ref()?;
        let (low, high) = (cells::money(cost.low), cells::money(cost.high));
        (low != high).then(|| format!("{low} to {high}"))
    };
    let first = all.first().map_or("", |one| one.name.as_str());
    let ratio = |one: &CandidateDoc| {
        let ratio = one.ratio.as_ref().filter(|_| one.name != first)?;
        let ends = ratio.low.zip(ratio.high).filter(|(low, high)| low < high);
        let ends = ends.map_or_else(String::new, |(low, high)| {
            format!(" ({})", model::format::ratio_interval(low, high))
        });
        Some(format!("{}{ends}", model::format::ratio(ratio.value?)))
    };
    let has_parts = |one: &CandidateDoc| {
        let cost = one.cost.as_ref();
        cost.is_some_and(|cost| cost.energy.or(cost.space).or(cost.circuits).is_some())
    };
    let has_parts = all.iter().any(has_parts);
    let of_boxes =
        |one: &CandidateDoc| one.cost.as_ref().filter(|_| has_parts).map(|cost| cells::money(cost.boxes));
    let columns = vec![
        column("bound by", all, |one| Some(one.boxes.binding.clone()).filter(|_| doc.needs.len() > 1)),
        column(&format!("{}, interval", cells::currency(doc)), all, interval),
        column("for boxes", all, of_boxes),
        column("for energy", all, |one| one.cost.as_ref()?.energy.map(cells::money)),
        column("for space", all, |one| one.cost.as_ref()?.space.map(cells::money)),
        column("for circuits", all, |one| one.cost.as_ref()?.circuits.map(cells::money)),
        column("racks", all, cells::rack),
        column("circuits", all, cells::circuits),
    ];
    // Alone it is what the answer says.
    let has_more = columns.iter().any(|(_, _, cells)| cells.iter().any(Option::is_some));
    let ratio = column("times the first", all, |one| ratio(one).filter(|_| has_more));
    let columns = [columns, vec![ratio]].concat();
    let without = all.iter().filter_map(|one| one.cost.as_ref()).flat_map(|cost| &cost.without);
    let mut missing: Vec<&String> = without.collect();
    missing.dedup();
    let table = of_candidates(all, columns);
    (table.is_some() || !missing.is_empty()).then(|| {
        html! {
            @if let Some(table) = table { (table) }
            @for one in missing { p class="note" { "Not in the cost: " (prose(one)) } }
        }
    })
}

/// The capacity of one box of each candidate for a need.
pub fn capacities(need: &NeedDoc, at: usize, doc: &DecideDoc) -> Markup {
    let all = &doc.candidates;
    let of = |one: &CandidateDoc| one.capacities.get(at).cloned();
    let currency = cells::currency(doc);
    let worth = |one: &CandidateDoc| of(one)?.per_price.map(|value| cells::worth(value, need.unit));
    let bulk = cells::bulk(at, doc);
    let state = |own: CapacityDoc| match own.validity {
        Validity::Doubtful | Validity::Invalid => {
            let accepted = match own.doubted_by.as_slice() {
                [] => String::new(),
                rules => format!(", accepted (--accept {})", rules.join(", ")),
            };
            Some(format!("{}{accepted}: {}", own.validity.word(), own.why.unwrap_or_default()))
        }
        _ => own.why,
    };
    let columns = vec![
        column("a box", all, |one| of(one).as_ref().map(cells::capacity)),
        column("times the demand", all, |one| cells::times(&of(one)?, need)),
        column("95 % interval", all, |one| {
            cells::interval(&of(one)?).map(|(low, high)| format!("{low} to {high}"))
        }),
        column(&format!("{currency} for {}", bulk.words), all, |one| {
            one.per_million.get(at).copied().flatten().map(|cost| bulk.text(cost))
        }),
        column(cells::joules_head(need.unit), all, |one| {
            one.joules.get(at).copied().flatten().map(|each| cells::joules(each, need.unit))
        }),
        column(&format!("for a {currency}"), all, |one| worth(one).filter(|_| !one.rented)),
        column(&format!("for {currency}/h"), all, |one| worth(one).filter(|_| one.rented)),
        column("for a watt", all, |one| of(one)?.per_watt.map(|value| cells::worth(value, need.unit))),
    ];
    // Sentences stand below the table: beside numbers they push them off a narrow screen.
    let figure = |one: &CandidateDoc| {
        let own = of(one)?;
        let runs = short(&own.runs);
        let runs = if runs.is_empty() { runs } else { format!(" (run {runs})") };
        let state = state(own.clone()).map_or_else(String::new, |state| format!("; {state}"));
        Some(html! { strong { (one.name) } ": " (own.figure) (runs) (prose(&state)) })
    };
    html! {
        (set("", names(all), columns))
        ul class="plain note" { @for one in all { @if let Some(figure) = figure(one) { li { (figure) } } } }
    }
}

fn short(runs: &[String]) -> String {
    runs.iter().map(|run| model::id::short(run)).collect::<Vec<_>>().join(", ")
}

/// The value of each input from which on another candidate is the cheapest.
pub fn break_even(doc: &DecideDoc) -> Markup {
    let all = &doc.break_even;
    let names = all.iter().map(|one| html! { span class="n" { (one.input) } }).collect();
    let columns = vec![
        column("now", all, |one| Some(one.now_shown.clone())),
        column("at times from", all, |one| one.first_shown.clone()),
        column("always from", all, |one| Some(one.at_shown.clone())),
        ("cheapest beyond".to_owned(), Column::Text, all.iter().map(|one| Some(one.then.clone())).collect()),
    ];
    set("", names, columns)
}

/// The boxes that one amount of money buys of each candidate.
pub fn bought(list: &[BoughtDoc], doc: &DecideDoc) -> Markup {
    let names = list.iter().map(|one| html! { span class="n" { (one.candidate) } }).collect();
    let mut columns = vec![column("boxes", list, |one| Some(one.boxes.to_string()))];
    for (at, need) in doc.needs.iter().enumerate() {
        columns.push(column(&need.name, list, |one| {
            let own = one.does.get(at)?.as_ref()?;
            let amounts = format::Amounts::like(own.value?, need.unit);
            let ends = own.low.zip(own.high).map_or_else(String::new, |(low, high)| {
                format!(" ({} to {})", amounts.bare(low), amounts.bare(high))
            });
            Some(format!("{}{ends}", amounts.text(own.value?)))
        }));
    }
    columns.push(column("enough", list, |one| Some(if one.is_enough { "yes" } else { "no" }.to_owned())));
    set("", names, columns)
}

/// Every input with its provenance.
pub fn inputs(doc: &DecideDoc) -> Markup {
    let demand = |need: &NeedDoc| InputDoc {
        name: format!("demand of {}", need.name),
        shown: cells::demand(need),
        value: Some(need.demand),
        low: None,
        high: None,
        from: need.from.clone(),
        date: None,
        is_stale: false,
    };
    let demands: Vec<InputDoc> = doc.needs.iter().map(demand).collect();
    let own = demands.iter().chain(&doc.inputs).map(|input| (input.name.clone(), input));
    let of_boxes = doc.candidates.iter().flat_map(|one| {
        let inputs = [
            ("price", &one.price),
            ("watts", &one.watts),
            ("rack units", &one.rack_units),
            ("utilisation", &one.utilisation),
        ];
        inputs
            .into_iter()
            .filter_map(|(what, input)| Some((format!("{what} of {}", one.name), input.as_ref()?)))
    });
    let all: Vec<(String, &InputDoc)> = own.chain(of_boxes).collect();
    let names = all.iter().map(|(name, _)| html! { span class="n" { (name) } }).collect();
    let text = |head: &str, cell: &dyn Fn(&InputDoc) -> Option<String>| {
        (head.to_owned(), Column::Text, all.iter().map(|(_, input)| cell(input)).collect::<Vec<_>>())
    };
    let columns = vec![
        text("value", &|input| Some(input.shown.clone())),
        text("from", &|input| Some(input.from.clone())),
        text("date", &|input| input.date.clone()),
        text("stale", &|input| input.is_stale.then(|| "older than it may be".to_owned())),
    ];
    html! {
        (set("", names, columns))
        @for one in &doc.candidates {
            @if let Some(sheet) = &one.sheet { p class="note" { (one.name) " is " (sheet) } }
        }
    }
}
