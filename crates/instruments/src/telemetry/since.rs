//! Rates from counters: the change since the tick before, and its seconds.
//!
//! A counter that decreased (a replaced device, a wrapped register) has no rate: it is missing.

use std::collections::BTreeMap;

use model::Params;

use super::parse::float;

/// The state of the tick before.
#[derive(Debug, Default)]
pub struct Since<T> {
    before: Option<(u64, T)>,
}

/// Two states and the seconds between them.
#[derive(Debug)]
pub struct Step<'a, T> {
    pub seconds: f64,
    pub before: T,
    pub now: &'a T,
}

impl<T> Since<T> {
    pub fn new() -> Since<T> {
        Since { before: None }
    }

    /// Puts `now` in the place of the state before; `None` on the first tick, or when no time went by.
    pub fn step(&mut self, at_ns: u64, now: T) -> Option<Step<'_, T>> {
        let (before_ns, before) = self.before.replace((at_ns, now))?;
        let elapsed_ns = at_ns.checked_sub(before_ns).filter(|ns| *ns > 0)?;
        let (_, now) = self.before.as_ref()?;
        Some(Step { seconds: float(elapsed_ns) / 1e9, before, now })
    }
}

impl<T> Since<BTreeMap<String, T>> {
    /// The devices of the tick before that are still there: their name, counters now and before, and the seconds.
    pub fn each(&mut self, at_ns: u64, now: BTreeMap<String, T>, mut push: impl FnMut(&str, &T, &T, f64)) {
        let Some(step) = self.step(at_ns, now) else { return };
        for (name, now) in step.now {
            if let Some(before) = step.before.get(name) {
                push(name, now, before, step.seconds);
            }
        }
    }
}

/// Per second.
pub fn rate(now: u64, before: u64, seconds: f64) -> Option<f64> {
    Some(float(now.checked_sub(before)?) / seconds)
}

/// As [`rate`], for counters that may be missing.
pub fn maybe_rate(now: Option<u64>, before: Option<u64>, seconds: f64) -> Option<f64> {
    rate(now?, before?, seconds)
}

/// One extra parameter.
pub fn extra(key: &str, value: &str) -> Params {
    let plain = |c: char| if matches!(c, ';' | ',' | '=' | '{' | '}') { '_' } else { c };
    Params::from_iter([(key.to_owned(), value.chars().map(plain).collect())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_and_rates() {
        let mut since = Since::new();
        assert!(since.step(1_000_000_000, 5u64).is_none());
        let step = since.step(3_000_000_000, 9).unwrap();
        assert_eq!((step.seconds, step.before, *step.now), (2.0, 5, 9));
        assert_eq!(rate(*step.now, step.before, step.seconds), Some(2.0));
        assert!(since.step(3_000_000_000, 10).is_none());
        assert_eq!(rate(4, 5, 1.0), None);
        assert_eq!(maybe_rate(Some(4), None, 1.0), None);
        assert_eq!(extra("disk", "a=b;c").to_string(), "disk=a_b_c");
    }

    #[test]
    fn devices_that_came_or_went_have_no_step() {
        let mut since = Since::new();
        let state = |pairs: &[(&str, u64)]| {
            pairs.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect::<BTreeMap<_, _>>()
        };
        let mut steps = Vec::new();
        for (at_s, now) in [(1, state(&[("sda", 5), ("sdb", 7)])), (3, state(&[("sda", 9), ("sdc", 1)]))] {
            since.each(at_s * 1_000_000_000, now, |name, now, before, seconds| {
                steps.push((name.to_owned(), *now, *before, seconds));
            });
        }
        assert_eq!(steps, [("sda".to_owned(), 9, 5, 2.0)]);
    }
}
