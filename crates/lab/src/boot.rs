//! Machines booted from the network: what they are served, and how far each has come.
//!
//! `image` packs an initramfs (`cpio`, `modules`), `dnsmasq` gives addresses and iPXE, `http` the rest, `watch` follows
//! each node from its switch to its spec sheet, `interface` says where all this may be done. `disk_image` is what
//! may be written to disks.

pub mod cpio;
pub mod disk_image;
pub mod dnsmasq;
pub mod http;
pub mod image;
pub mod interface;
pub mod modules;
pub mod watch;
