//! The processor: names, counts, clocks, governor.
//!
//! Clocks are in Hz, also under the keys `cpu.mhz.*` (the keys follow the field's habit, the values the base
//! unit). Cores and sockets count what is online, as lscpu does. Clocks here are what firmware and kernel claim;
//! the true one is measured elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use model::{Fact, Unit};

use super::scan::Scan;
use crate::system_files::cpuinfo::{self, CpuInfo};
use crate::system_files::root::ABSENT;
use crate::system_files::topology::siblings;
use crate::system_files::{Root, Sheet, arm, text, virt};

pub static INSTRUMENT: &Scan =
    &Scan::new("inventory-cpu", "processor: names, counts, clocks, governor", scan);

const CPUINFO: &str = "/proc/cpuinfo";
const CPUS: &str = "/sys/devices/system/cpu";

/// All facts of the topic.
pub fn scan(root: &Root) -> Vec<Fact> {
    let info = root.cpuinfo();
    let mut sheet = Sheet::new(root);
    names(&mut sheet, info);
    counts(&mut sheet, info);
    clocks(&mut sheet, info);
    control(&mut sheet);
    virt::facts(&mut sheet, info);
    sheet.done()
}

/// The CPUs that are online, by sysfs or else by /proc/cpuinfo.
pub fn online(root: &Root, info: &CpuInfo) -> BTreeSet<u32> {
    if let Some(list) = root.maybe(&format!("{CPUS}/online")) {
        return text::cpu_list(&list);
    }
    let numbers = info.processors.iter().filter_map(|block| block.get("processor")?.parse().ok());
    numbers.collect()
}

fn names(sheet: &mut Sheet<'_>, info: &CpuInfo) {
    let ids = info.arm_ids();
    let why = if info.processors.is_empty() { "cannot be read" } else { "cpuinfo does not name it" };
    if ids.is_empty() {
        let keys = ["model name", "cpu model", "cpu", "Model Name", "uarch", "Processor", "cpu"];
        sheet.text_or("cpu.model", info.first(&keys).map(text::tidy), CPUINFO, why);
        let vendor = info.first(&["vendor_id", "mvendorid", "vendor"]).map(str::to_owned);
        sheet.text_or("cpu.vendor", vendor, CPUINFO, why);
    } else {
        arm_names(sheet, info, &ids);
    }
    for (key, name) in [("cpu.family", "cpu family"), ("cpu.model.id", "model"), ("cpu.stepping", "stepping")]
    {
        // On POWER `model` is the machine's, in words.
        if let Some(value) = info.first(&[name]).filter(|text| text.parse::<u32>().is_ok()) {
            sheet.text(key, value, CPUINFO);
        }
    }
    let revision = ids.first().map(|(_, _, variant, revision)| format!("r{variant}p{revision}"));
    if let Some(revision) = revision {
        sheet.text("cpu.stepping", revision, CPUINFO);
    }
    let micro = info.first(&["microcode"]).map(str::to_owned);
    sheet.text_or("cpu.microcode", micro, CPUINFO, ABSENT);
    if let Some(model) = info.first(&["model name", "Processor"]).filter(|_| !ids.is_empty()) {
        sheet.text("cpu.kernel_name", text::tidy(model), CPUINFO);
    }
    if let Some(hardware) = info.first(&["Hardware"]) {
        sheet.text("cpu.soc", hardware, CPUINFO);
    }
}

/// Cores by implementer and part; several kinds make clusters.
fn arm_names(sheet: &mut Sheet<'_>, info: &CpuInfo, ids: &[(u32, u32, u32, u32)]) {
    let mut kinds: Vec<((u32, u32), Vec<usize>)> = Vec::new();
    for (cpu, id) in ids.iter().enumerate() {
        match kinds.iter_mut().find(|(kind, _)| *kind == (id.0, id.1)) {
            Some((_, cpus)) => cpus.push(cpu),
            None => kinds.push(((id.0, id.1), vec![cpu])),
        }
    }
    let name = |kind: &(u32, u32)| arm::name(kind.0, kind.1);
    let all: Vec<String> = kinds.iter().map(|(kind, _)| name(kind)).collect();
    sheet.text("cpu.model", all.join(" + "), CPUINFO);
    let vendors: BTreeSet<String> = kinds
        .iter()
        .map(|((maker, _), _)| arm::implementer(*maker).map_or(format!("{maker:#04x}"), str::to_owned))
        .collect();
    sheet.text("cpu.vendor", vendors.into_iter().collect::<Vec<_>>().join(" + "), CPUINFO);
    let (maker, part, ..) = ids.first().copied().unwrap_or_default();
    sheet.text("cpu.arm.implementer", format!("{maker:#04x}"), CPUINFO);
    sheet.text("cpu.arm.part", format!("{part:#05x}"), CPUINFO);
    if let Some(architecture) = info.first(&["CPU architecture"]) {
        sheet.text("cpu.arm.architecture", architecture, CPUINFO);
    }
    if kinds.len() > 1 {
        let cluster = |(kind, cpus): &((u32, u32), Vec<usize>)| {
            let first = cpus.first().copied().unwrap_or(0);
            let top = sheet.root.number(&format!("{CPUS}/cpu{first}/cpufreq/cpuinfo_max_freq"));
            let clock = top.map_or(String::new(), |khz| format!(" up to {khz} kHz"));
            format!("{}x {}{clock}", cpus.len(), name(kind))
        };
        let list = kinds.iter().map(cluster).collect::<Vec<_>>().join(" + ");
        sheet.text("cpu.clusters", list, CPUINFO);
    }
}

/// Sockets, cores and threads as sets of CPUs.
#[derive(Debug, Default)]
struct Topology {
    sockets: BTreeSet<String>,
    cores: BTreeSet<String>,
    dies: BTreeSet<String>,
    whole: bool,
}

fn topology(root: &Root, online: &BTreeSet<u32>) -> Topology {
    let mut found = Topology { whole: true, ..Topology::default() };
    let mut seen: BTreeSet<u32> = BTreeSet::new();
    for &cpu in online {
        if seen.contains(&cpu) {
            continue;
        }
        let siblings = siblings(root, cpu);
        let package = root.maybe(&format!("{CPUS}/cpu{cpu}/topology/physical_package_id"));
        let (Some(siblings), Some(package)) = (siblings, package) else {
            found.whole = false;
            return found;
        };
        found.cores.insert(text::fold_list(&siblings));
        let die = root.maybe(&format!("{CPUS}/cpu{cpu}/topology/die_id"));
        if let Some(die) = die.filter(|die| die != "-1") {
            found.dies.insert(format!("{package}/{die}"));
        }
        found.sockets.insert(package);
        seen.extend(siblings);
    }
    found
}

fn counts(sheet: &mut Sheet<'_>, info: &CpuInfo) {
    let online = online(sheet.root, info);
    let source = format!("{CPUS}/cpu*/topology");
    if online.is_empty() {
        for key in ["cpu.sockets", "cpu.cores", "cpu.threads", "cpu.smt"] {
            sheet.unknown(key, &source, "neither /proc/cpuinfo nor /sys can be read");
        }
        return;
    }
    let threads = online.len() as u64;
    sheet.count("cpu.threads", threads, Unit::Count, &format!("{CPUS}/online"));
    sheet.text("cpu.online", text::fold_list(&online), &format!("{CPUS}/online"));
    sheet.maybe("cpu.offline", &format!("{CPUS}/offline"));
    let found = topology(sheet.root, &online);
    if found.whole {
        // Boards without ACPI have one socket; their kernels number clusters of cores as packages.
        let board = !info.arm_ids().is_empty() && !sheet.root.exists("/sys/class/dmi/id");
        let clusters = board && found.sockets.len() > 1;
        let (sockets, cores) = (found.sockets.len() as u64, found.cores.len() as u64);
        sheet.count("cpu.sockets", if clusters { 1 } else { sockets }, Unit::Count, &source);
        if clusters {
            sheet.because(&format!("the kernel numbers {sockets} clusters of cores as sockets"));
        }
        if found.sockets.contains("-1") {
            sheet.because("the kernel numbers no sockets");
        }
        sheet.count("cpu.cores", cores, Unit::Count, &source);
        sheet.flag("cpu.smt", threads > cores, &source);
        let threads_of_cores: Vec<String> =
            found.cores.iter().filter(|core| core.contains([',', '-'])).cloned().collect();
        if !threads_of_cores.is_empty() {
            sheet.text("cpu.siblings", threads_of_cores.join(" "), &source);
        }
        if found.dies.len() > found.sockets.len() {
            sheet.count("cpu.dies", found.dies.len() as u64, Unit::Count, &source);
        }
    } else {
        counts_by_cpuinfo(sheet, info, threads);
    }
}

/// Without sysfs: `physical id` and `core id`, or the processors themselves.
fn counts_by_cpuinfo(sheet: &mut Sheet<'_>, info: &CpuInfo, threads: u64) {
    let get = |key: &str| info.processors.iter().filter_map(|block| block.get(key)).collect::<Vec<_>>();
    let (packages, cores) = (get("physical id"), get("core id"));
    if packages.len() == info.processors.len() && cores.len() == packages.len() && !packages.is_empty() {
        let pairs: BTreeSet<_> = packages.iter().zip(&cores).collect();
        let sockets: BTreeSet<_> = packages.iter().collect();
        sheet.count("cpu.sockets", sockets.len() as u64, Unit::Count, CPUINFO);
        sheet.count("cpu.cores", pairs.len() as u64, Unit::Count, CPUINFO);
        sheet.flag("cpu.smt", threads > pairs.len() as u64, CPUINFO);
    } else {
        for key in ["cpu.sockets", "cpu.cores", "cpu.smt"] {
            sheet.unknown(key, CPUINFO, "no topology in /sys or /proc/cpuinfo");
        }
    }
}

/// kHz files of the frequency driver over all CPUs that have them, as Hz.
fn khz(root: &Root, online: &BTreeSet<u32>, name: &str) -> Vec<f64> {
    let read = |cpu: &u32| root.number(&format!("{CPUS}/cpu{cpu}/cpufreq/{name}"));
    online.iter().filter_map(read).filter(|&khz| khz > 0).map(|khz| khz as f64 * 1e3).collect()
}

fn clocks(sheet: &mut Sheet<'_>, info: &CpuInfo) {
    let root = sheet.root;
    let online = online(root, info);
    let most = |values: Vec<f64>| values.into_iter().reduce(f64::max);
    let cpufreq = |name: &str| format!("{CPUS}/cpu*/cpufreq/{name}");
    let why = "no frequency driver (usual in a virtual machine) and none in the model name";
    let says = root.cpu.clone().unwrap_or_default();
    let named = info.first(&["model name", "cpu"]).and_then(cpuinfo::clock_in_name);
    let base = [
        (most(khz(root, &online, "base_frequency")), cpufreq("base_frequency")),
        (says.base_hz, "cpuid 0x16".to_owned()),
        (named, format!("{CPUINFO} model name")),
    ];
    pick(sheet, "cpu.mhz.base", base, why);
    let max = [
        (most(khz(root, &online, "cpuinfo_max_freq")), cpufreq("cpuinfo_max_freq")),
        (says.max_hz, "cpuid 0x16".to_owned()),
        (None, String::new()),
    ];
    pick(sheet, "cpu.mhz.max", max, "no frequency driver (usual in a virtual machine)");
    let least = khz(root, &online, "cpuinfo_min_freq").into_iter().reduce(f64::min);
    let min = [(least, cpufreq("cpuinfo_min_freq")), (None, String::new()), (None, String::new())];
    pick(sheet, "cpu.mhz.min", min, "no frequency driver (usual in a virtual machine)");
    let seen: Vec<f64> = info.numbers("cpu MHz").into_iter().map(|mhz| mhz * 1e6).collect();
    let current = [
        (most(seen), format!("{CPUINFO}, the fastest CPU at that instant")),
        (most(khz(root, &online, "scaling_cur_freq")), cpufreq("scaling_cur_freq")),
        (most(info.numbers("clock").into_iter().map(|mhz| mhz * 1e6).collect()), CPUINFO.to_owned()),
    ];
    pick(sheet, "cpu.mhz.current", current, ABSENT);
    if let Some(hertz) = says.tsc_hz {
        sheet.number("cpu.mhz.tsc", hertz, Unit::Hertz, "cpuid 0x15");
    }
}

/// The first of several sources that has a value.
fn pick(sheet: &mut Sheet<'_>, key: &str, sources: [(Option<f64>, String); 3], why: &str) {
    let first = sources.iter().find_map(|(value, source)| value.map(|value| (value, source)));
    match first {
        Some((value, source)) => sheet.number(key, value, Unit::Hertz, source),
        None => sheet.unknown(key, &sources[0].1, why),
    }
}

fn control(sheet: &mut Sheet<'_>) {
    for (key, name) in [
        ("cpu.governor", "scaling_governor"),
        ("cpu.driver", "scaling_driver"),
        ("cpu.epp", "energy_performance_preference"),
    ] {
        distinct(sheet, key, name);
    }
    let (no_turbo, boost) = (format!("{CPUS}/intel_pstate/no_turbo"), format!("{CPUS}/cpufreq/boost"));
    match (sheet.root.number(&no_turbo), sheet.root.number(&boost)) {
        (Some(off), _) => sheet.flag("cpu.turbo", off == 0, &no_turbo),
        (None, Some(on)) => sheet.flag("cpu.turbo", on == 1, &boost),
        (None, None) => sheet.unknown("cpu.turbo", &no_turbo, "no frequency driver says"),
    }
    sheet.file("cpu.smt.control", &format!("{CPUS}/smt/control"));
    sheet.maybe("cpu.idle.driver", &format!("{CPUS}/cpuidle/current_driver"));
    sheet.maybe("cpu.isolated", &format!("{CPUS}/isolated"));
    sheet.file("clock.source", "/sys/devices/system/clocksource/clocksource0/current_clocksource");
}

/// One value when all CPUs agree, else `a (2), b (6)`.
fn distinct(sheet: &mut Sheet<'_>, key: &str, name: &str) {
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for policy in sheet.root.list(&format!("{CPUS}/cpufreq")) {
        if let Some(value) = sheet.root.maybe(&format!("{CPUS}/cpufreq/{policy}/{name}")) {
            *found.entry(value).or_default() += 1;
        }
    }
    if found.is_empty()
        && let Some(value) = sheet.root.maybe(&format!("{CPUS}/cpu0/cpufreq/{name}"))
    {
        found.insert(value, 1);
    }
    let source = format!("{CPUS}/cpufreq/policy*/{name}");
    let list = found.iter().map(|(value, count)| format!("{value} ({count})"));
    let driver = sheet.root.exists(&format!("{CPUS}/cpu0/cpufreq"));
    match found.len() {
        0 if driver => sheet.unknown(key, &source, "the frequency driver has none"),
        0 => sheet.unknown(key, &source, "no frequency driver (usual in a virtual machine)"),
        1 => sheet.text(key, found.keys().next().cloned().unwrap_or_default(), &source),
        _ => sheet.text(key, list.collect::<Vec<_>>().join(", "), &source),
    }
}
