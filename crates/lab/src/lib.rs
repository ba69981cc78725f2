//! Fleets of machines: which there are, how they are called, where they answer, and what is done on them.
//!
//! `ranges` reads expressions of names, `inventory` the file `lab.toml`, `import` the lists of others, `plan` makes
//! names and addresses. `ssh` runs commands on hosts and copies files, `bmc` speaks with management controllers.
//! Nothing here prints, stores or measures.

pub mod bmc;
pub mod boot;
mod child;
pub mod console;
pub mod fan_out;
pub mod import;
pub mod inventory;
pub mod plan;
pub mod private;
pub mod ranges;
pub mod sha256;
pub mod ssh;
pub mod stop;
