//! Which key a request of a store is about, whether it reads or writes it, and how long the key's value is.
//!
//! Sizes in bytes. The size of a key's value is the key's own, so that whoever reads it knows what must come. Keys are
//! numbered in order of popularity; a store hashes their names, so that popular ones lie nowhere in particular.

use std::fmt;
use std::str::FromStr;

use model::params::parse_bytes;
use serde::{Deserialize, Serialize};

use crate::bench::kernels::random::Random;

/// YCSB's default.
pub const USUAL_THETA: f64 = 0.99;
/// No value is longer.
pub const MOST_VALUE: u32 = 512 << 20;
/// Of 2^53, as random numbers are drawn.
const WHOLE: f64 = (1u64 << 53) as f64;

/// How often keys are asked for beside each other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Popularity {
    Uniform,
    /// The k-th most popular in proportion to 1/k^theta.
    Zipf(f64),
}

impl FromStr for Popularity {
    type Err = String;

    fn from_str(text: &str) -> Result<Popularity, String> {
        let wrong = || format!("`{text}` is no popularity: uniform, zipf (theta {USUAL_THETA}) or zipf:0.8");
        match text.split_once(':') {
            None if text == "uniform" => Ok(Popularity::Uniform),
            None if text == "zipf" => Ok(Popularity::Zipf(USUAL_THETA)),
            Some(("zipf", theta)) => {
                let theta = theta.parse::<f64>().ok().filter(|theta| *theta > 0.0 && *theta <= 10.0);
                theta.map(Popularity::Zipf).ok_or_else(wrong)
            }
            _ => Err(wrong()),
        }
    }
}

/// How long values are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sizes {
    Fixed(u32),
    /// Every length from the first to the last as often.
    Uniform(u32, u32),
    /// Lengths, and how many keys have them beside the others.
    Weighted(Vec<(u32, u32)>),
}

impl FromStr for Sizes {
    type Err = String;

    /// `100`, `64-1KiB`, or `100*9,4KiB*1`.
    fn from_str(text: &str) -> Result<Sizes, String> {
        let wrong = || {
            format!(
                "`{text}` is no size of values: 100, 1KiB, 64-1024 or 100*9,4KiB*1, from 1 to {MOST_VALUE}"
            )
        };
        let size = |text: &str| {
            let size = parse_bytes(text.trim()).and_then(|size| u32::try_from(size).ok());
            size.filter(|size| (1..=MOST_VALUE).contains(size))
        };
        if text.contains('*') {
            let one = |part: &str| {
                let (length, weight) = part.split_once('*')?;
                let weight = weight.trim().parse::<u32>().ok().filter(|weight| *weight > 0)?;
                Some((size(length)?, weight))
            };
            let all: Option<Vec<_>> = text.split(',').map(one).collect();
            return all.map(Sizes::Weighted).ok_or_else(wrong);
        }
        match text.split_once('-') {
            None => size(text).map(Sizes::Fixed).ok_or_else(wrong),
            Some((from, to)) => match (size(from), size(to)) {
                (Some(from), Some(to)) if from <= to => Ok(Sizes::Uniform(from, to)),
                _ => Err(wrong()),
            },
        }
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sizes::Fixed(size) => write!(to, "{size} B"),
            Sizes::Uniform(from, last) => write!(to, "{from} to {last} B"),
            Sizes::Weighted(all) => {
                let words: Vec<String> =
                    all.iter().map(|(size, weight)| format!("{size}*{weight}")).collect();
                write!(to, "{} B", words.join(","))
            }
        }
    }
}

impl Sizes {
    pub fn most(&self) -> u32 {
        match self {
            Sizes::Fixed(size) | Sizes::Uniform(_, size) => *size,
            Sizes::Weighted(all) => all.iter().map(|(size, _)| *size).max().unwrap_or(0),
        }
    }

    /// Over many keys.
    pub fn mean(&self) -> f64 {
        match self {
            Sizes::Fixed(size) => f64::from(*size),
            Sizes::Uniform(from, to) => (f64::from(*from) + f64::from(*to)) / 2.0,
            Sizes::Weighted(all) => {
                let weights: f64 = all.iter().map(|(_, weight)| f64::from(*weight)).sum();
                all.iter().map(|(size, weight)| f64::from(*size) * f64::from(*weight)).sum::<f64>() / weights
            }
        }
    }

    /// The length of one key's value: the same whenever and wherever it is asked.
    pub fn size_of(&self, key: u32, seed: u64) -> u32 {
        let random = || Random::new(seed ^ u64::from(key).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        match self {
            Sizes::Fixed(size) => *size,
            Sizes::Uniform(from, to) => {
                let span = u64::from(to - from) + 1;
                from + u32::try_from(random().below(span)).unwrap_or(0)
            }
            Sizes::Weighted(all) => {
                let total: u64 = all.iter().map(|(_, weight)| u64::from(*weight)).sum();
                let mut left = random().below(total.max(1));
                for (size, weight) in all {
                    match left.checked_sub(u64::from(*weight)) {
                        None => return *size,
                        Some(rest) => left = rest,
                    }
                }
                self.most()
            }
        }
    }
}

/// Draws keys, and whether to read or write them.
#[derive(Clone, Debug, PartialEq)]
pub struct Keys {
    count: u32,
    /// Of 2^53.
    reads: u64,
    zipf: Option<Zipf>,
}

/// A request as a number: the key, and whether it writes.
pub fn which(key: u32, writes: bool) -> u32 {
    key << 1 | u32::from(writes)
}

/// The key, and whether it is written.
pub fn parts(which: u32) -> (u32, bool) {
    (which >> 1, which & 1 == 1)
}

impl Keys {
    /// Of `count` keys, which is at least 1; `reads` is a share from 0 to 1.
    pub fn new(count: u32, popularity: Popularity, reads: f64) -> Keys {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 2^53")]
        let reads = (reads * WHOLE) as u64;
        let zipf = match popularity {
            Popularity::Uniform => None,
            Popularity::Zipf(theta) => Some(Zipf::new(count, theta)),
        };
        Keys { count, reads, zipf }
    }

    #[inline]
    pub fn draw(&self, random: &mut Random) -> u32 {
        let key = match &self.zipf {
            None => random.below(u64::from(self.count)),
            Some(zipf) => zipf.draw(random),
        };
        let writes = random.next() >> 11 >= self.reads;
        which(u32::try_from(key).unwrap_or(0), writes)
    }
}

/// Numbers below `count`, the k-th in proportion to 1/(k+1)^theta: rejection-inversion after Hörmann and Derflinger
/// (1996), which is exact, needs no table, and rejects less than one number in two.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Zipf {
    count: f64,
    theta: f64,
    from: f64,
    to: f64,
    near: f64,
}

impl Zipf {
    fn new(count: u32, theta: f64) -> Zipf {
        let mut zipf = Zipf { count: f64::from(count), theta, from: 0.0, to: 0.0, near: 0.0 };
        zipf.from = zipf.area(1.5) - 1.0;
        zipf.to = zipf.area(zipf.count + 0.5);
        zipf.near = 2.0 - zipf.at_area(zipf.area(2.5) - 2f64.powf(-theta));
        zipf
    }

    /// The integral of x^-theta from 1 on.
    fn area(&self, x: f64) -> f64 {
        let log = x.ln();
        let power = (1.0 - self.theta) * log;
        // Near theta=1 the quotient loses its digits.
        log * if power.abs() > 1e-8 { power.exp_m1() / power } else { 1.0 + power / 2.0 }
    }

    /// Its inverse.
    fn at_area(&self, area: f64) -> f64 {
        let power = (area * (1.0 - self.theta)).max(-1.0);
        let log = area * if power.abs() > 1e-8 { power.ln_1p() / power } else { 1.0 - power / 2.0 };
        log.exp()
    }

    fn draw(&self, random: &mut Random) -> u64 {
        loop {
            let area = self.to + random.unit() * (self.from - self.to);
            let x = self.at_area(area);
            let near = x.round().clamp(1.0, self.count);
            if near - x <= self.near || area >= self.area(near + 0.5) - near.powf(-self.theta) {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "from 1 to count"
                )]
                return near as u64 - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn counts(count: u32, popularity: Popularity, drawn: u32) -> Vec<u32> {
        let keys = Keys::new(count, popularity, 1.0);
        let mut random = Random::new(5);
        let mut counts = vec![0; count as usize];
        (0..drawn).for_each(|_| counts[parts(keys.draw(&mut random)).0 as usize] += 1);
        counts
    }

    #[test]
    fn keys_are_as_popular_as_they_should_be() {
        for (theta, popularity) in [
            (0.0, Popularity::Uniform),
            (0.5, Popularity::Zipf(0.5)),
            (0.99, Popularity::Zipf(0.99)),
            (1.0, Popularity::Zipf(1.0)),
            (2.0, Popularity::Zipf(2.0)),
        ] {
            let drawn = 200_000;
            let all = counts(50, popularity, drawn);
            let total: f64 = (1..=50).map(|rank| f64::from(rank).powf(-theta)).sum();
            for (rank, seen) in (1..).zip(&all) {
                let expected = f64::from(drawn) * f64::from(rank).powf(-theta) / total;
                // Five standard deviations of a count.
                assert!(
                    (f64::from(*seen) - expected).abs() < 5.0 * expected.sqrt() + 1.0,
                    "{theta} {rank}: {seen} {expected}"
                );
            }
        }
        assert_eq!(counts(1, Popularity::Zipf(0.99), 10), [10]);
    }

    #[test]
    fn reads_and_writes_are_mixed_as_asked() {
        let writes = |reads: f64| {
            let keys = Keys::new(9, Popularity::Uniform, reads);
            let mut random = Random::new(5);
            (0..10_000).filter(|_| parts(keys.draw(&mut random)).1).count()
        };
        assert_eq!((writes(1.0), writes(0.0)), (0, 10_000));
        assert!(writes(0.9).abs_diff(1000) < 150, "{}", writes(0.9));
    }

    proptest! {
        #[test]
        fn sizes_stay_within_their_bounds(key: u32, seed: u64, from in 1u32..5000, more in 0u32..5000) {
            let sizes = Sizes::Uniform(from, from + more);
            let size = sizes.size_of(key, seed);
            prop_assert!((from..=from + more).contains(&size));
            prop_assert_eq!(size, sizes.size_of(key, seed));
            prop_assert!([7, 9].contains(&Sizes::Weighted(vec![(7, 3), (9, 1)]).size_of(key, seed)));
        }

        #[test]
        fn requests_are_numbers(key in 0u32..1 << 30, writes: bool) {
            prop_assert_eq!(parts(which(key, writes)), (key, writes));
        }

        #[test]
        fn any_text_is_read(text in "[zipf0-9:.*,KiB -]{0,16}") {
            let _any = text.parse::<Sizes>();
            let _any = text.parse::<Popularity>();
        }
    }

    #[test]
    fn words_are_read_or_explained() {
        assert_eq!("zipf".parse(), Ok(Popularity::Zipf(0.99)));
        assert_eq!("zipf:0.5".parse(), Ok(Popularity::Zipf(0.5)));
        for bad in ["", "gauss", "zipf:", "zipf:0", "zipf:nan", "zipf:-1", "uniform:2"] {
            assert!(bad.parse::<Popularity>().unwrap_err().contains("uniform"), "{bad}");
        }
        assert_eq!("1KiB".parse(), Ok(Sizes::Fixed(1024)));
        assert_eq!("64-1KiB".parse(), Ok(Sizes::Uniform(64, 1024)));
        assert_eq!("100*9,4KiB*1".parse(), Ok(Sizes::Weighted(vec![(100, 9), (4096, 1)])));
        for bad in ["", "0", "9-8", "100*0", "100*9,", "many", "1GiB", "5-"] {
            assert!(bad.parse::<Sizes>().unwrap_err().contains("no size"), "{bad}");
        }
        let sizes = Sizes::Weighted(vec![(100, 9), (4096, 1)]);
        let large = (0..10_000).filter(|key| sizes.size_of(*key, 3) == 4096).count();
        assert!(large.abs_diff(1000) < 150, "{large}");
    }
}
