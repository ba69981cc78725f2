//! Findings of one rule as one line: how bad at worst, how many figures, and the headline ones by name.
//!
//! A finding about a figure carries the figure's title as its subject; here it becomes people's name. Findings about
//! the parts of an index are details and are left out. Evidence is in base units; nothing is judged here.

mod phrase;

use model::names::{self, Key};
use model::{Card, Cards, Finding, Params, Role, card};

use super::{count, notes};

/// Rules whose findings are each about a load, not about one figure of it.
const OF_LOADS: [&str; 5] = ["generator-bound", "same-cores", "errors", "late", "little"];

/// Stands between two groups of requests that a finding is about; their names may be those of anything.
const BESIDE: &str = " beside ";

/// The figures that stand on the page, as far as they are known.
#[derive(Clone, Debug, Default)]
pub struct Headlines {
    /// By which the figures of findings are named.
    pub cards: Cards,
    figures: Vec<(String, String, Params)>,
}

impl Headlines {
    #[must_use]
    pub fn new<'a>(cards: Cards, all: impl Iterator<Item = (&'a str, &'a str, &'a Params)>) -> Headlines {
        let figures = all.map(|(a, b, params)| (a.to_owned(), b.to_owned(), params.clone())).collect();
        Headlines { cards, figures }
    }

    /// Whether a subject is one of them, in whatever arm: its own parameters say more than those of the page.
    fn has(&self, subject: &Subject) -> bool {
        let holds = |name: &str, value: &str| value == "auto" || subject.params.get(name) == Some(value);
        self.figures.iter().any(|(instrument, metric, params)| {
            (instrument, metric) == (&subject.instrument, &subject.metric)
                && params.0.iter().all(|(name, value)| holds(name, value))
        })
    }
}

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
    card: Option<&'static Card>,
    instrument: String,
    metric: String,
    params: Params,
    /// ` [name]` where there are arms.
    arm: String,
}

impl Subject {
    /// Takes a subject apart: `side: instrument metric k=v;k=v [arm]`.
    #[must_use]
    pub fn of(finding: &Finding, cards: Cards) -> Subject {
        let text = finding.subject.as_str();
        if text.contains(BESIDE) {
            return Subject { name: text.to_owned(), ..Subject::default() };
        }
        let known = |text: &str| card::find(cards, text.split(' ').next().unwrap_or("")).is_some();
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
        let arm = if arm.is_empty() { String::new() } else { format!(" [{arm}") };
        let card = card::find(cards, instrument);
        let name = match (instrument, metric) {
            ("", _) => String::new(),
            (only, "") => names::says(card).unwrap_or(only).to_owned(),
            _ => named(&names::label(Key { card, instrument, metric, params: &params }), &params, &arm),
        };
        Subject {
            side: side.to_owned(),
            name,
            detail: names::is_detail(card, metric),
            rank: names::rank(card),
            card,
            instrument: instrument.to_owned(),
            metric: metric.to_owned(),
            params,
            arm,
        }
    }
}

fn named(label: &str, params: &Params, arm: &str) -> String {
    let cpus = if params.get("threads") == Some("all") { " on all CPUs" } else { "" };
    format!("{label}{cpus}{arm}")
}

/// Findings of one rule, one state and one machine about single figures.
pub struct Group<'a> {
    side: &'a str,
    kind: &'a str,
    members: Vec<(&'a Finding, &'a Subject)>,
}

/// One sentence for each rule; findings about the whole run speak for themselves and stand first.
#[must_use]
pub fn sentences(findings: &[(&Finding, Subject)], headlines: &Headlines) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (finding, subject) in findings.iter().filter(|(_, subject)| !subject.detail) {
        if subject.name.is_empty() {
            let text = notes::said(finding, headlines.cards);
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

impl<'a> Group<'a> {
    fn sentence(&self, headlines: &Headlines) -> String {
        if let [(only, _)] = self.members.as_slice() {
            return notes::said(only, headlines.cards);
        }
        let side = if self.side.is_empty() { String::new() } else { format!("{}: ", self.side) };
        let figures = self.figures(headlines);
        let said = phrase::of(self, &figures).unwrap_or_else(|| self.plain(&figures));
        format!("{side}{said}")
    }

    /// `31 figures (integer, floating, ...)`: headline figures by name, the others counted. `further` ones are none of
    /// those on the page.
    fn figures(&self, headlines: &Headlines) -> String {
        const MOST: usize = 4;
        let mut sorted: Vec<(bool, &Subject)> =
            self.members.iter().map(|(_, subject)| (headlines.has(subject), *subject)).collect();
        sorted.sort_by_key(|(head, subject)| (!head, subject.rank));
        let further = !headlines.figures.is_empty() && !sorted.iter().any(|(head, _)| *head);
        let wanted = |head: bool| head || further || headlines.figures.is_empty();
        let shown: Vec<&Subject> =
            sorted.into_iter().filter(|(head, _)| wanted(*head)).map(|(_, subject)| subject).collect();
        let (mut named, shared) = apart(&shown);
        let all = named.len() <= MOST && named.len() == self.members.len();
        named.truncate(MOST);
        let what = if OF_LOADS.contains(&self.kind) { "load" } else { "figure" };
        let figures =
            count(self.members.len(), &if further { format!("further {what}") } else { what.to_owned() });
        let between = if named.iter().any(|name| name.contains(',')) { "; " } else { ", " };
        let more = if all { String::new() } else { format!("{between}…") };
        let of = if shared.is_empty() { String::new() } else { format!(" of {shared}") };
        format!("{figures}{of} ({}{more})", named.join(between))
    }

    fn findings(&self) -> impl Iterator<Item = &'a Finding> + use<'_, 'a> {
        self.members.iter().map(|(finding, _)| *finding)
    }

    /// The member with the largest evidence, and that evidence.
    fn worst(&self, evidence: &str) -> Option<(f64, &Finding, &Subject)> {
        let known = self
            .members
            .iter()
            .filter_map(|(finding, subject)| Some((*finding.evidence.get(evidence)?, *finding, *subject)));
        known.max_by(|a, b| a.0.abs().total_cmp(&b.0.abs()))
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

/// Names that tell figures apart, once each, and what all of them share: `10 connections` and `50 connections` of
/// `web, nginx`.
fn apart<'s>(subjects: &[&'s Subject]) -> (Vec<String>, String) {
    let mut known: Vec<&'s Subject> = Vec::new();
    for subject in subjects {
        if !known.iter().any(|other| other.name == subject.name) {
            known.push(subject);
        }
    }
    let plain = || (known.iter().map(|subject| subject.name.clone()).collect(), String::new());
    if known.len() < 2 || !known.iter().all(|subject| names::is_load(subject.card)) {
        return plain();
    }
    // Of several loads, the loads are named, not each figure of each.
    let several = known.iter().any(|subject| subject.params != known[0].params);
    let mut loads: Vec<(Key<'_>, &str)> = Vec::new();
    for subject in &known {
        let metric = match subject.card.map(|card| card.role) {
            Some(Role::Load { rate }) if several => rate,
            _ => &subject.metric,
        };
        let load = (
            Key { card: subject.card, instrument: &subject.instrument, metric, params: &subject.params },
            subject.arm.as_str(),
        );
        if !loads.contains(&load) {
            loads.push(load);
        }
    }
    let keys: Vec<Key<'_>> = loads.iter().map(|(key, _)| *key).collect();
    let labels = names::labels(&keys);
    let parts: Vec<Vec<&str>> = labels.iter().map(|label| label.split(", ").collect()).collect();
    let in_all = |part: &str| parts.iter().all(|of_one| of_one.contains(&part));
    let shared: Vec<&str> = parts[0].iter().copied().filter(|part| in_all(part)).collect();
    let own = parts.iter().zip(&loads).map(|(of_one, (_, arm))| {
        let rest: Vec<&str> = of_one.iter().copied().filter(|part| !in_all(part)).collect();
        format!("{}{arm}", rest.join(", ")).trim_start().to_owned()
    });
    let own: Vec<String> = own.collect();
    if shared.is_empty() || own.iter().any(String::is_empty) { plain() } else { (own, shared.join(", ")) }
}

#[cfg(test)]
mod tests {
    use model::Validity;

    use super::*;

    fn busy(subject: &str, cpus: f64) -> Finding {
        let text = format!("other processes used {cpus} CPUs during its takes");
        Finding::new("background", Validity::Doubtful, text).about(subject).evidence("cpus", cpus)
    }

    /// Headlines are written as subjects.
    fn folded(findings: &[Finding], headlines: &[&str]) -> Vec<String> {
        let pairs: Vec<(&Finding, Subject)> =
            findings.iter().map(|one| (one, Subject::of(one, instruments::cards()))).collect();
        let of = |title: &&str| {
            Subject::of(&Finding::new("", Validity::Unknown, "").about(*title), instruments::cards())
        };
        let heads: Vec<Subject> = headlines.iter().map(of).collect();
        let each = heads.iter().map(|head| (head.instrument.as_str(), head.metric.as_str(), &head.params));
        sentences(&pairs, &Headlines::new(instruments::cards(), each))
    }

    #[test]
    fn groups_of_requests_are_no_figures() {
        let finding =
            Finding::new("status-mix", Validity::Doubtful, "statuses differ in 3 % of the requests");
        let finding = finding.about("web after beside web before");
        assert_eq!(
            folded(&[finding], &[]),
            ["web after beside web before: statuses differ in 3 % of the requests"]
        );
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
            folded(&findings, &["index rate kind=integer", "index rate kind=floating"]),
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
            folded(&findings, &["mem-latency latency level=memory", "disk-read iops"]),
            [
                "clock: more than 3 % from the run's median of 4.09 GHz during takes of 2 figures (memory latency, disk read) \
                 (worst 12 % below: memory latency)"
            ]
        );
    }

    fn loads(kind: &str, text: &str, evidence: &[(&str, f64)]) -> Vec<String> {
        let each = [10, 50, 400].map(|connections| {
            let params = format!("connections={connections};keepalive=on;server=nginx");
            let mut finding =
                Finding::new(kind, Validity::Doubtful, text.replace('#', &connections.to_string()));
            for (name, value) in evidence {
                finding = finding.evidence(name, value * f64::from(connections));
            }
            finding.about(format!("web throughput {params}"))
        });
        folded(&each, &[])
    }

    /// The rules of loads, each with a text as it writes it.
    #[test]
    fn every_rule_of_loads_reads_as_one_sentence() {
        const OF: &str = "3 loads of web, nginx (10 connections, 50 connections, 400 connections)";
        let said = |kind, text, evidence: &[(&str, f64)]| {
            let said = loads(kind, text, evidence);
            assert_eq!(said.len(), 1, "{said:?}");
            said[0].replace(OF, "@")
        };
        let bound = "lower bound: the generator on cpu1 works # % of its time; add generators";
        assert_eq!(
            said("generator-bound", bound, &[("share", 0.002)]),
            "lower bounds: the load generator, not the server, sets @; its busiest core works up to 80 % of its time; \
             add generators"
        );
        let share = "generator and server share cpu0 (# % busy): each slows the other";
        assert!(
            said("same-cores", share, &[("busy", 0.002)])
                .starts_with("generator and server share a core, up to")
        );
        let failed = "failed: # reset (2 % of its requests): look at the log";
        assert_eq!(
            said("errors", failed, &[("reset", 1.0), ("share", 0.0001)]),
            "requests failed in @ (worst: 4 % of those of web, nginx, 400 connections): 460 reset: look at the log"
        );
        let late = "1 in 100 requests was sent # us late or more";
        assert!(
            said("late", late, &[("late_p99", 1e-5)])
                .starts_with("1 in 100 requests was sent up to 4.00 ms late or")
        );
        let little = "# requests were in flight";
        assert!(
            said("little", little, &[("apart", 0.001)])
                .starts_with("requests in flight differ by up to 40 %")
        );
    }

    #[test]
    fn rules_of_figures_say_the_worst_and_what_to_do() {
        let two = |kind: &str, text: &str, evidence: &[(&str, f64)]| {
            let each = ["web throughput server=nginx", "web response-time-p99 server=nginx"].map(|subject| {
                let finding = Finding::new(kind, Validity::Doubtful, text).about(subject);
                evidence.iter().fold(finding, |finding, (name, value)| finding.evidence(name, *value))
            });
            folded(&each, &[]).join("|").replace("2 figures of nginx (web, web p99)", "@")
        };
        let few = "1 take is too few for a 95 % interval, which needs 6: repeat with --takes 6 or more";
        assert_eq!(
            two("samples", few, &[("n", 1.0)]),
            "@ have 1 take, too few for a 95 % interval, which needs 6: repeat with --takes 6 or more"
        );
        assert_eq!(
            two("swap", "pages moved in 3 of 8 takes (12 in all): end others", &[("count", 12.0)]),
            "pages moved during @ (worst: web p99, nginx, in 3 of 8 takes (12 in all)): end others"
        );
        assert!(
            two("throttled", "stopped", &[("quota", 0.9)])
                .starts_with("the CPU quota of 0.900 CPUs stopped takes of @:")
        );
        assert!(
            two("above-ceiling", "x", &[("value", 3.0), ("ceiling", 2.0)])
                .contains("web p99, nginx, 1.50 times")
        );
        assert!(two("clock-step", "x", &[("seconds", -2.0)]).contains("jumped by up to 2.00 s against"));
        let each = [("throughput", 1), ("response-time", 1), ("throughput", 9), ("response-time", 9)];
        let each = each.map(|(metric, n)| busy(&format!("web {metric} connections={n};server=nginx"), 0.5));
        let said = folded(&each, &[]);
        assert!(said[0].contains("4 figures of web, nginx (1 connection, 9 connections, …)"), "{said:?}");
        // One that has no phrase says its own.
        assert_eq!(two("new-rule", "what it says", &[]), "@: what it says");
    }

    #[test]
    fn a_headline_is_one_in_every_arm_and_others_are_further_figures() {
        let findings = [
            busy("a=1: web throughput a=1;server=nginx [a=1]", 0.5),
            busy("a=1: web response-time a=1;server=nginx [a=1]", 0.5),
        ];
        let heads = ["web throughput server=nginx"];
        assert!(
            folded(&findings, &heads)[0].contains("during 2 figures (web, nginx [a=1]; …)"),
            "{:?}",
            folded(&findings, &heads)
        );
        let said = folded(&findings, &["web server-cpu server=nginx"]);
        assert!(said[0].contains("during 2 further figures of nginx (web [a=1], web p50 [a=1])"), "{said:?}");
    }
}
