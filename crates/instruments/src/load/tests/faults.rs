//! Servers that do wrong: each fault is counted as its kind, and nothing else.

use std::net::TcpListener;

use super::*;
use crate::load::Error;

fn kind(answer: &'static str, then: Then) -> Failure {
    let server = Server::fixed(answer, then);
    let outcome = go(&requests(&server, 6, 2));
    let seen: Vec<_> = outcome.record.failures.seen().collect();
    assert_eq!((seen.len(), outcome.record.good, outcome.requests()), (1, 0, 6), "{answer:?}: {seen:?}");
    seen[0].0
}

#[test]
fn each_fault_has_its_kind() {
    let short = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc";
    assert_eq!(kind(short, Then::Close), Failure::ShortBody);
    assert_eq!(
        kind("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", Then::Close),
        Failure::ShortBody
    );
    assert_eq!(kind("", Then::Close), Failure::Closed);
    assert_eq!(kind("HTTP/1.1 200 OK\r\nContent-", Then::Close), Failure::Closed);
    assert_eq!(kind("", Then::Reset), Failure::Reset);
    assert_eq!(kind("SSH-2.0-OpenSSH\r\n", Then::Hang), Failure::BadResponse);
    assert_eq!(
        kind("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", Then::Hang),
        Failure::BadResponse
    );
    assert_eq!(kind("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nabc", Then::Hang), Failure::BadResponse);
    assert_eq!(kind("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", Then::Keep), Failure::Status4xx);
    assert_eq!(kind("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", Then::Keep), Failure::Status5xx);
}

#[test]
fn endless_heads_end_at_their_bound() {
    let server = Server::new(|_, stream| {
        let mut then = send(stream, b"HTTP/1.1 200 OK\r\n", Then::Keep);
        for _ in 0..100_000 {
            if then == Then::Close {
                break;
            }
            then = send(stream, b"X-More: and more, and more, and more\r\n", Then::Keep);
        }
        Then::Close
    });
    let outcome = go(&requests(&server, 4, 2));
    assert_eq!(failures(&outcome, Failure::BadResponse), 4);
}

#[test]
fn silence_is_a_timeout_at_its_age() {
    for answer in ["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"] {
        let server = Server::fixed(answer, Then::Hang);
        let mut load = requests(&server, 4, 2);
        load.timeout = Duration::from_millis(150);
        let outcome = go(&load);
        assert_eq!(failures(&outcome, Failure::Timeout), 4);
        assert!(outcome.record.bad.sum_ns() >= 4 * 150_000_000);
    }
}

#[test]
fn failures_and_good_answers_share_a_record() {
    let server = Server::new(|request, stream| match request.nth {
        2 => Then::Reset,
        _ => send(stream, OK.as_bytes(), Then::Keep),
    });
    let outcome = go(&requests(&server, 30, 1));
    // A reset may overtake an answer that was not read yet, but this client has read each before it sends the next.
    assert_eq!((outcome.record.good, failures(&outcome, Failure::Reset)), (20, 10));
}

#[test]
fn a_server_that_dies_is_counted_and_does_not_hang_the_load() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let dies = std::thread::spawn(move || {
        // The look whether it is there, and two connections; then nothing listens any more.
        let streams: Vec<_> = (0..3).map(|_| listener.accept().unwrap()).collect();
        drop(listener);
        drop(streams);
    });
    let mut load = Load::new(format!("http://{address}/").parse().unwrap());
    load.connections = 2;
    load.duration = Some(Duration::from_millis(300));
    let outcome = go(&load);
    dies.join().unwrap();
    assert_eq!(outcome.record.good, 0);
    let of = |kind| outcome.record.failures.count(kind);
    assert!(of(Failure::Connect) > 0);
    assert_eq!(of(Failure::Connect) + of(Failure::Reset) + of(Failure::Closed), outcome.requests());
    // Two connections that each rest for 10 ms after a refusal; resets come once each.
    assert!(outcome.requests() <= 2 * 31 + 4, "{}", outcome.requests());
}

#[test]
fn a_server_that_dies_after_a_while_keeps_what_it_answered() {
    const EACH: usize = 20;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let dies = std::thread::spawn(move || {
        let probe = listener.accept().unwrap();
        let two: Vec<_> = (0..2).map(|_| listener.accept().unwrap().0).collect();
        drop((probe, listener));
        let serve = |mut stream: std::net::TcpStream| {
            let mut held = Vec::new();
            for nth in 0..EACH as u64 {
                server::read(&mut stream, &mut held, nth).unwrap();
                assert_eq!(send(&mut stream, OK.as_bytes(), Then::Keep), Then::Keep);
            }
        };
        let served: Vec<_> =
            two.into_iter().map(|stream| std::thread::spawn(move || serve(stream))).collect();
        served.into_iter().for_each(|thread| thread.join().unwrap());
    });
    let mut load = Load::new(format!("http://{address}/").parse().unwrap());
    load.connections = 2;
    load.duration = None;
    load.requests = Some(60);
    let outcome = go(&load);
    dies.join().unwrap();
    assert_eq!(outcome.record.good, 2 * EACH as u64);
    let of = |kind| outcome.record.failures.count(kind);
    assert!(of(Failure::Connect) > 0);
    assert_eq!(of(Failure::Connect) + of(Failure::Reset) + of(Failure::Closed), 20);
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let load = Load::new(format!("http://{address}/").parse().unwrap());
    let error = run(&load, &Control::default()).unwrap_err();
    assert!(matches!(&error, Error::Unreachable(why) if why.contains(&address.to_string())), "{error}");
    let load = Load::new("http://no-such-host.invalid/".parse().unwrap());
    assert!(matches!(run(&load, &Control::default()), Err(Error::Unreachable(_))));
}

#[test]
fn bytes_nobody_asked_for_end_an_idle_connection() {
    // Open loop at a slow rate, so that the connection is idle when they come.
    let server = Server::new(|_, stream| {
        let then = send(stream, OK.as_bytes(), Then::Keep);
        std::thread::sleep(Duration::from_millis(20));
        send(stream, b"junk", then)
    });
    let mut load = requests(&server, 3, 1);
    load.schedule = crate::load::schedule::Schedule::Constant { rate: 5.0 };
    let outcome = go(&load);
    // On a busy machine the junk may come when the next request is already out, or with the answer.
    let bad = failures(&outcome, Failure::BadResponse);
    assert_eq!(outcome.record.good + bad, 3);
    assert!(outcome.record.unasked + bad >= 1);
}
