//! Several clients at once, each a thread with a connection of its own and one request after the other.
//!
//! All begin when the last of them is connected. Counts are of whole requests; times are nanoseconds. RAMCloud's
//! clients are processes that are given rows of requests: the time of one that ends by itself is that within its rows.
//! Keys that are built between rows, and the pipe, are not in it, so that sums of rates (`readLoaded.measured`,
//! `netBandwidth`) are above what was served per second of wall time. One that is watched has all of it in its time.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sys::clock;

use super::client::Client;
use super::hot;
use super::ramcloud::ROW;
use super::target::Target;
use super::wire::{Answer, Failure};
use crate::bench::kernels::random::Random;

/// How long a row of RAMCloud's client lasts at most, so that all end soon after they are told to.
const SPAN: Duration = Duration::from_millis(20);

/// The requests of one client, and their time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    pub count: u64,
    pub ns: u64,
}

impl Done {
    /// Requests per second.
    pub fn rate(&self) -> f64 {
        if self.ns == 0 { 0.0 } else { self.count as f64 / (self.ns as f64 / 1e9) }
    }
}

/// When clients end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Each when so much time has passed since it began, as clusterperf: after blocks of 10 requests.
    Passed(Duration),
    /// All when the one who watches has seen enough.
    Watched,
}

/// Puts the next request of a client together: its connection, its number, its random numbers.
pub type Build<'a> = &'a (dyn Fn(&mut Client, usize, &mut Random) + Sync);

/// One client for each of `stores` (several may be the same). `watch` runs beside them once all have begun. Fails when
/// a client cannot connect or has a failure.
pub fn run<T>(
    stores: &[&Target],
    until: Until,
    bytes: usize,
    build: Build<'_>,
    watch: impl FnOnce() -> Result<T, Failure>,
) -> Result<(Vec<Done>, T), Failure> {
    let mut connections = Vec::new();
    for (nth, store) in stores.iter().enumerate() {
        let mut to = store.open_nth(nth)?;
        to.make_room(bytes);
        connections.push(to);
    }
    let (ready, stop) = (Barrier::new(stores.len() + 1), AtomicBool::new(false));
    let (ready, stop) = (&ready, &stop);
    std::thread::scope(|scope| {
        let clients: Vec<_> = connections
            .into_iter()
            .zip(stores)
            .enumerate()
            .map(|(nth, (to, store))| {
                scope.spawn(move || {
                    // Where it cannot be bound it runs where the kernel puts it.
                    let pinned = store.pin(nth);
                    ready.wait();
                    let done = client(to, nth, (until, stop), bytes, build);
                    drop(pinned);
                    done
                })
            })
            .collect();
        ready.wait();
        let watched = watch();
        if until == Until::Watched || watched.is_err() {
            stop.store(true, Ordering::Relaxed);
        }
        let mut all = Vec::new();
        for client in clients {
            all.push(client.join().map_err(|_| Failure::Broken("a client of ours broke".to_owned()))??);
        }
        Ok((all, watched?))
    })
}

fn client(
    mut to: Client,
    nth: usize,
    (until, stop): (Until, &AtomicBool),
    bytes: usize,
    build: Build<'_>,
) -> Result<Done, Failure> {
    let mut random = Random::new(nth as u64 + 1);
    let most_ns = match until {
        Until::Passed(span) => u64::try_from(span.as_nanos()).unwrap_or(u64::MAX),
        Until::Watched => u64::MAX,
    };
    let mut done = Done::default();
    let begun_ns = clock::now_ns();
    loop {
        if let Client::RamCloud(_) = to {
            let row = row(&mut to, bytes, &mut |to| build(to, nth, &mut random))?;
            let ns = if until == Until::Watched { clock::now_ns() - begun_ns } else { done.ns + row.ns };
            done = Done { count: done.count + row.count, ns };
        } else {
            for _ in 0..hot::BLOCK {
                build(&mut to, nth, &mut random);
                let answer: Answer = to.turn()?;
                hot::is_one(&answer, bytes)?;
            }
            done = Done { count: done.count + hot::BLOCK, ns: clock::now_ns() - begun_ns };
        }
        if done.ns >= most_ns || stop.load(Ordering::Relaxed) {
            return Ok(done);
        }
    }
}

/// A row of requests by a client that times them itself, and the time from its first to its last one.
fn row(to: &mut Client, bytes: usize, build: &mut dyn FnMut(&mut Client)) -> Result<Done, Failure> {
    for _ in 0..ROW {
        build(to);
        if let Client::RamCloud(to) = to {
            to.queue();
        }
    }
    let Client::RamCloud(to) = to else { return Ok(Done::default()) };
    let made = to.make(SPAN)?;
    for outcome in &made {
        hot::is_one(&to.answer(outcome)?, bytes)?;
    }
    let ns =
        made.first().zip(made.last()).map_or(0, |(first, last)| last.end_ns.saturating_sub(first.begin_ns));
    Ok(Done { count: made.len() as u64, ns })
}
