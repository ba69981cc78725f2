//! A small HTTP server for nodes that boot: it gives files, and takes what nodes say of themselves.
//!
//! One thread a connection, one request a connection. Whoever is on the network may ask, so sizes and times have
//! limits, and who takes an answer decides by the address and the key.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// Bytes of a head, and of a body: a spec sheet is far shorter.
const MOST_HEAD: usize = 16 << 10;
const MOST_BODY: usize = 8 << 20;
/// Connections at once.
const MOST_CONNECTIONS: usize = 512;
/// How long a node may be silent.
const PATIENCE: Duration = Duration::from_secs(30);
/// The same while it writes what it gets onto a disk, which may be slow.
const LONG_PATIENCE: Duration = Duration::from_secs(300);

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub from: IpAddr,
    pub is_post: bool,
    pub path: String,
    pub body: Vec<u8>,
}

/// An answer.
#[derive(Clone, Debug)]
pub enum Answer {
    Ok(Arc<Vec<u8>>),
    /// A file as it is, which may be large.
    File(PathBuf),
    NotFound,
    Refused,
}

/// A server; it ends with this value.
#[derive(Debug)]
pub struct Server {
    pub address: SocketAddr,
    is_over: Arc<AtomicBool>,
}

impl Server {
    /// Serves at an address, at a port that the system chooses. `answer` is told of a GET again, with `sent`, when the
    /// answer was given whole. Fails when the address cannot be used.
    pub fn start(
        at: Ipv4Addr,
        answer: impl Fn(&Request) -> Answer + Send + Sync + 'static,
        sent: impl Fn(&Request) + Send + Sync + 'static,
    ) -> std::io::Result<Server> {
        let listener = TcpListener::bind((at, 0))?;
        let address = listener.local_addr()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let (over, busy) = (Arc::clone(&is_over), Arc::new(AtomicUsize::new(0)));
        let work = Arc::new((answer, sent));
        std::thread::Builder::new().name("boot http".into()).spawn(move || {
            for stream in listener.incoming() {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                if busy.fetch_add(1, Ordering::Relaxed) >= MOST_CONNECTIONS {
                    busy.fetch_sub(1, Ordering::Relaxed);
                    continue;
                }
                let (work, done) = (Arc::clone(&work), Arc::clone(&busy));
                let serve = move || {
                    // A connection that breaks is one that asks again.
                    let _ended = exchange(stream, &work.0, &work.1);
                    done.fetch_sub(1, Ordering::Relaxed);
                };
                if std::thread::Builder::new().spawn(serve).is_err() {
                    busy.fetch_sub(1, Ordering::Relaxed);
                }
            }
        })?;
        Ok(Server { address, is_over })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // It waits for a connection.
        drop(TcpStream::connect_timeout(&self.address, Duration::from_millis(200)));
    }
}

fn exchange(
    mut stream: TcpStream,
    answer: &dyn Fn(&Request) -> Answer,
    sent: &dyn Fn(&Request),
) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let from = stream.peer_addr()?.ip();
    let Some(request) = read(&mut stream, from)? else {
        return stream
            .write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    };
    let (status, body) = match answer(&request) {
        Answer::Ok(body) => ("200 OK", body),
        Answer::File(path) => match File::open(&path).and_then(|file| Ok((file.metadata()?.len(), file))) {
            Ok((length, file)) => {
                stream.set_write_timeout(Some(LONG_PATIENCE))?;
                stream.write_all(head("200 OK", length).as_bytes())?;
                std::io::copy(&mut file.take(length), &mut stream)?;
                stream.flush()?;
                sent(&request);
                return Ok(());
            }
            Err(_) => ("404 Not Found", Arc::default()),
        },
        Answer::NotFound => ("404 Not Found", Arc::default()),
        Answer::Refused => ("403 Forbidden", Arc::default()),
    };
    stream.write_all(head(status, body.len() as u64).as_bytes())?;
    stream.write_all(&body)?;
    stream.flush()?;
    if status == "200 OK" {
        sent(&request);
    }
    Ok(())
}

fn head(status: &str, length: u64) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n")
}

/// The request, or `None` for what is none or is too long.
fn read(stream: &mut impl Read, from: IpAddr) -> std::io::Result<Option<Request>> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let count = stream.read(&mut chunk)?;
        if count == 0 {
            return Ok(None);
        }
        bytes.extend_from_slice(&chunk[..count]);
        let mut headers = [httparse::EMPTY_HEADER; 32];
        let mut parsed = httparse::Request::new(&mut headers);
        let head = match parsed.parse(&bytes) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) if bytes.len() < MOST_HEAD => continue,
            _ => return Ok(None),
        };
        let length = parsed.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
        let length = length.map_or(Some(0), |header| std::str::from_utf8(header.value).ok()?.parse().ok());
        let (Some(length), Some(path)) = (length.filter(|length| *length <= MOST_BODY), parsed.path) else {
            return Ok(None);
        };
        let (is_post, path) = (parsed.method == Some("POST"), path.to_owned());
        let mut body = bytes.split_off(head);
        body.truncate(length);
        let have = body.len();
        body.resize(length, 0);
        stream.read_exact(&mut body[have..])?;
        return Ok(Some(Request { from, is_post, path, body }));
    }
}

/// Posts a body and gives back the answer's, as a node does. Fails for any answer but 200.
pub fn post(to: SocketAddr, path: &str, body: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect_timeout(&to, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let head = format!("POST {path} HTTP/1.1\r\nHost: {to}\r\nContent-Length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)?;
    let mut answer = Vec::new();
    stream.take(MOST_BODY as u64).read_to_end(&mut answer)?;
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n");
    match end {
        Some(end) if answer.starts_with(b"HTTP/1.1 200 ") => Ok(answer.split_off(end + 4)),
        _ => {
            let line = answer.split(|byte| *byte == b'\r').next().unwrap_or_default();
            let said = String::from_utf8_lossy(line).escape_debug().to_string();
            Err(std::io::Error::other(format!("the answer to {path} is {said}")))
        }
    }
}

/// The body of an answer, as it comes. One that ends before its length is an error.
#[derive(Debug)]
pub struct Body {
    stream: TcpStream,
    left: u64,
}

impl Read for Body {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        let most = room.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        if most == 0 {
            return Ok(0);
        }
        let count = self.stream.read(&mut room[..most])?;
        if count == 0 {
            let what = format!("the controller sent {} bytes too few", self.left);
            return Err(Error::new(ErrorKind::UnexpectedEof, what));
        }
        self.left -= count as u64;
        Ok(count)
    }
}

/// Gets a file, as a node does. Fails for any answer but 200.
pub fn get(from: SocketAddr, path: &str) -> std::io::Result<Body> {
    let mut stream = TcpStream::connect_timeout(&from, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: {from}\r\n\r\n").as_bytes())?;
    let mut head = Vec::new();
    // Byte by byte: what stands behind the head is the body.
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
        if head.len() > MOST_HEAD {
            return Err(Error::other(format!("the answer to {path} has no end of its head")));
        }
    }
    let mut headers = [httparse::EMPTY_HEADER; 32];
    let mut parsed = httparse::Response::new(&mut headers);
    let bad = |what: String| Error::other(format!("the answer to {path} is {what}"));
    parsed.parse(&head).map_err(|error| bad(error.to_string()))?;
    let length = parsed.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let length = length.and_then(|header| std::str::from_utf8(header.value).ok()?.parse().ok());
    match (parsed.code, length) {
        (Some(200), Some(left)) => Ok(Body { stream, left }),
        (Some(200), None) => Err(bad("of no length".to_owned())),
        (code, _) => Err(bad(code.unwrap_or_default().to_string())),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn files_are_given_and_posts_are_taken_within_bounds() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&told);
        let answer = |request: &Request| match (request.is_post, request.path.as_str()) {
            (false, "/file") => Answer::Ok(Arc::new(vec![b'x'; 100_000])),
            (true, "/echo") => Answer::Ok(Arc::new(request.body.clone())),
            (true, _) => Answer::Refused,
            _ => Answer::NotFound,
        };
        let server = Server::start(Ipv4Addr::LOCALHOST, answer, move |request| {
            heard.lock().unwrap().push(request.path.clone());
        })
        .unwrap();
        let ask = |text: &str| {
            let mut stream = TcpStream::connect(server.address).unwrap();
            stream.write_all(text.as_bytes()).unwrap();
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer).unwrap();
            String::from_utf8_lossy(&answer).into_owned()
        };
        let file = ask("GET /file HTTP/1.0\r\n\r\n");
        assert!(file.starts_with("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n") && file.ends_with("xxx"));
        assert!(ask("GET /../etc/passwd HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404"));
        for bad in [
            "nonsense\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        ] {
            assert!(ask(bad).starts_with("HTTP/1.1 400"), "{bad}");
        }
        let body: Vec<u8> = (0..100_000u32).map(|n| n as u8).collect();
        assert_eq!(post(server.address, "/echo", &body).unwrap(), body);
        assert!(post(server.address, "/other", b"").unwrap_err().to_string().contains("403"));
        assert_eq!(*told.lock().unwrap(), ["/file", "/echo"]);
    }

    #[test]
    fn a_file_is_streamed_and_one_that_ends_early_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("image");
        let bytes: Vec<u8> = (0..3_000_000_u32).map(|n| (n / 5) as u8).collect();
        std::fs::write(&path, &bytes).unwrap();
        let answer = move |request: &Request| match request.path.as_str() {
            "/image" => Answer::File(path.clone()),
            "/gone" => Answer::File(path.join("none")),
            _ => Answer::Refused,
        };
        let server = Server::start(Ipv4Addr::LOCALHOST, answer, |_| {}).unwrap();
        let mut got = Vec::new();
        get(server.address, "/image").unwrap().read_to_end(&mut got).unwrap();
        assert!(got == bytes);
        assert!(get(server.address, "/gone").unwrap_err().to_string().ends_with("/gone is 404"));
        assert!(get(server.address, "/other").unwrap_err().to_string().ends_with("/other is 403"));
        let broken = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = broken.local_addr().unwrap();
        let far = std::thread::spawn(move || {
            let (mut stream, _) = broken.accept().unwrap();
            let mut request = [0; 1024];
            assert!(stream.read(&mut request).unwrap() > 0);
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc").unwrap();
        });
        let error = get(at, "/x").unwrap().read_to_end(&mut Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), "the controller sent 7 bytes too few");
        far.join().unwrap();
    }
}
