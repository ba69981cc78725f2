//! The comparison of labels of access logs: the sentence, the rows like with like, and what stands against them.

use maud::{Markup, html};
use model::doc::{CompareDoc, RowDoc, VerdictWord};
use model::finding::{Conclusion, Finding, LogsParts, Rule};
use model::format::{Kind, percent, quantity, ratio, ratio_interval};
use model::traffic::{FAILED, INSTRUMENT, SPEED, TIME};
use model::unit::Unit;

use crate::page::{self, Column, whole};
use crate::text::fold;
use crate::theme::{Trust, Verdict};

/// Rows of the comparison like with like.
pub fn is_judged(row: &RowDoc) -> bool {
    row.instrument == INSTRUMENT && [SPEED, TIME, FAILED].contains(&row.metric.as_str()) && !row.point
}

/// How fast one label serves what another does; `None` where speeds are not compared.
pub fn served(rows: &[&RowDoc], findings: &[&Finding]) -> Option<String> {
    let row = rows.iter().find(|row| row.metric == SPEED)?;
    let speed = row.ratio?;
    let failed = rows.iter().any(|other| other.metric == FAILED && is_of_pair(other, row));
    let said = format!(
        "{} serves the same requests at {} times the speed of {}{}",
        row.arm,
        ratio(speed),
        row.base,
        if failed { ", 5xx left out" } else { "" }
    );
    // Where the whole tells nothing, its parts may.
    let by_parts =
        || of_parts(row, findings).next().map(|parts| parts.one().trim_end_matches('.').to_owned());
    Some(match Verdict::from(row.verdict) {
        Verdict::CannotTell => by_parts().unwrap_or_else(|| {
            format!(
                "Whether {} serves the same requests faster or slower than {} cannot be told",
                row.arm, row.base
            )
        }),
        verdict @ (Verdict::Better | Verdict::Worse) => {
            format!("{said}: {}{}", verdict.word(), part(row, findings))
        }
        verdict => format!("{said}: {}", verdict.word()),
    })
}

/// `, all of it in /download/ (48 to 74 % longer); the rest, taken together, ties`, where that is so; else the parts
/// that go the other way.
fn part(row: &RowDoc, findings: &[&Finding]) -> String {
    let longer = row.verdict == VerdictWord::Worse;
    let told = |parts: &LogsParts| match parts.are_all_of_it(longer) {
        true => Some(parts.all_of_it()),
        false => parts.other_way(longer),
    };
    of_parts(row, findings).filter_map(told).map(|told| format!(", {told}")).next().unwrap_or_default()
}

/// The parts in which the sides of a row differ.
fn of_parts<'a>(row: &RowDoc, findings: &[&'a Finding]) -> impl Iterator<Item = &'a LogsParts> {
    findings.iter().filter_map(|finding| match &finding.rule {
        Rule::LogsParts(parts) if parts.arm == row.arm && parts.base == row.base => Some(parts),
        _ => None,
    })
}

fn is_of_pair(one: &RowDoc, other: &RowDoc) -> bool {
    (&one.arm, &one.base) == (&other.arm, &other.base)
}

pub fn verdicts(rows: &[&RowDoc], is_cut: bool) -> Markup {
    let first = rows.first();
    let is_one_pair = first.is_some_and(|first| rows.iter().all(|row| is_of_pair(row, first)));
    let [base, arm] = match first.filter(|_| is_one_pair) {
        Some(row) => [row.base.as_str(), row.arm.as_str()],
        None => ["base", "arm"],
    };
    let heads = [
        ("like with like", Column::Text),
        (base, Column::Number),
        (arm, Column::Number),
        ("ratio", Column::Number),
        ("95 % interval", Column::Number),
        ("verdict", Column::Text),
    ];
    let figure = |row: &RowDoc, value: Option<f64>| {
        value.map_or("-".to_owned(), |value| match row.unit {
            Unit::Ratio => percent(value),
            unit => quantity(value, Kind::for_unit(unit)),
        })
    };
    let line = |row: &&RowDoc| {
        let what = match row.metric.as_str() {
            SPEED => "bytes over time",
            TIME => "time of a request",
            _ => "failed with 5xx",
        };
        let interval = row.low.zip(row.high).map_or("-".to_owned(), |(low, high)| ratio_interval(low, high));
        vec![
            // Wrapped between the names, not within.
            html! { (whole(&row.arm)) " beside " (whole(&row.base)) ": " (whole(what)) },
            html! { (figure(row, row.base_value)) },
            html! { (figure(row, row.arm_value)) },
            html! { (row.ratio.map_or("-".to_owned(), ratio)) },
            html! { (interval) },
            html! {
                (Verdict::from(row.verdict).word())
                @if !row.why.is_empty() { "; " (page::prose(&row.why.to_string())) }
            },
        ]
    };
    html! {
        (page::table(&heads, &rows.iter().map(line).collect::<Vec<_>>()))
        p class="note" {
            @if is_cut {
                "Before and after a moment share no hour, as a log that follows another one: of those, requests of one \
                 class of size are compared, at the same hours of the day where both sides served them, as is said \
                 below."
            } @else {
                "Compared are requests of one class of size and of status in one quarter of an hour, so that neither the \
                 balancer's weights nor the mix decides; failures of the server (5xx) are left out of speed and time. The \
                 figures of base and arm are those of these requests."
            }
        }
    }
}

/// The findings about differences between the labels.
pub fn comparable(doc: &CompareDoc, rows: &[&RowDoc]) -> Markup {
    let of_logs = |finding: &&model::Finding| {
        rows.iter().any(|row| finding.subject.mentions(&row.arm) || finding.subject.mentions(&row.base))
    };
    let below = doc.findings.iter().filter(of_logs).filter(|finding| !finding.rule.is_told_first());
    html! { ul class="trust" { @for finding in below {
        (Trust::from(finding.state).line(&html! { (page::prose(&fold::sentence(finding, doc.cards))) }))
    } } }
}
