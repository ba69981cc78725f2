//! Checks of what surrounds the processor: other load, limits, memory, clock, power, hypervisor.

use model::doc::CheckDoc;
use model::fact::{CpuSet, PROCESS_CPUS};
use model::note::Disturber;
use model::{Fact, Unit};

use super::check::{Check, Live, chosen, is_virtual, shown};
use crate::facts;
use model::format;

/// CPUs that others may keep busy.
const QUIET: f64 = 0.05;
const LOUD: f64 = 0.5;

pub fn background(live: &Live) -> CheckDoc {
    let check = Check { key: "background", wanted: "under 0.05 CPUs busy" };
    let all = live.busy_by.as_deref().unwrap_or_default();
    let how = Disturber::remedy(all, "them (`sudo systemctl stop NAME` ends a service)");
    let load = live.load_average.map_or(String::new(), |load| format!(", load average {load:.2}"));
    match (live.busy_cpus, live.load_average) {
        (Some(busy), _) => {
            let by = live.busy_by.as_ref().filter(|by| !by.is_empty() && busy > QUIET);
            let who = by.map_or(String::new(), |by| Disturber::aside(&Disturber::within(by, busy)));
            let found = format!("{busy:.2} CPUs busy{who}{load}");
            match busy {
                busy if busy > LOUD => check.bad(found, how),
                busy if busy > QUIET => check.warn(found, how),
                _ => check.ok(found),
            }
        }
        (None, Some(load)) if load > LOUD => check.warn(format!("load average {load:.2}"), how),
        (None, Some(load)) => check.ok(format!("load average {load:.2}")),
        (None, None) => check.unknown("neither CPU times nor the load average can be read"),
    }
}

pub fn steal(facts: &[Fact], live: &Live) -> CheckDoc {
    let check = Check { key: "steal", wanted: "0 %" };
    match live.steal_share {
        Some(share) if share > 0.01 => check.bad(
            format::percent(share),
            "repeat it later, or move to a dedicated host: the neighbours are busy",
        ),
        Some(share) if share > 0.0 => check.warn(format::percent(share), "repeat it at a quieter time"),
        Some(_) if is_virtual(facts).is_some() => check.ok("0 %, as far as the hypervisor tells"),
        Some(_) => check.ok("0 %"),
        None => check.unknown("CPU times cannot be read"),
    }
}

pub fn virtualisation(facts: &[Fact]) -> CheckDoc {
    let check = Check { key: "virtualisation", wanted: "none, or the same on every machine compared" };
    match (is_virtual(facts), shown(facts, "virt.kind")) {
        (Some(kind), _) => check.warn(
            format!("{kind}: clock, neighbours and placement are not ours to see"),
            "measure at several times (`boxscore run` again): more runs measure the noise between runs",
        ),
        (None, Some(found)) => check.ok(found),
        (None, None) => check.absent(facts, "virt.kind"),
    }
}

pub fn quota(facts: &[Fact], live: &Live) -> CheckDoc {
    let check = Check { key: "cpu-quota", wanted: "none" };
    let how =
        "sudo systemctl set-property --runtime UNIT CPUQuota=, or start the container without a CPU limit";
    let stopped = live.throttled_periods.filter(|periods| *periods > 0.0);
    let stopped =
        stopped.map_or(String::new(), |periods| format!(", which stopped it in {periods:.0} periods so far"));
    match (facts::number(facts, "cgroup.cpu.quota"), facts::text(facts, "cgroup.cpu.quota")) {
        (Some(cpus), _) => {
            check.bad(format!("{} CPUs for boxscore itself{stopped}", format::number(cpus)), how)
        }
        (None, Some("none")) => check.ok("none for boxscore itself"),
        (None, Some(other)) => check.unknown(other.to_owned()),
        (None, None) => check.absent(facts, "cgroup.cpu.quota"),
    }
}

pub fn cpuset(facts: &[Fact]) -> CheckDoc {
    let check = Check { key: "cpu-set", wanted: "every CPU" };
    let allowed = shown(facts, PROCESS_CPUS).or_else(|| shown(facts, "cgroup.cpuset"));
    match (allowed, CpuSet::of_facts(facts)) {
        (_, Some(set)) => {
            let how = "start boxscore outside the CPU set (`taskset -p PID` shows it), or name it in the comparison";
            check.warn(format!("{}: {} of {} CPUs", set.list, set.count, set.all), how)
        }
        (Some(list), None) => check.ok(list),
        (None, None) => check.absent(facts, "cgroup.cpuset"),
    }
}

pub fn memory_limit(facts: &[Fact]) -> CheckDoc {
    let check = Check { key: "memory-limit", wanted: "none" };
    match (facts::number(facts, "cgroup.memory.limit"), facts::text(facts, "cgroup.memory.limit")) {
        (Some(bytes), _) => check.warn(
            format::quantity(bytes, Unit::Byte),
            "sudo systemctl set-property --runtime UNIT MemoryMax=infinity, or start the container without a limit",
        ),
        (None, Some("none")) => check.ok("none"),
        (None, Some(other)) => check.unknown(other.to_owned()),
        (None, None) => check.absent(facts, "cgroup.memory.limit"),
    }
}

pub fn huge_pages(facts: &[Fact]) -> CheckDoc {
    let check = Check { key: "huge-pages", wanted: "always or madvise" };
    match shown(facts, "memory.thp") {
        Some(text) => match chosen(&text) {
            "never" => {
                check.warn("never", "sudo sh -c 'echo madvise > /sys/kernel/mm/transparent_hugepage/enabled'")
            }
            found => check.ok(found),
        },
        None => check.absent(facts, "memory.thp"),
    }
}

pub fn swap(facts: &[Fact], live: &Live) -> CheckDoc {
    let check = Check { key: "swap", wanted: "none in use" };
    match (live.swap_used_bytes, facts::number(facts, "memory.swap.bytes")) {
        (Some(used), _) if used > 0.0 => {
            let found = format!("{} in use", format::quantity(used, Unit::Byte));
            check.warn(found, "sudo swapoff -a && sudo swapon -a (needs that much free memory)")
        }
        (Some(_), _) => check.ok("none in use"),
        (None, Some(0.0)) => check.ok("none"),
        (None, Some(bytes)) => {
            check.unknown(format!("{} configured, use unknown", format::quantity(bytes, Unit::Byte)))
        }
        (None, None) => check.absent(facts, "memory.swap.bytes"),
    }
}

pub fn free_memory(facts: &[Fact], live: &Live) -> CheckDoc {
    let check = Check { key: "free-memory", wanted: "a quarter of all memory" };
    match (live.free_memory_bytes, facts::number(facts, "memory.bytes")) {
        (Some(free), Some(all)) if all > 0.0 => {
            let found =
                format!("{} of {}", format::quantity(free, Unit::Byte), format::quantity(all, Unit::Byte));
            if free < all / 4.0 {
                check.warn(found, "end what holds memory: `ps aux --sort=-rss | head`")
            } else {
                check.ok(found)
            }
        }
        (Some(free), _) => {
            check.unknown(format!("{} free, of an unknown total", format::quantity(free, Unit::Byte)))
        }
        (None, _) => check.unknown("free memory cannot be read"),
    }
}

pub fn numa(facts: &[Fact]) -> CheckDoc {
    let check = Check { key: "numa-balancing", wanted: "off, where there are several nodes" };
    let nodes = facts::number(facts, "numa.nodes");
    match shown(facts, "numa.balancing").as_deref() {
        _ if nodes == Some(1.0) => check.ok("one node"),
        Some("0" | "false") => check.ok("off"),
        Some(_) => {
            check.warn("on: pages move between nodes during a take", "sudo sysctl kernel.numa_balancing=0")
        }
        None => check.absent(facts, "numa.balancing"),
    }
}

pub fn clock_source(facts: &[Fact]) -> CheckDoc {
    let check = Check { key: "clock-source", wanted: "tsc, kvm-clock or arch_sys_counter" };
    let how = "sudo sh -c 'echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource'";
    match shown(facts, "clock.source") {
        Some(found) => match found.as_str() {
            "tsc" | "kvm-clock" | "arch_sys_counter" | "hyperv_clocksource_tsc_page" | "tsc-early" => {
                check.ok(found)
            }
            _ => check.bad(format!("{found}: reading the time costs a system call or more"), how),
        },
        None => check.absent(facts, "clock.source"),
    }
}

pub fn power(live: &Live) -> CheckDoc {
    let check = Check { key: "power", wanted: "mains" };
    match live.on_mains {
        Some(true) => check.ok("mains"),
        Some(false) => check.bad("battery", "plug it in"),
        None => check.unknown("no power supply is reported (usual outside laptops)"),
    }
}
