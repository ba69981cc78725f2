//! Instruction-set features that the benchmarks and workloads use, and the state of mitigations.
//!
//! A flag here is what the kernel lets programs use, not what the silicon could do. `cpu.isa.level` is the psABI
//! level of x86-64. Features of other architectures are absent, not false.

use std::collections::BTreeSet;

use model::Fact;

use super::scan::Scan;
use crate::system_files::root::ABSENT;
use crate::system_files::{Root, Sheet, text};

pub static INSTRUMENT: &Scan = &Scan::new("inventory-isa", "instruction-set features, mitigations", scan);

const CPUINFO: &str = "/proc/cpuinfo";
const VULNERABILITIES: &str = "/sys/devices/system/cpu/vulnerabilities";

pub fn scan(root: &Root) -> Vec<Fact> {
    let mut sheet = Sheet::new(root);
    features(&mut sheet);
    mitigations(&mut sheet);
    sheet.done()
}

/// Our name, and the kernel's on x86.
const X86: [(&str, &str); 26] = [
    ("aes", "aes"),
    ("amx", "amx_tile"),
    ("avx", "avx"),
    ("avx2", "avx2"),
    ("avx512f", "avx512f"),
    ("avx512bw", "avx512bw"),
    ("avx512vl", "avx512vl"),
    ("avx512_vnni", "avx512_vnni"),
    ("bmi2", "bmi2"),
    ("clflushopt", "clflushopt"),
    ("clwb", "clwb"),
    ("crc32", "sse4_2"),
    ("erms", "erms"),
    ("fma", "fma"),
    ("fsrm", "fsrm"),
    ("gfni", "gfni"),
    ("gib_pages", "pdpe1gb"),
    ("invariant_tsc", "nonstop_tsc"),
    ("pclmul", "pclmulqdq"),
    ("popcnt", "popcnt"),
    ("rdrand", "rdrand"),
    ("rdtscp", "rdtscp"),
    ("sha", "sha_ni"),
    ("sse2", "sse2"),
    ("vaes", "vaes"),
    ("vpclmul", "vpclmulqdq"),
];

/// Our name, and the kernel's on ARM.
const ARM: [(&str, &str); 17] = [
    ("aes", "aes"),
    ("bf16", "bf16"),
    ("crc32", "crc32"),
    ("dotprod", "asimddp"),
    ("fp16", "fphp"),
    ("i8mm", "i8mm"),
    ("lse", "atomics"),
    ("neon", "asimd"),
    ("pmull", "pmull"),
    ("rng", "rng"),
    ("sha", "sha2"),
    ("sha3", "sha3"),
    ("sha512", "sha512"),
    ("sme", "sme"),
    ("sve", "sve"),
    ("sve2", "sve2"),
    ("vfp", "vfp"),
];

/// Features of the psABI levels, by the kernel's names; each level needs those before it.
const LEVELS: [(&str, &[&str]); 4] = [
    ("x86-64-v1", &["cmov", "cx8", "fpu", "fxsr", "mmx", "syscall", "sse", "sse2"]),
    ("x86-64-v2", &["cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"]),
    ("x86-64-v3", &["avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"]),
    ("x86-64-v4", &["avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"]),
];

fn features(sheet: &mut Sheet<'_>) {
    let info = sheet.root.cpuinfo();
    if let Some(isa) = info.first(&["isa"]) {
        return sheet.text("cpu.isa", isa, CPUINFO);
    }
    let Some(flags) = info.flags() else {
        return sheet.unknown("cpu.isa", CPUINFO, ABSENT);
    };
    let flags: BTreeSet<&str> = flags.into_iter().collect();
    let arm = info.first(&["CPU implementer"]).is_some() || info.first(&["Features"]).is_some();
    if arm {
        for (ours, theirs) in ARM {
            let old_name = ours == "neon" && flags.contains("neon");
            sheet.flag(&format!("cpu.isa.{ours}"), flags.contains(theirs) || old_name, CPUINFO);
        }
    } else {
        for (ours, theirs) in X86 {
            sheet.flag(&format!("cpu.isa.{ours}"), flags.contains(theirs), CPUINFO);
        }
        let level = flags.contains("lm").then(|| level(&flags)).flatten();
        sheet.text_or("cpu.isa.level", level.map(str::to_owned), CPUINFO, "not a 64-bit x86 processor");
        let virtualisation =
            [("vmx", "VT-x"), ("svm", "AMD-V")].iter().find(|(flag, _)| flags.contains(flag));
        if let Some((_, name)) = virtualisation {
            sheet.text("cpu.isa.virtualisation", *name, CPUINFO);
        }
    }
    sheet.text("cpu.flags", flags.into_iter().collect::<Vec<_>>().join(" "), CPUINFO);
}

fn level(flags: &BTreeSet<&str>) -> Option<&'static str> {
    let holds = |(_, needs): &&(&str, &[&str])| needs.iter().all(|need| flags.contains(need));
    LEVELS.iter().take_while(holds).last().map(|(name, _)| *name)
}

/// One fact each, and one line with all that are not `Not affected`.
fn mitigations(sheet: &mut Sheet<'_>) {
    let names = sheet.root.list(VULNERABILITIES);
    if names.is_empty() {
        return sheet.unknown("mitigations", VULNERABILITIES, ABSENT);
    }
    let mut affected = Vec::new();
    for name in names {
        let path = format!("{VULNERABILITIES}/{name}");
        let Some(state) = sheet.root.maybe(&path).map(|text| text::tidy(&text)) else { continue };
        if state != "Not affected" {
            affected.push(format!("{name}: {}", state.trim_start_matches("Mitigation: ")));
        }
        sheet.text(&format!("mitigation.{name}"), state, &path);
    }
    let line = if affected.is_empty() { "not affected".to_owned() } else { affected.join("; ") };
    sheet.text("mitigations", line, VULNERABILITIES);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_need_all_that_is_below() {
        let v1 = ["cmov", "cx8", "fpu", "fxsr", "mmx", "syscall", "sse", "sse2"];
        let mut flags: BTreeSet<&str> = v1.into();
        assert_eq!(level(&flags), Some("x86-64-v1"));
        flags.extend(LEVELS[2].1);
        assert_eq!(level(&flags), Some("x86-64-v1"));
        flags.extend(LEVELS[1].1);
        assert_eq!(level(&flags), Some("x86-64-v3"));
        flags.remove("mmx");
        assert_eq!(level(&flags), None);
    }
}
