//! How the work of several boxes adds up: Gunther's law, as it was stated, or fitted to what so many boxes did
//! together.
//!
//! n boxes do n / (1 + sigma (n - 1) + kappa n (n - 1)) times the work of one: sigma is the contention, kappa the
//! coherence. Measured figures are drawn anew for each world and fitted there, so that the law is as uncertain as they
//! are. Beyond the numbers of boxes that were measured the fitted law goes on, which is said.

use model::doc::{FleetPointDoc, FleetScalingDoc, ScalingBasis};
use model::need::Ranged;
use stats::Rng;

use super::law::Law;
use super::sorted::at;
use super::values::Shared;
use super::{Capacity, Question};

/// How well it is known what several boxes do.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Scaling {
    /// Assumed, as nobody measured it.
    #[default]
    Linear,
    Stated {
        sigma: Ranged,
        kappa: Ranged,
    },
    /// Figures of several numbers of boxes, and the law through them.
    Measured {
        points: Vec<Together>,
        law: Law,
    },
}

/// The work that so many boxes did together.
#[derive(Clone, Debug, PartialEq)]
pub struct Together {
    pub boxes: u64,
    pub side: String,
    pub capacity: Capacity,
}

impl Scaling {
    /// The law through figures of several numbers of boxes. Fails below three numbers.
    pub fn measured(points: Vec<Together>) -> Result<Scaling, stats::Unfit> {
        let law = Law::through(points.iter().map(|one| (one.boxes, one.capacity.ln.exp())))?;
        Ok(Scaling::Measured { points, law })
    }

    pub fn is_linear(&self) -> bool {
        *self == Scaling::Linear
    }

    /// The law at the estimates.
    pub fn middle(&self) -> Law {
        match self {
            Scaling::Linear => Law::default(),
            Scaling::Stated { sigma, kappa } => Law { sigma: sigma.middle(), kappa: kappa.middle() },
            Scaling::Measured { law, .. } => *law,
        }
    }

    /// The largest number of boxes that was measured.
    fn most(&self) -> Option<u64> {
        match self {
            Scaling::Measured { points, .. } => points.iter().map(|one| one.boxes).max(),
            _ => None,
        }
    }
}

/// Draws of the law from a stream of its own.
pub struct Laws<'q> {
    scaling: &'q Scaling,
    rng: Rng,
}

impl<'q> Laws<'q> {
    pub fn new(question: &'q Question) -> Laws<'q> {
        Laws { scaling: &question.scaling, rng: Rng::derive(question.seed, "scaling") }
    }

    pub fn draw(&mut self) -> Law {
        match self.scaling {
            Scaling::Linear => Law::default(),
            Scaling::Stated { sigma, kappa } => {
                let mut uniform = |range: &Ranged| range.low + (range.high - range.low) * self.rng.uniform();
                Law { sigma: uniform(sigma), kappa: uniform(kappa) }
            }
            Scaling::Measured { points, law } => {
                let rate = |one: &Together, rng: &mut Rng| {
                    let Capacity { ln, se, dof, .. } = one.capacity;
                    if se > 0.0 { (ln + se * rng.student(dof)).exp() } else { ln.exp() }
                };
                let drawn = points.iter().map(|one| (one.boxes, rate(one, &mut self.rng)));
                // A draw too wild to be fitted is no other law.
                Law::through(drawn).unwrap_or(*law)
            }
        }
    }
}

/// Ends of what the law may be: those that were stated, or the 95 % interval of the draws; `None` where it is assumed.
pub fn ends(question: &Question, all: &[Shared]) -> Option<(Ranged, Ranged)> {
    let of = |value: fn(&Law) -> f64| {
        let mut drawn: Vec<f64> = all.iter().map(|shared| value(&shared.law)).collect();
        drawn.sort_by(f64::total_cmp);
        Some(Ranged { low: at(&drawn, 0.025)?, high: at(&drawn, 0.975)? })
    };
    match &question.scaling {
        Scaling::Linear => None,
        Scaling::Stated { sigma, kappa } => Some((*sigma, *kappa)),
        Scaling::Measured { .. } => Some((of(|law| law.sigma)?, of(|law| law.kappa)?)),
    }
}

/// The law as documents have it.
pub fn doc(question: &Question, all: &[Shared]) -> FleetScalingDoc {
    let (law, ends) = (question.scaling.middle(), ends(question, all));
    let (basis, points) = match &question.scaling {
        Scaling::Linear => (ScalingBasis::Assumed, [].as_slice()),
        Scaling::Stated { .. } => (ScalingBasis::Stated, [].as_slice()),
        Scaling::Measured { points, .. } => (ScalingBasis::Measured, points.as_slice()),
    };
    let point = |one: &Together| FleetPointDoc {
        boxes: one.boxes,
        side: one.side.clone(),
        value: one.capacity.ln.exp(),
        figure: one.capacity.figure.clone(),
        runs: one.capacity.runs.clone(),
    };
    FleetScalingDoc {
        basis,
        contention: law.sigma,
        contention_low: ends.map(|(sigma, _)| sigma.low),
        contention_high: ends.map(|(sigma, _)| sigma.high),
        coherence: law.kappa,
        coherence_low: ends.map(|(_, kappa)| kappa.low),
        coherence_high: ends.map(|(_, kappa)| kappa.high),
        points: points.iter().map(point).collect(),
    }
}

/// The sentence on the work of the most boxes that a candidate has; `None` where each has one.
pub fn note(question: &Question, (name, boxes): (&str, u64)) -> Option<String> {
    if boxes < 2 {
        return None;
    }
    let law = question.scaling.middle();
    let does = || {
        let times = model::format::ratio(law.does(boxes as f64));
        format!("{boxes} of {name} are taken to do {times} times the work of one")
    };
    Some(match &question.scaling {
        Scaling::Linear => {
            "several boxes are assumed to do as many times the work of one: nobody measured it".to_owned()
        }
        Scaling::Stated { .. } => format!("{}, by the loss that was stated and not measured", does()),
        Scaling::Measured { .. } => match question.scaling.most() {
            Some(most) if boxes > most => {
                format!(
                    "{}: more than {most} were never measured together, and the fitted law goes on",
                    does()
                )
            }
            Some(most) => format!("{}, by what was measured of up to {most} together", does()),
            None => does(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{capacity, question};
    use super::*;
    use model::Unit;

    fn together(boxes: u64, rate: f64, se: f64) -> Together {
        Together { boxes, side: format!("n{boxes}"), capacity: capacity(rate, se, 8.0, Unit::PerSec) }
    }

    #[test]
    fn a_measured_law_is_found_again_with_its_uncertainty() {
        let truth = Law { sigma: 0.04, kappa: 0.001 };
        let points = |se: f64| [1, 2, 4, 8].map(|n| together(n, 1_000.0 * truth.does(n as f64), se)).to_vec();
        let scaling = Scaling::measured(points(0.0)).unwrap();
        let law = scaling.middle();
        assert!((law.sigma - 0.04).abs() < 1e-9 && (law.kappa - 0.001).abs() < 1e-9, "{law:?}");
        let mut question = question(&["web 20000/s"]);
        question.scaling = Scaling::measured(points(0.01)).unwrap();
        let doc = doc(&question, &super::super::draws::shared(&question));
        let (low, high) = (doc.contention_low.unwrap(), doc.contention_high.unwrap());
        assert!(low < 0.04 && 0.04 < high && high - low > 0.005, "{low} {high}");
        assert_eq!((doc.basis, doc.points.len()), (ScalingBasis::Measured, 4));
        assert!(Scaling::measured(points(0.0)[..2].to_vec()).is_err(), "two numbers fit any law");
    }

    #[test]
    fn what_is_taken_to_be_is_said() {
        let mut question = question(&["web 20000/s"]);
        let of = |question: &Question, boxes| note(question, ("a", boxes)).unwrap_or_default();
        assert!(of(&question, 9).contains("nobody measured it") && of(&question, 1).is_empty());
        question.scaling = Scaling::Stated { sigma: Ranged::point(0.05), kappa: Ranged::point(0.0) };
        assert!(
            of(&question, 21).starts_with("21 of a are taken to do 10.50 times the work of one, by the loss")
        );
        question.scaling =
            Scaling::measured([1, 2, 4].map(|n| together(n, 100.0 * n as f64, 0.0)).to_vec()).unwrap();
        assert!(of(&question, 5).contains("more than 4 were never measured together"));
        assert!(of(&question, 4).contains("by what was measured of up to 4 together"));
    }
}
