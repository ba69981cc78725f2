//! Closed loops: counts, connections, framings, bodies, ends.

use std::io::Write;
use std::sync::atomic::Ordering;

use super::*;
use crate::load::http::request::Expected;
use crate::load::{Error, Target};

#[test]
fn every_request_is_sent_answered_and_counted_once() {
    let server = Server::fixed(OK, Then::Keep);
    let mut load = requests(&server, 301, 5);
    load.threads = 2;
    let control = Control::default();
    let outcome = run(&load, &control).unwrap();
    adds_up(&outcome);
    assert_eq!((outcome.requests(), outcome.record.good, server.requests()), (301, 301, 301));
    assert_eq!(outcome.record.body_bytes, 3 * 301);
    assert_eq!(outcome.record.received_bytes, OK.len() as u64 * 301);
    assert!(outcome.record.in_flight.most() <= 5);
    // One connection more looks whether the server is there.
    assert_eq!(server.accepted(), 6);
    assert_eq!(outcome.record.connect.total(), 5);
    let connections: Vec<_> = outcome.generator.threads.iter().map(|one| one.connections).collect();
    assert_eq!(connections, [3, 2]);
    assert_eq!(outcome.late_p99_s(), None);
    assert!(outcome.throughput().unwrap() > 0.0 && outcome.cpu_per_request_s().unwrap() > 0.0);
    assert_eq!(control.good.load(Ordering::SeqCst), 301);
    assert!(control.started.load(Ordering::SeqCst));
}

#[test]
fn each_request_can_have_its_own_connection() {
    let closes = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc";
    let server = Server::new(move |request, stream| {
        assert!(request.head.contains("\r\nConnection: close"));
        send(stream, closes.as_bytes(), Then::Close)
    });
    let mut load = requests(&server, 50, 4);
    load.keepalive = false;
    let outcome = go(&load);
    assert_eq!((outcome.record.good, server.accepted(), outcome.record.connect.total()), (50, 51, 50));
}

#[test]
fn a_server_that_does_not_close_is_left_by_the_client() {
    let server = Server::fixed(OK, Then::Keep);
    let mut load = requests(&server, 3, 1);
    load.keepalive = false;
    assert_eq!((go(&load).record.good, server.accepted()), (3, 4));
}

#[test]
fn an_announced_close_costs_a_connection_and_no_failure() {
    let server = Server::new(|request, stream| match request.nth {
        0 => send(stream, OK.as_bytes(), Then::Keep),
        _ => send(stream, b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", Then::Close),
    });
    let outcome = go(&requests(&server, 20, 2));
    assert_eq!((outcome.record.good, outcome.record.failures.total()), (20, 0));
    assert!((10..=12).contains(&outcome.record.connect.total()), "{}", outcome.record.connect.total());
}

#[test]
fn answers_come_in_any_framing_and_in_pieces() {
    let server = Server::new(|request, stream| {
        let (answer, then): (&[u8], _) = match request.path.as_str() {
            "/chunked" => {
                (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", Then::Keep)
            }
            "/until-close" => (b"HTTP/1.0 200 OK\r\n\r\nabc", Then::Close),
            "/interim" => (b"HTTP/1.1 103 Hint\r\n\r\nHTTP/1.1 204 None\r\n\r\n", Then::Keep),
            "/moved" => (b"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n", Then::Keep),
            _ => (OK.as_bytes(), Then::Keep),
        };
        let whole = answer.iter().all(|byte| stream.write_all(&[*byte]).is_ok());
        if whole { then } else { Then::Close }
    });
    for (path, bytes) in [("/", 3), ("/chunked", 3), ("/until-close", 3), ("/interim", 0), ("/moved", 0)] {
        let mut load = requests(&server, 8, 2);
        load.targets = vec![Target::from(server.url(path).parse::<model::url::Url>().unwrap())];
        let outcome = go(&load);
        assert_eq!((outcome.record.good, outcome.record.body_bytes), (8, 8 * bytes), "{path}");
    }
}

#[test]
fn head_and_post_do_what_they_say() {
    let server = Server::new(|request, stream| {
        let body = if request.method == "HEAD" { "" } else { "abc" };
        let answer =
            format!("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nX-Got: {}\r\n\r\n{body}", request.body.len());
        send(stream, answer.as_bytes(), Then::Keep)
    });
    let mut load = requests(&server, 10, 2);
    load.method = "HEAD".to_owned();
    load.targets[0].expected = Expected { length: Some(3), crc32c: Some(1) };
    assert_eq!((go(&load).record.good, go(&load).record.body_bytes), (10, 0));
    // More than a socket takes at once.
    load.targets[0].expected = Expected { length: Some(3), crc32c: None };
    load.method = "POST".to_owned();
    load.body = vec![b'x'; 8 << 20];
    load.requests = Some(4);
    let outcome = go(&load);
    assert_eq!(outcome.record.good, 4);
    assert!(outcome.record.sent_bytes > 4 * (8 << 20));
}

#[test]
fn bodies_are_checked_on_request() {
    let server = Server::fixed("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n123456789", Then::Keep);
    for (expected, good) in [
        (Expected { length: Some(9), crc32c: Some(0xe306_9283) }, 4),
        (Expected { length: Some(8), crc32c: None }, 0),
        (Expected { length: None, crc32c: Some(1) }, 0),
    ] {
        let mut load = requests(&server, 4, 1);
        load.targets[0].expected = expected;
        let outcome = go(&load);
        assert_eq!(outcome.record.good, good);
        assert_eq!(failures(&outcome, Failure::WrongBody), 4 - good);
    }
}

#[test]
fn targets_share_the_requests_by_weight() {
    let server = Server::fixed(OK, Then::Keep);
    let mut load = requests(&server, 400, 2);
    let target = |path, weight| Target {
        weight,
        ..Target::from(server.url(path).parse::<model::url::Url>().unwrap())
    };
    load.targets = vec![target("/a", 1.0), target("/b", 3.0), target("/c", 0.0)];
    assert_eq!(go(&load).record.good, 400);
    let paths = server.seen.paths.lock().unwrap();
    assert_eq!(paths.get("/a").unwrap() + paths.get("/b").unwrap(), 400);
    assert!((60..140).contains(paths.get("/a").unwrap()), "{paths:?}");
}

#[test]
fn a_duration_and_a_stop_end_a_load() {
    let server = Server::fixed(OK, Then::Keep);
    let mut load = requests(&server, 1, 2);
    load.requests = None;
    load.duration = Some(Duration::from_secs(1));
    let outcome = go(&load);
    assert!((outcome.elapsed_s - 1.0).abs() < 1e-9 && outcome.record.good > 0);
    load.duration = Some(Duration::from_secs(600));
    let control = Control::default();
    std::thread::scope(|scope| {
        let running = scope.spawn(|| run(&load, &control).unwrap());
        while control.good.load(Ordering::SeqCst) == 0 {
            std::thread::yield_now();
        }
        control.ask();
        let so_far = loop {
            match control.answer(load.threads) {
                Some(times) => break times.count(),
                None => std::thread::yield_now(),
            }
        };
        control.stop.store(true, Ordering::SeqCst);
        let outcome = running.join().unwrap();
        adds_up(&outcome);
        assert!(so_far > 0 && so_far <= outcome.requests());
        assert!(outcome.elapsed_s < 500.0 && outcome.record.failures.total() == 0);
    });
}

#[test]
fn other_addresses_serve_too() {
    let Ok(server) = Server::at("[::1]:0", |_, stream| send(stream, OK.as_bytes(), Then::Keep)) else {
        // No IPv6 on this machine: the URL must then fail as unreachable.
        let load = Load::new("http://[::1]:9/".parse().unwrap());
        return assert!(matches!(run(&load, &Control::default()), Err(Error::Unreachable(_))));
    };
    assert_eq!(go(&requests(&server, 5, 1)).record.good, 5);
}

#[test]
fn descriptions_that_cannot_be_are_refused() {
    let server = Server::fixed(OK, Then::Keep);
    let base = requests(&server, 1, 1);
    let refused = |change: &dyn Fn(&mut Load), what: &str| {
        let mut load = base.clone();
        change(&mut load);
        let error = run(&load, &Control::default()).unwrap_err();
        assert!(matches!(&error, Error::Load(why) if why.contains(what)), "{error}");
    };
    refused(&|load| load.targets.clear(), "no URL");
    refused(
        &|load| load.targets.push(Target::from("http://other/".parse::<model::url::Url>().unwrap())),
        "different servers",
    );
    refused(&|load| load.targets[0].weight = -1.0, "weights");
    refused(&|load| load.connections = 0, "at least one connection");
    refused(&|load| load.threads = 2, "at least one connection");
    refused(&|load| load.requests = None, "never end");
    refused(&|load| load.requests = Some(0), "of 0");
    refused(&|load| load.method = "G T".to_owned(), "method");
    assert_eq!(server.accepted(), 0);
    let mut many = base.clone();
    many.connections = 400_000_000;
    assert!(matches!(run(&many, &Control::default()), Err(Error::Limit(_))));
}
