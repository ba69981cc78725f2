//! The screen of a decision: the answer, the candidates, what one box does, what is left out, and what would change it.

pub mod cells;
pub mod tables;

use model::doc::{BoughtDoc, CandidateDoc, CapacityDoc, DecideDoc, SettleDoc};
use model::shell::placed;

use super::fit::{Part, Rank, Screen};
use super::notes::marked;
use super::{Look, Tone, answer, hang};

/// Rows of a table, and lines of a list, on a screen on which not all was asked for.
const FEW: usize = 6;
const FEWER: usize = 3;

/// The whole screen. `tail` stands below: the path of the page.
pub fn screen(doc: &DecideDoc, tail: &str, look: Look) -> String {
    let mut screen = Screen::default();
    screen.add(answer::first(Some(&doc.answer), look));
    screen.add(cautions(doc, look));
    screen.add(paragraph(doc, look));
    screen.add(candidates(doc, look));
    screen.add(capacities(doc, look));
    screen.add(excluded(doc, look));
    screen.add(changes(doc, look));
    screen.add(settle(doc, look));
    screen.add(equal_price(doc, look));
    screen.add(inputs(doc, look));
    screen.add(notes(doc, look));
    screen.tell_here();
    screen.add(tail.to_owned());
    let sentence = doc.answer.sentence.clone();
    screen.fit(look, "the same command with --all", |text| answer::last(text, Some(&sentence), look))
}

/// The cautions: none of them is left out.
fn cautions(doc: &DecideDoc, look: Look) -> String {
    let line = |text: &String| marked("!", Tone::Warn, text, look);
    let all: String = doc.cautions.iter().map(line).collect();
    if all.is_empty() { all } else { format!("{all}\n") }
}

fn paragraph(doc: &DecideDoc, look: Look) -> Part {
    let of = |most: usize| {
        let said = doc.paragraph.iter().take(most).map(|text| format!("{}.", cells::sentence(text, doc)));
        let text = said.collect::<Vec<_>>().join(" ");
        if text.is_empty() { text } else { format!("{}\n", hang("", &text, look.columns)) }
    };
    Part::new(of(usize::MAX)).or(Rank::Sentence, "sentences", of(FEWER)).or(
        Rank::Sentence,
        "sentences",
        of(1),
    )
}

fn candidates(doc: &DecideDoc, look: Look) -> Part {
    if doc.candidates.is_empty() {
        return Part::default();
    }
    let racks = |most: usize| {
        let one = |one: &CandidateDoc| cells::housing(one).map(|all| format!("{} {all}", one.name));
        let all: Vec<String> = doc.candidates.iter().take(most).filter_map(one).collect();
        if all.is_empty() { String::new() } else { hang("racks   ", &all.join("; "), look.columns) }
    };
    let mixed = doc.mixed.as_ref().map(|mixed| hang("mixed   ", &cells::mixed(mixed, doc), look.columns));
    let mixed = mixed.unwrap_or_default();
    let of =
        |rows: usize, most: usize| format!("{}{mixed}{}\n", tables::candidates(doc, rows, look), racks(most));
    Part::new(of(usize::MAX, usize::MAX))
        .or(Rank::Evidence, "racks", of(usize::MAX, FEWER))
        .or(Rank::Figure, "candidates", of(FEW, FEWER))
        .or(Rank::Figure, "candidates", of(FEW, 0))
        .or(Rank::Figure, "candidates", of(FEWER, 0))
        .or(Rank::Sentence, "candidates", of(1, 0))
}

fn capacities(doc: &DecideDoc, look: Look) -> Part {
    if doc.candidates.is_empty() {
        return Part::default();
    }
    let of = |needs: usize, rows: usize, legend: &str| {
        let one = |(at, need)| tables::capacities(need, at, doc, rows, look);
        let tables: Vec<String> = doc.needs.iter().enumerate().take(needs).map(one).collect();
        format!("{}{legend}\n", tables.concat())
    };
    let marks = marks(doc);
    let hung = |parts: &[String]| match parts {
        [] => String::new(),
        parts => hang("", &parts.join("; "), look.columns),
    };
    // A mark in the table is never without its reason.
    let (all, short) = (usize::MAX, hung(&marks));
    Part::new(of(all, all, &hung(&[marks, legend(doc)].concat())))
        .or(Rank::Hint, "", of(all, all, &short))
        .or(Rank::Shape, "what a box does", of(all, FEW, &short))
        .or(Rank::Shape, "what a box does", of(all, FEWER, &short))
        .or(Rank::Figure, "what a box does", of(FEWER, FEWER, &short))
        .or(Rank::Figure, "what a box does", of(2, 2, &short))
        .or(Rank::Figure, "what a box does", of(1, 1, &short))
}

/// The reason for the mark of doubt.
fn marks(doc: &DecideDoc) -> Vec<String> {
    let mut rules: Vec<&str> = (doc.candidates.iter().flat_map(|one| &one.capacities))
        .flat_map(|own| own.doubted_by.iter().map(String::as_str))
        .collect();
    rules.sort();
    rules.dedup();
    if !rules.is_empty() {
        vec![format!("!: doubtful, and used by --accept {}", rules.join(", "))]
    } else if doc.candidates.iter().any(cells::is_doubtful) {
        vec!["!: in doubt; the notes say why".to_owned()]
    } else {
        Vec::new()
    }
}

/// The columns that are not plain, as far as they are there.
fn legend(doc: &DecideDoc) -> Vec<String> {
    let any = |has: &dyn Fn(&CandidateDoc) -> bool| doc.candidates.iter().any(has);
    let currency = cells::currency(doc);
    let mut parts = Vec::new();
    if any(&|one| one.per_million.iter().any(Option::is_some)) {
        let has_cost = |at: &usize| any(&|one| one.per_million.get(*at).is_some_and(Option::is_some));
        let mut heads: Vec<String> = (0..doc.needs.len())
            .filter(has_cost)
            .map(|at| {
                let bulk = cells::bulk(at, doc);
                format!("{}: the cost of {} of them", cells::bulk_head(&bulk, doc), bulk.words)
            })
            .collect();
        heads.dedup();
        parts.extend(heads);
    }
    if any(&|one| one.joules.iter().any(Option::is_some)) {
        parts.push("J: joules of one of its work, at its load".to_owned());
    }
    let has = |worth: fn(&CapacityDoc) -> Option<f64>, rented: Option<bool>| {
        let is = |one: &CandidateDoc| rented.is_none_or(|rented| one.rented == rented);
        any(&|one| is(one) && one.capacities.iter().any(|own| worth(own).is_some()))
    };
    let by = [
        (has(|own| own.per_price, Some(false)), format!("per {currency}"), "price"),
        (has(|own| own.per_price, Some(true)), format!("per {currency}/h"), "rent of an hour"),
        (has(|own| own.per_watt, None), "per W".to_owned(), "watts"),
    ];
    parts.extend(
        by.into_iter()
            .filter(|(is, ..)| *is)
            .map(|(_, head, by)| format!("{head}: what a full box does, by its {by}")),
    );
    parts
}

fn excluded(doc: &DecideDoc, look: Look) -> Part {
    let of = |most: usize| {
        let mut out = String::new();
        for one in doc.excluded.iter().take(most) {
            let need = one.need.as_ref().map_or_else(String::new, |need| format!(", {need}"));
            let command = one.command.as_ref().map_or_else(String::new, |command| {
                format!(": {} measures it", placed(one.on.as_deref(), command))
            });
            let text = format!("{}{need}: {}{command}", one.name, one.why);
            out.push_str(&marked("x", Tone::Bad, &text, look));
        }
        match doc.excluded.len().saturating_sub(most) {
            0 => {}
            more => out.push_str(&marked("x", Tone::Bad, &format!("{more} more are left out"), look)),
        }
        out
    };
    Part::new(of(usize::MAX)).or(Rank::Doubt, "what is left out", of(FEWER)).or(
        Rank::Doubt,
        "what is left out",
        of(1),
    )
}

fn changes(doc: &DecideDoc, look: Look) -> Part {
    let moving = cells::moving(doc);
    let of = |most: usize| {
        let mut out = String::new();
        for (at, swing) in moving.iter().take(most).enumerate() {
            let value = cells::swing(swing, doc);
            // The first line says what the numbers of the others are.
            let says = match (at, cells::second(doc)) {
                (0, Some(second)) => format!("{} costs {value} times as much", second.name),
                (0, None) => format!("{value} {}", cells::currency(doc)),
                (_, Some(_)) => format!("{value} times"),
                (_, None) => value,
            };
            let range = cells::ends(&swing.low, &swing.high);
            let text = format!("{} {range}: {says}, {}", swing.input, cells::best(swing, doc));
            out.push_str(&hang(if at == 0 { "change  " } else { "        " }, &text, look.columns));
        }
        if let Some(still) = cells::still(doc).filter(|_| look.all || moving.is_empty()) {
            out.push_str(&hang(
                if moving.is_empty() { "change  " } else { "        " },
                &still,
                look.columns,
            ));
        }
        for (at, even) in doc.break_even.iter().take(most).enumerate() {
            let text = cells::break_even(even);
            out.push_str(&hang(if at == 0 { "beyond  " } else { "        " }, &text, look.columns));
        }
        out
    };
    Part::new(of(usize::MAX))
        .or(Rank::Shape, "what would change it", of(FEW))
        .or(Rank::Reason, "what would change it", of(FEWER))
        .or(Rank::Reason, "what would change it", of(1))
}

fn settle(doc: &DecideDoc, look: Look) -> Part {
    let of = |most: usize| {
        let line = |one: &SettleDoc| {
            let command = placed(one.on.as_deref(), &one.command);
            let text = format!("{}: {command}; {}", cells::effort(one), one.why);
            hang("settle  ", &text, look.columns)
        };
        doc.settle.iter().take(most).map(line).collect::<String>()
    };
    Part::new(of(usize::MAX)).or(Rank::Reason, "what would settle it", of(1))
}

fn equal_price(doc: &DecideDoc, look: Look) -> Part {
    let of = |rows: usize| {
        let table = |list: &[BoughtDoc]| tables::bought(list, doc, rows, look);
        let tables = [table(&doc.equal_price), table(&doc.budget)].concat();
        if tables.is_empty() { tables } else { format!("\n{tables}\n") }
    };
    Part::new(of(usize::MAX))
        .or(Rank::Shape, "equal price", of(FEW))
        .or(Rank::Figure, "equal price", of(FEWER))
        .or(Rank::Sentence, "equal price", of(1))
}

/// The inputs that the answer rests on, with their provenance.
fn inputs(doc: &DecideDoc, look: Look) -> Part {
    let own = doc.inputs.iter().map(|input| format!("{} {}", input.name, cells::input(input)));
    let of_boxes = doc.candidates.iter().flat_map(|one| {
        let inputs = [
            ("price", &one.price),
            ("watts", &one.watts),
            ("rack units", &one.rack_units),
            ("utilisation", &one.utilisation),
        ];
        inputs.into_iter().filter_map(|(what, input)| {
            Some(format!("{what} of {} {}", one.name, cells::input(input.as_ref()?)))
        })
    });
    let demands = doc.needs.iter();
    let demands =
        demands.map(|need| format!("demand of {} {} ({})", need.name, cells::demand(need), need.from));
    let scaling = cells::scaling(doc).map(|scaling| format!("scaling {scaling}"));
    let short: Vec<String> = demands.chain(own).chain(scaling).collect();
    let sheets =
        doc.candidates.iter().filter_map(|one| Some(format!("{} is {}", one.name, one.sheet.as_ref()?)));
    let all: Vec<String> = short.iter().cloned().chain(of_boxes).chain(sheets).collect();
    let of = |texts: &[String]| match texts {
        [] => String::new(),
        texts => hang("inputs  ", &texts.join("; "), look.columns),
    };
    Part::new(of(&all)).or(Rank::Evidence, "prices and watts", of(&short)).or(Rank::Evidence, "inputs", "")
}

fn notes(doc: &DecideDoc, look: Look) -> Part {
    let of = |most: usize| {
        let line = |text: &String| marked("-", Tone::Dim, text, look);
        doc.notes.iter().take(most).map(line).collect::<String>()
    };
    Part::new(of(usize::MAX)).or(Rank::Evidence, "notes", of(FEW)).or(Rank::Doubt, "notes", of(FEWER)).or(
        Rank::Doubt,
        "notes",
        of(1),
    )
}
