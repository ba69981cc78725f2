//! CPU time of a target's server on its host: of the processes that listen at the target's port, and of their children.
//!
//! CPU seconds a second; 1 is one core all the time. Only in the child that `--at` starts on the host of a target. Work
//! that the kernel does in interrupts is not counted reliably, nor is what runs behind the server, such as a database.

use std::collections::BTreeSet;
use std::net::{SocketAddr, ToSocketAddrs};

use model::metrics::telemetry::SERVER_CORES;
use model::url::{Url, authority, host};
use model::{Cadence, Card, Count, Family, Fault, Probe, Record, RecordExt, Setup, Simple, Unfit};

use super::parse::float;
use super::since::Since;
use crate::bench::net::frame::PORT;
use crate::workload::server::sockets::listeners_at;
use crate::workload::server::tree::{self, Usage};

static CARD: Card = Card {
    name: model::names::instrument::SERVER_USE,
    family: Family::Telemetry,
    says: "CPU time of a target's server, on the host that --at leads to",
    source: "/proc/net/tcp, /proc/PID/fd, /proc/PID/stat",
    cadence: Cadence::Tick,
    definition: 1,
    metrics: &[SERVER_CORES.info()],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare);

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let Some(target) = &setup.target else { return Ok(Box::new(NoTarget)) };
    let mut server = Server { target: target.clone(), pids: BTreeSet::new(), since: Since::new() };
    server.find().map_err(Unfit::new)?;
    Ok(Box::new(server))
}

/// In every other child.
struct NoTarget;

impl Probe for NoTarget {
    fn take(&mut self, _: u64, _: &mut dyn Record) -> Result<(), Fault> {
        Ok(())
    }
}

struct Server {
    target: String,
    /// The processes that listen.
    pids: BTreeSet<i32>,
    since: Since<Usage>,
}

/// The port of a target, and where its host's name leads to on this host.
fn sockets(target: &str) -> Result<(u16, Vec<SocketAddr>), String> {
    let (host, port) = match target.parse::<Url>() {
        Ok(url) => (url.host, url.port),
        Err(_) => {
            let authority = authority(target);
            let host = host(authority);
            let port = authority.strip_prefix(host).and_then(|rest| rest.strip_prefix(':'));
            let port = port.map_or(Ok(PORT), str::parse).map_err(|_| format!("{target} has no port"))?;
            (host.trim_matches(['[', ']']).to_owned(), port)
        }
    };
    // A name that leads nowhere here leaves the port.
    let found = (host.as_str(), port).to_socket_addrs().map(Iterator::collect).unwrap_or_default();
    Ok((port, found))
}

impl Server {
    fn find(&mut self) -> Result<(), String> {
        let (port, addresses) = sockets(&self.target)?;
        self.pids = listeners_at(port, &addresses)?;
        Ok(())
    }

    fn usage(&mut self) -> Result<Usage, String> {
        let all = tree::processes()?;
        if !all.iter().any(|stat| self.pids.contains(&stat.pid) && stat.is_alive()) {
            self.find()?;
        }
        Usage::from_processes(tree::descend(&all, &self.pids))
    }
}

impl Probe for Server {
    fn take(&mut self, _: u64, record: &mut dyn Record) -> Result<(), Fault> {
        let now = self.usage().map_err(Fault::new)?;
        let Some(step) = self.since.step(sys::clock::now_ns(), now) else { return Ok(()) };
        // The time of a process that ended meanwhile may be lost: then this second has none.
        let spent = step.now.since(&step.before).map_err(Fault::new)?;
        let spent_ns = spent.exact_ns.unwrap_or_else(|| spent.user_ns.saturating_add(spent.system_ns));
        record.push(&SERVER_CORES, Count(float(spent_ns) / 1e9 / step.seconds));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use model::Params;

    use super::*;
    use crate::telemetry::record::Values;

    fn setup(target: Option<String>) -> Setup {
        Setup { target, ..Setup::bare(Params::default(), vec![0], ".") }
    }

    #[test]
    fn ports_are_those_of_urls_and_of_far_ends() {
        let port = |target: &str| sockets(target).map(|(port, _)| port);
        assert_eq!(port("http://h.invalid/x?y"), Ok(80));
        assert_eq!(port("redis://127.0.0.1:7000"), Ok(7000));
        assert_eq!(port("127.0.0.1"), Ok(PORT));
        assert_eq!(port("[::1]:99"), Ok(99));
        assert_eq!(sockets("127.0.0.1:99").unwrap().1, ["127.0.0.1:99".parse().unwrap()]);
        assert!(port("h:99999").is_err());
    }

    #[test]
    fn a_server_is_found_by_its_port_and_its_work_is_counted() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        // Under a name by which nobody here knows it.
        let mut probe = prepare(&setup(Some(format!("http://host.invalid:{port}/")))).ok().unwrap();
        let mut values = Values::default();
        probe.take(1, &mut values).unwrap();
        assert!(values.values.is_empty());
        let (from_ns, cpu_ns) = (sys::clock::now_ns(), sys::clock::process_cpu_ns());
        while sys::clock::process_cpu_ns() < cpu_ns + 100_000_000 {}
        probe.take(1, &mut values).unwrap();
        let least = 0.05 / (float(sys::clock::now_ns() - from_ns) / 1e9);
        assert!(values.get("server-cores").is_some_and(|cores| cores > least), "{:?}", values.values);
    }

    #[test]
    fn without_a_target_nothing_is_said_and_without_a_server_it_is_said_why() {
        let mut values = Values::default();
        prepare(&setup(None)).ok().unwrap().take(1, &mut values).unwrap();
        assert!(values.values.is_empty());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let gone = format!("http://{}/", listener.local_addr().unwrap());
        drop(listener);
        let why = prepare(&setup(Some(gone))).err().unwrap().why;
        assert!(why.contains("listens at port"), "{why}");
    }
}
