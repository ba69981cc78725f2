//! What the programs of languages print.
#![no_main]

use instruments::runtime::output;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(output) = output::read(&text) {
        assert!(text.lines().last() == Some("end"));
        assert!(output.batches.windows(2).all(|pair| pair[1].cycles == 2 * pair[0].cycles));
    }
});
