//! The console of a node: bytes both ways, over TCP (plain or telnet) or by the serial-over-LAN of its BMC.
//!
//! The stdin of `ipmitool` is a pipe: at its end the tool ends the session at the BMC, which it does not do when a
//! terminal goes away. Its stdout is a pseudo-terminal: into a pipe it writes a silent console's first line only at its
//! end. Its own escapes are moved to a letter that nobody types.

mod telnet;

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use sys::process::{Interest, ProcessGroup, Start};

use self::telnet::Telnet;
use crate::inventory::{Console, ConsoleKind};
use crate::stop::{Cut, Limit, Stop};

/// How long a console may take to be connected, and its tool to end.
const CONNECT: Duration = Duration::from_secs(5);
const END: Duration = Duration::from_secs(3);

/// Begins an escape at the start of a line.
const ESCAPE: u8 = b'~';

/// The letter of ipmitool's own escapes: unit separator.
pub(crate) const TOOL_ESCAPE: char = '\u{1f}';

/// A console that is open.
pub struct Line {
    /// `None` once it takes no more.
    to: Option<File>,
    from: File,
    tool: Option<Tool>,
    telnet: Option<Telnet>,
}

/// The process that speaks with a BMC.
struct Tool {
    process: ProcessGroup,
    stderr: File,
}

/// Why a console ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The user typed the escape.
    Left,
    /// Its time was over.
    Time,
    Interrupted,
    /// The other side ended it, with what was said of it.
    Closed(String),
    /// Bytes could not be shown or kept here.
    Failed(String),
}

/// Where the bytes of a console go, and where those for it come from.
pub struct Ends<'a> {
    /// The bytes that are typed; `None` where nothing is sent.
    pub input: Option<BorrowedFd<'a>>,
    /// Every byte of the console is given to each.
    pub outputs: Vec<&'a mut dyn Write>,
    /// The input is of a person, who ends it by an escape.
    pub has_escapes: bool,
}

/// Connects to a console over TCP. The error says why not.
pub fn connect(console: &Console) -> Result<Line, String> {
    let said = |error: std::io::Error| format!("{console}: {error}");
    let places = (console.host.as_str(), console.port).to_socket_addrs().map_err(said)?;
    let mut last = format!("{console}: its name has no address");
    for place in places {
        match TcpStream::connect_timeout(&place, CONNECT) {
            Ok(stream) => {
                let from = File::from(OwnedFd::from(stream));
                let to = from.try_clone().map_err(said)?;
                let telnet = (console.kind == ConsoleKind::Telnet).then(Telnet::default);
                return Ok(Line { to: Some(to), from, tool: None, telnet });
            }
            Err(error) => last = said(error),
        }
    }
    Err(last)
}

/// Starts a tool whose stdin and stdout are a console, once it has said a line with `opened`. The error is what it said
/// instead.
pub(crate) fn of_tool(mut command: Command, opened: &str, limit: Limit<'_>) -> Result<Line, Refused> {
    let (from, theirs) = terminal().map_err(|error| Refused::NotStarted(error.to_string()))?;
    let mut from = File::from(from);
    command.stdin(Stdio::piped()).stdout(Stdio::from(theirs)).stderr(Stdio::piped());
    let mut process = ProcessGroup::spawn(command, Start::default())
        .map_err(|error| Refused::NotStarted(error.to_string()))?;
    let file = |end: Option<OwnedFd>| end.map(File::from).ok_or(Refused::NotStarted("no pipe".to_owned()));
    let to = file(process.child.stdin.take().map(OwnedFd::from))?;
    let stderr = file(process.child.stderr.take().map(OwnedFd::from))?;
    let mut said = Vec::new();
    loop {
        limit.wait(&[Interest::Read(from.as_fd())]).map_err(Refused::Cut)?;
        // A byte at a time, so that nothing of the console is taken with it.
        let mut byte = [0];
        match from.read(&mut byte) {
            Ok(1) => said.push(byte[0]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            _ => break,
        }
        if byte[0] == b'\n' && String::from_utf8_lossy(&said).contains(opened) {
            let tool = Some(Tool { process, stderr });
            return Ok(Line { to: Some(to), from, tool, telnet: None });
        }
    }
    let mut tool = Tool { process, stderr };
    said.extend(tool.last_words());
    Err(Refused::Said(String::from_utf8_lossy(&said).into_owned()))
}

/// A pseudo-terminal that changes no byte: our end, and that of a tool.
fn terminal() -> std::io::Result<(OwnedFd, OwnedFd)> {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let theirs = rustix::fs::open(ptsname(&ours, Vec::new())?, flags, Mode::empty())?;
    let mut mode = tcgetattr(&theirs)?;
    mode.make_raw();
    tcsetattr(&theirs, OptionalActions::Now, &mode)?;
    Ok((ours, theirs))
}

/// Why a tool opened no console.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    NotStarted(String),
    Cut(Cut),
    Said(String),
}

impl Tool {
    /// Its stderr, as far as it comes soon.
    fn last_words(&mut self) -> Vec<u8> {
        let (mut said, mut chunk) = (Vec::new(), [0; 4096]);
        while sys::process::poll_read(&[self.stderr.as_fd()], Some(END)).is_ok_and(|ready| ready == [true]) {
            match self.stderr.read(&mut chunk) {
                Ok(count) if count > 0 && said.len() < chunk.len() * 4 => {
                    said.extend_from_slice(&chunk[..count])
                }
                _ => break,
            }
        }
        said
    }
}

impl Line {
    /// Carries bytes both ways until it ends.
    pub fn carry(&mut self, ends: Ends<'_>, stop: &Stop, length: Option<Duration>) -> End {
        let limit = Limit::from_now(stop, length);
        let Ends { mut input, mut outputs, has_escapes } = ends;
        let mut escapes = Escapes::default();
        let mut chunk = [0; 4096];
        loop {
            let mut interests = vec![Interest::Read(self.from.as_fd())];
            interests.extend(input.map(Interest::Read));
            let ready = match limit.wait(&interests) {
                Ok(ready) => ready,
                Err(Cut::TimedOut) => return End::Time,
                Err(Cut::Interrupted) => return End::Interrupted,
                Err(Cut::Failed(said)) => return End::Failed(said),
            };
            let is = |at: usize| ready.get(at).is_some_and(|one| one.readable || one.closed);
            let (from, typed) = (is(0), is(1));
            if from {
                match self.from.read(&mut chunk) {
                    Ok(0) => return End::Closed(self.why()),
                    Ok(count) => {
                        let shown = match self.came(&chunk[..count]) {
                            Ok(shown) => shown,
                            Err(error) => return End::Closed(error.to_string()),
                        };
                        for output in &mut outputs {
                            let written = output.write_all(&shown).and_then(|()| output.flush());
                            if let Err(error) = written {
                                return End::Failed(error.to_string());
                            }
                        }
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    // A pseudo-terminal whose other end is closed.
                    Err(error) if Errno::from_io_error(&error) == Some(Errno::IO) => {
                        return End::Closed(self.why());
                    }
                    Err(error) => return End::Closed(error.to_string()),
                }
            }
            if let (true, Some(fd)) = (typed, input) {
                match rustix::io::read(fd, &mut chunk) {
                    Ok(0) => input = None,
                    Ok(count) => {
                        let (bytes, leaves) = match has_escapes {
                            true => escapes.read(&chunk[..count]),
                            false => (chunk[..count].to_vec(), false),
                        };
                        if let Err(error) = self.send(&bytes) {
                            return End::Closed(error.to_string());
                        }
                        if leaves {
                            return End::Left;
                        }
                    }
                    Err(Errno::INTR) => {}
                    Err(error) => return End::Failed(format!("what is typed cannot be read: {error}")),
                }
            }
        }
    }

    /// The bytes of the console among what came; what the protocol wants is answered.
    fn came(&mut self, bytes: &[u8]) -> std::io::Result<Vec<u8>> {
        let Some(telnet) = &mut self.telnet else { return Ok(bytes.to_vec()) };
        let (shown, answer) = telnet.came(bytes);
        self.put(&answer)?;
        Ok(shown)
    }

    fn send(&mut self, typed: &[u8]) -> std::io::Result<()> {
        match &self.telnet {
            Some(telnet) => {
                let bytes = telnet.sent(typed);
                self.put(&bytes)
            }
            None => self.put(typed),
        }
    }

    fn put(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        match &mut self.to {
            Some(to) => to.write_all(bytes).and_then(|()| to.flush()),
            None => Ok(()),
        }
    }

    fn why(&mut self) -> String {
        let said = self.tool.as_mut().map(Tool::last_words).unwrap_or_default();
        let said = crate::ssh::printable(&said);
        if said.is_empty() { "the other side closed it".to_owned() } else { said }
    }
}

impl Drop for Line {
    /// Ends the session of a tool by the end of its stdin; only one that hangs is killed.
    fn drop(&mut self) {
        const LOOK: Duration = Duration::from_millis(10);
        self.to = None;
        let Some(tool) = &mut self.tool else { return };
        let until_ns = sys::clock::now_ns().saturating_add(u64::try_from(END.as_nanos()).unwrap_or(u64::MAX));
        let mut chunk = [0; 4096];
        while sys::clock::now_ns() < until_ns && matches!(tool.process.try_wait(), Ok(None)) {
            // What it still says must not keep it.
            let has_more = sys::process::poll_read(&[self.from.as_fd()], Some(LOOK));
            if has_more.is_ok_and(|ready| ready == [true])
                && !self.from.read(&mut chunk).is_ok_and(|count| count > 0)
            {
                std::thread::sleep(LOOK);
            }
        }
    }
}

/// Escapes in what is typed: at the start of a line `~.` leaves, and `~~` is one `~`.
#[derive(Debug)]
struct Escapes {
    at_start: bool,
    is_open: bool,
}

impl Default for Escapes {
    fn default() -> Escapes {
        Escapes { at_start: true, is_open: false }
    }
}

impl Escapes {
    /// The bytes for the console, and whether the user leaves it.
    fn read(&mut self, typed: &[u8]) -> (Vec<u8>, bool) {
        let mut bytes = Vec::with_capacity(typed.len());
        for byte in typed {
            match (std::mem::take(&mut self.is_open), *byte) {
                (true, b'.') => return (bytes, true),
                (true, ESCAPE) => bytes.push(ESCAPE),
                (true, other) => bytes.extend([ESCAPE, other]),
                (false, ESCAPE) if self.at_start => {
                    self.is_open = true;
                    continue;
                }
                (false, other) => bytes.push(other),
            }
            self.at_start = matches!(byte, b'\r' | b'\n');
        }
        (bytes, false)
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn an_escape_counts_at_the_start_of_a_line_alone() {
        let read = |typed: &[&[u8]]| {
            let mut escapes = Escapes::default();
            let all: Vec<(Vec<u8>, bool)> = typed.iter().map(|one| escapes.read(one)).collect();
            (
                all.iter().flat_map(|(bytes, _)| bytes.clone()).collect::<Vec<u8>>(),
                all.iter().any(|one| one.1),
            )
        };
        assert_eq!(read(&[b"~."]), (vec![], true));
        assert_eq!(read(&[b"ls ~.\r"]), (b"ls ~.\r".to_vec(), false));
        assert_eq!(read(&[b"a\r", b"~", b".b"]), (b"a\r".to_vec(), true));
        assert_eq!(read(&[b"~~x\n~y"]), (b"~x\n~y".to_vec(), false));
        assert_eq!(read(&[b"~\r~."]), (b"~\r".to_vec(), true));
    }

    #[test]
    fn bytes_go_both_ways_and_the_end_is_told() {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = server.local_addr().unwrap().port();
        let console = Console { kind: ConsoleKind::Tcp, host: "127.0.0.1".to_owned(), port };
        let far = std::thread::spawn(move || {
            let (mut stream, _) = server.accept().unwrap();
            stream.write_all(b"login: \xff\0").unwrap();
            let mut got = [0; 5];
            stream.read_exact(&mut got).unwrap();
            got
        });
        let (input, mut typed) = std::io::pipe().unwrap();
        typed.write_all(b"root\r").unwrap();
        let (mut out, mut log) = (Vec::new(), Vec::new());
        let stop = Stop::new().unwrap();
        let ends = Ends { input: Some(input.as_fd()), outputs: vec![&mut out, &mut log], has_escapes: true };
        let end = connect(&console).unwrap().carry(ends, &stop, None);
        assert_eq!(end, End::Closed("the other side closed it".to_owned()));
        assert_eq!((far.join().unwrap(), out.as_slice()), (*b"root\r", &b"login: \xff\0"[..]));
        assert_eq!(out, log);
    }

    #[test]
    fn a_place_where_nobody_listens_is_told() {
        use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket};
        // Bound and not listening: the port answers nobody, and no other test can be given it meanwhile.
        let held = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        bind(&held, &std::net::SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        let place = std::net::SocketAddr::try_from(getsockname(&held).unwrap()).unwrap();
        let console = Console { kind: ConsoleKind::Tcp, host: "127.0.0.1".to_owned(), port: place.port() };
        let said = connect(&console).err().unwrap();
        assert!(said.contains("refused"), "{said}");
    }
}
