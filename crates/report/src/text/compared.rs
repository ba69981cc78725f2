//! The figures of a comparison, each with its row for each side after the first.

use std::collections::BTreeMap;

use model::doc::{ArmDoc, CompareDoc, RowDoc};
use model::format::{Kind, Scale};
use model::names::{self, Key};
use model::{Params, card};

/// One figure with its row for each arm after the base.
#[derive(Clone, Debug)]
pub struct ComparedFigure<'a> {
    pub label: String,
    /// In the order of the document's arms without the base.
    pub rows: Vec<Option<&'a RowDoc>>,
}

impl<'a> ComparedFigure<'a> {
    pub fn any(&self) -> Option<&'a RowDoc> {
        self.rows.iter().flatten().next().copied()
    }

    /// The scale that all machines' values share.
    pub fn scale(&self) -> Option<Scale> {
        let row = self.any()?;
        let arms = self.rows.iter().flatten().filter_map(|row| row.arm_value);
        let values: Vec<f64> = arms.chain(self.base_value()).collect();
        Some(Scale::common(&values, Kind::shown(row.card, &row.metric, row.unit)))
    }

    pub fn base_value(&self) -> Option<f64> {
        self.rows.iter().flatten().find_map(|row| row.base_value)
    }
}

/// The arms that are compared with the first.
pub fn arms(doc: &CompareDoc) -> &[ArmDoc] {
    doc.arms.get(1..).unwrap_or(&[])
}

/// The figures to show: headlines and published points, or all.
pub fn figures(doc: &CompareDoc, all: bool) -> Vec<ComparedFigure<'_>> {
    let detail = |row: &RowDoc| names::is_detail(row.card, &row.metric);
    let wanted = |row: &&RowDoc| all || ((row.headline || row.point) && !detail(row));
    let mut shown: Vec<&RowDoc> = doc.rows.iter().filter(wanted).collect();
    if shown.is_empty() {
        shown = doc.rows.iter().collect();
    }
    shown.sort_by_cached_key(|row| names::order(Key::from(*row)));
    let mut order: Vec<(&str, &str, &Params)> = Vec::new();
    let mut cells: BTreeMap<(&str, &str, &Params), Vec<Option<&RowDoc>>> = BTreeMap::new();
    for row in shown {
        let Some(place) = arms(doc).iter().position(|arm| arm.name == row.arm) else { continue };
        let key = (row.instrument.as_str(), row.metric.as_str(), &row.params);
        let slots = cells.entry(key).or_insert_with(|| {
            order.push(key);
            vec![None; arms(doc).len()]
        });
        slots[place] = Some(row);
    }
    let keys: Vec<Key<'_>> = order
        .iter()
        .map(|&(instrument, metric, params)| {
            let card = card::find(doc.cards, instrument);
            Key { card, instrument, metric, params }
        })
        .collect();
    let labels = names::labels(&keys);
    let rows = order.iter().filter_map(|key| cells.remove(key));
    labels.into_iter().zip(rows).map(|(label, rows)| ComparedFigure { label, rows }).collect()
}
