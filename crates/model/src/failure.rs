//! The ways in which one request of a load fails.
//!
//! Every request that was due ends as good or as exactly one of these.

use serde::{Deserialize, Serialize};

/// Why a request is not good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// No connection: refused, unreachable, no port or descriptor left.
    Connect,
    /// The TLS handshake or a record was refused, a wrong certificate among them.
    Tls,
    /// The connection was reset.
    Reset,
    /// The server closed the connection before a complete head.
    Closed,
    /// No complete answer within the time limit, connecting included.
    Timeout,
    #[serde(rename = "status_4xx")]
    Status4xx,
    #[serde(rename = "status_5xx")]
    Status5xx,
    /// The connection ended before the body did.
    ShortBody,
    /// Not an answer of this protocol, or bytes after its end.
    BadResponse,
    /// A complete answer whose length or checksum is not the expected one.
    WrongBody,
    /// A store's error answer that none of the next names.
    Refused,
    /// The store wants a password.
    Auth,
    /// The store is one node of a cluster, and another has the key.
    Moved,
    /// The store is still loading its data.
    Loading,
    /// The store has no memory left.
    OutOfMemory,
    /// The store does not take values as large as this.
    TooLarge,
    /// The store is a replica, which takes no writes.
    ReadOnly,
    /// The store does not have a key that was written.
    Missing,
    /// Due, but still waiting for a free connection when the run ended, or the queue was full.
    Unsent,
    /// In flight without an answer when the user ended the load.
    Cut,
}

impl Failure {
    pub const ALL: [Failure; 20] = [
        Failure::Connect,
        Failure::Tls,
        Failure::Reset,
        Failure::Closed,
        Failure::Timeout,
        Failure::Status4xx,
        Failure::Status5xx,
        Failure::ShortBody,
        Failure::BadResponse,
        Failure::WrongBody,
        Failure::Refused,
        Failure::Auth,
        Failure::Moved,
        Failure::Loading,
        Failure::OutOfMemory,
        Failure::TooLarge,
        Failure::ReadOnly,
        Failure::Missing,
        Failure::Unsent,
        Failure::Cut,
    ];

    /// Whether the server did not answer at all, so that the moment of the failure is no time of an answer. A time
    /// limit that passed, a request that stayed unsent and one that was cut tell how long was waited at least.
    #[must_use]
    pub const fn is_no_answer(self) -> bool {
        matches!(self, Failure::Connect | Failure::Tls | Failure::Reset | Failure::Closed)
    }

    /// Whether an answer came, though not a good one.
    #[must_use]
    pub const fn is_answer(self) -> bool {
        !self.is_no_answer() && !matches!(self, Failure::Timeout | Failure::Unsent | Failure::Cut)
    }

    /// The word that results and messages use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Failure::Connect => "connect",
            Failure::Tls => "tls",
            Failure::Reset => "reset",
            Failure::Closed => "closed",
            Failure::Timeout => "timeout",
            Failure::Status4xx => "status_4xx",
            Failure::Status5xx => "status_5xx",
            Failure::ShortBody => "short_body",
            Failure::BadResponse => "bad_response",
            Failure::WrongBody => "wrong_body",
            Failure::Refused => "refused",
            Failure::Auth => "auth",
            Failure::Moved => "moved",
            Failure::Loading => "loading",
            Failure::OutOfMemory => "out_of_memory",
            Failure::TooLarge => "too_large",
            Failure::ReadOnly => "read_only",
            Failure::Missing => "missing",
            Failure::Unsent => "unsent",
            Failure::Cut => "cut",
        }
    }
}
