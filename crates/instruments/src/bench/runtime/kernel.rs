//! The five kernels of SciMark2, their sizes, and the operations that a cycle of each is credited with.
//!
//! Operations are counted as SciMark2 counts them, so that figures can stand beside published ones: FFT is credited one
//! transform although a cycle does two, SOR (N-1)^2 points although it updates (N-2)^2, LU none for copying the matrix.

model::words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Kernel as name {
        Fft = "fft",
        Sor = "sor",
        MonteCarlo = "monte-carlo",
        Sparse = "sparse",
        Lu = "lu",
    }
}

model::words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Size as name {
        Small = "small",
        Large = "large",
    }
}

/// The parameter value for all kernels.
pub const ALL: &str = "all";
/// The name of the arithmetic mean of all kernels.
pub const COMPOSITE: &str = "composite";
/// The values of the parameter `kernel`.
pub const CHOICES: &[&str] = &[ALL, "fft", "sor", "monte-carlo", "sparse", "lu"];
pub const SIZES: &[&str] = Size::WORDS;

impl Kernel {
    /// The kernels that a value of the parameter names; none where it is no such value.
    pub fn named(word: &str) -> Vec<Kernel> {
        Kernel::ALL.into_iter().filter(|kernel| word == ALL || word == kernel.name()).collect()
    }

    /// Floating-point operations of one cycle.
    pub const fn operations(self, size: Size) -> f64 {
        match (self, size) {
            (Kernel::Fft, Size::Small) => fft(1024.0, 10.0),
            (Kernel::Fft, Size::Large) => fft(1_048_576.0, 20.0),
            (Kernel::Sor, Size::Small) => sor(100.0),
            (Kernel::Sor, Size::Large) => sor(1000.0),
            (Kernel::MonteCarlo, _) => 4.0,
            (Kernel::Sparse, Size::Small) => sparse(1000.0, 5.0),
            (Kernel::Sparse, Size::Large) => sparse(100_000.0, 10.0),
            (Kernel::Lu, Size::Small) => lu(100.0),
            (Kernel::Lu, Size::Large) => lu(1000.0),
        }
    }

    /// Cycles of one iteration where warming up is watched: some tens of microseconds of compiled code.
    pub const fn warm_up_cycles(self) -> u64 {
        match self {
            Kernel::Fft | Kernel::Sor | Kernel::Lu => 1,
            Kernel::MonteCarlo => 10_000,
            Kernel::Sparse => 10,
        }
    }
}

const fn fft(points: f64, log2: f64) -> f64 {
    (5.0 * points - 2.0) * log2 + 2.0 * (points + 1.0)
}

const fn sor(side: f64) -> f64 {
    6.0 * (side - 1.0) * (side - 1.0)
}

const fn sparse(rows: f64, each: f64) -> f64 {
    2.0 * rows * each
}

const fn lu(side: f64) -> f64 {
    2.0 / 3.0 * side * side * side
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_those_of_scimark2() {
        let of = |size: Size| Kernel::ALL.map(|kernel| kernel.operations(size).round());
        assert_eq!(of(Size::Small), [53_230.0, 58_806.0, 4.0, 10_000.0, 666_667.0]);
        assert_eq!(of(Size::Large), [106_954_714.0, 5_988_006.0, 4.0, 2_000_000.0, 666_666_667.0]);
    }

    #[test]
    fn every_value_of_the_parameter_names_kernels() {
        for word in CHOICES {
            let expected = if *word == ALL { 5 } else { 1 };
            assert_eq!(Kernel::named(word).len(), expected, "{word}");
        }
        assert!(Kernel::named("").is_empty() && Kernel::named(COMPOSITE).is_empty());
        assert_eq!(SIZES.iter().filter_map(|word| Size::parse(word)).count(), 2);
    }
}
