//! The disks of a booted node: by what they can be told apart, and why one must not be written to. Sizes are bytes.
//!
//! Left out are devices that are made of others (RAID, device mapper), and those without a medium.

use instruments::inventory::inventory_disk::names;
use instruments::system_files::mounts;
use instruments::system_files::{Root, text};
use model::Unit;
use model::format::quantity;
use serde::{Deserialize, Serialize};

const BLOCK: &str = "/sys/block";
/// The kernel counts `size` in these.
const SECTOR: u64 = 512;

/// A disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disk {
    /// As the kernel calls it: `sda`.
    pub name: String,
    pub model: Option<String>,
    /// Its serial number, else its world-wide name.
    pub serial: Option<String>,
    pub bytes: u64,
    /// Why it must not be written to; empty where nothing speaks against it.
    pub uses: Vec<String>,
}

impl Disk {
    /// The disk in words: `vda (model QEMU, serial SN1, 8.00 GiB)`.
    pub fn shown(&self) -> String {
        let word = |what: &str, text: &Option<String>| match text {
            Some(text) => format!("{what} {}, ", text.escape_debug()),
            None => format!("no {what}, "),
        };
        let size = quantity(self.bytes as f64, Unit::Byte);
        format!("{} ({}{}{size})", self.name, word("model", &self.model), word("serial", &self.serial))
    }

    /// True for the same disk at the same name.
    pub fn is_same(&self, other: &Disk) -> bool {
        let own = |disk: &Disk| (disk.name.clone(), disk.model.clone(), disk.serial.clone(), disk.bytes);
        own(self) == own(other)
    }
}

/// The running machine.
pub fn here() -> Root {
    Root::live()
}

/// The disks of a machine.
pub fn all(root: &Root) -> Vec<Disk> {
    let is_whole = |name: &String| !["dm-", "md"].iter().any(|kind| name.starts_with(kind));
    names(root).into_iter().filter(is_whole).map(|name| disk(root, name)).collect()
}

fn disk(root: &Root, name: String) -> Disk {
    let folder = format!("{BLOCK}/{name}");
    let sectors = root.number(&format!("{folder}/size")).and_then(|count| u64::try_from(count).ok());
    let first = |files: &[&str]| files.iter().find_map(|file| root.maybe(&format!("{folder}/{file}")));
    let tidy = |text: String| text::tidy(&text);
    Disk {
        model: first(&["device/model", "device/name"]).map(tidy),
        serial: first(&["serial", "device/serial"])
            .or_else(|| page_80(root, &folder))
            .or_else(|| first(&["wwid", "device/wwid"]))
            .map(tidy)
            .filter(|text| !text.is_empty()),
        bytes: sectors.unwrap_or(0).saturating_mul(SECTOR),
        uses: uses(root, &folder, &name),
        name,
    }
}

/// The serial number of a SCSI or SATA disk: a page of its own, with four bytes before it.
fn page_80(root: &Root, folder: &str) -> Option<String> {
    let page = root.bytes(&format!("{folder}/device/vpd_pg80")).ok()?;
    let text = String::from_utf8_lossy(page.get(4..)?);
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!text.is_empty()).then(|| text.to_owned())
}

/// The uses of the disk or a part of it, in words.
fn uses(root: &Root, folder: &str, name: &str) -> Vec<String> {
    let parts =
        root.list(folder).into_iter().filter(|part| root.exists(&format!("{folder}/{part}/partition")));
    let places = std::iter::once((name.to_owned(), folder.to_owned()))
        .chain(parts.map(|part| (part.clone(), format!("{folder}/{part}"))));
    let mounts = root.bytes("/proc/self/mountinfo").map(|bytes| mounts::parse(&bytes)).unwrap_or_default();
    let swaps = root.maybe("/proc/swaps").unwrap_or_default();
    let mut uses = Vec::new();
    if root.number(&format!("{folder}/ro")) == Some(1) {
        uses.push("it is write-protected".to_owned());
    }
    for (part, folder) in places {
        let device = root.maybe(&format!("{folder}/dev"));
        let mounted = mounts.iter().filter(|mount| Some(&mount.device) == device.as_ref());
        uses.extend(mounted.map(|mount| format!("{part} is mounted at {}", mount.point.escape_debug())));
        let holders = root.list(&format!("{folder}/holders"));
        uses.extend(holders.into_iter().map(|holder| format!("{part} is part of {holder}")));
        let path = format!("/dev/{part}");
        if swaps.lines().any(|line| line.split_whitespace().next() == Some(path.as_str())) {
            uses.push(format!("{part} is swap"));
        }
    }
    uses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disks_are_known_by_their_serial_numbers_and_what_uses_them_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &[u8]| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        for (name, sectors) in
            [("vda", "8"), ("sda", "16"), ("nvme0n1", "32"), ("dm-0", "4"), ("md0", "4"), ("sr0", "2")]
        {
            write(&format!("sys/block/{name}/size"), sectors.as_bytes());
        }
        write("sys/block/vda/serial", b"SN 1\n");
        write("sys/block/sda/device/vpd_pg80", b"\0\x80\0\x08  WD-12  ");
        write("sys/block/sda/device/model", b"WDC  WD40 \n");
        write("sys/block/sda/ro", b"1\n");
        write("sys/block/nvme0n1/wwid", b"eui.0025\n");
        write("sys/block/vda/vda1/partition", b"1\n");
        write("sys/block/vda/vda1/dev", b"254:1\n");
        write("sys/block/vda/vda2/partition", b"2\n");
        write("sys/block/vda/vda2/holders/dm-0", b"");
        write("sys/block/vda/vda3/partition", b"3\n");
        write("proc/swaps", b"Filename Type Size\n/dev/vda3 partition 1 0 -2\n");
        write("proc/self/mountinfo", b"29 1 254:1 / /mnt/a\\040b rw - ext4 /dev/vda1 rw\n");
        let all = all(&Root::at(dir.path()));
        let shown: Vec<String> = all.iter().map(Disk::shown).collect();
        assert_eq!(
            shown,
            [
                "nvme0n1 (no model, serial eui.0025, 16.0 KiB)",
                "sda (model WDC WD40, serial WD-12, 8.00 KiB)",
                "vda (no model, serial SN 1, 4.00 KiB)"
            ]
        );
        assert!(all[0].uses.is_empty());
        assert_eq!(all[1].uses, ["it is write-protected"]);
        assert_eq!(all[2].uses, ["vda1 is mounted at /mnt/a b", "vda2 is part of dm-0", "vda3 is swap"]);
        let other = Disk { serial: Some("SN 2".to_owned()), ..all[2].clone() };
        assert!(!other.is_same(&all[2]) && Disk { uses: Vec::new(), ..all[2].clone() }.is_same(&all[2]));
    }
}
