//! An application of one thread behind a real nginx: it is named as what holds the server back, whatever the number of
//! connections, and never nginx's own queue.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Bench, PATIENCE, Said, ended, signal};
use model::data::RunData;
use model::doc::{Binding, LoadDoc};

/// Serves one request after the other, each in 4 ms; its queue holds 5.
const APPLICATION: &str = "
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep(0.004)
        self.send_response(200)
        self.send_header('Content-Length', '3000')
        self.end_headers()
        self.wfile.write(b'x' * 3000)
    def log_message(self, *args):
        pass
server = HTTPServer(('127.0.0.1', 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
";

/// nginx, and behind its `/app` the application.
struct Proxied {
    nginx: Child,
    application: Child,
    port: u16,
    behind: u16,
    _dir: tempfile::TempDir,
}

impl Proxied {
    fn start() -> Proxied {
        let mut python = Command::new("python3");
        python.args(["-c", APPLICATION]).stdout(Stdio::piped());
        let mut application = python.spawn().expect("python3 is installed");
        let mut line = String::new();
        let out = application.stdout.take().expect("a pipe");
        BufReader::new(out).read_line(&mut line).expect("its port");
        let behind: u16 = line.trim().parse().expect("a port");
        let dir = tempfile::Builder::new().prefix("behind").tempdir_in("/tmp").expect("a folder");
        let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|one| one.local_addr());
        let (port, at) = (port.expect("a free port").port(), dir.path().display());
        let folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
        let folders: String = folders.iter().map(|name| format!("{name}_temp_path {at}/{name};\n")).collect();
        let text = format!(
            "daemon off;\nworker_processes 2;\npid {at}/pid;\nerror_log {at}/error.log;\n\
             events {{ worker_connections 256; }}\nhttp {{ access_log off;\n{folders}\
             server {{ listen 127.0.0.1:{port} backlog=512; location /app {{ proxy_pass http://127.0.0.1:{behind}; \
             proxy_http_version 1.0; }} }} }}\n"
        );
        let conf = dir.path().join("nginx.conf");
        std::fs::write(&conf, text).expect("its setup");
        let mut command = Command::new("nginx");
        command.arg("-c").arg(&conf).arg("-p").arg(dir.path()).stderr(Stdio::null());
        let nginx = command.spawn().expect("nginx is installed");
        let proxied = Proxied { nginx, application, port, behind, _dir: dir };
        let from = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(from.elapsed() < PATIENCE, "nginx does not listen");
            std::thread::sleep(Duration::from_millis(10));
        }
        proxied
    }

    fn load(&self, bench: &Bench, connections: &str) -> (LoadDoc, Said) {
        let url = format!("http://127.0.0.1:{}/app", self.port);
        let said = bench.run(&["load", &url, "-d", "4s", "-c", connections, "--json"]);
        // Some connections may wait for TCP until the load is over.
        assert!(matches!(said.code, Some(0 | 3)), "{}", said.err);
        (serde_json::from_str(&said.out).expect("a document"), said)
    }

    /// The application's socket with the name of its process.
    fn place(&self) -> String {
        let name = std::fs::read_to_string(format!("/proc/{}/comm", self.application.id())).expect("it runs");
        format!("127.0.0.1:{} ({})", self.behind, name.trim())
    }
}

impl Drop for Proxied {
    fn drop(&mut self) {
        drop(self.application.kill());
        ended(&mut self.application);
        signal(self.nginx.id(), "QUIT");
        ended(&mut self.nginx);
    }
}

/// Connections that were dropped at a port, and whose that is.
fn dropped(run: &RunData, port: u16) -> Vec<(String, f64)> {
    let socket = format!("127.0.0.1:{port}");
    let at = run.series.iter().filter(|series| {
        series.key.metric == "queue-drops" && series.key.params.get("socket") == Some(socket.as_str())
    });
    let of = |series: &model::data::Series| {
        let owner = series.key.params.get("owner").expect("an owner").to_owned();
        (owner, series.points.iter().filter_map(model::data::Point::number).sum())
    };
    at.map(of).collect()
}

#[test]
fn a_full_queue_behind_nginx_is_the_applications() {
    let (bench, proxied) = (Bench::new(), Proxied::start());
    let (doc, said) = proxied.load(&bench, "30");
    let (run, place) = (bench.only(), proxied.place());
    let [(owner, drops)] = dropped(&run, proxied.behind).try_into().expect("the application's socket");
    assert!(owner == "other" && drops > 5.0, "{owner} {drops}");
    assert_eq!(dropped(&run, proxied.port), [("server".to_owned(), 0.0)]);
    let found = &doc.bottlenecks[0];
    assert_eq!((found.kind, found.resource.as_str()), (Binding::Behind, place.as_str()), "{found:?}");
    assert!(found.sentence.contains("which is not the server's, was full"), "{}", found.sentence);
    let text = doc.findings.iter().find(|one| one.kind() == "drops").expect("a finding").text();
    assert!(text.contains(&format!("the queue of {place}, which is not the server's, was full")), "{text}");
    assert!(text.contains("raise that application's listen backlog (it holds 5)"), "{text}");
    for wrong in ["server's own backlog", "ListenBackLog", "somaxconn and", "could do up to"] {
        assert!(!said.out.contains(wrong), "{wrong}: {}", said.out);
    }
    // What was dropped comes seconds later, and that is no pause of the server.
    assert!(!said.out.contains("seems to pause") && !said.out.contains("garbage collection"), "{}", said.out);
}

#[test]
fn requests_that_came_a_second_later_waited_for_tcp() {
    let (bench, proxied) = (Bench::new(), Proxied::start());
    let (doc, said) = proxied.load(&bench, "10");
    // How many wait is chance; where most slow ones do, it is told.
    let times = bench.only().series.into_iter().find(|series| series.key.metric == "service-times");
    let times = times.expect("times").points.remove(0).value;
    let model::Value::Histogram(times) = times else { panic!("{times:?}") };
    let count = |from: u64, to: u64| -> u64 {
        times.bins().filter(|(ns, _)| (from..to).contains(ns)).map(|(_, count)| count).sum()
    };
    let (waited, slow) = (count(990_000_000, 1_100_000_000), count(400_000_000, u64::MAX));
    let lost = doc.findings.iter().find(|one| one.kind() == "lost-syns").map(model::Finding::text);
    assert!(waited < 3 || 2 * waited <= slow || lost.is_some(), "{waited} of {slow}: {}", said.out);
    if let Some(lost) = lost {
        assert!(lost.contains(" s for a connection: their SYN was dropped"), "{lost}");
    }
    assert!(!said.out.contains("garbage collection"), "{}", said.out);
}

#[test]
fn few_connections_name_the_same_application() {
    let (bench, proxied) = (Bench::new(), Proxied::start());
    let (doc, said) = proxied.load(&bench, "4");
    let found = &doc.bottlenecks[0];
    assert_eq!(
        (found.kind, found.resource.as_str()),
        (Binding::Behind, proxied.place().as_str()),
        "{found:?}"
    );
    assert!(found.sentence.contains("behind the server"), "{}", found.sentence);
    assert!(!said.out.contains("could do up to"), "{}", said.out);
}
