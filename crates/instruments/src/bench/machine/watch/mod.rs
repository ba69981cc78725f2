//! The state of the system at one moment: counters whose differences are the conditions of a take.
//!
//! Times are nanoseconds, CPU times of /proc are ticks. A field is missing where this system has no such counter.
//! Reading all of them takes well under a millisecond.

pub mod disturbers;
pub mod load;
pub mod quiet;
mod relatives;

use crate::system_files::{Root, cgroup, mounts};
use crate::telemetry::parse::throttle::Throttle;
use crate::telemetry::parse::{lone, pairs, pressure, stat, throttle};
use crate::telemetry::read::{Kept, names};
use crate::workload::web::served;

use load::Mark;
use relatives::Relatives;

/// The open files.
#[derive(Debug)]
pub struct Files {
    stat: Option<Kept>,
    vmstat: Option<Kept>,
    pressure: Option<Kept>,
    /// cpu.stat of our control group and its parents.
    groups: Vec<Kept>,
    /// Counters of thermal throttling.
    hot: Vec<Kept>,
    relatives: Option<Relatives>,
}

/// One reading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moment {
    pub at_ns: u64,
    pub wall_ns: u64,
    pub load: Option<Mark>,
    pub throttle: Option<Throttle>,
    /// Major faults of this process and of its children that have ended.
    pub major_faults: Option<u64>,
    /// Pages swapped in and out.
    pub swapped: Option<u64>,
    pub thermal: Option<u64>,
    /// Time in which some thread waited for a CPU, in us.
    pub waited_us: Option<u64>,
}

impl Files {
    /// Opens what is there. `cpus` are the CPUs of the takes, the whole machine's thermal counters being slow to read.
    pub fn open(cpus: &[u32]) -> Files {
        Files {
            stat: Kept::open("/proc/stat"),
            vmstat: Kept::open("/proc/vmstat"),
            pressure: Kept::open("/proc/pressure/cpu"),
            groups: group_files(),
            hot: thermal_files(cpus),
            relatives: Relatives::find(),
        }
    }

    pub fn read(&mut self, cpus: &[u32]) -> Moment {
        let own = own();
        let stat = self.stat.as_mut().and_then(|file| file.parse(stat::parse));
        let study_ticks = self.relatives.as_ref().map_or(0, Relatives::ticks);
        let at_ns = sys::clock::now_ns();
        let load =
            stat.zip(own).and_then(|(stat, own)| Mark::new(at_ns, &stat, cpus, own.cpu_ns, study_ticks));
        let swapped = self.vmstat.as_mut().and_then(|file| {
            let [inward, outward] = file.parse(|bytes| pairs::pick(bytes, ["pswpin", "pswpout"]))?;
            inward?.checked_add(outward?)
        });
        Moment {
            at_ns,
            wall_ns: sys::clock::wall_ns(),
            load,
            throttle: total(&mut self.groups, throttle::parse, |sum, more| Throttle {
                count: sum.count.saturating_add(more.count),
                time_ns: sum.time_ns.saturating_add(more.time_ns),
            }),
            major_faults: own.map(|own| own.major_faults),
            swapped,
            thermal: total(&mut self.hot, lone, u64::saturating_add),
            waited_us: self.pressure.as_mut().and_then(|file| file.parse(pressure::parse)?.some_us),
        }
    }
}

/// The sum over all files that have the figure; missing when none has.
fn total<T>(files: &mut [Kept], parse: impl Fn(&[u8]) -> Option<T>, add: impl Fn(T, T) -> T) -> Option<T> {
    files.iter_mut().filter_map(|file| file.parse(&parse)?).reduce(add)
}

/// A quota of any group above ours stops us too.
fn group_files() -> Vec<Kept> {
    let root = Root::live();
    let own = root.bytes("/proc/self/cgroup").map(|bytes| cgroup::membership(&bytes)).unwrap_or_default();
    let mounts = root.bytes("/proc/self/mountinfo").map(|bytes| mounts::parse(&bytes)).unwrap_or_default();
    let mut folders = Vec::new();
    if let Some((path, mount)) = own.unified.as_ref().zip(mounts.iter().find(|mount| mount.kind == "cgroup2"))
    {
        folders.extend(cgroup::ancestors(mount, path));
    }
    let legacy = own.legacy.iter().find(|(names, _)| names.iter().any(|name| name == "cpu"));
    let mount = mounts
        .iter()
        .find(|mount| mount.kind == "cgroup" && mount.super_options.split(',').any(|option| option == "cpu"));
    if let Some(((_, path), mount)) = legacy.zip(mount) {
        folders.extend(cgroup::ancestors(mount, path));
    }
    let counts = |file: &mut Kept| file.parse(throttle::parse).flatten().is_some();
    let files = folders.iter().filter_map(|folder| Kept::open(format!("{folder}/cpu.stat")));
    files.filter_map(|mut file| counts(&mut file).then_some(file)).collect()
}

fn thermal_files(cpus: &[u32]) -> Vec<Kept> {
    let mut files = Vec::new();
    for cpu in cpus {
        let folder = format!("/sys/devices/system/cpu/cpu{cpu}/thermal_throttle");
        let counters = names(&folder).into_iter().filter(|name| name.ends_with("_throttle_count"));
        files.extend(counters.filter_map(|name| Kept::open(format!("{folder}/{name}"))));
    }
    files
}

/// CPU time of this process, its ended children and the servers under load.
#[derive(Clone, Copy, Debug)]
struct Own {
    cpu_ns: u64,
    major_faults: u64,
}

fn own() -> Option<Own> {
    use sys::process::{Who, usage};
    let ours = usage(Who::ThisProcess).ok()?;
    let children = usage(Who::Children).ok()?;
    let children_ns = children.user_ns.saturating_add(children.system_ns);
    Some(Own {
        cpu_ns: sys::clock::process_cpu_ns().saturating_add(children_ns).saturating_add(served::cpu_ns()),
        major_faults: ours.major_faults.saturating_add(children.major_faults),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_the_basic_counters() {
        let mut files = Files::open(&[0]);
        let first = files.read(&[0]);
        let second = files.read(&[0]);
        assert!(second.at_ns >= first.at_ns && first.wall_ns > 0);
        assert!(first.load.is_some() && first.major_faults.is_some());
        assert!(second.throttle.map(|t| t.count) >= first.throttle.map(|t| t.count));
    }
}
