//! Planted loads whose bottleneck is known.

use model::data::RunData;
use model::frame::Segment;
use model::{Fact, Phase, Unit, Value};
use proptest::prelude::*;

use super::*;
use crate::loads::planted::{empty, load, one, params, series, times};
use crate::run_index::RunContext;

mod behind;
mod held;
mod proved;
mod quota;
mod shared;
mod target_host;

fn docs(run: &RunData) -> Vec<BottleneckDoc> {
    bottlenecks(&RunIndex::new(run, &RunContext { cards: instruments::cards(), ..RunContext::default() }))
}

fn first(run: &RunData) -> BottleneckDoc {
    docs(run).remove(0)
}

/// A closed loop on a server with these cores, as (role, busy, user, system, softirq).
fn on_cores(given: &str, figures: &[(&str, f64)], cores: &[(&str, [f64; 4])]) -> RunData {
    let mut all: Vec<(String, f64)> =
        figures.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    for (cpu, (role, shares)) in cores.iter().enumerate() {
        for (metric, share) in ["busy", "user", "system", "softirq"].iter().zip(shares) {
            all.push((format!("core-{metric};cpu={cpu};role={role}"), *share));
        }
    }
    let all: Vec<(&str, f64)> = all.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    one(given, &all)
}

const PLAIN: &[(&str, f64)] = &[
    ("throughput", 60e3),
    ("response-time", 800e-6),
    ("generator-share", 0.6),
    ("generator-cpu", 10e-6),
    ("server-cpu", 14e-6),
];

#[test]
fn the_one_core_of_a_server() {
    let cores = [
        ("server", [0.97, 0.2, 0.5, 0.27]),
        ("generator", [0.62, 0.2, 0.4, 0.02]),
        ("other", [0.02, 0.0, 0.0, 0.0]),
    ];
    let doc = first(&on_cores("connections=50;server=nginx", PLAIN, &cores));
    assert_eq!((doc.kind, doc.resource.as_str()), (Binding::Core, "cpu0"));
    let sentence =
        "bound by cpu0, the one core of the server (nginx) (97 % busy: user 20 %, system 50 %, softirq 27 %)";
    assert_eq!(doc.sentence, sentence);
    assert!(
        doc.evidence[0].contains("14.0 us of CPU a request, by which its 1 core could do up to 71.4 k/s")
    );
    assert_eq!(doc.counter_evidence, ["1 idle core of the machine did not serve"]);
    assert_eq!(doc.resources[0].text, "cpu0 (server) 97 % busy: user 20 %, system 50 %, softirq 27 %");
    assert!(doc.resources.iter().any(|one| one.kind == Binding::Generator && one.share.is_some()));
}

#[test]
fn other_programs_on_the_servers_core() {
    let mut figures = PLAIN.to_vec();
    figures.push(("server-cores", 0.37));
    let doc =
        first(&on_cores("connections=50;server=nginx", &figures, &[("server", [0.99, 0.54, 0.33, 0.12])]));
    let says = "bound by other programs on cpu0: the server (nginx) got 0.370 cores of 1, others 0.500; end them and \
                repeat";
    assert_eq!(doc.sentence, says);
    // A server that hardly asks for CPU time gets it.
    figures[5].1 = 0.03;
    let doc =
        first(&on_cores("connections=50;server=nginx", &figures, &[("server", [0.99, 0.54, 0.33, 0.12])]));
    assert_eq!(doc.kind, Binding::Waiting);
    assert!(
        doc.sentence.ends_with("it used 0.0300 cores of 1 itself, other programs 0.840"),
        "{}",
        doc.sentence
    );
    // One that is ready most of the time does not get it.
    figures.push(("server-thread-wait", 0.54));
    figures.push(("server-thread-share", 0.03));
    let doc =
        first(&on_cores("connections=50;server=nginx", &figures, &[("server", [0.99, 0.54, 0.33, 0.12])]));
    assert_eq!(doc.kind, Binding::Others);
    assert!(doc.evidence.iter().any(|one| one.contains("waited 54 % for a CPU")), "{doc:?}");
    figures.truncate(6);
    // What the kernel did for its packets is not others' work.
    figures[5].1 = 0.8;
    let doc = first(&on_cores("connections=50", &figures, &[("server", [0.99, 0.54, 0.33, 0.12])]));
    assert!(doc.sentence.contains("the one core of the server"), "{}", doc.sentence);
}

#[test]
fn softirq_on_one_core() {
    let cores = [("server", [0.98, 0.01, 0.0, 0.97]), ("server", [0.69, 0.2, 0.4, 0.09])];
    let doc = first(&on_cores("url=http://10.0.0.2/;connections=50", PLAIN, &cores));
    assert_eq!((doc.kind, doc.resource.as_str()), (Binding::Softirq, "cpu0"));
    let says =
        "bound by softirq on cpu0 (97 % of one core; the other core 31 % idle): spread the NIC's interrupts";
    assert_eq!(doc.sentence, says);
    // On the loopback there is no NIC.
    let doc = first(&on_cores("connections=50", PLAIN, &cores));
    assert!(doc.sentence.ends_with("give the server more cores"), "{}", doc.sentence);
    // A smaller part of a busy core does not bind it.
    let cores = [("server", [0.98, 0.2, 0.45, 0.33]), ("server", [0.97, 0.2, 0.5, 0.2])];
    assert_eq!(first(&on_cores("connections=50", PLAIN, &cores)).kind, Binding::Cores);
}

#[test]
fn one_thread_of_several_cores() {
    let mut figures = PLAIN.to_vec();
    figures.push(("server-thread-share", 0.98));
    let idle = [0.1, 0.05, 0.05, 0.0];
    let cores = [("server", [0.96, 0.5, 0.4, 0.06]), ("server", idle), ("server", idle), ("server", idle)];
    let doc = first(&on_cores("connections=50", &figures, &cores));
    assert_eq!(doc.kind, Binding::Thread);
    assert_eq!(
        doc.sentence,
        "bound by one thread of the server (98 % of one core; the other 3 cores 90 % idle): a one-thread limit"
    );
}

#[test]
fn the_generator() {
    let figures = [("throughput", 60e3), ("response-time", 800e-6), ("generator-share", 0.98)];
    let cores = [("server", [0.6, 0.2, 0.3, 0.1]), ("generator", [0.99, 0.3, 0.6, 0.09])];
    let doc = first(&on_cores("connections=50", &figures, &cores));
    assert_eq!((doc.kind, doc.share.map(|share| share > 0.97)), (Binding::Generator, Some(true)));
    assert!(
        doc.sentence
            .starts_with("bound by the load generator (the generator on cpu1 works 98 % of its time)")
    );
    // A server's core that is fuller still comes first, and the generator speaks against it.
    let cores = [("server", [0.9, 0.3, 0.5, 0.1]), ("generator", [0.99, 0.3, 0.6, 0.09])];
    let figures = [figures[0], figures[1], ("generator-share", 0.88)];
    let doc = first(&on_cores("connections=50", &figures, &cores));
    assert_eq!(doc.kind, Binding::Core);
    assert!(
        doc.counter_evidence.iter().any(|text| text.contains("generator's busiest core 88 %")),
        "{doc:?}"
    );
}

#[test]
fn a_capped_generator_is_told_by_a_second_one() {
    let mut run = empty();
    for (generators, throughput) in [(1, 10e3), (2, 13.8e3)] {
        let figures = [
            ("throughput", throughput),
            ("response-time", 1e-3),
            ("generator-share", 0.25),
            ("core-busy;cpu=0;role=server", 0.4),
        ];
        load(&mut run, &format!("connections=50;generators={generators}"), &figures);
    }
    let docs = docs(&run);
    assert_eq!(docs.iter().map(|doc| doc.kind).collect::<Vec<_>>(), [Binding::Generator; 2]);
    assert!(docs[1].sentence.contains("2 generators reach 38 % more"), "{}", docs[1].sentence);
    assert!(docs[1].counter_evidence[0].contains("25 %"));
    assert!(docs[0].throughput > docs[1].throughput, "the highest first");
}

#[test]
fn a_core_that_both_share() {
    let doc = first(&on_cores("connections=50", PLAIN, &[("both", [0.99, 0.4, 0.5, 0.09])]));
    assert_eq!(doc.kind, Binding::Shared);
    assert!(
        doc.sentence.contains("cpu0, on which the server and the generator both run (99 % busy)"),
        "{}",
        doc.sentence
    );
}

#[test]
fn a_server_that_limits_its_rate_is_named() {
    let figures =
        [("throughput", 500.0), ("generator-share", 0.02), ("generator-cpu", 20e-6), ("server-cpu", 30e-6)];
    let cores = [("server", [0.12, 0.02, 0.06, 0.04]), ("generator", [0.03, 0.01, 0.01, 0.01])];
    let given = "connections=50;server=nginx;limit-rate=100000";
    let mut run = on_cores(given, &figures, &cores);
    let seqs: Vec<u64> = run.takes.iter().map(|take| take.seq).collect();
    for metric in ["response-times", "service-times"] {
        times(&mut run, &seqs, metric, given, &[(100_000, 50)]);
    }
    // More connections would reach more, and yet it is the server that waits.
    load(&mut run, &given.replace("=50", "=10"), &[("throughput", 100.0), ("response-time", 0.1)]);
    let doc = first(&run);
    assert_eq!(doc.kind, Binding::Waiting);
    assert_eq!(doc.sentence, "waiting for the server (nginx): 100 % of response time; no core above 12 %");
    assert!(
        doc.advice[0].contains("100000 B/s for each answer") && doc.evidence[0].contains("CPU time"),
        "{doc:?}"
    );
}

#[test]
fn a_slow_handler_of_one_thread_is_seen_by_its_queue() {
    let mut run = empty();
    for (connections, response) in [(1, 2e-3), (50, 100e-3)] {
        let figures = [
            ("throughput", 499.0),
            ("response-time", response),
            ("server-cpu", 30e-6),
            ("core-busy;cpu=0;role=server", 0.02),
        ];
        load(&mut run, &format!("connections={connections}"), &figures);
    }
    let docs = docs(&run);
    let says = "requests are served one at a time behind the server (499 /s whatever the connections; each takes 2.00 ms \
                alone): a lock, or one thread of an application behind it";
    assert!(docs.iter().all(|doc| doc.kind == Binding::Serial && doc.sentence == says), "{docs:?}");
    assert!(docs.iter().all(|doc| !format!("{doc:?}").contains("could do up to")), "{docs:?}");
}

#[test]
fn few_connections_bind_themselves() {
    let mut run = empty();
    for (connections, throughput, busy) in [(1, 20e3, 0.3), (10, 50e3, 0.9)] {
        let figures = [
            ("throughput", throughput),
            ("response-time", f64::from(connections) / throughput),
            ("server-cpu", 14e-6),
            ("generator-cpu", 10e-6),
            ("core-busy;cpu=0;role=server", busy),
        ];
        load(&mut run, &format!("connections={connections}"), &figures);
    }
    let docs = docs(&run);
    assert_eq!((docs[0].kind, docs[1].kind), (Binding::Core, Binding::Connections));
    assert_eq!(
        docs[1].sentence,
        "bound by its one connection (an answer takes 50.0 us, which makes 20.0 k/s; 10 connections reach 150 % \
         more): use more connections"
    );
}

#[test]
fn a_load_of_few_requests_has_no_bottleneck() {
    let of = |seconds: f64, requests: u64| {
        let mut run = empty();
        let figures = [
            ("throughput", 1000.0),
            ("response-time", 1e-3),
            ("answering-time", seconds),
            ("core-busy;cpu=0;role=server", 0.9),
            ("generator-share", 0.88),
        ];
        let seqs = load(&mut run, "connections=1", &figures);
        times(&mut run, &seqs[..1], "response-times", "connections=1", &[(1000, requests)]);
        // Nor is it a lower bound.
        let context = RunContext { cards: instruments::cards(), ..RunContext::default() };
        let index = RunIndex::new(&run, &context);
        let is_bound = crate::loads::sweep::generator(&index.loads()[0], index.loads()).is_bound();
        assert_eq!(is_bound, index.loads()[0].too_short().is_none());
        first(&run)
    };
    let short = of(1e-4, 500);
    assert_eq!(short.kind, Binding::Unknown);
    assert!(
        short.sentence.starts_with("too short to tell what binds: 500 requests in "),
        "{}",
        short.sentence
    );
    assert!(short.advice.is_empty() && short.resources.is_empty());
    let few = of(5.0, 4);
    assert!(few.sentence.starts_with("too short to tell what binds: 4 requests in "), "{}", few.sentence);
    assert_eq!(of(5.0, 5).kind, Binding::Core);
}

#[test]
fn an_open_loop_that_is_served_binds_nothing() {
    let of = |throughput: f64, busy: f64| {
        let figures = [
            ("throughput", throughput),
            ("offered-load", 30e3),
            ("response-time", 1e-4),
            ("core-busy;cpu=0;role=server", busy),
        ];
        first(&one("arrivals=poisson;load=50%", &figures))
    };
    let held = of(29.9e3, 0.52);
    assert_eq!(held.sentence, "serves all that is offered (30.0 k/s); nearest its ceiling: cpu0 52 % busy");
    let short = of(25e3, 0.99);
    assert_eq!(short.kind, Binding::Core);
    assert!(short.evidence.iter().any(|text| text == "only 25.0 k/s of the 30.0 k/s offered were answered"));
}

#[test]
fn what_binds_goes_before_what_was_only_asked_for() {
    let mut run = empty();
    let busy = |throughput: f64| {
        [("throughput", throughput), ("response-time", 1e-3), ("core-busy;cpu=0;role=server", 0.98)]
    };
    load(&mut run, "connections=10", &busy(50e3));
    load(&mut run, "connections=50", &busy(60e3));
    let offered = [("throughput", 61e3), ("offered-load", 61e3), ("response-time", 1e-3)];
    load(&mut run, "arrivals=poisson;load=100%;connections=50", &offered);
    let kinds: Vec<(Binding, bool)> =
        docs(&run).iter().map(|doc| (doc.kind, doc.throughput > Some(59e3))).collect();
    assert_eq!(kinds, [(Binding::Core, true), (Binding::Core, false), (Binding::Offered, true)]);
}

#[test]
fn the_wait_for_a_free_connection_is_not_the_servers() {
    let given = "arrivals=poisson;load=110%;connections=50";
    let figures = [
        ("throughput", 5e3),
        ("offered-load", 6e3),
        ("server-cpu", 20e-6),
        ("generator-cpu", 10e-6),
        ("core-busy;cpu=0;role=server", 0.1),
    ];
    let mut run = one(given, &figures);
    let seqs: Vec<u64> = run.takes.iter().map(|take| take.seq).collect();
    times(&mut run, &seqs, "response-times", given, &[(100_000, 50)]);
    times(&mut run, &seqs, "service-times", given, &[(10_000, 50)]);
    let doc = first(&run);
    assert_eq!(doc.sentence, "waiting for the server: 100 % of service time; no core above 10 %");
    assert!(
        doc.evidence.iter().any(|text| text.contains("waited 90.0 ms of 100 ms for a free connection")),
        "{doc:?}"
    );
}

#[test]
fn disks_memory_and_stalls() {
    let of = |more: &[(&str, f64)]| {
        let figures = [
            &[("throughput", 300.0), ("response-time", 0.1), ("disk-read", 400e6), ("window", 1.0)][..],
            &[("server-read", 390e6), ("server-written", 0.0)],
            more,
        ]
        .concat();
        let cores = [("server", [0.3, 0.1, 0.1, 0.1])];
        first(&on_cores("connections=50;memory=512M", &figures, &cores))
    };
    let doc = of(&[("disk-busy;disk=sda", 0.97), ("io-pressure", 0.8), ("memory-pressure", 0.02)]);
    assert_eq!((doc.kind, doc.resource.as_str()), (Binding::Disk, "sda"));
    assert_eq!(doc.evidence, ["381 MiB read from disks in each take"]);
    let doc = of(&[("disk-busy;disk=sda", 0.5), ("memory-pressure", 0.4)]);
    assert_eq!(doc.kind, Binding::Memory);
    assert!(doc.evidence[0].contains("limited to 512M"), "{doc:?}");
    assert_eq!(of(&[("io-pressure", 0.5)]).kind, Binding::Io);
    assert_eq!(of(&[("cpu-pressure", 0.7)]).kind, Binding::RunQueue);
}

#[test]
fn a_quota_that_stopped_the_takes() {
    let mut run = on_cores("connections=50", PLAIN, &[("server", [0.5, 0.2, 0.2, 0.1])]);
    let points: Vec<(u64, Value)> = (0..8).map(|seq| (seq, Value::Number(5.0))).collect();
    series(&mut run, "conditions", "throttled", params(""), "", &points);
    run.facts.push(Fact::number("cgroup.cpu.quota", 0.5, Unit::Count, "cpu.max"));
    assert!(run.series.iter().all(|one| one.points.iter().all(|point| point.phase == Phase::Measured)));
    let doc = first(&run);
    assert_eq!(doc.kind, Binding::Quota);
    assert!(
        doc.sentence.contains("quota of 0.500 CPUs of boxscore's own control group (8 of 8 takes"),
        "{}",
        doc.sentence
    );
}

#[test]
fn a_full_link() {
    let mut run = on_cores("url=http://10.0.0.2/;connections=4", PLAIN, &[]);
    run.facts.push(Fact::number("nic.eth0.speed", 125e6, Unit::BytesPerSec, "speed"));
    run.telemetry.push(Segment {
        source: "net-use".into(),
        columns: vec![
            ("received{interface=eth0}".into(), "B/s".into()),
            ("sent{interface=eth0}".into(), "B/s".into()),
        ],
        at_ns: vec![500_000_000, 1_500_000_000, 100_000_000_000],
        rows: vec![vec![Some(118e6), Some(1e6)], vec![Some(118e6), None], vec![Some(0.0), Some(0.0)]],
    });
    let doc = first(&run);
    assert_eq!((doc.kind, doc.resource.as_str()), (Binding::Link, "eth0"));
    assert!(doc.sentence.contains("118 MB/s of 125 MB/s in, 94 %"), "{}", doc.sentence);
}

#[test]
fn a_limit_of_the_kernel_where_nothing_is_full() {
    let mut figures = PLAIN.to_vec();
    figures.extend([("drops;counter=listen-overflow", 40.0), ("requests", 1000.0)]);
    let doc = first(&on_cores("connections=1000", &figures, &[("server", [0.5, 0.2, 0.2, 0.1])]));
    assert_eq!((doc.kind, doc.resource.as_str()), (Binding::KernelLimit, "net.core.somaxconn"));
    let doc = first(&on_cores("connections=1000", &figures, &[("server", [0.95, 0.4, 0.4, 0.15])]));
    assert_eq!(doc.kind, Binding::Core);
    assert!(doc.counter_evidence.iter().any(|text| text.contains("320 times the queue")), "{doc:?}");
}

#[test]
fn nothing_known_is_said_so() {
    let doc = first(&one("connections=50", &[("throughput", 5.0)]));
    assert_eq!((doc.kind, doc.evidence.len(), doc.share), (Binding::Unknown, 0, None));
    assert!(docs(&empty()).is_empty());
}

proptest! {
    /// Whatever was read: a sentence on one line, and no share or number that is not one.
    #[test]
    fn every_load_has_a_sentence(
        values in proptest::collection::vec(prop_oneof![Just(f64::NAN), Just(0.0), -1.0f64..2.0, 0.0f64..1e9], 12),
        closed: bool,
    ) {
        let names = [
            "throughput", "response-time", "generator-share", "generator-cpu", "server-cpu", "server-thread-share",
            "core-busy;cpu=0;role=server", "core-softirq;cpu=0;role=server", "core-busy;cpu=1;role=server",
            "disk-busy;disk=a", "memory-pressure", "offered-load",
        ];
        let figures: Vec<(&str, f64)> = names.into_iter().zip(values).collect();
        let given = if closed { "connections=7;arrivals=closed" } else { "connections=7;arrivals=poisson;load=50%" };
        let doc = first(&one(given, &figures));
        prop_assert!(!doc.sentence.is_empty() && !doc.sentence.contains('\n') && !doc.sentence.contains("NaN"));
        prop_assert!(doc.share.is_none_or(f64::is_finite));
        prop_assert!(doc.resources.iter().all(|one| one.share.is_none_or(f64::is_finite)));
    }
}

/// Numbers of a load of 10 s whose last answer came after `last` s.
fn until(last: f64, more: &[(&'static str, f64)]) -> Vec<(&'static str, f64)> {
    let mut figures = PLAIN.to_vec();
    figures.extend([("window", 10.0), ("answering-time", last), ("requests", 400e3), ("server-cores", 0.3)]);
    figures.extend(more);
    figures
}

#[test]
fn a_server_that_was_killed() {
    let figures = until(6.66, &[("failed;kind=connect", 600.0), ("failed;kind=reset", 10.0)]);
    // Other programs on its core do not explain that nothing answers.
    let run =
        on_cores("connections=10;url=http://127.0.0.1:8/", &figures, &[("other", [0.97, 0.5, 0.4, 0.0])]);
    let doc = first(&run);
    assert_eq!(doc.kind, Binding::Silent);
    assert_eq!(
        doc.sentence,
        "the server at 127.0.0.1:8 stopped answering after 6.66 s of 10.0 s: 4800 connect (nothing accepts \
         connections there) and 80 reset (connections were reset)"
    );
    assert!(doc.advice[0].contains("why it ended"), "{doc:?}");
}

#[test]
fn a_server_that_hangs() {
    let figures =
        until(2.0, &[("failed;kind=timeout", 10.0), ("silent-server-cores", 0.0), ("in-flight", 8.3)]);
    let mut run = on_cores("connections=10", &figures, &[("server", [0.99, 0.5, 0.4, 0.0])]);
    let text = "process 7 (nginx) is stopped by a signal".to_owned();
    run.notes.push(model::Note { body: model::NoteBody::ServerSilent(text.clone()), at_ns: Some(1) });
    let doc = first(&run);
    assert_eq!(doc.kind, Binding::Silent, "{doc:?}");
    assert!(
        doc.sentence.contains("after 2.00 s of 10.0 s: 80 timeout (no answer within"),
        "{}",
        doc.sentence
    );
    assert_eq!(doc.evidence[..2], [text, "its processes used no CPU time meanwhile".to_owned()]);
    assert!(doc.evidence[2].starts_with("8.30 requests were in flight"), "{doc:?}");
}

#[test]
fn a_server_that_answers_to_the_end_is_not_silent() {
    let kind = |last, more: &[(&'static str, f64)]| {
        let cores = [("server", [0.97, 0.5, 0.4, 0.07])];
        first(&on_cores("connections=10", &until(last, more), &cores)).kind
    };
    assert_ne!(kind(9.99, &[("failed;kind=reset", 10.0)]), Binding::Silent);
    // Bad answers are answers, and without a failure the load itself paused.
    assert_ne!(kind(6.0, &[("failed;kind=status_5xx", 10.0)]), Binding::Silent);
    assert_ne!(kind(6.0, &[]), Binding::Silent);
    // Three requests in ten seconds come far apart.
    let slow = [("window", 10.0), ("answering-time", 7.0), ("requests", 4.0), ("failed;kind=reset", 1.0)];
    let figures: Vec<(&str, f64)> = PLAIN.iter().chain(&slow).copied().collect();
    let doc = first(&on_cores("connections=1", &figures, &[("server", [0.97, 0.5, 0.4, 0.07])]));
    assert_ne!(doc.kind, Binding::Silent);
}

#[test]
fn a_core_that_the_hypervisor_takes() {
    let mut figures = PLAIN.to_vec();
    figures.extend([("core-busy;cpu=0;role=server", 0.6), ("core-steal;cpu=0;role=server", 0.4)]);
    figures.push(("core-busy;cpu=1;role=generator", 0.3));
    let doc = first(&one("connections=50;server=nginx", &figures));
    assert_eq!((doc.kind, doc.resource.as_str()), (Binding::Steal, "cpu0"));
    assert!(doc.share.is_some_and(|share| share > 0.99), "{doc:?}");
    assert_eq!(
        doc.sentence,
        "bound by steal on cpu0: the hypervisor gave 40 % of the time to others, the 60 % that were left were used up \
         by the server (nginx): take a machine with CPUs of its own"
    );
    // All of several.
    figures.extend([("core-busy;cpu=2;role=server", 0.7), ("core-steal;cpu=2;role=server", 0.3)]);
    let doc = first(&one("connections=50;server=nginx", &figures));
    assert!(
        doc.sentence.starts_with("bound by steal on the 2 server cores: the hypervisor gave 35 %"),
        "{doc:?}"
    );
    // With time left on the core nobody is robbed.
    let mut idle = PLAIN.to_vec();
    idle.extend([("core-busy;cpu=0;role=server", 0.3), ("core-steal;cpu=0;role=server", 0.4)]);
    assert_ne!(first(&one("connections=50;server=nginx", &idle)).kind, Binding::Steal);
}

#[test]
fn a_single_drop_binds_nothing() {
    let kind = |drops: f64| {
        let figures = [
            ("throughput", 1000.0),
            ("response-time", 10e-3),
            ("generator-cpu", 10e-6),
            ("requests", 10_000.0),
            ("core-busy;cpu=0;role=server", 0.3),
            ("drops;counter=listen-overflow", drops),
        ];
        let doc = first(&one("connections=50", &figures));
        let seen = doc.resources.iter().find(|one| one.kind == Binding::KernelLimit).unwrap().text.clone();
        (doc.kind, seen)
    };
    let (few, seen) = kind(1.0);
    assert_ne!(few, Binding::KernelLimit);
    assert!(
        seen.contains("the queue of connections to be accepted was full, 0.010 % of its requests"),
        "{seen}"
    );
    assert_eq!(kind(500.0).0, Binding::KernelLimit);
}
