//! Stored aggregates: bytes of anybody are refused, or can be merged and stored again as they are.
#![no_main]

use libfuzzer_sys::fuzz_target;
use logs::aggregate::file::{Labels, VERSION};
use logs::hash;

fuzz_target!(|bytes: &[u8]| {
    drop(Labels::from_bytes(bytes));
    // With a head and a checksum that are right, so that what stands between is looked at.
    let mut sound = b"BXLOGAGG".to_vec();
    sound.extend(VERSION.to_le_bytes());
    sound.extend_from_slice(bytes);
    let sum = hash::name(&sound);
    sound.extend(sum.to_le_bytes());
    if let Ok(labels) = Labels::from_bytes(&sound) {
        let mut twice = labels.clone();
        twice.merge(&labels).expect("the settings are the same");
        let stored = labels.to_bytes().expect("what was read can be stored");
        assert_eq!(Labels::from_bytes(&stored).expect("what was stored can be read").labels.len(), labels.labels.len());
    }
});
