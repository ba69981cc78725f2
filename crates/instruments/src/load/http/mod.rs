//! HTTP/1.1: requests built once, answers parsed as they come; one in flight on a connection.

mod chunked;
#[cfg(test)]
pub(crate) mod fuzz;
pub mod request;
pub mod response;
#[cfg(test)]
mod tests;

use super::failure::Failure;
use super::protocol::{Answer, Protocol, Step};
use request::Expected;
use response::{Memo, Reply, RequestFlags};

/// One prepared request.
#[derive(Clone, Debug)]
struct Prepared {
    bytes: Box<[u8]>,
    flags: RequestFlags,
    expected: Expected,
    keep: bool,
}

/// The requests of a load and what their answers must be.
#[derive(Clone, Debug)]
pub struct Http {
    requests: Box<[Prepared]>,
}

impl Http {
    /// Builds the bytes of each request, in the order of `paths`. Fails when a header or path is malformed.
    pub fn new(origin: &request::Origin, paths: &[request::Wanted]) -> Result<Http, String> {
        let build = |wanted: &request::Wanted| {
            let head = origin.method_of(wanted) == "HEAD";
            let keep = origin.keepalive && !wanted.closes;
            // An answer to HEAD has no body to check.
            let expected = if head { Expected::default() } else { wanted.expected };
            let flags = RequestFlags { head, checksum: expected.crc32c.is_some() };
            Ok(Prepared { bytes: origin.bytes(wanted)?.into(), flags, expected, keep })
        };
        let requests = paths.iter().map(build).collect::<Result<Box<[_]>, String>>()?;
        Ok(Http { requests })
    }

    fn prepared(&self, which: u32) -> Option<&Prepared> {
        self.requests.get(which as usize)
    }
}

impl Protocol for Http {
    type Reply = Reply;
    type Memo = Memo;

    fn request<'r>(&'r self, _: &'r Reply, which: u32) -> &'r [u8] {
        self.prepared(which).map_or(&[], |prepared| &prepared.bytes)
    }

    fn begin(&self, reply: &mut Reply, which: u32) {
        reply.begin(self.prepared(which).map(|prepared| prepared.flags).unwrap_or_default());
    }

    fn feed(&self, memo: &mut Memo, reply: &mut Reply, bytes: &[u8]) -> Result<Step, Failure> {
        reply.feed(memo, bytes)
    }

    fn end(&self, reply: &Reply) -> Result<(), Failure> {
        reply.end()
    }

    fn judge(&self, reply: &Reply, which: u32) -> Answer {
        let (expected, keeps) =
            self.prepared(which).map(|prepared| (prepared.expected, prepared.keep)).unwrap_or_default();
        let failure = match reply.status() {
            200..400 if !expected.holds(reply.body(), reply.crc32c()) => Some(Failure::WrongBody),
            200..400 => None,
            400..500 => Some(Failure::Status4xx),
            500..600 => Some(Failure::Status5xx),
            _ => Some(Failure::BadResponse),
        };
        let keep = keeps && reply.keep();
        Answer { failure, keep, body_bytes: reply.body(), status: reply.status() }
    }

    fn redirected_to<'m>(&self, memo: &'m Memo) -> Option<&'m str> {
        memo.redirected_to()
    }

    fn content_coding<'m>(&self, memo: &'m Memo) -> Option<&'m str> {
        memo.content_coding()
    }
}
