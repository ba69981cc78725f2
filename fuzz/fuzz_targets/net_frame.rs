//! Frames of network tests: whatever the bytes, what is read can be written and read again, and is within them.
#![no_main]

use instruments::bench::net::frame::Frame;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(Some((frame, length))) = Frame::parse(bytes) {
        assert!(length <= bytes.len());
        let again = frame.to_bytes().expect("what was read can be written");
        assert_eq!(Frame::parse(&again).expect("a frame"), Some((frame, again.len())));
    }
});
