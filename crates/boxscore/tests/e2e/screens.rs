//! The screens of every verb on terminals of 80x24 and 120x40, without colour, and through a pipe: the commands of
//! `tests/frozen/screens.txt`.
//!
//! No line is wider than the terminal, colour is the only thing that `NO_COLOR` takes away, and a pipe that is as wide
//! gets the same words. The screens themselves lie in `tests/frozen/screens/`; `BOXSCORE_FROZEN=accept` writes them.
//! Left out: progress on stderr, which is drawn over itself.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Bench, PROGRAM, Said, said};
use crate::frozen::{self, difference, plain, split};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/frozen")
}

/// Columns and rows of a terminal.
const SIZES: [(usize, usize); 2] = [(80, 24), (120, 40)];

/// What a command prints on a terminal of this size, with the codes of colours.
fn on_terminal(bench: &Bench, words: &[&str], (columns, rows): (usize, usize), no_color: bool) -> Said {
    let quoted: Vec<String> = words.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
    let line = format!("stty cols {columns} rows {rows}; exec '{PROGRAM}' {} 2>said.txt", quoted.join(" "));
    let mut command = Command::new("script");
    command.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
    bench.settle(&mut command);
    command.env("TERM", "xterm-256color").env_remove("COLUMNS").env_remove("NO_COLOR");
    if no_color {
        command.env("NO_COLOR", "1");
    }
    let mut said = said(&mut command);
    said.out = said.out.replace("\r\n", "\n");
    said.err = std::fs::read_to_string(bench.path("said.txt")).expect("what it said on stderr");
    said
}

/// The same through a pipe whose reader is as wide.
fn through_pipe(bench: &Bench, words: &[&str], columns: usize) -> Said {
    said(bench.command(words).env("COLUMNS", columns.to_string()))
}

/// Without the codes of colours.
fn without_colour(text: &str) -> String {
    console::strip_ansi_codes(text).into_owned()
}

/// What is wrong with the shape of a screen.
fn faults(painted: &str, bare: &str, piped: &str, columns: usize) -> Vec<String> {
    let mut wrong = Vec::new();
    let text = without_colour(painted);
    for line in text.lines().filter(|line| console::measure_text_width(line) > columns) {
        wrong.push(format!("wider than {columns}: {line}"));
    }
    if bare.contains('\u{1b}') {
        wrong.push("NO_COLOR leaves codes".to_owned());
    }
    if piped.contains('\u{1b}') {
        wrong.push("a pipe gets codes".to_owned());
    }
    if bare != text {
        wrong.push(format!("NO_COLOR changes words\n{}", difference(&text, bare)));
    }
    if piped != text {
        wrong.push(format!("a pipe gets other words\n{}", difference(&text, piped)));
    }
    wrong
}

/// Lines of a default screen.
const LINES: usize = 40;
/// Words that ask for another screen than the default one, or for more.
const MORE: [&str; 5] = ["--all", "--json", "--format", "--takes", "--matrix"];

/// What such a command printed when it was frozen.
fn frozen_screen(file: &Path) -> String {
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let (_, out) = text.split_once("--- stdout\n").expect("its output");
    out.rsplit_once("--- stderr").expect("its end").0.to_owned()
}

#[test]
fn default_screens_of_run_load_and_compare_fit_in_80_columns() {
    let mut wrong = String::new();
    let mut met = 0;
    for (list, place, end) in [("screens.txt", "screens", "-80.txt"), ("commands.txt", "out", ".txt")] {
        let commands = std::fs::read_to_string(folder().join(list)).expect("the commands");
        for line in commands.lines().filter(|line| !line.starts_with('#')) {
            let (name, words) = line.split_once(": ").expect("NAME: WORDS");
            // The last screen of a run is the one that `show` has.
            let is_meant = ["run ", "load ", "compare ", "show "].iter().any(|verb| words.starts_with(verb));
            if !is_meant || words.split(' ').any(|word| MORE.contains(&word)) {
                continue;
            }
            let count = frozen_screen(&folder().join(place).join(format!("{name}{end}"))).lines().count();
            met += 1;
            if count > LINES {
                let _ = writeln!(wrong, "{place}/{name}{end}: {count} lines");
            }
        }
    }
    assert!(wrong.is_empty(), "over {LINES} lines:\n{wrong}");
    assert!(met > 30, "only {met} screens");
}

/// Two runs of such a command print unlike things: they measure, or tell the time.
fn writes(name: &str) -> bool {
    happens_once(name) || ["run", "run-arms", "report"].contains(&name)
}

/// A command that changes the store for good.
fn happens_once(line: &str) -> bool {
    ["note", "hide", "remove"].contains(&line.split(':').next().unwrap_or_default())
}

fn check(bench: &Bench, known: &[String], line: &str, size: (usize, usize)) -> Vec<String> {
    let (name, text) = line.split_once(": ").expect("NAME: WORDS");
    let (name, is_of_host) = name.strip_suffix(" host").map_or((name, false), |name| (name, true));
    let words = split(text);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let painted = on_terminal(bench, &words, size, false);
    let mut wrong = if happens_once(name) {
        faults(&painted.out, &without_colour(&painted.out), &without_colour(&painted.out), size.0)
    } else if writes(name) || is_of_host {
        let text = without_colour(&painted.out);
        let bare = on_terminal(bench, &words, size, true);
        let coloured = bare.out.contains('\u{1b}').then(|| "NO_COLOR leaves codes".to_owned());
        faults(&painted.out, &text, &text, size.0).into_iter().chain(coloured).collect()
    } else {
        let bare = on_terminal(bench, &words, size, true);
        faults(&painted.out, &bare.out, &through_pipe(bench, &words, size.0).out, size.0)
    };
    if !is_of_host {
        let screen = plain(bench, known, name, text, Said { out: without_colour(&painted.out), ..painted });
        let file = folder().join("screens").join(format!("{name}-{}.txt", size.0));
        if std::env::var("BOXSCORE_FROZEN").is_ok_and(|word| word == "accept") {
            std::fs::write(&file, &screen).expect("the screen");
        }
        let frozen = std::fs::read_to_string(&file).unwrap_or_default();
        if frozen != screen {
            wrong.push(difference(&frozen, &screen));
        }
    }
    wrong.into_iter().map(|wrong| format!("{name} at {} columns: {wrong}", size.0)).collect()
}

#[test]
fn screens_fit_their_terminal_and_are_as_they_were() {
    let bench = Bench::new();
    frozen::worlds(&bench);
    frozen::logs(&bench);
    frozen::runs(&bench);
    let commands = std::fs::read_to_string(folder().join("screens.txt")).expect("the commands");
    let mut wrong = String::new();
    for line in commands.lines().filter(|line| !line.starts_with('#')) {
        let known: Vec<String> = bench.heads().into_iter().map(|head| head.id).collect();
        let sizes = if happens_once(line) { &SIZES[..1] } else { &SIZES[..] };
        for fault in sizes.iter().flat_map(|size| check(&bench, &known, line, *size)) {
            let _ = writeln!(wrong, "{fault}");
        }
    }
    assert!(wrong.is_empty(), "changed (BOXSCORE_FROZEN=accept takes it):\n{wrong}");
}
