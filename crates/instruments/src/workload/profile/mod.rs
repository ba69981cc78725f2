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

/// The processes that are sampled.
#[derive(Clone, Copy, Debug)]
pub enum Sampled<'p> {
    /// Those of a server.
    Processes(&'p [i32]),
    /// All of the machine, with kernel threads and the idle one of each CPU.
    System,
}

/// Samples for [`SPAN`], with perf itself on any of `cpus`, and returns the text of a note: `title` and the folded
/// stacks. Fails when perf does.
pub fn record(title: &str, sampled: Sampled<'_>, cpus: &[usize]) -> Result<String, String> {
    let who = match sampled {
        Sampled::Processes([]) => return Err("the processes of the server are not known here".to_owned()),
        Sampled::Processes(pids) => {
            let pids: Vec<String> = pids.iter().map(i32::to_string).collect();
            vec!["-p".to_owned(), pids.join(",")]
        }
        Sampled::System => vec!["-a".to_owned()],
    };
    let folder = Folder::make()?;
    let whole = sample("cpu-clock", &who, &folder.0, cpus);
    // Without the right to see the kernel its own part may still be seen.
    let (part, done) = match (whole, sampled) {
        (Err(ended), Sampled::Processes(_)) if ended.is_refusal => {
            let user = sample("cpu-clock:u", &who, &folder.0, cpus);
            ("user part only: the kernel's is not permitted", user)
        }
        (other, _) => ("", other),
    };
    done.map_err(|ended| ended.why(sampled))?;
    let text = format!(
        "perf script -i {DATA} --no-inline -F comm,ip,sym,dso 2>{SCRIPT}.err | head -c {SCRIPT_BYTES} >{SCRIPT}"
    );
    run("/bin/sh", &["-c", &text], &folder.0, cpus).map_err(|ended| ended.why(sampled))?;
    let script = std::fs::read(folder.0.join(SCRIPT)).map_err(|error| format!("{SCRIPT}: {error}"))?;
    let folded = Folded::parse(&script);
    if folded.samples() == 0 {
        let said = std::fs::read(folder.0.join(format!("{SCRIPT}.err"))).unwrap_or_default();
        let said = String::from_utf8_lossy(&said).lines().last().unwrap_or_default().trim().to_owned();
        let said = if said.is_empty() { String::new() } else { format!(" (perf says: {said})") };
        return Err(format!("perf saw no work{said}"));
    }
    let part = if part.is_empty() { String::new() } else { format!(" ({part})") };
    Ok(format!("# {title}{part}\n{}", folded.text(NOTE_BYTES)))
}

fn sample(event: &str, who: &[String], folder: &Path, cpus: &[usize]) -> Result<(), PerfFault> {
    let (rate, seconds) = (RATE.to_string(), SPAN.as_secs_f64().to_string());
    let mut args = vec!["record", "-q", "-e", event, "-F", &rate, "-g", "-o", DATA];
    args.extend(who.iter().map(String::as_str));
    args.extend(["--", "sleep", &seconds]);
    run("perf", &args, folder, cpus)
}

/// Why perf did not do what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PerfFault {
    said: String,
    is_refusal: bool,
}

impl PerfFault {
    fn why(self, sampled: Sampled<'_>) -> String {
        match self.is_refusal {
            true => refused(&self.said, sampled),
            false => self.said,
        }
    }
}

fn run(program: &str, args: &[&str], folder: &Path, cpus: &[usize]) -> Result<(), PerfFault> {
    let mut command = Command::new(program);
    command.args(args).current_dir(folder).env("LC_ALL", "C");
    let patience = SPAN + PATIENCE;
    let fault = |said: String| PerfFault { is_refusal: is_refusal(&said), said };
    let ended = shell::run_command(command, Start::default(), cpus, patience).map_err(|why| {
        fault(if is_missing(program) {
            format!("perf is not installed: apt install {}", package())
        } else {
            why
        })
    })?;
    match ended.failure(patience) {
        None => Ok(()),
        Some(why) if is_refusal(&why) => Err(fault(why)),
        Some(why) => Err(fault(format!("perf {why}"))),
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

/// The setting that permits it: all processes of a CPU are more than those of a server.
fn refused(why: &str, sampled: Sampled<'_>) -> String {
    let read = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
    let now = read.map_or_else(|_| String::new(), |text| format!(" (it is {} now)", text.trim()));
    let (what, most) = match sampled {
        Sampled::Processes(_) => ("the server", 1),
        Sampled::System => ("the whole system", 0),
    };
    format!(
        "perf is not permitted to watch {what}: as root, sysctl kernel.perf_event_paranoid={most}{now}; perf said \
         \"{why}\""
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_name_the_setting_that_permits_it() {
        let said = "ended with exit status: 255; stderr: Access to performance monitoring is limited, consider \
                    adjusting /proc/sys/kernel/perf_event_paranoid";
        assert!(is_refusal(said) && !is_refusal("ended with exit status: 129"));
        let fault = PerfFault { said: said.to_owned(), is_refusal: true };
        let why = fault.clone().why(Sampled::Processes(&[1]));
        assert!(why.contains("watch the server: as root, sysctl kernel.perf_event_paranoid=1"), "{why}");
        let why = fault.why(Sampled::System);
        assert!(
            why.contains("watch the whole system: as root, sysctl kernel.perf_event_paranoid=0"),
            "{why}"
        );
        let other = PerfFault { said: "perf broke".to_owned(), is_refusal: false };
        assert_eq!(other.why(Sampled::System), "perf broke");
    }

    #[test]
    fn a_server_without_processes_is_not_profiled() {
        assert!(record("x", Sampled::Processes(&[]), &[0]).unwrap_err().contains("not known"));
        assert!(is_missing("no-such-program-here"));
        assert!(!is_missing("sh"));
    }
}
