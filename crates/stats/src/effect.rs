//! An estimated log ratio with its interval: what every comparison yields and every combination takes.
//!
//! Natural logarithms throughout; `ratio()` and `exp()` turn them into plain ratios.

/// An interval with the level that it really reaches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
    /// Exact coverage where the method knows it (order statistics), else the nominal 0.95.
    pub level: f64,
}

impl Interval {
    /// Estimate plus and minus a half width, at the nominal level.
    pub(crate) fn around(estimate: f64, half: f64) -> Self {
        Self { low: estimate - half, high: estimate + half, level: crate::LEVEL }
    }

    /// Both ends as ratios, for an interval of log ratios.
    pub fn exp(self) -> Self {
        Self { low: self.low.exp(), high: self.high.exp(), level: self.level }
    }

    /// True if the interval holds this value, ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// A log ratio with what is needed to combine it with others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effect {
    /// ln(arm / base).
    pub estimate: f64,
    pub interval: Interval,
    /// Standard error of the estimate.
    pub se: f64,
    /// Degrees of freedom behind `se`.
    pub dof: f64,
}

impl Effect {
    /// arm / base.
    pub fn ratio(&self) -> f64 {
        self.estimate.exp()
    }
}
