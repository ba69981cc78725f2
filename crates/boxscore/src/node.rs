//! boxscore as the first program of a machine that `lab boot` booted: it brings up the network, tells the controller
//! what machine this is, and serves as agent. Nothing is written to any disk, unless it was booted for that and is told
//! which one (`write`).
//!
//! The first process only starts the second one and takes the end of orphans. What the node is to know stands on the
//! kernel's command line: `boxscore.controller`, `boxscore.key`, `boxscore.name`, `boxscore.mac`, `boxscore.ip`,
//! `boxscore.write`.

mod agent;
pub mod disks;
pub mod settings;
mod system;
pub mod write;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use lab::boot::http;

pub use self::agent::{DISKS, WRITE, connect, dial, way};
use self::settings::Settings;
use crate::error::CliError;
use crate::out;

/// The path of the program in the image. The kernel starts its first process as this.
pub const INIT: &str = "/init";

/// The first word of the second process.
const WORK: &str = "node";

/// How long the controller is tried.
const PATIENCE_NS: u64 = 120_000_000_000;
const PAUSE: Duration = Duration::from_millis(500);

/// The exit code of this process where it is one of a booted node.
pub fn role() -> Option<u8> {
    let mut words = std::env::args_os();
    if words.next().is_none_or(|word| word != INIT) {
        return None;
    }
    let is_work = words.next().is_some_and(|word| word == WORK);
    match (std::process::id() == 1, is_work) {
        (true, _) => Some(first()),
        (false, true) => Some(work()),
        (false, false) => None,
    }
}

/// Starts the second process and waits for children as long as the machine runs. The kernel panics if it ends.
fn first() -> u8 {
    // Its first lines need no file system; the second process mounts them.
    let started = Command::new(INIT).arg(WORK).stdin(Stdio::null()).spawn();
    if let Err(error) = &started {
        out::say(&format!("boxscore: the agent cannot be started: {error}"));
    }
    loop {
        match sys::first::wait_for_any() {
            Ok(Some(pid)) if started.as_ref().is_ok_and(|child| child.id() == pid) => {
                out::say("boxscore: the agent has ended");
            }
            Ok(Some(_)) => {}
            Ok(None) | Err(_) => std::thread::sleep(Duration::from_secs(3600)),
        }
    }
}

fn work() -> u8 {
    match serve() {
        Ok(()) => 0,
        Err(error) => {
            out::say(&format!("boxscore: {}", error.message));
            1
        }
    }
}

/// Prepares the machine, reports it, and serves for ever. Fails with what the console then shows.
fn serve() -> Result<(), CliError> {
    system::mount()?;
    let text = std::fs::read_to_string("/proc/cmdline").map_err(|error| CliError::data(error.to_string()))?;
    let settings = Settings::read(&text)?;
    out::say(&format!("boxscore: this is {}", settings.name));
    for said in system::load_modules(Path::new("/").join(lab::boot::image::MODULES).as_path())? {
        out::say(&format!("boxscore: {said}"));
    }
    system::bring_up(&settings)?;
    let listener = agent::listen(&settings)?;
    let clock = tell(&settings, "up", b"")?;
    if let Ok(wall_ns) = String::from_utf8_lossy(&clock).trim().parse() {
        sys::first::set_wall_clock(wall_ns)?;
    }
    let sheet = Command::new("/proc/self/exe").args(["inspect", "--json"]).stdin(Stdio::null()).output();
    let sheet = sheet.map_err(|error| CliError::data(format!("the spec sheet cannot be made: {error}")))?;
    match sheet.status.success() {
        true => tell(&settings, "inspected", &sheet.stdout)?,
        false => tell(&settings, "failed", &sheet.stderr)?,
    };
    out::say("boxscore: ready");
    agent::serve(&listener, &settings)
}

/// Posts to the controller, until it has taken it. Gives back its answer.
fn tell(settings: &Settings, what: &str, body: &[u8]) -> Result<Vec<u8>, CliError> {
    let path = format!("/{what}/{}", settings.key);
    let until_ns = sys::clock::now_ns().saturating_add(PATIENCE_NS);
    loop {
        match http::post(settings.controller, &path, body) {
            Ok(answer) => return Ok(answer),
            // The card may need some time until its link is there.
            Err(_) if sys::clock::now_ns() < until_ns => std::thread::sleep(PAUSE),
            Err(error) => {
                let what = format!("the controller at {} does not answer: {error}", settings.controller);
                return Err(CliError::data(what));
            }
        }
    }
}
