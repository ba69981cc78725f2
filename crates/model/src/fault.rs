//! Why a take failed: a sentence for people, and the kind for the program.

use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// Why one take failed. None of its readings is kept; the other takes stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{text}")]
pub struct Fault {
    pub kind: FaultKind,
    pub text: String,
}

/// Kind of a failure, as far as the program decides by it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// Nothing more is known than the text says.
    #[default]
    Other,
    /// The TLS handshake failed before any request was sent.
    Tls,
    /// No request of a load had a good answer.
    NoGoodAnswer(Vec<FailedRequests>),
}

/// Requests of one load that failed in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedRequests {
    pub failure: Failure,
    /// The status of the answer, for answers of 4xx and 5xx.
    pub status: Option<u16>,
    pub count: u64,
}

impl Fault {
    /// A fault of no special kind.
    pub fn new(text: impl Into<String>) -> Fault {
        Fault { kind: FaultKind::Other, text: text.into() }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl FaultKind {
    pub fn is_other(&self) -> bool {
        *self == FaultKind::Other
    }

    /// The failed requests by kind; none where no load failed.
    pub fn failed(&self) -> &[FailedRequests] {
        match self {
            FaultKind::NoGoodAnswer(failed) => failed,
            FaultKind::Other | FaultKind::Tls => &[],
        }
    }
}
