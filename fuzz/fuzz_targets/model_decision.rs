//! Decisions' files and amounts: whatever the text, it is read, or refused with a line of the text and what to do; no
//! amount is negative, NaN or infinite.
#![no_main]

use libfuzzer_sys::fuzz_target;
use model::decision::{
    SECONDS_A_YEAR, parse_growth, parse_life, parse_price, parse_range, parse_utilisation, read,
};

fuzz_target!(|text: &str| {
    if let Err(error) = read(text) {
        assert!((1..=text.lines().count() + 1).contains(&error.line));
        assert!(!error.hint.is_empty());
    }
    // Cells of a table of prices are read by these, too.
    for cell in text.split([',', '\n']) {
        if let Some(price) = parse_price(cell) {
            assert!(price.amount.low > 0.0 && price.amount.high.is_finite());
        }
        if let Some(range) = parse_range(cell) {
            assert!(range.low >= 0.0 && range.low <= range.high && range.high.is_finite());
        }
        if let Some(share) = parse_utilisation(cell) {
            assert!(share.low > 0.0 && share.high <= 1.0);
        }
        if let Some(life) = parse_life(cell) {
            assert!(life > 0.0 && life.is_finite());
        }
        if let Some(growth) = parse_growth(cell).and_then(|growth| growth.over(SECONDS_A_YEAR)) {
            assert!(growth.low >= 1.0 && growth.high.is_finite());
        }
    }
});
