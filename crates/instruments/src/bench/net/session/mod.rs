//! A test as its asker sees it: the connection that asks for it, further connections, its datagrams, and its end.
//!
//! A session lasts for one take, so that the peer may be restarted between takes.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

use super::frame::{ASKING, Frame, FrameError, Id, JOINING, Report, Test, ending, opening, proof, random};
use super::pipe::Lost;
use super::{datagram, target::Target};

#[derive(Debug)]
pub struct Session {
    pub control: TcpStream,
    pub peer: SocketAddr,
    pub id: Id,
    name: String,
    patience: Duration,
}

impl Session {
    /// Asks for a test and waits until the peer is ready. Fails when the peer cannot be reached, refuses, or does not
    /// know the token.
    pub fn open(target: &Target, test: Test) -> Result<Session, String> {
        target.there()?;
        let peer = target.address;
        let (name, patience) = (target.name.clone(), target.patience);
        let mut control =
            connect(peer, patience).map_err(|error| target.missed(unreachable(target, &error)))?;
        let io = |error: std::io::Error| format!("the peer at {name}: {error}");
        control.set_nodelay(true).map_err(io)?;
        control.set_read_timeout(Some(patience)).map_err(io)?;
        control.set_write_timeout(Some(patience)).map_err(io)?;
        let asker = random()?;
        control.write_all(&opening(ASKING, &asker)).map_err(io)?;
        let (id, challenge) = challenged(&mut control, &name, patience).map_err(|why| target.missed(why))?;
        target.reached();
        let proof = proof(&target.token, &challenge, &asker);
        let mut session = Session { control, peer, id, name, patience };
        session.say(&Frame::Ask { proof, test })?;
        session.go()?;
        Ok(session)
    }

    /// Waits for the peer's Go. Fails when the peer refuses or is gone.
    pub fn go(&mut self) -> Result<(), String> {
        match self.hear()? {
            Frame::Go => Ok(()),
            Frame::Refused(refusal) => Err(format!("the peer at {} refuses: {refusal}", self.name)),
            _ => Err(format!("the peer at {} sent an unexpected frame", self.name)),
        }
    }

    fn hear(&mut self) -> Result<Frame, String> {
        Frame::read(&mut self.control).map_err(|error| self.wrong(&error))
    }

    fn say(&mut self, frame: &Frame) -> Result<(), String> {
        frame.write(&mut self.control).map_err(|error| self.wrong(&error))
    }

    fn wrong(&self, error: &FrameError) -> String {
        let name = &self.name;
        match error {
            FrameError::Io(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                    format!("the peer at {name} has not answered for {} s", self.patience.as_secs_f64())
                }
                ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
                    self.lost(Lost::Ended)
                }
                _ => format!("the peer at {name}: {error}"),
            },
            error => format!("the peer at {name} sent {error}"),
        }
    }

    /// Opens a further connection of this test; `word` is its first byte. Fails when the peer cannot be reached.
    pub fn join(&self, word: u8) -> Result<TcpStream, String> {
        let joined = connect(self.peer, self.patience).and_then(|mut stream| {
            stream.set_nodelay(true)?;
            stream.write_all(&opening(JOINING, &self.id))?;
            stream.write_all(&[word])?;
            Ok(stream)
        });
        joined.map_err(|error| format!("a further connection to the peer at {}: {error}", self.name))
    }

    /// Opens a datagram socket to the peer for this test. Fails when the peer does not answer.
    pub fn datagrams(&self) -> Result<UdpSocket, String> {
        datagram::open(self.peer, &self.id)
    }

    /// Ends a test and returns what the peer received. Fails when the peer is gone.
    pub fn end(&mut self, sent: u64, datagrams: Option<&UdpSocket>) -> Result<Report, String> {
        self.say(&Frame::End { sent })?;
        if let Some(socket) = datagrams {
            // It may be lost: the peer looks at the connection too.
            let _sooner = socket.send(&ending(&self.id));
        }
        self.report()
    }

    /// The port of a program that the peer started for this test. Fails when the peer could not start it.
    pub fn port(&mut self) -> Result<u16, String> {
        match self.hear()? {
            Frame::Serves { port } => Ok(port),
            _ => Err(format!("the peer at {} does not say where its program listens", self.name)),
        }
    }

    /// Waits for the peer's report. Fails when the peer is gone.
    pub fn report(&mut self) -> Result<Report, String> {
        match self.hear()? {
            Frame::Report(report) => Ok(report),
            _ => Err(format!("the peer at {} does not say what it received", self.name)),
        }
    }

    /// The message for a broken pipe of this test.
    pub fn lost(&self, lost: Lost) -> String {
        let name = &self.name;
        match lost {
            Lost::Ended => format!("the peer at {name} ended in the middle of the take"),
            Lost::Silent => format!(
                "the peer at {name} fell silent in the middle of the take: nothing came for {} s",
                self.patience.as_secs_f64()
            ),
            Lost::Broken(error) => format!("the connection to the peer at {name} failed: {error}"),
        }
    }
}

fn connect(peer: SocketAddr, patience: Duration) -> std::io::Result<TcpStream> {
    TcpStream::connect_timeout(&peer, patience)
}

/// The message for a peer that cannot be connected to.
fn unreachable(target: &Target, error: &std::io::Error) -> String {
    let name = &target.name;
    match error.kind() {
        ErrorKind::ConnectionRefused => format!("nothing listens at {name}; {}", target.remedy()),
        ErrorKind::TimedOut | ErrorKind::WouldBlock => {
            format!(
                "{name} does not answer: is it up, and does its firewall let TCP port {} through?",
                target.address.port()
            )
        }
        _ => format!("{name} cannot be connected to: {error}"),
    }
}

/// Reads the challenge and the id of the test. Fails when the other end is not a peer.
fn challenged(control: &mut TcpStream, name: &str, patience: Duration) -> Result<(Id, Id), String> {
    let (mut word, mut id, mut challenge) = ([0; 16], [0; 16], [0; 16]);
    let mut got = 0;
    while let Some(rest) = word.get_mut(got..).filter(|rest| !rest.is_empty()) {
        match control.read(rest) {
            Ok(count) if count > 0 => got += count,
            Ok(_) => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if got == 0 && matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return Err(format!(
                    "what listens at {name} has sent nothing for {} s: it is not a boxscore peer, or it hangs",
                    patience.as_secs_f64()
                ));
            }
            Err(_) => break,
        }
    }
    if word != ASKING {
        let said = word.get(..got).unwrap_or_default();
        return Err(match said {
            [] => {
                format!(
                    "what listens at {name} closed the connection: it is not a boxscore peer, or one of another version"
                )
            }
            said => format!(
                "what listens at {name} is not a boxscore peer: it sent `{}`",
                said.escape_ascii().to_string().trim_end()
            ),
        });
    }
    let rest = control.read_exact(&mut id).and_then(|()| control.read_exact(&mut challenge));
    rest.map_err(|error| format!("the peer at {name} broke off its greeting: {error}"))?;
    Ok((id, challenge))
}

#[cfg(test)]
mod tests;
