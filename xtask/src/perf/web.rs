//! The load engine beside other generators of HTTP and beside the floor: CPU time for each request, and throughput.
//!
//! nginx with one worker on one CPU serves a GIF of 43 bytes; each generator has one thread on the other CPU and a
//! closed loop with keep-alive. The floor (`perf/floor.c`) sends the engine's own bytes and hardly reads the answers.

use std::fs;
use std::net::TcpListener;

use anyhow::Result;

use super::generators::{self, FLOOR, Match, OURS, SECONDS, Server};
use super::options::Options;
use super::pairs::Outcome;
use crate::shell;

const CONNECTIONS: [u32; 2] = [50, 500];
const WHAT: &str = "load";

const GIF: &[u8] = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";

fn nginx(cpu: u32) -> Result<Server> {
    let folder = generators::folder("web")?;
    fs::write(folder.join("gif.bin"), GIF)?;
    let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
    let place = folder.display().to_string();
    let text = format!(
        "daemon off; worker_processes 1; worker_rlimit_nofile 4096; pid {place}/pid; error_log {place}/log;\n\
         events {{ worker_connections 2048; }}\n\
         http {{ access_log off; sendfile on; keepalive_requests 1000000000; keepalive_timeout 600;\n\
         server {{ listen 127.0.0.1:{port} backlog=4096; location / {{ root {place}; }} }} }}\n"
    );
    let conf = folder.join("conf").display().to_string();
    fs::write(&conf, text)?;
    Server::start(cpu, &["nginx", "-c", &conf, "-p", &place], port, folder)
}

struct Web<'a> {
    options: &'a Options,
    peers: &'a str,
    floor: String,
    request: String,
    url: String,
    port: u16,
}

impl Match for Web<'_> {
    fn what(&self) -> &'static str {
        WHAT
    }

    fn words(&self, name: &str, connections: u32) -> Vec<String> {
        let (cpu, connections, port) =
            (self.options.cpu.to_string(), connections.to_string(), self.port.to_string());
        let duration = format!("{SECONDS}s");
        let words: Vec<&str> = match name {
            OURS => vec![self.peers, "load", &self.url, &connections, SECONDS, &cpu],
            FLOOR => vec![&self.floor, &port, &connections, SECONDS, &self.request],
            "wrk" => vec!["wrk", "-t1", "-c", &connections, "-d", &duration, &self.url],
            "ab" => vec!["ab", "-k", "-q", "-t", SECONDS, "-n", "2000000", "-c", &connections, &self.url],
            _ => vec!["h2load", "--h1", "-t1", "-c", &connections, "-D", SECONDS, &self.url],
        };
        words.into_iter().map(str::to_owned).collect()
    }

    fn answers(&self, name: &str, out: &str) -> Option<f64> {
        answers(name, out)
    }

    fn seconds(&self, _: &str, _: &str, _: f64) -> Option<f64> {
        SECONDS.parse().ok()
    }
}

fn answers(name: &str, out: &str) -> Option<f64> {
    let number = |text: &str| text.split_whitespace().next()?.trim_end_matches(',').parse().ok();
    match name {
        OURS => serde_json::from_str::<[f64; 3]>(out).ok().filter(|seen| seen[1] == 0.0).map(|seen| seen[0]),
        FLOOR => number(out),
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
    let nginx = nginx(options.other_cpu())?;
    let url = format!("http://127.0.0.1:{}/gif.bin", nginx.port);
    let request = nginx.folder.join("request").display().to_string();
    fs::write(&request, shell::output(peers, &["request", &url])?.trim_end_matches('\n').to_owned() + "\n")?;
    let floor = generators::built(&nginx.folder, "floor")?;
    let web = Web { options, peers, floor, request, url, port: nginx.port };
    let names = generators::installed("load engine", &["wrk", "ab", "h2load"], outcome);
    for connections in CONNECTIONS {
        generators::compare(options, &web, &names, connections, outcome)?;
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
    }
}
