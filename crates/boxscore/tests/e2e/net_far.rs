//! The far end of tests of the network in a child that the run starts (`--far`): on this host, in another network
//! namespace behind a wire, killed, and where it cannot listen.

use std::fs;

use crate::common::relay::Wire;
use crate::common::{Bench, PROGRAM, Running, assert_gone, assert_measured, cannot, root};
use model::Value;
use model::data::{RunData, Status};

const RTT: [&str; 10] = [
    "run",
    "net",
    "--no-report",
    "--test",
    "tcp-rtt",
    "--test",
    "bandwidth",
    "--set",
    "mode=block;size=64",
    "--set",
];
const SHORT: &str = "direction=send;streams=1;duration=250ms";

fn notes<'a>(run: &'a RunData, kind: &str) -> Vec<std::borrow::Cow<'a, str>> {
    run.notes.iter().filter(|note| note.kind() == kind).map(|note| note.text()).collect()
}

/// A command that leaves its pid in a file and becomes the program.
fn told(bench: &Bench, before: &str) -> (String, std::path::PathBuf) {
    let pid = bench.path("pid");
    (format!("box2=echo $$ > {}; exec {before} {PROGRAM}", pid.display()), pid)
}

fn pid(path: &std::path::Path) -> u32 {
    fs::read_to_string(path).expect("its pid").trim().parse().expect("a number")
}

#[test]
fn a_child_here_is_the_far_end_and_goes_with_the_run() {
    let bench = Bench::new();
    let (far, path) = told(&bench, "");
    let args = [&RTT[..], &[SHORT, "--takes", "2", "--to", "127.0.0.1", "--far", &far]].concat();
    bench.run(&args).expect(0, &[]);
    let run = bench.only();
    assert_measured(&run, 2);
    let rtt = run.rows().find(|series| series.key.metric == "rtt").expect("round trips");
    let wanted = [("far", Some("box2")), ("to", Some("127.0.0.1"))];
    assert_eq!(wanted.map(|(key, _)| (key, rtt.key.params.get(key))), wanted);
    assert!(rtt.measured().iter().all(|rtt| (1e-7..1.0).contains(rtt)), "{:?}", rtt.measured());
    let place = notes(&run, "place");
    assert!(place.iter().all(|text| text.contains("the peer is box2, a child of this study")), "{place:?}");
    // Two figures, prepared in each of two sittings.
    assert_eq!(place.len(), 4);
    assert_gone(pid(&path));
    // The plan starts it again.
    let id = run.head.id.clone();
    bench.run(&["run", "--plan", &id, "--no-report"]).expect(0, &[]);
    assert_eq!(bench.heads().len(), 2);
}

#[test]
fn what_cannot_be_is_told() {
    let bench = Bench::new();
    let to = |more: &[&str]| bench.run(&[&["run", "net", "--test", "tcp-rtt", "--no-report"], more].concat());
    to(&["--far", PROGRAM]).expect(2, &["--far needs --to", "run net --to 10.0.0.2 --far"]);
    to(&["--far", " ", "--to", "a"]).expect(2, &["the command must not be empty"]);
    to(&["--far", PROGRAM, "--to", "a", "--from", PROGRAM]).expect(2, &["cannot be used with"]);
    to(&["--far", PROGRAM, "--to", "a", "--token", "t"]).expect(2, &["cannot be used with"]);
    bench.run(&["run", "cpu", "--far", PROGRAM]).expect(2, &["--far belongs to the family net"]);
    bench
        .run(&["run", "net", "web", "--far", PROGRAM, "--to", "127.0.0.1"])
        .expect(2, &["web would take it for a generator of load"]);
    to(&["--far", "bad=/nowhere/boxscore", "--to", "127.0.0.1"]).expect(
        1,
        &["nothing was measured: far end bad (/nowhere/boxscore): the pipe", "exit code 127", " hint: "],
    );
    assert!(!bench.store().exists() || bench.heads().is_empty());
    // An address of nobody here.
    let said = to(&["--far", PROGRAM, "--to", "192.0.2.1", "--takes", "1"]);
    let text = said.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(said.code, Some(1), "{said:#?}");
    assert!(text.contains("the far end far: cannot listen on 192.0.2.1:0"), "{text}");
    assert!(text.contains("--to names an address that the far end's host has"), "{text}");
    let said = to(&["--set", "far=box2", "--to", "127.0.0.1", "--takes", "1"]);
    let text = said.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.code == Some(1) && text.contains("give --far 'box2=COMMAND'"), "{said:#?}");
}

#[test]
fn a_far_end_that_is_killed_makes_faults_that_name_it() {
    let bench = Bench::new();
    let (far, path) = told(&bench, "");
    let args =
        [&RTT[..], &[SHORT, "--takes", "40", "--show-takes", "--to", "127.0.0.1", "--far", &far]].concat();
    let mut running = Running::start(bench.command(&args));
    assert!(running.until("stored take 6"), "{:?}", running.heard);
    crate::common::signal(pid(&path), "KILL");
    running.end().expect(3, &["far end box2 (", "lost: the pipe was closed; killed by signal 9"]);
    let run = bench.only();
    assert_eq!(run.head.status, Status::Faulty);
    let faults: Vec<&str> =
        run.takes.iter().filter_map(|take| take.fault.as_ref().map(model::Fault::as_str)).collect();
    assert!(!faults.is_empty() && faults.len() < run.takes.len(), "{} faults", faults.len());
    // On a busy machine a take may have failed before.
    let named = |fault: &&str| fault.contains("the far end box2: it was lost: ");
    let since: Vec<&&str> = faults.iter().skip_while(|fault| !named(fault)).collect();
    assert!(!since.is_empty() && since.into_iter().all(named), "{faults:#?}");
}

/// One that hangs is waited for once, not in each take.
#[test]
fn a_far_end_that_hangs_is_given_up() {
    let bench = Bench::new();
    let (far, path) = told(&bench, "");
    let args = [
        &["run", "net", "--no-report", "--test", "tcp-rtt", "--set", "mode=block;size=64", "--show-takes"],
        &["--takes", "30", "--to", "127.0.0.1", "--far", &far][..],
    ]
    .concat();
    let mut running = Running::start(bench.command(&args));
    assert!(running.until("stored take 3"), "{:?}", running.heard);
    let pid = pid(&path);
    crate::common::signal(pid, "STOP");
    running.end().expect(3, &["far end box2 ("]);
    let run = bench.only();
    let faults: Vec<&str> =
        run.takes.iter().filter_map(|take| take.fault.as_ref().map(model::Fault::as_str)).collect();
    assert!(faults.iter().all(|fault| fault.contains("the far end box2: it was lost: ")), "{faults:#?}");
    assert_gone(pid);
}

#[test]
fn behind_a_wire_the_far_end_is_a_child_in_another_namespace() {
    if !root() {
        return cannot("network namespaces need root");
    }
    let wire = match Wire::new() {
        Ok(wire) => wire,
        Err(why) => return cannot(&why),
    };
    let delay_ns = 2_000_000;
    wire.plant(delay_ns, 0, 0);
    let bench = Bench::new();
    let (far, path) = told(&bench, &format!("ip netns exec {}", wire.far.0));
    let inside = ["ip", "netns", "exec", &wire.near.0];
    let args = [&RTT[..], &[SHORT, "--takes", "1", "--to", "10.77.0.2", "--far", &far]].concat();
    // The program in this namespace, both ends in namespaces of their own.
    let near = format!("near={} {PROGRAM}", inside.join(" "));
    bench.run(&[&args[..], &["--via", &near]].concat()).expect(0, &[]);
    let run = bench.only();
    assert_measured(&run, 1);
    for series in run.rows().filter(|series| series.key.metric == "rtt") {
        let Some(Value::Number(rtt)) = series.points.last().map(|point| &point.value) else {
            panic!("no round trips")
        };
        // There and back.
        assert!(*rtt * 1e9 >= 2.0 * delay_ns as f64, "{rtt}");
    }
    assert_gone(pid(&path));
    // At a port that the user names, started from within.
    let bench = Bench::new();
    let (far, _) = told(&bench, &format!("nsenter --net=/run/netns/{}", wire.far.0));
    let args = [&RTT[..], &[SHORT, "--takes", "1", "--to", "10.77.0.2:7500", "--far", &far]].concat();
    crate::common::said(&mut bench.behind(&inside, &args)).expect(0, &[]);
}
