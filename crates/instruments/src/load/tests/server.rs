//! A server that answers as a test tells it to: in one piece or not, late, wrong, or not at all.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// A request that the server read.
pub struct Request {
    pub method: String,
    pub path: String,
    pub head: String,
    pub body: Vec<u8>,
    /// Which request of its connection, from 0.
    pub nth: u64,
}

/// How a connection goes on after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    Keep,
    Close,
    Reset,
    /// Holds it open without another word until the client closes it.
    Hang,
}

type Answer = dyn Fn(&Request, &mut TcpStream) -> Then + Send + Sync;

#[derive(Default)]
pub struct Seen {
    pub accepted: AtomicU64,
    pub requests: AtomicU64,
    pub paths: Mutex<HashMap<String, u64>>,
}

/// Listens until it is dropped.
pub struct Server {
    pub address: SocketAddr,
    pub seen: Arc<Seen>,
    stop: Arc<AtomicBool>,
    accepts: Option<JoinHandle<()>>,
}

impl Server {
    pub fn new(answer: impl Fn(&Request, &mut TcpStream) -> Then + Send + Sync + 'static) -> Server {
        Server::at("127.0.0.1:0", answer).unwrap()
    }

    pub fn at(
        address: &str,
        answer: impl Fn(&Request, &mut TcpStream) -> Then + Send + Sync + 'static,
    ) -> std::io::Result<Server> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let (seen, stop) = (Arc::new(Seen::default()), Arc::new(AtomicBool::new(false)));
        let (for_seen, for_stop, answer) = (Arc::clone(&seen), Arc::clone(&stop), Arc::new(answer));
        let accepts = std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if for_stop.load(Ordering::SeqCst) {
                    return;
                }
                for_seen.accepted.fetch_add(1, Ordering::SeqCst);
                let (seen, answer) = (Arc::clone(&for_seen), Arc::clone(&answer));
                std::thread::spawn(move || serve(stream, &seen, &*answer));
            }
        });
        Ok(Server { address, seen, stop, accepts: Some(accepts) })
    }

    /// Answers all the same way, in one piece.
    pub fn fixed(answer: &'static str, then: Then) -> Server {
        Server::new(move |_, stream| send(stream, answer.as_bytes(), then))
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn requests(&self) -> u64 {
        self.seen.requests.load(Ordering::SeqCst)
    }

    pub fn accepted(&self) -> u64 {
        self.seen.accepted.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes the accepting thread; if that fails it is not waiting.
        if TcpStream::connect_timeout(&self.address, Duration::from_secs(5)).is_ok()
            && let Some(accepts) = self.accepts.take()
        {
            accepts.join().unwrap();
        }
    }
}

/// Sends and ignores a client that has gone.
pub fn send(stream: &mut TcpStream, bytes: &[u8], then: Then) -> Then {
    if stream.write_all(bytes).is_ok() { then } else { Then::Close }
}

fn serve(mut stream: TcpStream, seen: &Seen, answer: &Answer) {
    // A test that hangs ends some day.
    if stream.set_read_timeout(Some(Duration::from_secs(60))).is_err() || stream.set_nodelay(true).is_err() {
        return;
    }
    let mut held = Vec::new();
    for nth in 0.. {
        let Some(request) = read(&mut stream, &mut held, nth) else { return };
        seen.requests.fetch_add(1, Ordering::SeqCst);
        *seen.paths.lock().unwrap().entry(request.path.clone()).or_default() += 1;
        match answer(&request, &mut stream) {
            Then::Keep => {}
            Then::Close => return,
            Then::Reset => {
                let at_once = Some(Duration::ZERO);
                return rustix::net::sockopt::set_socket_linger(&stream, at_once).unwrap_or_default();
            }
            Then::Hang => {
                while stream.read(&mut [0; 512]).is_ok_and(|read| read > 0) {}
                return;
            }
        }
    }
}

/// The next request; `None` when the client has gone.
pub fn read(stream: &mut impl Read, held: &mut Vec<u8>, nth: u64) -> Option<Request> {
    let mut buffer = vec![0; 64 << 10];
    loop {
        if let Some(end) = held.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&held[..end]).into_owned();
            let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
            let length: usize = length.map_or(0, |digits| digits.parse().unwrap());
            if held.len() >= end + 4 + length {
                let body = held[end + 4..end + 4 + length].to_vec();
                held.drain(..end + 4 + length);
                let mut words = head.split(' ');
                let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
                return Some(Request { method, path, head, body, nth });
            }
        }
        match stream.read(&mut buffer) {
            Ok(read) if read > 0 => held.extend_from_slice(&buffer[..read]),
            _ => return None,
        }
    }
}
