//! Answers of stores as `load::store_client::memcached` reads them: whatever the bytes, cutting them elsewhere changes
//! nothing.
#![no_main]

use instruments::load::store_client::{RequestKind, read_all};
use instruments::store_protocol::memcached::Memcached;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let [asked, wanted, step, stream @ ..] = bytes else { return };
    let asked = [RequestKind::Read, RequestKind::Write, RequestKind::Delete][usize::from(*asked) % 3];
    let cuts: Vec<_> = (0..stream.len()).step_by(usize::from(*step).max(1)).collect();
    let wanted = u64::from(*wanted);
    assert_eq!(read_all::<Memcached>(stream, &cuts, asked, wanted), read_all::<Memcached>(stream, &[], asked, wanted));
});
