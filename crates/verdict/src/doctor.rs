//! Checks of this host: what would spoil a measurement, and the exact command that changes it.
//!
//! Judges facts of the inventory and a few live figures that the caller reads; it reads and changes nothing itself. A
//! check without its input says `unknown` and why.

mod check;
mod network;
mod own;
mod processor;
mod system;

use model::Fact;
use model::doc::CheckDoc;

pub use check::Live;
pub use own::own_cost;

/// Every check, in a fixed order.
pub fn doctor(facts: &[Fact], live: &Live) -> Vec<CheckDoc> {
    vec![
        processor::governor(facts),
        processor::turbo(facts),
        processor::smt(facts),
        processor::mitigations(facts),
        system::background(live),
        system::steal(facts, live),
        system::virtualisation(facts),
        system::quota(facts, live),
        system::cpuset(facts),
        system::memory_limit(facts),
        system::huge_pages(facts),
        system::swap(facts, live),
        system::free_memory(facts, live),
        system::numa(facts),
        network::interrupts(facts),
        system::clock_source(facts),
        system::power(live),
    ]
}

#[cfg(test)]
mod tests {
    use model::Unit;
    use model::doc::CheckState;

    use super::check::chosen;
    use super::*;

    fn check(facts: &[Fact], live: &Live, key: &str) -> CheckDoc {
        doctor(facts, live).into_iter().find(|check| check.key == key).expect("a check of this name")
    }

    #[test]
    fn without_inputs_nothing_is_ok() {
        for check in doctor(&[], &Live::default()) {
            assert_eq!(check.state, CheckState::Unknown, "{check:?}");
            assert!(!check.found.is_empty() && !check.wanted.is_empty(), "{check:?}");
        }
    }

    #[test]
    fn what_can_be_changed_says_how() {
        let facts = [
            Fact::text("cpu.governor", "powersave", ""),
            Fact::flag("cpu.turbo", true, "/sys/devices/system/cpu/intel_pstate/no_turbo"),
            Fact::text("memory.thp", "always [madvise] never", ""),
            Fact::text("numa.balancing", "1", ""),
            Fact::number("numa.nodes", 2.0, Unit::Count, ""),
            Fact::text("clock.source", "hpet", ""),
            Fact::number("cgroup.cpu.quota", 0.9, Unit::Count, ""),
        ];
        let live = Live {
            load_average: Some(3.0),
            busy_cpus: Some(1.5),
            swap_used_bytes: Some(1e9),
            ..Live::default()
        };
        for key in ["governor", "turbo", "background", "swap", "numa-balancing", "clock-source", "cpu-quota"]
        {
            let check = check(&facts, &live, key);
            assert!(matches!(check.state, CheckState::Warn | CheckState::Bad), "{check:?}");
            assert!(!check.how.is_empty(), "{check:?}");
        }
        assert_eq!(check(&facts, &live, "huge-pages").found, "madvise");
        assert_eq!(check(&facts, &live, "cpu-quota").state, CheckState::Bad);
    }

    #[test]
    fn a_quiet_machine_is_ok() {
        let facts = [
            Fact::text("cpu.governor", "performance", ""),
            Fact::text("memory.thp", "[always] madvise never", ""),
            Fact::text("clock.source", "tsc", ""),
            Fact::text("cgroup.cpu.quota", "none", ""),
            Fact::text("virt.kind", "none", ""),
        ];
        let live =
            Live { busy_cpus: Some(0.01), steal_share: Some(0.0), on_mains: Some(true), ..Live::default() };
        for key in
            ["governor", "huge-pages", "clock-source", "cpu-quota", "virtualisation", "background", "power"]
        {
            assert_eq!(check(&facts, &live, key).state, CheckState::Ok, "{key}");
        }
    }

    #[test]
    fn an_unknown_fact_gives_its_reason() {
        let facts = [Fact::unknown("cpu.governor", "", "no frequency driver")];
        let check = check(&facts, &Live::default(), "governor");
        assert_eq!((check.state, check.found.as_str()), (CheckState::Unknown, "no frequency driver"));
    }

    #[test]
    fn brackets_mark_the_choice() {
        assert_eq!((chosen("a [b] c"), chosen("b"), chosen("[b")), ("b", "b", "[b"));
    }
}
