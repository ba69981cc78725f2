//! PCI devices of note and the machine's slots: their kind, and how wide and fast their links run.
//!
//! Links in B/s of payload each way. Bridges, timers and other chipset parts are left out; each virtual function is
//! listed as a device. `gpu.names` lists display controllers and accelerators.

use model::{Fact, Unit};

use super::scan::Scan;
use crate::inventory::{inventory_disk as disk, inventory_memory as memory};
use crate::system_files::pci::{self, Device};
use crate::system_files::root::ABSENT;
use crate::system_files::smbios::{self, Slot};
use crate::system_files::{Root, Sheet, virt};
use model::fact::HYPERVISOR;

pub static INSTRUMENT: &Scan =
    &Scan::new("inventory-pcie", "PCI devices of note, their links, and slots", scan);

const PCI: &str = "/sys/bus/pci/devices";
/// Most devices that are listed; machines with virtual functions have hundreds, and further ones are only counted.
const MOST: usize = 64;

pub fn scan(root: &Root) -> Vec<Fact> {
    let mut sheet = Sheet::new(root);
    let devices = pci::devices(root);
    let ids: Vec<pci::Id> = devices.iter().map(|device| device.id).collect();
    let names = pci::names(root, &ids);
    if root.exists(PCI) {
        sheet.count("pcie.devices", devices.len() as u64, Unit::Count, PCI);
    } else {
        sheet.unknown("pcie.devices", PCI, ABSENT);
    }
    for device in devices.iter().take(MOST) {
        one(&mut sheet, device, &names);
    }
    let is_gpu = |device: &&Device| device.code >> 16 == 3 || device.code >> 16 == 0x12;
    let gpus: Vec<String> = devices.iter().filter(is_gpu).map(|device| names.name(device.id)).collect();
    if root.exists(PCI) {
        let list = if gpus.is_empty() { "none".to_owned() } else { gpus.join(", ") };
        sheet.text("gpu.names", list, PCI);
    }
    slots(&mut sheet);
    sheet.done()
}

fn one(sheet: &mut Sheet<'_>, device: &Device, names: &pci::Names) {
    let key = |what: &str| format!("pcie.{}.{what}", device.address);
    let folder = format!("{PCI}/{}", device.address);
    sheet.text(&key("name"), names.name(device.id), &folder);
    sheet.text(&key("class"), device.class, &format!("{folder}/class"));
    if let Some(driver) = &device.driver {
        sheet.text(&key("driver"), driver.clone(), &format!("{folder}/driver"));
    }
    if let Some(link) = &device.link {
        let from = sheet.len();
        disk::pcie(sheet, &key("link"), link, &folder);
        if virt::is_virtual(sheet.root) {
            sheet.paravirtual(from, &[]);
        }
    }
    if let Some(node) = device.numa.and_then(|node| u64::try_from(node).ok()) {
        sheet.count(&key("numa_node"), node, Unit::Count, &format!("{folder}/numa_node"));
    }
}

/// `2 (x16), 1 (x8)`: slots for cards by their lanes, used or not.
fn slots(sheet: &mut Sheet<'_>) {
    let source = format!("{} type 9", memory::TABLES);
    let table = match memory::tables(sheet.root) {
        Ok(table) => table,
        Err(why) => return sheet.unknown("pcie.slots", &source, &why),
    };
    let all = smbios::slots(&table);
    if all.is_empty() {
        return sheet.unknown("pcie.slots", &source, "the tables list no slot");
    }
    sheet.text("pcie.slots", words(&all), &source);
    let used = all.iter().filter(|slot| slot.used == Some(true)).count() as u64;
    sheet.count("pcie.slots.used", used, Unit::Count, &source);
    if virt::is_virtual(sheet.root) {
        sheet.because(HYPERVISOR);
    }
}

fn words(all: &[Slot]) -> String {
    let mut kinds: Vec<(String, usize)> = Vec::new();
    for slot in all {
        let lanes =
            slot.lanes.map_or_else(|| slot.kind.unwrap_or("other").to_owned(), |lanes| format!("x{lanes}"));
        match kinds.iter_mut().find(|(kind, _)| *kind == lanes) {
            Some((_, count)) => *count += 1,
            None => kinds.push((lanes, 1)),
        }
    }
    kinds.iter().map(|(kind, count)| format!("{count} ({kind})")).collect::<Vec<_>>().join(", ")
}
