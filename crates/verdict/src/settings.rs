//! Settings in which two runs differ: kernel settings, placement of interrupts, limits, versions.
//!
//! Only what both know can differ. Of one machine every setting counts, and its memory and CPUs too, since those of a
//! virtual machine are settings. Of two machines only those do that do not follow from the hardware.

use std::collections::BTreeSet;

use model::doc::SettingDoc;
use model::fact::CONFIG_CLASS;
use model::finding::{Drops, Finding, Rule};
use model::note::NoteBody;
use model::{Fact, Params, Unit, format};

/// One of the runs.
#[derive(Clone, Copy, Debug)]
pub struct Configured<'r> {
    /// Of the machine, or of the host of a target.
    pub facts: &'r [Fact],
    pub notes: &'r [model::Note],
    /// Of a load that both runs made; empty where parameters are compared elsewhere.
    pub params: Option<&'r Params>,
}

impl<'r> Configured<'r> {
    /// A machine of which nothing else counts.
    pub const fn by_facts(facts: &'r [Fact]) -> Configured<'r> {
        Configured { facts, notes: &[], params: None }
    }
}

/// A group of facts that somebody sets, in the order in which they are named.
struct Group {
    /// Beginning and end of the keys; the end may be empty.
    keys: (&'static str, &'static str),
    /// Its values follow from the hardware.
    is_of_hardware: bool,
}

const fn group(begin: &'static str, end: &'static str, is_of_hardware: bool) -> Group {
    Group { keys: (begin, end), is_of_hardware }
}

/// Kernel settings first, then interrupts, limits, memory, processor and versions.
const GROUPS: [Group; 29] = [
    group("sysctl.net.", "", false),
    // The kernel reckons it from the memory.
    group("sysctl.fs.file-max", "", true),
    group("sysctl.", "", false),
    group("nic.", ".irq_cpus", true),
    group("nic.", ".irqs", true),
    group("nic.", ".rps", true),
    group("nic.", ".rfs_flows", true),
    group("nic.", ".mtu", true),
    group("nic.", ".speed", true),
    group("cgroup.cpu.", "", false),
    group("cgroup.memory.", "", false),
    group("cgroup.swap.", "", false),
    group("process.open_files", "", false),
    group("process.processes", "", true),
    group("process.locked_memory", "", false),
    group("memory.thp", "", false),
    group("memory.swappiness", "", false),
    group("memory.overcommit", "", false),
    group("memory.hugepages.", "", false),
    group("numa.balancing", "", false),
    group("cpu.governor", "", false),
    group("cpu.turbo", "", false),
    group("cpu.smt", "", true),
    group("clock.source", "", true),
    group("mitigations", "", false),
    group("kernel.release", "", false),
    group("kernel.cmdline", "", false),
    group("os.name", "", false),
    group("program.arch", "", false),
];

impl Group {
    fn has(&self, key: &str) -> bool {
        let (begin, end) = self.keys;
        key.starts_with(begin) && key.ends_with(end) && key.len() >= begin.len() + end.len()
    }
}

/// The place of a fact among the settings; `None` for one that is none.
fn place(key: &str, same_machine: bool) -> Option<usize> {
    if let Some((place, group)) = GROUPS.iter().enumerate().find(|(_, group)| group.has(key)) {
        return (same_machine || !group.is_of_hardware).then_some(place);
    }
    // CPU sets are told with the number of their CPUs.
    let is_class = same_machine && key != "cgroup.cpuset" && CONFIG_CLASS.contains(&key);
    is_class.then_some(GROUPS.len())
}

/// The settings in which two runs differ. Settings that limited what a load met, as findings say, come first.
pub fn differing(
    base: Configured<'_>,
    arm: Configured<'_>,
    same_machine: bool,
    findings: &[Finding],
) -> Vec<SettingDoc> {
    let mut all: Vec<(usize, SettingDoc)> = Vec::new();
    for fact in base.facts {
        let Some(place) = place(&fact.key, same_machine) else { continue };
        let other = arm.facts.iter().find(|other| other.key == fact.key);
        let (Some(base), Some(arm)) = (shown(fact), other.and_then(shown)) else { continue };
        let key = Some(fact.key.clone());
        if base != arm && all.iter().all(|(_, known)| known.key != key) {
            all.push((place, SettingDoc { name: name(&fact.key), key, base, arm }));
        }
    }
    let met = limits(findings);
    all.sort_by_key(|(place, one)| (!met.contains(one.name.as_str()), *place));
    let facts = all.into_iter().map(|(_, one)| one);
    // How many processes a server starts follows from the CPUs, too.
    let size = size(base, arm).filter(|_| same_machine);
    params(base, arm).into_iter().chain(server(base, arm)).chain(size).chain(facts).collect()
}

/// Kernel settings by which drops were explained.
fn limits(findings: &[Finding]) -> BTreeSet<&str> {
    let settings = findings.iter().filter_map(|finding| {
        let Rule::Drops(drops) = &finding.rule else { return None };
        let Drops::Dropped { counter, .. } = &**drops else { return None };
        Some(counter.settings)
    });
    settings.flatten().copied().collect()
}

/// Parameters of a load, as far as both have them.
fn params(base: Configured<'_>, arm: Configured<'_>) -> Vec<SettingDoc> {
    let (Some(base), Some(arm)) = (base.params, arm.params) else { return Vec::new() };
    let differ = |(name, of_base): (&String, &String)| {
        let of_arm = arm.get(name).filter(|value| value != of_base)?;
        Some(SettingDoc { name: name.clone(), key: None, base: of_base.clone(), arm: of_arm.to_owned() })
    };
    base.iter().filter_map(differ).collect()
}

/// The version of the one server that each run started.
fn server(base: Configured<'_>, arm: Configured<'_>) -> Option<SettingDoc> {
    noted("server", base, arm, |note| match note {
        NoteBody::ServerBuild(build) => Some(Some(build.name())),
        _ => None,
    })
}

/// The processes and threads of the one server that each run loaded, where they stayed as many all the time.
fn size(base: Configured<'_>, arm: Configured<'_>) -> Option<SettingDoc> {
    noted("size of the server", base, arm, |note| match note {
        NoteBody::ServerWorkers(workers) => Some(workers.size()),
        _ => None,
    })
}

/// A setting that notes tell, where all notes of a run tell the same.
fn noted(
    name: &str,
    base: Configured<'_>,
    arm: Configured<'_>,
    of: fn(&NoteBody) -> Option<Option<String>>,
) -> Option<SettingDoc> {
    let only = |notes: &[model::Note]| {
        let all: BTreeSet<Option<String>> = notes.iter().filter_map(|note| of(&note.body)).collect();
        all.iter().next().filter(|_| all.len() == 1).cloned().flatten()
    };
    let (base, arm) = only(base.notes).zip(only(arm.notes))?;
    (base != arm).then(|| SettingDoc { name: name.to_owned(), key: None, base, arm })
}

/// A known value for people.
fn shown(fact: &Fact) -> Option<String> {
    let value = fact.value.as_ref()?;
    match (fact.unit, value.number()) {
        (Some(unit), Some(number)) if unit != Unit::Count => Some(format::quantity(number, unit)),
        _ => Some(value.text()),
    }
}

/// A fact's key as people say it.
pub fn name(key: &str) -> String {
    if let Some(setting) = key.strip_prefix("sysctl.") {
        return setting.to_owned();
    }
    if let Some((nic, what)) = key.strip_prefix("nic.").and_then(|rest| rest.rsplit_once('.')) {
        let what = match what {
            "irq_cpus" => "CPUs of the interrupts",
            "irqs" => "interrupts",
            "rps" => "RPS",
            "rfs_flows" => "RFS flows",
            "mtu" => "MTU",
            other => other,
        };
        return format!("{what} of {nic}");
    }
    let words = match key {
        "kernel.release" => "kernel",
        "kernel.cmdline" => "kernel command line",
        "cpu.governor" => "governor",
        "cpu.turbo" => "turbo",
        "cpu.model" => "CPU model",
        "cpu.microcode" => "microcode",
        "cpu.threads" => "CPU threads",
        "cpu.smt" => "SMT",
        "clock.source" => "clock source",
        "memory.thp" => "huge pages",
        "memory.thp.defrag" => "huge pages by defragmenting",
        "memory.swappiness" => "swappiness",
        "memory.overcommit" => "overcommit",
        "memory.bytes" => "memory size",
        "memory.mts" | "memory.channels" | "memory.layout" => "memory modules",
        "numa.balancing" => "NUMA balancing",
        "cgroup.cpu.quota" => "boxscore's own CPU quota",
        "cgroup.cpuset" => "CPU set",
        "cgroup.memory.limit" => "memory limit",
        "cgroup.swap.limit" => "swap limit",
        "process.open_files" => "open files of a process",
        "process.processes" => "processes of a user",
        "process.locked_memory" => "locked memory of a process",
        "os.name" => "operating system",
        "program.arch" => "boxscore's architecture",
        other => other,
    };
    words.to_owned()
}

#[cfg(test)]
mod tests {
    use model::note::{Note, ServerBuild};

    use super::*;

    fn of<'r>(facts: &'r [Fact], notes: &'r [Note]) -> Configured<'r> {
        Configured { facts, notes, params: None }
    }

    fn said(all: &[SettingDoc]) -> Vec<String> {
        all.iter().map(SettingDoc::text).collect()
    }

    fn machine(somaxconn: &str, rps: &str, kernel: &str, memory: f64) -> Vec<Fact> {
        vec![
            Fact::text("kernel.release", kernel, ""),
            Fact::number("memory.bytes", memory, Unit::Byte, ""),
            Fact::text("nic.eth0.rps", rps, ""),
            Fact::text("sysctl.fs.file-max", somaxconn, ""),
            Fact::text("sysctl.net.core.somaxconn", somaxconn, ""),
            Fact::text("hostname", rps, ""),
            Fact::number("memory.available.bytes", memory, Unit::Byte, ""),
        ]
    }

    #[test]
    fn settings_are_named_with_both_values_and_what_limited_comes_first() {
        let (before, after) =
            (machine("8", "off", "6.1", 1e9), machine("4096", "CPUs 0-1", "6.5", 2f64.powi(31)));
        let drops = Drops::Dropped {
            counter: &model::finding::drops::COUNTERS[0],
            most: 9.0,
            connections: None,
            loads: 1,
            settings: Vec::new(),
            queue: None,
        };
        let findings = [Finding::new(drops)];
        let all = differing(of(&before, &[]), of(&after, &[]), true, &findings);
        assert_eq!(
            said(&all),
            [
                "net.core.somaxconn (8 against 4096)",
                "fs.file-max (8 against 4096)",
                "RPS of eth0 (off against CPUs 0-1)",
                "kernel (6.1 against 6.5)",
                "memory size (954 MiB against 2.00 GiB)"
            ]
        );
        assert_eq!(all[0].key.as_deref(), Some("sysctl.net.core.somaxconn"));
        // Of other machines those that follow from the hardware are none.
        let others = differing(of(&before, &[]), of(&after, &[]), false, &[]);
        assert_eq!(
            others.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(),
            ["net.core.somaxconn", "kernel"]
        );
        assert_eq!(differing(of(&before, &[]), of(&before, &[]), true, &[]), []);
        // Unknown matches anything.
        let unknown = [Fact::unknown("kernel.release", "", "hidden")];
        assert_eq!(differing(of(&before, &[]), of(&unknown, &[]), true, &[]), []);
    }

    #[test]
    fn the_version_of_a_server_and_the_parameters_of_a_load_count() {
        let build = |version: &str| {
            let (version, program, details) =
                (version.to_owned(), "/usr/sbin/nginx".to_owned(), String::new());
            vec![Note::of_run(NoteBody::ServerBuild(ServerBuild { version, program, details, bits: None }))]
        };
        let (old, new) = (build("nginx/1.22.1"), build("nginx/1.26.0"));
        let all = differing(of(&[], &old), of(&[], &new), true, &[]);
        assert_eq!(
            said(&all),
            ["server (nginx/1.22.1 (/usr/sbin/nginx) against nginx/1.26.0 (/usr/sbin/nginx))"]
        );
        // Of several servers nobody knows which is meant.
        let both = [old.clone(), new.clone()].concat();
        assert_eq!(differing(of(&[], &old), of(&[], &both), true, &[]), []);
        let size = |all| {
            let workers = model::workers::ServerWorkers { name: "nginx".into(), all, ..Default::default() };
            vec![Note::of_run(NoteBody::ServerWorkers(workers))]
        };
        let (one, two) = (size(Some((2, 2))), size(Some((3, 3))));
        let said_of =
            |base: &[Note], arm: &[Note], same| said(&differing(of(&[], base), of(&[], arm), same, &[]));
        let differ = "size of the server (2 processes, 2 threads against 3 processes, 3 threads)";
        assert_eq!(said_of(&one, &two, true), [differ]);
        assert!(said_of(&one, &two, false).is_empty() && said_of(&one, &size(None), true).is_empty());
        assert!(said_of(&one, &[one.clone(), two.clone()].concat(), true).is_empty());
        let params = ["connections=50;rate=auto", "connections=200"].map(|text| Params::parse(text).unwrap());
        let with = |at: usize| Configured { params: Some(&params[at]), ..of(&[], &[]) };
        assert_eq!(said(&differing(with(0), with(1), true, &[])), ["connections (50 against 200)"]);
    }
}
