//! Keys of parts: a label and a side of a cut, as one word without blanks and tabs.

use std::fmt;

/// Which of a label's requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Of {
    /// All of them; those of no side where there is a cut.
    Whole,
    Before,
    After,
}

impl Of {
    pub const ALL: [Of; 3] = [Of::Whole, Of::Before, Of::After];

    fn word(self) -> &'static str {
        match self {
            Of::Whole => "whole",
            Of::Before => "before",
            Of::After => "after",
        }
    }
}

/// The key of a part. Written as `LABEL/whole`, with `%` and two digits for each byte of the label that is no letter,
/// digit, `.`, `_` or `-`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub label: String,
    pub of: Of,
}

impl Key {
    pub fn new(label: &str, of: Of) -> Key {
        Key { label: label.to_owned(), of }
    }

    /// Reads a key; `None` for other texts.
    pub fn parse(text: &str) -> Option<Key> {
        let (label, side) = text.split_once('/')?;
        let of = Of::ALL.into_iter().find(|of| of.word() == side)?;
        let key = Key { label: unescaped(label)?, of };
        // Each key has one way to be written.
        (key.to_string() == text).then_some(key)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.label.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'_' | b'-' => {
                    write!(to, "{}", char::from(byte))?;
                }
                _ => write!(to, "%{byte:02X}")?,
            }
        }
        write!(to, "/{}", self.of.word())
    }
}

fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        rest = behind;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &rest[2..];
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_label_is_a_word_and_is_read_back() {
        for (label, text) in [
            ("log", "log/before"),
            ("a b/c\t%", "a%20b%2Fc%09%25/before"),
            ("w\u{e4}hler", "w%C3%A4hler/before"),
            ("", "/before"),
        ] {
            let key = Key::new(label, Of::Before);
            assert_eq!(key.to_string(), text);
            assert_eq!(Key::parse(text), Some(key));
        }
        for text in [
            "log",
            "log/",
            "log/none",
            "a b/whole",
            "%6C/whole",
            "%/whole",
            "%zz/whole",
            "%FF/whole",
            "a/b/whole",
        ] {
            assert_eq!(Key::parse(text), None, "{text}");
        }
    }
}
