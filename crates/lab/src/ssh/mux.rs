//! The protocol of OpenSSH's control sockets (PROTOCOL.mux, version 4), as far as commands need it.
//!
//! The ssh that logged in carries a session for whoever may open its socket. It reports the exit code of a command in a
//! message of its own, so a command that ends with 255 is never taken for a connection that broke. Starting no further
//! ssh for each command saves 5 ms of CPU time a host.

use std::collections::VecDeque;
use std::io::{IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use sys::process::Interest;

use super::failure::printable;
use crate::stop::{Cut, Limit};

const VERSION: u32 = 4;
const HELLO: u32 = 1;
const NEW_SESSION: u32 = 0x1000_0002;
const ALIVE_CHECK: u32 = 0x1000_0004;
const TERMINATE: u32 = 0x1000_0005;

/// No escape character: there is no terminal.
const NO_ESCAPE: u32 = u32::MAX;

/// The longest message that is taken; OpenSSH's own are far shorter.
const LONGEST: usize = 256 << 10;

/// A message of the other side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Message {
    Hello {
        version: u32,
    },
    Opened,
    Denied {
        said: String,
    },
    Failed {
        said: String,
    },
    Exit {
        code: u32,
    },
    Alive {
        pid: u32,
    },
    /// One that says nothing to us.
    Other,
}

/// Why a connection to a control socket is of no use.
#[derive(Debug)]
pub(super) enum MuxError {
    /// The socket or who listens there is gone.
    Gone,
    /// It speaks another protocol.
    Foreign(String),
    Cut(Cut),
}

impl From<Cut> for MuxError {
    fn from(cut: Cut) -> MuxError {
        MuxError::Cut(cut)
    }
}

/// The bytes of a message: a length, then numbers and texts.
struct Packet(Vec<u8>);

impl Packet {
    fn new(kind: u32) -> Packet {
        Packet(vec![0; 4]).number(kind)
    }

    fn number(mut self, value: u32) -> Packet {
        self.0.extend(value.to_be_bytes());
        self
    }

    fn text(self, text: &str) -> Packet {
        // A command is shorter than what the kernel takes as arguments.
        let mut packet = self.number(u32::try_from(text.len()).unwrap_or(u32::MAX));
        packet.0.extend(text.as_bytes());
        packet
    }

    fn bytes(mut self) -> Vec<u8> {
        let length = u32::try_from(self.0.len() - 4).unwrap_or(u32::MAX);
        self.0[..4].copy_from_slice(&length.to_be_bytes());
        self.0
    }
}

/// A reader of the numbers and texts of a message; `None` where it is too short.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn number(&mut self) -> Option<u32> {
        let (first, rest) = self.0.split_first_chunk::<4>()?;
        self.0 = rest;
        Some(u32::from_be_bytes(*first))
    }

    fn text(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(text)
    }
}

fn decode(bytes: &[u8]) -> Option<Message> {
    let mut fields = Fields(bytes);
    let kind = fields.number()?;
    let first = fields.number()?;
    Some(match kind {
        HELLO => Message::Hello { version: first },
        0x8000_0002 => Message::Denied { said: printable(fields.text()?) },
        0x8000_0003 => Message::Failed { said: printable(fields.text()?) },
        0x8000_0004 => Message::Exit { code: fields.number()? },
        0x8000_0005 => Message::Alive { pid: fields.number()? },
        0x8000_0006 => Message::Opened,
        _ => Message::Other,
    })
}

/// Bytes that have arrived, cut into messages.
#[derive(Debug, Default)]
struct Inbox {
    bytes: VecDeque<u8>,
}

impl Inbox {
    /// The next whole message. Fails for one that cannot be one.
    fn next(&mut self) -> Result<Option<Message>, MuxError> {
        let odd = || MuxError::Foreign("a message that is none".to_owned());
        let whole = self.bytes.make_contiguous();
        let Some((length, rest)) = whole.split_first_chunk::<4>() else { return Ok(None) };
        let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
        if length > LONGEST {
            return Err(odd());
        }
        let Some(body) = rest.get(..length) else { return Ok(None) };
        let message = decode(body).ok_or_else(odd)?;
        self.bytes.drain(..4 + length);
        Ok(Some(message))
    }
}

/// A connection to a control socket.
#[derive(Debug)]
pub(super) struct Mux {
    socket: UnixStream,
    inbox: Inbox,
    over: bool,
}

impl Mux {
    /// Connects to who listens at `path`, and says hello. Fails with [`MuxError::Gone`] where nobody does.
    pub(super) fn connect(path: &Path, limit: Limit<'_>) -> Result<Mux, MuxError> {
        let socket = UnixStream::connect(path).map_err(|_| MuxError::Gone)?;
        let mut mux = Mux { socket, inbox: Inbox::default(), over: false };
        mux.send(Packet::new(HELLO).number(VERSION))?;
        match mux.wait(limit)? {
            Message::Hello { version: VERSION } => Ok(mux),
            other => Err(MuxError::Foreign(format!(
                "hello, of version {VERSION}, was expected; it said {other:?}"
            ))),
        }
    }

    fn send(&mut self, packet: Packet) -> Result<(), MuxError> {
        self.socket.write_all(&packet.bytes()).map_err(|_| MuxError::Gone)
    }

    /// Starts `command` in a session whose standard streams are these.
    pub(super) fn start(&mut self, command: &str, streams: [BorrowedFd<'_>; 3]) -> Result<(), MuxError> {
        let no = 0;
        // Terminal, X11, agent, subsystem.
        let packet = Packet::new(NEW_SESSION).number(1).text("").number(no).number(no).number(no).number(no);
        self.send(packet.number(NO_ESCAPE).text("").text(command))?;
        for stream in streams {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut rights = SendAncillaryBuffer::new(&mut space);
            let one = [stream];
            if !rights.push(SendAncillaryMessage::ScmRights(&one)) {
                return Err(MuxError::Foreign("no room to pass a descriptor".to_owned()));
            }
            sendmsg(&self.socket, &[IoSlice::new(&[0])], &mut rights, SendFlags::NOSIGNAL)
                .map_err(|_| MuxError::Gone)?;
        }
        Ok(())
    }

    /// The process id of the ssh that has the connection.
    pub(super) fn pid(&mut self, limit: Limit<'_>) -> Result<u32, MuxError> {
        self.send(Packet::new(ALIVE_CHECK).number(2))?;
        match self.wait(limit)? {
            Message::Alive { pid } => Ok(pid),
            other => Err(MuxError::Foreign(format!("it was asked whether it lives; it said {other:?}"))),
        }
    }

    /// Asks it to close the connection to the host.
    pub(super) fn terminate(&mut self) -> Result<(), MuxError> {
        self.send(Packet::new(TERMINATE).number(3))
    }

    /// The next message, waited for.
    pub(super) fn wait(&mut self, limit: Limit<'_>) -> Result<Message, MuxError> {
        loop {
            if let Some(message) = self.inbox.next()? {
                return Ok(message);
            }
            if self.over {
                return Err(MuxError::Gone);
            }
            limit.wait(&[Interest::Read(self.socket.as_fd())])?;
            self.fill();
        }
    }

    /// The next message that has arrived already.
    pub(super) fn next(&mut self) -> Result<Option<Message>, MuxError> {
        self.inbox.next()
    }

    /// Takes what has arrived; may block where nothing has.
    pub(super) fn fill(&mut self) {
        let mut chunk = [0; 4096];
        match self.socket.read(&mut chunk) {
            Ok(0) => self.over = true,
            Ok(count) => self.inbox.bytes.extend(&chunk[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            // A reset says the same as an end.
            Err(_) => self.over = true,
        }
    }

    /// True once the other side has closed it.
    pub(super) fn is_over(&self) -> bool {
        self.over
    }
}

impl AsFd for Mux {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::stop::Stop;

    fn inbox(bytes: &[u8]) -> Inbox {
        Inbox { bytes: bytes.iter().copied().collect() }
    }

    #[test]
    fn messages_are_cut_out_of_what_arrives() {
        let mut bytes = Packet::new(HELLO).number(VERSION).bytes();
        bytes.extend(Packet::new(0x8000_0003).number(1).text("Session open refused by peer").bytes());
        bytes.extend(Packet::new(0x8000_0004).number(7).number(255).bytes());
        bytes.extend(&Packet::new(0x8000_0006).number(1).number(0).bytes()[..9]);
        let mut inbox = inbox(&bytes);
        assert_eq!(inbox.next().unwrap(), Some(Message::Hello { version: VERSION }));
        let said = "Session open refused by peer".to_owned();
        assert_eq!(inbox.next().unwrap(), Some(Message::Failed { said }));
        assert_eq!(inbox.next().unwrap(), Some(Message::Exit { code: 255 }));
        assert_eq!(inbox.next().unwrap(), None);
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for bad in [&[0xff, 0xff, 0xff, 0xff, 0][..], &[0, 0, 0, 2, 1, 1], &[0, 0, 0, 0]] {
            assert!(matches!(inbox(bad).next(), Err(MuxError::Foreign(_))), "{bad:?}");
        }
        let short = Packet::new(0x8000_0002).number(1).number(900).bytes();
        assert!(matches!(inbox(&short).next(), Err(MuxError::Foreign(_))));
    }

    #[test]
    fn nobody_behind_a_socket_is_gone_and_a_silent_one_is_left() {
        let stop = Stop::new().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let limit = Limit::from_now(&stop, Some(Duration::from_millis(20)));
        assert!(matches!(Mux::connect(&path, limit), Err(MuxError::Gone)));
        let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        assert!(matches!(Mux::connect(&path, limit), Err(MuxError::Cut(Cut::TimedOut))));
        drop(listener);
        assert!(matches!(Mux::connect(&path, limit), Err(MuxError::Gone)));
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_it_fail_otherwise(bytes: Vec<u8>) {
            let mut inbox = inbox(&bytes);
            while let Ok(Some(_)) = inbox.next() {}
        }
    }
}
