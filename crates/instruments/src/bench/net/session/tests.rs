//! Every test against a peer in this process, and what goes wrong with peers, askers and what is between them.
//!
//! Times of faults are shortened; nothing here depends on how fast anything is.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::*;
use crate::bench::net::frame::{OPENING, Refusal, Wait, Way};
use crate::bench::net::peer::{Peer, PeerOptions};
use crate::bench::net::pipe::Pipe;
use crate::bench::net::stream;

type Said = Arc<Mutex<Vec<String>>>;

/// A peer that serves as long as this process lasts, and what it says.
fn peer(options: PeerOptions) -> (SocketAddr, Said) {
    let said = Said::default();
    let heard = Arc::clone(&said);
    let say = move |line: &str| heard.lock().unwrap().push(line.to_owned());
    let peer = Peer::bind(options, Box::new(say)).unwrap();
    let address = peer.address();
    std::thread::spawn(move || peer.serve());
    (address, said)
}

fn target(address: SocketAddr) -> Target {
    Target::at(address, Vec::new(), Duration::from_secs(5))
}

fn echo(size: u64, rounds: u64) -> Test {
    Test::Echo { size, wait: Wait::Block, rounds }
}

/// A whole ping-pong over TCP.
fn ping(target: &Target, wait: Wait, size: usize, rounds: u64) -> Result<Report, String> {
    let mut session = Session::open(target, Test::Echo { size: size as u64, wait, rounds })?;
    let pipe = Pipe::new(session.control.as_fd(), wait, target.patience)?;
    let mut message = vec![7; size];
    for _ in 0..rounds {
        let turned = pipe.send_all(&message).and_then(|()| pipe.recv_all(&mut message));
        turned.map_err(|lost| session.lost(lost))?;
    }
    assert!(message.iter().all(|byte| *byte == 7));
    session.report()
}

#[test]
fn a_peer_that_is_gone_is_given_up_after_three_tries() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = gone.local_addr().unwrap();
    drop(gone);
    for _ in 0..3 {
        assert_eq!(target(address).there(), Ok(()));
        let why = ping(&target(address), Wait::Block, 1, 1).unwrap_err();
        assert!(why.contains("start it there: boxscore peer --listen"), "{why}");
    }
    let why = target(address).there().unwrap_err();
    let (_again, _) = peer(PeerOptions { listen: address, ..PeerOptions::default() });
    assert_eq!(ping(&target(address), Wait::Block, 1, 1).unwrap_err(), why, "it was tried once more");
    // One that was started in time is there again.
    let (there, _) = peer(PeerOptions::default());
    for _ in 0..3 {
        target(there).missed("away".to_owned());
        target(there).missed("away".to_owned());
        assert_eq!(ping(&target(there), Wait::Block, 1, 1).map(|report| report.messages), Ok(1));
    }
}

#[test]
fn messages_come_back_over_tcp() {
    let (address, _) = peer(PeerOptions::default());
    for wait in [Wait::Block, Wait::Spin] {
        for size in [1, 64, 1 << 20] {
            assert_eq!(ping(&target(address), wait, size, 3).unwrap().messages, 3, "{wait:?} {size}");
        }
    }
}

#[test]
fn datagrams_come_back_and_are_counted() {
    let (address, _) = peer(PeerOptions::default());
    for (wait, size) in [(Wait::Block, 8), (Wait::Spin, 16), (Wait::Block, 60_000)] {
        let test = Test::EchoDatagrams { size: size as u64, wait };
        let mut session = Session::open(&target(address), test).unwrap();
        let socket = session.datagrams().unwrap();
        let (message, mut into) = (vec![5; size], vec![0; size]);
        for _ in 0..3 {
            socket.send(&message).unwrap();
            let count = socket.recv(&mut into).unwrap();
            assert_eq!((count, &into), (size, &message));
        }
        assert_eq!(session.end(3, Some(&socket)).unwrap().messages, 3);
    }
}

#[test]
fn an_end_without_its_datagram_is_an_end_too() {
    let (address, _) = peer(PeerOptions::default());
    let mut session = Session::open(&target(address), Test::Datagrams { size: 8, span_ms: 1 }).unwrap();
    let socket = session.datagrams().unwrap();
    // One is as long as was agreed upon, the other is not.
    socket.send(&[1; 8]).unwrap();
    socket.send(&[1; 9]).unwrap();
    assert_eq!(session.end(2, None).unwrap().messages, 1);
}

#[test]
fn bytes_go_each_way_over_every_stream() {
    let (address, _) = peer(PeerOptions::default());
    for (way, sends, receives) in [(Way::Send, 2, 0), (Way::Receive, 0, 2), (Way::Both, 2, 2)] {
        let test = Test::Bulk { size: 1000, streams: 2, way, lead_ms: 0, span_ms: 20 };
        let mut session = Session::open(&target(address), test).unwrap();
        let all = |word, count: usize| -> Vec<TcpStream> {
            (0..count).map(|_| session.join(word).unwrap()).collect()
        };
        let (to_send, to_receive) = (all(b's', sends), all(b'r', receives));
        session.go().unwrap();
        let (mut sent, mut received) = (0, 0);
        std::thread::scope(|scope| {
            let until_ns = sys::clock::now_ns() + 20_000_000;
            let sending: Vec<_> = to_send
                .iter()
                .map(|one| {
                    scope.spawn(move || {
                        let pipe = Pipe::new(one.as_fd(), Wait::Block, Duration::from_secs(5)).unwrap();
                        stream::send(&pipe, &mut [0; 1000], until_ns).unwrap()
                    })
                })
                .collect();
            for one in &to_receive {
                let pipe = Pipe::new(one.as_fd(), Wait::Block, Duration::from_secs(5)).unwrap();
                received += stream::receive(&pipe, &mut [0; 1000], 0).unwrap().chunks;
            }
            sent = sending.into_iter().map(|thread| thread.join().unwrap()).sum::<u64>();
        });
        assert_eq!(session.report().unwrap().messages, sent, "{way:?}");
        assert_eq!((sent > 0, received > 0), (sends > 0, receives > 0), "{way:?}");
    }
}

#[test]
fn connections_are_answered_while_they_are_asked_for_and_not_afterwards() {
    let (address, _) = peer(PeerOptions::default());
    let mut session = Session::open(&target(address), Test::Connections).unwrap();
    let id = session.id;
    let answer = || {
        let mut one = TcpStream::connect(address).unwrap();
        one.set_read_timeout(Some(Duration::from_secs(7))).unwrap();
        one.write_all(&opening(JOINING, &id)).unwrap();
        let mut got = Vec::new();
        one.read_to_end(&mut got).unwrap();
        got
    };
    assert_eq!((answer(), answer()), (b".".to_vec(), b".".to_vec()));
    // Others are refused meanwhile, and served afterwards.
    let busy = ping(&target(address), Wait::Block, 8, 1).unwrap_err();
    assert!(busy.contains("busy with another test"), "{busy}");
    assert_eq!(session.end(2, None).unwrap().messages, 2);
    assert_eq!(answer(), b"");
    assert_eq!(ping(&target(address), Wait::Block, 8, 1).unwrap().messages, 1);
}

#[test]
fn tokens_sizes_and_nonsense_are_refused() {
    let options = PeerOptions { token: b"right".to_vec(), limit: 1000, ..PeerOptions::default() };
    let (address, said) = peer(options);
    let with = |token: &[u8]| Target::at(address, token.to_vec(), Duration::from_secs(5));
    for token in [&b""[..], b"wrong"] {
        let why = Session::open(&with(token), echo(8, 1)).unwrap_err();
        assert!(why.contains("refuses") && why.contains("--token FILE"), "{why}");
    }
    let why = Session::open(&with(b"right"), echo(1001, 1)).unwrap_err();
    assert!(why.contains("1001 B") && why.contains("1 to 1000 B"), "{why}");
    assert!(Session::open(&with(b"right"), echo(1000, 0)).is_ok());
    let said = said.lock().unwrap().join("\n");
    assert!(said.contains("refused: its token is another one"), "{said}");
}

#[test]
fn who_speaks_another_protocol_learns_nothing() {
    let (address, said) = peer(PeerOptions::default());
    let mut stranger = TcpStream::connect(address).unwrap();
    stranger.write_all(b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n").unwrap();
    let mut got = Vec::new();
    // The rest of what it said was never read, so it may also be reset.
    let _ended = stranger.read_to_end(&mut got);
    assert_eq!(got, b"");
    assert_eq!(ping(&target(address), Wait::Block, 8, 1).unwrap().messages, 1);
    // It says so when that connection is over for it, which the stranger may have left long before.
    let told = || said.lock().unwrap().iter().any(|line| line.contains("another protocol"));
    assert!((0..6000).any(|_| told() || {
        std::thread::sleep(Duration::from_millis(10));
        false
    }));
    // A frame that is too long, or none, after a right opening.
    for bytes in [&[0xff; 8][..], &[4, 0, 0, 0, 9, 9, 9, 9]] {
        let mut stranger = TcpStream::connect(address).unwrap();
        stranger.write_all(&opening(ASKING, &[0; 16])).unwrap();
        stranger.write_all(bytes).unwrap();
        let mut got = Vec::new();
        let _ended = stranger.read_to_end(&mut got);
        assert_eq!(got.len(), 48, "{bytes:?}");
    }
    assert_eq!(ping(&target(address), Wait::Block, 8, 1).unwrap().messages, 1);
}

/// Something that listens and does this with each connection.
fn listens(then: impl Fn(TcpStream) + Send + 'static) -> Target {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || listener.incoming().flatten().for_each(then));
    Target::at(address, Vec::new(), Duration::from_millis(300))
}

/// A peer that does as it should until the test begins.
fn greets(stream: &mut TcpStream) {
    stream.read_exact(&mut [0; OPENING]).unwrap();
    stream.write_all(&[ASKING, [1; 16], [2; 16]].concat()).unwrap();
    assert!(matches!(Frame::read(stream).unwrap(), Frame::Ask { .. }));
}

#[test]
fn what_is_no_peer_is_told_by_what_it_says() {
    let http = listens(|mut stream| stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap());
    let why = Session::open(&http, echo(8, 1)).unwrap_err();
    assert!(why.contains("is not a boxscore peer: it sent `HTTP/1.1 400 Bad`"), "{why}");
    let shy = listens(drop);
    let why = Session::open(&shy, echo(8, 1)).unwrap_err();
    assert!(why.contains("closed the connection") || why.contains("reset"), "{why}");
    let held = Mutex::new(Vec::new());
    let mute = listens(move |stream| held.lock().unwrap().push(stream));
    let why = Session::open(&mute, echo(8, 1)).unwrap_err();
    assert!(why.contains("has sent nothing for 0.3 s"), "{why}");
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let why = Session::open(&target(free), echo(8, 1)).unwrap_err();
    assert!(why.contains("nothing listens") && why.contains("boxscore peer --listen"), "{why}");
    let odd = listens(|mut stream| {
        greets(&mut stream);
        Frame::End { sent: 1 }.write(&mut stream).unwrap();
    });
    let why = Session::open(&odd, echo(8, 1)).unwrap_err();
    assert!(why.contains("unexpected frame"), "{why}");
}

#[test]
fn a_peer_that_dies_or_falls_silent_in_a_take_is_named_so() {
    let dies = listens(|mut stream| {
        greets(&mut stream);
        Frame::Go.write(&mut stream).unwrap();
        let mut message = [0; 8];
        stream.read_exact(&mut message).unwrap();
        stream.write_all(&message).unwrap();
        stream.read_exact(&mut message).unwrap();
    });
    let why = ping(&dies, Wait::Block, 8, 5).unwrap_err();
    assert!(why.contains("ended in the middle of the take"), "{why}");
    // Half open: the connection stands, and nobody is at its other end.
    for wait in [Wait::Block, Wait::Spin] {
        let held = Mutex::new(Vec::new());
        let silent = listens(move |mut stream| {
            greets(&mut stream);
            Frame::Go.write(&mut stream).unwrap();
            held.lock().unwrap().push(stream);
        });
        let why = ping(&silent, wait, 8, 5).unwrap_err();
        assert!(why.contains("fell silent") && why.contains("0.3 s"), "{why}");
    }
}

#[test]
fn an_asker_that_is_gone_or_silent_does_not_keep_the_peer() {
    let (address, said) =
        peer(PeerOptions { patience: Duration::from_millis(200), ..PeerOptions::default() });
    let gone = Session::open(&target(address), echo(8, 100)).unwrap();
    drop(gone);
    let mut silent = Vec::new();
    for test in [
        echo(8, 100),
        Test::Echo { size: 8, wait: Wait::Spin, rounds: 100 },
        Test::EchoDatagrams { size: 8, wait: Wait::Block },
        Test::Bulk { size: 8, streams: 1, way: Way::Receive, lead_ms: 0, span_ms: 1 },
    ] {
        let mut tries = 0;
        // The former one has its time.
        let session = loop {
            match Session::open(&target(address), test.clone()) {
                Ok(session) => break session,
                Err(why) if why.contains("busy with another test") && tries < 200 => tries += 1,
                Err(why) => panic!("{test:?}: {why}"),
            }
            std::thread::sleep(Duration::from_millis(50));
        };
        silent.push(session);
    }
    let said = said.lock().unwrap().join("\n");
    assert!(said.contains("fell silent") && said.contains("ended"), "{said}");
}

/// A relay of datagrams that loses every `nth` of those that go away.
fn lossy(far: SocketAddr, nth: u64) -> SocketAddr {
    let front = UdpSocket::bind("127.0.0.1:0").unwrap();
    let back = UdpSocket::bind("127.0.0.1:0").unwrap();
    back.connect(far).unwrap();
    let address = front.local_addr().unwrap();
    let asker = Arc::new(Mutex::new(None));
    let (to_front, to_back) = (front.try_clone().unwrap(), back.try_clone().unwrap());
    let answers = Arc::clone(&asker);
    std::thread::spawn(move || {
        let mut bytes = [0; 2048];
        while let Ok(count) = back.recv(&mut bytes) {
            if let Some(asker) = *answers.lock().unwrap() {
                to_front.send_to(&bytes[..count], asker).unwrap();
            }
        }
    });
    let seen = AtomicU64::new(0);
    std::thread::spawn(move || {
        let mut bytes = [0; 2048];
        while let Ok((count, from)) = front.recv_from(&mut bytes) {
            *asker.lock().unwrap() = Some(from);
            if !(seen.fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(nth) {
                to_back.send(&bytes[..count]).unwrap();
            }
        }
    });
    address
}

#[test]
fn lost_datagrams_are_counted() {
    let far = UdpSocket::bind("127.0.0.1:0").unwrap();
    let relay = lossy(far.local_addr().unwrap(), 4);
    std::thread::spawn(move || {
        let mut bytes = [0; 64];
        while let Ok((count, from)) = far.recv_from(&mut bytes) {
            far.send_to(&bytes[..count], from).unwrap();
        }
    });
    let near = crate::bench::net::datagram::open(relay, &[3; 16]).unwrap();
    let pipe = Pipe::new(near.as_fd(), Wait::Block, Duration::from_millis(400)).unwrap();
    let mut samples = crate::bench::net::samples::Samples::default();
    samples.clear(12);
    for number in 0..12_u64 {
        match crate::bench::net::net_rtt::exchange(
            &pipe,
            &number.to_le_bytes(),
            &mut [0; 64],
            &mut samples.late,
        ) {
            Ok(()) => samples.add(1),
            Err(crate::bench::net::pipe::Lost::Silent) => samples.lost += 1,
            Err(lost) => panic!("{lost}"),
        }
    }
    // The opening was the first of all, so every fourth from the third on is lost.
    assert_eq!((samples.answered(), samples.lost), (9, 3));
}

#[test]
fn refusals_say_what_to_do() {
    assert!(Refusal::Busy.to_string().contains("one at a time"));
    assert!(Refusal::Size { size: 9, least: 1, most: 8 }.to_string().contains("--limit"));
}
