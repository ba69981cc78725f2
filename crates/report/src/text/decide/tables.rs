//! The tables of a decision: the candidates, what one box of each does for each need, what equal money buys.

use model::Validity;
use model::doc::{BoughtDoc, CandidateDoc, DecideDoc, NeedDoc};
use model::format::{amount, fixed};

use super::super::grid::{Align, Cell, Grid, ranges};
use super::super::{Look, Tone};
use super::cells;

/// In a cell of which nothing is known.
const NOTHING: &str = "-";

/// A column: its head, and the cell of each row.
type Column = (String, Vec<Option<String>>);

/// A table without the columns in which no row has anything.
fn grid(head: &str, names: &[String], columns: Vec<Column>, look: Look) -> String {
    let columns: Vec<Column> =
        columns.into_iter().filter(|(_, cells)| cells.iter().any(Option::is_some)).collect();
    let mut heads = vec![(head, Align::Left)];
    heads.extend(columns.iter().map(|(head, _)| (head.as_str(), Align::Right)));
    let mut grid = Grid::new(&heads);
    for (row, name) in names.iter().enumerate() {
        let cell = |(_, cells): &Column| {
            let text = cells.get(row).and_then(Option::as_deref).unwrap_or(NOTHING);
            Cell::from(text)
        };
        let tone = if row == 0 { Tone::Bold } else { Tone::Plain };
        let first = Cell::tone(name.clone(), tone);
        grid.row(std::iter::once(first).chain(columns.iter().map(cell)).collect());
    }
    grid.render(look.columns, look.paint)
}

/// The mark in front of a candidate's name: those in one bracket cannot be told apart by cost.
pub fn bracket(all: &[CandidateDoc], at: usize) -> &'static str {
    let tie = |at: usize| all.get(at).and_then(|one| one.tie);
    let Some(own) = tie(at) else { return " " };
    let before = at.checked_sub(1).and_then(tie) == Some(own);
    let after = tie(at + 1) == Some(own);
    match (before, after) {
        (false, false) => " ",
        (false, true) => "┌",
        (true, true) => "│",
        (true, false) => "└",
    }
}

/// The candidates, cheapest first; the first `most` of them.
pub fn candidates(doc: &DecideDoc, most: usize, look: Look) -> String {
    let all: Vec<&CandidateDoc> = doc.candidates.iter().take(most).collect();
    let has_ties = (0..all.len()).any(|at| bracket(&doc.candidates, at) != " ");
    let names: Vec<String> = all
        .iter()
        .enumerate()
        .map(|(at, one)| {
            let mark = if has_ties { format!("{} ", bracket(&doc.candidates, at)) } else { String::new() };
            format!("{mark}{}{}", one.name, if one.published { " *" } else { "" })
        })
        .collect();
    let column = |head: &str, cell: &dyn Fn(&CandidateDoc) -> Option<String>| {
        (head.to_owned(), all.iter().map(|one| cell(one)).collect::<Vec<_>>())
    };
    let several = doc.candidates.len() > 1;
    let columns = vec![
        column("boxes", &|one| Some(cells::boxes(&one.boxes))),
        column(&format!("{} {}", cells::currency(doc), cells::life(doc)), &|one| {
            one.cost.as_ref().map(|cost| cells::money(cost.life))
        }),
        column("a month", &|one| one.cost.as_ref().map(|cost| cells::money(cost.per_month))),
        column("W", &|one| one.total_watts.map(cells::plain)),
        column("U", &|one| one.total_rack_units.map(cells::plain)),
        column("cheapest", &|one| one.cheapest.filter(|_| several).map(cells::probability)),
    ];
    grid("", &names, columns, look)
}

/// The capacity of one box of each candidate for a need.
pub fn capacities(need: &NeedDoc, at: usize, doc: &DecideDoc, most: usize, look: Look) -> String {
    let all: Vec<&CandidateDoc> = doc.candidates.iter().take(most).collect();
    let of = |one: &CandidateDoc| one.capacities.get(at).cloned();
    let names: Vec<String> = all
        .iter()
        .map(|one| {
            let doubt =
                of(one).is_some_and(|own| matches!(own.validity, Validity::Doubtful | Validity::Invalid));
            format!("{}{}{}", one.name, if one.published { " *" } else { "" }, if doubt { " !" } else { "" })
        })
        .collect();
    let pairs: Vec<_> = all.iter().map(|one| of(one).as_ref().and_then(cells::interval)).collect();
    let intervals = ranges(&pairs).into_iter().map(|text| Some(text).filter(|text| !text.is_empty()));
    let column = |head: &str, cell: &dyn Fn(&CandidateDoc) -> Option<String>| {
        (head.to_owned(), all.iter().map(|one| cell(one)).collect::<Vec<_>>())
    };
    let currency = cells::currency(doc);
    let worth = |one: &CandidateDoc| of(one)?.per_price.map(|value| cells::worth(value, need.unit));
    let bulk = cells::bulk(at, doc);
    let columns = vec![
        column("a box", &|one| of(one).as_ref().map(cells::capacity)),
        ("95 % interval".to_owned(), intervals.collect()),
        column(&cells::bulk_head(&bulk, doc), &|one| {
            one.per_million.get(at).copied().flatten().map(|cost| bulk.text(cost))
        }),
        column(cells::joules_head(need.unit), &|one| {
            one.joules.get(at).copied().flatten().map(|each| cells::joules(each, need.unit))
        }),
        column(&format!("per {currency}"), &|one| worth(one).filter(|_| !one.rented)),
        column(&format!("per {currency}/h"), &|one| worth(one).filter(|_| one.rented)),
        column("per W", &|one| of(one)?.per_watt.map(|value| cells::worth(value, need.unit))),
    ];
    grid(&need.text, &names, columns, look)
}

/// The boxes that one amount of money buys of each candidate; nothing where none was asked for.
pub fn bought(list: &[BoughtDoc], doc: &DecideDoc, most: usize, look: Look) -> String {
    let Some(first) = list.first() else { return String::new() };
    let all: Vec<&BoughtDoc> = list.iter().take(most).collect();
    let names: Vec<String> = all.iter().map(|one| one.candidate.clone()).collect();
    let mut columns: Vec<Column> =
        vec![("boxes".to_owned(), all.iter().map(|one| Some(fixed(one.boxes as f64, 0))).collect())];
    for (at, need) in doc.needs.iter().enumerate() {
        let does = |one: &&BoughtDoc| {
            let own = one.does.get(at)?.as_ref()?;
            own.value.map(|value| amount(value, need.unit))
        };
        columns.push((need.name.clone(), all.iter().map(does).collect()));
    }
    let enough = |one: &&BoughtDoc| Some(if one.is_enough { "yes" } else { "no" }.to_owned());
    columns.push(("enough".to_owned(), all.iter().map(enough).collect()));
    grid(&format!("{} buys", cells::money_in(first.amount, doc)), &names, columns, look)
}
