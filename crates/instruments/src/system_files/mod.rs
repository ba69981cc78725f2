//! Tools of the inventory: a root directory to read from, parsers, and the sheet of facts.
//!
//! Every parser here is a plain function of bytes or text, total (no panic on any input), and does no I/O. Numbers are
//! in base units (B, Hz, B/s, 1/s). Nothing here takes readings.

pub mod arm;
pub mod cgroup;
pub mod cpuinfo;
pub mod dimm;
pub mod group_limits;
pub mod mounts;
pub mod pci;
pub mod root;
pub mod sheet;
pub mod smbios;
pub mod text;
pub mod topology;
pub mod virt;

pub use root::Root;
pub use sheet::Sheet;
