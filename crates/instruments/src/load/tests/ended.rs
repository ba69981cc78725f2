//! Loads that the user ends, servers that stand still for a while, and answers of 4xx and 5xx.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Instant;

use super::*;
use crate::load::Error;
use crate::load::reach::reachable;
use crate::load::schedule::Schedule;

/// Ends the load once the server has seen so many requests.
fn ended_after(server: &Server, load: &Load, seen: u64) -> Result<Outcome, Error> {
    let control = Control::default();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while server.requests() < seen {
                std::thread::sleep(Duration::from_millis(2));
            }
            control.stop.store(true, Ordering::SeqCst);
        });
        run(load, &control)
    })
}

#[test]
fn what_hangs_when_the_load_is_ended_is_cut_at_its_age() {
    let server = Server::fixed("", Then::Hang);
    let mut load = requests(&server, 1000, 3);
    load.timeout = Duration::from_secs(600);
    let began = Instant::now();
    let outcome = ended_after(&server, &load, 3).unwrap();
    adds_up(&outcome);
    assert_eq!((failures(&outcome, Failure::Cut), outcome.requests(), outcome.record.good), (3, 3, 0));
    // In flight for the grace at least, and nowhere near its time limit.
    assert!(outcome.record.bad.sum_ns() >= 3 * 500_000_000);
    assert!(began.elapsed() < Duration::from_secs(300));
}

#[test]
fn an_open_loop_that_is_ended_tells_what_waited_for_a_connection() {
    let server = Server::fixed("", Then::Hang);
    let mut load = requests(&server, 1, 2);
    load.requests = None;
    load.duration = Some(Duration::from_secs(600));
    load.timeout = Duration::from_secs(600);
    load.schedule = Schedule::Constant { rate: 200.0 };
    let outcome = ended_after(&server, &load, 2).unwrap();
    adds_up(&outcome);
    let of = |kind| outcome.record.failures.count(kind);
    assert_eq!((of(Failure::Cut), of(Failure::Cut) + of(Failure::Unsent)), (2, outcome.requests()));
}

#[test]
fn answers_that_are_under_way_when_the_load_is_ended_are_waited_for() {
    let server = Server::new(|_, stream| {
        std::thread::sleep(Duration::from_millis(20));
        send(stream, OK.as_bytes(), Then::Keep)
    });
    let outcome = ended_after(&server, &requests(&server, 100_000, 4), 40).unwrap();
    adds_up(&outcome);
    assert_eq!(outcome.record.failures.total(), 0);
    assert!(outcome.record.good >= 36);
}

#[test]
fn a_server_that_stands_still_is_seen_by_all_threads_together() {
    let still = Mutex::new(());
    let (begins, has_begun) = channel::<()>();
    let (begins, first) = (Mutex::new(begins), AtomicBool::new(true));
    let server = std::sync::Arc::new(still);
    let held = std::sync::Arc::clone(&server);
    let server = Server::new(move |request, stream| {
        if request.nth == 20 && first.swap(false, Ordering::SeqCst) {
            let _still = held.lock();
            begins.lock().unwrap().send(()).unwrap();
            std::thread::sleep(Duration::from_millis(700));
        } else {
            drop(held.lock());
            std::thread::sleep(Duration::from_millis(1));
        }
        send(stream, OK.as_bytes(), Then::Keep)
    });
    let mut load = requests(&server, 400, 6);
    load.threads = 2;
    let outcome = go(&load);
    assert!(has_begun.try_recv().is_ok());
    let stall = outcome.record.stalls.longest().expect("it stood still");
    assert!((300_000_000..60_000_000_000).contains(&stall.long_ns()), "{stall:?}");
    // Some wait outside of the mutex, about to be answered; times count from the start.
    assert!(stall.waiting >= 2 && stall.to_ns < 60_000_000_000, "{stall:?}");
}

#[test]
fn statuses_are_counted_with_the_url_that_met_them_first() {
    let server = Server::new(|request, stream| {
        let answer: &[u8] = match request.path.as_str() {
            "/none" => b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n",
            "/busy" => b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n",
            _ => OK.as_bytes(),
        };
        send(stream, answer, Then::Keep)
    });
    let mut load = requests(&server, 300, 3);
    load.threads = 3;
    load.targets = ["/", "/none", "/busy"]
        .map(|path| server.url(path).parse::<model::url::Url>().unwrap().into())
        .to_vec();
    let outcome = go(&load);
    let seen: Vec<(u16, u64)> = outcome.record.statuses.seen().map(|met| (met.status, met.count)).collect();
    let of = |path: &str| server.seen.paths.lock().unwrap()[path];
    assert_eq!(seen, [(404, of("/none")), (503, of("/busy"))]);
    assert_eq!(
        (outcome.met[&404].as_str(), outcome.met[&503].as_str()),
        (&*server.url("/none"), &*server.url("/busy"))
    );
    assert_eq!(outcome.record.failures.count(Failure::Status4xx), of("/none"));
}

#[test]
fn whether_a_server_can_be_reached_is_known_without_a_request() {
    let server = Server::fixed(OK, Then::Keep);
    assert_eq!(reachable(&requests(&server, 1, 1)).unwrap(), server.address);
    assert_eq!(server.requests(), 0);
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let nobody = Load::new(format!("http://127.0.0.1:{port}/").parse().unwrap());
    let said = reachable(&nobody).unwrap_err().to_string();
    assert!(said.starts_with(&format!("nothing accepts connections at 127.0.0.1:{port} (")), "{said}");
    let plain = Load::new(format!("https://{}/", server.address).parse().unwrap());
    let said = reachable(&plain).unwrap_err().to_string();
    assert!(said.starts_with("TLS with "), "{said}");
}
