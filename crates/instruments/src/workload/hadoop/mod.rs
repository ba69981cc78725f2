//! Apache Hadoop: where one is, and the Java that runs it.

pub mod distribution;
pub mod java;
