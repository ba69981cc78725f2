//! `boxscore load` beside other generators of HTTP and beside the floor: CPU time for each request, and throughput.
//!
//! Three servers on one CPU serve a GIF of 43 bytes: nginx with one worker as Debian configures it (`sendfile on;
//! tcp_nopush on`), the same without `tcp_nopush`, and httpd with the event MPM. Each generator has one thread on the
//! other CPU and a closed loop with keep-alive. The floor (`perf/floor.c`) sends the bytes that `boxscore load` sends
//! and hardly reads the answers. Access logs are off.

use std::fs;
use std::io::{self, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::thread;

use anyhow::{Result, bail};

use super::generators::{self, Answered, FLOOR, Match, OURS, SECONDS};
use super::options::Options;
use super::pairs::Outcome;
use crate::server::Server;
use crate::shell;

const CONNECTIONS: [u32; 2] = [50, 500];

const GIF: &[u8] = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";

/// A server that is compared on.
struct Kind {
    /// Begins the rows.
    says: &'static str,
    program: &'static str,
    package: &'static str,
    /// Its configuration, from its folder and its port.
    config: fn(&str, u16) -> String,
    /// Its arguments, from its configuration's file and its folder.
    words: fn(&str, &str) -> Vec<String>,
}

const KINDS: [Kind; 3] = [
    Kind {
        says: "nginx, Debian's",
        program: "nginx",
        package: "nginx",
        config: |place, port| nginx(place, port, "on"),
        words: |conf, place| ["-c", conf, "-p", place].map(str::to_owned).to_vec(),
    },
    Kind {
        says: "nginx, no tcp_nopush",
        program: "nginx",
        package: "nginx",
        config: |place, port| nginx(place, port, "off"),
        words: |conf, place| ["-c", conf, "-p", place].map(str::to_owned).to_vec(),
    },
    Kind {
        says: "httpd event",
        program: "apache2",
        package: "apache2-bin",
        config: httpd,
        words: |conf, place| ["-d", place, "-f", conf, "-DFOREGROUND"].map(str::to_owned).to_vec(),
    },
];

fn nginx(place: &str, port: u16, nopush: &str) -> String {
    format!(
        "daemon off; worker_processes 1; worker_rlimit_nofile 4096; pid {place}/pid; error_log {place}/log;\n\
         events {{ worker_connections 2048; }}\n\
         http {{ access_log off; sendfile on; tcp_nopush {nopush}; keepalive_requests 1000000000;\n\
         keepalive_timeout 600; default_type image/gif;\n\
         server {{ listen 127.0.0.1:{port} backlog=4096; location / {{ root {place}; }} }} }}\n"
    )
}

/// One process with a thread for each connection and some more: one without a free thread closes connections.
fn httpd(place: &str, port: u16) -> String {
    let modules: String = ["mpm_event", "authz_core"]
        .map(|name| format!("LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n"))
        .concat();
    format!(
        "{modules}ServerName 127.0.0.1\nListen 127.0.0.1:{port}\nListenBackLog 4096\nUser nobody\nGroup nogroup\n\
         PidFile {place}/pid\nDefaultRuntimeDir {place}\nErrorLog {place}/log\n\
         ServerLimit 1\nStartServers 1\nThreadLimit 600\nThreadsPerChild 600\nMinSpareThreads 1\nMaxSpareThreads 600\n\
         MaxRequestWorkers 600\nMaxConnectionsPerChild 0\n\
         KeepAlive On\nMaxKeepAliveRequests 0\nKeepAliveTimeout 600\n\
         DocumentRoot {place}\n<Directory {place}>\nForceType image/gif\nRequire all granted\n</Directory>\n"
    )
}

impl Kind {
    fn start(&self, cpu: u32) -> Result<Server> {
        let folder = generators::folder("web")?;
        fs::write(folder.join("gif.bin"), GIF)?;
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let place = folder.display().to_string();
        let conf = folder.join("conf").display().to_string();
        fs::write(&conf, (self.config)(&place, port))?;
        let words = [vec![self.program.to_owned()], (self.words)(&conf, &place)].concat();
        Server::start(Some(cpu), &words.iter().map(String::as_str).collect::<Vec<_>>(), port, folder)
    }
}

struct Web<'a> {
    says: &'static str,
    options: &'a Options,
    floor: String,
    request: String,
    url: String,
    port: u16,
    store: &'a Path,
}

impl Match for Web<'_> {
    fn what(&self) -> &'static str {
        self.says
    }

    fn store(&self) -> &Path {
        self.store
    }

    fn words(&self, name: &str, connections: u32) -> Vec<String> {
        let (connections, port) = (connections.to_string(), self.port.to_string());
        let duration = format!("{SECONDS}s");
        let words: Vec<&str> = match name {
            OURS => return generators::product(self.options, &self.url, &connections, &[]),
            FLOOR => vec![&self.floor, &port, &connections, SECONDS, &self.request],
            "wrk" => vec!["wrk", "-t1", "-c", &connections, "-d", &duration, &self.url],
            "ab" => vec!["ab", "-k", "-q", "-t", SECONDS, "-n", "2000000", "-c", &connections, &self.url],
            _ => vec!["h2load", "--h1", "-t1", "-c", &connections, "-D", SECONDS, &self.url],
        };
        words.into_iter().map(str::to_owned).collect()
    }

    fn answered(&self, name: &str, out: &str) -> Option<Answered> {
        match name {
            OURS => Answered::of_product(out),
            _ => Answered::in_time(answers(name, out)?),
        }
    }
}

fn answers(name: &str, out: &str) -> Option<f64> {
    let number = |text: &str| text.split_whitespace().next()?.trim_end_matches(',').parse().ok();
    match name {
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

/// The bytes of a request, taken from the program itself by a server that answers one.
fn sent(options: &Options, server: &Server) -> Result<String> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let port = listener.local_addr()?.port();
    let heard = thread::spawn(move || first_request(&listener));
    let url = format!("http://127.0.0.1:{port}/gif.bin");
    let mut command = shell::command(&options.product(), &["load", &url, "-n", "1", "-c", "1", "--json"]);
    shell::must_output(command.env("BOXSCORE_STORE", server.folder.join("store.db")))?;
    match heard.join() {
        Ok(request) => Ok(request?.replace(&port.to_string(), &server.port.to_string())),
        Err(_) => bail!("no request was heard"),
    }
}

fn first_request(listener: &TcpListener) -> io::Result<String> {
    loop {
        let (mut stream, _) = listener.accept()?;
        let (mut head, mut part) = (Vec::new(), [0; 4096]);
        // One that sends nothing only looked whether somebody is there.
        while let got @ 1.. = stream.read(&mut part)? {
            head.extend_from_slice(&part[..got]);
            if head.ends_with(b"\r\n\r\n") {
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")?;
                return String::from_utf8(head).map_err(io::Error::other);
            }
        }
    }
}

pub fn run(options: &Options, outcome: &mut Outcome) -> Result<()> {
    let names = generators::installed("web load", &["wrk", "ab", "h2load"], outcome);
    let is_wanted = |kind: &&Kind| {
        options.servers.is_empty() || options.servers.iter().any(|name| kind.says.starts_with(name.as_str()))
    };
    for kind in KINDS.iter().filter(is_wanted) {
        if shell::output("which", &[kind.program]).is_err() {
            outcome.skip(kind.says, &format!("not installed (apt install {})", kind.package));
            continue;
        }
        let server = kind.start(options.other_cpu())?;
        let url = format!("http://127.0.0.1:{}/gif.bin", server.port);
        let request = server.folder.join("request").display().to_string();
        fs::write(&request, sent(options, &server)?)?;
        let floor = generators::built(&server.folder, "floor")?;
        let store = server.folder.join("store.db");
        let web = Web { says: kind.says, options, floor, request, url, port: server.port, store: &store };
        for connections in CONNECTIONS {
            generators::compare(options, &web, &names, connections, outcome)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_heard_after_a_connection_that_only_looks() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let heard = thread::spawn(move || first_request(&listener));
        drop(std::net::TcpStream::connect(address).unwrap());
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
        assert_eq!(heard.join().unwrap().unwrap(), "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    }

    #[test]
    fn what_generators_print_is_read() {
        assert_eq!(answers("wrk", "Running\n  1234 requests in 3.00s, 5MB read\n"), Some(1234.0));
        assert_eq!(answers("ab", "Complete requests:      77\nFailed requests: 0\n"), Some(77.0));
        let h2load = "requests: 90 total, 91 started, 88 done, 87 succeeded, 1 failed, 0 errored\n";
        assert_eq!(answers("h2load", h2load), Some(87.0));
    }
}
