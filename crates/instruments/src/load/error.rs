//! Reasons why a load could not run.

use model::{Fault, FaultKind};

/// Why a load could not run at all. Failures within a load are counted, not returned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The description of the load is wrong.
    #[error("{0}")]
    Load(String),
    /// The server cannot be reached.
    #[error("{0}")]
    Unreachable(String),
    /// The server accepts connections, but the TLS handshake with it fails.
    #[error("{0}")]
    Tls(String),
    /// A limit of this host is too low.
    #[error("{0}")]
    Limit(String),
    /// A system call that the engine needs failed.
    #[error("{0}")]
    System(String),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        let kind = if matches!(error, Error::Tls(_)) { FaultKind::Tls } else { FaultKind::Other };
        Fault { kind, text: error.to_string() }
    }
}
