//! Where the processor time of a server goes: its processes sampled by `perf` while it is loaded.
//!
//! Samples of the software clock (`cpu-clock`), [`RATE`] a second on each busy CPU, with the stack of each. What is
//! sampled is one load that is in no figure. Waiting is not sampled, only work. Needs `perf` and the right to use it.

pub mod folded;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::fs::Mode;
use sys::process::Start;

use crate::workload::shell;
use folded::Folded;

/// Samples per second and CPU; not a multiple of the kernel's own tick.
const RATE: u32 = 997;
/// How long is sampled.
pub const SPAN: Duration = Duration::from_millis(1500);
/// How long the load must last, so that it is still there when sampling ends: `perf` takes a moment to start.
pub const LOAD: Duration = Duration::from_millis(2500);
/// Time that perf may take beyond that, and to resolve the symbols.
const PATIENCE: Duration = Duration::from_secs(30);
/// No note is longer.
const NOTE_BYTES: usize = 256 << 10;
/// No output of perf is read beyond this.
const SCRIPT_BYTES: u64 = 64 << 20;
const DATA: &str = "perf.data";
const SCRIPT: &str = "perf.txt";

/// A folder that is gone when this is.
struct Folder(PathBuf);

impl Folder {
    fn make() -> Result<Folder, String> {
        let name = format!("boxscore-profile-{}-{}", std::process::id(), sys::clock::now_ns());
        let path = std::env::temp_dir().join(name);
        let made = rustix::fs::mkdir(&path, Mode::RWXU);
        made.map_err(|error| format!("cannot make {}: {error}", path.display()))?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Under the temporary folder it is in nobody's way if it stays.
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// Samples the processes for [`SPAN`], on any of `cpus`, and returns a note: `title` and the folded stacks. Fails when
/// perf does.
pub fn record(title: &str, processes: &[i32], cpus: &[usize]) -> Result<String, String> {
    if processes.is_empty() {
        return Err("the processes of the server are not known here".to_owned());
    }
    let folder = Folder::make()?;
    let pids: Vec<String> = processes.iter().map(i32::to_string).collect();
    let pids = pids.join(",");
    let whole = sample("cpu-clock", &pids, &folder.0, cpus);
    // Without the right to see the kernel its own part may still be seen.
    let (part, sampled) = match whole {
        Err(why) if is_refusal(&why) => {
            ("user part only: the kernel's is not permitted", sample("cpu-clock:u", &pids, &folder.0, cpus))
        }
        other => ("", other),
    };
    sampled?;
    let text = format!(
        "perf script -i {DATA} --no-inline -F comm,ip,sym,dso 2>{SCRIPT}.err | head -c {SCRIPT_BYTES} >{SCRIPT}"
    );
    run("/bin/sh", &["-c", &text], &folder.0, cpus)?;
    let script = std::fs::read(folder.0.join(SCRIPT)).map_err(|error| format!("{SCRIPT}: {error}"))?;
    let folded = Folded::parse(&script);
    if folded.samples() == 0 {
        let said = std::fs::read(folder.0.join(format!("{SCRIPT}.err"))).unwrap_or_default();
        let said = String::from_utf8_lossy(&said).lines().last().unwrap_or_default().trim().to_owned();
        let said = if said.is_empty() { String::new() } else { format!(" (perf says: {said})") };
        return Err(format!("perf saw no work of the server{said}"));
    }
    let part = if part.is_empty() { String::new() } else { format!(" ({part})") };
    Ok(format!("# {title}{part}\n{}", folded.text(NOTE_BYTES)))
}

fn sample(event: &str, pids: &str, folder: &Path, cpus: &[usize]) -> Result<(), String> {
    let (rate, seconds) = (RATE.to_string(), SPAN.as_secs_f64().to_string());
    let args =
        ["record", "-q", "-e", event, "-F", &rate, "-g", "-o", DATA, "-p", pids, "--", "sleep", &seconds];
    run("perf", &args, folder, cpus)
}

fn run(program: &str, args: &[&str], folder: &Path, cpus: &[usize]) -> Result<(), String> {
    let mut command = Command::new(program);
    command.args(args).current_dir(folder).env("LC_ALL", "C");
    let patience = SPAN + PATIENCE;
    let ended = shell::run_command(command, Start::default(), cpus, patience).map_err(|why| {
        if is_missing(program) { format!("perf is not installed: apt install {}", package()) } else { why }
    })?;
    match ended.failure(patience) {
        None => Ok(()),
        Some(why) if is_refusal(&why) => Err(refused(&why)),
        Some(why) => Err(format!("perf {why}")),
    }
}

/// True if no folder of PATH has the program.
fn is_missing(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    !std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Debian's; others name it after their kernels.
const fn package() -> &'static str {
    "linux-perf (Debian), linux-tools-generic (Ubuntu) or perf"
}

fn is_refusal(why: &str) -> bool {
    ["perf_event_paranoid", "No permission", "Permission denied", "Operation not permitted"]
        .iter()
        .any(|sign| why.contains(sign))
}

fn refused(why: &str) -> String {
    let read = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
    let now = read.map_or_else(|_| String::new(), |text| format!(" (it is {} now)", text.trim()));
    format!(
        "perf is not permitted to watch the server: as root, sysctl kernel.perf_event_paranoid=1{now}; perf said \
         \"{why}\""
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_name_the_setting_and_are_known_again() {
        let said = "ended with exit status: 255; stderr: Access to performance monitoring is limited, consider \
                    adjusting /proc/sys/kernel/perf_event_paranoid";
        assert!(is_refusal(said));
        let why = refused(said);
        assert!(why.contains("sysctl kernel.perf_event_paranoid=1") && is_refusal(&why), "{why}");
        assert!(!is_refusal("ended with exit status: 129"));
    }

    #[test]
    fn a_server_without_processes_is_not_profiled() {
        assert!(record("x", &[], &[0]).unwrap_err().contains("not known"));
        assert!(is_missing("no-such-program-here"));
        assert!(!is_missing("sh"));
    }
}
