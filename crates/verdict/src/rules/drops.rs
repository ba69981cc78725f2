//! Drops: packets and connections that the kernel dropped or refused during the loads, and which limit to raise.
//!
//! Counters of the whole network namespace, summed over the measured takes of a load. A full queue is named by the
//! socket that dropped most, where each was read: it may be that of an application behind the server. It doubts no
//! figure: a limit that was hit is part of what was measured. Segments that were sent again though they had arrived
//! (DSACK) were not lost, and the loopback loses none: there acknowledgements came late. Retransmits and resets count
//! from one in a thousand requests, resets only where requests failed by them.

use model::backend::Backend;
use model::drops as names;
use model::finding::Drops;
use model::finding::drops::{COUNTERS, DropCounter, Queue};
use model::metrics::load;

use crate::facts;
use crate::loads::{Load, queues};
use crate::ruling::Ruling;
use crate::run_index::RunIndex;

/// The share of requests from which a counter that is often above 0 says something.
const USUAL: f64 = 1e-3;

/// Counters of what was dropped at listening sockets.
const OF_SOCKETS: [&str; 3] = [names::LISTEN_OVERFLOW, names::LISTEN_DROP, names::SYN_COOKIES];

/// The counters that say something about a load, with their counts.
pub fn of_load(load: &Load<'_>, behind: &[Backend]) -> Vec<(&'static DropCounter, f64)> {
    let mut counts = load.sums_by(&load::DROPS, "counter");
    // The counters are of the whole network namespace.
    let strangers = queues::of_strangers(load, behind);
    for name in OF_SOCKETS {
        counts.entry(name.to_owned()).and_modify(|count| *count = (*count - strangers).max(0.0));
    }
    counts.retain(|_, count| *count >= 0.5);
    let requests = load.requests().unwrap_or(0.0);
    // A load that ends resets what is still under way.
    let met = load.sums_by(&load::FAILED, "kind");
    let is_met = ["reset", "closed", "connect"].iter().any(|kind| met.contains_key(*kind));
    let loud = |counter: &DropCounter, count: f64| {
        !counter.usual || (count > USUAL * requests && (counter.name != names::RESETS || is_met))
    };
    // Those that arrived twice were not lost, and the loopback loses none.
    let lost = counts
        .get(names::RETRANSMITS)
        .map(|again| (again - counts.get(names::SPURIOUS).copied().unwrap_or(0.0)).max(0.0));
    // SYNs are sent again since they were dropped, and so are requests to a socket whose queue is full.
    let full = counts.get(names::LISTEN_OVERFLOW).copied().unwrap_or(0.0);
    let syns = counts.get(names::SYN_RETRANSMITS).copied().unwrap_or(0.0);
    let late = lost.map(|lost| lost - syns).filter(|late| *late > full);
    // A full queue drops the connection, which the kernel counts as both.
    let dropped = counts.get(names::LISTEN_DROP).map(|dropped| (dropped - full).max(0.0));
    let count = |counter: &DropCounter| match counter.name {
        names::LISTEN_DROP => dropped.filter(|count| *count >= 0.5),
        names::RETRANSMITS => lost.filter(|_| !load.is_loopback()),
        names::LATE_ACKS => late.filter(|_| load.is_loopback()),
        name => counts.get(name).copied(),
    };
    COUNTERS
        .iter()
        .filter_map(|counter| Some((counter, count(counter)?)))
        .filter(|(counter, count)| loud(counter, *count))
        .collect()
}

/// The socket that dropped most of what a counter of listening sockets counted, where that was read.
pub fn queue(counter: &DropCounter, load: &Load<'_>, behind: &[Backend]) -> Option<Queue> {
    let fullest = || queues::fullest(load, behind).map(|(queue, _)| queue);
    OF_SOCKETS.contains(&counter.name).then(fullest).flatten()
}

/// The share of requests from which what was dropped may be what binds. Each costs one of them a second or so.
const BINDS: f64 = 0.01;

/// A count as a share of the requests, and true if it is large enough to bind. `None` if requests were not counted.
pub fn share(load: &Load<'_>, count: f64) -> Option<(f64, bool)> {
    let share = count / load.requests()?;
    Some((share, share >= BINDS))
}

/// The kernel's settings that limit a counter, as they are.
pub fn settings(counter: &DropCounter, facts: &[model::Fact]) -> Vec<(String, String)> {
    let known = counter.settings.iter().filter_map(|name| {
        let key = format!("sysctl.{name}");
        let value = facts::number(facts, &key).map(|number| format!("{number:.0}"));
        Some(((*name).to_owned(), value.or_else(|| facts::text(facts, &key).map(str::to_owned))?))
    });
    known.collect()
}

pub fn rule(index: &RunIndex<'_>) -> Vec<Ruling> {
    let loads = index.loads();
    if loads.is_empty() {
        return Vec::new();
    }
    if !loads.iter().any(|load| load.has(&load::DROPS)) {
        return vec![Ruling::of_run(Drops::NotCounted)];
    }
    let all: Vec<Ruling> =
        COUNTERS.iter().filter_map(|counter| dropped(index, counter)).map(Ruling::of_run).collect();
    if all.is_empty() { vec![Ruling::of_run(Drops::Nothing)] } else { all }
}

fn dropped(index: &RunIndex<'_>, counter: &'static DropCounter) -> Option<Drops> {
    let behind = |load: &Load<'_>| index.backends(load.takes().into_iter());
    let count = |load: &Load<'_>| {
        let found = of_load(load, &behind(load)).into_iter().find(|(one, _)| one.name == counter.name)?;
        Some(found.1)
    };
    let hit: Vec<(&Load<'_>, f64)> =
        index.loads().iter().filter_map(|load| Some((load, count(load)?))).collect();
    let (worst, most) = hit.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(Drops::Dropped {
        counter,
        most: *most,
        connections: worst.number("connections"),
        loads: hit.len(),
        settings: settings(counter, &index.run.facts),
        queue: queue(counter, worst, &behind(worst)),
    })
}

#[cfg(test)]
mod tests {
    use model::{Fact, Unit, Validity};

    use super::*;
    use crate::loads::planted::{empty, load, one, times};
    use crate::run_index::RunContext;

    fn of(run: &model::data::RunData) -> Vec<Ruling> {
        rule(&RunIndex::new(run, &RunContext { cards: instruments::cards(), ..RunContext::default() }))
    }

    #[test]
    fn a_full_queue_names_its_limit() {
        let mut run = empty();
        for connections in [100, 1000] {
            let count = f64::from(connections) - 100.0;
            let figures = [("throughput", 1.0), ("drops;counter=listen-overflow", count)];
            load(&mut run, &format!("connections={connections}"), &figures);
        }
        run.facts.push(Fact::number("sysctl.net.core.somaxconn", 128.0, Unit::Count, "/proc/sys"));
        let found = of(&run);
        assert_eq!((found.len(), found[0].finding.state), (1, Validity::Doubtful), "{found:?}");
        let text = &found[0].finding.text();
        let (doubt, cause) = text.split_once(": ").expect("a consequence and a cause");
        assert_eq!(doubt, "may measure a limit of the kernel, not the server");
        assert!(cause.starts_with("7200 times the queue") || cause.starts_with("7199 times"), "{text}");
        assert!(
            text.contains("at 1000 connections; ") && text.contains("(net.core.somaxconn is 128)"),
            "{text}"
        );
        assert!(found[0].reach.is_empty(), "the figure is what this setup does");
    }

    #[test]
    fn what_a_full_queue_drops_is_said_once_and_not_by_a_limit_that_is_ample() {
        let of_backlog = |dropped: f64, somaxconn: f64| {
            let figures = [
                ("throughput", 1.0),
                ("drops;counter=listen-overflow", 8.0),
                ("drops;counter=listen-drop", dropped),
            ];
            let mut run = one("connections=1000", &figures);
            run.facts.push(Fact::number("sysctl.net.core.somaxconn", somaxconn, Unit::Count, "/proc/sys"));
            of(&run).into_iter().map(|ruling| ruling.finding.text()).collect::<Vec<_>>()
        };
        let once = of_backlog(8.0, 4096.0);
        assert_eq!(once.len(), 1, "{once:?}");
        assert!(once[0].ends_with("httpd `ListenBackLog`) (net.core.somaxconn is 4096)"), "{once:?}");
        assert!(!once[0].contains("raise net.core.somaxconn"), "{once:?}");
        assert!(of_backlog(8.0, 128.0)[0].contains("raise net.core.somaxconn"));
        let both = of_backlog(16.0, 4096.0);
        assert!(both.len() == 2 && both[1].contains("64 connections dropped"), "{both:?}");
    }

    #[test]
    fn a_full_queue_is_named_by_its_socket() {
        let said = |owner: &str, room: f64| {
            let part = format!("socket=127.0.0.1:8197;process=python3;owner={owner}");
            let (drops, room_of) = (format!("queue-drops;{part}"), format!("queue-room;{part}"));
            let figures = [
                ("throughput", 1.0),
                ("drops;counter=listen-overflow", 100.0),
                ("drops;counter=listen-drop", 100.0),
                (drops.as_str(), 100.0),
                (room_of.as_str(), room),
            ];
            let mut run = one("connections=50", &figures);
            run.facts.push(Fact::number("sysctl.net.core.somaxconn", 128.0, Unit::Count, "/proc/sys"));
            let found = of(&run);
            assert_eq!(found.len(), 1, "{found:?}");
            found[0].finding.text()
        };
        let other = said("other", 5.0);
        let says = "may measure an application behind the server, not the server: the queue of 127.0.0.1:8197 (python3), \
                    which is not the server's, was full 800 times at 50 connections; let that application answer faster";
        assert!(other.starts_with(says), "{other}");
        assert!(other.ends_with("raise that application's listen backlog (it holds 5)"), "{other}");
        assert!(!other.contains("nginx") && !other.contains("somaxconn"), "{other}");
        let own = said("server", 5.0);
        assert!(own.contains("(python3), the server's own, was full 800 times"), "{own}");
        assert!(own.contains("raise the server's own backlog (it holds 5)"), "{own}");
        // The kernel's limit is what it has.
        assert!(said("server", 128.0).contains("(net.core.somaxconn is 128)"));
    }

    #[test]
    fn a_few_retransmits_are_usual() {
        let count = |each: f64| {
            let mut run = one("connections=1", &[("throughput", 1.0), ("drops;counter=retransmits", each)]);
            let seqs: Vec<u64> = run.takes.iter().map(|take| take.seq).collect();
            times(&mut run, &seqs, "response-times", "connections=1", &[(100, 10_000)]);
            of(&run)[0].finding.state
        };
        assert_eq!((count(5.0), count(50.0)), (Validity::Ok, Validity::Doubtful));
    }

    #[test]
    fn what_arrived_twice_was_not_lost() {
        let of = |url: &str, again: f64, spurious: f64| {
            let mut run = one(
                &format!("url={url};connections=1"),
                &[
                    ("throughput", 1.0),
                    ("drops;counter=retransmits", again),
                    ("drops;counter=spurious-retransmits", spurious),
                ],
            );
            let seqs: Vec<u64> = run.takes.iter().map(|take| take.seq).collect();
            times(&mut run, &seqs, "response-times", &format!("url={url};connections=1"), &[(100, 1000)]);
            of(&run).remove(0).finding.text()
        };
        let (far, here) = ("http://10.0.0.2/", "http://127.0.0.1:80/");
        assert_eq!([of(far, 51.0, 51.0), of(here, 51.0, 50.9)], ["the kernel dropped nothing"; 2]);
        assert!(of(far, 51.0, 11.0).contains("320 segments sent again at 1 connection; packets were lost"));
        let late = of(here, 51.0, 11.0);
        assert!(late.contains("acknowledgements came late since the CPU was busy"), "{late}");
        assert!(!late.contains("interfaces"), "{late}");
    }

    #[test]
    fn resets_count_where_requests_met_them() {
        let of_resets = |figures: &[(&str, f64)]| of(&one("connections=1", figures))[0].finding.state;
        let unmet = [("throughput", 1.0), ("drops;counter=resets", 64.0)];
        assert_eq!(of_resets(&unmet), Validity::Ok);
        let met = [("throughput", 1.0), ("drops;counter=resets", 64.0), ("failed;kind=reset", 60.0)];
        assert_eq!(of_resets(&met), Validity::Doubtful);
    }

    #[test]
    fn uncounted_is_unknown() {
        assert_eq!(of(&one("connections=1", &[("throughput", 1.0)]))[0].finding.state, Validity::Unknown);
        assert!(of(&empty()).is_empty());
    }
}
