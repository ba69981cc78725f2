//! /proc/net/dev: counters of network interfaces since they came up.

use super::{lines, number, words};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub received_bytes: u64,
    pub received_packets: u64,
    pub sent_bytes: u64,
    pub sent_packets: u64,
    /// Packets dropped, received and sent.
    pub dropped: u64,
}

/// Name and counters of each interface. A name may touch its first number.
pub fn parse(bytes: &[u8]) -> Vec<(String, Counters)> {
    lines(bytes).filter_map(interface).collect()
}

fn interface(line: &[u8]) -> Option<(String, Counters)> {
    let colon = line.iter().rposition(|&byte| byte == b':')?;
    let (name, rest) = (line.get(..colon)?, line.get(colon + 1..)?);
    let name = String::from_utf8(words(name).next()?.to_owned()).ok()?;
    let mut all = [0u64; 12];
    let mut fields = words(rest);
    for slot in &mut all {
        *slot = number(fields.next()?)?;
    }
    let [
        received_bytes,
        received_packets,
        _,
        dropped_in,
        _,
        _,
        _,
        _,
        sent_bytes,
        sent_packets,
        _,
        dropped_out,
    ] = all;
    let dropped = dropped_in.saturating_add(dropped_out);
    Some((name, Counters { received_bytes, received_packets, sent_bytes, sent_packets, dropped }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_captured_file() {
        let all = parse(include_bytes!("fixtures/net_dev"));
        assert_eq!(all.len(), 3);
        let eth0 = Counters {
            received_bytes: 1_063_559_608,
            received_packets: 32_184,
            sent_bytes: 1_822_903,
            sent_packets: 21_098,
            dropped: 9,
        };
        assert!(all.contains(&("eth0".to_owned(), eth0)));
        assert!(all.iter().any(|(name, counters)| name == "eth0:1" && counters.received_bytes == 77));
        assert_eq!(parse(b"eth0: 1 2 3\n"), []);
    }
}
