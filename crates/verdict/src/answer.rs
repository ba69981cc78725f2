//! The answer of a run: which of its figures say what was asked, by what was run.
//!
//! A search for a limit, a load on a server, languages or servers beside each other, else the headline figures. The
//! sentence is the model's (`model::answer`); every number in it is one of the document's.

mod commands;
mod jobs;
mod power;
mod together;

use std::collections::{BTreeMap, BTreeSet};

use model::answer::{Answer, AnswerDoc, Answered, Beside, Bound, Doubted, Measured, Served, Within, capital};
use model::data::RunData;
use model::doc::{
    Binding, BottleneckDoc, CoreDoc, Proof, RatioRowDoc, RunDoc, SearchDoc, SeriesDoc, VerdictWord,
};
use model::finding::{FigureName, Rule};
use model::format::{Kind, count};
use model::metrics::load;
use model::names::{self, Key};
use model::{Card, Family, NoteBody, Params, Role, Validity, card};

use crate::compare::ratio::ratio;
use crate::compare::{CompareOptions, Side};
use crate::loads::Load;
use crate::loads::waits::waits;
use crate::run_index::{RunContext, RunIndex};

pub use together::together;

/// Figures of an answer that lists them.
const MOST: usize = 4;
/// The kernel that stands for all of them.
const WHOLE: &str = "composite";
const KERNEL: &str = "kernel";

/// The answer of a run; `None` where it has no figure.
pub fn answer(doc: &RunDoc, index: &RunIndex<'_>) -> Option<AnswerDoc> {
    let heads = doc.headlines();
    if heads.is_empty() {
        return None;
    }
    // A machine's run has a load among its figures; only a run of nothing else is about it.
    let all = |is: &dyn Fn(&'static Card) -> bool| heads.iter().all(|series| series.card.is_some_and(is));
    let of_family = |family: Family| all(&|card| card.family == family);
    let own = match () {
        () if all(&|card| names::is_load(Some(card))) => {
            within(doc, index.run).or_else(|| served(doc, index))
        }
        () if all(&|card| matches!(card.role, Role::Power { .. })) => power::drawn(doc),
        () if of_family(Family::Runtime) => speed(index),
        () if of_family(Family::Kv) => beside(&heads, index),
        () if of_family(Family::User) => commands::beside(index),
        () if of_family(Family::Hadoop) => jobs::jobs(doc, index.run, &heads, answered),
        () => None,
    };
    let answer = own.or_else(|| measured(doc, &heads));
    let nothing = || Answer::Nothing { name: doc.machine.name.clone(), figures: heads.len() };
    Some(answer.unwrap_or_else(nothing).doc(doubted(doc, &heads)))
}

/// Doubtful figures among the headlines, and their cause: of those that reach about as many of the run's figures, what
/// disturbed them most.
fn doubted(doc: &RunDoc, heads: &[&SeriesDoc]) -> Doubted {
    let doubtful = heads.iter().filter(|series| series.validity == Validity::Doubtful).count();
    let mut causes: BTreeMap<&'static str, Disturbed> = BTreeMap::new();
    for finding in &doc.findings {
        let Some(cause) = finding.rule.cause() else { continue };
        let one = causes.entry(cause).or_default();
        one.times += 1;
        one.spoils |= !matches!(finding.rule, Rule::Samples(_));
        one.share = one.share.max(finding.rule.disturbed().unwrap_or(0.0));
    }
    let widest = causes.values().map(|one| one.times).max().unwrap_or(0);
    let wide = causes.iter().filter(|(_, one)| 2 * one.times >= widest);
    // Of two that disturb as much, the one that spoils figures is told, not the one that lacks them.
    let rank = |one: &Disturbed| (one.share, one.times, one.spoils);
    let cause = wide.max_by(|(_, a), (_, b)| {
        let ((share_a, times_a, spoils_a), (share_b, times_b, spoils_b)) = (rank(a), rank(b));
        share_a.total_cmp(&share_b).then((times_a, spoils_a).cmp(&(times_b, spoils_b)))
    });
    Doubted { doubtful, of: heads.len(), cause: cause.map_or("", |(cause, _)| *cause) }
}

/// A cause of doubts: how many findings it has, whether it spoils figures, and the largest share that it had.
#[derive(Default)]
struct Disturbed {
    times: usize,
    spoils: bool,
    share: f64,
}

/// The figure without what is refused.
fn answered(series: &SeriesDoc) -> Option<Answered> {
    let value = series.median.filter(|value| value.is_finite() && series.validity != Validity::Invalid)?;
    let info = series.card.and_then(|card| card.metric(&series.metric));
    Some(Answered {
        name: names::label(Key::from(series)),
        per: info.map_or("", |info| info.answers),
        kind: Kind::shown(series.card, &series.metric, series.unit),
        value,
        low: series.low,
        high: series.high,
    })
}

/// The server's name; empty where nothing says it. A target is called as the user called it.
fn server((params, arm): (&Params, &str), run: &RunData) -> String {
    if let Some(target) = run.plan.target(arm) {
        return target.name.clone();
    }
    let named = names::load::server(params);
    if !named.is_empty() {
        return named;
    }
    let noted = run.notes.iter().find_map(|note| match &note.body {
        NoteBody::WebSetup(setup) => setup.name.clone(),
        _ => None,
    });
    noted.unwrap_or_default()
}

/// The highest loads within a limit.
fn within(doc: &RunDoc, run: &RunData) -> Option<Answer> {
    let is_rate = |series: &&SeriesDoc| {
        let role = series.card.map_or(Role::Plain, |card| card.role);
        matches!(role, Role::Search { rate, .. } if rate == series.metric)
    };
    let one = |series: &SeriesDoc| {
        let param = |name: &str| series.params.get(name).unwrap_or_default().to_owned();
        let (percentile, limit) = (param("percentile"), param("limit"));
        let is_of = |instrument: &str, params: &Params, arm: &str| {
            instrument == series.instrument && *params == series.params && arm == series.arm
        };
        let search = doc.searches.iter().find(|one| is_of(&one.instrument, &one.params, &one.arm));
        Some(Within {
            server: server((&series.params, &series.arm), run),
            rate: answered(series)?,
            percentile,
            limit,
            proof: search.map_or(Proof::Untold, SearchDoc::proof),
            bound: bound(doc, is_of),
        })
    };
    let found =
        doc.series.iter().filter(is_rate).filter_map(|series| Some((one(series)?, series.arm.as_str())));
    let mut all: Vec<(Within, &str)> = found.take(MOST).collect();
    let names: BTreeSet<String> = all.iter().map(|(one, _)| one.server.clone()).collect();
    if names.len() < all.len() {
        // Setups of one server are told apart by their arms.
        for (one, arm) in all.iter_mut().filter(|(_, arm)| !arm.is_empty()) {
            (*arm).clone_into(&mut one.server);
        }
    }
    let all: Vec<Within> = all.into_iter().map(|(one, _)| one).collect();
    (!all.is_empty()).then_some(Answer::Within(all))
}

/// The load with the highest throughput, of those that were held if there is one.
fn served(doc: &RunDoc, index: &RunIndex<'_>) -> Option<Answer> {
    let row = |load: &Load<'_>, metric: &str| {
        let is_of = |series: &&SeriesDoc| {
            series.instrument == load.instrument && series.params == load.params && series.arm == load.arm
        };
        doc.series.iter().filter(is_of).find(|series| series.metric == metric)
    };
    let rated =
        index.loads().iter().filter_map(|load| Some((load, answered(row(load, load::THROUGHPUT.name())?)?)));
    let rated: Vec<(&Load<'_>, Answered)> = rated.collect();
    let several = rated.len() > 1;
    // Of several, the most that any gave; a load that offers little says nothing of the server. One that was not held
    // is none to serve at: its queue and its response times grow for as long as it lasts.
    let is_held = |(load, _): &(&Load<'_>, Answered)| load.is_held() != Some(false);
    let any_held = rated.iter().any(is_held);
    let rated = rated.into_iter().filter(|one| !any_held || is_held(one));
    let (load, rate) = rated.max_by(|(_, a), (_, b)| a.value.total_cmp(&b.value))?;
    let connections = load.number("connections").filter(|_| several);
    let lower = doc.findings.iter().filter(|one| one.state == Validity::Doubtful).any(|one| {
        let is_of = |figure: &FigureName| figure.params == load.params && figure.arm == load.arm;
        matches!(one.rule.base(), Rule::GeneratorBound(_)) && one.subject.figure().is_some_and(is_of)
    });
    Some(Answer::Served(Served {
        server: if several { server((&load.params, load.arm), index.run) } else { String::new() },
        rate,
        offered: load.offered().filter(|_| load.is_held() == Some(false)),
        with: connections
            .map_or_else(String::new, |count_of| format!("with {}", count(count_of as usize, "connection"))),
        p99: row(load, load::RESPONSE_P99.name()).and_then(|series| series.median),
        failed: load.failed_share(),
        least: lower,
        bound: bound(doc, |instrument, params, arm| {
            instrument == load.instrument && *params == load.params && arm == load.arm
        })
        .map(|bound| Bound { waits: waits(load), ..bound }),
    }))
}

/// The resource that holds the load of these parameters back.
fn bound(doc: &RunDoc, is_of: impl Fn(&str, &Params, &str) -> bool) -> Option<Bound> {
    let found = doc.bottlenecks.iter().find(|one| is_of(&one.instrument, &one.params, &one.arm))?;
    let is_search =
        card::find(doc.cards, &found.instrument).is_some_and(|card| matches!(card.role, Role::Search { .. }));
    // A search stops where the limit breaks: that it is served in full until there is its result.
    let tells = found.kind != Binding::Unknown && !(is_search && found.kind == Binding::Offered);
    tells.then(|| Bound {
        kind: found.kind,
        resource: found.resource.clone(),
        share: found.share,
        generator: generator_there(found),
        waits: None,
    })
}

/// The generator's share of the core, or of the server's cores, that bind a load, where it works there.
fn generator_there(found: &BottleneckDoc) -> Option<f64> {
    let serves = |core: &&CoreDoc| matches!(core.role.as_str(), "server" | "both");
    let of =
        |is_of: &dyn Fn(&&CoreDoc) -> bool| -> Vec<&CoreDoc> { found.cores.iter().filter(is_of).collect() };
    let cores = match found.kind {
        Binding::Cores => of(&serves),
        Binding::Core | Binding::Shared => of(&|core| format!("cpu{}", core.cpu) == found.resource),
        _ => return None,
    };
    let shares: Vec<f64> = cores.iter().filter_map(|core| core.generator).collect();
    // A core on which it does not work has no share of it.
    (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / cores.len() as f64)
}

/// The parameter whose values are what is compared in a run of this family: languages, stores.
const fn told_by(family: Family) -> Option<&'static str> {
    match family {
        Family::Runtime => Some("lang"),
        Family::Kv => Some("kv"),
        _ => None,
    }
}

/// The family that the run was made for, with the parameter that tells its things apart and its planned values.
fn compared(run: &RunData, context: &RunContext<'_>) -> Option<(&'static Card, &'static str, Vec<String>)> {
    let cards = run.plan.cells.iter().filter_map(|cell| card::find(context.cards, &cell.instrument));
    let (card, param) = cards.into_iter().find_map(|card| Some((card, told_by(card.family)?)))?;
    let mut values: Vec<String> = Vec::new();
    for value in run.plan.cells.iter().filter_map(|cell| cell.params.get(param)) {
        if !values.iter().any(|known| known == value) {
            values.push(value.to_owned());
        }
    }
    Some((card, param, values))
}

/// Figures at two values of a parameter, as `compare --ratio` has them.
fn ratios(index: &RunIndex<'_>, param: &str, over: &str, under: &str, metric: &str) -> Vec<RatioRowDoc> {
    let run = index.run;
    let machine = model::doc::MachineDoc { id: run.head.machine_id.clone(), name: run.head.machine.clone() };
    let side = Side {
        runs: vec![run],
        earlier: index.context.earlier.clone(),
        facts: run.facts.clone(),
        ..Side::new(&run.head.machine, machine)
    };
    let metric = Some(metric.to_owned());
    let options = CompareOptions { cards: index.context.cards, metric, ..CompareOptions::default() };
    ratio(&[side], &format!("{param}={over}/{under}"), &options).map(|doc| doc.rows).unwrap_or_default()
}

fn beside_of(over: &str, under: &str, of: String, row: &RatioRowDoc) -> Option<Beside> {
    let row = &row.row;
    Some(Beside {
        over: capital(over),
        under: capital(under),
        of,
        ratio: row.ratio.filter(|ratio| ratio.is_finite() && row.verdict != VerdictWord::Invalid)?,
        low: row.low,
        high: row.high,
        verdict: row.verdict,
        worst: None,
    })
}

/// One language beside another by all kernels together, and the one at which it does worst.
fn speed_of(rows: &[&RatioRowDoc], over: &str, under: &str) -> Option<Beside> {
    let kernel = |row: &RatioRowDoc| row.row.params.get(KERNEL).unwrap_or_default().to_owned();
    let whole = rows.iter().find(|row| kernel(row) == WHOLE)?;
    let parts = rows.iter().filter(|row| kernel(row) != WHOLE);
    let parts = parts.filter_map(|row| Some((kernel(row), row.row.ratio?)));
    let worst = parts.min_by(|(_, a), (_, b)| a.total_cmp(b));
    Some(Beside { worst, ..beside_of(over, under, WHOLE.to_owned(), whole)? })
}

/// The same of ratios that were asked for, where these are of languages on one measured machine. The usual language
/// stands below the line, as in the answer of a run.
pub fn of_ratios(rows: &[RatioRowDoc], param: &str, (over, under): (&str, &str)) -> Option<String> {
    let card = rows.iter().find_map(|row| row.row.card)?;
    if told_by(card.family) != Some(param) || card.family != Family::Runtime {
        return None;
    }
    let metric = card.metrics.first()?.name;
    let measured: Vec<&RatioRowDoc> =
        rows.iter().filter(|row| !row.row.point && row.row.metric == metric).collect();
    let machine = &measured.first()?.machine;
    if measured.iter().any(|row| row.machine != *machine) {
        return None;
    }
    let is_turned = card.param(param).is_some_and(|spec| spec.default == over);
    let turned: Vec<RatioRowDoc> = measured.iter().map(|row| turned(row)).collect();
    let beside = match is_turned {
        true => speed_of(&turned.iter().collect::<Vec<_>>(), under, over),
        false => speed_of(&measured, over, under),
    };
    beside.map(|beside| Answer::Speed(vec![beside]).to_string())
}

/// The ratio the other way round.
fn turned(row: &RatioRowDoc) -> RatioRowDoc {
    let mut row = row.clone();
    let one = &mut row.row;
    let turn = |value: Option<f64>| value.map(|value| 1.0 / value);
    (one.ratio, one.low, one.high) = (turn(one.ratio), turn(one.high), turn(one.low));
    one.verdict = match one.verdict {
        VerdictWord::Better => VerdictWord::Worse,
        VerdictWord::Worse => VerdictWord::Better,
        same => same,
    };
    row
}

/// Each language beside the first: all kernels together, and the one at which it does worst.
fn speed(index: &RunIndex<'_>) -> Option<Answer> {
    let (card, param, languages) = compared(index.run, index.context)?;
    if card.family != Family::Runtime {
        return None;
    }
    let (base, others) = languages.split_first()?;
    // What runtimes are measured for; the same as in the tables of ratios.
    let metric = card.metrics.first()?.name;
    let one = |other: &String| {
        let rows = ratios(index, param, other, base, metric);
        speed_of(&rows.iter().collect::<Vec<_>>(), other, base)
    };
    let all: Vec<Beside> = others.iter().filter_map(one).collect();
    (!all.is_empty()).then_some(Answer::Speed(all))
}

/// Servers beside each other, by the figures whose cards say that they answer first.
fn beside(heads: &[&SeriesDoc], index: &RunIndex<'_>) -> Option<Answer> {
    let (card, param, servers) = compared(index.run, index.context)?;
    let asked = |series: &&&SeriesDoc| {
        series.card.and_then(|card| card.metric(&series.metric)).is_some_and(|info| !info.answers.is_empty())
    };
    // The usual variant of a figure has the shortest name.
    let usual = |server: &str, metric: &str| {
        let of = heads.iter().filter(|one| one.metric == metric && one.params.get(param) == Some(server));
        of.min_by_key(|one| names::label(Key::from(**one)).len()).copied()
    };
    let mut metrics: Vec<&str> = Vec::new();
    for series in heads.iter().filter(asked) {
        if !metrics.contains(&series.metric.as_str()) {
            metrics.push(&series.metric);
        }
    }
    let one = |server: &String| {
        let figures = metrics.iter().filter_map(|metric| answered(usual(server, metric)?));
        Measured { name: capital(server), figures: figures.take(MOST).collect() }
    };
    let all: Vec<Measured> = servers.iter().map(one).filter(|one| !one.figures.is_empty()).collect();
    if all.is_empty() {
        return None;
    }
    let (base, others) = servers.split_first()?;
    let metric = metrics.first()?;
    let label =
        card.metric(metric).map(|info| info.label).filter(|label| !label.is_empty()).unwrap_or(metric);
    let row = usual(base, metric)?;
    let against = |other: &String| {
        let rows = ratios(index, param, base, other, metric);
        let alike =
            |one: &&RatioRowDoc| one.row.instrument == row.instrument && row.params.contains(&one.row.params);
        beside_of(base, other, label.to_owned(), rows.iter().find(alike)?)
    };
    Some(Answer::Measured { all, beside: others.iter().filter_map(against).collect() })
}

/// One headline figure of each family, the first in their order.
fn measured(doc: &RunDoc, heads: &[&SeriesDoc]) -> Option<Answer> {
    let known: Vec<(&str, Answered)> =
        heads.iter().filter_map(|series| Some((names::family(series.card), answered(series)?))).collect();
    let mut families: Vec<&str> = Vec::new();
    let mut figures: Vec<Answered> = Vec::new();
    for (family, first) in &known {
        if families.contains(family) || figures.len() == MOST {
            continue;
        }
        families.push(family);
        // `memory read` rather than `memory read cpus=0`.
        let plain = known.iter().filter(|(other, one)| other == family && first.name.starts_with(&one.name));
        figures.extend(plain.map(|(_, one)| one).min_by_key(|one| one.name.len()).cloned());
    }
    let all = vec![Measured { name: doc.machine.name.clone(), figures }];
    (!known.is_empty()).then(|| Answer::Measured { all, beside: Vec::new() })
}
