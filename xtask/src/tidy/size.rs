//! Files open with `//!`; files, functions and lines have a longest length.
//!
//! A file listed in [`EXCEPTIONS`] may be as long as it says, and no longer: the number only goes down.

use super::code::functions;
use super::source::{Complaint, Source, lines};

/// Lines `file PATH LINES`, `function PATH NAME LINES` and `columns PATH COLUMNS`; `#` starts a remark.
pub const EXCEPTIONS: &str = "xtask/tidy-exceptions.txt";
const FILE: usize = 600;
const FUNCTION: usize = 70;
const COLUMNS: usize = 120;

pub fn check(sources: &[Source], exceptions: &str) -> Vec<Complaint> {
    let mut lengths: Vec<(String, usize)> = Vec::new();
    let mut complaints = Vec::new();
    for source in sources.iter().filter(|source| source.is_rust()) {
        if !source.text.trim_start().starts_with("//!") {
            let what = "begin with `//!`: what this file does, its units, what it does not count";
            complaints.push(Complaint::new(&source.path, 1, what));
        }
        let key = format!("columns {}", source.path);
        let limit = allowed(exceptions, &key).unwrap_or(COLUMNS);
        let mut longest = 0;
        for ((number, line), code) in lines(&source.text).zip(source.code.lines()) {
            let columns = columns(line, code);
            longest = longest.max(columns);
            if columns > limit {
                let what = format!("{columns} columns; break the line at {COLUMNS}");
                complaints.push(Complaint::new(&source.path, number, what));
            }
        }
        lengths.push((key, longest));
        if source.text.starts_with(crate::generate::MARKER) {
            continue;
        }
        let count = source.text.lines().count();
        let key = format!("file {}", source.path);
        if count > allowed(exceptions, &key).unwrap_or(FILE) {
            let what = format!("{count} lines; split the file by topic below {FILE}");
            complaints.push(Complaint::new(&source.path, 0, what));
        }
        lengths.push((key, count));
        for function in functions(&source.code) {
            let count = function.last - function.first + 1;
            let key = format!("function {} {}", source.path, function.name);
            if count > allowed(exceptions, &key).unwrap_or(FUNCTION) {
                let what = format!("`{}` has {count} lines; take steps out below {FUNCTION}", function.name);
                complaints.push(Complaint::new(&source.path, function.first, what));
            }
            lengths.push((key, count));
        }
    }
    complaints.extend(ratchet(exceptions, &lengths));
    complaints
}

/// Columns of a line; what stands in string literals is not counted, since nothing can break it.
fn columns(line: &str, code: &str) -> usize {
    let all = line.chars().count();
    match line.trim_start().starts_with("//") {
        true => all,
        false => all - line.chars().zip(code.chars()).filter(|(shown, kept)| shown != kept).count(),
    }
}

fn entries(exceptions: &str) -> impl Iterator<Item = (usize, &str, Option<usize>)> {
    lines(exceptions).filter(|(_, line)| !line.is_empty() && !line.starts_with('#')).map(|(number, line)| {
        match line.rsplit_once(' ') {
            Some((key, length)) => (number, key, length.parse().ok()),
            None => (number, line, None),
        }
    })
}

fn allowed(exceptions: &str, key: &str) -> Option<usize> {
    entries(exceptions).find(|(_, listed, _)| *listed == key).and_then(|(.., length)| length)
}

/// Exceptions that are malformed, not needed, or larger than needed.
fn ratchet(exceptions: &str, lengths: &[(String, usize)]) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (number, key, length) in entries(exceptions) {
        let limit = match key.split(' ').next() {
            Some("file") => FILE,
            Some("columns") => COLUMNS,
            _ => FUNCTION,
        };
        let now = lengths.iter().filter(|(known, _)| known == key).map(|(_, count)| *count).max();
        let what = match (length, now) {
            (None, _) => "write `file PATH LINES`, `function PATH NAME LINES` or `columns PATH N`".to_owned(),
            (_, None) => "nothing of that name is left; delete this line".to_owned(),
            (_, Some(now)) if now <= limit => "no longer needed; delete this line".to_owned(),
            (Some(length), Some(now)) if now < length => format!("now {now}; lower the number"),
            _ => continue,
        };
        complaints.push(Complaint::new(EXCEPTIONS, number, what));
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(length: usize) -> Source {
        Source::new("crates/a/src/x.rs", "//! x\n".repeat(length))
    }

    fn function(length: usize) -> Source {
        let body = "    f();\n".repeat(length - 2);
        Source::new("crates/a/src/x.rs", format!("//! x\nfn long() {{\n{body}}}\n"))
    }

    #[test]
    fn limits_hold_to_the_line() {
        assert_eq!(check(&[file(FILE)], ""), []);
        assert_eq!(check(&[file(FILE + 1)], "").len(), 1);
        assert_eq!(check(&[function(FUNCTION)], ""), []);
        let found = check(&[function(FUNCTION + 1)], "");
        assert!(found[0].to_string().starts_with("crates/a/src/x.rs:2: `long` has 71 lines"), "{found:?}");
    }

    #[test]
    fn an_exception_is_a_ratchet() {
        let key = "function crates/a/src/x.rs long";
        assert_eq!(check(&[function(80)], &format!("# why\n{key} 80\n")), []);
        assert_eq!(check(&[function(81)], &format!("{key} 80\n")).len(), 1);
        assert!(check(&[function(79)], &format!("{key} 80\n"))[0].what.contains("lower the number"));
        assert!(check(&[function(60)], &format!("{key} 80\n"))[0].what.contains("no longer needed"));
        assert!(check(&[], &format!("{key} 80\n"))[0].what.contains("nothing of that name"));
        assert!(check(&[], "nonsense\n")[0].what.starts_with("write "));
    }

    #[test]
    fn a_file_says_what_it_is_and_lines_end() {
        assert_eq!(check(&[Source::new("crates/a/src/x.rs", "fn a() {}\n")], "").len(), 1);
        let text = format!("//! {}\n", "x".repeat(COLUMNS));
        assert_eq!(check(&[Source::new("crates/a/src/x.rs", text)], "").len(), 1);
        let text = format!("//! x\nconst A: &str = \"{}\";\n", "x".repeat(COLUMNS));
        assert_eq!(check(&[Source::new("crates/a/src/x.rs", text)], ""), []);
    }
}
