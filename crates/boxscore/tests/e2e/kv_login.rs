//! Stores that want a password: who gives it measures them, and it is in nothing that is stored or shown, and on no
//! command line of a child.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use crate::common::{Bench, PATIENCE, PROGRAM, Running, Said};
use model::doc::LoadDoc;
use model::login::{PASSWORD, USER};

/// Nothing else holds these letters.
const SECRET: &str = "Sesam0effneD1ch";
const NAMED: &str = "zaubern9!Spruch";

/// A Redis of a user's, with a password for all and a user of its own, which ends with this.
struct Locked {
    child: Child,
    port: u16,
    _dir: tempfile::TempDir,
}

impl Locked {
    fn start() -> Locked {
        let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
        let dir = tempfile::TempDir::new().expect("a directory");
        let conf = format!(
            "save \"\"\nbind 127.0.0.1\nport {port}\nrequirepass {SECRET}\nuser ali on >{NAMED} ~* &* +@all\n"
        );
        std::fs::write(dir.path().join("redis.conf"), conf).expect("a file");
        let mut command = Command::new("redis-server");
        command.arg("redis.conf").current_dir(dir.path());
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = quiet.spawn().expect("`sh xtask/setup.sh test` installs redis-server");
        let mut locked = Locked { child, port, _dir: dir };
        let end = Instant::now() + PATIENCE;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let ended = locked.child.try_wait().expect("a child");
            assert!(ended.is_none() && Instant::now() < end, "no Redis on {port}: {ended:?}");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert_eq!(locked.ask("PING"), "-NOAUTH Authentication required.");
        locked
    }

    fn at(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    fn ask(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        stream.write_all(format!("{request}\r\n").as_bytes()).expect("it is sent");
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).expect("an answer");
        line.trim_end().to_owned()
    }

    /// How many keys it holds.
    fn keys(&self) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        stream.write_all(format!("AUTH {SECRET}\r\nDBSIZE\r\n").as_bytes()).expect("it is sent");
        let mut lines = BufReader::new(stream).lines().map(|line| line.expect("an answer"));
        assert_eq!(lines.next().as_deref(), Some("+OK"));
        lines.next().expect("a count")
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // One that did not start is gone already.
        let _killed = self.child.kill();
        self.child.wait().expect("a child");
    }
}

/// No file below holds the bytes.
#[track_caller]
fn assert_nowhere(dir: &Path, secret: &str) {
    let mut folders = vec![dir.to_owned()];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let bytes = std::fs::read(&path).expect("a file");
            let found = bytes.windows(secret.len()).any(|some| some == secret.as_bytes());
            assert!(!found, "the password is in {}", path.display());
            files += 1;
        }
    }
    assert!(files > 0, "nothing was stored");
}

#[track_caller]
fn silent(said: &Said) {
    for secret in [SECRET, NAMED] {
        assert!(!said.out.contains(secret) && !said.err.contains(secret), "{said:#?}");
    }
}

fn flat(said: &Said) -> String {
    format!("{} {}", said.out, said.err).split_whitespace().collect::<Vec<_>>().join(" ")
}

const BASIC: [&str; 8] = ["run", "kv", "--takes", "1", "--test", "readDist", "--set", "count=200"];

#[test]
fn a_store_with_a_password_is_measured_by_who_has_it() {
    let store = Locked::start();
    let bench = Bench::new();
    let at = store.at();
    let args = [&BASIC[..], &["--kv", &at]].concat();
    for (user, password) in [(None, SECRET), (Some("ali"), NAMED)] {
        let mut command = bench.command(&args);
        command.env(PASSWORD, password).envs(user.map(|user| (USER, user)));
        let said = crate::common::said(&mut command).expect(0, &[]);
        silent(&said);
    }
    assert_eq!(store.keys(), ":0");
    // Another machine of the study is told over its pipe, too.
    let via = format!("box={PROGRAM}");
    let mut command = bench.command(&[&args[..], &["--via", &via]].concat());
    silent(&crate::common::said(command.env(PASSWORD, SECRET)).expect(0, &[]));
    // So is the same plan, once more.
    let id = bench.heads()[0].id.clone();
    let mut command = bench.command(&["run", "--plan", &id]);
    silent(&crate::common::said(command.env(PASSWORD, SECRET)).expect(0, &[]));
    bench.run(&["report", &id]).expect(0, &[]);
    for secret in [SECRET, NAMED] {
        assert_nowhere(bench.dir.path(), secret);
    }
    // Without it, or with another, the way is named.
    for (password, says) in [(None, "NOAUTH"), (Some("another-one"), "WRONGPASS: no such user")] {
        let mut command = bench.command(&args);
        let said = crate::common::said(command.envs(password.map(|password| (PASSWORD, password))));
        assert_eq!(said.code, Some(1), "{said:#?}");
        let text = flat(&said);
        assert!(text.contains(says) && text.contains(PASSWORD) && text.contains(USER), "{text}");
        assert!(!text.contains("another-one"), "{text}");
    }
    let mut command = bench.command(&args);
    crate::common::said(command.env(USER, "ali"))
        .expect(2, &["BOXSCORE_KV_USER is set, and BOXSCORE_KV_PASSWORD"]);
}

#[test]
fn a_store_with_a_password_is_loaded_by_who_has_it() {
    let store = Locked::start();
    let bench = Bench::new();
    let by_env = format!("redis://{}", store.at());
    let by_url = format!("redis://ali:zaubern9%21Spruch@{}", store.at());
    let some = ["-c", "3", "-n", "300", "--keys", "50", "--json"];
    for (url, password) in [(&by_env, Some(SECRET)), (&by_url, None)] {
        let mut command = bench.command(&[&["load", url.as_str()][..], &some].concat());
        let said =
            crate::common::said(command.envs(password.map(|password| (PASSWORD, password)))).expect(0, &[]);
        silent(&said);
        let doc: LoadDoc = serde_json::from_str(&said.out).expect("a document");
        assert_eq!((doc.requests, doc.good), (300, 300), "{said:#?}");
        assert_eq!(doc.params.get("url"), Some(by_env.as_str()));
    }
    assert_eq!(store.keys(), ":0");
    // Generators of a study are told in their loads.
    let set = format!("url={by_env};connections=2;arrivals=closed;keys=50;requests=100;duration=1");
    let args = ["run", "kv-load", "--takes", "1", "--set", &set, "--from", PROGRAM];
    let mut command = bench.command(&args);
    silent(&crate::common::said(command.env(PASSWORD, SECRET)).expect(0, &[]));
    for secret in [SECRET, NAMED, "zaubern9%21Spruch"] {
        assert_nowhere(bench.dir.path(), secret);
    }
    for (url, password, says) in [
        (by_env.as_str(), None, "NOAUTH"),
        (by_env.as_str(), Some("another-one"), "WRONGPASS"),
        (&by_url.replace("zaubern9", "another-one"), None, "WRONGPASS"),
    ] {
        let mut command = bench.command(&[&["load", url][..], &some].concat());
        let said =
            crate::common::said(command.envs(password.map(|password| (PASSWORD, password)))).expect(1, &[]);
        let text = flat(&said);
        assert!(text.contains(says) && text.contains(PASSWORD) && !text.contains("another-one"), "{text}");
    }
}

/// A file of a process, or nothing where it has ended.
fn shown(pid: u32, file: &str) -> String {
    let bytes = std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// While it runs: no child has it on its command line or in its environment.
#[test]
fn no_child_shows_it() {
    let store = Locked::start();
    let bench = Bench::new();
    let url = format!("redis://{}", store.at());
    let mut command = bench.command(&["load", &url, "-c", "2", "-d", "3", "--keys", "50"]);
    command.env(PASSWORD, SECRET);
    let running = Running::start(command);
    let end = Instant::now() + PATIENCE;
    let mut seen = 0;
    while seen < 20 {
        assert!(Instant::now() < end, "no child was seen");
        for pid in crate::common::children(running.pid()) {
            let words = shown(pid, "cmdline");
            assert!(!words.contains(SECRET), "it is in the cmdline of a child");
            // Until a child becomes a program of its own, both files show its parent's.
            if words.is_empty() || words == shown(running.pid(), "cmdline") {
                continue;
            }
            assert!(!shown(pid, "environ").contains(SECRET), "it is in the environ of a child");
            seen += usize::from(words.contains("agent"));
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    silent(&running.end().expect(0, &[]));
}

#[test]
fn what_would_be_stored_is_refused() {
    let bench = Bench::new();
    let kv = format!("ali:{SECRET}@127.0.0.1:6379");
    let url = format!("redis://{kv}");
    for args in [
        vec!["run", "kv", "--kv", &kv],
        vec!["run", "kv", "--kv", &kv, "--via", "box=true"],
        vec!["run", "kv", "--arm", &format!("kv={kv}"), "--arm", "kv=redis"],
        vec!["run", "kv-load", "--set", &format!("url={url}")],
    ] {
        let said = bench.run(&args);
        assert_eq!(said.code, Some(2), "{said:#?}");
        assert!(flat(&said).contains(PASSWORD), "{said:#?}");
        assert!(!said.out.contains(SECRET) && !said.err.contains(SECRET), "{said:#?}");
    }
    let memcached = format!("memcached://{kv}");
    let said = bench.run(&["load", &memcached]).expect(2, &["memcached takes no password"]);
    silent(&said);
    assert!(!bench.store().exists() || bench.heads().is_empty());
}
