//! Inventories: whatever the text, it is read and written so that it reads the same, or refused with a line of its own.
#![no_main]

use lab::inventory::{read, write};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| match read(text) {
    Ok(lab) => {
        let written = write(&lab);
        assert_eq!(read(&written).map(|lab| write(&lab)), Ok(written));
    }
    Err(error) => {
        assert!((1..=text.lines().count() + 1).contains(&error.line));
        assert!(!error.hint.is_empty());
    }
});
