//! PCI: names from pci.ids where the system has it, class names, and links of devices.

use std::collections::BTreeMap;

use super::root::Root;
use super::text;

/// `(vendor, device)` numbers.
pub type Id = (u16, u16);

/// Names found in a pci.ids file; both vendor and device where known.
#[derive(Clone, Debug, Default)]
pub struct Names(BTreeMap<Id, String>, BTreeMap<u16, String>);

impl Names {
    /// Looks `wanted` up in one pass over the file's bytes.
    pub fn find(bytes: &[u8], wanted: &[Id]) -> Names {
        let mut names = Names::default();
        let mut vendor = None;
        for line in bytes.split(|&byte| byte == b'\n') {
            match line {
                [b'#', ..] | [] | [b'\t', b'\t', ..] => {}
                [b'\t', rest @ ..] => {
                    if let (Some(vendor), Some((device, name))) = (vendor, entry(rest))
                        && wanted.contains(&(vendor, device))
                    {
                        names.0.insert((vendor, device), name);
                    }
                }
                // The list of classes follows that of vendors.
                [b'C', b' ', ..] => break,
                line => {
                    vendor = hex(line).filter(|vendor| wanted.iter().any(|id| id.0 == *vendor));
                    if let Some((vendor, name)) = vendor.and_then(|_| entry(line)) {
                        names.1.insert(vendor, name);
                    }
                }
            }
        }
        names
    }

    /// `Intel Corporation Ethernet Controller X710`, or the numbers.
    pub fn name(&self, id: Id) -> String {
        match (self.1.get(&id.0), self.0.get(&id)) {
            (Some(vendor), Some(device)) => format!("{vendor} {device}"),
            (Some(vendor), None) => format!("{vendor} device {:04x}", id.1),
            _ => match known_vendor(id.0) {
                Some(vendor) => format!("{vendor} device {:04x}", id.1),
                None => format!("{:04x}:{:04x}", id.0, id.1),
            },
        }
    }
}

fn hex(line: &[u8]) -> Option<u16> {
    u16::from_str_radix(std::str::from_utf8(line.get(..4)?).ok()?, 16).ok()
}

fn entry(line: &[u8]) -> Option<(u16, String)> {
    Some((hex(line)?, text::tidy(&String::from_utf8_lossy(line.get(4..)?))))
}

/// The makers that servers hold most, for systems without pci.ids.
fn known_vendor(id: u16) -> Option<&'static str> {
    Some(match id {
        0x1002 | 0x1022 => "AMD",
        0x1011 => "DEC",
        0x102b => "Matrox",
        0x1077 => "QLogic",
        0x10de => "NVIDIA",
        0x10ec => "Realtek",
        0x1234 => "QEMU",
        0x1414 => "Microsoft",
        0x144d => "Samsung",
        0x14e4 => "Broadcom",
        0x15ad => "VMware",
        0x15b3 => "Mellanox",
        0x15b7 => "SanDisk",
        0x177d => "Cavium",
        0x1912 => "Renesas",
        0x19e5 => "Huawei",
        0x1a03 => "ASPEED",
        0x1af4 => "Virtio",
        0x1b36 => "Red Hat",
        0x1c5c => "SK hynix",
        0x1d0f => "Amazon",
        0x1e0f => "Kioxia",
        0x1344 => "Micron",
        0x8086 => "Intel",
        _ => return None,
    })
}

/// The name of a device class that is listed; `None` for others.
pub fn class(code: u32) -> Option<&'static str> {
    Some(match (code >> 16, code >> 8 & 0xff) {
        (0x01, 0x04) => "RAID controller",
        (0x01, 0x06) => "SATA controller",
        (0x01, 0x07) => "SAS controller",
        (0x01, 0x08) => "NVMe controller",
        (0x01, _) => "storage controller",
        (0x02, 0x07) => "InfiniBand controller",
        (0x02, _) => "network controller",
        (0x03, _) => "display controller",
        (0x0b, 0x40) => "co-processor",
        (0x10, _) => "encryption controller",
        (0x12, _) => "processing accelerator",
        _ => return None,
    })
}

/// A listed device.
#[derive(Clone, Debug, PartialEq)]
pub struct Device {
    pub address: String,
    pub id: Id,
    pub code: u32,
    pub class: &'static str,
    pub driver: Option<String>,
    /// Current and maximum link.
    pub link: Option<Link>,
    pub numa: Option<i64>,
}

/// A PCIe link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Transfers per second and lane (8e9 for PCIe 3).
    pub rate: f64,
    pub lanes: u32,
    pub max_rate: Option<f64>,
    pub max_lanes: Option<u32>,
}

impl Link {
    /// Payload bytes a second each way: 8b/10b coding up to 5 GT/s, 128b/130b above (FLIT of PCIe 6 not counted).
    pub fn bytes_per_sec(&self) -> f64 {
        let coding = if self.rate > 5e9 { 128.0 / 130.0 } else { 0.8 };
        self.rate * f64::from(self.lanes) * coding / 8.0
    }
}

/// The link of the PCI device in `folder`.
pub fn link(root: &Root, folder: &str) -> Option<Link> {
    let rate = |name: &str| root.maybe(&format!("{folder}/{name}")).and_then(|text| text::giga(&text));
    let lanes = |name: &str| {
        let lanes = root.number(&format!("{folder}/{name}")).and_then(|lanes| u32::try_from(lanes).ok());
        lanes.filter(|lanes| (1..=32).contains(lanes))
    };
    Some(Link {
        rate: rate("current_link_speed")?,
        lanes: lanes("current_link_width")?,
        max_rate: rate("max_link_speed"),
        max_lanes: lanes("max_link_width"),
    })
}

/// The devices of note, in order of address.
pub fn devices(root: &Root) -> Vec<Device> {
    let hex = |path: String| {
        let text = root.maybe(&path)?;
        u32::from_str_radix(text.trim_start_matches("0x"), 16).ok()
    };
    let read = |address: String| {
        let folder = format!("/sys/bus/pci/devices/{address}");
        let code = hex(format!("{folder}/class"))?;
        let class = class(code)?;
        let short = |name: &str| hex(format!("{folder}/{name}")).and_then(|id| u16::try_from(id).ok());
        Some(Device {
            id: (short("vendor")?, short("device")?),
            code,
            class,
            driver: root.link(&format!("{folder}/driver")),
            link: link(root, &folder),
            numa: root.number(&format!("{folder}/numa_node")).filter(|&node| node >= 0),
            address,
        })
    };
    root.list("/sys/bus/pci/devices").into_iter().filter_map(read).collect()
}

/// pci.ids in the places that distributions keep it.
pub fn names(root: &Root, wanted: &[Id]) -> Names {
    let places = ["/usr/share/misc/pci.ids", "/usr/share/hwdata/pci.ids"];
    let bytes = places.iter().find_map(|path| root.bytes(path).ok());
    bytes.map(|bytes| Names::find(&bytes, wanted)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_the_list_or_the_numbers() {
        let ids = b"# list\n8086  Intel Corporation\n\t1572  Ethernet Controller X710 for 10GbE SFP+\n\t\t8086 0000  Sub\n1af4  Red Hat, Inc.\n\t1041  Virtio 1.0 network device\nC 02  Network\n\t00  x\n";
        let names = Names::find(ids, &[(0x8086, 0x1572), (0x1af4, 0xffff)]);
        assert_eq!(names.name((0x8086, 0x1572)), "Intel Corporation Ethernet Controller X710 for 10GbE SFP+");
        assert_eq!(names.name((0x1af4, 0xffff)), "Red Hat, Inc. device ffff");
        assert_eq!(names.name((0x1d0f, 1)), "Amazon device 0001");
        assert_eq!(names.name((0xabcd, 1)), "abcd:0001");
    }

    #[test]
    fn a_link_has_a_ceiling() {
        let link = Link { rate: 8e9, lanes: 4, max_rate: None, max_lanes: None };
        assert!((link.bytes_per_sec() - 3.938e9).abs() < 1e6);
    }
}
