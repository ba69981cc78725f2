//! Logs in which a state lasts: a deploy, a cache that fills, a noisy host. Blocks of an hour, each group with a state
//! of its own that is kept from block to block. Gives the share of comparisons of equal groups whose 95 % interval
//! misses, and the share that gets none; `docs/statistics.md` has the table.
//!
//! Seeded. Spreads are standard deviations of logarithms. The limits leave room for another seed.

use std::fmt::Write as _;

use stats::*;

/// Two groups in blocks of time.
#[derive(Clone, Copy)]
struct Hours {
    blocks: u64,
    /// Autocorrelation of a state from block to block.
    keep: f64,
    /// Spread of a group's state, and of what its requests add in a block.
    state: f64,
    own: f64,
    /// Speed of the arm by that of the base.
    truth: f64,
}

/// Shares of all comparisons.
#[derive(Debug, Default)]
struct Shares {
    refused: f64,
    missed: f64,
    /// Called different beyond the margin between machines.
    told: f64,
    /// The halves are said to differ.
    halves: f64,
}

impl Hours {
    fn group(&self, rng: &mut Rng) -> Vec<f64> {
        let mut level = rng.normal();
        let block = |_| {
            level = self.keep * level + (1.0 - self.keep * self.keep).sqrt() * rng.normal();
            (self.state * level + self.own * rng.normal()).exp()
        };
        (0..self.blocks).map(block).collect()
    }

    /// Side by side in the same hours, or one after the other.
    fn compare(&self, at_once: bool, rng: &mut Rng) -> Result<Stratified, Unfit> {
        let (arm, base) = (self.group(rng), self.group(rng));
        let sums = |cost: f64| Sums { work: 1.0, cost };
        if at_once {
            let pairs = (0..).zip(arm.iter().zip(&base));
            let stratum = |(block, (arm, base)): (u64, (&f64, &f64))| Stratum {
                block,
                class: 0,
                arm: sums(arm / self.truth),
                base: sums(*base),
            };
            return stratified(&pairs.map(stratum).collect::<Vec<_>>(), 400, rng);
        }
        let part = |(block, cost): (u64, f64)| Part { block, class: 0, sums: sums(cost) };
        let base: Vec<Part> = (0..).zip(base).map(part).collect();
        let arm: Vec<Part> =
            (self.blocks..).zip(arm.iter().map(|cost| cost / self.truth)).map(part).collect();
        apart(&arm, &base, 400, rng)
    }

    fn judge(&self, at_once: bool, times: usize, seed: u64) -> Shares {
        let mut rng = Rng::new(seed);
        let mut all = Shares::default();
        let one = 1.0 / times as f64;
        for _ in 0..times {
            match self.compare(at_once, &mut rng) {
                Err(Unfit::Dependent { .. }) => all.refused += one,
                Err(error) => panic!("{error}"),
                Ok(found) => {
                    let interval = found.effect.interval;
                    all.missed += if interval.contains(self.truth.ln()) { 0.0 } else { one };
                    all.told += if interval.low > Margin::MACHINES.ln() { one } else { 0.0 };
                    all.halves += if found.halves.is_some_and(|halves| halves.differ) { one } else { 0.0 };
                }
            }
        }
        all
    }
}

const LASTING: [(u64, f64); 3] = [(24, 0.8), (96, 0.95), (168, 0.98)];
const FREE: [(u64, f64); 4] = [(24, 0.0), (96, 0.0), (168, 0.0), (168, 0.4)];
/// A state that is plain to see, and one as wide as what hides it, and the most that may miss.
const SPREADS: [(&str, f64, f64, f64); 2] = [("plain", 0.2, 0.05, 0.06), ("hidden", 0.1, 0.1, 0.085)];

#[test]
fn a_state_that_lasts_makes_few_false_intervals() {
    for (blocks, keep) in LASTING {
        for (name, state, own, most) in SPREADS {
            for at_once in [true, false] {
                let found = Hours { blocks, keep, state, own, truth: 1.0 }.judge(at_once, 1_000, 401);
                // Room for chance: two standard deviations of 1,000 draws.
                assert!(found.missed <= most + 0.015, "{blocks} {keep} {name} {at_once}: {found:?}");
            }
        }
    }
}

#[test]
fn where_nothing_lasts_a_difference_is_told() {
    for (blocks, keep) in FREE {
        let found = Hours { blocks, keep, state: 0.1, own: 0.1, truth: 1.3 }.judge(true, 400, 402);
        assert!(found.told >= 0.9 && found.refused <= 0.08, "{blocks} {keep}: {found:?}");
        let found = Hours { blocks, keep, state: 0.1, own: 0.1, truth: 1.0 }.judge(true, 400, 403);
        assert!(found.missed <= 0.06 + 0.024 && found.halves <= 0.12, "{blocks} {keep}: {found:?}");
    }
}

#[test]
fn a_difference_far_beyond_what_lasts_is_told() {
    // A state that lasts is found by chance where there is none; what stands all the time is no episode.
    for (blocks, keep) in FREE {
        let found = Hours { blocks, keep, state: 0.1, own: 0.1, truth: 1.6 }.judge(true, 1_000, 405);
        assert!(found.refused <= 0.005 && found.missed <= 0.075, "{blocks} {keep}: {found:?}");
    }
    for (blocks, keep) in LASTING {
        let found = Hours { blocks, keep, state: 0.1, own: 0.05, truth: 3.0 }.judge(true, 400, 406);
        // What misses are intervals of what does not seem to last, as where nothing differs.
        assert!(found.told >= 0.15 && found.missed <= 0.085 + 0.03, "{blocks} {keep}: {found:?}");
    }
}

/// The table of `docs/statistics.md`, see `worlds::tables`.
pub fn table(out: &mut String, times: usize) {
    let _ = writeln!(
        out,
        "\n| blocks | state | kept | at once: miss | no interval | in turn: miss | no interval |"
    );
    let _ = writeln!(out, "| ---: | --- | ---: | ---: | ---: | ---: | ---: |");
    for (blocks, keep) in LASTING.into_iter().chain(FREE) {
        for (name, state, own, _) in SPREADS {
            let world = Hours { blocks, keep, state, own, truth: 1.0 };
            let cells = [true, false].map(|at_once| {
                let found = world.judge(at_once, times, 404);
                format!("{:.1} | {:.1}", 100.0 * found.missed, 100.0 * found.refused)
            });
            let _ = writeln!(out, "| {blocks} | {name} | {keep} | {} |", cells.join(" | "));
        }
    }
}
