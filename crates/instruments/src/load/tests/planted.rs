//! The engine against the server that does wrong on purpose: what is counted is what the server's own account says.

use std::net::SocketAddr;

use super::*;
use crate::load::schedule::Schedule;
use crate::workload::server::builtin::faulty::{Account, Fault, Faults, Server, ask};

fn planted(faults: Faults) -> SocketAddr {
    let server = Server::bind(faults).unwrap();
    let address = server.address();
    std::thread::spawn(move || server.serve());
    address
}

fn load(address: SocketAddr, requests: u64, connections: usize) -> Load {
    let mut load = Load::new(format!("http://{address}/").parse().unwrap());
    load.duration = None;
    load.requests = Some(requests);
    load.connections = connections;
    load.timeout = Duration::from_secs(60);
    load.drain = Duration::from_secs(60);
    load
}

/// Both sides count the same, kind by kind.
fn agree(outcome: &Outcome, account: &Account) {
    assert_eq!((outcome.requests(), outcome.record.good), (account.requests, account.good));
    for kind in Failure::ALL {
        let (seen, done) = (outcome.record.failures.count(kind), account.failed(kind.name()));
        assert_eq!(seen, done, "{}: {:?}", kind.name(), outcome.record.failures);
    }
}

#[test]
fn each_planted_fault_is_counted_exactly() {
    for fault in exact() {
        let address = planted(Faults { every: 3, kinds: vec![fault], ..Faults::default() });
        let outcome = go(&load(address, 30, 2));
        let account = ask(address).unwrap();
        assert_eq!(account.count(fault), 10, "{fault:?}");
        agree(&outcome, &account);
    }
}

#[test]
fn silence_is_a_timeout() {
    let address = planted(Faults { every: 3, kinds: vec![Fault::Silent], ..Faults::default() });
    let mut load = load(address, 6, 2);
    load.timeout = Duration::from_millis(500);
    let outcome = go(&load);
    let account = ask(address).unwrap();
    // A busy machine may be late for the others too; a request that was given up before it was read is in no account.
    assert!(failures(&outcome, Failure::Timeout) >= account.count(Fault::Silent));
    assert_eq!(outcome.requests(), 6);
}

#[test]
fn a_connection_that_ends_after_its_answer_costs_at_most_the_request_that_was_sent_into_it() {
    let address = planted(Faults { every: 3, kinds: vec![Fault::Leaves], ..Faults::default() });
    let outcome = go(&load(address, 30, 2));
    let account = ask(address).unwrap();
    // The server reads nothing from a connection that it ended, so the account lacks what was sent into one.
    assert_eq!((outcome.record.good, account.count(Fault::Leaves) > 0), (account.good, true));
    let of = |kind| outcome.record.failures.count(kind);
    let lost = outcome.requests() - account.requests;
    assert_eq!((of(Failure::Reset) + of(Failure::Closed), outcome.record.failures.total()), (lost, lost));
    assert!(lost <= account.count(Fault::Leaves));
}

/// The faults that both sides must count alike.
fn exact() -> Vec<Fault> {
    let apart = [Fault::Silent, Fault::Leaves];
    Fault::ALL.into_iter().filter(|fault| !apart.contains(fault)).collect()
}

#[test]
fn all_faults_at_once_and_without_keepalive_are_told_apart() {
    let kinds = exact();
    for keepalive in [true, false] {
        let address = planted(Faults { every: 2, kinds: kinds.clone(), body: 300, ..Faults::default() });
        let mut load = load(address, 220, 8);
        load.keepalive = keepalive;
        let outcome = go(&load);
        let account = ask(address).unwrap();
        agree(&outcome, &account);
        for fault in &kinds {
            assert_eq!(account.count(*fault), 10, "{fault:?}");
        }
    }
}

#[test]
fn no_time_is_shorter_than_the_server_held_it() {
    let address = planted(Faults { delay_us: 5_000, spread_us: 20_000, ..Faults::default() });
    let mut load = load(address, 200, 4);
    load.schedule = Schedule::Constant { rate: 2000.0 };
    let outcome = go(&load);
    let account = ask(address).unwrap();
    agree(&outcome, &account);
    let (service, response) = (outcome.service_time(), outcome.response_time());
    for quantile in [0.5, 0.9, 0.99, 0.999] {
        let held = account.held.quantile_ns(quantile).unwrap();
        let (sent, due) = (service.quantile_ns(quantile).unwrap(), response.quantile_ns(quantile).unwrap());
        // Of the same requests; both histograms keep three digits. The server reads the clock before its answer leaves.
        assert!(sent as f64 >= held as f64 * 0.998, "{quantile}: {sent} ns of {held}");
        assert!(due as f64 >= sent as f64 * 0.998, "{quantile}");
    }
}

#[test]
fn a_slow_server_fills_its_connections_and_requests_wait_for_them() {
    // One after another and 2 ms each, against 2000 a second: what is due waits, and that is no service time.
    let address = planted(Faults { delay_us: 2_000, serial: true, ..Faults::default() });
    let mut load = load(address, 200, 2);
    load.schedule = Schedule::Constant { rate: 2000.0 };
    let outcome = go(&load);
    agree(&outcome, &ask(address).unwrap());
    assert!(outcome.record.waited.total() > 0);
    let (service, response) = (outcome.record.service(), outcome.record.response());
    // 200 requests cannot be over before 400 ms, and all were due within 100: the last waited for 300.
    assert!(response.sum_ns() > service.sum_ns() + 200 * 100_000_000);
}
