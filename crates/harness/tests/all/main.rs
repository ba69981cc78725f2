//! Studies and their generators, with toys as instruments.

mod generators;
mod many;
mod pipe;
mod sittings;
mod study;
mod target_agents;
