//! Tests of the network end to end: over the loopback with a child as the far end, and with `boxscore peer`.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::common::{
    Bench, PROGRAM, Running, Said, assert_gone, assert_measured_of, cannot, children, host::Namespace, root,
};
use model::data::RunData;
use model::reading::Value;

/// Short takes of every test.
const ONE: [&str; 6] = ["run", "net", "--takes", "1", "--no-report", "--quick"];

/// A peer that ends with this.
pub struct Peer {
    child: Child,
    pub address: String,
}

impl Peer {
    pub fn start(bench: &Bench, args: &[&str]) -> Peer {
        let mut command = bench.command(&["peer", "--listen", "127.0.0.1:0"]);
        let mut child = command.args(args).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        let address = line.trim_end().strip_prefix("listening on ").expect("where it listens").to_owned();
        Peer { child, address }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // One that a test killed is gone already.
        let _killed = self.child.kill();
        self.child.wait().expect("a child");
    }
}

fn run(bench: &Bench, args: &[&str]) -> Said {
    bench.run(&[&ONE[..], args].concat())
}

/// The value of an instrument's metric in the only take of a cell that has these parameters.
#[track_caller]
fn value(run: &RunData, instrument: &str, metric: &str, params: &str) -> f64 {
    let wanted = model::Params::parse(params).expect("pairs");
    let mut values = run.rows().filter(|series| {
        let key = &series.key;
        key.instrument == instrument
            && key.metric == metric
            && wanted.iter().all(|(name, value)| key.params.get(name) == Some(value))
    });
    let series =
        values.next().unwrap_or_else(|| panic!("no {instrument} {metric} {params}: {:?}", run.notes));
    match series.points.last().map(|point| &point.value) {
        Some(Value::Number(number)) => *number,
        other => panic!("{instrument} {metric} {params}: {other:?}"),
    }
}

#[test]
fn the_loopback_is_measured_with_a_child() {
    let bench = Bench::new();
    let said = run(&bench, &["--set", "duration=100ms"]).expect(0, &[]);
    let run = bench.only();
    let has_rdma =
        std::fs::read_dir("/sys/class/infiniband").is_ok_and(|mut devices| devices.next().is_some());
    let cells = run.plan.cells.iter().filter(|cell| has_rdma || cell.instrument != "net-rdma").count();
    assert_measured_of(&run, 1, cells);
    assert!(has_rdma || said.err.contains("no RDMA device here"), "{said:#?}");
    for proto in ["tcp", "udp"] {
        for size in ["64", "1KiB", "16KiB"] {
            let cell = format!("proto={proto};size={size};mode=spin");
            let rtt = value(&run, "net-rtt", "rtt", &cell);
            // Between a memory access and a second.
            assert!((1e-7..1.0).contains(&rtt), "{cell}: {rtt}");
            let one_way = value(&run, "net-rtt", "one-way", &cell);
            assert!((one_way * 2.0 - rtt).abs() < 1e-9, "{cell}: {one_way} {rtt}");
        }
        assert!(value(&run, "net-rtt", "rtt", &format!("proto={proto};mode=block")) > 0.0);
    }
    let may_ping = root() || run.rows().any(|series| series.key.instrument == "net-ping");
    if may_ping {
        assert!((1e-7..1.0).contains(&value(&run, "net-ping", "rtt", "")));
    } else {
        cannot("echo requests are not allowed");
    }
    for (instrument, metric, params) in [
        ("net-bandwidth", "bandwidth", "direction=send"),
        ("net-bandwidth", "bandwidth", "direction=receive"),
        ("net-connect", "connection-rate", ""),
        ("net-packets", "packet-rate", "size=64"),
    ] {
        assert!(value(&run, instrument, metric, params) > 10.0, "{metric} {params}");
    }
    assert!(
        said.out.contains("net tcp 64 B rtt") && said.out.contains(" more figures: boxscore show"),
        "{said:#?}"
    );
    let all = bench.run(&["show", "latest", "--all"]).out;
    assert!(all.contains("net connection-rate"), "{all}");
    let place = run.notes.iter().find(|note| note.kind() == "place").expect("where both ends ran");
    assert!(place.text().contains("the peer on CPU"), "{}", place.text());
}

#[test]
fn a_peer_serves_who_has_its_token() {
    let bench = Bench::new();
    std::fs::write(bench.path("token"), "open sesame\n").expect("a file");
    std::fs::write(bench.path("other"), "open barley\n").expect("a file");
    let peer = Peer::start(&bench, &["--token", "token", "--limit", "1KiB"]);
    let to = ["--to", &peer.address, "--test", "tcp-rtt", "--set", "mode=block"];
    run(&bench, &[&to[..], &["--token", "token", "--set", "size=64"]].concat()).expect(0, &[]);
    assert!(value(&bench.only(), "net-rtt", "rtt", &format!("to={}", peer.address)) > 0.0);
    for (more, why) in [
        (&["--set", "size=64"][..], "its token is another one"),
        (&["--token", "other", "--set", "size=64"], "its token is another one"),
        (&["--token", "token", "--set", "size=2KiB"], "1 to 1024 B"),
    ] {
        let said = run(&bench, &[&to[..], more].concat());
        let text = format!("{}{}", said.out, said.err);
        assert_eq!(said.code, Some(1), "{said:#?}");
        assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(why), "{why}: {said:#?}");
    }
    // No test of theirs was served, and the peer still is.
    run(&bench, &[&to[..], &["--token", "token", "--set", "size=64"]].concat()).expect(0, &[]);
}

#[test]
fn a_peer_that_is_not_there_is_said_before_anything_is_stored() {
    let bench = Bench::new();
    let port =
        std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
    let to = format!("127.0.0.1:{port}");
    let said = run(&bench, &["--to", &to]).expect(1, &["nothing was measured or stored", "`--test ping`"]);
    let remedy = format!("nothing listens at {to}; start it there: boxscore peer --listen 0.0.0.0:{port}");
    assert_eq!(said.err.matches(&remedy).count(), 1, "{said:#?}");
    assert!(bench.heads().is_empty());
}

#[test]
fn a_peer_that_dies_is_given_up_and_said_once() {
    let bench = Bench::new();
    let peer = Peer::start(&bench, &[]);
    let args = ["--to", &peer.address, "--set", "duration=50ms;size=64;mode=block", "--show-takes"];
    let args =
        [&["run", "net", "--takes", "40", "--no-report", "--quick", "--test", "tcp-rtt"][..], &args].concat();
    let more = ["--test", "connection-rate", "--test", "packet-rate"];
    let mut running = Running::start(bench.command(&[&args[..], &more].concat()));
    assert!(running.until("stored take 7"), "{:?}", running.heard);
    let address = peer.address.clone();
    drop(peer);
    let said = running.end().expect(3, &[]);
    let nothing = format!("nothing listens at {address}");
    let faults =
        said.err.lines().filter(|line| line.starts_with("fault: ") && line.contains(&nothing)).count();
    assert_eq!(faults, 1, "{said:#?}");
    let run = bench.only();
    let faulted = run.takes.iter().filter(|take| take.fault.is_some()).count();
    // The take in which it died, and three that looked for it.
    assert!((3..=4).contains(&faulted), "{faulted} of {}", run.takes.len());
    let given_up = run.notes.iter().filter(|note| note.kind() == "given-up").count();
    assert_eq!(given_up, run.plan.cells.len(), "{:?}", run.notes);
    let words = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(" more: nothing listens at") && words.contains("given up: "), "{words}");
}

#[test]
fn what_cannot_be_is_told_before_anything_is_stored() {
    let bench = Bench::new();
    run(&bench, &["--test", "udp-rtt", "--set", "size=4"]).expect(2, &["a datagram here has 8 to"]);
    run(&bench, &["--to", "a:0"]).expect(2, &["a port is 1 to 65535"]);
    run(&bench, &["--token", "none-such"]).expect(1, &["No such file"]);
    bench.run(&["run", "cpu", "--to", "a"]).expect(2, &["belongs to the family net"]);
    bench.run(&["peer", "--listen", "host"]).expect(2, &["not an address"]);
    bench.run(&["peer", "--listen", "192.0.2.1"]).expect(1, &["cannot listen on 192.0.2.1:7411"]);
    bench.run(&["peer", "--listen", "127.0.0.1:0", "--limit", "1TB"]).expect(2, &["--limit 1TB"]);
    assert!(!bench.store().exists() || bench.heads().is_empty());
}

#[test]
fn one_cpu_is_too_few_to_spin() {
    let bench = Bench::new();
    let said = run(&bench, &["--cpus", "0", "--test", "udp-rtt", "--set", "mode=spin;size=64"]);
    said.expect(2, &["keeps 2 threads busy and 1 CPU is allowed", "mode=block"]);
    run(&bench, &["--cpus", "0", "--test", "udp-rtt", "--set", "mode=block;size=64"]).expect(0, &[]);
}

/// The far end of a run that is killed does not outlive it.
#[test]
fn the_child_goes_with_the_run() {
    let bench = Bench::new();
    let args = [&ONE[..], &["--test", "bandwidth", "--set", "duration=30", "--show-takes"]].concat();
    let mut run =
        bench.command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let is_peer = |pid: &u32| {
        let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.contains("peer\0--child")
    };
    let end = std::time::Instant::now() + crate::common::PATIENCE;
    let peer = loop {
        let found = children(run.id()).into_iter().flat_map(children).find(is_peer);
        if let Some(pid) = found {
            break pid;
        }
        assert!(std::time::Instant::now() < end, "no peer was started");
        std::thread::sleep(std::time::Duration::from_millis(10));
    };
    run.kill().expect("it can be killed");
    run.wait().expect("a child");
    assert_gone(peer);
}

#[test]
fn a_loopback_that_is_down_is_named() {
    if !root() {
        return cannot("network namespaces need root");
    }
    let bench = Bench::new();
    let space = match Namespace::new("lo") {
        Ok(space) => space,
        Err(why) => return cannot(&why),
    };
    let inside = ["ip", "netns", "exec", &space.0];
    let args = [&ONE[..], &["--test", "tcp-rtt", "--set", "size=64"]].concat();
    let said = crate::common::said(&mut bench.behind(&inside, &args));
    assert_eq!(said.code, Some(1), "{said:#?}");
    let text = format!("{}{}", said.out, said.err).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("the loopback does not work") && text.contains("ip link set lo up"), "{text}");
    space.ip("link set lo up").expect("it comes up");
    crate::common::said(&mut bench.behind(&inside, &args)).expect(0, &[]);
}

#[test]
fn a_child_that_is_told_nonsense_says_so() {
    let mut command = Command::new(PROGRAM);
    command.args(["peer", "--child"]).stdin(Stdio::null());
    crate::common::said(&mut command).expect(1, &["malformed options"]);
}
