//! Our own small server, `builtin` in results: it serves files over HTTP/1.1, with a thread and an event queue for
//! each CPU.
//!
//! It is this program, started again with the single argument [`ARGUMENT`]; its options come on standard input. Bodies
//! of up to 1 MiB are held in memory ready to send, so it shows what the machine and its kernel can serve rather than
//! what a web server does. It writes no log, and its answers have no cache control and no date.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::kind::{Build, Host, Kind, Launch, Recipe, ServerError};
use super::options::Options;
use crate::workload::guard;

pub mod faulty;
mod files;
mod request;
mod serving;

/// The argument with which the program calls [`serve`].
pub const ARGUMENT: &str = "serve-builtin";
/// Largest options, in bytes.
const ORDER_BYTES: u64 = 64 << 10;

#[derive(Debug)]
pub struct Builtin;

pub static KIND: Builtin = Builtin;

/// The server's options: one `name=value` per line, the root last.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ServeOrder {
    address: SocketAddr,
    threads: usize,
    backlog: i32,
    sendfile: bool,
    root: PathBuf,
}

impl ServeOrder {
    fn text(&self) -> String {
        let (address, threads, backlog, sendfile) = (self.address, self.threads, self.backlog, self.sendfile);
        format!("{address} {threads} {backlog} {sendfile}\n{}\n", self.root.display())
    }

    fn parse(text: &str) -> Option<ServeOrder> {
        let (numbers, root) = text.strip_suffix('\n')?.split_once('\n')?;
        let mut words = numbers.split(' ');
        let order = ServeOrder {
            address: words.next()?.parse().ok()?,
            threads: words.next()?.parse().ok().filter(|threads| (1..=20_000).contains(threads))?,
            backlog: words.next()?.parse().ok().filter(|backlog| *backlog > 0)?,
            sendfile: words.next()?.parse().ok()?,
            root: PathBuf::from(root),
        };
        (words.next().is_none() && order.root.is_absolute()).then_some(order)
    }
}

impl Kind for Builtin {
    fn name(&self) -> &'static str {
        "builtin"
    }

    fn find(&self, binary: Option<&Path>) -> Result<PathBuf, ServerError> {
        if let Some(path) = binary {
            return Err(ServerError::Refused(format!(
                "binary={}: the builtin server is this program itself",
                path.display()
            )));
        }
        let program = guard::program().cloned();
        program.ok_or_else(|| ServerError::Missing("this program cannot start itself as a server".to_owned()))
    }

    fn identify(&self, program: &Path, _host: Host<'_>) -> Result<Build, ServerError> {
        let version = concat!("builtin/", env!("CARGO_PKG_VERSION")).to_owned();
        Ok(Build { program: program.to_owned(), version, details: "part of boxscore".to_owned() })
    }

    fn accepts(&self, options: &Options) -> Result<(), ServerError> {
        let refused =
            |what: &str| Err(ServerError::Refused(format!("{what}: the builtin server cannot do that")));
        match options {
            Options { mpm: Some(mpm), .. } => refused(&format!("mpm={}", mpm.name())),
            Options { access_log: true, .. } => refused("access-log=on"),
            Options { open_file_cache: true, .. } => refused("open-file-cache=on"),
            Options { limit_rate: Some(rate), .. } => refused(&format!("limit-rate={rate}")),
            // It holds what it serves in its own memory, from which nothing can be dropped.
            Options { memory: Some(bytes), .. } => {
                refused(&format!("memory={}", model::params::show_bytes(*bytes)))
            }
            _ => Ok(()),
        }
    }

    fn launch(&self, launch: &Launch<'_>) -> Result<Recipe, ServerError> {
        // The text of the path is what the server is told.
        Launch::quoted(launch.root)?;
        let connections = u64::from(launch.options.connections);
        launch.open_files(connections.saturating_add(serving::SPARE_FILES))?;
        let order = ServeOrder {
            address: launch.address(),
            threads: launch.options.workers.map_or(launch.cpus()?, |count| count as usize),
            backlog: i32::try_from(connections.max(511)).unwrap_or(i32::MAX),
            sendfile: launch.options.sendfile,
            root: launch.root.to_owned(),
        };
        launch.tasks((order.threads as u64).saturating_add(1))?;
        let mut command = Command::new(&launch.build.program);
        command.arg(ARGUMENT);
        let setup = vec![
            ("workers", order.threads.to_string()),
            ("sendfile", if order.sendfile { "on" } else { "off" }.to_owned()),
        ];
        Ok(Recipe { command, input: Some(order.text()), setup })
    }
}

/// Runs the server: reads the options, then serves until it is killed. Returns only with an error.
pub fn serve(input: impl Read, output: impl Write) -> Result<(), String> {
    let mut text = String::new();
    let read = input.take(ORDER_BYTES).read_to_string(&mut text);
    read.map_err(|error| format!("cannot read the options: {error}"))?;
    if text.starts_with(faulty::WORD) {
        return misbehave(&text, output);
    }
    let order =
        ServeOrder::parse(&text).ok_or("malformed options; this is not meant to be started by hand")?;
    let files = files::Files::load(&order.root)?;
    serving::run(&order, files)
}

/// Runs the faulty server, which first writes where it listens. Returns only with an error.
fn misbehave(text: &str, mut output: impl Write) -> Result<(), String> {
    let faults = faulty::Faults::parse(text).ok_or("malformed list of faults")?;
    let server = faulty::Server::bind(faults)?;
    let said = writeln!(output, "{}", server.address()).and_then(|()| output.flush());
    said.map_err(|error| format!("cannot say where it listens: {error}"))?;
    server.serve()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_told_and_understood() {
        let order = ServeOrder {
            address: "[::1]:8080".parse().unwrap(),
            threads: 2,
            backlog: 511,
            sendfile: true,
            root: PathBuf::from("/a b/docs"),
        };
        assert_eq!(ServeOrder::parse(&order.text()), Some(order.clone()));
        let text = order.text();
        for end in 0..text.len() {
            assert_eq!(ServeOrder::parse(&text[..end]), None, "{end}");
        }
        for bad in [
            "",
            "\n",
            "127.0.0.1:8080 0 511 true\n/x\n",
            "127.0.0.1:8080 2 0 true\n/x\n",
            "127.0.0.1:70000 2 511 true\n/x\n",
            "127.0.0.1:80 2 5 true\nx\n",
        ] {
            assert_eq!(ServeOrder::parse(bad), None, "{bad:?}");
        }
        assert!(serve(&b"nonsense"[..], std::io::sink()).is_err());
    }

    #[test]
    fn what_it_lacks_is_refused() {
        for bad in [
            Options { access_log: true, ..Options::default() },
            Options { open_file_cache: true, ..Options::default() },
            Options { limit_rate: Some(1), ..Options::default() },
            Options { memory: Some(1 << 30), ..Options::default() },
            Options { mpm: Some(super::super::options::Mpm::Event), ..Options::default() },
        ] {
            assert!(matches!(KIND.accepts(&bad), Err(ServerError::Refused(_))), "{bad:?}");
        }
        assert!(matches!(KIND.find(Some(Path::new("/bin/true"))), Err(ServerError::Refused(_))));
    }
}
