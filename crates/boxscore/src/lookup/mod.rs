//! Finds what a command line names: the store's file, runs and machines in it, published machines, and the data behind
//! a name.

pub mod catalogue;
pub mod cpus;
pub mod ids;
pub mod labels;
pub mod names;
pub mod paths;
pub mod resolve;
pub mod runs;
pub mod sides;
pub mod what;
