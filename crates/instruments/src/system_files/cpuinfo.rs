//! /proc/cpuinfo: one block a processor on most kernels, shared lines before or after them on 32-bit ARM.
//!
//! Keys stay as the kernel spells them. Clock speeds in it are what the kernel saw at that instant, in MHz.

use std::collections::BTreeMap;

/// One block of `key : value` lines.
pub type Block = BTreeMap<String, String>;

/// A parsed /proc/cpuinfo.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuInfo {
    /// One entry per processor.
    pub processors: Vec<Block>,
    /// Lines that belong to no processor: `Hardware`, `Model`, the features of 32-bit ARM before 3.8.
    pub shared: Block,
}

/// Lines of a processor's block that describe the whole machine.
const MACHINE: [&str; 8] =
    ["Hardware", "Revision", "Serial", "Model", "Processor", "platform", "machine", "Machine"];

/// Parses any form of the file; lines without a colon are skipped.
pub fn parse(bytes: &[u8]) -> CpuInfo {
    let text = String::from_utf8_lossy(bytes);
    let mut info = CpuInfo::default();
    let mut inside = false;
    for line in text.lines() {
        let Some((key, value)) = line.split_once(':') else {
            inside = inside && !line.trim().is_empty();
            continue;
        };
        let (key, value) = (key.trim(), value.trim());
        if key == "processor" && value.parse::<u32>().is_ok() {
            info.processors.push(Block::new());
            inside = true;
        }
        let block = match info.processors.last_mut() {
            Some(block) if inside && !MACHINE.contains(&key) => block,
            _ => &mut info.shared,
        };
        block.entry(key.to_owned()).or_insert_with(|| value.to_owned());
    }
    info
}

impl CpuInfo {
    /// The value of the first known key, from the first processor or else from the machine.
    pub fn first(&self, keys: &[&str]) -> Option<&str> {
        let blocks = || self.processors.iter().take(1).chain([&self.shared]);
        let value = keys.iter().find_map(|key| blocks().find_map(|block| block.get(*key)))?;
        Some(value.as_str()).filter(|value| !value.is_empty())
    }

    /// A processor's value of a key, or the shared one.
    pub fn value<'a>(&'a self, block: &'a Block, key: &str) -> Option<&'a str> {
        block.get(key).or_else(|| self.shared.get(key)).map(String::as_str)
    }

    /// Instruction-set features as the kernel names them: x86 `flags`, ARM `Features`, RISC-V `isa`.
    pub fn flags(&self) -> Option<Vec<&str>> {
        let text = self.first(&["flags", "Features", "features"])?;
        Some(text.split_whitespace().collect())
    }

    /// Numbers of a key over all processors.
    pub fn numbers(&self, key: &str) -> Vec<f64> {
        let values = self.processors.iter().filter_map(|block| block.get(key));
        values.filter_map(|text| text.trim_end_matches("MHz").trim().parse().ok()).collect()
    }

    /// `(implementer, part, variant, revision)` of each processor on ARM.
    pub fn arm_ids(&self) -> Vec<(u32, u32, u32, u32)> {
        let hex = |text: &str| u32::from_str_radix(text.trim_start_matches("0x"), 16).ok();
        let ids = |block: &Block| {
            let implementer = hex(self.value(block, "CPU implementer")?)?;
            let part = hex(self.value(block, "CPU part")?)?;
            let variant = self.value(block, "CPU variant").and_then(hex).unwrap_or(0);
            let revision = self.value(block, "CPU revision").and_then(|text| text.parse().ok()).unwrap_or(0);
            Some((implementer, part, variant, revision))
        };
        self.processors.iter().filter_map(ids).collect()
    }
}

/// The clock in a model name such as `Intel(R) Xeon(R) CPU X3470 @ 2.93GHz`, in Hz.
pub fn clock_in_name(name: &str) -> Option<f64> {
    let clock = name.rsplit_once('@')?.1.trim();
    let digits = clock.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let number: f64 = clock.get(..digits)?.parse().ok()?;
    match clock.get(digits..)?.trim() {
        "GHz" => Some((number * 1e3).round() * 1e6),
        "MHz" => Some(number * 1e6),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_arm_has_shared_lines_after_the_blocks() {
        let info = parse(b"Processor : ARMv7 Processor rev 10 (v7l)\nprocessor : 0\nBogoMIPS : 1\n\nprocessor : 1\n\nFeatures : neon\nCPU implementer : 0x41\nCPU part : 0xc09\nHardware : OMAP4 Panda board\n");
        assert_eq!(info.processors.len(), 2);
        assert_eq!(info.arm_ids(), [(0x41, 0xc09, 0, 0); 2]);
        assert_eq!(info.first(&["model name", "Processor"]), Some("ARMv7 Processor rev 10 (v7l)"));
        assert_eq!(info.flags(), Some(vec!["neon"]));
        assert_eq!(info.first(&["Hardware"]), Some("OMAP4 Panda board"));
    }

    #[test]
    fn clocks_in_names() {
        assert_eq!(clock_in_name("Intel(R) Xeon(R) CPU           X3470  @ 2.93GHz"), Some(2.93e9));
        assert_eq!(clock_in_name("AMD EPYC 7451 24-Core Processor"), None);
        assert_eq!(clock_in_name("x @ GHz"), None);
    }
}
