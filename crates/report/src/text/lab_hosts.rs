//! Answers of many hosts as text: outputs that are the same together, and a line for each way in which commands ended.
//!
//! Output of hosts is shown without control characters.

use model::doc::{LabCopyDoc, LabExitDoc, LabRunDoc, LabTextDoc};
use model::format::count;

/// The outputs, each once below a line with its hosts; `what` is added to that line.
pub fn folded(texts: &[LabTextDoc], what: &str) -> String {
    let mut out = String::new();
    for text in texts {
        let shown = plain(&text.text);
        out.push_str(&format!("--- {}{what}: {}\n{shown}", count(text.count, "host"), text.hosts));
        if !shown.ends_with('\n') {
            out.push('\n');
        }
    }
    out
}

/// Text of a host as lines with its name before them.
pub fn lines(host: &str, text: &str) -> String {
    text.lines().map(|line| format!("{host}: {line}\n")).collect()
}

/// Text without control characters other than line ends and tabs.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.replace("\r\n", "\n").chars() {
        if letter.is_control() && letter != '\n' && letter != '\t' {
            out.extend(letter.escape_default());
        } else {
            out.push(letter);
        }
    }
    out
}

/// How the commands ended, and what is odd about an output.
pub fn exits(doc: &LabRunDoc) -> String {
    let mut out = table(&doc.exits);
    for host in &doc.hosts {
        if let Some(greeting) = &host.greeting {
            out.push_str(&format!(
                "note: {}: its shell prints before commands, which is no output of theirs: {greeting}\n",
                host.host
            ));
        }
        if !host.marked && host.exit.is_some() {
            out.push_str(&format!(
                "note: {}: a forced command or a shell of another kind answered\n",
                host.host
            ));
        }
        if host.cut > 0 {
            out.push_str(&format!("note: {}: {} bytes of its output are left out\n", host.host, host.cut));
        }
    }
    out
}

fn table(exits: &[LabExitDoc]) -> String {
    let mut out = String::new();
    for exit in exits {
        let hosts = count(exit.count, "host");
        let line = match (exit.exit, &exit.why) {
            (Some(0), _) => format!("exit 0: {hosts}"),
            (Some(code), _) => format!("exit {code}: {hosts}: {}", exit.hosts),
            (None, Some(why)) => format!("failed: {hosts}: {}: {why}", exit.hosts),
            (None, None) => format!("failed: {hosts}: {}", exit.hosts),
        };
        out.push_str(&format!("{line}\n"));
        if let Some(hint) = &exit.hint {
            out.push_str(&format!(" hint: {hint}\n"));
        }
    }
    out
}

/// Copies that were made, and those that were not.
pub fn copied(doc: &LabCopyDoc) -> String {
    let ok: Vec<_> = doc.hosts.iter().filter(|host| host.ok).collect();
    let by_size = ok.iter().filter(|host| host.verified.as_deref() == Some("size")).count();
    let files = count(doc.files.len(), "file");
    let mut out = String::new();
    if !ok.is_empty() {
        let how = match by_size {
            0 => "verified by sha256".to_owned(),
            some => format!("{} verified by size alone, for want of sha256sum", count(some, "host")),
        };
        out.push_str(&format!("copied: {}: {files} each, {how}\n", count(ok.len(), "host")));
    }
    out.push_str(&table(&doc.failures));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_are_the_same_stand_once_and_change_no_terminal() {
        let text =
            |count, hosts: &str, text: &str| LabTextDoc { count, hosts: hosts.into(), text: text.into() };
        let all = [text(130, "atom[001-130]", "6.18\r\n"), text(1, "atom131", "a\x1b[2J\tb")];
        assert_eq!(
            folded(&all, ", stderr"),
            "--- 130 hosts, stderr: atom[001-130]\n6.18\n--- 1 host, stderr: atom131\na\\u{1b}[2J\tb\n"
        );
        assert_eq!(lines("a", "x\ny"), "a: x\na: y\n");
    }

    #[test]
    fn every_end_has_a_line() {
        let exit = |count, hosts: &str, exit, why: Option<&str>| LabExitDoc {
            count,
            hosts: hosts.into(),
            exit,
            failure: why.map(|_| "refused".into()),
            why: why.map(Into::into),
            hint: why.map(|_| "start it".into()),
        };
        let exits = [
            exit(9, "a[1-9]", Some(0), None),
            exit(1, "b", Some(255), None),
            exit(2, "c[1-2]", None, Some("no")),
        ];
        assert_eq!(
            table(&exits),
            "exit 0: 9 hosts\nexit 255: 1 host: b\nfailed: 2 hosts: c[1-2]: no\n hint: start it\n"
        );
    }
}
