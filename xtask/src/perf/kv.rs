//! Round trips and load on Redis beside floors and other generators.
//!
//! redis-server runs on one CPU, each client on the other. `basic.read100` (era 1: one hot key, a mean) stands beside a
//! bare blocking ping-pong of the same bytes (`perf/pingpong.c`), medians of ten blocks of 100 ms; `boxscore load`, in
//! a closed loop of 50 and of 500 connections without pipelining, beside a bare epoll loop of a request as long
//! (`perf/floor.c`). CPU time of ours holds the writing and deleting of its 1000 keys.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};

use super::bound;
use super::generators::{self, Answered, FLOOR, Match, OURS, SECONDS};
use super::options::Options;
use super::pairs::{Outcome, comparison, in_turns, load};
use crate::server::Server;
use crate::shell;

const CONNECTIONS: [u32; 2] = [50, 500];
const BLOCKS: &str = "10";
const LIMIT: Duration = Duration::from_secs(60);
/// Requests of a generator that counts them: about as many as the others send.
const REQUESTS: &str = "300000";

fn redis(cpu: u32) -> Result<Server> {
    let folder = generators::folder("kv")?;
    let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
    let (place, port_word) = (folder.display().to_string(), port.to_string());
    let words = ["redis-server", "--port", &port_word, "--bind", "127.0.0.1", "--save", "", "--dir", &place];
    Server::start(Some(cpu), &words, port, folder)
}

struct Kv<'a> {
    options: &'a Options,
    floor: String,
    request: String,
    port: u16,
    store: &'a Path,
}

impl Match for Kv<'_> {
    fn what(&self) -> &'static str {
        "redis GET 100 B"
    }

    fn store(&self) -> &Path {
        self.store
    }

    fn words(&self, name: &str, connections: u32) -> Vec<String> {
        let (connections, port) = (connections.to_string(), self.port.to_string());
        let url = format!("redis://127.0.0.1:{port}");
        let words: Vec<&str> = match name {
            OURS => {
                let reads = ["--ratio", "0:1", "--keys", "1000"];
                return generators::product(self.options, &url, &connections, &reads);
            }
            FLOOR => vec![&self.floor, &port, &connections, SECONDS, &self.request],
            "redis-benchmark" => {
                vec![name, "-p", &port, "-c", &connections, "-n", REQUESTS, "-t", "get", "--csv"]
            }
            _ => vec![
                "memtier_benchmark",
                "-p",
                &port,
                "-t1",
                "-c",
                &connections,
                "--ratio=0:1",
                "--key-maximum=1",
                "--test-time",
                SECONDS,
                "--hide-histogram",
            ],
        };
        words.into_iter().map(str::to_owned).collect()
    }

    fn answered(&self, name: &str, out: &str) -> Option<Answered> {
        match name {
            OURS => Answered::of_product(out),
            FLOOR => Answered::in_time(out.trim().parse().ok()?),
            "redis-benchmark" => Some(Answered { all: REQUESTS.parse().ok()?, per_s: per_s(name, out)? }),
            _ => Answered::in_time(per_s(name, out)? * SECONDS.parse::<f64>().ok()?),
        }
    }
}

/// Answers a second, from what it prints.
fn per_s(name: &str, out: &str) -> Option<f64> {
    match name {
        "redis-benchmark" => {
            let line = out.lines().find(|line| line.starts_with("\"GET\","))?;
            line.split(',').nth(1)?.trim_matches('"').parse().ok()
        }
        _ => out.lines().find(|line| line.starts_with("Gets"))?.split_whitespace().nth(1)?.parse().ok(),
    }
}

pub fn run(options: &Options, peers: &str, outcome: &mut Outcome) -> Result<()> {
    if shell::output("which", &["redis-server"]).is_err() {
        outcome.skip("key-value stores", "redis-server is not installed (apt install redis-server)");
        return Ok(());
    }
    let redis = redis(options.other_cpu())?;
    let address = format!("127.0.0.1:{}", redis.port);
    let request = redis.folder.join("request").display().to_string();
    fs::write(
        &request,
        shell::output(peers, &["kv-request", &address])?.trim_end_matches('\n').to_owned() + "\n",
    )?;
    turns(options, peers, &redis, &request, outcome)?;
    let floor = generators::built(&redis.folder, "floor")?;
    let store = redis.folder.join("store.db");
    let kv = Kv { options, floor, request, port: redis.port, store: &store };
    let names = generators::installed("kv load", &["redis-benchmark", "memtier_benchmark"], outcome);
    for connections in CONNECTIONS {
        generators::compare(options, &kv, &names, connections, outcome)?;
    }
    Ok(())
}

/// Round trips, ours beside the floor's.
fn turns(options: &Options, peers: &str, redis: &Server, request: &str, outcome: &mut Outcome) -> Result<()> {
    let before = load();
    let (cpu, port) = (options.cpu.to_string(), redis.port.to_string());
    let address = format!("127.0.0.1:{port}");
    let floor = generators::built(&redis.folder, "pingpong")?;
    let median = |words: &[&str]| -> Result<f64> {
        let (out, _) = bound::on_cpu(options.cpu, words, LIMIT)?;
        let means: Vec<f64> =
            serde_json::from_str(&out).with_context(|| format!("{} printed {out}", words[0]))?;
        stats::median(&means).context("no means")
    };
    let pairs = in_turns(
        options.pairs,
        11,
        || median(&[peers, "kv-turns", &address, BLOCKS, &cpu]),
        || median(&[&floor, &port, BLOCKS, request]),
    )?;
    outcome.keep(comparison("kv basic.read100, era 1, redis", "ping-pong in C", "ns", &pairs, true, before)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_generators_print_is_read() {
        let csv = "\"test\",\"rps\",\"avg_latency_ms\"\n\"GET\",\"58823.53\",\"0.4\"\n";
        assert_eq!(per_s("redis-benchmark", csv), Some(58823.53));
        let table = "Type Ops/sec Hits/sec\nSets 0.00 ---\nGets 33400.50 33400.50 0.00\n";
        assert_eq!(per_s("memtier_benchmark", table), Some(33400.5));
        assert_eq!(per_s("redis-benchmark", "\"SET\",\"1\"\n"), None);
    }
}
