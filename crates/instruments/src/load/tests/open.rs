//! Open loops: the schedule holds whatever the server does, and response time runs from the intended start.

use super::*;
use crate::load::Target;
use crate::load::schedule::{Schedule, read_replay};

#[test]
fn every_arrival_is_sent_or_told() {
    let server = Server::fixed(OK, Then::Keep);
    let schedules = [
        Schedule::Constant { rate: 2000.0 },
        Schedule::Poisson { rate: 2000.0, seed: 7 },
        Schedule::Ramp { from: 0.0, to: 4000.0, over_ns: 50_000_000 },
    ];
    for schedule in schedules {
        let mut load = requests(&server, 101, 4);
        load.threads = 3;
        load.own_cores = true;
        load.schedule = schedule.clone();
        let outcome = go(&load);
        assert_eq!((outcome.record.good, outcome.requests()), (101, 101), "{schedule:?}");
        assert_eq!(outcome.record.late.total(), 101);
        // Too few for the p99 of how late they were.
        assert_eq!(outcome.late_p99_s(), None);
    }
}

#[test]
fn waiting_for_a_connection_is_response_time_and_not_service_time() {
    let server = Server::new(|_, stream| {
        std::thread::sleep(Duration::from_millis(20));
        send(stream, OK.as_bytes(), Then::Keep)
    });
    let mut load = requests(&server, 20, 1);
    load.schedule = Schedule::Constant { rate: 1000.0 };
    let outcome = go(&load);
    assert_eq!(outcome.record.good, 20);
    // Request k is due at k ms and over no earlier than (k + 1) 20 ms.
    assert!(outcome.record.service().sum_ns() >= 20 * 20_000_000);
    let least_ms: u128 = (0..20u128).map(|k| (k + 1) * 20 - k).sum();
    assert!(outcome.record.response().sum_ns() >= least_ms * 1_000_000);
    let (response, service) = (outcome.record.response().sum_ns(), outcome.record.service().sum_ns());
    let waits = outcome.record.waited.sum_ns() + outcome.record.late.sum_ns();
    assert_eq!(response - service, waits);
    assert!(outcome.record.waited.total() >= 1);
}

#[test]
fn what_finds_no_connection_in_time_is_unsent_at_its_age() {
    let server = Server::fixed("", Then::Hang);
    let mut load = requests(&server, 1, 1);
    load.requests = None;
    load.duration = Some(Duration::from_secs(1));
    load.timeout = Duration::from_millis(1200);
    load.drain = Duration::from_millis(0);
    load.schedule = Schedule::Constant { rate: 100.0 };
    let outcome = go(&load);
    let of = |kind| outcome.record.failures.count(kind);
    assert_eq!((outcome.record.good, of(Failure::Timeout) + of(Failure::Unsent)), (0, 100));
    // The first hangs until after the window, so that it is the only one sent.
    assert_eq!(of(Failure::Timeout), 1);
    // Request k is due at 10 k ms and told of at 1200 ms at the earliest.
    let least_ms: u128 = (1..100u128).map(|k| 1200 - 10 * k).sum();
    assert!(outcome.record.failed.sum_ns() >= least_ms * 1_000_000);
    assert_eq!(
        (outcome.throughput(), outcome.response_time().quantile_s(0.01)),
        (Some(0.0), Some(f64::INFINITY))
    );
}

#[test]
fn the_drain_sends_what_was_due() {
    let server = Server::new(|_, stream| {
        std::thread::sleep(Duration::from_millis(5));
        send(stream, OK.as_bytes(), Then::Keep)
    });
    let mut load = requests(&server, 1, 1);
    load.requests = None;
    load.duration = Some(Duration::from_millis(50));
    load.schedule = Schedule::Constant { rate: 1000.0 };
    let outcome = go(&load);
    assert_eq!((outcome.record.good, outcome.requests()), (50, 50));
    // At most one in 5 ms can be over within the window.
    assert!(outcome.record.good_in_window <= 10, "{}", outcome.record.good_in_window);
}

#[test]
fn a_replay_asks_for_its_paths() {
    let server = Server::fixed(OK, Then::Keep);
    let replay = read_replay("10.00 /a\n10.01 /b\n10.02 /a\n10.02 /c\n").unwrap();
    let mut load = requests(&server, 1, 2);
    load.requests = None;
    let target = |path: &String| Target::from(server.url(path).parse::<model::url::Url>().unwrap());
    load.targets = replay.paths.iter().map(target).collect();
    load.schedule = Schedule::Replay(replay.arrivals);
    assert_eq!(go(&load).record.good, 4);
    let paths = server.seen.paths.lock().unwrap();
    assert_eq!((paths.get("/a"), paths.get("/b"), paths.get("/c")), (Some(&2), Some(&1), Some(&1)));
}

#[test]
fn a_server_that_closes_idle_connections_costs_no_request() {
    let server = Server::new(|_, stream| {
        let closes = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
        send(stream, closes, Then::Close)
    });
    let mut load = requests(&server, 20, 2);
    load.schedule = Schedule::Constant { rate: 500.0 };
    let outcome = go(&load);
    assert_eq!((outcome.record.good, outcome.record.failures.total()), (20, 0));
}
