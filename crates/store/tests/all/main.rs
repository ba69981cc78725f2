//! Tests of the store from outside: one binary, which some of them start again as another process or user.

mod common;
mod faults;
mod round_trip;
#[expect(clippy::print_stderr, reason = "the figures are for the reader of the test")]
mod thousand;
mod writers;
