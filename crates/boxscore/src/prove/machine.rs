//! Faults of the machine that measures: a shared core, a CPU quota, a disk that is none.

use instruments::workload::server::builtin::faulty::Faults;
use model::doc::ProofState;
use model::names::instrument;
use model::plan::Via;
use verdict::prove;

use super::bench::{Bench, Lines};
use super::quota::Quota;

/// Of one CPU, for all that is measured.
const SHARE: f64 = 0.25;

pub fn same_core(bench: &Bench<'_>) -> Lines {
    let cell = (instrument::WEB, "server=builtin;content=gif;connections=10;duration=1");
    let mut plan = bench.plan(&[cell], 2)?;
    plan.cpus = bench.server_cpu().and_then(|cpu| u32::try_from(cpu).ok()).map(|cpu| vec![cpu]);
    let run = bench.measure(&plan)?;
    Ok(vec![prove::refused(
        "a starved generator",
        "one core for both",
        &run,
        &["same-cores", "generator-bound"],
        instruments::cards(),
    )])
}

pub fn quota(bench: &Bench<'_>) -> Lines {
    const PLANTED: &str = "0.25 CPUs";
    let quota = match Quota::make(SHARE) {
        Ok(quota) => quota,
        Err(why) => {
            return Ok(vec![prove::missing("a quota", PLANTED, ProofState::Unknown, &why)]);
        }
    };
    let server = bench.plant(Faults::default())?;
    let load = format!("url={};connections=10;duration=1", server.url());
    let mut lines = Vec::new();
    for (what, cell) in [
        ("a starved benchmark", (instrument::CRC32C, "size=1KiB")),
        ("a starved generator", (instrument::WEB, load.as_str())),
    ] {
        let mut plan = bench.plan(&[cell], 3)?;
        // Longer than a period of the quota.
        plan.take_seconds = 0.2;
        plan.machines = [Via { name: String::new(), command: Some(quota.command()?) }].into();
        let before = quota.stopped();
        let run = bench.measure(&plan)?;
        let line = prove::refused(what, PLANTED, &run, &["throttled"], instruments::cards());
        // Where others leave less than the quota, it stops nobody: then nothing was planted.
        let unplanted = before.is_some() && before == quota.stopped();
        lines.push(match (line.state, unplanted) {
            (ProofState::Fail, true) => {
                let why =
                    "other work left it less than the quota, which never stopped it: try on a quiet machine";
                prove::missing(what, PLANTED, ProofState::Unknown, why)
            }
            _ => line,
        });
    }
    Ok(lines)
}

pub fn cached_disk(bench: &Bench<'_>) -> Lines {
    const PLANTED: &str = "a file that the page cache holds";
    let on_disk =
        |dir: &&std::path::PathBuf| sys::direct::file_system(dir).is_ok_and(|system| !system.in_memory);
    let Some(dir) = bench.disks.iter().find(on_disk) else {
        let why = "no folder on a disk: say --store FILE with one that is";
        return Ok(vec![prove::missing("disk reads", PLANTED, ProofState::Unknown, why)]);
    };
    let mut plan = bench.plan(&[(instrument::DISK_READ, "engine=cached;file-size=16MiB;qd=1")], 2)?;
    plan.dir = Some(dir.display().to_string());
    let run = bench.measure(&plan)?;
    Ok(vec![prove::refused_if_seen("disk reads", PLANTED, &run, "page-cache", instruments::cards())])
}
