//! Output of RAMCloud's clusterperf.
#![no_main]

use instruments::clusterperf;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let _ = clusterperf::is_output(&text);
    if let Ok(output) = clusterperf::parse(&text) {
        assert!(output.figures.iter().all(|figure| figure.value.is_finite() && figure.value >= 0.0));
    }
});
