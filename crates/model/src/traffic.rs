//! What one group of servers served, as access logs say it: what comparisons like with like and the report are made of.
//!
//! Bytes, seconds, requests. It is kept with a run as a note in JSON. Verdicts are not in it; they are recomputed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::data::{Note, RunData};
use crate::doc::TopDoc;

/// Kind of the note that holds it.
pub const NOTE: &str = "traffic";

/// What one group served.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Group {
    pub label: String,
    pub requests: u64,
    pub bytes: f64,
    pub seconds: f64,
    /// Mean over requests of bytes over time, of those that took any.
    pub mean_of_ratios: Option<f64>,
    /// Requests by size: upper ends in bytes, ascending.
    pub sizes: Vec<(f64, u64)>,
    pub statuses: BTreeMap<u16, u64>,
    /// Requests by hour since 1970.
    pub hours: BTreeMap<i64, u64>,
    /// By block of time and class of size; blocks are numbered in the order of time.
    #[serde(with = "cells")]
    pub cells: BTreeMap<(u64, u32), Cell>,
}

/// What a group served of one class of size in one block of time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cell {
    pub requests: u64,
    pub bytes: f64,
    pub seconds: f64,
}

impl Group {
    /// Bytes of all requests over their time; missing where no time was taken.
    #[must_use]
    pub fn ratio_of_totals(&self) -> Option<f64> {
        (self.seconds > 0.0).then(|| self.bytes / self.seconds)
    }

    /// Time of the mean request.
    #[must_use]
    pub fn mean_time(&self) -> Option<f64> {
        (self.requests > 0).then(|| self.seconds / self.requests as f64)
    }
}

/// What is kept of a label.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Traffic {
    pub group: Group,
    /// The paths that weigh most.
    pub top: Vec<TopDoc>,
}

impl Traffic {
    pub fn note(&self) -> Result<Note, serde_json::Error> {
        Ok(Note { kind: NOTE.to_owned(), text: serde_json::to_string(self)?, at_ns: None })
    }

    /// Of a run of logs; none of another run, and of a note that this version cannot read.
    #[must_use]
    pub fn of(run: &RunData) -> Option<Traffic> {
        let note = run.notes.iter().find(|note| note.kind == NOTE)?;
        serde_json::from_str(&note.text).ok()
    }
}

/// Cells as `[block, class, requests, bytes, seconds]`.
mod cells {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serializer};

    use super::Cell;

    type Row = (u64, u32, u64, f64, f64);

    pub fn serialize<S: Serializer>(cells: &BTreeMap<(u64, u32), Cell>, to: S) -> Result<S::Ok, S::Error> {
        let row = |((block, class), cell): (&(u64, u32), &Cell)| -> Row {
            (*block, *class, cell.requests, cell.bytes, cell.seconds)
        };
        to.collect_seq(cells.iter().map(row))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<(u64, u32), Cell>, D::Error> {
        let rows = Vec::<Row>::deserialize(from)?;
        let cell =
            |(block, class, requests, bytes, seconds)| ((block, class), Cell { requests, bytes, seconds });
        Ok(rows.into_iter().map(cell).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_comes_back() {
        let cell = Cell { requests: 3, bytes: 700.0, seconds: 0.1 };
        let group = Group {
            label: "ssd".into(),
            requests: 3,
            statuses: BTreeMap::from([(200, 3)]),
            hours: BTreeMap::from([(-1, 3)]),
            sizes: vec![(255.0, 3)],
            cells: BTreeMap::from([((5, 2), cell)]),
            ..Group::default()
        };
        let kept = Traffic { group, top: Vec::new() };
        let note = kept.note().unwrap();
        assert!(note.text.contains("\"cells\":[[5,2,3,700.0,0.1]]"), "{}", note.text);
        assert_eq!(serde_json::from_str::<Traffic>(&note.text).unwrap(), kept);
    }
}
