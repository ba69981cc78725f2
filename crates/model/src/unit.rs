//! Quantities in base units, and only the arithmetic that physics allows between them.
//!
//! Values are tidied at the door (everything here is a base unit: s, B, 1/s, B/s, Hz, W, J) and scaled at
//! the exit, by the report. No prefix, no rounding and no formatting lives here.

use std::ops::{Add, Div, Mul, Sub};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

crate::words! {
    /// The unit of a stored number; `symbol` is what stands in a `unit` field.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
    pub enum Unit as symbol {
        #[serde(rename = "s")]
        Second = "s",
        #[serde(rename = "B")]
        Byte = "B",
        #[serde(rename = "1")]
        Count = "1",
        #[serde(rename = "ratio")]
        Ratio = "ratio",
        #[serde(rename = "W")]
        Watt = "W",
        #[serde(rename = "J")]
        Joule = "J",
        #[serde(rename = "degC")]
        Celsius = "degC",
        #[serde(rename = "Hz")]
        Hertz = "Hz",
        #[serde(rename = "B/s")]
        BytesPerSec = "B/s",
        #[serde(rename = "1/s")]
        PerSec = "1/s",
    }
}

/// A number that knows its unit.
pub trait Quantity: Copy {
    const UNIT: Unit;
    fn get(self) -> f64;
}

macro_rules! quantity {
    ($($(#[$doc:meta])* $name:ident => $unit:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
        pub struct $name(pub f64);

        impl Quantity for $name {
            const UNIT: Unit = Unit::$unit;
            fn get(self) -> f64 { self.0 }
        }
        impl Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self { Self(self.0 + other.0) }
        }
        impl Sub for $name {
            type Output = Self;
            fn sub(self, other: Self) -> Self { Self(self.0 - other.0) }
        }
        impl Mul<f64> for $name {
            type Output = Self;
            fn mul(self, by: f64) -> Self { Self(self.0 * by) }
        }
        impl Div<f64> for $name {
            type Output = Self;
            fn div(self, by: f64) -> Self { Self(self.0 / by) }
        }
        impl Div for $name {
            type Output = Ratio;
            fn div(self, by: Self) -> Ratio { Ratio(self.0 / by.0) }
        }
    )*};
}

quantity! {
    /// Time in seconds.
    Seconds => Second;
    /// Bytes.
    Bytes => Byte;
    /// A dimensionless count.
    Count => Count;
    /// Power in watts.
    Watts => Watt;
    /// Energy in joules.
    Joules => Joule;
    /// Temperature in degrees Celsius.
    Celsius => Celsius;
    /// Cycles per second.
    Hertz => Hertz;
    /// Bytes per second.
    BytesPerSec => BytesPerSec;
    /// Events per second.
    PerSec => PerSec;
}

/// A dimensionless ratio or share (0 to 1).
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Ratio(pub f64);

impl Quantity for Ratio {
    const UNIT: Unit = Unit::Ratio;
    fn get(self) -> f64 {
        self.0
    }
}

impl Seconds {
    #[expect(clippy::cast_precision_loss, reason = "2^53 ns are 104 days, longer than any window")]
    pub fn from_ns(ns: u64) -> Seconds {
        Seconds(ns as f64 / 1e9)
    }
}

impl Div<Seconds> for Bytes {
    type Output = BytesPerSec;
    fn div(self, by: Seconds) -> BytesPerSec {
        BytesPerSec(self.0 / by.0)
    }
}

impl Div<Seconds> for Count {
    type Output = PerSec;
    fn div(self, by: Seconds) -> PerSec {
        PerSec(self.0 / by.0)
    }
}

impl Div<Count> for Seconds {
    type Output = Seconds;
    fn div(self, by: Count) -> Seconds {
        Seconds(self.0 / by.0)
    }
}

impl Mul<Seconds> for Watts {
    type Output = Joules;
    fn mul(self, by: Seconds) -> Joules {
        Joules(self.0 * by.0)
    }
}

impl Div<Seconds> for Joules {
    type Output = Watts;
    fn div(self, by: Seconds) -> Watts {
        Watts(self.0 / by.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_unique_and_parse_back() {
        for unit in Unit::ALL {
            assert_eq!(Unit::parse(unit.symbol()), Some(unit));
            assert_eq!(serde_json::to_string(&unit).unwrap(), format!("{:?}", unit.symbol()));
        }
        assert_eq!(Unit::parse("MB/s"), None);
    }

    #[test]
    fn bytes_over_time_is_a_rate() {
        assert_eq!(Bytes(10.0) / Seconds::from_ns(2_000_000_000), BytesPerSec(5.0));
        assert_eq!(Seconds(3.0) / Seconds(2.0), Ratio(1.5));
    }
}
