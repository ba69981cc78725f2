//! Caveats of a comparison: what differs besides the machines, what could not be matched, prices that do not mix.

use std::collections::{BTreeMap, BTreeSet};

use model::data::RunData;
use model::doc::{Noise, RowDoc, SettingDoc, SettingsDoc};
use model::fact::CpuSet;
use model::names::{self, Key};
use model::older::{self, Older};
use model::{Better, Fact, Finding, Phase, Samples, SubjectDoc, card};

use super::judge::{self, Pairs};
use super::judged::Judged;
use super::matching::{RowKey, arm_name};
use super::prepared::{Prepared, SideRow};
use super::side::{self, CompareOptions, Side};
use super::value;
use crate::place;
use crate::settings::{self, Configured};
use model::format;

pub fn footnotes(prepared: &[Prepared<'_>], options: &CompareOptions) -> Vec<String> {
    let mut notes = Vec::new();
    for side in prepared {
        notes.extend(within(side));
    }
    notes.extend(targets(prepared, options));
    notes.extend(prepared.iter().filter_map(noted));
    notes.extend(prepared.iter().filter_map(super::unknown::price_band));
    let Some((base, arms)) = prepared.split_first() else { return notes };
    for arm in arms {
        notes.extend(cpu_sets(arm, base));
        if (arm.side.price.is_some() || base.side.price.is_some())
            && let Err(why) = value::price_ratio(arm.side, base.side, options.life_hours)
        {
            notes.push(format!("{} against {}: no ratio per price: {why}", arm.side.name, base.side.name));
        }
        notes.extend(nothing_bought(arm, base, options));
        notes.extend(definitions(arm, base));
        notes.extend(older(arm, base, options));
        notes.extend(super::correspond::sentences(arm, base, options));
        notes.extend(conditions(arm, base, options));
        notes.extend(super::unknown::sentences(arm, base, options));
        notes.extend(super::apart::figures(arm, base, options).into_iter().map(|apart| apart.text));
    }
    let has_takes = base.rows.keys().any(|key| key.samples(options.cards) == Samples::Takes);
    if has_takes && arms.iter().any(|arm| super::judged::paired_by_block(arm, base)) {
        let note = "ratio: of takes side by side (Hodges-Lehmann), not the quotient of the medians shown";
        notes.push(note.to_owned());
        let note = "one study: what changes from run to run (where memory lies, what was started before) is not in \
                    these intervals; repeat the study to see it";
        notes.push(note.to_owned());
    }
    notes.extend(
        prepared
            .iter()
            .find(|side| !side.rows.is_empty())
            .and_then(|ours| unmeasured(ours, prepared, options)),
    );
    notes
}

/// Where the targets are, who measured them, and what is known of their hosts.
fn targets(prepared: &[Prepared<'_>], options: &CompareOptions) -> Vec<String> {
    let subject =
        |side: &Prepared<'_>| Some((side.side.name.clone(), side::subject(side.side, options.cards)?));
    let all: Vec<(String, SubjectDoc)> = prepared.iter().filter_map(subject).collect();
    if all.is_empty() {
        return Vec::new();
    }
    let each: Vec<String> = all
        .iter()
        .map(|(name, subject)| format!("{name} is {}", subject.address.as_deref().unwrap_or(&subject.name)))
        .collect();
    let by: BTreeSet<&str> = all.iter().filter_map(|(_, subject)| subject.observed_by.as_deref()).collect();
    let by = format::list(&by.into_iter().map(str::to_owned).collect::<Vec<_>>());
    let same = address_of_all(&all).map(|address| {
        let sides = if all.len() == 2 { "both sides".to_owned() } else { format!("all {} sides", all.len()) };
        format!("{sides} are {address}, one server measured at different times")
    });
    let mut notes = vec![format!("{}; measured from {by}", same.unwrap_or_else(|| format::list(&each)))];
    let unknown: Vec<String> =
        prepared.iter().filter(|side| is_unknown(side.side)).map(|side| side.side.name.clone()).collect();
    if !unknown.is_empty() {
        let names = format::list(&unknown);
        notes.push(format!(
            "of the host of {names} nothing is known: --at {}='ssh HOST boxscore' asks it",
            unknown[0]
        ));
    }
    notes.extend(prepared.iter().filter_map(|side| failed(side.side)));
    notes.extend(prepared.iter().filter_map(|side| host_of(side.side)));
    let id_of = |name: &str| prepared.iter().find(|side| side.side.name == name)?.side.target()?.host_id();
    notes.extend(shared_hosts(&all, &id_of));
    notes
}

/// Takes of a target that failed in its newest run, with the usual reason.
fn failed(side: &Side<'_>) -> Option<String> {
    let run = side.runs.last()?;
    let arm = arm_name(side, run);
    run.plan.target(arm)?;
    let is_its = |number: u32| run.plan.arms.get(number as usize).is_some_and(|one| one.name == arm);
    let takes = run.takes.iter().filter(|take| take.phase == Phase::Measured && is_its(take.arm));
    let (mut count, mut why) = (0, BTreeMap::new());
    for take in takes {
        count += 1;
        if let Some(fault) = &take.fault {
            *why.entry(fault.text.as_str()).or_insert(0) += 1;
        }
    }
    let failed: usize = why.values().sum();
    let (usual, _) = why.iter().max_by_key(|(_, times)| **times)?;
    Some(format!("{}: {failed} of {} failed: {usual}", side.name, format::count(count, "take")))
}

/// The host of a target during the takes of its newest run, where that was recorded.
fn host_of(side: &Side<'_>) -> Option<String> {
    let run = side.runs.last()?;
    crate::target_host::of_arm(run, arm_name(side, run)).map(|host| host.sentence)
}

/// The address of all sides, where it is one.
fn address_of_all(all: &[(String, SubjectDoc)]) -> Option<&str> {
    let first = all.first()?.1.address.as_deref()?;
    let is_same = all.iter().all(|(_, subject)| subject.address.as_deref() == Some(first));
    (all.len() > 1 && is_same).then_some(first)
}

/// Hosts with several servers of these. One server that was measured several times takes nothing from itself. Two
/// names may lead to one host, which its facts tell by its id.
fn shared_hosts(all: &[(String, SubjectDoc)], id_of: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    let address_of = |subject: &SubjectDoc| subject.address.clone().unwrap_or_default();
    let host_of = |subject: &SubjectDoc| model::url::host(&address_of(subject)).to_owned();
    let mut hosts: BTreeMap<String, Vec<(&str, &SubjectDoc)>> = BTreeMap::new();
    for (name, subject) in all {
        let host = host_of(subject);
        // Of one that is not known by facts, those of another one at the same address.
        let alike =
            all.iter().filter(|(_, other)| host_of(other) == host).find_map(|(other, _)| id_of(other));
        hosts.entry(id_of(name).or(alike).unwrap_or(host)).or_default().push((name, subject));
    }
    let note = |sides: Vec<(&str, &SubjectDoc)>| {
        let servers: BTreeSet<String> =
            sides.iter().map(|(_, subject)| model::url::authority(&address_of(subject)).to_owned()).collect();
        let host = host_of(sides.first()?.1);
        let names: Vec<String> = sides.iter().map(|(name, _)| (*name).to_owned()).collect();
        (servers.len() > 1 && !host.is_empty()).then(|| {
            format!(
                "{} share the host {host}: each takes from what the other could have",
                format::list(&names)
            )
        })
    };
    hosts.into_values().filter_map(note).collect()
}

/// A target of whose host no fact is known.
fn is_unknown(side: &Side<'_>) -> bool {
    side.target().is_some_and(|target| target.facts.is_empty())
}

/// The user's note on a machine without runs.
fn noted(side: &Prepared<'_>) -> Option<String> {
    let is_note = |fact: &&Fact| fact.key == "note" && side.side.runs.is_empty();
    let text = side.side.facts.iter().find(is_note)?.value.as_ref()?.text();
    Some(format!("{}: noted: {text}", side.side.name))
}

/// Conditions of published figures that stand beside each other, where they differ.
fn conditions(arm: &Prepared<'_>, base: &Prepared<'_>, options: &CompareOptions) -> Option<String> {
    if !(arm.rows.is_empty() && base.rows.is_empty()) {
        return None;
    }
    let unlike = super::points::unlike(arm.side, base.side, options);
    /// More conditions of one name than these are counted.
    const SHOWN: usize = 3;
    let each = unlike.iter().map(|(name, all)| {
        let more = all.len().saturating_sub(SHOWN);
        let some = all.iter().take(SHOWN).cloned();
        let said: Vec<String> = some.chain((more > 0).then(|| format!("{more} more"))).collect();
        format!("{name} ({})", said.join("; "))
    });
    let list = each.collect::<Vec<_>>().join(", ");
    let (arm, base) = (&arm.side.name, &base.side.name);
    (!list.is_empty()).then(|| format!("{base} and {arm}: figures were taken with other conditions: {list}"))
}

/// Published figures that no test measured, with what their studies say of them.
pub fn bases(rows: &[RowDoc], prepared: &[Prepared<'_>]) -> Vec<String> {
    let mut notes = Vec::new();
    for side in prepared {
        let name = &side.side.name;
        for row in &side.side.published {
            let Some(caveat) = row.basis.caveat() else { continue };
            let is_its = |shown: &&RowDoc| {
                (shown.arm == *name || shown.base == *name)
                    && (&shown.instrument, &shown.metric) == (&row.key.instrument, &row.key.metric)
                    && shown.point
            };
            let Some(shown) = rows.iter().find(is_its) else { continue };
            let key = Key {
                card: shown.card,
                instrument: &shown.instrument,
                metric: &shown.metric,
                params: &row.key.params,
            };
            let figure = names::label(key);
            let why = if row.note.is_empty() { String::new() } else { format!("; {}", row.note) };
            let note = format!("{name}: {figure}: {caveat}{why}");
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    notes
}

/// Prices or watts of both sides without a figure that they would buy.
fn nothing_bought(arm: &Prepared<'_>, base: &Prepared<'_>, options: &CompareOptions) -> Option<String> {
    let (one, other) = (arm.side, base.side);
    let known = one.price.is_some() && other.price.is_some() || one.watts.is_some() && other.watts.is_some();
    let is_whole = |key: &RowKey| {
        let card = card::find(options.cards, &key.instrument);
        card.is_some_and(|card| card.is_bought(&key.metric, &key.params))
    };
    let has = |side: &Prepared<'_>| {
        side.rows.keys().any(is_whole)
            || side.side.published.iter().map(RowKey::published).any(|key| is_whole(&key))
    };
    (known && !(has(arm) && has(base))).then(|| {
        format!(
            "{} against {}: no ratio per price or watt: no figure is of the whole machine (threads=all) or a rate of a \
             server",
            one.name, other.name
        )
    })
}

/// `not measured on mini-1: crc32c (5 figures), mac (2): boxscore run crc32c mac`: what others published and the first
/// measured side could measure, but has not.
fn unmeasured(ours: &Prepared<'_>, all: &[Prepared<'_>], options: &CompareOptions) -> Option<String> {
    if options.metric.is_some() {
        return None;
    }
    let known = |name: &str| options.cards.iter().any(|card| card.name == name);
    let mut missing: Vec<(&str, BTreeSet<&model::SeriesKey>)> = Vec::new();
    for row in all.iter().filter(|side| side.rows.is_empty()).flat_map(|side| &side.side.published) {
        let key = &row.key;
        let card = card::find(options.cards, &key.instrument);
        let here = ours.rows.iter().any(|(own, is)| super::matching::fits(own, is.better, row, card));
        // Only what is measured can be missing: what is stated for other CPUs cannot be run, nor can a ratio.
        if here
            || row.better == Better::Neither
            || !known(&key.instrument)
            || key.params.get("cpus").is_some()
        {
            continue;
        }
        match missing.iter_mut().find(|(name, _)| *name == key.instrument) {
            Some((_, figures)) => {
                figures.insert(key);
            }
            None => missing.push((&key.instrument, BTreeSet::from([key]))),
        }
    }
    if missing.is_empty() {
        return None;
    }
    let figures: Vec<String> = missing
        .iter()
        .map(|(name, keys)| format!("{name} ({})", format::count(keys.len(), "figure")))
        .collect();
    let names = missing.iter().map(|(name, _)| (*name).to_owned());
    let words: Vec<String> = names.chain(place::ways(ours.side)).collect();
    let on = place::to_measure(ours.side).map_or_else(String::new, |on| format!("on {on} "));
    Some(format!(
        "not measured on {}: {}: {on}boxscore run {}",
        ours.side.name,
        figures.join(", "),
        words.join(" ")
    ))
}

/// Runs that a side pools although their configurations differ, and keys that mean two things.
fn within(side: &Prepared<'_>) -> Vec<String> {
    let name = &side.side.name;
    let mut notes = Vec::new();
    if let Some((first, rest)) = side.side.runs.split_first() {
        let mut keys: BTreeSet<String> = BTreeSet::new();
        let first = Configured::by_facts(&first.facts);
        for run in rest {
            let differ = settings::differing(first, Configured::by_facts(&run.facts), true, &[]);
            keys.extend(differ.into_iter().map(|one| one.name));
        }
        if !keys.is_empty() {
            notes.push(format!("{name}: pooled runs differ in: {}", joined(&keys)));
        }
    }
    if side.is_one_for_all {
        notes.push(format!("{name} has one CPU: its figures of one thread stand for the whole machine"));
    }
    if !side.ambiguous.is_empty() {
        let titles: Vec<String> = side.ambiguous.iter().map(RowKey::title).collect();
        notes.push(format!("{name}: left out, since two series of one run match: {}", format::list(&titles)));
    }
    notes
}

/// Of each side against the first: the settings in which their newest runs differ.
pub fn settings(prepared: &[Prepared<'_>], findings: &[Finding]) -> Vec<SettingsDoc> {
    let Some((base, arms)) = prepared.split_first() else { return Vec::new() };
    arms.iter().filter_map(|arm| between(arm, base, findings)).collect()
}

fn between(arm: &Prepared<'_>, base: &Prepared<'_>, findings: &[Finding]) -> Option<SettingsDoc> {
    let (a, b) = (arm.side.runs.last()?, base.side.runs.last()?);
    let is_here = |side: &Prepared<'_>| side.side.target().is_none_or(|target| target.facts.is_empty());
    let same_machine = a.head.machine_id == b.head.machine_id && is_here(arm) && is_here(base);
    let mut differ = settings::differing(configured(base, b), configured(arm, a), same_machine, findings);
    if a.head.build != b.head.build {
        let name = "boxscore build".to_owned();
        let (base, arm) = (b.head.build.clone(), a.head.build.clone());
        differ.push(SettingDoc { name, key: None, base, arm });
    }
    let (base, arm) = (base.side.name.clone(), arm.side.name.clone());
    (!differ.is_empty()).then_some(SettingsDoc { base, arm, same_machine, differ })
}

/// The facts of the host of a target where they are known, else of the machine that measured.
fn configured<'p>(side: &'p Prepared<'_>, run: &'p RunData) -> Configured<'p> {
    let target = side.side.target().map(|target| target.facts.as_slice()).filter(|facts| !facts.is_empty());
    // No note says which arm's server it is of.
    let notes = if side.side.arm.is_none() { run.notes.as_slice() } else { &[] };
    Configured { facts: target.unwrap_or_else(|| facts(side, run)), notes, params: None }
}

fn facts<'f>(side: &'f Prepared<'_>, run: &'f RunData) -> &'f [Fact] {
    if run.facts.is_empty() { &side.side.facts } else { &run.facts }
}

/// Sides of which one may use a part of its CPUs, or both may use different ones: a smaller machine than its sheet
/// says.
fn cpu_sets(arm: &Prepared<'_>, base: &Prepared<'_>) -> Option<String> {
    let (a, b) = (arm.side.runs.last()?, base.side.runs.last()?);
    let sets = [(base, b), (arm, a)].map(|(side, run)| (side, CpuSet::of_facts(facts(side, run))));
    let [(_, of_base), (_, of_arm)] = &sets;
    if of_base.as_ref().map(|set| &set.list) == of_arm.as_ref().map(|set| &set.list) {
        return None;
    }
    let said = sets.iter().map(|(side, set)| match set {
        Some(set) => format!("{} has {set}", side.side.name),
        None => format!("{} has all", side.side.name),
    });
    Some(format!("unlike CPU sets: {}", said.collect::<Vec<_>>().join(", ")))
}

fn joined(keys: &BTreeSet<String>) -> String {
    keys.iter().cloned().collect::<Vec<_>>().join(", ")
}

/// The runs that the noise between runs, and so every floor, comes from.
pub fn sources(rows: &[RowDoc]) -> Option<String> {
    let mut runs: Vec<&str> = Vec::new();
    for id in rows.iter().filter(|row| row.noise != Some(Noise::Within)).flat_map(|row| &row.noise_runs) {
        if !runs.contains(&id.as_str()) {
            runs.push(id);
        }
    }
    let names: Vec<String> = runs.iter().map(|id| model::id::short(id).to_owned()).collect();
    let of = format::count(names.len(), "run");
    (!names.is_empty()).then(|| {
        format!(
            "the noise between runs, and so the floor, comes from {of} (of each figure from those that have it): {}",
            format::list(&names)
        )
    })
}

/// Where sides are single takes, no spread of theirs is in the intervals.
pub fn single(rows: &[RowDoc], prepared: &[Prepared<'_>]) -> Option<String> {
    let is_single = |side: &&Prepared<'_>| {
        let entries = || side.rows.values().flat_map(|row| &row.entries);
        entries().next().is_some() && entries().all(|entry| entry.series.measured().len() == 1)
    };
    let names: Vec<String> = prepared.iter().filter(is_single).map(|side| side.side.name.clone()).collect();
    let by_noise = rows.iter().any(|row| row.noise == Some(Noise::Assumed) && row.low.is_some());
    let (have, their) = if names.len() > 1 {
        ("have one take a figure each", "their")
    } else {
        ("has one take a figure", "its")
    };
    (by_noise && !names.is_empty()).then(|| {
        let noise = Noise::Assumed.sentence("", &[]);
        format!("{} {have}: {their} spread is not in the intervals, and {noise}", format::list(&names))
    })
}

/// Where the figures shown are levels over sittings, and a run by itself shows another median.
pub fn levels(pairs: &Pairs, prepared: &[Prepared<'_>], options: &CompareOptions) -> Option<String> {
    /// Less than this is rounding.
    const SHOWN: f64 = 0.005;
    let is_shown = |judged: &&Judged| options.all || judged.row.headline;
    let differs = |median: Option<f64>, shown: Option<f64>| {
        median.zip(shown).is_some_and(|(median, shown)| (median / shown - 1.0).abs() > SHOWN)
    };
    let median = |side: usize, key: &RowKey| prepared[side].rows.get(key).and_then(SideRow::value);
    let is_level = |arm: usize, judged: &Judged| {
        differs(median(0, &judged.key), judged.row.base_value)
            || differs(median(arm, &judged.key), judged.row.arm_value)
    };
    let any = (1..prepared.len())
        .any(|arm| pairs.rows(arm, 0).iter().filter(is_shown).any(|judged| is_level(arm, judged)));
    let note = "figures: levels over sittings, whose quotient is ratio; `show` has medians";
    any.then(|| note.to_owned())
}

/// Where there are too many sides to judge every two of them.
pub fn unranked(prepared: &[Prepared<'_>]) -> Option<String> {
    let (base, count) = (&prepared.first()?.side.name, prepared.len());
    let most = judge::MOST;
    (count > most).then(|| {
        format!("ranks: none of more than {most} sides; each of these {count} is compared with {base} alone")
    })
}

/// Instruments of which both sides have figures of one definition, which is older than that of today.
fn older(arm: &Prepared<'_>, base: &Prepared<'_>, options: &CompareOptions) -> Option<String> {
    let both = arm.order.iter().filter(|key| base.rows.contains_key(key));
    let all = Older::among(both.map(|key| (key.instrument.as_str(), key.definition)), options.cards);
    Older::sentence(&all, older::OF_SIDES)
}

/// Instruments of which both sides have a figure, but of another definition. Published figures name few parameters, and
/// count by their metric.
pub(super) fn definitions(arm: &Prepared<'_>, base: &Prepared<'_>) -> Option<String> {
    let published =
        |side: &Prepared<'_>| -> Vec<RowKey> { side.side.published.iter().map(RowKey::published).collect() };
    let is_metric = |a: &RowKey, b: &RowKey| (&a.instrument, &a.metric) == (&b.instrument, &b.metric);
    let measured = arm.order.iter().flat_map(|key| base.order.iter().map(move |other| (key, other)));
    let measured = measured.filter(|(key, other)| is_metric(key, other) && key.params == other.params);
    let (of_arm, of_base) = (published(arm), published(base));
    let beside = |keys: &'_ [RowKey], points: &'_ [RowKey]| -> Vec<(RowKey, RowKey)> {
        let alone = |key: &&RowKey| {
            let alike = || points.iter().filter(|point| is_metric(key, point));
            alike().next().is_some() && alike().all(|point| point.definition != key.definition)
        };
        let first = |key: &RowKey| points.iter().find(|point| is_metric(key, point)).cloned();
        keys.iter().filter(alone).filter_map(|key| Some((key.clone(), first(key)?))).collect()
    };
    let swapped = beside(&base.order, &of_arm).into_iter().map(|(base, arm)| (arm, base));
    let pairs = measured
        .map(|(arm, base)| (arm.clone(), base.clone()))
        .chain(beside(&arm.order, &of_base))
        .chain(swapped);
    let apart = pairs.filter(|(arm, base)| arm.definition != base.definition);
    let names: BTreeSet<String> = apart
        .map(|(arm, base)| format!("{} ({} against {})", base.instrument, base.definition, arm.definition))
        .collect();
    let (a, b) = (&arm.side.name, &base.side.name);
    let names = (!names.is_empty()).then(|| joined(&names))?;
    Some(format!(
        "{b} and {a}: measured by different definitions, not compared: {names}; measure the older again"
    ))
}

#[cfg(test)]
mod tests {
    use model::subject::SubjectKind;

    use super::*;

    fn sides(addresses: &[&str]) -> Vec<(String, SubjectDoc)> {
        let subject = |address: &str| SubjectDoc {
            kind: SubjectKind::Target,
            name: address.to_owned(),
            address: Some(address.to_owned()),
            observed_by: None,
        };
        addresses.iter().enumerate().map(|(at, one)| (format!("r{at}"), subject(one))).collect()
    }

    #[test]
    fn one_server_takes_nothing_from_itself() {
        let same = sides(&["http://127.0.0.1:8091/", "http://127.0.0.1:8091/"]);
        assert_eq!(address_of_all(&same), Some("http://127.0.0.1:8091/"));
        assert!(shared_hosts(&same, &|_| None).is_empty());
        let pages = sides(&["http://127.0.0.1:8091/", "http://127.0.0.1:8091/b"]);
        assert!(address_of_all(&pages).is_none() && shared_hosts(&pages, &|_| None).is_empty());
        let two = sides(&["http://127.0.0.1:8091/", "http://127.0.0.1:8092/", "http://10.0.0.2/"]);
        let says = "r0 and r1 share the host 127.0.0.1: each takes from what the other could have";
        assert_eq!((address_of_all(&two), shared_hosts(&two, &|_| None)), (None, vec![says.to_owned()]));
        assert_eq!(address_of_all(&same[..1]), None);
        // The facts of the first and the third are those of one host.
        let by_facts = shared_hosts(&two, &|name| (name != "r1").then(|| "x".to_owned()));
        let says = "r0, r1 and r2 share the host 127.0.0.1: each takes from what the other could have";
        assert_eq!(by_facts, [says]);
    }
}
