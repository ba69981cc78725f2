//! TLS 1.2 and 1.3 as a transport, by rustls with ring.
//!
//! Each connection makes a full handshake; sessions are not resumed, so that a connection per request measures a real
//! handshake. The certificate is checked against the system's authorities, against a given file, or on request not at
//! all.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection};

use super::failure::Failure;
use super::transport::{self, Got, Transport};

/// Which certificates to trust.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Options {
    /// Accept any certificate: the load is encrypted, but the server may be anyone.
    pub insecure: bool,
    /// A PEM file of authorities, used in place of the system's.
    pub authorities: Option<PathBuf>,
}

/// Settings that all connections to one server share.
#[derive(Clone, Debug)]
pub struct Shared {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl Shared {
    /// Fails when `host` cannot be in a certificate, or when the authorities cannot be read.
    pub fn new(host: &str, options: &Options) -> Result<Shared, String> {
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| format!("{host} is not a name that a certificate can hold"))?;
        let config = if options.insecure {
            trust::by_check(Arc::new(Anyone))
        } else {
            let known =
                trust::authorities(options.authorities.as_deref()).map_err(|error| error.to_string())?;
            trust::by_authorities(known)
        };
        let mut config = config.map_err(|error| format!("TLS cannot be set up: {error}"))?;
        config.resumption = Resumption::disabled();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Shared { config: Arc::new(config), name })
    }

    /// Makes one handshake. Fails with the reason why it was refused or did not finish.
    pub fn probe(&self, stream: &mut TcpStream) -> Result<(), String> {
        let mut connection = ClientConnection::new(Arc::clone(&self.config), self.name.clone())
            .map_err(|error| error.to_string())?;
        while connection.is_handshaking() || connection.wants_write() {
            connection.complete_io(stream).map_err(|error| match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                    "no answer to the handshake".to_owned()
                }
                _ => error.to_string(),
            })?;
        }
        Ok(())
    }
}

/// Accepts any certificate. The server must still hold its private key.
#[derive(Debug)]
struct Anyone;

impl trust::Check for Anyone {
    fn accept(&self, _shown: trust::Shown<'_>) -> Result<(), rustls::Error> {
        Ok(())
    }
}

/// A non-blocking socket with the interface that rustls expects. It notes when what it read last arrived.
struct Socket<'a> {
    fd: BorrowedFd<'a>,
    arrived_ns: Option<u64>,
}

impl<'a> Socket<'a> {
    fn new(fd: BorrowedFd<'a>) -> Socket<'a> {
        Socket { fd, arrived_ns: None }
    }
}

fn to_io(kind: Failure) -> io::Error {
    match kind {
        Failure::Timeout => io::ErrorKind::TimedOut.into(),
        _ => io::ErrorKind::ConnectionReset.into(),
    }
}

impl Read for Socket<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match transport::recv(self.fd, into) {
            Ok(Got::Bytes { count, arrived_ns }) => {
                self.arrived_ns = arrived_ns;
                Ok(count)
            }
            Ok(Got::Ended) => Ok(0),
            Ok(Got::Blocked) => Err(io::ErrorKind::WouldBlock.into()),
            Err(kind) => Err(to_io(kind)),
        }
    }
}

impl Write for Socket<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match transport::send(self.fd, bytes) {
            Ok(0) if !bytes.is_empty() => Err(io::ErrorKind::WouldBlock.into()),
            Ok(sent) => Ok(sent),
            Err(kind) => Err(to_io(kind)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The failure for an error of the socket or of rustls.
fn kind(error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::TimedOut => Failure::Timeout,
        io::ErrorKind::ConnectionReset => Failure::Reset,
        _ => Failure::Tls,
    }
}

#[derive(Debug)]
pub struct Tls {
    connection: Box<ClientConnection>,
    /// When the last record that was read arrived.
    arrived_ns: Option<u64>,
}

impl Tls {
    /// Sends waiting bytes until the socket is full; the rest waits for the next call.
    fn flush(&mut self, fd: BorrowedFd<'_>) -> Result<(), Failure> {
        while self.connection.wants_write() {
            match self.connection.write_tls(&mut Socket::new(fd)) {
                Ok(_sent) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(kind(&error)),
            }
        }
        Ok(())
    }

    /// Reads TLS records once.
    fn pull(&mut self, fd: BorrowedFd<'_>) -> Result<Pulled, Failure> {
        let mut socket = Socket::new(fd);
        let read = self.connection.read_tls(&mut socket);
        self.arrived_ns = socket.arrived_ns.or(self.arrived_ns);
        match read {
            Ok(0) => Ok(Pulled::End),
            Ok(_read) => match self.connection.process_new_packets() {
                Ok(_state) => Ok(Pulled::Some),
                Err(_refused) => {
                    // The alert tells the server why; whether it can be sent changes nothing.
                    let _told = self.flush(fd);
                    Err(Failure::Tls)
                }
            },
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(Pulled::Nothing),
            Err(error) => Err(kind(&error)),
        }
    }
}

enum Pulled {
    Some,
    Nothing,
    End,
}

impl Transport for Tls {
    type Shared = Shared;
    const BUFFERS: bool = true;

    fn new(shared: &Shared) -> Result<Tls, Failure> {
        let connection = ClientConnection::new(Arc::clone(&shared.config), shared.name.clone());
        Ok(Tls { connection: Box::new(connection.map_err(|_| Failure::Tls)?), arrived_ns: None })
    }

    fn advance(&mut self, fd: BorrowedFd<'_>) -> Result<bool, Failure> {
        loop {
            self.flush(fd)?;
            if !self.connection.is_handshaking() {
                return Ok(true);
            }
            if self.connection.wants_write() {
                return Ok(false);
            }
            match self.pull(fd)? {
                Pulled::Some => {}
                Pulled::Nothing => return Ok(false),
                Pulled::End => return Err(Failure::Tls),
            }
        }
    }

    fn is_blocked(&self) -> bool {
        self.connection.wants_write()
    }

    fn send(&mut self, fd: BorrowedFd<'_>, bytes: &[u8]) -> Result<usize, Failure> {
        let mut sent = 0;
        loop {
            self.flush(fd)?;
            if sent == bytes.len() || self.connection.wants_write() {
                return Ok(sent);
            }
            // Its buffer is empty here and takes something, so that the loop ends.
            match self.connection.writer().write(&bytes[sent..]) {
                Ok(0) | Err(_) => return Err(Failure::Tls),
                Ok(taken) => sent += taken,
            }
        }
    }

    fn recv(&mut self, fd: BorrowedFd<'_>, into: &mut [u8]) -> Result<Got, Failure> {
        loop {
            match self.connection.reader().read(into) {
                Ok(0) => return Ok(Got::Ended),
                Ok(count) => return Ok(Got::Bytes { count, arrived_ns: self.arrived_ns }),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // Many servers end without saying so; a body that ends early is found by its length.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(Got::Ended),
                Err(error) => return Err(kind(&error)),
            }
            match self.pull(fd)? {
                Pulled::Some => self.flush(fd)?,
                Pulled::Nothing => return Ok(Got::Blocked),
                // The reader now says how it ended.
                Pulled::End => {
                    if self.connection.process_new_packets().is_err() {
                        return Err(Failure::Tls);
                    }
                }
            }
        }
    }
}
