//! Mutated expressions: each is read, and folds back to itself, or is refused at a column of its own with a hint.

use std::time::{Duration, Instant};

use model::mutate::{Dice, mutate};

use super::{Known, expand, fold};

/// How long expressions are mutated, in seconds; longer where BOXSCORE_FUZZ_SECONDS says so.
const FUZZ_SECONDS: u64 = 2;

const SEEDS: [&[u8]; 4] = [
    b"rack[1-2]node[01-03,7-9/2]!@sick&(a,b)",
    b"1,5-7,10+3,20,.1,5-7,192.168.5.1+44",
    b"atom001-atom005^atom003+2,mercury?cmm",
    b"a[1]-3,a[998-1002],10.0.0.[1-9]",
];

#[test]
fn fuzz_expressions_are_read_or_refused_at_a_column() {
    let given = std::env::var("BOXSCORE_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let end = Instant::now() + Duration::from_secs(given.unwrap_or(FUZZ_SECONDS));
    let plants: [&[u8]; 10] =
        [b"[", b"]", b"[1-5]", b",", b"!", b"(", b".1-", b"+99", b"\xc3\xa4", b"99999999999999999999"];
    let mut known = Known::with_defaults(None, Some([10, 0, 0]));
    ["a1", "a1-3", "mercury1cmm", "5-7"].into_iter().for_each(|name| known.add_name(name));
    known.add_to_group(None, "sick", ["a1".to_owned()]);
    let mut dice = Dice::new(5);
    while Instant::now() < end {
        let seed = dice.pick(&SEEDS).copied().unwrap_or_default();
        let bytes = mutate(seed, &plants, &mut dice);
        let text = String::from_utf8_lossy(&bytes);
        match expand(&text, &known) {
            Ok(expanded) => {
                let folded = fold(expanded.names.iter());
                let back = expand(&folded, &known).map(|back| back.names);
                assert_eq!(back, Ok(expanded.names), "{text} folds to {folded}");
            }
            Err(error) => {
                let columns = text.chars().count() + 1;
                assert!((1..=columns).contains(&error.column), "{error} of {columns} columns: {text}");
                assert!(!error.hint.is_empty());
            }
        }
    }
}
