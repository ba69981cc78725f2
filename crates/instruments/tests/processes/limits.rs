//! Loads at the limits of a machine: a server's memory, a cold cache, the kernel's queues.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Stdio};

use instruments::load::Load;
use instruments::workload::web::limits::tell;
use instruments::workload::web::served::Served;

use crate::sheet::Sheet;
use model::{Params, Probe, Seconds, Setup, Size, Unfit};

fn prepare(given: &str, dir: &Path) -> Result<Box<dyn Probe>, Unfit> {
    let web = instruments::find("web").unwrap();
    let allowed = sys::affinity::allowed().unwrap();
    let server = if given.contains("url=") { "auto" } else { "nginx" };
    let given = format!("server={server};timeout=60;{given}");
    let setup = Setup {
        size: Size::Smoke,
        seed: 7,
        ..Setup::bare(
            web.card().resolve(&Params::parse(&given).unwrap()).unwrap(),
            allowed.iter().take(2).map(|&cpu| u32::try_from(cpu).unwrap()).collect(),
            dir,
        )
    };
    web.fit(&setup)?;
    web.prepare(&setup)
}

#[track_caller]
fn take(probe: &mut dyn Probe) -> Sheet {
    let mut sheet = Sheet::of("web");
    probe.take(1, &mut sheet).unwrap();
    sheet
}

/// A folder on a disk that every account can reach.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::Builder::new().prefix("limits ").tempdir_in("/var/tmp").unwrap();
    std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
    dir
}

/// True if this system lets us limit a group's memory, found out without the code under test.
fn memory_can_be_limited() -> bool {
    let mut command = Command::new("/bin/sh");
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/memory_probe.sh"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().unwrap().success()
}

pub fn what_does_not_fit_is_read_again() {
    let dir = folder();
    let arm = |memory: &str| {
        prepare(&format!("content=mix;content-size=64M;connections=8;memory={memory}"), dir.path())
    };
    if !memory_can_be_limited() {
        let why = arm("32M").err().expect("memory is limited").why;
        assert!(why.contains("memory=32MiB: ") && why.contains("; "), "{why}");
        return;
    }
    let (mut small, mut large) = (arm("32M").unwrap(), arm("512M").unwrap());
    for probe in [&mut small, &mut large] {
        probe.calibrate(Seconds(0.05)).unwrap();
    }
    // Takes of both in turn: neither brings in the files of the other.
    let takes: Vec<(Sheet, Sheet)> = (0..3).map(|_| (take(&mut *small), take(&mut *large))).collect();
    for (small, large) in &takes {
        assert!(small.get("server-memory") <= (32 << 20) as f64);
        // The whole machine may be short of memory too, and take some of what would fit.
        assert!(large.get("server-cache") > small.get("server-cache"), "{}", large.get("server-cache"));
    }
    let sum = |name: &str| takes.iter().filter_map(|(small, _)| small.values.get(name)).sum::<f64>();
    assert!(sum("disk-read") > 0.0, "what had left the cache came from nowhere");
    // Old kernels do not count these.
    assert!(sum("memory-refaults") > 0.0 || !takes[0].0.values.contains_key("memory-refaults"));
}

pub fn a_cold_cache_is_proven_by_the_disk() {
    let dir = folder();
    let large = "content=large;content-size=24M;connections=1;requests=3;cache=cold";
    let mix = "content=mix;content-size=24M;connections=4;requests=300;cache=cold";
    for (given, least) in [(large, (24 << 20) as f64), (mix, 1e6)] {
        let mut probe = prepare(given, dir.path()).unwrap();
        probe.calibrate(Seconds(0.05)).unwrap();
        for _ in 0..2 {
            let sheet = take(&mut *probe);
            // A folder of a network, an overlay or btrfs has no device of its own to ask.
            if dir.path().metadata().unwrap().dev() >> 8 == 0 {
                assert!(sheet.refusals.iter().all(|finding| finding.text().contains("cannot be told")));
            } else {
                assert!(sheet.refusals.is_empty(), "{:?}", sheet.refusals);
                assert!(sheet.get("disk-read") >= 0.9 * least, "{given}: {}", sheet.get("disk-read"));
            }
        }
    }
    for (given, says) in [
        ("content=1k;cache=cold", "content=1k"),
        ("content=1k;content-size=2M", "content-size"),
        ("url=http://127.0.0.1:1/;cache=cold", "not ours"),
    ] {
        let why = prepare(given, dir.path()).err().unwrap().why;
        assert!(why.contains(says), "{why}");
    }
}

pub fn memory_is_never_cold() {
    let shm = Path::new("/dev/shm");
    if !sys::direct::file_system(shm).is_ok_and(|system| system.in_memory) {
        return;
    }
    let dir = tempfile::tempdir_in(shm).unwrap();
    std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let why = prepare("content=mix;content-size=2M;cache=cold", dir.path()).err().unwrap().why;
    assert!(why.contains("memory, not a disk"), "{why}");
}

pub fn queues_that_are_too_short_are_named() {
    let dir = folder();
    let setting = |name: &str| -> usize {
        std::fs::read_to_string(format!("/proc/sys/net/core/{name}")).unwrap().trim().parse().unwrap()
    };
    let queue = setting("netdev_max_backlog");
    for connections in [queue / 2, queue + 1] {
        // What this machine cannot hold is refused elsewhere.
        if connections > 4000 {
            continue;
        }
        let mut probe = prepare(&format!("content=gif;connections={connections}"), dir.path()).unwrap();
        let sheet = take(&mut *probe);
        let says = format!("`sysctl -w net.core.netdev_max_backlog={connections}`");
        let told = sheet.notes.iter().any(|(kind, text)| kind == "limit" && text.contains(&says));
        assert_eq!(told, connections > queue, "{:?}", sheet.notes);
        for counter in ["listen-overflow", "listen-drop", "retransmits", "resets", "softnet-drop"] {
            assert!(sheet.get(&format!("drops counter={counter}")) >= 0.0);
        }
    }
}

/// Here and not beside the code: what other tests start holds a copy of the socket for a moment.
pub fn a_server_that_may_open_too_few_files_is_named() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url: model::url::Url = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
    let served = Served::theirs(&url);
    let told = |connections| {
        let mut values = Sheet::of("web");
        tell(&served, &Load { connections, ..Load::new(url.clone()) }, &mut values);
        values.notes
    };
    assert_eq!(told(1), []);
    let notes = told(usize::MAX);
    assert!(notes.iter().all(|(kind, _)| kind == "limit"), "{notes:?}");
    // This process is the server.
    let soft = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let says = soft.map(|most| format!("the server's processes (1) may have {most} files"));
    assert_eq!(
        says.is_some(),
        notes.iter().any(|(_, text)| says.as_ref().is_some_and(|says| text.contains(says))),
        "{notes:?}"
    );
}
