//! Carries out a plan: the order of takes, warm-up, the stop rule, and both ends of the pipe to the child that
//! measures.
//!
//! [`conductor`] runs in the program: it owns the order and the stop rule, and asks for one take at a time. [`worker`]
//! runs in the measuring child: it prepares instruments and takes; nothing else calls `Probe::take`. Neither stores,
//! prints or knows an instrument by name.

pub mod conductor;
pub mod fake;
pub mod generator;
mod inflow;
pub mod order;
pub mod outage;
mod ports;
mod probe_cache;
mod prompter;
mod questions;
pub mod recorder;
mod relay;
mod tally;
pub mod ticker;
mod turns;
mod wall;
pub mod worker;

pub use probe_cache::Host;
