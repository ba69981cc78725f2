//! A conclusion of another program or of an older file: it is kept as it was told.

use super::{Conclusion, Evidence, Validity};

#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    pub kind: String,
    pub state: Validity,
    pub text: String,
    pub evidence: Evidence,
}

impl Conclusion for Told {
    fn kind(&self) -> &str {
        &self.kind
    }

    fn state(&self) -> Validity {
        self.state
    }

    fn one(&self) -> String {
        self.text.clone()
    }

    fn evidence(&self) -> Evidence {
        self.evidence.clone()
    }
}
