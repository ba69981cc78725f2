//! Passwords by reference: a file that only its owner may read, a variable of the environment, or a command.
//!
//! A password is never part of an argument, a message or a stored value.

use std::fmt;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use crate::stop::after;

/// A password has so many bytes at most.
const MOST: usize = 4096;
/// How long a command may take, which may ask its user first.
const PATIENCE: Duration = Duration::from_secs(120);
/// How often its end is looked for.
const LOOK: Duration = Duration::from_millis(10);
/// How long its output may stay open after its end.
const DRAIN: Duration = Duration::from_secs(1);

/// The place of a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Secret {
    /// A file; a relative path starts where the inventory lies, `~/` in the home directory.
    File(String),
    /// A variable of the environment.
    Env(String),
    /// A program and its arguments; the first line that it prints is the password. No shell reads them.
    Cmd(Vec<String>),
}

/// A password. Its `Debug` shows nothing of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

impl Password {
    #[cfg(test)]
    pub(crate) fn new(text: &str) -> Password {
        Password(text.to_owned())
    }

    pub fn text(&self) -> &str {
        &self.0
    }

    /// The first line of what a file or a program says.
    fn first_line(text: &str, from: &str) -> Result<Password, SecretError> {
        let line = text.lines().next().unwrap_or_default();
        if line.len() > MOST {
            return Err(SecretError::new(
                format!("{from} is longer than {MOST} bytes"),
                "its first line is the password",
            ));
        }
        if line.is_empty() {
            return Err(SecretError::new(format!("{from} is empty"), "its first line is the password"));
        }
        Ok(Password(line.to_owned()))
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Password(..)")
    }
}

/// Why there is no password, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretError {
    pub what: String,
    pub hint: String,
}

impl SecretError {
    fn new(what: impl Into<String>, hint: impl Into<String>) -> SecretError {
        SecretError { what: what.into(), hint: hint.into() }
    }
}

impl fmt::Display for SecretError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.what)
    }
}

impl std::error::Error for SecretError {}

impl Secret {
    /// Gets the password. `base` is the folder of the inventory.
    pub fn password(&self, base: &Path) -> Result<Password, SecretError> {
        match self {
            Secret::File(path) => of_file(&placed(path, base)),
            Secret::Env(name) => {
                let missing =
                    || SecretError::new(format!("the variable {name} is not set"), "export it first");
                let text = std::env::var(name).map_err(|_| missing())?;
                Password::first_line(&text, &format!("the variable {name}"))
            }
            Secret::Cmd(words) => of_command(words, base),
        }
    }
}

fn placed(path: &str, base: &Path) -> PathBuf {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => base.join(path),
    }
}

fn of_file(path: &Path) -> Result<Password, SecretError> {
    let shown = path.display();
    let wrong =
        |error: std::io::Error| SecretError::new(format!("{shown}: {error}"), "password_file names a file");
    let metadata = std::fs::metadata(path).map_err(wrong)?;
    let mode = metadata.permissions().mode() & 0o777;
    if !metadata.is_file() || metadata.len() > MOST as u64 {
        return Err(SecretError::new(
            format!("{shown} is no file of a password"),
            "its first line is the password",
        ));
    }
    if mode & 0o077 != 0 {
        let what = format!("{shown} may be read by others (mode {mode:04o})");
        return Err(SecretError::new(what, format!("chmod 600 {}", model::shell::word(&shown.to_string()))));
    }
    let text = std::fs::read_to_string(path).map_err(wrong)?;
    Password::first_line(&text, &shown.to_string())
}

/// Only the name of the program is told of what went wrong: its arguments and output may hold a secret.
fn of_command(words: &[String], base: &Path) -> Result<Password, SecretError> {
    let Some((program, arguments)) = words.split_first() else {
        return Err(SecretError::new(
            "password_cmd names no program",
            "password_cmd = [\"pass\", \"show\", \"bmc\"]",
        ));
    };
    let mut command = Command::new(program);
    command.args(arguments).current_dir(if base.as_os_str().is_empty() { Path::new(".") } else { base });
    // It may ask its user on the terminal: it stays in our process group.
    command.stdin(Stdio::null()).stderr(Stdio::inherit());
    let wrong = |what: String, hint: &str| SecretError::new(format!("password_cmd {program}{what}"), hint);
    let by_hand = "run it by hand to see why";
    let (status, stdout) = match output(command, PATIENCE) {
        Ok(Some(ended)) => ended,
        Ok(None) => {
            return Err(wrong(format!(": not done within {} s, and ended", PATIENCE.as_secs()), by_hand));
        }
        Err(error) => return Err(wrong(format!(": {error}"), "name a program that there is")),
    };
    if !status.success() {
        return Err(wrong(format!(" failed: {status}"), by_hand));
    }
    let not_text =
        |_| SecretError::new(format!("password_cmd {program} prints no text"), "it prints the password");
    let text = String::from_utf8(stdout).map_err(not_text)?;
    Password::first_line(&text, &format!("what password_cmd {program} prints"))
}

/// The exit of a program, and the first line that it prints; `None` where it did not end in time, and was killed.
fn output(mut command: Command, within: Duration) -> std::io::Result<Option<(ExitStatus, Vec<u8>)>> {
    let until_ns = after(sys::clock::now_ns(), within);
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let (give, printed) = channel();
    let pipe = child.stdout.take();
    // A process that it leaves behind may keep the pipe open: nobody waits for the end of this thread.
    std::thread::spawn(move || {
        let (mut line, mut pipe) = (Vec::new(), pipe.map(BufReader::new));
        let read = pipe.as_mut().map_or(Ok(0), |pipe| pipe.read_until(b'\n', &mut line));
        let _heard = give.send(read.map(|_| line));
        // It may print more, which nobody wants.
        pipe.map(|mut pipe| std::io::copy(&mut pipe, &mut std::io::sink()))
    });
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if sys::clock::now_ns() >= until_ns {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(LOOK);
    };
    match printed.recv_timeout(DRAIN) {
        Ok(bytes) => Ok(Some((status, bytes?))),
        Err(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(mode: u32, text: &str) -> (tempfile::TempDir, Secret) {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("bmc");
        std::fs::write(&path, text).expect("a file");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("a mode");
        (dir, Secret::File("bmc".to_owned()))
    }

    #[test]
    fn a_file_must_be_its_owners_alone() {
        for mode in [0o600, 0o400] {
            let (dir, secret) = file(mode, "geheim\nsecond line\n");
            assert_eq!(secret.password(dir.path()).expect("a password").text(), "geheim");
        }
        for mode in [0o640, 0o604, 0o644] {
            let (dir, secret) = file(mode, "geheim\n");
            let error = secret.password(dir.path()).expect_err("others may read it");
            assert!(
                error.what.contains(&format!("mode {mode:04o}")) && error.hint.starts_with("chmod 600"),
                "{error}"
            );
            assert!(!format!("{error:?}").contains("geheim"));
        }
        let (dir, secret) = file(0o600, "\n");
        assert!(secret.password(dir.path()).expect_err("empty").what.ends_with("is empty"));
        assert!(Secret::File("none".to_owned()).password(dir.path()).is_err());
    }

    #[test]
    fn a_command_prints_it_and_no_shell_reads_its_words() {
        let words = |words: &[&str]| Secret::Cmd(words.iter().map(|word| (*word).to_owned()).collect());
        let here = Path::new("");
        assert_eq!(words(&["echo", "$(id)"]).password(here).expect("a password").text(), "$(id)");
        for bad in [&["false"][..], &["/no/such/program"], &["true"], &[]] {
            assert!(words(bad).password(here).is_err(), "{bad:?}");
        }
        let error = words(&["cat", "/no/geheim"]).password(here).expect_err("no such file");
        assert!(!format!("{error:?}").contains("geheim"), "{error:?}");
    }

    #[test]
    fn a_command_that_does_not_end_is_ended() {
        let sleep = |words: &[&str]| {
            let mut command = Command::new("sh");
            command.args(words);
            // Less than what a script leaves behind takes.
            output(command, Duration::from_secs(10)).expect("it starts")
        };
        let mut hangs = Command::new("sleep");
        hangs.arg("1000");
        assert!(output(hangs, Duration::from_millis(50)).expect("it starts").is_none());
        for script in ["echo geheim", "echo geheim; exec yes | head -c 300000", "echo geheim; sleep 20 &"] {
            let (status, printed) = sleep(&["-c", script]).expect("in time");
            assert!(status.success() && printed == b"geheim\n", "{script}");
        }
    }

    #[test]
    fn a_variable_that_is_not_set_is_told() {
        let error =
            Secret::Env("BOXSCORE_NO_SUCH_VARIABLE".to_owned()).password(Path::new("")).expect_err("not set");
        assert_eq!(error.to_string(), "the variable BOXSCORE_NO_SUCH_VARIABLE is not set");
        assert!(Secret::Env("PATH".to_owned()).password(Path::new("")).is_ok());
    }

    #[test]
    fn a_password_shows_nothing_of_itself() {
        assert_eq!(format!("{:?}", Password("geheim".to_owned())), "Password(..)");
    }
}
