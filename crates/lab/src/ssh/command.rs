//! One command on many hosts: the exit code and the output of each, or why there is none.
//!
//! The host's own shell reads the command, as ssh hands it over. A mark is printed before it, so that what the shell's
//! start files print is told apart from its output.

use std::time::Duration;

use super::failure::{Failure, printable};
use super::host::Host;
use super::login::{Gate, Options, Reach};
use super::mux::Mux;
use super::session::{Ended, Output, Session, Sink};
use super::sockets::Sockets;
use crate::fan_out::each;
use crate::stop::Stop;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    Code(u32),
    /// Without a code: it was killed by a signal.
    Signal,
}

/// The result of a command on one host.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Its place in the list of hosts.
    pub index: usize,
    pub host: Host,
    pub result: Result<Exit, Failure>,
    pub stdout: Output,
    pub stderr: Output,
    /// Output of its shell before the command.
    pub greeting: Option<String>,
    /// False if the mark did not come: a forced command or a shell of another kind answered.
    pub is_marked: bool,
    /// True if an open connection was used.
    pub reused: bool,
    pub seconds: f64,
}

/// How long a master may take to say that it lives.
const ALIVE: Duration = Duration::from_secs(2);

/// Where all hosts of a fan-out are reached from.
pub(super) struct Base<'a> {
    pub options: &'a Options,
    pub sockets: &'a Sockets,
    pub gate: Gate,
    pub stop: &'a Stop,
}

impl<'a> Base<'a> {
    pub(super) fn new(options: &'a Options, sockets: &'a Sockets, stop: &'a Stop) -> Base<'a> {
        Base { options, sockets, gate: Gate::default(), stop }
    }

    pub(super) fn reach(&self) -> Reach<'_> {
        Reach { options: self.options, sockets: self.sockets, gate: &self.gate, stop: self.stop }
    }
}

/// Runs `command` on each host and gives each outcome to `done` as it comes, in no order. Hosts that are not reached
/// before a stop get an outcome too. Fails when this machine cannot start a thread.
pub fn run(
    hosts: &[Host],
    command: &str,
    options: &Options,
    sockets: &Sockets,
    stop: &Stop,
    done: impl FnMut(Outcome),
) -> std::io::Result<()> {
    let base = Base::new(options, sockets, stop);
    let mark = format!("boxscore-{:x}-begins", sys::clock::wall_ns() ^ u64::from(std::process::id()));
    let marked = format!("printf '%s\\n' {mark}; {command}");
    let work = |index: usize, host: &Host| {
        let mut one = on_host(&base.reach(), index, host, &marked);
        (one.greeting, one.is_marked) = unmark(&mut one.stdout, &mark);
        one
    };
    each(hosts, options.width, work, done)
}

fn on_host(reach: &Reach<'_>, index: usize, host: &Host, command: &str) -> Outcome {
    let begun_ns = sys::clock::now_ns();
    let (mut stdout, mut stderr) = (Output::default(), Output::default());
    let mut call = Call { command, feed: None, stdout: &mut stdout, stderr: &mut stderr };
    let (result, reused) = call.make(reach, host);
    if reach.options.keep.is_zero() {
        reach.close(host);
    }
    Outcome {
        index,
        host: host.clone(),
        result,
        stdout,
        stderr,
        greeting: None,
        is_marked: false,
        reused,
        seconds: sys::clock::now_ns().saturating_sub(begun_ns) as f64 / 1e9,
    }
}

/// A command for a host, with its streams.
pub(super) struct Call<'a> {
    pub command: &'a str,
    pub feed: Option<&'a mut dyn std::io::Read>,
    pub stdout: &'a mut dyn Sink,
    pub stderr: &'a mut dyn Sink,
}

impl Call<'_> {
    /// Logs in where no connection is open, and runs the command. The second value tells whether one was.
    pub(super) fn make(&mut self, reach: &Reach<'_>, host: &Host) -> (Result<Exit, Failure>, bool) {
        if reach.stop.is_requested() {
            return (Err(Failure::Interrupted { begun: false }), false);
        }
        let existing = match reach.existing(host) {
            Ok(existing) => existing,
            Err(failure) => return (Err(failure), false),
        };
        if let Some(mut mux) = existing {
            match self.on(&mut mux, reach, host) {
                // It broke without our notice; the host itself may be well.
                Ok(None) => {}
                Ok(Some(exit)) => return (Ok(exit), true),
                Err(failure) => return (Err(failure), true),
            }
        }
        let fresh = reach.log_in(host).and_then(|mut mux| self.on(&mut mux, reach, host));
        (fresh.and_then(|exit| exit.ok_or(Failure::Lost)), false)
    }

    /// Runs the command over this connection; `None` if it broke before the command was started.
    fn on(&mut self, mux: &mut Mux, reach: &Reach<'_>, host: &Host) -> Result<Option<Exit>, Failure> {
        let session = Session {
            command: self.command,
            feed: self.feed.as_deref_mut().map(|feed| feed as &mut dyn std::io::Read),
            stdout: &mut *self.stdout,
            stderr: &mut *self.stderr,
            opening: reach.options.login(),
            limit: reach.options.limit,
        };
        match session.run(mux, reach.limit(None))? {
            Ended::Code(code) => Ok(Some(Exit::Code(code))),
            Ended::Never => Ok(None),
            Ended::Without => match is_alive(reach, host)? {
                true => Ok(Some(Exit::Signal)),
                false => Err(Failure::Lost),
            },
        }
    }
}

/// True if the connection to the host still stands.
fn is_alive(reach: &Reach<'_>, host: &Host) -> Result<bool, Failure> {
    let Some(mut mux) = reach.existing(host)? else { return Ok(false) };
    Ok(mux.pid(reach.limit(Some(ALIVE))).is_ok())
}

/// Takes the mark, and what stands before it, out of an output.
fn unmark(output: &mut Output, mark: &str) -> (Option<String>, bool) {
    let line = format!("{mark}\n");
    let place = output.bytes.windows(line.len()).position(|window| window == line.as_bytes());
    let Some(place) = place else { return (None, false) };
    let greeting = printable(&output.bytes[..place]);
    output.bytes.drain(..place + line.len());
    ((!greeting.is_empty()).then_some(greeting), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_prints_first_is_no_output_of_the_command() {
        let mut output = Output { bytes: b"Welcome\nboxscore-1-begins\n6.18\n".to_vec(), cut: 0 };
        assert_eq!(unmark(&mut output, "boxscore-1-begins"), (Some("Welcome".to_owned()), true));
        assert_eq!(output.bytes, b"6.18\n");
        assert_eq!(unmark(&mut output, "boxscore-1-begins"), (None, false));
        assert_eq!(output.bytes, b"6.18\n");
        let mut plain = Output { bytes: b"m\n".to_vec(), cut: 0 };
        assert_eq!(unmark(&mut plain, "m"), (None, true));
        assert!(plain.bytes.is_empty());
    }
}
