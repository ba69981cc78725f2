//! Answers of memcached: whatever the bytes, cutting them elsewhere changes nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| instruments::bench::kv::fuzz::memcached(bytes));
