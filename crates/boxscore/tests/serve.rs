//! The built-in web server as the program itself.

mod common;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use common::PROGRAM;

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
        ("", "makes no sense"),
        ("x\n", "makes no sense"),
        ("127.0.0.1:80 1 511 true\n/no/such\n", "/no/such"),
    ] {
        let output = started(order).wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(says), "{said}");
    }
}
