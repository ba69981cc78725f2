//! The files that stand for a mix: each with a size and how much it is wanted, the same for one document and bound.
//!
//! Sizes in bytes. Answers drawn by these weights have the sizes of the mix: files known by name keep their own
//! size, and those of the tail get what is left of the distribution, spread evenly over it and not drawn. How far both
//! are apart is told as the largest difference of their distribution functions (Kolmogorov and Smirnov).

use model::doc::MixDoc;
use model::doc::mix::{MixBin, path_of_rank};

use super::float;
use crate::bench::kernels::random::Random;
use crate::workload::server::content::Item;

/// The most files that are made.
pub const MOST: usize = 10_000;
/// Where all would be too large together, files of the tail are left out down to so many before any is cut.
const LEAST_TAIL: usize = 256;
/// The weight of the most wanted file.
const WEIGHT: f64 = 1e9;

/// Files, and how they differ from the mix.
#[derive(Clone, Debug, PartialEq)]
pub struct Objects {
    pub items: Vec<Item>,
    /// How many files the mix has, and the size that larger ones were cut to.
    pub of: f64,
    pub cut: Option<u64>,
    /// The largest difference of the distribution functions of sizes.
    pub distance: f64,
}

impl Objects {
    /// A sentence on the files that were made.
    pub fn says(&self) -> String {
        let bytes: u64 = self.items.iter().map(|item| item.bytes).fold(0, u64::saturating_add);
        let mut text = format!(
            "{} files of {:.1} MB stand for {:.0} paths; sizes of answers differ from the log's by at most {:.2} % of \
             the requests",
            self.items.len(),
            float(bytes) / 1e6,
            self.of,
            100.0 * self.distance
        );
        if let Some(cut) = self.cut {
            text.push_str(&format!(
                ", with files cut to {cut} B: --set content-size=SIZE makes room for more"
            ));
        }
        text
    }
}

/// One file while its size is looked for.
struct Wanted {
    share: f64,
    bytes: f64,
}

/// The files of a sound mix, of `most` bytes together.
pub fn objects(mix: &MixDoc, most: u64) -> Objects {
    let ranks: u64 = mix.popularity.tail.iter().map(|one| one.paths).fold(0, u64::saturating_add);
    let room = MOST - mix.popularity.top.len().min(MOST);
    let mut tail = usize::try_from(ranks).unwrap_or(usize::MAX).min(room);
    let mut files = sized(mix, tail);
    while total(&files) > float(most) && tail > LEAST_TAIL {
        tail /= 2;
        files = sized(mix, tail);
    }
    let cut = (total(&files) > float(most)).then(|| cut(&mut files, float(most)));
    let distance = distance(mix, &files);
    let heaviest = files.iter().map(|file| file.share).fold(f64::MIN_POSITIVE, f64::max);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from 1 to a thousand million"
    )]
    let weight = |share: f64| (share / heaviest * WEIGHT).round().max(1.0) as u32;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a size below 2^53")]
    let item = |(rank, file): (u64, &Wanted)| Item {
        path: path_of_rank(rank),
        bytes: file.bytes.round() as u64,
        weight: weight(file.share),
    };
    Objects { items: (1..).zip(&files).map(item).collect(), of: mix.popularity.paths, cut, distance }
}

fn total(files: &[Wanted]) -> f64 {
    files.iter().map(|file| file.bytes.round()).sum()
}

/// Cuts what is larger than a size, so that all are of `most` bytes together; gives that size.
fn cut(files: &mut [Wanted], most: f64) -> u64 {
    let within = |cap: f64| files.iter().map(|file| file.bytes.round().min(cap)).sum::<f64>() <= most;
    let (mut low, mut high) = (0u64, 1u64 << 52);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if within(float(middle)) { low = middle } else { high = middle }
    }
    files.iter_mut().for_each(|file| file.bytes = file.bytes.min(float(low)));
    low
}

/// The files by falling weight: the known ones, and `tail` others in place of all that are not.
fn sized(mix: &MixDoc, tail: usize) -> Vec<Wanted> {
    let whole = float(mix.popularity.requests.max(1));
    let mut left = Left::new(&mix.sizes.bins, float(mix.sizes.requests.max(1)));
    let mut files: Vec<Wanted> = Vec::with_capacity(mix.popularity.top.len() + tail);
    for one in &mix.popularity.top {
        let share = float(one.requests) / whole;
        files.push(Wanted { share, bytes: left.take(one.bytes.map(float), share) });
    }
    let shares = tail_shares(mix, tail);
    let mut order: Vec<usize> = (0..shares.len()).collect();
    let mut random = Random::new(u64::from(mix.seed));
    for at in (1..order.len()).rev() {
        let other = usize::try_from(random.below(at as u64 + 1)).unwrap_or(at);
        order.swap(at, other);
    }
    let all: f64 = shares.iter().sum();
    let mut sizes = vec![0.0; shares.len()];
    let mut before = 0.0;
    for at in order {
        // The middle of its share of what is left.
        sizes[at] = left.quantile((before + shares[at] / 2.0) / all);
        before += shares[at];
    }
    files.extend(shares.iter().zip(sizes).map(|(share, bytes)| Wanted { share: share / whole, bytes }));
    files
}

/// Requests of each file of the tail: as many files as asked for share those of all that there are.
fn tail_shares(mix: &MixDoc, files: usize) -> Vec<f64> {
    let ranges = &mix.popularity.tail;
    let paths: u64 = ranges.iter().map(|one| one.paths).sum();
    let mut shares = Vec::with_capacity(files);
    let mut seen = 0u64;
    for one in ranges {
        let upto = |seen: u64| u128::from(seen) * files as u128 / u128::from(paths.max(1));
        // A range keeps one file at least.
        let count = (upto(seen + one.paths) - upto(seen)).max(1);
        seen += one.paths;
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        shares.extend(std::iter::repeat_n(float(one.requests) / float(count as u64), count));
    }
    shares
}

/// The rest of the distribution of sizes, in shares of all requests.
struct Left {
    bins: Vec<(f64, f64, f64)>,
}

impl Left {
    fn new(bins: &[MixBin], whole: f64) -> Left {
        let bin = |bin: &MixBin| (float(bin.from), float(bin.to), float(bin.requests) / whole);
        Left { bins: bins.iter().map(bin).collect() }
    }

    /// Takes a share from the bins nearest to a size, and gives the size; of a file whose size is not known, that of
    /// the middle of what is left.
    fn take(&mut self, bytes: Option<f64>, share: f64) -> f64 {
        let bytes = bytes.unwrap_or_else(|| self.quantile(0.5));
        let mut above = self.bins.partition_point(|bin| bin.1 < bytes);
        let (mut below, mut wanted) = (above, share);
        while wanted > 0.0 && (below > 0 || above < self.bins.len()) {
            let down = below.checked_sub(1).and_then(|at| self.bins.get(at)).map(|bin| bytes - bin.1);
            let up = self.bins.get(above).map(|bin| (bin.0 - bytes).max(0.0));
            let at = match (down, up) {
                (Some(down), Some(up)) if down < up => below - 1,
                (Some(_), None) => below - 1,
                _ => above,
            };
            if at < below {
                below = at
            } else {
                above = at + 1
            }
            let Some(bin) = self.bins.get_mut(at) else { break };
            let taken = bin.2.min(wanted);
            bin.2 -= taken;
            wanted -= taken;
        }
        bytes
    }

    /// The size below which a share of what is left lies.
    fn quantile(&self, share: f64) -> f64 {
        let all: f64 = self.bins.iter().map(|bin| bin.2).sum();
        let mut left = share.clamp(0.0, 1.0) * all;
        let mut last = 0.0;
        for (from, to, mass) in &self.bins {
            if *mass <= 0.0 {
                continue;
            }
            if left <= *mass {
                return from + (to - from) * left / mass;
            }
            left -= mass;
            last = *to;
        }
        last
    }
}

/// The largest difference of the distribution functions of the sizes of answers, by the mix's own bins.
fn distance(mix: &MixDoc, files: &[Wanted]) -> f64 {
    let whole = float(mix.sizes.requests.max(1));
    let all: f64 = files.iter().map(|file| file.share).sum();
    let mut by_size: Vec<(f64, f64)> =
        files.iter().map(|file| (file.bytes.round(), file.share / all)).collect();
    by_size.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut files = by_size.into_iter().peekable();
    let (mut mine, mut theirs, mut furthest) = (0.0f64, 0.0f64, 0.0f64);
    for bin in &mix.sizes.bins {
        while let Some((_, share)) = files.next_if(|(bytes, _)| *bytes < float(bin.from)) {
            mine += share;
        }
        furthest = furthest.max((mine - theirs).abs());
        while let Some((_, share)) = files.next_if(|(bytes, _)| *bytes <= float(bin.to)) {
            mine += share;
        }
        theirs += float(bin.requests) / whole;
        furthest = furthest.max((mine - theirs).abs());
    }
    furthest
}

#[cfg(test)]
pub(crate) mod tests {
    use model::doc::mix::{MixPath, MixRanks};

    use super::super::tests::planted;
    use super::*;
    use crate::load::engine::arrivals::{Choice, Pick};

    /// Neighbours together, so that there are at most so many.
    pub fn coarse(bins: &[MixBin], most: usize) -> Vec<MixBin> {
        let join = |part: &[MixBin]| MixBin {
            from: part[0].from,
            to: part[part.len() - 1].to,
            requests: part.iter().map(|bin| bin.requests).sum(),
        };
        bins.chunks(bins.len().div_ceil(most)).map(join).collect()
    }

    #[test]
    fn the_same_document_gives_the_same_files() {
        let mix = planted();
        let made = objects(&mix, 1 << 40);
        assert_eq!(made, objects(&mix, 1 << 40));
        assert_eq!((made.items.len(), made.cut), (1050, None));
        assert_eq!(made.items[2].bytes, 3 * 1009);
        assert!(made.distance < 0.005, "{}", made.distance);
        let other = objects(&MixDoc { seed: 2, ..mix }, 1 << 40);
        assert_ne!(other.items, made.items);
        assert!(other.distance < 0.005, "{}", other.distance);
    }

    #[test]
    fn bytes_and_files_are_bounded() {
        let mut mix = planted();
        for most in [1 << 20, 4 << 20, 16 << 20] {
            let made = objects(&mix, most);
            let bytes: u64 = made.items.iter().map(|item| item.bytes).sum();
            assert!(bytes <= most, "{bytes} {most}");
            assert_eq!(made.cut.is_some(), made.says().contains("content-size"), "{}", made.says());
        }
        mix.popularity.tail = vec![MixRanks { paths: 1 << 40, requests: 1 << 41 }];
        mix.popularity.requests += 1 << 41;
        assert_eq!(objects(&mix, u64::MAX).items.len(), MOST);
        mix.popularity.top = vec![MixPath { path: "/x".into(), requests: 5, bytes: Some(1 << 40) }];
        mix.popularity.tail.clear();
        let made = objects(&mix, 1 << 20);
        assert_eq!((made.items.len(), made.items[0].bytes, made.cut), (1, 1 << 20, Some(1 << 20)));
    }

    /// Dvoretzky, Kiefer and Wolfowitz: a sample of n is further away than this once in 10^9.
    fn dkw(n: f64) -> f64 {
        ((2.0f64 / 1e-9).ln() / (2.0 * n)).sqrt()
    }

    #[test]
    fn what_is_drawn_has_the_sizes_and_the_popularity_of_the_document() {
        const DRAWN: u32 = 200_000;
        let mix = planted();
        let made = objects(&mix, 1 << 40);
        let weights: Vec<f64> = made.items.iter().map(|item| f64::from(item.weight)).collect();
        let mut pick = Pick::new(&Choice::Weights(weights.clone()), 7);
        let mut counts = vec![0u32; weights.len()];
        (0..DRAWN).for_each(|_| counts[pick.draw() as usize] += 1);
        let drawn: Vec<Wanted> = (made.items.iter().zip(&counts))
            .map(|(item, count)| Wanted { share: f64::from(*count), bytes: float(item.bytes) })
            .collect();
        let allowed = dkw(f64::from(DRAWN));
        let apart = distance(&mix, &drawn);
        assert!(apart <= made.distance + allowed, "{apart} {} {allowed}", made.distance);
        // The distribution over ranks is one too.
        let (mut mine, mut theirs) = (0.0, 0.0);
        for (one, count) in mix.popularity.top.iter().zip(&counts) {
            mine += f64::from(*count) / f64::from(DRAWN);
            theirs += float(one.requests) / float(mix.popularity.requests);
            assert!((mine - theirs).abs() <= allowed + 1e-6, "{} {mine} {theirs}", one.path);
        }
    }

    #[test]
    fn a_path_of_many_sizes_takes_from_its_neighbours() {
        let mut mix = planted();
        // Half of all requests, on one path whose answers have every size.
        mix.popularity.top.truncate(1);
        mix.popularity.top[0] = MixPath { path: "/all".into(), requests: 7000, bytes: Some(20_000) };
        mix.popularity.requests = 14_000;
        let made = objects(&mix, 1 << 40);
        // It has one size now, which is at most its share away from the truth, and that is said.
        assert!(made.distance > 0.1 && made.distance <= 0.5, "{}", made.distance);
        assert!(made.says().contains("% of the requests"), "{}", made.says());
    }
}
