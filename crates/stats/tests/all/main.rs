//! Proofs by simulation, reference values, and any input.

mod any_input;
mod lasting;
mod odd;
mod proofs;
mod scipy;
mod worlds;
