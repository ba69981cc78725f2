//! The operating system: safe functions over Linux calls, CPU instructions and files.
//!
//! Units: times are nanoseconds in `u64`, sizes are bytes, rates are hertz in `f64`, and each
//! name says so. It holds no judgement: what a figure means is decided elsewhere, and facts that
//! are plain text files under /proc and /sys are read by the inventory, not here.
#![expect(unsafe_code, reason = "this crate is the home of unsafe")]

pub mod affinity;
pub mod clock;
pub mod cpu;
mod error;
pub mod freq;

pub use error::{Error, Result};
