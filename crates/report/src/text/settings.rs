//! Settings in which runs differ, in one sentence: those that may matter most first.

use model::doc::{CompareDoc, SettingDoc, SettingsDoc, SinceDoc};
use model::format::{self, count};
use model::id::short;

use super::fit::{Part, Rank};
use super::{Look, cut, hang};

/// Settings of a default screen; the others are counted.
const MOST: usize = 6;
/// A value is cut to so many characters, where not all was asked for.
const LONGEST: usize = 40;

/// Of the sides that ran on the first side's machine, or of the others.
pub fn part(doc: &CompareDoc, same_machine: bool, look: Look) -> Part {
    let wanted: Vec<&SettingsDoc> =
        doc.settings.iter().filter(|one| one.same_machine == same_machine).collect();
    let said = |most: usize| -> String {
        let line = |one: &&SettingsDoc| hang("", &sentence(one, most, look), look.columns);
        wanted.iter().map(line).collect()
    };
    let most = if look.all { usize::MAX } else { MOST };
    // What was changed on one machine is what its figures are to be read by.
    let last = if same_machine { Rank::Sentence } else { Rank::Reason };
    Part::new(said(most)).or(Rank::Reason, "settings", said(1)).or(last, "settings", "")
}

/// `settings that differ between before and after: net.core.somaxconn (8 against 4096)`.
fn sentence(one: &SettingsDoc, most: usize, look: Look) -> String {
    format!("settings that differ between {} and {}: {}", one.base, one.arm, list(&one.differ, most, look))
}

/// All of them, for a page that has room.
pub fn sentences(doc: &CompareDoc) -> Vec<String> {
    doc.settings.iter().map(|one| sentence(one, usize::MAX, Look::plain().with_all(true))).collect()
}

/// `settings that differ since the last load of it (before, run 01a2...): net.core.somaxconn (8 against 4096)`.
pub fn since(one: &SinceDoc, look: Look) -> Part {
    let label = one.label.as_ref().map_or_else(String::new, |label| format!("{label}, "));
    let said = |most: usize| {
        let differ = list(&one.differ, most, look);
        let text = format!("differ since the last load of it ({label}run {}): {differ}", short(&one.run));
        hang("settings    ", &text, look.columns)
    };
    let most = if look.all { usize::MAX } else { MOST };
    Part::new(said(most)).or(Rank::Reason, "settings", said(1))
}

/// The first ones, and the number of the others.
fn list(all: &[SettingDoc], most: usize, look: Look) -> String {
    let short = |value: &String| if look.all { value.clone() } else { cut(value, LONGEST) };
    let text =
        |one: &SettingDoc| SettingDoc { base: short(&one.base), arm: short(&one.arm), ..one.clone() }.text();
    let more = all.len().saturating_sub(most);
    let named = all.iter().take(most).map(text).chain((more > 0).then(|| count(more, "more setting")));
    format::list(&named.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(some: usize) -> Vec<SettingDoc> {
        let one = |at: usize| SettingDoc {
            name: format!("s{at}"),
            key: None,
            base: "off".to_owned(),
            arm: "x".repeat(60),
        };
        (0..some).map(one).collect()
    }

    #[test]
    fn the_first_settings_are_named_and_the_others_counted() {
        let value = format!("{}…", "x".repeat(39));
        assert_eq!(
            list(&all(2), MOST, Look::plain()),
            format!("s0 (off against {value}) and s1 (off against {value})")
        );
        assert!(list(&all(8), MOST, Look::plain()).ends_with("and 2 more settings"));
        let whole = list(&all(8), usize::MAX, Look::plain().with_all(true));
        assert!(whole.contains(&"x".repeat(60)) && whole.contains("s7"), "{whole}");
    }
}
