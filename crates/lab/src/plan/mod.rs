//! Names and addresses of machines that are to be set up, from naming rules and subnets.
//!
//! 1. `read`: a plan file in TOML into rules.
//! 2. `assign`: rules into rows, each a name with its address. Addresses of an earlier plan are kept.
//! 3. `files`: rows as `/etc/hosts`, for dnsmasq, ssh and Ansible, as CSV, and as `lab.toml`.
//!
//! Nothing here asks the network what is in use.

mod assign;
mod earlier;
mod files;
mod read;
mod subnet;

pub use assign::{Plan, PlanNote, Row, RowKind, plan};
pub use earlier::{Earlier, Macs, earlier, macs};
pub use files::{ansible, csv, dnsmasq, hosts, is_made, lab_file, ssh};
pub use read::{Rules, read};
pub use subnet::Subnet;

#[cfg(test)]
mod tests;
