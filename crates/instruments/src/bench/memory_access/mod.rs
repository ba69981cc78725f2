//! Shared parts of the memory instruments: kernels, pointer chains, the arena, sizes.
//!
//! Nothing here is an instrument; sizes are bytes.

pub mod arena;
pub mod caches;
pub mod chain;
pub mod kernels;
pub mod last_level;
pub mod latency;
pub mod pass;
pub mod place;
pub mod race;
pub mod walk;
