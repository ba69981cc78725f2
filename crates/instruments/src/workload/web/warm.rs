//! A server's content brought into the page cache through the server itself, so that `cache=warm` is warm from the first
//! take on, and so that what is cached counts for the server.

use std::time::Duration;

use model::Fault;

use super::served::Served;
use crate::load::schedule::{Arrival, Schedule};
use crate::load::{Control, Load, run};
use crate::workload::server::content::Set;

/// A server that takes longer over its whole content than this has less of it cached.
const TIME: Duration = Duration::from_secs(30);
const CONNECTIONS: usize = 8;

/// Asks for every file once, the most wanted last. Content of one small file is warm by any load.
pub fn read_once(served: &Served, load: &Load) -> Result<(), Fault> {
    let Served::Ours(hosted) = served else { return Ok(()) };
    if !matches!(hosted.content().set, Set::Mix | Set::Large) {
        return Ok(());
    }
    let load = Load {
        schedule: Schedule::Replay(arrivals(load.targets.len()).into()),
        connections: CONNECTIONS,
        threads: 1,
        keepalive: true,
        method: "GET".to_owned(),
        body: Vec::new(),
        duration: Some(TIME),
        requests: None,
        timeout: TIME,
        drain: TIME,
        ..load.clone()
    };
    run(&load, &Control::default()).map(drop).map_err(|error| Fault::new(error.to_string()))
}

/// All due at once; targets are in the order of how much they are wanted.
fn arrivals(targets: usize) -> Vec<Arrival> {
    let count = u32::try_from(targets).unwrap_or(u32::MAX);
    (0..count).rev().map(|target| Arrival { at_ns: 0, target: Some(target) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_asked_for_once() {
        let asked: Vec<Option<u32>> = arrivals(3).into_iter().map(|arrival| arrival.target).collect();
        assert_eq!(asked, [Some(2), Some(1), Some(0)]);
        Schedule::Replay(arrivals(5).into()).check().unwrap();
        assert!(arrivals(0).is_empty());
    }
}
