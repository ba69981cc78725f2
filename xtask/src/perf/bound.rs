//! Commands with a time limit: some of those that are compared ignore polite signals, or never end.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::shell;

/// Runs `words` on one CPU and gives back stdout and stderr; after `limit` its process group is killed.
pub fn on_cpu(cpu: u32, words: &[&str], limit: Duration) -> Result<(String, String)> {
    let mut command = Command::new("taskset");
    command.arg("-c").arg(cpu.to_string()).args(words);
    captured(&mut command, limit)
}

pub fn captured(command: &mut Command, limit: Duration) -> Result<(String, String)> {
    let shown = shell::shown(command);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().with_context(|| format!("cannot start {shown}"))?;
    let drain = |pipe: Option<Box<dyn Read + Send>>| {
        thread::spawn(move || -> std::io::Result<String> {
            let mut text = String::new();
            if let Some(mut pipe) = pipe {
                pipe.read_to_string(&mut text)?;
            }
            Ok(text)
        })
    };
    let out = drain(child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>));
    let err = drain(child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>));
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if start.elapsed() > limit {
            shell::run("kill", &["-KILL", "--", &format!("-{}", child.id())])?;
            child.wait()?;
            bail!("not done after {} s: {shown}", limit.as_secs());
        }
        thread::sleep(Duration::from_millis(5));
    };
    let text = |reader: thread::JoinHandle<std::io::Result<String>>| match reader.join() {
        Ok(text) => text.with_context(|| format!("cannot read what it prints: {shown}")),
        Err(_) => bail!("the reader died: {shown}"),
    };
    let (out, err) = (text(out)?, text(err)?);
    if !status.success() {
        bail!("failed ({status}): {shown}\n{}", err.trim());
    }
    Ok((out, err))
}

/// Seconds of a run: wall time, and CPU time of the program and its children.
#[derive(Clone, Copy)]
pub struct Took {
    pub wall: f64,
    pub cpu: f64,
}

/// Runs `words` with these variables; gives back stdout and the times, as bash tells them.
pub fn timed(words: &[&str], variables: &[(&str, &Path)], limit: Duration) -> Result<(String, Took)> {
    let mut command = Command::new("bash");
    command.args(["-c", "TIMEFORMAT=$'\\n%R %U %S'; time \"$@\"", "bash"]).args(words);
    command.envs(variables.iter().copied());
    let (out, err) = captured(&mut command, limit)?;
    let line = err.lines().last().context("bash told no times")?;
    let times: Vec<f64> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
    let [wall, user, system] = times[..] else { bail!("no times: {line}") };
    Ok((out, Took { wall, cpu: user + system }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_ends_is_killed_and_both_streams_are_read() {
        let mut deaf = Command::new("sh");
        deaf.args(["-c", "trap '' TERM; sleep 100"]);
        assert!(captured(&mut deaf, Duration::from_millis(50)).unwrap_err().to_string().contains("not done"));
        let mut both = Command::new("sh");
        both.args(["-c", "echo out; echo err >&2"]);
        let (out, err) = captured(&mut both, Duration::from_secs(60)).unwrap();
        assert_eq!((out.as_str(), err.as_str()), ("out\n", "err\n"));
        assert!(captured(&mut Command::new("false"), Duration::from_secs(60)).is_err());
    }
}
