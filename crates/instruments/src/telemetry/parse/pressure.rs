//! /proc/pressure/*: time in which some, or all, threads waited, in microseconds since boot.

use super::{lines, number, words};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pressure {
    pub some_us: Option<u64>,
    pub full_us: Option<u64>,
}

pub fn parse(bytes: &[u8]) -> Pressure {
    let mut found = Pressure::default();
    for line in lines(bytes) {
        let mut fields = words(line);
        let kind = fields.next();
        let total = fields.find_map(|word| number(word.strip_prefix(b"total=")?));
        match kind {
            Some(b"some") => found.some_us = total,
            Some(b"full") => found.full_us = total,
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_captured_file() {
        let text = b"some avg10=98.64 avg60=96.40 avg300=74.82 total=746006290\n\
                     full avg10=0.00 avg60=0.00 avg300=0.00 total=17\n";
        assert_eq!(parse(text), Pressure { some_us: Some(746_006_290), full_us: Some(17) });
        assert_eq!(parse(b"some avg10=1 total=\n").some_us, None);
        assert_eq!(parse(b""), Pressure::default());
    }
}
