//! `boxscore load` against nginx, the built-in server, and a server that fails as it is told.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::common::{Bench, PATIENCE, Running};
use instruments::workload::guard;
use instruments::workload::server::account;
use instruments::workload::server::content::{Content, Limits, Set};
use instruments::workload::server::installed;
use instruments::workload::server::options::Options;
use instruments::workload::server::run::Server;
use model::data::Status;
use model::doc::{ErrorDoc, LoadDoc};

/// A request as it arrived.
#[derive(Clone, Debug, Default)]
struct Arrived {
    line: String,
    headers: Vec<String>,
    body: Vec<u8>,
}

/// Answers `/bad` with 404, `/half` every other time with 503, anything else with 200.
pub struct Scripted {
    port: u16,
    arrived: Arc<Mutex<Vec<Arrived>>>,
}

impl Scripted {
    pub fn start() -> Scripted {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let arrived = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&arrived);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let arrived = Arc::clone(&shared);
                // A connection that breaks has been served.
                std::thread::spawn(move || serve(&stream, &arrived).unwrap_or(()));
            }
        });
        Scripted { port, arrived }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    fn arrived(&self) -> Vec<Arrived> {
        self.arrived.lock().expect("nobody panicked").clone()
    }
}

fn serve(stream: &TcpStream, arrived: &Mutex<Vec<Arrived>>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let mut one = Arrived::default();
        if reader.read_line(&mut one.line)? == 0 {
            return Ok(());
        }
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            match line.trim_end() {
                "" => break,
                text => one.headers.push(text.to_owned()),
            }
        }
        let length = one.headers.iter().find_map(|line| line.strip_prefix("Content-Length: ")?.parse().ok());
        one.body = vec![0; length.unwrap_or(0)];
        reader.read_exact(&mut one.body)?;
        let path = one.line.split(' ').nth(1).unwrap_or_default().to_owned();
        let nth = {
            let mut all = arrived.lock().expect("nobody panicked");
            all.push(one);
            all.len()
        };
        let status = match path.as_str() {
            "/bad" => "404 Not Found",
            "/half" if nth % 2 == 0 => "503 Busy",
            _ => "200 OK",
        };
        let mut to = stream;
        to.write_all(format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\nok").as_bytes())?;
    }
}

/// A server of this program's own kind that serves one small file.
pub struct Managed {
    server: Server,
    content: Content,
    _dir: tempfile::TempDir,
}

impl Managed {
    pub fn start(name: &str) -> Managed {
        guard::set_program(crate::common::open_program());
        let dir = tempfile::Builder::new().prefix("load").tempdir_in("/tmp").expect("a folder");
        std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).expect("open to all");
        let limits = Limits { mix_bytes: 1 << 20, large_bytes: 1 << 20 };
        let account = account::choose().expect("an account");
        let content = Content::make(Set::Gif, 1, &limits, dir.path(), account.as_ref()).expect("content");
        let kind = installed::find(name).expect("a known server");
        let options = Options { connections: 64, ..Options::default() };
        let server = Server::start(kind, &options, &content, dir.path()).expect("it starts");
        Managed { server, content, _dir: dir }
    }

    pub fn url(&self) -> String {
        format!("http://{}{}", self.server.address(), self.content.items[0].path)
    }
}

fn document(text: &str) -> LoadDoc {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn nginx_answers_and_the_take_is_stored_like_any_other() {
    let (bench, nginx) = (Bench::new(), Managed::start("nginx"));
    let args = ["load", &nginx.url(), "-c", "4", "-t", "2", "-n", "500", "--json", "--label", "first"];
    let said = bench.run(&args).expect(0, &[]);
    let doc = document(&said.out);
    assert_eq!((doc.schema.as_str(), doc.requests, doc.good), ("boxscore.load/1", 500, 500));
    assert_eq!((doc.response_time.count, doc.service_time.count), (500, 500));
    assert!(doc.errors.is_empty() && !doc.cut && doc.label.as_deref() == Some("first"), "{doc:?}");
    // The gif has 43 bytes.
    assert_eq!(doc.bytes, Some(500.0 * 43.0));
    let counted: u64 = doc.response_time.histogram.iter().map(|bucket| bucket.count).sum();
    assert_eq!(counted, 500);
    let run = bench.only();
    assert_eq!(
        (run.head.status, run.takes.len(), run.head.id.as_str()),
        (Status::Complete, 1, doc.run.as_str())
    );
    let shown = bench.run(&["show", "first", "--all"]).expect(0, &[]);
    assert!(shown.out.contains("web"), "{shown:#?}");
    assert!(
        !said.err.contains('\u{1b}') && !said.err.contains("so far"),
        "drawn without a terminal: {said:#?}"
    );
}

#[test]
fn the_screen_fits_and_names_what_was_done() {
    let (bench, builtin) = (Bench::new(), Managed::start("builtin"));
    let said = bench.run(&["load", &builtin.url(), "-c", "3", "-r", "500", "-d", "1s"]).expect(0, &[]);
    for text in [
        &builtin.url(),
        "3 connections",
        "500 requests/s, constant",
        "response",
        "service",
        "p99.9",
        "stored",
    ] {
        assert!(said.out.contains(text), "no {text}: {said:#?}");
    }
    assert!(said.out.lines().all(|line| line.chars().count() <= 80), "{}", said.out);
    assert!(!said.out.contains('\u{1b}'), "{said:#?}");
}

#[test]
fn without_a_good_answer_it_says_what_came() {
    let (bench, server) = (Bench::new(), Scripted::start());
    let url = server.url("/bad");
    let said = bench
        .run(&["load", &url, "-n", "20", "-c", "2"])
        .expect(1, &["20 status 404 (first http://", "/bad); these answers came at ", "hint: "]);
    assert!(said.out.is_empty(), "{said:#?}");
    let said = bench.run(&["load", &url, "-n", "20", "-c", "2", "--json"]).expect(1, &[]);
    let error: ErrorDoc = serde_json::from_str(&said.out).expect("a document");
    assert!(error.message.contains("20 of 20 requests failed") && error.hint.is_some(), "{error:?}");
}

#[test]
fn some_failures_are_counted_by_kind() {
    let (bench, server) = (Bench::new(), Scripted::start());
    let url = server.url("/half");
    let said = bench.run(&["load", &url, "-n", "100", "-c", "1", "--json"]).expect(3, &[]);
    let doc = document(&said.out);
    assert_eq!(doc.errors, BTreeMap::from([("status_5xx".to_owned(), 50)]));
    assert_eq!((doc.requests, doc.good), (100, 50));
    let said = bench.run(&["load", &url, "-n", "100", "-c", "1"]).expect(3, &[]);
    assert!(said.out.contains("50 % failed: 50 status 503 (first http://"), "{said:#?}");
    let met = &doc.statuses["503"];
    assert_eq!((met.count, met.first_url.as_deref()), (50, Some(url.as_str())));
}

#[test]
fn a_server_that_cannot_be_reached_is_named() {
    let bench = Bench::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    drop(listener);
    bench.run(&["load", &url]).expect(1, &["nothing accepts connections", "is the server running"]);
    bench.run(&["load", "http://no-such-name.invalid/"]).expect(1, &["no-such-name.invalid", "check it"]);
    let server = Scripted::start();
    let secure = server.url("/").replace("http:", "https:");
    bench.run(&["load", &secure, "--timeout", "60s"]).expect(1, &["TLS with", "--insecure"]);
}

#[test]
fn exactly_so_many_requests_arrive_as_they_were_asked_for() {
    let (bench, server) = (Bench::new(), Scripted::start());
    let body = bench.path("body.json");
    std::fs::write(&body, "{\"a\": [1, 2]}\n").expect("a file");
    let body = format!("@{}", crate::common::text(&body));
    let url = server.url("/order?x=1");
    bench
        .run(&["load", &url, "-n", "137", "-c", "5", "-b", &body, "-H", "X-Test: a; b, c", "--json"])
        .expect(0, &[]);
    let arrived = server.arrived();
    assert_eq!(arrived.len(), 137);
    for one in arrived {
        assert_eq!(one.line, "POST /order?x=1 HTTP/1.1\r\n");
        assert_eq!(one.body, b"{\"a\": [1, 2]}\n");
        assert!(one.headers.contains(&"X-Test: a; b, c".to_owned()), "{:?}", one.headers);
    }
}

#[test]
fn a_replay_sends_the_paths_of_its_file() {
    let (bench, server) = (Bench::new(), Scripted::start());
    let file = bench.path("log");
    std::fs::write(&file, "# seconds path\n5 /a\n5.05 /b?c\n5.1 /a\n").expect("a file");
    let url = server.url("/");
    let said = bench
        .run(&["load", &url, "-c", "1", "--replay", crate::common::text(&file), "--json"])
        .expect(0, &[]);
    assert_eq!(document(&said.out).requests, 3);
    let lines: Vec<String> = server.arrived().into_iter().map(|one| one.line).collect();
    assert_eq!(lines, ["GET /a HTTP/1.1\r\n", "GET /b?c HTTP/1.1\r\n", "GET /a HTTP/1.1\r\n"]);
}

#[test]
fn what_is_wrong_with_the_command_line_is_said_before_a_store_is_made() {
    let bench = Bench::new();
    let url = "http://127.0.0.1:9/";
    for (args, says) in [
        (vec!["127.0.0.1:9"], "http://"),
        (vec![url, "-t", "3", "-c", "2"], "each thread needs a connection"),
        (vec![url, "-r", "0"], "above 0"),
        (vec![url, "-c", "0"], "--connections"),
        (vec![url, "-n", "0"], "--requests"),
        (vec![url, "-n", "5", "-d", "5s"], "cannot be used with"),
        (vec![url, "--poisson"], "--rate"),
        (vec![url, "-H", "x"], "no colon"),
        (vec![], "URL"),
    ] {
        let args: Vec<&str> = ["load"].into_iter().chain(args).collect();
        bench.run(&args).expect(2, &[says]);
    }
    assert!(!bench.store().exists());
}

#[test]
fn a_load_that_was_lost_begins_again_only_where_it_is_named() {
    let (bench, server) = (Bench::new(), Scripted::start());
    let url = server.url("/");
    let running = Running::start(bench.command(&["load", &url, "-c", "2", "-d", "10m"]));
    let arrived = || server.arrived.lock().expect("nobody panicked").len();
    let end = Instant::now() + PATIENCE;
    while arrived() == 0 {
        assert!(Instant::now() < end, "no request came");
        std::thread::sleep(Duration::from_millis(10));
    }
    running.signal("KILL");
    running.end();
    let id = bench.only().head.id;
    let run = crate::common::short(&id);
    let said = bench.run(&["resume"]).expect(2, &[run, &url, "not resumed: ", "must be named"]);
    assert!(said.err.contains(&format!("boxscore resume {run} loads it again")), "{said:#?}");
    assert_eq!(bench.only().head.status, Status::Interrupted, "it was resumed");
}

#[test]
fn ctrl_c_ends_the_load_and_keeps_its_result() {
    let (bench, server) = (Bench::new(), Scripted::start());
    let url = server.url("/");
    let running = Running::start(bench.command(&["load", &url, "-c", "2", "-d", "10m"]));
    let end = Instant::now() + PATIENCE;
    while server.arrived.lock().expect("nobody panicked").is_empty() {
        assert!(Instant::now() < end, "no request came");
        std::thread::sleep(Duration::from_millis(10));
    }
    running.signal("INT");
    let said = running.end().expect(130, &["no more requests are sent"]);
    assert!(said.out.contains("throughput"), "{said:#?}");
    // A busy machine may leave it no room on the short screen.
    let shown = bench.run(&["show", "latest", "--all"]).expect(0, &[]);
    assert!(shown.out.contains("ended by the user"), "{shown:#?}");
    let run = bench.only();
    assert_eq!((run.head.status, run.head.measured), (Status::Complete, 1));
}
