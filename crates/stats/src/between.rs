//! Machines compared run against run, when their takes were not interleaved.
//!
//! A run is worth one number, m = ln(median of its takes): takes of one run share its boot, its page
//! colours and its neighbours, so resampling them says nothing about the next run. The spread between
//! runs is learnt from the runs at hand, starting from an assumption that counts as eight degrees of
//! freedom. All spreads are of natural logarithms.

use crate::distributions::{normal_quantile, student_p, student_quantile};
use crate::effect::{Effect, Interval};
use crate::unfit::{Unfit, check_positive};
use crate::{ALPHA, describe, summary};

/// Degrees of freedom that the assumed spread is worth.
pub const PRIOR_DOF: f64 = 8.0;
/// Most earlier runs of one group that are looked at, the newest.
pub const HISTORY_MAX: usize = 20;

/// One run of one series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Run {
    /// ln(median of the takes).
    pub m: f64,
    /// Standard error of `m` as the takes of this run show it; `None` for a single take.
    pub se: Option<f64>,
    pub takes: usize,
}

impl Run {
    /// A run from its measured takes in time order. Fails when a take is not positive, or there is none.
    ///
    /// `se` is half the width of ln of the median's order-statistic interval, divided by the normal quantile of the
    /// level that it reaches. Where there is no such interval it comes from the standard deviation of the logarithms:
    /// 1.2533 sd / sqrt(n) (a median's share), widened by t(0.975, n - 1) / 1.96 because so few takes know their
    /// spread badly; n is the effective one.
    pub fn from_takes(takes: &[f64]) -> Result<Self, Unfit> {
        check_positive(takes)?;
        let logs: Vec<f64> = takes.iter().map(|v| v.ln()).collect();
        let s = summary(takes)?;
        let se = match s.interval {
            Some(i) => Some((i.high.ln() - i.low.ln()) / 2.0 / normal_quantile(0.5 + i.level / 2.0)),
            None => describe::standard_deviation(&logs).map(|sd| {
                let n = s.effective_n.max(2.0);
                let widened =
                    student_quantile(1.0 - ALPHA / 2.0, n - 1.0) / normal_quantile(1.0 - ALPHA / 2.0);
                (std::f64::consts::PI / 2.0).sqrt() * sd / n.sqrt() * widened
            }),
        };
        Ok(Self { m: s.median.ln(), se, takes: takes.len() })
    }
}

/// How much of the noise was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoiseKind {
    /// No two runs of one group: all assumed.
    Assumed,
    Mixed,
    /// At least eight degrees of freedom were measured.
    Measured,
}

impl NoiseKind {
    /// The word that is printed and stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Assumed => "assumed",
            Self::Mixed => "mixed",
            Self::Measured => "measured",
        }
    }
}

/// The source of the assumed spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prior {
    /// The floor assumed for this kind of metric.
    Floor,
    /// A run's own takes spread so widely that its median is less certain than the floor.
    Takes,
}

/// The spread between runs, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    /// Standard deviation of m from run to run.
    pub s: f64,
    /// Measured degrees of freedom, without the eight of the assumption.
    pub v: f64,
    /// The assumed spread.
    pub s0: f64,
    pub prior: Prior,
    pub kind: NoiseKind,
}

impl Noise {
    /// Degrees of freedom behind `s`.
    pub fn dof(&self) -> f64 {
        PRIOR_DOF + self.v
    }

    /// The A/A floor of the series as a relative difference, see [`aa_floor`].
    pub fn aa_floor(&self) -> f64 {
        aa_floor(self.s, self.v)
    }
}

/// The difference that two runs of one machine stay within 95 % of the time, as ratio - 1:
/// exp(t(0.975, 8 + v) s sqrt(2)) - 1.
pub fn aa_floor(s: f64, v: f64) -> f64 {
    (student_quantile(1.0 - ALPHA / 2.0, PRIOR_DOF + v) * s * std::f64::consts::SQRT_2).exp_m1()
}

/// The spread between runs. `arms` are the runs being judged, one list a machine; `history` are lists
/// of earlier runs (oldest first) of one machine, series and config class each, of which the newest
/// twenty count. `floor` is the relative difference assumed for two runs of one machine (0.05 = 5 %).
///
/// s^2 = (8 s0^2 + sum of (m - mean of its list)^2) / (8 + v), where s0 is the larger of
/// floor / (1.96 sqrt 2) and the largest standard error of a median in `arms`.
pub fn noise(arms: &[&[Run]], history: &[&[Run]], floor: f64) -> Result<Noise, Unfit> {
    if !(floor > 0.0 && floor.is_finite()) {
        return Err(Unfit::Argument("the assumed floor must be a positive share"));
    }
    let recent = history.iter().map(|h| &h[h.len().saturating_sub(HISTORY_MAX)..]);
    let (mut v, mut squares) = (0.0, 0.0);
    for group in arms.iter().copied().chain(recent) {
        let m: Vec<f64> = group.iter().map(|r| r.m).collect();
        if let Some(index) = m.iter().position(|m| !m.is_finite()) {
            return Err(Unfit::OutOfRange { index });
        }
        if let Some(sd) = describe::standard_deviation(&m) {
            let dof = (m.len() - 1) as f64;
            v += dof;
            squares += sd * sd * dof;
        }
    }
    let assumed = floor / (normal_quantile(1.0 - ALPHA / 2.0) * std::f64::consts::SQRT_2);
    let own = arms.iter().copied().flatten().filter_map(|r| r.se).fold(0.0, f64::max);
    let (s0, prior) = if own > assumed { (own, Prior::Takes) } else { (assumed, Prior::Floor) };
    let kind = match v {
        0.0 => NoiseKind::Assumed,
        v if v < PRIOR_DOF => NoiseKind::Mixed,
        _ => NoiseKind::Measured,
    };
    let s = ((PRIOR_DOF * s0 * s0 + squares) / (PRIOR_DOF + v)).sqrt();
    Ok(Noise { s, v, s0, prior, kind })
}

/// Comparison of two machines by their runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Between {
    /// ln(arm / base): difference of the mean m.
    pub estimate: f64,
    pub interval: Interval,
    /// Two-sided p of t = estimate / se with 8 + v degrees of freedom.
    pub p: f64,
    /// s sqrt(1 / runs of arm + 1 / runs of base).
    pub se: f64,
    pub noise: Noise,
    /// Runs of the arm and of the base.
    pub runs: (usize, usize),
}

impl Between {
    /// The estimate with its interval and standard error, for combining.
    pub fn effect(&self) -> Effect {
        Effect { estimate: self.estimate, interval: self.interval, se: self.se, dof: self.noise.dof() }
    }
}

/// Compares the runs of two machines; `history` and `floor` as in [`noise`].
pub fn between(arm: &[Run], base: &[Run], history: &[&[Run]], floor: f64) -> Result<Between, Unfit> {
    let noise = noise(&[arm, base], history, floor)?;
    let centre =
        |runs: &[Run]| describe::mean(&runs.iter().map(|r| r.m).collect::<Vec<_>>()).ok_or(Unfit::Empty);
    let estimate = centre(arm)? - centre(base)?;
    let se = noise.s * (1.0 / arm.len() as f64 + 1.0 / base.len() as f64).sqrt();
    let t = student_quantile(1.0 - ALPHA / 2.0, noise.dof());
    Ok(Between {
        estimate,
        interval: Interval::around(estimate, t * se),
        p: student_p(estimate / se, noise.dof()),
        se,
        noise,
        runs: (arm.len(), base.len()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(m: f64) -> Run {
        Run { m, se: Some(0.001), takes: 10 }
    }

    #[test]
    fn one_run_each_is_judged_by_the_assumption() {
        let c = between(&[run(0.2)], &[run(0.0)], &[], 0.05).expect("finite");
        let s0 = 0.05 / (1.959_963_985 * 2f64.sqrt());
        assert!((c.noise.s - s0).abs() < 1e-10 && c.noise.v == 0.0);
        assert_eq!((c.noise.kind, c.noise.prior), (NoiseKind::Assumed, Prior::Floor));
        assert!((c.interval.high - (0.2 + 2.306_004_135 * s0 * 2f64.sqrt())).abs() < 1e-8);
        assert!(c.p < 1e-4);
        let floor = c.noise.aa_floor();
        assert!(
            (floor.ln_1p() - (c.interval.high - c.estimate)).abs() < 1e-12,
            "one run each: the same width"
        );
    }

    #[test]
    fn spread_is_pooled_by_list() {
        // Squares 0.02 (arm) + 0.0002 (history), degrees of freedom 1 + 1.
        let (arm, base, old) = ([run(0.1), run(0.3)], [run(5.0)], [run(1.00), run(1.02)]);
        let c = between(&arm, &base, &[&old], 0.10).expect("finite");
        let s0 = 0.10 / (1.959_963_985 * 2f64.sqrt());
        let want = ((8.0 * s0 * s0 + 0.02 + 0.0002) / 10.0).sqrt();
        assert!((c.noise.s - want).abs() < 1e-10);
        assert_eq!((c.noise.v, c.noise.kind, c.runs), (2.0, NoiseKind::Mixed, (2, 1)));
        assert!((c.se - want * 1.5f64.sqrt()).abs() < 1e-10);
        assert!((c.estimate + 4.8).abs() < 1e-12);
    }

    #[test]
    fn only_the_newest_history_counts() {
        let mut old: Vec<Run> = (0..30).map(|i| run(f64::from(i) * 100.0)).collect();
        old.extend((0..20).map(|_| run(1.0)));
        let n = noise(&[&[run(0.0)], &[run(0.0)]], &[&old], 0.05).expect("finite");
        assert_eq!((n.v, n.kind), (19.0, NoiseKind::Measured));
        assert!(n.s < n.s0);
    }

    #[test]
    fn an_unsteady_run_raises_the_assumption() {
        let shaky = Run { m: 0.0, se: Some(0.08), takes: 6 };
        let n = noise(&[&[shaky], &[run(0.0)]], &[], 0.05).expect("finite");
        assert_eq!((n.s0, n.prior), (0.08, Prior::Takes));
    }

    #[test]
    fn run_from_takes() {
        let takes = [98.0, 103.0, 97.0, 101.0, 99.0, 102.0, 96.0, 104.0, 100.0, 95.0];
        let r = Run::from_takes(&takes).expect("positive");
        assert!((r.m - 99.5f64.ln()).abs() < 1e-12);
        // Ranks 2 and 9 of ten: 96 and 103 at level 0.978515625.
        let z = normal_quantile(0.5 + 0.978_515_625 / 2.0);
        assert!((r.se.expect("ten takes") - (103f64 / 96.0).ln() / 2.0 / z).abs() < 1e-12);
        assert_eq!(Run::from_takes(&[5.0]).expect("positive").se, None);
        assert!(Run::from_takes(&[5.0, 5.1, 4.9]).expect("positive").se.is_some_and(|se| se > 0.02));
    }

    #[test]
    fn bad_input_is_refused() {
        assert_eq!(Run::from_takes(&[1.0, -1.0]), Err(Unfit::NotPositive { index: 1 }));
        assert_eq!(between(&[], &[run(0.0)], &[], 0.05), Err(Unfit::Empty));
        assert!(between(&[run(0.0)], &[run(0.0)], &[], 0.0).is_err());
        assert!(between(&[run(0.0)], &[run(0.0)], &[], f64::NAN).is_err());
        assert_eq!(between(&[run(f64::NAN)], &[run(0.0)], &[], 0.05), Err(Unfit::OutOfRange { index: 0 }));
    }
}
