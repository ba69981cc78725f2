//! `boxscore doctor`: what about this host would spoil measurements, and the command that changes it.
//!
//! It only reads, but for `--prove` (see `prove`). CPU times are observed for [`WINDOW`]. A finding never changes the
//! exit code.

use std::time::Duration;

use instruments::bench::machine::watch::disturbers::Look;
use instruments::inventory::spec_sheet;
use instruments::system_files::Root;
use instruments::system_files::cgroup::{self, Limits};
use instruments::telemetry::parse::{meminfo, stat, throttle};
use lab::ssh::{Host, fold};
use model::data::{RunData, RunHead, Status};
use model::doc::{DoctorDoc, DoctorManyDoc, DoctorOfDoc, LabTextDoc, MachineDoc};
use model::note::Disturber;
use store::Filter;
use verdict::Live;

use crate::cli::Global;
use crate::cli::lab::on::OnArgs;
use crate::error::CliError;
use crate::fleet::documents::Documents;
use crate::fleet::reach::folded;
use crate::lookup::{names, paths};
use crate::out;

/// Most runs that are searched for one that was not planted.
const MOST_LOOKED_AT: usize = 20;
/// Time for which CPU times are observed; one tick of the kernel's accounting (10 ms) is small beside it.
const WINDOW: Duration = Duration::from_millis(500);

#[derive(Clone, Debug, clap::Args)]
#[command(
    after_long_help = "Examples:\n  boxscore doctor\n  boxscore doctor --json\n  boxscore doctor --prove\n  boxscore doctor --on @rack1\nIt \
                       changes nothing, and exits 0 whatever it finds; with --prove it exits 1 when a planted fault \
                       was read wrongly."
)]
pub struct DoctorArgs {
    /// Plant faults for a minute (delays, stalls, a CPU quota, cut answers, a cached disk ...) and print what was
    /// planted beside what was read; --prove=stall,quota plants only these
    #[arg(long, value_name = "FAULT,...", num_args = 0..=1, require_equals = true, value_delimiter = ',')]
    #[arg(default_missing_value = "all")]
    pub prove: Option<Vec<String>>,
    #[command(flatten)]
    pub lab: OnArgs,
}

pub fn run(args: &DoctorArgs, global: &Global) -> Result<u8, CliError> {
    if args.lab.is_given()? {
        return on_nodes(args, global);
    }
    if let Some(faults) = &args.prove {
        return crate::prove::run(faults, global);
    }
    let root = Root::live();
    let live = live(&root);
    let facts = spec_sheet::all_facts(&root);
    let identity = names::identity(&facts);
    let newest = newest(global, &identity);
    let mut checks = verdict::doctor(&facts, &live);
    let elsewhere = newest.as_ref().is_ok_and(|run| run.head.machine_id != identity.id);
    checks.push(verdict::own_cost(newest.as_ref().map_err(Clone::clone), elsewhere));
    let document = DoctorDoc { schema: "boxscore.doctor/1".to_owned(), checks };
    if global.json {
        out::json(&document);
    } else {
        out::print(&report::text::doctor::table(&document, out::look()));
    }
    Ok(0)
}

/// The checks of nodes; those of nodes that say the same stand once.
fn on_nodes(args: &DoctorArgs, global: &Global) -> Result<u8, CliError> {
    if args.prove.is_some() {
        let hint = "boxscore lab run EXPR -- boxscore doctor --prove";
        return Err(CliError::usage("--prove plants faults on this machine alone").hint(hint));
    }
    let documents: Documents<DoctorDoc> = Documents::ask(&args.lab, &["doctor", "--json"])?;
    if global.json {
        let one = |(host, document): &(Host, DoctorDoc)| DoctorOfDoc {
            machine: host.to_string(),
            checks: document.checks.clone(),
        };
        let machines = documents.of.iter().map(one).collect();
        out::json(&DoctorManyDoc { schema: "boxscore.doctor-many/1".to_owned(), machines });
    } else {
        let look = report::text::Look { paint: false, ..out::look() };
        let texts =
            documents.of.iter().map(|(host, document)| (report::text::doctor::table(document, look), host));
        let groups: Vec<LabTextDoc> = fold::by_text(texts)
            .into_iter()
            .map(|(text, hosts)| LabTextDoc { count: hosts.len(), hosts: folded(hosts), text })
            .collect();
        out::print(&report::text::lab_hosts::folded(&groups, ""));
    }
    documents.end()
}

/// The newest run that ended and was not planted, of this machine, else of one that was measured from here with
/// `--via`; or why there is none. Looking makes no store.
fn newest(global: &Global, machine: &MachineDoc) -> Result<RunData, String> {
    let path = paths::store(global).map_err(|error| error.message)?;
    let Some(store) = paths::existing(&path).map_err(|error| error.message)? else {
        return Err("nothing was measured yet: there is no store".to_owned());
    };
    let heads = store.heads(&Filter::default()).map_err(|error| error.to_string())?;
    let ended: Vec<&RunHead> = heads.iter().rev().filter(|head| head.status != Status::Running).collect();
    let (ours, others): (Vec<&RunHead>, Vec<&RunHead>) =
        ended.into_iter().partition(|head| head.machine_id == machine.id);
    let first = |heads: &[&RunHead], is_wanted: fn(&RunData) -> bool| -> Result<Option<RunData>, String> {
        for head in heads.iter().take(MOST_LOOKED_AT) {
            let run = store.load_light(&head.id).map_err(|error| error.to_string())?;
            if run.plan.fake.is_none() && is_wanted(&run) {
                return Ok(Some(run));
            }
        }
        Ok(None)
    };
    if let Some(run) = first(&ours, |_| true)? {
        return Ok(run);
    }
    let by_via = first(&others, |run| run.plan.machines.iter().any(|via| via.command.is_some()))?;
    by_via.ok_or_else(|| {
        "nothing was measured yet: the store has no run that ended, of this machine or through --via"
            .to_owned()
    })
}

/// State that takes a moment to observe: CPU times and throttling over [`WINDOW`].
fn live(root: &Root) -> Live {
    let (before, look) = (times(root), Look::now());
    std::thread::sleep(WINDOW);
    let busy_by = look.zip(Look::now()).map(|(before, now)| {
        let mut by = now.since(&before);
        by.truncate(Disturber::NAMED);
        by
    });
    let passed = before.zip(times(root)).map(|(before, after)| (after.0.since(&before.0), after.1));
    let share = passed.and_then(|(times, _)| {
        let total = times.total();
        (total > 0).then(|| (times.busy() as f64 / total as f64, times.steal as f64 / total as f64))
    });
    let memory = root.bytes("/proc/meminfo").map(|bytes| meminfo::parse(&bytes)).unwrap_or_default();
    Live {
        load_average: root.maybe("/proc/loadavg").and_then(|text| text.split(' ').next()?.parse().ok()),
        busy_cpus: share.zip(passed).map(|((busy, _), (_, cpus))| busy * cpus as f64),
        busy_by,
        steal_share: share.map(|(_, steal)| steal),
        cpus: sys::affinity::allowed().ok().map(|cpus| cpus.len() as f64),
        free_memory_bytes: memory.available.map(|bytes| bytes as f64),
        swap_used_bytes: memory.swap_used.map(|bytes| bytes as f64),
        on_mains: on_mains(root),
        throttled_periods: throttled(root, &cgroup::limits(root)),
    }
}

/// Times of all CPUs together, and how many they are.
fn times(root: &Root) -> Option<(stat::Times, usize)> {
    let stat = stat::parse(&root.bytes("/proc/stat").ok()?);
    Some((stat.all?, stat.cpus.len()))
}

/// `None` on a machine without a power supply that reports.
fn on_mains(root: &Root) -> Option<bool> {
    const DIR: &str = "/sys/class/power_supply";
    let supplies = root.list(DIR);
    let read = |name: &String, file: &str| root.maybe(&format!("{DIR}/{name}/{file}"));
    let of = |kind: &str| -> Vec<&String> {
        supplies.iter().filter(|name| read(name, "type").is_some_and(|text| text.trim() == kind)).collect()
    };
    let mains: Vec<bool> =
        of("Mains").into_iter().filter_map(|name| Some(read(name, "online")?.trim() == "1")).collect();
    if !mains.is_empty() {
        return Some(mains.contains(&true));
    }
    let states: Vec<String> = of("Battery").into_iter().filter_map(|name| read(name, "status")).collect();
    (!states.is_empty()).then(|| states.iter().all(|state| state.trim() != "Discharging"))
}

/// Periods in which our control group was stopped: its own counter where it is mounted, or the one at the top that a
/// container sees.
fn throttled(root: &Root, limits: &Limits) -> Option<f64> {
    let path = limits.path.clone().unwrap_or_default();
    let path = path.trim_end_matches('/');
    let dirs = ["/sys/fs/cgroup", "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"];
    let own = dirs.iter().map(|dir| format!("{dir}{path}/cpu.stat"));
    let top = dirs.iter().map(|dir| format!("{dir}/cpu.stat"));
    let read = |file: String| throttle::parse(&root.bytes(&file).ok()?);
    own.chain(top).find_map(read).map(|throttle| throttle.count as f64)
}
