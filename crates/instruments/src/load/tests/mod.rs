//! The engine against a real server on loopback. Nothing here depends on how fast the machine is: counts, kinds, and
//! times that can only be longer.

mod closed;
mod ended;
mod faults;
mod generators;
mod open;
mod planted;
pub(crate) mod server;
mod tls;
mod unread;

use std::time::Duration;

pub(crate) use generators::ran;

use super::failure::Failure;
use super::{Control, Load, Outcome, run};
use server::{Server, Then, send};

pub(crate) const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc";

/// A closed loop of so many requests on so many connections; patient, since the machine may be busy.
fn requests(server: &Server, requests: u64, connections: usize) -> Load {
    let mut load = Load::new(server.url("/").parse().unwrap());
    load.duration = None;
    load.requests = Some(requests);
    load.connections = connections;
    load.timeout = Duration::from_secs(60);
    load.drain = Duration::from_secs(60);
    load
}

fn go(load: &Load) -> Outcome {
    let outcome = run(load, &Control::default()).unwrap();
    adds_up(&outcome);
    outcome
}

/// Checks what holds for every outcome.
fn adds_up(outcome: &Outcome) {
    let record = &outcome.record;
    let unsent = record.failures.count(Failure::Unsent);
    assert_eq!(outcome.requests(), record.good + record.failures.total());
    let (response, service) = (record.response_times(), record.service_times());
    assert_eq!((response.count(), response.over()), (outcome.requests(), record.failures.total()));
    assert_eq!((service.count(), service.over()), (outcome.requests() - unsent, response.over() - unsent));
    assert_eq!(record.check(), Ok(()));
    assert_eq!(record.failed.total(), record.failures.total());
    assert_eq!(record.in_flight.now(), 0);
    assert!(record.unread.total() <= record.good);
    assert!(record.good_in_window <= record.good);
    // A request is in flight until it is read, so that the time in flight is the time served and that unread: an
    // identity, but for bad answers, whose time unread nobody records.
    let (unread_ns, over_ns) = (record.unread.sum_ns(), record.in_flight.area_ns() - record.served_ns());
    assert!(over_ns >= unread_ns, "{over_ns} {unread_ns}");
    assert!(over_ns == unread_ns || record.failures.total() > 0, "{over_ns} {unread_ns}");
}

/// How often requests failed, and that they failed in no other way.
fn failures(outcome: &Outcome, kind: Failure) -> u64 {
    let others: Vec<_> = outcome.record.failures.seen().filter(|&(seen, _)| seen != kind).collect();
    assert_eq!(others, []);
    outcome.record.failures.count(kind)
}
