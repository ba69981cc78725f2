//! The last lines of a run: its report, and commands to go on with.

use super::fit::{Part, Rank};
use super::{Look, hang, width};

/// The lines below the notes: the report's path, and commands to go on with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    /// Path of the report.
    pub report: Option<String>,
    pub advice: Vec<Advice>,
}

/// `again   boxscore run --quick     a 2nd run starts replacing the assumed noise`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Advice {
    pub word: String,
    pub command: String,
    pub says: String,
    /// It is said on a line of its own where there is no room beside the command; else it is left out there.
    pub is_needed: bool,
}

/// The report and the advice; of the advice the first line alone where there is no room.
pub fn part(tail: &Tail, look: Look) -> Part {
    let some = |most: usize| text(tail, most, look);
    let all = tail.advice.len();
    (1..all).rev().fold(Part::new(some(all)), |part, most| part.or(Rank::Hint, "", some(most)))
}

fn text(tail: &Tail, most: usize, look: Look) -> String {
    let advice = &tail.advice[..most];
    let mut out = String::new();
    if let Some(path) = &tail.report {
        // A path is never broken: it is there to be copied.
        out.push_str(&format!("report  {path}\n"));
    }
    let room = advice.iter().map(|advice| width(&advice.command)).filter(|w| *w <= 34).max().unwrap_or(0);
    for Advice { word, command, says, is_needed } in advice {
        let line = format!("{word:<7} {command:<room$}  {says}");
        if width(line.trim_end()) <= look.columns {
            out.push_str(line.trim_end());
            out.push('\n');
        } else {
            out.push_str(&format!("{word:<7} {command}\n"));
            // What it is good for may be left out, the command not.
            let is_said = look.all || *is_needed;
            out.push_str(&if is_said { hang("        ", says, look.columns) } else { String::new() });
        }
    }
    out
}
