//! /proc/net/netstat and /proc/net/snmp: `Group: name name …` lines, each followed by `Group: value value …`.
//!
//! Counts since the network namespace was made. A value that is no whole number (MaxConn is -1) is missing.

use super::{lines, number, words};

/// The values of `names` in `group` (with its colon), in their order; missing ones stay missing.
pub fn pick<const N: usize>(bytes: &[u8], group: &str, names: [&str; N]) -> [Option<u64>; N] {
    let mut found = [None; N];
    let mut of_group = lines(bytes).filter_map(|line| {
        let mut fields = words(line);
        (fields.next() == Some(group.as_bytes())).then_some(fields)
    });
    while let (Some(heads), Some(values)) = (of_group.next(), of_group.next()) {
        for (head, value) in heads.zip(values) {
            let wanted = names.iter().position(|wanted| wanted.as_bytes() == head);
            if let Some(slot) = wanted.and_then(|at| found.get_mut(at)) {
                *slot = number(value);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn captured_files() {
        let text = include_bytes!("fixtures/netstat");
        assert_eq!(
            pick(text, "TcpExt:", ["TW", "DelayedACKs", "Nothing", "SyncookiesSent"]),
            [Some(218_211), Some(536_181), None, Some(0)]
        );
        assert_eq!(pick(text, "IpExt:", ["InOctets", "TW"]), [Some(46_426_791_256), None]);
        let text = include_bytes!("fixtures/snmp");
        assert_eq!(
            pick(text, "Tcp:", ["RetransSegs", "OutRsts", "MaxConn"]),
            [Some(306_898), Some(90_394), None]
        );
        assert_eq!(pick(text, "Udp", ["InDatagrams"]), [None]);
    }

    #[test]
    fn a_line_without_its_pair_is_nothing() {
        assert_eq!(pick(b"Tcp: A B\n", "Tcp:", ["A"]), [None]);
        assert_eq!(pick(b"Tcp: A B\nTcp: 1\n", "Tcp:", ["A", "B"]), [Some(1), None]);
        assert_eq!(pick(b"Tcp: A\nUdp: A\nTcp: 1\nUdp: 2\n", "Tcp:", ["A"]), [Some(1)]);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(values in proptest::collection::vec(any::<u64>(), 1..9), at in 0usize..9) {
            let at = at % values.len();
            let heads: String = (0..values.len()).map(|index| format!(" H{index}")).collect();
            let shown: String = values.iter().map(|value| format!(" {value}")).collect();
            let text = format!("Other:{heads}\nOther:{heads}\nMine:{heads}\nMine:{shown}\n");
            prop_assert_eq!(pick(text.as_bytes(), "Mine:", [&format!("H{at}")]), [Some(values[at])]);
        }

        #[test]
        fn any_bytes_are_read(bytes: Vec<u8>) {
            let _any = pick(&bytes, "Tcp:", ["OutRsts"]);
        }
    }
}
