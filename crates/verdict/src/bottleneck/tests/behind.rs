//! Applications behind a server that is idle: a full queue, a full thread, one request at a time.

use model::backend::Backend;
use model::{Note, NoteBody};

use super::*;

/// A proxy that is idle, whose application drops connections.
fn dropping(owner: &str) -> BottleneckDoc {
    let part = format!("socket=127.0.0.1:8197;process=python3;owner={owner}");
    let (drops, room) = (format!("queue-drops;{part}"), format!("queue-room;{part}"));
    let figures = [
        ("throughput", 230.0),
        ("response-time", 40e-3),
        ("server-cpu", 200e-6),
        ("server-cores", 0.05),
        ("requests", 1000.0),
        ("drops;counter=listen-overflow", 400.0),
        ("drops;counter=listen-drop", 400.0),
        (drops.as_str(), 400.0),
        (room.as_str(), 5.0),
    ];
    first(&on_cores("connections=50;server=nginx", &figures, &[("server", [0.1, 0.05, 0.04, 0.01])]))
}

#[test]
fn a_full_queue_of_an_application_is_not_the_servers() {
    let doc = dropping("other");
    assert_eq!((doc.kind, doc.resource.as_str()), (Binding::Behind, "127.0.0.1:8197 (python3)"));
    let says = "held back by the application at 127.0.0.1:8197 (python3) behind the server (nginx): its queue of \
                connections to be accepted, which is not the server's, was full 3,200 times, 40 % of the requests";
    assert_eq!(doc.sentence, says);
    let advice = doc.advice.join("; ");
    assert!(advice.contains("listen backlog (it holds 5)") && !advice.contains("nginx"), "{advice}");
    assert!(!format!("{doc:?}").contains("somaxconn and"), "{doc:?}");
    let own = dropping("server");
    assert_eq!(own.kind, Binding::KernelLimit);
    assert!(own.sentence.contains("the queue of 127.0.0.1:8197 (python3), the server's own"), "{own:?}");
}

/// Adds an application behind the server to each take: its connections, and the share of a CPU that it used.
fn with_application(mut run: RunData, connections: u64, share: f64) -> RunData {
    for take in &run.takes {
        let window_ns = 1_000_000_000;
        let used_ns = Some((share * 1e9) as u64);
        let one = Backend {
            socket: "127.0.0.1:8197".to_owned(),
            name: Some("python3".to_owned()),
            pids: vec![7],
            connections,
            window_ns,
            cpu_ns: used_ns,
            thread_ns: used_ns,
        };
        run.notes.push(Note { at_ns: Some(take.start_ns + 1), body: NoteBody::Backends(vec![one]) });
    }
    run
}

const IDLE: [(&str, [f64; 4]); 1] = [("server", [0.1, 0.05, 0.04, 0.01])];

const WAITING: [(&str, f64); 5] = [
    ("throughput", 230.0),
    ("response-time", 17e-3),
    ("server-cpu", 200e-6),
    ("server-cores", 0.05),
    ("in-flight", 4.0),
];

#[test]
fn an_application_that_most_requests_are_at_is_waited_for() {
    let of = |connections: u64, share: f64| {
        first(&with_application(on_cores("connections=4;server=nginx", &WAITING, &IDLE), connections, share))
    };
    let doc = of(4, 0.1);
    let says = "held back by the application at 127.0.0.1:8197 (python3) behind the server (nginx): the server (nginx) had \
                4 connections to it while 4.00 requests were in flight";
    assert_eq!((doc.kind, doc.sentence.as_str()), (Binding::Behind, says));
    let alone = "boxscore load http://127.0.0.1:8197/ -H 'Connection: close'";
    assert!(doc.advice[0].starts_with("let it serve faster, or several"), "{doc:?}");
    assert!(doc.advice[1].ends_with(alone), "{doc:?}");
    assert!(!format!("{doc:?}").contains("could do up to"), "{doc:?}");
    let full = of(4, 0.98);
    assert!(
        full.sentence
            .contains("(python3) behind the server (nginx): one thread of it is full (it used 0.980"),
        "{full:?}"
    );
    // One connection that is kept open, say to a store, explains nothing.
    assert_eq!(of(1, 0.01).kind, Binding::Waiting);
}

#[test]
fn threads_that_take_turns_use_one_cpu_together() {
    let idle = [IDLE[0], ("generator", [0.1, 0.05, 0.04, 0.01])];
    let of = |share: f64, pids: &[i32]| {
        let mut run = with_application(on_cores("connections=4;server=nginx", &WAITING, &idle), 4, share);
        for note in &mut run.notes {
            if let NoteBody::Backends(all) = &mut note.body {
                (all[0].thread_ns, all[0].pids) = (Some(20_000_000), pids.to_vec());
            }
        }
        first(&run)
    };
    let doc = of(1.02, &[7]);
    let says = "all its threads together used 1.02 of a CPU, as one thread would; ";
    assert!(doc.sentence.contains(says), "{doc:?}");
    assert!(doc.advice[0].contains("run several processes of it"), "{doc:?}");
    for other in [of(1.02, &[7, 8]), of(0.5, &[7]), of(1.7, &[7])] {
        assert!(!other.sentence.contains("all its threads"), "{other:?}");
        assert!(other.advice[0].contains("more workers or threads"), "{other:?}");
    }
}

#[test]
fn one_connection_waits_for_the_application_that_has_its_request() {
    let figures = [
        ("throughput", 500.0),
        ("response-time", 2e-3),
        ("server-cpu", 200e-6),
        ("generator-cpu", 200e-6),
        ("server-cores", 0.1),
        ("in-flight", 1.0),
    ];
    let run = on_cores("connections=1;server=nginx", &figures, &IDLE);
    assert_eq!(first(&run).kind, Binding::Waiting, "{:?}", first(&run));
    let doc = first(&with_application(run, 1, 0.6));
    let says = "held back by the application at 127.0.0.1:8197 (python3) behind the server (nginx): the server (nginx) had \
                1 connection to it while 1.00 requests were in flight";
    assert_eq!((doc.kind, doc.sentence.as_str()), (Binding::Behind, says));
}

#[test]
fn a_delayed_acknowledgement_is_suspected() {
    let of = |seconds: f64| {
        let figures = [
            ("throughput", 1.0 / seconds),
            ("response-time", seconds),
            ("server-cpu", 1e-3),
            ("generator-cpu", 1e-4),
            ("server-cores", 0.02),
        ];
        let mut run = on_cores("connections=1;server=python3", &figures, &IDLE);
        let seqs: Vec<u64> = run.takes.iter().map(|take| take.seq).collect();
        let us = (seconds * 1e6) as u64;
        times(&mut run, &seqs, "service-times", "connections=1;server=python3", &[(us, 50)]);
        first(&run)
    };
    let doc = of(43.2e-3);
    assert_eq!(doc.kind, Binding::Waiting, "{doc:?}");
    assert!(
        doc.evidence.join("; ").contains("the 40 ms by which Linux delays an acknowledgement"),
        "{doc:?}"
    );
    assert!(doc.advice[0].contains("TCP_NODELAY"), "{doc:?}");
    assert!(!format!("{:?}", of(60e-3)).contains("acknowledgement"));
}

#[test]
fn a_search_names_the_application_as_a_load_does() {
    let figures = [
        ("slo-throughput", 200.0),
        ("server-cpu", 200e-6),
        ("server-cores", 0.05),
        ("in-flight", 1.4),
        ("core-busy;cpu=0;role=server", 0.1),
    ];
    let mut run = one("limit=20ms;percentile=p99;server=nginx", &figures);
    let seqs: Vec<u64> = run.takes.iter().map(|take| take.seq).collect();
    let params = "limit=20ms;percentile=p99;server=nginx";
    times(&mut run, &seqs, "response-times", params, &[(7_000, 50)]);
    times(&mut run, &seqs, "service-times", params, &[(7_000, 50)]);
    run.series.iter_mut().for_each(|series| series.key.instrument = "web-slo".to_owned());
    assert_eq!(first(&run).kind, Binding::Waiting, "{:?}", first(&run));
    let doc = first(&with_application(run, 1, 0.6));
    assert_eq!((doc.kind, doc.resource.as_str()), (Binding::Behind, "127.0.0.1:8197 (python3)"));
    assert!(doc.sentence.contains("; there held back by the application at 127.0.0.1:8197"), "{doc:?}");
}

#[test]
fn a_busy_program_that_may_be_behind_is_suspected() {
    let of = |cpus: f64| {
        let mut run = on_cores("connections=4;server=nginx", &WAITING, &IDLE);
        for take in &run.takes {
            let busy = model::note::Disturber { pid: 7, name: "python3".into(), cpus, kernel: false };
            run.notes.push(Note { at_ns: Some(take.start_ns), body: NoteBody::Disturbers(vec![busy]) });
        }
        first(&run).evidence.join("; ")
    };
    let says = "python3 (pid 7) used 0.980 of a CPU: if the server waits for it, one thread of it is full";
    assert!(of(0.98).contains(says), "{}", of(0.98));
    assert!(!of(0.5).contains("python3"));
}

#[test]
fn an_application_that_fills_the_cores_is_no_other_program() {
    let figures = [&WAITING[..4], &[("in-flight", 4.0)]].concat();
    let run = on_cores("connections=4;server=nginx", &figures, &[("server", [0.99, 0.8, 0.1, 0.02])]);
    assert_eq!(first(&run).kind, Binding::Others, "{:?}", first(&run));
    let doc = first(&with_application(run, 4, 0.92));
    assert_eq!(doc.kind, Binding::Behind, "{doc:?}");
}

#[test]
fn an_application_that_fills_the_generators_core_is_named_before_the_sharing() {
    let cores = [("server", [0.2, 0.03, 0.1, 0.07]), ("both", [1.0, 0.85, 0.09, 0.06])];
    let figures = [
        ("throughput", 1418.0),
        ("response-time", 35e-3),
        ("server-cpu", 142e-6),
        ("generator-cpu", 46e-6),
        ("generator-share", 0.065),
        ("server-cores", 0.201),
        ("in-flight", 50.0),
        ("core-generator;cpu=1;role=both", 0.065),
    ];
    let run = on_cores("url=http://127.0.0.1:8397/;connections=50", &figures, &cores);
    assert_eq!(first(&run).kind, Binding::Shared, "{:?}", first(&run));
    let doc = first(&with_application(run.clone(), 49, 0.93));
    let says = "held back by the application at 127.0.0.1:8197 (python3) behind the server at 127.0.0.1:8397: one thread of it \
                is nearly full (it used 0.930 of a CPU)";
    assert_eq!(doc.kind, Binding::Behind, "{doc:?}");
    assert!(doc.sentence.starts_with(says), "{doc:?}");
    // One that is not full leaves the shared core as the reason, with its part of it.
    let doc = first(&with_application(run, 2, 0.5));
    assert_eq!(doc.kind, Binding::Shared, "{doc:?}");
    assert!(
        doc.sentence.contains("the server used 0.201, applications behind it 0.500, the generator"),
        "{doc:?}"
    );
}

#[test]
fn one_request_at_a_time_names_the_application_at_any_number_of_connections() {
    let mut run = empty();
    for (connections, response) in [(1, 4.3e-3), (4, 17e-3), (50, 217e-3)] {
        let figures = [
            ("throughput", 230.0),
            ("response-time", response),
            ("server-cpu", 200e-6),
            ("server-cores", 0.05),
            ("core-busy;cpu=0;role=server", 0.1),
        ];
        load(&mut run, &format!("connections={connections};server=nginx"), &figures);
    }
    let hardly = docs(&with_application(run.clone(), 0, 0.1));
    assert!(hardly.iter().all(|doc| doc.kind == Binding::Serial), "{hardly:?}");
    let docs = docs(&with_application(run, 50, 0.1));
    let says = "held back by the application at 127.0.0.1:8197 (python3) behind the server (nginx): requests are served one \
                at a time (230 /s whatever the connections; each takes 4.30 ms alone)";
    assert!(docs.iter().all(|doc| doc.sentence.starts_with(says)), "{docs:?}");
}
