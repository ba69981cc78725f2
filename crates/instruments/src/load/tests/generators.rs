//! Loads shared out among generators: the parts add up exactly, and what comes back is what one generator would have.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Barrier};

use model::generate::{Generator, GeneratorOrder, NotLoaded, Part as Came, Relay};
use proptest::prelude::*;

use super::*;
use crate::load::engine::{Ran, ThreadUse};
use crate::load::generators::{Generators, Local, Remote, part};
use crate::load::recorder::{Recorder, Times};
use crate::load::schedule::Part;
use crate::load::schedule::{Arrival, Schedule};
use crate::load::{Error, relayed};
use crate::remote_task::serve;
use crate::system_files::cgroup::Quota;

/// Generators that are threads of the test: the same bytes, without a pipe.
#[derive(Debug)]
struct Here {
    generators: Vec<Generator>,
    /// Brings these bytes instead of an outcome.
    brings: Option<Vec<u8>>,
}

fn generators(count: usize) -> Vec<Generator> {
    let cpus: Vec<u32> =
        sys::affinity::allowed().unwrap().iter().map(|&cpu| u32::try_from(cpu).unwrap()).collect();
    let one = |n| Generator {
        name: format!("gen{n}"),
        host: Some("here".to_owned()),
        cpus: cpus.clone(),
        cores: Vec::new(),
    };
    (0..count).map(one).collect()
}

impl Relay for Here {
    fn generators(&self) -> &[Generator] {
        &self.generators
    }

    fn load(&self, order: GeneratorOrder, started: &mut dyn FnMut()) -> Result<Vec<Came>, NotLoaded> {
        let all_stand = Barrier::new(order.bodies.len());
        let one = |body: &Vec<u8>| {
            serve(body, &mut || {
                all_stand.wait();
                Some(sys::clock::now_ns())
            })
        };
        let came = std::thread::scope(|scope| {
            let threads: Vec<_> = order.bodies.iter().map(|body| scope.spawn(move || one(body))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        started();
        let part = |(at, came): (usize, Result<model::generate::Loaded, String>)| match came {
            Ok(loaded) => Ok(Came {
                after_ns: at as u64 * 1000,
                error_ns: 500,
                body: self.brings.clone().unwrap_or(loaded.body),
            }),
            Err(what) => Err(NotLoaded { generator: format!("gen{at}"), before_start: true, what }),
        };
        came.into_iter().enumerate().map(part).collect()
    }
}

fn remote(count: usize) -> Remote {
    Remote::new(Arc::new(Here { generators: generators(count), brings: None }))
}

#[test]
fn every_request_is_sent_by_one_generator_and_counted_once() {
    let server = Server::fixed(OK, Then::Keep);
    let control = Control::default();
    let sent = remote(3).run(&requests(&server, 302, 10), 3, &control).unwrap();
    adds_up(&sent.outcome);
    assert_eq!((sent.outcome.record.good, server.requests()), (302, 302));
    assert_eq!(sent.outcome.record.body_bytes, 3 * 302);
    let connections: Vec<_> = sent.outcome.generator.threads.iter().map(|one| one.connections).collect();
    assert_eq!(connections, [4, 3, 3]);
    assert!(control.started.load(std::sync::atomic::Ordering::SeqCst));
    let together = sent.together.unwrap();
    assert_eq!(
        (together.generators, together.apart, together.error),
        (3, Duration::from_micros(2), Duration::from_micros(1))
    );
    // One of two that there are.
    let sent = remote(2).run(&requests(&server, 5, 2), 1, &Control::default()).unwrap();
    assert_eq!((sent.outcome.record.good, sent.outcome.generator.threads.len()), (5, 1));
}

#[test]
fn an_open_loop_asks_for_the_whole_rate() {
    let server = Server::fixed(OK, Then::Keep);
    for schedule in [Schedule::Constant { rate: 1000.0 }, Schedule::Poisson { rate: 1000.0, seed: 3 }] {
        let mut load = requests(&server, 1, 4);
        load.requests = None;
        load.duration = Some(Duration::from_millis(400));
        load.schedule = schedule.clone();
        let sent = remote(2).run(&load, 2, &Control::default()).unwrap();
        adds_up(&sent.outcome);
        let good = sent.outcome.record.good;
        match schedule {
            Schedule::Constant { .. } => assert_eq!(good, 400),
            // Six standard deviations.
            _ => assert!(good.abs_diff(400) < 120, "{good}"),
        }
        // What one generator has in its own 0.4 s adds up.
        let rate = sent.outcome.throughput().unwrap();
        assert!((rate - sent.outcome.record.good_in_window as f64 / 0.4).abs() < 1e-6, "{rate}");
    }
}

#[test]
fn what_cannot_be_shared_out_is_explained() {
    let server = Server::fixed(OK, Then::Keep);
    let load = requests(&server, 5, 5);
    for (load, how_many, says) in [
        (Load { connections: 1, ..load.clone() }, 2, "1 connections for 2 generators"),
        (Load { requests: Some(1), ..load.clone() }, 2, "1 requests for 2 generators"),
        (load.clone(), 3, "3 generators are asked for, and 2 are given with --from"),
        (load.clone(), 0, "0 generators are asked for"),
    ] {
        let error = remote(2).run(&load, how_many, &Control::default()).err().unwrap();
        assert!(error.to_string().contains(says), "{error}");
    }
}

#[test]
fn a_generator_that_cannot_reach_loopback_is_told_what_to_do() {
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let load = Load::new(format!("http://127.0.0.1:{port}/").parse().unwrap());
    let error = remote(1).run(&load, 1, &Control::default()).err().unwrap();
    assert!(matches!(error, Error::Unreachable(_)));
    let text = error.to_string();
    assert!(text.contains("generator gen0: nothing accepts") && text.contains("listen=ADDRESS"), "{text}");
}

#[test]
fn what_a_generator_brings_is_read_or_refused() {
    let server = Server::fixed(OK, Then::Keep);
    let mut brought = relayed::Brought {
        outcome: go(&requests(&server, 3, 1)),
        quotas: vec![Quota { group: (1, 2), cpus: 0.25 }],
    };
    let thread = ThreadUse { cpu_ns: 90, spun_ns: 10, wall_ns: 400, ..brought.outcome.generator.threads[0] };
    brought.outcome.generator.threads = vec![thread, ThreadUse { cpu_ns: 130, ..thread }];
    let run = |bytes: Vec<u8>| {
        let remote = Remote::new(Arc::new(Here { generators: generators(1), brings: Some(bytes) }));
        remote.run(&requests(&server, 1, 1), 1, &Control::default())
    };
    let sent = run(relayed::pack(&brought).unwrap()).unwrap();
    assert_eq!(sent.outcome.record, brought.outcome.record);
    // A quarter of a core is all that both may use, and what they had saved up.
    let shares: Vec<f64> = sent.outcome.generator.threads.iter().map(ThreadUse::share).collect();
    assert_eq!(shares, [1.0, 1.0]);
    assert!(sent.together.unwrap().to_string().contains("gen0 has a CPU quota of 0.25 cores"));
    brought.outcome.record.good += 1;
    for (bytes, says) in [
        (vec![1, 2, 3], "generator gen0: it sent no outcome"),
        (relayed::pack(&brought).unwrap(), "other numbers of requests than of times"),
    ] {
        let error = run(bytes).err().unwrap().to_string();
        assert!(error.contains(says), "{error}");
    }
    assert!(serve(&[9, 9], &mut || Some(0)).unwrap_err().contains("no load, no far end"));
}

#[test]
fn threads_of_this_process_are_generators_too() {
    let server = Server::fixed(OK, Then::Keep);
    let local = Local { cpus: vec![sys::affinity::allowed().unwrap()[0]], own_cores: false };
    let sent = local.run(&requests(&server, 20, 4), 2, &Control::default()).unwrap();
    assert_eq!((sent.outcome.record.good, sent.outcome.generator.threads.len()), (20, 2));
    assert_eq!(sent.together, None);
}

fn whole(connections: usize, requests: Option<u64>, schedule: Schedule) -> Load {
    let mut load = Load::new("http://127.0.0.1/".parse().unwrap());
    (load.connections, load.requests, load.schedule) = (connections, requests, schedule);
    load
}

/// A run of these requests, each with its start and its length.
pub(crate) fn ran(spans: &[(u64, u64)], start_ns: u64) -> Outcome {
    let mut record = Recorder::default();
    let mut events: Vec<_> =
        spans.iter().flat_map(|&(from, long)| [(from, false, from), (from + long, true, from)]).collect();
    events.sort_unstable();
    for (at_ns, ends, started_ns) in events {
        let times = Times {
            intended_ns: start_ns + started_ns - started_ns % 3,
            started_ns: start_ns + started_ns,
            ended_ns: start_ns + at_ns,
        };
        match (ends, started_ns % 5) {
            (false, _) => record.start(times.started_ns),
            (true, 0) => record.failed(times, times.ended_ns, Failure::Timeout),
            (true, _) => record.good(times, times.ended_ns, 7, at_ns < 1_000_000),
        }
    }
    record.late.record(spans.len() as u64);
    let thread = ThreadUse {
        host: 0,
        cpu: Some(0),
        connections: 1,
        cpu_ns: 10,
        spun_ns: 1,
        wall_ns: 20,
        allowed_ns: 20,
    };
    let window_end_ns = Some(start_ns + 1_000_000);
    let ran = Ran { record, threads: vec![thread], start_ns, window_end_ns };
    let mut outcome = Outcome::new(ran, SocketAddr::from((Ipv4Addr::LOCALHOST, 80)), &[]);
    outcome.record.count_from(start_ns);
    outcome
}

proptest! {
    #[test]
    fn the_parts_of_a_load_add_up_exactly(
        connections in 1usize..2000,
        requests in proptest::option::of(1u64..100_000),
        rate in 0.001f64..1e8,
        threads in 1usize..17,
    ) {
        prop_assume!(connections >= threads && requests.is_none_or(|count| count >= threads as u64));
        let poisson = whole(connections, requests, Schedule::Poisson { rate, seed: 7 });
        let parts: Vec<Load> =
            (0..threads).map(|thread| part(&poisson, Part { thread, threads }).unwrap()).collect();
        prop_assert_eq!(parts.iter().map(|one| one.connections).sum::<usize>(), connections);
        if let Some(requests) = requests {
            prop_assert_eq!(parts.iter().filter_map(|one| one.requests).sum::<u64>(), requests);
        }
        let mut rates = Vec::new();
        let mut seeds = BTreeSet::new();
        for one in &parts {
            let Schedule::Poisson { rate, seed } = one.schedule else { panic!("{:?}", one.schedule) };
            rates.push(rate);
            seeds.insert(seed);
            prop_assert!(one.schedule.check().is_ok());
        }
        prop_assert_eq!(rates.iter().sum::<f64>(), rate);
        prop_assert_eq!(seeds.len(), threads, "streams must differ");
    }

    #[test]
    fn arrivals_of_all_generators_are_those_of_the_whole(
        kind in 0usize..3,
        rate in 0.1f64..1e5,
        generators in 1usize..6,
        threads in 1usize..4,
    ) {
        let list: Vec<Arrival> = (0..50).map(|n| Arrival { at_ns: n * n, target: None }).collect();
        let schedule = [
            Schedule::Constant { rate },
            Schedule::Ramp { from: 0.0, to: rate, over_ns: 1_000_000_000 },
            Schedule::Replay(list.into()),
        ][kind]
            .clone();
        let all: Vec<u64> = schedule.arrivals().unwrap().take(50).map(|one| one.at_ns).collect();
        let mut theirs = Vec::new();
        for thread in 0..generators {
            let mine = schedule.part(Part { thread, threads: generators }).unwrap();
            prop_assert!(mine.check().is_ok());
            let bytes = postcard::to_stdvec(&mine).unwrap();
            prop_assert_eq!(&postcard::from_bytes::<Schedule>(&bytes).unwrap(), &mine);
            for one in 0..threads {
                let arrivals = mine.arrivals().unwrap().skip(one).step_by(threads);
                theirs.extend(arrivals.map(|one| one.at_ns).take_while(|at_ns| at_ns <= all.last().unwrap()).take(50));
            }
        }
        theirs.sort_unstable();
        theirs.truncate(50);
        prop_assert_eq!(theirs, all);
    }

    #[test]
    fn merged_outcomes_are_the_outcome_of_one_that_saw_both(
        spans in proptest::collection::vec((0u64..900_000, 1u64..500_000), 2..80),
        cut in 1usize..79,
        boots in (0u64..1 << 60, 0u64..1 << 60),
    ) {
        let (left, right) = spans.split_at(cut.min(spans.len() - 1));
        let over_there = |outcome: Outcome| {
            let bytes = relayed::pack(&relayed::Brought { outcome, quotas: vec![] }).unwrap();
            relayed::unpack(&bytes).unwrap().outcome
        };
        let mut merged = over_there(ran(left, boots.0));
        merged.merge(over_there(ran(right, boots.1)));
        let one = ran(&spans, 5);
        prop_assert_eq!(merged.record.response_times(), one.record.response_times());
        prop_assert_eq!(merged.record.service_times(), one.record.service_times());
        prop_assert_eq!(&merged.record.failed, &one.record.failed);
        prop_assert_eq!(&merged.record.failures, &one.record.failures);
        prop_assert_eq!(merged.record.in_flight.area_ns(), one.record.in_flight.area_ns());
        prop_assert_eq!(
            (merged.record.good, merged.record.good_in_window, merged.record.body_bytes),
            (one.record.good, one.record.good_in_window, one.record.body_bytes)
        );
        prop_assert_eq!(merged.record.last_end_ns, one.record.last_end_ns);
        prop_assert_eq!((merged.elapsed_s, merged.answering_s), (one.elapsed_s, one.answering_s));
        let near = |a: Option<f64>, b: Option<f64>| (a.unwrap() - b.unwrap()).abs() <= 1e-9 * b.unwrap();
        prop_assert!(near(merged.throughput(), one.throughput()) || one.record.good_in_window == 0);
    }
}
