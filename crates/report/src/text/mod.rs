//! Text for terminals, pipes and mail: tables at a given width, in documents' words.
//!
//! Widths are characters. Colour is optional and only repeats what a mark or a word says. Numbers are scaled by
//! `model::format`; nothing here computes a statistic.

pub mod aa;
pub mod answer;
pub mod apart;
pub mod beside;
mod ceilings;
pub mod clusterperf;
pub mod commands;
pub mod compare;
pub mod compared;
pub mod cores;
pub mod decide;
pub mod detect;
pub mod doctor;
pub mod fit;
pub mod fold;
pub mod grid;
pub mod hadoop;
pub mod history;
pub mod jobs;
pub mod lab;
pub mod lab_bmc;
pub mod lab_hosts;
pub mod lab_odd;
pub mod line;
pub mod list;
pub mod load;
pub mod logs;
pub mod logs_answers;
pub mod logs_beside;
pub mod logs_bots;
mod logs_figures;
pub mod logs_live;
mod logs_names;
pub mod logs_parts;
mod logs_table;
mod logs_values;
pub mod machines_live;
pub mod matrix;
pub mod missing;
pub mod nodes;
pub mod notes;
pub mod power;
pub mod profile;
pub mod prove;
pub mod ranks;
pub mod ratio;
pub mod scaling;
pub mod score;
pub mod search;
pub mod settings;
pub mod sheet;
mod shell;
pub mod soak;
pub mod spec;
pub mod tail;
pub mod telling;
pub mod together;
pub mod units;
pub mod verdict_word;
pub mod web_table;
pub mod worth;

use model::format::Moment;

/// How a text is set: its width, and whether marks are coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    pub columns: usize,
    pub paint: bool,
    /// Names in tables are cut to fit: only where somebody looks.
    pub cuts: bool,
    /// Every figure and each doubt in full (`--all`); else doubts are a line a cause.
    pub all: bool,
    /// Most lines of a screen on which not all was asked for.
    pub lines: usize,
}

/// Lines of a default screen.
pub const LINES: usize = 40;

impl Look {
    /// 80 columns without colour: what a pipe gets.
    pub const fn plain() -> Look {
        Look { columns: 80, paint: false, cuts: false, all: false, lines: LINES }
    }

    pub const fn wide(columns: usize) -> Look {
        Look { columns, paint: false, cuts: true, all: false, lines: LINES }
    }

    /// The same with everything that there is to say, where it was asked for.
    #[must_use]
    pub const fn with_all(self, all: bool) -> Look {
        Look { all, ..self }
    }

    /// The same with so many lines taken by what stands beside it; a few are left in any case.
    #[must_use]
    pub fn beside(self, text: &str) -> Look {
        Look { lines: self.lines.saturating_sub(text.lines().count()).max(LINES / 2), ..self }
    }

    /// Columns of a table whose names a program may read.
    pub const fn table(self) -> usize {
        if self.cuts { self.columns } else { usize::MAX }
    }
}

/// Colour of a mark or word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    #[default]
    Plain,
    Good,
    Bad,
    Warn,
    Dim,
    Bold,
}

impl Tone {
    /// `text` in the colour of this tone; unchanged unless colours are `on`.
    pub fn paint(self, text: &str, on: bool) -> String {
        let code = match self {
            Tone::Good => "32",
            Tone::Bad => "31",
            Tone::Warn => "33",
            Tone::Dim => "2",
            Tone::Bold => "1",
            Tone::Plain => "",
        };
        if on && !code.is_empty() && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

/// Width in characters.
pub fn width(text: &str) -> usize {
    text.chars().count()
}

/// The text cut to a width, an ellipsis at its end.
pub fn cut(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// The text cut to a width with its last words kept, two or one, since they tell one name from the next:
/// `comp…all threads`.
pub fn cut_middle(text: &str, most: usize) -> String {
    let blanks: Vec<usize> = text.rmatch_indices(' ').take(2).map(|(at, _)| at + 1).collect();
    let ends = blanks.iter().rev().map(|at| text.split_at(*at));
    let mut fitting = ends.filter(|(_, end)| width(end) + LEAST_HEAD <= most);
    match fitting.next() {
        Some((head, end)) if width(text) > most => format!("{}{end}", cut(head, most - width(end))),
        _ => cut(text, most),
    }
}

/// Characters and the ellipsis that a name keeps of its beginning.
const LEAST_HEAD: usize = 4;

/// The text cut to a width, its beginning left out: the end of a path tells more.
pub fn cut_front(text: &str, most: usize) -> String {
    let count = width(text);
    if count <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().skip(count - most.saturating_sub(1)).collect();
    format!("…{kept}")
}

/// Lines of at most `most` characters, broken at spaces; a longer word is broken where it must be.
pub fn wrap(text: &str, most: usize) -> Vec<String> {
    let most = most.max(8);
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split_whitespace() {
        let mut word = word.to_owned();
        let gap = usize::from(used > 0);
        if used + gap + width(&word) > most && used > 0 {
            lines.push(String::new());
            used = 0;
        }
        while width(&word) > most {
            let rest: String = word.chars().skip(most).collect();
            word.truncate(word.char_indices().nth(most).map_or(word.len(), |(at, _)| at));
            if let Some(last) = lines.last_mut() {
                last.push_str(&word);
            }
            lines.push(String::new());
            word = rest;
        }
        if let Some(last) = lines.last_mut() {
            if used > 0 {
                last.push(' ');
                used += 1;
            }
            last.push_str(&word);
            used += width(&word);
        }
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// Reasons behind their word: `  for       cpu0 97 % busy; ...`.
pub(crate) fn reason(word: &str, texts: &[String], look: Look) -> String {
    if texts.is_empty() {
        return String::new();
    }
    hang(&format!("  {word:<10}"), &texts.join("; "), look.columns)
}

/// A first line behind `head`, the others behind as many spaces.
pub fn hang(head: &str, text: &str, most: usize) -> String {
    hang_painted(head, width(head), text, most)
}

/// The same behind a head of `indent` columns that may be in colour.
pub fn hang_painted(head: &str, indent: usize, text: &str, most: usize) -> String {
    let mut out = String::new();
    for (index, line) in wrap(text, most.saturating_sub(indent)).iter().enumerate() {
        let lead = if index == 0 { head.to_owned() } else { " ".repeat(indent) };
        out.push_str(&format!("{lead}{line}\n"));
    }
    out
}

/// Parts between dots, on as many lines as they need.
pub fn joined(parts: &[String], columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(last) if width(last) + 3 + width(part) <= columns => last.push_str(&format!(" · {part}")),
            Some(_) => lines.push(cut(&format!("  {part}"), columns)),
            None => lines.push(cut(part, columns)),
        }
    }
    lines
}

/// `2026-11-21` of seconds since 1970, UTC.
pub fn date(seconds: f64) -> String {
    Moment::at(seconds).map_or("-".to_owned(), |moment| moment.date())
}

/// `2026-11-21 06:20` of seconds since 1970, UTC.
pub fn date_time(seconds: f64) -> String {
    Moment::at(seconds).map_or("-".to_owned(), |moment| format!("{} {}", moment.date(), moment.time()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn days_are_named() {
        assert_eq!(date_time(0.0), "1970-01-01 00:00");
        assert_eq!(date_time(1_795_242_060.0), "2026-11-21 06:21");
        assert_eq!(date(951_782_400.0), "2000-02-29");
        assert_eq!(date(-1.0), "1969-12-31");
        assert_eq!(date(f64::NAN), "-");
    }

    #[test]
    fn long_lines_hang() {
        assert_eq!(hang("! ", "one two three", 9), "! one two\n  three\n");
        assert_eq!(wrap("abcdefghijkl m", 8), ["abcdefgh", "ijkl m"]);
        assert_eq!((cut("abcdef", 4), cut_front("abcdef", 4)), ("abc…".into(), "…def".into()));
    }

    proptest! {
        #[test]
        fn nothing_is_lost_or_too_wide(text in "\\PC{0,200}", most in 8usize..100) {
            let lines = wrap(&text, most);
            prop_assert!(lines.iter().all(|line| width(line) <= most));
            let squeeze = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(squeeze(&lines.concat()), squeeze(&text));
            prop_assert!(width(&cut(&text, most)) <= most && width(&cut_front(&text, most)) <= most);
        }

        #[test]
        fn any_time_has_a_date(seconds in proptest::num::f64::ANY) {
            prop_assert!(!date_time(seconds).is_empty());
        }
    }
}
