//! A generator that is busy with other answers: how long the next ones lie there unread is recorded, and in no response
//! time.

use super::*;
use crate::load::engine::arrivals::Choice;
use crate::load::engine::{self, LoadShare, Rules};
use crate::load::http::Http;
use crate::load::http::response::{Memo, Reply};
use crate::load::protocol::{Answer, Protocol, Step};
use crate::load::schedule::Schedule;
use crate::load::transport::Plain;
use crate::load::{Requests, check};
use sys::clock;

/// How long each answer keeps the generator busy.
const BUSY: Duration = Duration::from_millis(5);

struct Slow(Http);

impl Protocol for Slow {
    type Reply = Reply;
    type Memo = Memo;

    fn request<'r>(&'r self, reply: &'r Reply, which: u32) -> &'r [u8] {
        self.0.request(reply, which)
    }

    fn begin(&self, reply: &mut Reply, which: u32) {
        self.0.begin(reply, which);
    }

    fn feed(&self, memo: &mut Memo, reply: &mut Reply, bytes: &[u8]) -> Result<Step, Failure> {
        std::thread::sleep(BUSY);
        self.0.feed(memo, reply, bytes)
    }

    fn end(&self, reply: &Reply) -> Result<(), Failure> {
        self.0.end(reply)
    }

    fn judge(&self, reply: &Reply, which: u32) -> Answer {
        self.0.judge(reply, which)
    }

    fn redirected_to<'m>(&self, memo: &'m Memo) -> Option<&'m str> {
        self.0.redirected_to(memo)
    }

    fn content_coding<'m>(&self, memo: &'m Memo) -> Option<&'m str> {
        self.0.content_coding(memo)
    }
}

#[test]
fn answers_that_wait_for_a_busy_generator_are_recorded_as_unread() {
    let server = Server::fixed(OK, Then::Keep);
    let load = requests(&server, 40, 4);
    let Ok(Requests::Http(http)) = check(&load) else { panic!("a load of another kind") };
    let long_ns = 60_000_000_000;
    let rules = Rules {
        address: server.address,
        timeout_ns: long_ns,
        drain_ns: long_ns,
        duration_ns: None,
        keepalive: true,
        spin: false,
    };
    let share = LoadShare {
        threads: 1,
        connections: 4,
        cpus: Vec::new(),
        schedule: Schedule::Closed,
        requests: Some(40),
        choice: Choice::Weights(vec![1.0]),
        seed: 1,
    };
    let mut start = || Some(clock::now_ns());
    let ran =
        engine::run::<Slow, Plain>(&Slow(http), &(), rules, &share, &Control::default(), &mut start).unwrap();
    assert_eq!((ran.record.good, ran.record.unread.total()), (40, 40));
    // Each answer takes 5 ms to read, and most wait for those of other connections.
    let unread_ns = ran.record.unread.sum_ns();
    assert!(unread_ns > 40 * 5_000_000, "{unread_ns}");
    // The server answers at once, at least one in forty times.
    let quickest_ns = ran.record.service().histogram(0).quantile_ns(0.0).unwrap();
    assert!(quickest_ns < 5_000_000, "{quickest_ns}");
}
