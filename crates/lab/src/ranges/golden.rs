//! Agreement with ClusterShell: a table of expressions and the names that it makes of them, and random expressions read
//! by its own library. `a01` and `a1` are two names in both; where this grammar differs, the table says how.

use std::io::Write;
use std::process::{Command, Stdio};

use model::mutate::Dice;

use super::{DefaultName, Known, expand, fold};

const TABLE: &str = include_str!("golden.tsv");
/// Reads expressions, one a line, and prints their names, or `error`.
const LIBRARY: &str = r"
import sys
from ClusterShell.NodeSet import NodeSet, NodeSetException
for line in sys.stdin:
    try:
        print(','.join(NodeSet(line.rstrip('\n'))))
    except NodeSetException:
        print('error')
";
const RANDOM: usize = 2000;

struct Line {
    text: &'static str,
    theirs: &'static str,
    ours: &'static str,
}

fn table() -> Vec<Line> {
    let read = |line: &'static str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [text, theirs, ours] = fields[..] else { panic!("three columns: {line:?}") };
        Line { text, theirs, ours }
    };
    TABLE.lines().filter(|line| !line.starts_with('#')).map(read).collect()
}

fn known() -> Known {
    Known::with_defaults(DefaultName::parse("n%d"), Some([192, 168, 5]))
}

/// The names of an expression in the order of the alphabet, or the column at which it is refused.
fn ours(text: &str) -> Result<Vec<String>, usize> {
    let expanded = expand(text, &known()).map_err(|error| error.column)?;
    Ok(sorted(expanded.names.iter()))
}

fn sorted<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut names: Vec<String> = names.map(str::to_owned).collect();
    names.sort();
    names
}

#[test]
fn the_golden_table_holds() {
    assert!(table().len() >= 38);
    for Line { text, theirs, ours: wanted } in table() {
        let found = ours(text);
        match wanted.strip_prefix("error ") {
            Some(column) => {
                assert_eq!(found.as_ref().err(), column.parse().ok().as_ref(), "{text}: {found:?}")
            }
            None => {
                let names = ours(if wanted == "=" { theirs } else { wanted });
                assert!(found.is_ok() && found == names, "{text}: {found:?}");
                let folded = fold(found.iter().flatten().map(String::as_str));
                assert_eq!(ours(&folded), found, "{text} folds to {folded}");
            }
        }
    }
}

/// The names that ClusterShell makes of expressions, by the interpreter of the distribution, which has its library;
/// `None` where it is not installed.
fn clustershell(texts: &[String]) -> Option<Vec<Result<Vec<String>, ()>>> {
    let python = Command::new("/usr/bin/python3")
        .args(["-c", LIBRARY])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut python = python.ok()?;
    let mut stdin = python.stdin.take()?;
    let input = texts.join("\n") + "\n";
    // The answers are read while the rest is written: a pipe holds only so much.
    let writer = std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    let output = python.wait_with_output().ok()?;
    writer.join().ok()?;
    let answers = String::from_utf8(output.stdout).ok()?;
    let one = |line: &str| match line {
        "error" => Err(()),
        line => Ok(sorted(line.split(',').filter(|name| !name.is_empty()))),
    };
    let answers: Vec<_> = answers.lines().map(one).collect();
    (output.status.success() && answers.len() == texts.len()).then_some(answers)
}

/// Says why a test cannot run here; where everything must be tested, that is a failure.
#[expect(clippy::print_stderr, reason = "a test that did not run must say so")]
fn cannot(why: &str) {
    assert!(std::env::var("CI").is_err(), "this test cannot run here: {why}");
    eprintln!("not tested here: {why}");
}

const MISSING: &str = "ClusterShell is not installed: apt-get install clustershell";

#[test]
fn the_installed_clustershell_reads_the_table_alike() {
    let same: Vec<Line> = table().into_iter().filter(|line| line.ours == "=").collect();
    let texts: Vec<String> = same.iter().map(|line| line.text.to_owned()).collect();
    let Some(answers) = clustershell(&texts) else { return cannot(MISSING) };
    for (line, answer) in same.iter().zip(answers) {
        assert_eq!(ours(line.text).ok(), answer.ok(), "{}", line.text);
    }
    // The program, not only its library.
    let said = Command::new("nodeset").args(["-e", "-S", ",", "rack[1-2]node[01-03]!rack1node02"]).output();
    let Ok(said) = said else { return cannot(MISSING) };
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert_eq!(Ok(sorted(said.trim().split(','))), ours("rack[1-2]node[01-03]!rack1node02"));
}

/// One element that both read: letters, a number or a bracket, once or twice.
fn element(dice: &mut Dice) -> String {
    let mut text = (*dice.pick(&["a", "b", "n-", "rack"]).unwrap_or(&"a")).to_owned();
    for _ in 0..=dice.below(2) {
        let width = dice.below(3) + 1;
        let number = |dice: &mut Dice| format!("{:0width$}", dice.below(12));
        match dice.below(4) {
            0 => text.push_str(&number(dice)),
            _ => {
                let mut ranges = Vec::new();
                for _ in 0..=dice.below(3) {
                    let (one, two) = (dice.below(120), dice.below(120));
                    let (from, to) = (one.min(two), one.max(two));
                    ranges.push(match dice.below(4) {
                        0 => format!("{from}"),
                        1 => format!("{from:03}-{to:03}"),
                        2 => format!("{from}-{to}/{}", dice.below(5) + 1),
                        _ => format!("{from}-{to}"),
                    });
                }
                text.push_str(&format!("[{}]", ranges.join(",")));
            }
        }
        text.push_str(dice.pick(&["m", "-x", ".lab", "n"]).unwrap_or(&"m"));
    }
    if dice.below(3) == 0 {
        text.trim_end_matches(|c: char| !c.is_ascii_digit() && c != ']').to_owned()
    } else {
        text
    }
}

fn expression(dice: &mut Dice) -> String {
    let mut text = element(dice);
    for _ in 0..dice.below(4) {
        text.push_str(dice.pick(&[",", "!", "&", "^", ",", "!"]).unwrap_or(&","));
        text.push_str(&element(dice));
    }
    text
}

#[test]
fn the_installed_clustershell_reads_random_expressions_alike() {
    let mut dice = Dice::new(24);
    let texts: Vec<String> = (0..RANDOM).map(|_| expression(&mut dice)).collect();
    let Some(answers) = clustershell(&texts) else { return cannot(MISSING) };
    for (text, answer) in texts.iter().zip(&answers) {
        match (expand(text, &known()), answer) {
            (Ok(expanded), Ok(names)) => assert_eq!(&sorted(expanded.names.iter()), names, "{text}"),
            // An empty set is an error here, and so are more names than the limit.
            (Err(error), Ok(names)) if names.is_empty() => {
                assert!(error.what.contains("nothing is left"), "{text}")
            }
            (ours, theirs) => panic!("{text}: {ours:?} and {theirs:?}"),
        }
    }
}
