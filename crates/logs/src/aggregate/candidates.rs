//! Which paths may be among the largest: a sample of paths that does not depend on the order of the requests.
//!
//! Each request draws a score, its hash over its weight; a path has the lowest score of its requests, and the 4096
//! paths with the lowest scores stay. A path with a share s of all weight is missing with a chance of about
//! exp(-4096 s): one in 60 at 0.1 %, one in 10^8 at 0.45 %.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

/// How many paths are kept.
const KEPT: usize = 4096;
/// How many there may be before all but those are given up: more of them would be let in for longer, fewer sorted more
/// often.
const MOST: usize = KEPT + KEPT / 4;
/// Bytes of a path that are kept; two longer ones that differ later stay two.
const LONGEST: usize = 1024;

/// A sample of paths by weight.
#[derive(Debug, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Candidates {
    paths: HashMap<u64, Candidate, BuildHasherDefault<Itself>>,
    /// Only scores below this one can stay.
    limit: u64,
    /// The lowest limit of all samples that will be merged with this one: what stays in none of them need not enter.
    lowest: Arc<AtomicU64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Candidate {
    score: u64,
    path: Box<[u8]>,
}

/// Keys are hashes already.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Itself(u64);

impl Hasher for Itself {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = crate::hash::name(bytes);
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

/// A copy goes its own way: what one of both keeps out, the other may let in.
impl Clone for Candidates {
    fn clone(&self) -> Candidates {
        Candidates::over(self.paths.clone(), self.limit)
    }
}

impl Default for Candidates {
    fn default() -> Candidates {
        Candidates::over(HashMap::default(), u64::MAX)
    }
}

impl Candidates {
    fn over(paths: HashMap<u64, Candidate, BuildHasherDefault<Itself>>, limit: u64) -> Candidates {
        Candidates { paths, limit, lowest: Arc::new(AtomicU64::new(limit)) }
    }

    /// An empty sample, to be filled by another thread at the same time and then merged with this one.
    pub fn beside(&self) -> Candidates {
        Candidates { lowest: Arc::clone(&self.lowest), ..Candidates::default() }
    }

    /// True if the score of a request that drew `drawn` is enough to keep its path; false for a weight of 0.
    #[inline(always)]
    pub fn may_stay(&self, drawn: u64, weight: u64) -> bool {
        // drawn / weight < limit, without dividing.
        u128::from(drawn) < u128::from(self.limit) * u128::from(weight)
    }

    /// A request for `path` (whose hash is `key`) drew `drawn`; a weight of 0 takes no part.
    #[inline]
    pub fn offer(&mut self, key: u64, path: &[u8], drawn: u64, weight: u64) {
        if self.may_stay(drawn, weight) {
            self.enter(key, path, drawn / weight);
        }
    }

    #[cold]
    fn enter(&mut self, key: u64, path: &[u8], score: u64) {
        self.limit = self.limit.min(self.lowest.load(Ordering::Relaxed));
        if score >= self.limit {
            return;
        }
        let make = || Candidate { score, path: path[..path.len().min(LONGEST)].into() };
        let candidate = self.paths.entry(key).or_insert_with(make);
        candidate.score = candidate.score.min(score);
        // Should two paths ever share a hash, the lower one names it, whichever came first.
        if path < &candidate.path[..] {
            candidate.path = make().path;
        }
        if self.paths.len() >= MOST {
            self.prune();
        }
    }

    /// Keeps the lowest; of equal scores the lower hashes.
    fn prune(&mut self) {
        if self.paths.len() <= KEPT {
            return;
        }
        let mut all: Vec<(u64, u64)> = self.paths.iter().map(|(key, path)| (path.score, *key)).collect();
        let (_, &mut last, _) = all.select_nth_unstable(KEPT - 1);
        self.paths.retain(|key, path| (path.score, *key) <= last);
        self.limit = last.0.saturating_add(1);
        self.lowest.fetch_min(self.limit, Ordering::Relaxed);
    }

    pub fn merge(&mut self, other: &Candidates) {
        for (key, path) in &other.paths {
            if path.score < self.limit {
                self.enter(*key, &path.path, path.score);
            }
        }
    }

    /// How many paths were offered; `None` where some may not have stayed.
    pub fn all(&self) -> Option<usize> {
        (self.limit == u64::MAX && self.paths.len() < KEPT).then_some(self.paths.len())
    }

    /// Hash and path of every candidate, by rising score.
    pub fn kept(&self) -> Vec<(u64, &[u8])> {
        let mut all: Vec<_> = self.paths.iter().collect();
        all.sort_unstable_by_key(|(key, path)| (path.score, **key));
        all.truncate(KEPT);
        all.into_iter().map(|(key, path)| (*key, &path.path[..])).collect()
    }
}

/// By rising score, then hash.
#[derive(Serialize, Deserialize)]
struct Stored(Vec<(u64, Candidate)>);

impl From<Candidates> for Stored {
    fn from(mut from: Candidates) -> Stored {
        from.prune();
        let mut all: Vec<(u64, Candidate)> = from.paths.into_iter().collect();
        all.sort_unstable_by_key(|(key, path)| (path.score, *key));
        Stored(all)
    }
}

impl TryFrom<Stored> for Candidates {
    type Error = &'static str;

    fn try_from(stored: Stored) -> Result<Candidates, &'static str> {
        if stored.0.len() > KEPT || stored.0.iter().any(|(_, path)| path.path.len() > LONGEST) {
            return Err("more or longer paths than are kept");
        }
        if !stored.0.is_sorted_by_key(|(key, path)| (path.score, *key)) {
            return Err("paths out of order");
        }
        let limit = match stored.0.last() {
            Some((_, last)) if stored.0.len() == KEPT => last.score.saturating_add(1),
            _ => u64::MAX,
        };
        Ok(Candidates::over(stored.0.into_iter().collect(), limit))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::hash;

    fn offer(to: &mut Candidates, path: u64, line: u64) {
        let text = format!("/{path}");
        let key = hash::name(text.as_bytes());
        let weight = path % 5;
        to.offer(key, text.as_bytes(), hash::request(key, line, weight, 0), weight);
    }

    fn bytes(of: &Candidates) -> Vec<u8> {
        postcard::to_stdvec(of).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn order_and_cuts_change_nothing(seed in any::<u64>(), cut in 0usize..30_000) {
            // More paths than are kept, drawn from 20,000 so that many occur twice.
            let lines: Vec<(u64, u64)> = (0..30_000u64).map(|n| (hash::mix(seed, n) % 20_000, n)).collect();
            let fill = |lines: &mut dyn Iterator<Item = &(u64, u64)>| {
                let mut all = Candidates::default();
                lines.for_each(|(path, line)| offer(&mut all, *path, *line));
                all
            };
            let whole = bytes(&fill(&mut lines.iter()));
            prop_assert_eq!(&bytes(&fill(&mut lines.iter().rev())), &whole);
            let (left, right) = (fill(&mut lines[..cut].iter()), fill(&mut lines[cut..].iter()));
            for (one, two) in [(&left, &right), (&right, &left)] {
                let mut merged = one.clone();
                merged.merge(two);
                prop_assert_eq!(&bytes(&merged), &whole);
                // Those that are filled side by side, in turns of any length.
                let mut beside = [Candidates::default().beside(), Candidates::default()];
                beside[1] = beside[0].beside();
                for (nth, (path, line)) in lines.iter().enumerate() {
                    offer(&mut beside[usize::from(nth % 20_000 >= cut % 20_000)], *path, *line);
                }
                let [mut first, second] = beside;
                first.merge(&second);
                prop_assert_eq!(&bytes(&first), &whole);
                let mut stored: Candidates = postcard::from_bytes(&bytes(one)).unwrap();
                stored.merge(&postcard::from_bytes(&bytes(two)).unwrap());
                prop_assert_eq!(&bytes(&stored), &whole);
            }
        }
    }

    #[test]
    fn a_path_of_half_a_percent_stays_among_a_million() {
        let mut all = Candidates::default();
        let big = hash::name(b"/big");
        for line in 0..200_000u64 {
            if line % 200 == 0 {
                all.offer(big, b"/big", hash::request(big, line, 1, 0), 1);
            } else {
                let key = hash::mix(line, 77);
                all.offer(key, b"/other", hash::request(key, line, 1, 0), 1);
            }
        }
        assert!(all.kept().iter().any(|&(key, path)| key == big && path == b"/big"));
        let stored = Stored::from(all);
        assert_eq!(stored.0.len(), KEPT);
    }

    #[test]
    fn what_stays_in_no_sample_enters_none_of_them_but_a_copy_is_free() {
        let mut full = Candidates::default();
        let mut beside = full.beside();
        (0..30_000u64).for_each(|n| offer(&mut full, n, n));
        let mut copy = full.clone();
        offer(&mut beside, 1, u64::MAX);
        let refused = (0..30_000u64).filter(|line| {
            let before = beside.paths.len();
            offer(&mut beside, 5 * line + 1, line + 30_000);
            beside.paths.len() == before
        });
        assert!(refused.count() > 15_000, "{}", beside.paths.len());
        assert!(beside.limit <= full.limit && beside.limit < u64::MAX);
        copy.limit = 1;
        copy.lowest.fetch_min(1, Ordering::Relaxed);
        assert!(full.beside().lowest.load(Ordering::Relaxed) > 1);
    }

    #[test]
    fn nothing_without_weight_enters_and_damage_is_refused() {
        let mut all = Candidates::default();
        all.offer(1, b"/", 0, 0);
        assert_eq!(all.kept().len(), 0);
        let path = |score| Candidate { score, path: (*b"/").into() };
        assert!(Candidates::try_from(Stored(vec![(1, path(2)), (2, path(1))])).is_err());
        let long = Candidate { score: 1, path: vec![0; LONGEST + 1].into() };
        assert!(Candidates::try_from(Stored(vec![(1, long)])).is_err());
    }
}
