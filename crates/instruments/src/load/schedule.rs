//! Schedules: intended start times of requests, in nanoseconds from the start of the load.
//!
//! A schedule knows no connections, answers or clock. It gives the same arrivals whatever the number of threads:
//! thread `i` of `n` takes every n-th. A closed loop has no arrivals: each connection sends again as soon as its
//! answer is there.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::shape::Shape;
use crate::bench::kernels::random::Random;

/// The highest accepted rate, in requests per second.
pub const HIGHEST_RATE: f64 = 1e9;

/// One request that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrival {
    pub at_ns: u64,
    /// Index of the target; `None` leaves the choice to the weights.
    pub target: Option<u32>,
}

/// One of several equal parts of a load: that of a thread, or of a generator process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Part {
    pub thread: usize,
    pub threads: usize,
}

impl Part {
    /// This part's share of `all` items. The shares of all parts add up to `all`.
    pub fn share_of(self, all: u64) -> u64 {
        let (thread, threads) = (self.thread as u64, self.threads as u64);
        all / threads + u64::from(thread < all % threads)
    }
}

/// How intended start times come about. Rates are requests per second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Schedule {
    /// No schedule: each connection has one request in flight at all times.
    Closed,
    Constant {
        rate: f64,
    },
    /// Independent arrivals: exponential gaps, drawn from the seed.
    Poisson {
        rate: f64,
        seed: u64,
    },
    /// A linear change from one rate to another, then steady at the second.
    Ramp {
        from: f64,
        to: f64,
        over_ns: u64,
    },
    /// Given times, ascending.
    Replay(#[serde(with = "shared")] Arc<[Arrival]>),
    /// Independent arrivals at a rate that follows a shape, repeated every `over_ns`; `rate` is the mean.
    Shaped {
        rate: f64,
        seed: u64,
        over_ns: u64,
        shape: Shape,
    },
    /// Every n-th arrival of a constant rate or a ramp: the part of one of several generators.
    Each {
        of: Box<Schedule>,
        part: Part,
    },
}

/// Serializes a shared list as a plain list.
mod shared {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::load::schedule::Arrival;

    /// Fails as the serializer does.
    pub fn serialize<S: Serializer>(list: &Arc<[Arrival]>, to: S) -> Result<S::Ok, S::Error> {
        list.as_ref().serialize(to)
    }

    /// Fails as the deserializer does.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<[Arrival]>, D::Error> {
        Vec::deserialize(from).map(Arc::from)
    }
}

impl Schedule {
    /// The mean rate over the length of the load, where it is known beforehand.
    pub fn mean_rate(&self, over: Option<Duration>) -> Option<f64> {
        match self {
            Schedule::Closed => None,
            Schedule::Constant { rate } | Schedule::Poisson { rate, .. } | Schedule::Shaped { rate, .. } => {
                Some(*rate)
            }
            Schedule::Ramp { from, to, over_ns } => {
                let (rise, all) = (*over_ns as f64 / 1e9, over?.as_secs_f64());
                let mean = |over: f64| if rise > 0.0 { from + (to - from) * over / rise / 2.0 } else { *to };
                Some(if all <= rise { mean(all) } else { (mean(rise) * rise + to * (all - rise)) / all })
            }
            Schedule::Replay(list) => {
                let last = list.last().map(|arrival| arrival.at_ns as f64 / 1e9)?;
                (last > 0.0).then(|| list.len() as f64 / last)
            }
            Schedule::Each { .. } => None,
        }
    }

    /// Fails when a rate, a time or a list of arrivals makes no sense; the message says which.
    pub fn check(&self) -> Result<(), String> {
        let rate = |rate: f64, lowest: f64| {
            if rate >= lowest && (0.0..=HIGHEST_RATE).contains(&rate) {
                Ok(())
            } else {
                Err(format!(
                    "a rate of {rate} requests a second; it must be over 0 and at most {HIGHEST_RATE:e}"
                ))
            }
        };
        match self {
            Schedule::Closed => Ok(()),
            Schedule::Constant { rate: one } | Schedule::Poisson { rate: one, .. } => rate(*one, 1e-6),
            Schedule::Shaped { over_ns: 0, .. } => Err("a shape of no length; give it a duration".to_owned()),
            Schedule::Shaped { rate: one, .. } => rate(*one, 1e-6),
            Schedule::Ramp { from, to, over_ns } => {
                rate(*from, 0.0)?;
                rate(*to, 0.0)?;
                if *over_ns == 0 {
                    return Err("a ramp of no length; give it a duration".to_owned());
                }
                if from + to < 1e-6 {
                    return Err("a ramp from 0 to 0 requests a second".to_owned());
                }
                Ok(())
            }
            Schedule::Replay(arrivals) if arrivals.is_empty() => Err("a replay without requests".to_owned()),
            Schedule::Replay(arrivals) if !arrivals.is_sorted_by_key(|arrival| arrival.at_ns) => {
                Err("a replay whose times are not ascending".to_owned())
            }
            Schedule::Replay(_) => Ok(()),
            Schedule::Each { of, part } => match **of {
                Schedule::Constant { .. } | Schedule::Ramp { .. } if part.thread < part.threads => of.check(),
                _ => Err("a part of a schedule that cannot be divided".to_owned()),
            },
        }
    }

    /// The part of one of several generators. The parts' rates add up to the whole exactly. Poisson arrivals become
    /// independent streams; of other schedules each generator gets every n-th arrival. Fails for a schedule that is a
    /// part already.
    pub fn part(&self, part: Part) -> Result<Schedule, String> {
        if part.threads <= 1 {
            return Ok(self.clone());
        }
        Ok(match self {
            Schedule::Closed => Schedule::Closed,
            Schedule::Poisson { rate, seed } => {
                Schedule::Poisson { rate: share(*rate, part), seed: stream(*seed, part.thread) }
            }
            Schedule::Shaped { rate, seed, over_ns, shape } => Schedule::Shaped {
                rate: share(*rate, part),
                seed: stream(*seed, part.thread),
                over_ns: *over_ns,
                shape: shape.clone(),
            },
            Schedule::Constant { .. } | Schedule::Ramp { .. } => {
                Schedule::Each { of: Box::new(self.clone()), part }
            }
            Schedule::Replay(all) => {
                let mine: Arc<[Arrival]> =
                    all.iter().skip(part.thread).step_by(part.threads).copied().collect();
                if mine.is_empty() {
                    return Err(format!("{} requests for {} generators", all.len(), part.threads));
                }
                Schedule::Replay(mine)
            }
            Schedule::Each { .. } => return Err("a part of a schedule cannot be divided again".to_owned()),
        })
    }

    /// The arrivals in order; `None` for a closed loop.
    pub fn arrivals(&self) -> Option<Arrivals> {
        let kind = match self {
            Schedule::Closed => return None,
            Schedule::Constant { rate } => Kind::Constant { rate: *rate },
            Schedule::Poisson { rate, seed } => {
                Kind::Poisson { gap_ns: 1e9 / rate, random: Random::new(*seed), at_ns: 0.0 }
            }
            Schedule::Ramp { from, to, over_ns } => {
                Kind::Ramp { from: *from, to: *to, over_s: *over_ns as f64 / 1e9 }
            }
            Schedule::Shaped { rate, seed, over_ns, shape } => Kind::Shaped {
                gap: 1e9 / (rate * *over_ns as f64),
                random: Random::new(*seed),
                sum: 0.0,
                over_ns: *over_ns as f64,
                shape: shape.clone(),
            },
            Schedule::Replay(arrivals) => Kind::Replay(Arc::clone(arrivals)),
            Schedule::Each { of, part } => {
                let (first, step) = (part.thread as u64, part.threads.max(1) as u64);
                return of.arrivals().map(|all| Arrivals { index: first, step, ..all });
            }
        };
        Some(Arrivals { kind, index: 0, step: 1 })
    }
}

/// The share of a rate. The last part gets the rest, so that the sum of all parts, in order, is the rate itself.
fn share(rate: f64, part: Part) -> f64 {
    let each = rate / part.threads as f64;
    if part.thread + 1 < part.threads {
        return each;
    }
    rate - (1..part.threads).map(|_| each).sum::<f64>()
}

/// The seed of one of several random streams. Neighbouring seeds give unrelated streams.
pub(super) fn stream(seed: u64, index: usize) -> u64 {
    let mut random = Random::new(seed ^ (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    random.next()
}

/// The arrivals of a schedule, in order. Endless except for a replay and a ramp to zero.
#[derive(Clone, Debug)]
pub struct Arrivals {
    kind: Kind,
    index: u64,
    /// Distance between two arrivals of this part, counted in arrivals of the whole.
    step: u64,
}

#[derive(Clone, Debug)]
enum Kind {
    Constant {
        rate: f64,
    },
    Poisson {
        gap_ns: f64,
        random: Random,
        at_ns: f64,
    },
    Ramp {
        from: f64,
        to: f64,
        over_s: f64,
    },
    /// `sum` and `gap` are in units of one whole shape.
    Shaped {
        gap: f64,
        random: Random,
        sum: f64,
        over_ns: f64,
        shape: Shape,
    },
    Replay(Arc<[Arrival]>),
}

/// The time, in seconds, at which the integral of the ramp's rate reaches `index`; `None` if it never does.
fn ramp_at(from: f64, to: f64, over_s: f64, index: f64) -> Option<f64> {
    let area = (from + to) / 2.0 * over_s;
    if index > area {
        return (to > 0.0).then(|| over_s + (index - area) / to);
    }
    if index <= 0.0 {
        return Some(0.0);
    }
    // The form of the quadratic's root that keeps its digits when the slope is small.
    let slope = (to - from) / over_s;
    let root = (from * from + 2.0 * slope * index).max(0.0).sqrt();
    Some(2.0 * index / (from + root))
}

/// The time, in nanoseconds, after `sum` whole shapes.
fn shaped_at(sum: f64, over_ns: f64, shape: &Shape) -> u64 {
    ((sum.floor() + shape.time_of(sum.fract())) * over_ns).round() as u64
}

impl Kind {
    /// The arrival with this number, for schedules in which it follows from the number alone.
    #[inline]
    fn at(&self, index: u64) -> Option<Arrival> {
        let at_ns = match self {
            Kind::Constant { rate } => (index as f64 * 1e9 / *rate).round() as u64,
            Kind::Ramp { from, to, over_s } => {
                (ramp_at(*from, *to, *over_s, index as f64)? * 1e9).round() as u64
            }
            Kind::Replay(arrivals) => return arrivals.get(usize::try_from(index).ok()?).copied(),
            Kind::Poisson { .. } | Kind::Shaped { .. } => return None,
        };
        Some(Arrival { at_ns, target: None })
    }
}

impl Arrivals {
    /// Due time of the arrival that `nth(skip)` would give; the expected time for random arrivals.
    pub fn ahead(&self, skip: u64) -> Option<u64> {
        let gaps = skip as f64 + 1.0;
        match &self.kind {
            Kind::Poisson { gap_ns, at_ns, .. } => Some((at_ns + gap_ns * gaps).round() as u64),
            Kind::Shaped { gap, sum, over_ns, shape, .. } => {
                Some(shaped_at(sum + gap * gaps, *over_ns, shape))
            }
            numbered => {
                let index = self.index.saturating_add(skip.saturating_mul(self.step));
                numbered.at(index).map(|arrival| arrival.at_ns)
            }
        }
    }
}

/// Binary search: how many numbers in `from..until` satisfy `holds`, which must be true up to some number and false
/// after it.
pub(super) fn held(from: u64, until: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (from, until.max(from));
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { low = middle + 1 } else { high = middle }
    }
    low - from
}

impl Iterator for Arrivals {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        let index = self.index;
        self.index = self.index.saturating_add(self.step);
        let at_ns = match &mut self.kind {
            Kind::Poisson { gap_ns, random, at_ns } => {
                // 1 - u is over 0, so the logarithm is finite.
                *at_ns -= (1.0 - random.unit()).ln() * *gap_ns;
                at_ns.round() as u64
            }
            Kind::Shaped { gap, random, sum, over_ns, shape } => {
                *sum -= (1.0 - random.unit()).ln() * *gap;
                shaped_at(*sum, *over_ns, shape)
            }
            numbered => return numbered.at(index),
        };
        Some(Arrival { at_ns, target: None })
    }

    fn nth(&mut self, skip: usize) -> Option<Arrival> {
        if let Kind::Poisson { .. } | Kind::Shaped { .. } = self.kind {
            for _ in 0..skip {
                self.next();
            }
        } else {
            self.index = self.index.saturating_add((skip as u64).saturating_mul(self.step));
        }
        self.next()
    }
}

/// The requests of a replay. Their targets are indexes into `paths`.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    pub arrivals: Arc<[Arrival]>,
    pub paths: Vec<String>,
    /// The number of lines whose time is earlier than that of the line before, and the first such line's number.
    pub goes_back: Option<(usize, usize)>,
}

/// Reads lines of `time path`: seconds with up to nine decimals, blanks, a path. Empty lines and lines that start with
/// `#` are skipped. Times may have any origin and any order, since logs are written at the end of a request; the
/// earliest request is due at 0.
///
/// Fails, naming the line, when a line has no time or no path, and when no line is left.
pub fn read_replay(text: &str) -> Result<Replay, String> {
    let mut known = std::collections::HashMap::new();
    let mut paths = Vec::new();
    let mut arrivals: Vec<Arrival> = Vec::new();
    let mut goes_back: Option<(usize, usize)> = None;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = |what: &str| format!("line {}: {what}; a line is `seconds /path`", index + 1);
        let (time, path) = line.split_once(char::is_whitespace).ok_or_else(|| wrong("no path"))?;
        let path = path.trim_start();
        let at_ns = nanoseconds(time).ok_or_else(|| wrong("the time is not a number of seconds"))?;
        if !path.starts_with('/') || path.contains(|c: char| c.is_ascii_whitespace() || c.is_control()) {
            return Err(wrong("the path must start with `/` and hold no blank"));
        }
        let target = *known.entry(path.to_owned()).or_insert_with(|| {
            paths.push(path.to_owned());
            paths.len() - 1
        });
        let target = u32::try_from(target).map_err(|_| wrong("too many different paths"))?;
        if arrivals.last().is_some_and(|last| at_ns < last.at_ns) {
            goes_back = Some(goes_back.map_or((1, index + 1), |(count, first)| (count + 1, first)));
        }
        arrivals.push(Arrival { at_ns, target: Some(target) });
    }
    arrivals.sort_by_key(|arrival| arrival.at_ns);
    let first = arrivals.first().map(|arrival| arrival.at_ns).ok_or("no line with a time and a path")?;
    for arrival in &mut arrivals {
        arrival.at_ns -= first;
    }
    Ok(Replay { arrivals: arrivals.into(), paths, goes_back })
}

/// Decimal seconds as nanoseconds. Decimals after the ninth are cut.
fn nanoseconds(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(part) || whole.is_empty() {
        return None;
    }
    let part = &part[..part.len().min(9)];
    let scale = 10u64.pow(9 - u32::try_from(part.len()).ok()?);
    let part = if part.is_empty() { 0 } else { part.parse::<u64>().ok()? * scale };
    whole.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(part)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn mean_rates_are_those_of_what_is_due() {
        let over = |seconds: u64| Some(Duration::from_secs(seconds));
        let ramp = Schedule::Ramp { from: 100.0, to: 300.0, over_ns: 2_000_000_000 };
        assert_eq!(ramp.mean_rate(over(2)), Some(200.0));
        assert_eq!(ramp.mean_rate(over(1)), Some(150.0));
        assert_eq!(ramp.mean_rate(over(4)), Some(250.0));
        let at = |at_ns| Arrival { at_ns, target: None };
        let replay = Schedule::Replay(vec![at(0), at(1_000_000_000), at(2_000_000_000)].into());
        assert_eq!(replay.mean_rate(None), Some(1.5));
        assert_eq!(Schedule::Closed.mean_rate(over(1)), None);
    }

    fn schedules() -> impl Strategy<Value = Schedule> {
        prop_oneof![
            (0.1f64..1e6).prop_map(|rate| Schedule::Constant { rate }),
            (0.1f64..1e6, any::<u64>()).prop_map(|(rate, seed)| Schedule::Poisson { rate, seed }),
            (0.1f64..1e6, any::<u64>(), 1u64..100_000_000_000, proptest::collection::vec(0u32..9, 1..9))
                .prop_map(|(rate, seed, over_ns, steps)| {
                    let steps = steps.into_iter().map(|one| (1.0, f64::from(one))).chain([(2.0, 1.0)]);
                    Schedule::Shaped { rate, seed, over_ns, shape: Shape::new(steps).unwrap() }
                }),
            (0.0f64..1e5, 0.0f64..1e5, 1u64..100_000_000_000)
                .prop_map(|(from, to, over_ns)| Schedule::Ramp { from, to: to + 0.1, over_ns }),
            proptest::collection::vec((any::<u32>(), 0u32..4), 1..50).prop_map(|mut list| {
                list.sort_unstable();
                let of = |&(at, target): &(u32, u32)| Arrival { at_ns: at.into(), target: Some(target) };
                Schedule::Replay(list.iter().map(of).collect())
            }),
        ]
    }

    proptest! {
        #[test]
        fn arrivals_never_go_back_and_threads_share_them_out(schedule in schedules(), threads in 1usize..5) {
            schedule.check().unwrap();
            let all: Vec<_> = schedule.arrivals().unwrap().take(200).collect();
            prop_assert!(all.is_sorted_by_key(|arrival| arrival.at_ns));
            for thread in 0..threads {
                let mine: Vec<_> = schedule.arrivals().unwrap().skip(thread).step_by(threads).take(20).collect();
                let expected: Vec<_> = all.iter().copied().skip(thread).step_by(threads).take(20).collect();
                prop_assert_eq!(&mine[..expected.len().min(mine.len())], &expected[..]);
            }
        }

        #[test]
        fn times_are_read_exactly(seconds in 0u64..18_000_000_000, nanos in 0u64..1_000_000_000) {
            prop_assert_eq!(nanoseconds(&format!("{seconds}.{nanos:09}")), Some(seconds * 1_000_000_000 + nanos));
            prop_assert_eq!(nanoseconds(&seconds.to_string()), Some(seconds * 1_000_000_000));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[0-9. /a#\n]{0,60}") {
            if let Ok(replay) = read_replay(&text) {
                prop_assert!(Schedule::Replay(replay.arrivals.clone()).check().is_ok());
                prop_assert!(replay.arrivals.iter().all(|one| (one.target.unwrap() as usize) < replay.paths.len()));
            }
        }
    }

    #[test]
    fn a_constant_rate_drifts_by_nothing() {
        let mut arrivals = Schedule::Constant { rate: 3.0 }.arrivals().unwrap();
        assert_eq!(arrivals.next().unwrap().at_ns, 0);
        assert_eq!(arrivals.next().unwrap().at_ns, 333_333_333);
        // Two have gone; skipping 2,999,998 gives the three millionth: 10^6 seconds.
        assert_eq!(arrivals.nth(2_999_998).unwrap().at_ns, 1_000_000_000_000_000);
    }

    #[test]
    fn poisson_has_its_rate_its_spread_and_its_seed() {
        let take = |seed| -> Vec<u64> {
            let arrivals = Schedule::Poisson { rate: 1000.0, seed }.arrivals().unwrap();
            arrivals.take(100_000).map(|arrival| arrival.at_ns).collect()
        };
        let times = take(1);
        assert_eq!(times, take(1));
        assert_ne!(times, take(2));
        let gaps: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e6).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let spread = (gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt();
        // An exponential's deviation is its mean; 100,000 gaps give both to 0.3 %.
        assert!((mean - 1.0).abs() < 0.02 && (spread - 1.0).abs() < 0.03, "mean {mean}, deviation {spread}");
    }

    #[test]
    fn a_ramp_holds_the_area_under_its_rate() {
        let ramp = Schedule::Ramp { from: 0.0, to: 100.0, over_ns: 10_000_000_000 };
        let times: Vec<_> = ramp.arrivals().unwrap().take(700).map(|arrival| arrival.at_ns).collect();
        // 0 to 100 a second over 10 s: t^2 * 5 requests by t, 500 by the end, then 100 a second.
        assert_eq!(times[5], 1_000_000_000);
        assert_eq!(times[500], 10_000_000_000);
        assert_eq!(times[600], 11_000_000_000);
        let down = Schedule::Ramp { from: 100.0, to: 0.0, over_ns: 10_000_000_000 };
        assert_eq!(down.arrivals().unwrap().count(), 501);
    }

    #[test]
    fn wrong_numbers_are_refused() {
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e10] {
            assert!(Schedule::Constant { rate }.check().is_err(), "{rate}");
            assert!(Schedule::Poisson { rate, seed: 1 }.check().is_err(), "{rate}");
        }
        assert!(Schedule::Ramp { from: 0.0, to: 0.0, over_ns: 1 }.check().is_err());
        assert!(Schedule::Ramp { from: 1.0, to: 1.0, over_ns: 0 }.check().is_err());
        assert!(Schedule::Replay([].into()).check().is_err());
        assert!(Schedule::Closed.check().is_ok() && Schedule::Closed.arrivals().is_none());
    }

    #[test]
    fn a_replay_keeps_order_origin_and_paths() {
        let text = "# time path\n1700000000.5 /a\n\n1700000000 /b?x=1\n1700000001.000000001 /a\n";
        let replay = read_replay(text).unwrap();
        assert_eq!(replay.paths, ["/a", "/b?x=1"]);
        assert_eq!(replay.goes_back, Some((1, 4)));
        assert_eq!(read_replay("1 /a\n1 /b\n2 /a\n").unwrap().goes_back, None);
        let got: Vec<_> = replay.arrivals.iter().map(|one| (one.at_ns, one.target)).collect();
        assert_eq!(got, [(0, Some(1)), (500_000_000, Some(0)), (1_000_000_001, Some(0))]);
        for (text, what) in [
            ("", "no line"),
            ("1", "line 1: no path"),
            ("0 /\nx /", "line 2: the time"),
            ("0 a", "line 1: the path"),
            ("-1 /a", "line 1: the time"),
            ("99999999999999 /a", "line 1: the time"),
            ("0 /a b", "line 1: the path"),
        ] {
            let error = read_replay(text).unwrap_err();
            assert!(error.starts_with(what), "{text}: {error}");
        }
    }
}
