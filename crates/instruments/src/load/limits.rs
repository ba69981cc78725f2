//! Hard limits of this host, checked before a load starts.
//!
//! Open files: one per connection and a few more. Local ports: one per connection to one address. Without these no
//! load can run; soft limits are in `host`. Limits of the server are not checked here.

use std::net::IpAddr;

use sys::system::allow_more_files;

use super::host::Host;
use crate::system_files::root::Root;

/// Files that a thread needs beside its connections, and that the process may open meanwhile.
const FILES_A_THREAD: u64 = 2;
const SPARE_FILES: u64 = 16;

/// Raises the soft limit of open files as far as needed. Fails when the hard limit is too low; the message says how to
/// raise it.
pub fn open_files(connections: usize, threads: usize) -> Result<(), String> {
    let more = connections as u64 + threads as u64 * FILES_A_THREAD + SPARE_FILES;
    allow_more_files(more).map_err(|why| {
        let fewer = |allowed: &u64| (connections as u64).saturating_sub(why.needed.saturating_sub(*allowed));
        let advice = why
            .allowed
            .as_ref()
            .map_or_else(|_| String::new(), |allowed| format!(", or use at most {}", fewer(allowed)));
        format!("{connections} connections: {why}{advice}")
    })
}

/// Fails when there are fewer local ports than connections to the one address.
pub fn ports(connections: usize, to: IpAddr) -> Result<(), String> {
    // Where it is not told (no /proc) nothing is known, and a port that is missing fails as `connect`.
    let Some(ports) = Host::read(&Root::live()).ports else { return Ok(()) };
    if connections as u64 <= ports {
        return Ok(());
    }
    Err(format!(
        "{connections} connections to {to} need as many local ports and there are {ports}: use fewer connections, or \
         widen net.ipv4.ip_local_port_range"
    ))
}

/// True if the address is one of this host's own, so that packets stay on it.
pub fn is_here(address: IpAddr) -> bool {
    // Nobody can listen on another's address.
    address.to_canonical().is_loopback() || std::net::UdpSocket::bind((address, 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_connections_are_named_with_what_would_do() {
        let error = open_files(500_000_000, 1).unwrap_err();
        assert!(error.starts_with("500000000 connections: 5000000") && error.contains("ulimit"), "{error}");
        assert!(open_files(1, 1).is_ok());
    }

    #[test]
    fn own_addresses_are_known() {
        for (address, own) in [("127.0.0.9", true), ("::ffff:127.0.0.1", true), ("192.0.2.1", false)] {
            assert_eq!(is_here(address.parse().unwrap()), own, "{address}");
        }
    }

    #[test]
    fn ports_bound_the_connections() {
        assert!(ports(1, IpAddr::from([127, 0, 0, 1])).is_ok());
        assert!(ports(70_000, IpAddr::from([127, 0, 0, 1])).unwrap_err().contains("local ports"));
    }
}
