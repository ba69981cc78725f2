//! Runs `cargo test` with its output passed on, and keeps what it says of each test that failed: a long log may be read
//! by its end alone.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::shell;

/// Lines of one test binary's failures that are repeated.
const LINES: usize = 120;

/// Carries `cargo test` out; the error of a failure holds the output of the tests that failed.
pub fn tests(command: &mut Command) -> Result<()> {
    let name = shell::shown(command);
    let mut child = command.stdout(Stdio::piped()).spawn().with_context(|| format!("cannot start {name}"))?;
    let mut failures = Failures::default();
    for line in BufReader::new(child.stdout.take().context("no stdout")?).split(b'\n') {
        let line = String::from_utf8_lossy(&line?).into_owned();
        println!("{line}");
        failures.line(&line);
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("failed ({status}): {name}\n{}", failures.said.join("\n"));
    }
    Ok(())
}

/// The lines between `failures:` and `test result:` of each test binary.
#[derive(Default)]
struct Failures {
    within: Option<usize>,
    said: Vec<String>,
}

impl Failures {
    fn line(&mut self, line: &str) {
        match self.within {
            None if line == "failures:" => self.within = Some(0),
            None => {}
            Some(_) if line.starts_with("test result:") => self.within = None,
            Some(lines) => {
                // The second list of a binary repeats the names alone; it is kept whole.
                if lines < LINES || line.starts_with("    ") || line.starts_with("---- ") {
                    self.said.push(line.into());
                }
                self.within = Some(lines + 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Failures;

    #[test]
    fn output_of_failed_tests_is_kept_and_that_of_others_is_not() {
        let said = "test a ... ok\ntest b ... FAILED\n\nfailures:\n\n---- b stdout ----\nleft: 1\n\nfailures:\n    b\n\n\
                    test result: FAILED. 1 passed; 1 failed\ntest c ... ok\n";
        let mut failures = Failures::default();
        said.lines().for_each(|line| failures.line(line));
        assert_eq!(failures.said, ["", "---- b stdout ----", "left: 1", "", "failures:", "    b", ""]);
    }
}
