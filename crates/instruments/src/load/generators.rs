//! The senders of a load: threads of this process, or generators in other processes and on other hosts.
//!
//! Connections, requests and rates are divided so that the parts add up to the whole exactly. Hosts do not share a
//! clock: each generator has a window of its own. How far apart the windows started, and how precisely that is known,
//! is reported.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use model::generate::{Generator, GeneratorOrder, NotLoaded, Part as Came, Relay};

use super::placement::{Placement, placements};
use super::quota;
use super::relayed::unpack;
use super::schedule::Part;
use super::schedule::{Schedule, stream};
use super::{Control, Error, Load, Outcome, nanoseconds, run};
use crate::remote_task::RemoteTask;

/// Extra time for the communication between two processes, beyond the load's own limits.
const PATIENCE: Duration = Duration::from_secs(30);
/// Time limits granted for connecting: several addresses of a name are tried in turn before the connections are
/// opened.
const CONNECTING: u32 = 4;

/// Something that can carry out a load.
pub trait Generators {
    /// Carries the load out on the first `how_many` senders, all from the same moment. They choose the threads and
    /// CPUs themselves. Fails as [`run`](super::run) does, and when a generator is lost.
    fn run(&self, load: &Load, how_many: usize, control: &Control) -> Result<Sent, Error>;
}

/// The outcome of a load, and details about its senders.
#[derive(Clone, Debug)]
pub struct Sent {
    pub outcome: Outcome,
    /// `None` when one process sent.
    pub together: Option<Together>,
}

/// Several processes that sent at the same time.
#[derive(Clone, Debug, PartialEq)]
pub struct Together {
    pub generators: usize,
    /// Time from the first start to the last; `error` is its uncertainty either way.
    pub apart: Duration,
    pub error: Duration,
    /// For each quota: the names of its generators, their number, and the cores that it allows them together.
    pub quotas: Vec<(String, usize, f64)>,
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
        for (names, count, cpus) in &self.quotas {
            let have = if *count == 1 { "has" } else { "share" };
            write!(f, "; {names} {have} a CPU quota of {cpus:.2} cores")?;
        }
        Ok(())
    }
}

/// Sends with threads of this process.
#[derive(Clone, Debug)]
pub struct Local {
    /// CPUs for the threads, assigned in turn.
    pub cpus: Vec<usize>,
    /// True if nothing else needs these CPUs.
    pub own_cores: bool,
}

impl Generators for Local {
    fn run(&self, load: &Load, how_many: usize, control: &Control) -> Result<Sent, Error> {
        let load =
            Load { threads: how_many, cpus: self.cpus.clone(), own_cores: self.own_cores, ..load.clone() };
        Ok(Sent { outcome: run(&load, control)?, together: None })
    }
}

/// Sends with generators in other processes, one thread each.
#[derive(Clone, Debug)]
pub struct Remote {
    relay: Arc<dyn Relay>,
    /// This host, as [`Generator::host`] names it.
    here: Option<String>,
}

impl Remote {
    pub fn new(relay: Arc<dyn Relay>) -> Remote {
        Remote { relay, here: sys::clock::boot_id().ok() }
    }

    /// The first `how_many` generators. Fails when fewer are given.
    pub fn choose(&self, how_many: usize) -> Result<&[Generator], Error> {
        let all = self.relay.generators();
        all.get(..how_many).filter(|taking| !taking.is_empty()).ok_or_else(|| {
            let given = all.len();
            Error::Load(format!("{how_many} generators are asked for, and {given} are given with --from"))
        })
    }

    pub fn names(&self, how_many: usize) -> Vec<&str> {
        self.relay.generators().iter().take(how_many).map(|one| one.name.as_str()).collect()
    }

    /// The CPUs of this machine that the first `how_many` generators use.
    pub fn cpus_here(&self, how_many: usize) -> Vec<u32> {
        let all = self.relay.generators();
        let taking = &all[..how_many.min(all.len())];
        let places = placements(taking, self.here.as_deref());
        let here = taking.iter().zip(places).filter(|(one, _)| one.host.is_some() && one.host == self.here);
        let mut cpus: Vec<u32> = here.filter_map(|(_, place)| place.cpu).collect();
        cpus.sort_unstable();
        cpus.dedup();
        cpus
    }
}

/// One generator's part of a load; the parts add up to the load exactly. Fails when a part has no connection or no
/// request.
pub fn part(load: &Load, part: Part) -> Result<Load, Error> {
    let of = |all: usize| usize::try_from(part.share_of(all as u64)).unwrap_or(usize::MAX);
    let connections = of(load.connections);
    if connections == 0 {
        return Err(Error::Load(format!(
            "{} connections for {} generators; each needs at least one",
            load.connections, part.threads
        )));
    }
    let requests = load.requests.map(|all| part.share_of(all));
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

/// The longest time that a load can take; a generator that needs more hangs. Without a duration this is the time until
/// the last request is due, plus one time limit for each request that a connection may carry in turn.
fn longest(load: &Load) -> Duration {
    /// Longer than the pause after a failed connect and the wait for a close.
    const BETWEEN: Duration = Duration::from_secs(1);
    if let Some(span) = load.duration {
        return span.saturating_add(load.drain).saturating_add(load.timeout);
    }
    let count = match &load.schedule {
        Schedule::Replay(all) => load.requests.unwrap_or(u64::MAX).min(all.len() as u64),
        _ => load.requests.unwrap_or_default(),
    };
    let rounds = count.div_ceil(load.connections.max(1) as u64).saturating_add(1);
    let each = load.timeout.saturating_add(BETWEEN);
    let sending = each.saturating_mul(u32::try_from(rounds).unwrap_or(u32::MAX));
    sending.saturating_add(Duration::from_nanos(last_due_ns(&load.schedule, count)))
}

/// When the last of `count` requests is due. For random arrivals, the time before which it is due with a probability
/// of all but 10^-20.
fn last_due_ns(schedule: &Schedule, count: u64) -> u64 {
    if let Schedule::Poisson { rate, .. } = schedule {
        let count = count as f64;
        return ((count + 10.0 * count.sqrt() + 50.0) / rate * 1e9) as u64;
    }
    if let Schedule::Shaped { rate, over_ns, .. } = schedule {
        let count = count as f64;
        let shapes = (count + 10.0 * count.sqrt() + 50.0) / (rate * *over_ns as f64 / 1e9);
        return (shapes.ceil() * *over_ns as f64) as u64;
    }
    let Some(last) = count.checked_sub(1).and_then(|last| usize::try_from(last).ok()) else { return 0 };
    let due = schedule.arrivals().and_then(|mut all| all.nth(last)).map(|one| one.at_ns);
    let whole = if let Schedule::Each { of, .. } = schedule { of } else { schedule };
    match whole {
        // It ends where it has sunk to nothing.
        Schedule::Ramp { over_ns, .. } => due.unwrap_or(*over_ns),
        _ => due.unwrap_or(0),
    }
}

impl Generators for Remote {
    fn run(&self, load: &Load, how_many: usize, control: &Control) -> Result<Sent, Error> {
        let taking = self.choose(how_many)?;
        let places = placements(taking, self.here.as_deref());
        let mut bodies = Vec::with_capacity(how_many);
        let mut running = Duration::ZERO;
        for (thread, place) in places.iter().enumerate() {
            let mut mine = part(load, Part { thread, threads: how_many })?;
            mine.threads = 1;
            mine.cpus = place.cpu.map(|cpu| cpu as usize).into_iter().collect();
            mine.own_cores = place.own;
            running = running.max(longest(&mine).saturating_add(PATIENCE));
            bodies.push(RemoteTask::Load(Box::new(mine)).pack().map_err(Error::System)?);
        }
        let connecting = load.timeout.saturating_mul(CONNECTING).saturating_add(PATIENCE);
        let order = GeneratorOrder {
            id: 0,
            bodies,
            connect_ns: nanoseconds(connecting),
            run_ns: nanoseconds(running),
        };
        let mut started = || control.started.store(true, Ordering::Relaxed);
        let parts = self.relay.load(order, &mut started).map_err(|not| failed(&not, load))?;
        merge(parts, taking, &places)
    }
}

/// The error of a lost generator. Where the server's address is a loopback address, the message explains why a remote
/// generator cannot reach it.
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

fn merge(parts: Vec<Came>, taking: &[Generator], places: &[Placement]) -> Result<Sent, Error> {
    if parts.len() != taking.len() {
        return Err(Error::System(format!(
            "{} generators were asked and {} answered",
            taking.len(),
            parts.len()
        )));
    }
    let apart_ns = parts.iter().map(|came| came.after_ns).max().unwrap_or(0);
    let error_ns = parts.iter().map(|came| came.error_ns).max().unwrap_or(0);
    let mut brought = Vec::with_capacity(parts.len());
    for ((came, one), place) in parts.into_iter().zip(taking).zip(places) {
        let mut own =
            unpack(&came.body).map_err(|what| Error::System(format!("generator {}: {what}", one.name)))?;
        own.outcome.generator.threads.iter_mut().for_each(|thread| thread.host = place.host);
        brought.push(own);
    }
    let quotas = quota::share_out(&mut brought);
    let named = |quota: quota::Shared| {
        let names: Vec<&str> = quota.members.iter().map(|&at| taking[at].name.as_str()).collect();
        (names.join(" and "), names.len(), quota.cpus)
    };
    let quotas = quotas.into_iter().map(named).collect();
    let mut outcomes = brought.into_iter().map(|own| own.outcome);
    let mut outcome = outcomes.next().ok_or_else(|| Error::System("no generator sent".to_owned()))?;
    outcomes.for_each(|other| outcome.merge(other));
    let (apart, error) = (Duration::from_nanos(apart_ns), Duration::from_nanos(error_ns));
    // Both ends of the span may be wrong.
    let together = Together { generators: taking.len(), apart, error: error * 2, quotas };
    Ok(Sent { outcome, together: Some(together) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::schedule::Arrival;

    #[test]
    fn no_load_is_waited_for_longer_than_its_plan_says() {
        let load = |schedule, connections, requests| Load {
            schedule,
            connections,
            requests,
            duration: None,
            timeout: Duration::from_secs(9),
            ..Load::new("http://127.0.0.1/".parse().unwrap())
        };
        let constant = Schedule::Constant { rate: 10.0 };
        let replay = |at_ns| vec![Arrival { at_ns: 0, target: None }, Arrival { at_ns, target: None }];
        let ramp = Schedule::Ramp { from: 2.0, to: 0.0, over_ns: 3_000_000_000 };
        let each = Schedule::Each { of: Box::new(constant.clone()), part: Part { thread: 1, threads: 3 } };
        let sunk = Schedule::Each { of: Box::new(ramp.clone()), part: Part { thread: 0, threads: 2 } };
        for (load, seconds) in [
            // 101 requests on 5 connections: at most 21 one after the other, and the one in flight.
            (load(Schedule::Closed, 5, Some(101)), 220.0),
            (load(constant, 5, Some(101)), 230.0),
            (load(each, 5, Some(101)), 220.0 + 30.1),
            (load(Schedule::Replay(replay(7_000_000_000).into()), 2, None), 20.0 + 7.0),
            (load(ramp, 5, Some(101)), 220.0 + 3.0),
            (load(sunk, 5, Some(101)), 220.0 + 3.0),
            (Load { duration: Some(Duration::from_secs(1)), ..load(Schedule::Closed, 1, Some(1)) }, 20.0),
        ] {
            assert!((longest(&load).as_secs_f64() - seconds).abs() < 1e-6, "{load:?} {:?}", longest(&load));
        }
        // Whatever the seed, the last of independent arrivals comes before.
        for (seed, count) in (0..200).flat_map(|seed| [1u64, 2, 10, 1000].map(|count| (seed, count))) {
            let poisson = Schedule::Poisson { rate: 100.0, seed };
            let last = poisson.arrivals().unwrap().nth(count as usize - 1).unwrap().at_ns;
            assert!(last < last_due_ns(&poisson, count), "{seed} {count}");
        }
        let endless = load(Schedule::Poisson { rate: 1e-6, seed: 1 }, 1, Some(u64::MAX));
        assert!(longest(&endless) > Duration::from_secs(1 << 30));
    }
}
