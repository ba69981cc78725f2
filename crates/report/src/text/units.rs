//! Units of tables: one for all rows of a metric, where it shows each of them well.

use std::collections::BTreeMap;

use model::Unit;
use model::card::Card;
use model::doc::SeriesDoc;
use model::format::{Kind, Scale};

/// The values of a row and the metric that they are of.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    pub card: Option<&'static Card>,
    pub instrument: &'a str,
    pub metric: &'a str,
    pub unit: Unit,
    pub values: Vec<f64>,
}

impl<'a> Row<'a> {
    pub fn new(series: &'a SeriesDoc, values: Vec<f64>) -> Row<'a> {
        let SeriesDoc { card, instrument, metric, unit, .. } = series;
        Row { card: *card, instrument, metric, unit: *unit, values }
    }

    fn kind(&self) -> Kind {
        Kind::shown(self.card, self.metric, self.unit)
    }
}

/// The scale of each row: that of all rows of its metric, else its own.
pub fn scales(rows: &[Option<Row<'_>>]) -> Vec<Option<Scale>> {
    let mut metrics: BTreeMap<(&str, &str), Vec<f64>> = BTreeMap::new();
    for row in rows.iter().flatten() {
        metrics.entry((row.instrument, row.metric)).or_default().extend(&row.values);
    }
    let scale = |row: &Row<'_>| {
        let all = metrics.get(&(row.instrument, row.metric)).map_or(&[][..], Vec::as_slice);
        column(all, row.kind()).unwrap_or_else(|| Scale::common(&row.values, row.kind()))
    };
    rows.iter().map(|row| row.as_ref().map(scale)).collect()
}

/// The least that a value may come to.
const LEAST: f64 = 0.1;

/// The scale of a column whose cells have their units, which is that of the largest value; `None` where it would leave
/// the smallest without digits.
pub fn of_cells(values: &[f64], kind: Kind) -> Option<Scale> {
    let (low, high) = ends(values);
    let scale = Scale::common(&[high], kind);
    (low / scale.divisor >= LEAST).then_some(scale)
}

/// The smallest and the largest size that is a number and not 0.
fn ends(values: &[f64]) -> (f64, f64) {
    let sizes = || values.iter().map(|value| value.abs()).filter(|size| *size > 0.0 && size.is_finite());
    (sizes().fold(f64::INFINITY, f64::min), sizes().fold(0.0, f64::max))
}

/// One scale for all these values, unless they lie so far apart that large ones would be long or small ones without
/// digits.
fn column(values: &[f64], kind: Kind) -> Option<Scale> {
    /// The largest may be so many times the smallest.
    const MOST_APART: f64 = 1_000.0;
    let scale = Scale::common(values, kind);
    let (low, high) = ends(values);
    (high <= low * MOST_APART && low / scale.divisor >= LEAST).then_some(scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_metric_share_a_unit_as_far_as_it_shows_them() {
        let units = |rows: &[(&'static str, f64)]| -> Vec<String> {
            let row = |&(metric, value): &(&'static str, f64)| {
                let values = vec![value, value * 1.3];
                Some(Row { card: None, instrument: "x", metric, unit: Unit::Second, values })
            };
            let rows: Vec<Option<Row<'_>>> = rows.iter().map(row).collect();
            scales(&rows).into_iter().flatten().map(|scale| scale.unit).collect()
        };
        assert_eq!(units(&[("a", 52e-6), ("a", 3.2e-3), ("b", 3.2e-3)]), ["us", "us", "ms"]);
        assert_eq!(units(&[("a", 2e-6), ("a", 2.0)]), ["us", "s"]);
        assert_eq!(scales(&[None]), [None]);
    }

    #[test]
    fn a_column_of_nothing_and_of_zeros_has_a_unit() {
        let kind = Kind::for_unit(Unit::Second);
        assert_eq!(column(&[0.0, 4e-3], kind).map(|scale| scale.unit), Some("ms".to_owned()));
        assert_eq!(column(&[2e-3, 2.5], kind), None);
        assert_eq!(column(&[f64::NAN, 2e-3], kind).map(|scale| scale.unit), Some("ms".to_owned()));
        assert!(column(&[], kind).is_some() && column(&[0.0], kind).is_some());
        let of_cells = |values: &[f64]| of_cells(values, kind).map(|scale| scale.unit);
        assert_eq!(of_cells(&[123e-6, 47.4e-3]), Some("ms".to_owned()));
        assert_eq!(of_cells(&[80e-6, 6.0]), None);
        assert!(of_cells(&[]).is_some() && of_cells(&[f64::INFINITY, 0.0]).is_some());
    }
}
