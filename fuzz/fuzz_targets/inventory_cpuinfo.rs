//! /proc/cpuinfo of any architecture.
#![no_main]

use instruments::system_files::cpuinfo;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let info = cpuinfo::parse(bytes);
    let _ = (info.arm_ids(), info.flags(), info.numbers("cpu MHz"));
    let _ = info.first(&["model name"]).and_then(cpuinfo::clock_in_name);
});
