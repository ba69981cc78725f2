//! Access logs: formats, a scanner, and aggregates that merge exactly in any order.
//!
//! Reads files; has no clock and no network, and prints nothing. `format` says what a line looks like, `scan` turns
//! lines into records, `aggregate` adds them up, `read` does all three over files and threads, `parts` shares that work
//! among processes, `units` doubts the times.

pub mod aggregate;
mod fastest;
pub mod format;
pub mod hash;
pub mod parts;
pub mod read;
pub mod scan;
pub mod units;
