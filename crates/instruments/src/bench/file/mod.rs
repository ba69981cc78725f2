//! What the disk instruments share: the test file, and what the device under it counted meanwhile.
//!
//! Nothing here is an instrument; sizes are in bytes.

pub mod blocks;
pub mod device;
pub mod proof;
pub mod testfile;
