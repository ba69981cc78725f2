//! The interface of a protocol: it builds the bytes of a request and finds the end of its answer.
//!
//! One request is in flight on a connection at a time. All connections share a protocol; the state of one answer is
//! its `Reply`. A protocol sees bytes only: no socket, no clock.

use super::failure::Failure;

/// The result of feeding bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    More,
    /// The answer is complete; `used` of the given bytes belong to it.
    Done {
        used: usize,
    },
}

/// The judgement of a complete answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// `None` for a good answer.
    pub failure: Option<Failure>,
    /// True if the connection may carry another request.
    pub keep: bool,
    pub body_bytes: u64,
    /// The status, as the protocol numbers them.
    pub status: u16,
}

pub trait Protocol {
    /// The state of one request and its answer. Reused, so that no request allocates.
    type Reply: Default;
    /// A thread's memory of earlier answers, to recognise them quickly.
    type Memo: Default;

    /// The bytes of request `which`, built in advance or by [`Protocol::begin`].
    fn request<'r>(&'r self, reply: &'r Self::Reply, which: u32) -> &'r [u8];
    /// Prepares for request `which`; the bytes fed from now on answer it.
    fn begin(&self, reply: &mut Self::Reply, which: u32);
    fn feed(&self, memo: &mut Self::Memo, reply: &mut Self::Reply, bytes: &[u8]) -> Result<Step, Failure>;
    /// The connection has ended. Fails unless that may be the end of the answer.
    fn end(&self, reply: &Self::Reply) -> Result<(), Failure>;
    /// Judges the complete answer to request `which`.
    fn judge(&self, reply: &Self::Reply, which: u32) -> Answer;
    /// The target of the first redirect that the thread remembers.
    fn redirected_to<'m>(&self, memo: &'m Self::Memo) -> Option<&'m str>;
    /// The first coding of an answer's content that the thread remembers: `gzip`.
    fn content_coding<'m>(&self, memo: &'m Self::Memo) -> Option<&'m str>;
}
