//! The form of a name: small letters, digits, `-`, `_` and `.`, so that no shell, path or option is ever in one.

use core::net::Ipv4Addr;

/// As many as a name in DNS has at most.
pub const MOST_LETTERS: usize = 253;

pub const NAME_HINT: &str = "a name has small letters, digits, -, _ and single dots, begins with a letter, a digit or \
                             _, and is not all digits";

/// True for the name of a machine, and for an IPv4 address whose last octet is neither 0 nor 255.
pub fn is_name(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.".contains(&byte);
    let fits = (1..=MOST_LETTERS).contains(&text.len()) && text.bytes().all(is_letter);
    if !fits || text.starts_with(['-', '.']) || text.contains("..") {
        return false;
    }
    let is_numeric = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    !is_numeric || is_address(text)
}

/// True for an IPv4 address of a machine: the last octet is neither 0 nor 255.
pub fn is_address(text: &str) -> bool {
    text.parse::<Ipv4Addr>().is_ok_and(|address| (1..=254).contains(&address.octets()[3]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_hold_nothing_that_a_shell_or_a_path_reads() {
        for good in ["a", "atom001m", "rack1-node2.lab", "a_b", "_x", "5a", "a-", "10.0.0.254"] {
            assert!(is_name(good), "{good}");
        }
        let long = "a".repeat(MOST_LETTERS + 1);
        let bad = [
            "",
            "A",
            "-a",
            ".a",
            "a..b",
            "../a",
            "a/b",
            "$(x)",
            "a'b",
            "a\"b",
            "a\nb",
            "a b",
            "5",
            "10.1",
            "10.0.0.0",
            "10.0.0.255",
            "10.0.0.256",
            "010.0.0.1",
            "\u{e4}",
            &long,
        ];
        for bad in bad {
            assert!(!is_name(bad), "{bad}");
        }
    }
}
