//! What instruments that read files share: the test file, the page cache, and what the device counted meanwhile.
//!
//! Nothing here is an instrument; sizes are in bytes.

pub mod blocks;
pub mod cold;
pub mod device;
pub mod proof;
pub mod testfile;
