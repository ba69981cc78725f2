//! `boxscore load` on servers that stop answering midway, that only point elsewhere, and whose answers have no body.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::common::{Bench, PATIENCE, Running, Said, signal};
use instruments::workload::guard;
use instruments::workload::server::account;
use instruments::workload::server::content::{Content, Limits, Set};
use instruments::workload::server::installed;
use instruments::workload::server::options::Options;
use instruments::workload::server::run::Server;
use model::doc::{Binding, LoadDoc};

/// An nginx that serves one small file.
struct Nginx {
    server: Server,
    content: Content,
    _dir: tempfile::TempDir,
}

impl Nginx {
    fn start() -> Nginx {
        guard::set_program(crate::common::open_program());
        let dir = tempfile::Builder::new().prefix("silent").tempdir_in("/tmp").expect("a folder");
        std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).expect("open to all");
        let limits = Limits { mix_bytes: 1 << 20, large_bytes: 1 << 20 };
        let account = account::choose().expect("an account");
        let content = Content::make(Set::Gif, 1, &limits, dir.path(), account.as_ref()).expect("content");
        let kind = installed::find("nginx").expect("a known server");
        let options = Options { connections: 64, ..Options::default() };
        let server = Server::start(kind, &options, &content, dir.path()).expect("it starts");
        Nginx { server, content, _dir: dir }
    }

    fn signal(&self, name: &str) {
        for stat in self.server.usage().expect("it runs").processes {
            signal(stat.pid.cast_unsigned(), name);
        }
    }

    fn cpu_ns(&self) -> u64 {
        let used = self.server.usage().expect("it runs");
        used.user_ns + used.system_ns
    }

    /// A load of five seconds, in which its processes get a signal once they work.
    fn hit(&self, bench: &Bench, name: &str) -> (Said, LoadDoc) {
        let url = format!("http://{}{}", self.server.address(), self.content.items[0].path);
        let before_ns = self.cpu_ns();
        let args = ["load", &url, "-c", "4", "-d", "5s", "--timeout", "1s", "--json"];
        let running = Running::start(bench.command(&args));
        let end = Instant::now() + PATIENCE;
        while self.cpu_ns() < before_ns + 50_000_000 {
            assert!(Instant::now() < end, "no request came");
            std::thread::sleep(Duration::from_millis(10));
        }
        self.signal(name);
        let said = running.end().expect(3, &[]);
        let doc = document(&said.out);
        (said, doc)
    }
}

fn document(text: &str) -> LoadDoc {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_server_that_is_killed_stopped_answering() {
    let (bench, nginx) = (Bench::new(), Nginx::start());
    let (said, doc) = nginx.hit(&bench, "KILL");
    let bound = &doc.bottlenecks[0];
    assert_eq!(bound.kind, Binding::Silent, "{said:#?}");
    assert!(bound.sentence.contains("stopped answering after") && bound.sentence.contains(" of 5.00 s"));
    // Refusals are failures: each is slower than any answer.
    let refused = doc.errors["connect"];
    let unanswered: u64 =
        ["connect", "reset", "closed"].iter().filter_map(|kind| doc.errors.get(*kind)).sum();
    // An answer of which the beginning had come.
    let begun = doc.errors.get("short_body").copied().unwrap_or(0);
    assert_eq!(unanswered + begun, doc.errors.values().sum::<u64>(), "{:?}", doc.errors);
    assert!(refused > 0 && doc.response_time.count == doc.requests, "{said:#?}");
    assert_eq!(doc.response_time.max, None, "{said:#?}");
    assert!(doc.window.is_some_and(|window| (window - 5.0).abs() < 1e-6), "{:?}", doc.window);
    assert!(doc.seconds < doc.window);
}

#[test]
fn a_server_that_is_stopped_hangs_and_is_not_blamed_on_others() {
    let (bench, nginx) = (Bench::new(), Nginx::start());
    let (said, doc) = nginx.hit(&bench, "STOP");
    nginx.signal("CONT");
    let bound = &doc.bottlenecks[0];
    assert_eq!(bound.kind, Binding::Silent, "{said:#?}");
    assert!(bound.sentence.contains(" timeout (no answer within the time limit)"), "{bound:#?}");
    let seen = bound.evidence.join("; ");
    assert!(seen.contains("(nginx) is stopped by a signal") && seen.contains("used no CPU time"), "{seen}");
    assert!(seen.contains("requests were in flight"), "{seen}");
}

/// Answers everything with this.
fn fixed(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let serve = |stream: TcpStream| -> std::io::Result<()> {
        let mut to = stream.try_clone()?;
        for line in BufReader::new(stream).lines() {
            if line?.is_empty() {
                to.write_all(answer.as_bytes())?;
            }
        }
        Ok(())
    };
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A connection that breaks has been served.
            std::thread::spawn(move || serve(stream).unwrap_or(()));
        }
    });
    format!("http://{address}/")
}

#[test]
fn redirects_are_told_with_where_they_lead() {
    let bench = Bench::new();
    let url = fixed("HTTP/1.1 302 Found\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n");
    let said = bench.run(&["load", &url, "-c", "2", "-n", "50"]).expect(0, &[]);
    let flat = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    let says = "100 % of the answers were redirects (302), which are not followed, to /login";
    assert!(flat.contains(says), "{said:#?}");
}

#[test]
fn answers_without_a_body_are_fine() {
    let bench = Bench::new();
    let url = fixed("HTTP/1.1 204 No Content\r\n\r\n");
    let said = bench.run(&["load", &url, "-c", "2", "-n", "50", "--json"]).expect(0, &[]);
    let doc = document(&said.out);
    assert_eq!((doc.good, doc.bytes, doc.bandwidth), (50, Some(0.0), Some(0.0)));
    assert!(!said.out.contains("measurement is broken"), "{said:#?}");
}

/// Answers the first requests of all connections together, then none for a while, or for ever.
fn stands_still(after: usize, span: Option<Duration>) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let (seen, gate) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(())));
    let counted = Arc::clone(&seen);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (seen, gate) = (Arc::clone(&seen), Arc::clone(&gate));
            std::thread::spawn(move || {
                let mut to = stream.try_clone()?;
                for line in BufReader::new(stream).lines() {
                    if !line?.is_empty() {
                        continue;
                    }
                    let closed = gate.lock();
                    if seen.fetch_add(1, Ordering::SeqCst) == after {
                        std::thread::sleep(span.unwrap_or(PATIENCE));
                    }
                    drop(closed);
                    to.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")?;
                }
                Ok::<(), std::io::Error>(())
            });
        }
    });
    (format!("http://{address}/"), counted)
}

#[test]
fn a_stall_in_an_open_loop_is_told_with_what_waited() {
    let bench = Bench::new();
    let (url, _) = stands_still(200, Some(Duration::from_secs(2)));
    let said =
        bench.run(&["load", &url, "-r", "100", "-d", "6s", "-c", "5", "-t", "1", "--json"]).expect(0, &[]);
    let doc = document(&said.out);
    let found = doc.findings.iter().find(|finding| finding.kind() == "stall").expect("a finding");
    assert!(
        found.text().starts_with("its figures hold a stall of the server: no answer for ")
            && found.text().contains("came due"),
        "{found:#?}"
    );
    // It stood still for two seconds at least, and all that time requests were due.
    assert!(found.evidence()["seconds"] > 1.5 && found.evidence()["due"] > 150.0, "{found:#?}");
    let bound = &doc.bottlenecks[0];
    let told = format!("{}; {}", bound.sentence, bound.evidence.join("; "));
    assert!(told.contains("no answer for ") && !told.contains("serves all that is offered"), "{bound:#?}");
}

#[test]
fn an_interrupt_ends_a_load_that_hangs_and_shows_it() {
    let bench = Bench::new();
    let (url, seen) = stands_still(40, None);
    let args = ["load", &url, "-c", "4", "-d", "10m", "--timeout", "10m", "--json"];
    let running = Running::start(bench.command(&args));
    let end = Instant::now() + PATIENCE;
    while seen.load(Ordering::SeqCst) < 41 {
        assert!(Instant::now() < end, "no request came");
        std::thread::sleep(Duration::from_millis(10));
    }
    // A silence that is long beside what came before.
    std::thread::sleep(Duration::from_secs(1));
    running.signal("INT");
    // Long before the time limit of its requests.
    let said = running.end().expect(130, &[]);
    let doc = document(&said.out);
    assert!(doc.cut && doc.good == 40, "{doc:#?}");
    assert_eq!(doc.errors.get("cut"), Some(&4), "{doc:#?}");
    // 4 of 44 never came to a good end, so that no time holds the largest tenth.
    let times = &doc.response_time;
    assert!((times.count, times.p90, times.max) == (44, None, None) && times.p75.is_some(), "{times:?}");
    assert_eq!(doc.bottlenecks[0].kind, Binding::Silent, "{doc:#?}");
}
