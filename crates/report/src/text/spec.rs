//! A machine in a few words, from its facts: processor, cores, clocks, caches, memory, disks, kernel.
//!
//! Facts are in base units. What is not known is left out here; the spec sheet says why.

use model::fact::{CpuSet, usable_cpus};
use model::format::{self, Kind, quantity};
use model::unit::Unit;
use model::{Fact, FactValue};

/// Facts by key.
#[derive(Clone, Copy)]
pub struct Spec<'a>(pub &'a [Fact]);

impl<'a> Spec<'a> {
    pub fn fact(&self, key: &str) -> Option<&'a Fact> {
        self.0.iter().find(|fact| fact.key == key)
    }

    pub fn number(&self, key: &str) -> Option<f64> {
        match self.fact(key)?.value.as_ref()? {
            FactValue::Number(number) if number.is_finite() => Some(*number),
            _ => None,
        }
    }

    pub fn text(&self, key: &str) -> Option<&'a str> {
        match self.fact(key)?.value.as_ref()? {
            FactValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// `Ryzen 7 8845HS, 8 cores 16 threads, 4 of 16 CPUs allowed (taskset)`
    pub fn processor(&self) -> Option<String> {
        let model = self.text("cpu.model").map(short_model);
        let parts: Vec<String> = [model, self.counts(), self.allowed()].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// `1 of 2 CPUs allowed (taskset)`; nothing where all were.
    pub fn allowed(&self) -> Option<String> {
        CpuSet::of_facts(self.0).map(|set| set.to_string())
    }

    /// `all 16 CPUs`: what figures of all threads used.
    pub fn all_cpus(&self) -> String {
        match usable_cpus(self.0).filter(|n| *n >= 1.0 && *n < 1e6) {
            Some(n) => format!("all {} {}", format::fixed(n, 0), if n == 1.0 { "CPU" } else { "CPUs" }),
            None => "all CPUs".to_owned(),
        }
    }

    /// `2 sockets 8 cores 16 threads`
    pub fn counts(&self) -> Option<String> {
        let plural =
            |n: f64, what: &str| format!("{} {what}{}", format::fixed(n, 0), if n == 1.0 { "" } else { "s" });
        let mut words = Vec::new();
        words.extend(self.number("cpu.sockets").filter(|n| *n > 1.0).map(|n| plural(n, "socket")));
        words.extend(self.number("cpu.cores").map(|n| plural(n, "core")));
        words.extend(self.number("cpu.threads").map(|n| plural(n, "thread")));
        (!words.is_empty()).then(|| words.join(" "))
    }

    /// `32 GiB DDR5-5600, 2 channels`
    pub fn memory(&self) -> Option<String> {
        let bytes = self.number("memory.installed.bytes").or_else(|| self.number("memory.bytes"))?;
        let mut out = round_size(bytes);
        if let Some(kind) = self.memory_kind() {
            out.push_str(&format!(" {kind}"));
        }
        if let Some(channels) = self.number("memory.channels") {
            let plural = if channels == 1.0 { "" } else { "s" };
            out.push_str(&format!(", {} channel{plural}", format::fixed(channels, 0)));
        }
        Some(out)
    }

    /// `DDR5-5600`
    pub fn memory_kind(&self) -> Option<String> {
        // In transfers a second; in millions of them where no unit says so.
        let per = |fact: &Fact| if fact.unit == Some(Unit::PerSec) { 1e6 } else { 1.0 };
        let mts = self.number("memory.mts").zip(self.fact("memory.mts"));
        let mts = mts.map(|(mts, fact)| format::fixed(mts / per(fact), 0).replace(',', ""));
        match (self.text("memory.type"), mts) {
            (Some(kind), Some(mts)) => Some(format!("{kind}-{mts}")),
            (Some(kind), None) => Some(kind.to_owned()),
            (None, Some(mts)) => Some(format!("{mts} MT/s")),
            (None, None) => None,
        }
    }

    /// `5.10 GHz`, the highest that is known. What the kernel shows of an idle moment is not.
    pub fn clock(&self) -> Option<String> {
        let hertz = ["cpu.mhz.max", "cpu.mhz.base"].iter().find_map(|key| self.number(key))?;
        // Keys say MHz; the unit of the fact says what its number is.
        let unit = self.fact("cpu.mhz.max").and_then(|fact| fact.unit);
        let hertz = if unit == Some(Unit::Hertz) || hertz > 1e6 { hertz } else { hertz * 1e6 };
        Some(quantity(hertz, Kind::for_unit(Unit::Hertz)))
    }

    /// A cache's name and size: `("L3", 16777216.0)`.
    pub fn caches(&self) -> Vec<(&'static str, f64)> {
        let known = [
            ("L1d", "cache.l1d.bytes"),
            ("L2", "cache.l2.bytes"),
            ("L3", "cache.l3.bytes"),
            ("L4", "cache.l4.bytes"),
        ];
        known.iter().filter_map(|(name, key)| Some((*name, self.number(key)?))).collect()
    }

    /// Lines of the summary card.
    pub fn summary(&self) -> Vec<String> {
        let mut lines = Vec::new();
        lines.extend(self.text("cpu.model").map(short_model));
        let mut chip: Vec<String> = self.counts().into_iter().chain(self.clock()).collect();
        chip.extend(self.caches().last().map(|(name, bytes)| format!("{name} {}", round_size(*bytes))));
        if !chip.is_empty() {
            lines.push(chip.join(" · "));
        }
        lines.extend(self.allowed());
        lines.extend(self.memory());
        lines.extend(self.disks());
        let system: Vec<&str> =
            [self.text("os.name"), self.text("kernel.release")].into_iter().flatten().collect();
        let kind = self.text("virt.kind").filter(|kind| *kind != "none");
        let kind = kind.map(|kind| format!("virtual machine ({kind})"));
        let system = system.iter().map(|word| (*word).to_owned()).chain(kind).collect::<Vec<_>>().join(" · ");
        if !system.is_empty() {
            lines.push(system);
        }
        lines
    }

    /// `Samsung 980 PRO 1.00 TB`, the first disks.
    pub fn disks(&self) -> Option<String> {
        let names = self.text("disk.names")?;
        let disk = |name: &str| {
            let model = self.text(&format!("disk.{name}.model")).unwrap_or(name);
            match self.number(&format!("disk.{name}.bytes")) {
                Some(bytes) => format!("{model} {}", quantity(bytes, Kind::for_unit(Unit::Byte).decimal())),
                None => model.to_owned(),
            }
        };
        let all: Vec<&str> = names.split([' ', ',']).filter(|name| !name.is_empty()).collect();
        let mut shown: Vec<String> = all.iter().take(2).map(|name| disk(name)).collect();
        if all.len() > 2 {
            shown.push(format!("{} more disks", all.len() - 2));
        }
        (!shown.is_empty()).then(|| shown.join(" · "))
    }
}

/// A size in its largest unit with at most one decimal: `32 GiB`, `1.5 MiB`. Hardware has whole sizes, and no digits
/// behind them as measured amounts have (`format::quantity`).
pub fn round_size(bytes: f64) -> String {
    const STEPS: [(f64, &str); 4] =
        [(1_099_511_627_776.0, "TiB"), (1_073_741_824.0, "GiB"), (1_048_576.0, "MiB"), (1_024.0, "KiB")];
    for (step, unit) in STEPS {
        if bytes >= step {
            let size = bytes / step;
            let places = usize::from((size - size.round()).abs() > 0.05 && size < 100.0);
            return format!("{} {unit}", format::fixed(size, places));
        }
    }
    format!("{} B", format::fixed(bytes, 0))
}

/// A processor's name without what every name has.
pub fn short_model(model: &str) -> String {
    let mut text = model.split('@').next().unwrap_or(model).to_owned();
    for noise in ["(R)", "(r)", "(TM)", "(tm)"] {
        text = text.replace(noise, " ");
    }
    let dull = |word: &str| {
        matches!(word, "CPU" | "Processor" | "processor" | "AMD" | "Intel" | "with")
            || word.ends_with("-Core")
    };
    let words: Vec<&str> =
        text.split_whitespace().take_while(|word| *word != "w/").filter(|word| !dull(word)).collect();
    if words.is_empty() { model.trim().to_owned() } else { words.join(" ") }
}

/// The value of a fact as text, in a unit that people read; `None` when unknown.
pub fn value(fact: &Fact) -> Option<String> {
    Some(match fact.value.as_ref()? {
        FactValue::Text(text) => text.clone(),
        FactValue::Flag(flag) => if *flag { "yes" } else { "no" }.to_owned(),
        FactValue::Number(number) if !number.is_finite() => return None,
        FactValue::Number(number) => match fact.unit {
            Some(Unit::Byte) if *number < 10_240.0 && number.rem_euclid(1024.0) != 0.0 => {
                format!("{} B", format::fixed(*number, 0))
            }
            // A disk's size is sold in powers of ten; its blocks and queues are powers of two.
            Some(Unit::Byte) if fact.key.starts_with("disk.") && *number >= 1e9 => {
                quantity(*number, Kind::for_unit(Unit::Byte).decimal())
            }
            Some(Unit::Byte) => round_size(*number),
            Some(Unit::Hertz) => quantity(*number, Kind::for_unit(Unit::Hertz)),
            Some(Unit::Count | Unit::Ratio) => bare(*number),
            Some(Unit::PerSec) if is_transfers(&fact.key) => {
                format!("{} MT/s", format::fixed(number / 1e6, 0))
            }
            Some(unit) => quantity(*number, Kind::for_unit(unit)),
            None => bare(*number),
        },
    })
}

/// The rate of memory, in transfers a second: `memory.mts`, `memory.mts.rated`.
fn is_transfers(key: &str) -> bool {
    key.split('.').any(|part| part == "mts")
}

/// A number as it is: whole ones whole.
fn bare(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e15 {
        format::fixed(number, 0)
    } else {
        format::number(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_called_by_their_names() {
        for (long, short) in [
            ("AMD Ryzen 7 8845HS w/ Radeon 780M Graphics", "Ryzen 7 8845HS"),
            ("Intel(R) Xeon(R) CPU E5-2686 v4 @ 2.30GHz", "Xeon E5-2686 v4"),
            ("AMD EPYC 7763 64-Core Processor", "EPYC 7763"),
            ("Neoverse-N1", "Neoverse-N1"),
            ("Processor", "Processor"),
        ] {
            assert_eq!(short_model(long), short);
        }
    }

    #[test]
    fn memory_has_its_rate_in_transfers() {
        let facts = [
            Fact::number("memory.mts", 1.066e9, Unit::PerSec, ""),
            Fact::text("memory.type", "DDR3", ""),
            Fact::number("disk.rate", 1.066e9, Unit::PerSec, ""),
        ];
        assert_eq!(value(&facts[0]).as_deref(), Some("1,066 MT/s"));
        assert_eq!(Spec(&facts).memory_kind().as_deref(), Some("DDR3-1066"));
        assert_eq!(value(&facts[2]).as_deref(), Some("1.07 G/s"));
    }

    #[test]
    fn sizes_are_round() {
        assert_eq!(round_size(34_359_738_368.0), "32 GiB");
        assert_eq!(round_size(1_572_864.0), "1.5 MiB");
        assert_eq!(round_size(100.0), "100 B");
    }
}
