//! Lines of `logs map`: lines of anybody are refused, or can be written again, merged and put together.
#![no_main]

use std::io::Cursor;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use libfuzzer_sys::fuzz_target;
use logs::hash;
use logs::parts::{Key, Of, Part, Parts};

fn read(bytes: &[u8]) -> Option<Parts> {
    let mut parts = Parts::default();
    parts.read(Box::new(Cursor::new(bytes.to_vec()))).ok()?;
    Some(parts)
}

/// The head of a line of this version, up to its checksum.
fn head() -> String {
    let mut parts = Parts::default();
    parts.add(Key::new("a", Of::Whole), Part::default()).expect("it is the first");
    let line = parts.lines().expect("it can be written").next().expect("there is one");
    line.split(':').next().expect("there is a head").to_owned()
}

fuzz_target!(|bytes: &[u8]| {
    drop(read(bytes).map(Parts::whole));
    // With a head and a checksum that are right, so that what stands between is looked at.
    let packed = zstd::bulk::compress(bytes, 1).expect("it can be packed");
    let sum = hash::mix(hash::name(b"a/whole"), hash::name(&packed));
    let line = format!("{}:{sum:016x}:{}\n", head(), STANDARD.encode(&packed));
    if let Some(parts) = read(line.as_bytes()) {
        let again: Vec<String> = parts.lines().expect("what was read can be written").collect();
        let mut text = again.join("\n").into_bytes();
        text.push(b'\n');
        let same = read(&text).expect("what was written can be read");
        assert_eq!(same.lines().expect("it can be written").collect::<Vec<_>>(), again);
        drop(read(&text.repeat(2)));
        drop(read(line.as_bytes()).map(Parts::whole));
    }
});
