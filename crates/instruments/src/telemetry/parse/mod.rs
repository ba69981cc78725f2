//! Parsers of the files that telemetry and take conditions read every second or around every take.
//!
//! Plain functions of bytes, total (no panic on any input), without I/O. Counters stay in the kernel's own
//! units, which each parser names; what does not fit is missing, never 0.

pub mod disks;
pub mod meminfo;
pub mod nets;
pub mod pairs;
pub mod pressure;
pub mod softnet;
pub mod stat;
pub mod tables;
pub mod throttle;

#[cfg(test)]
mod fuzz;

/// The words of a line.
pub fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// The lines of a file.
pub fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty())
}

/// A whole number in decimal digits, nothing else.
pub fn number(word: &[u8]) -> Option<u64> {
    if word.is_empty() {
        return None;
    }
    word.iter().try_fold(0u64, |sum, byte| {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit < 10)?;
        sum.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

/// A file that holds one whole number, with its line end.
pub fn lone(bytes: &[u8]) -> Option<u64> {
    let mut all = words(bytes);
    let only = number(all.next()?)?;
    all.next().is_none().then_some(only)
}

/// A file that holds one whole number which may be negative.
pub fn lone_signed(bytes: &[u8]) -> Option<i64> {
    let word = words(bytes).next()?;
    match word.strip_prefix(b"-") {
        Some(digits) => i64::try_from(number(digits)?).ok()?.checked_neg(),
        None => i64::try_from(lone(bytes)?).ok(),
    }
}

/// A counter as a number to calculate with.
#[expect(clippy::cast_precision_loss, reason = "differences of counters stay far below 2^53")]
pub const fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_digits_only() {
        assert_eq!(number(b"18446744073709551615"), Some(u64::MAX));
        for bad in [&b"18446744073709551616"[..], b"", b"-1", b"1a", b"1.5"] {
            assert_eq!(number(bad), None);
        }
        assert_eq!(lone(b" 42\n"), Some(42));
        assert_eq!(lone(b"42 43\n"), None);
        assert_eq!(lone_signed(b"-12500\n"), Some(-12_500));
        assert_eq!(lone_signed(b"61000\n"), Some(61_000));
        assert_eq!(lone_signed(b"x"), None);
    }
}
