//! Numbers inside sentences (`model::format`).

pub use model::format::{count, duration as span, list, number as digits, percent, quantity};
