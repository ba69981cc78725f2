//! Ports for our own servers.
//!
//! A port that is free now may be taken before the server binds it; whoever starts the server then tries another one.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener, UdpSocket};
use std::sync::{Mutex, PoisonError};

/// Ports that this process has given out, so that two of its servers never race for one.
static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
const TRIES: usize = 100;

/// A port that no other part of this process gets until this is dropped.
#[derive(Debug, PartialEq, Eq)]
pub struct Port(u16);

impl Port {
    /// A port that is free on this address, chosen by the kernel. Fails when there is none.
    pub fn free(on: IpAddr) -> Result<Port, String> {
        let failed = |error: std::io::Error| format!("cannot find a free port on {on}: {error}");
        for _ in 0..TRIES {
            let listener = TcpListener::bind((on, 0)).map_err(failed)?;
            let number = listener.local_addr().map_err(failed)?.port();
            if let Some(port) = Port::reserve(number) {
                return Ok(port);
            }
        }
        Err(format!("cannot find a free port on {on}: all that the kernel names are in use here"))
    }

    /// Reserves a certain port; `None` when a server of this process has it.
    pub fn reserve(number: u16) -> Option<Port> {
        let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
        // Not made when it is not given: dropping one gives the number back.
        given.insert(number).then(|| Port(number))
    }

    pub fn number(&self) -> u16 {
        self.0
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        GIVEN.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

/// The address by which this machine reaches a server that listens on `listen`.
pub fn reached(listen: IpAddr) -> IpAddr {
    match listen {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    }
}

/// The address of this machine by which the ssh login of this process came in: other machines reach it there. Fails
/// where this process came by no ssh.
pub fn of_login() -> Result<IpAddr, String> {
    of_connection(std::env::var("SSH_CONNECTION").ok().as_deref())
}

/// The third word of what sshd says of a connection: client, its port, this machine, its port.
fn of_connection(connection: Option<&str>) -> Result<IpAddr, String> {
    let own = connection.and_then(|text| text.split_whitespace().nth(2)).and_then(|word| word.parse().ok());
    own.ok_or_else(|| {
        "this machine was not reached by ssh, so its address is not known: --set listen=ADDRESS names it"
            .to_owned()
    })
}

/// Fails when a server on this address could not be reached: a server may bind to an unreachable address, as on a
/// loopback that is down. Sends nothing.
pub fn has_way(listen: IpAddr) -> Result<(), String> {
    let to = reached(listen);
    let any: IpAddr = if to.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    // Any port will do: of UDP, connecting only looks up the way.
    UdpSocket::bind((any, 0)).and_then(|socket| socket.connect((to, 9))).map_err(|error| {
        match to.is_loopback() {
            true => format!(
                "{to} cannot be reached ({error}): where the loopback is down, `ip link set lo up` starts it"
            ),
            false => format!("{to} cannot be reached: {error}"),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_way_to_addresses_of_this_machine() {
        assert_eq!(has_way(Ipv4Addr::LOCALHOST.into()), Ok(()));
        assert_eq!(has_way(Ipv4Addr::UNSPECIFIED.into()), Ok(()));
        assert_eq!(reached(Ipv6Addr::UNSPECIFIED.into()), IpAddr::from(Ipv6Addr::LOCALHOST));
    }

    #[test]
    fn a_login_tells_the_address_of_its_machine() {
        let of = |text: &str| of_connection(Some(text)).ok().map(|address| address.to_string());
        assert_eq!(of("10.0.0.9 51234 10.0.0.7 22").as_deref(), Some("10.0.0.7"));
        assert_eq!(of("fd88::9 51234 fd88::7 22").as_deref(), Some("fd88::7"));
        assert_eq!((of("10.0.0.9 51234"), of("UNKNOWN 65535 UNKNOWN 65535")), (None, None));
        assert!(of_connection(None).unwrap_err().contains("--set listen=ADDRESS"));
    }

    #[test]
    fn a_port_is_given_once() {
        let ports: Vec<Port> =
            (0..50).map(|_| Port::free(std::net::Ipv4Addr::LOCALHOST.into()).unwrap()).collect();
        let numbers: BTreeSet<u16> = ports.iter().map(Port::number).collect();
        assert_eq!(numbers.len(), 50);
        let first = ports[0].number();
        assert!(first > 0 && Port::reserve(first).is_none());
        drop(ports);
        // Another test may be given it meanwhile; a reservation that was freed can be had again at some time.
        assert!((0..1000).any(|_| Port::reserve(first).is_some()));
    }
}
