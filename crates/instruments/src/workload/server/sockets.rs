//! Finds who listens on a port of this machine: the socket in /proc/net/tcp and tcp6, its owners in /proc/PID/fd.
//!
//! Only this network namespace, and only processes that may be inspected: without root, those of the same user.

use std::collections::BTreeSet;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::telemetry::parse::{lines, number, words};

const LISTEN: u8 = 0x0A;
/// Most processes that are inspected.
const MOST: usize = 200_000;

/// One line of /proc/net/tcp or tcp6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Socket {
    pub local: SocketAddr,
    pub remote: SocketAddr,
    /// The kernel's number of the TCP state: 1 is established, 10 listens.
    pub state: u8,
    pub uid: u32,
    pub inode: u64,
}

impl Socket {
    pub fn listens(&self) -> bool {
        self.state == LISTEN
    }

    /// True if a connection to `address` would reach this listener.
    pub fn serves(&self, address: SocketAddr) -> bool {
        let (own, asked) = (self.local.ip().to_canonical(), address.ip().to_canonical());
        let is_any = match self.local.ip() {
            IpAddr::V4(own) => own.is_unspecified() && asked.is_ipv4(),
            // The wildcard of IPv6 takes IPv4 too, unless the server forbade it.
            IpAddr::V6(own) => own.is_unspecified(),
        };
        self.listens() && self.local.port() == address.port() && (own == asked || is_any)
    }
}

/// Parses the whole file; malformed lines are skipped.
pub fn parse(bytes: &[u8]) -> Vec<Socket> {
    lines(bytes).filter_map(socket).collect()
}

fn socket(line: &[u8]) -> Option<Socket> {
    let fields: Vec<&[u8]> = words(line).take(10).collect();
    let local = address(fields.get(1)?)?;
    let remote = address(fields.get(2)?)?;
    let state = u8::try_from(hex(fields.get(3)?)?).ok()?;
    let uid = u32::try_from(number(fields.get(7)?)?).ok()?;
    Some(Socket { local, remote, state, uid, inode: number(fields.get(9)?)? })
}

fn hex(word: &[u8]) -> Option<u64> {
    let is_hex = !word.is_empty() && word.iter().all(u8::is_ascii_hexdigit);
    let text = std::str::from_utf8(word).ok().filter(|_| is_hex)?;
    u64::from_str_radix(text, 16).ok()
}

/// `0100007F:1F90`: the address in words of four bytes in this machine's byte order; the port as a number.
fn address(word: &[u8]) -> Option<SocketAddr> {
    let colon = word.iter().position(|byte| *byte == b':')?;
    let (ip, port) = (word.get(..colon)?, word.get(colon + 1..)?);
    let port = u16::try_from(hex(port)?).ok()?;
    let quad = |digits: &[u8]| Some(u32::try_from(hex(digits)?).ok()?.to_ne_bytes());
    let ip: IpAddr = match ip.len() {
        8 => Ipv4Addr::from(quad(ip)?).into(),
        32 => {
            let mut bytes = [0; 16];
            for (place, digits) in bytes.chunks_mut(4).zip(ip.chunks(8)) {
                place.copy_from_slice(&quad(digits)?);
            }
            Ipv6Addr::from(bytes).into()
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, port))
}

/// The sockets of this network namespace. Fails when the kernel does not show them.
pub fn all() -> Result<Vec<Socket>, String> {
    let read = |path: &str| fs::read(path).map_err(|error| format!("cannot read {path}: {error}"));
    let mut sockets = parse(&read("/proc/net/tcp")?);
    // A kernel without IPv6 has no such file.
    sockets.extend(read("/proc/net/tcp6").map(|bytes| parse(&bytes)).unwrap_or_default());
    Ok(sockets)
}

/// The processes that hold one of the given sockets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owners {
    pub pids: BTreeSet<i32>,
    /// Processes that may not be inspected.
    pub hidden: usize,
}

/// Searches the open files of every process for sockets with these inodes. Fails when /proc cannot be read.
pub fn owners(inodes: &BTreeSet<u64>) -> Result<Owners, String> {
    let entries = fs::read_dir("/proc").map_err(|error| format!("cannot list /proc: {error}"))?;
    let mut owners = Owners::default();
    for pid in
        entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok()).take(MOST)
    {
        let files = match fs::read_dir(format!("/proc/{pid}/fd")) {
            Ok(files) => files,
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                owners.hidden += 1;
                continue;
            }
            // It has ended.
            Err(_) => continue,
        };
        let links = files.flatten().filter_map(|file| fs::read_link(file.path()).ok());
        if links.filter_map(|link| inode(link.to_str()?)).any(|inode| inodes.contains(&inode)) {
            owners.pids.insert(pid);
        }
    }
    Ok(owners)
}

/// The inodes of the sockets that these processes hold, as far as they may be inspected.
pub fn held(pids: &[i32]) -> BTreeSet<u64> {
    let files = pids.iter().filter_map(|pid| fs::read_dir(format!("/proc/{pid}/fd")).ok()).flatten();
    let links = files.flatten().filter_map(|file| fs::read_link(file.path()).ok());
    links.filter_map(|link| inode(link.to_str()?)).collect()
}

/// The inode in `socket:[12345]`.
fn inode(link: &str) -> Option<u64> {
    number(link.strip_prefix("socket:[")?.strip_suffix(']')?.as_bytes())
}

/// The processes that listen where a connection to `address` would arrive. Fails when they cannot be determined.
pub fn listeners(address: SocketAddr) -> Result<BTreeSet<i32>, String> {
    let sockets = all()?;
    let there: Vec<&Socket> = sockets.iter().filter(|socket| socket.serves(address)).collect();
    holders(&there, &format!("on {address}"))
}

/// The processes that listen at a port: where one of these addresses would lead to them those alone, else all. Fails
/// when they cannot be determined.
pub fn listeners_at(port: u16, addresses: &[SocketAddr]) -> Result<BTreeSet<i32>, String> {
    let sockets = all()?;
    let of_port = || sockets.iter().filter(|socket| socket.listens() && socket.local.port() == port);
    let serving: Vec<&Socket> =
        of_port().filter(|socket| addresses.iter().any(|address| socket.serves(*address))).collect();
    let there = if serving.is_empty() { of_port().collect() } else { serving };
    holders(&there, &format!("at port {port}"))
}

fn holders(sockets: &[&Socket], place: &str) -> Result<BTreeSet<i32>, String> {
    if sockets.is_empty() {
        return Err(format!("nothing in this network namespace listens {place}"));
    }
    let owners = owners(&sockets.iter().map(|socket| socket.inode).collect())?;
    if owners.pids.is_empty() {
        return Err(format!(
            "the process that listens {place} cannot be seen ({} processes may not be looked into): run as root or as \
             the server's user",
            owners.hidden
        ));
    }
    Ok(owners.pids)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use proptest::prelude::*;

    use super::*;

    const TCP: &[u8] = include_bytes!("fixtures/tcp");
    const TCP6: &[u8] = include_bytes!("fixtures/tcp6");

    fn at(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn captured_tables_are_read() {
        let four = parse(TCP);
        assert_eq!(four.len(), 3);
        assert_eq!((four[0].local, four[0].inode, four[0].uid), (at("127.0.0.1:40705"), 991_803, 0));
        assert_eq!((four[1].local, four[1].listens()), (at("0.0.0.0:2024"), true));
        assert_eq!((four[2].local, four[2].remote), (at("127.0.0.1:37801"), at("127.0.0.1:32864")));
        assert!(!four[2].listens() && four[2].inode == 0);
        let six = parse(TCP6);
        assert_eq!(six.len(), 3);
        assert_eq!((six[0].local, six[0].listens()), (at("[::1]:44855"), true));
        assert_eq!((six[1].local, six[1].listens()), (at("[::]:37293"), true));
        assert_eq!((six[2].local, six[2].state), (at("[::ffff:127.0.0.1]:37293"), 1));
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn wildcards_serve_what_they_take() {
        let serves = |bytes: &[u8], index: usize, text: &str| parse(bytes)[index].serves(at(text));
        assert!(serves(TCP, 1, "127.0.0.1:2024") && !serves(TCP, 1, "127.0.0.1:2025"));
        assert!(!serves(TCP, 1, "[::1]:2024"));
        assert!(serves(TCP, 0, "127.0.0.1:40705") && !serves(TCP, 0, "127.0.0.2:40705"));
        assert!(serves(TCP, 0, "[::ffff:127.0.0.1]:40705"));
        assert!(!serves(TCP, 2, "127.0.0.1:37801"));
        assert!(serves(TCP6, 1, "127.0.0.1:37293") && serves(TCP6, 1, "[::1]:37293"));
        assert!(serves(TCP6, 0, "[::1]:44855") && !serves(TCP6, 0, "127.0.0.1:44855"));
        assert!(!serves(TCP6, 2, "127.0.0.1:37293"));
        let mapped = String::from_utf8_lossy(TCP6).replace(" 01 ", " 0A ");
        assert!(serves(mapped.as_bytes(), 2, "127.0.0.1:37293"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes: Vec<u8>, at in 0usize..600, byte: u8) {
            let _any = parse(&bytes);
            let mut table = TCP6.to_vec();
            if let Some(place) = table.get_mut(at) {
                *place = byte;
            }
            prop_assert!(parse(&table).len() <= 4);
        }
    }

    #[test]
    fn own_listeners_are_found() {
        let me = i32::try_from(std::process::id()).unwrap();
        for bind in ["127.0.0.1:0", "[::1]:0", "[::]:0"] {
            // A machine may have no IPv6.
            let Ok(listener) = TcpListener::bind(bind) else {
                assert!(bind.starts_with('['));
                continue;
            };
            let address = listener.local_addr().unwrap();
            assert!(listeners(address).unwrap().contains(&me), "{address}");
            if bind == "[::]:0" {
                let four = SocketAddr::from(([127, 0, 0, 1], address.port()));
                assert!(listeners(four).unwrap().contains(&me));
            }
        }
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut gone = listener.local_addr().unwrap();
        drop(listener);
        gone.set_ip("127.9.9.9".parse().unwrap());
        let why = listeners(gone).unwrap_err();
        assert!(why.contains("listens on 127.9.9.9"), "{why}");
    }

    #[test]
    fn inodes_of_links() {
        assert_eq!(inode("socket:[77]"), Some(77));
        for other in ["socket:77", "pipe:[77]", "/dev/null", "socket:[]", "socket:[-1]"] {
            assert_eq!(inode(other), None);
        }
    }
}
