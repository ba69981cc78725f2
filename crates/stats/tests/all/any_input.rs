//! No input makes the crate panic or report a figure that is not a number.
//!
//! Values are drawn from every kind of float, repeats and extremes included.

use proptest::prelude::*;
use stats::{Rng, *};

/// Any float at all, often one of the awkward ones, often a repeat.
fn any_value() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => any::<f64>(),
        2 => -10.0..10.0_f64,
        3 => prop::sample::select(vec![
            0.0, -0.0, 1.0, -1.0, 1e-300, f64::MIN_POSITIVE, 5e-324, 1e140, -1e140, 1e150, f64::MAX, f64::MIN,
            f64::EPSILON, f64::NAN, f64::INFINITY, f64::NEG_INFINITY,
        ]),
    ]
}

/// Values that pass the door: everything behind it must then be a number.
fn usable() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -10.0..10.0_f64,
        1 => prop::sample::select(vec![0.0, -0.0, 1.0, 1e-300, 5e-324, 1e139, -1e139, 1e-160]),
    ]
}

fn is_sound(i: Interval) -> bool {
    i.low <= i.high && i.low.is_finite() && i.high.is_finite() && (0.95..=1.0).contains(&(i.level + 1e-9))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics(v in prop::collection::vec(any_value(), 0..30), w in prop::collection::vec(any_value(), 0..30), x in any_value()) {
        let mut rng = Rng::new(1);
        let _ = (summary(&v), paired(&v, 15), drift(&v), spearman(&v, &w), ks_distance(&v, &w), log_ratios(&v, &w));
        let _ = (median(&v), quantile(&v, x), geometric_mean(&v), mean(&v), standard_deviation(&v));
        let _ = (percentile(&v, median, 100, &mut rng), bca(&v, mean, 100, &mut rng));
        let _ = (student_cdf(x, 8.0), student_quantile(x, 8.0), student_quantile(0.9, x), normal_quantile(x), normal_cdf(x));
        let _ = holm(&v.iter().copied().map(Some).collect::<Vec<_>>());
        let _ = StopRule::standard(x).look(v.len(), &[&v, &w]);
        let runs = |v: &[f64]| -> Vec<Run> { v.iter().map(|m| Run { m: *m, se: Some(*m), takes: 1 }).collect() };
        let _ = (Run::from_takes(&v), aa_floor(x, x));
        if let Ok(b) = between(&runs(&v), &runs(&w), &[&runs(&v)], x, None) {
            let _ = (needed_runs(&b, Margin::MACHINES, 15), index(&[Some(b.effect())], Dependence::Shared));
            let _ = verdict(Some(b.interval), Some(x), Margin::MACHINES, Better::Lower, (&b).into());
        }
        if let Ok(p) = paired(&v, 15) {
            let _ = needed_takes(&p, Margin::ARMS, 15);
        }
        let takes: Vec<Take> = v.iter().map(|a| w.iter().map(|b| (a * b, 3)).collect()).collect();
        let _ = quantile_over_takes(&takes, x, 10, 100, &mut rng);
        let _ = quantile_over_takes(&takes, 0.5, 10, 100, &mut rng);
        let sums = |a: f64, b: f64| Sums { work: a.abs(), cost: b.abs() };
        let strata: Vec<Stratum> = v.iter().zip(&w).zip(0..)
            .map(|((a, b), block)| Stratum { block, class: 0, arm: sums(*a, *b), base: sums(*b, x) })
            .collect();
        let _ = stratified(&strata, 100, &mut rng);
    }

    #[test]
    fn stratified_ratios_are_sound(v in prop::collection::vec(0.0..1e6_f64, 24..160), seed in 0..100_u64) {
        let strata: Vec<Stratum> = v.as_chunks::<4>().0.iter().zip(0..)
            .map(|(&[work, cost, other, took], block)| Stratum {
                block,
                class: 0,
                arm: Sums { work, cost },
                base: Sums { work: other, cost: took },
            })
            .collect();
        if let Ok(found) = stratified(&strata, 100, &mut Rng::new(seed)) {
            prop_assert!(is_sound(found.effect.interval));
            prop_assert!(found.effect.estimate.is_finite() && found.crude.is_finite());
            prop_assert!((0.0..=1.0).contains(&found.shared) && found.effective <= found.blocks as f64);
        }
    }

    #[test]
    fn summaries_are_sound(v in prop::collection::vec(usable(), 1..40)) {
        let s = summary(&v).expect("usable values");
        prop_assert!(s.min <= s.median && s.median <= s.max && s.mean.is_finite());
        prop_assert_eq!(s.interval.is_none(), s.why.is_some());
        if let Some(i) = s.interval {
            prop_assert!(is_sound(i) && i.contains(s.median));
        }
        prop_assert!(s.mean_interval.is_none_or(is_sound));
        prop_assert!(s.effective_n >= 1.0 && s.effective_n <= v.len() as f64);
    }

    #[test]
    fn paired_comparisons_are_sound(v in prop::collection::vec(usable(), 1..40), family in 0..100_usize) {
        let c = paired(&v, family).expect("usable values");
        prop_assert!(c.estimate.is_finite() && (0.0..=1.0).contains(&c.p) && (0.0..=1.0).contains(&c.exact_p));
        prop_assert_eq!(c.interval.is_none(), c.why.is_some());
        if let Some(i) = c.interval {
            prop_assert!(is_sound(i) && i.contains(c.estimate));
        }
    }

    #[test]
    fn ranks_do_not_depend_on_units(v in prop::collection::vec(0.1..10.0_f64, 6..40), scale in 1e-6..1e6_f64) {
        let scaled: Vec<f64> = v.iter().map(|x| x * scale).collect();
        let (a, b) = (summary(&v).expect("positive"), summary(&scaled).expect("positive"));
        prop_assert!((b.median / a.median / scale - 1.0).abs() < 1e-9);
        prop_assert_eq!(a.interval.is_some(), b.interval.is_some());
        let (a, b) = (drift(&v).expect("positive"), drift(&scaled).expect("positive"));
        prop_assert!((a.change - b.change).abs() < 1e-9 && a.doubtful == b.doubtful);
    }
}
