//! What one rule says of many figures, as one sentence: the worst of them, and what to do.
//!
//! Numbers are in base units. A rule that is not here says its own sentence of the first figure.

use std::collections::BTreeMap;

use model::unit::Unit;
use model::{Finding, Validity};

use super::Group;
use crate::number::{self, Kind};

/// What a rule with this name says, where it has a phrase.
pub fn of(group: &Group<'_>, figures: &str) -> Option<String> {
    let about_figures = match group.kind {
        "background" => background(group, figures),
        "clock" => clock(group, figures),
        "autocorrelation" => Some(format!(
            "successive takes of {figures} resemble each other: they count as fewer, their intervals are wider"
        )),
        "drift" => drift(group, figures),
        "steal" => group.worst("share").map(|(share, ..)| {
            format!(
                "the hypervisor took up to {} of the CPU time during {figures}: a neighbour was busy; repeat later",
                percent(share)
            )
        }),
        "noisy-neighbour" => group.worst("floor").map(|(floor, ..)| {
            format!(
                "runs of this machine differ by up to {} with nothing changed, in {figures}: a smaller difference \
                 means nothing here",
                percent(floor)
            )
        }),
        "samples" => samples(group, figures),
        "throttled" => Some(throttled(group, figures)),
        "above-ceiling" => above_ceiling(group, figures),
        "clock-step" => group.worst("seconds").map(|(far, ..)| {
            format!(
                "the wall clock jumped by up to {} against the monotonic one during takes of {figures}: was the machine \
                 suspended, migrated or its clock set?",
                number::quantity(far.abs(), Unit::Second)
            )
        }),
        "swap" | "major-faults" | "thermal-throttle" => counted(group, figures),
        _ => None,
    };
    about_figures.or_else(|| of_loads(group, figures))
}

/// Rules of loads.
fn of_loads(group: &Group<'_>, figures: &str) -> Option<String> {
    match group.kind {
        "generator-bound" => Some(lower_bounds(group, figures)),
        "same-cores" => group.worst("busy").map(|(busy, ..)| {
            format!(
                "generator and server share a core, up to {} busy, in {figures}: each slows the other; generate from \
                 another machine, or give the server cores of its own",
                percent(busy)
            )
        }),
        "errors" => Some(failed(group, figures)),
        "late" => group.worst("late_p99").map(|(late, ..)| {
            format!(
                "1 in 100 requests was sent up to {} late or more in {figures}: their response times hold the \
                 generator's delay; give the generator a core of its own, or less load",
                number::quantity(late, Unit::Second)
            )
        }),
        "little" => group.worst("apart").map(|(apart, ..)| {
            format!(
                "requests in flight differ by up to {} from those of Little's law in {figures}: an error of the load \
                 engine; please report it",
                percent(apart)
            )
        }),
        _ => None,
    }
}

fn percent(share: f64) -> String {
    number::percent(share.abs())
}

fn background(group: &Group<'_>, figures: &str) -> Option<String> {
    let (cpus, ..) = group.worst("cpus")?;
    Some(format!(
        "other processes used up to {} CPUs during {figures}: end them (`top` shows which) and repeat",
        number::number(cpus)
    ))
}

fn clock(group: &Group<'_>, figures: &str) -> Option<String> {
    let (apart, worst, subject) = group.worst("apart")?;
    let clock = number::quantity(*worst.evidence.get("median")?, Kind::of(Unit::Hertz));
    let way = if apart < 0.0 { "below" } else { "above" };
    Some(format!(
        "clock: more than 3 % from the run's median of {clock} during takes of {figures} (worst {} {way}: {})",
        percent(apart),
        subject.name
    ))
}

fn drift(group: &Group<'_>, figures: &str) -> Option<String> {
    let (change, _, subject) = group.worst("change")?;
    let way = if change < 0.0 { "fell" } else { "rose" };
    Some(format!(
        "{figures} drifted within the run (worst: {} {way} by {}): not settled; warm up longer or look at the clock",
        subject.name,
        percent(change)
    ))
}

/// Too few takes, or none of use.
fn samples(group: &Group<'_>, figures: &str) -> Option<String> {
    if group.findings().any(|finding| finding.state == Validity::Invalid) {
        return Some(format!("takes of {figures} gave no usable number: the measurement is broken"));
    }
    let counts = || group.findings().filter_map(|finding| finding.evidence.get("n").copied());
    let (least, most) = (counts().reduce(f64::min)?, counts().reduce(f64::max)?);
    let takes = match (least == most, most == 1.0) {
        (true, true) => "1 take".to_owned(),
        (true, false) => format!("{most:.0} takes"),
        (false, _) => format!("{least:.0} to {most:.0} takes"),
    };
    let advice = group.findings().next()?.text.split_once("for a 95 % interval")?.1;
    Some(format!("{figures} have {takes}, too few for a 95 % interval{advice}"))
}

fn throttled(group: &Group<'_>, figures: &str) -> String {
    let quota = match group.worst("quota") {
        Some((cpus, ..)) => format!("the CPU quota of {} CPUs", number::number(cpus)),
        None => "a CPU quota (its size is unknown)".to_owned(),
    };
    format!(
        "{quota} stopped takes of {figures}: they measure the quota, not the machine; lift it or compare only inside it"
    )
}

fn above_ceiling(group: &Group<'_>, figures: &str) -> Option<String> {
    let beyond = |finding: &Finding| {
        let ratio = finding.evidence.get("value")? / finding.evidence.get("ceiling")?;
        Some(if ratio < 1.0 { 1.0 / ratio } else { ratio }).filter(|ratio| ratio.is_finite())
    };
    let all = group.members.iter().filter_map(|(finding, subject)| Some((beyond(finding)?, subject)));
    let (times, worst) = all.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(format!(
        "{figures} are beyond what this hardware can do (worst: {}, {} times): they are not what they claim to be",
        worst.name,
        number::number(times)
    ))
}

/// A counter that rose: `WHAT in 3 of 8 takes (12 in all): ADVICE`.
fn counted(group: &Group<'_>, figures: &str) -> Option<String> {
    let (_, worst, subject) = group.worst("count")?;
    let (what, rest) = worst.text.split_once(" in ")?;
    let (worst, advice) = rest.split_once(": ")?;
    Some(format!("{what} during {figures} (worst: {}, in {worst}): {advice}", subject.name))
}

/// Loads that the generator set, each in its own way.
fn lower_bounds(group: &Group<'_>, figures: &str) -> String {
    let busiest = group.worst("share").map_or_else(String::new, |(share, ..)| {
        format!("; its busiest core works up to {} of its time", percent(share))
    });
    let mut advices: BTreeMap<&str, usize> = BTreeMap::new();
    for text in group.findings().filter_map(|finding| finding.text.rsplit("; ").next()) {
        *advices.entry(text).or_default() += 1;
    }
    let advice = advices.into_iter().max_by_key(|(_, times)| *times).map_or("", |(text, _)| text);
    // A generator whose core others fill does not set the figure by its own work.
    let filled = group.findings().filter(|finding| finding.evidence.contains_key("filled_by_others")).count();
    if filled == group.findings().count()
        && let (Some((busy, ..)), Some((share, ..))) = (group.worst("filled_by_others"), group.worst("share"))
    {
        return format!(
            "lower bounds: other programs fill the load generator's core ({} busy, of which the generator works up to \
             {}) during {figures}; {advice}",
            percent(busy),
            percent(share)
        );
    }
    format!("lower bounds: the load generator, not the server, sets {figures}{busiest}; {advice}")
}

/// Failures by kind over all loads, and the worst share.
fn failed(group: &Group<'_>, figures: &str) -> String {
    let mut kinds: BTreeMap<&str, f64> = BTreeMap::new();
    for finding in group.findings() {
        // Statuses are the same requests as the kinds `status_4xx` and `status_5xx`.
        let by_status = finding.evidence.keys().any(|name| name.starts_with("status "));
        let counted = |name: &str| name != "share" && !(by_status && name.starts_with("status_"));
        for (kind, count) in finding.evidence.iter().filter(|(name, _)| counted(name)) {
            *kinds.entry(kind).or_default() += count;
        }
    }
    let mut sorted: Vec<(&str, f64)> = kinds.into_iter().collect();
    sorted.sort_by(|a, b| b.1.total_cmp(&a.1));
    let named: Vec<String> =
        sorted.iter().map(|(kind, count)| format!("{} {kind}", number::number(*count))).collect();
    let worst = group.worst("share").map_or_else(String::new, |(share, _, subject)| {
        format!(" (worst: {} of those of {})", percent(share), subject.name)
    });
    // What all say alike; a load that was offered too much fails otherwise than one that is refused.
    let advice = |finding: &Finding| finding.text.rsplit_once(": ").map(|(_, advice)| advice.to_owned());
    let mut advices = group.findings().filter_map(advice);
    let first = advices.next().unwrap_or_default();
    let alike = advices.all(|other| other == first);
    let advice = if alike { &first } else { "throughput counts good answers alone" };
    format!("requests failed in {figures}{worst}: {}: {advice}", named.join(", "))
}
