//! Points that somebody published: without an interval, and of conditions that are known in part.

use model::Validity;
use model::data::Published;
use model::{Basis, Better, format};

use super::ready::Ready;
use crate::decide::Capacity;

/// A published figure that answers a need.
pub struct Point<'a> {
    pub row: &'a Published,
    /// Parts of the need that the figure does not tell.
    pub open: Vec<String>,
    pub at_least: bool,
}

/// A figure of which more is better, and that is a number.
pub fn is_sound(row: &Published) -> bool {
    row.better == Better::Higher && row.value.is_finite() && row.value > 0.0
}

/// Degrees of freedom of a point: any, since its standard error is 0.
pub const DOF: f64 = 1.0;

/// The point as a capacity.
pub fn capacity(ready: &Ready<'_>, point: &Point<'_>, name: String) -> Capacity {
    let Point { row, open, at_least } = point;
    let source = ready.side.source.as_deref().filter(|_| row.study.is_empty()).unwrap_or(&row.study);
    let mut why = format!("published by {source}, without an interval");
    if row.basis != Basis::Measured {
        why = format!("{why}; its basis: {}", row.basis.word());
    }
    if !row.note.is_empty() {
        why = format!("{why}; {}", row.note);
    }
    if !open.is_empty() {
        why = format!("{why}; it does not say: {}", format::list(open));
    }
    Capacity {
        ln: row.value.ln(),
        se: 0.0,
        dof: DOF,
        unit: row.key.unit,
        at_least: *at_least,
        no_card: false,
        figure: name,
        runs: Vec::new(),
        published: true,
        validity: Validity::Unknown,
        doubted_by: Vec::new(),
        older: ready.definitions.older(&row.key.instrument).cloned(),
        why: Some(why),
        repeat: None,
    }
}
