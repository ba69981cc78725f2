//! The block device under a folder, as /sys describes it: its name, write cache and counters.
//!
//! Sectors are 512 bytes whatever the device's own. Network and overlay file systems have no block device
//! of their own; then there is a reason instead.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::system_files::mounts;

/// Counters of a `stat` file since boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stat {
    pub read_bytes: u64,
    pub written_bytes: u64,
    /// Flushes that the device finished; Linux 5.5 and later.
    pub flushes: Option<u64>,
}

/// The write cache: a volatile one may lose data that was acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteCache {
    /// Volatile: what was not flushed is lost with the power.
    Back,
    /// None, or one that survives.
    Through,
}

/// A block device: the whole disk and the part of it that holds the file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    pub name: String,
    /// Folder of the partition (or the disk itself).
    part: PathBuf,
    /// Folders of the disks that do the work: the disk, or those below a mapped or RAID device.
    disks: Vec<PathBuf>,
}

impl Device {
    /// The device under `path`. Fails when it cannot be determined.
    pub fn under(sys: &Path, path: &Path) -> Result<Device, String> {
        let numbers = sys::direct::device_of(path).map_err(|error| error.to_string())?;
        match numbers {
            // Not a device of its own (btrfs, overlay, network): what was mounted may name one.
            (0, _) => Device::numbered(sys, mounted_from(path)?),
            numbers => Device::numbered(sys, numbers),
        }
    }

    fn numbered(sys: &Path, (major, minor): (u32, u32)) -> Result<Device, String> {
        let link = sys.join(format!("dev/block/{major}:{minor}"));
        let part = fs::canonicalize(&link).map_err(|error| format!("{}: {error}", link.display()))?;
        let disk = match (part.join("partition").exists(), part.parent()) {
            (true, Some(disk)) => disk.to_owned(),
            _ => part.clone(),
        };
        let name = part.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let mut disks = Vec::new();
        workers(&disk, 0, &mut disks);
        Ok(Device { name, part, disks })
    }

    /// The names of the disks that do the work, as /proc/diskstats has them.
    pub fn disk_names(&self) -> Vec<String> {
        // A `!` stands for the slash of names such as cciss/c0d0.
        self.disks.iter().map(|disk| name(disk).replace('!', "/")).collect()
    }

    /// Counters of the file system's own device. Fails when they cannot be read.
    pub fn stat(&self) -> Result<Stat, String> {
        read_stat(&self.part)
    }

    /// Flushes of all disks that do the work. Fails when one of them does not count them.
    pub fn flushes(&self) -> Result<u64, String> {
        let of_disk = |disk: &PathBuf| {
            let flushes = read_stat(disk)?.flushes;
            flushes.ok_or_else(|| format!("{} does not count flushes (before Linux 5.5)", name(disk)))
        };
        self.disks.iter().map(of_disk).sum()
    }

    /// Volatile if any disk that does the work reports so. Fails when one does not tell.
    pub fn write_cache(&self) -> Result<WriteCache, String> {
        let mut worst = WriteCache::Through;
        for disk in &self.disks {
            let path = disk.join("queue/write_cache");
            let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            let cache = parse_write_cache(&text);
            if cache.ok_or_else(|| format!("{}: `{}`", path.display(), text.trim()))? == WriteCache::Back {
                worst = WriteCache::Back;
            }
        }
        Ok(worst)
    }
}

fn name(folder: &Path) -> String {
    folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The disks below a device-mapper or RAID device, or the disk itself.
fn workers(disk: &Path, depth: u32, found: &mut Vec<PathBuf>) {
    /// Mappings are stacked a few deep; a loop in the tree must not hang us.
    const DEEPEST: u32 = 8;
    let slaves: Vec<PathBuf> = fs::read_dir(disk.join("slaves"))
        .map(|entries| entries.flatten().filter_map(|entry| fs::canonicalize(entry.path()).ok()).collect())
        .unwrap_or_default();
    if slaves.is_empty() || depth >= DEEPEST {
        if !found.iter().any(|known| known == disk) {
            found.push(disk.to_owned());
        }
        return;
    }
    for slave in slaves {
        let whole = match (slave.join("partition").exists(), slave.parent()) {
            (true, Some(parent)) => parent.to_owned(),
            _ => slave,
        };
        workers(&whole, depth + 1, found);
    }
}

fn read_stat(folder: &Path) -> Result<Stat, String> {
    let path = folder.join("stat");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    parse_stat(&text).ok_or_else(|| format!("{}: not the counters of a block device", path.display()))
}

/// A `stat` file: eleven fields at least, seventeen with flushes.
pub fn parse_stat(text: &str) -> Option<Stat> {
    const SECTOR: u64 = 512;
    let fields: Vec<u64> = text.split_whitespace().map(|field| field.parse().ok()).collect::<Option<_>>()?;
    if fields.len() < 11 {
        return None;
    }
    Some(Stat {
        read_bytes: fields.get(2)?.saturating_mul(SECTOR),
        written_bytes: fields.get(6)?.saturating_mul(SECTOR),
        flushes: fields.get(15).copied(),
    })
}

/// Parses a `queue/write_cache` file; `None` for another text.
pub fn parse_write_cache(text: &str) -> Option<WriteCache> {
    match text.trim() {
        "write back" => Some(WriteCache::Back),
        "write through" => Some(WriteCache::Through),
        _ => None,
    }
}

/// Numbers of the device that the mount of `path` names as its source.
fn mounted_from(path: &Path) -> Result<(u32, u32), String> {
    let table = fs::read("/proc/self/mountinfo").map_err(|error| format!("/proc/self/mountinfo: {error}"))?;
    let real = fs::canonicalize(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let all = mounts::parse(&table);
    let on = all.iter().filter(|mount| real.starts_with(&mount.point));
    let mount = on.max_by_key(|mount| mount.point.len()).ok_or("no mount holds the folder")?;
    let unknown = || format!("{} on {} has no block device of its own", mount.kind, mount.point);
    if !mount.source.starts_with("/dev/") {
        return Err(unknown());
    }
    let device = fs::metadata(&mount.source).map_err(|_| unknown())?.rdev();
    match numbers(device) {
        (0, _) => Err(unknown()),
        numbers => Ok(numbers),
    }
}

/// Major and minor as Linux packs them in 64 bits.
fn numbers(device: u64) -> (u32, u32) {
    let major = (device >> 8 & 0xfff) | (device >> 32 & 0xffff_f000);
    let minor = (device & 0xff) | (device >> 12 & 0xffff_ff00);
    (u32::try_from(major).unwrap_or(0), u32::try_from(minor).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use proptest::prelude::*;

    use super::*;

    const STAT: &str = "   70711    15430  9257522    34091    51653    49341 15820712    47713        3    \
                        19840    83240     9419       53  1186728     1181     4174      253\n";

    #[test]
    fn counters_are_read_by_place() {
        let stat = parse_stat(STAT).unwrap();
        assert_eq!(stat.read_bytes, 9_257_522 * 512);
        assert_eq!(stat.written_bytes, 15_820_712 * 512);
        assert_eq!(stat.flushes, Some(4174));
        let old = "1 2 3 4 5 6 7 8 9 10 11";
        assert_eq!(
            parse_stat(old),
            Some(Stat { read_bytes: 3 * 512, written_bytes: 7 * 512, flushes: None })
        );
        assert_eq!(parse_stat("1 2 3"), None);
        assert_eq!(parse_stat("1 2 3 4 5 6 7 8 9 10 x"), None);
    }

    proptest! {
        #[test]
        fn junk_is_no_counter(text in ".*") {
            let _ = (parse_stat(&text), parse_write_cache(&text));
        }
    }

    /// A planted disk `sda` with a partition `sda1`, and `dm-0` on that partition.
    fn planted(stat: &str, cache: &str) -> tempfile::TempDir {
        let sys = tempfile::tempdir().unwrap();
        let at = |path: &str| sys.path().join(path);
        for folder in ["dev/block", "block/sda/queue", "block/sda/sda1", "block/dm-0/slaves"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        for (path, text) in [
            ("block/sda/stat", stat),
            ("block/sda/queue/write_cache", cache),
            ("block/sda/sda1/stat", "1 2 3 4 5 6 7 8 9 10 11"),
            ("block/sda/sda1/partition", "1"),
            ("block/dm-0/stat", STAT),
        ] {
            fs::write(at(path), text).unwrap();
        }
        symlink("../../block/sda/sda1", at("dev/block/8:1")).unwrap();
        symlink("../../block/dm-0", at("dev/block/253:0")).unwrap();
        symlink("../../sda/sda1", at("block/dm-0/slaves/sda1")).unwrap();
        sys
    }

    #[test]
    fn partitions_count_bytes_and_disks_count_flushes() {
        let sys = planted(STAT, "write back\n");
        let device = Device::numbered(sys.path(), (8, 1)).unwrap();
        assert_eq!(device.name, "sda1");
        assert_eq!(device.stat().unwrap().read_bytes, 3 * 512);
        assert_eq!(device.flushes(), Ok(4174));
        assert_eq!(device.write_cache(), Ok(WriteCache::Back));
    }

    #[test]
    fn mapped_devices_ask_the_disks_below() {
        let sys = planted(STAT, "write through\n");
        let device = Device::numbered(sys.path(), (253, 0)).unwrap();
        assert_eq!(device.name, "dm-0");
        assert_eq!(device.flushes(), Ok(4174));
        assert_eq!(device.write_cache(), Ok(WriteCache::Through));
    }

    #[test]
    fn what_is_missing_has_a_reason() {
        let sys = planted("1 2 3 4 5 6 7 8 9 10 11", "none\n");
        let device = Device::numbered(sys.path(), (8, 1)).unwrap();
        assert!(device.flushes().unwrap_err().contains("does not count flushes"));
        assert!(device.write_cache().unwrap_err().contains("`none`"));
        assert!(Device::numbered(sys.path(), (9, 9)).unwrap_err().contains("9:9"));
    }
}
