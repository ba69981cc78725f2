//! Numbers as logs write them: digits only, no sign, no blank; with a decimal point where seconds have one.

use super::word;

/// The number that exactly the first `count` bytes are; none beyond 18 digits or where one is no digit.
#[inline]
pub fn digits(text: &[u8], count: usize) -> Option<i64> {
    let mut value = 0i64;
    if count == 0 || count > 18 {
        return None;
    }
    for &byte in text.get(..count)? {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + i64::from(digit);
    }
    Some(value)
}

/// The number at the start of `text` and how many bytes it has; none where there is no digit or over 18.
#[inline(always)]
pub fn leading(text: &[u8]) -> Option<(u64, usize)> {
    let (value, count) = word::digits(word::first_eight(text));
    match count {
        0 => None,
        8 => more(value, text),
        _ => Some((value, count)),
    }
}

/// The same where eight digits were not all.
#[cold]
fn more(mut value: u64, text: &[u8]) -> Option<(u64, usize)> {
    let rest = text.iter().skip(8).map(|byte| byte.wrapping_sub(b'0')).take_while(|digit| *digit <= 9);
    let mut count = 8;
    for digit in rest {
        count += 1;
        if count > 18 {
            return None;
        }
        value = value * 10 + u64::from(digit);
    }
    Some((value, count))
}

/// A decimal number times `unit_ns`, in whole ns, rounded down: `0.125` s is 125,000,000.
pub fn decimal(text: &[u8], unit_ns: u64) -> Option<u64> {
    let (whole, length) = match text.first()? {
        b'.' => (0, 0),
        _ => leading(text)?,
    };
    let mut ns = whole.checked_mul(unit_ns)?;
    match &text[length..] {
        [] => Some(ns),
        [b'.', rest @ ..] if !rest.is_empty() => {
            let mut unit = unit_ns;
            for &byte in rest {
                let digit = u64::from(byte.wrapping_sub(b'0'));
                if digit > 9 {
                    return None;
                }
                unit /= 10;
                ns = ns.checked_add(digit * unit)?;
            }
            Some(ns)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_what_is_none() {
        assert_eq!(leading(b"123 x"), Some((123, 3)));
        assert_eq!(leading(b"999999999999999999"), Some((999_999_999_999_999_999, 18)));
        for bad in [&b""[..], b"-", b"-5", b" 5", b"9999999999999999999"] {
            assert_eq!(leading(bad), None);
        }
        assert_eq!(
            (digits(b"0123", 2), digits(b"01", 3), digits(b"1x", 2), digits(b"1", 0)),
            (Some(1), None, None, None)
        );
    }

    #[test]
    fn decimals_are_exact() {
        const S: u64 = 1_000_000_000;
        assert_eq!(decimal(b"0.125", S), Some(125_000_000));
        assert_eq!(decimal(b"12", S), Some(12 * S));
        assert_eq!(decimal(b"1.0000000019", S), Some(S + 1));
        assert_eq!(decimal(b"1.5", 1000), Some(1500));
        assert_eq!(decimal(b".5", S), Some(S / 2));
        for bad in [&b""[..], b".", b"1.", b"-1", b"1.2.3", b"1e3", b"99999999999999", b"1 "] {
            assert_eq!(decimal(bad, S), None, "{:?}", String::from_utf8_lossy(bad));
        }
    }
}
