//! Starts the faulty server as a process of its own, asks for its record, and ends it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;

use sys::process::Start;

use super::{Account, Faults, RECORD};
use crate::workload::guard::{self, Guarded};

/// Time limit for the record.
const ASK: Duration = Duration::from_secs(10);
/// Largest record, in bytes.
const ACCOUNT_BYTES: u64 = 4 << 20;

/// A running faulty server; dropping it ends it.
#[derive(Debug)]
pub struct Planted {
    address: SocketAddr,
    _group: Guarded,
}

impl Planted {
    /// Starts the server and waits until it listens. Fails when it does not start in time.
    pub fn start(faults: &Faults) -> Result<Planted, String> {
        let program = guard::program().ok_or("this program cannot start itself as a server")?;
        let mut command = Command::new(program);
        command.arg(super::super::ARGUMENT);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut group = Guarded::spawn(command, Start::default())?;
        let (stdin, stdout) = (group.child().stdin.take(), group.child().stdout.take());
        let (mut stdin, stdout) = stdin.zip(stdout).ok_or("the faulty server has no pipes")?;
        let failed = |error: std::io::Error| format!("the faulty server did not start: {error}");
        stdin.write_all(faults.text().as_bytes()).map_err(failed)?;
        drop(stdin);
        let mut line = String::new();
        BufReader::new(stdout).take(100).read_line(&mut line).map_err(failed)?;
        let address = line.trim().parse().map_err(|_| "the faulty server did not start".to_owned())?;
        Ok(Planted { address, _group: group })
    }

    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// The server's record so far. Fails when it does not answer.
    pub fn account(&self) -> Result<Account, String> {
        ask(self.address)
    }
}

/// Asks the faulty server at `address` for its record. Fails when it does not answer.
pub fn ask(address: SocketAddr) -> Result<Account, String> {
    let failed = |error: std::io::Error| format!("the faulty server gives no record: {error}");
    let mut stream = TcpStream::connect_timeout(&address, ASK).map_err(failed)?;
    stream.set_read_timeout(Some(ASK)).and_then(|()| stream.set_write_timeout(Some(ASK))).map_err(failed)?;
    stream.write_all(format!("GET {RECORD} HTTP/1.0\r\n\r\n").as_bytes()).map_err(failed)?;
    let mut said = String::new();
    stream.take(ACCOUNT_BYTES).read_to_string(&mut said).map_err(failed)?;
    let body = said.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    Account::parse(body).ok_or_else(|| "the record of the faulty server is malformed".to_owned())
}
