//! Commands on many hosts, copies, the nodes of `--on`, and what BMCs do. The work is in the crate `lab`; here are
//! arguments, documents and exit codes.

mod bmc;
pub mod boot;
pub mod bootdev;
pub mod cards;
pub mod check;
pub mod console;
pub mod content;
pub mod copy;
pub mod cycle;
pub mod documents;
pub mod health;
pub mod logs;
pub mod odd;
pub mod on;
pub mod power;
pub mod reach;
pub mod run;
mod score;
pub mod select;
pub mod together;
pub mod wall;
