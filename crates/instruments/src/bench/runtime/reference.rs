//! The right results of each kernel: SciMark2's own, with a fresh generator of seed 101010, and the tolerance for
//! other ones.
//!
//! Doubles must have the reference's bits; a digest of many does if their FNV-1a hash is equal. Where fused
//! multiply-add or x87 changes the last bits, sums within 1e-10 (relative) are right too. Whole numbers (pivots, hits,
//! indices) are exact everywhere.

#![expect(clippy::excessive_precision, reason = "the digits are those of the published results")]

use super::kernel::{Kernel, Size};
use super::output::Found;

/// Relative tolerance of a sum where bits may differ.
const TOLERANCE: f64 = 1e-10;
/// Largest RMS error of FFT's forward and inverse transform together (SciMark2's own check).
const MOST_RMS: f64 = 1e-10;

/// One right result.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Right {
    /// `NAME.sum`, `NAME.l2` and `NAME.fnv` of many doubles.
    Digest {
        sum: f64,
        l2: f64,
        fnv: u64,
    },
    Whole(i64),
    AtMost(f64),
}

/// A result with its name, and whether a program may leave it out.
type Entry = (&'static str, bool, Right);

const fn digest(sum: f64, l2: f64, fnv: u64) -> Right {
    Right::Digest { sum, l2, fnv }
}

const HITS: [Entry; 8] = [
    ("hits.10", false, Right::Whole(9)),
    ("hits.100", false, Right::Whole(85)),
    ("hits.1000", true, Right::Whole(790)),
    ("hits.10000", false, Right::Whole(7884)),
    ("hits.100000", true, Right::Whole(78_383)),
    ("hits.1000000", false, Right::Whole(784_949)),
    ("hits.10000000", false, Right::Whole(7_852_998)),
    ("hits.16777216", false, Right::Whole(13_177_255)),
];

static FFT_SMALL: [Entry; 3] = [
    ("forward", true, digest(1_057.287_033_096_559_5, 839.419_802_431_139_71, 0x39ec_f72c_ef75_7773)),
    ("inverse", true, digest(1_029.030_166_613_416_9, 26.231_868_825_973_102, 0x17c5_3731_bd47_4399)),
    ("rms", true, Right::AtMost(MOST_RMS)),
];
static FFT_LARGE: [Entry; 3] = [
    ("forward", true, digest(1_082_661.921_890_890_7, 855_871.998_237_540_95, 0xa397_dd62_c300_713a)),
    ("inverse", true, digest(1_048_137.427_061_960_5, 835.812_498_278_820_04, 0xb9fb_1bc4_fa97_5825)),
    ("rms", true, Right::AtMost(MOST_RMS)),
];
static SOR_SMALL: [Entry; 3] = [
    ("sweep1", true, digest(5_056.829_672_008_887_4, 52.588_586_534_423_229, 0xea63_fda1_c84e_4f0b)),
    ("sweep10", true, digest(5_063.040_415_869_752_9, 51.022_733_020_541_651, 0x66ee_1dc2_ed94_ab93)),
    ("sweep100", true, digest(5_069.985_044_502_294_8, 51.090_362_659_206_953, 0x2d43_6b7a_0876_8541)),
];
static SOR_LARGE: [Entry; 2] = [
    ("sweep1", true, digest(499_797.222_815_485_67, 518.145_956_939_793_45, 0x3c52_68e8_4fa6_1a93)),
    ("sweep100", false, digest(500_119.370_184_303_14, 500.633_896_692_325_78, 0xdf96_b86f_040a_b756)),
];
static SPARSE_SMALL: [Entry; 4] = [
    ("y", true, digest(1_190.647_238_598_593_3, 40.342_844_364_564_648, 0x3a8c_7e28_d9f1_9b98)),
    ("row.last", true, Right::Whole(5000)),
    ("col.last", true, Right::Whole(796)),
    ("col.sum", true, Right::Whole(995_050)),
];
static SPARSE_LARGE: [Entry; 4] = [
    ("y", true, digest(242_020.312_518_470_22, 794.026_067_534_368_51, 0x605e_c483_ccd1_ca8d)),
    ("row.last", true, Right::Whole(1_000_000)),
    ("col.last", true, Right::Whole(89_991)),
    ("col.sum", true, Right::Whole(22_497_750_450)),
];
static LU_SMALL: [Entry; 4] = [
    ("lu", true, digest(453.735_552_164_617_5, 70.030_286_099_374_607, 0x5332_f148_1299_0285)),
    ("pivot.0", true, Right::Whole(62)),
    ("pivot.sum", true, Right::Whole(7553)),
    ("pivot.weighted", true, Right::Whole(421_752)),
];
static LU_LARGE: [Entry; 4] = [
    ("lu", true, digest(5_788.036_114_191_845_6, 1_664.653_157_008_138_1, 0x213e_247c_ef97_9b84)),
    ("pivot.0", true, Right::Whole(146)),
    ("pivot.sum", true, Right::Whole(742_099)),
    ("pivot.weighted", true, Right::Whole(416_162_805)),
];

const fn entries(kernel: Kernel, size: Size) -> &'static [Entry] {
    match (kernel, size) {
        (Kernel::Fft, Size::Small) => &FFT_SMALL,
        (Kernel::Fft, Size::Large) => &FFT_LARGE,
        (Kernel::Sor, Size::Small) => &SOR_SMALL,
        (Kernel::Sor, Size::Large) => &SOR_LARGE,
        (Kernel::MonteCarlo, _) => &HITS,
        (Kernel::Sparse, Size::Small) => &SPARSE_SMALL,
        (Kernel::Sparse, Size::Large) => &SPARSE_LARGE,
        (Kernel::Lu, Size::Small) => &LU_SMALL,
        (Kernel::Lu, Size::Large) => &LU_LARGE,
    }
}

/// How exact right results are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bits {
    Same,
    /// Within the tolerance.
    Near,
}

/// Compares all results that a program printed; `may_differ` allows other last bits. Fails with the first wrong
/// result.
pub fn verify(
    kernel: Kernel,
    size: Size,
    checks: &[(String, Found)],
    may_differ: bool,
) -> Result<Bits, String> {
    let entries = entries(kernel, size);
    let mut known = 0;
    let mut bits = Bits::Same;
    for (name, is_needed, right) in entries {
        let parts: &[&str] =
            if matches!(right, Right::Digest { .. }) { &[".sum", ".l2", ".fnv"] } else { &[""] };
        let found: Vec<Found> = parts.iter().filter_map(|part| find(checks, name, part)).collect();
        known += found.len();
        if found.is_empty() && !is_needed {
            continue;
        }
        if found.len() != parts.len() {
            return Err(format!("wrong result: it does not tell {name}"));
        }
        bits = match one(*right, &found, may_differ) {
            Some(Bits::Same) => bits,
            Some(Bits::Near) => Bits::Near,
            None => return Err(wrong(name, *right, &found)),
        };
    }
    if known == checks.len() {
        return Ok(bits);
    }
    let is_known = |(name, _): &&(String, Found)| {
        let stem = [".sum", ".l2", ".fnv"].iter().find_map(|part| name.strip_suffix(part)).unwrap_or(name);
        entries.iter().any(|(known, ..)| *known == stem || *known == name.as_str())
    };
    let stray = checks.iter().find(|check| !is_known(check)).map_or("?", |(name, _)| name.as_str());
    Err(format!("wrong result: {stray} is no result of {} {}", kernel.name(), size.name()))
}

fn find(checks: &[(String, Found)], name: &str, part: &str) -> Option<Found> {
    checks.iter().find(|(known, _)| known.strip_suffix(part) == Some(name)).map(|(_, found)| *found)
}

fn one(right: Right, found: &[Found], may_differ: bool) -> Option<Bits> {
    match (right, found) {
        (Right::Whole(wanted), [Found::Whole(is)]) => (wanted == *is).then_some(Bits::Same),
        (Right::AtMost(most), [Found::Bits(bits)]) => {
            let value = f64::from_bits(*bits);
            (value.is_finite() && (0.0..=most).contains(&value)).then_some(Bits::Same)
        }
        (Right::Digest { sum, l2, fnv }, [Found::Bits(is_sum), Found::Bits(is_l2), Found::Bits(is_fnv)]) => {
            let near = |wanted: f64, is: u64| ((f64::from_bits(is) - wanted) / wanted).abs() <= TOLERANCE;
            let is_near = near(sum, *is_sum) && near(l2, *is_l2);
            match (fnv == *is_fnv, may_differ) {
                // The sum of the same doubles; its own last bit is the adding's.
                (true, _) if is_near => Some(Bits::Same),
                (false, true) if is_near => Some(Bits::Near),
                _ => None,
            }
        }
        _ => None,
    }
}

fn wrong(name: &str, right: Right, found: &[Found]) -> String {
    let said = |found: &Found| match found {
        Found::Whole(number) => number.to_string(),
        Found::Bits(bits) => f64::from_bits(*bits).to_string(),
    };
    let first = found.first().map(said).unwrap_or_default();
    let hash = |found: &[Found]| match found.get(2) {
        Some(Found::Bits(bits)) => format!("{bits:016x}"),
        _ => "none".to_owned(),
    };
    match right {
        Right::Whole(wanted) => format!("wrong result: {name} is {first}, not {wanted}"),
        Right::AtMost(most) => format!("wrong result: {name} is {first}, above {most}"),
        Right::Digest { sum, fnv, .. } => {
            format!(
                "wrong result: {name} has the sum {first} and hash {}, not {sum} and {fnv:016x}",
                hash(found)
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output of a right program.
    fn right(kernel: Kernel, size: Size) -> Vec<(String, Found)> {
        let mut checks = Vec::new();
        for (name, _, right) in entries(kernel, size) {
            match *right {
                Right::Whole(number) => checks.push(((*name).to_owned(), Found::Whole(number))),
                Right::AtMost(_) => checks.push(((*name).to_owned(), Found::Bits(3.87e-16f64.to_bits()))),
                Right::Digest { sum, l2, fnv } => {
                    let parts = [(".sum", sum.to_bits()), (".l2", l2.to_bits()), (".fnv", fnv)];
                    checks.extend(parts.map(|(part, bits)| (format!("{name}{part}"), Found::Bits(bits))));
                }
            }
        }
        checks
    }

    fn every() -> impl Iterator<Item = (Kernel, Size)> {
        Kernel::ALL.into_iter().flat_map(|kernel| [(kernel, Size::Small), (kernel, Size::Large)])
    }

    #[test]
    fn right_results_are_right() {
        for (kernel, size) in every() {
            let checks = right(kernel, size);
            assert_eq!(verify(kernel, size, &checks, false), Ok(Bits::Same), "{kernel:?} {size:?}");
            assert_eq!(verify(kernel, size, &checks, true), Ok(Bits::Same), "{kernel:?} {size:?}");
        }
    }

    #[test]
    fn every_single_wrong_or_missing_result_is_found() {
        for (kernel, size) in every() {
            let good = right(kernel, size);
            for at in 0..good.len() {
                let mut bad = good.clone();
                bad[at].1 = match bad[at].1 {
                    Found::Whole(number) => Found::Whole(number + 1),
                    Found::Bits(bits) if bad[at].0.ends_with(".fnv") => Found::Bits(bits ^ 1),
                    Found::Bits(bits) => Found::Bits((f64::from_bits(bits) * 1.000_001 + 1e-9).to_bits()),
                };
                let why = verify(kernel, size, &bad, false).unwrap_err();
                assert!(why.starts_with("wrong result: "), "{why}");
                let name =
                    good[at].0.trim_end_matches(".sum").trim_end_matches(".l2").trim_end_matches(".fnv");
                assert!(why.contains(name), "{why}");
                // A hash that differs is forgiven where bits may; nothing else is.
                let is_hash = good[at].0.ends_with(".fnv");
                assert_eq!(verify(kernel, size, &bad, true).is_ok(), is_hash, "{kernel:?} {}", good[at].0);
            }
        }
    }

    #[test]
    fn what_may_be_left_out_is_right_where_it_is_there() {
        let all = right(Kernel::MonteCarlo, Size::Small);
        let two: Vec<_> =
            all.iter().filter(|(name, _)| name == "hits.1000" || name == "hits.100000").cloned().collect();
        assert_eq!(verify(Kernel::MonteCarlo, Size::Large, &two, false), Ok(Bits::Same));
        assert!(
            verify(Kernel::MonteCarlo, Size::Small, &two[..1], false).unwrap_err().contains("does not tell")
        );
        let mut large = right(Kernel::Sor, Size::Large);
        large.truncate(3);
        assert_eq!(verify(Kernel::Sor, Size::Large, &large, false), Ok(Bits::Same));
        large.truncate(2);
        assert!(verify(Kernel::Sor, Size::Large, &large, false).unwrap_err().contains("sweep1"));
    }

    #[test]
    fn what_is_not_known_is_no_result() {
        let mut checks = right(Kernel::Lu, Size::Small);
        checks.push(("extra".to_owned(), Found::Whole(1)));
        assert!(
            verify(Kernel::Lu, Size::Small, &checks, true).unwrap_err().contains("extra is no result of lu")
        );
        let nan = Found::Bits(f64::NAN.to_bits());
        let mut checks = right(Kernel::Fft, Size::Small);
        checks.iter_mut().filter(|(name, _)| name == "rms").for_each(|(_, found)| *found = nan);
        assert!(verify(Kernel::Fft, Size::Small, &checks, true).is_err());
    }
}
