//! Findings as notes behind marks: `!` doubtful, `x` refused, `ok` the checks that found nothing.
//!
//! Findings of one rule are one line, however many figures they are about. What could not be checked is counted,
//! with its rules.

use std::borrow::Cow;

use model::doc::{CompareDoc, RunDoc};
use model::finding::Rule;
use model::format::count;
use model::note::{Dropped, NoteBody, dropped};
use model::older::{self, Older};
use model::{Finding, Validity};

use super::fit::{Part, Rank};
use super::fold::{self, Headlines};
use super::{Look, Tone, hang, hang_painted, width};

/// One note: its state, the rule that it is of, and its sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Note<'a> {
    pub state: Validity,
    pub rule: &'a Rule,
    pub text: String,
}

/// The doubtful and refused findings, worst last, one line a rule.
pub fn doubts<'a>(findings: &'a [Finding], headlines: &Headlines) -> Vec<Note<'a>> {
    by_state(findings, |found| fold::sentences(found, headlines))
}

/// The same as text: in full where all was asked for, else one short line a cause.
pub fn doubt_lines(findings: &[Finding], headlines: &Headlines, look: Look) -> String {
    if look.all {
        return doubts(findings, headlines).iter().map(|note| line(note.state, &note.text, look)).collect();
    }
    brief_doubts(findings, headlines).iter().map(|note| line(note.state, &note.text, look)).collect()
}

/// The doubtful and refused findings, worst last, one short line a cause.
pub fn brief_doubts<'a>(findings: &'a [Finding], headlines: &Headlines) -> Vec<Note<'a>> {
    by_state(findings, |found| fold::briefs(found, headlines))
}

fn by_state<'a>(
    findings: &'a [Finding],
    lines: impl Fn(&[&'a Finding]) -> Vec<fold::Line<'a>>,
) -> Vec<Note<'a>> {
    let of_state = |state: Validity| {
        let found: Vec<&Finding> = findings.iter().filter(|finding| finding.state == state).collect();
        lines(&found).into_iter().map(move |fold::Line { rule, text }| Note { state, rule, text })
    };
    [Validity::Doubtful, Validity::Invalid].into_iter().flat_map(of_state).collect()
}

/// A run's headline figures.
pub fn headlines(run: &RunDoc) -> Headlines {
    let heads = run.series.iter().filter(|series| series.headline);
    Headlines::new(run.cards, heads.map(|one| (one.instrument.as_str(), one.metric.as_str(), &one.params)))
}

/// A comparison's headline figures.
pub fn headlines_compared(doc: &CompareDoc) -> Headlines {
    let heads = doc.rows.iter().filter(|row| row.headline);
    Headlines::new(doc.cards, heads.map(|one| (one.instrument.as_str(), one.metric.as_str(), &one.params)))
}

/// Rules that found nothing, each with a few words where it has some; and rules that could not look.
pub fn quiet(findings: &[Finding], state: Validity) -> Vec<String> {
    let mut out: Vec<(&str, String)> = Vec::new();
    // Where a figure comes from is said beside it, and is no check.
    let is_check = |finding: &&Finding| !matches!(finding.rule, Rule::Guest(_));
    for finding in findings.iter().filter(|finding| finding.state == state).filter(is_check) {
        let kind = finding.kind();
        let worse = findings.iter().any(|other| other.kind() == kind && other.state > state);
        if worse || out.iter().any(|(known, _)| *known == kind) {
            continue;
        }
        let text = finding.text();
        let short = text.len() <= 24 && state == Validity::Ok;
        out.push((kind, if short { text } else { kind.to_owned() }));
    }
    out.into_iter().map(|(_, words)| words).collect()
}

/// Mark and colour of a state.
pub const fn mark(state: Validity) -> (&'static str, Tone) {
    match state {
        Validity::Ok => ("ok", Tone::Good),
        Validity::Unknown => ("-", Tone::Dim),
        Validity::Doubtful => ("!", Tone::Warn),
        Validity::Invalid => ("x", Tone::Bad),
    }
}

/// One marked note, wrapped.
pub fn line(state: Validity, text: &str, look: Look) -> String {
    let (mark, tone) = mark(state);
    marked(mark, tone, text, look)
}

/// A text behind a mark, wrapped.
pub fn marked(mark: &str, tone: Tone, text: &str, look: Look) -> String {
    let painted = format!("{} ", tone.paint(mark, look.paint));
    hang_painted(&painted, width(mark) + 1, text, look.columns)
}

/// Cells that could not run, or not go on, one line a reason:
/// `not run: net-rdma size=64 and 7 more: no RDMA device here`.
fn unfit(run: &RunDoc) -> Vec<String> {
    let unfit = dropped(&run.notes).filter_map(|body| match body {
        NoteBody::Unfit(cell) => Some(cell),
        _ => None,
    });
    let given_up = dropped(&run.notes).filter_map(|body| match body {
        NoteBody::GivenUp(cell) => Some(cell),
        _ => None,
    });
    [reasons(unfit, "not run"), reasons(given_up, "given up")].concat()
}

/// The dropped cells, one line a reason.
fn reasons<'r>(cells: impl Iterator<Item = &'r Dropped>, says: &str) -> Vec<String> {
    let mut reasons: Vec<(&str, Cow<'r, str>, usize)> = Vec::new();
    for cell in cells {
        let why = cell.reason();
        match reasons.iter_mut().find(|(_, known, _)| *known == why) {
            Some((_, _, more)) => *more += 1,
            None => reasons.push((&cell.what, why, 0)),
        }
    }
    let line = |(what, why, more)| match more {
        0 => format!("{says}: {what}: {why}"),
        more => format!("{says}: {what} and {more} more: {why}"),
    };
    reasons.into_iter().map(line).collect()
}

/// The wanted notes, each text once.
fn texts(run: &RunDoc, is_wanted: fn(&NoteBody) -> bool, look: Look) -> String {
    let mut texts: Vec<Cow<'_, str>> = Vec::new();
    for note in run.notes.iter().filter(|note| is_wanted(&note.body)) {
        if !texts.contains(&note.text()) {
            texts.push(note.text());
        }
    }
    texts.into_iter().map(|text| marked("-", Tone::Dim, &text, look)).collect()
}

/// How a cluster of Hadoop's was set up, and why so.
fn is_of_cluster(note: &NoteBody) -> bool {
    matches!(note, NoteBody::Remark { kind, .. } if kind == "hadoop")
}

/// Notes that stand below the figures of every run.
fn is_shown(note: &NoteBody) -> bool {
    matches!(
        note,
        NoteBody::User(_)
            | NoteBody::Again(_)
            | NoteBody::Command(_)
            | NoteBody::NoProfile(_)
            | NoteBody::StoreHolds(_)
            | NoteBody::StoreEvicts(_)
            | NoteBody::KeysLeft(_)
    )
}

/// The blocks that were measured again.
pub fn again(run: &RunDoc, look: Look) -> Part {
    let again = texts(run, |note| matches!(note, NoteBody::Again(_)), look);
    Part::new(again).or(Rank::Reason, "blocks measured again", "")
}

/// The compilers and virtual machines that a run's figures are of.
pub fn tools(run: &RunDoc, look: Look) -> Part {
    let tools = texts(run, |note| matches!(note, NoteBody::Toolchain(_) | NoteBody::Bits(_)), look);
    Part::new(tools).or(Rank::Reason, "toolchains", "")
}

/// The programs of the servers that were started, where they are several or all was asked for.
pub fn builds(run: &RunDoc, look: Look) -> Part {
    let builds = run.notes.iter().filter_map(|note| match &note.body {
        NoteBody::ServerBuild(build) => Some(build.name()),
        _ => None,
    });
    let mut names: Vec<String> = Vec::new();
    for name in builds {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() || (names.len() < 2 && !look.all) {
        return Part::default();
    }
    let many = if names.len() == 1 { "server" } else { "servers" };
    let text = marked("-", Tone::Dim, &format!("{many}: {}", names.join(", ")), look);
    Part::new(text).or(Rank::Reason, "servers", "")
}

/// The doubts as a part of a screen: in fewer lines the refusals and the first doubts, the others by their causes.
pub fn doubts_part(findings: &[Finding], headlines: &Headlines, look: Look) -> Part {
    let part = Part::new(doubt_lines(findings, headlines, look));
    if look.all {
        return part;
    }
    let notes = brief_doubts(findings, headlines);
    let (doubts, refusals): (Vec<&Note<'_>>, Vec<&Note<'_>>) =
        notes.iter().partition(|note| note.state != Validity::Invalid);
    let set =
        |some: &[&Note<'_>]| some.iter().map(|note| line(note.state, &note.text, look)).collect::<String>();
    let shorter = |(part, kept): (Part, usize)| {
        let (first, others) = doubts.split_at(kept);
        let mut causes: Vec<String> = Vec::new();
        for note in others {
            let cause = note.rule.topic();
            causes.extend((!causes.contains(&cause)).then_some(cause));
        }
        let more = if first.is_empty() { "doubt" } else { "more doubt" };
        let text = format!("{}: {}", count(others.len(), more), causes.join(", "));
        let folded = line(Validity::Doubtful, &text, look);
        part.or(
            Rank::Doubt,
            count(others.len(), "doubt"),
            format!("{}{folded}{}", set(first), set(&refusals)),
        )
    };
    (0..doubts.len().saturating_sub(1)).rev().fold(part, |part, kept| shorter((part, kept)))
}

/// Everything to be said below a run's figures, in the parts of a screen.
pub fn of_run(run: &RunDoc, look: Look) -> Vec<Part> {
    let findings: Vec<Finding> =
        run.findings.iter().filter(|one| !one.rule.is_told_first()).cloned().collect();
    let mut parts = vec![doubts_part(&findings, &headlines(run), look), faults(run, look)];
    let unfit: Vec<String> = unfit(run).iter().map(|text| marked("-", Tone::Dim, text, look)).collect();
    parts.push(fewer(&unfit, Rank::Doubt, "reason"));
    parts.push(Part::new(older(run, look)).or(Rank::Hint, "definitions", ""));
    parts.push(texts(run, is_shown, look).into());
    parts.push(tools(run, look));
    parts.push(builds(run, look));
    let is_alone = parts.iter().all(Part::is_empty);
    let other = if is_alone { "" } else { "other " };
    if !look.all {
        parts.push(Part::new(checks(&run.findings, other, look)).or(Rank::Hint, "", ""));
        return parts;
    }
    let mut out = String::new();
    let ok = quiet(&run.findings, Validity::Ok);
    if !ok.is_empty() {
        let plural = if ok.len() == 1 { "check" } else { "checks" };
        let text = format!("{} {other}{plural} ({})", ok.len(), ok.join(", "));
        out.push_str(&marked("ok:", Tone::Good, &text, look));
    }
    let unknown = quiet(&run.findings, Validity::Unknown);
    if !unknown.is_empty() {
        let plural = if unknown.len() == 1 { "check lacks its" } else { "checks lack their" };
        let text = format!("{} {plural} inputs here ({})", unknown.len(), unknown.join(", "));
        out.push_str(&marked("-", Tone::Dim, &text, look));
    }
    out.push_str(&texts(run, is_of_cluster, look));
    parts.push(out.into());
    parts
}

/// Instruments that were measured by an older definition than that of today.
fn older(run: &RunDoc, look: Look) -> String {
    let all = Older::among(run.series.iter().map(|one| (one.instrument.as_str(), one.definition)), run.cards);
    Older::sentence(&all, older::OF_RUN).map_or_else(String::new, |told| marked("-", Tone::Dim, &told, look))
}

/// Paragraphs of a screen, of which the last ones are left out where there is no room.
pub fn fewer(texts: &[String], rank: Rank, what: &str) -> Part {
    let part = Part::new(texts.concat());
    let shorter = |part: Part, kept: usize| {
        let left = count(texts.len() - kept, &format!("more {what}"));
        part.or(rank, left, texts[..kept].concat())
    };
    (1..texts.len()).rev().fold(part, shorter)
}

/// Numbered notes on how figures were compared; fewer where there is no room.
pub fn numbered(footnotes: &[String], look: Look) -> Part {
    let set = |(at, note): (usize, &String)| hang(&format!("{}. ", at + 1), note, look.columns);
    let lines: Vec<String> = footnotes.iter().enumerate().map(set).collect();
    (0..lines.len()).rev().fold(Part::new(lines.concat()), |part, kept| {
        part.or(Rank::Reason, count(lines.len() - kept, "note"), lines[..kept].concat())
    })
}

/// The kinds of faults of a run's takes.
fn faults(run: &RunDoc, look: Look) -> Part {
    const MOST: usize = 5;
    let set = |most: usize| {
        let mut out = String::new();
        for (text, times) in run.errors.iter().take(most) {
            let times = if *times > 1 { format!(" ({times} times)") } else { String::new() };
            out.push_str(&line(Validity::Invalid, &format!("a take faulted: {text}{times}"), look));
        }
        if run.errors.len() > most {
            let more = format!("{} more kinds of fault, see the report", run.errors.len() - most);
            out.push_str(&line(Validity::Invalid, &more, look));
        }
        out
    };
    Part::new(set(MOST)).or(Rank::Doubt, "", set(2)).or(Rank::Doubt, "", set(1))
}

/// One line for the rules that found nothing and those that could not look: `ok: 7 checks (3 more lack their inputs)`.
pub fn checks(findings: &[Finding], other: &str, look: Look) -> String {
    let (ok, unknown) = (quiet(findings, Validity::Ok).len(), quiet(findings, Validity::Unknown).len());
    if ok + unknown == 0 {
        return String::new();
    }
    let mut text = format!("{ok} {other}check{}", if ok == 1 { "" } else { "s" });
    if unknown > 0 {
        text.push_str(&format!(" ({unknown} more lack their inputs here)"));
    }
    marked("ok:", Tone::Good, &text, look)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_is_said_once() {
        let mut findings: Vec<Finding> =
            (0..3).map(|_| Finding::foreign("clock", Validity::Doubtful, "clock fell")).collect();
        findings.push(Finding::foreign("drift", Validity::Invalid, "broken"));
        let notes = doubts(&findings, &Headlines::default());
        assert_eq!(notes.iter().map(|note| note.text.as_str()).collect::<Vec<_>>(), ["clock fell", "broken"]);
    }

    #[test]
    fn a_rule_that_found_something_is_not_ok_as_well() {
        let findings = [
            Finding::foreign("clock", Validity::Ok, "clock held"),
            Finding::foreign("clock", Validity::Doubtful, "clock fell"),
            Finding::foreign("steal", Validity::Ok, "steal 0"),
            Finding::foreign("swap", Validity::Ok, "no page went to swap or came back in the whole run"),
        ];
        assert_eq!(quiet(&findings, Validity::Ok), ["steal 0", "swap"]);
    }

    #[test]
    fn a_finding_names_its_subject() {
        let finding = Finding::foreign("x", Validity::Doubtful, "3 us a flush");
        let finding = finding.about(model::Subject::instrument("disk-fsync"));
        assert_eq!(fold::sentence(&finding, instruments::cards()), "disk fsync: 3 us a flush");
    }
}
