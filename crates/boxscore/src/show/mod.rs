//! Shows runs: documents of stored runs, what is printed after a run, reports, and comparisons beside them.

pub mod after_run;
pub mod nodes;
pub mod page;
pub mod ratios;
pub mod shown;
pub mod versus;
