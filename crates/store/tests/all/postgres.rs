//! What holds of every store, on a server.

use std::path::{Path, PathBuf};

use crate::server;

/// A new database, and the folder that journals lie in.
pub struct Place {
    dir: tempfile::TempDir,
    name: String,
}

impl Place {
    /// Runs that a test of many makes.
    pub const MANY: u64 = 100;

    pub fn new() -> Place {
        Place { dir: tempfile::tempdir().unwrap(), name: server::database() }
    }

    pub fn path(&self) -> PathBuf {
        store::named(Path::new(&server::url(&self.name)), Some(self.dir.path()))
    }

    /// Another store beside it.
    pub fn other(&self, _name: &str) -> PathBuf {
        store::named(Path::new(&server::url(&server::database())), Some(self.dir.path()))
    }

    /// The folder that journals lie in.
    pub fn side(&self) -> &Path {
        self.dir.path()
    }

    pub fn bytes(&self) -> u64 {
        server::ask(&self.name, "SELECT pg_database_size(current_database())").parse().unwrap()
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
