//! A cumulative distribution: microseconds, and the share of requests that took at most as long, or, as `--rcdf` prints
//! it, at least as long. Only the points that clusterperf prints of other tests are taken.

use model::{Better, Params, Unit};

use super::PrintedFigure;
use super::section::numbers;

/// Share of the requests, what is added to the metric's name.
const POINTS: [(f64, &str); 5] = [(0.5, ""), (0.9, ".9"), (0.99, ".99"), (0.999, ".999"), (0.9999, ".9999")];
/// Shares are printed to three places, to four where they are near 1.
const ROUNDING: f64 = 0.0005;
const SAME: f64 = 1e-9;

pub struct Distribution {
    metric: String,
    params: Params,
    /// Line, microseconds, share.
    rows: Vec<(usize, f64, f64)>,
}

impl Distribution {
    pub fn new(metric: String, params: Params) -> Distribution {
        Distribution { metric, params, rows: Vec::new() }
    }

    /// Reads one row. Fails when it is not a time and a share in order.
    pub fn row(&mut self, line: usize, text: &str) -> Result<(), String> {
        let &[time, share] = numbers(text)?.as_slice() else {
            return Err(format!("{}: a line of a distribution is a time and a share", self.metric));
        };
        if share > 1.0 {
            return Err(format!("{}: a share of {share} is above 1", self.metric));
        }
        if let Some((_, before, share_before)) = self.rows.last().copied() {
            let falls = self.falls();
            let turned = if falls { share > share_before } else { share < share_before };
            if time < before || turned {
                return Err(format!(
                    "{}: {time} us at {share} stands behind {before} us at {share_before}",
                    self.metric
                ));
            }
        }
        self.rows.push((line, time, share));
        Ok(())
    }

    /// Shares of requests that took at least as long; those of at most as long begin at 0.
    fn falls(&self) -> bool {
        self.rows.first().is_some_and(|(_, _, share)| *share > 0.5)
    }

    pub fn figures(&self) -> Vec<PrintedFigure> {
        let figure = |end: &str, row: &(usize, f64, f64), better: Better| PrintedFigure {
            line: row.0,
            metric: format!("{}{end}", self.metric),
            unit: Unit::Second,
            better,
            value: row.1 * 1e-6,
            params: self.params.clone(),
        };
        let rows: Vec<&(usize, f64, f64)> = self.rows.iter().filter(|(_, time, _)| *time > 0.0).collect();
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Vec::new() };
        // One request's share: beyond it there is no percentile.
        let one = if self.falls() { last.2 } else { first.2 };
        let mut all = Vec::new();
        for (share, end) in POINTS {
            let at = |row: &&&(usize, f64, f64)| match self.falls() {
                true => row.2 >= 1.0 - share - SAME,
                false => (row.2 - share).abs() < SAME,
            };
            let found = if self.falls() { rows.iter().rfind(at) } else { rows.iter().find(at) };
            if let Some(row) = found.filter(|_| one <= 1.0 - share + ROUNDING) {
                all.push(figure(end, row, if end.is_empty() { Better::Lower } else { Better::Neither }));
            }
        }
        all.insert(all.len().min(1), figure(".min", first, Better::Neither));
        all.push(figure(".max", last, Better::Neither));
        all
    }
}
