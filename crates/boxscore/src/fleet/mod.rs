//! Commands on many hosts and copies. The work is in the crate `lab`; here are arguments, documents and exit codes.

pub mod check;
pub mod copy;
mod reach;
pub mod run;
pub mod select;
