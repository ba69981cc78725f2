//! Access logs: formats, a scanner, and aggregates that merge exactly in any order.
//!
//! Reads files; has no clock and no network, and prints nothing. `format` says what a line looks like, `scan` turns lines
//! into records, `aggregate` adds them up, `read` does all three over files and threads.

pub mod aggregate;
pub mod format;
pub mod hash;
pub mod scan;
