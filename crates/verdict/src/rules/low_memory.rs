//! The page cache of a 32-bit kernel with more memory than it can have mapped. Says nothing of other machines.

use model::finding::LowMemory;
use model::{Fact, FactValue};

use crate::facts;
use crate::ruling::Ruling;
use crate::run_index::RunIndex;

/// Kernels of 32 bits, as they call their machine.
const NARROW: [&str; 9] = ["i386", "i486", "i586", "i686", "x86", "arm", "armv6l", "armv7l", "mips"];
/// Of so much more memory than is mapped a kernel can make no use as of the rest.
const MORE: f64 = 1.1;

pub fn rule(index: &RunIndex<'_>) -> Vec<Ruling> {
    of_facts(&index.run.facts).map(Ruling::of_run).into_iter().collect()
}

/// The finding about a machine, whether it was measured or not.
pub fn of_facts(known: &[Fact]) -> Option<LowMemory> {
    let low = facts::number(known, "memory.low.bytes");
    let all = ["memory.bytes", "memory.installed.bytes"].iter().find_map(|key| facts::number(known, key))?;
    let is_narrow = low.is_some() || is_narrow(known);
    (is_narrow && all > MORE * low.unwrap_or(LowMemory::MOST)).then_some(LowMemory { low, all })
}

fn is_narrow(known: &[Fact]) -> bool {
    let bits = known.iter().find(|fact| fact.key == "os.bits").and_then(|fact| fact.value.as_ref());
    match bits {
        Some(FactValue::Number(bits)) => (bits - 32.0).abs() < 0.5,
        Some(FactValue::Text(bits)) => bits == "32",
        Some(FactValue::Flag(_)) | None => {
            facts::text(known, "kernel.arch").is_some_and(|arch| NARROW.contains(&arch))
        }
    }
}

#[cfg(test)]
mod tests {
    use model::Unit;

    use super::*;

    fn machine(arch: &str, bytes: f64) -> Vec<Fact> {
        vec![Fact::text("kernel.arch", arch, ""), Fact::number("memory.bytes", bytes, Unit::Byte, "")]
    }

    #[test]
    fn memory_that_a_narrow_kernel_cannot_map_is_told() {
        let found = of_facts(&machine("i686", 16e9)).unwrap();
        assert_eq!((found.low, found.all), (None, 16e9));
        assert_eq!(of_facts(&machine("x86_64", 16e9)), None);
        assert_eq!(of_facts(&machine("i686", 0.5e9)), None, "all of it is mapped");
        assert_eq!(of_facts(&machine("i686", 16e9)[..1]), None);
        let mut read = machine("i686", 16e9);
        read.push(Fact::number("memory.low.bytes", 0.8e9, Unit::Byte, ""));
        assert_eq!(of_facts(&read).and_then(|found| found.low), Some(0.8e9));
        let by_study = [Fact::number("os.bits", 32.0, Unit::Count, ""), machine("", 16e9).remove(1)];
        assert!(of_facts(&by_study).is_some());
    }
}
