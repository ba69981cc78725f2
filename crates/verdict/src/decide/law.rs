//! The law by which several boxes do less than as many times the work of one (Gunther, as `stats::usl` fits it).

/// The law's two losses; both 0 where boxes get in nobody's way.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Law {
    pub sigma: f64,
    pub kappa: f64,
}

impl Law {
    /// The work of n boxes as a multiple of that of one.
    pub fn does(self, n: f64) -> f64 {
        if n <= 1.0 { n } else { n / (1.0 + self.sigma * (n - 1.0) + self.kappa * n * (n - 1.0)) }
    }

    /// The boxes, before they are made whole, that do the work of so many without loss; `None` if no number does.
    pub fn boxes(self, ideal: f64) -> Option<f64> {
        if ideal.is_nan() || ideal <= 1.0 || self == Law::default() {
            return (!ideal.is_nan()).then_some(ideal);
        }
        // kappa x n^2 + (sigma x - kappa x - 1) n + (1 - sigma) x = 0, of which the smaller n counts.
        let (square, linear) = (self.kappa * ideal, 1.0 + self.kappa * ideal - self.sigma * ideal);
        let constant = (1.0 - self.sigma) * ideal;
        let root = linear * linear - 4.0 * square * constant;
        let is_possible = root >= 0.0 && linear > 0.0 && constant > 0.0;
        is_possible.then(|| 2.0 * constant / (linear + root.sqrt()))
    }

    /// The law through rates by number of boxes. Fails below three numbers.
    pub fn through(points: impl Iterator<Item = (u64, f64)>) -> Result<Law, stats::Unfit> {
        let (boxes, rates): (Vec<f64>, Vec<f64>) = points.map(|(boxes, rate)| (boxes as f64, rate)).unzip();
        stats::usl(&boxes, &rates).map(|fit| Law { sigma: fit.sigma, kappa: fit.kappa })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_that_get_in_each_others_way_are_more_or_never_enough() {
        let boxes = |sigma, kappa| Law { sigma, kappa }.boxes(8.0);
        assert_eq!(boxes(0.0, 0.0), Some(8.0));
        // 8 = n / (1 + 0.05 (n - 1)) has n = 12.67.
        assert!((boxes(0.05, 0.0).unwrap() - 7.6 / 0.6).abs() < 1e-9);
        assert_eq!((boxes(0.05, 0.01), boxes(0.2, 0.0), boxes(1.0, 0.0)), (None, None, None));
        let law = Law { sigma: 0.02, kappa: 1e-4 };
        assert!((law.does(law.boxes(8.0).unwrap()) - 8.0).abs() < 1e-9);
        assert_eq!((law.boxes(0.4), law.boxes(f64::NAN), law.does(1.0)), (Some(0.4), None, 1.0));
    }
}
