//! SMBIOS tables (DSP0134) of types 0, 1, 2, 3, 4, 7, 9, 16 and 17, read from the bytes of
//! `/sys/firmware/dmi/tables/DMI`.
//!
//! Total: a cut or lying table yields the structures that are whole. Sizes in B, speeds in MT/s or MHz as the
//! tables hold them; values that mean "unknown" become `None`. It does not judge whether the firmware is right.

use std::collections::BTreeMap;

/// More structures than any machine has; a guard against tables that run on.
const MOST: usize = 4096;

/// One structure: its formatted bytes (header included) and its strings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Structure {
    pub kind: u8,
    pub handle: u16,
    pub data: Vec<u8>,
    pub strings: Vec<String>,
}

impl Structure {
    pub fn u8(&self, offset: usize) -> Option<u8> {
        self.data.get(offset).copied()
    }

    pub fn u16(&self, offset: usize) -> Option<u16> {
        Some(u16::from_le_bytes(self.data.get(offset..offset.checked_add(2)?)?.try_into().ok()?))
    }

    pub fn u32(&self, offset: usize) -> Option<u32> {
        Some(u32::from_le_bytes(self.data.get(offset..offset.checked_add(4)?)?.try_into().ok()?))
    }

    pub fn u64(&self, offset: usize) -> Option<u64> {
        Some(u64::from_le_bytes(self.data.get(offset..offset.checked_add(8)?)?.try_into().ok()?))
    }

    /// The string whose number is at `offset`, unless it is a placeholder.
    pub fn string(&self, offset: usize) -> Option<String> {
        let number = usize::from(self.u8(offset)?);
        let text = self.strings.get(number.checked_sub(1)?)?.trim();
        Some(text.to_owned()).filter(|text| says_something(text))
    }
}

/// False for a manufacturer's placeholder in a DMI string.
pub fn says_something(text: &str) -> bool {
    const EMPTY: [&str; 16] = [
        "0123456789",
        "123456789",
        "not specified",
        "to be filled by o.e.m.",
        "default string",
        "none",
        "n/a",
        "unknown",
        "system manufacturer",
        "system product name",
        "o.e.m.",
        "no dimm",
        "not available",
        "not present",
        "xxxxxxxx",
        "empty",
    ];
    let low = text.trim().to_ascii_lowercase();
    !low.is_empty() && !EMPTY.contains(&low.as_str()) && !low.chars().all(|c| matches!(c, '0' | '.' | ' '))
}

/// The structures of a table, up to the end marker (type 127) or the first that is not whole.
pub fn parse(bytes: &[u8]) -> Vec<Structure> {
    let mut found = Vec::new();
    let mut rest = bytes;
    while found.len() < MOST
        && let Some((structure, after)) = next(rest)
    {
        rest = after;
        let end = structure.kind == 127;
        found.push(structure);
        if end {
            break;
        }
    }
    found
}

fn next(bytes: &[u8]) -> Option<(Structure, &[u8])> {
    let kind = *bytes.first()?;
    let length = usize::from(*bytes.get(1)?);
    let handle = u16::from_le_bytes(bytes.get(2..4)?.try_into().ok()?);
    if length < 4 {
        return None;
    }
    let data = bytes.get(..length)?.to_vec();
    let mut rest = bytes.get(length..)?;
    let mut strings = Vec::new();
    loop {
        let end = rest.iter().position(|&byte| byte == 0)?;
        let text = rest.get(..end)?;
        rest = rest.get(end + 1..)?;
        if text.is_empty() {
            break;
        }
        strings.push(String::from_utf8_lossy(text).into_owned());
    }
    // A structure without strings ends in two NULs, of which one is read above.
    if strings.is_empty() && rest.first() == Some(&0) {
        rest = rest.get(1..)?;
    }
    Some((Structure { kind, handle, data, strings }, rest))
}

/// All tables of one type.
pub fn of_kind(table: &[Structure], kind: u8) -> impl Iterator<Item = &Structure> {
    table.iter().filter(move |structure| structure.kind == kind)
}

/// Named strings of types 0 to 3, as `/sys/class/dmi/id` names them.
pub fn identity(table: &[Structure]) -> BTreeMap<&'static str, String> {
    const FIELDS: [(u8, usize, &str); 12] = [
        (0, 0x04, "bios_vendor"),
        (0, 0x05, "bios_version"),
        (0, 0x08, "bios_date"),
        (1, 0x04, "sys_vendor"),
        (1, 0x05, "product_name"),
        (1, 0x06, "product_version"),
        (1, 0x1a, "product_family"),
        (2, 0x04, "board_vendor"),
        (2, 0x05, "board_name"),
        (2, 0x06, "board_version"),
        (3, 0x04, "chassis_vendor"),
        (3, 0x06, "chassis_version"),
    ];
    let mut map = BTreeMap::new();
    for (kind, offset, name) in FIELDS {
        let first = of_kind(table, kind).next();
        if let Some(text) = first.and_then(|structure| structure.string(offset)) {
            map.insert(name, text);
        }
    }
    let chassis = of_kind(table, 3).next().and_then(|structure| structure.u8(5));
    if let Some(kind) = chassis {
        map.insert("chassis_type", (kind & 0x7f).to_string());
    }
    map
}

/// A processor socket (type 4).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Processor {
    pub socket: Option<String>,
    pub version: Option<String>,
    pub populated: bool,
    /// MHz.
    pub max_mhz: Option<u16>,
    /// MHz at boot.
    pub current_mhz: Option<u16>,
    pub cores: Option<u16>,
    pub threads: Option<u16>,
}

pub fn processors(table: &[Structure]) -> Vec<Processor> {
    let count = |structure: &Structure, short: usize, long: usize| match structure.u8(short) {
        Some(0xff) => structure.u16(long).filter(|&count| count != 0 && count != 0xffff),
        count => count.map(u16::from).filter(|&count| count != 0),
    };
    let read = |structure: &Structure| Processor {
        socket: structure.string(0x04),
        version: structure.string(0x10),
        populated: structure.u8(0x18).is_some_and(|status| status & 0x40 != 0),
        max_mhz: structure.u16(0x14).filter(|&mhz| mhz != 0),
        current_mhz: structure.u16(0x16).filter(|&mhz| mhz != 0),
        cores: count(structure, 0x23, 0x2a),
        threads: count(structure, 0x25, 0x2e),
    };
    // Central processors only (3), not maths, DSP or video ones.
    of_kind(table, 4).filter(|structure| structure.u8(5) == Some(3)).map(read).collect()
}

/// A cache (type 7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheTable {
    /// 1, 2, 3 ...
    pub level: u8,
    pub enabled: bool,
    /// Installed size, B.
    pub bytes: Option<u64>,
}

pub fn caches(table: &[Structure]) -> Vec<CacheTable> {
    let read = |structure: &Structure| {
        let setup = structure.u16(0x05)?;
        Some(CacheTable {
            level: u8::try_from(setup & 7).ok()? + 1,
            enabled: setup & 0x80 != 0,
            bytes: cache_size(structure).filter(|&bytes| bytes != 0),
        })
    };
    of_kind(table, 7).filter_map(read).collect()
}

fn cache_size(structure: &Structure) -> Option<u64> {
    let short = structure.u16(0x09)?;
    if short != 0xffff {
        let unit = if short & 0x8000 == 0 { 1 << 10 } else { 64 << 10 };
        return Some(u64::from(short & 0x7fff) * unit);
    }
    let long = structure.u32(0x17)?;
    let unit = if long & 0x8000_0000 == 0 { 1 << 10 } else { 64 << 10 };
    Some(u64::from(long & 0x7fff_ffff) * unit)
}

/// A system slot (type 9).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    pub name: Option<String>,
    pub kind: Option<&'static str>,
    /// Data lanes.
    pub lanes: Option<u8>,
    pub used: Option<bool>,
}

pub fn slots(table: &[Structure]) -> Vec<Slot> {
    let lanes = |structure: &Structure| match structure.u8(6)? {
        8 => Some(1),
        9 => Some(2),
        10 => Some(4),
        11 => Some(8),
        12 => Some(12),
        13 => Some(16),
        14 => Some(32),
        _ => None,
    };
    let used = |structure: &Structure| match structure.u8(7)? {
        3 => Some(false),
        4 => Some(true),
        _ => None,
    };
    let read = |structure: &Structure| Slot {
        name: structure.string(4),
        kind: structure.u8(5).and_then(slot_kind),
        lanes: lanes(structure),
        used: used(structure),
    };
    of_kind(table, 9).map(read).collect()
}

fn slot_kind(kind: u8) -> Option<&'static str> {
    Some(match kind {
        0x06 => "PCI",
        0x12 => "PCI-X",
        0x14..=0x1b | 0x20..=0x27 => "M.2 or MXM",
        0xa5 | 0xa7..=0xaa => "PCIe",
        0xab | 0xad..=0xb0 => "PCIe 2",
        0xb1 | 0xb3..=0xb6 => "PCIe 3",
        0xb8 | 0xba..=0xbd => "PCIe 4",
        0xbe | 0xc0..=0xc3 => "PCIe 5",
        _ => return None,
    })
}

/// A memory array (type 16).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    pub handle: u16,
    pub slots: u16,
    /// B.
    pub max_bytes: Option<u64>,
    pub ecc: Option<&'static str>,
}

/// Arrays of system memory (use 3); video, flash and cache arrays are left out.
pub fn arrays(table: &[Structure]) -> Vec<Array> {
    let read = |structure: &Structure| {
        let max_bytes = match structure.u32(0x07)? {
            0x8000_0000 => structure.u64(0x0f),
            kib => Some(u64::from(kib) << 10),
        };
        Some(Array {
            handle: structure.handle,
            slots: structure.u16(0x0d)?,
            max_bytes: max_bytes.filter(|&bytes| bytes != 0),
            ecc: structure.u8(0x06).and_then(ecc),
        })
    };
    of_kind(table, 16).filter(|structure| structure.u8(5) == Some(3)).filter_map(read).collect()
}

fn ecc(code: u8) -> Option<&'static str> {
    Some(match code {
        3 => "none",
        4 => "parity",
        5 => "single-bit ECC",
        6 => "multi-bit ECC",
        7 => "CRC",
        _ => return None,
    })
}

/// A memory device (type 17): a slot with or without a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    pub array: Option<u16>,
    /// B; `Some(0)`: the slot is empty; `None`: unknown.
    pub bytes: Option<u64>,
    pub locator: Option<String>,
    pub bank: Option<String>,
    pub kind: Option<&'static str>,
    /// Rated speed, MT/s.
    pub mts: Option<u32>,
    /// Speed as configured, MT/s.
    pub configured_mts: Option<u32>,
    pub maker: Option<String>,
    pub part: Option<String>,
    pub ranks: Option<u8>,
    /// Width with and without check bits.
    pub width: Option<(u16, u16)>,
}

pub fn modules(table: &[Structure]) -> Vec<Module> {
    of_kind(table, 17).map(module).collect()
}

fn module(structure: &Structure) -> Module {
    let speed = |short: usize, long: usize| match structure.u16(short)? {
        0 => None,
        0xffff => structure.u32(long).map(|mts| mts & 0x7fff_ffff).filter(|&mts| mts != 0),
        mts => Some(u32::from(mts)),
    };
    let known = |offset| structure.u16(offset).filter(|&bits| bits != 0 && bits != 0xffff);
    Module {
        array: structure.u16(0x04),
        bytes: module_size(structure),
        locator: structure.string(0x10),
        bank: structure.string(0x11),
        kind: structure.u8(0x12).and_then(module_kind),
        mts: speed(0x15, 0x54),
        configured_mts: speed(0x20, 0x58),
        maker: structure.string(0x17),
        part: structure.string(0x1a),
        ranks: structure.u8(0x1b).map(|ranks| ranks & 0x0f).filter(|&ranks| ranks != 0),
        width: known(0x08).zip(known(0x0a)),
    }
}

fn module_size(structure: &Structure) -> Option<u64> {
    match structure.u16(0x0c)? {
        0xffff => None,
        0x7fff => structure.u32(0x1c).map(|mib| u64::from(mib & 0x7fff_ffff) << 20),
        size if size & 0x8000 != 0 => Some(u64::from(size & 0x7fff) << 10),
        size => Some(u64::from(size) << 20),
    }
}

fn module_kind(code: u8) -> Option<&'static str> {
    Some(match code {
        0x07 => "RAM",
        0x0f => "SDRAM",
        0x12 => "DDR",
        0x13 => "DDR2",
        0x14 => "DDR2 FB-DIMM",
        0x18 => "DDR3",
        0x1a => "DDR4",
        0x1b => "LPDDR",
        0x1c => "LPDDR2",
        0x1d => "LPDDR3",
        0x1e => "LPDDR4",
        0x1f => "non-volatile",
        0x20 => "HBM",
        0x21 => "HBM2",
        0x22 => "DDR5",
        0x23 => "LPDDR5",
        0x24 => "HBM3",
        _ => return None,
    })
}

/// Chassis types by their number (DSP0134, 7.4.1).
pub fn chassis(code: u8) -> Option<&'static str> {
    Some(match code {
        3 => "desktop",
        4 => "low-profile desktop",
        5 => "pizza box",
        6 => "mini tower",
        7 => "tower",
        8 => "portable",
        9 => "laptop",
        10 => "notebook",
        13 => "all in one",
        14 => "sub notebook",
        15 => "space-saving",
        16 => "lunch box",
        17 => "main server chassis",
        22 => "RAID chassis",
        23 => "rack mount chassis",
        24 => "sealed-case PC",
        25 => "multi-system chassis",
        28 => "blade",
        29 => "blade enclosure",
        30 => "tablet",
        31 => "convertible",
        32 => "detachable",
        33 => "IoT gateway",
        34 => "embedded PC",
        35 => "mini PC",
        36 => "stick PC",
        _ => return None,
    })
}
