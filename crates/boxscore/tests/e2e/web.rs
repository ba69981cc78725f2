//! `boxscore run web` from the command line to the store, with real servers. Nothing here is timed.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;

use crate::common::{Bench, cannot, root};
use model::data::RunData;

/// One cell: every part of the sweep at the same point.
const ONE: &str = "connections=3;arrivals=closed;load=auto;content=gif;keepalive=on;generators=1";

fn one(bench: &Bench, more: &[&str]) -> RunData {
    let has_runs = bench.store().exists();
    let known: Vec<String> =
        if has_runs { bench.heads().into_iter().map(|head| head.id).collect() } else { Vec::new() };
    let args = ["run", "web", "--no-report", "--set", ONE];
    bench.run(&[&args, more].concat()).expect(0, &[]);
    let new = bench.heads().into_iter().find(|head| !known.contains(&head.id)).expect("a new run");
    bench.data(&new.id)
}

/// The values of a metric, of measured takes.
fn values(run: &RunData, metric: &str, arm: &str) -> Vec<f64> {
    let of = |series: &&model::data::Series| series.key.metric == metric && series.key.arm == arm;
    run.series.iter().filter(of).flat_map(|series| series.measured()).collect()
}

/// A folder that the server's account can reach.
fn reachable(bench: &Bench) {
    use std::os::unix::fs::PermissionsExt;
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(bench.dir.path(), open).expect("its own folder");
}

fn left_overs(dir: &Path) -> Vec<String> {
    let names = std::fs::read_dir(dir).expect("a folder").flatten().map(|entry| entry.file_name());
    names.filter_map(|name| name.into_string().ok()).filter(|name| name.contains("server")).collect()
}

#[test]
fn each_server_is_measured_and_gone() {
    let bench = Bench::new();
    reachable(&bench);
    for server in ["nginx", "httpd", "builtin"] {
        let run = one(&bench, &["--takes", "1", "--set", &format!("server={server}")]);
        assert_eq!(run.plan.cells.len(), 1, "{:?}", run.plan.cells);
        let rate = values(&run, "throughput", "");
        assert!(rate.len() == 1 && rate[0] > 0.0, "{server}: {rate:?}");
        assert!(values(&run, "server-cores", "")[0] > 0.0, "{server}");
        let busy: Vec<_> = run.series.iter().filter(|series| series.key.metric == "core-busy").collect();
        assert!(busy.iter().all(|series| series.key.params.get("role").is_some()) && !busy.is_empty());
        assert!(busy.iter().all(|series| series.key.params.get("server") == Some(server)));
        let setup = run.notes.iter().find(|note| note.kind() == "web-setup").expect("what ran where");
        assert!(setup.text().contains("generator"), "{}", setup.text());
    }
    assert_eq!(left_overs(bench.dir.path()), [""; 0]);
}

#[test]
fn limits_of_memory_are_arms() {
    if !root() {
        return cannot("memory control groups need root");
    }
    let bench = Bench::new();
    reachable(&bench);
    let run = one(&bench, &["--takes", "1", "--arm", "memory=512M", "--arm", "memory=96M"]);
    for arm in ["memory=512MiB", "memory=96MiB"] {
        let rates = values(&run, "throughput", arm);
        assert!(rates.len() == 1 && rates[0] > 0.0, "{arm}: {rates:?}");
    }
    bench.run(&["run", "web", "--set", "memory=9000G"]).expect(2, &["limit nothing"]);
}

#[test]
fn arms_are_setups_of_one_server() {
    let bench = Bench::new();
    reachable(&bench);
    let run = one(
        &bench,
        &["--takes", "2", "--arm", "mpm=prefork", "--arm", "mpm=event", "--arm", "mpm=event,sendfile=off"],
    );
    for arm in ["mpm=prefork", "mpm=event", "mpm=event;sendfile=off"] {
        let rates = values(&run, "throughput", arm);
        assert!(rates.len() == 2 && rates.iter().all(|rate| *rate > 0.0), "{arm}: {rates:?}");
    }
    // Interleaved: each block has every arm.
    let said = bench.run(&["show", "latest", "--json"]).expect(0, &[]);
    assert!(said.out.contains("mpm=prefork"), "{}", said.out);
}

#[test]
fn a_quick_sweep_is_a_plan_of_named_cells() {
    let bench = Bench::new();
    let said = bench.run(&["run", "web", "--quick", "--no-report", "--fake", "world.json", "--seed", "1"]);
    said.expect(0, &[]);
    let run = bench.only();
    let load = |cell: &model::Cell| cell.params.get("load").is_some_and(|load| load != "auto");
    assert!(run.plan.cells.iter().filter(|cell| load(cell)).count() >= 7);
    assert!(run.plan.budget_seconds.is_some_and(|budget| budget < 180.0));
}

/// A server of this answer to everything, and its port.
fn answers(status: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut to = stream.try_clone()?;
                for line in BufReader::new(stream).lines() {
                    if line?.is_empty() {
                        to.write_all(format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\nok").as_bytes())?;
                    }
                }
                Ok::<(), std::io::Error>(())
            });
        }
    });
    port
}

#[test]
fn what_cannot_be_loaded_is_said() {
    let bench = Bench::new();
    reachable(&bench);
    bench.run(&["run", "cpu", "--url", "http://127.0.0.1/"]).expect(2, &["family web"]);
    bench.run(&["run", "web", "--slo", "p99"]).expect(2, &["p99=10ms"]);
    let run = ["run", "web", "--no-report", "--takes", "1", "--set", ONE];
    let nginx = bench.run(&[&run[..], &["--set", "server=nginx;mpm=event"]].concat());
    nginx.expect(2, &["mpm"]);
    // Of a server of the user's: one line, and nothing is stored.
    let refused = |more: &[&str], says: &[&str]| {
        let said = bench.run(&[&run[..], more].concat()).expect(1, says);
        assert!(said.out.is_empty() && said.err.lines().count() <= 4, "{said:#?}");
        assert!(bench.heads().is_empty());
    };
    refused(&["--url", "http://127.0.0.1:1/"], &["is the server running", "nothing was measured or stored"]);
    refused(&["--url", "http://no-such-name.invalid/"], &["no-such-name.invalid"]);
    let port = answers("404 Not Found");
    let (url, tls) = (format!("http://127.0.0.1:{port}/x"), format!("https://127.0.0.1:{port}/x"));
    refused(&["--url", &url], &[&format!("{url} answers 404: nothing was"), "hint: "]);
    refused(&["--url", &tls], &["TLS with 127.0.0.1"]);
    // The generators are who asks.
    refused(
        &["--url", &url, "--from", crate::common::PROGRAM, "--from", crate::common::PROGRAM],
        &["answers 404"],
    );
    refused(&["--url", "http://127.0.0.1:1/", "--from", crate::common::PROGRAM], &["is the server running"]);
}
