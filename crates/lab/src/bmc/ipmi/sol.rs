//! The console of a node by serial over LAN: `ipmitool sol`.

use std::io::{PipeReader, Write};
use std::os::fd::AsRawFd;
use std::process::Command;
use std::time::Duration;

use super::{Ipmi, ipmitool};
use crate::bmc::{Access, Failure, Power as _};
use crate::console::{Line, Refused, TOOL_ESCAPE, of_tool};
use crate::stop::{Cut, Limit};

/// How long a session may take to be opened.
const OPEN: Duration = Duration::from_secs(20);

/// The privileges that a console may want, the lesser first.
const PRIVILEGES: [&str; 2] = ["OPERATOR", "ADMINISTRATOR"];

impl Ipmi<'_> {
    /// Opens the console of a node. `take` ends the session of somebody else first.
    pub fn console(&self, access: &Access, take: bool) -> Result<Line, Failure> {
        // A plain question first: it tells what is wrong with the way to the BMC, and which suite that takes.
        for state in self.states(&[access]) {
            state?;
        }
        if take {
            let ended = |said: &str| {
                let is_ended = said.trim().is_empty() || said.contains("de-activated");
                if is_ended { Ok(()) } else { Err(ipmitool::other(said)) }
            };
            for result in self.by_ipmitool("OPERATOR", &["sol", "deactivate"], &[access], ended) {
                match result {
                    // Nobody had it.
                    Err(Failure::Other { said }) if said.contains("already de-activated") => {}
                    other => other?,
                }
            }
        }
        let mut last = Failure::NoAnswer;
        for privilege in PRIVILEGES {
            match self.activate(access, privilege) {
                Err(Failure::Privilege) => last = Failure::Privilege,
                other => return other,
            }
        }
        Err(last)
    }

    fn activate(&self, access: &Access, privilege: &str) -> Result<Line, Failure> {
        let missing = || Failure::NoTool { said: "ipmitool is not installed".to_owned() };
        let mut command = Command::new(self.ipmitool.as_ref().ok_or_else(missing)?);
        let suite = self.known(access).unwrap_or(super::Suite::Three);
        command.env("LC_ALL", "C").args(["-I", "lanplus", "-C", suite.number(), "-L", privilege]);
        // Its stdin is what is typed; the password comes over a pipe of its own.
        let password = filled(access.password.text())?;
        command.args(["-N", "1", "-R", "4", "-U", &access.user]);
        command.args(["-f", &format!("/dev/fd/{}", password.as_raw_fd())]);
        command.args(["-e", &TOOL_ESCAPE.to_string(), "-H", &access.ip.to_string()]);
        command.args(["-p", &access.port.to_string(), "sol", "activate"]);
        let limit = Limit::from_now(self.stop, Some(OPEN));
        of_tool(command, "SOL Session operational", limit).map_err(|refused| match refused {
            Refused::NotStarted(said) => {
                Failure::NoTool { said: format!("ipmitool cannot be started: {said}") }
            }
            Refused::Cut(Cut::Interrupted) => Failure::Interrupted,
            Refused::Cut(Cut::TimedOut) => Failure::NoAnswer,
            Refused::Cut(Cut::Failed(said)) => Failure::Other { said: format!("on this side: {said}") },
            Refused::Said(said) => failure(&said),
        })
    }
}

/// A pipe that holds the password and then ends, which the next process inherits.
fn filled(password: &str) -> Result<PipeReader, Failure> {
    let local = |error: std::io::Error| Failure::Other { said: format!("on this side: {error}") };
    let (reader, mut writer) = std::io::pipe().map_err(local)?;
    writer.write_all(format!("{password}\n").as_bytes()).map_err(local)?;
    rustix::io::fcntl_setfd(&reader, rustix::io::FdFlags::empty()).map_err(|error| local(error.into()))?;
    Ok(reader)
}

/// The failure that the text of a session which was not opened tells of.
fn failure(said: &str) -> Failure {
    if said.contains("already active on another session") {
        Failure::Taken
    } else if said.contains("nsufficient privilege") {
        Failure::Privilege
    } else {
        // That stdin is no terminal is meant so.
        let lines: Vec<&str> = said.lines().filter(|line| !line.starts_with("tcgetattr")).collect();
        ipmitool::other(&lines.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_keeps_a_console_closed_is_told() {
        let taken = failure("Info: SOL payload already active on another session\n");
        assert_eq!(
            (taken.word(), taken.hint().as_deref()),
            ("taken", Some("--take ends that session first"))
        );
        assert_eq!(failure("Error: Insufficient privilege level").word(), "privilege");
        let other = failure("tcgetattr: Inappropriate ioctl for device\nInfo: SOL payload disabled\n");
        assert_eq!(other.to_string(), "ipmitool said Info: SOL payload disabled");
    }
}
