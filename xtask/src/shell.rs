//! Where the repository is, how a command is run, and how long a step took (wall seconds).

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};

/// The repository that this xtask was built from.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

/// The folder that cargo builds into.
pub fn target() -> PathBuf {
    let root = root();
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |folder| root.join(folder))
}

/// The cargo that runs us, so that a toolchain override stays in force.
pub fn cargo() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".into())
}

pub fn command(program: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).current_dir(root());
    command
}

/// Runs a command with our terminal; an exit code other than 0 is an error that repeats the command.
pub fn run(program: &str, args: &[&str]) -> Result<()> {
    must(&mut command(program, args))
}

pub fn must(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {}", shown(command)))?;
    if !status.success() {
        bail!("failed ({status}): {}", shown(command));
    }
    Ok(())
}

/// Fails where a program is not installed.
pub fn must_have(program: &str) -> Result<()> {
    let found = output("sh", &["-c", &format!("command -v {program}")]);
    found.map(drop).with_context(|| format!("{program} is not installed"))
}

/// A path as a word of a command. Fails where it is not UTF-8.
pub fn text(path: &Path) -> Result<&str> {
    path.to_str().with_context(|| format!("{} is not UTF-8", path.display()))
}

/// The stdout of a command. Fails if the command does.
pub fn output(program: &str, args: &[&str]) -> Result<String> {
    must_output(&mut command(program, args))
}

pub fn must_output(command: &mut Command) -> Result<String> {
    command.stderr(std::process::Stdio::inherit());
    let out = command.output().with_context(|| format!("cannot start {}", shown(command)))?;
    if !out.status.success() {
        bail!("failed ({}): {}", out.status, shown(command));
    }
    String::from_utf8(out.stdout).with_context(|| format!("not UTF-8: {}", shown(command)))
}

pub fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Named steps, each timed; the table at the end also shows what failed.
#[derive(Default)]
pub struct Steps {
    done: Vec<(String, f64, Result<()>)>,
}

impl Steps {
    /// Carries a step out; a failure does not stop the following ones.
    pub fn step(&mut self, name: &str, work: impl FnOnce() -> Result<()>) {
        println!("==> {name}");
        let start = Instant::now();
        let outcome = work();
        if let Err(error) = &outcome {
            let error = format!("{error:#}");
            eprintln!("==> {name}: FAILED: {}", error.lines().next().unwrap_or_default());
        }
        self.done.push((name.into(), start.elapsed().as_secs_f64(), outcome));
    }

    pub fn finish(self) -> Result<()> {
        println!();
        // Once more at the end, where a log that was cut still shows it.
        for (name, _, outcome) in &self.done {
            if let Err(error) = outcome {
                println!("==> {name}: {error:#}\n");
            }
        }
        for (name, seconds, outcome) in &self.done {
            println!("{} {seconds:7.1} s  {name}", if outcome.is_ok() { "ok    " } else { "FAILED" });
        }
        let total: f64 = self.done.iter().map(|(_, seconds, _)| seconds).sum();
        println!("       {total:7.1} s  in all");
        let failed: Vec<&str> = self
            .done
            .iter()
            .filter(|(_, _, outcome)| outcome.is_err())
            .map(|(name, ..)| name.as_str())
            .collect();
        if !failed.is_empty() {
            bail!("failed: {}", failed.join(", "));
        }
        Ok(())
    }
}
