//! Data cache sizes per level of one CPU, as the kernel reports them, in bytes.
//!
//! Virtual machines often report a cache that they share with strangers; nothing here can tell.

use std::fs;
use std::path::Path;

use model::params::parse_bytes;

/// Level (1, 2, …) and bytes, ascending; instruction caches are left out.
pub fn of_cpu(sys: &Path, cpu: u32) -> Vec<(u32, u64)> {
    let folder = sys.join(format!("devices/system/cpu/cpu{cpu}/cache"));
    let mut levels: Vec<(u32, u64)> = (0..16)
        .filter_map(|index| {
            let read = |name: &str| fs::read_to_string(folder.join(format!("index{index}/{name}"))).ok();
            parse(&read("level")?, &read("type")?, &read("size")?)
        })
        .collect();
    levels.sort_unstable();
    levels
}

/// One cache's `level`, `type` and `size` files.
fn parse(level: &str, kind: &str, size: &str) -> Option<(u32, u64)> {
    let level = level.trim().parse().ok()?;
    let bytes = parse_bytes(size).filter(|&bytes| bytes > 0)?;
    matches!(kind.trim(), "Data" | "Unified").then_some((level, bytes))
}

/// A working set in the middle of a level's plateau: half of the first level, the geometric mean of a
/// later one and the one before; whole pages. `None` without that level.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "cache sizes are far below 2^53"
)]
pub fn plateau(levels: &[(u32, u64)], level: u32) -> Option<u64> {
    const PAGE: u64 = 4096;
    let bytes = |wanted: u32| levels.iter().find(|(level, _)| *level == wanted).map(|&(_, bytes)| bytes);
    let this = bytes(level)?;
    let middle = match level.checked_sub(1).and_then(bytes) {
        None => this / 2,
        Some(below) => ((below as f64) * (this as f64)).sqrt() as u64,
    };
    Some((middle / PAGE * PAGE).max(PAGE))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reads_a_planted_tree() {
        let sys = tempfile::tempdir().unwrap();
        let plant = |index: u32, level: &str, kind: &str, size: &str| {
            let folder = sys.path().join(format!("devices/system/cpu/cpu3/cache/index{index}"));
            fs::create_dir_all(&folder).unwrap();
            for (name, text) in [("level", level), ("type", kind), ("size", size)] {
                fs::write(folder.join(name), format!("{text}\n")).unwrap();
            }
        };
        plant(0, "1", "Data", "32K");
        plant(1, "1", "Instruction", "32K");
        plant(2, "2", "Unified", "256K");
        plant(3, "3", "Unified", "12288K");
        let levels = of_cpu(sys.path(), 3);
        assert_eq!(levels, [(1, 32 << 10), (2, 256 << 10), (3, 12 << 20)]);
        assert_eq!(plateau(&levels, 1), Some(16 << 10));
        assert_eq!(plateau(&levels, 2), Some(88 << 10));
        assert_eq!(plateau(&levels, 4), None);
        assert_eq!(of_cpu(sys.path(), 0), []);
    }

    proptest! {
        #[test]
        fn plateaus_lie_inside_their_level(l1 in 16_384u64..1 << 17, f2 in 2u64..64, f3 in 2u64..500) {
            let levels = [(1, l1), (2, l1 * f2), (3, l1 * f2 * f3)];
            for (index, &(level, bytes)) in levels.iter().enumerate() {
                let below = if index == 0 { 0 } else { levels[index - 1].1 };
                let size = plateau(&levels, level).unwrap();
                prop_assert!(size + 4096 > below && size < bytes);
            }
        }

        #[test]
        fn junk_is_no_cache(level in ".*", kind in ".*", size in ".*") {
            let _ = parse(&level, &kind, &size);
        }
    }
}
