//! Checks that a server can be reached: its name resolves, a connection opens, and with TLS the handshake succeeds.
//!
//! No request is sent. A cancelled check leaves its thread behind; that thread ends at its own time limit.

use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::Duration;

use model::url::Url;

use super::target::addresses;
use super::{Control, Error, Load, limits, tls};

/// Interval at which the check looks for cancellation.
const LOOK: Duration = Duration::from_millis(50);

/// The address of a load's server; sends no request. Fails when the server cannot be reached from here.
pub fn reachable(load: &Load) -> Result<SocketAddr, Error> {
    limits::open_files(load.connections, load.threads).map_err(Error::Limit)?;
    let secure = secure(load)?;
    let address = tried(&load.targets[0].url, secure.as_ref(), load.timeout)?;
    limits::ports(load.connections, address.ip()).map_err(Error::Limit)?;
    Ok(address)
}

/// The TLS settings that all connections share; `None` for plain connections. Fails when the host's name or the
/// authorities cannot be used.
pub(super) fn secure(load: &Load) -> Result<Option<tls::Shared>, Error> {
    let url = &load.targets.first().ok_or_else(|| Error::Load("no URL to load".to_owned()))?.url;
    url.is_tls().then(|| tls::Shared::new(&url.host, &load.tls)).transpose().map_err(Error::Load)
}

/// The first address of the server that works. Fails when none does, and when the load is stopped before.
pub(super) fn reach(
    load: &Load,
    secure: Option<&tls::Shared>,
    control: &Control,
) -> Result<SocketAddr, Error> {
    let (url, secure, timeout) = (load.targets[0].url.clone(), secure.cloned(), load.timeout);
    let (give, found) = channel();
    let work = move || {
        // Nobody listens any more where the load was ended.
        let _gone = give.send(tried(&url, secure.as_ref(), timeout));
    };
    let failed = |what: String| Error::System(format!("cannot look for the server: {what}"));
    Builder::new().name("reach".to_owned()).spawn(work).map_err(|error| failed(error.to_string()))?;
    loop {
        match found.recv_timeout(LOOK) {
            Ok(found) => return found,
            Err(RecvTimeoutError::Disconnected) => return Err(failed("its thread failed".to_owned())),
            Err(RecvTimeoutError::Timeout) if control.is_stopped() => {
                let whom = load.targets[0].url.authority();
                return Err(Error::Unreachable(format!(
                    "{whom} had accepted no connection when the load was ended"
                )));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

fn tried(url: &Url, secure: Option<&tls::Shared>, timeout: Duration) -> Result<SocketAddr, Error> {
    let addresses = addresses(url).map_err(Error::Unreachable)?;
    let mut last = String::new();
    for address in &addresses {
        let mut stream = match TcpStream::connect_timeout(address, timeout) {
            Ok(stream) => stream,
            Err(error) => {
                last = format!("{address}: {error}");
                continue;
            }
        };
        let Some(secure) = secure else { return Ok(*address) };
        let set = stream.set_read_timeout(Some(timeout)).and(stream.set_write_timeout(Some(timeout)));
        set.map_err(|error| Error::System(format!("cannot limit the time of a handshake: {error}")))?;
        return secure.probe(&mut stream).map(|()| *address).map_err(|why| {
            let what = format!("TLS with {} at {address} failed: {why}", url.authority());
            Error::Tls(format!("{what}; check the name, the port and the certificate"))
        });
    }
    Err(Error::Unreachable(format!(
        "nothing accepts connections at {} ({last}); is the server running, and is the port right?",
        url.authority()
    )))
}
