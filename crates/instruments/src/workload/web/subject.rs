//! The server of a load, and the rate that is asked of it.

use model::url::Url;

use crate::workload::server::content::{Limits, Set};
use crate::workload::server::kind::Kind;
use crate::workload::server::options::Options;

/// The value of a parameter that is not given and has no default.
pub const NONE: &str = "none";
/// The value of a parameter that is chosen here where it is not given.
pub const AUTO: &str = "auto";

/// How much an open loop asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Offered {
    /// A closed loop asks for what it gets.
    Closed,
    /// Requests per second.
    Rate(f64),
    /// A share of the server's capacity.
    Share(f64),
}

/// The server of a load.
#[derive(Clone, Debug)]
pub enum Subject {
    /// It runs without our doing.
    Url(Url),
    /// Ours.
    Managed { kind: &'static dyn Kind, options: Box<Options>, set: Set, limits: Limits },
}
