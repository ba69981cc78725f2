//! The search for the largest rate that holds, where the answer of a single step may be wrong.
//!
//! Requests per second. A stall of a second breaks a limit at any rate, and luck keeps it above the largest one. So no
//! step is final. The search keeps how likely each rate is to be the largest, asks where the two halves are equally
//! likely, and weighs every answer by how often such answers are wrong (probabilistic bisection). [`STEPS`] steps, then
//! the median of what is likely: an estimate that is as often too high as too low, so that takes can be averaged. How
//! far takes are apart is the interval. Then [`check`] looks for a rate that is kept again and again. Not counted: what
//! changes from one step to the next.

use model::Fault;
pub use model::metrics::load::SEARCH_STEPS as STEPS;

/// A rate is kept once so many steps at it held, and is not once so many broke.
pub const ENOUGH: u32 = 2;
/// A rate that is not kept is lowered to this share of it, so that so many rates are tried.
const LOWER: f64 = 0.95;
const RATES: u32 = 4;
/// How often a step below the largest rate breaks all the same.
const UNLUCKY: f64 = 0.15;
/// How often a step above it holds.
const LUCKY: f64 = 0.05;
/// Around the largest rate answers go over from one to the other within about this share of it.
const SOFT: f64 = 0.02;
/// Rates that differ by this share are kept apart.
const CELL: f64 = 0.01;
/// A search that ends so close to the end of its range has found that end.
const CLOSE: f64 = 1.02;

/// The rates among which a search looks, and the first that it asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    pub from: f64,
    pub least: f64,
    pub most: f64,
}

/// How likely each rate is to be the largest that holds: its logarithm and the likelihood, of all together 1.
struct Belief(Vec<(f64, f64)>);

impl Belief {
    fn new(range: Range) -> Belief {
        let (least, most) = (range.least.ln(), range.most.ln());
        let cells = ((most - least) / CELL).ceil().clamp(1.0, 1e4);
        let step = (most - least) / cells;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
        let all = (0..=cells as u32).map(|cell| (least + f64::from(cell) * step, 1.0 / (cells + 1.0)));
        Belief(all.collect())
    }

    /// Weighs an answer.
    fn learn(&mut self, rate: f64, held: bool) {
        let at = rate.ln();
        for (largest, likely) in &mut self.0 {
            let below = 1.0 / (1.0 + ((at - *largest) / SOFT).exp());
            let holds = (1.0 - UNLUCKY) * below + LUCKY * (1.0 - below);
            *likely *= if held { holds } else { 1.0 - holds };
        }
        let all: f64 = self.0.iter().map(|(_, likely)| likely).sum();
        self.0.iter_mut().for_each(|(_, likely)| *likely /= all);
    }

    /// The rate that is as likely too high as too low.
    fn median(&self) -> f64 {
        let mut below = 0.0;
        let found = self.0.iter().find(|(_, likely)| {
            below += likely;
            below >= 0.5
        });
        found.or(self.0.last()).map_or(1.0, |(largest, _)| largest.exp())
    }
}

/// The outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer {
    /// It held or not, with the percentile that it had.
    Tried(bool, Option<f64>),
    /// The user ended the search.
    Ended,
}

/// Searches the largest rate that holds. `holds` tries one. Fails when a step fails, where the largest rate is beyond
/// the range, and where the user ended it before a step held and one broke.
pub fn search(range: Range, mut holds: impl FnMut(f64) -> Result<Answer, Fault>) -> Result<f64, Fault> {
    let range = Range { most: range.most.max(range.least), ..range };
    let mut belief = Belief::new(range);
    let mut rate = range.from.clamp(range.least, range.most);
    let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
    let (mut held, mut broken, mut reached) = (false, false, None);
    for step in 0..STEPS {
        let Answer::Tried(is_held, had) = holds(rate)? else {
            let known = held && broken;
            return if known { Ok(rate) } else { Err(Fault::new(ended(step, held, (least, most)))) };
        };
        held |= is_held;
        broken |= !is_held;
        if rate <= least {
            reached = had;
        }
        (least, most) = (least.min(rate), most.max(rate));
        belief.learn(rate, is_held);
        rate = belief.median();
    }
    match (held, broken) {
        (false, _) => Err(Fault::new(nowhere(least, reached))),
        (true, _) if rate <= range.least * CLOSE => Err(Fault::new(nowhere(least, reached))),
        (true, false) => Err(Fault::new(everywhere(most))),
        (true, true) if rate * CLOSE >= range.most => Err(Fault::new(everywhere(most))),
        (true, true) => Ok(rate),
    }
}

/// Checks the rate that a search found: steps at it, and at lower ones until one is kept. A rate below `least` is not
/// tried. Fails when a step fails.
pub fn check(
    found: f64,
    least: f64,
    mut holds: impl FnMut(f64) -> Result<Answer, Fault>,
) -> Result<(), Fault> {
    let mut rate = found;
    for _ in 0..RATES {
        let (mut held, mut broken) = (0, 0);
        while held < ENOUGH && broken < ENOUGH {
            match holds(rate)? {
                Answer::Tried(true, _) => held += 1,
                Answer::Tried(false, _) => broken += 1,
                Answer::Ended => return Ok(()),
            }
        }
        rate *= LOWER;
        if held >= ENOUGH || rate < least {
            break;
        }
    }
    Ok(())
}

/// Too few steps were made to find anything.
fn ended(steps: u32, held: bool, (least, most): (f64, f64)) -> String {
    let known = match (steps, held) {
        (0, _) => "no rate was tried".to_owned(),
        (_, true) => format!("{} requests per second held", model::format::number(most)),
        (_, false) => format!("{} requests per second did not hold", model::format::number(least)),
    };
    format!("the user ended the search after {steps} of {STEPS} steps: {known}")
}

fn everywhere(most: f64) -> String {
    format!(
        "the largest rate that holds is at or beyond {most:.1} requests per second, the highest tried: make the steps \
         longer, so that a queue can grow (duration=5), or the limit shorter"
    )
}

fn nowhere(least: f64, reached: Option<f64>) -> String {
    let below = format!(
        "the largest rate that holds is at or below {least:.1} requests per second, the lowest tried"
    );
    match reached {
        Some(had) if had.is_finite() => format!(
            "{below}, where the percentile was {:.3} ms: take a longer limit or a lower percentile, \
             or see what slows single answers (arrivals=closed, connections=1)",
            had * 1e3
        ),
        Some(_) => format!(
            "{below}, where the percentile fell on a failed request: see what fails (boxscore run web --set load=50%)"
        ),
        None => format!("{below}, which had no answer: make the steps or the timeout longer (duration=5)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRUTH: f64 = 8_000.0;

    /// A host whose largest rate is [`TRUTH`]. Of the steps below it the share `stalls` breaks all the same. Answers go
    /// over from held to broken within about `soft` of it.
    struct World {
        stalls: f64,
        soft: f64,
        state: u64,
    }

    impl World {
        fn draw(&mut self) -> f64 {
            self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
        }

        fn holds(&mut self, rate: f64) -> bool {
            let below = match self.soft {
                0.0 => f64::from(u8::from(rate <= TRUTH)),
                soft => 1.0 / (1.0 + ((rate / TRUTH).ln() / soft).exp()),
            };
            self.draw() >= self.stalls && self.draw() < below
        }

        /// Anywhere from 0.3 to 0.6 of the truth, where a search starts.
        fn from(&mut self) -> f64 {
            TRUTH * 0.3 * (1.0 + self.draw())
        }
    }

    /// As it was: half as much again until a step breaks, then halves until 2 % are left; what broke stays broken.
    fn plain_bisection(world: &mut World) -> f64 {
        let (mut low, mut high, mut rate) = (None::<f64>, None::<f64>, world.from());
        for _ in 0..24 {
            if world.holds(rate) {
                low = Some(rate)
            } else {
                high = Some(rate)
            }
            rate = match (low, high) {
                (Some(low), Some(high)) if high <= low * 1.02 => return low,
                (Some(low), Some(high)) => (low * high).sqrt(),
                (Some(low), None) => low * 1.5,
                (None, Some(high)) => high / 2.25,
                (None, None) => rate,
            };
        }
        low.unwrap_or(0.0)
    }

    fn ours(world: &mut World) -> f64 {
        let from = world.from();
        let range = Range { from, least: from / 300.0, most: from / 0.3 * 8.0 };
        search(range, |rate| Ok(Answer::Tried(world.holds(rate), Some(0.02)))).unwrap_or(0.0)
    }

    /// Per cent of takes more than 5 % low, of takes more than 5 % high, of medians of ten takes more than 5 % low, and
    /// of intervals (2nd to 9th of ten) that miss the truth.
    fn errors(stalls: f64, soft: f64, find: fn(&mut World) -> f64) -> [f64; 4] {
        let runs = if std::env::var_os("BOXSCORE_WORLDS").is_some() { 1_000 } else { 60 };
        let mut world = World { stalls, soft, state: 11 };
        let mut found = [0.0; 4];
        for _ in 0..runs {
            let mut takes: Vec<f64> = (0..10).map(|_| find(&mut world) / TRUTH).collect();
            takes.sort_by(f64::total_cmp);
            let share = |of: usize| of as f64 / 10.0;
            found[0] += share(takes.partition_point(|take| *take < 0.95));
            found[1] += share(10 - takes.partition_point(|take| *take <= 1.05));
            found[2] += f64::from(u8::from(f64::midpoint(takes[4], takes[5]) < 0.95));
            found[3] += f64::from(u8::from(takes[1] > 1.0 || takes[8] < 1.0));
        }
        found.map(|count| 100.0 * count / f64::from(runs))
    }

    /// `docs/statistics.md` has this table, of more runs; `BOXSCORE_WORLDS=FILE` writes it.
    #[test]
    fn single_noisy_steps_do_not_make_it_low() {
        let worlds = [0.0, 0.02, 0.05].map(|soft| [0.0, 0.05, 0.1, 0.2].map(|stalls| (stalls, soft)));
        let mut table = String::new();
        for (stalls, soft) in worlds.into_iter().flatten() {
            let (before, after) = (errors(stalls, soft, plain_bisection), errors(stalls, soft, ours));
            let shares = format!("{:.0} %, {:.0} %", stalls * 100.0, soft * 100.0);
            table.push_str(&format!("{shares}: {before:.1?} {after:.1?}\n"));
            let [low, high, medians, misses] = after;
            assert!(low <= 2.0 + 150.0 * stalls.max(soft) && high <= 4.0 + 400.0 * soft, "{after:?}");
            assert!(medians <= if stalls > 0.1 { 20.0 } else { 2.0 } && misses <= 20.0, "{after:?}");
        }
        if let Some(path) = std::env::var_os("BOXSCORE_WORLDS") {
            std::fs::write(path, table).unwrap();
        }
        // The planted fault is seen.
        assert!(errors(0.05, 0.0, plain_bisection)[0] > 10.0);
        assert!(errors(0.2, 0.0, plain_bisection)[2] > 40.0);
    }

    #[test]
    fn a_search_comes_close_from_any_start() {
        for from in [8.0, 300.0, 999.0, 1000.0, 1001.0, 50_000.0] {
            let mut tried = 0;
            let range = Range { from, least: 1.0, most: 400_000.0 };
            let found = search(range, |rate| {
                tried += 1;
                Ok(Answer::Tried(rate <= 1000.0, Some(0.02)))
            });
            let found = found.unwrap();
            assert!((found / 1000.0).ln().abs() < 0.03, "{from}: {found:?}");
            assert_eq!(tried, STEPS);
        }
    }

    #[test]
    fn a_search_says_what_it_met() {
        let range = Range { from: 100.0, least: 2.0, most: 800.0 };
        let why =
            |held: bool, had: Option<f64>| search(range, |_| Ok(Answer::Tried(held, had))).unwrap_err().text;
        assert!(why(true, Some(0.001)).contains("holds is at or beyond 800.0 requests"));
        let none = why(false, Some(0.0251));
        assert!(none.contains("holds is at or below 2.0 requests") && none.contains("25.100 ms"), "{none}");
        assert!(why(false, Some(f64::INFINITY)).contains("fell on a failed request"));
        assert!(why(false, None).contains("2.0 requests per second, the lowest tried, which had no answer"));
        // A single lucky step finds nothing.
        let mut steps = 0;
        let lucky = search(range, |_| {
            steps += 1;
            Ok(Answer::Tried(steps == 9, Some(0.02)))
        });
        assert!(lucky.unwrap_err().text.contains("at or below"));
        assert_eq!(search(range, |_| Err(Fault::new("gone"))).unwrap_err().text, "gone");
    }

    #[test]
    fn the_rate_found_is_checked_and_lowered_until_it_is_kept() {
        let of = |truth: f64, least: f64| {
            let mut tried = Vec::new();
            check(1000.0, least, |rate| {
                tried.push(rate);
                Ok(Answer::Tried(rate <= truth, None))
            })
            .unwrap();
            tried
        };
        assert_eq!(of(1000.0, 1.0), [1000.0; 2]);
        assert_eq!(of(960.0, 1.0), [1000.0, 1000.0, 950.0, 950.0]);
        assert_eq!(of(960.0, 960.0), [1000.0; 2], "lower ones have too few requests");
        assert_eq!(of(0.0, 1.0).len() as u32, ENOUGH * RATES);
        let mut answers = [true, false, true].into_iter();
        let mixed =
            check(1000.0, 1.0, |_| Ok(answers.next().map_or(Answer::Ended, |is| Answer::Tried(is, None))));
        assert_eq!((mixed, answers.next()), (Ok(()), None));
        assert_eq!(check(1.0, 0.5, |_| Ok(Answer::Ended)), Ok(()));
        assert!(check(1.0, 0.5, |_| Err(Fault::new("gone"))).is_err());
    }

    #[test]
    fn a_search_that_the_user_ends_is_of_the_steps_until_then() {
        let of = |most: u32, holds: fn(f64) -> bool| {
            let mut tried = 0;
            search(Range { from: 100.0, least: 2.0, most: 800.0 }, |rate| {
                tried += 1;
                Ok(if tried > most { Answer::Ended } else { Answer::Tried(holds(rate), Some(0.02)) })
            })
        };
        let found = of(8, |rate| rate <= 50.0).unwrap();
        assert!((found / 50.0).ln().abs() < 0.5, "{found}");
        let text = |most, holds| of(most, holds).unwrap_err().text;
        assert_eq!(text(0, |_| true), "the user ended the search after 0 of 16 steps: no rate was tried");
        assert!(text(1, |_| true).ends_with("1 of 16 steps: 100 requests per second held"));
        assert!(text(1, |_| false).ends_with("100 requests per second did not hold"));
    }
}
