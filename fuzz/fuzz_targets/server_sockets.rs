//! /proc/net/tcp and the statistics of processes and threads.
#![no_main]

use instruments::workload::server::{sockets, tree};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = sockets::parse(bytes);
    let _ = tree::Stat::parse(bytes);
});
