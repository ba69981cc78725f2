//! Decides when a study has enough takes.
//!
//! It looks only at how wide the intervals are, at few fixed counts and for all arms together, never at a verdict:
//! stopping as soon as p falls below 0.05 would be wrong 15 % of the time at these few looks. Time budgets are not
//! handled here.

use crate::summary::summary;

/// Counts at which the widths are looked at.
pub const LOOKS: &[usize] = &[10, 15, 22, 33, 50];
/// The same for a quick run.
pub const QUICK_LOOKS: &[usize] = &[8, 12, 18];

/// A stop rule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StopRule {
    /// Exactly this many takes, whatever they say.
    Exactly(usize),
    /// At the first of `looks` (ascending) where every interval is within plus and minus `target` of
    /// its median, at the last one in any case.
    Width { looks: &'static [usize], target: f64 },
}

/// Why a study ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ended {
    /// The plan's count was reached.
    Exactly(usize),
    /// Every interval is narrow enough; the widest half width as a share of its median.
    Target { n: usize, widest: f64 },
    /// No more looks; the widest half width, `None` if an arm has no interval.
    LastLook { n: usize, widest: Option<f64> },
}

/// The decision of a look.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Decision {
    /// Take on until this many are done, then look again.
    Continue {
        until: usize,
    },
    Stop(Ended),
}

impl StopRule {
    /// The default looks.
    pub fn standard(target: f64) -> Self {
        Self::Width { looks: LOOKS, target }
    }

    /// The looks of a quick run.
    pub fn quick(target: f64) -> Self {
        Self::Width { looks: QUICK_LOOKS, target }
    }

    /// The fewest takes after which this rule may stop.
    pub fn least(&self) -> usize {
        match self {
            Self::Exactly(n) => *n,
            Self::Width { looks, .. } => looks.first().copied().unwrap_or(0),
        }
    }

    /// The most takes that this rule can ask for.
    pub fn most(&self) -> usize {
        match self {
            Self::Exactly(n) => *n,
            Self::Width { looks, .. } => looks.last().copied().unwrap_or(0),
        }
    }

    /// Decides after `done` takes of each arm (a take that faulted is done too). `arms` holds the
    /// measured values of every series that the study is about, in time order.
    pub fn look(&self, done: usize, arms: &[&[f64]]) -> Decision {
        let (looks, target) = match self {
            Self::Exactly(n) if done >= *n => return Decision::Stop(Ended::Exactly(done)),
            Self::Exactly(n) => return Decision::Continue { until: *n },
            Self::Width { looks, target } => (*looks, *target),
        };
        let next = looks.iter().copied().find(|n| *n > done);
        if let Some(until) = next
            && !looks.contains(&done)
        {
            return Decision::Continue { until };
        }
        let widest = widest(arms);
        match (widest, next) {
            (Some(widest), _) if widest <= target => Decision::Stop(Ended::Target { n: done, widest }),
            (_, Some(until)) => Decision::Continue { until },
            (widest, None) => Decision::Stop(Ended::LastLook { n: done, widest }),
        }
    }
}

/// The widest relative half width; `None` if there are no arms or one has no interval.
fn widest(arms: &[&[f64]]) -> Option<f64> {
    if arms.is_empty() {
        return None;
    }
    arms.iter().try_fold(0.0_f64, |most, arm| Some(most.max(summary(arm).ok()?.relative_half_width()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(n: usize, spread: f64) -> Vec<f64> {
        (0..n).map(|i| 100.0 + spread * [0.0, 1.0, -1.0, 0.5, -0.5][i % 5]).collect()
    }

    #[test]
    fn steady_arms_stop_at_the_first_look() {
        let (a, b) = (around(10, 0.5), around(10, 1.0));
        let rule = StopRule::standard(0.02);
        assert_eq!(rule.look(9, &[&a, &b]), Decision::Continue { until: 10 });
        assert!(matches!(rule.look(10, &[&a, &b]), Decision::Stop(Ended::Target { n: 10, .. })));
    }

    #[test]
    fn one_shaky_arm_keeps_all_going() {
        let rule = StopRule::standard(0.02);
        let mut asked = Vec::new();
        let mut done = 0;
        let ended = loop {
            let (a, b) = (around(done, 0.5), around(done, 20.0));
            match rule.look(done, &[&a, &b]) {
                Decision::Continue { until } => done = until,
                Decision::Stop(ended) => break ended,
            }
            asked.push(done);
        };
        assert_eq!(asked, LOOKS);
        assert!(matches!(ended, Ended::LastLook { n: 50, widest: Some(w) } if w > 0.02));
    }

    #[test]
    fn quick_and_exact_plans() {
        assert_eq!(StopRule::quick(0.02).look(0, &[]), Decision::Continue { until: 8 });
        assert_eq!(StopRule::quick(0.02).most(), 18);
        let exact = StopRule::Exactly(3);
        assert_eq!(exact.look(2, &[]), Decision::Continue { until: 3 });
        assert_eq!(exact.look(3, &[]), Decision::Stop(Ended::Exactly(3)));
        assert_eq!(exact.most(), 3);
    }

    #[test]
    fn arms_that_can_never_be_narrow_end_at_the_last_look() {
        let zero = [0.0; 18];
        let broken = [f64::NAN; 18];
        for arms in [vec![], vec![&zero[..0]], vec![&zero[..]], vec![&broken[..]]] {
            let rule = StopRule::quick(0.02);
            assert_eq!(rule.look(8, &arms), Decision::Continue { until: 12 });
            assert_eq!(rule.look(18, &arms), Decision::Stop(Ended::LastLook { n: 18, widest: None }));
        }
    }

    #[test]
    fn between_looks_nothing_is_looked_at() {
        let a = around(12, 0.0);
        assert_eq!(StopRule::standard(0.5).look(12, &[&a]), Decision::Continue { until: 15 });
        assert!(matches!(
            StopRule::standard(0.5).look(60, &[&a]),
            Decision::Stop(Ended::Target { n: 60, .. })
        ));
    }
}
