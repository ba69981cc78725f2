//! Who sends a load: threads of this process, or generators in other processes and on other hosts.
//!
//! Connections, requests and rates are shared out so that the parts add up to the whole exactly. Hosts do not share a
//! clock: each generator has its own window, and how far apart they started is told with how well that is known.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use model::generate::{Generator, NotLoaded, Order, Part as Came, Relay};

use super::engine::source::Part;
use super::relayed::{pack, unpack};
use super::schedule::stream;
use super::{Control, Error, Load, Outcome, nanoseconds, run};

/// Beside the load's own time limits, for what lies between two processes.
const PATIENCE: Duration = Duration::from_secs(30);
/// Addresses of a name that are tried one after the other, and the connections themselves.
const CONNECTING: u32 = 4;

/// What can carry out a load.
pub trait Generators {
    /// How many can take part.
    fn available(&self) -> usize;
    /// Carries the load out on the first `how_many`, all from the same moment. The load's threads and CPUs are theirs to
    /// choose.
    fn run(&self, load: &Load, how_many: usize, control: &Control) -> Result<Sent, Error>;
}

/// An outcome, and what there is to say about those who sent.
#[derive(Clone, Debug)]
pub struct Sent {
    pub outcome: Outcome,
    /// `None` for one process.
    pub together: Option<Together>,
}

/// Several processes that sent at the same time.
#[derive(Clone, Debug, PartialEq)]
pub struct Together {
    pub generators: usize,
    /// From the first start to the last, and how wrong that may be, either way.
    pub apart: Duration,
    pub error: Duration,
    /// Names with the CPUs' worth of time that a quota allows them.
    pub quotas: Vec<(String, f64)>,
}

impl fmt::Display for Together {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |span: Duration| span.as_secs_f64() * 1e3;
        match self.generators {
            1 => write!(f, "one generator in a process of its own")?,
            count => {
                write!(f, "{count} generators started within {:.3} ms", ms(self.apart))?;
                write!(f, " of each other, known to {:.3} ms", ms(self.error))?;
            }
        }
        for (name, cpus) in &self.quotas {
            write!(f, "; {name} has a CPU quota of {cpus:.2} cores")?;
        }
        Ok(())
    }
}

/// Threads of this process.
#[derive(Clone, Debug)]
pub struct Local {
    /// In the order of the threads, which share them in turn.
    pub cpus: Vec<usize>,
    /// Nothing else needs them.
    pub own_cores: bool,
}

impl Generators for Local {
    fn available(&self) -> usize {
        self.cpus.len().max(1)
    }

    fn run(&self, load: &Load, how_many: usize, control: &Control) -> Result<Sent, Error> {
        let load =
            Load { threads: how_many, cpus: self.cpus.clone(), own_cores: self.own_cores, ..load.clone() };
        Ok(Sent { outcome: run(&load, control)?, together: None })
    }
}

/// Generators in other processes, one thread each.
#[derive(Clone, Debug)]
pub struct Remote {
    relay: Arc<dyn Relay>,
    /// The host of this process, in the words of [`Generator::host`].
    here: Option<String>,
}

/// Where a generator works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seat {
    /// Numbers hosts as they come.
    host: u32,
    cpu: Option<u32>,
    /// Nobody of ours needs that CPU.
    own: bool,
}

/// The last CPUs of each host, one a generator while there are any. Hosts that are not known are each their own.
fn seats(generators: &[Generator], here: Option<&str>) -> Vec<Seat> {
    let mut hosts: Vec<(Option<&str>, usize)> = Vec::new();
    let mut seats = Vec::with_capacity(generators.len());
    for one in generators {
        let known = one.host.as_deref();
        let host = match hosts.iter().position(|(name, _)| name.is_some() && *name == known) {
            Some(host) => host,
            None => {
                hosts.push((known, 0));
                hosts.len() - 1
            }
        };
        let taken = hosts[host].1;
        hosts[host].1 += 1;
        let count = one.cpus.len();
        let cpu = (count > 0).then(|| one.cpus[count - 1 - taken % count]);
        // The server may use all of its machine's; and a host needs one for the rest.
        let own = known.is_some() && known != here && taken + 1 < count;
        seats.push(Seat { host: u32::try_from(host).unwrap_or(u32::MAX), cpu, own });
    }
    seats
}

impl Remote {
    #[must_use]
    pub fn new(relay: Arc<dyn Relay>) -> Remote {
        Remote { relay, here: sys::clock::boot_id().ok() }
    }

    /// The first `how_many`, or why there are not so many.
    pub fn choose(&self, how_many: usize) -> Result<&[Generator], Error> {
        let all = self.relay.generators();
        all.get(..how_many).filter(|taking| !taking.is_empty()).ok_or_else(|| {
            let given = all.len();
            Error::Load(format!("{how_many} generators are asked for, and {given} are given with --from"))
        })
    }

    #[must_use]
    pub fn names(&self, how_many: usize) -> Vec<&str> {
        self.relay.generators().iter().take(how_many).map(|one| one.name.as_str()).collect()
    }

    /// The CPUs of this machine on which the first `how_many` generators work.
    #[must_use]
    pub fn cpus_here(&self, how_many: usize) -> Vec<u32> {
        let all = self.relay.generators();
        let taking = &all[..how_many.min(all.len())];
        let seats = seats(taking, self.here.as_deref());
        let here = taking.iter().zip(seats).filter(|(one, _)| one.host.is_some() && one.host == self.here);
        let mut cpus: Vec<u32> = here.filter_map(|(_, seat)| seat.cpu).collect();
        cpus.sort_unstable();
        cpus.dedup();
        cpus
    }
}

/// The part of one of several generators; those of all add up to the load exactly.
pub fn part(load: &Load, part: Part) -> Result<Load, Error> {
    let of = |all: usize| usize::try_from(part.of(all as u64)).unwrap_or(usize::MAX);
    let connections = of(load.connections);
    if connections == 0 {
        return Err(Error::Load(format!(
            "{} connections for {} generators; each needs at least one",
            load.connections, part.threads
        )));
    }
    let requests = load.requests.map(|all| part.of(all));
    if requests == Some(0) {
        return Err(Error::Load(format!(
            "{} requests for {} generators; each needs at least one",
            load.requests.unwrap_or_default(),
            part.threads
        )));
    }
    let schedule = load.schedule.part(part).map_err(Error::Load)?;
    let seed = if part.threads > 1 { stream(load.seed, part.thread) } else { load.seed };
    Ok(Load { connections, requests, schedule, seed, ..load.clone() })
}

impl Generators for Remote {
    fn available(&self) -> usize {
        self.relay.generators().len()
    }

    fn run(&self, load: &Load, how_many: usize, control: &Control) -> Result<Sent, Error> {
        let taking = self.choose(how_many)?;
        let seats = seats(taking, self.here.as_deref());
        let mut bodies = Vec::with_capacity(how_many);
        for (thread, seat) in seats.iter().enumerate() {
            let mut mine = part(load, Part { thread, threads: how_many })?;
            mine.threads = 1;
            mine.cpus = seat.cpu.map(|cpu| cpu as usize).into_iter().collect();
            mine.own_cores = seat.own;
            bodies.push(pack(&mine).map_err(Error::System)?);
        }
        let connecting = load.timeout.saturating_mul(CONNECTING).saturating_add(PATIENCE);
        let running = load.duration.map(|span| {
            span.saturating_add(load.drain).saturating_add(load.timeout).saturating_add(PATIENCE)
        });
        let order =
            Order { id: 0, bodies, connect_ns: nanoseconds(connecting), run_ns: running.map(nanoseconds) };
        let mut started = || control.started.store(true, Ordering::Relaxed);
        let parts = self.relay.load(order, &mut started).map_err(|not| failed(&not, load))?;
        merge(parts, taking, &seats)
    }
}

/// A generator that cannot reach a server on its machine's loopback is told so.
fn failed(not: &NotLoaded, load: &Load) -> Error {
    let host = load.targets.first().map(|target| target.url.host.as_str()).unwrap_or_default();
    let address: Option<std::net::IpAddr> = host.parse().ok();
    let is_loopback =
        host == "localhost" || address.is_some_and(|address| address.to_canonical().is_loopback());
    match not.before_start && is_loopback && !not.generator.is_empty() {
        true => Error::Unreachable(format!(
            "{not}; {host} is each host's own: have the server listen where the generators reach it, with --set \
             listen=ADDRESS or --set url=URL"
        )),
        false => Error::System(not.to_string()),
    }
}

fn merge(parts: Vec<Came>, taking: &[Generator], seats: &[Seat]) -> Result<Sent, Error> {
    let (mut apart_ns, mut error_ns) = (0, 0);
    let mut quotas = Vec::new();
    let mut all: Option<Outcome> = None;
    if parts.len() != taking.len() {
        return Err(Error::System(format!("{} generators sent and {} told", taking.len(), parts.len())));
    }
    for ((came, one), seat) in parts.into_iter().zip(taking).zip(seats) {
        let brought =
            unpack(&came.body).map_err(|what| Error::System(format!("generator {}: {what}", one.name)))?;
        let mut outcome = brought.outcome;
        for thread in &mut outcome.generator.threads {
            thread.host = seat.host;
            if let Some(quota) = brought.quota.filter(|quota| *quota < 1.0) {
                // Left over from before the start, it may have a little more than its part.
                let worked_ns = thread.cpu_ns.saturating_sub(thread.spun_ns);
                thread.allowed_ns = ((thread.wall_ns as f64 * quota) as u64).max(worked_ns);
            }
        }
        quotas.extend(brought.quota.map(|quota| (one.name.clone(), quota)));
        apart_ns = apart_ns.max(came.after_ns);
        error_ns = error_ns.max(came.error_ns);
        match &mut all {
            Some(all) => all.merge(outcome),
            none => *none = Some(outcome),
        }
    }
    let outcome = all.ok_or_else(|| Error::System("no generator sent".to_owned()))?;
    let (apart, error) = (Duration::from_nanos(apart_ns), Duration::from_nanos(error_ns));
    // Both ends of the span may be wrong.
    let together = Together { generators: taking.len(), apart, error: error * 2, quotas };
    Ok(Sent { outcome, together: Some(together) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generators_get_the_last_cpus_of_their_hosts() {
        let one = |host: Option<&str>, cpus: &[u32]| Generator {
            name: String::new(),
            host: host.map(str::to_owned),
            cpus: cpus.to_vec(),
        };
        let all = [
            one(Some("a"), &[0, 1]),
            one(Some("b"), &[0, 1, 2, 3]),
            one(Some("b"), &[0, 1, 2, 3]),
            one(Some("a"), &[0, 1]),
            one(Some("a"), &[0, 1]),
            one(None, &[7]),
            one(None, &[]),
        ];
        let seats = seats(&all, Some("a"));
        let of = |of: fn(&Seat) -> u32| seats.iter().map(of).collect::<Vec<_>>();
        assert_eq!(of(|seat| seat.host), [0, 1, 1, 0, 0, 2, 3]);
        assert_eq!(of(|seat| seat.cpu.unwrap_or(99)), [1, 3, 2, 0, 1, 7, 99]);
        // Beside the server, or where the host is not known or full, nobody may spin.
        assert_eq!(of(|seat| u32::from(seat.own)), [0, 1, 1, 0, 0, 0, 0]);
    }
}
