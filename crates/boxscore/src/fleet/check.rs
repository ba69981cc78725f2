//! `boxscore lab check`: machines held against what work on them needs, a line for those with equal results. Meanwhile
//! their BMCs are asked whether they are on.

use lab::bmc::{self, Bmcs, Power, State, accesses, reached};
use lab::inventory::Node;
use lab::ssh::check::{self, Checked, Facts, Folder, Sudo};
use lab::ssh::{Failure, Host};
use lab::stop::Stop;
use model::doc::{LabCheckDoc, LabCheckGroupDoc, LabCheckedDoc, LabFaultDoc, LabResultDoc};
use model::format::{duration, quantity};
use model::params::parse_bytes;
use report::text::lab_hosts as text;

use super::on::BUILT;
use super::reach::{self, Progress};
use super::select::{self, Chosen};
use crate::cli::Global;
use crate::cli::lab::check::LabCheckArgs;
use crate::error::CliError;
use crate::out;

/// The needs of the work.
struct Needs<'a> {
    folder: &'a str,
    bytes: u64,
    clock: f64,
    sudo: bool,
}

impl Needs<'_> {
    fn read(args: &LabCheckArgs) -> Result<Needs<'_>, CliError> {
        let wrong = || {
            CliError::usage(format!("--space {}: not a size", args.space)).hint("for example 500MB or 2GiB")
        };
        if args.folder.is_empty() || args.folder.contains(['\n', '\0']) {
            return Err(CliError::usage("--folder: not the name of a folder"));
        }
        Ok(Needs {
            folder: &args.folder,
            bytes: parse_bytes(&args.space).ok_or_else(wrong)?,
            clock: reach::span("--clock", &args.clock)?.as_secs_f64(),
            sudo: args.sudo,
        })
    }

    /// The faults of a host that answered.
    fn faults(&self, facts: &Facts) -> Vec<LabFaultDoc> {
        let Some(architecture) = &facts.architecture else {
            let hint = "a forced command, or a login shell that is none";
            return vec![fault("silent", "it let us in and answered no question".to_owned(), Some(hint))];
        };
        let mut faults = Vec::new();
        if self.sudo && !matches!(facts.sudo, Some(Sudo::Root | Sudo::Yes)) {
            let hint = "NOPASSWD in sudoers, or -l root";
            faults.push(fault("sudo", "sudo does not work without asking".to_owned(), Some(hint)));
        }
        if !BUILT.contains(&architecture.as_str()) {
            let why = format!("boxscore is not built for {architecture}");
            faults.push(fault("architecture", why, None));
        }
        match facts.folder {
            Some(Folder::Writable) => {}
            Some(Folder::Missing) => {
                faults.push(fault("folder", format!("there is no folder {}", self.folder), None));
            }
            Some(Folder::ReadOnly) | None => {
                faults.push(fault("folder", format!("{} cannot be written to", self.folder), None));
            }
        }
        if facts.free_bytes.is_some_and(|free| free < self.bytes) {
            let needed = bytes(self.bytes);
            faults.push(fault("space", format!("less than {needed} are free in {}", self.folder), None));
        }
        // Only what is off for sure.
        if facts.clock.is_some_and(|clock| clock.offset.abs() - clock.within > self.clock) {
            let why = format!("its clock is off by more than {}", duration(self.clock));
            faults.push(fault("clock", why, Some("a time service sets it: chrony, systemd-timesyncd")));
        }
        faults
    }
}

fn fault(kind: &str, why: String, hint: Option<&str>) -> LabFaultDoc {
    LabFaultDoc { kind: kind.to_owned(), why, hint: hint.map(str::to_owned) }
}

fn bytes(count: u64) -> String {
    quantity(count as f64, model::Unit::Byte)
}

pub fn run(args: &LabCheckArgs, global: &Global) -> Result<u8, CliError> {
    let needs = Needs::read(args)?;
    let machines = select::chosen(&args.expressions, &args.select, &args.reach)?;
    let hosts = &machines.hosts;
    let options = reach::options(&args.reach)?;
    if args.reach.dry_run {
        let what = format!("would ask for sudo, architecture, clock, and the room in {}", needs.folder);
        out::print(&reach::plan(hosts, &options, &what)?);
        return Ok(0);
    }
    let (sockets, stop) = reach::begin()?;
    let mut progress = Progress::begin(hosts, global.json);
    let mut all: Vec<Checked> = Vec::with_capacity(hosts.len());
    let (went, said) = std::thread::scope(|scope| {
        let bmcs = scope.spawn(|| {
            if args.no_bmc { vec![None; hosts.len()] } else { bmcs(&machines, args.bmc.insecure, &stop) }
        });
        let went = check::run(hosts, needs.folder, &options, &sockets, &stop, |one| {
            progress.done(&one.host, || {});
            all.push(one);
        });
        (went, bmcs.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    drop(progress);
    went.map_err(reach::no_thread)?;
    all.sort_by_key(|one| one.index);
    let document = document(&needs, &all, &said, stop.is_requested());
    if global.json {
        out::json(&document);
    } else {
        out::print(&text::checked(&document));
    }
    Ok(reach::code(document.hosts.iter().all(|host| host.ok), document.interrupted))
}

/// An answer of the BMC of each host; `None` where the inventory names none.
type Said = Vec<Option<Result<State, bmc::Failure>>>;

/// Asks the BMCs that the inventory names.
fn bmcs(machines: &Chosen, insecure: bool, stop: &Stop) -> Said {
    let mut said: Said = vec![None; machines.hosts.len()];
    let Some(found) = &machines.found else { return said };
    let nodes =
        machines.hosts.iter().map(|host| found.inventory.find(host.name()).filter(|node| node.bmc.is_some()));
    let places: Vec<(usize, &Node)> = nodes.enumerate().filter_map(|(at, node)| Some((at, node?))).collect();
    let nodes: Vec<&Node> = places.iter().map(|(_, node)| *node).collect();
    let states =
        reached(&accesses(&nodes, found.folder()), |all| Bmcs::new(None, insecure, stop).states(all));
    places.iter().zip(states).for_each(|((at, _), state)| said[*at] = Some(state));
    said
}

fn document(needs: &Needs<'_>, all: &[Checked], said: &Said, interrupted: bool) -> LabCheckDoc {
    let of = |one: &Checked| said.get(one.index).and_then(Option::as_ref);
    let hosts: Vec<LabCheckedDoc> = all.iter().map(|one| host(needs, one, of(one))).collect();
    let mut groups: Vec<(&LabResultDoc, Vec<(&Host, &LabCheckedDoc)>)> = Vec::new();
    for (one, doc) in all.iter().zip(&hosts) {
        match groups.iter_mut().find(|(result, _)| is_alike(result, &doc.result)) {
            Some((_, group)) => group.push((&one.host, doc)),
            None => groups.push((&doc.result, vec![(&one.host, doc)])),
        }
    }
    let groups = groups.into_iter().map(|(result, group)| grouped(result, &group)).collect();
    LabCheckDoc {
        schema: "boxscore.lab-check/1".to_owned(),
        folder: needs.folder.to_owned(),
        groups,
        interrupted,
        hosts,
    }
}

/// True where results are equal but for advice, which may name the host.
fn is_alike(a: &LabResultDoc, b: &LabResultDoc) -> bool {
    let plain = |result: &LabResultDoc| {
        let mut result = result.clone();
        result.faults.iter_mut().for_each(|fault| fault.hint = None);
        result
    };
    plain(a) == plain(b)
}

fn grouped(result: &LabResultDoc, group: &[(&Host, &LabCheckedDoc)]) -> LabCheckGroupDoc {
    let off = |doc: &LabCheckedDoc| doc.clock_offset.map_or(-1.0, f64::abs);
    let furthest = group.iter().map(|(_, doc)| *doc).max_by(|a, b| off(a).total_cmp(&off(b)));
    LabCheckGroupDoc {
        count: group.len(),
        hosts: reach::folded(group.iter().map(|(host, _)| *host)),
        ok: result.faults.is_empty(),
        result: result.clone(),
        free_bytes: group.iter().filter_map(|(_, doc)| doc.free_bytes).min(),
        clock_offset: furthest.and_then(|doc| doc.clock_offset),
        clock_within: furthest.and_then(|doc| doc.clock_within),
    }
}

fn host(needs: &Needs<'_>, one: &Checked, said: Option<&Result<State, bmc::Failure>>) -> LabCheckedDoc {
    let none = Facts::default();
    let (mut result, facts) = match &one.result {
        Ok(facts) => (answered(needs, facts), facts),
        Err(failure) => (failed(failure, &one.host), &none),
    };
    result.bmc = said.map(|state| state.as_ref().map_or("unknown", |state| state.word()).to_owned());
    if let Some(Err(failure)) = said {
        let kind = format!("bmc-{}", failure.word());
        result.faults.push(fault(&kind, failure.to_string(), failure.hint().as_deref()));
    }
    LabCheckedDoc {
        host: one.host.to_string(),
        ok: result.faults.is_empty(),
        result,
        free_bytes: facts.free_bytes,
        clock_offset: facts.clock.map(|clock| clock.offset),
        clock_within: facts.clock.map(|clock| clock.within),
        seconds: one.seconds,
    }
}

fn answered(needs: &Needs<'_>, facts: &Facts) -> LabResultDoc {
    LabResultDoc {
        reachable: Some(true),
        key: Some(true),
        sudo: facts.sudo.map(|sudo| sudo.word().to_owned()),
        architecture: facts.architecture.clone(),
        bmc: None,
        faults: needs.faults(facts),
    }
}

fn failed(failure: &Failure, host: &Host) -> LabResultDoc {
    LabResultDoc {
        reachable: failure.is_reached(),
        key: failure.is_let_in(),
        faults: vec![fault(failure.word(), failure.to_string(), failure.hint(host).as_deref())],
        ..LabResultDoc::default()
    }
}

#[cfg(test)]
mod tests {
    use lab::ssh::check::Clock;

    use super::*;

    #[test]
    fn a_host_is_faulty_for_what_it_surely_lacks() {
        let needs = Needs { folder: "~", bytes: 1000, clock: 1.0, sudo: true };
        let well = Facts {
            architecture: Some("aarch64".to_owned()),
            sudo: Some(Sudo::Yes),
            folder: Some(Folder::Writable),
            free_bytes: Some(1000),
            clock: Some(Clock { offset: -1.5, within: 0.6 }),
        };
        let kinds = |facts: &Facts| -> Vec<String> {
            needs.faults(facts).into_iter().map(|fault| fault.kind).collect()
        };
        assert!(kinds(&well).is_empty());
        let ill = Facts {
            architecture: Some("riscv64".to_owned()),
            sudo: Some(Sudo::Asks),
            folder: Some(Folder::ReadOnly),
            free_bytes: Some(999),
            clock: Some(Clock { offset: -1.5, within: 0.4 }),
        };
        assert_eq!(kinds(&ill), ["sudo", "architecture", "folder", "space", "clock"]);
        assert_eq!(kinds(&Facts::default()), ["silent"]);
        assert!(kinds(&Facts { free_bytes: None, clock: None, ..well }).is_empty(), "not known is no fault");
    }
}
