//! Benchmarks: cadence `Repeat`, takes back to back.

pub mod cpu;
pub mod disk;
pub mod machine;
pub mod memory;
pub mod ram;
