//! Access logs for `boxscore logs`: labels and formats of files, the document, and the stored run.
//!
//! The crate `logs` reads the lines.

mod answers;
pub mod beside;
pub mod cut;
mod figures;
pub mod follow;
mod inputs;
pub mod job;
mod keep;
mod known;
mod log_format;
pub mod mix;
pub mod outage;
pub mod own;
#[cfg(test)]
mod proof;
mod tops;

pub use answers::Outages;
pub use figures::{Asked, Named, absent, document, findings, groups, has_names};
pub use inputs::{Chosen, Formats, UNLABELLED, choose, labels_of};
pub use keep::{Besides, keep, stored};
