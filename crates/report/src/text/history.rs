//! The runs of a store as a table, one line each. Times are UTC.
//!
//! A narrow terminal gets shorter names and fewer columns: no figure loses its unit.

use model::data::Status;
use model::doc::{CutDoc, HistoryDoc, HistoryRow};
use model::format;

use super::grid::{Align, Cell, Grid};
use super::{Tone, cut, date_time, width};

/// The least of an identifier that is shown.
const LEAST: usize = 8;

/// How much of a row is shown.
struct Room {
    gap: usize,
    machine: usize,
    /// Of what was run, at most.
    what: usize,
    /// True where the status counts faulted takes.
    faults: bool,
    /// Of the labels, at least.
    label: usize,
}

/// From the widest on.
const ROOMS: [Room; 7] = [
    Room { gap: 2, machine: 40, what: 30, faults: true, label: 24 },
    Room { gap: 2, machine: 16, what: 20, faults: true, label: 24 },
    Room { gap: 1, machine: 16, what: 20, faults: true, label: 24 },
    Room { gap: 1, machine: 16, what: 12, faults: true, label: 12 },
    Room { gap: 1, machine: 16, what: 0, faults: true, label: 12 },
    Room { gap: 1, machine: 9, what: 0, faults: true, label: 12 },
    Room { gap: 1, machine: 9, what: 0, faults: false, label: 8 },
];

/// The runs, in the document's order.
pub fn table(doc: &HistoryDoc, columns: usize) -> String {
    if doc.runs.is_empty() {
        return "no runs yet: `boxscore run --quick` makes one\n".to_owned();
    }
    let longest = doc.runs.iter().filter_map(|run| run.label.as_deref()).map(width).max().unwrap_or(0);
    let mut last = Grid::default();
    for room in &ROOMS {
        let label = longest.min(room.label);
        last = grid(doc, room, label);
        if let Some(left) = columns.checked_sub(last.width()) {
            last = grid(doc, room, label + left);
            break;
        }
    }
    last.render(usize::MAX, false)
        .lines()
        .map(|line| format!("{}\n", cut(line, columns).trim_end()))
        .collect()
}

/// The label stands last and takes what is left.
fn grid(doc: &HistoryDoc, room: &Room, label: usize) -> Grid {
    let digits = distinct(&doc.runs);
    let labelled = doc.runs.iter().any(|run| run.label.is_some());
    let mut heads = vec![("run", Align::Left), ("started (UTC)", Align::Left), ("machine", Align::Left)];
    heads.extend((room.what > 0).then_some(("what", Align::Left)));
    heads.extend([("status", Align::Left), ("takes", Align::Right), ("took", Align::Right)]);
    heads.extend(labelled.then_some(("label", Align::Left)));
    let mut grid = Grid::new(&heads).gap(room.gap);
    for run in &doc.runs {
        let whole = run.status == Status::Complete && run.cut.is_none();
        let mut cells: Vec<Cell> = vec![
            run.run.get(..digits).unwrap_or(&run.run).into(),
            date_time(run.started).into(),
            cut(&run.machine, room.machine).into(),
        ];
        cells.extend((room.what > 0).then(|| Cell::from(cut(&what(run), room.what))));
        cells.push(Cell::tone(status(run, room), if whole { Tone::Plain } else { Tone::Warn }));
        cells.push(run.takes.to_string().into());
        cells.push(run.seconds.map_or("-".to_owned(), format::duration).into());
        if labelled {
            cells.push(cut(run.label.as_deref().unwrap_or(""), label).into());
        }
        grid.row(cells);
    }
    grid
}

/// The level of a run that has one, else what the user named.
fn what(run: &HistoryRow) -> String {
    if run.level == "named" && !run.instruments.is_empty() {
        return run.instruments.join(", ");
    }
    run.level.clone()
}

/// `2 faulted`, `cut at 3.0 of 10 s`.
fn status(run: &HistoryRow, room: &Room) -> String {
    // A run of which nothing was measured has nothing that was cut.
    let known = |short: &&CutDoc| short.lasted.is_some() || short.requests.is_some();
    let Some(short) = run.cut.as_ref().filter(known) else {
        return match (run.faults, run.status) {
            (0, status) => status.word().to_owned(),
            (faults, Status::Faulty) => format!("{faults} faulted"),
            (faults, status) if room.faults => format!("{}, {faults} faulted", status.word()),
            (_, status) => status.word().to_owned(),
        };
    };
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
            takes: 12_000,
            faults: 0,
            cut: None,
        }
    }

    fn shown(runs: Vec<HistoryRow>, columns: usize) -> String {
        let text = table(&HistoryDoc { schema: String::new(), runs }, columns);
        assert!(text.lines().all(|line| width(line) <= columns), "{text}");
        text
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
        };
        let cut = |short| HistoryRow { cut: Some(short), ..run("b", Status::Complete, None) };
        assert!(shown(vec![cut(short(Some(10.0), false))], 80).contains("cut at 3.00 s of 10 s"));
        assert!(shown(vec![cut(short(None, true))], 80).contains("cut at request 1,200 of 5,000"));
    }
}
