//! The texts of a table's cells, with a letter for each footnote.

use model::Validity;
use model::doc::{StudyCellDoc, StudyRowDoc, StudyTableDoc};
use model::format::{NOT_KNOWN, fixed, number, tells};
use model::study_file::{HERE, Statistic};

/// Behind a value that a rule doubts or refuses.
pub const DOUBTFUL: &str = "!";

/// A table as texts.
pub struct Texts {
    /// Of the columns, the label first, then the unit.
    pub heads: Vec<Head>,
    pub rows: Vec<Vec<String>>,
    /// Footnotes, each with its letter.
    pub notes: Vec<(String, String)>,
    pub is_doubtful: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    pub text: String,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Label,
    Unit,
    Value,
    /// The interval of the value before it: left out where there is no room.
    Interval,
}

/// The table; intervals only `with_intervals`.
pub fn texts(table: &StudyTableDoc, with_intervals: bool) -> Texts {
    let mut notes = Notes::default();
    let has_unit = table.rows.iter().any(|row| !row.shown_unit.is_empty());
    let has_interval = |at: usize| {
        let column = table.columns.get(at);
        let is_ours = column.is_some_and(|column| column.machine == HERE && column.show == Statistic::Figure);
        with_intervals
            && is_ours
            && table
                .rows
                .iter()
                .any(|row| row.cells.get(at).is_some_and(|cell| interval(cell, row).is_some()))
    };
    let intervals: Vec<bool> = (0..table.columns.len()).map(has_interval).collect();
    let head = |text: &str, kind: Kind| Head { text: text.to_owned(), kind };
    let mut heads = vec![head("", Kind::Label)];
    if has_unit {
        heads.push(head("unit", Kind::Unit));
    }
    for (column, has_interval) in table.columns.iter().zip(&intervals) {
        heads.push(head(&column.head, Kind::Value));
        heads.extend(has_interval.then(|| head("95 %", Kind::Interval)));
    }
    let row = |row: &StudyRowDoc| {
        let mut cells = vec![marked(&row.label, row.note.as_deref(), &mut notes)];
        if has_unit {
            cells.push(row.shown_unit.clone());
        }
        for (at, cell) in row.cells.iter().enumerate() {
            let is_ours = table.columns.get(at).is_some_and(|column| column.machine == HERE);
            cells.push(value(cell, row, is_ours, &mut notes));
            if intervals.get(at) == Some(&true) {
                cells.push(interval(cell, row).unwrap_or_default());
            }
        }
        cells
    };
    let rows: Vec<Vec<String>> = table.rows.iter().map(row).collect();
    let doubts = |cell: &StudyCellDoc| cell.value.is_some() && is_doubtful(cell);
    let is_doubtful = table.rows.iter().any(|row| row.cells.iter().any(doubts));
    Texts { heads, rows, notes: notes.lettered(), is_doubtful }
}

fn is_doubtful(cell: &StudyCellDoc) -> bool {
    matches!(cell.validity, Some(Validity::Doubtful | Validity::Invalid))
}

/// Footnotes in the order in which they are met, each once.
#[derive(Default)]
struct Notes(Vec<String>);

impl Notes {
    fn letter(&mut self, text: &str) -> String {
        let at = self.0.iter().position(|known| known == text).unwrap_or_else(|| {
            self.0.push(text.to_owned());
            self.0.len() - 1
        });
        letter(at)
    }

    fn lettered(self) -> Vec<(String, String)> {
        self.0.into_iter().enumerate().map(|(at, text)| (letter(at), text)).collect()
    }
}

/// `a` to `z`, then numbers.
fn letter(at: usize) -> String {
    let small = u8::try_from(at).ok().filter(|at| *at < 26).map(|at| char::from(b'a' + at));
    small.map_or_else(|| (at + 1).to_string(), String::from)
}

/// A text with the letter of its footnote.
fn marked(text: &str, note: Option<&str>, notes: &mut Notes) -> String {
    match note {
        Some(note) => format!("{text} ({})", notes.letter(note)),
        None => text.to_owned(),
    }
}

fn value(cell: &StudyCellDoc, row: &StudyRowDoc, is_ours: bool, notes: &mut Notes) -> String {
    let shown = |value: f64| {
        let value = value / row.shown_factor;
        if is_ours { number(value) } else { printed(value) }
    };
    let text = match (cell.value, &cell.text) {
        (Some(_), _) if cell.is_range => match cell.low.zip(cell.high) {
            Some((low, high)) => format!("{} - {}", shown(low), shown(high)),
            None => "-".to_owned(),
        },
        (Some(value), _) if is_doubtful(cell) => format!("{}{DOUBTFUL}", shown(value)),
        (Some(value), _) => shown(value),
        (None, Some(text)) => text.clone(),
        (None, None) if cell.is_empty() => String::new(),
        (None, None) => "-".to_owned(),
    };
    marked(&text, cell.why.as_deref(), notes)
}

/// The 95 % interval of a measured value.
fn interval(cell: &StudyCellDoc, row: &StudyRowDoc) -> Option<String> {
    let (low, high) = cell.low.zip(cell.high)?;
    cell.run.as_ref()?;
    if !tells(low, high) {
        return Some(NOT_KNOWN.to_owned());
    }
    Some(format!("{} - {}", number(low / row.shown_factor), number(high / row.shown_factor)))
}

/// A published figure with all the digits that were printed, up to seven.
fn printed(value: f64) -> String {
    const DIGITS: i32 = 7;
    if !value.is_finite() || value == 0.0 {
        return number(value);
    }
    let before = value.abs().log10().floor() as i32 + 1;
    let places = usize::try_from(DIGITS - before).unwrap_or(0).min(6);
    let text = fixed(value, places);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_figures_keep_their_digits() {
        let texts = [24.27563, 7_683.716_85, 14_983_388.0, 3000.0, 0.55, 1.40, 206.0];
        let shown = texts.map(printed);
        assert_eq!(shown, ["24.27563", "7,683.717", "14,983,388", "3,000", "0.55", "1.4", "206"]);
        assert_eq!(printed(f64::NAN), "-");
        assert_eq!(printed(1_048_576.0 * 6643.0 / 1_048_576.0), "6,643");
    }

    #[test]
    fn footnotes_are_numbered_once_each() {
        let mut notes = Notes::default();
        assert_eq!(marked("x", Some("one"), &mut notes), "x (a)");
        assert_eq!(marked("y", Some("two"), &mut notes), "y (b)");
        assert_eq!(marked("z", Some("one"), &mut notes), "z (a)");
        assert_eq!(letter(26), "27");
    }
}
