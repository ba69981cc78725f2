//! `boxscore agent --stdio`: the measuring child. It speaks frames on stdin and stdout, and nothing else.

use harness::worker::{Worker, WorkerError};
use model::frame::{Hello, WIRE_VERSION};

use crate::error::CliError;

#[derive(Clone, Debug, clap::Args)]
pub struct AgentArgs {
    /// Speak frames on stdin and stdout
    #[arg(long, required = true)]
    pub stdio: bool,
}

/// Version and source hash: two different builds are never mixed in a study.
pub const BUILD: &str = env!("BOXSCORE_BUILD");

pub fn run(_args: &AgentArgs) -> Result<u8, CliError> {
    let worker = Worker {
        instruments: instruments::all(),
        hello: hello()?,
        generate: instruments::remote_task::serve,
        lost,
        set_progress: instruments::progress::install,
        anew,
    };
    match worker.serve(std::io::stdin(), std::io::stdout()) {
        Ok(()) => Ok(0),
        Err(WorkerError::Pipe(_)) => Ok(1),
        Err(error @ WorkerError::Order { .. }) => Err(CliError::data(error.to_string())),
    }
}

/// Starts this program anew in this process: on the same pipes, with memory of its own. Returns only why that failed.
fn anew() -> Option<String> {
    use std::os::unix::process::CommandExt;

    instruments::workload::guard::end_all();
    // Not by its path: another build may be there by now.
    let error =
        std::process::Command::new("/proc/self/exe").arg0("boxscore").args(["agent", "--stdio"]).exec();
    Some(error.to_string())
}

/// The program is gone or said Abort: nothing of the take in flight is worth keeping.
#[expect(
    clippy::exit,
    reason = "the main thread may be deep in a measurement that nobody waits for any more"
)]
fn lost() {
    instruments::workload::guard::end_all();
    std::process::exit(1);
}

fn hello() -> Result<Hello, CliError> {
    let cpus = sys::affinity::allowed()?;
    let cpus: Vec<u32> = cpus.into_iter().map(|cpu| u32::try_from(cpu).unwrap_or(u32::MAX)).collect();
    let read = |path: &str| std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
    Ok(Hello {
        wire: WIRE_VERSION,
        build: BUILD.to_owned(),
        target: env!("BOXSCORE_TARGET").to_owned(),
        hostname: read("/proc/sys/kernel/hostname").unwrap_or_else(|| "unknown".to_owned()),
        boot_id: sys::clock::boot_id().ok(),
        cores: instruments::system_files::topology::here(&cpus),
        cpus,
        wall_ns: i64::try_from(sys::clock::wall_ns()).unwrap_or(i64::MAX),
        monotonic_ns: sys::clock::now_ns(),
    })
}
