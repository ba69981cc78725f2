//! Numbers as people read them (`model::format`).

pub use model::format::*;
