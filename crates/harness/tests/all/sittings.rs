//! Sittings: everything is prepared anew in each, by a new child.

use std::os::unix::net::UnixStream;

use harness::conductor::{Ended, Finished};
use harness::worker::Worker;
use model::data::Status;
use model::plan::Takes;
use model::reading::Take;
use model::{Fault, Phase, Plan};

use crate::study::{Shelf, Toy, conduct, conduct_to, hello, plan};

#[test]
fn every_sitting_prepares_every_place_anew_and_warms_it() {
    let plan = Plan { warm_up: 2, sittings: 3, ..plan(&[1, 2], 2, 2, Takes::Fixed(7)) };
    let (outcome, shelf) = conduct(&plan, &[], None);
    assert_eq!((outcome.ended, outcome.faults), (Ended::Count, 0));
    assert_eq!(outcome.statuses, [Status::Complete, Status::Complete]);
    assert_eq!((shelf.facts, shelf.costs), (2 * 3, 2), "facts a child, one cost a run");
    for machine in 0..2 {
        let takes = || shelf.takes.iter().filter(|(m, _)| *m == machine).map(|(_, take)| take);
        assert!(takes().enumerate().all(|(seq, take)| take.seq == seq as u64));
        assert!(takes().zip(takes().skip(1)).all(|(a, b)| a.sitting <= b.sitting && a.end_ns <= b.start_ns));
        for (cell, arm) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let count = |phase: Phase, sitting: u32| {
                let here = |take: &&Take| (take.cell, take.arm, take.sitting) == (cell, arm, sitting);
                takes().filter(here).filter(|take| take.phase == phase).count()
            };
            assert_eq!([0, 1, 2].map(|sitting| count(Phase::WarmUp, sitting)), [2, 1, 1]);
            assert_eq!([0, 1, 2].map(|sitting| count(Phase::Measured, sitting)), [3, 2, 2]);
        }
        // What an instrument prepares it notes with the take that needed it.
        let prepared = takes().flat_map(|take| &take.notes).filter(|note| note.kind() == "repeats").count();
        assert_eq!(prepared, 2 * 2 * 3);
    }
}

#[test]
fn a_resumed_study_continues_in_a_further_sitting() {
    let plan = Plan { sittings: 3, ..plan(&[1, 2], 1, 1, Takes::Fixed(6)) };
    // Cut in the second sitting: its warm-up and one of its two blocks are done.
    let (_, cut) = conduct(&plan, &[], Some(2 * (1 + 2 + 1 + 1)));
    assert_eq!(cut.takes.last().map(|(_, take)| take.sitting), Some(1));
    let earlier: Vec<Finished> =
        cut.takes.iter().map(|(machine, take)| Finished { machine: *machine, take: take.clone() }).collect();
    let (outcome, rest) = conduct(&plan, &earlier, None);
    assert_eq!((outcome.ended, outcome.measured), (Ended::Count, 2 * 6));
    let seen: Vec<(u32, Phase)> = rest.takes.iter().map(|(_, take)| (take.sitting, take.phase)).collect();
    let block = |sitting: u32, phase: Phase| [(sitting, phase); 2];
    let (warm, measured) = (Phase::WarmUp, Phase::Measured);
    let wanted = [block(2, warm), block(2, measured), block(3, warm), block(3, measured), block(3, measured)];
    assert_eq!(seen, wanted.concat());
}

/// Serves one sitting, and is gone after its Bye.
fn mortal(pipe: UnixStream) {
    let worker = Worker {
        instruments: vec![&Toy],
        hello: hello(),
        generate: |_, _| Err("no generator".to_owned()),
        lost: || (),
        set_progress: |_| (),
        anew: || panic!("it does not come up again"),
    };
    let ear = pipe.try_clone().unwrap();
    let served = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        worker.serve(ear, pipe.try_clone().unwrap())
    }));
    assert!(served.is_err());
    drop(pipe.shutdown(std::net::Shutdown::Both));
}

#[test]
fn a_machine_whose_new_child_does_not_come_up_is_lost() {
    let plan = Plan { sittings: 2, ..plan(&[1], 1, 1, Takes::Fixed(4)) };
    let (outcome, shelf) = conduct_to(&plan, &[], Shelf::default(), mortal);
    assert_eq!(outcome.ended, Ended::Lost);
    assert_eq!(shelf.takes.len(), 3, "the first sitting is kept");
    assert!(shelf.notes.iter().any(|(_, kind, text)| kind == "lost" && text.contains("pipe")));
    assert_eq!(shelf.ends, [(0, Status::Interrupted)]);
}

#[test]
fn the_stop_rule_ends_a_study_with_equal_sittings() {
    let plan = Plan { sittings: 4, ..plan(&[1], 1, 1, Takes::Adaptive { quick: true, target: 0.02 }) };
    let (outcome, shelf) = conduct(&plan, &[], None);
    assert_eq!(outcome.ended, Ended::Target);
    let measured = |sitting: u32| {
        let of = |take: &&Take| take.phase == Phase::Measured && take.sitting == sitting;
        shelf.takes.iter().map(|(_, take)| take).filter(of).count()
    };
    assert_eq!([0, 1, 2, 3, 4].map(measured), [2, 2, 2, 2, 0]);
}

#[test]
fn an_outage_is_measured_again_in_all_arms() {
    let plan = Plan { sittings: 2, ..plan(&[1, 2], 2, 1, Takes::Fixed(6)) };
    let (_, whole) = conduct(&plan, &[], None);
    let first = plan.warm_up;
    // Cell 0 has no figures in arm 1 from its third block on; it was given up in its fifth.
    let is_lost = |take: &Take| (take.cell, take.arm) == (0, 1) && take.block >= first + 2;
    let left = whole.takes.into_iter().filter(|(_, take)| !is_lost(take) || take.block < first + 4);
    let mut earlier: Vec<Finished> = left.map(|(machine, take)| Finished { machine, take }).collect();
    for one in earlier.iter_mut().filter(|one| is_lost(&one.take)) {
        one.take.fault = Some(Fault::new("gone"));
        one.take.readings.clear();
    }
    let (outcome, rest) = conduct(&plan, &earlier, None);
    assert_eq!((outcome.ended, outcome.faults), (Ended::Count, 0));
    assert_eq!(rest.ends, [(0, Status::Complete)]);
    let again: Vec<&Take> =
        rest.takes.iter().map(|(_, take)| take).filter(|take| take.phase == Phase::Measured).collect();
    assert!(again.iter().all(|take| take.cell == 0 && take.sitting > 1));
    let mut places: Vec<(u32, u32)> = again.iter().map(|take| (take.block, take.arm)).collect();
    places.sort_unstable();
    let wanted: Vec<(u32, u32)> = (first + 2..first + 6).flat_map(|block| [(block, 0), (block, 1)]).collect();
    assert_eq!(places, wanted);
    let notes: Vec<&str> =
        rest.notes.iter().filter(|(_, kind, _)| kind == "again").map(|(_, _, text)| text.as_str()).collect();
    let [note] = notes[..] else { panic!("{:?}", rest.notes) };
    assert!(note.contains("4 blocks measured again") && note.contains("`arm1`"), "{note}");
}
