//! `lab` with hosts that cannot be reached or do not answer: each is named with the reason, and the others go on.

use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::time::{Duration, Instant};

use model::doc::{LabHostDoc, LabRunDoc};

use crate::common::host::Namespace;
use crate::common::sshd::Fleet;
use crate::common::{PATIENCE, Said, cannot, children, root, signal};

/// Short limits, for hosts that hang.
const SHORT: [&str; 5] = ["--json", "--connect-timeout", "1", "--keep", "0"];

fn hosts(said: Said) -> Vec<LabHostDoc> {
    assert_eq!(said.code, Some(3), "{said:#?}");
    let document: LabRunDoc =
        serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:#?}"));
    document.hosts
}

/// The failures of these hosts, beside one that is well.
#[track_caller]
fn assert_failures(hosts: &[LabHostDoc], wanted: &[(&str, &str, &str)]) {
    for (name, kind, says) in wanted {
        let host =
            hosts.iter().find(|host| host.host == *name).unwrap_or_else(|| panic!("no {name}: {hosts:#?}"));
        assert_eq!(host.failure.as_deref(), Some(*kind), "{host:#?}");
        assert!(host.why.as_ref().is_some_and(|why| why.contains(says)), "{host:#?}");
    }
    let well: Vec<&str> = hosts.iter().filter(|host| host.ok).map(|host| host.host.as_str()).collect();
    assert_eq!(well, ["node1"]);
}

#[test]
fn keys_logins_and_ports_that_are_wrong_are_told_by_host() {
    let fleet = Fleet::start(4, |number| match number {
        2 => "HostKey KEYS/otherkey".to_owned(),
        3 => "AuthorizedKeysFile none".to_owned(),
        _ => String::new(),
    });
    let web = TcpListener::bind(("127.0.2.9", 0)).expect("a port");
    let port = web.local_addr().expect("its address").port();
    std::thread::spawn(move || {
        use std::io::Write;
        // Until the test ends. The client asks again.
        for connection in web.incoming() {
            let _sent = connection.and_then(|mut to| to.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n"));
        }
    });
    fleet.prepend(&format!(
        "Host web\n HostName 127.0.2.9\n Port {port}\nHost closed\n HostName 127.0.2.8\n\
         Host new\n HostName 127.0.2.4\n UserKnownHostsFile /dev/null\n\
         Host nowhere\n HostName nosuchhost.invalid\n\
         Host odd\n HostName 127.0.2.4\n Ciphers aes128-cbc"
    ));
    let list = "node1,node2,node3,web,closed,new,nowhere,odd";
    let hosts = hosts(fleet.run_with(&["run", list, "--", "true"], &["--json", "--keep", "0"]));
    assert_failures(
        &hosts,
        &[
            ("node2", "host-key-changed", "known_hosts:1"),
            ("node3", "login-refused", "publickey"),
            ("web", "not-ssh", "HTTP/1.1 400 Bad Request"),
            ("closed", "refused", "refused the connection"),
            ("new", "host-key-unknown", "not known"),
            ("nowhere", "name-unknown", "its name is not known: "),
            ("odd", "nothing-in-common", "no matching cipher found"),
        ],
    );
    let said =
        fleet.run(&["run", "node2", "--", "true"]).expect(3, &["failed: 1 host: node2: its host key is not"]);
    assert!(said.err.contains("`ssh-keygen -R node2` forgets the old key"), "{}", said.err);
}

#[test]
fn hosts_that_hang_hold_up_nobody_and_say_where() {
    let fleet = Fleet::start(4, |_| String::new());
    // The kernel takes its connections; it says nothing.
    let silent = TcpListener::bind(("127.0.2.9", 0)).expect("a port");
    let port = silent.local_addr().expect("its address").port();
    // Its first line, and no more.
    let keyless = TcpListener::bind(("127.0.2.10", 0)).expect("a port");
    let keyless_port = keyless.local_addr().expect("its address").port();
    std::thread::spawn(move || {
        use std::io::Write;
        let mut open = Vec::new();
        // Until the test ends.
        for mut connection in keyless.incoming().flatten() {
            let _sent = connection.write_all(b"SSH-2.0-none\r\n");
            open.push(connection);
        }
    });
    fleet.prepend(&format!(
        "Host silent\n HostName 127.0.2.9\n Port {port}\n\
         Host keyless\n HostName 127.0.2.10\n Port {keyless_port}"
    ));
    signal(fleet.pid(2), "STOP");
    let began = Instant::now();
    let command = "case $FLEET_NAME in node3) echo begun; exec sleep 1000;; esac";
    let limits = [&SHORT[..], &["--timeout", "2"]].concat();
    let hosts = hosts(fleet.run_with(&["run", "node1,node2,node3,silent,keyless", "--", command], &limits));
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    assert_failures(
        &hosts,
        &[
            ("node2", "login-slow", "waiting for its ssh server's first line"),
            ("node3", "timeout", "longer than 2 s"),
            ("silent", "login-slow", "waiting for its ssh server's first line"),
            ("keyless", "login-slow", "negotiating keys"),
        ],
    );
    assert_eq!(hosts[2].stdout, "begun\n", "what came is kept");
}

#[test]
fn a_connection_that_breaks_is_no_end_of_the_command() {
    let fleet = Fleet::start(2, |_| String::new());
    let words = ["run", "node1,node2", "--", "case $FLEET_NAME in node2) echo begun; exec sleep 1000;; esac"];
    let mut command = fleet.command(&words, &SHORT);
    command.stdout(std::process::Stdio::piped());
    let running = command.spawn().expect("it starts");
    let server = fleet.pid(2);
    let began = Instant::now();
    // The server's child for the connection, once the command runs under it.
    let session = loop {
        let found = children(server).into_iter().find(|pid| descends_to(*pid, "sleep"));
        if let Some(pid) = found {
            break pid;
        }
        assert!(began.elapsed() < PATIENCE, "no session");
        std::thread::sleep(Duration::from_millis(10));
    };
    // What was printed before is on its way.
    std::thread::sleep(Duration::from_secs(1));
    let inner = children(session);
    signal(session, "KILL");
    inner.into_iter().for_each(signal_if_there);
    let hosts = hosts(running.wait_with_output().expect("it ends").into());
    assert_failures(&hosts, &[("node2", "lost", "the connection was lost")]);
    assert_eq!(hosts[1].stdout, "begun\n");
}

fn signal_if_there(pid: u32) {
    // It may have ended with its parent.
    let _done = std::process::Command::new("kill").args(["-s", "KILL", &pid.to_string()]).output();
}

/// True if `pid` or a process below it is called so.
fn descends_to(pid: u32, name: &str) -> bool {
    let own = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    own.trim() == name || children(pid).into_iter().any(|child| descends_to(child, name))
}

#[test]
fn no_way_to_a_host_is_told_at_once() {
    if !root() {
        return cannot("network namespaces need root");
    }
    let fleet = Fleet::start(1, |_| String::new());
    let space = Namespace::new("lab").expect("a namespace");
    space.ip("link set lo up").expect("a loopback");
    space.ip("route add unreachable 10.99.0.0/24").expect("a route");
    fleet.prepend("Host far\n HostName 10.99.0.1\nHost off\n HostName 10.98.0.1");
    let wrapper = ["ip", "netns", "exec", space.0.as_str()];
    let mut command = fleet.behind(&wrapper, &["run", "far,off", "--", "true"], &SHORT);
    let hosts = hosts(command.output().expect("it starts").into());
    let why = |n: usize| hosts[n].why.clone().unwrap_or_default();
    assert_eq!(
        (hosts[0].failure.as_deref(), hosts[1].failure.as_deref()),
        (Some("no-route"), Some("no-route"))
    );
    assert!(why(0).ends_with("No route to host") && why(1).ends_with("Network is unreachable"), "{hosts:#?}");
    // To a reader: the host by its name with the reason, and an exit code that says that not all answered.
    space.ip("route add blackhole 10.97.0.0/24").expect("a route");
    fleet.prepend("Host hole\n HostName 10.97.0.1");
    let plain = ["--connect-timeout", "1", "--keep", "0"];
    let mut command = fleet.behind(&wrapper, &["run", "far,off,hole", "--", "true"], &plain);
    let said: Said = command.output().expect("it starts").into();
    let no_way = |host: &str| format!("{host}: there is no way to it: ");
    said.expect(3, &["far", "off", "hole"].map(no_way).each_ref().map(String::as_str));
    // Where no node is left, nothing is measured.
    let mut command = fleet.on_behind(&wrapper, &["run", "crc32c", "--on", "far,hole"]);
    let said: Said = command.output().expect("it starts").into();
    let left_out = ["left out: far: there is no way to it: ", "left out: hole: there is no way to it: "];
    said.expect(1, &[&left_out[..], &["error: no node can be measured"]].concat());
}

#[test]
fn a_name_service_that_does_not_answer_is_told_by_host() {
    if !root() {
        return cannot("another name service needs root");
    }
    let fleet = Fleet::start(1, |_| String::new());
    let Ok(_silent) = UdpSocket::bind(("127.0.2.53", 53)) else {
        return cannot("port 53 of 127.0.2.53 is taken");
    };
    fs::write(fleet.path("resolv.conf"), "nameserver 127.0.2.53\noptions timeout:30\n").expect("a file");
    fs::write(fleet.path("nsswitch.conf"), "hosts: files dns\n").expect("a file");
    fleet.prepend("Host slow\n HostName slow.example.org");
    let script = "mount --bind resolv.conf /etc/resolv.conf && mount --bind nsswitch.conf /etc/nsswitch.conf && exec \"$@\"";
    let wrapper = ["unshare", "--mount", "sh", "-c", script, "sh"];
    let mut command = fleet.behind(&wrapper, &["run", "node1,slow", "--", "true"], &SHORT);
    let hosts = hosts(command.output().expect("it starts").into());
    assert_failures(&hosts, &[("slow", "name-slow", "looking up its name")]);
}
