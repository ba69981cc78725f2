//! A study of the user's own commands: the answer, a line for each command, then what to believe of it.
//!
//! Times and memory are medians of takes. `ratio` is of wall times, command / first; its interval is that of the
//! comparison.

use model::data::Status;
use model::doc::{CompareDoc, RowDoc, RunDoc, SeriesDoc, VerdictWord};
use model::fake::PLANTED;
use model::format::{self, Kind, Scale, count};
use model::id::short;
use model::metrics::command::{CPU, MEMORY, SHELL, SYSTEM, USER, WALL};
use model::names::{self, Key};
use model::{Better, Fact};

use super::compare::{believed, interval_of, plain_ratio, shown};
use super::fit::{Part, Rank, Screen};
use super::grid::{Align, Cell, Grid, ranges};
use super::spec::Spec;
use super::tail::Tail;
use super::verdict_word::verdict;
use super::{Look, Tone, answer, hang, joined, notes, shell, tail};

/// Metrics that have a column of the table, or are the sum of two that have one.
const TABLE: [&str; 6] = [WALL.name(), CPU.name(), USER.name(), SYSTEM.name(), MEMORY.name(), SHELL.name()];
/// Commands beyond these are counted.
const MOST: usize = 12;

/// The last screen of a study of commands; `versus` compares its arms.
pub fn screen(run: &RunDoc, facts: &[Fact], versus: Option<&CompareDoc>, tail: &Tail, look: Look) -> String {
    let mut screen = Screen::default();
    screen.add(answer::first(run.answer.as_ref(), look));
    screen.add(format!("{}\n", head(run, facts, look)));
    screen.add(table(run, versus, look));
    screen.add(own_numbers(run, versus, look));
    screen.add("\n".to_owned());
    screen.add(Part::new(open(versus, look)).or(Rank::Doubt, "why some are not told", ""));
    screen.add(shell::part(run, look));
    screen.add(Part::new(layout(run, look)).or(Rank::Reason, "what the environment's size did", ""));
    notes::of_run(run, look).into_iter().for_each(|part| screen.add(part));
    screen.tell_here();
    if let Some(step) = versus.and_then(|doc| doc.next_step.as_ref()) {
        screen.add(answer::next(step, look));
    }
    let tail = tail::part(tail, look);
    if !tail.is_empty() {
        screen.add("\n".to_owned());
        screen.add(tail);
    }
    let sentence = run.answer.as_ref().map(|answer| answer.sentence.as_str());
    let show = format!("boxscore show {} --all", short(&run.run));
    screen.fit(look, &show, |text| answer::last(text, sentence, look))
}

fn head(run: &RunDoc, facts: &[Fact], look: Look) -> String {
    let spec = Spec(facts);
    let mut machine = vec![run.machine.name.clone()];
    machine.extend(spec.processor());
    machine.extend(spec.memory());
    machine.extend(run.planted.then(|| PLANTED.to_owned()));
    let mut line = vec![format!("run {}", short(&run.run))];
    line.extend(run.seconds.map(format::duration));
    let takes = of_metric(run, WALL.name()).map(|series| series.n);
    if let (Some(least), Some(most)) = (takes.clone().min(), takes.max()) {
        let each = if least == most { least.to_string() } else { format!("{least} to {most}") };
        line.push(format!("{each} takes of each"));
    }
    if run.status != Status::Complete {
        line.push(run.status.word().to_owned());
    }
    let mut out = String::new();
    for (parts, tone) in [(machine, Tone::Bold), (line, Tone::Plain)] {
        for text in joined(&parts, look.columns) {
            out.push_str(&format!("{}\n", tone.paint(&text, look.paint)));
        }
    }
    out
}

fn of_metric<'a>(run: &'a RunDoc, metric: &'static str) -> impl Iterator<Item = &'a SeriesDoc> + Clone {
    run.series.iter().filter(move |series| series.metric == metric)
}

/// The arms in their order: the base first, those without a figure last.
fn arms<'a>(run: &'a RunDoc, versus: Option<&'a CompareDoc>) -> Vec<&'a str> {
    let mut arms: Vec<&str> = match versus {
        Some(doc) => doc.arms.iter().map(|arm| arm.name.as_str()).collect(),
        None => of_metric(run, WALL.name()).map(|series| series.arm.as_str()).collect(),
    };
    for one in run.commands.iter().filter(|_| run.status != Status::Interrupted) {
        if !arms.contains(&one.arm.as_str()) {
            arms.push(&one.arm);
        }
    }
    arms
}

/// The column of a metric: its scale over all commands.
fn scale(run: &RunDoc, metric: &'static str) -> Option<Scale> {
    let values: Vec<f64> = of_metric(run, metric).filter_map(|series| series.median).collect();
    let one = of_metric(run, metric).next()?;
    Some(Scale::common(&values, Kind::shown(one.card, metric, one.unit)))
}

fn table(run: &RunDoc, versus: Option<&CompareDoc>, look: Look) -> String {
    let columns = [USER.name(), SYSTEM.name(), MEMORY.name()];
    let wall = scale(run, WALL.name());
    // All times in one unit.
    let scales = [wall.clone(), wall.clone(), scale(run, MEMORY.name())];
    let unit = |scale: &Option<Scale>| scale.as_ref().map(Scale::ascii_unit).unwrap_or_default();
    let headed = |name: &str, scale: &Option<Scale>| format!("{name} {}", unit(scale)).trim_end().to_owned();
    let heads = [headed("time", &wall), "user".to_owned(), "system".to_owned(), headed("mem", &scales[2])];
    let mut grid = Grid::new(&[
        ("", Align::Left),
        (&heads[0], Align::Right),
        ("95 %", Align::Right),
        (&heads[1], Align::Right),
        (&heads[2], Align::Right),
        (&heads[3], Align::Right),
        ("ratio", Align::Right),
        ("95 %", Align::Right),
        ("", Align::Left),
    ])
    .gap(if look.columns < 100 { 1 } else { 2 });
    let all = arms(run, versus);
    let named = if look.all { all.len() } else { all.len().min(MOST) };
    let rows: Vec<Option<&RowDoc>> = all.iter().map(|arm| row_of(versus, arm, WALL.name())).collect();
    let ratios = ranges(&rows.iter().map(|row| interval_of(*row)).collect::<Vec<_>>());
    let series = |arm: &str, metric: &'static str| of_metric(run, metric).find(|series| series.arm == arm);
    let ends: Vec<Option<(String, String)>> = all
        .iter()
        .map(|arm| {
            let (low, high) = series(arm, WALL.name()).and_then(|one| one.low.zip(one.high))?;
            wall.as_ref()?.interval(low, high)
        })
        .collect();
    for (((arm, row), ratio), ends) in all.iter().zip(&rows).zip(ratios).zip(ranges(&ends)).take(named) {
        let value = |metric: &'static str, scale: Option<&Scale>| -> Cell {
            shown(scale, series(arm, metric).and_then(|one| one.median)).into()
        };
        let mut cells: Vec<Cell> = vec![(*arm).into(), value(WALL.name(), wall.as_ref()), ends.into()];
        cells.extend(columns.iter().zip(&scales).map(|(metric, scale)| value(metric, scale.as_ref())));
        let is_measured = series(arm, WALL.name()).is_some();
        let base = if is_measured { "1" } else { "" };
        cells.push(row.map_or_else(|| base.to_owned(), |row| plain_ratio(believed(row))).into());
        cells.push(ratio.into());
        let none = if is_measured { Cell::from("") } else { Cell::tone("failed", Tone::Bad) };
        cells.push(row.map_or(none, word));
        grid.row(cells);
    }
    let mut out = grid.render(look.columns, look.paint);
    if all.len() > named {
        out.push_str(&format!(
            "and {}: boxscore show {} --all\n",
            count(all.len() - named, "more command"),
            short(&run.run)
        ));
    }
    out
}

fn row_of<'a>(versus: Option<&'a CompareDoc>, arm: &str, metric: &str) -> Option<&'a RowDoc> {
    versus?.rows.iter().find(|row| row.arm == arm && row.metric == metric)
}

/// The verdict in one word: of times, slower or faster.
fn word(row: &RowDoc) -> Cell {
    let (_, tone) = verdict(row);
    let word = match (row.verdict, row.metric == WALL.name()) {
        (VerdictWord::Better, true) => "faster",
        (VerdictWord::Worse, true) => "slower",
        (VerdictWord::CannotTell, _) => "?",
        (word, _) => word.word(),
    };
    Cell::tone(word, tone)
}

/// Numbers that the commands print, a line for each command.
fn own_numbers(run: &RunDoc, versus: Option<&CompareDoc>, look: Look) -> String {
    let mut own: Vec<&SeriesDoc> =
        run.series.iter().filter(|one| !TABLE.contains(&one.metric.as_str())).collect();
    let arms = arms(run, versus);
    let place = |series: &SeriesDoc| arms.iter().position(|arm| *arm == series.arm);
    own.sort_by_key(|series| (series.metric.as_str(), series.params.get("metric"), place(series)));
    if own.is_empty() {
        return String::new();
    }
    let mut grid = Grid::new(&[
        ("", Align::Left),
        ("", Align::Left),
        ("value", Align::Right),
        ("95 %", Align::Right),
        ("ratio", Align::Right),
        ("", Align::Left),
    ]);
    for series in own {
        let mut params = series.params.clone();
        params.remove(model::command::COMMAND);
        let scale = Scale::common(
            &series.median.into_iter().collect::<Vec<_>>(),
            Kind::shown(series.card, &series.metric, series.unit),
        );
        let row = versus.and_then(|doc| {
            let is_its = |row: &&RowDoc| {
                row.arm == series.arm && row.metric == series.metric && params.contains(&row.params)
            };
            doc.rows.iter().find(is_its).filter(|_| series.better != Better::Neither)
        });
        let ends = series.low.zip(series.high).map(|(low, high)| scale.interval_text(low, high));
        grid.row(vec![
            names::label(Key { params: &params, ..Key::from(series) }).into(),
            series.arm.clone().into(),
            shown(Some(&scale), series.median).into(),
            ends.unwrap_or_default().into(),
            row.map_or_else(String::new, |row| plain_ratio(believed(row))).into(),
            row.map_or_else(|| Cell::from(""), word),
        ]);
    }
    format!("\n{}", grid.render(look.columns, look.paint))
}

/// How far the sittings differ, each of which has an environment of another size, and perhaps other links.
fn layout(run: &RunDoc, look: Look) -> String {
    let known = run.commands.iter().filter_map(|one| one.layout.zip(one.takes));
    let relinked = run.commands.iter().any(|one| one.relinked);
    let (links, of_links) =
        if relinked { (" and another order of object files", " and links") } else { ("", "") };
    let worst = known.max_by(|a, b| a.0.total_cmp(&b.0));
    let Some((layout, takes)) = worst else { return String::new() };
    let takes = format::percent(takes);
    let text = if layout > 0.0 {
        let layout = format::percent(layout);
        format!(
            "each sitting had an environment of another size{links}: times differ by {layout} between sittings, by {takes} between \
             takes of one (standard deviations); the intervals contain both"
        )
    } else {
        format!("sittings with environments of other sizes{of_links} differ no more than takes do ({takes})")
    };
    notes::marked("-", Tone::Dim, &text, look)
}

/// Why some could not be told, each reason once.
fn open(versus: Option<&CompareDoc>, look: Look) -> String {
    let rows = versus.iter().flat_map(|doc| &doc.rows).filter(|row| row.metric == WALL.name());
    let open = rows.filter(|row| row.verdict >= VerdictWord::CannotTell && !row.why.is_empty());
    let mut said: Vec<(String, Vec<&str>)> = Vec::new();
    for row in open {
        let why = row.why.to_string();
        match said.iter_mut().find(|(known, _)| *known == why) {
            Some((_, arms)) => arms.push(&row.arm),
            None => said.push((why, vec![&row.arm])),
        }
    }
    let line =
        |(why, arms): &(String, Vec<&str>)| hang("? ", &format!("{}: {why}", arms.join(", ")), look.columns);
    said.iter().map(line).collect()
}
