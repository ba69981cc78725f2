//! Composite index: the geometric mean of a machine's ratios to a reference, with an interval.
//!
//! Every component weighs the same and all must be there. Ratios must already be turned so that above
//! one is better. What the components mean is the caller's business.

use crate::ALPHA;
use crate::distributions::student_quantile;
use crate::effect::{Effect, Interval};
use crate::ratio::welch_dof;
use std::fmt;

/// How the components' errors go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dependence {
    /// From separate runs: errors partly cancel.
    Independent,
    /// From the same runs, which share one clock, boot and neighbourhood: errors are taken to move
    /// together. The interval is then the widest that the components allow.
    Shared,
}

/// A geometric mean of ratios.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Index {
    /// ln of the index, with its interval.
    pub effect: Effect,
    /// Number of components.
    pub components: usize,
}

impl Index {
    /// The index itself; 1 is the reference machine.
    pub fn value(&self) -> f64 {
        self.effect.ratio()
    }
}

/// Why there is no index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexError {
    /// No components were asked for.
    Empty,
    /// These components (positions) are missing or are not numbers.
    Missing(Vec<usize>),
}

impl fmt::Display for IndexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "an index needs at least one component"),
            Self::Missing(which) => write!(f, "{} of the index's components missing", which.len()),
        }
    }
}

impl std::error::Error for IndexError {}

/// Geometric mean of the components. Fails when a component is missing, and names it.
pub fn index(components: &[Option<Effect>], dependence: Dependence) -> Result<Index, IndexError> {
    if components.is_empty() {
        return Err(IndexError::Empty);
    }
    let usable = |e: &&Effect| e.estimate.is_finite() && e.se.is_finite() && e.se >= 0.0 && e.dof > 0.0;
    let parts: Vec<Effect> = components.iter().flatten().filter(usable).copied().collect();
    if parts.len() < components.len() {
        let missing = |c: &Option<Effect>| !c.as_ref().is_some_and(|e| usable(&e));
        let which = components.iter().enumerate().filter(|(_, c)| missing(c)).map(|(i, _)| i).collect();
        return Err(IndexError::Missing(which));
    }
    let k = parts.len() as f64;
    let estimate = parts.iter().map(|e| e.estimate).sum::<f64>() / k;
    let (se, dof) = match dependence {
        Dependence::Independent => {
            (parts.iter().map(|e| e.se * e.se).sum::<f64>().sqrt() / k, welch_dof(&parts))
        }
        Dependence::Shared => (
            parts.iter().map(|e| e.se).sum::<f64>() / k,
            parts.iter().map(|e| e.dof).fold(f64::INFINITY, f64::min),
        ),
    };
    let half = student_quantile(1.0 - ALPHA / 2.0, dof) * se;
    let effect = Effect { estimate, interval: Interval::around(estimate, half), se, dof };
    Ok(Index { effect, components: parts.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn component(ratio: f64, se: f64) -> Option<Effect> {
        let estimate = ratio.ln();
        Some(Effect { estimate, interval: Interval::around(estimate, 2.0 * se), se, dof: 8.0 })
    }

    #[test]
    fn geometric_mean_with_interval() {
        let parts = [component(2.0, 0.03), component(0.5, 0.04), component(8.0, 0.05)];
        let i = index(&parts, Dependence::Independent).expect("all there");
        assert!((i.value() - 2.0).abs() < 1e-12 && i.components == 3);
        assert!((i.effect.se - 0.005f64.sqrt() / 3.0).abs() < 1e-12);
        let shared = index(&parts, Dependence::Shared).expect("all there");
        assert!((shared.effect.se - 0.04).abs() < 1e-12);
        assert!(shared.effect.interval.low < i.effect.interval.low);
    }

    #[test]
    fn a_missing_component_is_named() {
        let nan = component(f64::NAN, 0.1);
        let got = index(&[component(1.0, 0.1), None, nan], Dependence::Shared);
        assert_eq!(got, Err(IndexError::Missing(vec![1, 2])));
        assert_eq!(index(&[], Dependence::Shared), Err(IndexError::Empty));
    }
}
