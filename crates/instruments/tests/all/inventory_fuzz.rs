//! Every parser of the inventory on mutated input: none may panic, and lists stay within bounds.
//!
//! Seeded, so that a failure repeats. About a third of a second a parser; `BOXSCORE_FUZZ_SECONDS` sets the total.

use std::time::{Duration, Instant};

use crate::inventory_tree::{Machine, names};
use instruments::system_files::{cgroup, cpuinfo, dimm, mounts, pci, smbios, text};
use model::mutate::{Dice, mutate};

/// Bytes that parsers trip over.
const PLANTS: [&[u8]; 12] = [
    b"\0",
    b"\xff\xff",
    b"-",
    b"99999999999999999999",
    b"0-4294967295",
    b"\n",
    b":",
    b" - ",
    b"\\9",
    b"\xc3\x28",
    b"[",
    b"\x7f\x04",
];

fn seconds() -> f64 {
    std::env::var("BOXSCORE_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(3.0)
}

/// Feeds a parser for its share of the time.
fn drive(seeds: &[Vec<u8>], parse: impl Fn(&[u8])) {
    const PARSERS: f64 = 9.0;
    let mut dice = Dice::new(0x0123_4567_89ab_cdef);
    seeds.iter().for_each(|seed| parse(seed));
    let end = Instant::now() + Duration::from_secs_f64(seconds() / PARSERS);
    while Instant::now() < end {
        let seed = dice.pick(seeds).expect("there are seeds");
        parse(&mutate(seed, &PLANTS, &mut dice));
    }
}

/// The file of that name in every machine that has it, cut to what a mutation can still reach.
fn samples(path: &'static str) -> Vec<Vec<u8>> {
    let read = |name: String| Machine::with(&name, path).root().bytes(path).ok();
    let mut found: Vec<Vec<u8>> = names().into_iter().filter_map(read).collect();
    found.iter_mut().for_each(|bytes| bytes.truncate(8 << 10));
    assert!(!found.is_empty(), "no machine has {path}");
    found
}

#[test]
fn cpuinfo_survives() {
    drive(&samples("proc/cpuinfo"), |bytes| {
        let info = cpuinfo::parse(bytes);
        let _ = (info.arm_ids(), info.flags(), info.numbers("cpu MHz"));
        if let Some(name) = info.first(&["model name"]) {
            let _ = cpuinfo::clock_in_name(name);
        }
    });
}

#[test]
fn smbios_survives() {
    drive(&samples("sys/firmware/dmi/tables/DMI"), |bytes| {
        let table = smbios::parse(bytes);
        assert!(table.len() * 6 <= bytes.len() + 6);
        let _ = (smbios::identity(&table), smbios::processors(&table), smbios::caches(&table));
        let _ = (smbios::slots(&table), smbios::arrays(&table));
        let modules = smbios::modules(&table);
        let _ = (dimm::channels(&modules), dimm::layout(&modules));
    });
}

#[test]
fn mounts_survive() {
    drive(&samples("proc/self/mountinfo"), |bytes| {
        let mounts = mounts::parse(bytes);
        let _ = mounts::of_path(&mounts, "/srv/a b");
    });
}

#[test]
fn cgroups_survive() {
    let seeds = [&b"0::/a/b\n"[..], b"4:memory:/docker/1\n1:cpu,cpuacct:/x\n0::/\n"].map(<[u8]>::to_vec);
    drive(&seeds, |bytes| {
        let _ = cgroup::membership(bytes);
    });
    let seeds = [&b"90000 100000"[..], b"max 100000", b"9223372036854771712"].map(<[u8]>::to_vec);
    drive(&seeds, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        assert!(cgroup::quota_v2(&text).flatten().is_none_or(f64::is_finite));
        let _ = (cgroup::bytes_v1(&text), cgroup::bytes_v2(&text));
    });
}

#[test]
fn lists_and_sizes_survive() {
    let seeds =
        [&b"0-3,8,10-11"[..], b"ff,00000001", b"491520 kB", b"always [madvise] never", b"8.0 GT/s PCIe"];
    drive(&seeds.map(<[u8]>::to_vec), |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let list = text::cpu_list(&text);
        assert_eq!(text::cpu_list(&text::fold_list(&list)), list);
        let _ = (text::cpu_mask(&text), text::size(&text), text::chosen(&text), text::giga(&text));
    });
}

#[test]
fn release_names_and_pairs_survive() {
    drive(&samples("etc/os-release"), |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let _ = (text::os_name(&text), text::pairs(&text, ':'), text::tidy(&text));
    });
}

#[test]
fn pci_names_survive() {
    drive(&samples("usr/share/misc/pci.ids"), |bytes| {
        let names = pci::Names::find(bytes, &[(0x8086, 0x0a54), (0x8086, 0x37d2)]);
        assert!(!names.name((0x8086, 0x0a54)).is_empty());
    });
}

#[test]
fn locators_survive() {
    let seeds = [&b"P1-DIMMA1"[..], b"ChannelA-DIMM0", b"PROC 1 DIMM 3", b"P0_Node0_Channel0_Dimm0"];
    drive(&seeds.map(<[u8]>::to_vec), |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let _ = dimm::channel(&text, Some(&text));
    });
}
