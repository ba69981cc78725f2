//! What the rules said: every finding with its evidence, doubts first.

use std::collections::BTreeMap;

use maud::{Markup, html};
use model::{Finding, Validity};

use crate::number;
use crate::page;
use crate::section::{ReportInput, Section};
use crate::text::{count, notes};
use crate::theme::Trust;

pub struct Rules;
pub static SECTION: Rules = Rules;

/// Findings of one state beyond these are counted.
const MOST: usize = 60;

impl Section for Rules {
    fn rank(&self) -> u32 {
        60
    }

    fn draw(&self, input: &ReportInput) -> Option<Markup> {
        let all: Vec<&Finding> = input.runs.iter().flat_map(|(run, _)| &run.findings).collect();
        if all.is_empty() {
            return None;
        }
        let of = |state| all.iter().filter(|finding| finding.state == state).count();
        let (doubtful, refused) = (of(Validity::Doubtful), of(Validity::Invalid));
        let title = match (doubtful, refused) {
            (0, 0) => format!("Validity: {} checks found nothing to doubt", of(Validity::Ok)),
            (doubtful, 0) => format!("Validity: {doubtful} doubts, nothing refused"),
            (doubtful, refused) => format!("Validity: {refused} refused, {doubtful} doubted"),
        };
        let body = html! { @for (run, (doc, _)) in input.runs.iter().enumerate() {
            @if input.runs.len() > 1 { h3 { (input.name(run)) } }
            (findings(&doc.findings))
        } };
        Some(page::section("validity", &title, &body))
    }
}

fn findings(all: &[Finding]) -> Markup {
    let of = |state: Validity| all.iter().filter(move |finding| finding.state == state).collect::<Vec<_>>();
    let loud: Vec<&Finding> = of(Validity::Invalid).into_iter().chain(of(Validity::Doubtful)).collect();
    let quiet = [(Validity::Ok, "found nothing"), (Validity::Unknown, "could not be checked here")];
    html! {
        (list(&loud))
        @for (state, says) in quiet {
            @let found = of(state);
            @if !found.is_empty() { (page::more(&format!("{} {says}", count(found.len(), "check")), &list(&found))) }
        }
    }
}

fn list(found: &[&Finding]) -> Markup {
    html! { ul class="trust" {
        @for finding in found.iter().take(MOST) {
            (Trust::from(finding.state).line(&html! {
                (crate::plot::tied(&notes::said(finding).replace(" -> ", " → ")))
                " " span class="mut" { "(" (finding.kind) (evidence(&finding.evidence)) ")" }
            }))
        }
        @if found.len() > MOST { li { (found.len() - MOST) " more in the JSON document" } }
    } }
}

/// The numbers behind a sentence, in base units.
fn evidence(evidence: &BTreeMap<String, f64>) -> String {
    let pair = |(name, value): (&String, &f64)| format!("{name} {}", number::number(*value));
    let pairs: Vec<String> = evidence.iter().take(6).map(pair).collect();
    if pairs.is_empty() { String::new() } else { format!(": {}", pairs.join(", ")) }
}
