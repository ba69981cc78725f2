//! Commands on many hosts, copies, and what BMCs do. The work is in the crate `lab`; here are arguments, documents and
//! exit codes.

mod bmc;
pub mod bootdev;
pub mod check;
pub mod copy;
pub mod health;
pub mod power;
mod reach;
pub mod run;
pub mod select;
