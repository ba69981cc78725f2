//! What holds of every store, on a file.

use std::path::{Path, PathBuf};

/// Where a new store goes; gone with what it holds when it is dropped.
pub struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    /// Runs that a test of many makes.
    pub const MANY: u64 = 1000;

    pub fn new() -> Place {
        Place { dir: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self) -> PathBuf {
        self.dir.path().join("a.db")
    }

    /// Another store beside it.
    pub fn other(&self, name: &str) -> PathBuf {
        self.dir.path().join(format!("{name}.db"))
    }

    /// The folder that journals lie in.
    pub fn side(&self) -> &Path {
        self.dir.path()
    }

    pub fn bytes(&self) -> u64 {
        std::fs::metadata(self.path()).unwrap().len()
    }
}

#[path = "both/figures.rs"]
mod figures;
#[path = "both/round_trip.rs"]
mod round_trip;
#[path = "both/thousand.rs"]
#[expect(clippy::print_stderr, reason = "the figures are for the reader of the test")]
mod thousand;
#[path = "both/writers.rs"]
mod writers;
