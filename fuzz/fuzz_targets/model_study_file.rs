//! Study files: whatever the text, it is read, or refused with a line of the text and what to do.
#![no_main]

use libfuzzer_sys::fuzz_target;
use model::study_file::{FigureKey, check, read};

fuzz_target!(|text: &str| {
    if let Ok(key) = FigureKey::parse(text) {
        assert!(!key.instrument.is_empty());
    }
    let cards = instruments::cards();
    if let Err(error) = read(text).and_then(|file| check(file, cards, &[])) {
        assert!((1..=text.lines().count() + 1).contains(&error.line));
        assert!(!error.hint.is_empty());
    }
});
