//! Eight bytes at a time: what short fields and numbers are read by, without a branch for each byte.

pub const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// The first eight bytes, the first of them lowest; zeros where there are fewer.
#[inline(always)]
pub fn first_eight(text: &[u8]) -> u64 {
    if let Some(eight) = text.first_chunk::<8>() {
        return u64::from_le_bytes(*eight);
    }
    match (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        // Two halves that overlap.
        (Some(low), Some(high)) => {
            u64::from(u32::from_le_bytes(*low))
                | u64::from(u32::from_le_bytes(*high)) << (8 * (text.len() - 4))
        }
        _ => match *text {
            [a, b, c, ..] => u64::from(a) | u64::from(b) << 8 | u64::from(c) << 16,
            [a, b] => u64::from(a) | u64::from(b) << 8,
            [a] => u64::from(a),
            [] => 0,
        },
    }
}

/// The high bit of the first byte that is 0, and maybe of later ones; nothing where none is.
#[inline(always)]
pub fn zeros(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & HIGH
}

/// Where the first of these bytes is that equals `byte`; 8 where none does.
#[inline(always)]
pub fn position(word: u64, byte: u8) -> usize {
    (zeros(word ^ (ONES * u64::from(byte))).trailing_zeros() / 8) as usize
}

/// Something where the first `count` bytes of a word are not those of a text.
#[inline(always)]
pub fn differs(word: u64, text: &[u8; 8], count: u32) -> u64 {
    (word ^ u64::from_le_bytes(*text)) << (64 - 8 * count)
}

/// The number that the leading digits of these bytes are, and how many digits there are.
#[inline(always)]
pub fn digits(word: u64) -> (u64, usize) {
    let values = word ^ ZEROS;
    let count = (others(values).trailing_zeros() / 8) as usize;
    if count == 0 {
        return (0, 0);
    }
    // The digits at the upper end, zeros before them.
    (joined(values << (64 - 8 * count)), count)
}

/// The number that the last bytes of a word are, from one to eight of them; with it nothing where all are digits, and
/// something where one is not.
#[inline(always)]
pub fn last_digits(word: u64, count: u64) -> (u64, u64) {
    let unused = 64u32.wrapping_sub(8u32.wrapping_mul(count as u32));
    let values = (word ^ ZEROS) & u64::MAX.wrapping_shl(unused);
    (joined(values), others(values))
}

/// These bytes without the fifth of them: those before it are moved up. True with it if the fifth is a point.
#[inline(always)]
pub fn without_point(word: u64) -> (u64, bool) {
    const BEHIND: u64 = u64::MAX << 40;
    const BEFORE: u64 = u64::MAX >> 32;
    (word & BEHIND | (word & BEFORE) << 8, (word >> 32) as u8 == b'.')
}

const ZEROS: u64 = ONES * b'0' as u64;

/// The high bit of the first byte that is above 9, and maybe of later ones; nothing where none is.
#[inline(always)]
fn others(values: u64) -> u64 {
    // A byte above 9 gets its high bit; what it carries reaches later bytes only.
    (values.wrapping_add(ONES * (0x80 - 10)) | values) & HIGH
}

/// The number that eight digits are: pairs, fours and all of them.
#[inline(always)]
fn joined(eight: u64) -> u64 {
    let pairs = (eight.wrapping_mul(10).wrapping_add(eight >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100).wrapping_add(pairs >> 16)) & 0x0000_ffff_0000_ffff;
    (fours.wrapping_mul(10_000).wrapping_add(fours >> 32)) & 0xffff_ffff
}

/// The number that the third to fifth of these bytes are, where they stand as in `" 200 `.
#[inline(always)]
pub fn status(word: u64) -> Option<u16> {
    let (status, wrong) = status_or_wrong(word);
    (wrong == 0).then_some(status as u16)
}

/// The same; with it nothing where they do, and something where they do not.
#[inline(always)]
pub fn status_or_wrong(word: u64) -> (u64, u64) {
    const LAYOUT: u64 = u64::from_le_bytes(*b"\" 000 \0\0");
    const PLAIN: u64 = u64::from_le_bytes([0xff, 0xff, 0, 0, 0, 0xff, 0, 0]);
    const DIGITS: u64 = u64::from_le_bytes([0, 0, 0x80, 0x80, 0x80, 0, 0, 0]);
    let values = word ^ LAYOUT;
    // As with [`digits`], what is carried reaches bytes behind one that is no digit already.
    let other = values.wrapping_add(DIGITS - (DIGITS >> 7) * 10) | values;
    let digit = |place: u32| (values >> (8 * place)) & 0xff;
    (digit(2) * 100 + digit(3) * 10 + digit(4), values & PLAIN | other & DIGITS)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn words_are_their_bytes(
            text in proptest::collection::vec(prop_oneof![4 => b'0'..=b'9', 3 => any::<u8>(), 1 => Just(b'.')], 0..12),
            byte in any::<u8>(),
        ) {
            let mut eight: Vec<u8> = text.iter().copied().take(8).collect();
            eight.resize(8, 0);
            prop_assert_eq!(first_eight(&text).to_le_bytes().to_vec(), eight.clone());
            prop_assert_eq!(position(first_eight(&text), byte), eight.iter().position(|b| *b == byte).unwrap_or(8));
            let leading: String = eight.iter().take_while(|b| b.is_ascii_digit()).map(|b| char::from(*b)).collect();
            prop_assert_eq!(digits(first_eight(&text)), (leading.parse().unwrap_or(0), leading.len()));
            let (without, is_decimal) = without_point(first_eight(&eight));
            let expected = [&[0], &eight[..4], &eight[5..]].concat();
            prop_assert_eq!((without.to_le_bytes().to_vec(), is_decimal), (expected, eight[4] == b'.'));
            for count in 1..=eight.len() {
                let last = &eight[eight.len() - count..];
                let (number, wrong) = last_digits(first_eight(&eight), count as u64);
                let expected = last.iter().all(u8::is_ascii_digit).then(|| String::from_utf8_lossy(last).parse());
                prop_assert_eq!((wrong == 0).then_some(Ok(number)), expected);
            }
        }
    }

    #[test]
    fn statuses_are_three_digits_in_their_place() {
        let of = |text: &str| status(super::first_eight(text.as_bytes()));
        for number in 0..1000 {
            assert_eq!(of(&format!("\" {number:03} 1")), Some(number));
        }
        // Each byte changed to every other one.
        for (at, byte) in (0..8).flat_map(|at| (0..=255).map(move |byte| (at, byte))) {
            let mut eight = *b"\" 204 77";
            eight[at] = byte;
            let text = &eight[2..5];
            let is_status =
                eight.starts_with(b"\" ") && eight[5] == b' ' && text.iter().all(u8::is_ascii_digit);
            let number = text.iter().fold(0u16, |sum, byte| sum * 10 + u16::from(byte.wrapping_sub(b'0')));
            assert_eq!(status(u64::from_le_bytes(eight)), is_status.then_some(number), "{eight:?}");
        }
    }
}
