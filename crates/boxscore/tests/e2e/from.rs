//! Load from other children by `--from`: shells, network namespaces, a CPU quota, and generators that fail.

use std::fs;

use crate::common::host::{Namespace, Quota, ip};
use crate::common::{Bench, PROGRAM, Running, Said, assert_whole, cannot};
use model::Value;
use model::data::{RunData, Status};

/// One cell, and few requests, so that what is counted is exact.
const WEB: [&str; 7] = [
    "run",
    "web",
    "--no-report",
    "--set",
    "server=builtin;content=gif;requests=301;connections=5;timeout=60",
    "--set",
    "arrivals=closed;load=auto;rate=auto;keepalive=on",
];

fn study(bench: &Bench, takes: &str, more: &[&str], from: &[String]) -> Said {
    let mut args: Vec<&str> =
        WEB.iter().copied().chain(["--takes", takes]).chain(more.iter().copied()).collect();
    from.iter().for_each(|from| args.extend(["--from", from.as_str()]));
    bench.run(&args)
}

fn notes<'a>(run: &'a RunData, kind: &str) -> Vec<std::borrow::Cow<'a, str>> {
    run.notes.iter().filter(|note| note.kind() == kind).map(|note| note.text()).collect()
}

fn faults(run: &RunData) -> Vec<&str> {
    run.takes.iter().filter_map(|take| take.fault.as_ref().map(model::Fault::as_str)).collect()
}

/// Answers that were timed in each take.
fn timed(run: &RunData) -> Vec<u64> {
    let series = run.series.iter().find(|series| series.key.metric == "response-times").expect("a series");
    let count = |value: &Value| match value {
        Value::Histogram(histogram) => histogram.count(),
        Value::Number(_) => panic!("not a histogram"),
    };
    series.points.iter().map(|point| count(&point.value)).collect()
}

#[test]
fn two_generators_share_the_requests_exactly() {
    let bench = Bench::new();
    let from = [PROGRAM.to_owned(), format!("b=sh -c 'exec \"$0\" \"$@\"' {PROGRAM}")];
    study(&bench, "2", &["--set", "generators=2"], &from).expect(0, &[]);
    let run = bench.only();
    assert_whole(&run, 2);
    // A warm-up and a take in each of two sittings.
    assert_eq!(timed(&run), [301; 4]);
    let said = notes(&run, "generators");
    assert_eq!(said.len(), 4);
    assert!(said.iter().all(|text| text.starts_with("2 generators started within ")), "{said:?}");
    let setup = notes(&run, "web-setup").join(" ");
    assert!(setup.contains("2 generators in processes of their own (gen1, b)"), "{setup}");
}

#[test]
fn one_of_two_may_send_alone_and_more_than_there_are_may_not() {
    let bench = Bench::new();
    study(&bench, "1", &["--set", "generators=1"], &[PROGRAM.to_owned(), PROGRAM.to_owned()]).expect(0, &[]);
    assert_eq!(timed(&bench.only()), [301, 301]);
    let bench = Bench::new();
    study(&bench, "1", &["--set", "generators=3"], &[PROGRAM.to_owned(), PROGRAM.to_owned()])
        .expect(1, &["3 generators are asked for, and 2 are given with --from"]);
}

#[test]
fn a_generator_that_cannot_be_started_is_named_before_anything_is_measured() {
    let bench = Bench::new();
    study(&bench, "1", &[], &[PROGRAM.to_owned(), "bad=/nowhere/boxscore".to_owned()]).expect(
        1,
        &["nothing was measured: generator bad (/nowhere/boxscore): the pipe", "exit code 127", " hint: "],
    );
    assert!(bench.heads().is_empty());
    let bench = Bench::new();
    let mut args = crate::common::ONE.to_vec();
    args.extend(["--from", PROGRAM]);
    bench.run(&args).expect(2, &["--from: nothing in this run sends load"]);
}

#[test]
fn a_generator_that_is_killed_makes_faults_that_name_it() {
    let bench = Bench::new();
    let pid = bench.path("pid");
    let from = format!("goes=echo $$ > {}; exec {PROGRAM}", pid.display());
    let mut args = WEB.to_vec();
    args.extend(["--takes", "60", "--sittings", "1", "--show-takes", "--set", "generators=2"]);
    args.extend(["--from", PROGRAM, "--from", from.as_str()]);
    let mut running = Running::start(bench.command(&args));
    assert!(running.until("stored take 2"), "{:?}", running.heard);
    let pid: u32 = fs::read_to_string(&pid).expect("its pid").trim().parse().expect("a number");
    crate::common::signal(pid, "KILL");
    running.end().expect(3, &["): lost: the pipe was closed; killed by signal 9"]);
    let run = bench.only();
    assert_eq!(run.head.status, Status::Faulty);
    let faults = faults(&run);
    assert!(!faults.is_empty() && faults.len() < 61, "{}", faults.len());
    let named =
        |fault: &&str| fault.starts_with("generator goes: it was lost: ") && !fault.contains("listen=");
    assert!(faults.iter().all(named), "{}", faults[0]);
    assert_eq!(timed(&run).len() + faults.len(), 61);
}

#[test]
fn generators_in_one_cpu_quota_say_so_and_share_it() {
    let quota = match Quota::new(2500) {
        Ok(quota) => quota,
        Err(why) => return cannot(&why),
    };
    let bench = Bench::new();
    let from = ["tight", "beside"]
        .map(|name| format!("{name}=echo $$ > {}/cgroup.procs; exec {PROGRAM}", quota.0.display()));
    study(&bench, "1", &["--set", "generators=2"], &from).expect(0, &[]);
    let run = bench.only();
    let said = notes(&run, "generators");
    let says = |text: &std::borrow::Cow<'_, str>| {
        text.ends_with("; tight and beside share a CPU quota of 0.25 cores")
    };
    assert!(!said.is_empty() && said.iter().all(says), "{said:?}");
    let share = run.series.iter().find(|series| series.key.metric == "generator-share").expect("a share");
    assert!(share.measured().iter().all(|share| *share > 0.0 && *share <= 1.0), "{:?}", share.measured());
}

/// A server's namespace, with one for each of two generators, each on a link of its own. The server's address is behind
/// the links: it belongs to none of them.
struct Net {
    server: Namespace,
    generators: [Namespace; 2],
}

const SERVER: &str = "10.253.0.1";

impl Net {
    fn new() -> Result<Net, String> {
        let net = Net {
            server: Namespace::new("server")?,
            generators: [Namespace::new("gen-1")?, Namespace::new("gen-2")?],
        };
        net.server.ip("link set lo up")?;
        net.server.ip(&format!("address add {SERVER}/32 dev lo"))?;
        for (at, generator) in net.generators.iter().enumerate() {
            let (inner, outer) = (format!("bxtg{at}"), format!("bxts{at}"));
            net.server.ip(&format!("link add {outer} type veth peer name {inner} netns {}", generator.0))?;
            net.server.ip(&format!("address add 10.253.{}.1/24 dev {outer}", at + 1))?;
            net.server.ip(&format!("link set {outer} up"))?;
            generator.ip(&format!("address add 10.253.{}.2/24 dev {inner}", at + 1))?;
            generator.ip("link set lo up")?;
            generator.ip(&format!("link set {inner} up"))?;
            generator.ip(&format!("route add {SERVER} via 10.253.{}.1", at + 1))?;
        }
        Ok(net)
    }

    fn from(&self) -> [String; 2] {
        self.generators.each_ref().map(|space| format!("ip netns exec {} {PROGRAM}", space.0))
    }

    fn via(&self) -> String {
        format!("server=ip netns exec {} {PROGRAM}", self.server.0)
    }
}

#[test]
fn generators_in_namespaces_of_their_own_load_a_server_in_a_third() {
    let net = match ip("-V").and_then(|()| Net::new()) {
        Ok(net) => net,
        Err(why) => return cannot(&why),
    };
    let via = net.via();
    let bench = Bench::new();
    let listen = format!("generators=2;listen={SERVER}");
    study(&bench, "2", &["--via", &via, "--set", &listen], &net.from()).expect(0, &[]);
    let run = bench.only();
    assert_whole(&run, 2);
    assert_eq!(timed(&run), [301; 4]);
    // The usual address is each namespace's own: the run says what to do.
    let bench = Bench::new();
    study(&bench, "1", &["--via", &via, "--set", "generators=2"], &net.from())
        .expect(1, &["generator gen", "127.0.0.1", "--set listen=ADDRESS", "nothing was measured"]);
}
