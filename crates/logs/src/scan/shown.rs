//! A text of a log as people read it: the escapes of Apache, nginx and JSON undone where what they stand for can be
//! shown.
//!
//! For display alone: two texts that are shown alike may be different ones.

/// The text; bytes that are no UTF-8 become U+FFFD, control characters stay escapes.
pub fn shown(text: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        let (byte, length) = if first == b'\\' { escape(after) } else { (first, 0) };
        bytes.push(byte);
        rest = &after[length..];
    }
    let mut out = String::with_capacity(bytes.len());
    for c in String::from_utf8_lossy(&bytes).chars() {
        // A terminal would obey them.
        if c.is_control() { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

/// The byte that an escape stands for, and the length of the escape behind its backslash. An unknown escape is the
/// backslash itself.
fn escape(after: &[u8]) -> (u8, usize) {
    match after {
        [b'x', high, low, ..] => match (hex(*high), hex(*low)) {
            (Some(high), Some(low)) => (high << 4 | low, 3),
            _ => (b'\\', 0),
        },
        [plain @ (b'"' | b'\\' | b'/'), ..] => (*plain, 1),
        [b't', ..] => (b'\t', 1),
        [b'n', ..] => (b'\n', 1),
        _ => (b'\\', 0),
    }
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_undone_and_terminals_are_safe() {
        assert_eq!(shown(br#"/caf\xc3\xa9 \"a\" \\ \/x"#), "/caf\u{e9} \"a\" \\ /x");
        assert_eq!(shown(b"/\xff\\x1b[31m\\t\x07"), "/\u{fffd}\\u{1b}[31m\\t\\u{7}");
        for (odd, expected) in
            [(&b"\\"[..], "\\"), (b"\\x", "\\x"), (b"\\xg0", "\\xg0"), (b"", ""), (b"\\q", "\\q")]
        {
            assert_eq!(shown(odd), expected);
        }
    }
}
