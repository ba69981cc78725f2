//! /proc/self/mountinfo.
#![no_main]

use instruments::system_files::mounts;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mounts = mounts::parse(bytes);
    let _ = mounts::of_path(&mounts, "/srv/a b");
});
