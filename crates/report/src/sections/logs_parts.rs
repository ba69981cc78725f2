//! The parts of the requests of two labels side by side: how long a request takes in each, and the verdict.
//!
//! Seconds, of answers that the server did not fail; requests are all of the part.

use maud::{Markup, html};
use model::doc::PartDoc;
use model::finding::{Finding, LogsParts, PartTime, Rule};
use model::format::{Kind, fixed, quantity};
use model::unit::Unit;

use crate::page::whole;
use crate::page::{self, Column};
use crate::text::cut_front;

/// Characters of a part's name.
const LONGEST: usize = 60;

/// The table of a finding that tells them.
pub fn draw(finding: &Finding) -> Option<Markup> {
    let Rule::LogsParts(parts) = &finding.rule else { return None };
    Some(table(parts))
}

fn table(found: &LogsParts) -> Markup {
    let (arm, base) = (&found.arm, &found.base);
    let verdict = format!("time of {arm} beside {base}");
    let [of_base, of_arm] = [base, arm].map(|label| format!("requests of {label}"));
    let heads = [
        ("part of the requests", Column::Text),
        (of_base.as_str(), Column::Number),
        (of_arm.as_str(), Column::Number),
        (base.as_str(), Column::Number),
        (arm.as_str(), Column::Number),
        (verdict.as_str(), Column::Text),
    ];
    let time = |value: Option<f64>| {
        value.map_or("-".to_owned(), |value| quantity(value, Kind::for_unit(Unit::Second)))
    };
    let row = |part: &PartDoc| {
        vec![
            html! { code { (cut_front(&part.name, LONGEST)) } },
            html! { (fixed(part.base_requests as f64, 0)) },
            html! { (fixed(part.arm_requests as f64, 0)) },
            html! { (whole(&time(part.base_time))) },
            html! { (whole(&time(part.arm_time))) },
            html! { (PartTime::of_part(part).short()) },
        ]
    };
    let rows: Vec<Vec<Markup>> = found.parts.iter().map(row).collect();
    html! {
        (page::table(&heads, &rows))
        p class="note" { "Mean time of a request that was not failed by the server (5xx), like with like; the parts with the most time first." }
    }
}
