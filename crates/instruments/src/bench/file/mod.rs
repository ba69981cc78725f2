//! Shared parts of instruments that read files: the test file, the page cache, and the device's counters.
//!
//! Nothing here is an instrument; sizes are bytes.

pub mod blocks;
pub mod cold;
pub mod device;
pub mod proof;
pub mod testfile;
