//! How many different names there are: exactly while they are few, else by HyperLogLog with 16,384 registers, of which
//! merging takes the larger ones.
//!
//! The standard error of an estimate is 0.8 % of the number. Which names there were is not kept.

use std::collections::HashSet;
use std::hash::BuildHasherDefault;

use serde::{Deserialize, Serialize};

use super::candidates::Itself;

const BITS: u32 = 14;
const REGISTERS: usize = 1 << BITS;
/// The bits of a hash that a register looks at.
const LEFT: u32 = u64::BITS - BITS;

/// A number of different names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Distinct {
    registers: Box<[u8; REGISTERS]>,
    /// The hashes of all names; none once there are more than [`MOST_EXACT`].
    few: Option<HashSet<u64, BuildHasherDefault<Itself>>>,
}

/// Names that are counted exactly.
const MOST_EXACT: usize = 2048;

/// The registers, and the hashes by rising number.
#[derive(Serialize, Deserialize)]
struct Stored(Vec<u8>, Option<Vec<u64>>);

impl Default for Distinct {
    fn default() -> Distinct {
        Distinct { registers: Box::new([0; REGISTERS]), few: Some(HashSet::default()) }
    }
}

impl Distinct {
    /// The standard error of [`estimate`](Self::estimate), as a share.
    pub const ERROR: f64 = 1.04 / (1u64 << (BITS / 2)) as f64;

    #[inline(always)]
    pub fn add(&mut self, hash: u64) {
        let register = &mut self.registers[(hash >> LEFT) as usize];
        // A bit beyond those looked at ends the search.
        let rank = ((hash << BITS) | (1 << (BITS - 1))).leading_zeros() as u8 + 1;
        if rank > *register {
            *register = rank;
        }
        if let Some(few) = &mut self.few
            && few.insert(hash)
        {
            self.check();
        }
    }

    /// Gives the hashes up where they are too many.
    #[cold]
    #[inline(never)]
    fn check(&mut self) {
        if self.few.as_ref().is_some_and(|few| few.len() > MOST_EXACT) {
            self.few = None;
        }
    }

    /// The number, where the names are few enough to be counted.
    pub fn exact(&self) -> Option<usize> {
        self.few.as_ref().map(HashSet::len)
    }

    pub fn merge(&mut self, other: &Distinct) {
        for (mine, theirs) in self.registers.iter_mut().zip(&other.registers[..]) {
            *mine = (*mine).max(*theirs);
        }
        match (&mut self.few, &other.few) {
            (Some(mine), Some(theirs)) => mine.extend(theirs),
            (mine, None) => *mine = None,
            (None, Some(_)) => {}
        }
        self.check();
    }

    /// The number: exact where it is [known](Self::exact), else by Ertl's estimator, which has no bias at any size and
    /// needs no table.
    pub fn estimate(&self) -> f64 {
        self.exact().map_or_else(|| self.by_registers(), |few| few as f64)
    }

    fn by_registers(&self) -> f64 {
        let mut having = [0u32; LEFT as usize + 2];
        for &register in &self.registers[..] {
            having[usize::from(register)] += 1;
        }
        let m = REGISTERS as f64;
        let mut z = m * tau(1.0 - f64::from(having[LEFT as usize + 1]) / m);
        for &count in having[1..=LEFT as usize].iter().rev() {
            z = 0.5 * (z + f64::from(count));
        }
        z += m * sigma(f64::from(having[0]) / m);
        m * m / (2.0 * std::f64::consts::LN_2 * z)
    }
}

/// x + the sum of 2^(k-1) x^(2^k): what empty registers add.
fn sigma(mut x: f64) -> f64 {
    if x >= 1.0 {
        return f64::INFINITY;
    }
    let (mut y, mut z) = (1.0, x);
    loop {
        x *= x;
        let before = z;
        z += x * y;
        y += y;
        if z <= before {
            return z;
        }
    }
}

/// A third of 1 - x - the sum of 2^-k (1 - x^(2^-k))^2: what full registers take away.
fn tau(mut x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return 0.0;
    }
    let (mut y, mut z) = (1.0, 1.0 - x);
    loop {
        x = x.sqrt();
        let before = z;
        y *= 0.5;
        z -= (1.0 - x).powi(2) * y;
        if z >= before {
            return z / 3.0;
        }
    }
}

impl From<Distinct> for Stored {
    fn from(from: Distinct) -> Stored {
        let sorted = |few: HashSet<u64, _>| {
            let mut all: Vec<u64> = few.into_iter().collect();
            all.sort_unstable();
            all
        };
        Stored(from.registers.to_vec(), from.few.map(sorted))
    }
}

impl TryFrom<Stored> for Distinct {
    type Error = &'static str;

    fn try_from(Stored(bytes, few): Stored) -> Result<Distinct, &'static str> {
        let registers: Box<[u8; REGISTERS]> =
            bytes.into_boxed_slice().try_into().map_err(|_| "another number of registers")?;
        if registers.iter().any(|&register| u32::from(register) > LEFT + 1) {
            return Err("a register beyond what a hash can give");
        }
        if few.as_ref().is_some_and(|few| few.len() > MOST_EXACT || !few.is_sorted_by(|a, b| a < b)) {
            return Err("hashes that are too many or out of order");
        }
        Ok(Distinct { registers, few: few.map(|few| few.into_iter().collect()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash;

    fn of(names: impl Iterator<Item = u64>) -> Distinct {
        let mut all = Distinct::default();
        names.for_each(|name| all.add(hash::name(&name.to_le_bytes())));
        all
    }

    #[test]
    fn estimates_are_within_the_stated_error() {
        for n in [0u64, 1, 10, 100, 1_000, 10_000, 40_000, 200_000] {
            let all = of(0..n);
            assert_eq!(all.exact(), (n <= MOST_EXACT as u64).then_some(n as usize));
            assert!(all.exact().is_none_or(|few| all.estimate() == few as f64));
            let estimate = all.by_registers();
            let allowed = 4.0 * Distinct::ERROR * n as f64;
            assert!((estimate - n as f64).abs() <= allowed.max(0.01 * n as f64), "{estimate} for {n}");
        }
    }

    #[test]
    fn what_both_have_counts_once_whatever_the_order() {
        let (mut one, two) = (of(0..3000), of(2000..5000));
        let mut other = two.clone();
        other.merge(&one);
        one.merge(&two);
        assert_eq!(one, other);
        assert_eq!(one, of(0..5000));
        let (mut few, more) = (of(0..1000), of(500..2000));
        few.merge(&more);
        assert_eq!((few.exact(), &few), (Some(2000), &of(0..2000)));
        let bytes = postcard::to_stdvec(&one).unwrap();
        assert_eq!(postcard::from_bytes::<Distinct>(&bytes).unwrap(), one);
    }

    #[test]
    fn extremes_and_damage() {
        let mut all = Distinct::default();
        all.add(0);
        all.add(u64::MAX);
        assert_eq!(all.registers[0], LEFT as u8 + 1);
        let stored = |registers: Vec<u8>, few| Distinct::try_from(Stored(registers, few));
        assert!(stored(vec![0; 7], None).is_err() && stored(vec![99; REGISTERS], None).is_err());
        assert!(stored(vec![0; REGISTERS], Some(vec![2, 1])).is_err());
        let full = stored(vec![LEFT as u8 + 1; REGISTERS], None).unwrap();
        assert!(full.estimate() > 1e18);
    }
}
