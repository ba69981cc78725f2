//! What the inventory reads with: a root directory, small parsers of bytes, and the sheet that facts go on.
//!
//! Every parser here is a plain function of bytes or text, total (no panic on any input), and does no I/O of its
//! own. Numbers leave in base units (B, Hz, B/s, 1/s). Nothing here takes readings.

pub mod arm;
pub mod cgroup;
pub mod cpuinfo;
pub mod dimm;
pub mod mounts;
pub mod pci;
pub mod root;
pub mod scan;
pub mod sheet;
pub mod smbios;
pub mod text;
pub mod virt;

pub use root::Root;
pub use scan::Scan;
pub use sheet::Sheet;
