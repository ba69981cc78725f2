//! Amounts of work as needs are written: `20,000/s`, `400/h`, `2.00 TiB`.

use super::{Kind, Scale, number};
use crate::unit::Unit;

const HOUR_S: f64 = 3600.0;

/// The scale of an amount and of others beside it, such as the ends of its interval.
pub struct Amounts(Told);

enum Told {
    /// A rate: by this factor, and what stands behind it.
    Rate(f64, &'static str),
    Scaled(Scale),
}

impl Amounts {
    /// The scale that suits a value. A rate of less than one a second is told by the hour.
    pub fn like(value: f64, unit: Unit) -> Amounts {
        Amounts(match unit {
            Unit::PerSec if value < 1.0 => Told::Rate(HOUR_S, "/h"),
            Unit::PerSec => Told::Rate(1.0, "/s"),
            unit => Told::Scaled(Scale::common(&[value], Kind::for_unit(unit))),
        })
    }

    /// With its unit.
    pub fn text(&self, value: f64) -> String {
        match &self.0 {
            Told::Rate(_, unit) => format!("{}{unit}", self.bare(value)),
            Told::Scaled(scale) => scale.with_unit(value),
        }
    }

    /// Without.
    pub fn bare(&self, value: f64) -> String {
        match &self.0 {
            Told::Rate(factor, _) => number(value * factor),
            Told::Scaled(scale) => scale.number(value),
        }
    }
}

/// One amount with its unit.
pub fn amount(value: f64, unit: Unit) -> String {
    Amounts::like(value, unit).text(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_told_by_the_second_or_the_hour() {
        assert_eq!(amount(20_000.0, Unit::PerSec), "20,000/s");
        assert_eq!(amount(2310.0, Unit::PerSec), "2,310/s");
        assert_eq!(amount(400.0 / 3600.0, Unit::PerSec), "400/h");
        assert_eq!(amount(0.001, Unit::PerSec), "3.60/h");
        assert_eq!(amount(2.0 * 1024f64.powi(4), Unit::Byte), "2.00 TiB");
        // The ends of an interval are in the unit of the value.
        let near = Amounts::like(1.02, Unit::PerSec);
        assert_eq!([near.text(0.98), near.bare(1.06)], ["0.980/s", "1.06"]);
    }
}
