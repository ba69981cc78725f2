//! The power of a machine from idle to full load, and the energy of what it does, in one sentence.

use std::fmt;

use super::{Answered, AnsweredDoc, head};
use crate::format::{number, quantity};
use crate::power::Meter;
use crate::unit::Unit;

/// Power of one load.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    /// Of several loads, the one that it is of.
    pub name: String,
    pub meter: Option<Meter>,
    pub idle: Option<Answered>,
    pub full: Option<Answered>,
    /// At full load, per second.
    pub rate: Option<f64>,
    /// The thing that is counted: `request`, `job`.
    pub unit: String,
    /// For each of them, at full load.
    pub joules: Option<Answered>,
}

impl fmt::Display for Drawn {
    /// `draws 41.0 W idle and 78.0 W at full load (12,300 requests/s); 6.34 mJ a request`
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let watts = |one: &Answered| quantity(one.value, Unit::Watt);
        write!(to, "{}", head(&self.name))?;
        match (&self.idle, &self.full) {
            (Some(idle), Some(full)) => {
                write!(to, "draws {} idle and {} at full load", watts(idle), watts(full))?
            }
            (Some(idle), None) => write!(to, "draws {} idle", watts(idle))?,
            (None, Some(full)) => write!(to, "draws {} at full load", watts(full))?,
            (None, None) => write!(to, "has no reading of its power")?,
        }
        if let Some(rate) = self.rate.filter(|_| self.full.is_some()) {
            write!(to, " ({} {}s/s)", number(rate), self.unit)?;
        }
        if let Some(joules) = &self.joules {
            write!(to, "; {} a {}", quantity(joules.value, Unit::Joule), self.unit)?;
        }
        match self.meter {
            Some(Meter::Rapl) => write!(to, "; by RAPL, which on servers sees about half of the power"),
            _ => Ok(()),
        }
    }
}

impl Drawn {
    pub(super) fn figures(&self) -> impl Iterator<Item = AnsweredDoc> {
        [&self.idle, &self.full, &self.joules].into_iter().flatten().map(Answered::doc)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Kind;

    fn figure(unit: Unit, value: f64) -> Option<Answered> {
        let kind = Kind::for_unit(unit);
        Some(Answered { name: "web power".to_owned(), per: "", kind, value, low: None, high: None })
    }

    #[test]
    fn power_is_told_from_idle_to_full_with_the_energy_of_one() {
        let one = Drawn {
            name: String::new(),
            meter: Some(Meter::Command),
            idle: figure(Unit::Watt, 41.0),
            full: figure(Unit::Watt, 78.0),
            rate: Some(12_300.0),
            unit: "request".to_owned(),
            joules: figure(Unit::Joule, 0.006_34),
        };
        assert_eq!(
            one.to_string(),
            "draws 41.0 W idle and 78.0 W at full load (12,300 requests/s); 6.34 mJ a request"
        );
        let rapl =
            Drawn { meter: Some(Meter::Rapl), name: "a".to_owned(), idle: None, joules: None, ..one.clone() };
        assert_eq!(
            rapl.to_string(),
            "a: draws 78.0 W at full load (12,300 requests/s); by RAPL, which on servers sees about half of the power"
        );
        let none = Drawn { idle: None, full: None, joules: None, ..one.clone() };
        assert_eq!(none.to_string(), "has no reading of its power");
        assert_eq!(one.figures().count(), 3);
    }
}
