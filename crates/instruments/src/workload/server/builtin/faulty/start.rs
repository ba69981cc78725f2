//! Starts the faulty server as a process of its own, asks for its record, and ends it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::{Account, Faults, RECORD};
use crate::workload::guard::Guarded;
use crate::workload::helper_process;

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
        let (group, line) = helper_process::start(&[super::super::ARGUMENT], &faults.text())?;
        let address = line.parse().map_err(|_| "the faulty server did not start".to_owned())?;
        Ok(Planted { address, _group: group })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

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
    let mut said = Vec::new();
    stream.take(ACCOUNT_BYTES).read_to_end(&mut said).map_err(failed)?;
    let body = memchr::memmem::find(&said, b"\r\n\r\n").and_then(|end| said.get(end + 4..));
    body.and_then(Account::parse).ok_or_else(|| "the record of the faulty server is malformed".to_owned())
}
