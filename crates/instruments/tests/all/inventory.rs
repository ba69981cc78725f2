//! Known machines: hand-written answers, and every fact of each as a golden sheet.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::inventory_tree::{Machine, names};
use instruments::inventory::spec_sheet::{SCANS, all_facts};
use instruments::system_files::Root;
use instruments::system_files::sheet::known;
use model::Fact;

fn assert_facts(name: &str, wanted: &[(&str, &str)]) {
    let machine = Machine::with(name, "");
    let facts = all_facts(&machine.root());
    for (key, value) in wanted {
        assert_eq!(known(&facts, key).as_deref(), Some(*value), "{key} of {name}");
    }
}

fn why(facts: &[Fact], key: &str) -> String {
    let fact = facts.iter().find(|fact| fact.key == key).unwrap_or_else(|| panic!("no fact {key}"));
    fact.why.clone().unwrap_or_default()
}

#[test]
fn arm_boards() {
    assert_facts(
        "raspberry-pi-4",
        &[
            ("cpu.model", "ARM Cortex-A72"),
            ("cpu.sockets", "1"),
            ("cpu.cores", "4"),
            ("cpu.smt", "false"),
            ("cpu.mhz.max", "1500000000"),
            ("cpu.governor", "ondemand"),
            ("cache.l1i.bytes", "49152"),
            ("cache.l2.bytes", "1048576"),
            ("cache.l2.instances", "1"),
            ("cpu.isa.crc32", "true"),
            ("cpu.isa.aes", "false"),
            ("board.model", "Raspberry Pi 4 Model B Rev 1.2"),
            ("nic.eth0.speed", "125000000"),
            ("disk.mmcblk0.bus", "mmc"),
            ("fs.root.disk", "mmcblk0"),
            ("virt.kind", "none"),
        ],
    );
    assert_facts(
        "pandaboard-es",
        &[
            ("cpu.model", "ARM Cortex-A9"),
            ("cpu.soc", "OMAP4 Panda board"),
            ("cpu.stepping", "r2p10"),
            ("cpu.threads", "2"),
            ("cpu.mhz.max", "1200000000"),
            ("memory.bytes", "1035358208"),
            ("cpu.isa.neon", "true"),
            ("disk.mmcblk0.scheduler", "noop"),
        ],
    );
}

#[test]
fn cores_of_several_kinds_are_one_socket() {
    assert_facts(
        "arm-four-kinds",
        &[
            ("cpu.sockets", "1"),
            ("cpu.cores", "8"),
            (
                "cpu.clusters",
                "3x ARM Cortex-A510 up to 2016000 kHz + 2x ARM Cortex-A715 up to 2803200 kHz + \
                 2x ARM Cortex-A710 up to 2803200 kHz + 1x ARM Cortex-X3 up to 3187200 kHz",
            ),
            ("cpu.mhz.max", "3187200000"),
            ("cpu.mhz.min", "307200000"),
        ],
    );
}

#[test]
fn an_arm_cloud_instance() {
    assert_facts(
        "ec2-m6g-4xlarge",
        &[
            ("cpu.model", "ARM Neoverse-N1"),
            ("cpu.dmi.version", "AWS Graviton2"),
            ("cpu.threads", "16"),
            ("cache.l3.bytes", "33554432"),
            ("machine.name", "m6g.4xlarge"),
            ("virt.kind", "kvm"),
            ("disk.nvme0n1.bus", "nvme"),
            ("disk.nvme0n1.model", "Amazon Elastic Block Store"),
            ("nic.ens5.driver", "ena"),
            ("memory.installed.bytes", "68719476736"),
            ("cpu.isa.lse", "true"),
        ],
    );
    let facts = all_facts(&Machine::with("ec2-m6g-4xlarge", "").root());
    assert_eq!(why(&facts, "memory.installed.bytes"), "reported by the hypervisor");
    assert_eq!(why(&facts, "memory.channels"), "the slot names do not say which channel they are on");
}

#[test]
fn two_sockets_with_numa_and_dmi() {
    assert_facts(
        "xeon-silver-4108-2s",
        &[
            ("cpu.sockets", "2"),
            ("cpu.cores", "16"),
            ("cpu.threads", "32"),
            ("cpu.smt", "true"),
            ("cpu.turbo", "false"),
            ("cpu.mhz.base", "1800000000"),
            ("cpu.isa.level", "x86-64-v4"),
            ("cache.l3.total", "23068672"),
            ("numa.nodes", "2"),
            ("numa.distances", "10 21; 21 10"),
            ("memory.installed.bytes", "103079215104"),
            ("memory.channels", "12"),
            ("memory.channels.empty", "0"),
            ("memory.mts", "2400000000"),
            ("memory.mts.rated", "2666000000"),
            ("memory.slots", "16"),
            ("memory.max.bytes", "3298534883328"),
            ("memory.ecc", "single-bit ECC"),
            ("memory.layout", "12x 8 GiB DDR4-2400 (Samsung M393A1G43EB1-CTD)"),
            ("memory.thp", "always"),
            ("pcie.slots", "2 (x16), 1 (x8)"),
            ("pcie.slots.used", "1"),
            ("disk.sda.bus", "sata"),
            ("disk.sda.link", "600000000"),
            ("disk.nvme0n1.link.pcie", "8 GT/s x4"),
            ("disk.nvme0n1.numa_node", "0"),
            ("nic.enp96s0f0.irqs", "2"),
            ("nic.enp96s0f0.irq_affinity", "may run on CPUs 0-7, do run on 0-1"),
            ("pcie.0000:60:00.0.name", "Intel Corporation Ethernet Connection X722 for 10GBASE-T"),
            ("pcie.0000:60:00.0.link.pcie", "2.5 GT/s x1 of 8 GT/s x16"),
            ("power.rapl", "package-0, dram, package-1"),
            ("chassis.type", "main server chassis"),
        ],
    );
    assert_facts(
        "epyc-7451-2s",
        &[
            ("cpu.sockets", "2"),
            ("cpu.cores", "48"),
            ("cpu.threads", "96"),
            ("cache.l3.instances", "16"),
            ("cache.l3.total", "134217728"),
            ("numa.nodes", "8"),
            ("numa.node7.cpus", "42-47,90-95"),
            ("cpu.turbo", "true"),
            ("cpu.isa.sha", "true"),
        ],
    );
}

#[test]
fn machines_of_2010_and_2014() {
    assert_facts(
        "opteron-6134-2s",
        &[
            ("cpu.sockets", "2"),
            ("cpu.cores", "16"),
            ("numa.nodes", "4"),
            ("cache.l3.bytes", "5240832"),
            ("memory.channels", "8"),
            ("memory.mts", "1333000000"),
            ("cpu.isa.crc32", "false"),
            ("cpu.isa.gib_pages", "true"),
        ],
    );
    assert_facts(
        "xeon-x3470",
        &[
            ("cpu.cores", "4"),
            ("cpu.threads", "8"),
            ("cpu.mhz.base", "2930000000"),
            ("memory.channels", "2"),
            ("memory.mts", "800000000"),
            ("memory.mts.rated", "1333000000"),
            ("cpu.isa.crc32", "true"),
            ("cpu.isa.gib_pages", "false"),
        ],
    );
    assert_facts(
        "atom-c2750",
        &[
            ("cache.l2.instances", "4"),
            ("cache.l2.shared_by", "2"),
            ("memory.channels", "2"),
            ("cpu.cores", "8"),
        ],
    );
    let facts = all_facts(&Machine::with("atom-c2750", "").root());
    assert_eq!(why(&facts, "cache.l3.bytes"), "this CPU reports no such cache");
}

#[test]
fn a_container_and_a_bare_chroot_say_what_they_cannot_know() {
    assert_facts(
        "docker-epyc-7r13",
        &[
            ("virt.kind", "other"),
            ("virt.container", "docker"),
            ("cpu.cores", "2"),
            ("cpu.threads", "4"),
            ("cgroup.version", "2"),
            ("cgroup.cpu.quota", "1.5"),
            ("cgroup.memory.limit", "2147483648"),
            ("cgroup.swap.limit", "none"),
            ("cgroup.cpuset", "0-3"),
            ("fs.root.type", "overlay"),
        ],
    );
    let facts = all_facts(&Machine::with("bare-chroot", "").root());
    assert_eq!(known(&facts, "os.name").as_deref(), Some("Debian GNU/Linux 12 (bookworm)"));
    let unknown = facts.iter().filter(|fact| fact.value.is_none());
    assert!(unknown.clone().count() > 30);
    assert!(unknown.clone().all(|fact| fact.why.as_ref().is_some_and(|why| !why.is_empty())));
}

/// Every machine's whole sheet; `insta` shows what changed.
#[test]
fn golden_sheets() {
    for name in names() {
        let machine = Machine::with(&name, "");
        let mut sheet = String::new();
        for fact in all_facts(&machine.root()) {
            let value = fact.value.as_ref().map_or("unknown".to_owned(), model::FactValue::text);
            let unit = fact.unit.map_or(String::new(), |unit| format!(" {}", unit.symbol()));
            let why = fact.why.as_ref().map_or(String::new(), |why| format!("  ({why})"));
            writeln!(sheet, "{} = {value}{unit}{why}", fact.key).unwrap();
        }
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(format!("inventory-{name}"), sheet);
        });
    }
}

#[test]
fn keys_are_unique_and_sourced() {
    let roots = names().into_iter().map(|name| Machine::with(&name, "")).collect::<Vec<_>>();
    for root in roots.iter().map(Machine::root).chain([Root::live()]) {
        let facts = all_facts(&root);
        let mut seen = BTreeSet::new();
        for fact in &facts {
            assert!(seen.insert(fact.key.clone()), "{} twice under {:?}", fact.key, root.prefix());
            assert!(!fact.source.is_empty(), "{} has no source", fact.key);
            assert!(fact.value.is_some() || fact.why.is_some(), "{} is unknown without a reason", fact.key);
            assert!(fact.value.as_ref().and_then(model::FactValue::number).is_none_or(f64::is_finite));
        }
        for key in model::fact::CONFIG_CLASS {
            assert!(seen.contains(key), "{key} is missing under {:?}", root.prefix());
        }
    }
}

#[test]
fn every_scan_is_an_instrument() {
    let listed: BTreeSet<&str> = instruments::inventory::ALL.iter().map(|one| one.card().name).collect();
    let scanned: BTreeSet<&str> = SCANS.iter().map(|scan| scan.card.name).collect();
    assert_eq!(listed, scanned);
}

#[test]
fn identity_depends_on_the_processor_and_not_on_the_user() {
    let machine = Machine::with("xeon-silver-4108-2s", "");
    let before = known(&all_facts(&machine.root()), "machine.id").unwrap();
    assert_eq!(known(&all_facts(&machine.root()), "machine.id").as_deref(), Some(before.as_str()));
    let cpuinfo = machine.root().path("/proc/cpuinfo");
    let text = std::fs::read_to_string(&cpuinfo).unwrap().replace("Silver 4108", "Silver 4208");
    std::fs::write(cpuinfo, text).unwrap();
    assert_ne!(known(&all_facts(&machine.root()), "machine.id").as_deref(), Some(before.as_str()));
}
