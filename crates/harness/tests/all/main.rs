//! Studies and their generators, with toys as instruments.

mod generators;
mod pipe;
mod sittings;
mod study;
mod target_agents;
