//! A doubt of the rules about one side.

use model::Finding;

/// A doubt about a side.
#[derive(Clone, Debug, PartialEq)]
pub struct Doubt {
    pub finding: Finding,
    pub run: String,
    /// The arm that it is about; `None`: the whole run.
    pub arm: Option<String>,
}

impl Doubt {
    /// True where both are of one rule about one subject.
    pub fn is_like(&self, other: &Doubt) -> bool {
        (self.finding.kind(), &self.finding.subject) == (other.finding.kind(), &other.finding.subject)
    }
}
