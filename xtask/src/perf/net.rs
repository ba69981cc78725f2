//! Our tests of the network beside sockperf's ping-pong and iperf3's bandwidth, over the loopback.
//!
//! Each take starts a server on one CPU, runs its client on another and ends the server, so that no server waits, or
//! spins, while the other tool is measured. Ping-pong: the median round trip of messages of 64 B in us. Bandwidth: what
//! the receiver got over one TCP connection, 128 KiB a write, in GB/s. Not counted: connecting, the first round trips
//! (sockperf's 400 ms, our 100) and the first moments of a connection (iperf3's second, our 100 ms).

use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::bound;
use super::options::Options;
use super::pairs::{Outcome, comparison, in_turns, load};
use crate::shell;

const LIMIT: Duration = Duration::from_secs(60);
const HOST: &str = "127.0.0.1";
/// Of ours: a second or two asleep; spinning threads on a busy machine need far longer than on an idle one.
const ROUNDS: &str = "20000";

/// One test of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Test {
    PingPong { proto: &'static str, mode: &'static str },
    Bandwidth,
}

const TESTS: [Test; 5] = [
    Test::PingPong { proto: "tcp", mode: "block" },
    Test::PingPong { proto: "tcp", mode: "spin" },
    Test::PingPong { proto: "udp", mode: "block" },
    Test::PingPong { proto: "udp", mode: "spin" },
    Test::Bandwidth,
];

/// The programs of one side: the server and, on the other CPU, the client.
struct Side {
    server: Vec<String>,
    client: Vec<String>,
}

impl Test {
    fn peer(self) -> &'static str {
        if self == Test::Bandwidth { "iperf3" } else { "sockperf" }
    }

    fn what(self) -> String {
        match self {
            Test::PingPong { proto, mode } => format!("net ping-pong, {proto}, 64 B, {mode}"),
            Test::Bandwidth => "net bandwidth, tcp, one stream".to_owned(),
        }
    }

    fn ours(self, boxscore: &str, peers: &str, cpu: u32, port: &str) -> Side {
        let to = format!("{HOST}:{port}");
        let (name, set, rounds) = match self {
            Test::PingPong { proto, mode } => {
                ("net-rtt", format!("to={to};proto={proto};size=64;mode={mode}"), ROUNDS)
            }
            Test::Bandwidth => ("net-bandwidth", format!("to={to};duration=2"), "1"),
        };
        Side {
            server: words(&[boxscore, "peer", "--listen", &to]),
            client: words(&[peers, "take", name, &set, &cpu.to_string(), "1", rounds]),
        }
    }

    fn theirs(self, port: &str) -> Side {
        let Test::PingPong { proto, mode } = self else {
            let common = ["-p", port];
            let server = [&["iperf3", "-s", "-B", HOST][..], &common].concat();
            let client = ["iperf3", "-c", HOST, "-t", "2", "-O", "1", "-l", "128K", "-J"];
            return Side { server: words(&server), client: words(&[&client[..], &common].concat()) };
        };
        let mut common = vec!["-i", HOST, "-p", port];
        common.extend((proto == "tcp").then_some("--tcp"));
        common.extend((mode == "spin").then_some("--nonblocked"));
        let client = ["sockperf", "ping-pong", "--full-rtt", "-m", "64", "-t", "2"];
        Side {
            server: words(&[&["sockperf", "server"][..], &common].concat()),
            client: words(&[&client[..], &common].concat()),
        }
    }

    /// The figure in what our client prints: us, or GB/s.
    fn read_ours(self, out: &str) -> Option<f64> {
        let value = serde_json::from_str::<[f64; 1]>(out).ok()?[0];
        Some(if self == Test::Bandwidth { value / 1e9 } else { value * 1e6 })
    }

    fn read_theirs(self, out: &str) -> Option<f64> {
        if self == Test::Bandwidth {
            let seen: Value = serde_json::from_str(out).ok()?;
            return Some(seen["end"]["sum_received"]["bits_per_second"].as_f64()? / 8e9);
        }
        let (_, median) = out.split_once("percentile 50.000 =")?;
        median.split_whitespace().next()?.parse().ok()
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// A server that is ended when dropped.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

impl Server {
    /// Waits until something listens on the port.
    fn start(words: &[String], cpu: u32, port: u16) -> Result<Server> {
        let mut command = Command::new("taskset");
        command.args(["-c", &cpu.to_string()]).args(words);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let shown = shell::shown(&command);
        let mut server = Server(command.spawn().with_context(|| format!("cannot start {shown}"))?);
        for _ in 0..1000 {
            if let Some(status) = server.0.try_wait()? {
                bail!("ended ({status}): {shown}");
            }
            if listens(&fs::read_to_string("/proc/net/tcp")?, port)
                || listens(&fs::read_to_string("/proc/net/udp")?, port)
            {
                return Ok(server);
            }
            thread::sleep(Duration::from_millis(10));
        }
        bail!("does not listen on port {port} after 10 s: {shown}")
    }
}

/// True if a table of the kernel has a socket that is bound to the port and not connected.
fn listens(table: &str, port: u16) -> bool {
    table.lines().skip(1).any(|line| {
        let mut columns = line.split_whitespace().skip(1);
        let (local, remote) = (columns.next().unwrap_or(""), columns.next().unwrap_or(""));
        local.ends_with(&format!(":{port:04X}")) && remote.ends_with(":0000")
    })
}

/// A port that neither protocol uses.
fn port() -> Result<u16> {
    for _ in 0..100 {
        let port = TcpListener::bind((HOST, 0))?.local_addr()?.port();
        if UdpSocket::bind((HOST, port)).is_ok() {
            return Ok(port);
        }
    }
    bail!("no port is free for TCP and UDP")
}

/// One take of one side: what its client prints.
fn take(side: impl Fn(&str) -> Side, near: u32, far: u32) -> Result<String> {
    let port = port()?;
    let side = side(&port.to_string());
    let _server = Server::start(&side.server, far, port)?;
    let client: Vec<&str> = side.client.iter().map(String::as_str).collect();
    bound::on_cpu(near, &client, LIMIT).map(|(out, _)| out)
}

pub fn run(options: &Options, peers: &str, outcome: &mut Outcome) -> Result<()> {
    let default = shell::root().join("target/release/boxscore").display().to_string();
    let boxscore = options.boxscore.clone().unwrap_or(default);
    if !Path::new(&boxscore).exists() {
        outcome.skip("net", &format!("no {boxscore} (cargo build --release -p boxscore)"));
        return Ok(());
    }
    if thread::available_parallelism().map_or(1, std::num::NonZero::get) < 2 {
        outcome.skip("net", "there is one CPU, and each end needs one");
        return Ok(());
    }
    let (near, far) = (options.cpu, u32::from(options.cpu == 0));
    for test in TESTS {
        let (what, peer) = (test.what(), test.peer());
        if shell::must_have(peer).is_err() {
            outcome.skip(&what, &format!("{peer} is not installed (apt install {peer})"));
            continue;
        }
        let figure = |read: Option<f64>, out: &str| {
            read.filter(|figure| *figure > 0.0).with_context(|| format!("{what}: no figure in\n{out}"))
        };
        let ours = || {
            let out = take(|port| test.ours(&boxscore, peers, near, port), near, far)?;
            figure(test.read_ours(&out), &out)
        };
        let theirs = || {
            let out = take(|port| test.theirs(port), near, far)?;
            figure(test.read_theirs(&out), &out)
        };
        let before = load();
        let pairs = match in_turns(options.pairs, 13, ours, theirs) {
            Ok(pairs) => pairs,
            // sockperf has no figure where the machine is so busy that few messages come back.
            Err(error) => {
                outcome.skip(&what, &format!("{error:#}"));
                continue;
            }
        };
        let is_time = test != Test::Bandwidth;
        let unit = if is_time { "us" } else { "GB/s" };
        outcome.keep(comparison(&what, peer, unit, &pairs, is_time, before)?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read() {
        let [ping, .., bulk] = TESTS;
        assert_eq!(ping.read_ours("[1.25e-5]"), Some(12.5));
        assert_eq!(bulk.read_ours("[2.5e9]"), Some(2.5));
        let shown =
            "sockperf: ---> percentile 75.000 =  102.210\nsockperf: ---> percentile 50.000 =   85.319\n";
        assert_eq!(ping.read_theirs(shown), Some(85.319));
        let shown = r#"{"end":{"sum_received":{"bits_per_second":1.6e10}}}"#;
        assert_eq!(bulk.read_theirs(shown), Some(2.0));
        for none in ["", "{}", "[]", "[1, 2]"] {
            assert!(
                [ping, bulk]
                    .iter()
                    .all(|test| test.read_ours(none).is_none() && test.read_theirs(none).is_none())
            );
        }
    }

    #[test]
    fn both_sides_measure_the_same() {
        for test in TESTS {
            let (ours, theirs) = (test.ours("b", "p", 1, "77"), test.theirs("77"));
            let (ours, theirs) = (ours.client.join(" "), theirs.client.join(" "));
            let Test::PingPong { proto, mode } = test else { continue };
            assert!(
                ours.contains(&format!("proto={proto}")) && ours.contains(&format!("mode={mode}")),
                "{ours}"
            );
            assert_eq!(theirs.contains("--tcp"), proto == "tcp", "{theirs}");
            assert_eq!(theirs.contains("--nonblocked"), mode == "spin", "{theirs}");
        }
    }

    #[test]
    fn who_listens_is_seen() {
        let table = "  sl  local_address rem_address\n   0: 0100007F:1F90 00000000:0000 0A\n   1: 0100007F:0050 0100007F:C001 01\n";
        assert!(listens(table, 8080) && !listens(table, 80) && !listens(table, 8081));
        let here = TcpListener::bind((HOST, 0)).unwrap();
        assert!(listens(&fs::read_to_string("/proc/net/tcp").unwrap(), here.local_addr().unwrap().port()));
        assert!(Server::start(&words(&["false"]), 0, 1).err().unwrap().to_string().contains("ended"));
    }
}
