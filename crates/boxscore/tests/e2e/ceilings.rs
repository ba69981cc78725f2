//! Loads of real servers, held against what the same machine did in other runs of the store.

use crate::common::{Bench, cannot};
use model::NoteBody;
use model::doc::{CeilingDoc, CeilingOf, RunDoc};

/// One short load of a closed loop, long enough for answers on a busy machine.
const ONE: &str = "connections=3;arrivals=closed;load=auto;generators=1;duration=1";

/// A folder that the server's account can reach.
fn reachable(bench: &Bench) {
    use std::os::unix::fs::PermissionsExt;
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(bench.dir.path(), open).expect("its own folder");
}

/// Measures a web server that is started here; the id of the run.
fn web(bench: &Bench, set: &str) -> String {
    let known: Vec<String> = match bench.store().exists() {
        true => bench.heads().into_iter().map(|head| head.id).collect(),
        false => Vec::new(),
    };
    let set = format!("{ONE};{set}");
    bench.run(&["run", "web", "--no-report", "--takes", "2", "--set", &set]).expect(0, &[]);
    bench.heads().into_iter().find(|head| !known.contains(&head.id)).expect("a new run").id
}

fn ceilings(bench: &Bench, run: &str) -> Vec<CeilingDoc> {
    let said = bench.run(&["show", run, "--json"]).expect(0, &[]);
    let doc: RunDoc = serde_json::from_str(&said.out).expect("a document");
    doc.bottlenecks[0].ceilings.clone()
}

fn answers(all: &[CeilingDoc]) -> &CeilingDoc {
    all.iter().find(|one| one.of == CeilingOf::Answers).expect("a closed loop has it")
}

#[test]
fn a_server_is_told_as_a_share_of_our_own() {
    let bench = Bench::new();
    reachable(&bench);
    let nginx = web(&bench, "server=nginx;content=gif;keepalive=on");
    let before = ceilings(&bench, &nginx);
    let never = answers(&before);
    assert!(never.measured.is_none() && never.by_option, "{never:?}");
    assert!(never.command.contains("server=builtin;arrivals=closed;load=auto;content=gif"), "{never:?}");
    let said = bench.run(&["show", &nginx]).expect(0, &[]);
    let plain = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plain.contains("never measured here:") && plain.contains("--ceilings does it"), "{}", said.out);

    // Measured after the load, and with a connection for each request before that.
    web(&bench, "server=builtin;content=gif;keepalive=off");
    assert!(answers(&ceilings(&bench, &nginx)).measured.is_none());
    let own = web(&bench, "server=builtin;content=gif;keepalive=on");
    let after = ceilings(&bench, &nginx);
    let held = answers(&after);
    let figure = held.measured.as_ref().expect("it was measured");
    assert_eq!((figure.run.as_str(), figure.instrument.as_str()), (own.as_str(), "web"));
    assert!(figure.age < 0.0 && (held.share.is_some() || held.exceeded), "{held:?}");
    let whole = bench.run(&["show", &nginx, "--all"]).expect(0, &[]);
    let plain = whole.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plain.contains("answers of boxscore's own server:") && plain.contains("later"), "{}", whole.out);
    assert!(ceilings(&bench, &own).iter().all(|one| one.of != CeilingOf::Answers));
}

#[test]
fn a_server_that_reads_is_held_against_its_disk() {
    let bench = Bench::new();
    reachable(&bench);
    let read = ["run", "disk-read", "--takes", "6", "--set", "qd=16", "--set", "file-size=16MiB"];
    let said = bench.run(&read);
    if said.code != Some(0) {
        return cannot("the file system has no direct transfers");
    }
    let run = bench.only();
    let disks = run.notes.iter().find_map(|note| match &note.body {
        NoteBody::TestDisks(disks) => Some(disks.clone()),
        _ => None,
    });
    let Some(disks) = disks else { return cannot("the disk under the folder is not known") };
    let nginx = web(&bench, "server=nginx;content=large;content-size=64MiB;cache=cold;keepalive=on");
    let all = ceilings(&bench, &nginx);
    // A disk that answers out of a cache of its own is hardly busy, and has none.
    for one in all.iter().filter(|one| one.of == CeilingOf::Reads) {
        let figure = one.measured.as_ref();
        assert_eq!(figure.is_some(), disks == [one.resource.clone()], "{one:?} {disks:?}");
        assert!(figure.is_none_or(|figure| figure.run == run.head.id && figure.age > 0.0), "{one:?}");
    }
    let data = bench.data(&nginx);
    let sum = |metric: &str| -> f64 {
        let of = data.series.iter().filter(|series| series.key.metric == metric);
        of.flat_map(|series| series.measured()).sum()
    };
    assert!(sum("disk-read") == 0.0 || sum("disk-reads") > 0.0, "reads have requests");
    assert!(sum("packets-out") > 0.0, "the loopback carried them");
}

#[test]
fn what_is_measured_elsewhere_is_not_measured_first() {
    let bench = Bench::new();
    let world = ["run", "web", "--quick", "--ceilings", "--no-report", "--fake", "world.json"];
    bench.run(&world).expect(2, &["this machine alone"]);
    bench.run(&["run", "cpu", "--ceilings"]).expect(2, &["--ceilings"]);
    bench.run(&["load", "http://127.0.0.1:1/", "--ceilings", "--no-store"]).expect(2, &["--no-store"]);
    assert!(!bench.store().exists(), "nothing was stored");
}
