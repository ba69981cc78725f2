//! The figures of a comparison, each with its row for each side after the first.

use std::collections::{BTreeMap, BTreeSet};

use model::doc::{ArmDoc, CompareDoc, RowDoc};
use model::format::Scale;
use model::names::{self, Key};
use model::why::Reason;
use model::{Params, card};

use super::units;

/// One figure with its row for each arm after the base.
#[derive(Clone, Debug)]
pub struct ComparedFigure<'a> {
    pub label: String,
    /// In the order of the document's arms without the base.
    pub rows: Vec<Option<&'a RowDoc>>,
    /// Of all figures of its metric, where one fits them; else its own.
    scale: Option<Scale>,
}

impl<'a> ComparedFigure<'a> {
    pub fn any(&self) -> Option<&'a RowDoc> {
        self.rows.iter().flatten().next().copied()
    }

    /// The scale of its values.
    pub fn scale(&self) -> Option<Scale> {
        self.scale.clone()
    }

    /// The values of all sides.
    fn values(&self) -> impl Iterator<Item = f64> + use<'_, 'a> {
        let arms = self.rows.iter().flatten().filter_map(|row| row.arm_value);
        arms.chain(self.base_value())
    }

    fn units(&self) -> Option<units::Row<'a>> {
        let RowDoc { card, instrument, metric, unit, .. } = self.any()?;
        Some(units::Row { card: *card, instrument, metric, unit: *unit, values: self.values().collect() })
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
    let labels = labels(doc, &order);
    let rows = order.iter().filter_map(|key| cells.remove(key));
    let figure = |(label, rows)| ComparedFigure { label, rows, scale: None };
    scaled(labels.into_iter().zip(rows).map(figure).collect())
}

/// Names of these figures, which are of all sides: without the parameters in which sides differ that are compared all
/// the same, unless these tell one figure from another.
fn labels(doc: &CompareDoc, order: &[(&str, &str, &Params)]) -> Vec<String> {
    let named = |params: &[Params]| {
        let key = |(&(instrument, metric, _), params)| Key {
            card: card::find(doc.cards, instrument),
            instrument,
            metric,
            params,
        };
        names::labels(&order.iter().zip(params).map(key).collect::<Vec<_>>())
    };
    let whole: Vec<Params> = order.iter().map(|(.., params)| (*params).clone()).collect();
    let unlike: BTreeSet<(&str, &str)> = doc.rows.iter().flat_map(unlike).collect();
    let is_unlike = |instrument: &str, name: &str| unlike.contains(&(instrument, name));
    let mut alike = whole.clone();
    for ((instrument, ..), params) in order.iter().zip(&mut alike) {
        params.retain(|name, _| !is_unlike(instrument, name));
    }
    let short = named(&alike);
    let apart: BTreeSet<&String> = short.iter().collect();
    if apart.len() == short.len() { short } else { named(&whole) }
}

/// Instrument and parameters in which the sides of a row differ, though they are compared.
fn unlike(row: &RowDoc) -> Vec<(&str, &str)> {
    let differ = row.why.reasons.iter().filter_map(|reason| match reason {
        Reason::OtherConditions { differ } => Some(differ),
        _ => None,
    });
    differ.flatten().map(|one| (row.instrument.as_str(), one.name.as_str())).collect()
}

/// Figures with their scales: one for all of a metric, where it shows them well.
fn scaled(mut figures: Vec<ComparedFigure<'_>>) -> Vec<ComparedFigure<'_>> {
    let scales = units::scales(&figures.iter().map(ComparedFigure::units).collect::<Vec<_>>());
    for (figure, scale) in figures.iter_mut().zip(scales) {
        figure.scale = scale;
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(row: &RowDoc) -> ComparedFigure<'_> {
        ComparedFigure { label: String::new(), rows: vec![Some(row)], scale: None }
    }

    #[test]
    fn figures_of_a_metric_share_a_unit_as_far_as_it_shows_them() {
        let row = |metric: &str, base: f64| RowDoc {
            metric: metric.to_owned(),
            base_value: Some(base),
            arm_value: Some(base * 1.3),
            ..crate::text::logs::tests::row()
        };
        let units = |rows: &[RowDoc]| -> Vec<String> {
            let all = scaled(rows.iter().map(figure).collect());
            all.iter().filter_map(|one| one.scale()).map(|scale| scale.unit).collect()
        };
        let near = [row("a", 997e6), row("a", 1.01e9), row("b", 1.01e9)];
        assert_eq!(units(&near), ["MB/s", "MB/s", "GB/s"]);
        let far = [row("a", 2.0), row("a", 2e9)];
        assert_eq!(units(&far), ["B/s", "GB/s"]);
    }
}
