//! Disks: model, size, bus, link, scheduler, queues, write cache; and the file system of the store's directory.
//!
//! Sizes in B, links in B/s of payload. Loop, RAM and empty devices are left out; of mapped and RAID devices only
//! size and members are listed. Nothing is read from a device itself, and no serial number is kept.

use model::{Fact, Unit};

use super::scan::Scan;
use crate::system_files::mounts::{self, Mount};
use crate::system_files::root::ABSENT;
use crate::system_files::{Root, Sheet, pci, text};

pub static INSTRUMENT: &Scan = &Scan::new(
    "inventory-disk",
    "disks: model, bus, link, scheduler, write cache; the store's file system",
    scan,
);

const BLOCK: &str = "/sys/block";
const MOUNTS: &str = "/proc/self/mountinfo";
/// The kernel counts `size` in these, whatever the device's own blocks are.
const SECTOR: u64 = 512;

pub fn scan(root: &Root) -> Vec<Fact> {
    let mut sheet = Sheet::new(root);
    let names = names(root);
    if names.is_empty() {
        let why = if root.exists(BLOCK) { "no disk is visible here" } else { ABSENT };
        sheet.unknown("disk.names", BLOCK, why);
    } else {
        sheet.text("disk.names", names.join(" "), BLOCK);
    }
    for name in &names {
        disk(&mut sheet, name);
    }
    file_system(&mut sheet);
    sheet.done()
}

/// Disks, and what is made of them, by the kernel's names.
pub fn names(root: &Root) -> Vec<String> {
    root.list(BLOCK).into_iter().filter(|name| listed(root, name)).collect()
}

fn listed(root: &Root, name: &str) -> bool {
    let dull = ["loop", "ram", "zram", "nbd", "fd", "sr"];
    let dull = dull
        .iter()
        .any(|kind| name.strip_prefix(kind).is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit())));
    !dull && root.number(&format!("{BLOCK}/{name}/size")).is_some_and(|sectors| sectors > 0)
}

/// The bus of a device, from its path in the device tree.
pub fn bus(name: &str, path: &str) -> Option<&'static str> {
    let has = |part: &str| path.contains(part);
    let by_name =
        [("nvme", "nvme"), ("mmcblk", "mmc"), ("dm-", "device mapper"), ("md", "RAID"), ("pmem", "pmem")];
    if let Some((_, bus)) = by_name.iter().find(|(prefix, _)| name.starts_with(prefix)) {
        return Some(bus);
    }
    let by_path = [
        ("/usb", "usb"),
        ("/virtio", "virtio"),
        ("/vbd-", "xen"),
        ("/VMBUS", "hyperv"),
        ("/vmbus", "hyperv"),
        ("/ata", "sata"),
        ("/end_device-", "sas"),
        ("/rport-", "fibre channel"),
        ("/session", "iscsi"),
        ("/host", "scsi"),
    ];
    by_path.iter().find(|(part, _)| has(part)).map(|(_, bus)| *bus)
}

fn disk(sheet: &mut Sheet<'_>, name: &str) {
    let root = sheet.root;
    let folder = format!("{BLOCK}/{name}");
    let key = |what: &str| format!("disk.{name}.{what}");
    let place = root.resolve(&folder).unwrap_or_default();
    let bus = bus(name, &format!("/{place}"));
    let virtual_bus = matches!(bus, Some("virtio" | "xen" | "hyperv"));
    let from = sheet.len();
    if let Some(sectors) = root.number(&format!("{folder}/size")).and_then(|n| u64::try_from(n).ok()) {
        sheet.count(&key("bytes"), sectors.saturating_mul(SECTOR), Unit::Byte, &format!("{folder}/size"));
    }
    sheet.text_or(&key("bus"), bus.map(str::to_owned), &folder, "not a known kind of bus");
    if matches!(bus, Some("device mapper" | "RAID")) {
        let members = root.list(&format!("{folder}/slaves")).join(" ");
        sheet.text(&key("members"), members, &format!("{folder}/slaves"));
        sheet.maybe(&key("level"), &format!("{folder}/md/level"));
        return;
    }
    let model = format!("{folder}/device/model");
    let model_text = root.maybe(&model).or_else(|| root.maybe(&format!("{folder}/device/name")));
    let why = if virtual_bus { "a virtual disk has none" } else { ABSENT };
    sheet.text_or(&key("model"), model_text.map(|text| text::tidy(&text)), &model, why);
    // Of PCI-attached disks this file holds a number, not a name.
    let vendor = format!("{folder}/device/vendor");
    if let Some(name) = root.maybe(&vendor).filter(|name| !name.starts_with("0x")) {
        sheet.text(&key("vendor"), name, &vendor);
    }
    for file in ["firmware_rev", "rev"] {
        sheet.maybe(&key("firmware"), &format!("{folder}/device/{file}"));
    }
    queue(sheet, name, &folder);
    link(sheet, name, &folder, &place, bus);
    let node = root.number(&format!("{folder}/device/device/numa_node")).filter(|&node| node >= 0);
    if let Some(node) = node.and_then(|node| u64::try_from(node).ok()) {
        sheet.count(&key("numa_node"), node, Unit::Count, &format!("{folder}/device/device/numa_node"));
    }
    if virtual_bus {
        sheet.paravirtual(from, &[".scheduler", ".read_ahead", ".queue_depth", ".bus"]);
    }
}

fn queue(sheet: &mut Sheet<'_>, name: &str, folder: &str) {
    let key = |what: &str| format!("disk.{name}.{what}");
    let file = |what: &str| format!("{folder}/queue/{what}");
    sheet.file_flag(&key("rotational"), &file("rotational"));
    match sheet.root.read(&file("scheduler")) {
        Ok(list) => {
            sheet.text_or(
                &key("scheduler"),
                text::chosen(&list),
                &file("scheduler"),
                "not in the expected form",
            );
        }
        Err(why) => sheet.unknown(&key("scheduler"), &file("scheduler"), &why),
    }
    for (what, name, scale, unit) in [
        ("logical_block", "logical_block_size", 1.0, Unit::Byte),
        ("physical_block", "physical_block_size", 1.0, Unit::Byte),
        ("queue_depth", "nr_requests", 1.0, Unit::Count),
        ("read_ahead", "read_ahead_kb", 1024.0, Unit::Byte),
    ] {
        sheet.file_number(&key(what), &file(name), scale, unit);
    }
    let queues = sheet.root.list(&format!("{folder}/mq")).len() as u64;
    if queues > 0 {
        sheet.count(&key("queues"), queues, Unit::Count, &format!("{folder}/mq"));
    }
    sheet.file(&key("write_cache"), &file("write_cache"));
    if let Some(fua) = sheet.root.number(&file("fua")) {
        sheet.flag(&key("fua"), fua == 1, &file("fua"));
    }
    let depth = format!("{folder}/device/queue_depth");
    if sheet.root.exists(&depth) {
        sheet.file_number(&key("device_queue_depth"), &depth, 1.0, Unit::Count);
    }
}

/// SATA: the link's own line rate (8b/10b). NVMe: the PCIe link of its controller.
fn link(sheet: &mut Sheet<'_>, name: &str, folder: &str, place: &str, bus: Option<&str>) {
    let key = format!("disk.{name}.link");
    match bus {
        Some("nvme") => {
            let controller = format!("{folder}/device/device");
            match pci::link(sheet.root, &controller) {
                Some(link) => pcie(sheet, &key, &link, &controller),
                None => sheet.unknown(&key, &controller, "the device reports no PCIe link"),
            }
        }
        Some("sata") => {
            let port = place.split('/').find(|part| part.starts_with("ata"));
            let number = port.and_then(|port| port.strip_prefix("ata")).unwrap_or("");
            let path = format!("/sys/class/ata_link/link{number}/sata_spd");
            match sheet.root.maybe(&path).and_then(|text| text::giga(&text)) {
                Some(bits) => sheet.number(&key, bits / 10.0, Unit::BytesPerSec, &path),
                None => sheet.unknown(&key, &path, ABSENT),
            }
        }
        Some("virtio" | "xen" | "hyperv") => sheet.unknown(&key, folder, "a virtual disk has none"),
        _ => {}
    }
}

/// Payload rate, and the link in words.
pub fn pcie(sheet: &mut Sheet<'_>, key: &str, link: &pci::Link, source: &str) {
    sheet.number(key, link.bytes_per_sec(), Unit::BytesPerSec, source);
    let (rate, lanes) = (link.rate / 1e9, link.lanes);
    let mut words = format!("{rate} GT/s x{lanes}");
    if let (Some(most), Some(wide)) = (link.max_rate, link.max_lanes)
        && (most > link.rate || wide > lanes)
    {
        words.push_str(&format!(" of {} GT/s x{wide}", most / 1e9));
    }
    sheet.text(&format!("{key}.pcie"), words, source);
}

/// The file system of the store's directory and of `/`, and the disk below.
fn file_system(sheet: &mut Sheet<'_>) {
    let mounts = match sheet.root.bytes(MOUNTS) {
        Ok(bytes) => mounts::parse(&bytes),
        Err(why) => return sheet.unknown("fs.root.type", MOUNTS, &why),
    };
    if let Some(mount) = mounts::of_path(&mounts, "/") {
        mounted(sheet, "fs.root", mount);
    }
    let Some(dir) = sheet.root.dir.clone() else { return };
    let real = std::fs::canonicalize(&dir).unwrap_or(dir);
    let path = real.to_string_lossy().into_owned();
    match mounts::of_path(&mounts, &path) {
        Some(mount) => {
            sheet.text("fs.store.path", path, "the chosen directory");
            mounted(sheet, "fs.store", mount);
            space(sheet, &real);
        }
        None => sheet.unknown("fs.store.type", MOUNTS, "no mount holds the directory"),
    }
}

/// Size and room of the running machine's file system.
fn space(sheet: &mut Sheet<'_>, dir: &std::path::Path) {
    if !sheet.root.live {
        return;
    }
    match sys::direct::file_system(dir) {
        Ok(found) => {
            sheet.count("fs.store.bytes", found.total_bytes, Unit::Byte, "statfs");
            sheet.count("fs.store.free.bytes", found.free_bytes, Unit::Byte, "statfs");
        }
        Err(error) => sheet.unknown("fs.store.free.bytes", "statfs", &error.to_string()),
    }
}

fn mounted(sheet: &mut Sheet<'_>, key: &str, mount: &Mount) {
    sheet.text(&format!("{key}.type"), mount.kind.clone(), MOUNTS);
    sheet.text(&format!("{key}.source"), mount.source.clone(), MOUNTS);
    sheet.text(&format!("{key}.point"), mount.point.clone(), MOUNTS);
    let options = format!("{},{}", mount.options, mount.super_options);
    sheet.text(&format!("{key}.options"), options.trim_matches(',').to_owned(), MOUNTS);
    let device = format!("/sys/dev/block/{}", mount.device);
    match sheet.root.resolve(&device).and_then(|path| holder(&path)) {
        Some(disk) => sheet.text(&format!("{key}.disk"), disk, &device),
        None => sheet.unknown(&format!("{key}.disk"), &device, "no block device of this system"),
    }
}

/// The whole disk in `.../block/sda/sda1`.
fn holder(path: &str) -> Option<String> {
    let below = path.rsplit_once("/block/").map_or(path, |(_, rest)| rest);
    let name = below.split('/').next()?;
    Some(name.to_owned()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buses_are_read_off_the_path() {
        assert_eq!(bus("sda", "/devices/pci0000:00/0000:00:1f.2/ata1/host0/block/sda"), Some("sata"));
        assert_eq!(bus("vda", "/devices/pci0000:00/0000:00:02.0/virtio1/block/vda"), Some("virtio"));
        assert_eq!(bus("nvme0n1", "/devices/pci0000:00/nvme/nvme0/nvme0n1"), Some("nvme"));
        assert_eq!(bus("sdb", "/devices/pci0000:00/usb2/2-1/host6/block/sdb"), Some("usb"));
        assert_eq!(bus("xyz", "/devices/virtual/block/xyz"), None);
    }

    #[test]
    fn partitions_belong_to_their_disk() {
        assert_eq!(holder("sys/devices/pci/ata1/block/sda/sda1").as_deref(), Some("sda"));
        assert_eq!(holder("sys/devices/virtual/block/dm-0").as_deref(), Some("dm-0"));
    }
}
