//! Numbers inside sentences (`model::format`).

pub use model::format::{count, list, number as digits, percent, quantity};
