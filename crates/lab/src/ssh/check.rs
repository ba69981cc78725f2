//! One host held against what work on it needs: a login without asking, sudo, architecture, room, clock.
//!
//! The script is constant: the folder reaches it on its stdin, and no shell reads it. The clock is read by a command of
//! its own over the connection that is then open, so that the login is no part of its error.

use std::io::Cursor;
use std::time::Duration;

use super::command::{Base, Call, Exit};
use super::failure::{Failure, Stage, printable};
use super::host::Host;
use super::login::{Options, Reach};
use super::session::Output;
use super::sockets::Sockets;
use crate::fan_out::each;
use crate::stop::Stop;

/// Reads a folder; prints a mark, then a line for each answer. `df -P` prints one line a file system.
const SCRIPT: &str = "sh -c '\
    IFS= read -r f; \
    case $f in \"~\") f=$HOME;; \"~/\"*) f=$HOME/${f#??};; -*) f=./$f;; esac; \
    echo boxscore-check; \
    echo \"arch $(uname -m)\"; \
    if test \"$(id -u)\" = 0; then s=root; \
    elif ! command -v sudo > /dev/null; then s=missing; \
    elif sudo -n true < /dev/null > /dev/null 2>&1; then s=yes; else s=asks; fi; \
    echo \"sudo $s\"; \
    if ! test -d \"$f\"; then echo folder missing; exit 0; fi; \
    if test -w \"$f\"; then echo folder writable; else echo folder read-only; fi; \
    df -Pk \"$f\" | { read -r h; read -r d all used free h; echo \"free $free\"; }'";

/// Prints seconds since 1970, with a fraction where the host's `date` has one.
const CLOCK: &str = "date +%s.%N";

/// How long a question may take where the user gives no limit.
const LIMIT: Duration = Duration::from_secs(120);

model::words! {
    /// How the user becomes root there.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Sudo as word {
        /// The login is root's.
        Root = "root",
        Yes = "yes",
        /// It asks for a password, or refuses.
        Asks = "asks",
        /// There is no sudo.
        Missing = "missing",
    }
}

model::words! {
    /// The folder that was asked about.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Folder as word {
        Writable = "writable",
        ReadOnly = "read-only",
        Missing = "missing",
    }
}

/// The host's clock less ours, in seconds, and how far that may be wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    pub offset: f64,
    pub within: f64,
}

/// Answers of a host; `None` where it gave none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    pub architecture: Option<String>,
    pub sudo: Option<Sudo>,
    pub folder: Option<Folder>,
    /// Room that the user may fill in the folder.
    pub free_bytes: Option<u64>,
    pub clock: Option<Clock>,
}

/// The result of one host.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Its place in the list of hosts.
    pub index: usize,
    pub host: Host,
    pub result: Result<Facts, Failure>,
    pub seconds: f64,
}

impl Failure {
    /// True if an ssh server took the connection; `None` where that is not known.
    pub const fn is_reached(&self) -> Option<bool> {
        match self {
            Failure::NameUnknown { .. } | Failure::NoRoute { .. } | Failure::Refused => Some(false),
            Failure::Slow { stage: Stage::Name | Stage::Connect, .. } => Some(false),
            Failure::Configuration { .. } | Failure::NoClient { .. } | Failure::Other { .. } => None,
            Failure::Interrupted { begun: false } => None,
            _ => Some(true),
        }
    }

    /// True if the login went without asking; `None` where it did not come to that.
    pub const fn is_let_in(&self) -> Option<bool> {
        match self {
            Failure::LoginRefused { .. } => Some(false),
            Failure::Lost | Failure::NoSession { .. } | Failure::TimedOut { .. } => Some(true),
            Failure::Interrupted { begun: true } => Some(true),
            _ => None,
        }
    }
}

/// Checks each host with regard to this folder of it, and gives each result to `done` as it comes, in no order. Fails
/// when this machine cannot start a thread.
pub fn run(
    hosts: &[Host],
    folder: &str,
    options: &Options,
    sockets: &Sockets,
    stop: &Stop,
    done: impl FnMut(Checked),
) -> std::io::Result<()> {
    let options = &options.with_limit(LIMIT);
    let base = Base::new(options, sockets, stop);
    let work = |index: usize, host: &Host| {
        let begun_ns = sys::clock::now_ns();
        let reach = base.reach();
        let result = facts(&reach, host, folder);
        if options.keep.is_zero() {
            reach.close(host);
        }
        let seconds = sys::clock::now_ns().saturating_sub(begun_ns) as f64 / 1e9;
        Checked { index, host: host.clone(), result, seconds }
    };
    each(hosts, options.width, work, done)
}

fn facts(reach: &Reach<'_>, host: &Host, folder: &str) -> Result<Facts, Failure> {
    let mut facts = read(&ask(reach, host, SCRIPT, &format!("{folder}\n"))?);
    let before_ns = sys::clock::wall_ns();
    let said = ask(reach, host, CLOCK, "")?;
    facts.clock = clock(&said, before_ns as f64 / 1e9, sys::clock::wall_ns() as f64 / 1e9);
    Ok(facts)
}

/// The output of a command, whatever its exit code.
fn ask(reach: &Reach<'_>, host: &Host, command: &str, stdin: &str) -> Result<String, Failure> {
    let mut source = Cursor::new(stdin.as_bytes());
    let (mut stdout, mut stderr) = (Output::default(), Output::default());
    let mut call = Call { command, feed: Some(&mut source), stdout: &mut stdout, stderr: &mut stderr };
    let _: Exit = call.make(reach, host).0?;
    Ok(String::from_utf8_lossy(&stdout.bytes).into_owned())
}

/// The answers behind the mark; what stands before it is of the shell's start.
fn read(said: &str) -> Facts {
    let mut facts = Facts::default();
    for line in said.lines().skip_while(|line| *line != "boxscore-check") {
        let Some((key, value)) = line.split_once(' ') else { continue };
        match key {
            "arch" => facts.architecture = Some(printable(value.as_bytes())).filter(|word| !word.is_empty()),
            "sudo" => facts.sudo = Sudo::parse(value),
            "folder" => facts.folder = Folder::parse(value),
            "free" => facts.free_bytes = value.parse::<u64>().ok().and_then(|kib| kib.checked_mul(1024)),
            _ => {}
        }
    }
    facts
}

/// The clock by the last line, which was said between these times of ours.
fn clock(said: &str, before: f64, after: f64) -> Option<Clock> {
    let line = said.lines().last()?;
    let (whole, fraction) = line.split_once('.').unwrap_or((line, ""));
    let whole: u32 = whole.parse().ok()?;
    let is_number = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    // Without a fraction, it is in the middle of that second, or half of one beside it.
    let (part, coarse) = match is_number {
        true => (format!("0.{fraction}").parse::<f64>().ok()?, 0.0),
        false => (0.5, 0.5),
    };
    let here = f64::midpoint(before, after);
    Some(Clock { offset: f64::from(whole) + part - here, within: (after - before).max(0.0) / 2.0 + coarse })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_stand_behind_the_mark_and_a_missing_one_is_missing() {
        let facts = read("arch fake\nboxscore-check\narch x86_64\nsudo asks\nfolder writable\nfree 2048\n");
        assert_eq!(facts.architecture.as_deref(), Some("x86_64"));
        assert_eq!((facts.sudo, facts.folder), (Some(Sudo::Asks), Some(Folder::Writable)));
        assert_eq!((facts.free_bytes, facts.clock), (Some(2 << 20), None));
        assert_eq!(read("arch x86_64\nfree 1\n"), Facts::default());
        assert_eq!(read("boxscore-check\narch \nsudo ?\nfree -\n"), Facts::default());
        let bent = read("boxscore-check\narch \x1b[2J\n").architecture.unwrap();
        assert!(!bent.contains('\x1b'), "{bent}");
    }

    #[test]
    fn a_clock_is_known_within_half_the_way_and_the_resolution() {
        let fine = clock("Welcome\n1005.500000000\n", 1000.0, 1001.0).unwrap();
        assert_eq!((fine.offset, fine.within), (5.0, 0.5));
        let coarse = clock("1000.%N\n", 1000.0, 1001.0).unwrap();
        assert_eq!((coarse.offset, coarse.within), (0.0, 1.0));
        for bad in ["", "date: not found", "-5.1", "99999999999999.0"] {
            assert_eq!(clock(bad, 1000.0, 1001.0), None, "{bad}");
        }
    }
}
