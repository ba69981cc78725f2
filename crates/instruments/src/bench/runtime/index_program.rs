//! The parts of an index as a C program, built by the compiler and flags of an arm (`cc=gcc -O3 -march=native`).
//!
//! The sources do the work of the kernels that are compiled in, operation by operation, on the same inputs
//! (`kernels/index/c`). A take runs each part once, in a process of its own: it first shows a result that must be
//! right, then runs in batches, each with twice the runs of the one before, until one takes the least CPU time. That
//! batch counts, by wall time. Copies run at once on CPUs of their own, and their rates add up. Not counted: the start
//! of the process and making its data.

use std::sync::LazyLock;

use model::finding::Recorded;
use model::{Count, Fault, Finding, PerSec, Probe, Record, Seconds, Setup, Unfit};

use super::language::{self, Language};
use super::output::{Batch, Found, Output};
use super::program::Program;
use super::reference::Bits;
use super::team;
use super::toolchain::Toolchain;
use crate::bench::kernel::sized;
use crate::bench::kernels::index::Part;
use crate::bench::spread;

/// The parameter that names the compiler and its flags.
pub const CC: &str = "cc";
/// Least CPU time of the batch that counts, in seconds.
const LEAST: f64 = 0.05;
/// Relative tolerance of the floating parts where the last bits may differ.
const TOLERANCE: f64 = 1e-10;

const SOURCES: [(&str, &str); 7] = [
    ("coding.c", include_str!("../kernels/index/c/coding.c")),
    ("floating.c", include_str!("../kernels/index/c/floating.c")),
    ("index.h", include_str!("../kernels/index/c/index.h")),
    ("integer.c", include_str!("../kernels/index/c/integer.c")),
    ("main.c", include_str!("../kernels/index/c/main.c")),
    ("memory.c", include_str!("../kernels/index/c/memory.c")),
    ("support.c", include_str!("../kernels/index/c/support.c")),
];

/// C, whose program is that of the index.
static PROGRAM: LazyLock<Option<Language>> =
    LazyLock::new(|| language::find("c").map(|c| Language { sources: &SOURCES, ..*c }));

/// The sum of the digested results of each floating part, and the root of the sum of their squares: IEEE bits.
const SUMS: [(&str, u64, u64); 4] = [
    ("fft", 0xc09c_1d39_d407_3501, 0x40b2_9e4d_ead6_8f61),
    ("lu", 0xc005_5e6b_4e6b_e926, 0x4012_4b49_962a_c8c1),
    ("network", 0x4014_5f76_2398_cde9, 0x4002_cc29_7555_648a),
    ("gravity", 0x400e_96a7_c5e7_1d66, 0x4011_65e9_204f_48e7),
];

/// Reports the rates of the parts, in their order.
pub type PushRates = fn(&[(&'static str, PerSec)], &mut dyn Record) -> Result<(), Fault>;

/// A part's name, its operations in a run, and the digest of a right result.
#[derive(Debug)]
struct Known {
    name: &'static str,
    ops: f64,
    digest: u64,
}

/// Compares the results that a part's program printed; `may_differ` allows other last bits. Fails when they are wrong.
fn verify(part: &Known, checks: &[(String, Found)], may_differ: bool) -> Result<Bits, String> {
    let found = |what: &str| {
        let name = format!("{}.{what}", part.name);
        checks.iter().find(|(known, _)| *known == name).and_then(|(_, found)| match found {
            Found::Bits(bits) => Some(*bits),
            Found::Whole(_) => None,
        })
    };
    let digest = found("fnv").ok_or_else(|| format!("it does not tell the result of {}", part.name))?;
    if digest == part.digest {
        return Ok(Bits::Same);
    }
    let is_near = |(_, sum, norm): &(&str, u64, u64)| {
        let (sum, norm) = (f64::from_bits(*sum), f64::from_bits(*norm));
        let near = |what: &str, right: f64| {
            found(what).is_some_and(|bits| (f64::from_bits(bits) - right).abs() <= TOLERANCE * norm)
        };
        near("sum", sum) && near("l2", norm)
    };
    match SUMS.iter().find(|(name, ..)| *name == part.name) {
        Some(sums) if may_differ && is_near(sums) => Ok(Bits::Near),
        _ => Err(format!("wrong result of {}: {digest:016x}, and right is {:016x}", part.name, part.digest)),
    }
}

/// The probe of an index whose parts the compiler of `cc` builds.
#[derive(Debug)]
struct IndexProgram {
    parts: Vec<Known>,
    program: Program,
    seconds: f64,
    /// The CPU of each copy.
    cpus: Vec<u32>,
    push: PushRates,
}

/// Builds the program with the compiler that the setup names. Fails when there is none, or the build fails.
pub fn prepare(setup: &Setup, parts: &[Part], push: PushRates) -> Result<Box<dyn Probe>, Unfit> {
    let value = setup.params.get(CC).unwrap_or_default();
    let language = PROGRAM.as_ref().ok_or_else(|| Unfit::new("this build has no language C"))?;
    let toolchain = Toolchain::find(language, value, None).map_err(Unfit::new)?;
    let threads = setup.threads()?;
    let cpus = spread::cpus(&setup.cpus);
    let cpus = cpus.get(..threads).ok_or_else(|| Unfit::new("too few CPUs"))?.to_vec();
    let known = |part: &Part| Known { name: part.name, ops: part.ops, digest: part.expected };
    Ok(Box::new(IndexProgram {
        parts: parts.iter().map(known).collect(),
        program: Program::build(setup, toolchain)?,
        seconds: sized(setup, LEAST, 0.001),
        cpus,
        push,
    }))
}

/// The operations per second of all copies together.
fn rate(part: &Known, batches: &[Batch]) -> Result<PerSec, Fault> {
    let mut all = PerSec(0.0);
    for batch in batches {
        if batch.wall_ns == 0 {
            return Err(Fault::new(format!("{}: the clock did not move during the batch", part.name)));
        }
        #[expect(clippy::cast_precision_loss, reason = "runs of a batch stay far below 2^53")]
        let runs = batch.cycles as f64;
        all = all + Count(part.ops * runs) / Seconds::from_ns(batch.wall_ns);
    }
    Ok(all)
}

impl IndexProgram {
    fn scored(&self, part: &Known, output: &Output) -> Result<Batch, Fault> {
        let lasts = |batch: &Batch| Seconds::from_ns(batch.cpu_ns).0 >= self.seconds;
        let why =
            || Fault::new(format!("{}: no batch lasted the {} s that it was told", part.name, self.seconds));
        output.scored().filter(lasts).ok_or_else(why)
    }

    /// Runs a part on all CPUs at once; says whether its results had other last bits.
    fn measure(&self, part: &Known, record: &mut dyn Record) -> Result<(PerSec, Bits), Fault> {
        let words = [part.name.to_owned(), self.seconds.to_string()];
        let outputs = team::together(self.cpus.len(), |copy| {
            let cpu = self.cpus.get(copy).map(std::slice::from_ref).unwrap_or_default();
            self.program.run_words(part.name, &words, cpu)
        })?;
        let (mut batches, mut bits) = (Vec::new(), Bits::Same);
        for output in &outputs {
            let may_differ = self.program.calculates.inexact.is_some();
            let found = verify(part, &output.checks, may_differ)
                .map_err(|why| Fault::new(format!("{}: {why}", self.program.toolchain.called())))?;
            bits = if found == Bits::Near { found } else { bits };
            batches.push(self.scored(part, output)?);
        }
        let copies = batches.len();
        if let Some(overlap) = team::overlap(&batches).filter(|share| copies > 1 && *share < 0.5) {
            let kernel = part.name.to_owned();
            record.refuse(Finding::new(Recorded::CopiesApart { kernel, copies, overlap }));
        }
        Ok((rate(part, &batches)?, bits))
    }
}

/// The programs find by themselves how often they must repeat.
impl Probe for IndexProgram {
    fn take(&mut self, _: u64, record: &mut dyn Record) -> Result<(), Fault> {
        self.program.tell(self.cpus.len(), &self.cpus, record);
        self.program.is_same()?;
        let (mut rates, mut is_near) = (Vec::new(), false);
        for part in &self.parts {
            let (rate, bits) = self.measure(part, record)?;
            rates.push((part.name, rate));
            is_near |= bits == Bits::Near;
        }
        if is_near {
            self.program.note_bits(record);
        }
        (self.push)(&rates, record)?;
        self.program.is_same()
    }

    fn given_up(&self) -> Option<String> {
        self.program.gone()
    }

    fn cpus(&self) -> Vec<u32> {
        self.cpus.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::kernels::index;

    fn checks(of: &[(&str, u64)]) -> Vec<(String, Found)> {
        of.iter().map(|(name, bits)| ((*name).to_owned(), Found::Bits(*bits))).collect()
    }

    #[test]
    fn a_result_is_that_of_the_kernel_that_is_compiled_in() {
        let lu = Known { name: "lu", ops: 1.0, digest: 7 };
        let (_, sum, norm) = SUMS[1];
        let near = f64::from_bits(sum) * (1.0 + 1e-13);
        let of = |fnv: u64, sum: f64, may_differ| {
            verify(&lu, &checks(&[("lu.fnv", fnv), ("lu.sum", sum.to_bits()), ("lu.l2", norm)]), may_differ)
        };
        assert_eq!(of(7, 0.0, false), Ok(Bits::Same));
        assert_eq!(of(8, near, true), Ok(Bits::Near));
        assert!(of(8, near, false).unwrap_err().starts_with("wrong result of lu: 0000000000000008"));
        assert!(of(8, near * 1.001, true).is_err() && of(8, f64::NAN, true).is_err());
        assert!(verify(&lu, &checks(&[("fft.fnv", 7)]), true).unwrap_err().contains("does not tell"));
        // An integer part has no last bits.
        let sort = Known { name: "sort", ops: 1.0, digest: 7 };
        assert!(verify(&sort, &checks(&[("sort.fnv", 8)]), true).is_err());
    }

    #[test]
    fn rates_of_copies_add_up() {
        let part = Known { name: "sort", ops: 10.0, digest: 0 };
        let batch = |wall_ns| Batch { cycles: 4, cpu_ns: 1, wall_ns, end_ns: wall_ns };
        assert_eq!(rate(&part, &[batch(1_000_000_000), batch(2_000_000_000)]).unwrap().0, 60.0);
        assert!(rate(&part, &[batch(0)]).is_err());
    }

    /// The sources against the kernels of this build, with the compiler of this host.
    #[test]
    fn every_part_computes_the_same_in_c() {
        let language = PROGRAM.as_ref().unwrap();
        let toolchain = Toolchain::find(language, "gcc -O2 -ffp-contract=off", None).unwrap();
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in SOURCES {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let mut build = toolchain.command(language.build, folder.path(), folder.path()).unwrap();
        assert!(build.status().unwrap().success());
        let all = [index::integer::parts(1), index::floating::parts(1), index::memory::parts(1)];
        for part in all.into_iter().flat_map(Result::unwrap) {
            let mut command = toolchain.command(language.run, folder.path(), folder.path()).unwrap();
            let said = command.args([part.name, "0"]).output().unwrap();
            let output = super::super::output::read(&String::from_utf8(said.stdout).unwrap()).unwrap();
            let known = Known { name: part.name, ops: part.ops, digest: part.expected };
            assert_eq!(verify(&known, &output.checks, false), Ok(Bits::Same), "{}", part.name);
            // The sums are those of these bits.
            if SUMS.iter().any(|(name, ..)| *name == part.name) {
                let other = Known { digest: 0, ..known };
                assert_eq!(verify(&other, &output.checks, true), Ok(Bits::Near), "{}", part.name);
            }
        }
    }
}
