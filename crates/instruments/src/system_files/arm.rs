//! Names of ARM cores by the implementer and part numbers of the main id register.
//!
//! Numbers and marketing names only, as their makers published them; an unknown pair stays a pair of numbers.

/// The company behind an implementer number.
pub fn implementer(id: u32) -> Option<&'static str> {
    Some(match id {
        0x41 => "ARM",
        0x42 => "Broadcom",
        0x43 => "Cavium",
        0x44 => "DEC",
        0x46 => "Fujitsu",
        0x48 => "HiSilicon",
        0x49 => "Infineon",
        0x4d => "Freescale",
        0x4e => "NVIDIA",
        0x50 => "APM",
        0x51 => "Qualcomm",
        0x53 => "Samsung",
        0x56 => "Marvell",
        0x61 => "Apple",
        0x66 => "Faraday",
        0x69 => "Intel",
        0x6d => "Microsoft",
        0x70 => "Phytium",
        0xc0 => "Ampere",
        _ => return None,
    })
}

/// The name of a core.
pub fn part(implementer: u32, part: u32) -> Option<&'static str> {
    let table: &[(u32, &'static str)] = match implementer {
        0x41 => ARM,
        0x42 => &[(0x100, "Brahma-B53"), (0x516, "ThunderX2")],
        0x43 => CAVIUM,
        0x46 => &[(0x001, "A64FX"), (0x003, "MONAKA")],
        0x48 => HISILICON,
        0x4e => &[(0x000, "Denver"), (0x003, "Denver 2"), (0x004, "Carmel"), (0x010, "Olympus")],
        0x50 => &[(0x000, "X-Gene")],
        0x51 => QUALCOMM,
        0x53 => SAMSUNG,
        0x56 => &[(0x131, "Feroceon 88FR131"), (0x581, "PJ4"), (0x584, "PJ4B-MP")],
        0x61 => APPLE,
        0x69 => &[(0x200, "i80200"), (0x411, "PXA27x")],
        0x6d => &[(0xd49, "Azure Cobalt 100")],
        0x70 => PHYTIUM,
        0xc0 => &[(0xac3, "Ampere-1"), (0xac4, "Ampere-1a"), (0xac5, "Ampere-1b")],
        _ => return None,
    };
    table.iter().find(|entry| entry.0 == part).map(|entry| entry.1)
}

const ARM: &[(u32, &str)] = &[
    (0x810, "ARM810"),
    (0x920, "ARM920T"),
    (0x926, "ARM926EJ-S"),
    (0xb02, "ARM11 MPCore"),
    (0xb36, "ARM1136"),
    (0xb56, "ARM1156"),
    (0xb76, "ARM1176"),
    (0xc05, "Cortex-A5"),
    (0xc07, "Cortex-A7"),
    (0xc08, "Cortex-A8"),
    (0xc09, "Cortex-A9"),
    (0xc0d, "Cortex-A17"),
    (0xc0e, "Cortex-A17"),
    (0xc0f, "Cortex-A15"),
    (0xd01, "Cortex-A32"),
    (0xd02, "Cortex-A34"),
    (0xd03, "Cortex-A53"),
    (0xd04, "Cortex-A35"),
    (0xd05, "Cortex-A55"),
    (0xd06, "Cortex-A65"),
    (0xd07, "Cortex-A57"),
    (0xd08, "Cortex-A72"),
    (0xd09, "Cortex-A73"),
    (0xd0a, "Cortex-A75"),
    (0xd0b, "Cortex-A76"),
    (0xd0c, "Neoverse-N1"),
    (0xd0d, "Cortex-A77"),
    (0xd0e, "Cortex-A76AE"),
    (0xd0f, "AEM-v8"),
    (0xd40, "Neoverse-V1"),
    (0xd41, "Cortex-A78"),
    (0xd42, "Cortex-A78AE"),
    (0xd43, "Cortex-A65AE"),
    (0xd44, "Cortex-X1"),
    (0xd46, "Cortex-A510"),
    (0xd47, "Cortex-A710"),
    (0xd48, "Cortex-X2"),
    (0xd49, "Neoverse-N2"),
    (0xd4a, "Neoverse-E1"),
    (0xd4b, "Cortex-A78C"),
    (0xd4c, "Cortex-X1C"),
    (0xd4d, "Cortex-A715"),
    (0xd4e, "Cortex-X3"),
    (0xd4f, "Neoverse-V2"),
    (0xd80, "Cortex-A520"),
    (0xd81, "Cortex-A720"),
    (0xd82, "Cortex-X4"),
    (0xd83, "Neoverse-V3AE"),
    (0xd84, "Neoverse-V3"),
    (0xd85, "Cortex-X925"),
    (0xd87, "Cortex-A725"),
    (0xd88, "Cortex-A520AE"),
    (0xd89, "Cortex-A720AE"),
    (0xd8e, "Neoverse-N3"),
    (0xd8f, "Cortex-A320"),
];

const CAVIUM: &[(u32, &str)] = &[
    (0x0a0, "ThunderX"),
    (0x0a1, "ThunderX 88XX"),
    (0x0a2, "ThunderX 81XX"),
    (0x0a3, "ThunderX 83XX"),
    (0x0af, "ThunderX2 99XX"),
    (0x0b0, "OcteonTX2"),
    (0x0b1, "OcteonTX2 T98"),
    (0x0b2, "OcteonTX2 T96"),
    (0x0b3, "OcteonTX2 F95"),
    (0x0b4, "OcteonTX2 F95N"),
    (0x0b5, "OcteonTX2 F95MM"),
    (0x0b8, "ThunderX3 T110"),
];

const HISILICON: &[(u32, &str)] = &[
    (0xd01, "TaiShan v110 (Kunpeng 920)"),
    (0xd02, "TaiShan v120"),
    (0xd40, "Cortex-A76 (Kirin 980)"),
    (0xd41, "Cortex-A77 (Kirin 9000)"),
];

const QUALCOMM: &[(u32, &str)] = &[
    (0x001, "Oryon"),
    (0x00f, "Scorpion"),
    (0x02d, "Scorpion"),
    (0x04d, "Krait"),
    (0x06f, "Krait"),
    (0x201, "Kryo"),
    (0x205, "Kryo"),
    (0x211, "Kryo"),
    (0x800, "Kryo 2XX Gold (Cortex-A73)"),
    (0x801, "Kryo 2XX Silver (Cortex-A53)"),
    (0x802, "Kryo 3XX Gold (Cortex-A75)"),
    (0x803, "Kryo 3XX Silver (Cortex-A55)"),
    (0x804, "Kryo 4XX Gold (Cortex-A76)"),
    (0x805, "Kryo 4XX Silver (Cortex-A55)"),
    (0xc00, "Falkor"),
    (0xc01, "Saphira"),
];

const SAMSUNG: &[(u32, &str)] =
    &[(0x001, "Exynos-M1"), (0x002, "Exynos-M3"), (0x003, "Exynos-M4"), (0x004, "Exynos-M5")];

const APPLE: &[(u32, &str)] = &[
    (0x000, "Swift"),
    (0x001, "Cyclone"),
    (0x002, "Typhoon"),
    (0x004, "Twister"),
    (0x006, "Hurricane"),
    (0x008, "Monsoon"),
    (0x009, "Mistral"),
    (0x020, "Icestorm (A14)"),
    (0x021, "Firestorm (A14)"),
    (0x022, "Icestorm (M1)"),
    (0x023, "Firestorm (M1)"),
    (0x024, "Icestorm (M1 Pro)"),
    (0x025, "Firestorm (M1 Pro)"),
    (0x028, "Icestorm (M1 Max)"),
    (0x029, "Firestorm (M1 Max)"),
    (0x030, "Blizzard (A15)"),
    (0x031, "Avalanche (A15)"),
    (0x032, "Blizzard (M2)"),
    (0x033, "Avalanche (M2)"),
    (0x034, "Blizzard (M2 Pro)"),
    (0x035, "Avalanche (M2 Pro)"),
    (0x038, "Blizzard (M2 Max)"),
    (0x039, "Avalanche (M2 Max)"),
];

const PHYTIUM: &[(u32, &str)] = &[
    (0x303, "FTC310"),
    (0x660, "FTC660"),
    (0x661, "FTC661"),
    (0x662, "FTC662"),
    (0x663, "FTC663"),
    (0x664, "FTC664"),
    (0x862, "FTC862"),
];

/// `ARM Cortex-A72`, `Ampere-1`, `0x41 part 0xfff`.
pub fn name(implementer_id: u32, part_id: u32) -> String {
    match (implementer(implementer_id), part(implementer_id, part_id)) {
        (Some(maker), Some(core)) if core.starts_with(maker) => core.to_owned(),
        (Some(maker), Some(core)) => format!("{maker} {core}"),
        (Some(maker), None) => format!("{maker} part {part_id:#05x}"),
        (None, _) => format!("implementer {implementer_id:#04x} part {part_id:#05x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_and_unknown_cores_have_names() {
        assert_eq!(name(0x41, 0xd08), "ARM Cortex-A72");
        assert_eq!(name(0x41, 0xd0c), "ARM Neoverse-N1");
        assert_eq!(name(0xc0, 0xac3), "Ampere-1");
        assert_eq!(name(0x41, 0xfff), "ARM part 0xfff");
        assert_eq!(name(0xff, 1), "implementer 0xff part 0x001");
    }

    #[test]
    fn no_part_is_listed_twice() {
        for table in [ARM, CAVIUM, HISILICON, QUALCOMM, SAMSUNG, APPLE, PHYTIUM] {
            assert!(table.windows(2).all(|pair| pair[0].0 < pair[1].0));
        }
    }
}
