//! Apache Hadoop: where one is, the Java that runs it, what names of earlier ones are today, a cluster of ours on this
//! machine, and jobs on it.

pub mod assembled;
pub mod cluster;
pub mod containers;
pub mod daemon;
pub mod distribution;
pub mod fault;
pub mod history;
pub mod java;
pub mod job;
pub mod lab;
pub mod liveness;
pub mod log_job;
pub mod log_lines;
pub mod machine_use;
pub mod network;
pub mod node_use;
pub mod old_names;
pub mod params;
pub mod probe;
pub mod programs;
pub mod release;
pub mod rest;
mod results;
mod setting_up;
pub mod settings;
pub mod sizing;
mod states;
pub mod streaming;
pub mod theirs;
