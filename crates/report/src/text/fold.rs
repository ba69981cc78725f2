//! Findings of one rule as one line: how bad at worst, how many figures, and the headline ones by name.
//!
//! A finding about a figure carries the figure's title as its subject; here it becomes people's name. Findings about
//! the parts of an index are details and are left out. Evidence is in base units; nothing is judged here.

use std::collections::BTreeSet;

use model::unit::Unit;
use model::{Finding, Params};

use super::names::{self, Key};
use super::{count, notes};
use crate::number::{self, Kind};

/// What a finding is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// The machine, in comparisons.
    pub side: String,
    /// People's name of the figure, or the subject as it is; empty for a finding about the whole run.
    pub name: String,
    /// A part of an index.
    pub detail: bool,
    /// Place of the figure on a page.
    pub rank: usize,
}

impl Subject {
    /// Takes a subject apart: `side: instrument metric k=v;k=v [arm]`.
    #[must_use]
    pub fn of(finding: &Finding) -> Subject {
        let text = finding.subject.as_str();
        let known = |text: &str| names::is_known(text.split(' ').next().unwrap_or(""));
        let (side, rest) = match text.split_once(": ") {
            Some((side, rest)) if !known(text) => (side, rest),
            _ => ("", text),
        };
        let mut words = rest.splitn(3, ' ');
        let instrument = words.next().unwrap_or("");
        let metric = words.next().unwrap_or("");
        let (pairs, arm) = match words.next().map(str::trim) {
            Some(rest) => rest.split_once(" [").unwrap_or((rest, "")),
            None => ("", ""),
        };
        let params = Params::parse(pairs).unwrap_or_default();
        let mut name = match (instrument, metric) {
            ("", _) => String::new(),
            (only, "") => names::says(only).unwrap_or(only).to_owned(),
            _ => names::label(Key { instrument, metric, params: &params }),
        };
        if params.get("threads") == Some("all") {
            name.push_str(" on all CPUs");
        }
        if !arm.is_empty() {
            name.push_str(&format!(" [{arm}"));
        }
        Subject {
            side: side.to_owned(),
            name,
            detail: names::is_detail(instrument, metric),
            rank: names::rank(instrument),
        }
    }
}

/// Findings of one rule, one state and one machine about single figures.
pub struct Group<'a> {
    side: &'a str,
    kind: &'a str,
    members: Vec<(&'a Finding, &'a Subject)>,
}

/// One sentence for each rule; findings about the whole run speak for themselves and stand first.
#[must_use]
pub fn sentences(findings: &[(&Finding, Subject)], headlines: &BTreeSet<String>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (finding, subject) in findings.iter().filter(|(_, subject)| !subject.detail) {
        if subject.name.is_empty() {
            let text = notes::said(finding);
            if !out.contains(&text) {
                out.push(text);
            }
            continue;
        }
        let member = (*finding, subject);
        match groups.iter_mut().find(|group| group.kind == finding.kind && group.side == subject.side) {
            Some(group) => group.members.push(member),
            None => groups.push(Group { side: &subject.side, kind: &finding.kind, members: vec![member] }),
        }
    }
    out.extend(groups.iter().map(|group| group.sentence(headlines)));
    out
}

impl Group<'_> {
    fn sentence(&self, headlines: &BTreeSet<String>) -> String {
        if let [(only, _)] = self.members.as_slice() {
            return notes::said(only);
        }
        let side = if self.side.is_empty() { String::new() } else { format!("{}: ", self.side) };
        format!("{side}{}", self.phrase(&self.figures(headlines)))
    }

    /// `31 figures (integer, floating, ...)`: headline figures by name, the others counted.
    fn figures(&self, headlines: &BTreeSet<String>) -> String {
        const MOST: usize = 4;
        let mut sorted: Vec<&Subject> = self.members.iter().map(|(_, subject)| *subject).collect();
        sorted.sort_by_key(|subject| (!headlines.contains(&subject.name), subject.rank));
        let mut named: Vec<&str> = Vec::new();
        for subject in &sorted {
            let wanted = headlines.contains(&subject.name) || headlines.is_empty();
            if wanted && !named.contains(&subject.name.as_str()) {
                named.push(&subject.name);
            }
        }
        let all = named.len() <= MOST && named.len() == self.members.len();
        named.truncate(MOST);
        let figures = count(self.members.len(), "figure");
        let between = if named.iter().any(|name| name.contains(',')) { "; " } else { ", " };
        let listed = named.join(between);
        match (named.is_empty(), all) {
            (true, _) => format!("{figures} that are no headline"),
            (false, true) => format!("{figures} ({listed})"),
            (false, false) => format!("{figures} ({listed}{between}…)"),
        }
    }

    /// The member with the largest evidence, and that evidence.
    fn worst(&self, evidence: &str) -> Option<(f64, &Finding, &Subject)> {
        let known = self
            .members
            .iter()
            .filter_map(|(finding, subject)| Some((*finding.evidence.get(evidence)?, *finding, *subject)));
        known.max_by(|a, b| a.0.abs().total_cmp(&b.0.abs()))
    }

    fn phrase(&self, figures: &str) -> String {
        let percent = |share: f64| number::percent(share.abs());
        let said = match self.kind {
            "background" => self.worst("cpus").map(|(cpus, ..)| {
                format!(
                    "other processes used up to {} CPUs during {figures}: end them (`top` shows which) and repeat",
                    number::number(cpus)
                )
            }),
            "clock" => self.worst("apart").and_then(|(apart, worst, subject)| {
                let clock = number::quantity(*worst.evidence.get("median")?, Kind::of(Unit::Hertz));
                let way = if apart < 0.0 { "below" } else { "above" };
                Some(format!(
                    "clock: {figures} had takes more than 3 % off the run's own {clock} (worst {} {way}: {})",
                    percent(apart),
                    subject.name
                ))
            }),
            "autocorrelation" => Some(format!(
                "successive takes of {figures} resemble each other: they count as fewer, their intervals are wider"
            )),
            "drift" => self.worst("change").map(|(change, _, subject)| {
                let way = if change < 0.0 { "fell" } else { "rose" };
                format!(
                    "{figures} drifted within the run (worst: {} {way} by {}): not settled; warm up longer or look at \
                     the clock",
                    subject.name,
                    percent(change)
                )
            }),
            "steal" => self.worst("share").map(|(share, ..)| {
                format!(
                    "the hypervisor took up to {} of the CPU time during {figures}: a neighbour was busy; repeat later",
                    percent(share)
                )
            }),
            "noisy-neighbour" => self.worst("floor").map(|(floor, ..)| {
                format!(
                    "runs of this machine differ by up to {} with nothing changed, in {figures}: a smaller difference \
                     means nothing here",
                    percent(floor)
                )
            }),
            _ => None,
        };
        said.unwrap_or_else(|| self.plain(figures))
    }

    /// A rule without a phrase of its own: what all say, or what the first says.
    fn plain(&self, figures: &str) -> String {
        let Some((first, subject)) = self.members.first() else { return figures.to_owned() };
        if self.members.iter().all(|(finding, _)| finding.text == first.text) {
            return format!("{figures}: {}", first.text);
        }
        format!("{figures}, such as {}: {}", subject.name, first.text)
    }
}

#[cfg(test)]
mod tests {
    use model::Validity;

    use super::*;

    fn busy(subject: &str, cpus: f64) -> Finding {
        let text = format!("other processes used {cpus} CPUs during its takes");
        Finding::new("background", Validity::Doubtful, text).about(subject).evidence("cpus", cpus)
    }

    fn folded(findings: &[Finding], headlines: &[&str]) -> Vec<String> {
        let pairs: Vec<(&Finding, Subject)> = findings.iter().map(|one| (one, Subject::of(one))).collect();
        sentences(&pairs, &headlines.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn figures_of_one_rule_are_one_line_with_peoples_names() {
        let findings = [
            busy("timer cost", 1.34),
            busy("index rate kind=floating;threads=1", 0.5),
            busy("index rate kind=integer;threads=1", 0.4),
            busy("index part-rate kind=integer;part=sort;threads=1", 3.0),
        ];
        assert_eq!(
            folded(&findings, &["integer", "floating"]),
            [
                "other processes used up to 1.34 CPUs during 3 figures (floating, integer, …): end them (`top` shows \
                 which) and repeat"
            ]
        );
    }

    #[test]
    fn one_figure_keeps_its_sentence_and_machines_stay_apart() {
        let findings =
            [busy("mini-1: index rate kind=integer", 0.5), busy("ref: index rate kind=integer", 0.4)];
        assert_eq!(
            folded(&findings, &[]),
            [
                "mini-1: integer: other processes used 0.5 CPUs during its takes",
                "ref: integer: other processes used 0.4 CPUs during its takes"
            ]
        );
    }

    #[test]
    fn the_worst_is_said_with_its_direction() {
        let off = |subject: &str, apart: f64| {
            let finding = Finding::new("clock", Validity::Doubtful, "off").about(subject);
            finding.evidence("apart", apart).evidence("median", 4.09e9)
        };
        let findings = [off("mem-latency latency level=memory", -0.12), off("disk-read iops qd=1", 0.05)];
        assert_eq!(
            folded(&findings, &["memory latency", "disk read"]),
            [
                "clock: 2 figures (memory latency, disk read) had takes more than 3 % off the run's own 4.09 GHz \
                 (worst 12 % below: memory latency)"
            ]
        );
    }
}
