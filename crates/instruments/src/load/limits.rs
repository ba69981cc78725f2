//! Hard limits of this host, checked before a load starts.
//!
//! Open files: one per connection and a few more. Local ports: one per connection to one address. Without these no
//! load can run; soft limits are in `host`. Limits of the server are not checked here.

use std::net::IpAddr;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::host::Host;
use crate::system_files::root::Root;

/// Files that a thread needs beside its connections, and that the process may open meanwhile.
const FILES_A_THREAD: u64 = 2;
const SPARE_FILES: u64 = 16;

/// Raises the soft limit of open files as far as needed. Fails when the hard limit is too low; the message says how to
/// raise it.
pub fn open_files(connections: usize, threads: usize) -> Result<(), String> {
    let open = std::fs::read_dir("/proc/self/fd").map_or(64, |entries| entries.count() as u64);
    let needed = connections as u64 + threads as u64 * FILES_A_THREAD + open + SPARE_FILES;
    let limit = getrlimit(Resource::Nofile);
    match missing_files(needed, limit.current, limit.maximum) {
        Need::Nothing => Ok(()),
        Need::Raise => {
            let raised = Rlimit { current: Some(needed), maximum: limit.maximum };
            setrlimit(Resource::Nofile, raised).map_err(|error| {
                format!(
                    "{connections} connections need {needed} open files; raising the limit failed: {error}"
                )
            })
        }
        Need::More(have) => Err(format!(
            "{connections} connections need {needed} open files and this process may have {have}: use at most {} \
             connections, or raise the limit (`ulimit -Hn {needed}` as root, or LimitNOFILE= of the service)",
            (connections as u64).saturating_sub(needed.saturating_sub(have))
        )),
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Need {
    Nothing,
    Raise,
    /// The limit that cannot be raised.
    More(u64),
}

/// Compares the files needed with the limits; `None` stands for "unlimited".
fn missing_files(needed: u64, soft: Option<u64>, hard: Option<u64>) -> Need {
    match (soft, hard) {
        (None, _) => Need::Nothing,
        (Some(soft), _) if soft >= needed => Need::Nothing,
        (_, Some(hard)) if hard < needed => Need::More(hard),
        _ => Need::Raise,
    }
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
    fn files_are_raised_only_where_that_helps() {
        assert_eq!(missing_files(100, None, None), Need::Nothing);
        assert_eq!(missing_files(100, Some(100), Some(100)), Need::Nothing);
        assert_eq!(missing_files(100, Some(99), Some(100)), Need::Raise);
        assert_eq!(missing_files(100, Some(99), None), Need::Raise);
        assert_eq!(missing_files(100, Some(50), Some(99)), Need::More(99));
    }

    #[test]
    fn too_many_connections_are_named_with_what_would_do() {
        let error = open_files(500_000_000, 1).unwrap_err();
        assert!(
            error.starts_with("500000000 connections need 5000000") && error.contains("ulimit"),
            "{error}"
        );
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
