//! The output of the programs of the measured languages.
#![no_main]

use instruments::bench::runtime::output;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(output) = output::read(&text) {
        assert!(text.lines().last() == Some("end"));
        assert!(output.batches.windows(2).all(|pair| pair[1].cycles == 2 * pair[0].cycles));
    }
});
