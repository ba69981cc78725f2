//! TCP sockets of this network namespace, as the kernel tells them over netlink (`sock_diag`): what `ss -tm` reads.
//!
//! Counts are of connections or packets since the socket was made. /proc/net/tcp has no drops, and its lines for
//! closed connections cost time; here the kernel sends those states only that are asked for.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{FromRawFd, OwnedFd};

use crate::error::{Error, Result, check};

/// States by the kernel's numbers.
pub const ESTABLISHED: u8 = 1;
pub const SYN_SENT: u8 = 2;
pub const LISTEN: u8 = 10;

/// Requests and answers of `sock_diag` (include/uapi/linux/sock_diag.h, inet_diag.h, netlink.h).
const BY_FAMILY: u16 = 20;
const MEMORY: u16 = 7;
const DROPS: usize = 8;
const ERROR: u16 = 2;
const DONE: u16 = 3;
const REQUEST_DUMP: u16 = 0x301;
/// Length of the header of a message, of the request behind it, and of an answer before its attributes.
const HEADER: usize = 16;
const REQUEST: usize = 56;
const ANSWER: usize = 72;
/// The kernel sends at most so much at once.
const ROOM: usize = 32 * 1024;
/// Most sockets that are read.
const MOST: usize = 1 << 20;

/// A TCP socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpSocket {
    pub local: SocketAddr,
    pub remote: SocketAddr,
    pub state: u8,
    /// 0 where no process holds it.
    pub inode: u64,
    /// Of a listening socket: connections that wait to be accepted, and how many may.
    pub waiting: u32,
    pub room: u32,
    /// Drops at it; of a listening socket connections, most of them since its queue was full. They wrap at 2^32. `None`
    /// where the kernel does not tell.
    pub drops: Option<u32>,
}

/// The sockets of IPv4 and IPv6 in one of these states. Fails where the kernel has no `sock_diag` or forbids it.
pub fn tcp(states: &[u8]) -> Result<Vec<TcpSocket>> {
    let mask = states.iter().filter(|state| **state < 32).fold(0, |mask, state| mask | 1u32 << state);
    let mut all = dump(libc::AF_INET, mask)?;
    match dump(libc::AF_INET6, mask) {
        Ok(six) => all.extend(six),
        // A kernel without IPv6.
        Err(error) if error.errno() == Some(libc::ENOENT) => {}
        Err(error) => return Err(error),
    }
    Ok(all)
}

fn dump(family: libc::c_int, states: u32) -> Result<Vec<TcpSocket>> {
    const ASK: &str = "read the TCP sockets (sock_diag)";
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: the call takes no pointer.
    let ret = unsafe { libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_SOCK_DIAG) };
    let fd = check(ret, || ASK.to_owned())?;
    // SAFETY: the descriptor is new and nobody else's.
    let mut socket = File::from(unsafe { OwnedFd::from_raw_fd(fd) });
    socket.write_all(&request(family, states)).map_err(|error| Error::os(ASK, error))?;
    let (mut sockets, mut bytes) = (Vec::new(), vec![0; ROOM]);
    while sockets.len() < MOST {
        // The kernel writes each answer before the call returns: without one this fails, and does not wait.
        let got = socket.read(&mut bytes).map_err(|error| Error::os(ASK, error))?;
        match answers(bytes.get(..got).unwrap_or_default(), &mut sockets) {
            Answer::More => {}
            Answer::Done => break,
            Answer::Refused(errno) => {
                return Err(Error::os(ASK, std::io::Error::from_raw_os_error(errno)));
            }
        }
    }
    Ok(sockets)
}

/// The request for all sockets of a family in these states, with their memory.
fn request(family: libc::c_int, states: u32) -> [u8; HEADER + REQUEST] {
    let mut bytes = [0; HEADER + REQUEST];
    let length = (HEADER + REQUEST) as u32;
    let mut put = |at: usize, part: &[u8]| bytes[at..at + part.len()].copy_from_slice(part);
    put(0, &length.to_ne_bytes());
    put(4, &BY_FAMILY.to_ne_bytes());
    put(6, &REQUEST_DUMP.to_ne_bytes());
    put(HEADER, &[family as u8, libc::IPPROTO_TCP as u8, 1 << (MEMORY - 1)]);
    put(HEADER + 4, &states.to_ne_bytes());
    bytes
}

/// How a packet of answers ends.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    More,
    Done,
    /// With the errno.
    Refused(i32),
}

/// Reads the messages of a packet. What is malformed ends it.
fn answers(mut packet: &[u8], into: &mut Vec<TcpSocket>) -> Answer {
    while let Some(length) = u32_at(packet, 0).and_then(|length| usize::try_from(length).ok()) {
        let Some(message) = packet.get(..length).filter(|_| length >= HEADER) else { return Answer::Done };
        match u16_at(message, 4) {
            Some(DONE) => return Answer::Done,
            Some(ERROR) => {
                let errno = u32_at(message, HEADER).map_or(0, u32::cast_signed);
                return Answer::Refused(errno.saturating_neg());
            }
            _ => into.extend(message.get(HEADER..).and_then(socket)),
        }
        packet = packet.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Answer::More
}

/// One socket: the kernel's `inet_diag_msg` and its attributes.
fn socket(answer: &[u8]) -> Option<TcpSocket> {
    let family = libc::c_int::from(*answer.first()?);
    let port = |at: usize| Some(u16::from_be_bytes(answer.get(at..at + 2)?.try_into().ok()?));
    let address = |at: usize| -> Option<IpAddr> {
        let bytes: [u8; 16] = answer.get(at..at + 16)?.try_into().ok()?;
        let [a, b, c, d, ..] = bytes;
        match family {
            libc::AF_INET => Some(Ipv4Addr::new(a, b, c, d).into()),
            libc::AF_INET6 => Some(Ipv6Addr::from(bytes).into()),
            _ => None,
        }
    };
    Some(TcpSocket {
        local: SocketAddr::new(address(8)?, port(4)?),
        remote: SocketAddr::new(address(24)?, port(6)?),
        state: *answer.get(1)?,
        waiting: u32_at(answer, 56)?,
        room: u32_at(answer, 60)?,
        inode: u32_at(answer, 68)?.into(),
        drops: drops(answer.get(ANSWER..)?),
    })
}

/// The drops among the attributes of a socket.
fn drops(mut attributes: &[u8]) -> Option<u32> {
    while let Some(length) = u16_at(attributes, 0).map(usize::from) {
        let attribute = attributes.get(..length).filter(|_| length >= 4)?;
        if u16_at(attribute, 2) == Some(MEMORY) {
            return u32_at(attribute, 4 + 4 * DROPS);
        }
        attributes = attributes.get(length.next_multiple_of(4)..)?;
    }
    None
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;

    fn listening(at: SocketAddr) -> Option<TcpSocket> {
        tcp(&[LISTEN]).unwrap().into_iter().find(|socket| socket.local == at)
    }

    #[test]
    fn sockets_of_this_process_are_found() {
        let (listener, six) = (TcpListener::bind("127.0.0.1:0").unwrap(), TcpListener::bind("[::1]:0"));
        let at = listener.local_addr().unwrap();
        let before = listening(at).unwrap();
        assert!(before.room >= 128 && before.inode > 0 && before.state == LISTEN, "{before:?}");
        assert_eq!((before.waiting, before.drops), (0, Some(0)));
        let waiting = TcpStream::connect(at).unwrap();
        let since = Instant::now();
        while listening(at).unwrap().waiting == 0 && since.elapsed() < Duration::from_secs(10) {}
        assert_eq!(listening(at).unwrap().waiting, 1);
        let connected = tcp(&[ESTABLISHED]).unwrap();
        let own = waiting.local_addr().unwrap();
        assert!(connected.iter().any(|one| one.local == own && one.remote == at), "{own}");
        assert!(connected.iter().all(|one| one.state == ESTABLISHED));
        // A machine may have no IPv6.
        if let Ok(six) = six {
            assert_eq!(listening(six.local_addr().unwrap()).unwrap().drops, Some(0));
        }
    }

    /// A message of one listening socket, with drops.
    fn message(drops: u32) -> Vec<u8> {
        let mut answer = vec![0; ANSWER];
        (answer[0], answer[1]) = (libc::AF_INET as u8, LISTEN);
        answer[4..6].copy_from_slice(&8197u16.to_be_bytes());
        answer[8..12].copy_from_slice(&[127, 0, 0, 1]);
        answer[60..64].copy_from_slice(&5u32.to_ne_bytes());
        answer[68..72].copy_from_slice(&77u32.to_ne_bytes());
        // Another attribute of five bytes first, which is padded.
        answer.extend([5, 0, 8, 0, 0, 0, 0, 0]);
        let mut memory = [0u32; DROPS + 1];
        memory[DROPS] = drops;
        answer.extend(40u16.to_ne_bytes().into_iter().chain(MEMORY.to_ne_bytes()));
        answer.extend(memory.iter().flat_map(|word| word.to_ne_bytes()));
        let length = u32::try_from(HEADER + answer.len()).unwrap();
        let mut whole = length.to_ne_bytes().to_vec();
        whole.extend(BY_FAMILY.to_ne_bytes());
        whole.resize(HEADER, 0);
        whole.extend(answer);
        whole
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn answers_are_read() {
        let mut packet = [message(20_981), message(3)].concat();
        let mut sockets = Vec::new();
        assert_eq!(answers(&packet, &mut sockets), Answer::More);
        let found: Vec<_> = sockets.iter().map(|one| (one.local.to_string(), one.room, one.drops)).collect();
        assert_eq!(
            found,
            [("127.0.0.1:8197".to_owned(), 5, Some(20_981)), ("127.0.0.1:8197".to_owned(), 5, Some(3))]
        );
        packet.extend([20, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(answers(&packet, &mut sockets), Answer::Done);
        let refused = [20, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff];
        assert_eq!(answers(&refused, &mut sockets), Answer::Refused(libc::ENOENT));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(mut bytes: Vec<u8>, at in 0usize..200, byte: u8) {
            answers(&bytes, &mut Vec::new());
            bytes = [message(1), message(2)].concat();
            if let Some(place) = bytes.get_mut(at) {
                *place = byte;
            }
            let mut sockets = Vec::new();
            answers(&bytes, &mut sockets);
            prop_assert!(sockets.len() <= 6);
        }
    }
}
