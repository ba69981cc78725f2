//! What many requests amount to.

pub mod bounded;
pub mod candidates;
pub mod distinct;
pub mod histogram;
pub mod size;
pub mod sketch;
pub mod sums;
