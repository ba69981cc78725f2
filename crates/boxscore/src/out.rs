//! The only place that writes to stdout and stderr: stdout is data, stderr is messages.
//!
//! A closed stdout (`| head`) is no error. A full disk is one, and the program then exits with 1. Colour follows the
//! terminal, NO_COLOR and `--color`.

use std::io::{Error, ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::sync::OnceLock;

use anstream::ColorChoice;
use model::doc::DoneDoc;
use report::text::Look;
use rustix::fs::FlockOperation;
use serde::Serialize;

use crate::cli::Color;

/// Sets the colour choice for all further output.
pub fn colour(choice: Color) {
    match choice {
        Color::Auto => {}
        Color::Always => ColorChoice::Always.write_global(),
        Color::Never => ColorChoice::Never.write_global(),
    }
}

/// Why the printed output is incomplete.
static LOST: OnceLock<Error> = OnceLock::new();

/// Writes data to stdout unchanged. A closed stdout is ignored; other errors are kept for [`lost`].
pub fn print(text: &str) {
    let mut stdout = anstream::stdout();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    if let Err(error) = written
        && error.kind() != ErrorKind::BrokenPipe
    {
        // The first reason is enough.
        let _first = LOST.set(error);
    }
}

/// The same where other processes may write to the same pipe (`xargs -P`): all of it stands together. A pipe takes
/// 4 KiB at a time as a whole, and no more.
pub fn print_together(text: &str) {
    let stdout = std::io::stdout();
    // A stdout that takes no lock has this one writer, or none that it could be told from.
    let is_locked = rustix::fs::fcntl_lock(&stdout, FlockOperation::LockExclusive).is_ok();
    print(text);
    if is_locked {
        // The lock of a process ends with it at the latest.
        let _freed = rustix::fs::fcntl_lock(&stdout, FlockOperation::Unlock);
    }
}

/// The first error of stdout, if any.
pub fn lost() -> Option<&'static Error> {
    LOST.get()
}

/// Writes a document and a line end to stdout.
pub fn json<T: Serialize>(document: &T) {
    match serde_json::to_string_pretty(document) {
        Ok(text) => print(&format!("{text}\n")),
        Err(error) => say(&format!("error: the document could not be written: {error}")),
    }
}

/// Prints the document of a verb that did something: the files that it read or wrote, and its first run.
pub fn done(verb: &str, paths: impl IntoIterator<Item = impl AsRef<Path>>, run: Option<String>) {
    let paths = paths.into_iter().map(|path| path.as_ref().display().to_string()).collect();
    json(&DoneDoc { schema: format!("boxscore.{verb}/1"), ok: true, paths, run, refused: Vec::new() });
}

/// Writes a document in one line to stdout.
pub fn json_line<T: Serialize>(document: &T) {
    match serde_json::to_string(document) {
        Ok(text) => print(&format!("{text}\n")),
        Err(error) => say(&format!("error: the document could not be written: {error}")),
    }
}

/// Prints a line on stderr.
pub fn say(text: &str) {
    let mut stderr = anstream::stderr();
    drop(writeln!(stderr, "{text}").and_then(|()| stderr.flush()));
}

/// Prints text with its own line ends on stderr.
pub fn say_all(text: &str) {
    let mut stderr = anstream::stderr();
    drop(stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush()));
}

/// Prints a question on stderr; what is typed stands behind it.
pub fn ask(question: &str) {
    let mut stderr = anstream::stderr();
    drop(write!(stderr, "{question} ").and_then(|()| stderr.flush()));
}

/// True when progress may be drawn.
pub fn talks_to_a_person() -> bool {
    std::io::stderr().is_terminal()
}

/// Lines on stderr that are redrawn in place, if stderr is a terminal that can do so.
pub struct Canvas {
    drawn: usize,
}

/// In a narrower terminal lines would wrap, and redrawing would miss one.
const NARROWEST: u16 = 40;

/// True if stderr is a terminal on which lines can be redrawn.
fn redraws() -> bool {
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let wide = console::Term::stderr().size().1 >= NARROWEST;
    talks_to_a_person() && wide && !dumb
}

/// The columns and lines of a display that a study redraws while it runs. `None` where it gives plain lines: where
/// stderr cannot be redrawn, and where NO_COLOR asks for text without codes.
pub fn drawn_study() -> Option<(usize, usize)> {
    let is_plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let (lines, columns) = console::Term::stderr().size();
    (redraws() && !is_plain).then_some((usize::from(columns) - 1, usize::from(lines).saturating_sub(1)))
}

impl Canvas {
    pub fn open() -> Option<Canvas> {
        redraws().then_some(Canvas { drawn: 0 })
    }

    /// Draws these lines over the last ones; lines that do not fit on the screen are left out.
    pub fn draw(&mut self, text: &str) {
        let rows = usize::from(console::Term::stderr().size().0).saturating_sub(1).max(1);
        let lines: Vec<&str> = text.lines().take(rows).collect();
        self.put(&lines);
    }

    pub fn clear(&mut self) {
        self.put(&[]);
    }

    /// Writes in one piece, so that nothing flickers. The cursor stays below the last line, where an echoed key does
    /// no harm.
    fn put(&mut self, lines: &[&str]) {
        let mut text = redraw(self.drawn, lines);
        text.insert(0, '\r');
        self.drawn = lines.len();
        let mut stderr = std::io::stderr();
        drop(stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush()));
    }
}

/// The terminal codes that put `lines` over the `drawn` ones above the cursor.
fn redraw(drawn: usize, lines: &[&str]) -> String {
    let mut text = if drawn > 0 { format!("\u{1b}[{drawn}A") } else { String::new() };
    for line in lines {
        text.push_str(line);
        text.push_str("\u{1b}[K\n");
    }
    text.push_str("\u{1b}[J");
    text
}

/// Width for printing: the terminal's, at most 200; 80 without a terminal.
pub fn columns() -> usize {
    const USUAL: usize = 80;
    let given = std::env::var("COLUMNS").ok().and_then(|text| text.parse::<usize>().ok());
    let seen = std::io::stdout().is_terminal().then(|| usize::from(console::Term::stdout().size().1));
    given.or(seen).filter(|columns| *columns >= 40).unwrap_or(USUAL).min(200)
}

/// Style of texts for stderr.
pub fn look_of_talk() -> Look {
    let seen = usize::from(console::Term::stderr().size().1);
    let columns = if talks_to_a_person() && seen >= 40 { seen.min(200) } else { 80 };
    Look { paint: paints(std::io::stderr().is_terminal()), ..Look::wide(columns) }
}

/// Style of texts for stdout: the terminal's width, colour only where it is wanted.
pub fn look() -> Look {
    let is_terminal = std::io::stdout().is_terminal();
    let cuts = is_terminal || std::env::var_os("COLUMNS").is_some();
    Look { paint: paints(is_terminal), cuts, ..Look::wide(columns()) }
}

/// True if colour is wanted on a stream.
fn paints(is_terminal: bool) -> bool {
    match ColorChoice::global() {
        ColorChoice::Always | ColorChoice::AlwaysAnsi => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_put_over_those_before() {
        assert_eq!(redraw(0, &["a", "b"]), "a\u{1b}[K\nb\u{1b}[K\n\u{1b}[J");
        assert_eq!(redraw(2, &["c"]), "\u{1b}[2Ac\u{1b}[K\n\u{1b}[J");
        assert_eq!(redraw(1, &[]), "\u{1b}[1A\u{1b}[J");
    }
}
