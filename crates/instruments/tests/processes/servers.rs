//! Managed servers, the real ones: this program is the owner of a server that waits to be killed when called with
//! `owner`, and a user without rights when called with `plain`.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use instruments::workload::server::content::{Content, Limits, Set};
use instruments::workload::server::installed;
use instruments::workload::server::kind::{Kind, ServerError};
use instruments::workload::server::options::{Mpm, Options};
use instruments::workload::server::run::Server;
use instruments::workload::server::{account, tree};
use instruments::workload::web::served::Served;
use sys::process::{ProcessGroup, Start};

const LIMITS: Limits = Limits { mix_bytes: 1 << 20, large_bytes: 3_000_000 };

/// `xtask/setup.sh test` installs them: without one the tests would show less than they say.
pub fn every_server_is_installed() {
    for (name, build) in installed::detect() {
        let build = build.unwrap_or_else(|why| panic!("{name}: {why}"));
        assert!(build.program.is_absolute() && build.version.contains('/'), "{build:?}");
    }
}

/// Each kind of server, with each MPM.
fn arms() -> Vec<(&'static dyn Kind, Options)> {
    let small = Options { connections: 40, ..Options::default() };
    let of = |name: &str| installed::find(name).unwrap();
    let mut arms = vec![(of("nginx"), small.clone()), (of("builtin"), small.clone())];
    for mpm in [Mpm::Prefork, Mpm::Worker, Mpm::Event] {
        arms.push((of("httpd"), Options { mpm: Some(mpm), ..small.clone() }));
    }
    arms
}

/// A folder that every account can reach, with a name that must be quoted.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::Builder::new().prefix("a test's ").tempdir_in("/tmp").unwrap();
    std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
    dir
}

fn content(set: Set, dir: &Path) -> Content {
    Content::make(set, 11, &LIMITS, dir, account::choose().unwrap().as_ref()).unwrap()
}

fn start(kind: &dyn Kind, options: &Options, content: &Content, dir: &Path) -> Server {
    Server::start(kind, options, content, dir).unwrap_or_else(|why| panic!("{}: {why}", kind.name()))
}

/// Asks for a file on a connection of its own; the body may be of any size.
fn fetch(address: SocketAddr, path: &str) -> (String, Vec<u8>) {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n").unwrap();
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(reader.read_line(&mut head).unwrap() > 0, "{path}: {head}");
    }
    let mut body = Vec::new();
    reader.read_to_end(&mut body).unwrap();
    (head, body)
}

fn is_empty(dir: &Path) -> bool {
    std::fs::read_dir(dir).unwrap().count() == 0
}

/// Killing takes effect soon, not at once.
fn soon(what: &str, mut is_so: impl FnMut() -> bool) {
    let so = (0..2000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        is_so()
    });
    assert!(so, "{what}");
}

pub fn every_file_arrives_unchanged() {
    let dir = folder();
    for set in Set::ALL {
        let content = content(set, dir.path());
        for (kind, options) in arms() {
            let server = start(kind, &options, &content, dir.path());
            for item in &content.items {
                let (head, body) = fetch(server.address(), &item.path);
                assert!(head.starts_with("HTTP/1.1 200"), "{} {}: {head}", kind.name(), item.path);
                assert_eq!(body.len() as u64, item.bytes, "{} {}", kind.name(), item.path);
                assert!(body == std::fs::read(content.file(item)).unwrap(), "{} {}", kind.name(), item.path);
            }
            let (head, _) = fetch(server.address(), "/none");
            assert!(head.starts_with("HTTP/1.1 404"), "{}: {head}", kind.name());
            let (pgid, address) = (server.pgid(), server.address());
            server.stop().unwrap();
            assert_eq!(tree::members(pgid).unwrap(), [], "{}", kind.name());
            assert!(TcpStream::connect(address).is_err(), "{} still answers", kind.name());
        }
        content.remove().unwrap();
        assert!(is_empty(dir.path()), "something is left of {}", set.name());
    }
}

/// A field of /proc/PID/status, without its name.
fn status(pid: i32, field: &str) -> String {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(field)).unwrap();
    line.trim_start_matches(':').split_whitespace().next().unwrap().to_owned()
}

fn niceness(pid: i32) -> i32 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields = text.rsplit(')').next().unwrap().split_whitespace().nth(16);
    fields.unwrap().parse().unwrap()
}

pub fn servers_run_as_and_where_they_should() {
    let dir = folder();
    let content = content(Set::K1, dir.path());
    let cpu = *sys::affinity::allowed().unwrap().last().unwrap();
    let own = niceness(i32::try_from(std::process::id()).unwrap());
    let account = account::choose().unwrap();
    let uid = account.as_ref().map_or(sys::files::effective_ids().0, |chosen| chosen.account.uid);
    for (kind, options) in arms() {
        let mut nice = 3;
        let mut options = Options { cpus: vec![cpu], nice, workers: Some(2), ..options };
        let mut server = start(kind, &options, &content, dir.path());
        if account.is_some() {
            options.nice = -3;
            // Root may lack the right in a container.
            match Server::start(kind, &options, &content, dir.path()) {
                Ok(quick) => (nice, server) = (-3, quick),
                Err(why) => assert!(why.to_string().contains("CAP_SYS_NICE"), "{why}"),
            }
        }
        let members = tree::members(server.pgid()).unwrap();
        for member in &members {
            assert_eq!(status(member.pid, "Uid"), uid.to_string(), "{} {}", kind.name(), member.name);
            assert_eq!(status(member.pid, "Cpus_allowed_list"), cpu.to_string(), "{}", kind.name());
            assert_eq!(niceness(member.pid), (own + nice).clamp(-20, 19), "{}", kind.name());
        }
        assert_eq!(server.account(), account.as_ref().map(|chosen| chosen.name.as_str()));
        assert!(server.setup().contains(&("workers", "2".to_owned())), "{:?}", server.setup());
        let (version, details) = (&server.build().version, &server.build().details);
        let (name, says) = match kind.name() {
            "httpd" => ("Apache/2.", "Server MPM"),
            "nginx" => ("nginx/1.", "configure arguments"),
            _ => ("builtin/", "boxscore"),
        };
        assert!(version.starts_with(name) && details.contains(says), "{version}\n{details}");
        if options.mpm == Some(Mpm::Prefork) {
            soon("one process a worker", || tree::members(server.pgid()).unwrap().len() == 3);
        }
        // Dropping it is stopping it.
        let (pgid, place) = (server.pgid(), server.folder().unwrap().to_owned());
        drop(server);
        assert_eq!(tree::members(pgid).unwrap(), []);
        assert!(!place.exists());
    }
}

/// Starts one server, says its process group and port, and waits.
pub fn owner(which: usize, dir: &Path) {
    let content = content(Set::Gif, dir);
    let (kind, options) = arms().into_iter().nth(which).unwrap();
    let server = start(kind, &options, &content, dir);
    let mut out = std::io::stdout();
    writeln!(out, "{} {}", server.pgid(), server.address()).unwrap();
    std::thread::sleep(Duration::from_secs(1000));
}

pub fn a_killed_owner_leaves_nothing_behind() {
    let dir = folder();
    for (which, (kind, _)) in arms().into_iter().enumerate() {
        let mut command = Command::new("/proc/self/exe");
        command.args(["owner", &which.to_string()]).arg(dir.path()).stdin(Stdio::null());
        let mut owner = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(owner.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (pgid, address) = line.trim().split_once(' ').unwrap();
        let (pgid, address): (i32, SocketAddr) = (pgid.parse().unwrap(), address.parse().unwrap());
        assert!(fetch(address, "/1x1.gif").0.starts_with("HTTP/1.1 200"));
        owner.kill().unwrap();
        owner.wait().unwrap();
        soon(kind.name(), || tree::members(pgid).unwrap().is_empty());
        soon(kind.name(), || TcpListener::bind(address).is_ok());
        soon(kind.name(), || is_empty(dir.path()));
    }
}

pub fn taken_ports_are_passed_by() {
    let dir = folder();
    let content = content(Set::Gif, dir.path());
    // It takes connections and says nothing, or the wrong thing.
    let holder = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = holder.local_addr().unwrap().port();
    for (kind, options) in arms() {
        // Several, since others may take one of them meanwhile.
        let held: Vec<TcpListener> = (0..3).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let free: Vec<u16> = held.iter().map(|listener| listener.local_addr().unwrap().port()).collect();
        drop(held);
        let ports = [&[taken], free.as_slice()].concat();
        let server = start(kind, &Options { ports, ..options.clone() }, &content, dir.path());
        let port = server.address().port();
        assert!(free.contains(&port), "{}", kind.name());
        let none = Options { ports: vec![taken, port], ..options };
        let why = Server::start(kind, &none, &content, dir.path()).unwrap_err().to_string();
        assert!(
            why.contains(&format!("{taken} is taken")) && why.contains("in use"),
            "{}: {why}",
            kind.name()
        );
        assert!(why.contains(&format!("{port} is that of another server")), "{why}");
        assert!(fetch(server.address(), "/1x1.gif").0.starts_with("HTTP/1.1 200"));
    }
}

fn script(dir: &Path, name: &str, text: &str) -> std::path::PathBuf {
    let path = dir.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    path
}

pub fn programs_that_are_no_server_are_named() {
    let dir = folder();
    let content = content(Set::Gif, dir.path());
    let hello = "case \"$1\" in -V) echo 'nginx version: nginx/1.99' >&2;; *)";
    let dies = script(dir.path(), "dies", &format!("{hello} echo no luck today >&2; exit 3;; esac"));
    let cases = [
        ("nginx", Path::new("/no/such/nginx"), "/no/such/nginx"),
        ("nginx", Path::new("/etc/passwd"), "not a program"),
        ("nginx", Path::new("/bin/true"), "does not call itself nginx"),
        ("nginx", Path::new("/bin/false"), "exit status: 1"),
        ("nginx", &dies, "no luck today"),
        ("httpd", Path::new("/bin/true"), "does not call itself Apache"),
        ("httpd", Path::new("/usr/sbin/nginx"), "does not call itself Apache"),
        ("builtin", Path::new("/bin/true"), "program itself"),
    ];
    for (name, binary, says) in cases {
        let options = Options { binary: Some(binary.to_owned()), ..Options::default() };
        let why = Server::start(installed::find(name).unwrap(), &options, &content, dir.path()).unwrap_err();
        assert!(why.to_string().contains(says), "{name} {}: {why}", binary.display());
        assert_eq!(matches!(why, ServerError::Missing(_)), says == "/no/such/nginx", "{why}");
    }
    // Another build is one that is named.
    let copy = dir.path().join("other-nginx");
    std::fs::copy("/usr/sbin/nginx", &copy).unwrap();
    let options = Options { binary: Some(copy.clone()), ..Options::default() };
    let server = start(installed::find("nginx").unwrap(), &options, &content, dir.path());
    assert_eq!(server.build().program, copy.canonicalize().unwrap());
}

pub fn options_change_the_server() {
    let dir = folder();
    let content = content(Set::K100, dir.path());
    for (kind, options) in arms() {
        let bare = Options { sendfile: false, ..options.clone() };
        let server = start(kind, &bare, &content, dir.path());
        assert_eq!(fetch(server.address(), "/100k.bin").1.len(), 102_400);
        assert!(server.setup().contains(&("sendfile", "off".to_owned())), "{:?}", server.setup());
        drop(server);
        let logging = Options { access_log: true, ..options };
        if kind.name() == "builtin" {
            assert!(matches!(
                Server::start(kind, &logging, &content, dir.path()),
                Err(ServerError::Refused(_))
            ));
            continue;
        }
        let server = start(kind, &logging, &content, dir.path());
        fetch(server.address(), "/100k.bin?mark");
        let log = server.folder().unwrap().join("access.log");
        soon("a line in the log", || std::fs::read_to_string(&log).is_ok_and(|text| text.contains("?mark")));
    }
    let nginx = installed::find("nginx").unwrap();
    let slow = Options { limit_rate: Some(50_000), open_file_cache: true, ..Options::default() };
    let mut server = start(nginx, &slow, &content, dir.path());
    let start_ns = sys::clock::now_ns();
    assert_eq!(fetch(server.address(), "/100k.bin").1.len(), 102_400);
    assert!(sys::clock::now_ns() - start_ns > 800_000_000, "the rate is not limited");
    // What dies by itself is noticed, with how.
    server.check().unwrap();
    sys::process::signal_group(server.pgid(), 9).unwrap();
    let mut why = String::new();
    soon("noticed", || server.check().map_err(|said| why = said).is_err());
    assert!(why.contains("nginx ended (signal: 9"), "{why}");
    server.stop().unwrap();
}

pub fn processes_are_found_from_outside() {
    let dir = folder();
    let content = content(Set::M1, dir.path());
    for (kind, options) in arms() {
        let server = start(kind, &options, &content, dir.path());
        if kind.name() != "httpd" {
            let cpus = sys::affinity::allowed().unwrap().len().to_string();
            assert!(server.setup().contains(&("workers", cpus)), "one for each CPU: {:?}", server.setup());
        }
        // As one that is not ours, it is known by its socket alone.
        let theirs = Served::theirs(&server.url("/1M.bin").parse().unwrap());
        let wanted = if kind.name() == "httpd" { "Apache" } else { kind.name() };
        let (head, _) = fetch(server.address(), "/1M.bin");
        assert!(head.lines().any(|line| line.starts_with("Server:") && line.contains(wanted)), "{head}");
        let ids =
            |usage: &tree::Usage| -> BTreeSet<i32> { usage.processes.iter().map(|stat| stat.pid).collect() };
        // Processes may still be starting.
        soon("the same processes", || ids(&server.usage().unwrap()) == ids(&theirs.usage().unwrap()));
        let before = server.usage().unwrap();
        let mut spent = None;
        soon("CPU time", || {
            for _ in 0..20 {
                fetch(server.address(), "/1M.bin");
            }
            spent = Some(server.usage().unwrap().since(&before).unwrap());
            spent.as_ref().is_some_and(|spent| spent.user_ns + spent.system_ns > 20_000_000)
        });
        let busiest = spent.unwrap().busiest.unwrap();
        assert!(busiest.cpu_ns > 0 && ids(&before).contains(&busiest.pid), "{busiest:?}");
        server.stop().unwrap();
        assert!(theirs.usage().unwrap_err().contains("listens on"));
    }
}

pub fn many_connections_are_held() {
    let dir = folder();
    let content = content(Set::Gif, dir.path());
    let count: u32 = 400;
    for (kind, options) in arms() {
        // With the event MPM more connections than workers.
        let workers = (options.mpm == Some(Mpm::Event)).then_some(20);
        let options = Options { connections: count, workers, ..options };
        let server = start(kind, &options, &content, dir.path());
        let mut held = Vec::new();
        for number in 0..count {
            let mut stream = TcpStream::connect(server.address()).unwrap();
            stream.write_all(b"GET /1x1.gif HTTP/1.1\r\nHost: test\r\n\r\n").unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            let mut first = [0; 12];
            stream.read_exact(&mut first).unwrap();
            assert_eq!(&first, b"HTTP/1.1 200", "{} {number}", kind.name());
            held.push(stream);
        }
        drop(held);
    }
    let huge = Options { connections: 1_000_000, ..Options::default() };
    let limit = sys::system::limit(sys::system::Resource::OpenFiles).unwrap().hard;
    if limit.is_some_and(|hard| hard < 1_000_000) {
        let why = Server::start(installed::find("nginx").unwrap(), &huge, &content, dir.path()).unwrap_err();
        assert!(why.to_string().contains("ulimit -Hn"), "{why}");
    }
}

pub fn a_folder_that_the_server_cannot_reach_is_not_used() {
    let dir = folder();
    std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o700)).unwrap();
    let content = content(Set::Gif, dir.path());
    let is_root = sys::files::effective_ids().0 == 0;
    assert_eq!(content.moved().is_some(), is_root, "{:?}", content.moved());
    for (kind, options) in arms() {
        let server = start(kind, &options, &content, dir.path());
        assert!(fetch(server.address(), "/1x1.gif").0.starts_with("HTTP/1.1 200"), "{}", kind.name());
    }
}

/// Serves a page as a user without rights.
pub fn plain(dir: &Path) {
    assert_ne!(sys::files::effective_ids().0, 0);
    assert_eq!(account::choose().unwrap(), None);
    let content = content(Set::K1, dir);
    for (kind, options) in arms() {
        let server = start(kind, &options, &content, dir);
        assert_eq!(server.account(), None);
        assert_eq!(fetch(server.address(), "/1k.bin").1.len(), 1024);
        server.usage().unwrap();
        assert!(Served::theirs(&server.url("/1k.bin").parse().unwrap()).usage().is_ok());
        server.stop().unwrap();
        let greedy = Options { nice: -1, ..options };
        let why = Server::start(kind, &greedy, &content, dir).unwrap_err().to_string();
        assert!(why.contains("nice=-1") && why.contains("root"), "{why}");
    }
}

pub fn without_rights_it_works_too() {
    let dir = folder();
    let Some(account) = account::choose().unwrap() else { return plain(dir.path()) };
    sys::files::chown(dir.path(), account.account.uid, account.account.gid).unwrap();
    let mut command = Command::new("/proc/self/exe");
    command.arg("plain").arg(dir.path()).current_dir("/").stdin(Stdio::null());
    let start = Start { account: Some(account.account), ..Start::default() };
    let exit = ProcessGroup::spawn(command, start).unwrap().wait().unwrap();
    assert!(exit.status.success(), "as an ordinary user: {}", exit.status);
    assert!(is_empty(dir.path()));
}

/// True if this system lets us limit a group's memory, found out without the code under test.
fn memory_can_be_limited() -> bool {
    let mut command = Command::new("/bin/sh");
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/memory_probe.sh"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().unwrap().success()
}

const LIMIT: u64 = 48 << 20;

fn limited(options: &Options) -> Options {
    Options { memory: Some(LIMIT), connections: 8, workers: Some(4), ..options.clone() }
}

/// Starts a server with a limit, says its process group and its control group, and waits.
pub fn limited_owner(dir: &Path) {
    let content = content(Set::K1, dir);
    let server = start(installed::find("nginx").unwrap(), &limited(&Options::default()), &content, dir);
    let mut out = std::io::stdout();
    writeln!(out, "{} {}", server.pgid(), server.control_group().unwrap().display()).unwrap();
    std::thread::sleep(Duration::from_secs(1000));
}

/// On a disk, which a folder for temporary files need not be.
fn disk_folder() -> tempfile::TempDir {
    let dir = tempfile::Builder::new().prefix("a test's ").tempdir_in("/var/tmp").unwrap();
    std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
    dir
}

pub fn memory_is_limited() {
    let dir = disk_folder();
    let limits = Limits { mix_bytes: 2 * LIMIT, large_bytes: 0 };
    let account = account::choose().unwrap();
    let content = Content::make(Set::Mix, 5, &limits, dir.path(), account.as_ref()).unwrap();
    let is_possible = memory_can_be_limited();
    for (kind, options) in arms() {
        let started = Server::start(kind, &limited(&options), &content, dir.path());
        if kind.name() == "builtin" {
            assert!(matches!(started, Err(ServerError::Refused(why)) if why.contains("memory=48MiB")));
            continue;
        }
        if !is_possible {
            let Err(ServerError::Refused(why)) = started else { panic!("{}: it is limited", kind.name()) };
            assert!(why.contains("memory=48MiB: ") && why.contains("; "), "{why}");
            continue;
        }
        let server = started.unwrap_or_else(|why| panic!("{}: {why}", kind.name()));
        what_is_cached_counts_for_it(&server, &content);
        let group = server.control_group().unwrap().to_owned();
        server.stop().unwrap();
        assert!(!group.exists(), "{} is left", group.display());
    }
    if is_possible {
        a_killed_owner_leaves_no_control_group();
        memory_is_no_place_for_content();
    }
}

fn what_is_cached_counts_for_it(server: &Server, content: &Content) {
    let group = server.control_group().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
    for member in tree::members(server.pgid()).unwrap() {
        let groups = std::fs::read_to_string(format!("/proc/{}/cgroup", member.pid)).unwrap();
        assert!(groups.contains(&group), "{} is not in {group}: {groups}", member.name);
    }
    assert!(server.setup().contains(&("memory", "48MiB".to_owned())), "{:?}", server.setup());
    let cached = || -> u64 {
        let of = |path| sys::direct::cached(&std::fs::File::open(path).unwrap()).unwrap();
        content.files().iter().map(of).sum()
    };
    for item in content.items.iter().chain(&content.items) {
        assert_eq!(fetch(server.address(), &item.path).1.len() as u64, item.bytes);
    }
    // All was read twice, and what does not fit has left each time.
    assert!(content.bytes() > LIMIT && cached() < LIMIT, "{} of {}", cached(), content.bytes());
    let used = server.memory().unwrap();
    assert!(used.bytes.unwrap() <= LIMIT && used.cache_bytes.unwrap() > LIMIT / 4, "{used:?}");
    // Old kernels do not count these.
    assert!(used.refaults != Some(0) && used.hits != Some(0) && used.killed.unwrap_or(0) == 0, "{used:?}");
}

fn a_killed_owner_leaves_no_control_group() {
    let dir = folder();
    let mut command = Command::new("/proc/self/exe");
    command.arg("limited-owner").arg(dir.path()).stdin(Stdio::null());
    let mut owner = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(owner.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let (pgid, group) = line.trim().split_once(' ').unwrap();
    let pgid: i32 = pgid.parse().unwrap();
    assert!(Path::new(group).is_dir() && !tree::members(pgid).unwrap().is_empty());
    owner.kill().unwrap();
    owner.wait().unwrap();
    soon("no process", || tree::members(pgid).unwrap().is_empty());
    soon("no control group", || !Path::new(group).exists());
}

/// Files in memory belong to whoever wrote them, and never leave.
fn memory_is_no_place_for_content() {
    let shm = Path::new("/dev/shm");
    if !sys::direct::file_system(shm).is_ok_and(|system| system.in_memory) {
        return;
    }
    let dir = tempfile::tempdir_in(shm).unwrap();
    std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let content = content(Set::K1, dir.path());
    let why =
        Server::start(installed::find("nginx").unwrap(), &limited(&Options::default()), &content, dir.path());
    assert!(matches!(&why, Err(ServerError::Refused(why)) if why.contains("not a disk")), "{why:?}");
}
