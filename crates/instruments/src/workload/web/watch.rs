//! The activity of a machine during a take: each core, the server's processes, disks, network interfaces, and who
//! waited for what.
//!
//! Differences of two looks at the kernel's counters, which count all programs. CPU time has steps of 10 ms. Shares are
//! of the time between the looks, which lie right around the load. A counter that is not there is missing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use model::{Bytes, BytesPerSec, Count, Metric, NoteBody, Params, PerSec, Ratio, Record, RecordExt, Seconds};

use super::cores::Cores;
use crate::load::engine::ThreadUse;
use crate::telemetry::parse::disks::{self, Counters};
use crate::telemetry::parse::nets;
use crate::telemetry::parse::stat::{self, Stat, Times};
use crate::telemetry::parse::{float, pressure};
use crate::telemetry::since::{extra, rate};
use crate::workload::server::place::Place;
use crate::workload::server::tree::{Spent, Usage};
use model::metrics::load::{
    CORE_BUSY, CORE_GENERATOR, CORE_SERVER, CORE_SOFTIRQ, CORE_STEAL, CORE_SYSTEM, CORE_USER, CPU_PRESSURE,
    DISK_BUSY, DISK_DEPTH, DISK_READ, DISK_READ_RATE, DISK_READS, DISK_WRITE_RATE, IO_PRESSURE,
    MEMORY_PRESSURE, PACKETS_IN, PACKETS_OUT, SERVER_CORES, SERVER_CPU, SERVER_READ, SERVER_THREAD,
    SERVER_THREAD_WAIT, SERVER_USER, SERVER_WAITING, SERVER_WORKERS, SERVER_WRITTEN, SILENT_CORES,
};

const SECTOR_BYTES: f64 = 512.0;
/// User and system time each come in steps of 10 ms.
const LEAST_PARTED_NS: u64 = 200_000_000;
/// The resources of pressure stall information, with their metrics.
const WAITS: [(&str, &Metric<Ratio>); 3] =
    [("cpu", &CPU_PRESSURE), ("io", &IO_PRESSURE), ("memory", &MEMORY_PRESSURE)];

/// The machine's counters of one moment.
#[derive(Clone, Debug)]
struct Machine {
    at_ns: u64,
    stat: Option<Stat>,
    /// Of each of [`WAITS`].
    pressure_us: [Option<u64>; 3],
    disks: Option<BTreeMap<String, Counters>>,
    nets: Option<BTreeMap<String, nets::Counters>>,
}

impl Machine {
    fn now() -> Machine {
        let pressure_us = WAITS.map(|(name, _)| {
            let text = fs::read(format!("/proc/pressure/{name}")).ok()?;
            pressure::parse(&text).some_us
        });
        let whole = |text: &[u8]| disks::parse(text).into_iter().filter(|(name, _)| is_whole(name)).collect();
        let disks = fs::read("/proc/diskstats").ok().map(|text| whole(&text));
        let nets = fs::read("/proc/self/net/dev").ok().map(|text| nets::parse(&text).into_iter().collect());
        let stat = fs::read("/proc/stat").ok().map(|text| stat::parse(&text));
        Machine { at_ns: sys::clock::now_ns(), stat, pressure_us, disks, nets }
    }
}

/// All counters of one moment.
#[derive(Clone, Debug)]
pub struct Look {
    machine: Machine,
    used_at_ns: u64,
    used: Result<Usage, String>,
}

impl Look {
    /// Reads the counters before a load: the server first, since its processes take longest to read.
    pub fn before(used: impl FnOnce() -> Result<Usage, String>) -> Look {
        let used = used();
        let used_at_ns = sys::clock::now_ns();
        Look { machine: Machine::now(), used_at_ns, used }
    }

    /// Reads the counters after a load: the server last.
    pub fn after(used: impl FnOnce() -> Result<Usage, String>) -> Look {
        let machine = Machine::now();
        let used_at_ns = sys::clock::now_ns();
        Look { machine, used_at_ns, used: used() }
    }

    /// Pushes what happened since `before` while these generators of ours sent so many requests.
    pub fn push(
        &self,
        before: &Look,
        cores: &Cores,
        (generators, requests): (&[ThreadUse], u64),
        record: &mut dyn Record,
    ) {
        let (now, then) = (&self.machine, &before.machine);
        let spent = self.spent(before);
        if let (Some(now), Some(before)) = (&now.stat, &then.stat) {
            let online: BTreeSet<u32> = now.cpus.iter().map(|(cpu, _)| *cpu).collect();
            let place = spent.as_ref().ok().and_then(|spent| Place::look(&spent.workers, &online));
            let cores = with_server(cores, place.as_ref());
            for (cpu, now) in &now.cpus {
                if let Some(before) = before.cpu(*cpu) {
                    core(*cpu, cores.role(*cpu), &now.since(before), record);
                }
            }
            let ns = self.machine.at_ns.saturating_sub(then.at_ns);
            of_each(&cores, place.as_ref(), generators, ns, record);
        }
        let us = now.at_ns.saturating_sub(then.at_ns) / 1000;
        for (at, (_, metric)) in WAITS.iter().enumerate() {
            let waited = now.pressure_us[at].zip(then.pressure_us[at]);
            if let Some(waited) = waited.and_then(|(now, then)| now.checked_sub(then)).filter(|_| us > 0) {
                record.push(metric, Ratio((float(waited) / float(us)).min(1.0)));
            }
        }
        if let (Some(now), Some(before)) = (&now.disks, &then.disks) {
            all_disks(now, before, us, record);
        }
        if let (Some(now), Some(before)) = (&now.nets, &then.nets) {
            all_nets(now, before, us, record);
        }
        self.server(spent, before.used_at_ns, requests, record);
    }

    /// Pushes what the server did since a look in the silence that lasted until now.
    pub fn push_silence(&self, silence: &Look, record: &mut dyn Record) {
        let ns = self.used_at_ns.saturating_sub(silence.used_at_ns);
        if let (Ok(now), Ok(before)) = (&self.used, &silence.used)
            && let Ok(spent) = now.since(before)
            && ns > 0
        {
            let ticks_ns = spent.user_ns.saturating_add(spent.system_ns);
            record.push(&SILENT_CORES, Count(float(spent.exact_ns.unwrap_or(ticks_ns)) / float(ns)));
        }
        let halted = match &self.used {
            Ok(now) => now.halted(),
            Err(why) => Some(why.clone()),
        };
        if let Some(text) = halted {
            record.note(NoteBody::ServerSilent(text));
        }
    }

    /// The CPU time that the server used since `before`.
    fn spent(&self, before: &Look) -> Result<Spent, String> {
        match (&self.used, &before.used) {
            (Ok(now), Ok(before)) => now.since(before),
            (Err(why), _) | (_, Err(why)) => Err(why.clone()),
        }
    }

    fn server(&self, spent: Result<Spent, String>, since_ns: u64, requests: u64, record: &mut dyn Record) {
        let ns = self.used_at_ns.saturating_sub(since_ns);
        match spent {
            Ok(spent) if ns > 0 => {
                if let Some(workers) = self.used.as_ref().ok().and_then(|used| used.at_work(&spent)) {
                    record.note(NoteBody::ServerWorkers(workers));
                }
                let ticks_ns = spent.user_ns.saturating_add(spent.system_ns);
                let cpu_ns = spent.exact_ns.unwrap_or(ticks_ns);
                record.push(&SERVER_CORES, Count(float(cpu_ns) / float(ns)));
                // Less than a tick for all of them is not known to be nothing.
                if requests > 0 && cpu_ns > 0 {
                    record.push(&SERVER_CPU, Seconds(float(cpu_ns) / 1e9 / float(requests)));
                }
                // Of a few steps the parts tell nothing.
                if ticks_ns >= LEAST_PARTED_NS {
                    record.push(&SERVER_USER, Ratio(float(spent.user_ns) / float(ticks_ns)));
                }
                if let Some(disk) = spent.disk {
                    record.push(&SERVER_READ, Bytes(float(disk.read)));
                    record.push(&SERVER_WRITTEN, Bytes(float(disk.written)));
                }
                record
                    .push_if(&SERVER_WAITING, spent.waited_ns.map(|waited| Count(float(waited) / float(ns))));
                if let Some(thread) = spent.busiest {
                    record.push(&SERVER_THREAD, Ratio(float(thread.cpu_ns) / float(ns)));
                    let waited = thread.waited_ns.map(|waited| Ratio(float(waited) / float(ns)));
                    record.push_if(&SERVER_THREAD_WAIT, waited);
                }
            }
            Ok(_) => {}
            Err(why) => record.remark("server-unseen", &format!("the server's CPU time is not known: {why}")),
        }
    }
}

/// The cores with those of a server that is not ours, where its threads tell them.
fn with_server(cores: &Cores, place: Option<&Place>) -> Cores {
    match place.filter(|_| cores.server.is_empty()) {
        Some(place) => Cores { server: place.cpus.clone(), ..cores.clone() },
        None => cores.clone(),
    }
}

/// Pushes what server and generators used of each core in so many nanoseconds, as far as that is known.
fn of_each(
    cores: &Cores,
    place: Option<&Place>,
    generators: &[ThreadUse],
    span_ns: u64,
    record: &mut dyn Record,
) {
    let share = |ns: u64| Ratio(float(ns) / float(span_ns.max(1)));
    if let Some(place) = place {
        record.push(&SERVER_WORKERS, Count(place.workers as f64));
    }
    for (cpu, ns) in place.and_then(|place| place.used_ns.as_ref()).into_iter().flatten() {
        record.push_of(&CORE_SERVER, &part(*cpu, cores.role(*cpu)), share(*ns));
    }
    let mut by_cpu: BTreeMap<u32, u64> = BTreeMap::new();
    for thread in generators {
        if let Some(cpu) = thread.cpu.and_then(|cpu| u32::try_from(cpu).ok()) {
            *by_cpu.entry(cpu).or_default() += thread.cpu_ns;
        }
    }
    for (cpu, ns) in by_cpu {
        record.push_of(&CORE_GENERATOR, &part(cpu, cores.role(cpu)), share(ns));
    }
}

/// A core as a part of the take.
fn part(cpu: u32, role: &str) -> Params {
    let mut extra = Params::default();
    extra.set("cpu", &cpu.to_string());
    extra.set("role", role);
    extra
}

fn core(cpu: u32, role: &str, times: &Times, record: &mut dyn Record) {
    let total = times.total();
    if total == 0 {
        return;
    }
    let extra = part(cpu, role);
    let of = |part: u64| Ratio(float(part) / float(total));
    record.push_of(&CORE_BUSY, &extra, of(times.busy()));
    record.push_of(&CORE_USER, &extra, of(times.user.saturating_add(times.nice)));
    record.push_of(&CORE_SYSTEM, &extra, of(times.system));
    record.push_of(&CORE_SOFTIRQ, &extra, of(times.irq.saturating_add(times.softirq)));
    record.push_of(&CORE_STEAL, &extra, of(times.steal));
}

/// Not a partition, and not what another disk holds. Names such as cciss!c0d0 stand with a `!` for the slash.
fn is_whole(name: &str) -> bool {
    !disks::is_virtual(name) && Path::new("/sys/block").join(name.replace('/', "!")).exists()
}

fn all_disks(
    now: &BTreeMap<String, Counters>,
    before: &BTreeMap<String, Counters>,
    us: u64,
    record: &mut dyn Record,
) {
    let mut sectors = None;
    for (name, now) in now {
        let Some(before) = before.get(name) else { continue };
        if let Some(read) = now.read_sectors.checked_sub(before.read_sectors) {
            sectors = Some(sectors.unwrap_or(0u64).saturating_add(read));
        }
        if let Some(busy_ms) = now.busy_ms.checked_sub(before.busy_ms).filter(|_| us > 0) {
            let share = Ratio((float(busy_ms) * 1000.0 / float(us)).min(1.0));
            record.push_of(&DISK_BUSY, &extra("disk", name), share);
        }
        traffic(name, now, before, float(us) / 1e6, record);
    }
    record.push_if(&DISK_READ, sectors.map(|sectors| Bytes(float(sectors) * SECTOR_BYTES)));
}

/// Pushes the requests and bytes of one disk in so many seconds; nothing of a disk that did nothing.
fn traffic(name: &str, now: &Counters, before: &Counters, seconds: f64, record: &mut dyn Record) {
    let per_second = |of: fn(&Counters) -> u64| some(rate(of(now), of(before), seconds));
    let extra = extra("disk", name);
    record.push_of_if(&DISK_READS, &extra, per_second(|disk| disk.reads).map(PerSec));
    let bytes = |sectors: f64| BytesPerSec(sectors * SECTOR_BYTES);
    record.push_of_if(&DISK_READ_RATE, &extra, per_second(|disk| disk.read_sectors).map(bytes));
    record.push_of_if(&DISK_WRITE_RATE, &extra, per_second(|disk| disk.written_sectors).map(bytes));
    let depth = per_second(|disk| disk.reading_ms).map(|ms| Count(ms / 1000.0));
    record.push_of_if(&DISK_DEPTH, &extra, depth);
}

/// A rate above nothing, over a time that passed.
fn some(rate: Option<f64>) -> Option<f64> {
    rate.filter(|rate| rate.is_finite() && *rate > 0.0)
}

/// Pushes the packets of each interface that had some.
fn all_nets(
    now: &BTreeMap<String, nets::Counters>,
    before: &BTreeMap<String, nets::Counters>,
    us: u64,
    record: &mut dyn Record,
) {
    for (name, now) in now {
        let Some(before) = before.get(name) else { continue };
        let per_second =
            |of: fn(&nets::Counters) -> u64| some(rate(of(now), of(before), float(us) / 1e6)).map(PerSec);
        let extra = extra("interface", name);
        record.push_of_if(&PACKETS_OUT, &extra, per_second(|net| net.sent_packets));
        record.push_of_if(&PACKETS_IN, &extra, per_second(|net| net.received_packets));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::record::Values;
    use crate::workload::server::tree;

    fn look(at_us: u64, stat: &[u8], waits: [Option<u64>; 3], read_sectors: u64) -> Look {
        let disk = Counters {
            reads: read_sectors * 3,
            read_sectors,
            reading_ms: at_us / 500,
            busy_ms: at_us / 4000,
            ..Counters::default()
        };
        let net = nets::Counters { sent_packets: 1 + at_us / 100, ..nets::Counters::default() };
        let machine = Machine {
            at_ns: at_us * 1000,
            stat: Some(stat::parse(stat)),
            pressure_us: waits,
            disks: Some(BTreeMap::from([("vda".to_owned(), disk)])),
            nets: Some(BTreeMap::from([("lo".to_owned(), net)])),
        };
        Look { machine, used_at_ns: at_us * 1000, used: Err("it is far away".to_owned()) }
    }

    #[test]
    fn differences_become_shares() {
        let before = look(0, b"cpu0 10 0 0 90 0 0 0 0\ncpu1 5 0 0 0 0 0 0 0\n", [Some(5), None, Some(9)], 7);
        let text = b"cpu0 30 0 40 110 0 5 10 5\ncpu1 5 0 0 0 0 0 0 0\ncpu2 1 0 0 0 0 0 0 0\n";
        let after = look(1_000_000, text, [Some(250_005), Some(1), Some(8)], 9);
        let mut values = Values::default();
        let cores = Cores { server: vec![0], ..Cores::default() };
        let thread = ThreadUse {
            host: 0,
            cpu: Some(1),
            connections: 1,
            cpu_ns: 300_000_000,
            spun_ns: 100_000_000,
            wall_ns: 1_000_000_000,
            allowed_ns: 1_000_000_000,
        };
        after.push(&before, &cores, (&[thread], 10), &mut values);
        for (name, wanted) in [
            ("core-busy cpu=0;role=server", Some(0.75)),
            ("core-user cpu=0;role=server", Some(0.20)),
            ("core-system cpu=0;role=server", Some(0.40)),
            ("core-softirq cpu=0;role=server", Some(0.15)),
            ("core-steal cpu=0;role=server", Some(0.05)),
            // No time passed on it, and one that came.
            ("core-busy cpu=1;role=other", None),
            ("core-busy cpu=2;role=other", None),
            ("cpu-pressure", Some(0.25)),
            ("io-pressure", None),
            ("memory-pressure", None),
            ("disk-read", Some(1024.0)),
            ("disk-busy disk=vda", Some(0.25)),
            ("disk-reads disk=vda", Some(6.0)),
            ("disk-read-rate disk=vda", Some(1024.0)),
            ("disk-write-rate disk=vda", None),
            ("disk-read-depth disk=vda", Some(2.0)),
            ("packets-out interface=lo", Some(10_000.0)),
            ("packets-in interface=lo", None),
            ("server-cpu", None),
            ("core-generator cpu=1;role=other", Some(0.3)),
        ] {
            assert_eq!(values.get(name), wanted, "{name}");
        }
    }

    #[test]
    fn what_a_server_used_is_seen() {
        let own = || {
            let pid = i32::try_from(std::process::id()).unwrap();
            tree::Usage::from_processes(tree::family(&[pid].into())?)
        };
        let before = Look::before(own);
        let start_ns = sys::clock::thread_cpu_ns();
        while sys::clock::thread_cpu_ns() - start_ns < 100_000_000 {
            std::hint::spin_loop();
        }
        let mut values = Values::default();
        Look::after(own).push(&before, &Cores::default(), (&[], 2), &mut values);
        let thread = values.get("server-thread-share").unwrap();
        assert!(thread > 0.0 && values.get("server-cores").unwrap() > 0.0, "{thread}");
        assert!(values.get("server-workers").is_some_and(|workers| workers >= 1.0));
        // How many of its threads worked depends on the other tests.
        assert!(values.notes.iter().any(|(kind, _)| kind == "server-workers"), "{:?}", values.notes);
        // 100 ms for two requests, in steps of 10 ms.
        assert!(values.get("server-cpu").unwrap() >= 0.04);
    }
}
