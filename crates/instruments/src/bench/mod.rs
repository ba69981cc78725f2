//! Benchmarks: cadence `Repeat`, takes back to back.

pub mod cpu;
pub mod disk;
pub mod file;
pub mod kernel;
pub mod kernels;
pub mod kv;
pub mod machine;
pub mod median;
pub mod memory;
pub mod memory_access;
pub mod net;
pub mod runtime;
pub mod spread;
pub mod team;
