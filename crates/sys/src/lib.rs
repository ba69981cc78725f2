//! Safe functions over Linux calls, CPU instructions and files.
//!
//! Units: times are nanoseconds in `u64`, sizes are bytes, rates are hertz in `f64`, and each name says so. Nothing is
//! judged here: the meaning of a figure is decided elsewhere, and facts in plain text files under /proc and /sys are
//! read by the inventory.
#![expect(unsafe_code, reason = "this crate is the home of unsafe")]

pub mod affinity;
pub mod block;
pub mod clock;
pub mod cpu;
pub mod direct;
mod error;
pub mod files;
pub mod first;
pub mod freq;
pub mod heap;
pub mod net;
pub mod pages;
pub mod perf;
pub mod process;
pub mod reads;
pub mod sock_diag;
pub mod spin;
pub mod system;
pub mod terminal;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub mod uring;

pub use error::{Error, Result};
