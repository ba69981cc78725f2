//! The load engine beside other generators and beside the floor: CPU time for each request, and throughput.
//!
//! nginx with one worker on one CPU serves a GIF of 43 bytes; each generator has one thread on the other CPU and a
//! closed loop with keep-alive. CPU time is that of the generator's whole process, its start included, in
//! microseconds for each answer. The floor (`perf/floor.c`) sends the engine's own bytes and hardly reads the answers.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::{Options, Outcome, bound, comparison, load};
use crate::shell;

const LIMIT: Duration = Duration::from_secs(120);
const CONNECTIONS: [u32; 2] = [50, 500];
const SECONDS: &str = "3";
const OURS: &str = "boxscore";

const GIF: &[u8] = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";

/// What one run of a generator gave.
#[derive(Debug, Clone, Copy)]
struct Seen {
    answers: f64,
    cpu_us: f64,
}

/// nginx in a folder of its own, ended when dropped.
struct Nginx {
    child: Child,
    port: u16,
    folder: PathBuf,
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // The master ends its worker; both are ours.
        let pid = self.child.id().to_string();
        if shell::run("kill", &["-TERM", &pid]).is_ok() {
            drop(self.child.wait());
        }
        drop(fs::remove_dir_all(&self.folder));
    }
}

fn nginx(cpu: u32) -> Result<Nginx> {
    let folder = shell::root().join(format!("target/perf-web-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("gif.bin"), GIF)?;
    let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
    let place = folder.display();
    let text = format!(
        "daemon off; worker_processes 1; worker_rlimit_nofile 4096; pid {place}/pid; error_log {place}/log;\n\
         events {{ worker_connections 2048; }}\n\
         http {{ access_log off; sendfile on; keepalive_requests 1000000000; keepalive_timeout 600;\n\
         server {{ listen 127.0.0.1:{port} backlog=4096; location / {{ root {place}; }} }} }}\n"
    );
    fs::write(folder.join("conf"), text)?;
    let mut command = Command::new("taskset");
    command.args(["-c", &cpu.to_string(), "nginx", "-c"]).arg(folder.join("conf")).arg("-p").arg(&folder);
    let child = command.stdin(Stdio::null()).spawn().context("cannot start nginx; apt install nginx")?;
    let nginx = Nginx { child, port, folder };
    for _ in 0..500 {
        if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return Ok(nginx);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    bail!("nginx does not answer on port {port}")
}

/// The floor's program, built from its source.
fn floor(folder: &Path) -> Result<String> {
    let program = folder.join("floor").display().to_string();
    let source = shell::root().join("perf/floor.c").display().to_string();
    shell::run("cc", &["-O2", "-D_GNU_SOURCE", "-o", &program, &source])?;
    Ok(program)
}

struct Bench<'a> {
    options: &'a Options,
    peers: &'a str,
    floor: String,
    request: String,
    url: String,
    port: u16,
}

impl Bench<'_> {
    fn words(&self, name: &str, connections: u32) -> Vec<String> {
        let (cpu, connections, port) =
            (self.options.cpu.to_string(), connections.to_string(), self.port.to_string());
        let duration = format!("{SECONDS}s");
        let words: Vec<&str> = match name {
            OURS => vec![self.peers, "load", &self.url, &connections, SECONDS, &cpu],
            "floor" => vec![&self.floor, &port, &connections, SECONDS, &self.request],
            "wrk" => vec!["wrk", "-t1", "-c", &connections, "-d", &duration, &self.url],
            "ab" => vec!["ab", "-k", "-q", "-t", SECONDS, "-n", "2000000", "-c", &connections, &self.url],
            _ => vec!["h2load", "--h1", "-t1", "-c", &connections, "-D", SECONDS, &self.url],
        };
        words.into_iter().map(str::to_owned).collect()
    }

    /// Runs one generator; its CPU time is what the shell counts for it.
    fn take(&self, name: &str, connections: u32) -> Result<Seen> {
        let words = self.words(name, connections);
        let timed = "TIMEFORMAT='cpu %U %S'; time \"$@\"";
        let mut all = vec!["bash", "-c", timed, "_"];
        all.extend(words.iter().map(String::as_str));
        let (out, err) = bound::on_cpu(self.options.cpu, &all, LIMIT)?;
        let cpu_s = cpu_seconds(&err).with_context(|| format!("no CPU time in {err}"))?;
        let answers = answers(name, &out).with_context(|| format!("{name} printed {out}"))?;
        if answers < 1.0 {
            bail!("{name} had no answer:\n{out}{err}");
        }
        Ok(Seen { answers, cpu_us: 1e6 * cpu_s / answers })
    }
}

fn cpu_seconds(err: &str) -> Option<f64> {
    let (user, system) = err.lines().rev().find_map(|line| line.strip_prefix("cpu ")?.split_once(' '))?;
    Some(user.parse::<f64>().ok()? + system.trim().parse::<f64>().ok()?)
}

/// Good answers of a run, from what the generator prints.
fn answers(name: &str, out: &str) -> Option<f64> {
    let number = |text: &str| text.split_whitespace().next()?.trim_end_matches(',').parse().ok();
    match name {
        OURS => serde_json::from_str::<[f64; 3]>(out).ok().filter(|seen| seen[1] == 0.0).map(|seen| seen[0]),
        "floor" => number(out),
        "wrk" => number(out.lines().find(|line| line.contains(" requests in "))?),
        "ab" => number(out.lines().find_map(|line| line.strip_prefix("Complete requests:"))?),
        _ => {
            let line = out.lines().find(|line| line.starts_with("requests: "))?;
            let word = line.split(", ").find_map(|part| part.strip_suffix(" succeeded"))?;
            number(word)
        }
    }
}

pub fn run(options: &Options, peers: &str, outcome: &mut Outcome) -> Result<()> {
    let server_cpu = if options.cpu == 0 { 1 } else { 0 };
    let nginx = nginx(server_cpu)?;
    let url = format!("http://127.0.0.1:{}/gif.bin", nginx.port);
    let request = nginx.folder.join("request").display().to_string();
    fs::write(&request, shell::output(peers, &["request", &url])?.trim_end_matches('\n').to_owned() + "\n")?;
    let bench = Bench { options, peers, floor: floor(&nginx.folder)?, request, url, port: nginx.port };
    let mut names = vec!["floor"];
    for peer in ["wrk", "ab", "h2load"] {
        match shell::output("which", &[peer]) {
            Ok(_) => names.push(peer),
            Err(_) => outcome.skip(&format!("load engine beside {peer}"), "not installed"),
        }
    }
    for connections in CONNECTIONS {
        let before = load();
        let mut random = stats::Rng::new(u64::from(connections));
        let mut rounds: Vec<Vec<(&str, Seen)>> = Vec::new();
        for _ in 0..options.pairs {
            let mut order = [vec![OURS], names.clone()].concat();
            for last in (1..order.len()).rev() {
                order.swap(last, random.below(last + 1));
            }
            let round: Result<Vec<(&str, Seen)>> =
                order.iter().map(|&name| Ok((name, bench.take(name, connections)?))).collect();
            rounds.push(round?);
        }
        tell(&names, connections, &rounds, before, outcome)?;
    }
    Ok(())
}

/// Ours beside each other one of the same round.
fn tell(
    names: &[&str],
    connections: u32,
    rounds: &[Vec<(&str, Seen)>],
    before: f64,
    outcome: &mut Outcome,
) -> Result<()> {
    let of = |round: &[(&str, Seen)], name: &str| {
        round.iter().find(|(one, _)| *one == name).map(|(_, seen)| *seen)
    };
    for (what, unit, times) in [("CPU per request", "us", true), ("throughput", "k/s", false)] {
        for name in names {
            let value = |seen: Seen| {
                if times { seen.cpu_us } else { seen.answers / SECONDS.parse::<f64>().unwrap_or(1.0) / 1e3 }
            };
            let pairs: Option<Vec<(f64, f64)>> =
                rounds.iter().map(|round| Some((value(of(round, OURS)?), value(of(round, name)?)))).collect();
            let pairs = pairs.context("a round misses a generator")?;
            let what = format!("load {what}, {connections} connections");
            outcome.keep(comparison(&what, name, unit, &pairs, times, before)?);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_generators_print_is_read() {
        assert_eq!(answers("wrk", "Running\n  1234 requests in 3.00s, 5MB read\n"), Some(1234.0));
        assert_eq!(answers("ab", "Complete requests:      77\nFailed requests: 0\n"), Some(77.0));
        let h2load = "requests: 90 total, 91 started, 88 done, 87 succeeded, 1 failed, 0 errored\n";
        assert_eq!(answers("h2load", h2load), Some(87.0));
        assert_eq!(answers(OURS, "[12,0,4.0]"), Some(12.0));
        assert_eq!(answers(OURS, "[12,1,4.0]"), None);
        assert_eq!(cpu_seconds("x\ncpu 0.250 1.500\n"), Some(1.75));
    }
}
