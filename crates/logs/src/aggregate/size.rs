//! Classes of size: by factors of four, since the speed of a request depends on its size before all else.

/// Empty, then up to 256 B, 1 KiB, 4 KiB, ..., 64 MiB, larger, and of unknown size.
pub const CLASSES: usize = 13;
/// The class of requests whose line tells no size.
pub const UNKNOWN: usize = CLASSES - 1;

const NAMES: [&str; CLASSES] = [
    "0 B", "<256 B", "<1 KiB", "<4 KiB", "<16 KiB", "<64 KiB", "<256 KiB", "<1 MiB", "<4 MiB", "<16 MiB",
    "<64 MiB", ">=64 MiB", "unknown",
];

/// The class of a size in B.
#[inline(always)]
pub fn class_of(bytes: Option<u64>) -> usize {
    match bytes {
        None => UNKNOWN,
        Some(0) => 0,
        // Bits 1 to 8: class 1; 9 and 10: class 2; and so on.
        Some(bytes) => {
            (((u64::BITS - bytes.leading_zeros()).max(8) - 5) / 2).min(UNKNOWN as u32 - 1) as usize
        }
    }
}

/// The least size of a class in B; none where its sizes are unknown, or there is no such class.
pub fn least_of(class: usize) -> Option<u64> {
    match class {
        UNKNOWN.. => None,
        0 => Some(0),
        1 => Some(1),
        _ => Some(1 << (2 * class + 4)),
    }
}

/// The name of a class; `unknown` for a number without a class.
pub fn name_of(class: usize) -> &'static str {
    NAMES.get(class).copied().unwrap_or(NAMES[UNKNOWN])
}

/// The class that is called so.
pub fn class_named(name: &[u8]) -> Option<usize> {
    NAMES.iter().position(|known| known.as_bytes() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_of_a_class_is_in_it_and_one_less_is_not() {
        for class in 0..UNKNOWN {
            let least = least_of(class).unwrap();
            assert_eq!(class_of(Some(least)), class);
            assert_eq!(class_named(name_of(class).as_bytes()), Some(class));
            assert!(least == 0 || class_of(Some(least - 1)) == class - 1);
        }
        assert_eq!((least_of(UNKNOWN), least_of(99)), (None, None));
    }

    #[test]
    fn classes_have_the_borders_of_their_names() {
        let names = |bytes: &[u64]| bytes.iter().map(|b| name_of(class_of(Some(*b)))).collect::<Vec<_>>();
        assert_eq!(
            names(&[0, 1, 255, 256, 1023, 1024]),
            ["0 B", "<256 B", "<256 B", "<1 KiB", "<1 KiB", "<4 KiB"]
        );
        assert_eq!(names(&[4095, 4096, 16_383, 16_384]), ["<4 KiB", "<16 KiB", "<16 KiB", "<64 KiB"]);
        assert_eq!(names(&[(1 << 26) - 1, 1 << 26, u64::MAX]), ["<64 MiB", ">=64 MiB", ">=64 MiB"]);
        assert_eq!(name_of(class_of(None)), "unknown");
    }
}
