//! The programs of perftest, `ib_send_lat` and `ib_write_lat`: how they are started, and what they say.
//!
//! They report one way: half of what lies between two sends, in microseconds with six digits, the samples in time
//! order with `-U`. The table behind them is theirs: it leaves out the two largest. Not known here: tests by duration
//! (an average only), cycles, bandwidths.

pub mod serve;

use std::net::SocketAddr;
use std::process::Command;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sys::process::Start;

use crate::workload::shell;

/// The programs leave out the first post, and fail with less.
pub const LEAST: u64 = 5;
/// Samples of a run are kept in its memory.
pub const MOST: u64 = 1_000_000;
/// Time limit of one run of a program.
pub const LIMIT: Duration = Duration::from_secs(100);

/// The operation that carries the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verb {
    /// The other end receives it.
    Send,
    /// It appears in the other end's memory, where that end looks for it.
    Write,
}

impl Verb {
    pub fn program(self) -> &'static str {
        match self {
            Verb::Send => "ib_send_lat",
            Verb::Write => "ib_write_lat",
        }
    }
}

/// The options of both ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerftestOptions {
    pub verb: Verb,
    pub size: u64,
    pub iterations: u64,
    /// The device, where it is not the first.
    pub device: Option<String>,
}

impl PerftestOptions {
    fn command(&self, port: u16) -> Command {
        let mut command = Command::new(self.verb.program());
        // A clock that changes is told by ours; theirs would end the program.
        command.args(["-F", "-U", "-p", &port.to_string(), "-s", &self.size.to_string()]);
        command.args(["-n", &self.iterations.to_string()]);
        if let Some(device) = &self.device {
            command.args(["-d", device]);
        }
        command
    }

    /// Runs this end against the other one, on `cpus`; returns one-way times in us, in time order. Fails when the
    /// program does.
    pub fn run(&self, to: SocketAddr, cpus: &[usize]) -> Result<Vec<f64>, String> {
        let program = self.verb.program();
        let mut command = self.command(to.port());
        command.arg(to.ip().to_string());
        let ended = shell::run_command(command, Start::default(), cpus, LIMIT).map_err(|why| {
            format!("{program} cannot be run: {why}; Debian has it in the package perftest")
        })?;
        if let Some(how) = ended.failure(LIMIT) {
            return Err(format!("{program} {how}"));
        }
        if ended.stdout.dropped() > 0 {
            return Err(format!("{program} said more than is kept: ask for fewer iterations"));
        }
        read(&ended.stdout.text(), self.iterations).map_err(|why| format!("the output of {program}: {why}"))
    }
}

/// The samples of an output, one-way times in us, in time order. Fails when they are malformed, or not one
/// less than `iterations`.
pub fn read(output: &str, iterations: u64) -> Result<Vec<f64>, String> {
    let mut lines = output.lines().enumerate().skip_while(|(_, line)| line.trim() != "#, usec");
    if lines.next().is_none() {
        return Err("it has no list of samples (`#, usec`)".to_owned());
    }
    let mut samples = Vec::new();
    for (at, line) in lines {
        let Some((number, value)) = line.split_once(',') else { break };
        let wrong = |what: &str| format!("line {}: {what}: `{}`", at + 1, shown(line));
        if number.trim().parse() != Ok(samples.len() as u64 + 1) {
            return Err(wrong("not the next sample"));
        }
        let value: f64 = value.trim().parse().map_err(|_| wrong("no time"))?;
        if !(value.is_finite() && value > 0.0) {
            return Err(wrong("no time above 0"));
        }
        samples.push(value);
    }
    if samples.len() as u64 + 1 != iterations {
        return Err(format!("{} samples of {iterations} iterations; one less is usual", samples.len()));
    }
    agrees(&samples, output).map(|()| samples)
}

/// The table's typical time is the median of these samples, rounded to 10 ns: units and order are as we think.
fn agrees(samples: &[f64], output: &str) -> Result<(), String> {
    let table = output.lines().skip_while(|line| !line.trim_start().starts_with("#bytes")).nth(1);
    let typical = table.and_then(|line| line.split_whitespace().nth(4)?.parse::<f64>().ok());
    let typical = typical.ok_or("it has no table with t_typical")?;
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    // Without the two largest, as the program has it.
    let half = sorted.len().saturating_sub(2) / 2;
    let near = sorted.get(half.saturating_sub(1)..=half + 1).unwrap_or(&sorted);
    let within = |low: f64, high: f64| typical >= low - 0.0051 && typical <= high + 0.0051;
    match (near.first(), near.last()) {
        (Some(low), Some(high)) if within(*low, *high) => Ok(()),
        _ => Err(format!("its t_typical, {typical} us, is not the median of its samples")),
    }
}

fn shown(line: &str) -> String {
    line.chars().take(60).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SEND: &str = include_str!("fixtures/ib_send_lat.txt");

    #[test]
    fn samples_are_read_in_their_order() {
        let samples = read(SEND, 12).unwrap();
        assert_eq!(samples.len(), 11);
        assert_eq!((samples[0], samples[10]), (3.65217, 0.908696));
    }

    #[test]
    fn what_does_not_agree_is_refused() {
        let error = |text: &str, iterations| read(text, iterations).unwrap_err();
        assert!(error(SEND, 13).contains("11 samples of 13"), "{}", error(SEND, 13));
        assert!(error(&SEND.replace("usec\n", "cycles\n"), 12).contains("no list"));
        assert!(error(&SEND.replace("0.91   ", "0.45   "), 12).contains("t_typical"));
        assert!(error(&SEND.replace("\n3, ", "\n4, "), 12).contains("not the next sample"));
        assert!(error(&SEND.replace("3.65217", "-3"), 12).contains("no time above 0"));
        assert!(error(&SEND.replace("3.65217", "nan"), 12).contains("no time above 0"));
        assert!(error(&SEND.replace("#bytes", "bytes"), 12).contains("no table"));
    }

    proptest! {
        #[test]
        fn any_text_is_samples_or_an_error(cut in 0..SEND.len(), text in "\\PC{0,40}", iterations in 0u64..14) {
            let whole = format!("{}{text}{}", &SEND[..cut], &SEND[cut..]);
            if let Ok(samples) = read(&whole, iterations) {
                prop_assert_eq!(samples.len() as u64 + 1, iterations);
            }
        }
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let order = PerftestOptions { verb: Verb::Send, size: 8, iterations: 10, device: None };
        let words = format!("{:?}", order.command(7));
        for word in ["ib_send_lat", "\"-p\" \"7\"", "\"-s\" \"8\"", "\"-n\" \"10\""] {
            assert!(words.contains(word), "{word}: {words}");
        }
    }
}
