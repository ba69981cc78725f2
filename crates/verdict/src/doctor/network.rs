//! The check of network interrupts: one CPU that takes every packet is full before the others have work.

use model::Fact;
use model::doc::CheckDoc;
use model::format;
use model::params::parse_cpus;

use super::check::{Check, shown};
use crate::facts;

/// A device whose interrupts are known.
struct Nic {
    name: String,
    interrupts: f64,
    /// CPUs that take them, as the kernel lists them.
    list: String,
    /// Packets are handed on to other CPUs.
    is_steered: bool,
}

impl Nic {
    /// `eth0: 4 interrupts on CPU 0, RPS off`.
    fn text(&self) -> String {
        let many = if self.is_on_one() { "CPU" } else { "CPUs" };
        let rps = if self.is_steered { "on" } else { "off" };
        let interrupts = format::count(self.interrupts as usize, "interrupt");
        format!("{}: {interrupts} on {many} {}, RPS {rps}", self.name, self.list)
    }

    fn is_on_one(&self) -> bool {
        parse_cpus(&self.list).is_some_and(|cpus| cpus.len() == 1)
    }
}

pub fn interrupts(facts: &[Fact]) -> CheckDoc {
    let check = Check { key: "interrupts", wanted: "those of a network device on several CPUs, or RPS on" };
    let nics = nics(facts);
    if nics.is_empty() {
        return match shown(facts, "nic.names") {
            Some(_) => check.unknown("no interrupts of a network device can be seen here"),
            None => check.absent(facts, "nic.names"),
        };
    }
    let threads = facts::number(facts, "cpu.threads");
    let bound: Vec<&Nic> = nics.iter().filter(|nic| nic.is_on_one() && !nic.is_steered).collect();
    match (bound.first(), threads) {
        (Some(_), Some(1.0)) => check.ok("one CPU"),
        (Some(first), _) => {
            let each: Vec<String> = bound.iter().map(|nic| nic.text()).collect();
            let found = format!("{}: that CPU takes every packet", each.join("; "));
            check.warn(found, how(first, threads))
        }
        (None, _) => check.ok(nics.iter().map(Nic::text).collect::<Vec<_>>().join("; ")),
    }
}

/// The devices that are up, or of which that is not known.
fn nics(facts: &[Fact]) -> Vec<Nic> {
    let name = |fact: &Fact| Some(fact.key.strip_prefix("nic.")?.strip_suffix(".irqs")?.to_owned());
    let nic = |name: String| {
        let text = |what: &str| facts::text(facts, &format!("nic.{name}.{what}"));
        let is_down = text("state").is_some_and(|state| state == "down");
        let interrupts = facts::number(facts, &format!("nic.{name}.irqs"))?;
        let list = text("irq_cpus").filter(|_| !is_down)?.to_owned();
        let is_steered = text("rps").is_some_and(|rps| rps != "off");
        Some(Nic { interrupts, list, is_steered, name })
    };
    facts.iter().filter_map(name).filter_map(nic).collect()
}

/// Several interrupts are spread by a daemon; a single one leaves only its packets to be spread.
fn how(nic: &Nic, threads: Option<f64>) -> String {
    let cpus = threads.unwrap_or(32.0).clamp(1.0, 32.0) as u32;
    let mask = u32::MAX >> (32 - cpus);
    let rps = format!(
        "sudo sh -c 'for f in /sys/class/net/{}/queues/rx-*/rps_cpus; do echo {mask:x} > $f; done'",
        nic.name
    );
    if nic.interrupts > 1.0 { format!("start irqbalance, or {rps}") } else { rps }
}

#[cfg(test)]
mod tests {
    use model::Unit;
    use model::doc::CheckState;

    use super::*;

    fn machine(irqs: f64, cpus: &str, rps: &str, threads: f64) -> Vec<Fact> {
        vec![
            Fact::text("nic.names", "eth0", ""),
            Fact::number("nic.eth0.irqs", irqs, Unit::Count, ""),
            Fact::text("nic.eth0.irq_cpus", cpus, ""),
            Fact::text("nic.eth0.rps", rps, ""),
            Fact::text("nic.eth0.state", "up", ""),
            Fact::number("cpu.threads", threads, Unit::Count, ""),
        ]
    }

    #[test]
    fn one_cpu_for_all_packets_is_told_with_the_command_that_changes_it() {
        let bound = interrupts(&machine(4.0, "0", "off", 4.0));
        assert_eq!(bound.state, CheckState::Warn);
        assert_eq!(bound.found, "eth0: 4 interrupts on CPU 0, RPS off: that CPU takes every packet");
        assert!(
            bound.how.starts_with("start irqbalance, or sudo") && bound.how.contains("echo f >"),
            "{bound:?}"
        );
        let single = interrupts(&machine(1.0, "0", "off", 64.0));
        assert!(single.how.starts_with("sudo") && single.how.contains("echo ffffffff >"), "{single:?}");
    }

    #[test]
    fn spread_or_steered_interrupts_are_right() {
        for (facts, found) in [
            (machine(4.0, "0-3", "off", 4.0), "eth0: 4 interrupts on CPUs 0-3, RPS off"),
            (machine(1.0, "0", "CPUs 0-3", 4.0), "eth0: 1 interrupt on CPU 0, RPS on"),
            (machine(1.0, "0", "off", 1.0), "one CPU"),
        ] {
            let check = interrupts(&facts);
            assert_eq!((check.state, check.found.as_str()), (CheckState::Ok, found));
        }
        let mut down = machine(4.0, "0", "off", 4.0);
        down[4] = Fact::text("nic.eth0.state", "down", "");
        assert_eq!(interrupts(&down).state, CheckState::Unknown);
        assert_eq!(interrupts(&machine(4.0, "0", "off", 4.0)[..1]).state, CheckState::Unknown);
    }
}
