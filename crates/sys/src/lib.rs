//! The operating system.
#![expect(unsafe_code, reason = "this crate is the home of unsafe")]
