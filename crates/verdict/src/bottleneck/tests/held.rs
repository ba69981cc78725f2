//! Loads held against what the same machine did in its stored runs.

use model::doc::{CeilingFigureDoc, CeilingOf};
use model::{Params, Validity};

use super::*;
use crate::ceiling_figure::Figure;

/// A figure of a run an hour before the load's.
fn figure(instrument: &str, metric: &str, given: &str, value: f64) -> Figure {
    let doc = CeilingFigureDoc {
        instrument: instrument.into(),
        metric: metric.into(),
        params: Params::parse(given).unwrap(),
        value,
        low: Some(0.9 * value),
        high: Some(1.1 * value),
        run: "c".into(),
        age: 0.0,
        validity: Validity::Ok,
        doubts: Vec::new(),
    };
    Figure {
        doc,
        definition: 1,
        started_ns: -3_600_000_000_000,
        disks: Some(vec!["vda".into()]),
        interface: Some("lo".into()),
        body: Some(43.0),
    }
}

fn held(run: &RunData, figures: &[Figure]) -> BottleneckDoc {
    let context =
        RunContext { cards: instruments::cards(), ceilings: Some(figures), ..RunContext::default() };
    bottlenecks(&RunIndex::new(run, &context)).remove(0)
}

fn of(doc: &BottleneckDoc, of: CeilingOf) -> &model::doc::CeilingDoc {
    doc.ceilings.iter().find(|one| one.of == of).unwrap()
}

/// A server that reads so many blocks of 4 KiB a second from a busy disk.
fn reading(reads: f64, depth: f64) -> RunData {
    let bytes = reads * 4096.0;
    let figures = [
        ("throughput", 300.0),
        ("response-time", 0.1),
        ("window", 1.0),
        ("disk-busy;disk=vda", 0.97),
        ("disk-read", bytes),
        ("server-read", bytes),
        ("server-written", 0.0),
        ("disk-reads;disk=vda", reads),
        ("disk-read-rate;disk=vda", bytes),
        ("disk-read-depth;disk=vda", depth),
        ("bandwidth", bytes),
    ];
    on_cores("connections=50;server=nginx", &figures, &[("server", [0.3, 0.1, 0.1, 0.1])])
}

#[test]
fn a_disk_that_does_what_it_can() {
    let depths = [
        figure("disk-read", "iops", "qd=1;block=4KiB", 5e3),
        figure("disk-read", "iops", "qd=32;block=4KiB", 22e3),
    ];
    let doc = held(&reading(20e3, 30.0), &depths);
    assert_eq!((doc.kind, doc.resource.as_str()), (Binding::Disk, "vda"));
    let says = "bound by disk vda (97 % busy; the server itself reads 81.9 MB/s; reads: 20.0 of the 22.0 k/s that it \
                can do, 91 %): more memory, or a faster disk";
    assert_eq!(doc.sentence, says);
    let text = "reads from disk vda: 20.0 of the 22.0 k/s (91 %, 83 to 101 %; disk-read 1 h before)";
    assert_eq!(of(&doc, CeilingOf::Reads).text, text);
    assert!(doc.evidence.iter().any(|one| one == text), "{doc:?}");
    let best = of(&doc, CeilingOf::Reads).measured.as_ref().unwrap();
    assert_eq!((best.params.get("qd"), best.age), (Some("32"), 3600.0));
}

#[test]
fn a_disk_that_is_asked_for_one_block_after_the_other() {
    let depths = [figure("disk-read", "iops", "qd=32;block=4KiB", 22e3)];
    let doc = held(&reading(4e3, 1.0), &depths);
    assert_eq!(doc.kind, Binding::Disk);
    assert!(
        doc.sentence.starts_with("bound by waiting for disk vda with few reads at once"),
        "{}",
        doc.sentence
    );
    assert!(doc.sentence.contains("reads: 4.00 of the 22.0 k/s that it can do, 18 %"), "{}", doc.sentence);
    assert!(doc.advice[0].contains("aio threads"), "{doc:?}");
    // As many at once as the test had: it does what it does, and the disk is not what binds.
    assert_ne!(held(&reading(4e3, 30.0), &depths).kind, Binding::Disk);
}

#[test]
fn figures_of_another_disk_or_a_doubtful_run() {
    let other = Figure { disks: Some(vec!["sdb".into()]), ..figure("disk-read", "iops", "qd=32", 100e3) };
    let doc = held(&reading(4e3, 1.0), std::slice::from_ref(&other));
    let never = of(&doc, CeilingOf::Reads);
    assert_eq!((never.measured.is_none(), never.by_option), (true, false));
    let says = "reads from disk vda: 4.00 k/s; what it can do was never measured (that of sdb was): boxscore run \
                disk-read --dir DIR, with DIR on vda";
    assert_eq!(never.text, says);
    let mut doubtful = figure("disk-read", "iops", "qd=32", 30e3);
    doubtful.doc.validity = Validity::Doubtful;
    let sure = figure("disk-read", "iops", "qd=16", 22e3);
    let doc = held(&reading(4e3, 1.0), &[doubtful.clone(), other.clone(), sure]);
    assert!(of(&doc, CeilingOf::Reads).text.contains("of the 22.0 k/s"), "{doc:?}");
    let doc = held(&reading(4e3, 1.0), &[doubtful, other]);
    assert!(of(&doc, CeilingOf::Reads).text.contains("1 h before, a doubtful figure"), "{doc:?}");
    // A run from before disks were noted, on a machine with one and on one with two.
    let unknown = [Figure { disks: None, ..figure("disk-read", "iops", "qd=32", 22e3) }];
    let mut run = reading(4e3, 1.0);
    run.facts.push(Fact::text("disk.names", "vda", "sys"));
    assert!(of(&held(&run, &unknown), CeilingOf::Reads).share.is_some());
    run.facts[0] = Fact::text("disk.names", "sdb vda", "sys");
    assert!(of(&held(&run, &unknown), CeilingOf::Reads).text.contains("a disk which is not known"));
}

#[test]
fn a_load_that_gets_more_than_the_ceiling_has_none() {
    let busy = [figure("disk-read", "iops", "qd=32", 2e3)];
    let doc = held(&reading(4e3, 20.0), &busy);
    let reads = of(&doc, CeilingOf::Reads);
    assert!(reads.exceeded && reads.share.is_none(), "{reads:?}");
    assert!(
        reads.text.contains("more than the 2.00 k/s of disk-read 1 h before: that is no ceiling"),
        "{}",
        reads.text
    );
    assert_eq!(doc.kind, Binding::Disk, "it does at least what it can");
}

#[test]
fn boxscores_own_server_under_the_same_load() {
    let given = "connections=50;generators=1;keepalive=on;server=nginx;content=gif";
    let run = one(given, &[("throughput", 58e3), ("bandwidth", 58e3 * 43.0), ("response-time", 1e-3)]);
    let own = |given: &str| figure("web", "throughput", &format!("server=builtin;{given}"), 120e3);
    let doc = held(&run, &[own("connections=50;generators=1;keepalive=on")]);
    let says = "answers of boxscore's own server: 58.0 of the 120 k/s (48 %, 44 to 54 %; web 1 h before)";
    assert_eq!(of(&doc, CeilingOf::Answers).text, says);
    // Another load, longer answers, or another definition are something else.
    let longer = Figure { body: Some(1e5), ..own("connections=50;generators=1;keepalive=on") };
    let newer = Figure { definition: 2, ..own("connections=50;generators=1;keepalive=on") };
    for others in [own("connections=10;generators=1;keepalive=on"), longer, newer] {
        let doc = held(&run, &[others]);
        let never = of(&doc, CeilingOf::Answers);
        assert!(
            never.measured.is_none() && never.command.contains("server=builtin;arrivals=closed"),
            "{never:?}"
        );
    }
    // Its own loads have no such ceiling.
    let doc = held(&one("server=builtin;connections=50", &[("throughput", 58e3)]), &[]);
    assert!(doc.ceilings.iter().all(|one| one.of != CeilingOf::Answers));
}

#[test]
fn the_loopback_and_a_network_interface_are_two_things() {
    let figures = [
        ("throughput", 1e3),
        ("bandwidth", 1e8),
        ("packets-out;interface=eth0", 9e3),
        ("packets-in;interface=eth0", 9e4),
    ];
    let away = one("url=http://10.0.0.2/;connections=4", &figures);
    let loopback = [figure("net-bandwidth", "bandwidth", "to=loopback;direction=send", 2e9)];
    let doc = held(&away, &loopback);
    let carried = of(&doc, CeilingOf::BytesCarried);
    assert_eq!((carried.resource.as_str(), carried.by_option), ("eth0", false));
    assert!(
        carried
            .text
            .contains("never measured (that of the loopback was): boxscore run net-bandwidth --to HOST"),
        "{}",
        carried.text
    );
    let over = |way: &str| Figure {
        interface: Some("eth0".into()),
        ..figure("net-bandwidth", "bandwidth", &format!("to=10.0.0.2;direction={way}"), 1.2e8)
    };
    let doc = held(&away, &[over("receive")]);
    assert_eq!(of(&doc, CeilingOf::BytesCarried).share.map(|share| (share * 100.0).round()), Some(83.0));
    assert!(
        doc.evidence
            .iter()
            .any(|one| one.starts_with("near what this machine did elsewhere: bytes over eth0")),
        "{doc:?}"
    );
    assert!(of(&held(&away, &[over("send")]), CeilingOf::BytesCarried).measured.is_none());
    let here =
        one("connections=4", &[("throughput", 1e3), ("bandwidth", 1e8), ("packets-out;interface=lo", 9e4)]);
    let all = [
        loopback[0].clone(),
        figure("net-packets", "packet-rate", "to=loopback;size=64", 3e5),
        figure("mem-bandwidth", "bandwidth", "op=copy;counting=bw_mem", 5e9),
    ];
    let doc = held(&here, &all);
    let texts: Vec<&str> = doc.ceilings.iter().map(|one| one.text.as_str()).collect();
    assert_eq!(
        texts[0],
        "packets over the loopback: 90.0 of the 300 k/s (30 %, 27 to 33 %; net-packets 1 h before)"
    );
    assert!(texts[1].starts_with("bytes over the loopback: 100 of the 2,000 MB/s (5.0 %"), "{texts:?}");
    assert!(texts[2].starts_with("bytes copied in memory: at least "), "{texts:?}");
    assert!(
        texts[3].starts_with("answers of boxscore's own server: 1.00 k/s; what it can do was never"),
        "{texts:?}"
    );
}

#[test]
fn nobody_looked() {
    assert!(first(&reading(4e3, 1.0)).ceilings.is_empty());
}
