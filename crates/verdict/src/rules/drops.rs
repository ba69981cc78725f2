//! What the kernel dropped or refused during the loads, and which limit to raise.
//!
//! Counters of the whole network namespace, summed over the measured takes of a load. It doubts no figure: a limit
//! that was hit is part of what was measured. Retransmits and resets count from one in a thousand requests, resets only
//! where requests failed by them.

use model::{Finding, Validity, drops as names};

use super::{Look, Ruling, unknown};
use crate::facts;
use crate::loads::Load;
use crate::say;

pub const KIND: &str = "drops";

/// A counter: what it counts, what to try, and the kernel's settings that limit it.
pub struct Counter {
    pub name: &'static str,
    pub says: &'static str,
    pub advice: &'static str,
    pub settings: &'static [&'static str],
    /// Whether single ones are nothing to speak of.
    pub usual: bool,
}

const fn counter(
    name: &'static str,
    says: &'static str,
    advice: &'static str,
    settings: &'static [&'static str],
) -> Counter {
    Counter { name, says, advice, settings, usual: false }
}

pub const COUNTERS: [Counter; 8] = [
    counter(
        names::LISTEN_OVERFLOW,
        "times the queue of connections to be accepted was full",
        "raise net.core.somaxconn and the server's own backlog, or let more workers accept",
        &["net.core.somaxconn"],
    ),
    counter(
        names::LISTEN_DROP,
        "connections dropped at a listening socket",
        "raise net.core.somaxconn and net.ipv4.tcp_max_syn_backlog, and the server's own backlog",
        &["net.core.somaxconn", "net.ipv4.tcp_max_syn_backlog"],
    ),
    counter(
        names::SYN_COOKIES,
        "connections answered with a cookie, since the queue of half-open ones was full",
        "raise net.ipv4.tcp_max_syn_backlog and net.core.somaxconn",
        &["net.ipv4.tcp_max_syn_backlog", "net.core.somaxconn"],
    ),
    counter(
        names::BACKLOG_DROP,
        "packets dropped since the queue of their socket was full",
        "raise net.ipv4.tcp_rmem and net.core.rmem_max",
        &["net.core.rmem_max"],
    ),
    counter(
        names::SOFTNET_DROP,
        "packets dropped since a core's receive queue was full",
        "raise net.core.netdev_max_backlog, and spread the packets over cores (RPS, more NIC queues)",
        &["net.core.netdev_max_backlog"],
    ),
    counter(
        names::TIME_WAIT_OVERFLOW,
        "closed connections that found no place to wait",
        "raise net.ipv4.tcp_max_tw_buckets, widen net.ipv4.ip_local_port_range, or keep connections alive",
        &["net.ipv4.tcp_max_tw_buckets", "net.ipv4.ip_local_port_range"],
    ),
    Counter {
        usual: true,
        ..counter(
            names::RETRANSMITS,
            "segments sent again",
            "packets were lost, or acknowledged too late: look at the drops and errors of the interfaces on the way",
            &[],
        )
    },
    Counter {
        usual: true,
        ..counter(
            names::RESETS,
            "connections reset",
            "look at the server's error log, its limits of connections and its timeouts",
            &[],
        )
    },
];

/// The share of requests from which a counter that is often above 0 says something.
const USUAL: f64 = 1e-3;

/// The counters that say something about a load, with their counts.
#[must_use]
pub fn of_load(load: &Load<'_>) -> Vec<(&'static Counter, f64)> {
    let counts = load.sums_by("drops", "counter");
    let requests = load.requests().unwrap_or(0.0);
    // A load that ends resets what is still under way.
    let met = load.sums_by("failed", "kind");
    let is_met = ["reset", "closed", "connect"].iter().any(|kind| met.contains_key(*kind));
    let loud = |counter: &Counter, count: f64| {
        !counter.usual || (count > USUAL * requests && (counter.name != names::RESETS || is_met))
    };
    COUNTERS
        .iter()
        .filter_map(|counter| Some((counter, *counts.get(counter.name)?)))
        .filter(|(counter, count)| loud(counter, *count))
        .collect()
}

/// The share of requests from which what was dropped may be what binds. Each costs one of them a second or so.
const BINDS: f64 = 0.01;

/// Whether a count is so large, beside the requests, that it may be what binds; `None` where those were not counted.
#[must_use]
pub fn share(load: &Load<'_>, count: f64) -> Option<(f64, bool)> {
    let share = count / load.requests()?;
    Some((share, share >= BINDS))
}

/// `raise net.core.somaxconn (now 128) and ...`.
#[must_use]
pub fn advice(counter: &Counter, facts: &[model::Fact]) -> String {
    let known = counter.settings.iter().filter_map(|name| {
        let key = format!("sysctl.{name}");
        let value = facts::number(facts, &key).map(|number| format!("{number:.0}"));
        Some(format!("{name} is {}", value.or_else(|| facts::text(facts, &key).map(str::to_owned))?))
    });
    let known: Vec<String> = known.collect();
    if known.is_empty() {
        counter.advice.to_owned()
    } else {
        format!("{} ({})", counter.advice, say::list(&known))
    }
}

pub fn rule(look: &Look<'_>) -> Vec<Ruling> {
    let loads = look.loads();
    if loads.is_empty() {
        return Vec::new();
    }
    if !loads.iter().any(|load| load.has("drops")) {
        return unknown(KIND, "what the kernel drops was not counted");
    }
    let mut all = Vec::new();
    for counter in &COUNTERS {
        let hit: Vec<(&Load<'_>, f64)> = loads
            .iter()
            .filter_map(|load| {
                let found = of_load(load).into_iter().find(|(one, _)| one.name == counter.name)?;
                Some((load, found.1))
            })
            .collect();
        let Some((worst, most)) = hit.iter().max_by(|a, b| a.1.total_cmp(&b.1)) else { continue };
        let at = match worst.number("connections") {
            Some(connections) => format!(" at {}", say::count(connections as usize, "connection")),
            None => String::new(),
        };
        let where_ =
            if hit.len() > 1 { format!(" (and in {} more loads)", hit.len() - 1) } else { String::new() };
        let text = format!("{most:.0} {}{at}{where_}: {}", counter.says, advice(counter, &look.run.facts));
        let finding = Finding::new(KIND, Validity::Doubtful, text)
            .evidence(counter.name, *most)
            .evidence("loads", hit.len() as f64);
        all.push(Ruling { finding, reach: Vec::new() });
    }
    if all.is_empty() {
        let finding = Finding::new(KIND, Validity::Ok, "the kernel dropped nothing");
        all.push(Ruling { finding, reach: Vec::new() });
    }
    all
}

#[cfg(test)]
mod tests {
    use model::{Fact, Unit};

    use super::*;
    use crate::loads::planted::{empty, load, one, times};
    use crate::run::RunContext;

    fn of(run: &model::data::RunData) -> Vec<Ruling> {
        rule(&Look::new(run, &RunContext { cards: instruments::cards(), ..RunContext::default() }))
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
        let text = &found[0].finding.text;
        assert!(text.starts_with("7200 times the queue") || text.starts_with("7199 times"), "{text}");
        assert!(
            text.contains("at 1000 connections: ") && text.contains("(net.core.somaxconn is 128)"),
            "{text}"
        );
        assert!(found[0].reach.is_empty(), "the figure is what this setup does");
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
