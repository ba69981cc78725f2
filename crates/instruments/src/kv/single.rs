//! Requests of one client one after the other, each timed by itself in nanoseconds.

use std::time::Duration;

use sys::clock;

use super::connection::Connection;
use super::hot;
use super::keys::KEY;
use super::table::Table;
use super::times::Times;
use super::wire::Failure;
use crate::bench::kernels::random::Random;

/// Until there is no room or time left; each request is built before its time begins.
pub fn requests(
    to: &mut Connection,
    times: &mut Times,
    bytes: usize,
    limit: Duration,
    build: &mut dyn FnMut(&mut Connection),
) -> Result<(), Failure> {
    let until_ns = until(limit);
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

/// Reads of random objects; drawing the key and building the request are within the time.
pub fn random_reads(
    to: &mut Connection,
    times: &mut Times,
    (table, bytes): (&Table, usize),
    limit: Duration,
    random: &mut Random,
) -> Result<(), Failure> {
    let until_ns = until(limit);
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
