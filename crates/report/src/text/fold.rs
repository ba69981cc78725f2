//! Findings of one rule as one line: how bad at worst, how many figures, and the headline ones by name.
//!
//! A finding's subject becomes people's name here; the sentences are the rules' own ([`model::finding`]). Findings
//! about the parts of an index are details and are left out. Nothing is judged here.

use model::finding::{About, FigureName, Rule, Subject};
use model::format::{count, list};
use model::names::{self, Key};
use model::{Cards, Finding, Params, Role, card};

/// The figures that stand on the page, as far as they are known.
#[derive(Clone, Debug, Default)]
pub struct Headlines {
    /// By which the figures of findings are named.
    pub cards: Cards,
    figures: Vec<(String, String, Params)>,
}

impl Headlines {
    pub fn new<'a>(cards: Cards, all: impl Iterator<Item = (&'a str, &'a str, &'a Params)>) -> Headlines {
        let figures = all.map(|(a, b, params)| (a.to_owned(), b.to_owned(), params.clone())).collect();
        Headlines { cards, figures }
    }

    /// True for a figure on the page, in whatever arm: its own parameters may say more than those of the page.
    pub fn has(&self, figure: &FigureName) -> bool {
        let holds = |name: &str, value: &str| value == "auto" || figure.params.get(name) == Some(value);
        self.figures.iter().any(|(instrument, metric, params)| {
            (instrument, metric) == (&figure.instrument, &figure.metric)
                && params.iter().all(|(name, value)| holds(name, value))
        })
    }
}

/// People's name of what a finding is about; empty for the whole run.
pub fn name(subject: &Subject, cards: Cards) -> String {
    match &subject.about {
        About::Run => String::new(),
        About::Instrument(name) | About::Label(name) => {
            names::says(card::find(cards, name)).unwrap_or(name).to_owned()
        }
        About::Groups { .. } => subject.about.to_string(),
        About::Cell { instrument, params } => {
            names::label(Key { card: card::find(cards, instrument), instrument, metric: "", params })
        }
        About::Figure(figure) | About::Load(figure) => named(figure, cards),
    }
}

fn named(figure: &FigureName, cards: Cards) -> String {
    let cpus = if figure.params.get("threads") == Some("all") { " on all CPUs" } else { "" };
    format!("{}{cpus}{}", names::label(key(figure, cards)), arm(figure))
}

/// ` [name]` where there are arms.
fn arm(figure: &FigureName) -> String {
    if figure.arm.is_empty() { String::new() } else { format!(" [{}]", figure.arm) }
}

fn key(figure: &FigureName, cards: Cards) -> Key<'_> {
    let card = card::find(cards, &figure.instrument);
    Key { card, instrument: &figure.instrument, metric: &figure.metric, params: &figure.params }
}

/// The sentence of one finding, with its side and its subject in front.
pub fn sentence(finding: &Finding, cards: Cards) -> String {
    let runs: Vec<&str> = finding.subject.run.as_deref().into_iter().collect();
    behind(&whose(finding.subject.side.as_deref(), &runs), sentence_of_any(finding, cards))
}

/// The same of whatever side.
fn sentence_of_any(finding: &Finding, cards: Cards) -> String {
    match finding.rule.names_subject() {
        true => finding.text(),
        false => behind(&name(&finding.subject, cards), finding.text()),
    }
}

/// `who: text`.
fn behind(who: &str, text: String) -> String {
    match (who.is_empty(), text.is_empty()) {
        (true, _) => text,
        (false, true) => who.to_owned(),
        (false, false) => format!("{who}: {text}"),
    }
}

/// `a, b`, or of many `atom[001-132]`.
pub fn names_of<S: AsRef<str>>(names: &[S]) -> String {
    let few = || names.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
    model::ranges::many(names).unwrap_or_else(few)
}

/// `beta (run 019b77488503)`: the side of a finding, and the run where the side has several.
fn whose(side: Option<&str>, runs: &[&str]) -> String {
    let Some(side) = side else { return String::new() };
    let of_runs = match runs {
        [] => String::new(),
        [run] => format!(" (run {run})"),
        runs => format!(" (runs {})", list(&runs.iter().map(|run| (*run).to_owned()).collect::<Vec<_>>())),
    };
    format!("{side}{of_runs}")
}

/// A finding about a part of a run, with the name of that part.
struct Member<'a> {
    rule: &'a Rule,
    finding: &'a Finding,
    name: String,
}

/// Findings of one rule and one machine about parts of a run.
struct Group<'a> {
    side: Option<&'a str>,
    kind: &'a str,
    members: Vec<Member<'a>>,
}

/// A line about one or several findings of one rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Line<'a> {
    /// Of the first of them.
    pub rule: &'a Rule,
    pub text: String,
}

/// One sentence for each rule; findings about the whole run speak for themselves and stand first.
pub fn sentences<'a>(findings: &[&'a Finding], headlines: &Headlines) -> Vec<Line<'a>> {
    let is_run = |finding: &&&Finding| finding.subject.about == About::Run;
    let mut out = of_runs(findings.iter().filter(is_run).copied());
    let mut groups: Vec<Group<'_>> = Vec::new();
    for finding in
        findings.iter().filter(|one| !is_run(one) && !is_detail(&one.subject, headlines.cards)).copied()
    {
        let (side, kind) = (finding.subject.side.as_deref(), finding.kind());
        let member = Member { rule: &finding.rule, finding, name: name(&finding.subject, headlines.cards) };
        match groups.iter_mut().find(|group| group.kind == kind && group.side == side) {
            Some(group) => group.members.push(member),
            None => groups.push(Group { side, kind, members: vec![member] }),
        }
    }
    out.extend(of_sides(&groups, headlines));
    out
}

/// A line for each group; sides of which the same is true share one.
fn of_sides<'a>(groups: &[Group<'a>], headlines: &Headlines) -> Vec<Line<'a>> {
    let mut all: Vec<(Line<'a>, Vec<&str>, Vec<&str>)> = Vec::new();
    for group in groups {
        let Some(first) = group.members.first() else { continue };
        let (text, runs) = (group.sentence(headlines), group.runs());
        let is = |(known, sides, of): &&mut (Line<'a>, Vec<&str>, Vec<&str>)| {
            let are_whole = runs.is_empty() && of.is_empty();
            are_whole && known.text == text && !sides.is_empty() && group.side.is_some()
        };
        match all.iter_mut().find(is) {
            Some((_, sides, _)) => sides.extend(group.side),
            None => all.push((Line { rule: first.rule, text }, group.side.into_iter().collect(), runs)),
        }
    }
    let line = |(line, sides, runs): (Line<'a>, Vec<&str>, Vec<&str>)| {
        let side = (!sides.is_empty()).then(|| names_of(&sides));
        Line { text: behind(&whose(side.as_deref(), &runs), line.text), ..line }
    };
    all.into_iter().map(line).collect()
}

/// One short line for each rule, behind the sides that it is about, with the count of its figures; the whole sentence
/// where there is no short one.
pub fn briefs<'a>(findings: &[&'a Finding], headlines: &Headlines) -> Vec<Line<'a>> {
    let shown = findings.iter().copied().filter(|one| !is_detail(&one.subject, headlines.cards));
    let mut groups: Vec<(&str, Vec<&'a Finding>)> = Vec::new();
    for finding in shown {
        match groups.iter_mut().find(|(known, _)| *known == finding.kind()) {
            Some((_, group)) => group.push(finding),
            None => groups.push((finding.kind(), vec![finding])),
        }
    }
    let lines = groups.into_iter().flat_map(|(_, group)| {
        let about = counted_of(&group, headlines);
        // The worst is told of the figures that are counted.
        let those = if about.is_empty() { &group } else { &about };
        let rules: Vec<&'a Rule> = those.iter().map(|finding| &finding.rule).collect();
        let Some((said, rule)) = Rule::brief(&rules).zip(rules.first().copied()) else {
            return sentences(&group, headlines);
        };
        let mut sides: Vec<&str> = Vec::new();
        for side in group.iter().filter_map(|finding| finding.subject.side.as_deref()) {
            sides.extend((!sides.contains(&side)).then_some(side));
        }
        let of = if sides.is_empty() { String::new() } else { format!("{}: ", names_of(&sides)) };
        vec![Line { rule, text: format!("{of}{said}{}", counted(&group, headlines)) }]
    });
    lines.collect()
}

/// The findings of a line that are counted: those about headline figures, or about any where none is.
fn counted_of<'a>(group: &[&'a Finding], headlines: &Headlines) -> Vec<&'a Finding> {
    let parts = || group.iter().copied().filter(|finding| finding.subject.about != About::Run);
    let is_head = |finding: &&Finding| finding.subject.figure().is_some_and(|figure| headlines.has(figure));
    let heads: Vec<&Finding> = parts().filter(is_head).collect();
    if heads.is_empty() { parts().collect() } else { heads }
}

/// ` (24 figures)`, or the name of the only one where it is short; nothing for the whole run. Counted are headline
/// figures; of a line about none of them, all.
fn counted(group: &[&Finding], headlines: &Headlines) -> String {
    const SHORT: usize = 30;
    let about = counted_of(group, headlines);
    let is_head =
        about.first().is_some_and(|one| one.subject.figure().is_some_and(|name| headlines.has(name)));
    let further = if is_head || headlines.figures.is_empty() { "" } else { "further " };
    let mut shown: Vec<&Finding> = Vec::new();
    // A figure that is doubtful on two sides is one figure.
    for one in about {
        if !shown.iter().any(|known| known.subject.about == one.subject.about) {
            shown.push(one);
        }
    }
    let are_loads = shown.iter().all(|finding| matches!(finding.subject.about, About::Load(_)));
    let what = if are_loads { "load".to_owned() } else { format!("{further}figure") };
    match shown.as_slice() {
        [] => String::new(),
        [only] => {
            let name = name(&only.subject, headlines.cards);
            let named = Some(name).filter(|name| name.chars().count() <= SHORT);
            format!(" ({})", named.unwrap_or_else(|| count(1, &what)))
        }
        all => format!(" ({})", count(all.len(), &what)),
    }
}

/// A part of a figure that is shown itself.
fn is_detail(subject: &Subject, cards: Cards) -> bool {
    let is_detail =
        |figure: &FigureName| names::is_detail(card::find(cards, &figure.instrument), &figure.metric);
    subject.figure().is_some_and(is_detail)
}

/// Each sentence about a whole run once, behind the sides that it is about.
fn of_runs<'a>(findings: impl Iterator<Item = &'a Finding>) -> Vec<Line<'a>> {
    let mut all: Vec<(Line<'a>, Vec<&str>)> = Vec::new();
    for finding in findings {
        let (text, side) = (finding.text(), finding.subject.side.as_deref());
        match all.iter_mut().find(|(known, sides)| known.text == text && sides.is_empty() == side.is_none()) {
            Some((_, sides)) => sides.extend(side.filter(|side| !sides.contains(side))),
            None => all.push((Line { rule: &finding.rule, text }, side.into_iter().collect())),
        }
    }
    let line =
        |(line, sides): (Line<'a>, Vec<&str>)| Line { text: behind(&names_of(&sides), line.text), ..line };
    all.into_iter().map(line).collect()
}

impl Group<'_> {
    /// Of whatever side.
    fn sentence(&self, headlines: &Headlines) -> String {
        if let [only] = self.members.as_slice() {
            return sentence_of_any(only.finding, headlines.cards);
        }
        let members: Vec<(&Rule, &str)> =
            self.members.iter().map(|member| (member.rule, member.name.as_str())).collect();
        Rule::many(&members, &self.figures(headlines))
    }

    /// The runs that are named, each once.
    fn runs(&self) -> Vec<&str> {
        let mut runs: Vec<&str> = Vec::new();
        for run in self.members.iter().filter_map(|member| member.finding.subject.run.as_deref()) {
            runs.extend((!runs.contains(&run)).then_some(run));
        }
        runs
    }

    /// `31 figures (integer, floating, ...)`: headline figures by name, the others counted. `further` ones are none of
    /// those on the page.
    fn figures(&self, headlines: &Headlines) -> String {
        const MOST: usize = 4;
        let is_head =
            |member: &Member<'_>| member.finding.subject.figure().is_some_and(|figure| headlines.has(figure));
        let card_of =
            |member: &Member<'_>| card::find(headlines.cards, member.finding.subject.of_instrument()?);
        let rank = |member: &Member<'_>| names::rank(card_of(member));
        let mut sorted: Vec<(bool, &Member<'_>)> =
            self.members.iter().map(|member| (is_head(member), member)).collect();
        sorted.sort_by_key(|(head, member)| (!head, rank(member)));
        let further = !headlines.figures.is_empty() && !sorted.iter().any(|(head, _)| *head);
        let wanted = |head: bool| head || further || headlines.figures.is_empty();
        let shown: Vec<&Member<'_>> =
            sorted.into_iter().filter(|(head, _)| wanted(*head)).map(|(_, member)| member).collect();
        let (mut named, shared) = apart(&shown, headlines.cards);
        let all = named.len() <= MOST && named.len() == self.members.len();
        named.truncate(MOST);
        let is_load = |member: &Member<'_>| matches!(member.finding.subject.about, About::Load(_));
        let what = if self.members.iter().all(is_load) { "load" } else { "figure" };
        let figures =
            count(self.members.len(), &if further { format!("further {what}") } else { what.to_owned() });
        let between = if named.iter().any(|name| name.contains(',')) { "; " } else { ", " };
        let more = if all { String::new() } else { format!("{between}…") };
        let of = if shared.is_empty() { String::new() } else { format!(" of {shared}") };
        format!("{figures}{of} ({}{more})", named.join(between))
    }
}

/// Names that tell figures apart, once each, and what all of them share: `10 connections` and `50 connections` of
/// `web, nginx`.
fn apart(members: &[&Member<'_>], cards: Cards) -> (Vec<String>, String) {
    let mut known: Vec<&Member<'_>> = Vec::new();
    for member in members {
        if !known.iter().any(|other| other.name == member.name) {
            known.push(member);
        }
    }
    let plain = || (known.iter().map(|member| member.name.clone()).collect(), String::new());
    let figures: Vec<&FigureName> =
        known.iter().filter_map(|member| member.finding.subject.figure()).collect();
    let are_loads = figures.iter().all(|figure| names::is_load(card::find(cards, &figure.instrument)));
    if known.len() < 2 || figures.len() < known.len() || !are_loads {
        return plain();
    }
    // Of several loads, the loads are named, not each figure of each.
    let several = figures.iter().any(|figure| figure.params != figures[0].params);
    let mut loads: Vec<(Key<'_>, String)> = Vec::new();
    for figure in &figures {
        let own = key(figure, cards);
        let metric = match own.card.map(|card| card.role) {
            Some(Role::Load { rate }) if several => rate,
            _ => own.metric,
        };
        let load = (Key { metric, ..own }, arm(figure));
        if !loads.contains(&load) {
            loads.push(load);
        }
    }
    let keys: Vec<Key<'_>> = loads.iter().map(|(key, _)| *key).collect();
    let parts = names::parts(&keys);
    let in_all = |part: &String| parts.iter().all(|of_one| of_one.contains(part));
    let joined = |of_one: &[String], shared: bool| {
        let some: Vec<&str> =
            of_one.iter().filter(|part| in_all(part) == shared).map(String::as_str).collect();
        some.join(", ")
    };
    let shared = joined(&parts[0], true);
    let own = parts
        .iter()
        .zip(&loads)
        .map(|(of_one, (_, arm))| format!("{}{arm}", joined(of_one, false)).trim_start().to_owned());
    let own: Vec<String> = own.collect();
    if shared.is_empty() || own.iter().any(String::is_empty) { plain() } else { (own, shared) }
}

#[cfg(test)]
mod tests {
    use model::Validity;
    use model::finding::generator_bound::{Cause, Cores, LowerBound};
    use model::finding::{
        AboveCeiling, Background, Clock, ClockStep, Counted, Counter, Errors, Failed, GeneratorBound, Late,
        Limit, MoreTakes, SameCores, Samples, Throttled,
    };

    use super::*;

    /// `instrument metric k=v;k=v`, in an arm.
    fn figure(text: &str, arm: &str) -> FigureName {
        let mut words = text.splitn(3, ' ').map(str::to_owned);
        let mut word = || words.next().unwrap_or_default();
        let (instrument, metric) = (word(), word());
        FigureName { instrument, metric, params: Params::parse(&word()).unwrap(), arm: arm.to_owned() }
    }

    fn busy(about: &str, cpus: f64) -> Finding {
        Finding::new(Background::Busy { cpus, of: 1.0, by: None }).about(About::Figure(figure(about, "")))
    }

    fn of_side(finding: Finding, side: &str) -> Finding {
        let subject = finding.subject.clone().of_side(side);
        finding.about(subject)
    }

    fn folded(findings: &[Finding], headlines: &[&str]) -> Vec<String> {
        let heads: Vec<FigureName> = headlines.iter().map(|text| figure(text, "")).collect();
        let each = heads.iter().map(|head| (head.instrument.as_str(), head.metric.as_str(), &head.params));
        let lines =
            sentences(&findings.iter().collect::<Vec<_>>(), &Headlines::new(instruments::cards(), each));
        lines.into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn groups_of_requests_are_no_figures() {
        let finding =
            Finding::foreign("status-mix", Validity::Doubtful, "statuses differ in 3 % of the requests");
        let finding = finding.about(Subject::groups("web after", "web before"));
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
                "the machine may do better: other processes used up to 1.34 CPUs during 3 figures (floating, integer, …), up \
                 to 134 % of what these used themselves; end them (`boxscore doctor` names them) and repeat"
            ]
        );
    }

    #[test]
    fn one_figure_keeps_its_sentence_and_machines_stay_apart() {
        let better = "integer: the machine may do better: other processes used";
        let findings = [
            of_side(busy("index rate kind=integer", 0.5), "mini-1"),
            of_side(busy("index rate kind=integer", 0.4), "ref"),
        ];
        let says = "of what it used itself; end them (`boxscore doctor` names them) and repeat it";
        assert_eq!(
            folded(&findings, &[]),
            [
                format!("mini-1: {better} 0.500 CPUs during its takes, 50 % {says}"),
                format!("ref: {better} 0.400 CPUs during its takes, 40 % {says}")
            ]
        );
    }

    #[test]
    fn what_is_true_of_several_whole_runs_is_said_once() {
        let told = |text: &str| Finding::foreign("timer", Validity::Doubtful, text);
        let findings =
            [of_side(told("off"), "a"), of_side(told("off"), "b"), of_side(told("on"), "b"), told("off")];
        assert_eq!(folded(&findings, &[]), ["a, b: off", "b: on", "off"]);
    }

    #[test]
    fn what_is_true_of_a_figure_on_many_sides_is_said_once() {
        let on =
            |at: usize, cpus: f64| of_side(busy("index rate kind=integer", cpus), &format!("atom{at:03}"));
        let findings: Vec<Finding> = (1..=20).map(|at| on(at, if at == 7 { 0.4 } else { 0.5 })).collect();
        let told = folded(&findings, &[]);
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].starts_with("atom[001-006,008-020]: integer: "), "{told:?}");
        assert!(told[1].starts_with("atom007: integer: "), "{told:?}");
    }

    #[test]
    fn the_worst_is_said_with_its_direction() {
        let off = |subject: &str, apart: f64| {
            let moved = Clock::Moved { median: 4.09e9, apart, takes: 3, of: 8, busy: false };
            Finding::new(moved).about(About::Figure(figure(subject, "")))
        };
        let findings = [off("mem-latency latency level=memory", -0.12), off("disk-read iops qd=1", 0.05)];
        assert_eq!(
            folded(&findings, &["mem-latency latency level=memory", "disk-read iops"]),
            [
                "may be off by up to 12 %: the CPU clock was more than 3 % from the run's median of 4.09 GHz during takes of 2 \
                 figures (memory latency, disk read) (worst 12 % below: memory latency); repeat with a fixed clock or a \
                 cooler machine"
            ]
        );
    }

    fn loads<R: Into<Rule>>(rule: impl Fn(f64) -> R) -> String {
        let each = [10, 50, 400].map(|connections| {
            let about = format!("web throughput connections={connections};keepalive=on;server=nginx");
            Finding::new(rule(f64::from(connections))).about(About::Load(figure(&about, "")))
        });
        let said = folded(&each, &[]);
        assert_eq!(said.len(), 1, "{said:?}");
        said[0].replace("3 loads of web, nginx (10 connections, 50 connections, 400 connections)", "@")
    }

    #[test]
    fn every_rule_of_loads_reads_as_one_sentence() {
        let bound = |connections: f64| {
            GeneratorBound::Bound(LowerBound {
                cause: Cause::Busy { share: connections * 0.002 },
                cores: Cores(vec!["cpu1".to_owned()]),
                share: Some(connections * 0.002),
                generator_cpu: None,
                capacity: None,
                full: None,
            })
        };
        assert_eq!(
            loads(bound),
            "lower bounds: the load generator, not the server, sets @; its busiest core works up to 80 % of its time; \
             add generators, or generate from another machine"
        );
        let shared = |connections: f64| SameCores::Shared {
            cores: vec![("cpu0".to_owned(), connections * 0.002)],
            server: None,
        };
        let says = "the server may do better: generator and server share a core, up to 80 % busy, in @, and slow each";
        assert!(loads(shared).starts_with(says));
        let failed = |connections: f64| {
            let kinds = [("reset".to_owned(), connections)].into();
            Errors::Failed(Failed { kinds, share: Some(connections * 0.0001), ..Failed::default() })
        };
        assert_eq!(
            loads(failed),
            "throughput counts good answers alone: requests failed in @ (worst: 4 % of those of web, nginx, 400 \
             connections): 460 reset; look at the server's error log and limits"
        );
        let late = |connections: f64| Late::Late { p99: connections * 1e-5, most: 1e-3, gap: None };
        let says =
            "response times hold the generator's delay: 1 in 100 requests was sent up to 4.00 ms late or";
        assert!(loads(late).starts_with(says));
    }

    #[test]
    fn rules_of_figures_say_the_worst_and_what_to_do() {
        fn two(rule: impl Into<Rule>) -> String {
            let rule = rule.into();
            let each = ["web throughput server=nginx", "web response-time-p99 server=nginx"]
                .map(|subject| Finding::new(rule.clone()).about(About::Figure(figure(subject, ""))));
            folded(&each, &[]).join("|").replace("2 figures of nginx (web, web p99)", "@")
        }
        assert_eq!(
            two(Samples::TooFew { takes: 1, least: 6, more: MoreTakes::Repeat }),
            "too few takes for a 95 % interval: @ have 1 and need 6; repeat with --takes 6 or more"
        );
        assert_eq!(
            two(Counted::Rose { counter: Counter::Swap, events: 12.0, takes: 3, of: 8 }),
            "the machine may do better: the system swapped during @ (worst: web p99, nginx, in 3 of 8 takes (12.0 in \
             all)); free memory or add more, then repeat"
        );
        assert!(two(Throttled::Stopped { quota: Some(0.9), takes: 3, of: 8, periods: 9.0 }).starts_with(
            "measure the quota, not the machine: boxscore's own CPU quota of 0.900 CPUs stopped takes of @;"
        ));
        let limit = Limit::Link { disk: "sda".to_owned() };
        let beyond = AboveCeiling::Beyond { value: 3.0, ceiling: 2.0, unit: model::Unit::BytesPerSec, limit };
        assert!(two(beyond).contains("web p99, nginx, 1.50 times"));
        assert!(two(ClockStep::Stepped { seconds: -2.0 }).contains("moved by up to 2.00 s against"));
        let each = [("throughput", 1), ("response-time", 1), ("throughput", 9), ("response-time", 9)];
        let each = each.map(|(metric, n)| busy(&format!("web {metric} connections={n};server=nginx"), 0.5));
        let said = folded(&each, &[]);
        assert!(said[0].contains("4 figures of web, nginx (1 connection, 9 connections, …)"), "{said:?}");
        // One that has no sentence for several says its own.
        assert_eq!(
            two(Finding::foreign("new-rule", Validity::Doubtful, "what it says").rule),
            "@: what it says"
        );
    }

    #[test]
    fn a_headline_is_one_in_every_arm_and_others_are_further_figures() {
        let of_arm = |metric: &str| {
            let figure = figure(&format!("web {metric} a=1;server=nginx"), "a=1");
            of_side(
                Finding::new(Background::Busy { cpus: 0.5, of: 1.0, by: None }).about(About::Figure(figure)),
                "a=1",
            )
        };
        let findings = [of_arm("throughput"), of_arm("response-time")];
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
