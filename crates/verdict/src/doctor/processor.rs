//! Checks of the processor: governor, turbo, SMT, mitigations.

use model::Fact;
use model::doc::CheckDoc;

use super::check::{Check, is_virtual, shown};

pub fn governor(facts: &[Fact]) -> CheckDoc {
    let check = Check { key: "governor", wanted: "performance" };
    match shown(facts, "cpu.governor") {
        Some(found) if found == "performance" => check.ok(found),
        Some(found) => check.warn(
            found,
            "sudo sh -c 'for f in /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor; do echo performance > $f; done'",
        ),
        None => check.absent(facts, "cpu.governor"),
    }
}

pub fn turbo(facts: &[Fact]) -> CheckDoc {
    let check =
        Check { key: "turbo", wanted: "off for the steadiest figures, on for the highest: say which" };
    let fact = facts.iter().find(|fact| fact.key == "cpu.turbo");
    let intel = fact.is_some_and(|fact| fact.source.contains("intel_pstate"));
    let how = if intel {
        "sudo sh -c 'echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo'"
    } else {
        "sudo sh -c 'echo 0 > /sys/devices/system/cpu/cpufreq/boost'"
    };
    match shown(facts, "cpu.turbo").as_deref() {
        Some("true") => check.warn("on: the clock depends on heat and on how many cores work", how),
        Some("false") => check.ok("off"),
        Some(other) => check.unknown(other.to_owned()),
        None => check.absent(facts, "cpu.turbo"),
    }
}

pub fn smt(facts: &[Fact]) -> CheckDoc {
    let check = Check { key: "smt", wanted: "known: two threads of one core share it" };
    match shown(facts, "cpu.smt").as_deref() {
        Some("true") if is_virtual(facts).is_some() => {
            check.warn("on: the sibling of a thread may belong to a neighbour", "choose whole cores or a dedicated host")
        }
        Some("true") => check.warn(
            "on: figures on all threads share cores in pairs",
            "sudo sh -c 'echo off > /sys/devices/system/cpu/smt/control', or name one CPU of each core with --cpus",
        ),
        Some("false") => check.ok("off"),
        Some(other) => check.unknown(other.to_owned()),
        None => check.absent(facts, "cpu.smt"),
    }
}

pub fn mitigations(facts: &[Fact]) -> CheckDoc {
    let check = Check { key: "mitigations", wanted: "the same on every machine compared" };
    let switched_off = shown(facts, "kernel.cmdline").is_some_and(|line| line.contains("mitigations=off"));
    match shown(facts, "mitigations") {
        Some(_) if switched_off => check.warn(
            "off on the kernel command line: figures are not those of a safe machine",
            "remove mitigations=off from the kernel command line and reboot",
        ),
        Some(found) => check.ok(found),
        None => check.absent(facts, "mitigations"),
    }
}
