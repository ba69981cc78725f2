//! memcached, as it is installed or as `binary=PATH` names it.
//!
//! TCP only, items up to 2 MiB (so that values of 1 MiB fit), and nothing is evicted (`-M`): a write that does not fit
//! is an error, as with the other stores. It keeps nothing on disk and has no replicas.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::options::Options;
use super::replies::{self, Info};
use crate::workload::server::kind::{self, Build, Host, Recipe, ServerError};
use crate::workload::server::private_folder::PrivateFolder;
use crate::workload::server::run::{Server, Service};

/// Bytes of data where no limit is asked for: it cannot be without one. Taken as they are used.
pub const MEMORY: u64 = 1 << 30;
const SPARE_CONNECTIONS: u32 = 16;
const SPARE_FILES: u32 = 32;
const ASK: Duration = Duration::from_secs(2);

/// Finds the program. Fails when it is not installed.
pub(super) fn find(binary: Option<&Path>) -> Result<PathBuf, ServerError> {
    kind::locate("memcached", binary, &["memcached"], "`apt-get install memcached` installs it")
}

/// Asks the program for its version: `memcached 1.6.18`. Fails when it is another program.
pub(super) fn identify(program: &Path, host: Host<'_>) -> Result<Build, ServerError> {
    let ended = kind::hear(program, &["-V"], host)?;
    let details = ended.stdout.text().trim().to_owned();
    match kind::after(&details, "memcached ") {
        Some(version) if ended.exit.status.success() => {
            Ok(Build { program: program.to_owned(), version: format!("memcached/{version}"), details })
        }
        _ => Err(kind::impostor(program, "memcached", &ended)),
    }
}

/// Its one process.
pub(super) struct Node<'a> {
    pub options: &'a Options,
    pub build: &'a Build,
    pub threads: u32,
}

impl Service for Node<'_> {
    fn recipe(&self, _place: &PrivateFolder, port: u16) -> Result<Recipe, ServerError> {
        let connections = self.options.connections.saturating_add(SPARE_CONNECTIONS);
        kind::open_files(self.options.connections, u64::from(connections.saturating_add(SPARE_FILES)))?;
        let mut command = Command::new(&self.build.program);
        let mebibytes = self.options.memory.unwrap_or(MEMORY) >> 20;
        for (flag, value) in [
            ("-p", u64::from(port)),
            ("-U", 0),
            ("-m", mebibytes),
            ("-t", u64::from(self.threads)),
            ("-c", u64::from(connections)),
            ("-b", u64::from(self.options.connections.max(1024))),
        ] {
            command.args([flag, &value.to_string()]);
        }
        command.args(["-l", "127.0.0.1", "-I", "2m", "-M"]);
        if self.options.inside.is_some() {
            // It refuses to be root, even that of a container, unless it is told to.
            command.args(["-u", "root"]);
        }
        Ok(Recipe { command, input: None, setup: Vec::new() })
    }

    fn ready(&self, server: &Server) -> Result<(), String> {
        match server.is_process(stats(server.address())?.number("pid")) {
            true => Ok(()),
            false => Err("another store answers on its port".to_owned()),
        }
    }
}

/// The server's description of itself. Fails when it does not answer.
pub(super) fn stats(address: SocketAddr) -> Result<Info, String> {
    replies::ask(address, b"stats\r\n", ASK, "memcached", replies::stats)
}
