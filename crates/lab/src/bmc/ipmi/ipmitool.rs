//! `ipmitool`: a process for each BMC. The password is its stdin.

use std::path::Path;
use std::process::Command;

use super::{Answer, Ask, LIMIT, Suite, no_result};
use crate::bmc::{Access, Failure, Request, State};
use crate::child::run as run_tool;
use crate::fan_out;
use crate::ssh::printable;
use crate::stop::{Limit, Stop};

/// BMCs at once.
const WIDTH: usize = 64;

/// The same question for many BMCs.
pub(super) struct Call<'a> {
    pub program: &'a Path,
    pub privilege: &'a str,
    pub words: &'a [&'a str],
    /// Tells why no session came about.
    pub verbose: bool,
}

/// Asks each BMC, and gives what `read` makes of each output, with its place, to `done`.
pub(super) fn each<T: Send>(
    call: &Call<'_>,
    of: &[(usize, (&Access, Suite))],
    stop: &Stop,
    read: &(impl Fn(&str) -> Result<T, Failure> + Sync),
    mut done: impl FnMut(usize, Result<T, Failure>),
) {
    let work = |_: usize, (at, (access, suite)): &(usize, (&Access, Suite))| {
        let said = call.run(*suite, access, Limit::from_now(stop, Some(LIMIT)));
        (*at, said.and_then(|said| read(&said)))
    };
    let went = fan_out::each(of, WIDTH, work, |(at, answer)| done(at, answer));
    if let Err(error) = went {
        let failure = Failure::Other { said: format!("on this side: {error}") };
        of.iter().for_each(|(at, _)| done(*at, Err(failure.clone())));
    }
}

impl Call<'_> {
    fn run(&self, suite: Suite, access: &Access, limit: Limit<'_>) -> Result<String, Failure> {
        match self.process(self.words, suite, access, limit)? {
            Ok(said) => Ok(said),
            // Without -v a wrong password reads like no answer; with it, lists have another form.
            Err(said) if !self.verbose && said.contains("Unable to establish") => {
                let ask = Call { verbose: true, ..*self };
                match ask.process(&["chassis", "power", "status"], suite, access, limit)? {
                    Ok(_) => Err(Failure::Lost),
                    Err(said) => Err(failure(&said)),
                }
            }
            Err(said) => Err(failure(&said)),
        }
    }

    /// Its output; where it failed, with what it said on stderr.
    fn process(
        &self,
        words: &[&str],
        suite: Suite,
        access: &Access,
        limit: Limit<'_>,
    ) -> Result<Result<String, String>, Failure> {
        let mut command = Command::new(self.program);
        command.env("LC_ALL", "C").args(["-I", "lanplus", "-C", suite.number(), "-L", self.privilege]);
        if self.verbose {
            command.arg("-v");
        }
        // Two tries, of a second and two.
        command.args(["-N", "1", "-R", "2", "-U", &access.user, "-f", "/dev/stdin"]);
        command.args(["-H", &access.ip.to_string(), "-p", &access.port.to_string()]).args(words);
        let password = format!("{}\n", access.password.text());
        let ended =
            run_tool(command, password.as_bytes(), limit).map_err(|error| no_result("ipmitool", error))?;
        Ok(match ended.status.success() {
            true => Ok(ended.stdout),
            false => Err(format!("{}\n{}", ended.stdout, ended.stderr)),
        })
    }
}

/// The answer to a question of power.
pub(super) fn power(said: &str) -> Result<Answer, Failure> {
    let told = |line: &str| match line.trim() {
        "Chassis Power is on" => Some(Answer::State(State::On)),
        "Chassis Power is off" => Some(Answer::State(State::Off)),
        line => line.starts_with("Chassis Power Control: ").then_some(Answer::Taken),
    };
    said.lines().find_map(told).ok_or_else(|| other(said))
}

pub(super) const fn word(ask: Ask) -> &'static str {
    match ask {
        Ask::State => "status",
        Ask::Do(Request::On) => "on",
        Ask::Do(Request::Off) => "off",
        Ask::Do(Request::Soft) => "soft",
        Ask::Do(Request::Reset) => "reset",
    }
}

pub(super) fn other(text: &str) -> Failure {
    let last = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("nothing");
    Failure::Other { said: format!("ipmitool said {}", printable(last.as_bytes())) }
}

/// The failure that the text tells of. Lines about other things that it tried on its way count for nothing.
fn failure(text: &str) -> Failure {
    let behind = |mark: &str| {
        let rest = |line: &'_ str| line.split_once(mark).map(|(_, rest)| rest.trim().to_owned());
        text.lines().find_map(rest)
    };
    let has = |part: &str| text.contains(part);
    if has("HMAC is invalid") {
        return Failure::Password;
    }
    let status =
        behind("open session response message : ").or_else(|| behind("message indicates an error : "));
    if let Some(reason) = status {
        return of_session(&reason);
    }
    // `Set Chassis Power Control to Up/On failed: Node busy`, `DCMI request failed because: Node busy (c0)`
    if let Some(reason) = behind("failed: ").or_else(|| behind("failed because: ")) {
        let plain = reason.split_once(" (").map_or(reason.as_str(), |(plain, _code)| plain);
        return match plain {
            "Node busy" => Failure::Busy,
            "Insufficient privilege level" => Failure::Privilege,
            _ => Failure::Error { said: printable(reason.as_bytes()) },
        };
    }
    if has("Unable to get Chassis Power Status") || has("Unable to set Chassis Power Control") {
        Failure::Lost
    } else if has("Get Auth Capabilities error") || has("Unable to establish") {
        Failure::NoAnswer
    } else {
        other(text)
    }
}

/// The failure behind a status that a BMC gives instead of a session.
fn of_session(reason: &str) -> Failure {
    match reason {
        "insufficient resources for session" | "insufficient resources for role" => Failure::Busy,
        "unauthorized name" => Failure::User,
        "invalid role" | "unauthorized role requested" => Failure::Privilege,
        "no matching cipher suite"
        | "no matching authentication algorithm"
        | "no matching integrity payload"
        | "invalid authentication algorithm"
        | "invalid integrity algorithm"
        | "invalid confidentiality algorithm" => Failure::Cipher,
        other => Failure::Error { said: printable(other.as_bytes()) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines that stand in every verbose text.
    const NOISE: &str = "Loading IANA PEN Registry...\nGet HPM.x Capabilities request failed, compcode = d4\n\
        Invalid completion code received: Insufficient privilege level\nDiscovered IPMB address 0x0\n";

    #[test]
    fn a_verbose_text_tells_what_went_wrong() {
        let session = "Error: Unable to establish IPMI v2 / RMCP+ session";
        for (text, kind) in [
            ("> RAKP 2 HMAC is invalid\n", "password"),
            ("RAKP 2 message indicates an error : unauthorized name\n", "user"),
            ("Get Auth Capabilities error\n", "no-answer"),
            ("", "no-answer"),
            ("Error in open session response message : invalid authentication algorithm\n", "cipher"),
            ("Error in open session response message : insufficient resources for session\n", "busy"),
            ("Error in open session response message : invalid console session ID\n", "error"),
        ] {
            assert_eq!(failure(&format!("{text}{session}\n")).word(), kind, "{text}");
        }
        for (text, kind) in [
            ("Set Chassis Power Control to Up/On failed: Insufficient privilege level", "privilege"),
            ("    DCMI request failed because: Insufficient privilege level (d4)", "privilege"),
            ("Set Chassis Power Control to Up/On failed: Node busy", "busy"),
            ("Set Chassis Power Control to Down/Off failed: Command not supported in present state", "error"),
            ("Unable to set Chassis Power Control to Up/On", "lost"),
            ("Unable to get Chassis Power Status", "lost"),
            ("odd", "other"),
        ] {
            assert_eq!(failure(&format!("{NOISE}{text}\n")).word(), kind, "{text}");
        }
        assert_eq!(failure("x\x1b\n\n").to_string(), "ipmitool said x\\u{1b}");
    }
}
