//! A store's own counters: requests served, the time of their commands, its CPU time.
//!
//! Seconds and counts since the store began; a difference of two readings is what was done between them, with the
//! second reading itself. Time that a request waits in the store before or after its command is in none of them.
//! RAMCloud's client library has no word for any of them.

use super::client::Client;
use super::target::field;
use super::wire::Failure;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Read,
    Write,
}

/// One reading.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// Of user and system, of all threads.
    pub cpu_s: f64,
    pub calls: u64,
    /// Within the command of a request; memcached does not say.
    pub command_s: Option<f64>,
}

impl Usage {
    /// Reads the counters. Fails when the store does not give them.
    pub fn read(to: &mut Client, what: What) -> Result<Usage, Failure> {
        let missing = |what: &str| Failure::missing(format!("what it says of itself has no {what}"));
        let Client::Socket(to) = to else {
            return Err(missing("counter that RAMCloud's library could read"));
        };
        if to.wire().most_key() < 300 {
            let stats = to.text("")?;
            return memcached(&stats, what).ok_or_else(|| missing("rusage_user, rusage_system or cmd_get"));
        }
        let cpu = to.text("cpu")?;
        let commands = to.text("commandstats")?;
        redis(&cpu, &commands, what).ok_or_else(|| missing("used_cpu_user or used_cpu_sys"))
    }

    /// The difference to an earlier reading.
    pub fn since(&self, earlier: &Usage) -> Usage {
        let command = |now: f64| now - earlier.command_s.unwrap_or(0.0);
        Usage {
            cpu_s: self.cpu_s - earlier.cpu_s,
            calls: self.calls.saturating_sub(earlier.calls),
            command_s: self.command_s.map(command),
        }
    }
}

fn number(text: &str, name: &str) -> Option<f64> {
    field(text, name)?.parse().ok().filter(|number: &f64| number.is_finite())
}

/// From `INFO cpu` and `INFO commandstats`; a command that nobody gave yet has no line.
fn redis(cpu: &str, commands: &str, what: What) -> Option<Usage> {
    let cpu_s = number(cpu, "used_cpu_user:")? + number(cpu, "used_cpu_sys:")?;
    let names: &[&str] = match what {
        What::Read => &["cmdstat_get:", "cmdstat_mget:"],
        What::Write => &["cmdstat_set:"],
    };
    let mut usage = Usage { cpu_s, calls: 0, command_s: Some(0.0) };
    for line in names.iter().filter_map(|name| field(commands, name)) {
        let of = |name: &str| {
            line.split(',').find_map(|pair| pair.strip_prefix(name)).and_then(|n| n.parse().ok())
        };
        let (calls, us): (u64, u64) = (of("calls=")?, of("usec=")?);
        usage.calls += calls;
        usage.command_s = usage.command_s.map(|sum| sum + us as f64 / 1e6);
    }
    Some(usage)
}

/// From `stats`.
fn memcached(stats: &str, what: What) -> Option<Usage> {
    let cpu_s = number(stats, "STAT rusage_user ")? + number(stats, "STAT rusage_system ")?;
    let name = if what == What::Read { "STAT cmd_get " } else { "STAT cmd_set " };
    Some(Usage { cpu_s, calls: field(stats, name)?.parse().ok()?, command_s: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Redis 7.0.15 said.
    const CPU: &str =
        "# CPU\r\nused_cpu_sys:1.250000\r\nused_cpu_user:0.750000\r\nused_cpu_sys_children:0.0\r\n";
    const COMMANDS: &str = "# Commandstats\r\n\
        cmdstat_get:calls=1000,usec=1500,usec_per_call=1.50,rejected_calls=0,failed_calls=0\r\n\
        cmdstat_set:calls=10,usec=40,usec_per_call=4.00,rejected_calls=0,failed_calls=0\r\n";

    #[test]
    fn redis_is_understood() {
        let read = redis(CPU, COMMANDS, What::Read).unwrap();
        assert_eq!(read, Usage { cpu_s: 2.0, calls: 1000, command_s: Some(0.0015) });
        assert_eq!(redis(CPU, COMMANDS, What::Write).unwrap().calls, 10);
        assert_eq!(redis(CPU, "", What::Write).unwrap().calls, 0);
        assert_eq!(redis("", COMMANDS, What::Read), None);
        assert_eq!(redis(CPU, "cmdstat_get:calls=x,usec=1", What::Read), None);
        let later = Usage { cpu_s: 2.5, calls: 1500, command_s: Some(0.002) };
        let since = later.since(&read);
        assert_eq!((since.cpu_s, since.calls), (0.5, 500));
        assert!((since.command_s.unwrap() - 0.0005).abs() < 1e-12);
    }

    #[test]
    fn memcached_is_understood() {
        let stats = "STAT rusage_user 0.5\r\nSTAT rusage_system 1.5\r\nSTAT cmd_get 7\r\nSTAT cmd_set 3\r\n";
        assert_eq!(memcached(stats, What::Read), Some(Usage { cpu_s: 2.0, calls: 7, command_s: None }));
        assert_eq!(memcached(stats, What::Write).unwrap().calls, 3);
        assert_eq!(memcached("STAT cmd_get 7\r\n", What::Read), None);
    }
}
