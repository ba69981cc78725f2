//! Needs of a decision.
#![no_main]

use libfuzzer_sys::fuzz_target;
use model::need;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(need) = need::parse(&text) {
        assert!(need.demand.is_none_or(|demand| demand.low > 0.0 && demand.low <= demand.high));
        assert!(need.errors.is_none_or(|share| share > 0.0 && share < 1.0));
    }
});
