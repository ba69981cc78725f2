//! Claims to bind that need more than they had: single takes, a disk that others keep busy, a core that is not full.

use super::*;

/// `wW2a`: twenty and twenty-one thousand, one take each, a generator that is at work 30 % of its time.
#[test]
fn six_per_cent_between_single_takes_bind_nothing() {
    let mut run = empty();
    for (generators, throughput) in [(1, 20.0e3), (2, 21.2e3)] {
        let figures = [
            ("throughput", throughput),
            ("response-time", 1e-3),
            ("generator-share", 0.3),
            ("core-busy;cpu=0;role=server", 0.4),
        ];
        load(&mut run, &format!("connections=50;generators={generators}"), &figures);
    }
    run.series.iter_mut().for_each(|series| series.points.truncate(1));
    assert!(docs(&run).iter().all(|doc| doc.kind == Binding::Waiting), "{:?}", docs(&run));
}

/// `wW2b`: a disk that other programs keep busy.
#[test]
fn a_disk_binds_by_the_servers_own_work_alone() {
    let of = |more: &[(&str, f64)], roof: Option<f64>| {
        let figures = [
            &[
                ("throughput", 300.0),
                ("response-time", 0.1),
                ("window", 1.0),
                ("disk-busy;disk=nvme0n1", 0.97),
            ][..],
            &[("disk-read", 400e6), ("io-pressure", 0.4)],
            more,
        ]
        .concat();
        let mut run = on_cores("connections=50", &figures, &[("server", [0.5, 0.2, 0.2, 0.1])]);
        if let Some(iops) = roof {
            let points: Vec<(u64, Value)> = (0..8).map(|seq| (seq, Value::Number(iops))).collect();
            series(&mut run, "disk-read", "iops", params("block=4KiB;qd=32"), "", &points);
        }
        first(&run)
    };
    let others = of(&[("server-read", 0.0), ("server-written", 0.0)], None);
    assert_eq!(others.kind, Binding::Waiting, "{others:?}");
    let text = "disk nvme0n1 97 % busy; the server itself moves nothing there";
    assert!(others.resources.iter().any(|one| one.text == text), "{others:?}");
    assert_ne!(of(&[], None).kind, Binding::Disk, "whose work it is is not known");
    assert_ne!(
        of(&[("server-read", 40e6), ("server-written", 0.0)], None).kind,
        Binding::Disk,
        "a tenth is its own"
    );
    let own = [("server-read", 390e6), ("server-written", 0.0)];
    let bound = of(&own, None);
    assert_eq!(bound.kind, Binding::Disk);
    assert!(bound.sentence.contains("(97 % busy; the server itself reads 390 MB/s)"), "{}", bound.sentence);
    // 4 KiB times 100 k/s: as much as the disk gave. Ten times that: it waits for each read, but the disk is not full.
    let roofed = of(&own, Some(100e3));
    assert!(
        roofed.sentence.contains("reads 390 MB/s of 410 MB/s that disk-read got here"),
        "{}",
        roofed.sentence
    );
    assert_eq!(of(&own, Some(1e6)).kind, Binding::Io);
    // What it writes is not held against what can be read.
    let writes = of(&[("server-read", 0.0), ("server-written", 390e6)], Some(1e6));
    assert_eq!(writes.kind, Binding::Disk);
    assert!(
        writes.sentence.contains("(97 % busy; the server itself writes 390 MB/s)"),
        "{}",
        writes.sentence
    );
}

/// `wW2c`: the server's core at 84 %.
#[test]
fn a_core_at_84_per_cent_is_near_its_ceiling() {
    let near = |busy: f64| {
        let mut figures = PLAIN.to_vec();
        figures[1].1 = 5e-3;
        figures[2].1 = busy;
        let cores = [("server", [busy, 0.3, 0.5, 0.04]), ("generator", [busy, 0.3, 0.5, 0.04])];
        first(&on_cores("connections=50", &figures, &cores))
    };
    let doc = near(0.84);
    assert_eq!((doc.kind, doc.resource.as_str()), (Binding::Core, "cpu0"), "{doc:?}");
    assert!(
        doc.sentence.starts_with("near the ceiling of cpu0, the one core of the server (84 % busy"),
        "{doc:?}"
    );
    assert!(doc.evidence.iter().any(|text| text.contains("some 5.25 times the CPU time")), "{doc:?}");
    assert!(doc.counter_evidence.iter().any(|text| text.contains("generator's busiest core")), "{doc:?}");
    assert!(doc.advice.iter().all(|text| !text.contains("lock")), "{doc:?}");
    assert_eq!(near(0.6).kind, Binding::Waiting);
    // Several cores together, and the one of several that is.
    let of = |cores: &[(&str, [f64; 4])]| first(&on_cores("connections=500", PLAIN, cores));
    let all = of(&[("server", [0.8, 0.4, 0.4, 0.0]), ("server", [0.74, 0.3, 0.4, 0.04])]);
    assert!(all.sentence.starts_with("near the ceiling of the 2 cores of the server (77 % busy"), "{all:?}");
    let one = of(&[("server", [0.8, 0.4, 0.4, 0.0]), ("server", [0.2, 0.1, 0.1, 0.0])]);
    assert!(one.sentence.starts_with("near the ceiling of cpu0, one of the 2 cores"), "{one:?}");
}

#[test]
fn server_and_generator_that_are_both_full_are_said_once() {
    let figures =
        [("throughput", 60e3), ("response-time", 800e-6), ("generator-share", 0.95), ("server-cpu", 14e-6)];
    let cores = [("server", [0.96, 0.3, 0.6, 0.06]), ("generator", [0.97, 0.3, 0.6, 0.07])];
    let doc = first(&on_cores("connections=50", &figures, &cores));
    assert_eq!((doc.kind, doc.resource.as_str()), (Binding::Core, "cpu0"));
    assert_eq!(
        doc.sentence,
        "server and generator are both full (the server's cpu0 96 % busy; the generator on cpu1 works 95 % of its time): \
         generate from another machine to see whether the server does more"
    );
    assert!(!doc.counter_evidence.iter().any(|text| text.contains("also")), "{doc:?}");
}
