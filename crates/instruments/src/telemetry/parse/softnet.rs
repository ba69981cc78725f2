//! /proc/net/softnet_stat: a line of hexadecimal counts for each CPU; packets since boot, of all network namespaces.

use super::{lines, words};

/// Packets that were dropped since a CPU's queue was full (net.core.netdev_max_backlog), of all CPUs; `None` when there
/// is no line to read.
pub fn dropped(bytes: &[u8]) -> Option<u64> {
    let of_line = |line| hex(words(line).nth(1)?);
    lines(bytes)
        .map(of_line)
        .try_fold(None, |sum: Option<u64>, count| Some(Some(sum.unwrap_or(0).saturating_add(count?))))?
}

fn hex(word: &[u8]) -> Option<u64> {
    let digits =
        std::str::from_utf8(word).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u64::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn captured_files() {
        assert_eq!(dropped(include_bytes!("fixtures/softnet_stat")), Some(0));
        assert_eq!(dropped(b"00000010 0000001f 0\n0000000a 00000001 0\n"), Some(32));
        for bad in [&b""[..], b"0000000a\n", b"1 2\n1 x\n", b"1 +2\n", b"1 10000000000000000\n"] {
            assert_eq!(dropped(bad), None, "{}", String::from_utf8_lossy(bad));
        }
    }

    proptest! {
        #[test]
        fn lines_add_up(counts in proptest::collection::vec(any::<u32>(), 1..20)) {
            let text: String = counts.iter().map(|count| format!("00000001 {count:08x} 00000000\n")).collect();
            prop_assert_eq!(dropped(text.as_bytes()), Some(counts.iter().map(|count| u64::from(*count)).sum()));
        }

        #[test]
        fn any_bytes_are_read(bytes: Vec<u8>) {
            let _any = dropped(&bytes);
        }
    }
}
