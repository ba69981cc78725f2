//! SMBIOS tables.
#![no_main]

use instruments::system_files::{dimm, smbios};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let table = smbios::parse(bytes);
    let _ = (smbios::identity(&table), smbios::processors(&table), smbios::caches(&table));
    let _ = (smbios::slots(&table), smbios::arrays(&table));
    let modules = smbios::modules(&table);
    let _ = (dimm::channels(&modules), dimm::layout(&modules));
});
