//! A comparison in plain words, ready to paste: who wins what by how much, what ties, what is not known.
//!
//! One line for each arm, against the base: the index of the whole machine, what that is worth for its price and its
//! power, the index of one thread, and what goes the other way. Where no index tells, figures are said by topic: of one
//! topic the least and the largest are named, of one figure its interval is said; a rate is faster or slower, a wait is
//! longer or shorter. What differs is said even where its size beyond the margin is open. Percentages are of the base's
//! figure; a factor of two or more is said as `times`. Figures that the table shows are not repeated here.

mod groups;
mod phrase;
mod scopes;
mod topic;
mod value;

use model::doc::{ArmDoc, CompareDoc, Cost, IndexDoc, Paragraph, Replicate, RowDoc, ValueDoc, VerdictWord};

use groups::{Summed, groups, judged};
use model::finding::{LogsCompared, LogsParts, Rule};
use model::{Better, Finding, Scope, format};
use scopes::names;
use topic::Topic;

/// The paragraph of a comparison; one line a further arm.
pub fn paragraph(doc: &CompareDoc) -> Paragraph {
    let Some((base, arms)) = doc.arms.split_first() else {
        return "Nothing to compare.".to_owned().into();
    };
    if arms.is_empty() {
        return format!("Only {}: nothing to compare it with.", base.name).into();
    }
    let rows = |arm: &str| doc.rows.iter().filter(|row| row.arm == arm).collect::<Vec<&RowDoc>>();
    let (strangers, known): (Vec<_>, Vec<_>) = arms.iter().partition(|arm| rows(&arm.name).is_empty());
    let indexes = |arm: &str| doc.index.iter().filter(|index| index.arm == arm).collect::<Vec<&IndexDoc>>();
    let values = |arm: &str| doc.value.iter().filter(|value| value.arm == arm).collect::<Vec<&ValueDoc>>();
    let told = |arm: &ArmDoc, name: &str| {
        let cpus = arm.cpus.zip(base.cpus);
        let parts = parts_of(&doc.findings, &arm.name, &base.name);
        let slowest = slowest_of(&doc.findings, &arm.name, &base.name);
        let summed = Summed { indexes: indexes(&arm.name), values: values(&arm.name), parts, slowest };
        one((name, &base.name), cpus, &rows(&arm.name), &summed)
    };
    let mut lines = each(&known, told);
    let strangers: Vec<String> = strangers.into_iter().map(|arm| arm.name.clone()).collect();
    match &strangers[..] {
        [] => {}
        [only] => lines.push(vec![format!("{only} and {} have no figure in common.", base.name)]),
        several => {
            lines.push(vec![format!(
                "{} have no figure in common with {}.",
                model::ranges::many(several).unwrap_or_else(|| format::list(several)),
                base.name
            )]);
        }
    }
    lines.extend(replication(doc).map(|last| vec![last]));
    failures_first(doc, &mut lines);
    planted_with_the_first(doc, &mut lines);
    Paragraph::of_lines(&lines)
}

/// Arms from which on those that are told alike may share their sentences.
const SHARING: usize = 4;

/// The sentences on each arm; of many arms those that are told alike share them: `Whether atom[002-132] and atom001
/// differ`. Of a few they do where their names are one expression.
fn each(arms: &[&ArmDoc], told: impl Fn(&ArmDoc, &str) -> Vec<String>) -> Vec<Vec<String>> {
    /// Stands for the name of an arm; no name has it.
    const NAME: &str = "\u{1}";
    let one_by_one = || arms.iter().map(|arm| told(arm, &arm.name)).collect();
    if arms.len() < SHARING {
        return one_by_one();
    }
    let mut alike: Vec<(Vec<String>, Vec<&str>)> = Vec::new();
    for arm in arms {
        let said = told(arm, NAME);
        match alike.iter_mut().find(|(known, _)| *known == said) {
            Some((_, names)) => names.push(&arm.name),
            None => alike.push((said, vec![&arm.name])),
        }
    }
    let folded: Vec<(Vec<String>, usize, String)> = alike
        .into_iter()
        .map(|(said, names)| (said, names.len(), model::ranges::fold(names, |_| true)))
        .collect();
    let are_folded = folded.iter().all(|(_, count, name)| *count == 1 || (*count >= SHARING && is_one(name)));
    if arms.len() <= model::ranges::TOLD && !are_folded {
        return one_by_one();
    }
    let named = |(said, _, name): (Vec<String>, usize, String)| {
        said.iter().map(|sentence| sentence.replace(NAME, &name)).collect()
    };
    folded.into_iter().map(named).collect()
}

/// True for an expression that is no list of several.
fn is_one(expression: &str) -> bool {
    let mut depth = 0_usize;
    expression.chars().all(|c| {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c != ',' || depth > 0
    })
}

/// Failures of a server are told before how fast it is, in one breath with it.
fn failures_first(doc: &CompareDoc, lines: &mut Vec<Vec<String>>) {
    let told = doc.findings.iter().filter(|one| one.rule.is_told_first());
    let failures: Vec<String> = told.map(Finding::text).collect();
    if failures.is_empty() {
        return;
    }
    match lines.first_mut().and_then(|line| line.first_mut()) {
        Some(first) => *first = format!("{} {first}", failures.join(" ")),
        None => lines.push(failures),
    }
}

/// That it is no measurement belongs to the answer, wherever that is quoted.
fn planted_with_the_first(doc: &CompareDoc, lines: &mut Vec<Vec<String>>) {
    let Some(planted) = planted(doc) else { return };
    match lines.first_mut().and_then(|line| line.first_mut()) {
        Some(first) => *first = format!("{first} {planted}"),
        None => lines.push(vec![planted]),
    }
}

/// The parts of the requests in which an arm differs from its base.
pub fn parts_of<'a>(findings: &'a [Finding], arm: &str, base: &str) -> Option<&'a LogsParts> {
    differs_in(findings).find(|parts| parts.arm == arm && parts.base == base)
}

/// That the slowest requests of an arm and its base alone differ.
fn slowest_of<'a>(findings: &'a [Finding], arm: &str, base: &str) -> Option<&'a LogsCompared> {
    findings.iter().find_map(|finding| {
        let Rule::LogsCompared(compared) = &finding.rule else { return None };
        let LogsCompared::Slowest { arm: of_arm, base: of_base } = &**compared else { return None };
        (of_arm.label == arm && of_base.label == base).then_some(&**compared)
    })
}

/// The parts of the requests in which two groups differ.
fn differs_in(findings: &[Finding]) -> impl Iterator<Item = &LogsParts> {
    findings.iter().filter_map(|finding| match &finding.rule {
        Rule::LogsParts(parts) => Some(parts),
        _ => None,
    })
}

/// The sentences on rows of one pair, without a document around them; findings say where the two differ.
pub fn of_pair(arm: &str, base: &str, rows: &[&RowDoc], findings: &[Finding]) -> Vec<String> {
    let parts = parts_of(findings, arm, base);
    let slowest = slowest_of(findings, arm, base);
    // Of one that changed meanwhile it is told since when, which is why the whole time tells nothing.
    let has_changed = findings.iter().any(|finding| {
        matches!(&finding.rule, Rule::LogsSince(since) if [arm, base].contains(&since.label.as_str()))
    });
    let rows: Vec<&RowDoc> =
        rows.iter().copied().filter(|row| !(has_changed && row.why.one_episode())).collect();
    one((arm, base), None, &rows, &Summed { parts, slowest, ..Summed::default() })
}

/// The index of each whole machine by its price and its power, against the first.
pub fn values(doc: &CompareDoc) -> Vec<ValueDoc> {
    let Some((base, arms)) = doc.arms.split_first() else { return Vec::new() };
    let of_arm = |arm: &ArmDoc| {
        let rows: Vec<&RowDoc> = doc.rows.iter().filter(|row| row.arm == arm.name).collect();
        let is_whole = |index: &&IndexDoc| index.arm == arm.name && index.scope == Scope::WholeMachine;
        let index = doc.index.iter().find(is_whole);
        let by = |per: Cost| value::of_index(per, index?, &rows, (arm, base));
        [by(Cost::Price), by(Cost::Watts)].into_iter().flatten().collect::<Vec<_>>()
    };
    arms.iter().flat_map(of_arm).collect()
}

/// The sides that are no measurement.
fn planted(doc: &CompareDoc) -> Option<String> {
    let names = doc.arms.iter().filter(|arm| arm.planted).map(|arm| arm.name.clone());
    model::fake::planted(&names.collect::<Vec<_>>()).map(|planted| format!("{planted}."))
}

/// Of what the verdicts speak: of these boxes, of their types, or of one run.
fn replication(doc: &CompareDoc) -> Option<String> {
    let measured: Vec<&ArmDoc> = doc.arms.iter().filter(|arm| !arm.runs.is_empty()).collect();
    let numbers =
        |of: &dyn Fn(&ArmDoc) -> u64| counts(&measured.iter().map(|arm| of(arm)).collect::<Vec<_>>());
    let runs = || numbers(&|arm| arm.runs.len() as u64);
    let one = measured.iter().all(|arm| arm.machine.host() == measured[0].machine.host());
    let sets: std::collections::BTreeSet<u64> =
        measured.iter().filter_map(|arm| Some(arm.cpus? as u64)).collect();
    Some(match doc.unit_of_replication? {
        Replicate::Box => {
            let boxes = numbers(&|arm| arm.boxes.unwrap_or(1));
            format!("This speaks of types of boxes: the unit is the box ({boxes}), each worth one value.")
        }
        Replicate::Run if one && sets.len() > 1 => {
            let cpus = numbers(&|arm| arm.cpus.unwrap_or_default() as u64);
            format!("This speaks of one box, with {cpus} of its CPUs: the unit is the run ({}).", runs())
        }
        Replicate::Run if one => format!("This speaks of one box: the unit is the run ({}).", runs()),
        Replicate::Run => {
            format!("This speaks of these boxes, not of their types: the unit is the run ({}).", runs())
        }
        Replicate::Sitting => "This speaks of one run: the unit is the sitting.".to_owned(),
        Replicate::Block => {
            "This speaks of one run as it was prepared once: the unit is the take.".to_owned()
        }
    })
}

/// `3 and 2`; of many sides `1 each`, or `1 to 3 each`.
fn counts(of: &[u64]) -> String {
    /// Sides that are told one by one.
    const TOLD: usize = 4;
    match (of.iter().min(), of.iter().max()) {
        (Some(low), Some(high)) if of.len() > TOLD => match low == high {
            true => format!("{low} each"),
            false => format!("{low} to {high} each"),
        },
        _ => format::list(&of.iter().map(u64::to_string).collect::<Vec<_>>()),
    }
}

/// The whole machine first and what it is worth, then one thread, then what is of neither: disks, networks, response
/// times, and further figures of CPUs and memory.
fn one(
    (arm, base): (&str, &str),
    cpus: Option<(f64, f64)>,
    rows: &[&RowDoc],
    summed: &Summed<'_>,
) -> Vec<String> {
    let unlike = cpus.filter(|(arm, base)| arm != base);
    let of_cpus = unlike.map_or_else(String::new, |(arm, base)| {
        let s = if arm == 1.0 { "" } else { "s" };
        format!(" ({arm} CPU{s} against {base})")
    });
    let judged = judged(rows);
    let of_machine = groups::lead(&judged, &of_cpus);
    let groups = groups(&judged, &of_machine, summed);
    let sentences = scopes::sentences(&groups, arm, base);
    let of = |per: Cost| {
        let by_index = summed.values.iter().find(|value| value.per == per).copied();
        value::sentence(per, &judged, (arm, base), by_index)
    };
    // The money belongs to the answer.
    let answer: Vec<String> = sentences.first().cloned().into_iter().chain(of(Cost::Price)).collect();
    let others = of(Cost::Watts).into_iter().chain(sentences.into_iter().skip(1));
    let answer = Some(answer.join(" ")).filter(|answer| !answer.is_empty());
    let mut sentences: Vec<String> = answer.into_iter().chain(others).collect();
    let is_refused = |row: &&RowDoc| row.verdict == VerdictWord::Invalid;
    // The list of what is not counted is no heading.
    if !judged.is_empty() && judged.iter().all(is_refused) {
        sentences.insert(0, format!("{arm} and {base} cannot be compared: every figure is refused."));
    }
    sentences.extend(refused(&judged.iter().copied().filter(is_refused).collect::<Vec<_>>()));
    // What has no direction is no performance.
    let is_point = |row: &&RowDoc| row.point && row.better != Better::Neither;
    let of_points: Vec<&RowDoc> = rows.iter().copied().filter(is_point).collect();
    let published = [points(&of_points, arm, base), value::of_points(&of_points, (arm, base))];
    sentences.extend(published.into_iter().flatten());
    sentences
}

fn refused(rows: &[&RowDoc]) -> Option<String> {
    let first = rows.first()?;
    let why = if first.why.is_empty() { String::new() } else { format!(" ({})", first.why) };
    Some(format!("Not counted: {}{why}.", format::list(&names(rows))))
}

fn points(rows: &[&RowDoc], arm: &str, base: &str) -> Option<String> {
    let pasted = rows.iter().any(|row| row.why.is_pasted());
    let mut said: Vec<String> = Vec::new();
    for topic in Topic::of_all(rows) {
        let about = rows.iter().filter(|row| Topic::of_row(row) == topic);
        let good: Vec<f64> = about.filter_map(|row| Topic::goodness(row)).collect();
        let Some(range) = phrase::factors(&good) else { continue };
        let of = if said.is_empty() { format!(" the performance of {base}") } else { String::new() };
        let figures =
            if said.is_empty() { format::count(good.len(), "figure") } else { good.len().to_string() };
        said.push(format!("{range}{of} in {} ({figures})", topic.noun()));
    }
    if said.is_empty() {
        return None;
    }
    let what = if pasted { "Figures of a pasted line" } else { "Published figures" };
    Some(format!("{what}, which carry no verdict, put {arm} at {}.", format::list(&said)))
}

#[cfg(test)]
pub mod tests;
