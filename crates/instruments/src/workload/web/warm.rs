//! A server's content brought into the page cache through the server itself, so that `cache=warm` is warm from the
//! first take on, and so that what is cached counts for the server.

use std::time::Duration;

use model::Fault;

use super::metrics::failures;
use super::served::Served;
use crate::load::schedule::{Arrival, Schedule};
use crate::load::watched::awaited;
use crate::load::{Load, Outcome, run};
use crate::workload::server::content::Set;

/// A server that takes longer over its whole content than this has less of it cached.
const TIME: Duration = Duration::from_secs(30);
const CONNECTIONS: usize = 8;

/// Asks for every file once, the most wanted last, and returns a remark if some could not be had. Content of one small
/// file is warm by any load. Fails when the server gives nothing.
pub fn read_once(served: &Served, load: &Load) -> Result<Option<String>, Fault> {
    let Served::Ours(hosted) = served else { return Ok(None) };
    if !matches!(hosted.content().set, Set::Mix | Set::Large | Set::Own) {
        return Ok(None);
    }
    let targets = hosted.targets().map_err(Fault::new)?;
    let wanted = targets.len();
    let load = Load {
        schedule: Schedule::Replay(arrivals(wanted).into()),
        targets,
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
    let outcome = awaited(|control| run(&load, control)).map_err(Fault::from)?;
    missed(wanted as u64, &outcome)
}

/// A remark on content that was not read and is cold. Fails when the server gave nothing, since it cannot be warm
/// then.
fn missed(wanted: u64, outcome: &Outcome) -> Result<Option<String>, Fault> {
    match outcome.record.good {
        good if good >= wanted => Ok(None),
        0 => Err(Fault::new(format!(
            "none of the {wanted} files could be read into the cache: {}",
            why(outcome)
        ))),
        good => Ok(Some(format!(
            "{} of {wanted} files were not read into the cache before the takes ({}): their first answers may come \
             from the disk",
            wanted - good,
            why(outcome)
        ))),
    }
}

fn why(outcome: &Outcome) -> String {
    match outcome.record.failures.total() {
        0 => format!("the time of {} s was over", TIME.as_secs()),
        _ => failures(outcome),
    }
}

/// All due at once; targets are in the order of how much they are wanted.
fn arrivals(targets: usize) -> Vec<Arrival> {
    let count = u32::try_from(targets).unwrap_or(u32::MAX);
    (0..count).rev().map(|target| Arrival { at_ns: 0, target: Some(target) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Control;
    use crate::load::tests::OK;
    use crate::load::tests::server::{Server, Then, send};

    #[test]
    fn files_that_could_not_be_read_are_counted() {
        let broken = "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n";
        let server = Server::new(move |request, stream| {
            let answer = if request.nth % 2 == 0 { OK } else { broken };
            send(stream, answer.as_bytes(), Then::Keep)
        });
        let load = Load { requests: Some(4), duration: None, ..Load::new(server.url("/").parse().unwrap()) };
        let outcome = run(&load, &Control::default()).unwrap();
        assert_eq!(missed(2, &outcome), Ok(None));
        let said = missed(4, &outcome).unwrap().unwrap();
        assert!(
            said.starts_with("2 of 4 files were not read") && said.contains("2 status 404 (first "),
            "{said}"
        );
        let nothing = Server::fixed(broken, Then::Keep);
        let load = Load { requests: Some(2), duration: None, ..Load::new(nothing.url("/").parse().unwrap()) };
        let fault = missed(2, &run(&load, &Control::default()).unwrap()).unwrap_err();
        assert!(
            fault.text.starts_with("none of the 2 files") && fault.text.contains("status 404"),
            "{fault}"
        );
    }

    #[test]
    fn every_file_is_asked_for_once() {
        let asked: Vec<Option<u32>> = arrivals(3).into_iter().map(|arrival| arrival.target).collect();
        assert_eq!(asked, [Some(2), Some(1), Some(0)]);
        Schedule::Replay(arrivals(5).into()).check().unwrap();
        assert!(arrivals(0).is_empty());
    }
}
