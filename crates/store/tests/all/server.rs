//! A PostgreSQL server of the distribution, started once for the tests of this process, on a port of its own.
//!
//! `sh xtask/setup.sh test` installs it. Without it the tests fail: they are never skipped.

#![allow(dead_code, reason = "each user of it needs its own part")]

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

/// A server that ends with this process.
pub struct Server {
    pub port: u16,
    programs: PathBuf,
    folder: PathBuf,
    /// Ends the server once its input closes: at the end of this process, however that ends.
    child: Mutex<Child>,
}

/// The newest of Debian's folders of programs.
fn programs() -> PathBuf {
    let mut found: Vec<(u32, PathBuf)> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let version = path.file_name()?.to_str()?.parse().ok()?;
            Some((version, path.join("bin")))
        })
        .filter(|(_, bin)| bin.join("initdb").exists() && bin.join("postgres").exists())
        .collect();
    found.sort();
    found.pop().map(|(_, bin)| bin).expect("PostgreSQL is missing: sh xtask/setup.sh test installs it")
}

/// A command as the user who may run a server: root may not.
fn as_user(program: &Path, folder: &Path) -> Command {
    if std::fs::metadata(folder.parent().unwrap()).unwrap().uid() != 0 || !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("runuser");
    command.args(["-u", "postgres", "--"]).arg(program);
    command
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|data| data.uid() == 0)
}

impl Server {
    /// Starts one; `settings` are options of `postgres`, and `pg_hba` its rules of who may come in.
    pub fn start(settings: &[&str], pg_hba: Option<&str>) -> Server {
        let programs = programs();
        let folder = std::env::temp_dir().join(format!("boxscore-pg-{}-{}", std::process::id(), next()));
        std::fs::create_dir(&folder).unwrap();
        if is_root() {
            let done = Command::new("chown").arg("postgres").arg(&folder).status().unwrap();
            assert!(done.success());
        }
        let data = folder.join("data");
        let made = as_user(&programs.join("initdb"), &folder)
            .args([
                "--no-sync",
                "--encoding=UTF8",
                "--locale=C.UTF-8",
                "--username=postgres",
                "--auth=trust",
                "-D",
            ])
            .arg(&data)
            .current_dir("/")
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        if let Some(rules) = pg_hba {
            std::fs::write(data.join("pg_hba.conf"), rules).unwrap();
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let child = Mutex::new(run(&programs, &folder, port, settings));
        let server = Server { port, programs, folder, child };
        server.wait();
        server
    }

    fn wait(&self) {
        let until = Instant::now() + Duration::from_secs(60);
        let ready = || {
            let mut ask = Command::new(self.programs.join("pg_isready"));
            let asked = ask.args(["-q", "-h", "127.0.0.1", "-p", &self.port.to_string()]).status();
            TcpStream::connect(("127.0.0.1", self.port)).is_ok() && asked.is_ok_and(|status| status.success())
        };
        while !ready() {
            assert!(Instant::now() < until, "the server did not start: see {}", self.folder.display());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Ends the server at once, as a power cut would; its data stay.
    pub fn kill(&self) {
        let mut child = self.child.lock().unwrap();
        child.stdin.as_mut().unwrap().write_all(b"kill\n").unwrap();
        child.wait().unwrap();
    }

    /// Starts it again on the same port.
    pub fn restart(&self, settings: &[&str]) {
        *self.child.lock().unwrap() = run(&self.programs, &self.folder, self.port, settings);
        self.wait();
    }

    /// What `psql` answers, as the server's owner.
    pub fn ask(&self, database: &str, sql: &str) -> String {
        let socket = self.folder.display().to_string();
        let output = Command::new(self.programs.join("psql"))
            .args([
                "-XAtq",
                "-v",
                "ON_ERROR_STOP=1",
                "-U",
                "postgres",
                "-h",
                &socket,
                "-p",
                &self.port.to_string(),
            ])
            .args(["-d", database, "-c", sql])
            .current_dir("/")
            .output()
            .unwrap();
        assert!(output.status.success(), "{sql}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    pub fn data(&self) -> PathBuf {
        self.folder.join("data")
    }
}

fn run(programs: &Path, folder: &Path, port: u16, settings: &[&str]) -> Child {
    // Ends with its input: quickly where this process just ended, at once where it is told so.
    let script = r#"dir=$1; shift
        "$@" >"$dir/log" 2>&1 & pid=$!
        if read -r word; then kill -QUIT $pid; wait $pid; else kill -INT $pid; wait $pid; rm -rf "$dir"; fi"#;
    let mut command = as_user(Path::new("/bin/sh"), folder);
    command.args(["-c", script, "sh"]).arg(folder).arg(programs.join("postgres"));
    command.arg("-D").arg(folder.join("data")).arg("-k").arg(folder);
    command.args(["-p", &port.to_string(), "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"]);
    command.args(settings.iter().flat_map(|one| ["-c", one]));
    command
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

static SERVER: OnceLock<Server> = OnceLock::new();

/// The server of this process.
pub fn shared() -> &'static Server {
    SERVER.get_or_init(|| Server::start(&["max_connections=200"], None))
}

fn next() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A new, empty database; its name.
pub fn database() -> String {
    let name = format!("t{}", next());
    shared().ask("postgres", &format!("CREATE DATABASE {name}"));
    name
}

pub fn url(database: &str) -> String {
    shared().url(database)
}

pub fn ask(database: &str, sql: &str) -> String {
    shared().ask(database, sql)
}
