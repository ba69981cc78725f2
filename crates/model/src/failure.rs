//! The ways in which one request of a load fails.
//!
//! Every request that was due ends as good or as exactly one of these.

use serde::{Deserialize, Serialize};

crate::words! {
    /// Why a request is not good.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Failure as name {
        /// No connection: refused, unreachable, no port or descriptor left.
        Connect = "connect",
        /// The TLS handshake or a record was refused, a wrong certificate among them.
        Tls = "tls",
        /// The connection was reset.
        Reset = "reset",
        /// The server closed the connection before a complete head.
        Closed = "closed",
        /// No complete answer within the time limit, connecting included.
        Timeout = "timeout",
        #[serde(rename = "status_4xx")]
        Status4xx = "status_4xx",
        #[serde(rename = "status_5xx")]
        Status5xx = "status_5xx",
        /// The connection ended before the body did.
        ShortBody = "short_body",
        /// Not an answer of this protocol, or bytes after its end.
        BadResponse = "bad_response",
        /// A complete answer whose length or checksum is not the expected one.
        WrongBody = "wrong_body",
        /// A store's error answer that none of the next names.
        Refused = "refused",
        /// The store wants a password.
        Auth = "auth",
        /// The store is one node of a cluster, and another has the key.
        Moved = "moved",
        /// The store is still loading its data.
        Loading = "loading",
        /// The store has no memory left.
        OutOfMemory = "out_of_memory",
        /// The store does not take values as large as this.
        TooLarge = "too_large",
        /// The store is a replica, which takes no writes.
        ReadOnly = "read_only",
        /// The store does not have a key that was written.
        Missing = "missing",
        /// Due, but still waiting for a free connection when the run ended, or the queue was full.
        Unsent = "unsent",
        /// In flight without an answer when the user ended the load.
        Cut = "cut",
    }
}

impl Failure {
    /// True if the server, or the way to it, failed the request: false for what came too late, was never sent or was
    /// cut off.
    pub const fn is_own(self) -> bool {
        !matches!(self, Failure::Timeout | Failure::Unsent | Failure::Cut)
    }

    /// True if a bad answer came.
    pub const fn is_answer(self) -> bool {
        self.is_own() && !matches!(self, Failure::Connect | Failure::Tls | Failure::Reset | Failure::Closed)
    }
}
