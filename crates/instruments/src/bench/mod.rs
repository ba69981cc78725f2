//! Benchmarks: cadence `Repeat`, takes back to back.

pub mod cpu;
pub mod disk;
pub mod file;
pub mod kernel;
pub mod kernels;
pub mod machine;
pub mod memory;
pub mod ram;
pub mod team;
