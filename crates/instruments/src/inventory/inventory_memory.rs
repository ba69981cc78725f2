//! Memory: size, modules, channels, speed, error correction, huge pages, swap.
//!
//! Sizes in B. `memory.mts` is transfers per second (1/s), so DDR4-2666 is 2.666e9. `memory.bytes` is MemTotal: the
//! memory that the kernel can give, which is less than what is installed.

use model::{Fact, Unit};

use super::scan::Scan;
use crate::system_files::dimm::{self, filled};
use crate::system_files::root::ABSENT;
use crate::system_files::smbios::{self, Module, Structure};
use crate::system_files::{Root, Sheet, text, virt};

pub static INSTRUMENT: &Scan =
    &Scan::new("inventory-memory", "memory: size, modules, channels, speed, huge pages, swap", scan);

const MEMINFO: &str = "/proc/meminfo";
/// The raw SMBIOS tables; readable by root only.
pub const TABLES: &str = "/sys/firmware/dmi/tables/DMI";

pub fn scan(root: &Root) -> Vec<Fact> {
    let mut sheet = Sheet::new(root);
    meminfo(&mut sheet);
    modules(&mut sheet);
    pages(&mut sheet);
    edac(&mut sheet);
    sheet.done()
}

fn meminfo(sheet: &mut Sheet<'_>) {
    let fields = [
        ("memory.bytes", "MemTotal"),
        ("memory.available.bytes", "MemAvailable"),
        ("memory.swap.bytes", "SwapTotal"),
        ("memory.hugepage.bytes", "Hugepagesize"),
    ];
    match sheet.root.read(MEMINFO) {
        Ok(text) => {
            let map = text::pairs(&text, ':');
            for (key, name) in fields {
                match map.get(name).and_then(|value| text::size(value)) {
                    Some(bytes) => sheet.count(key, bytes, Unit::Byte, MEMINFO),
                    None => sheet.unknown(key, MEMINFO, ABSENT),
                }
            }
            // Only kernels that cannot map all memory tell it apart.
            for (key, name) in [("memory.low.bytes", "LowTotal"), ("memory.high.bytes", "HighTotal")] {
                if let Some(bytes) = map.get(name).and_then(|value| text::size(value)) {
                    sheet.count(key, bytes, Unit::Byte, MEMINFO);
                }
            }
        }
        Err(why) => fields.iter().for_each(|(key, _)| sheet.unknown(key, MEMINFO, &why)),
    }
}

/// The SMBIOS tables. Fails with the reason why they cannot be read.
pub fn tables(root: &Root) -> Result<Vec<Structure>, String> {
    match root.bytes(TABLES) {
        Ok(bytes) => Ok(smbios::parse(&bytes)),
        Err(why) if why == ABSENT => Err("this system has no DMI tables".to_owned()),
        Err(why) => Err(why),
    }
}

const BY_DMI: [&str; 8] = [
    "memory.installed.bytes",
    "memory.channels",
    "memory.channels.empty",
    "memory.mts",
    "memory.slots",
    "memory.max.bytes",
    "memory.ecc",
    "memory.layout",
];

fn modules(sheet: &mut Sheet<'_>) {
    let table = match tables(sheet.root) {
        Ok(table) => table,
        Err(why) => return BY_DMI.iter().for_each(|key| sheet.unknown(key, TABLES, &why)),
    };
    let from = sheet.len();
    let arrays = smbios::arrays(&table);
    let ours =
        |module: &Module| arrays.is_empty() || arrays.iter().any(|array| module.array == Some(array.handle));
    let all: Vec<Module> = smbios::modules(&table).into_iter().filter(ours).collect();
    installed(sheet, &all);
    let source = format!("{TABLES} type 16");
    if arrays.is_empty() {
        for key in ["memory.slots", "memory.max.bytes", "memory.ecc"] {
            sheet.unknown(key, &source, "the tables describe no memory array");
        }
    } else {
        let slots = arrays.iter().map(|array| u64::from(array.slots)).sum();
        sheet.count("memory.slots", slots, Unit::Count, &source);
        let most: Option<u64> = arrays.iter().map(|array| array.max_bytes).sum();
        #[expect(clippy::cast_precision_loss, reason = "a size in bytes, far below 2^53 in steps of 1 KiB")]
        let most = most.map(|bytes| bytes as f64);
        sheet.number_or("memory.max.bytes", most, Unit::Byte, &source, "the firmware does not say");
        let ecc = arrays.iter().find_map(|array| array.ecc).map(str::to_owned);
        sheet.text_or("memory.ecc", ecc, &source, "the firmware does not say");
    }
    if virt::is_virtual(sheet.root) {
        sheet.paravirtual(from, &[]);
    }
}

fn installed(sheet: &mut Sheet<'_>, all: &[Module]) {
    let source = format!("{TABLES} type 17");
    let present: Vec<&Module> = all.iter().filter(|module| filled(module)).collect();
    if present.is_empty() {
        let keys = [
            "memory.installed.bytes",
            "memory.channels",
            "memory.channels.empty",
            "memory.mts",
            "memory.layout",
        ];
        return keys.iter().for_each(|key| sheet.unknown(key, &source, "the tables list no module"));
    }
    let bytes = present.iter().filter_map(|module| module.bytes).fold(0u64, u64::saturating_add);
    sheet.count("memory.installed.bytes", bytes, Unit::Byte, &source);
    sheet.count("memory.modules", present.len() as u64, Unit::Count, &source);
    let count = |of: Option<usize>| of.map(|count| u32::try_from(count).map_or(f64::NAN, f64::from));
    let why = "the slot names do not say which channel they are on";
    sheet.number_or("memory.channels", count(dimm::channels(all)), Unit::Count, &source, why);
    sheet.number_or("memory.channels.empty", count(dimm::empty_channels(all)), Unit::Count, &source, why);
    let slowest = |speed: fn(&Module) -> Option<u32>| present.iter().filter_map(|module| speed(module)).min();
    let rate = |mts: u32| f64::from(mts) * 1e6;
    let configured = slowest(|module| module.configured_mts.or(module.mts));
    sheet.number_or("memory.mts", configured.map(rate), Unit::PerSec, &source, "the firmware does not say");
    if let Some(rated) = slowest(|module| module.mts) {
        sheet.number("memory.mts.rated", rate(rated), Unit::PerSec, &source);
    }
    if let Some(kind) = present.iter().find_map(|module| module.kind) {
        sheet.text("memory.type", kind, &source);
    }
    sheet.text("memory.layout", dimm::layout(all), &source);
    for (index, module) in present.iter().enumerate() {
        let place = module.locator.clone().unwrap_or_else(|| format!("slot {index}"));
        let text = format!("{place}: {}", dimm::describe(module));
        sheet.text(&format!("memory.module.{index}"), text, &source);
    }
}

fn pages(sheet: &mut Sheet<'_>) {
    let thp = "/sys/kernel/mm/transparent_hugepage";
    for (key, name) in [("memory.thp", "enabled"), ("memory.thp.defrag", "defrag")] {
        let path = format!("{thp}/{name}");
        match sheet.root.read(&path) {
            Ok(text) => sheet.text_or(key, text::chosen(&text), &path, "not in the expected form"),
            Err(why) => sheet.unknown(key, &path, &why),
        }
    }
    let pools = "/sys/kernel/mm/hugepages";
    for pool in sheet.root.list(pools) {
        let Some(size) = pool.strip_prefix("hugepages-") else { continue };
        let path = format!("{pools}/{pool}/nr_hugepages");
        sheet.file_number(&format!("memory.hugepages.{size}"), &path, 1.0, Unit::Count);
    }
    let vm = "/proc/sys/vm";
    sheet.file_number("memory.swappiness", &format!("{vm}/swappiness"), 1.0, Unit::Count);
    sheet.file_number("memory.overcommit", &format!("{vm}/overcommit_memory"), 1.0, Unit::Count);
    sheet.file("numa.balancing", "/proc/sys/kernel/numa_balancing");
}

/// Memory controllers of the kernel's error detection, where the driver is loaded.
fn edac(sheet: &mut Sheet<'_>) {
    let folder = "/sys/devices/system/edac/mc";
    let controllers: Vec<String> =
        sheet.root.list(folder).into_iter().filter(|name| name.starts_with("mc")).collect();
    if controllers.is_empty() {
        return;
    }
    sheet.count("memory.controllers", controllers.len() as u64, Unit::Count, folder);
    if let Some(name) =
        controllers.iter().find_map(|name| sheet.root.maybe(&format!("{folder}/{name}/mc_name")))
    {
        sheet.text("memory.controller", name, folder);
    }
}
