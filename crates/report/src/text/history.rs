//! The runs of a store as a table, one line each. Times are UTC.
//!
//! What is the same in every row is said once, above. A narrow terminal gets shorter names and fewer columns: no figure
//! loses its unit, and what was measured stays.

use std::collections::BTreeMap;

use model::data::Status;
use model::doc::{CutDoc, HistoryDoc, HistoryRow};
use model::fake::PLANTED;
use model::format;
use model::older::{self, Older};

use super::grid::{Align, Cell, Grid};
use super::{Tone, cut, date_time, hang, width};

/// The least of an identifier that is shown where there is little room; else as much as elsewhere.
const LEAST: usize = 8;
/// Runs of an older definition that are named.
const OLDER: usize = 3;

/// How much of a row is shown.
struct Room {
    gap: usize,
    machine: usize,
    /// Of what was measured, at least.
    what: usize,
    /// True where takes are counted, dates have their year and addresses their scheme.
    whole: bool,
    /// Of the labels, at least.
    label: usize,
}

impl Room {
    const fn new(gap: usize, machine: usize, what: usize, label: usize) -> Room {
        Room { gap, machine, what, whole: true, label }
    }

    const fn brief(machine: usize, what: usize, label: usize) -> Room {
        Room { whole: false, ..Room::new(1, machine, what, label) }
    }
}

/// From the widest on.
const ROOMS: [Room; 9] = [
    Room::new(2, 40, 60, 40),
    Room::new(2, 16, 40, 24),
    Room::new(1, 16, 40, 24),
    Room::brief(9, 40, 16),
    Room::brief(9, 30, 12),
    Room::brief(9, 20, 12),
    Room::brief(0, 20, 8),
    Room::brief(0, 12, 8),
    Room::brief(0, 0, 8),
];

/// The columns that several runs may share.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    Machine,
    What,
    Status,
    Takes,
    Label,
}

/// The runs, in the document's order. What all of them share stands above them once.
pub fn table(doc: &HistoryDoc, columns: usize) -> String {
    if doc.runs.is_empty() {
        return "no runs yet: `boxscore run --quick` makes one\n".to_owned();
    }
    let shared = shared(&doc.runs);
    let longest = |of: &dyn Fn(&HistoryRow) -> usize| doc.runs.iter().map(of).max().unwrap_or(0);
    let whole_what = longest(&|run| width(&run.what));
    let whole_label = longest(&|run| run.label.as_deref().map_or(0, width));
    let mut last = Grid::default();
    for room in &ROOMS {
        let (what, label) = (whole_what.min(room.what), whole_label.min(room.label));
        last = grid(doc, room, &shared, (what, label));
        if let Some(left) = columns.checked_sub(last.width()) {
            // What is left goes to the words, then to the labels.
            let more = if room.what == 0 { 0 } else { left.min(whole_what - what) };
            last = grid(doc, room, &shared, (what + more, label + left - more));
            break;
        }
    }
    let head = match shared.is_empty() {
        true => String::new(),
        false => {
            let words: Vec<&str> = shared.iter().map(|(_, text)| text.as_str()).collect();
            hang("each: ", &words.join(" · "), columns)
        }
    };
    let rows = last.render(usize::MAX, false);
    let rows = rows.lines().map(|line| format!("{}\n", cut(line, columns).trim_end()));
    let planted = doc.runs.iter().any(|run| run.planted);
    let meaning = if planted { hang("", PLANTED, columns) } else { String::new() };
    format!("{head}{}{meaning}", rows.collect::<String>())
}

/// The instruments that runs of the list measured by an older definition than that of today, with the runs.
pub fn older(doc: &HistoryDoc) -> Vec<String> {
    let digits = distinct(&doc.runs).max(LEAST);
    let mut all: BTreeMap<&Older, Vec<String>> = BTreeMap::new();
    for run in &doc.runs {
        let name = run.run.get(..digits).unwrap_or(&run.run);
        run.older.iter().for_each(|one| all.entry(one).or_default().push(name.to_owned()));
    }
    let line = |(older, runs): (&Older, Vec<String>)| {
        let (named, rest) = runs.split_at(runs.len().min(OLDER));
        let rest = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
        format!("definition: {older}, of {}{rest}: {}", named.join(", "), older::OF_RUN)
    };
    all.into_iter().map(line).collect()
}

/// The columns that are the same in every row, where there are several, with what they say.
fn shared(runs: &[HistoryRow]) -> Vec<(Column, String)> {
    let [first, rest @ ..] = runs else { return Vec::new() };
    if rest.is_empty() {
        return Vec::new();
    }
    let takes =
        |run: &HistoryRow| model::format::count(usize::try_from(run.takes).unwrap_or(usize::MAX), "take");
    let texts = |run: &HistoryRow| {
        [
            (Column::Machine, run.machine.clone()),
            (Column::What, run.what.clone()),
            (Column::Status, status(run, true)),
            (Column::Takes, takes(run)),
            (Column::Label, run.label.clone().map(|label| format!("label {label}")).unwrap_or_default()),
        ]
    };
    let all: Vec<_> = rest.iter().map(texts).collect();
    let same = |at: usize, text: &str| all.iter().all(|texts| texts[at].1 == text);
    let of_first = texts(first).into_iter().enumerate();
    of_first.filter(|(at, (_, text))| !text.is_empty() && same(*at, text)).map(|(_, shared)| shared).collect()
}

/// The label stands last and takes what is left.
fn grid(doc: &HistoryDoc, room: &Room, shared: &[(Column, String)], (what, label): (usize, usize)) -> Grid {
    let digits = distinct(&doc.runs).max(if room.whole { model::id::SHORT } else { LEAST });
    let has = |column: Column| !shared.iter().any(|(known, _)| *known == column);
    let labelled = has(Column::Label) && doc.runs.iter().any(|run| run.label.is_some());
    let machine = has(Column::Machine) && room.machine > 0;
    let whats = has(Column::What) && room.what > 0 && doc.runs.iter().any(|run| !run.what.is_empty());
    let mut heads = vec![("run", Align::Left), ("started (UTC)", Align::Left)];
    heads.extend(machine.then_some(("machine", Align::Left)));
    heads.extend(whats.then_some(("what", Align::Left)));
    heads.extend(has(Column::Status).then_some(("status", Align::Left)));
    let takes = has(Column::Takes) && room.whole;
    heads.extend(takes.then_some(("takes", Align::Right)));
    heads.push(("took", Align::Right));
    heads.extend(labelled.then_some(("label", Align::Left)));
    let mut grid = Grid::new(&heads).gap(room.gap);
    let newest = doc.runs.iter().map(|run| run.started).fold(0.0, f64::max);
    for run in &doc.runs {
        let whole = run.status == Status::Complete && run.cut.is_none() && !run.hidden && !run.planted;
        let mut cells: Vec<Cell> =
            vec![run.run.get(..digits).unwrap_or(&run.run).into(), started(run, room, newest).into()];
        cells.extend(machine.then(|| Cell::from(cut(&run.machine, room.machine))));
        let words = run.what.strip_prefix("http://").filter(|_| !room.whole).unwrap_or(&run.what);
        cells.extend(whats.then(|| Cell::from(cut(words, what.max(4)))));
        let tone = if whole { Tone::Plain } else { Tone::Warn };
        cells.extend(has(Column::Status).then(|| Cell::tone(status(run, room.whole), tone)));
        cells.extend(takes.then(|| Cell::from(run.takes.to_string())));
        cells.push(run.seconds.map_or("-".to_owned(), format::rounded_duration).into());
        cells.extend(labelled.then(|| Cell::from(cut(run.label.as_deref().unwrap_or(""), label))));
        grid.row(cells);
    }
    grid
}

/// Date and time; without the year where it is that of the newest run, without the time where it is another one.
fn started(run: &HistoryRow, room: &Room, newest: f64) -> String {
    let whole = date_time(run.started);
    let is_same_year = whole.get(..4) == date_time(newest).get(..4);
    match (room.whole, is_same_year) {
        (true, _) => whole,
        (false, true) => whole.get(5..).unwrap_or(&whole).to_owned(),
        (false, false) => whole.get(..10).unwrap_or(&whole).to_owned(),
    }
}

/// The state of a run; `faults`: with the number of faulted takes.
fn status(run: &HistoryRow, faults: bool) -> String {
    let state = state(run, faults);
    let marks = [run.hidden.then_some(", hidden"), run.planted.then_some(", planted")];
    format!("{state}{}", marks.into_iter().flatten().collect::<String>())
}

/// `2 faulted`, `cut at 3.0 of 10 s`.
fn state(run: &HistoryRow, counts_faults: bool) -> String {
    // A run of which nothing was measured has nothing that was cut.
    let known = |short: &&CutDoc| short.lasted.is_some() || short.requests.is_some() || short.steps.is_some();
    let Some(short) = run.cut.as_ref().filter(known) else {
        return match (run.faults, run.status) {
            (0, status) => status.word().to_owned(),
            (faults, Status::Faulty) => format!("{faults} faulted"),
            (faults, status) if counts_faults => format!("{}, {faults} faulted", status.word()),
            (_, status) => status.word().to_owned(),
        };
    };
    if let Some(steps) = short.steps {
        return format!("cut at step {steps}");
    }
    let at = short.lasted.map_or_else(|| "a moment not told".to_owned(), format::duration);
    match (short.asked, short.requests.zip(short.requests_asked)) {
        // Asked for in whole seconds.
        (Some(asked), _) if asked < 60.0 => format!("cut at {at} of {asked} s"),
        (Some(asked), _) => format!("cut at {at} of {}", format::duration(asked)),
        (None, Some((sent, asked))) => {
            let count = |n: u64| format::number(n as f64);
            format!("cut at request {} of {}", count(sent), count(asked))
        }
        (None, None) => format!("cut at {at}"),
    }
}

/// How many characters tell all runs apart.
fn distinct(runs: &[HistoryRow]) -> usize {
    let mut ids: Vec<&str> = runs.iter().map(|run| run.run.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    let shared = |pair: &[&str]| pair[0].bytes().zip(pair[1].bytes()).take_while(|(a, b)| a == b).count();
    ids.windows(2).map(shared).max().map_or(LEAST, |most| (most + 1).max(LEAST))
}

#[cfg(test)]
mod tests {
    use model::doc::CutDoc;

    use super::*;

    fn run(id: &str, status: Status, label: Option<&str>) -> HistoryRow {
        HistoryRow {
            run: format!("01a2{id}1409ff67981"),
            study: "s".to_owned(),
            label: label.map(str::to_owned),
            machine: "ip-10-0-0-12.eu-central-1.compute.internal".to_owned(),
            status,
            started: 1_795_242_060.0,
            seconds: Some(612.0),
            level: "default".to_owned(),
            instruments: Vec::new(),
            what: "default".to_owned(),
            subjects: Vec::new(),
            hidden: false,
            planted: false,
            takes: 12_000,
            faults: 0,
            cut: None,
            older: Vec::new(),
        }
    }

    fn shown(runs: Vec<HistoryRow>, columns: usize) -> String {
        let text = table(&HistoryDoc { schema: String::new(), runs }, columns);
        assert!(text.lines().all(|line| width(line) <= columns), "{text}");
        text
    }

    #[test]
    fn runs_of_an_older_definition_are_named() {
        let older = |definition| Older { instrument: "web".to_owned(), definition, today: 3 };
        let of = |id: &str, definition| HistoryRow {
            older: vec![older(definition)],
            ..run(id, Status::Complete, None)
        };
        let runs = vec![
            of("a", 2),
            of("b", 2),
            of("c", 2),
            of("d", 2),
            of("e", 1),
            run("f", Status::Complete, None),
        ];
        let lines = super::older(&HistoryDoc { schema: String::new(), runs });
        let says = "definition: web 2 (today 3), of 01a2a140, 01a2b140, 01a2c140 and 1 more: not compared with new runs";
        assert_eq!((lines.len(), lines[1].as_str()), (2, says));
    }

    #[test]
    fn no_width_cuts_a_unit_off() {
        let faulty = HistoryRow { faults: 118, ..run("b", Status::Interrupted, None) };
        for columns in [80, 100, 120] {
            for label in [None, Some("after the BIOS update of November, second try")] {
                let text = shown(vec![faulty.clone(), run("a", Status::Complete, label)], columns);
                assert_eq!(text.matches("10 min 12 s").count(), 2, "{columns}:\n{text}");
                assert_eq!(text.contains("after the"), label.is_some(), "{columns}:\n{text}");
            }
        }
    }

    #[test]
    fn a_load_that_was_cut_short_says_so() {
        let short = |asked, requests| CutDoc {
            lasted: Some(3.004),
            asked,
            requests: Some(1200).filter(|_| requests),
            requests_asked: Some(5000).filter(|_| requests),
            ..CutDoc::default()
        };
        let cut = |short| HistoryRow { cut: Some(short), ..run("b", Status::Complete, None) };
        assert!(shown(vec![cut(short(Some(10.0), false))], 80).contains("cut at 3.00 s of 10 s"));
        assert!(shown(vec![cut(short(None, true))], 80).contains("cut at request 1,200 of 5,000"));
    }

    #[test]
    fn what_all_share_is_said_once_and_what_was_measured_stays() {
        let load = |id: &str, path: &str| HistoryRow {
            what: format!("http://127.0.0.1:8088/{path}, 50 connections, 10 s"),
            label: Some(format!("after-the-update-{id}")),
            machine: "vm".to_owned(),
            takes: 1,
            ..run(id, Status::Complete, None)
        };
        let text = shown(vec![load("a", "a.html"), load("b", "b.html")], 80);
        assert!(text.starts_with("each: vm · complete · 1 take\n"), "{text}");
        assert!(text.contains("127.0.0.1:8088/a.html") && text.contains("8088/b.html"), "{text}");
        assert!(text.contains("after-the-u"), "{text}");
        assert!(!text.contains("machine") && !text.contains("takes"), "{text}");
        let planted = HistoryRow { planted: true, ..load("d", "d.html") };
        let text = shown(vec![load("a", "a.html"), planted], 80);
        assert!(text.contains("complete, planted"), "{text}");
        assert!(text.ends_with("planted by --fake: no measurement\n"), "{text}");
        let hidden = HistoryRow { hidden: true, ..load("c", "c.html") };
        let text = shown(vec![load("a", "a.html"), hidden], 80);
        assert!(text.contains("complete, hidden") && text.contains("127.0.0.1:8088/a."), "{text}");
    }
}
