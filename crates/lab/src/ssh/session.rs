//! One command on one host, over a connection that is open: its streams, its exit code, its limits.

use std::io::{ErrorKind, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsFd;
use std::time::Duration;

use sys::process::Interest;

use super::failure::{Failure, Stage};
use super::mux::{Message, Mux, MuxError};
use crate::stop::{Cut, Limit};

/// How long the rest of the output is waited for once the command has ended: what it left behind may hold its streams.
const REST: Duration = Duration::from_secs(3);
/// The same where output goes on coming.
const REST_AT_ALL: Duration = Duration::from_secs(60);

/// Bytes that are read or written at a time.
const CHUNK: usize = 64 << 10;

/// Takes a stream as it comes.
pub(super) trait Sink {
    /// Fails where it cannot be kept; the command is then left.
    fn take(&mut self, bytes: &[u8]) -> Result<(), Failure>;
}

/// The part of a stream that is kept in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    pub bytes: Vec<u8>,
    /// Bytes that came behind what is kept.
    pub cut: u64,
}

impl Output {
    /// Bytes of a stream of a host that are kept.
    pub const MOST: usize = 1 << 20;
}

impl Sink for Output {
    fn take(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let kept = bytes.len().min(Output::MOST.saturating_sub(self.bytes.len()));
        self.bytes.extend_from_slice(&bytes[..kept]);
        self.cut = self.cut.saturating_add(u64::try_from(bytes.len() - kept).unwrap_or(u64::MAX));
        Ok(())
    }
}

/// Bytes for a command's stdin.
pub(super) struct Feed<'a> {
    source: &'a mut dyn Read,
    /// Closed once all was written, or nobody reads any more.
    pipe: Option<PipeWriter>,
    chunk: Vec<u8>,
    at: usize,
}

impl<'a> Feed<'a> {
    /// The feed, and the end of its pipe that the command reads.
    pub(super) fn new(source: &'a mut dyn Read) -> Result<(Feed<'a>, PipeReader), Failure> {
        let (reader, pipe) = std::io::pipe().map_err(local)?;
        // A write must not wait for the host while its output waits for us.
        rustix::io::ioctl_fionbio(&pipe, true).map_err(|error| local(error.into()))?;
        Ok((Feed { source, pipe: Some(pipe), chunk: Vec::new(), at: 0 }, reader))
    }

    /// Writes as much as the pipe takes.
    fn write(&mut self) -> Result<(), Failure> {
        let Some(pipe) = &mut self.pipe else { return Ok(()) };
        if self.at == self.chunk.len() {
            self.chunk.resize(CHUNK, 0);
            self.at = 0;
            let count = self.source.read(&mut self.chunk).map_err(local)?;
            self.chunk.truncate(count);
            if count == 0 {
                self.pipe = None;
                return Ok(());
            }
        }
        match pipe.write(&self.chunk[self.at..]) {
            Ok(count) => self.at += count,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            // The command reads no more; its exit code says why.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => self.pipe = None,
            Err(error) => return Err(local(error)),
        }
        Ok(())
    }
}

/// An error of this side.
fn local(error: std::io::Error) -> Failure {
    Failure::Other { said: format!("on this side: {error}") }
}

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Code(u32),
    /// Without an exit code: a signal, or the end of the connection.
    Without,
    /// The connection broke before the command was started.
    Never,
}

/// The streams and limits of a session.
pub(super) struct Session<'a> {
    pub command: &'a str,
    pub feed: Option<&'a mut dyn Read>,
    pub stdout: &'a mut dyn Sink,
    pub stderr: &'a mut dyn Sink,
    /// How long its start may take, and then the command.
    pub opening: Duration,
    pub limit: Option<Duration>,
}

impl Session<'_> {
    /// Runs the command. Fails when it does not start or not end in time, or when the user stops.
    pub(super) fn run(self, mux: &mut Mux, base: Limit<'_>) -> Result<Ended, Failure> {
        let Session { command, feed, stdout, stderr, opening, limit } = self;
        let (out, out_end) = std::io::pipe().map_err(local)?;
        let (err, err_end) = std::io::pipe().map_err(local)?;
        let mut fed = None;
        let started = match feed {
            Some(source) => {
                let (feed, reader) = Feed::new(source)?;
                fed = Some(feed);
                mux.start(command, [reader.as_fd(), out_end.as_fd(), err_end.as_fd()])
            }
            None => {
                let null = std::fs::File::open("/dev/null").map_err(local)?;
                mux.start(command, [null.as_fd(), out_end.as_fd(), err_end.as_fd()])
            }
        };
        // Only the master holds them from now on, so that their end is seen.
        drop((out_end, err_end));
        match started {
            Ok(()) => {}
            Err(MuxError::Gone) => return Ok(Ended::Never),
            Err(error) => return Err(refused(error)),
        }
        let mut running = Running {
            mux,
            out: Stream { pipe: Some(out), sink: stdout },
            err: Stream { pipe: Some(err), sink: stderr },
            feed: fed,
            code: None,
            opened: false,
        };
        running.follow(base, opening, limit)
    }
}

fn refused(error: MuxError) -> Failure {
    match error {
        MuxError::Gone | MuxError::Cut(Cut::TimedOut) => Failure::Lost,
        MuxError::Foreign(said) => Failure::NoSession { said },
        MuxError::Cut(Cut::Interrupted) => Failure::Interrupted { begun: true },
        MuxError::Cut(Cut::Failed(said)) => Failure::Other { said },
    }
}

/// A stream of the command.
struct Stream<'a> {
    /// Closed once it has ended.
    pipe: Option<PipeReader>,
    sink: &'a mut dyn Sink,
}

impl Stream<'_> {
    fn read(&mut self, chunk: &mut [u8]) -> Result<(), Failure> {
        let Some(pipe) = &mut self.pipe else { return Ok(()) };
        match pipe.read(chunk) {
            Ok(0) => self.pipe = None,
            Ok(count) => self.sink.take(&chunk[..count])?,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(local(error)),
        }
        Ok(())
    }
}

struct Running<'a, 'm> {
    mux: &'m mut Mux,
    out: Stream<'a>,
    err: Stream<'a>,
    feed: Option<Feed<'a>>,
    code: Option<u32>,
    opened: bool,
}

/// The parts of a session that are ready.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    mux: bool,
    out: bool,
    err: bool,
    feed: bool,
}

/// Adds what is to be waited for; its place, if there is anything.
fn add<'f>(interests: &mut Vec<Interest<'f>>, interest: Option<Interest<'f>>) -> Option<usize> {
    interests.push(interest?);
    Some(interests.len() - 1)
}

impl Running<'_, '_> {
    fn follow(
        &mut self,
        base: Limit<'_>,
        opening: Duration,
        limit: Option<Duration>,
    ) -> Result<Ended, Failure> {
        let mut chunk = vec![0; CHUNK];
        let mut now = Limit::from_now(base.stop, Some(opening));
        let mut last: Option<Limit<'_>> = None;
        loop {
            if self.hear()? {
                now = Limit::from_now(base.stop, limit);
            }
            let is_over = self.mux.is_over();
            if is_over && !self.opened {
                return Ok(Ended::Never);
            }
            if is_over && self.out.pipe.is_none() && self.err.pipe.is_none() {
                return Ok(self.ended());
            }
            let ends = is_over || self.code.is_some();
            if ends {
                let rest = Limit::from_now(base.stop, Some(REST)).until_ns;
                let last = *last.get_or_insert_with(|| Limit::from_now(base.stop, Some(REST_AT_ALL)));
                now = Limit { until_ns: last.until_ns.min(rest), ..last };
            }
            let turn = match self.wait(now) {
                Ok(turn) => turn,
                Err(Cut::TimedOut) if ends => return Ok(self.ended()),
                Err(cut) => return Err(self.cut(cut, opening, limit)),
            };
            if turn.mux {
                self.mux.fill();
            }
            if turn.out {
                self.out.read(&mut chunk)?;
            }
            if turn.err {
                self.err.read(&mut chunk)?;
            }
            if turn.feed
                && let Some(feed) = &mut self.feed
            {
                feed.write()?;
            }
        }
    }

    /// Takes the messages that have come; true if the command was just started.
    fn hear(&mut self) -> Result<bool, Failure> {
        let mut starts = false;
        while let Some(message) = self.mux.next().map_err(refused)? {
            match message {
                Message::Opened => (self.opened, starts) = (true, true),
                Message::Exit { code } => self.code = Some(code),
                Message::Failed { said } | Message::Denied { said } => {
                    return Err(Failure::NoSession { said });
                }
                Message::Hello { .. } | Message::Alive { .. } | Message::Other => {}
            }
        }
        Ok(starts)
    }

    fn ended(&self) -> Ended {
        self.code.map_or(Ended::Without, Ended::Code)
    }

    fn wait(&self, limit: Limit<'_>) -> Result<Turn, Cut> {
        let mut interests = Vec::with_capacity(4);
        let mux = add(&mut interests, (!self.mux.is_over()).then(|| Interest::Read(self.mux.as_fd())));
        let out = add(&mut interests, self.out.pipe.as_ref().map(|pipe| Interest::Read(pipe.as_fd())));
        let err = add(&mut interests, self.err.pipe.as_ref().map(|pipe| Interest::Read(pipe.as_fd())));
        // Nothing is taken from the source before the command runs: the login may have to be repeated.
        let pipe = self.feed.as_ref().filter(|_| self.opened).and_then(|feed| feed.pipe.as_ref());
        let feed = add(&mut interests, pipe.map(|pipe| Interest::Write(pipe.as_fd())));
        let ready = limit.wait(&interests)?;
        let is = |place: Option<usize>| {
            let found = place.and_then(|place| ready.get(place));
            found.is_some_and(|one| one.readable || one.writable || one.closed)
        };
        Ok(Turn { mux: is(mux), out: is(out), err: is(err), feed: is(feed) })
    }

    fn cut(&self, cut: Cut, opening: Duration, limit: Option<Duration>) -> Failure {
        match cut {
            Cut::Interrupted => Failure::Interrupted { begun: true },
            Cut::Failed(said) => Failure::Other { said },
            Cut::TimedOut if self.opened => {
                Failure::TimedOut { seconds: limit.unwrap_or_default().as_secs_f64() }
            }
            Cut::TimedOut => Failure::Slow { stage: Stage::Session, seconds: opening.as_secs_f64() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_cut_and_counted() {
        let mut output = Output::default();
        let chunk = vec![b'x'; Output::MOST - 1];
        output.take(&chunk).unwrap();
        output.take(b"abc").unwrap();
        output.take(b"d").unwrap();
        assert_eq!((output.bytes.len(), output.cut), (Output::MOST, 3));
        assert_eq!(output.bytes.last(), Some(&b'a'));
    }

    #[test]
    fn a_feed_ends_with_its_source_and_with_its_reader() {
        let mut source = std::io::repeat(7).take(300_000);
        let (mut feed, mut reader) = Feed::new(&mut source).unwrap();
        let mut got = 0;
        let mut chunk = vec![0; CHUNK];
        while feed.pipe.is_some() {
            feed.write().unwrap();
            got += reader.read(&mut chunk).unwrap();
        }
        got += std::io::copy(&mut reader, &mut std::io::sink()).map(|count| count as usize).unwrap();
        assert_eq!(got, 300_000);
        let mut endless = std::io::repeat(7);
        let (mut feed, reader) = Feed::new(&mut endless).unwrap();
        drop(reader);
        feed.write().unwrap();
        assert!(feed.pipe.is_none(), "nobody reads");
    }
}
