//! The list of PCI names.
#![no_main]

use instruments::system_files::pci;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let names = pci::Names::find(bytes, &[(0x8086, 0x0a54), (0x1af4, 0x1041)]);
    assert!(!names.name((0x8086, 0x0a54)).is_empty());
});
