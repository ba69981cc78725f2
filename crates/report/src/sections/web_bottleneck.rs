//! Bottlenecks of the loads on a web server: the sentence with its evidence for and against, advice, the cores of
//! the busiest load, its share of what the machine did elsewhere, and every load in a table.
//!
//! Shares are of the take's time, medians over the measured takes; what the machine does not tell is `-`.

use std::collections::BTreeMap;

use maud::{Markup, html};
use model::Params;
use model::data::{RunData, Series};
use model::doc::{Binding, BottleneckDoc, RunDoc};
use model::format::{Kind, fixed, percent, quantity};
use model::metrics::load;
use model::names::load::unusual;
use model::unit::Unit;
use model::{Card, Cards, card};

use crate::page::{self, Column};
use crate::plot::{Caption, Size, Stack, stack};
use crate::section::{ReportInput, Section, sentence};
use crate::text::web_table::{Table, firsts};
use crate::web_loads::{Load, bottleneck, heading, served, sweeps};

pub static SECTION: Section = Section::by_run(43, draw);

/// Parts of a core's time, and the metric of each.
const PARTS: [(&str, &str); 4] = [
    ("user", load::CORE_USER.name()),
    ("system", load::CORE_SYSTEM.name()),
    ("softirq", load::CORE_SOFTIRQ.name()),
    ("steal", load::CORE_STEAL.name()),
];
/// Arms and runs that have a panel of their own; the table has all.
const MOST: usize = 6;

fn draw(input: &ReportInput) -> Option<Markup> {
    let mut title = None;
    let mut body: Vec<Markup> = Vec::new();
    for (run, (doc, data)) in input.runs.iter().enumerate().take(input.drawn().end) {
        let found = firsts(doc);
        for one in found.iter().take(MOST) {
            let name = called(input, run, &one.arm);
            title = title.or_else(|| Some(headline(doc, one)));
            body.push(panel(doc.cards, data, one, &name));
        }
        let several = input.runs.len() > 1;
        if !doc.bottlenecks.is_empty() {
            body.push(every(doc, data, several.then(|| input.name(run)).as_deref()));
        }
    }
    Some(page::section("web-bound", &title?, &html! { @for part in &body { (part) } }))
}

fn called(input: &ReportInput, run: usize, arm: &str) -> String {
    let run = (input.runs.len() > 1).then(|| input.name(run));
    let words: Vec<String> =
        run.into_iter().chain([arm.to_owned()]).filter(|word| !word.is_empty()).collect();
    words.join(", ")
}

/// `nginx: bound by softirq on cpu0 (97 % busy)`
fn headline(doc: &RunDoc, found: &BottleneckDoc) -> String {
    let server = served(doc, &found.params);
    let text =
        if server.is_empty() { found.sentence.clone() } else { format!("{server}: {}", found.sentence) };
    heading(&server, &text)
}

/// The load with the highest throughput of one arm: what binds it, and its cores.
fn panel(cards: Cards, data: &RunData, found: &BottleneckDoc, name: &str) -> Markup {
    let which = which(card::find(cards, &found.instrument), &found.params);
    let at = found.throughput.map_or(String::new(), |rate| {
        format!(
            "At {} ({which}), the highest throughput measured",
            quantity(rate, Kind::for_unit(Unit::PerSec))
        )
    });
    let list = |what: &str, lines: &[String]| {
        html! { @if !lines.is_empty() {
            h3 { (what) }
            ul class="plain" { @for line in lines { li { (page::prose(line)) } } }
        } }
    };
    let ceilings: Vec<String> = found.ceilings.iter().map(|one| one.text.clone()).collect();
    let text = html! {
        @if !at.is_empty() { p class="mut" { (at) } }
        p { strong { (page::prose(&sentence(&found.sentence))) } }
        (list("Besides", &found.also))
        (list("Evidence for it", &found.evidence))
        (list("Evidence against it", &found.counter_evidence))
        (list("What to try", &found.advice))
        (list("Of what this machine did elsewhere", &ceilings))
        (resources(found))
    };
    let card = page::card("", &text);
    let parts: Vec<Markup> = [Some(card), cores(data, found)].into_iter().flatten().collect();
    html! {
        @if !name.is_empty() { h3 { (name) } }
        (page::grid(&parts))
    }
}

/// `50 connections, 2 generators`
fn which(card: Option<&'static Card>, params: &Params) -> String {
    let always: &[&str] =
        if params.get("load").is_some_and(|load| load.ends_with('%')) { &[] } else { &["connections"] };
    let words = unusual(card, params, always, &[]);
    if words.is_empty() { "the usual load".to_owned() } else { words.join(", ") }
}

/// Everything that was looked at.
fn resources(found: &BottleneckDoc) -> Markup {
    let head = [("", Column::Text), ("share", Column::Number), ("", Column::Text)];
    let row = |one: &model::doc::ResourceDoc| {
        vec![
            html! { (one.resource) },
            html! { (one.share.map_or("-".to_owned(), percent)) },
            html! { (page::prose(&one.text)) },
        ]
    };
    let rows: Vec<Vec<Markup>> = found.resources.iter().map(row).collect();
    html! { @if !rows.is_empty() {
        (page::more(&format!("All {} that were looked at", rows.len()), &page::table(&head, &rows)))
    } }
}

/// Median over the measured takes of what is no row.
fn middle(series: &Series) -> Option<f64> {
    let values: Vec<f64> = series.measured().into_iter().filter(|value| value.is_finite()).collect();
    stats::median(&values)
}

/// The series of one load that are no rows, by metric and part.
fn readings<'d>(
    data: &'d RunData,
    instrument: &str,
    arm: &str,
    params: &Params,
) -> Vec<(Params, &'d Series)> {
    let of = |series: &&Series| {
        series.key.instrument == instrument && series.key.arm == arm && series.key.params.contains(params)
    };
    let found = data.series.iter().filter(of);
    found
        .map(|series| (series.key.params.without(params), series))
        .filter(|(part, _)| is_part(part))
        .collect()
}

/// Parameters of a core, a disk or a kind, and not of another load.
fn is_part(part: &Params) -> bool {
    part.keys()
        .all(|name| matches!(name.as_str(), "cpu" | "role" | "kind" | "disk" | "interface" | "counter"))
}

fn value(readings: &[(Params, &Series)], metric: &str) -> Option<f64> {
    let found = readings.iter().find(|(part, series)| part.is_empty() && series.key.metric == metric);
    found.and_then(|(_, series)| middle(series))
}

/// A core: its role, and its shares by metric.
type Core<'a> = (String, BTreeMap<&'a str, f64>);

/// How each core divided its time.
fn cores(data: &RunData, found: &BottleneckDoc) -> Option<Markup> {
    let all = readings(data, &found.instrument, &found.arm, &found.params);
    let mut cpus: BTreeMap<(u64, String), Core<'_>> = BTreeMap::new();
    for (part, series) in &all {
        let (Some(cpu), Some(share)) = (part.get("cpu"), middle(series)) else { continue };
        let place = (cpu.parse().unwrap_or(u64::MAX), cpu.to_owned());
        let core = cpus.entry(place).or_default();
        if let Some(role) = part.get("role") {
            role.clone_into(&mut core.0);
        }
        core.1.insert(series.key.metric.as_str(), share);
    }
    let busy = |core: &BTreeMap<&str, f64>| core.get(load::CORE_BUSY.name()).copied();
    let most = cpus
        .iter()
        .filter_map(|((_, cpu), (role, core))| Some((busy(core)?, cpu, role)))
        .max_by(|a, b| a.0.total_cmp(&b.0))?;
    let role = if most.2.is_empty() { String::new() } else { format!(" ({})", most.2) };
    let title = format!("cpu{}{role} is the busiest core, {}", most.1, percent(most.0));
    let subtitle = match costs(&all) {
        Some(costs) => format!("shares of the take's time; rest idle; {costs}"),
        None => "shares of the take's time; rest idle".to_owned(),
    };
    let rows = cpus.iter().map(|((_, cpu), (role, core))| stack::StackRow {
        name: format!("cpu{cpu} {role}").trim_end().to_owned(),
        parts: PARTS.iter().map(|(_, metric)| core.get(metric).copied()).collect(),
    });
    let plot = Stack {
        caption: Caption::new(title).subtitle(subtitle),
        parts: PARTS.iter().map(|(name, _)| (*name).to_owned()).collect(),
        rows: rows.collect(),
        size: Size::Cell,
    };
    Some(plot.render())
}

/// `CPU per request: server 14.2 us, generator 11.9 us`
fn costs(readings: &[(Params, &Series)]) -> Option<String> {
    let cost = |(metric, who): (&str, &str)| {
        Some(format!("{who} {}", quantity(value(readings, metric)?, Kind::for_unit(Unit::Second))))
    };
    let known: Vec<String> = [(load::SERVER_CPU.name(), "server"), (load::CPU.name(), "generator")]
        .into_iter()
        .filter_map(cost)
        .collect();
    (!known.is_empty()).then(|| format!("CPU per request: {}", known.join(", ")))
}

/// Every load of a run by sweep, with what binds each.
fn every(doc: &RunDoc, data: &RunData, name: Option<&str>) -> Markup {
    let all = sweeps(doc);
    let tables: Vec<(String, Markup)> =
        all.iter().map(|sweep| (sweep.heading(doc), table(doc, data, sweep))).collect();
    let count = all.iter().map(|sweep| sweep.loads.len()).sum::<usize>();
    if count < 2 {
        return html! {};
    }
    let summary = format!(
        "{}Every load: {count} in a table, with what binds each",
        name.map_or(String::new(), |name| format!("{name}. "))
    );
    page::more(&summary, &html! { @for (title, table) in &tables { h3 { (title) } (table) } })
}

fn table(doc: &RunDoc, data: &RunData, sweep: &crate::web_loads::Sweep<'_>) -> Markup {
    let text = Table::new(doc, sweep);
    let mut head: Vec<(&str, Column)> =
        text.heads.iter().map(|(head, _)| (head.as_str(), Column::Number)).collect();
    head.extend([
        ("generator CPU", Column::Number),
        ("generator core", Column::Number),
        ("server cores", Column::Number),
        ("failed", Column::Number),
        ("bound by", Column::Text),
    ]);
    let row = |(cells, load): (&Vec<String>, &Load<'_>)| {
        let mut out: Vec<Markup> = cells.iter().map(|cell| html! { (cell.trim()) }).collect();
        out.extend(watched(data, load));
        out.push(match bottleneck(doc, load) {
            Some(found) => html! { span title=(found.sentence) { (word(found)) } },
            None => html! { "-" },
        });
        out
    };
    page::table(&head, &text.rows.iter().zip(&sweep.loads).map(row).collect::<Vec<_>>())
}

/// The generator's CPU time and busiest core, the cores that the server used, and failed requests.
fn watched(data: &RunData, load: &Load<'_>) -> Vec<Markup> {
    let all = readings(data, load.instrument, load.arm, load.params);
    let shown = |metric: &str, say: &dyn Fn(f64) -> String| value(&all, metric).map_or("-".to_owned(), say);
    let failed: f64 = all
        .iter()
        .filter(|(_, series)| series.key.metric == load::FAILED.name())
        .flat_map(|(_, series)| series.measured())
        .filter(|count| count.is_finite())
        .sum();
    vec![
        html! { (shown(load::CPU.name(), &|time| quantity(time, Kind::for_unit(Unit::Second)))) },
        html! { (shown(load::SHARE.name(), &percent)) },
        html! { (shown(load::SERVER_CORES.name(), &|cores| fixed(cores, 2))) },
        html! { (fixed(failed, 0)) },
    ]
}

/// The bottleneck in a word or two, with its share of the ceiling.
fn word(found: &BottleneckDoc) -> String {
    let kind = match found.kind {
        Binding::Silent => "no answers any more",
        Binding::Generator => "the generator",
        Binding::Cores => "the server's cores",
        Binding::Core => "one core",
        Binding::Thread => "one thread",
        Binding::Shared => "a core shared with the generator",
        Binding::Others => "other programs",
        Binding::Softirq => "softirq",
        Binding::Steal => "steal",
        Binding::Disk => "a disk",
        Binding::Memory => "memory",
        Binding::RunQueue => "waiting for cores",
        Binding::Io => "input and output",
        Binding::Quota => "a CPU quota",
        Binding::Link => "the link",
        Binding::KernelLimit => "a kernel limit",
        Binding::Behind => "an application behind the server",
        Binding::Serial => "one request at a time",
        Binding::Connections => "connections",
        Binding::Offered => "what is offered",
        Binding::Failures => "failures",
        Binding::Waiting => "waiting",
        Binding::Unknown => "unknown",
    };
    found.share.map_or(kind.to_owned(), |share| format!("{kind}, {}", percent(share)))
}
