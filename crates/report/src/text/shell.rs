//! The cost of a command's shell or container, and the command's time without it.

use model::Unit;
use model::doc::{CommandDoc, RunDoc, WithoutShellDoc};
use model::format::{self, Kind, Scale, count};
use model::id::short;

use super::fit::{Part, Rank};
use super::{Look, Tone, notes};

/// Commands beyond these are counted.
const MOST: usize = 4;

/// A line of the screen; empty where no command has a shell.
pub fn part(run: &RunDoc, look: Look) -> Part {
    Part::new(line(run, look)).or(Rank::Reason, "the shell's own time", "")
}

fn line(run: &RunDoc, look: Look) -> String {
    let known = run.commands.iter().filter_map(|one| Some((one, one.without_shell.as_ref()?)));
    let all: Vec<(&CommandDoc, &WithoutShellDoc)> = known.collect();
    let Some(most) = all.iter().map(|(_, one)| one.shell).max_by(f64::total_cmp) else {
        return String::new();
    };
    let named = if look.all { all.len() } else { all.len().min(MOST) };
    let mut told: Vec<String> =
        all.iter().take(named).map(|(one, without)| time(&one.arm, without)).collect();
    if all.len() > named {
        told.push(format!(
            "{}: boxscore show {} --all",
            count(all.len() - named, "more command"),
            short(&run.run)
        ));
    }
    let text = format!(
        "the shell alone takes {} of each time; without it: {}; --shell none starts the program itself",
        format::quantity(most, Kind::for_unit(Unit::Second)),
        told.join(", ")
    );
    notes::marked("-", Tone::Dim, &text, look)
}

/// `a 10.3 ms (10.1 to 10.6 ms)`.
fn time(arm: &str, without: &WithoutShellDoc) -> String {
    let name = if arm.is_empty() { String::new() } else { format!("{arm} ") };
    let Some(seconds) = without.seconds else {
        return format!("{name}{}", without.why.as_deref().unwrap_or("not known"));
    };
    let scale = Scale::common(&[seconds], Kind::for_unit(Unit::Second));
    let ends =
        without.low.zip(without.high).map(|(low, high)| format!(" ({})", scale.interval_text(low, high)));
    format!("{name}{}{}", scale.with_unit(seconds), ends.unwrap_or_default())
}
