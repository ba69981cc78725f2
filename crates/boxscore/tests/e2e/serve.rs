//! The built-in web server as the program itself.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use crate::common::{Bench, PROGRAM, said};

fn started(order: &str) -> Child {
    let mut command = Command::new(PROGRAM);
    command.arg("serve-builtin").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("boxscore starts");
    child.stdin.take().expect("a pipe").write_all(order.as_bytes()).expect("it reads");
    child
}

#[test]
fn it_serves_what_it_is_told_to() {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("a"), "some text").expect("a file");
    // Another program may take the port meanwhile; then another is tried.
    let body = (0..5).find_map(|_| {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        drop(listener);
        let mut child = started(&format!("{address} 1 511 true\n{}\n", dir.path().display()));
        let mut body = None;
        // It may take long to start on a loaded machine; when it has ended there is nothing to wait for.
        for _ in 0..6000 {
            std::thread::sleep(std::time::Duration::from_millis(10));
            if let Ok(mut stream) = TcpStream::connect(address) {
                stream.write_all(b"GET /a HTTP/1.0\r\n\r\n").expect("a request");
                let mut said = String::new();
                stream.read_to_string(&mut said).expect("an answer");
                body = said.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
                break;
            }
            if child.try_wait().expect("a child").is_some() {
                break;
            }
        }
        // It has ended already when it found the port taken.
        let _ended = child.kill();
        child.wait().expect("a child");
        body
    });
    assert_eq!(body.as_deref(), Some("some text"));
}

#[test]
fn what_it_cannot_serve_it_says() {
    for (order, says) in [
        ("", "malformed options"),
        ("x\n", "malformed options"),
        ("127.0.0.1:80 1 511 true\n/no/such\n", "/no/such"),
    ] {
        let output = started(order).wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(says), "{said}");
    }
}

/// One load on our own server; patient, since the machine may be busy.
const LOAD: [&str; 19] = [
    "run",
    "web",
    "--takes",
    "1",
    "--no-report",
    "--set",
    "server=builtin",
    "--set",
    "content=gif",
    "--set",
    "arrivals=closed",
    "--set",
    "keepalive=on",
    "--set",
    "generators=1",
    "--set",
    "load=auto",
    "--set",
    "timeout=60",
];

#[test]
fn a_profile_is_noted_once_and_changes_no_series() {
    let bench = Bench::new();
    bench.run(&[&LOAD[..], &["--set", "connections=5", "--profile"]].concat()).expect(0, &[]);
    let run = bench.only();
    let notes: Vec<_> = run.notes.iter().filter(|note| note.kind().ends_with("profile")).collect();
    assert_eq!(notes.len(), 1, "{notes:?}");
    match notes[0].kind() {
        "profile" => {
            let text = notes[0].text();
            let mut lines = text.lines();
            assert!(lines.next().is_some_and(|title| title.starts_with("# server=builtin content=gif")));
            for line in lines {
                let count = line.rsplit_once(' ').and_then(|(_, count)| count.parse::<u64>().ok());
                assert!(count.is_some_and(|count| count > 0), "{line}");
            }
        }
        // No perf here, or no right to use it: the reason is there, with what would change it.
        "no-profile" => assert!(notes[0].text().contains("perf"), "{}", notes[0].text()),
        other => panic!("{other}"),
    }
    assert!(run.series.iter().all(|series| series.key.params.get("profile").is_none()));
    let refused = bench.run(&["run", "crc32c", "--profile", "--takes", "1"]).expect(2, &[]);
    assert!(refused.err.contains("run web --profile"), "{}", refused.err);
}

#[test]
fn a_limit_of_open_files_is_named_before_the_load() {
    let bench = Bench::new();
    let few = ["sh", "-c", "ulimit -n 300; exec \"$0\" \"$@\""];
    let args = [&LOAD[..], &["--set", "connections=400"]].concat();
    let said = said(&mut bench.behind(&few, &args));
    assert_eq!(said.code, Some(1), "{said:#?}");
    assert!(said.err.contains("open files") && said.err.contains("300"), "{said:#?}");
}
