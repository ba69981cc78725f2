//! Loads on generators in other children: what the machine's child asks for, and what comes back.
//!
//! Times are nanoseconds. A load and its result are bytes here: only those who make and carry out loads read them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An open loop keeps up if its throughput is at least this share of the offered rate.
pub const HELD: f64 = 0.95;

/// A load is held only if at least this share of what was due was answered well.
pub const WELL: f64 = 0.999;

/// One generator, as it said hello.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Generator {
    pub name: String,
    /// The same for generators (and machines) on one host: the boot id where it is known.
    pub host: Option<String>,
    /// CPUs that it may use.
    pub cpus: Vec<u32>,
    /// The cores of its host, each with its CPUs; empty where they are not known.
    pub cores: Vec<Vec<u32>>,
}

/// A load for each of the first generators.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GeneratorOrder {
    /// Given by the relay, which tells loads apart by it.
    pub id: u64,
    pub bodies: Vec<Vec<u8>>,
    /// How long setting up may take.
    pub connect_ns: u64,
    /// How long carrying it out may take.
    pub run_ns: u64,
}

/// The result of one generator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loaded {
    /// When it started, on its own clock.
    pub start_ns: u64,
    pub body: Vec<u8>,
}

/// The same as the program saw it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// When it started, from the first start of all, by the clocks as the program compared them.
    pub after_ns: u64,
    /// How wrong that comparison may be, either way.
    pub error_ns: u64,
    pub body: Vec<u8>,
}

/// Why there is no result: which generator, and what happened to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotLoaded {
    /// Empty where no single one is to blame.
    pub generator: String,
    /// It said itself that it could not set its load up: a name was not found, or nobody answered.
    pub before_start: bool,
    pub what: String,
}

impl fmt::Display for NotLoaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.generator.as_str() {
            "" => f.write_str(&self.what),
            name => write!(f, "generator {name}: {}", self.what),
        }
    }
}

/// The way from an instrument to generators in other children.
pub trait Relay: fmt::Debug + Send + Sync {
    /// In the order in which they take part: the first `n` do.
    fn generators(&self) -> &[Generator];
    /// Has the loads carried out, all from the same moment; `started` is called when that has come.
    fn load(&self, order: GeneratorOrder, started: &mut dyn FnMut()) -> Result<Vec<Part>, NotLoaded>;
}
