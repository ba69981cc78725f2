//! The verdict of a comparison: better, worse, tie, cannot tell (and why), invalid.
//!
//! Works on log ratios arm / base and on the margin within which a difference does not matter. Whether a side is
//! invalid is decided elsewhere and only passed through.

use crate::ALPHA;
use crate::between::{Between, NoiseKind, Prior};
use crate::effect::Interval;

/// The direction that is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    Higher,
    Lower,
}

/// The relative difference below which nobody would act.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Margin(f64);

impl Margin {
    /// Default between machines: 5 %.
    pub const MACHINES: Self = Self(0.05);
    /// Default between arms of one study: 2 %.
    pub const ARMS: Self = Self(0.02);

    /// A share such as 0.05; `None` if negative or not a number.
    pub fn new(share: f64) -> Option<Self> {
        (share >= 0.0 && share.is_finite()).then_some(Self(share))
    }

    /// The margin, raised to at least quantum / median where the instrument cannot show smaller steps.
    #[must_use]
    pub fn at_least_quantum(self, quantum: f64, median: f64) -> Self {
        let step = (quantum / median).abs();
        if step.is_finite() { Self(self.0.max(step)) } else { self }
    }

    /// The margin as a share.
    pub fn share(self) -> f64 {
        self.0
    }

    /// ln(1 + margin): ratios within [1 / (1 + margin), 1 + margin] are within plus and minus this.
    pub fn ln(self) -> f64 {
        self.0.ln_1p()
    }
}

/// The data behind the interval of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// Blocks of one study.
    Blocks { n: usize },
    /// Runs; `prior` says what the assumed part of the noise came from.
    Runs { noise: NoiseKind, prior: Prior },
    /// Runs of one take, on both sides or on one: their interval is an assumption.
    OneTake { each: bool },
    /// A published figure without samples on either side.
    Point,
    /// Either side was refused.
    Invalid,
}

impl From<&Between> for Basis {
    fn from(b: &Between) -> Self {
        match b.is_assumed() {
            true => Self::OneTake { each: b.one_take == (true, true) },
            false => Self::Runs { noise: b.noise.kind, prior: b.noise.prior },
        }
    }
}

/// Why a comparison was not decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// The interval reaches across the margin.
    Interval,
    /// The interval reaches across the margin, and the noise between runs is assumed, not measured.
    AssumedNoise,
    /// Decided alone, but not after Holm's correction over this many rows.
    FamilySize,
    /// A published point has no samples.
    Point,
    /// Too few blocks for an interval.
    TooFew { have: usize },
    /// Both sides have one take, or one of them has, and the noise is assumed.
    OneTake { each: bool },
}

/// The verdict on the arm against the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Better,
    Worse,
    Tie,
    CannotTell(Held),
    Invalid,
}

impl Verdict {
    /// The word that is printed and stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Tie => "tie",
            Self::CannotTell(_) => "cannot-tell",
            Self::Invalid => "invalid",
        }
    }

    /// The verdict with arm and base exchanged.
    #[must_use]
    pub fn reversed(self) -> Self {
        match self {
            Self::Better => Self::Worse,
            Self::Worse => Self::Better,
            other => other,
        }
    }
}

/// Judges one row. `interval` is of ln(arm / base); `adjusted_p` is the row's p after Holm's
/// correction over its family.
///
/// Better or worse: the interval lies wholly outside [1 / (1 + margin), 1 + margin] and adjusted_p is
/// at most 0.05. Tie: it lies wholly inside. Everything else is `CannotTell`, and so is what rests on assumed noise
/// alone, however far apart.
pub fn verdict(
    interval: Option<Interval>,
    adjusted_p: Option<f64>,
    margin: Margin,
    better: Better,
    basis: Basis,
) -> Verdict {
    let held = match basis {
        Basis::Invalid => return Verdict::Invalid,
        Basis::Point => return Verdict::CannotTell(Held::Point),
        Basis::OneTake { each } => return Verdict::CannotTell(Held::OneTake { each }),
        Basis::Blocks { n } if interval.is_none() => return Verdict::CannotTell(Held::TooFew { have: n }),
        Basis::Runs { noise: NoiseKind::Assumed, prior: Prior::Floor } => Held::AssumedNoise,
        Basis::Runs { .. } | Basis::Blocks { .. } => Held::Interval,
    };
    let Some(i) = interval.filter(|i| i.low <= i.high) else {
        return Verdict::CannotTell(held);
    };
    let edge = margin.ln();
    if i.low >= -edge && i.high <= edge {
        return Verdict::Tie;
    }
    let above = i.low > edge;
    if !above && i.high >= -edge {
        return Verdict::CannotTell(held);
    }
    if !adjusted_p.is_some_and(|p| p <= ALPHA) {
        return Verdict::CannotTell(Held::FamilySize);
    }
    if above == (better == Better::Higher) { Verdict::Better } else { Verdict::Worse }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCKS: Basis = Basis::Blocks { n: 12 };

    fn judge(low: f64, high: f64, p: f64, better: Better, basis: Basis) -> Verdict {
        let i = Interval { low: f64::ln(low), high: f64::ln(high), level: 0.95 };
        verdict(Some(i), Some(p), Margin::MACHINES, better, basis)
    }

    #[test]
    fn the_four_regions() {
        use Better::{Higher, Lower};
        assert_eq!(judge(1.06, 1.2, 0.01, Higher, BLOCKS), Verdict::Better);
        assert_eq!(judge(1.06, 1.2, 0.01, Lower, BLOCKS), Verdict::Worse);
        assert_eq!(judge(0.8, 0.95, 0.01, Higher, BLOCKS), Verdict::Worse);
        assert_eq!(judge(0.8, 0.95, 0.01, Lower, BLOCKS), Verdict::Better);
        assert_eq!(judge(0.96, 1.04, 0.9, Higher, BLOCKS), Verdict::Tie);
        assert_eq!(
            judge(1.01, 1.04, 0.001, Higher, BLOCKS),
            Verdict::Tie,
            "significant, and too small to act on"
        );
        assert_eq!(judge(1.04, 1.2, 0.001, Higher, BLOCKS), Verdict::CannotTell(Held::Interval));
        assert_eq!(judge(0.5, 2.0, 0.9, Higher, BLOCKS), Verdict::CannotTell(Held::Interval));
    }

    #[test]
    fn the_reason_is_named() {
        let runs = |noise, prior| Basis::Runs { noise, prior };
        let straddling = |basis| judge(0.98, 1.2, 0.1, Better::Higher, basis);
        assert_eq!(
            straddling(runs(NoiseKind::Assumed, Prior::Floor)),
            Verdict::CannotTell(Held::AssumedNoise)
        );
        assert_eq!(straddling(runs(NoiseKind::Assumed, Prior::Takes)), Verdict::CannotTell(Held::Interval));
        assert_eq!(straddling(runs(NoiseKind::Measured, Prior::Floor)), Verdict::CannotTell(Held::Interval));
        assert_eq!(judge(1.1, 1.2, 0.06, Better::Higher, BLOCKS), Verdict::CannotTell(Held::FamilySize));
        for (low, high) in [(3.0, 4.0), (0.98, 1.2), (0.99, 1.01)] {
            let one = judge(low, high, 0.0, Better::Higher, Basis::OneTake { each: true });
            assert_eq!(one, Verdict::CannotTell(Held::OneTake { each: true }), "{low} to {high}");
        }
        assert_eq!(judge(1.1, 1.2, 0.0, Better::Higher, Basis::Point), Verdict::CannotTell(Held::Point));
        assert_eq!(judge(1.1, 1.2, 0.0, Better::Higher, Basis::Invalid), Verdict::Invalid);
        let none = verdict(None, None, Margin::ARMS, Better::Lower, Basis::Blocks { n: 3 });
        assert_eq!(none, Verdict::CannotTell(Held::TooFew { have: 3 }));
    }

    #[test]
    fn numbers_that_are_not_numbers_decide_nothing() {
        assert_eq!(judge(f64::NAN, 1.2, 0.0, Better::Higher, BLOCKS), Verdict::CannotTell(Held::Interval));
        assert_eq!(judge(1.1, 1.2, f64::NAN, Better::Higher, BLOCKS), Verdict::CannotTell(Held::FamilySize));
    }

    #[test]
    fn a_coarse_clock_widens_the_margin() {
        let m = Margin::ARMS.at_least_quantum(1.0, 10.0);
        assert!((m.share() - 0.1).abs() < 1e-15);
        assert_eq!(Margin::ARMS.at_least_quantum(0.01, 10.0), Margin::ARMS);
        assert_eq!(Margin::ARMS.at_least_quantum(1.0, 0.0), Margin::ARMS);
        assert_eq!((Margin::new(-0.1), Margin::new(f64::NAN)), (None, None));
    }

    #[test]
    fn reversing_twice_is_nothing() {
        for v in [
            Verdict::Better,
            Verdict::Worse,
            Verdict::Tie,
            Verdict::Invalid,
            Verdict::CannotTell(Held::Point),
        ] {
            assert_eq!(v.reversed().reversed(), v);
        }
        assert_eq!(Verdict::Better.reversed(), Verdict::Worse);
    }
}
