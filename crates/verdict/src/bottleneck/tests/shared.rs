//! Servers that are not ours beside a generator: where they may run is known by their threads, and who fills a core by
//! what each used of it.

use model::note::Disturber;
use model::{Note, NoteBody};

use super::*;

/// A server that used so much of these cores, beside a generator that used so much of the last.
fn theirs(cores: &[(&str, [f64; 4])], used: f64, generator: f64, more: &[(&str, f64)]) -> RunData {
    let last = cores.len() - 1;
    let there = format!("core-generator;cpu={last};role={}", cores[last].0);
    let mut figures = PLAIN.to_vec();
    figures[2].1 = generator;
    figures.extend([("server-cores", used), (there.as_str(), generator)]);
    figures.extend(more);
    on_cores("url=http://127.0.0.1:8088/;connections=50", &figures, cores)
}

/// Two processes of others were busy in each take.
fn disturbed(mut run: RunData) -> RunData {
    let busy =
        |pid: i32, name: &str, cpus: f64| Disturber { pid, name: name.to_owned(), cpus, kernel: false };
    let body = NoteBody::Disturbers(vec![busy(123, "ramcloud", 0.44), busy(130, "coordinator", 0.31)]);
    for take in &run.takes {
        run.notes.push(Note { at_ns: Some(take.start_ns), body: body.clone() });
    }
    run
}

#[test]
fn a_server_on_the_generators_core_is_told_so() {
    // `taskset -pc 1` on both workers, while the generator is on CPU 1.
    let cores = [("other", [0.6, 0.5, 0.1, 0.0]), ("both", [1.0, 0.8, 0.17, 0.03])];
    let pinned = [("core-server;cpu=1;role=both", 0.41), ("server-workers", 2.0)];
    let run = theirs(&cores, 0.41, 0.21, &pinned);
    let doc = first(&run);
    let says = "bound by cpu1, on which the server at 127.0.0.1:8088 and the generator both run (100 % busy; of it the \
                server used 0.410, the generator 0.210, other programs 0.350): give them different cores";
    assert_eq!((doc.kind, doc.sentence.as_str()), (Binding::Shared, says));
    assert!(doc.evidence.iter().any(|one| one.contains("by which its 1 core could do up to")), "{doc:?}");
    assert!(doc.advice[0].contains("`taskset -acp 0 PID`"), "{doc:?}");
    assert!(doc.advice[1].starts_with("end the other programs"), "{doc:?}");
}

#[test]
fn a_shared_core_that_others_fill_is_theirs() {
    let cores = [("other", [0.6, 0.5, 0.1, 0.0]), ("both", [1.0, 0.8, 0.17, 0.0])];
    let doc = first(&disturbed(theirs(&cores, 0.11, 0.07, &[("core-server;cpu=1;role=both", 0.11)])));
    let says = "bound by other programs on cpu1: the server at 127.0.0.1:8088 got 0.110 cores of 1 (the generator works on \
                cpu1 too), others 0.820 (ramcloud (pid 123) 0.440, coordinator (pid 130) 0.310 of a CPU); end them and \
                repeat";
    assert_eq!(doc.sentence, says);
}

#[test]
fn nobody_is_told_to_end_what_cannot_be_ended() {
    let cores = [("other", [0.6, 0.5, 0.1, 0.0]), ("both", [1.0, 0.8, 0.17, 0.0])];
    let run = || theirs(&cores, 0.11, 0.07, &[("core-server;cpu=1;role=both", 0.11)]);
    let by = |all: &[(i32, bool)]| {
        let mut run = run();
        let one = |(pid, kernel): &(i32, bool)| Disturber {
            pid: *pid,
            name: "p".into(),
            cpus: 0.3,
            kernel: *kernel,
        };
        let body = NoteBody::Disturbers(all.iter().map(one).collect());
        run.notes
            .extend(run.takes.iter().map(|take| Note { at_ns: Some(take.start_ns), body: body.clone() }));
        let doc = first(&run);
        (doc.sentence, doc.advice[0].clone())
    };
    let (says, advice) = by(&[(1, false), (45, true)]);
    assert!(says.ends_with("; repeat when they rest"), "{says}");
    assert_eq!(advice, "they cannot be ended here: let --wait-idle wait until they rest");
    let (says, advice) = by(&[(1, false), (123, false)]);
    assert!(says.ends_with("; end them and repeat"), "{says}");
    assert_eq!(advice, "end those that can be ended, or let --wait-idle wait for them");
}

#[test]
fn what_is_left_without_the_others_is_said_beside_them() {
    let cores = [("server", [1.0, 0.8, 0.17, 0.0]), ("both", [1.0, 0.8, 0.17, 0.0])];
    let of = |more: &[(&str, f64)]| {
        let mut run = disturbed(theirs(&cores, 0.3, 0.07, more));
        let body = NoteBody::ContentEncoding { coding: "gzip".to_owned() };
        run.notes
            .extend(run.takes.iter().map(|take| Note { at_ns: Some(take.start_ns), body: body.clone() }));
        first(&run)
    };
    let doc = of(&[("server-workers", 1.0)]);
    assert_eq!(doc.kind, Binding::Others, "{}", doc.sentence);
    let says =
        ["its answers are compressed (gzip)", "its work is done by 1 thread, which can fill 1 of its 2 CPUs"];
    assert_eq!(doc.also, says);
    assert_eq!(of(&[("server-workers", 2.0)]).also, says[..1]);
}

#[test]
fn a_server_that_may_run_anywhere_is_told_where() {
    let cores = [("server", [0.9, 0.6, 0.3, 0.0]), ("both", [1.0, 0.8, 0.17, 0.03])];
    let run = theirs(&cores, 0.9, 0.6, &[]);
    let doc = first(&run);
    let says = "bound by cpu1, which the generator shares with the server at 127.0.0.1:8088, that may run on CPUs 0-1 \
                (100 % busy; of the 2 CPUs the server used 0.900, the generator 0.600, other programs 0.370): the \
                generator needs a core of its own";
    assert_eq!(doc.sentence, says);
    // No core is free of the generator but one.
    let alone = theirs(&[("both", [1.0, 0.8, 0.17, 0.03])], 0.41, 0.21, &[]);
    assert!(first(&alone).advice[0].starts_with("generate from another machine"), "{:?}", first(&alone));
}

#[test]
fn a_core_that_the_server_leaves_alone_is_the_generators() {
    // Of 0.8 busy the generator used 0.78.
    let cores = [("server", [0.97, 0.6, 0.37, 0.0]), ("both", [0.8, 0.5, 0.3, 0.0])];
    let run = theirs(&cores, 0.95, 0.78, &[("server-workers", 1.0), ("server-thread-share", 0.95)]);
    let doc = first(&run);
    assert_eq!(doc.kind, Binding::Thread, "{doc:?}");
    assert!(doc.evidence.iter().any(|one| one.contains("its 1 busy thread could do up to")), "{doc:?}");
}

#[test]
fn what_others_used_is_neither_the_servers_nor_the_generators() {
    let cores = [("server", [1.0, 0.8, 0.2, 0.0]), ("both", [1.0, 0.8, 0.2, 0.0])];
    let doc = first(&disturbed(theirs(&cores, 0.4, 0.21, &[])));
    let says = "bound by other programs on cpu0 and cpu1: the server at 127.0.0.1:8088 got 0.400 cores of 2 (the \
                generator works on cpu1 too), others 1.39 (ramcloud (pid 123) 0.440, coordinator (pid 130) 0.310 of a CPU); end them and repeat";
    assert_eq!(doc.sentence, says);
    // What the generator used there is not known.
    let mut figures = PLAIN.to_vec();
    figures.push(("server-cores", 0.4));
    let doc = first(&on_cores("connections=50", &figures, &cores));
    assert!(!doc.sentence.contains("other programs"), "{doc:?}");
}

#[test]
fn unknown_cores_are_invented_by_nobody() {
    let mut figures = PLAIN.to_vec();
    figures.push(("server-cores", 0.41));
    let cores = [("other", [0.6, 0.5, 0.1, 0.0]), ("generator", [0.7, 0.5, 0.17, 0.03])];
    let doc = first(&on_cores("url=http://127.0.0.1:8088/;connections=50", &figures, &cores));
    let words = format!("{doc:?}");
    for invented in ["one core of the server", "could do up to", "cores of 1", "its 1 core"] {
        assert!(!words.contains(invented), "{invented}: {words}");
    }
    // One busy thread is one whatever its cores are.
    figures.push(("server-thread-share", 0.97));
    let doc = first(&on_cores("url=http://127.0.0.1:8088/;connections=50", &figures, &cores));
    assert!(
        doc.sentence.starts_with("bound by one thread of the server at 127.0.0.1:8088 (97 % of one core)"),
        "{doc:?}"
    );
}

/// A server of one thread on two CPUs, beside a generator that hardly works and other programs.
fn one_thread(ran: f64, waited: f64, more: &[(&str, f64)]) -> BottleneckDoc {
    let cores = [("server", [1.0, 0.97, 0.03, 0.0]), ("both", [1.0, 0.96, 0.04, 0.0])];
    let figures = [
        &[("server-thread-share", ran), ("server-thread-wait", waited), ("server-workers", 1.0)][..],
        &[("server-user", 0.92)],
        more,
    ];
    let mut run = theirs(&cores, ran, 0.00217, &figures.concat());
    for series in &mut run.series {
        series.key.params.set("headers", "Accept-Encoding: gzip");
        if series.key.metric == "server-cpu" {
            series.points.iter_mut().for_each(|point| point.value = Value::Number(12.4e-3));
        }
    }
    for take in &run.takes {
        let body = NoteBody::ContentEncoding { coding: "gzip".to_owned() };
        run.notes.push(Note { at_ns: Some(take.start_ns), body });
    }
    first(&run)
}

#[test]
fn one_full_thread_is_named_whatever_else_is_busy() {
    let doc = one_thread(0.991, 0.009, &[]);
    assert_eq!(doc.kind, Binding::Thread, "{doc:?}");
    assert_eq!(
        doc.sentence,
        "bound by one thread of the server at 127.0.0.1:8088 (99 % of one core; other programs used 1.01 of its 2 CPUs): \
         a one-thread limit"
    );
    assert_eq!(
        doc.evidence[1],
        "12.4 ms of CPU a request, 92 % of it in the program itself: what it computes for each answer (compression, \
         templates)"
    );
    let compressed = "the answers are compressed (gzip), it seems anew for each request: files can be compressed beforehand \
         (nginx: gzip_static), or at a lower level; a load without the header `Accept-Encoding` shows the gain";
    assert!(doc.advice[0] == compressed && doc.advice[1].contains("workers"), "{doc:?}");
    assert!(!format!("{doc:?}").contains("taskset"), "{doc:?}");
    // It had to wait a little, and never rested.
    let doc = one_thread(0.81, 0.18, &[]);
    assert_eq!(doc.kind, Binding::Thread, "{doc:?}");
    assert!(doc.sentence.contains("(81 % of one core, 18 % more waiting for a CPU; "), "{doc:?}");
    // Others took a third of its time.
    let doc = one_thread(0.64, 0.35, &[]);
    assert_eq!((doc.kind, doc.resource.as_str()), (Binding::Others, "cpu0 and cpu1"), "{doc:?}");
    assert!(doc.evidence.iter().any(|one| one.contains("this one thread is the limit")), "{doc:?}");
}

#[test]
fn threads_that_fill_all_cores_together_are_no_one_thread_limit() {
    let cores = [("server", [1.0, 0.9, 0.1, 0.0]), ("server", [1.0, 0.9, 0.1, 0.0])];
    let more = [("server-thread-share", 0.97), ("server-workers", 2.0)];
    let doc = first(&theirs(&cores, 1.93, 0.002, &more));
    assert_eq!(doc.kind, Binding::Cores, "{doc:?}");
}

/// A server whose processes are known.
fn seen(mut run: RunData, alike: usize, busy: &[i32]) -> RunData {
    let workers = model::workers::ServerWorkers {
        name: "nginx".into(),
        pid: busy[0],
        threads: 1,
        alike,
        busy: busy.to_vec(),
        all: None,
    };
    let note = |at: u64| Note { at_ns: Some(at), body: NoteBody::ServerWorkers(workers.clone()) };
    run.notes.extend(run.takes.iter().map(|take| note(take.start_ns)).collect::<Vec<_>>());
    run
}

#[test]
fn uneven_work_beside_a_generator_is_told_as_its_consequence() {
    // Two workers; the one that is not on the generator's core is full.
    let cores = |both: f64| [("server", [0.99, 0.3, 0.6, 0.09]), ("both", [both, 0.4, 0.4, 0.0])];
    let more = [("server-workers", 2.0), ("server-thread-share", 0.97)];
    for both in [0.8, 0.99] {
        let run = seen(theirs(&cores(both), 1.3, 0.45, &more), 2, &[71, 72]);
        let doc = first(&run);
        assert_eq!((doc.kind, doc.resource.as_str()), (Binding::Shared, "cpu1"), "{doc:?}");
        assert!(doc.sentence.ends_with("the generator needs a core of its own"), "{}", doc.sentence);
        let says = format!("{:?}", doc.advice);
        assert!(!says.contains("taskset") && !says.contains("evenly") && says.contains("--from"), "{says}");
        // 14 us a request on two cores elsewhere; on one core here, beside a generator of 10 us.
        assert!(says.contains("could do up to 143 k/s") && says.contains("(CPU 0)"), "{says}");
        assert!(says.contains("at most about 71.4 k/s here, now 60.0 k/s"), "{says}");
    }
    // Where a core is free, the processes are named.
    let three = [cores(0.99).to_vec(), vec![("other", [0.1, 0.1, 0.0, 0.0])]].concat();
    let mut figures = PLAIN.to_vec();
    figures.extend([("server-cores", 1.3), ("core-generator;cpu=1;role=both", 0.45), more[0], more[1]]);
    let doc =
        first(&seen(on_cores("url=http://127.0.0.1:8088/;connections=50", &figures, &three), 2, &[71, 72]));
    assert!(doc.advice[0].starts_with("`taskset -acp 2 71 72` moves"), "{doc:?}");
}

#[test]
fn one_full_worker_is_named_with_what_more_of_them_can_gain() {
    let cores = [("server", [0.98, 0.3, 0.6, 0.08]), ("both", [0.6, 0.3, 0.3, 0.0])];
    let more = [("server-workers", 1.0), ("server-thread-share", 0.97)];
    let run = || theirs(&cores, 0.98, 0.58, &more);
    let doc = first(&seen(run(), 1, &[71]));
    assert_eq!(doc.kind, Binding::Thread, "{doc:?}");
    assert!(
        doc.sentence.ends_with("; it has 1 worker process, nginx (pid 71), of one thread"),
        "{}",
        doc.sentence
    );
    assert_eq!(
        doc.advice,
        [
            "run more workers or threads (nginx: `worker_processes`): here at most about 83.3 k/s (now 60.0 k/s), as the \
             generator takes 10.0 us of CPU a request"
        ]
    );
    let doc = first(&seen(run(), 4, &[71]));
    assert!(
        doc.sentence.contains("of its 4 worker processes nginx (pid 71) alone is full"),
        "{}",
        doc.sentence
    );
    assert!(!doc.advice[0].contains("run more"), "{doc:?}");
    assert!(first(&run()).advice[1].starts_with("where there are more"));
}

#[test]
fn more_cores_are_not_advised_where_none_is_left() {
    let cores = [("server", [0.99, 0.3, 0.6, 0.09]), ("generator", [0.8, 0.4, 0.4, 0.0])];
    let doc = first(&on_cores("url=http://127.0.0.1:8088/;connections=50", PLAIN, &cores));
    assert_eq!(doc.kind, Binding::Core, "{doc:?}");
    assert_eq!(
        doc.advice[0],
        "generate from another machine (`--from`): with all cores the server could do up to 143 k/s; here at most about \
         83.3 k/s (now 60.0 k/s), as the generator takes 10.0 us of CPU a request"
    );
}
