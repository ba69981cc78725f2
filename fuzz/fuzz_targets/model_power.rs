//! The output of a command that prints watts, and typed readings: whatever the text, it is power or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use model::power::{MOST_WATTS, of_output, typed};

fuzz_target!(|text: &str| {
    let is_power = |watts: f64| watts.is_finite() && watts > 0.0 && watts < MOST_WATTS;
    match of_output(text) {
        Ok(watts) => assert!(is_power(watts)),
        Err(why) => assert!(!why.is_empty() && !why.contains('\n')),
    }
    match typed(text) {
        Ok(watts) => assert!(watts.is_none_or(is_power)),
        Err(why) => assert!(!why.is_empty()),
    }
});
