//! `little`: requests in flight against Little's law.

use super::{Conclusion, Evidence, Several, Validity, evidence};
use crate::format::{number, percent};

/// `apart` is a share of the larger number.
#[derive(Clone, Debug, PartialEq)]
pub enum Little {
    NotCounted,
    Holds { apart: f64 },
    Broken { in_flight: f64, by_little: f64, apart: f64 },
}

impl Conclusion for Little {
    fn kind(&self) -> &str {
        "little"
    }

    fn state(&self) -> Validity {
        match self {
            Little::NotCounted => Validity::Unknown,
            Little::Holds { .. } => Validity::Ok,
            Little::Broken { .. } => Validity::Invalid,
        }
    }

    fn one(&self) -> String {
        match self {
            Little::NotCounted => "requests in flight were not counted".to_owned(),
            Little::Holds { apart } => format!("Little's law within {}", percent(*apart)),
            Little::Broken { in_flight, by_little, .. } => format!(
                "not to be trusted: {} requests were in flight, but by Little's law there must have been {}; this is an \
                 error of the load engine, please report it",
                number(*in_flight),
                number(*by_little)
            ),
        }
    }

    fn many(all: &Several<'_, Self>) -> Option<String> {
        let (apart, ..) = all.worst(|one| match one {
            Little::Broken { apart, .. } => Some(*apart),
            _ => None,
        })?;
        Some(format!(
            "not to be trusted: requests in flight differ by up to {} from those of Little's law in {}; this is an error \
             of the load engine, please report it",
            percent(apart),
            all.figures
        ))
    }

    fn evidence(&self) -> Evidence {
        match self {
            Little::NotCounted => Evidence::new(),
            Little::Holds { apart } => evidence([("apart", *apart)]),
            Little::Broken { in_flight, by_little, apart } => {
                evidence([("in_flight", *in_flight), ("by_little", *by_little), ("apart", *apart)])
            }
        }
    }
}
