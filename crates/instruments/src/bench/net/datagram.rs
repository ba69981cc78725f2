//! How the two sockets of a datagram test find each other: the asker sends the test's id until the peer sends it back.
//!
//! From then on each socket is connected to the other and receives from nobody else. The peer accepts only the host
//! that asked for the test.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

use super::frame::Id;

/// Opening datagrams that may be lost.
const TRIES: u32 = 15;
const PAUSE: Duration = Duration::from_millis(200);

/// The peer's side: waits for the asker's opening and connects the socket to it. Fails when no opening comes.
pub fn accept(socket: &UdpSocket, from: IpAddr, id: &Id) -> Result<(), String> {
    let io = |error: std::io::Error| error.to_string();
    socket.set_read_timeout(Some(PAUSE)).map_err(io)?;
    let mut bytes = [0; 64];
    // Strangers' datagrams use up no more than the time.
    let until_ns = sys::clock::now_ns() + u64::from(TRIES) * 200_000_000;
    while sys::clock::now_ns() < until_ns {
        match socket.recv_from(&mut bytes) {
            Ok((count, asker)) if asker.ip() == from && bytes.get(..count) == Some(id) => {
                socket.connect(asker).map_err(io)?;
                return socket.send(id).map(drop).map_err(io);
            }
            Ok(_) => {}
            Err(error) if is_silence(&error) => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    Err("no datagram came from the asker".to_owned())
}

/// The asker's side: a socket connected to the peer. Fails when the peer does not answer.
pub fn open(peer: SocketAddr, id: &Id) -> Result<UdpSocket, String> {
    let io = |error: std::io::Error| format!("datagrams to {peer}: {error}");
    let any: SocketAddr = if peer.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0_u16; 8], 0).into() };
    let socket = UdpSocket::bind(any).map_err(io)?;
    socket.connect(peer).map_err(io)?;
    socket.set_read_timeout(Some(PAUSE)).map_err(io)?;
    let mut bytes = [0; 64];
    for _ in 0..TRIES {
        socket.send(id).map_err(io)?;
        match socket.recv(&mut bytes) {
            Ok(count) if bytes.get(..count) == Some(id) => return Ok(socket),
            Ok(_) => {}
            Err(error) if is_silence(&error) => {}
            Err(error) => return Err(io(error)),
        }
    }
    Err(format!(
        "no datagram comes back from {peer}, though TCP works: a filter between the hosts may drop UDP"
    ))
}

fn is_silence(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_are_not_heard() {
        let far = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = far.local_addr().unwrap();
        let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
        stranger.send_to(&[9; 16], address).unwrap();
        stranger.send_to(&[7; 17], address).unwrap();
        let accepting =
            std::thread::spawn(move || accept(&far, [127, 0, 0, 1].into(), &[7; 16]).map(|()| far));
        let near = open(address, &[7; 16]).unwrap();
        let far = accepting.join().unwrap().unwrap();
        stranger.send_to(b"me too", address).unwrap();
        near.send(b"me").unwrap();
        let mut bytes = [0; 64];
        let count = far.recv(&mut bytes).unwrap();
        assert_eq!(&bytes[..count], b"me");
        let closed = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        assert!(open(closed, &[7; 16]).unwrap_err().contains("datagrams to 127.0.0.1"));
    }
}
