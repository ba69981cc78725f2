//! Answers of many hosts as text: outputs that are the same together, and a line for each way in which commands ended.
//!
//! Output of hosts is shown without control characters.

use model::Unit;
use model::doc::{LabCheckDoc, LabCopiedDoc, LabCopyDoc, LabExitDoc, LabRunDoc, LabSentDoc, LabTextDoc};
use model::format::{count, duration, quantity};

use super::grid::{Align, Cell, Grid};

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
pub(super) fn plain(text: &str) -> String {
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
    if ok.iter().any(|host| host.sent.is_some()) {
        return format!("{}{}", sent(&ok), table(&doc.failures));
    }
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

/// A tree on hosts, and the files of it that were sent, hosts that are alike together.
fn sent(ok: &[&LabCopiedDoc]) -> String {
    let mut groups: Vec<(&LabSentDoc, Vec<&str>)> = Vec::new();
    for host in ok {
        let Some(sent) = &host.sent else { continue };
        match groups.iter_mut().find(|(one, _)| *one == sent) {
            Some((_, names)) => names.push(&host.host),
            None => groups.push((sent, vec![&host.host])),
        }
    }
    let Some(first) = ok.first() else { return String::new() };
    let size = quantity(first.bytes as f64, Unit::Byte);
    let whole = count(ok.len(), "host");
    let mut out =
        format!("content: {whole}: {} each ({size}), verified by sha256\n", count(first.files, "file"));
    let is_one = groups.len() == 1;
    for (sent, names) in groups {
        let hosts = count(names.len(), "host");
        let names = if is_one { String::new() } else { format!(" {}:", names.join(",")) };
        let what = match &sent.by {
            Some(by) => {
                let size = quantity(sent.bytes as f64, Unit::Byte);
                format!("sent {} ({size}) by {by}", count(sent.files, "file"))
            }
            None => "nothing to send".to_owned(),
        };
        let others = match sent.others {
            0 => String::new(),
            some => format!("; {} there that the tree does not have", count(some, "file")),
        };
        out.push_str(&format!("{hosts}:{names} {what}{others}\n"));
    }
    out
}

/// Machines by their results: a line for those that are equal, then what is wrong with which.
pub fn checked(doc: &LabCheckDoc) -> String {
    let mut heads =
        vec!["nodes", "count", "reached", "login", "sudo", "architecture", "free", "clock off by"];
    let asked = doc.groups.iter().any(|group| group.result.bmc.is_some());
    if asked {
        heads.push("BMC says");
    }
    let right = ["count", "free", "clock off by"];
    let align = |head: &'static str| (head, if right.contains(&head) { Align::Right } else { Align::Left });
    let mut grid = Grid::new(&heads.into_iter().map(align).collect::<Vec<_>>());
    let word = |known: Option<bool>| known.map_or("?", |is| if is { "yes" } else { "no" });
    let or_unknown = |known: Option<String>| Cell::from(known.unwrap_or_else(|| "?".to_owned()));
    for group in &doc.groups {
        let result = &group.result;
        // Of several hosts, the least room and the clock that is furthest off.
        let (least, most) = if group.count > 1 { (">= ", "<= ") } else { ("", "") };
        let free = group.free_bytes.map(|free| format!("{least}{}", quantity(free as f64, Unit::Byte)));
        let off = group.clock_offset.map(|off| {
            // What is less than the error is no more than that.
            let within = group.clock_within.unwrap_or(0.0);
            let sign = if off.abs() <= within { "<= " } else { most };
            format!("{sign}{}", duration(off.abs().max(within)))
        });
        let mut row = vec![
            Cell::from(group.hosts.clone()),
            Cell::from(group.count.to_string()),
            Cell::from(word(result.reachable)),
            Cell::from(word(result.key)),
            or_unknown(result.sudo.clone()),
            or_unknown(result.architecture.clone()),
            or_unknown(free),
            or_unknown(off),
        ];
        if asked {
            row.push(Cell::from(result.bmc.as_deref().unwrap_or_default()));
        }
        grid.row(row);
    }
    let mut out = grid.render(usize::MAX, false);
    for group in &doc.groups {
        for fault in &group.result.faults {
            out.push_str(&format!("faulty: {}: {}\n", group.hosts, fault.why));
            if let Some(hint) = &fault.hint {
                out.push_str(&format!(" hint: {hint}\n"));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use model::doc::{LabCheckGroupDoc, LabFaultDoc, LabResultDoc};

    use super::*;

    #[test]
    fn equal_results_share_a_line_and_faults_name_their_machines() {
        let fault = LabFaultDoc { kind: "refused".into(), why: "it refused".into(), hint: Some("on".into()) };
        let well = LabResultDoc {
            reachable: Some(true),
            key: Some(true),
            sudo: Some("yes".into()),
            architecture: Some("x86_64".into()),
            bmc: None,
            faults: vec![],
        };
        let ill = LabResultDoc { reachable: Some(false), faults: vec![fault], ..LabResultDoc::default() };
        let group = |count, hosts: &str, result, offset: Option<f64>| LabCheckGroupDoc {
            count,
            hosts: hosts.into(),
            ok: offset.is_some(),
            result,
            free_bytes: offset.map(|_| 1 << 30),
            clock_offset: offset,
            clock_within: offset.map(|_| 0.004),
        };
        let groups = vec![group(3, "a[1-3]", well, Some(0.001)), group(1, "b", ill, None)];
        let doc = LabCheckDoc {
            schema: String::new(),
            folder: "~".into(),
            hosts: vec![],
            groups,
            interrupted: false,
        };
        let mut with_bmcs = doc.clone();
        with_bmcs.groups[0].result.bmc = Some("on".into());
        assert!(checked(&with_bmcs).contains("clock off by  BMC says\n"), "{}", checked(&with_bmcs));
        assert_eq!(
            checked(&doc),
            "nodes   count  reached  login  sudo  architecture         free  clock off by\n\
             a[1-3]      3  yes      yes    yes   x86_64        >= 1.00 GiB    <= 4.00 ms\n\
             b           1  no       ?      ?     ?                       ?             ?\n\
             faulty: b: it refused\n hint: on\n"
        );
    }

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
