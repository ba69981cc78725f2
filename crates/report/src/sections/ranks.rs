//! Three or more machines in order, figure by figure; brackets on the left join those that cannot be told apart.
//!
//! A bracket says that no pair inside it was told apart. Ties do not carry over, so brackets may overlap and then stand
//! side by side.

use std::ops::Range;

use maud::{Markup, html};
use model::Scope;
use model::doc::CompareDoc;

use crate::page;
use crate::section::{ReportInput, Section};
use crate::text::compare::{ComparedFigure, figures};
use crate::text::ranks::{Ranking, place, rankings};

pub static SECTION: Section = Section::new(5, draw);

fn draw(input: &ReportInput) -> Option<Markup> {
    let doc = input.compare.as_ref()?;
    let figures = figures(doc, false);
    let rankings = rankings(doc, &figures);
    if rankings.is_empty() {
        return None;
    }
    let drawn: Vec<Markup> = rankings.iter().map(|ranking| figure(doc, ranking, &figures)).collect();
    let body = html! {
        p class="mut" { "Best first. A bracket joins neighbours of which no pair can be told apart; 1-3 is the rank and the worst place." }
        @if input.has_many() { (page::more(&format!("{} places each", doc.arms.len()), &page::grid(&drawn))) }
        @else { (page::grid(&drawn)) }
    };
    Some(page::section("ranks", &title(doc, &rankings, &figures), &body))
}

/// The title: the machines that are first alone, in how many figures of the whole machine, of one thread, of neither.
fn title(doc: &CompareDoc, rankings: &[Ranking<'_>], figures: &[ComparedFigure<'_>]) -> String {
    let scope =
        |ranking: &Ranking<'_>| figures.iter().find(|figure| figure.label == ranking.label)?.any()?.scope();
    let scopes = [Some(Scope::WholeMachine), Some(Scope::PerThread), None];
    let of = |scope_of: Option<Scope>| {
        let these: Vec<&Ranking<'_>> = rankings.iter().filter(|ranking| scope(ranking) == scope_of).collect();
        let all = match scope_of {
            Some(scope) => format!("{} {}", these.len(), scope.adjective()),
            None => format!("{} other", these.len()),
        };
        (!these.is_empty()).then(|| format!("{} of {all} figures", firsts(doc, &these)))
    };
    format!("First alone: {}", scopes.into_iter().filter_map(of).collect::<Vec<_>>().join("; "))
}

/// `mini-1 in 3, ref in 1`, or `none`.
fn firsts(doc: &CompareDoc, rankings: &[&Ranking<'_>]) -> String {
    let alone = |name: &str| {
        let first = |ranking: &&&Ranking<'_>| {
            ranking.places.iter().any(|place| place.arm == name && place.rank == 1 && place.worst_rank == 1)
        };
        rankings.iter().filter(first).count()
    };
    let arms = doc.arms.iter().map(|arm| (alone(&arm.name), arm.name.as_str()));
    let mut firsts: Vec<(usize, &str)> = arms.filter(|first| first.0 > 0).collect();
    firsts.sort_by_key(|first| std::cmp::Reverse(first.0));
    let named: Vec<String> =
        firsts.iter().take(4).map(|(times, name)| format!("{name} in {times}")).collect();
    if named.is_empty() { "none in any".to_owned() } else { named.join(", ") }
}

fn figure(doc: &CompareDoc, ranking: &Ranking<'_>, figures: &[ComparedFigure<'_>]) -> Markup {
    let figure = figures.iter().find(|figure| figure.label == ranking.label);
    let scale = figure.and_then(ComparedFigure::scale);
    let base = doc.arms.first().map(|arm| arm.name.as_str());
    let value = |name: &str| {
        let figure = figure?;
        if Some(name) == base {
            return figure.base_value();
        }
        figure.rows.iter().flatten().find(|row| row.arm == name).and_then(|row| row.arm_value)
    };
    let lanes = lanes(&ranking.brackets);
    html! { div {
        h3 { (ranking.label) @if let Some(scale) = &scale { span class="mut" { " " (scale.unit) } } }
        table class="ranks" { tbody { @for (at, rank) in ranking.places.iter().enumerate() { tr {
            @for lane in &lanes { (bracket(lane, at)) }
            td { (place(rank)) }
            th scope="row" { (rank.arm) }
            td { @match (&scale, value(&rank.arm)) {
                (Some(scale), Some(value)) => { (scale.number(value)) }
                _ => { "-" }
            } }
        } } } }
        @for range in &ranking.brackets {
            span class="sr" { "cannot be told apart: " (names(ranking, range)) }
        }
    } }
}

fn names(ranking: &Ranking<'_>, range: &Range<usize>) -> String {
    let places = ranking.places.get(range.clone()).unwrap_or(&[]);
    places.iter().map(|rank| rank.arm.as_str()).collect::<Vec<_>>().join(", ")
}

/// The cell of one lane in one line: a bracket that begins here, room, or nothing where one goes on.
fn bracket(lane: &[Range<usize>], at: usize) -> Markup {
    match lane.iter().find(|range| range.contains(&at)) {
        Some(range) if range.start == at => html! { td class="tie" rowspan=(range.len()) {} },
        Some(_) => html! {},
        None => html! { td class="tie-none" {} },
    }
}

/// Brackets in as few lanes as they fit into without touching.
fn lanes(brackets: &[Range<usize>]) -> Vec<Vec<Range<usize>>> {
    let mut lanes: Vec<Vec<Range<usize>>> = Vec::new();
    for bracket in brackets {
        let free = |lane: &&mut Vec<Range<usize>>| lane.iter().all(|other| other.end <= bracket.start);
        match lanes.iter_mut().find(free) {
            Some(lane) => lane.push(bracket.clone()),
            None => lanes.push(vec![bracket.clone()]),
        }
    }
    lanes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_brackets_stand_side_by_side() {
        let lanes_of = lanes(&[0..2, 1..3, 3..5]);
        assert_eq!(lanes_of.len(), 2);
        assert_eq!((&lanes_of[0][..], &lanes_of[1][0]), (&[0..2, 3..5][..], &(1..3)));
        assert!(lanes(&[]).is_empty());
        let lane = &lanes_of[0];
        let (begins, inside, outside) = (bracket(lane, 3), bracket(lane, 4), bracket(lane, 2));
        assert!(begins.into_string().contains("rowspan=\"2\"") && inside.into_string().is_empty());
        assert!(outside.into_string().contains("tie-none"));
    }
}
