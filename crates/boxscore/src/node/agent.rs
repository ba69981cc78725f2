//! The agent of a booted node behind TCP: on the node, and from the controller.
//!
//! A connection begins with a line that has the node's key. Then the connection is stdin and stdout of a measuring
//! child. A word behind the key asks for something else: for its disks, or that it writes to one. Both sides then speak
//! in lines of JSON.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::Serialize;

use super::settings::Settings;
use super::{disks, write};
use crate::error::CliError;
use crate::out;

/// The port on which agents of booted nodes listen.
pub const PORT: u16 = 7411;

/// Bytes of the first line, and of an order.
const LONGEST: usize = 256;
const LONGEST_ORDER: usize = 4096;

/// Words behind the key.
pub const DISKS: &str = "disks";
pub const WRITE: &str = "write";

/// How long a connection may take to send its first line, and the controller to connect.
const PATIENCE: Duration = Duration::from_secs(10);

pub fn listen(settings: &Settings) -> Result<TcpListener, CliError> {
    TcpListener::bind((settings.address, PORT))
        .map_err(|error| CliError::data(format!("{}:{PORT}: {error}", settings.address)))
}

/// Serves each connection with a child of its own, for ever.
pub fn serve(listener: &TcpListener, settings: &Settings) -> Result<(), CliError> {
    for stream in listener.incoming() {
        let stream =
            stream.map_err(|error| CliError::data(format!("no connection can be taken: {error}")))?;
        let settings = settings.clone();
        std::thread::spawn(move || {
            if let Err(error) = answer(stream, &settings) {
                out::say(&format!("boxscore: a connection failed: {error}"));
            }
        });
    }
    Ok(())
}

fn answer(stream: TcpStream, settings: &Settings) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let line = line(&stream, LONGEST)?;
    let (key, word) = line.split_once(' ').unwrap_or((&line, ""));
    if key != settings.key {
        return Err(std::io::Error::other("it does not know the key"));
    }
    match word {
        "" => child(stream),
        DISKS => say(&stream, &disks::all(&disks::here())),
        WRITE => {
            let order = line_of_order(&stream)?;
            write::carry_out(&order, settings, &mut |said| say(&stream, said))
        }
        _ => Err(std::io::Error::other("it asks for something unknown")),
    }
}

/// The next line. Read byte by byte: what stands behind it is somebody else's.
fn line(mut stream: &TcpStream, longest: usize) -> std::io::Result<String> {
    let (mut line, mut byte) = (Vec::new(), [0]);
    while line.len() < longest && stream.read(&mut byte)? > 0 && byte != [b'\n'] {
        line.push(byte[0]);
    }
    Ok(String::from_utf8_lossy(&line).into_owned())
}

fn line_of_order(stream: &TcpStream) -> std::io::Result<write::Order> {
    serde_json::from_str(&line(stream, LONGEST_ORDER)?).map_err(std::io::Error::other)
}

fn say(mut stream: &TcpStream, what: &impl Serialize) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(what).map_err(std::io::Error::other)?;
    line.push(b'\n');
    stream.write_all(&line)
}

fn child(stream: TcpStream) -> std::io::Result<()> {
    stream.set_read_timeout(None)?;
    stream.set_nodelay(true)?;
    let (input, output) = (OwnedFd::from(stream.try_clone()?), OwnedFd::from(stream));
    let mut agent = Command::new("/proc/self/exe");
    agent.args(["agent", "--stdio"]).stdin(Stdio::from(input)).stdout(Stdio::from(output));
    let mut agent = agent.env("HOME", "/root").spawn()?;
    agent.wait()?;
    Ok(())
}

/// Connects to the agent of a node and asks for something by its word.
pub fn connect(settings: &Settings, word: &str) -> std::io::Result<TcpStream> {
    let mut stream = TcpStream::connect_timeout(&(settings.address, PORT).into(), PATIENCE)?;
    stream.set_nodelay(true)?;
    stream.write_all(format!("{} {word}\n", settings.key).as_bytes())?;
    Ok(stream)
}

/// The text of a file that [`dial`] reads.
pub fn way(settings: &Settings) -> String {
    format!("{}:{PORT} {}\n", settings.address, settings.key)
}

/// Connects stdin and stdout of this process with the agent that a file names. Only a measuring child is there.
pub fn dial(file: &Path, words: &[String]) -> Result<u8, CliError> {
    if words != ["agent", "--stdio"] {
        return Err(CliError::usage("a booted node runs `agent --stdio` alone: use this with --via"));
    }
    let wrong = |what: String| CliError::data(format!("{}: {what}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
    let (address, key) = text.trim().split_once(' ').ok_or_else(|| wrong("it names no agent".to_owned()))?;
    let address = address.parse().map_err(|_| wrong("it names no agent".to_owned()))?;
    let away = |error: std::io::Error| CliError::data(format!("the agent at {address}: {error}"));
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE).map_err(away)?;
    stream.set_nodelay(true).map_err(away)?;
    stream.write_all(format!("{key}\n").as_bytes()).map_err(away)?;
    let mut to = stream.try_clone().map_err(away)?;
    std::thread::spawn(move || {
        let mut from = BufReader::new(std::io::stdin());
        // The other direction tells why a connection broke.
        let _ended = pass(&mut from, &mut to);
        let _ended = to.shutdown(Shutdown::Write);
    });
    let mut from = BufReader::new(stream);
    pass(&mut from, &mut std::io::stdout()).map_err(away)?;
    Ok(0)
}

/// Copies what comes, at once.
fn pass(from: &mut impl BufRead, to: &mut impl Write) -> std::io::Result<()> {
    loop {
        let bytes = from.fill_buf()?;
        if bytes.is_empty() {
            return Ok(());
        }
        to.write_all(bytes)?;
        to.flush()?;
        let count = bytes.len();
        from.consume(count);
    }
}
