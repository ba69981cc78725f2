//! The store: every take as it was measured, in one SQLite file that any language can read.
//!
//! The only crate that knows SQL. It keeps what was measured, never what was concluded: summaries and verdicts are
//! computed anew from the takes. Only [`Store::remove`] deletes what was taken. A take is one transaction that is on
//! the disk when [`Store::append_take`] returns; where the database refuses, it goes to the run's journal beside the
//! store.

mod engine;
mod error;
mod figures;
mod file;
mod import;
mod journal;
mod machine;
mod open;
mod read;
mod recover;
mod rows;
mod schema;
mod series_numbers;
mod server;
#[cfg(test)]
mod tests;
mod value;
mod write;
mod writers;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::{Path, PathBuf};

use model::{Fact, Params, Plan, Shared};

pub use error::{FILE_NAME, StoreError};
pub use import::{Copied, Imported, conflict};
pub use machine::MachineSheet;
pub use model::data::{ClockOffset, Origin};
pub use open::{Mode, Options, is_temporary};
pub use read::{Filter, Want, Which, resolve_among};
pub use server::address::{is_server, named};
pub use write::{Appended, NewRun};

pub type Result<T> = std::result::Result<T, StoreError>;

/// An open store.
pub struct Store {
    db: engine::Db,
    path: PathBuf,
    /// Journals of its runs begin with this path.
    side: PathBuf,
    /// The way back to a lost server.
    remote: Option<Remote>,
    mode: Mode,
    owner: Option<(u32, u32)>,
    /// Numbers of the series of runs that this process writes.
    series: series_numbers::SeriesNumbers,
    live: BTreeMap<String, Live>,
    recovered: Vec<String>,
    /// The plans that were read last with their studies, the latest first.
    plans: RefCell<VecDeque<(String, Shared<Plan>)>>,
    /// Parameters of series that were read, by their text.
    params: RefCell<HashMap<String, Params>>,
    /// Facts that were read, by what their rows say.
    facts: RefCell<HashMap<value::FactColumns, Fact>>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("Store").field("path", &self.path).field("mode", &self.mode).finish_non_exhaustive()
    }
}

/// How a session on a server is begun again.
struct Remote {
    address: server::address::Address,
    options: Options,
}

/// A run that this process writes.
struct Live {
    no: i64,
    journal: journal::Journal,
}

impl Store {
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Sentences on the writers that died and whose runs were recovered on opening.
    pub fn recovered(&self) -> &[String] {
        &self.recovered
    }

    fn sql(&self, error: &engine::SqlError) -> StoreError {
        StoreError::sql(&self.path, error)
    }

    fn data(&self, what: impl Into<String>) -> StoreError {
        StoreError::Data { path: self.path.clone(), what: what.into() }
    }
}
