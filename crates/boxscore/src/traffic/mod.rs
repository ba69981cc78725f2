//! Access logs for `boxscore logs`: which files under which labels in which format, and what came of reading them.
//!
//! Reading is the crate `logs`; here are names, formats, the document and the stored run.

pub mod beside;
pub mod cut;
mod figures;
pub mod follow;
mod inputs;
mod keep;
pub mod mix;
#[cfg(test)]
mod proof;

pub use figures::{Named, document, findings, groups};
pub use inputs::{Chosen, Formats, choose};
pub use keep::{Besides, keep, stored};
