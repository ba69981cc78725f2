//! The studies that there are, and what one of them would run and how long.

use model::doc::{StudiesDoc, StudyDoc, StudyRunDoc};
use model::format::{count, duration};

use super::screen::heading;
use crate::text::grid::{Align, Grid};
use crate::text::{Look, hang, wrap};

/// The list of studies.
pub fn list(doc: &StudiesDoc, look: Look) -> String {
    let mut grid = Grid::new(&[
        ("", Align::Left),
        ("runs", Align::Right),
        ("tables", Align::Right),
        ("at most", Align::Right),
        ("--quick", Align::Right),
    ]);
    for study in &doc.studies {
        grid.row(vec![
            study.name.clone().into(),
            study.runs.to_string().into(),
            study.tables.len().to_string().into(),
            duration(study.most_seconds).into(),
            duration(study.most_seconds_quick).into(),
        ]);
    }
    let mut out = grid.render(look.columns, look.paint);
    out.push('\n');
    for study in &doc.studies {
        out.push_str(&hang(&format!("{}: ", study.name), &study.title, look.columns));
    }
    out
}

/// The runs of a study before any of them is made.
pub fn schedule(doc: &StudyDoc, look: Look) -> String {
    let mut out = heading(&doc.title, look);
    for line in wrap(&doc.about, look.columns) {
        out.push_str(&format!("{line}\n"));
    }
    out.push_str(&format!("\n{}\n", expected(&doc.runs)));
    if !doc.nodes.is_empty() {
        out.push_str(&hang("on ", &doc.machine_says, look.columns));
    }
    for run in &doc.runs {
        out.push_str(&format!("\n{}\n", run.label));
        out.push_str(&one(run, look));
    }
    let tables: Vec<String> =
        doc.tables.iter().map(|table| format!("{} ({})", table.name, table.title)).collect();
    out.push_str(&format!("\n{}", hang("tables: ", &tables.join("; "), look.columns)));
    for one in &doc.missing {
        out.push_str(&hang("not to be had: ", &format!("{}: {}", one.what, one.why), look.columns));
    }
    out
}

/// `3 runs, about 4 min, at most 9 min`
pub fn expected(runs: &[StudyRunDoc]) -> String {
    let measured = || runs.iter().filter(|run| run.why.is_none() && run.by_hand.is_none());
    format!(
        "{}, about {}, at most {}",
        count(measured().count(), "run"),
        duration(measured().map(|run| run.expected_seconds).sum::<f64>().ceil()),
        duration(measured().map(|run| run.most_seconds).sum::<f64>().ceil())
    )
}

fn one(run: &StudyRunDoc, look: Look) -> String {
    let mut out = String::new();
    let mut line = |text: &str| out.push_str(&hang("  ", text, look.columns));
    match (&run.by_hand, &run.why) {
        (Some(command), _) => {
            line(&format!("yours to make: {command}"));
            return out;
        }
        (None, Some(why)) => line(&format!("left out: {why}")),
        (None, None) => line(&format!(
            "{} in {}, {} each; about {}, at most {}",
            count(usize::try_from(run.cells).unwrap_or(usize::MAX), "parameter set"),
            count(run.arms.len().max(1), "arm"),
            count(usize::try_from(run.takes).unwrap_or(usize::MAX), "take"),
            duration(run.expected_seconds.ceil()),
            duration(run.most_seconds)
        )),
    }
    line(&format!("measures {}", run.measures.join(", ")));
    if !run.set.is_empty() {
        line(&format!("with {}", run.set.join(", ")));
    }
    if !run.arms.is_empty() {
        line(&format!("arms: {}", run.arms.join(" | ")));
    }
    for part in &run.left_out {
        line(&format!("left out: {}: {}", part.what, part.why));
    }
    out
}
