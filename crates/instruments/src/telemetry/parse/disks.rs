//! /proc/diskstats: counters of block devices since boot. Sectors are 512 B whatever the device's own size.

use super::{lines, number, words};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub reads: u64,
    pub read_sectors: u64,
    /// Time of all reads together: with two under way it passes twice as fast.
    pub reading_ms: u64,
    pub writes: u64,
    pub written_sectors: u64,
    /// Time with at least one request under way.
    pub busy_ms: u64,
}

/// Name and counters of each device, partitions among them.
pub fn parse(bytes: &[u8]) -> Vec<(String, Counters)> {
    lines(bytes).filter_map(device).collect()
}

fn device(line: &[u8]) -> Option<(String, Counters)> {
    let mut fields = words(line).skip(2);
    let name = String::from_utf8(fields.next()?.to_owned()).ok()?;
    let mut all = [0u64; 10];
    for slot in &mut all {
        *slot = number(fields.next()?)?;
    }
    let [reads, _, read_sectors, reading_ms, writes, _, written_sectors, _, _, busy_ms] = all;
    Some((name, Counters { reads, read_sectors, reading_ms, writes, written_sectors, busy_ms }))
}

/// True for devices that are not disks of their own: memory, loops, and layers that would count a disk's work twice.
pub fn is_virtual(name: &str) -> bool {
    ["loop", "ram", "zram", "dm-", "md", "sr", "fd"].iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_captured_file() {
        let all = parse(include_bytes!("fixtures/diskstats"));
        assert_eq!(all.len(), 4);
        let vda = Counters {
            reads: 445_557,
            read_sectors: 27_085_314,
            reading_ms: 331_590,
            writes: 193_693,
            written_sectors: 54_145_360,
            busy_ms: 61_708,
        };
        assert!(all.contains(&("vda".to_owned(), vda)));
        // Partitions of Linux before 2.6.25 have four fields only.
        assert_eq!(parse(b" 8 1 sda1 1 2 3 4\n"), []);
        assert!(is_virtual("loop0") && is_virtual("dm-1") && !is_virtual("nvme0n1") && !is_virtual("sda"));
    }
}
