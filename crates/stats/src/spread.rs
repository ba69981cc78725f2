//! How far values spread between groups beyond what they spread by within them: one-way analysis of variance.

/// Standard deviations of one quantity; of logarithms they are shares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    pub within: f64,
    /// Beyond `within`; 0 where that explains all.
    pub between: f64,
}

/// Groups that tell how far they differ.
const LEAST_GROUPS: usize = 3;

/// The two spreads; `None` with fewer than three groups of two values. Groups of one value are left out.
pub fn spread(groups: &[&[f64]]) -> Option<Spread> {
    let groups: Vec<&[f64]> = groups.iter().copied().filter(|group| group.len() >= 2).collect();
    if groups.len() < LEAST_GROUPS || groups.iter().copied().flatten().any(|value| !value.is_finite()) {
        return None;
    }
    let count = groups.iter().map(|group| group.len() as f64).sum::<f64>();
    let mean = |group: &[f64]| group.iter().sum::<f64>() / group.len() as f64;
    let grand = groups.iter().copied().flatten().sum::<f64>() / count;
    let k = groups.len() as f64;
    let within: f64 =
        groups.iter().map(|group| group.iter().map(|value| (value - mean(group)).powi(2)).sum::<f64>()).sum();
    let between: f64 = groups.iter().map(|group| group.len() as f64 * (mean(group) - grand).powi(2)).sum();
    let (within, between) = (within / (count - k), between / (k - 1.0));
    let squares: f64 = groups.iter().map(|group| (group.len() as f64).powi(2)).sum();
    let size = (count - squares / count) / (k - 1.0);
    Some(Spread { within: within.sqrt(), between: ((between - within) / size).max(0.0).sqrt() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    #[test]
    fn what_groups_differ_by_is_told_from_what_values_do() {
        let mut rng = Rng::new(3);
        let mut drawn = |between: f64| -> Spread {
            let groups: Vec<Vec<f64>> = (0..400)
                .map(|_| {
                    let level = between * rng.normal();
                    (0..5).map(|_| level + 0.01 * rng.normal()).collect()
                })
                .collect();
            spread(&groups.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap()
        };
        let found = drawn(0.03);
        assert!((found.between - 0.03).abs() < 0.003 && (found.within - 0.01).abs() < 0.001, "{found:?}");
        assert!(drawn(0.0).between < 0.002);
    }

    #[test]
    fn few_groups_tell_nothing() {
        assert_eq!(spread(&[&[1.0, 2.0], &[1.0, 2.0]]), None);
        assert_eq!(spread(&[&[1.0, 2.0], &[1.0, 2.0], &[3.0]]), None);
        assert_eq!(spread(&[&[1.0, f64::NAN], &[1.0, 2.0], &[3.0, 1.0]]), None);
        let same = spread(&[&[1.0, 1.0], &[1.0, 1.0], &[1.0, 1.0]]);
        assert_eq!(same, Some(Spread { within: 0.0, between: 0.0 }));
    }
}
