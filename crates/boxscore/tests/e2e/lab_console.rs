//! `lab console`: serial over LAN of simulated BMCs, a console over TCP, and a terminal that gets its mode back.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::ipmi::{Bmcs, PASSWORD};
use crate::common::{PATIENCE, PROGRAM, Said, children, signal};

/// A machine behind consoles: it asks for a login, and shows 200 lines of a boot for `boot`.
fn machine() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let at = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || serve(stream));
        }
    });
    at
}

fn serve(mut stream: TcpStream) {
    // One that has gone reads no more.
    let mut talk = || -> std::io::Result<()> {
        stream.write_all(b"login: ")?;
        let mut chunk = [0; 256];
        loop {
            let count = stream.read(&mut chunk)?;
            match &chunk[..count] {
                b"" => return Ok(()),
                b"boot\r" => {
                    for line in 0..200 {
                        stream.write_all(format!("line {line:03} of the boot log\r\n").as_bytes())?;
                    }
                }
                typed => stream.write_all(&[b"[", typed, b"]"].concat())?,
            }
        }
    };
    let _ended = talk();
}

/// A console that runs; its stdin stays open.
struct Console {
    child: Child,
    stdin: Option<ChildStdin>,
    out: std::thread::JoinHandle<Vec<u8>>,
    seen: std::sync::mpsc::Receiver<Vec<u8>>,
    heard: Vec<u8>,
}

impl Console {
    fn start(mut command: Command) -> Console {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let stdin = child.stdin.take();
        let mut from = child.stdout.take().expect("stdout");
        let (give, seen) = std::sync::mpsc::channel();
        let out = std::thread::spawn(move || {
            let (mut all, mut chunk) = (Vec::new(), [0; 4096]);
            while let Ok(count @ 1..) = from.read(&mut chunk) {
                all.extend_from_slice(&chunk[..count]);
                drop(give.send(chunk[..count].to_vec()));
            }
            all
        });
        Console { child, stdin, out, seen, heard: Vec::new() }
    }

    fn until(&mut self, text: &str) {
        let end = Instant::now() + PATIENCE;
        while !String::from_utf8_lossy(&self.heard).contains(text) {
            assert!(Instant::now() < end, "{}", String::from_utf8_lossy(&self.heard));
            if let Ok(more) = self.seen.recv_timeout(Duration::from_millis(50)) {
                self.heard.extend(more);
            }
        }
    }

    /// Types until it is answered: the simulator loses what comes at once, and keeps an answer until more is typed.
    fn wake(&mut self, letter: &str) {
        let end = Instant::now() + PATIENCE;
        while !String::from_utf8_lossy(&self.heard).contains(&format!("{letter}]")) {
            assert!(Instant::now() < end, "{}", String::from_utf8_lossy(&self.heard));
            self.type_in(letter);
            if let Ok(more) = self.seen.recv_timeout(Duration::from_millis(500)) {
                self.heard.extend(more);
            }
        }
    }

    fn type_in(&mut self, text: &str) {
        let stdin = self.stdin.as_mut().expect("it is open");
        stdin.write_all(text.as_bytes()).and_then(|()| stdin.flush()).expect("it takes it");
    }

    fn end(mut self) -> Said {
        let stdin = self.stdin.take();
        let mut said: Said = self.child.wait_with_output().expect("it ends").into();
        drop(stdin);
        said.out = String::from_utf8_lossy(&self.out.join().expect("its output")).into_owned();
        said
    }
}

/// The command lines and the environments of a process and of those below it.
fn visible(pid: u32) -> Vec<u8> {
    let of = |name: &str| fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
    let below = children(pid).into_iter().flat_map(visible);
    [of("cmdline"), of("environ")].concat().into_iter().chain(below).collect()
}

#[test]
fn a_console_of_a_bmc_is_carried_both_ways_kept_and_released() {
    let bmcs = Bmcs::start_with(1, Some(machine()));
    let mut first = Console::start(bmcs.lab(&["console", "n1", "--log", "n1.log"]));
    first.wake("a");
    std::thread::sleep(Duration::from_millis(500));
    first.type_in("boot\r");
    first.until("line 199 of the boot log\r\n");
    let seen = visible(first.child.id());
    assert!(String::from_utf8_lossy(&seen).contains("activate"), "the tool is among them");
    assert!(!seen.windows(PASSWORD.len()).any(|part| part == PASSWORD.as_bytes()));
    let said: Said = bmcs.lab(&["console", "n1", "--for", "1"]).output().expect("it starts").into();
    said.expect(
        1,
        &[
            "n1: no console: its console is already active in another session\n",
            "hint: --take ends that session first",
        ],
    );
    signal(first.child.id(), "INT");
    let ended = first.end().expect(130, &["console of n1: Ctrl-C ends it\n"]);
    assert_eq!(ended.out.matches(" of the boot log\r\n").count(), 200);
    let log = fs::read_to_string(bmcs.path("n1.log")).expect("the log");
    assert!(log.starts_with("\n--- console of n1 opened 2") && log.ends_with(" ---\n"), "{log}");
    assert!(log.contains(&ended.out) && log.contains("--- console of n1 closed 2"), "{log}");
    assert!(!log.contains(PASSWORD));
    // It was released: the next one needs no --take.
    let said: Said = bmcs.lab(&["console", "n1", "--for", "1"]).output().expect("it starts").into();
    said.expect(0, &["console of n1: its time is 1 s\n", "console of n1: its time was up (--for)\n"]);
}

#[test]
fn a_console_that_is_open_elsewhere_is_taken_on_request() {
    let bmcs = Bmcs::start_with(1, Some(machine()));
    let mut first = Console::start(bmcs.lab(&["console", "n1"]));
    first.wake("a");
    let mut second = Console::start(bmcs.lab(&["console", "n1", "--take", "--for", "20s"]));
    second.wake("b");
    signal(first.child.id(), "KILL");
    first.end();
    signal(second.child.id(), "INT");
    second.end().expect(130, &[]);
    // Nobody has it now.
    let said: Said = bmcs.lab(&["console", "n1", "--take", "--for", "1"]).output().expect("it starts").into();
    said.expect(0, &[]);
}

#[test]
fn a_console_over_tcp_needs_no_bmc_and_what_is_wrong_is_said() {
    let bmcs = Bmcs::start(1);
    let at = machine();
    bmcs.inventory(&format!(
        "[[nodes]]\nname = \"s1\"\nconsole = \"tcp://{at}\"\n[[nodes]]\nname = \"s2\"\n\
         [[nodes]]\nname = \"s3\"\nconsole = \"tcp://127.0.0.1:1\"\n\
         [[nodes]]\nname = \"s4\"\nbmc = {{ kind = \"redfish\", address = \"127.0.0.1\" }}\n\
         [[nodes]]\nname = \"n[1-2]\"\nbmc = {{ address = \"127.0.3.1+2\" }}\n"
    ));
    let mut command = bmcs.lab(&["console", "s1", "--for", "2s"]);
    let said: Said = command.output().expect("it starts").into();
    assert_eq!(said.expect(0, &[]).out, "login: ", "stdin is closed, and it goes on reading");
    let refused = |words: &[&str], code: i32, says: &str| {
        let said: Said = bmcs.lab(&[&["console"], words].concat()).output().expect("it starts").into();
        said.expect(code, &[says]);
    };
    refused(&["s1", "--take"], 2, "has no sessions that could be ended");
    refused(&["s2"], 1, "s2: no console: the inventory names no BMC");
    refused(&["s3"], 1, "s3: no console: tcp://127.0.0.1:1: Connection refused");
    refused(&["s4"], 1, "s4: no console: this cannot be asked by redfish");
    refused(&["n2"], 1, "n2: no console: its BMC does not answer");
    refused(&["n[1-2]"], 2, "one node at a time: n[1-2]");
    refused(&["s1", "--for", "x"], 2, "--for x: not a length of time");
    refused(&["s1", "--log", "/no/such/file", "--for", "1"], 1, "--log /no/such/file: No such file");
}

/// A telnet server with a shell: busybox's, on a port that was free.
fn telnetd() -> (Child, SocketAddr) {
    let at = TcpListener::bind("127.0.0.1:0").and_then(|one| one.local_addr()).expect("a port");
    let mut command = Command::new("busybox");
    command.args(["telnetd", "-F", "-l", "/bin/sh", "-b", "127.0.0.1", "-p", &at.port().to_string()]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let child = child.unwrap_or_else(|error| panic!("busybox: {error}; `sh xtask/setup.sh test`"));
    let end = Instant::now() + PATIENCE;
    while TcpStream::connect(at).is_err() {
        assert!(Instant::now() < end, "telnetd does not listen");
        std::thread::sleep(Duration::from_millis(20));
    }
    (child, at)
}

#[test]
fn a_console_that_speaks_telnet_gets_answers_to_its_wishes_and_shows_none_of_them() {
    let bmcs = Bmcs::start(1);
    let (mut server, at) = telnetd();
    bmcs.inventory(&format!(
        "[[nodes]]\nname = \"s1\"\nconsole = \"telnet://{at}\"\n[[nodes]]\nname = \"s2\"\nconsole = \"ssh://a:1\"\n"
    ));
    let said: Said = bmcs.lab(&["console", "s1"]).output().expect("it starts").into();
    said.expect(1, &["console: `ssh://a:1` is neither tcp://HOST:PORT nor telnet://HOST:PORT"]);
    bmcs.inventory(&format!("[[nodes]]\nname = \"s1\"\nconsole = \"telnet://{at}\"\n"));
    let mut console = Console::start(bmcs.lab(&["console", "s1", "--log", "s1.log"]));
    // The terminal there echoes, and a carriage return ends its line.
    console.type_in("echo $((6*7))-\\303\\277-end; printf '\\377!'\r");
    console.until("42-");
    console.until("!");
    console.type_in("exit\r");
    let said = console.end().expect(1, &["the console of s1 ended: the other side closed it"]);
    assert!(said.out.contains("echo $((6*7))"), "it echoes: {said:?}");
    let log = fs::read(bmcs.path("s1.log")).expect("the log");
    // One byte of 255, of the shell's: none is a command.
    assert_eq!(log.iter().filter(|byte| **byte == 255).count(), 1, "{}", String::from_utf8_lossy(&log));
    assert!(!log.contains(&0));
    // Ended, since it serves for ever.
    server.kill().and_then(|()| server.wait().map(drop)).expect("it ends");
}

#[test]
fn a_terminal_gets_its_mode_back_however_the_console_ends() {
    let bmcs = Bmcs::start(1);
    bmcs.inventory(&format!("[[nodes]]\nname = \"s1\"\nconsole = \"tcp://{}\"\n", machine()));
    let inner = format!("stty -g; '{PROGRAM}' lab console s1; echo code $?; stty -g");
    for end in ["escape", "TERM", "HUP"] {
        let mut command = Command::new("script");
        command.args(["-qec", &inner, "/dev/null"]).current_dir(bmcs.dir.path());
        command.env("XDG_CONFIG_HOME", bmcs.path("config")).env("SHELL", "/bin/sh");
        let mut console = Console::start(command);
        console.until("login: ");
        // As it is typed: the terminal hands on each letter, and makes no signal of Ctrl-C.
        console.type_in("a\u{3}");
        console.until("\u{3}]");
        match end {
            "escape" => console.type_in("\r~."),
            signal_name => {
                let is_ours = |pid: &u32| {
                    fs::read(format!("/proc/{pid}/cmdline"))
                        .is_ok_and(|line| line.ends_with(b"console\0s1\0"))
                };
                let below: Vec<u32> = children(console.child.id()).into_iter().flat_map(all_below).collect();
                let ours = below.into_iter().find(is_ours).expect("the console");
                signal(ours, signal_name);
            }
        }
        let said = console.end();
        let lines: Vec<&str> = said.out.lines().map(str::trim).collect();
        let modes: Vec<&&str> = lines.iter().filter(|line| line.matches(':').count() > 10).collect();
        assert_eq!(modes.len(), 2, "{said:?}");
        assert_eq!(modes[0], modes[1], "{end}");
        let code = if end == "escape" { "code 0" } else { "code 130" };
        assert!(lines.contains(&code), "{end}: {lines:?}");
        assert!(said.out.contains("~. at the start of a line leaves it"), "{said:?}");
    }
}

fn all_below(pid: u32) -> Vec<u32> {
    let below = children(pid).into_iter().flat_map(all_below);
    std::iter::once(pid).chain(below).collect()
}
