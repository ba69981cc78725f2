//! The promises of this crate, proved on planted data (seeded).

mod families;
mod planted;
mod ratios;
mod refusals;
mod surroundings;
mod verdicts;
mod whole;
