//! Why a figure cannot be computed, as a value that prints as one plain sentence.
//!
//! Does not say which series was meant: the caller knows its name.

use std::fmt;

/// The reason for a missing figure.
#[derive(Debug, Clone, PartialEq)]
pub enum Unfit {
    /// There are no values.
    Empty,
    /// The value at this index is not a number, infinite, or too large to be squared.
    OutOfRange { index: usize },
    /// A logarithm was needed and the value at this index is zero or negative.
    NotPositive { index: usize },
    /// Too few values for what was asked.
    TooFew { have: usize, need: usize },
    /// Too few sittings to know what another preparation would have given.
    TooFewSittings { have: usize, need: usize },
    /// Enough values, but they follow each other so closely that they tell as much as fewer would.
    Dependent { n: usize, effective: f64, lag1: f64 },
    /// Two lists that belong together have different lengths.
    Unequal { left: usize, right: usize },
    /// All values are the same where a spread is needed.
    NoSpread,
    /// An argument makes no sense; the text says which.
    Argument(&'static str),
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "no values"),
            Self::OutOfRange { index } => write!(f, "value {} is not a usable number", index + 1),
            Self::NotPositive { index } => {
                write!(f, "value {} is not positive, so it has no logarithm", index + 1)
            }
            Self::TooFew { have, need } => {
                let s = if *have == 1 { "" } else { "s" };
                write!(f, "{have} value{s}: too few for a 95 % interval, need {need}")
            }
            // Without its bias the coefficient is larger, and few values know it badly.
            Self::Dependent { n, lag1, .. } if *lag1 <= crate::autocorrelation::WIDENED => write!(
                f,
                "{n} values are too few to tell whether they follow each other (lag-1 autocorrelation {lag1:.2}): no \
                 95 % interval"
            ),
            Self::Dependent { n, effective, lag1 } => write!(
                f,
                "{n} values follow each other (lag-1 autocorrelation {lag1:.2}) and tell as much as \
                 {effective:.1}: too few for a 95 % interval"
            ),
            Self::TooFewSittings { have, need } => {
                let s = if *have == 1 { "" } else { "s" };
                write!(f, "{have} sitting{s}: what another preparation would give needs {need}")
            }
            Self::Unequal { left, right } => write!(f, "{left} values against {right}: they do not pair"),
            Self::NoSpread => write!(f, "all values are equal"),
            Self::Argument(what) => write!(f, "{what}"),
        }
    }
}

impl std::error::Error for Unfit {}

/// Largest magnitude accepted: its square, summed over any realistic count, stays finite.
const LARGEST: f64 = 1e140;

/// `Err` unless every value is a number whose square can be summed, and there is at least one.
pub(crate) fn check(values: &[f64]) -> Result<(), Unfit> {
    if values.is_empty() {
        return Err(Unfit::Empty);
    }
    match values.iter().position(|v| v.is_nan() || v.abs() > LARGEST) {
        Some(index) => Err(Unfit::OutOfRange { index }),
        None => Ok(()),
    }
}

/// As [`check`], and every value is above zero.
pub(crate) fn check_positive(values: &[f64]) -> Result<(), Unfit> {
    check(values)?;
    match values.iter().position(|v| *v <= 0.0) {
        Some(index) => Err(Unfit::NotPositive { index }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bad_value_is_named() {
        assert_eq!(check(&[]), Err(Unfit::Empty));
        assert_eq!(check(&[1.0, f64::NAN, f64::INFINITY]), Err(Unfit::OutOfRange { index: 1 }));
        assert_eq!(check(&[1.0, 1e200]), Err(Unfit::OutOfRange { index: 1 }));
        assert_eq!(check_positive(&[1.0, 2.0, 0.0]), Err(Unfit::NotPositive { index: 2 }));
        assert_eq!(check_positive(&[1.0, -2.0]), Err(Unfit::NotPositive { index: 1 }));
        assert_eq!(check_positive(&[1.0, 2.0]), Ok(()));
    }

    #[test]
    fn reasons_read_as_sentences() {
        let few = Unfit::TooFew { have: 3, need: 6 };
        assert_eq!(few.to_string(), "3 values: too few for a 95 % interval, need 6");
        let dependent = |lag1| Unfit::Dependent { n: 6, effective: 1.1, lag1 }.to_string();
        assert!(
            dependent(0.8).contains("follow each other (lag-1 autocorrelation 0.80) and tell as much as 1.1")
        );
        let few = "6 values are too few to tell whether they follow each other (lag-1 autocorrelation -0.06)";
        assert!(dependent(-0.06).starts_with(few), "{}", dependent(-0.06));
        assert_eq!(Unfit::OutOfRange { index: 0 }.to_string(), "value 1 is not a usable number");
    }
}
