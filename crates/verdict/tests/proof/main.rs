//! The promises of this crate, proved on planted data (seeded).

mod planted;
mod refusals;
mod verdicts;
