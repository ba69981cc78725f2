//! Requests of one client one after the other, each timed by itself in nanoseconds.
//!
//! RAMCloud's client times them itself, in rows that are put together before.

use std::time::Duration;

use sys::clock;

use super::client::Client;
use super::connection::Connection;
use super::hot;
use super::keys::KEY;
use super::ramcloud::ROW;
use super::table::Table;
use super::times::Times;
use super::wire::Failure;
use crate::bench::kernels::random::Random;

/// Makes requests until there is no room or time left; each is built before its time begins. Fails on the first wrong
/// answer.
pub fn requests(
    to: &mut Client,
    times: &mut Times,
    bytes: usize,
    limit: Duration,
    build: &mut dyn FnMut(&mut Client),
) -> Result<(), Failure> {
    let until_ns = until(limit);
    if let Client::RamCloud(_) = to {
        return in_rows(to, times, bytes, until_ns, build);
    }
    loop {
        build(to);
        let sent_ns = clock::now_ns();
        let answer = to.turn()?;
        let back_ns = clock::now_ns();
        hot::is_one(&answer, bytes)?;
        if !times.add(back_ns - sent_ns) || back_ns >= until_ns {
            return Ok(());
        }
    }
}

/// The same by a client that times rows of requests itself.
fn in_rows(
    to: &mut Client,
    times: &mut Times,
    bytes: usize,
    until_ns: u64,
    build: &mut dyn FnMut(&mut Client),
) -> Result<(), Failure> {
    loop {
        for _ in 0..times.room().min(ROW) {
            build(to);
            if let Client::RamCloud(to) = to {
                to.queue();
            }
        }
        let Client::RamCloud(to) = to else { return Ok(()) };
        let left = Duration::from_nanos(until_ns.saturating_sub(clock::now_ns()));
        for outcome in to.make(left)? {
            hot::is_one(&to.answer(&outcome)?, bytes)?;
            if !times.add(outcome.ns()) {
                return Ok(());
            }
        }
        if clock::now_ns() >= until_ns {
            return Ok(());
        }
    }
}

/// Reads random objects. Drawing the key and building the request are within the time, but for RAMCloud's client.
/// Fails on the first wrong answer.
pub fn random_reads(
    to: &mut Client,
    times: &mut Times,
    (table, bytes): (&Table, usize),
    limit: Duration,
    random: &mut Random,
) -> Result<(), Failure> {
    let until_ns = until(limit);
    let to: &mut Connection = match to {
        Client::Socket(to) => to,
        to @ Client::RamCloud(_) => {
            let mut draw = |to: &mut Client| {
                to.ask_get(&table.keys.key(table.letter, hot::below(random, table.count)));
            };
            return in_rows(to, times, bytes, until_ns, &mut draw);
        }
    };
    let mut key = [0; KEY];
    loop {
        let sent_ns = clock::now_ns();
        table.keys.write(table.letter, hot::below(random, table.count), &mut key);
        to.ask_get(&key);
        let answer = to.turn()?;
        let back_ns = clock::now_ns();
        hot::is_one(&answer, bytes)?;
        if !times.add(back_ns - sent_ns) || back_ns >= until_ns {
            return Ok(());
        }
    }
}

fn until(limit: Duration) -> u64 {
    clock::now_ns().saturating_add(u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX / 2))
}
