//! Carries out a study: children, conductor, store; then shows its result.

mod aa;
mod attempt;
mod bisect;
pub mod ceilings;
mod common_rates;
pub mod costs;
pub mod display;
mod finish;
mod link;
pub mod login;
mod machines;
pub mod outages;
mod planted;
mod probing;
pub mod quiet;
pub mod readings;
mod reconnect;
pub mod remedy;
mod run;
mod sink;
pub mod stop_signal;
mod target_facts;
mod worktrees;

pub use aa::aa;
pub use attempt::{Alone, Measured, aside, measuring_alone, nobody_measures};
pub use finish::{Shape, cut, finish, refused};
pub use run::{
    fill_facts, measure_plan, planned, quietly, resume, resume_quietly, run, setup_here, unstored,
};
