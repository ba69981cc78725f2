//! Findings: what a rule concluded, in a sentence, with its evidence.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Kind of the findings that a value of a parameter, such as a language, falls behind on a machine.
pub const IMMATURE: &str = "immature";

/// What a validity rule says of a number. A rule without inputs says `Unknown`, never `Ok`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Validity {
    Ok,
    Unknown,
    Doubtful,
    Invalid,
}

impl Validity {
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Validity::Ok => "ok",
            Validity::Unknown => "unknown",
            Validity::Doubtful => "doubtful",
            Validity::Invalid => "invalid",
        }
    }
}

/// One conclusion. `subject` is the series or machine part that it is about, empty for the whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The rule, one word or hyphenated: `clock`, `throttled`, `page-cache`, `above-ceiling`.
    pub kind: String,
    pub state: Validity,
    /// Instrument, or instrument plus params, or empty.
    pub subject: String,
    /// A sentence with numbers, and what to do where something can be done.
    pub text: String,
    /// The numbers behind the sentence, in base units.
    pub evidence: BTreeMap<String, f64>,
}

impl Finding {
    #[must_use]
    pub fn new(kind: &str, state: Validity, text: impl Into<String>) -> Finding {
        let (kind, subject, text) = (kind.to_owned(), String::new(), text.into());
        Finding { kind, state, subject, text, evidence: BTreeMap::new() }
    }

    #[must_use]
    pub fn about(mut self, subject: impl Into<String>) -> Finding {
        self.subject = subject.into();
        self
    }

    #[must_use]
    pub fn evidence(mut self, name: &str, value: f64) -> Finding {
        self.evidence.insert(name.to_owned(), value);
        self
    }
}
