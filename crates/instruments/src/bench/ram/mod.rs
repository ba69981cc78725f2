//! What the memory instruments share: kernels, pointer chains, the arena, cache sizes.
//!
//! Nothing here is an instrument; sizes are in bytes.

pub mod chain;
pub mod kernels;
