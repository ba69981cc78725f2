//! Expressions of names: whatever the text, it is read and folds back to itself, or is refused at one of its columns.
#![no_main]

use lab::ranges::{Known, expand, fold};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let known = Known::default();
    match expand(text, &known) {
        Ok(expanded) => {
            let back = expand(&fold(expanded.names.iter()), &known).map(|back| back.names);
            assert_eq!(back, Ok(expanded.names));
        }
        Err(error) => {
            assert!((1..=text.chars().count() + 1).contains(&error.column));
            assert!(!error.hint.is_empty());
        }
    }
});
