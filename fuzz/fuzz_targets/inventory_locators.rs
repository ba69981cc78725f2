//! Slot names of memory modules.
#![no_main]

use instruments::system_files::dimm;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let words = String::from_utf8_lossy(bytes);
    let (locator, bank) = words.split_once('\0').unwrap_or((&words, ""));
    let _ = dimm::channel(locator, Some(bank));
});
