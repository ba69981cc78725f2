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

/// Asks each BMC, and gives each answer with its place to `done`.
pub(super) fn each(
    program: &Path,
    ask: Ask,
    of: &[(usize, (&Access, Suite))],
    stop: &Stop,
    mut done: impl FnMut(usize, Result<Answer, Failure>),
) {
    let work = |_: usize, (at, (access, suite)): &(usize, (&Access, Suite))| {
        (*at, run(program, ask, *suite, access, Limit::from_now(stop, Some(LIMIT))))
    };
    let went = fan_out::each(of, WIDTH, work, |(at, answer)| done(at, answer));
    if let Err(error) = went {
        let failure = Failure::Other { said: format!("on this side: {error}") };
        of.iter().for_each(|(at, _)| done(*at, Err(failure.clone())));
    }
}

fn run(program: &Path, ask: Ask, suite: Suite, access: &Access, limit: Limit<'_>) -> Result<Answer, Failure> {
    let mut command = Command::new(program);
    // Only with -v it tells a wrong password from no answer. Two tries, of a second and two.
    command.env("LC_ALL", "C").args(["-v", "-I", "lanplus", "-C", suite.number(), "-L", ask.privilege()]);
    command.args(["-N", "1", "-R", "2", "-U", &access.user, "-f", "/dev/stdin"]);
    command.args([
        "-H",
        &access.ip.to_string(),
        "-p",
        &access.port.to_string(),
        "chassis",
        "power",
        word(ask),
    ]);
    let password = format!("{}\n", access.password.text());
    let ended =
        run_tool(command, password.as_bytes(), limit).map_err(|error| no_result("ipmitool", error))?;
    if !ended.status.success() {
        return Err(failure(&format!("{}\n{}", ended.stdout, ended.stderr)));
    }
    let told = |line: &str| match line.trim() {
        "Chassis Power is on" => Some(Answer::State(State::On)),
        "Chassis Power is off" => Some(Answer::State(State::Off)),
        line => line.starts_with("Chassis Power Control: ").then_some(Answer::Taken),
    };
    ended.stdout.lines().find_map(told).ok_or_else(|| other(&ended.stdout))
}

const fn word(ask: Ask) -> &'static str {
    match ask {
        Ask::State => "status",
        Ask::Do(Request::On) => "on",
        Ask::Do(Request::Off) => "off",
        Ask::Do(Request::Soft) => "soft",
        Ask::Do(Request::Reset) => "reset",
    }
}

fn other(text: &str) -> Failure {
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
    if let Some(reason) = behind("Chassis Power Control to ").or_else(|| behind("Get Chassis Power Status "))
    {
        // `Up/On failed: Node busy`
        return match reason.split_once("failed: ").map(|(_, reason)| reason) {
            Some("Node busy") => Failure::Busy,
            Some(reason) if reason.eq_ignore_ascii_case("insufficient privilege level") => Failure::Privilege,
            Some(reason) => Failure::Error { said: printable(reason.as_bytes()) },
            None => Failure::Lost,
        };
    }
    if has("Unable to get Chassis Power Status") {
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
