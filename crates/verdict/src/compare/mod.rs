//! Machines, runs, arms and published figures side by side: ratios with intervals, verdicts, ranks, index, value for
//! money.
//!
//! The first side is the base; `ratio` is arm / base. Every two sides are judged; of more than 16, each with the base
//! alone, without ranks. Two sides of one interleaved study are compared block by block, anything else run against run.
//! Published points are shown and never judged. Not done here: choosing which runs belong to a side, but that none
//! counts on two; runs of different configurations are reported, not sorted out.

mod apart;
mod bound;
mod candidates;
mod clock;
pub(crate) mod correspond;
mod cost;
mod doubt;
mod doubts;
mod failed;
mod footnotes;
mod gather;
mod judge;
mod judged;
pub(crate) mod matching;
mod points;
pub(crate) mod prepare;
pub(crate) mod prepared;
mod ranking;
mod rates;
pub mod ratio;
mod remedy;
pub(crate) mod replicate;
mod served;
mod shared;
mod side;
mod step;
mod unknown;
pub(crate) mod value;
mod weigh;
pub(crate) mod why;

use std::collections::BTreeSet;
use std::rc::Rc;

use model::card;
use model::doc::{CompareDoc, Paragraph, RowDoc};

use judged::Judged;
use prepared::Prepared;
use side::arm_doc;

use crate::noise::History;

pub use apart::Apart;
pub use matching::{Match, RowKey, all_published_for, published_for};
pub use side::{CompareOptions, Side, SideOf};

/// Compares every side with the first.
pub fn compare(sides: &[Side<'_>], options: &CompareOptions) -> CompareDoc {
    let given = sides;
    let (sides, shared) = shared::apart(given);
    let dropped = dropped(&sides, options);
    let mut prepared: Vec<Prepared<'_>> =
        sides.iter().map(|side| prepare::prepare(side, &dropped, options)).collect();
    correspond::correspond(&mut prepared, options);
    let served = served::of_sides(&prepared);
    let pairs = judge::Pairs::new(&prepared, &served, options);
    prepared.iter_mut().for_each(|side| side.keep(options));
    let (ranks, ties) = ranking::ranks(&pairs, &prepared);
    let levels = footnotes::levels(&pairs, &prepared, options);
    // A published machine has points, which have no part in an index.
    let index = (1..prepared.len())
        .filter(|arm| !sides[0].runs.is_empty() && !sides[*arm].runs.is_empty())
        .flat_map(|arm| ranking::indexes(&pairs, &prepared, arm, options))
        .collect();
    let (judged, unlike) = pairs.into_rows_of_base();
    let mut rows = prepared.first().map(|base| shown(judged, base, options)).unwrap_or_default();
    cost::of_rows(&mut rows, &sides);
    let mut footnotes = [shared, footnotes::footnotes(&prepared, options)].concat();
    footnotes.extend(footnotes::bases(&rows, &prepared));
    footnotes.extend(footnotes::single(&rows, &prepared));
    footnotes.extend(footnotes::sources(&rows).filter(|_| options.sources));
    footnotes.extend(footnotes::unranked(&prepared));
    footnotes.extend(levels);
    footnotes.extend(served::footnote(&rows));
    let mut findings = doubts::findings(&mut prepared);
    findings.extend(served::findings(&unlike, &served));
    findings.shrink_to_fit();
    let mut doc = CompareDoc {
        cards: options.cards,
        schema: "boxscore.compare/1".to_owned(),
        paragraph: Paragraph::default(),
        answer: String::new(),
        arms: sides
            .iter()
            .zip(given)
            .map(|(side, given)| arm_doc(side, given.runs.is_empty(), options.cards))
            .collect(),
        unit_of_replication: replicate::unit(&prepared, options.cards),
        rows,
        ranks,
        ties,
        index,
        value: Vec::new(),
        next_step: None,
        scaling: crate::scaling::of_sides(&prepared, options.cards),
        settings: footnotes::settings(&prepared, &findings),
        findings,
        footnotes,
        beside: served.iter().filter_map(|side| served::beside(side)).cloned().collect(),
    };
    doc.next_step = remedy::next_step(&doc.rows, &sides);
    doc.value = crate::paragraph::values(&doc);
    doc.paragraph = crate::paragraph(&doc);
    doc.answer.clone_from(&doc.paragraph.lead);
    doc
}

/// Parameters that keep no figures of these sides apart.
fn dropped(sides: &[Side<'_>], options: &CompareOptions) -> BTreeSet<String> {
    matching::dropped_keys(sides).union(&options.across).cloned().collect()
}

/// The rows of all pairs of these sides, each of which is made ready once; `history` are the earlier runs of all.
pub(crate) fn each_pair<'a>(
    sides: &'a [Side<'a>],
    history: &Rc<History<'a>>,
    options: &CompareOptions,
) -> Vec<RowDoc> {
    let ready =
        |side| Prepared { history: Rc::clone(history), ..prepare::prepare(side, &BTreeSet::new(), options) };
    let sides: Vec<Prepared<'_>> = sides.iter().map(ready).collect();
    let places = (0..sides.len()).flat_map(|arm| (0..arm).map(move |base| (arm, base)));
    let rows = places.flat_map(|(arm, base)| judge::pair(&sides[arm], &sides[base], options));
    rows.map(|judged| judged.row).collect()
}

/// Why sides have no figure in common, or fewer than their instruments would give: the definitions and parameters that
/// keep them apart.
pub fn apart(sides: &[Side<'_>], options: &CompareOptions) -> Vec<Apart> {
    let dropped = dropped(sides, options);
    let mut prepared: Vec<Prepared<'_>> =
        sides.iter().map(|side| prepare::prepare(side, &dropped, options)).collect();
    correspond::correspond(&mut prepared, options);
    prepared.iter_mut().for_each(|side| side.keep(options));
    let Some((base, arms)) = prepared.split_first() else { return Vec::new() };
    let apart = |arm| {
        let definitions = footnotes::definitions(arm, base).map(Apart::from);
        definitions.into_iter().chain(apart::figures(arm, base, options))
    };
    arms.iter().flat_map(apart).collect()
}

/// The rows that are shown, with their card and index: headlines, points, and with `all` everything.
fn shown(judged: impl Iterator<Item = Judged>, base: &Prepared<'_>, options: &CompareOptions) -> Vec<RowDoc> {
    let is_shown = |row: &RowDoc| options.all || row.headline || row.point;
    let whole = |Judged { row, key, .. }: Judged| RowDoc {
        index: ranking::index_of(base, &key, options).filter(|_| !row.point),
        card: card::find(options.cards, &row.instrument),
        ..row
    };
    let mut rows: Vec<RowDoc> = judged.filter(|judged| is_shown(&judged.row)).map(whole).collect();
    rows.shrink_to_fit();
    rows
}
