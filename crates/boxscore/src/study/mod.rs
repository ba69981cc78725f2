//! Carries out a study: children, conductor, store; then shows its result.

pub mod display;
mod finish;
mod link;
pub mod login;
mod planted;
mod probing;
pub mod remedy;
mod run;
mod sink;
mod sitting;
pub mod stop_signal;

pub use finish::refused;
pub use run::{measure_plan, resume, run};
pub use sitting::{Measured, aside, measuring_alone};
