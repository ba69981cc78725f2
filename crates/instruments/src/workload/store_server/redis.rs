//! Redis and Valkey, as they are installed or as `binary=PATH` names them: a primary, and replicas of it.
//!
//! Everything that they write stays in their private folder. Nothing is evicted (`noeviction`): a write that does not
//! fit is an error. Left at their own defaults: replication's buffers, `hz`, and everything that is not in [`config`].

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use model::login::Login;

use super::options::{Options, Persistence, StoreKind};
use super::replies::{self, Info};
use crate::workload::server::kind::{self, Build, Host, Recipe, ServerError};
use crate::workload::server::private_folder::PrivateFolder;
use crate::workload::server::run::{Server, Service};

pub(super) const LOG: &str = "store.log";
/// Connections of replicas and of those who ask how it goes.
const SPARE_CLIENTS: u32 = 64;
/// Files that it keeps for itself.
const SPARE_FILES: u32 = 32;
const ASK: Duration = Duration::from_secs(2);

/// Finds the program. Fails when it is not installed.
pub(super) fn find(kind: StoreKind, binary: Option<&Path>) -> Result<PathBuf, ServerError> {
    let (names, hint) = match kind {
        StoreKind::Valkey => (
            ["valkey-server"],
            "`apt-get install valkey-server` installs it where the distribution has it (else redis-server)",
        ),
        _ => (["redis-server"], "`apt-get install redis-server` installs it"),
    };
    kind::locate(kind.name(), binary, &names, hint)
}

/// Asks the program for its version. Fails when it is another program.
pub(super) fn identify(kind: StoreKind, program: &Path, host: Host<'_>) -> Result<Build, ServerError> {
    let ended = kind::hear(program, &["--version"], host)?;
    let details = ended.stdout.text().trim().to_owned();
    let version = version(&details).filter(|_| ended.exit.status.success());
    let Some(version) = version else { return Err(kind::impostor(program, kind.name(), &ended)) };
    Ok(Build { program: program.to_owned(), version: format!("{}/{version}", kind.name()), details })
}

/// `Redis server v=7.0.15 sha=… malloc=jemalloc-5.3.0 …`; Valkey says `Server v=` or `Valkey server v=`.
fn version(said: &str) -> Option<&str> {
    let mut words = said.split_whitespace();
    let version = words.find_map(|word| word.strip_prefix("v="))?;
    words.any(|word| word.starts_with("malloc=")).then_some(version).filter(|text| !text.is_empty())
}

/// One of its processes.
pub(super) struct Node<'a> {
    pub options: &'a Options,
    pub build: &'a Build,
    /// Whose data it copies; `None` for the primary.
    pub primary: Option<SocketAddr>,
}

impl Service for Node<'_> {
    fn recipe(&self, place: &PrivateFolder, port: u16) -> Result<Recipe, ServerError> {
        let clients = self.options.connections.saturating_add(SPARE_CLIENTS);
        kind::open_files(self.options.connections, u64::from(clients.saturating_add(SPARE_FILES)))?;
        let text = config(self, port, clients);
        let path = place.file("store.conf", &text).map_err(ServerError::Failed)?;
        let mut command = Command::new(&self.build.program);
        command.arg(path);
        Ok(Recipe { command, input: None, setup: Vec::new() })
    }

    fn ready(&self, server: &Server) -> Result<(), String> {
        let info = info(server.address())?;
        if !server.is_process(info.number("process_id")) {
            return Err("another store answers on its port".to_owned());
        }
        match (self.primary, info.text("loading")) {
            (_, Some("1")) => Err("it loads its data".to_owned()),
            (None, _) => Ok(()),
            (Some(_), _) => linked(&info),
        }
    }
}

/// A node's description of itself. Fails when it does not answer.
pub(super) fn info(address: SocketAddr) -> Result<Info, String> {
    info_as(address, None)
}

/// The same with a login, if there is one.
pub(super) fn info_as(address: SocketAddr, login: Option<&Login>) -> Result<Info, String> {
    const INFO: &[u8] = b"INFO\r\n";
    match login {
        None => replies::ask(address, INFO, ASK, "Redis or Valkey", replies::info),
        Some(login) => {
            let question = [&login.resp(), INFO].concat();
            replies::ask(address, &question, ASK, "Redis or Valkey", replies::info_behind_login)
        }
    }
}

/// Fails unless a replica has all that its primary has and hears of every change.
pub(super) fn linked(info: &Info) -> Result<(), String> {
    match (info.text("role"), info.text("master_link_status"), info.text("master_sync_in_progress")) {
        (Some("slave"), Some("up"), Some("0")) => Ok(()),
        (Some("slave"), Some("up"), _) => Err("it copies the data of its primary".to_owned()),
        (Some("slave"), status, _) => {
            Err(format!("its link to the primary is {}", status.unwrap_or("unknown")))
        }
        (role, ..) => Err(format!("its role is {}, not that of a replica", role.unwrap_or("unknown"))),
    }
}

/// How many replicas a primary calls online: they have its data, and hear of every change.
pub(super) fn online(info: &Info) -> usize {
    let replica = |(name, value): (&str, &str)| {
        let number = name.strip_prefix("slave").is_some_and(|rest| rest.parse::<u32>().is_ok());
        number && value.split(',').any(|field| field == "state=online")
    };
    info.lines().filter(|line| replica(*line)).count()
}

fn config(node: &Node<'_>, port: u16, clients: u32) -> String {
    let options = node.options;
    let threads = options.threads.unwrap_or(1);
    let backlog = options.connections.max(511);
    let mut text = format!(
        "bind 127.0.0.1\nport {port}\ndaemonize no\nlogfile {LOG}\nmaxclients {clients}\ntcp-backlog {backlog}\n\
         maxmemory {}\nmaxmemory-policy noeviction\nio-threads {threads}\n",
        options.memory.unwrap_or(0)
    );
    let mut add = |lines: &str| {
        text.push_str(lines);
        text.push('\n');
    };
    if threads > 1 && major(&node.build.version) < 8 {
        // Later ones read with them anyway.
        add("io-threads-do-reads yes");
    }
    match options.persistence {
        Persistence::Off => add("save \"\"\nappendonly no"),
        Persistence::Rdb => add("save 3600 1\nsave 300 100\nsave 60 10000\nappendonly no"),
        Persistence::Everysec => add("save \"\"\nappendonly yes\nappendfsync everysec"),
        Persistence::Always => add("save \"\"\nappendonly yes\nappendfsync always"),
    }
    // The first copy goes over the wire at once, and not over a disk after five seconds.
    add("repl-diskless-sync yes\nrepl-diskless-sync-delay 0");
    if let Some(primary) = node.primary {
        add(&format!("replicaof {} {}", primary.ip(), primary.port()));
    }
    text
}

/// Of `redis/7.0.15`; 0 where it cannot be read.
fn major(version: &str) -> u32 {
    let number = version.rsplit('/').next().and_then(|text| text.split('.').next());
    number.and_then(|text| text.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_both() {
        let redis =
            "Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=ae4d7c971a948f0";
        assert_eq!(version(redis), Some("7.0.15"));
        assert_eq!(version("Server v=7.2.5 sha=00000000:0 malloc=libc bits=64 build=1"), Some("7.2.5"));
        for not in ["", "v=", "v=1", "sh 5.2", "v= malloc=x"] {
            assert_eq!(version(not), None, "{not}");
        }
        assert_eq!((major("redis/7.0.15"), major("valkey/8.1"), major("x")), (7, 8, 0));
    }

    #[test]
    fn options_reach_the_configuration() {
        let text = |options: &Options, version: &str, primary| {
            let build = Build { version: version.to_owned(), ..Build::default() };
            config(&Node { options, build: &build, primary }, 7000, 100)
        };
        let plain = Options::new(StoreKind::Redis);
        let usual = text(&plain, "redis/7.0", None);
        for line in
            ["port 7000", "save \"\"", "appendonly no", "io-threads 1", "maxmemory 0", "maxclients 100"]
        {
            assert!(usual.lines().any(|one| one == line), "{usual}");
        }
        assert!(!usual.contains("replicaof") && !usual.contains("do-reads"), "{usual}");
        let options = Options {
            persistence: Persistence::Always,
            threads: Some(4),
            memory: Some(1 << 26),
            connections: 2000,
            ..plain
        };
        let full = text(&options, "redis/7.0", Some("127.0.0.1:9".parse().unwrap()));
        for line in [
            "appendonly yes",
            "appendfsync always",
            "io-threads 4",
            "io-threads-do-reads yes",
            "maxmemory 67108864",
            "tcp-backlog 2000",
            "replicaof 127.0.0.1 9",
        ] {
            assert!(full.lines().any(|one| one == line), "{full}");
        }
        assert!(!text(&options, "valkey/8.0", None).contains("do-reads"));
    }

    #[test]
    fn replicas_are_linked_or_why_not() {
        let info = |text: &str| Info::parse(text.as_bytes());
        let good = "role:slave\r\nmaster_link_status:up\r\nmaster_sync_in_progress:0\r\n";
        assert_eq!(linked(&info(good)), Ok(()));
        for (text, says) in [
            (good.replace(":up", ":down"), "is down"),
            (good.replace(":0", ":1"), "copies"),
            (good.replace("slave", "master"), "role is master"),
            (String::new(), "unknown"),
        ] {
            let why = linked(&info(&text)).unwrap_err();
            assert!(why.contains(says), "{why}");
        }
        let primary = "connected_slaves:2\r\nslave0:ip=127.0.0.1,port=1,state=online,offset=0,lag=0\r\n\
            slave1:ip=127.0.0.1,port=2,state=wait_bgsave,offset=0,lag=0\r\nslave_x:state=online\r\n";
        assert_eq!(online(&info(primary)), 1);
    }
}
