//! The far end of a perftest program: the peer starts its server for one run, and says on which port it listens.
//!
//! Messages between the two programs take ways of their own (the device, and a TCP port for setting up); only the
//! order and the end go through the peer.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;

use sys::clock;
use sys::process::Start;

use super::{LIMIT, PerftestOptions};
use crate::bench::net::frame::{Frame, Refusal, Report};
use crate::workload::guard::Guarded;
use crate::workload::server::sockets;
use crate::workload::shell::Stream;

/// How long the program may take until it listens, and to end after the other one has.
const UP: Duration = Duration::from_secs(10);
const END: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(10);
const WORDS: usize = 16 << 10;

/// A port that was free a moment ago.
fn free_port(like: SocketAddr) -> Result<u16, String> {
    let listener = TcpListener::bind(SocketAddr::new(like.ip(), 0)).map_err(|error| error.to_string())?;
    listener.local_addr().map(|address| address.port()).map_err(|error| error.to_string())
}

/// A server of one run.
struct Server {
    group: Guarded,
    said: [Stream; 2],
}

impl Server {
    fn start(mut command: Command) -> Result<Server, String> {
        let program = command.get_program().to_string_lossy().into_owned();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut group = Guarded::spawn(command, Start::default()).map_err(|why| {
            format!("{program} cannot be run here: {why}; Debian has it in the package perftest")
        })?;
        let stdout = group.child().stdout.take().ok_or("the program has no stdout")?;
        let stderr = group.child().stderr.take().ok_or("the program has no stderr")?;
        Ok(Server { group, said: [Stream::read(stderr, WORDS)?, Stream::read(stdout, WORDS)?] })
    }

    /// How it ended, if it has.
    fn ended(&mut self) -> Result<Option<bool>, String> {
        Ok(self.group.try_wait()?.map(|exit| exit.status.success()))
    }

    fn words(&self) -> String {
        let said = self.said.each_ref().map(|stream| {
            stream.drain();
            stream.so_far().last_lines(2)
        });
        said.into_iter().find(|words| !words.is_empty()).unwrap_or_else(|| "no word of why".to_owned())
    }

    fn up(&mut self, address: SocketAddr, program: &str) -> Result<(), String> {
        let until = clock::now_ns() + UP.as_nanos() as u64;
        while clock::now_ns() < until {
            if self.ended()?.is_some() {
                return Err(format!("{program} ended there at once: {}", self.words()));
            }
            if sockets::all()?.iter().any(|socket| socket.serves(address)) {
                return Ok(());
            }
            std::thread::sleep(PAUSE);
        }
        Err(format!("{program} has not come up there for {} s", UP.as_secs()))
    }

    /// Waits for its own end a moment.
    fn end(&mut self) -> Result<bool, String> {
        let until = clock::now_ns() + END.as_nanos() as u64;
        while clock::now_ns() < until {
            if let Some(good) = self.ended()? {
                return Ok(good);
            }
            std::thread::sleep(PAUSE);
        }
        self.group.end();
        Err(format!("it was still there {} s after the other end", END.as_secs()))
    }
}

/// Serves one run: starts the program, and ends it when the asker says that its own has ended. Fails when either does.
pub fn serve(stream: &mut TcpStream, order: &PerftestOptions) -> Result<Report, String> {
    let here = stream.local_addr().map_err(|error| error.to_string())?;
    let program = order.verb.program();
    let port = free_port(here)?;
    let started = Server::start(order.command(port))
        .and_then(|mut server| server.up(SocketAddr::new(here.ip(), port), program).map(|()| server));
    let mut server = match started {
        Ok(server) => server,
        Err(why) => {
            let refused = Frame::Refused(Refusal::Other(why.clone())).write(stream);
            return Err(refused.err().map_or(why, |error| error.to_string()));
        }
    };
    let io = |error: std::io::Error| error.to_string();
    let text = |error: crate::bench::net::frame::FrameError| error.to_string();
    Frame::Go.write(stream).map_err(text)?;
    Frame::Serves { port }.write(stream).map_err(text)?;
    stream.set_read_timeout(Some(LIMIT)).map_err(io)?;
    match Frame::read(stream) {
        Ok(Frame::End { sent }) => {
            let good = server.end()?;
            if good { Ok(Report { messages: sent, ..Report::default() }) } else { Err(server.words()) }
        }
        Ok(_) => Err("the asker sent another frame than End".to_owned()),
        Err(error) => Err(format!("no End from the asker: {error}")),
    }
}
