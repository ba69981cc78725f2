//! Loads of servers that are started for them.

use std::path::Path;
use std::time::Duration;

use crate::sheet::Sheet;
use instruments::workload::server::tree;
use model::{Params, Probe, Seconds, Setup, Size};

fn setup(instrument: &str, given: &str, dir: &Path) -> Setup {
    let card = instruments::find(instrument).unwrap().card();
    let allowed = sys::affinity::allowed().unwrap();
    Setup {
        size: Size::Smoke,
        seed: 7,
        ..Setup::bare(
            card.resolve(&Params::parse(given).unwrap()).unwrap(),
            allowed.iter().take(2).map(|&cpu| u32::try_from(cpu).unwrap()).collect(),
            dir,
        )
    }
}

fn probe(instrument: &str, given: &str, dir: &Path) -> Box<dyn Probe> {
    let found = instruments::find(instrument).unwrap();
    let mut probe =
        found.prepare(&setup(instrument, given, dir)).unwrap_or_else(|why| panic!("{given}: {why}"));
    probe.calibrate(Seconds(0.05)).unwrap_or_else(|why| panic!("{given}: {why}"));
    probe
}

fn note<'a>(sheet: &'a Sheet, kind: &str) -> &'a str {
    sheet.notes.iter().find(|note| note.0 == kind).map_or("", |note| note.1.as_str())
}

#[track_caller]
fn take(probe: &mut dyn Probe) -> Sheet {
    take_of("web", probe)
}

#[track_caller]
fn take_of(instrument: &'static str, probe: &mut dyn Probe) -> Sheet {
    let mut sheet = Sheet::of(instrument);
    probe.take(1, &mut sheet).unwrap();
    sheet
}

/// A folder that every account can reach.
fn folder() -> tempfile::TempDir {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::Builder::new().prefix("loads ").tempdir_in("/tmp").unwrap();
    std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
    dir
}

/// The first processes of servers whose folder is under `dir`.
fn groups(dir: &Path) -> Vec<i32> {
    let inside =
        |pid: i32| std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(dir));
    let mut groups: Vec<i32> = (tree::processes().unwrap().iter())
        .filter(|stat| stat.is_alive() && inside(stat.pid))
        .map(|stat| stat.group)
        .collect();
    groups.sort_unstable();
    groups.dedup();
    groups
}

fn is_empty(dir: &Path) -> bool {
    std::fs::read_dir(dir).unwrap().count() == 0
}

pub fn every_server_is_loaded_and_seen() {
    let dir = folder();
    for (given, version) in [
        ("server=nginx", "nginx/"),
        ("server=builtin;generators=2", "builtin/"),
        ("mpm=prefork", "prefork"),
        ("server=httpd;keepalive=off;mpm=worker", "worker"),
        ("server=httpd;content=10k", "event"),
    ] {
        let mut probe = probe("web", &format!("{given};connections=4;timeout=60"), dir.path());
        let sheet = take(probe.as_mut());
        for metric in ["throughput", "bandwidth", "response-time", "generator-share", "server-cores"] {
            assert!(sheet.get(metric) > 0.0, "{given}: {metric}");
        }
        assert!(!sheet.values.keys().any(|name| name.starts_with("failed")), "{given}: {:?}", sheet.notes);
        let setup = note(&sheet, "web-setup");
        assert!(setup.contains(version) && setup.contains("generator"), "{given}: {setup}");
        assert!(note(&sheet, "server-build").contains('/'), "{given}: {:?}", sheet.notes);
        let roles: Vec<&String> = sheet.values.keys().filter(|name| name.starts_with("core-busy")).collect();
        let has = |role: &str| roles.iter().any(|name| name.ends_with(&format!("role={role}")));
        assert!(has("both") || has("server") && has("generator"), "{given}: {roles:?}");
        // What is said once is said once.
        assert_eq!(note(&take(probe.as_mut()), "web-setup"), "");
        drop(probe);
        assert!(groups(dir.path()).is_empty(), "{given}");
        assert!(is_empty(dir.path()), "{given}");
    }
}

pub fn equal_setups_share_a_server() {
    let dir = folder();
    let one = probe("web", "server=builtin;connections=2", dir.path());
    let two = probe("web", "server=builtin;connections=700;arrivals=constant;rate=100", dir.path());
    assert_eq!(groups(dir.path()).len(), 1);
    let content = probe("web", "server=builtin;content=1k", dir.path());
    let workers = probe("web", "server=builtin;workers=2", dir.path());
    assert_eq!(groups(dir.path()).len(), 3);
    drop(one);
    assert_eq!(groups(dir.path()).len(), 3);
    drop(two);
    assert_eq!(groups(dir.path()).len(), 2);
    drop((content, workers));
    assert!(is_empty(dir.path()));
}

pub fn an_open_loop_asks_for_its_share() {
    let dir = folder();
    let given = "server=builtin;connections=8;timeout=60";
    let mut half = probe("web", &format!("{given};arrivals=constant;load=50%"), dir.path());
    let mut tenth = probe("web", &format!("{given};arrivals=poisson;load=10%"), dir.path());
    let (half, tenth) = (take(half.as_mut()), take(tenth.as_mut()));
    let capacity = half.get("capacity");
    assert!(capacity > 0.0);
    // One measurement of the capacity is shared.
    assert_eq!(capacity.to_bits(), tenth.get("capacity").to_bits());
    assert!((half.get("offered-load") / capacity - 0.5).abs() < 1e-9);
    assert!((tenth.get("offered-load") / capacity - 0.1).abs() < 1e-9);
    // A constant rate for half a second.
    let wanted = half.get("offered-load") * 0.5;
    assert!((half.get("response-times") - wanted).abs() <= 2.0, "{} {wanted}", half.get("response-times"));
}

pub fn a_mix_is_asked_for_by_weight() {
    let dir = folder();
    let mut mix = probe("web", "server=builtin;content=mix;connections=4;timeout=60", dir.path());
    let sheet = take(mix.as_mut());
    assert!(!sheet.values.keys().any(|name| name.starts_with("failed")), "{:?}", sheet.notes);
    // No single file of it: the mean lies between the smallest and the largest.
    let mean = sheet.get("bandwidth") / sheet.get("throughput");
    assert!(mean > 43.0 && mean < f64::from(9 << 20), "{mean}");
}

pub fn a_server_that_dies_is_a_fault_and_comes_back() {
    let dir = folder();
    for server in ["builtin", "nginx"] {
        let mut probe = probe("web", &format!("server={server};connections=2;duration=1"), dir.path());
        take(probe.as_mut());
        let path = dir.path().to_owned();
        let killer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            for group in groups(&path) {
                assert!(sys::process::signal_group(group, 9).unwrap(), "it had ended already");
            }
        });
        let fault = probe.take(1, &mut Sheet::of("web"));
        killer.join().unwrap();
        // Whether this take or, on a slow machine, the next one meets it: it is told, and another server is there.
        if let Err(fault) = &fault {
            assert!(fault.text.contains("ended"), "{server}: {fault}");
        }
        let sheet = take(probe.as_mut());
        assert!(sheet.get("throughput") > 0.0);
        assert!(
            fault.is_err() || note(&sheet, "server-restarted").contains("ended"),
            "{server}: {:?}",
            sheet.notes
        );
    }
}

pub fn a_goal_is_searched() {
    let dir = folder();
    let mut probe = probe("web-slo", "server=builtin;connections=4;percentile=p50;limit=100ms", dir.path());
    let sheet = take_of("web-slo", probe.as_mut());
    assert!(sheet.get("slo-throughput") > 0.0 && sheet.get("steps") >= 2.0);
    assert!(sheet.get("capacity") > 0.0 && sheet.get("response-times") > 0.0);
    for metric in ["step-rate", "step-requests", "step-answered"] {
        assert!(sheet.get(&format!("{metric} step=1")) > 0.0, "{metric}");
    }
}

pub fn a_server_listens_where_it_is_told_to() {
    let dir = folder();
    for server in ["nginx", "httpd", "builtin"] {
        for listen in ["127.0.0.2", "0.0.0.0"] {
            let mut probe =
                probe("web", &format!("server={server};listen={listen};connections=1"), dir.path());
            assert!(take(probe.as_mut()).get("throughput") > 0.0, "{server} {listen}");
        }
    }
}
