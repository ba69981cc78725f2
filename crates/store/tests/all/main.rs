//! Tests of the store from outside: one binary, which some of them start again as another process or user.
//!
//! What holds of every store is in `both/`, and is run on each engine.

#![expect(clippy::duplicate_mod, reason = "the same tests, on another engine")]

mod common;
mod copies;
mod faults;
mod postgres;
mod server;
mod server_faults;
mod sqlite;
