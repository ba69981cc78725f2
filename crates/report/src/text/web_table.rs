//! Loads on web servers as tables of sweeps: a line a load, then the peak, the knee and what binds, in a sentence each.
//!
//! Rates are good answers per second, times from when a request was due to the end of its answer. `>=` stands before
//! figures that the load generator set. Runs of few loads have rows in the box score instead.

use model::doc::{BottleneckDoc, CurveDoc, CurvePointDoc, RunDoc, SeriesDoc};
use model::format::{self, Kind, Scale};
use model::metrics::load;
use model::unit::Unit;
use model::{Params, Validity};

use super::fit::{Part, Rank};
use super::grid::{Align, Cell, Grid, ranges};
use super::{Look, Tone, ceilings, hang, missing, notes, reason, units, width};
use crate::web_loads::{Load, Sweep, are_tabled, curves, sweeps};

/// Columns of times, and the metrics in them; `CPU/req` is the server's.
const TIMES: [(&str, &str); 4] = [
    ("mean", load::RESPONSE_MEAN.name()),
    ("p50", load::RESPONSE.name()),
    ("p99", load::RESPONSE_P99.name()),
    ("CPU/req", load::SERVER_CPU.name()),
];
/// Sweeps beyond these are in the report.
const MOST: usize = 8;

/// The tables of a run's sweeps; nothing where its loads are rows. Where there is no room, sweeps lose the loads
/// between their ends and their peak, the last ones first, and then are a line each.
pub fn screen(run: &RunDoc, look: Look) -> Part {
    if !are_tabled(run) {
        return Part::default();
    }
    let all = sweeps(run);
    let drawn: Vec<[String; 3]> = all
        .iter()
        .take(MOST)
        .map(|sweep| {
            [block(run, sweep, true, look), block(run, sweep, false, look), one_line(run, sweep, look)]
        })
        .collect();
    let mut end = String::new();
    if all.len() > MOST {
        end.push_str(&format!("\nand {} more sweeps: see the report\n", all.len() - MOST));
    }
    if all.iter().flat_map(|sweep| &sweep.loads).any(|load| load.is_lower_bound(run)) {
        let text = "the load generator was the limit: the server can do at least this";
        end.push_str(&hang(">= ", text, look.columns));
    }
    // The first ones in their longer form, the others in the one behind it.
    let set = |first: usize, form: usize| {
        let pick = |(at, forms): (usize, &[String; 3])| forms[form + usize::from(at >= first)].clone();
        let blocks: Vec<String> = drawn.iter().enumerate().map(pick).collect();
        blocks.concat().trim_start_matches('\n').to_owned() + &end
    };
    let whole = Part::new(set(drawn.len(), 0));
    let brief =
        (0..drawn.len()).rev().fold(whole, |part, first| part.or(Rank::Shape, "loads", set(first, 0)));
    (1..drawn.len()).rev().fold(brief, |part, first| part.or(Rank::Figure, "loads", set(first, 1)))
}

/// A sweep as a table below its title, behind a blank line: all of its loads, or its ends, its peak, its knee, and the
/// first load that an open loop did not hold.
fn block(run: &RunDoc, sweep: &Sweep<'_>, all: bool, look: Look) -> String {
    let mut table = Table::new(run, sweep);
    let count = table.rows.len();
    let is_marked = |at: usize| !mark(run, &sweep.loads[at]).is_empty();
    // Beyond the highest load that was held is where an open loop turns.
    let turns = |at: usize| {
        let (own, before) = (&sweep.loads[at], at.checked_sub(1).map(|before| &sweep.loads[before]));
        own.is_open() && before.is_some_and(|before| mark(run, before).contains("peak"))
    };
    let kept = |at: usize| all || at == 0 || at + 1 == count || is_marked(at) || turns(at);
    let mut at = 0;
    table.rows.retain(|_| {
        at += 1;
        kept(at - 1)
    });
    let some = match table.rows.len() {
        kept if kept == count => String::new(),
        kept => format!(" ({kept} of {count} loads)"),
    };
    let title = super::cut(&format!("{}: {}", sweep.topic(), sweep.title(run)), look.columns - width(&some));
    let mut out = format!("\n{}\n", Tone::Bold.paint(&format!("{title}{some}"), look.paint));
    table.narrow(look.columns);
    out.push_str(&table.grid().render(look.columns, look.paint));
    for text in few(run, sweep).into_iter().chain(marks(run, sweep)) {
        out.push_str(&notes::marked("-", Tone::Dim, &text, look));
    }
    out
}

/// A sweep as its peak, or its last load, and where its knee is:
/// `web: nginx, closed loop: 50 connections, 35.3 k/s, p50 1.31 ms`.
fn one_line(run: &RunDoc, sweep: &Sweep<'_>, look: Look) -> String {
    let table = Table::new(run, sweep);
    let marked = |word: &str| sweep.loads.iter().position(|load| mark(run, load).contains(word));
    let peak = marked("peak").unwrap_or(table.rows.len().saturating_sub(1));
    let cells = |row: &[String]| -> Vec<String> {
        table.heads.iter().zip(row).filter_map(|((head, _), cell)| worded(head, cell.trim_end())).collect()
    };
    let mut said = table.rows.get(peak).map(|row| cells(row)).unwrap_or_default();
    if let Some(knee) = marked("knee").filter(|knee| *knee != peak).and_then(|knee| table.rows.get(knee)) {
        said.extend(cells(knee).first().map(|asked| format!("knee at {asked}")));
    }
    hang("", &format!("{}: {}: {}", sweep.topic(), sweep.title(run), said.join(", ")), look.columns)
}

/// A cell with its heading: `p50 1.31 ms`, `50 connections`, `61.2 k/s offered`.
fn worded(head: &str, cell: &str) -> Option<String> {
    Some(match head {
        "" | "95 % interval" => return None,
        "load" | "rate" => format!("{head} {cell}"),
        head if TIMES.iter().any(|(name, _)| *name == head) => format!("{head} {cell}"),
        head => match head.strip_prefix("offered ") {
            Some(unit) => format!("{cell} {} offered", behind(unit)),
            None => format!("{cell} {}", behind(head)),
        },
    })
}

/// The unit of a heading behind a number, where the 1 of `1/s` would read as a factor.
fn behind(unit: &str) -> &str {
    if unit == "1/s" { "/s" } else { unit }
}

/// The bottleneck of the load with the highest throughput of each arm, with the first of its advice; with all that
/// speaks for and against it where all was asked for.
pub fn binding(run: &RunDoc, look: Look) -> Vec<Part> {
    let one = |found: &BottleneckDoc| {
        let arm = if found.arm.is_empty() { String::new() } else { format!("{}: ", found.arm) };
        let also = match found.also.as_slice() {
            [] => String::new(),
            some => hang("  also: ", &some.join("; "), look.columns),
        };
        let said = notes::marked(">", Tone::Bold, &format!("{arm}{}", found.sentence), look) + &also;
        if look.all {
            let reasons =
                [("for", &found.evidence), ("against", &found.counter_evidence), ("try", &found.advice)];
            let reasons = reasons.map(|(word, texts)| reason(word, texts, look));
            return Part::new(format!("{said}{}", reasons.concat()));
        }
        let tried = |most: usize| match found.advice.iter().take(most).cloned().collect::<Vec<_>>() {
            none if none.is_empty() => said.clone(),
            some => format!("{said}{}", hang("  try: ", &some.join("; "), look.columns)),
        };
        Part::new(tried(2)).or(Rank::Reason, "advice", tried(1)).or(Rank::Figure, "advice", tried(0))
    };
    // Of several arms, the ceilings of the first: the machine is the same.
    let has_ceilings = |at: usize| look.all || at == 0;
    let parts = |(at, found): (usize, &BottleneckDoc)| {
        let held = if has_ceilings(at) { ceilings::parts(found, false, look) } else { Vec::new() };
        [vec![one(found)], held].concat()
    };
    firsts(run).into_iter().enumerate().flat_map(parts).collect()
}

/// The load with the highest throughput of each arm.
pub fn firsts(run: &RunDoc) -> Vec<&BottleneckDoc> {
    let mut found: Vec<&BottleneckDoc> = Vec::new();
    for one in &run.bottlenecks {
        if found.iter().all(|known| known.arm != one.arm) {
            found.push(one);
        }
    }
    found
}

/// A sweep as a table: every cell as text.
#[derive(Clone, Debug, Default)]
pub struct Table {
    pub heads: Vec<(String, Align)>,
    pub rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(run: &RunDoc, sweep: &Sweep<'_>) -> Table {
        let mut table = Table::default();
        let loads = &sweep.loads;
        table.asked(run, sweep);
        table.rates(run, loads);
        for (name, metric) in TIMES {
            let rows: Vec<Option<&SeriesDoc>> = loads.iter().map(|load| load.row(metric)).collect();
            table.times(name, &rows);
        }
        let marks: Vec<&str> = loads.iter().map(|load| mark(run, load)).collect();
        if marks.iter().any(|mark| !mark.is_empty()) {
            table.push("", Align::Left, marks.into_iter().map(str::to_owned).collect());
        }
        table
    }

    fn push(&mut self, head: &str, align: Align, cells: Vec<String>) {
        self.heads.push((head.to_owned(), align));
        self.rows.resize(cells.len(), Vec::new());
        for (row, cell) in self.rows.iter_mut().zip(cells) {
            row.push(cell);
        }
    }

    /// Columns of the settings: connections, generators, the share and the rate of an open loop.
    fn asked(&mut self, run: &RunDoc, sweep: &Sweep<'_>) {
        let loads = &sweep.loads;
        let open = loads.iter().any(Load::is_open);
        let text = |load: &Load<'_>, param: &str| load.params.get(param).unwrap_or("-").to_owned();
        let usual = if open { "load" } else { "connections" };
        for (param, head) in
            [("load", "load"), ("rate", "rate"), ("generators", "gens"), ("connections", "connections")]
        {
            let set = loads.iter().any(|load| !matches!(load.params.get(param), None | Some("auto")));
            if set && (sweep.varies(param) || param == usual) {
                self.push(head, Align::Right, loads.iter().map(|load| text(load, param)).collect());
            }
        }
        if open {
            let offered: Vec<Option<f64>> =
                loads.iter().map(|load| point(run, load).map(|(_, point)| point.x)).collect();
            let known: Vec<f64> = offered.iter().flatten().copied().collect();
            let scale = Scale::common(&known, Kind::for_unit(Unit::PerSec));
            if !known.is_empty() {
                let head = format!("offered {}", scale.ascii_unit());
                let shown = |value: &Option<f64>| value.map_or("-".to_owned(), |value| scale.number(value));
                self.push(&head, Align::Right, offered.iter().map(shown).collect());
            }
        }
        if self.heads.is_empty() {
            self.push("", Align::Left, loads.iter().map(|load| load.instrument.to_owned()).collect());
        }
    }

    /// Good answers per second with their intervals; their bytes where few of large files are served.
    fn rates(&mut self, run: &RunDoc, loads: &[Load<'_>]) {
        let is_large = |load: &Load<'_>| load.params.get("content") == Some("large");
        let bytes = loads.iter().all(|load| is_large(load) && load.row(load::BANDWIDTH.name()).is_some());
        let rows: Vec<Option<&SeriesDoc>> = loads
            .iter()
            .map(|load| if bytes { load.row(load::BANDWIDTH.name()) } else { load.rate() })
            .collect();
        let scale = common(&rows, Kind::for_unit(if bytes { Unit::BytesPerSec } else { Unit::PerSec }));
        let cell = |(load, row): (&Load<'_>, &Option<&SeriesDoc>)| {
            let bound = if load.is_lower_bound(run) { ">=" } else { "" };
            format!("{bound}{}", shown(*row, |value| scale.number(value)))
        };
        self.push(&scale.ascii_unit(), Align::Right, loads.iter().zip(&rows).map(cell).collect());
        let ends: Vec<Option<(String, String)>> = rows
            .iter()
            .map(|row| {
                let row = row.filter(|row| row.validity != Validity::Invalid)?;
                scale.interval(row.low?, row.high?)
            })
            .collect();
        if ends.iter().any(Option::is_some) {
            let texts = ranges(&ends).into_iter().zip(&ends);
            let cells = texts.map(|(text, end)| if end.is_some() { text } else { "-".to_owned() }).collect();
            self.push("95 % interval", Align::Right, cells);
        }
    }

    /// Times with their unit: one for the column, unless they lie far apart.
    fn times(&mut self, name: &str, rows: &[Option<&SeriesDoc>]) {
        if rows.iter().all(Option::is_none) {
            return;
        }
        let kind = Kind::for_unit(Unit::Second);
        let scale = units::of_cells(&medians(rows), kind);
        let text = |value: f64| {
            let is_shown = scale.as_ref().filter(|_| value.is_finite());
            is_shown.map_or_else(|| format::quantity(value, kind), |scale| scale.with_unit(value))
        };
        let cell = |row: &Option<&SeriesDoc>| shown(*row, text);
        self.push(name, Align::Right, rows.iter().map(cell).collect());
    }

    /// Leaves out the mean where the table is wider than this: the percentiles tell more.
    fn narrow(&mut self, columns: usize) {
        let at = self.heads.iter().position(|(head, _)| head == TIMES[0].0);
        if let Some(at) = at.filter(|_| self.grid().width() > columns) {
            self.heads.remove(at);
            self.rows.iter_mut().for_each(|row| drop(row.remove(at)));
        }
    }

    fn grid(&self) -> Grid {
        let heads: Vec<(&str, Align)> =
            self.heads.iter().map(|(head, align)| (head.as_str(), *align)).collect();
        let mut grid = Grid::new(&heads);
        for row in &self.rows {
            grid.row(row.iter().map(|text| Cell::from(text.as_str())).collect());
        }
        grid
    }
}

/// One scale for a column; refused figures do not choose it.
fn common(rows: &[Option<&SeriesDoc>], kind: Kind) -> Scale {
    Scale::common(&medians(rows), kind)
}

fn medians(rows: &[Option<&SeriesDoc>]) -> Vec<f64> {
    let held = rows.iter().flatten().filter(|row| row.validity != Validity::Invalid);
    held.filter_map(|row| row.median).collect()
}

fn shown(row: Option<&SeriesDoc>, number: impl Fn(f64) -> String) -> String {
    match row {
        Some(row) if row.validity == Validity::Invalid => "refused ".to_owned(),
        Some(row) => {
            let doubt = if row.validity == Validity::Doubtful { "!" } else { " " };
            format!("{}{doubt}", row.median.map_or("-".to_owned(), number))
        }
        None => "- ".to_owned(),
    }
}

/// The curve and the point that a load of a sweep is.
fn point<'r>(run: &'r RunDoc, load: &Load<'_>) -> Option<(&'r CurveDoc, &'r CurvePointDoc)> {
    let (over, asked) = if load.is_open() {
        let given = |name: &&str| !matches!(load.params.get(name), None | Some("auto"));
        (load::OFFERED.name(), ["load", "rate"].into_iter().find(given))
    } else {
        ("connections", Some("connections"))
    };
    let value = load.params.get(asked?)?;
    let fits = |curve: &&CurveDoc| {
        curve.instrument == load.instrument && curve.arm == load.arm && load.params.contains(&curve.params)
    };
    curves(run, over).filter(fits).find_map(|curve| {
        curve.points.iter().find(|point| same_number(&point.asked, value)).map(|point| (curve, point))
    })
}

fn same_number(a: &str, b: &str) -> bool {
    let number = |text: &str| text.trim_end_matches('%').parse::<f64>().ok();
    a == b || number(a).zip(number(b)).is_some_and(|(a, b)| a == b && a.is_finite())
}

/// `peak` or `knee` beside the load that is it.
fn mark(run: &RunDoc, load: &Load<'_>) -> &'static str {
    let Some((curve, point)) = point(run, load) else { return "" };
    let at = |mark: &Option<model::doc::CurveMarkDoc>| mark.as_ref().is_some_and(|mark| mark.x == point.x);
    match (at(&curve.peak), at(&curve.knee)) {
        (true, true) => "peak, knee",
        (true, false) => "peak",
        (false, true) => "knee",
        (false, false) => "",
    }
}

/// Why times of a sweep are missing: how many requests its loads without a p99 had.
fn few(run: &RunDoc, sweep: &Sweep<'_>) -> Option<String> {
    const P99: f64 = 0.99;
    let lacks = |load: &&Load<'_>| load.row(load::RESPONSE_P99.name()).is_none_or(|row| row.median.is_none());
    let requests = |load: &Load<'_>| point(run, load)?.1.requests;
    let had = sweep.loads.iter().filter(lacks).filter_map(requests).max_by(f64::total_cmp)?;
    let remedy = |_: f64| "more takes, or a longer --set duration".to_owned();
    missing::percentile(&[P99], missing::Had::AtMost(had as u64), remedy)
}

/// The peak and the knee of each curve of a sweep, in a sentence each.
fn marks(run: &RunDoc, sweep: &Sweep<'_>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for load in &sweep.loads {
        let Some((curve, _)) = point(run, load) else { continue };
        let several = sweep.varies("generators").then(|| generators(&curve.params)).flatten();
        let marks = [&curve.peak, &curve.knee].into_iter().flatten().map(|mark| mark.text.clone());
        for text in curve.whole().into_iter().chain(marks).chain(curve.why.clone()) {
            let text = several.as_ref().map_or(text.clone(), |some| format!("{some}: {text}"));
            if !out.contains(&text) {
                out.push(text);
            }
        }
    }
    out
}

fn generators(params: &Params) -> Option<String> {
    let some = params.get("generators")?;
    Some(if some == "1" { "1 generator".to_owned() } else { format!("{some} generators") })
}
