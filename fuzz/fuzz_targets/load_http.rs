//! HTTP/1 answers: whatever the bytes, cutting them elsewhere changes nothing.
#![no_main]

use instruments::load::http::response::{RequestFlags, read_all};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let [flags, step, stream @ ..] = bytes else { return };
    let asked = RequestFlags { head: flags & 1 == 1, checksum: flags & 2 == 2 };
    let cuts: Vec<_> = (0..stream.len()).step_by(usize::from(*step).max(1)).collect();
    assert_eq!(read_all(stream, asked, &cuts), read_all(stream, asked, &[]));
});
