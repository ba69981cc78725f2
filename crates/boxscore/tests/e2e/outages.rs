//! What failed until the end of a run is measured again by `resume`, with what it is compared with.

use model::Phase;
use model::data::Status;

use crate::common::{Bench, Running, Said};
use crate::targets::{measured, targets, two};

#[test]
fn resume_measures_again_what_a_target_lost_and_what_it_is_beside() {
    let (plain, mut gzip) = two();
    let [a, b] = targets(&plain, &gzip);
    let bench = Bench::new();
    // It dies in the first of three sittings: its takes fail there, and it is given up or fails in the others.
    let run =
        ["run", "web", "--target", &a, "--target", &b, "--takes", "9", "--sittings", "3", "--show-takes"];
    let command =
        bench.command(&[&run[..], &["--set", "duration=0.2;connections=2", "--no-report"]].concat());
    let mut running = Running::start(command);
    assert!(running.until("stored take 5"), "{:?}", running.heard);
    gzip.stop();
    running.end().expect(3, &["`gzip` has no figures from some take on", "boxscore resume "]);
    let before = bench.only();
    let id = before.head.id.clone();
    assert_eq!((measured(&before, 0), before.head.status), (9, Status::Faulty), "{:?}", before.notes);
    bench.run(&["resume"]).expect(1, &["no run of this store was interrupted"]);
    bench
        .run(&["resume", &id])
        .expect(1, &["nothing accepts connections at ", "nothing was measured or stored"]);
    assert_eq!(bench.only().takes, before.takes);
    gzip.again();
    bench
        .run(&["resume", &id])
        .expect(0, &["this loads ", "blocks measured again, with all that is compared"]);
    let words = |said: Said| said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = words(bench.run(&["show", &id, "--all"]).expect(0, &[]));
    assert!(shown.contains("measured again by `resume`, since `gzip` had no figures in them"), "{shown}");
    assert!(!shown.contains("given up"), "{shown}");
    let run = bench.only();
    assert_eq!((measured(&run, 0), measured(&run, 1)), (9, 9), "{:?}", run.takes);
    assert_eq!((run.head.status, run.head.faults), (Status::Complete, 0));
    // What was measured before is there as it was; what counts of a block is of one sitting.
    let is_kept = |take: &model::data::TakeHead| {
        run.takes
            .iter()
            .any(|one| (one.seq, one.start_ns, &one.fault) == (take.seq, take.start_ns, &take.fault))
    };
    assert!(before.takes.iter().all(is_kept));
    let lost =
        before.takes.iter().filter(|take| take.phase == Phase::Measured && take.fault.is_some()).count();
    let repeated = run.takes.iter().filter(|take| take.phase == Phase::Repeated);
    assert!(repeated.clone().count() > lost && lost > 0, "{lost} of {:?}", run.takes);
    assert!(repeated.clone().any(|take| take.arm == 0 && take.fault.is_none()));
    for take in run.takes.iter().filter(|take| take.phase == Phase::Measured) {
        let mut others =
            run.takes.iter().filter(|one| one.phase == Phase::Measured && one.block == take.block);
        assert!(others.all(|other| other.sitting == take.sitting), "{:?}", run.takes);
    }
    let phase_of = |seq: u64| run.takes.iter().find(|take| take.seq == seq).map(|take| take.phase);
    let mut points = run.series.iter().flat_map(|series| &series.points);
    assert!(points.all(|point| phase_of(point.seq) == Some(point.phase)), "{:?}", run.takes);
    bench.run(&["resume", &id]).expect(1, &["is complete"]);
    // It is the same elsewhere.
    let export = bench.run(&["export", &id]).expect(0, &[]).out;
    std::fs::write(bench.path("run.json"), export).expect("a file");
    let other = Bench::new();
    other.run(&["import", &bench.path("run.json").display().to_string()]).expect(0, &[]);
    let copy = other.only();
    assert_eq!((copy.takes, copy.head.faults, copy.series), (run.takes, 0, run.series));
}

#[test]
fn a_take_that_failed_between_good_ones_is_a_result() {
    let bench = Bench::new();
    let marker = bench.path("marker").display().to_string();
    let command = format!("test -e {marker} || {{ touch {marker}; exit 1; }}");
    let run = ["run", "--cmd", &command, "--takes", "3", "-w", "0"];
    let said = bench.run(&run).expect(3, &[]);
    assert!(!said.err.contains("boxscore resume"), "{}", said.err);
    let id = bench.only().head.id;
    bench.run(&["resume", &id]).expect(1, &["nothing failed until its end"]);
}
