//! Fleets of machines: which there are, how they are called, and where they answer.
//!
//! `ranges` reads expressions of names, `inventory` the file `lab.toml`, `import` the lists of others, `plan` makes
//! names and addresses. Nothing here prints, stores or measures.

pub mod import;
pub mod inventory;
pub mod plan;
pub mod ranges;
