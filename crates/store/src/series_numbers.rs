//! Numbers of the series of runs that this process writes.
//!
//! The runs of a study have their series in common: each is held once, however many runs have it.

use std::collections::HashMap;

use crate::engine::{Sql, Tx, args};
use crate::value::to_json;
use model::Better;
use model::reading::SeriesKey;

#[derive(Debug, Default)]
pub(crate) struct SeriesNumbers {
    /// By series, then by run.
    known: HashMap<SeriesKey, HashMap<i64, i64>>,
    /// Runs and series of the open transaction.
    fresh: Vec<(i64, SeriesKey)>,
}

impl SeriesNumbers {
    /// The number of a run's series, which is inserted where it is new.
    pub(crate) fn number(&mut self, tx: &Tx<'_>, run: i64, key: &SeriesKey, better: Better) -> Sql<i64> {
        if let Some(no) = self.known.get(key).and_then(|runs| runs.get(&run)) {
            return Ok(*no);
        }
        let no = stored(tx, run, key, better)?;
        self.fresh.push((run, key.clone()));
        self.known.entry(key.clone()).or_default().insert(run, no);
        Ok(no)
    }

    /// The transaction has been committed.
    pub(crate) fn keep(&mut self) {
        self.fresh.clear();
    }

    /// The rows of the transaction were rolled back, or are looked up again if more is written of its runs.
    pub(crate) fn drop_fresh(&mut self) {
        for (run, key) in self.fresh.drain(..) {
            if let Some(runs) = self.known.get_mut(&key) {
                runs.remove(&run);
            }
        }
        self.known.retain(|_, runs| !runs.is_empty());
    }

    /// Nothing more is written of this run.
    pub(crate) fn forget(&mut self, run: i64) {
        self.known.retain(|_, runs| {
            runs.remove(&run);
            !runs.is_empty()
        });
    }
}

/// The number of a series in the store.
fn stored(tx: &Tx<'_>, run: i64, key: &SeriesKey, better: Better) -> Sql<i64> {
    let pairs = to_json(&key.params)?;
    let (unit, definition) = (key.unit.symbol(), key.definition);
    let sql = "SELECT no FROM series WHERE run = $1 AND participant = 0 AND instrument = $2 AND metric = $3
                   AND params = $4 AND arm = $5 AND unit = $6 AND definition = $7";
    let columns = args![run, key.instrument, key.metric, pairs, key.arm, unit, definition];
    if let Some(no) = tx.first(sql, columns)? {
        return Ok(no);
    }
    let no = tx.next_number("series")?;
    let sql =
        "INSERT INTO series (no, run, participant, arm, instrument, metric, unit, params, definition, better)
               VALUES ($1, $2, 0, $3, $4, $5, $6, $7, $8, $9)";
    let names = (&key.arm, &key.instrument, &key.metric);
    tx.execute(sql, args![no, run, names.0, names.1, names.2, unit, pairs, definition, better.word()])?;
    Ok(no)
}
