//! The box score: the last screen of a run, at most as wide as asked.
//!
//! Headline figures with their interval, on one thread and on all, beside a reference where there is one; then what
//! to believe and what not; then what to do next. Other figures are in the report.

use model::data::Status;
use model::doc::{ArmDoc, CompareDoc, Noise, RowDoc, RunDoc, SeriesDoc, VerdictWord};
use model::fake::PLANTED;
use model::finding::Rule;
use model::format::{self, Scale, count};
use model::id::short;
use model::names::{self, Key};
use model::params::QUOTED;
use model::plan::Level;
use model::why::Why;
use model::{Fact, Finding, Params, Samples, Validity};

use super::fit::{Part, Rank, Screen};
use super::grid::{Align, Cell, Cut, Grid, ranges};
use super::spec::Spec;
pub use super::tail::{Advice, Tail};
use super::verdict_word::verdict;
use super::{
    Look, Tone, answer, beside, cores, jobs, joined, logs_beside, nodes, notes, power, profile, scaling,
    search, shell, soak, tail, units, web_table, wrap,
};

/// One row of the table: a figure on one thread (or as it is) and on all.
#[derive(Clone, Debug)]
pub struct ScoreRow<'a> {
    pub label: String,
    pub one: Option<&'a SeriesDoc>,
    pub all: Option<&'a SeriesDoc>,
    /// The comparison of `one`, or of `all` where that is the only one.
    pub versus: Option<&'a RowDoc>,
    /// That of `all` beside `one`.
    pub versus_all: Option<&'a RowDoc>,
    /// Figures of the same takes below headings of their own, which have no rows.
    pub more: beside::More<'a>,
}

impl<'a> ScoreRow<'a> {
    /// The series that the row is about.
    pub fn main(&self) -> Option<&'a SeriesDoc> {
        self.one.or(self.all)
    }
}

/// Rows beyond these are counted.
const MOST_ROWS: usize = 14;
/// Figures without a take that are named.
const UNTAKEN: usize = 3;
/// Rows that stay however long the screen is.
const LEAST_ROWS: usize = 5;

/// The last screen of a run.
pub fn score(run: &RunDoc, facts: &[Fact], versus: Option<&CompareDoc>, tail: &Tail, look: Look) -> String {
    let mut rows = rows(run, versus);
    let head = format!("{}\n", head(run, facts, versus, &rows, look));
    let tail = tail::part(tail, look);
    let mut screen = Screen::default();
    screen.add(answer::first(run.answer.as_ref(), look));
    screen.add(head);
    let show = format!("boxscore show {} --all", short(&run.run));
    if is_unbegun(run) {
        screen.add("no figure yet: it was ended before its first measured take was done\n\n".to_owned());
        screen.add(tail);
        return screen.fit(look, &show, |text| text);
    }
    let sweeps = web_table::screen(run, look);
    if !sweeps.is_empty() {
        rows.retain(|row| !row.main().is_some_and(|series| names::is_load(series.card)));
    }
    screen.add(soak::table(&run.soak, look));
    rows.retain(|row| !row.main().is_some_and(|series| soak::has(&run.soak, series)));
    rows.retain(|row| !row.main().is_some_and(|series| power::has(&run.power, series)));
    screen.add(power::part(&run.power, look));
    if !rows.is_empty() {
        screen.add(rows_part(&rows, facts, versus, &show, look));
    } else if run.soak.is_empty() && run.power.is_empty() && sweeps.is_empty() {
        screen.add("no figure was measured\n".to_owned());
    }
    if !sweeps.is_empty() && !rows.is_empty() {
        screen.add("\n".to_owned());
    }
    screen.add(sweeps);
    screen.add(search::part(run, look));
    screen.add("\n".to_owned());
    below(run, &rows, versus, look).into_iter().for_each(|part| screen.add(part));
    screen.tell_here();
    if !tail.is_empty() {
        screen.add("\n".to_owned());
        screen.add(tail);
    }
    let sentence = run.answer.as_ref().map(|answer| answer.sentence.as_str());
    screen.fit(look, &show, |text| answer::last(text, sentence, look))
}

/// The table of figures, with the number of those that it leaves out.
fn rows_part(
    rows: &[ScoreRow<'_>],
    facts: &[Fact],
    versus: Option<&CompareDoc>,
    show: &str,
    look: Look,
) -> Part {
    let of = |most: usize| {
        let mut out = table(&rows[..most], facts, versus, look);
        if rows.len() > most {
            out.push_str(&format!("and {}: {show}\n", count(rows.len() - most, "more figure")));
        }
        out
    };
    let most = if look.all { rows.len() } else { rows.len().min(MOST_ROWS) };
    (LEAST_ROWS..most).rev().fold(Part::new(of(most)), |part, most| part.or(Rank::Figure, "", of(most)))
}

/// The lines below the figures: the limit, the meaning of columns, and doubts.
fn below(run: &RunDoc, rows: &[ScoreRow<'_>], versus: Option<&CompareDoc>, look: Look) -> Vec<Part> {
    let mut parts = web_table::binding(run, look);
    parts.extend(cores::of_run(run, look));
    parts.push(profile::of_run(run, look));
    parts.push(beside::note(&lists(rows), look).into());
    parts.push(again_note(rows, look));
    parts.push(Part::new(guest_note(&run.findings, look)).or(Rank::Reason, "disks", ""));
    parts.push(Part::new(scaling::lines(&run.scaling, look)).or(Rank::Figure, "scaling", ""));
    parts.extend(jobs::parts(&run.jobs, &run.node_scaling, look));
    parts.push(verdict_note(rows, versus, look).into());
    let told = run
        .findings
        .iter()
        .any(|one| matches!(one.rule.base(), Rule::Samples(_)) && one.state > Validity::Unknown);
    if look.all || !told {
        parts.push(Part::new(without_interval(rows, look)).or(Rank::Reason, "missing intervals", ""));
    }
    parts.push(shell::part(run, look));
    parts.push(Part::new(without_take(run, look)).or(Rank::Reason, "figures without a take", ""));
    parts.push(meanwhile(run, look));
    let hosts = run.target_hosts.iter().map(|host| notes::marked("-", Tone::Dim, &host.sentence, look));
    parts.push(Part::new(hosts.collect::<String>()).or(Rank::Reason, "hosts of targets", ""));
    parts.extend(notes::of_run(run, look));
    parts.extend(run.nodes.iter().map(|doc| nodes::part(doc, look)));
    parts
}

/// Telemetry of the machine while the requests of a log came.
fn meanwhile(run: &RunDoc, look: Look) -> Part {
    let apart = |text: String| if text.is_empty() { text } else { format!("\n{text}\n") };
    let all = run.beside.as_slice();
    Part::new(apart(logs_beside::tables(all, look)))
        .or(Rank::Shape, "telemetry step by step", apart(logs_beside::means(all, look)))
        .or(Rank::Figure, "telemetry", "")
}

/// Cut before any measured take: whatever is stored is of warm-ups.
pub fn is_unbegun(run: &RunDoc) -> bool {
    is_cut(run) && run.errors.is_empty() && run.series.iter().all(is_untaken)
}

fn is_cut(run: &RunDoc) -> bool {
    run.status == Status::Interrupted
}

const fn is_untaken(series: &SeriesDoc) -> bool {
    series.n == 0 && series.faults == 0
}

/// Headline figures that no take gave: `- no take gave: memcached write p99`. Of a run that was cut their turn had not
/// come.
fn without_take(run: &RunDoc, look: Look) -> String {
    let told = run.series.iter().filter(|series| series.headline && is_untaken(series) && !is_cut(run));
    let names: Vec<String> = told.map(|series| names::label(Key::from(series))).collect();
    match names.len() {
        0 => String::new(),
        all => {
            let shown = &names[..if look.all { all } else { all.min(UNTAKEN) }];
            let more = all - shown.len();
            let more = if more == 0 { String::new() } else { format!(" and {}", count(more, "more figure")) };
            notes::marked("-", Tone::Dim, &format!("no take gave {}{more}", shown.join(", ")), look)
        }
    }
}

/// The rows of a run: its headline figures, or all of them where it has none. Of a run that was cut, those whose turn
/// has not come are left out.
pub fn rows<'a>(run: &'a RunDoc, versus: Option<&'a CompareDoc>) -> Vec<ScoreRow<'a>> {
    let headline = run.series.iter().any(|series| series.headline);
    let mut chosen: Vec<&SeriesDoc> =
        run.series.iter().filter(|series| series.headline || !headline).collect();
    // What has no take is told below the table, or its turn had not come.
    chosen.retain(|series| !is_untaken(series));
    if chosen.iter().any(|series| !names::is_detail(series.card, &series.metric)) {
        chosen.retain(|series| !names::is_detail(series.card, &series.metric));
    }
    chosen.sort_by_cached_key(|series| names::order(Key::from(*series)));
    let mut rows: Vec<ScoreRow<'a>> = Vec::new();
    for series in &chosen {
        let threads = series.params.get("threads");
        let twin = |other: &&SeriesDoc| same_but_threads(series, other);
        if threads == Some("all") && chosen.iter().any(|other| twin(other) && other.params != series.params) {
            continue;
        }
        let all = run.series.iter().filter(twin).find(|other| other.params.get("threads") == Some("all"));
        let one = (threads != Some("all")).then_some(*series);
        let beside = |series: &SeriesDoc| versus.and_then(|doc| against(doc, run, series));
        let versus_all = all.filter(|_| one.is_some()).and_then(beside);
        let versus_all = versus_all.filter(|row| row.params.get("threads") == Some("all"));
        let more = beside::without_row(run, series, &chosen);
        rows.push(ScoreRow { label: String::new(), one, all, versus: beside(series), versus_all, more });
    }
    let stripped: Vec<(Params, &SeriesDoc)> =
        rows.iter().filter_map(ScoreRow::main).map(|series| (shown_params(&rows, series), series)).collect();
    let keys: Vec<Key<'_>> =
        stripped.iter().map(|(params, series)| Key { params, ..Key::from(*series) }).collect();
    let arms = run.series.iter().any(|series| series.arm != run.series[0].arm);
    for (row, label) in rows.iter_mut().zip(names::labels(&keys)) {
        let arm = row.main().map(|series| series.arm.as_str()).filter(|arm| arms && !arm.is_empty());
        row.label = arm.map_or(label.clone(), |arm| format!("{label} [{arm}]"));
    }
    rows
}

/// The thread count belongs to a name only where one figure has several rows of it.
fn shown_params(rows: &[ScoreRow<'_>], series: &SeriesDoc) -> Params {
    let twins =
        rows.iter().filter_map(ScoreRow::main).filter(|other| same_but_threads(series, other)).count();
    let mut params = series.params.clone();
    if twins < 2 {
        params.remove("threads");
    }
    params
}

fn same_but_threads(a: &SeriesDoc, b: &SeriesDoc) -> bool {
    let strip = |params: &Params| {
        let mut params = params.clone();
        params.remove("threads");
        params
    };
    a.instrument == b.instrument
        && a.metric == b.metric
        && a.arm == b.arm
        && a.role == b.role
        && strip(&a.params) == strip(&b.params)
}

/// The comparison's row about this series: its base is the reference, its arm this machine.
fn against<'a>(doc: &'a CompareDoc, run: &RunDoc, series: &SeriesDoc) -> Option<&'a RowDoc> {
    let base = doc.arms.first()?;
    let ours = |row: &&RowDoc| {
        doc.arms
            .iter()
            .any(|arm| arm.name == row.arm && arm.name != base.name && arm.machine.name == run.machine.name)
    };
    let fits = |row: &&RowDoc| {
        row.instrument == series.instrument
            && row.metric == series.metric
            && row.params.agrees(&series.params)
    };
    let mut fitting: Vec<&RowDoc> = doc.rows.iter().filter(fits).collect();
    if fitting.iter().any(ours) {
        fitting.retain(|row| ours(row));
    }
    fitting.iter().find(|row| row.params == series.params).or_else(|| fitting.first()).copied()
}

fn head(
    run: &RunDoc,
    facts: &[Fact],
    versus: Option<&CompareDoc>,
    rows: &[ScoreRow<'_>],
    look: Look,
) -> String {
    let spec = Spec(facts);
    let mut machine = vec![run.machine.name.clone()];
    machine.extend(spec.processor());
    machine.extend(spec.memory());
    machine.extend(run.planted.then(|| PLANTED.to_owned()));
    // A run of named instruments is of no level.
    let level = if run.level == Level::Named.word() { String::new() } else { format!("{} ", run.level) };
    let mut line = vec![format!("{level}run {}", short(&run.run))];
    line.extend(run.seconds.map(format::duration));
    line.extend(takes(rows));
    if run.status != Status::Complete {
        line.push(run.status.word().to_owned());
    }
    let beside = versus.filter(|doc| run.series.iter().any(|series| against(doc, run, series).is_some()));
    line.extend(beside.and_then(|doc| doc.arms.first()).map(|base| format!("compared with {}", base.name)));
    let is_named = |cmd: &&String| cmd.chars().count() <= QUOTED && !rows.is_empty();
    let command = run.cmd.iter().filter(|cmd| !is_named(cmd)).map(|cmd| format!("`{}`", cmd.trim()));
    let mut out = String::new();
    for (index, parts) in [machine, line].iter().enumerate() {
        for text in joined(parts, look.columns) {
            let tone = if index == 0 { Tone::Bold } else { Tone::Plain };
            out.push_str(&tone.paint(&text, look.paint));
            out.push('\n');
        }
    }
    // A long command is cut in the names of its figures.
    command.for_each(|text| out.extend(wrap(&text, look.columns).iter().map(|line| format!("{line}\n"))));
    out
}

/// True if the figures are of periods: over all requests of a log where it has them, and no medians of takes.
fn of_periods(rows: &[ScoreRow<'_>]) -> bool {
    rows.iter().filter_map(ScoreRow::main).all(|series| series.samples == Samples::Periods)
}

/// Heading of the figures.
fn value_head(rows: &[ScoreRow<'_>]) -> &'static str {
    if of_periods(rows) { "figure " } else { "median " }
}

fn takes(rows: &[ScoreRow<'_>]) -> Option<String> {
    let counts: Vec<u64> = rows.iter().filter_map(ScoreRow::main).map(|series| series.n).collect();
    let (least, most) = (counts.iter().min()?, counts.iter().max()?);
    let what = if of_periods(rows) { "period" } else { "take" };
    let many = if *most == 1 { "" } else { "s" };
    Some(match least == most {
        true => format!("{most} {what}{many} a figure"),
        false => format!("{least} to {most} {what}s a figure"),
    })
}

/// Texts of one row.
struct Texts {
    unit: String,
    one: String,
    interval: Option<(String, String)>,
    instead: &'static str,
    again: String,
    all: String,
}

/// The texts of all rows; those of one metric have one unit.
fn all_texts(rows: &[ScoreRow<'_>]) -> Vec<Texts> {
    rows.iter().zip(scales(rows)).map(|(row, scale)| texts(row, scale)).collect()
}

/// The scale of each row.
pub fn scales(rows: &[ScoreRow<'_>]) -> Vec<Option<Scale>> {
    let held = |series: &&SeriesDoc| series.validity != Validity::Invalid;
    let values = |row: &ScoreRow<'_>| -> Vec<f64> {
        let shown: Vec<f64> = [row.one, row.all]
            .into_iter()
            .flatten()
            .filter(held)
            .filter_map(|series| series.median)
            .collect();
        // What is refused has a unit all the same.
        if shown.is_empty() {
            row.main().and_then(|series| series.median).into_iter().collect()
        } else {
            shown
        }
    };
    units::scales(&rows.iter().map(|row| Some(units::Row::new(row.main()?, values(row)))).collect::<Vec<_>>())
}

fn texts(row: &ScoreRow<'_>, scale: Option<Scale>) -> Texts {
    let value = |series: Option<&SeriesDoc>| {
        series.filter(|s| s.validity != Validity::Invalid).and_then(|s| s.median)
    };
    let (one, all) = (value(row.one), value(row.all));
    let bounds = row.one.filter(|s| s.validity != Validity::Invalid).and_then(|s| Some((s.low?, s.high?)));
    let refused = |series: Option<&SeriesDoc>| series.is_some_and(|s| s.validity == Validity::Invalid);
    let show = |value: Option<f64>, series: Option<&SeriesDoc>| match (value, &scale) {
        _ if refused(series) => "refused ".to_owned(),
        (Some(value), Some(scale)) => format!("{}{}", scale.number(value), beside::doubt(series)),
        _ => "- ".to_owned(),
    };
    Texts {
        unit: scale.as_ref().map(Scale::ascii_unit).unwrap_or_default(),
        one: show(one, row.one),
        instead: match (refused(row.one), bounds) {
            (true, _) => "see below",
            (false, Some(_)) => format::NOT_KNOWN,
            (false, None) => "-",
        },
        interval: bounds.zip(scale.as_ref()).and_then(|((low, high), scale)| scale.interval(low, high)),
        again: one.and(row.one).and_then(again).unwrap_or_else(|| "-".to_owned()),
        all: show(all, row.all),
    }
}

/// A further run that may lie off by more than this share is not known.
const MOST_AGAIN: f64 = 1.0;

/// How far one further run may lie off.
fn again(series: &SeriesDoc) -> Option<String> {
    // Without the blank, so that names need not be cut in 80 columns.
    let floor = series.again_high.and(series.floor).filter(|floor| floor.is_finite())?;
    if floor > MOST_AGAIN {
        return Some("unknown".to_owned());
    }
    Some(format!("+-{}%", format::fixed(floor * 100.0, usize::from(floor < 0.0195))))
}

fn table(rows: &[ScoreRow<'_>], facts: &[Fact], versus: Option<&CompareDoc>, look: Look) -> String {
    let texts: Vec<Texts> = all_texts(rows);
    let intervals = ranges(&texts.iter().map(|text| text.interval.clone()).collect::<Vec<_>>());
    let with_all = rows.iter().any(|row| row.all.is_some());
    let all = format!("{} ", Spec(facts).all_cpus());
    let more = beside::headings(&lists(rows));
    let value = match more.as_slice() {
        [] if threaded(rows) => "1 thread ",
        [] => value_head(rows),
        _ => "p50 ",
    };
    let mut heads = vec![("", Align::Left), ("", Align::Left), (value, Align::Right)];
    let more_texts: Vec<String> = more.iter().map(|heading| format!("{heading} ")).collect();
    heads.extend(more_texts.iter().map(|heading| (heading.as_str(), Align::Right)));
    // A column of nothing takes the room of one that tells; a note says why there is none.
    let with_interval =
        more.is_empty() || texts.iter().any(|text| text.interval.is_some() || text.instead != "-");
    if with_interval {
        heads.push(("95 % this run", Align::Right));
    }
    let with_again = texts.iter().any(|text| text.again != "-");
    if with_again {
        heads.push(("again", Align::Right));
    }
    if with_all {
        heads.push((&all, Align::Right));
    }
    let with_both = rows.iter().any(|row| row.versus_all.is_some());
    if versus.is_some() {
        heads.push((if with_both { "1 vs ref" } else { "vs ref" }, Align::Left));
    }
    if with_both {
        heads.push(("all vs ref", Align::Left));
    }
    let beside: Vec<Vec<String>> = more.iter().map(|heading| beside::cells(&lists(rows), heading)).collect();
    let mut grid = Grid::new(&heads).cutting(Cut::Middle);
    for (at, ((row, text), interval)) in rows.iter().zip(texts).zip(intervals).enumerate() {
        let interval = if text.interval.is_some() { interval } else { text.instead.to_owned() };
        let mut cells: Vec<Cell> = vec![row.label.clone().into(), text.unit.into(), text.one.into()];
        cells.extend(beside.iter().map(|column| Cell::from(column[at].as_str())));
        if with_interval {
            cells.push(interval.into());
        }
        if with_again {
            cells.push(text.again.into());
        }
        if with_all {
            cells.push(text.all.into());
        }
        if versus.is_some() {
            cells.push(verdict_cell(row.versus));
        }
        if with_both {
            cells.push(row.versus_all.map_or_else(|| Cell::from(""), |all| verdict_cell(Some(all))));
        }
        grid.row(cells);
    }
    let mut grid = if grid.width() > look.columns { grid.gap(1) } else { grid };
    if grid.width() > look.columns {
        // Names are cut last.
        grid.rename(&all, all.strip_prefix("all ").unwrap_or(&all));
    }
    grid.render(look.columns, look.paint)
}

/// The figures beside those of each row.
fn lists<'r, 'a>(rows: &'r [ScoreRow<'a>]) -> Vec<&'r beside::More<'a>> {
    rows.iter().map(|row| &row.more).collect()
}

/// True where any figure has a number of threads.
pub fn threaded(rows: &[ScoreRow<'_>]) -> bool {
    rows.iter().filter_map(ScoreRow::main).any(|series| series.params.get("threads").is_some())
}

fn verdict_cell(versus: Option<&RowDoc>) -> Cell {
    let Some(versus) = versus else { return Cell::from("   -") };
    let Some(ratio) = versus.ratio.filter(|_| versus.verdict != VerdictWord::Invalid) else {
        return Cell::from("   -");
    };
    let (word, tone) = verdict(versus);
    let doubt = if super::compare::doubtful(versus) { "!" } else { "" };
    Cell::tone(format!("{:>4} {word}{doubt}", format::ratio(ratio)), tone)
}

/// The meaning of `?` and `point`, and the origin of the noise between runs.
fn verdict_note(rows: &[ScoreRow<'_>], versus: Option<&CompareDoc>, look: Look) -> String {
    let mut out = marks_note(rows, look);
    let Some(doc) = versus else { return out };
    if let Some(base) = doc.arms.first().filter(|_| rows.iter().any(|row| row.versus.is_some())) {
        out.push_str(&notes::marked("-", Tone::Dim, &format!("ref: {}", reference_note(base)), look));
        let of_base = |finding: &&Finding| finding.subject.side.as_deref() == Some(base.name.as_str());
        let of_base: Vec<Finding> = doc.findings.iter().filter(of_base).cloned().collect();
        out.push_str(&notes::doubt_lines(&of_base, &notes::headlines_compared(doc), look));
    }
    let shown: Vec<&RowDoc> = rows.iter().flat_map(|row| [row.versus, row.versus_all]).flatten().collect();
    let unsure = shown.iter().any(|row| !row.point && row.verdict == VerdictWord::CannotTell);
    let noise = noise_text(doc, &shown);
    if unsure {
        let held = shown.iter().filter(|row| row.verdict == VerdictWord::CannotTell);
        let whys: Vec<&Why> = held.map(|row| &row.why).filter(|why| !why.is_empty()).collect();
        let withheld = whys.iter().find_map(|why| why.withheld());
        let reasons: Vec<String> = match (noise, withheld) {
            (None, None) => whys.first().map(ToString::to_string).into_iter().collect(),
            (noise, withheld) => noise.into_iter().chain(withheld.map(|why| format!("or {why}"))).collect(),
        };
        let text = match reasons.as_slice() {
            [] => "= cannot tell".to_owned(),
            some => format!("= cannot tell: {}", some.join("; ")),
        };
        out.push_str(&notes::marked("?", Tone::Dim, &text, look));
    } else if let Some(text) = noise {
        out.push_str(&notes::marked("-", Tone::Dim, &text, look));
    }
    if shown.iter().any(|row| row.point) {
        out.push_str(&notes::marked("-", Tone::Dim, "point = a published figure without samples", look));
    }
    if rows.iter().any(|row| row.versus.is_none()) {
        let text = "= not measured there, or by another definition: `boxscore compare` says which";
        out.push_str(&notes::marked("-", Tone::Dim, text, look));
    }
    out
}

/// A word on the machine that stands beside a run unasked: what it is, and how to have another.
pub fn reference_note(base: &ArmDoc) -> String {
    let runs = count(base.runs.len(), "run");
    format!("{}, which comes with boxscore ({runs}) to stand beside a first run", base.name)
}

/// The meaning of the column `again`, and where its noise came from.
fn again_note(rows: &[ScoreRow<'_>], look: Look) -> Part {
    let shown: Vec<&SeriesDoc> =
        rows.iter().filter_map(|row| row.one).filter(|series| again(series).is_some()).collect();
    let runs = shown.iter().map(|series| series.noise_runs.len());
    let Some((least, most)) = runs.clone().min().zip(runs.max()) else { return Part::default() };
    let runs = if least == most { count(most, "run") } else { format!("{least} to {most} runs") };
    let Some(noise) = Noise::of_all(shown.iter().map(|series| series.noise)) else { return Part::default() };
    let from = match noise {
        Noise::Measured => format!("from {runs}"),
        Noise::Mixed => format!("with {runs}"),
        Noise::Assumed | Noise::Within => String::new(),
    };
    let text = "again: where one further run here falls in 95 of 100 cases";
    let line = |text: &str| notes::marked("-", Tone::Dim, text, look);
    let whole = line(&format!("{text} ({})", noise.sentence(&from, &[])));
    Part::new(whole).or(Rank::Reason, "noise", line(text))
}

/// Disks of a virtual machine: what their figures are of.
fn guest_note(findings: &[Finding], look: Look) -> String {
    let guest = findings.iter().find(|finding| matches!(finding.rule, Rule::Guest(_)));
    guest.map_or_else(String::new, |finding| {
        notes::marked("-", Tone::Dim, &format!("disk figures: {}", finding.rule.one()), look)
    })
}

/// The meaning of `!` beside a figure.
fn marks_note(rows: &[ScoreRow<'_>], look: Look) -> String {
    let mut shown = rows.iter().flat_map(|row| [row.one, row.all]).flatten();
    if shown.any(|series| series.validity == Validity::Doubtful) {
        notes::marked("!", Tone::Warn, "= doubtful: the lines below say why", look)
    } else {
        String::new()
    }
}

/// `the noise between runs is assumed with 1 run here (floor 5 %); more runs measure it`
fn noise_text(doc: &CompareDoc, rows: &[&RowDoc]) -> Option<String> {
    let assumed = rows.iter().filter(|row| matches!(row.noise, Some(Noise::Assumed | Noise::Mixed)));
    let floors: Vec<f64> = assumed.filter_map(|row| row.floor).collect();
    format::floor_range(&floors)?;
    let ours = rows.first().and_then(|row| doc.arms.iter().find(|arm| arm.name == row.arm))?;
    let noise = Noise::of_all(rows.iter().filter_map(|row| row.noise))?;
    let runs = format!("with {} here", count(ours.runs.len(), "run"));
    Some(noise.sentence(&runs, &floors))
}

/// Why some figures have no interval.
fn without_interval(rows: &[ScoreRow<'_>], look: Look) -> String {
    let mut whys: Vec<&str> = rows
        .iter()
        .filter_map(ScoreRow::main)
        .filter(|series| series.validity != Validity::Invalid && series.low.is_none())
        .filter_map(|series| series.why.as_deref())
        .collect();
    let figures = whys.len();
    whys.sort_unstable();
    whys.dedup();
    match whys.as_slice() {
        [] => String::new(),
        [only] => notes::marked("-", Tone::Dim, &format!("no interval: {only}"), look),
        [first, ..] => {
            let text = format!("no interval for {}, such as: {first}", count(figures, "figure"));
            notes::marked("-", Tone::Dim, &text, look)
        }
    }
}
