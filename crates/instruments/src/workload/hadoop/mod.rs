//! Apache Hadoop: where one is, the Java that runs it, and what names of earlier ones are today.

pub mod assembled;
pub mod distribution;
pub mod java;
pub mod old_names;
pub mod release;
