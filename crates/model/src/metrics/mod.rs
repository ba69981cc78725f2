//! Metrics that several crates name, a file for each family.
//!
//! Instruments push them; rules and reports look them up by the same constant, so that a renamed metric cannot silently
//! switch a rule off.

pub mod command;
pub mod disk;
pub mod load;
pub mod logs;
pub mod machine;
pub mod memory;
pub mod telemetry;
pub mod warmup;
