//! TLS against a server with a certificate of its own, which only the test trusts.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::*;
use crate::load::Error;
use crate::load::tls::Options;

const CERTIFICATE: &[u8] = include_bytes!("localhost.pem");
const KEY: &[u8] = include_bytes!("localhost.key");

/// A server under TLS: connections accepted, handshakes made.
struct Secure {
    port: u16,
    handshakes: Arc<AtomicU64>,
}

/// Answers each request; after `each` of them the connection ends.
fn secure(answer: &'static [u8], each: u64) -> Secure {
    secure_at("127.0.0.1:0", answer, each)
}

fn secure_at(address: &str, answer: &'static [u8], each: u64) -> Secure {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let chain = vec![CertificateDer::from_pem_slice(CERTIFICATE).unwrap()];
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, PrivateKeyDer::from_pem_slice(KEY).unwrap())
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind(address).unwrap();
    let port = listener.local_addr().unwrap().port();
    let handshakes = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&handshakes);
    // It ends with the test's process: nothing is left to wait for.
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let (config, counted) = (Arc::clone(&config), Arc::clone(&counted));
            std::thread::spawn(move || serve(stream, config, &counted, answer, each));
        }
    });
    Secure { port, handshakes }
}

fn serve(stream: TcpStream, config: Arc<ServerConfig>, counted: &AtomicU64, answer: &[u8], each: u64) {
    let Ok(connection) = ServerConnection::new(config) else { return };
    let mut stream = StreamOwned::new(connection, stream);
    let mut held = Vec::new();
    for nth in 0..each {
        if server::read(&mut stream, &mut held, nth).is_none() {
            return;
        }
        if nth == 0 {
            counted.fetch_add(1, Ordering::SeqCst);
        }
        if stream.write_all(answer).is_err() {
            return;
        }
    }
    stream.conn.send_close_notify();
    // The client may have closed first.
    let _gone = stream.flush();
}

fn load(secure: &Secure, host: &str, requests: u64) -> Load {
    let mut load = Load::new(format!("https://{host}:{}/", secure.port).parse().unwrap());
    load.tls = Options { insecure: false, authorities: Some(file("localhost.pem")) };
    load.duration = None;
    load.requests = Some(requests);
    load.connections = 3;
    load.timeout = Duration::from_secs(60);
    load
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/load/tests").join(name)
}

#[test]
fn requests_travel_under_tls() {
    let server = secure(OK.as_bytes(), u64::MAX);
    for host in ["localhost", "127.0.0.1"] {
        let outcome = go(&load(&server, host, 60));
        assert_eq!((outcome.record.good, outcome.record.failures.total()), (60, 0), "{host}");
        assert_eq!(outcome.record.connect.total(), 3);
        // Plain bytes: what the answers are, not what their records are.
        assert_eq!(outcome.record.received_bytes, 60 * OK.len() as u64);
    }
}

#[test]
fn each_connection_makes_its_own_handshake() {
    let server = secure(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc", 1);
    let mut load = load(&server, "localhost", 20);
    load.keepalive = false;
    assert_eq!((go(&load).record.good, server.handshakes.load(Ordering::SeqCst)), (20, 20));
}

#[test]
fn large_bodies_pass_both_ways() {
    static ANSWER: std::sync::LazyLock<Vec<u8>> = std::sync::LazyLock::new(|| {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", 3 << 20);
        [head.into_bytes(), vec![b'x'; 3 << 20]].concat()
    });
    let server = secure(&ANSWER, u64::MAX);
    let mut load = load(&server, "localhost", 4);
    load.method = "POST".to_owned();
    load.body = vec![b'y'; 2 << 20];
    let outcome = go(&load);
    assert_eq!((outcome.record.good, outcome.record.body_bytes), (4, 4 * (3 << 20)));
    assert!(outcome.record.sent_bytes > 4 * (2 << 20));
}

#[test]
fn a_certificate_that_is_wrong_is_named_unless_nothing_is_checked() {
    let server = secure(OK.as_bytes(), u64::MAX);
    let refused = |load: &Load, what: &str| {
        let error = run(load, &Control::default()).unwrap_err();
        assert!(matches!(&error, Error::Tls(why) if why.contains(what)), "{error}");
    };
    let mut unknown = load(&server, "localhost", 5);
    unknown.tls.authorities = None;
    match run(&unknown, &Control::default()) {
        Err(Error::Tls(why)) => assert!(why.contains("certificate"), "{why}"),
        Err(Error::Load(why)) => assert!(why.contains("no certificate authorities"), "{why}"),
        other => panic!("{other:?}"),
    }
    // The certificate names localhost and 127.0.0.1 alone.
    let other = secure_at("127.0.0.2:0", OK.as_bytes(), u64::MAX);
    refused(&load(&other, "127.0.0.2", 5), "certificate");
    let mut insecure = load(&other, "127.0.0.2", 5);
    insecure.tls.insecure = true;
    assert_eq!(go(&insecure).record.good, 5);
    let plain = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut to_plain = load(&server, "127.0.0.1", 5);
    to_plain.targets[0].url.port = plain.local_addr().unwrap().port();
    let answers = std::thread::spawn(move || {
        let mut stream = plain.accept().unwrap().0;
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        // Until the client has understood.
        while stream.read(&mut [0; 512]).is_ok_and(|read| read > 0) {}
    });
    refused(&to_plain, "TLS");
    answers.join().unwrap();
}

#[test]
fn a_handshake_that_fails_in_the_load_is_counted_as_such() {
    // The first connection is the look whether all is well; later ones meet a server that speaks no TLS.
    let server = secure(OK.as_bytes(), u64::MAX);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let first = listener.accept().unwrap().0;
        let inner = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        let (mut from, mut to) = (first.try_clone().unwrap(), inner.try_clone().unwrap());
        std::thread::spawn(move || std::io::copy(&mut from, &mut to));
        std::thread::spawn(move || std::io::copy(&mut &inner, &mut &first));
        for stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || {
                let mut stream = stream;
                let sent = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
                while sent.is_ok() && stream.read(&mut [0; 512]).is_ok_and(|read| read > 0) {}
            });
        }
    });
    let mut load = load(&secure(OK.as_bytes(), 1), "localhost", 5);
    load.targets[0].url = format!("https://localhost:{port}/").parse().unwrap();
    let outcome = go(&load);
    assert_eq!(failures(&outcome, Failure::Tls), 5);
}

#[test]
fn files_without_authorities_are_refused() {
    let server = secure(OK.as_bytes(), 1);
    for (name, what) in [("no-such.pem", "cannot read"), ("mod.rs", "no certificate")] {
        let mut load = load(&server, "localhost", 1);
        load.tls.authorities = Some(file(name));
        let error = run(&load, &Control::default()).unwrap_err();
        assert!(matches!(&error, Error::Load(why) if why.contains(what)), "{error}");
    }
}
