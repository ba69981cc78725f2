//! FreeIPMI's `ipmipower`: one process asks many BMCs and prints a line for each. User and password are lines of a
//! configuration file, which is its stdin.

use std::path::Path;
use std::process::Command;

use super::{Answer, Ask, SESSION, Suite, no_result};
use crate::bmc::{Access, Failure, Request, State};
use crate::child::run as run_tool;
use crate::ssh::printable;
use crate::stop::Limit;

/// BMCs at once: of 1,000 it loses most sessions.
const FAN_OUT: &str = "128";

/// BMCs of a process: a word of a command line has 128 KiB at most.
const MOST: usize = 1024;

/// True for a BMC that it takes: brackets of IPv6 are ranges to it, and its configuration file has no way to write
/// these letters.
pub(super) fn takes(access: &Access) -> bool {
    let odd = |c: char| c.is_control() || matches!(c, '"' | '\\' | '#');
    access.ip.is_ipv4() && !access.password.text().contains(odd)
}

/// Parts of a list that one process takes each. It prints addresses without ports, so each address is in a part once.
pub(super) fn batches<'a>(places: &[usize], of: impl Fn(usize) -> &'a Access) -> Vec<Vec<usize>> {
    let mut batches: Vec<(Vec<usize>, std::collections::HashSet<std::net::IpAddr>)> = Vec::new();
    for at in places {
        let ip = of(*at).ip;
        match batches.iter_mut().find(|(part, ips)| part.len() < MOST && !ips.contains(&ip)) {
            Some((part, ips)) => {
                part.push(*at);
                ips.insert(ip);
            }
            None => batches.push((vec![*at], [ip].into())),
        }
    }
    batches.into_iter().map(|(part, _)| part).collect()
}

/// Asks these BMCs, which share user and password.
pub(super) fn run(
    program: &Path,
    ask: Ask,
    suite: Suite,
    of: &[&Access],
    limit: Limit<'_>,
) -> Vec<Result<Answer, Failure>> {
    let Some(first) = of.first() else { return Vec::new() };
    let mut command = Command::new(program);
    command.env("LC_ALL", "C").args(["--config-file", "/dev/stdin", "--driver-type", "LAN_2_0"]);
    // Lets the BMC choose the privilege of the open request, as ipmitool does; some refuse any other.
    command.args(["--workaround-flags", "opensesspriv", "--privilege-level", ask.privilege()]);
    command.args(["--cipher-suite-id", suite.number(), "--fanout", FAN_OUT]);
    command.arg(format!("--session-timeout={}", SESSION.as_millis()));
    command.arg(format!("--retransmission-timeout={}", SESSION.as_millis() / 8));
    command.arg(flag(ask)).arg("--hostname").arg(hosts(of));
    let login = format!("username {}\npassword \"{}\"\n", first.user, first.password.text());
    match run_tool(command, login.as_bytes(), limit) {
        Err(error) => {
            let failure = no_result("ipmipower", error);
            of.iter().map(|_| Err(failure.clone())).collect()
        }
        Ok(ended) => {
            let lacks = |failure: Failure| match ended.stdout.is_empty() {
                // Without a line of any BMC, what is wrong is told on stderr.
                true => Failure::Other { said: format!("ipmipower said {}", shown(&ended.stderr)) },
                false => failure,
            };
            of.iter().map(|access| answer(&ended.stdout, access).map_err(lacks)).collect()
        }
    }
}

const fn flag(ask: Ask) -> &'static str {
    match ask {
        Ask::State => "--stat",
        Ask::Do(Request::On) => "--on",
        Ask::Do(Request::Off) => "--off",
        Ask::Do(Request::Soft) => "--soft",
        Ask::Do(Request::Reset) => "--reset",
    }
}

fn hosts(of: &[&Access]) -> String {
    let host = |access: &&Access| match access.port {
        623 => access.ip.to_string(),
        port => format!("{}:{port}", access.ip),
    };
    of.iter().map(host).collect::<Vec<_>>().join(",")
}

fn shown(text: &str) -> String {
    let text = printable(text.as_bytes());
    if text.is_empty() { "nothing".to_owned() } else { text }
}

/// The answer for a BMC among the lines. Words are compared whole: `password verification timeout` is neither on nor
/// off.
fn answer(text: &str, access: &Access) -> Result<Answer, Failure> {
    let ip = access.ip.to_string();
    let with_port = format!("{ip}:{}", access.port);
    let of = |line: &'_ str| {
        let rest = line.strip_prefix(&with_port).or(line.strip_prefix(&ip))?;
        rest.strip_prefix(": ").map(|word| word.trim().to_owned())
    };
    let word = text.lines().find_map(of).ok_or(Failure::NoAnswer)?;
    match word.as_str() {
        "on" => Ok(Answer::State(State::On)),
        "off" => Ok(Answer::State(State::Off)),
        "ok" => Ok(Answer::Taken),
        other => Err(failure(other)),
    }
}

/// The failure that the word of a BMC tells of.
fn failure(word: &str) -> Failure {
    match word {
        "connection timeout" | "not discovered" => Failure::NoAnswer,
        "session timeout" => Failure::Lost,
        "password invalid" | "password length invalid" | "password verification timeout" => Failure::Password,
        "username invalid" => Failure::User,
        "BMC busy" => Failure::Busy,
        "cipher suite id unavailable" => Failure::Cipher,
        "privilege level insufficient"
        | "privilege level cannot be obtained for this user"
        | "authentication type unavailable for attempted privilege level" => Failure::Privilege,
        "BMC error" => Failure::Error { said: "no more is known of it".to_owned() },
        other => Failure::Other { said: format!("ipmipower said {}", shown(other)) },
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::access;
    use super::*;
    use crate::inventory::Password;

    #[test]
    fn a_state_is_a_whole_word_of_a_whole_address() {
        let text =
            "127.0.2.1: on\n127.0.2.10: password verification timeout\n127.0.2.2:9623: off\n127.0.2.4: ok\n";
        let of = |ip: &str, port| answer(text, &access("a", ip, port));
        assert_eq!(of("127.0.2.1", 9), Ok(Answer::State(State::On)));
        assert_eq!(of("127.0.2.2", 9623), Ok(Answer::State(State::Off)));
        assert_eq!(of("127.0.2.4", 623), Ok(Answer::Taken));
        assert_eq!(of("127.0.2.10", 623), Err(Failure::Password));
        assert_eq!(of("127.0.2.3", 623), Err(Failure::NoAnswer));
        let odd = answer("127.0.0.1: odd\x1b\n", &access("a", "127.0.0.1", 1)).unwrap_err().to_string();
        assert_eq!(odd, "ipmipower said odd\\u{1b}");
    }

    #[test]
    fn every_word_of_a_failure_has_its_kind() {
        for (word, kind) in [
            ("connection timeout", "no-answer"),
            ("session timeout", "lost"),
            ("password invalid", "password"),
            ("username invalid", "user"),
            ("privilege level cannot be obtained for this user", "privilege"),
            ("BMC busy", "busy"),
            ("BMC error", "error"),
            ("cipher suite id unavailable", "cipher"),
            ("ipmi 2.0 unavailable", "other"),
        ] {
            assert_eq!(failure(word).word(), kind, "{word}");
        }
    }

    #[test]
    fn an_address_is_in_a_part_once_and_odd_ones_are_left_to_the_other_tool() {
        let all = [access("a", "10.0.0.1", 1), access("b", "10.0.0.1", 2), access("c", "10.0.0.2", 1)];
        assert_eq!(batches(&[0, 1, 2], |at| &all[at]), [vec![0, 2], vec![1]]);
        assert_eq!(hosts(&[&all[0], &access("d", "10.0.0.3", 623)]), "10.0.0.1:1,10.0.0.3");
        assert!(takes(&all[0]) && !takes(&access("e", "fd00::1", 623)));
        for bad in ["a\"b", "a\\b", "a#b", "a\tb"] {
            assert!(!takes(&Access { password: Password::new(bad), ..all[0].clone() }), "{bad}");
        }
    }
}
