//! Machines compared run against run, when their takes were not interleaved.
//!
//! A run is worth one number, m = ln(median of its takes), by sitting where it has several: takes of one run share its
//! boot, its page colours and its neighbours, so resampling them says nothing about the next run. The spread between
//! runs is learnt from the runs at hand and earlier ones, starting from an assumption that counts as four degrees of
//! freedom, or from the other figures of the same machines ([`learn`]). All spreads are of natural logarithms.

use statrs::function::gamma::digamma;

use crate::autocorrelation::{WIDENED, corrected};
use crate::distributions::{fisher_quantile, normal_quantile, student_p, student_quantile, trigamma};
use crate::effect::{Effect, Interval};
use crate::sittings::{log_level, of_few};
use crate::summary::{median_ranks, summary};
use crate::unfit::{Unfit, check_positive};
use crate::{ALPHA, describe};

/// Degrees of freedom that the assumed spread is worth: so few that one run each is judged with a wide interval, and
/// two or three runs say more than the assumption.
pub const PRIOR_DOF: f64 = 4.0;
/// Most earlier runs of one group that are looked at, the newest.
pub const HISTORY_MAX: usize = 20;
/// The runs reject the assumption where the ratio of variances would be so far off in one case of ten.
const REJECTED: f64 = 0.10;
/// Noise is called measured where the assumption weighs less than this.
const PRIOR_WEIGHS_LITTLE: f64 = 0.2;
/// Share of their degrees of freedom that other figures count for: their runs are the same, and so is part of their
/// noise.
const FIGURES_COUNT: f64 = 0.75;
/// A standard deviation of logarithms below this is rounding.
const ROUNDING: f64 = 1e-12;
/// Fewest figures that tell how much spreads differ from figure to figure.
pub const MIN_FIGURES: usize = 5;

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
    /// A run whose takes lie in one sitting, in time order. Fails when a take is not positive, or there is none.
    pub fn from_takes(takes: &[f64]) -> Result<Self, Unfit> {
        Self::from_sittings(&[takes])
    }

    /// A run from its measured takes by sitting, all in time order. Fails when a take is not positive, or there is
    /// none.
    ///
    /// With several sittings, m is the mean of the logarithms of their medians, and `se` counts sittings, widened by
    /// t(0.975) / 1.96 because so few know their spread badly. With one, m is ln of its median, and `se` is half the
    /// width of ln of the median's order-statistic interval, divided by the normal quantile of the level that it
    /// reaches; below six takes it comes from the standard deviation of the logarithms. Takes that resemble each other
    /// widen it as their coefficient says, and no further: what a run cannot know is in the noise between runs.
    pub fn from_sittings(sittings: &[&[f64]]) -> Result<Self, Unfit> {
        let takes = sittings.concat();
        check_positive(&takes)?;
        let z = |level: f64| normal_quantile(0.5 + level / 2.0);
        if let Some(level) = log_level(sittings)? {
            let widened = student_quantile(1.0 - ALPHA / 2.0, level.dof) / z(1.0 - ALPHA);
            return Ok(Self { m: level.centre, se: Some(level.se * widened), takes: takes.len() });
        }
        let logs = describe::sorted(&takes).ok_or(Unfit::Empty)?;
        let logs: Vec<f64> = logs.iter().map(|v| v.ln()).collect();
        let (n, s) = (logs.len(), summary(&takes)?);
        let plain = match median_ranks(n) {
            Some((k, level)) => Some((logs[n - k] - logs[k - 1]) / 2.0 / z(level)),
            None => of_few(&logs),
        };
        let alike = s.lag1.map(|r| corrected(r, n)).filter(|r| *r > WIDENED && n >= crate::MIN_N);
        let wider = alike.map_or(1.0, |r| ((1.0 + r) / (1.0 - r)).sqrt());
        Ok(Self { m: s.median.ln(), se: plain.map(|se| se * wider), takes: n })
    }

    /// The interval that holds ln of the figure of one further run in 95 of 100 cases, given this one.
    pub fn again(&self, noise: &Noise) -> Interval {
        let t = student_quantile(1.0 - ALPHA / 2.0, noise.dof());
        Interval::around(self.m, t * noise.s * std::f64::consts::SQRT_2)
    }
}

/// How much of the noise was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoiseKind {
    /// No two runs of one group: all assumed.
    Assumed,
    Mixed,
    /// The assumption weighs less than a fifth.
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

/// The source of the spread that the runs start from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prior {
    /// The floor assumed for this kind of metric.
    Floor,
    /// A run's own takes spread so widely that its median is less certain than the floor.
    Takes,
    /// The other figures of these machines.
    Figures,
}

/// The spread between runs, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    /// Standard deviation of m from run to run.
    pub s: f64,
    /// Measured degrees of freedom, without those of the prior.
    pub v: f64,
    /// The spread to start from.
    pub s0: f64,
    /// Degrees of freedom that `s0` is worth; 0 where the runs reject it.
    pub prior_dof: f64,
    pub prior: Prior,
    pub kind: NoiseKind,
}

impl Noise {
    /// Degrees of freedom behind `s`.
    pub fn dof(&self) -> f64 {
        self.prior_dof + self.v
    }

    /// The A/A floor of the series as a relative difference, see [`aa_floor`].
    pub fn aa_floor(&self) -> f64 {
        aa_floor(self.s, self.dof())
    }
}

/// The difference that two runs of one machine stay within 95 % of the time, as ratio - 1:
/// exp(t(0.975, dof) s sqrt(2)) - 1.
pub fn aa_floor(s: f64, dof: f64) -> f64 {
    (student_quantile(1.0 - ALPHA / 2.0, dof) * s * std::f64::consts::SQRT_2).exp_m1()
}

/// The spread of one figure as its runs show it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seen {
    /// Degrees of freedom.
    pub v: f64,
    /// Sum of (m - mean of its list)^2.
    pub squares: f64,
    /// The assumed standard deviation.
    pub assumed: f64,
}

impl Seen {
    /// Adds up lists of runs; arguments as in [`noise`].
    pub fn new(arms: &[&[Run]], history: &[&[Run]], floor: f64) -> Result<Self, Unfit> {
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
                // The mean of equal numbers may be off by a rounding: that is no spread.
                squares += if sd > ROUNDING { sd * sd * dof } else { 0.0 };
            }
        }
        let assumed = floor / (normal_quantile(1.0 - ALPHA / 2.0) * std::f64::consts::SQRT_2);
        Ok(Self { v, squares, assumed })
    }
}

/// A spread that several figures know together, and none of them well.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Learnt {
    /// Variance as a multiple of the assumed one.
    pub scale: f64,
    /// Degrees of freedom that it is worth: few where the figures' spreads differ.
    pub dof: f64,
}

/// Learns the scale of the spreads from all figures of the same machines and runs, and how much spreads differ from
/// figure to figure (empirical Bayes: Smyth 2004). `None` from fewer than five figures with several runs; one whose
/// runs are all equal is left out. The figures count for at most three quarters of what they have.
pub fn learn(figures: &[Seen]) -> Option<Learnt> {
    let usable = |f: &&Seen| f.v > 0.0 && f.squares > 0.0 && f.assumed > 0.0;
    let known: Vec<&Seen> = figures.iter().filter(usable).collect();
    if known.len() < MIN_FIGURES {
        return None;
    }
    let ratio = |f: &Seen| f.squares / f.v / (f.assumed * f.assumed);
    let logs: Vec<f64> =
        known.iter().map(|f| ratio(f).ln() - digamma(f.v / 2.0) + (f.v / 2.0).ln()).collect();
    let chance: Vec<f64> = known.iter().map(|f| trigamma(f.v / 2.0)).collect();
    let beyond = describe::standard_deviation(&logs)?.powi(2) - describe::mean(&chance)?;
    let total: f64 = known.iter().map(|f| f.v).sum();
    let pooled = known.iter().map(|f| ratio(f) * f.v).sum::<f64>() / total;
    let (scale, dof) = if beyond > 0.0 {
        let half = inverse_trigamma(beyond);
        ((describe::mean(&logs)? + digamma(half) - half.ln()).exp(), 2.0 * half)
    } else {
        (pooled, f64::INFINITY)
    };
    let found = Learnt { scale, dof: dof.min(total * FIGURES_COUNT) };
    (found.scale.is_finite() && found.dof > 0.0).then_some(found)
}

/// The x with trigamma(x) = y, by halving on the scale of logarithms.
fn inverse_trigamma(y: f64) -> f64 {
    let (mut low, mut high) = (1e-3_f64, 1e6_f64);
    for _ in 0..80 {
        let middle = (low * high).sqrt();
        if trigamma(middle) > y { low = middle } else { high = middle }
    }
    low
}

/// The spread between runs. `arms` are the runs being judged, one list a machine; `history` are lists
/// of earlier runs (oldest first) of one machine, series and config class each, of which the newest
/// twenty count. `floor` is the relative difference assumed for two runs of one machine (0.05 = 5 %), `learnt` what
/// the other figures show.
///
/// s^2 = (d s0^2 + sum of (m - mean of its list)^2) / (d + v). Without `learnt`, s0 is the larger of floor / (1.96
/// sqrt 2) and the root mean square of the standard errors of the runs in `arms`, and d is four, or none where the
/// runs reject it (F test, one in ten): an assumption that does not hold is dropped, as too wide from five runs on.
pub fn noise(
    arms: &[&[Run]],
    history: &[&[Run]],
    floor: f64,
    learnt: Option<Learnt>,
) -> Result<Noise, Unfit> {
    let Seen { v, squares, assumed } = Seen::new(arms, history, floor)?;
    let errors: Vec<f64> = arms.iter().copied().flatten().filter_map(|r| r.se).collect();
    let squares_of = errors.iter().map(|se| se * se).collect::<Vec<_>>();
    let own = describe::mean(&squares_of).unwrap_or(0.0).sqrt();
    let (start, mut prior_dof, source) = match learnt {
        Some(learnt) => (assumed * learnt.scale.sqrt(), learnt.dof, Prior::Figures),
        None => (assumed, PRIOR_DOF, Prior::Floor),
    };
    let (s0, prior) = if own > start { (own, Prior::Takes) } else { (start, source) };
    if prior == Prior::Takes {
        prior_dof = prior_dof.min(PRIOR_DOF);
    }
    if learnt.is_none() && v > 0.0 {
        let ratio = squares / v / (s0 * s0);
        let limit = |p: f64| fisher_quantile(p, v, PRIOR_DOF);
        // Two or three runs lie close together by chance too often to say that the assumption is too wide.
        let too_wide = v >= PRIOR_DOF && ratio < limit(REJECTED / 2.0) && squares > 0.0;
        if too_wide || ratio > limit(1.0 - REJECTED / 2.0) {
            prior_dof = 0.0;
        }
    }
    let kind = match v {
        0.0 => NoiseKind::Assumed,
        v if prior_dof / (prior_dof + v) < PRIOR_WEIGHS_LITTLE => NoiseKind::Measured,
        _ => NoiseKind::Mixed,
    };
    let s = ((prior_dof * s0 * s0 + squares) / (prior_dof + v)).sqrt();
    Ok(Noise { s, v, s0, prior_dof, prior, kind })
}

/// Comparison of two machines by their runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Between {
    /// ln(arm / base): difference of `levels`.
    pub estimate: f64,
    /// The mean m of the arm and of the base.
    pub levels: (f64, f64),
    pub interval: Interval,
    /// Two-sided p of t = estimate / se with the noise's degrees of freedom.
    pub p: f64,
    /// s sqrt(1 / runs of arm + 1 / runs of base).
    pub se: f64,
    pub noise: Noise,
    /// Runs of the arm and of the base.
    pub runs: (usize, usize),
    /// The arm, and the base, have no more than one take in any run.
    pub one_take: (bool, bool),
}

impl Between {
    /// True where all that is known of the noise of a side is assumed: no run was repeated, and it has one take alone.
    pub fn is_assumed(&self) -> bool {
        let of_runs = self.noise.kind == NoiseKind::Assumed && self.noise.prior == Prior::Floor;
        of_runs && (self.one_take.0 || self.one_take.1)
    }

    /// The estimate with its interval and standard error, for combining.
    pub fn effect(&self) -> Effect {
        Effect { estimate: self.estimate, interval: self.interval, se: self.se, dof: self.noise.dof() }
    }
}

fn is_one_take(runs: &[Run]) -> bool {
    runs.iter().all(|run| run.se.is_none())
}

/// Compares the runs of two machines; `history`, `floor` and `learnt` as in [`noise`].
pub fn between(
    arm: &[Run],
    base: &[Run],
    history: &[&[Run]],
    floor: f64,
    learnt: Option<Learnt>,
) -> Result<Between, Unfit> {
    if arm.is_empty() || base.is_empty() {
        return Err(Unfit::Empty);
    }
    let noise = noise(&[arm, base], history, floor, learnt)?;
    let centre =
        |runs: &[Run]| describe::mean(&runs.iter().map(|r| r.m).collect::<Vec<_>>()).ok_or(Unfit::Empty);
    let levels = (centre(arm)?, centre(base)?);
    let estimate = levels.0 - levels.1;
    let se = noise.s * (1.0 / arm.len() as f64 + 1.0 / base.len() as f64).sqrt();
    let t = student_quantile(1.0 - ALPHA / 2.0, noise.dof());
    Ok(Between {
        estimate,
        levels,
        interval: Interval::around(estimate, t * se),
        p: student_p(estimate / se, noise.dof()),
        se,
        noise,
        runs: (arm.len(), base.len()),
        one_take: (is_one_take(arm), is_one_take(base)),
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
        let c = between(&[run(0.2)], &[run(0.0)], &[], 0.05, None).expect("finite");
        let s0 = 0.05 / (1.959_963_985 * 2f64.sqrt());
        assert!((c.noise.s - s0).abs() < 1e-10 && c.noise.v == 0.0);
        assert_eq!((c.noise.kind, c.noise.prior), (NoiseKind::Assumed, Prior::Floor));
        assert!((c.interval.high - (0.2 + 2.776_445_105 * s0 * 2f64.sqrt())).abs() < 1e-8);
        assert!(c.p < 2e-3);
        let floor = c.noise.aa_floor();
        assert!(
            (floor.ln_1p() - (c.interval.high - c.estimate)).abs() < 1e-12,
            "one run each: the same width"
        );
        let again = run(0.2).again(&c.noise);
        assert!((again.high - c.interval.high).abs() < 1e-12 && again.contains(0.2));
    }

    #[test]
    fn one_take_each_measures_no_noise() {
        let alone = |m: f64| Run { se: None, takes: 1, ..run(m) };
        let of = |arm: &[Run], base: &[Run], history: &[&[Run]]| {
            let found = between(arm, base, history, 0.05, None).expect("finite");
            (found.is_assumed(), found.one_take)
        };
        assert_eq!(of(&[alone(1.0)], &[alone(0.0)], &[]), (true, (true, true)));
        assert_eq!(of(&[run(1.0)], &[alone(0.0)], &[]), (true, (false, true)));
        assert_eq!(of(&[run(1.0)], &[run(0.0)], &[]), (false, (false, false)), "takes of its own");
        let repeated = [alone(0.0), alone(0.02)];
        assert!(!of(&[alone(1.0)], &repeated, &[]).0, "two runs of one take each differ");
        assert!(!of(&[alone(1.0)], &[alone(0.0)], &[&repeated]).0, "so do earlier ones");
    }

    #[test]
    fn equal_runs_reject_no_assumption() {
        // Their mean is off by a rounding.
        let equal = [run(10f64.ln()); 6];
        let c = between(&[run(11f64.ln())], &[run(10f64.ln())], &[&equal], 0.05, None).expect("finite");
        assert!(c.noise.s > 0.005 && c.p > 1e-6, "{c:?}");
        assert_eq!(Seen::new(&[&equal], &[], 0.05).expect("finite").squares, 0.0);
    }

    #[test]
    fn two_runs_that_lie_close_by_chance_measure_nothing() {
        let close = [run(1.0), run(1.000_1)];
        let noise = noise(&[&close], &[], 0.14, None).expect("finite");
        assert_eq!((noise.prior_dof, noise.kind), (PRIOR_DOF, NoiseKind::Mixed));
    }

    #[test]
    fn spread_is_pooled_by_list() {
        // Squares 0.0032 (arm) + 0.0002 (history), degrees of freedom 1 + 1.
        let (arm, base, old) = ([run(0.1), run(0.18)], [run(5.0)], [run(1.00), run(1.02)]);
        let c = between(&arm, &base, &[&old], 0.10, None).expect("finite");
        let s0 = 0.10 / (1.959_963_985 * 2f64.sqrt());
        let want = ((4.0 * s0 * s0 + 0.0032 + 0.0002) / 6.0).sqrt();
        assert!((c.noise.s - want).abs() < 1e-10);
        assert_eq!((c.noise.v, c.noise.kind, c.runs), (2.0, NoiseKind::Mixed, (2, 1)));
        assert!((c.se - want * 1.5f64.sqrt()).abs() < 1e-10);
        assert!((c.estimate + 4.86).abs() < 1e-12);
    }

    #[test]
    fn an_assumption_that_the_runs_reject_is_dropped() {
        let spread = |by: f64| -> Vec<Run> { (0..6).map(|i| run(by * f64::from(i % 3))).collect() };
        for (by, dof) in [(0.001, 0.0), (0.02, PRIOR_DOF), (0.2, 0.0)] {
            let n = noise(&[&spread(by)], &[], 0.05, None).expect("finite");
            assert_eq!(n.prior_dof, dof, "spread {by}");
            assert_eq!(n.kind == NoiseKind::Measured, dof == 0.0);
        }
    }

    #[test]
    fn figures_teach_each_other_their_spread() {
        let figure = |squares: f64| Seen { v: 4.0, squares, assumed: 0.05 };
        let like: Vec<Seen> =
            (0..9).map(|i| figure(4.0 * 0.015 * 0.015 * (0.8 + 0.05 * f64::from(i)))).collect();
        let found = learn(&like).expect("nine figures");
        assert!((found.scale - 0.09).abs() < 0.01 && found.dof == 27.0, "{found:?}");
        let unlike: Vec<Seen> = (0..9).map(|i| figure(1e-4 * 4f64.powi(i))).collect();
        assert!(learn(&unlike).expect("nine figures").dof < 2.0);
        assert_eq!(learn(&like[..4]), None);
        let n = noise(&[&[run(0.0)]], &[], 0.10, Some(found)).expect("finite");
        assert_eq!((n.prior, n.prior_dof), (Prior::Figures, 27.0));
    }

    #[test]
    fn only_the_newest_history_counts() {
        let mut old: Vec<Run> = (0..30).map(|i| run(f64::from(i) * 100.0)).collect();
        old.extend((0..20).map(|_| run(1.0)));
        let n = noise(&[&[run(0.0)], &[run(0.0)]], &[&old], 0.05, None).expect("finite");
        assert_eq!((n.v, n.kind), (19.0, NoiseKind::Measured));
        assert!(n.s < n.s0);
    }

    #[test]
    fn an_unsteady_run_raises_the_assumption() {
        let shaky = Run { m: 0.0, se: Some(0.08), takes: 6 };
        let n = noise(&[&[shaky], &[run(0.0)]], &[], 0.05, None).expect("finite");
        assert!((n.s0 - 0.08 / 2f64.sqrt()).abs() < 1e-4 && n.prior == Prior::Takes);
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
        let apart = Run::from_sittings(&[&takes[..5], &[110.0, 111.0, 109.0]]).expect("positive");
        assert_eq!(apart.takes, 8);
        assert!((apart.m - (99f64.ln() + 110f64.ln()) / 2.0).abs() < 1e-12);
        assert!(apart.se.is_some_and(|se| se > 0.2), "two sittings know little: {apart:?}");
    }

    #[test]
    fn bad_input_is_refused() {
        assert_eq!(Run::from_takes(&[1.0, -1.0]), Err(Unfit::NotPositive { index: 1 }));
        assert_eq!(between(&[], &[run(0.0)], &[], 0.05, None), Err(Unfit::Empty));
        assert!(between(&[run(0.0)], &[run(0.0)], &[], 0.0, None).is_err());
        assert!(between(&[run(0.0)], &[run(0.0)], &[], f64::NAN, None).is_err());
        let broken = between(&[run(f64::NAN)], &[run(0.0)], &[], 0.05, None);
        assert_eq!(broken, Err(Unfit::OutOfRange { index: 0 }));
    }
}
