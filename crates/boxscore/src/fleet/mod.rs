//! Commands on many hosts, copies, and the nodes of `--on`. The work is in the crate `lab`; here are arguments,
//! documents and exit codes.

pub mod check;
pub mod copy;
pub mod documents;
pub mod logs;
pub mod odd;
pub mod on;
pub mod reach;
pub mod run;
pub mod select;
