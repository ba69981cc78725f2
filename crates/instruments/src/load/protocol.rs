//! What a protocol says on a connection: the bytes of a request, and where its answer ends.
//!
//! One request is in flight on a connection at a time. A protocol is shared by all connections; what it must remember
//! of one answer is its `Reply`. It sees bytes only: no socket, no clock.

use super::failure::Failure;

/// What came of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    More,
    /// The answer is complete; `used` bytes of those given belong to it.
    Done {
        used: usize,
    },
}

/// What a complete answer was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// `None` for a good one.
    pub failure: Option<Failure>,
    /// Whether the connection may carry another request.
    pub keep: bool,
    pub body_bytes: u64,
    /// Its status, in the numbers of the protocol.
    pub status: u16,
}

pub trait Protocol {
    /// The state of one request and its answer. Reused, so that no request allocates.
    type Reply: Default;
    /// What a thread remembers of former answers, to know them again.
    type Memo: Default;

    /// The bytes of request `which`, built beforehand or by [`Protocol::begin`].
    fn request<'r>(&'r self, reply: &'r Self::Reply, which: u32) -> &'r [u8];
    /// Request `which` is next: it goes out, and the bytes that come then answer it.
    fn begin(&self, reply: &mut Self::Reply, which: u32);
    fn feed(&self, memo: &mut Self::Memo, reply: &mut Self::Reply, bytes: &[u8]) -> Result<Step, Failure>;
    /// The connection has ended; may that have been the end of the answer?
    fn end(&self, reply: &Self::Reply) -> Result<(), Failure>;
    /// Judges a complete answer to request `which`.
    fn judge(&self, reply: &Self::Reply, which: u32) -> Answer;
    /// Where the first answer that pointed elsewhere pointed, of those that a thread remembers.
    fn redirected_to<'m>(&self, memo: &'m Self::Memo) -> Option<&'m str>;
}
