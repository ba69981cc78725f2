//! The processes of a server that do its work, as they were during a load, and the settings by which usual servers get
//! more of them.
//!
//! Counts of processes and threads; a share is of one CPU, 1 all the time.

use serde::{Deserialize, Serialize};

use crate::format::count;

/// The processes of a server on this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerWorkers {
    /// The name of the process that worked most, as the kernel has it: `nginx`.
    pub name: String,
    pub pid: i32,
    /// Its threads, idle ones too.
    pub threads: usize,
    /// Processes like it, itself too: of its name, command line and parent.
    pub alike: usize,
    /// Those that did a hundredth of the work at least, the busiest first.
    pub busy: Vec<i32>,
    /// Processes and threads of the whole server; `None` where some came or went.
    #[serde(default)]
    pub all: Option<(usize, usize)>,
}

/// Processes that a sentence names.
const NAMED: usize = 4;

impl ServerWorkers {
    /// `nginx: 1 of 4 worker processes worked (pid 4711)`.
    pub fn text(&self) -> String {
        format!(
            "{}: {} of {} worked (pid {})",
            self.name,
            self.busy.len(),
            plural(self.alike, "worker process"),
            self.pids()
        )
    }

    /// `4711 4712`: as `taskset` takes them one by one; those beyond four are not named.
    pub fn pids(&self) -> String {
        let named: Vec<String> = self.busy.iter().take(NAMED).map(i32::to_string).collect();
        let more = if self.busy.len() > NAMED { " ..." } else { "" };
        format!("{}{more}", named.join(" "))
    }

    /// Its processes and threads, for a comparison: `2 processes, 2 threads`; `None` where that changed meanwhile, and
    /// of servers that start more of them as a load asks, or of which that is not known.
    pub fn size(&self) -> Option<String> {
        usual(&self.name).filter(|server| server.is_fixed)?;
        let (processes, threads) = self.all?;
        Some(format!("{}, {}", plural(processes, "process"), count(threads, "thread")))
    }

    /// Who does the work where one thread of it is full: `it has 1 worker process, nginx (pid 4711), of one thread`.
    pub fn of_one_thread(&self) -> String {
        let (name, pid) = (&self.name, self.pid);
        match (self.alike, self.threads) {
            (0 | 1, 0 | 1) => format!("it has 1 worker process, {name} (pid {pid}), of one thread"),
            (0 | 1, threads) => {
                format!("it has 1 process, {name} (pid {pid}), and of its {threads} threads one is full")
            }
            (alike, _) => format!("of its {alike} worker processes {name} (pid {pid}) alone is full"),
        }
    }

    /// Advice against one full thread: more of them, or that the others work too.
    pub fn advice(&self) -> String {
        let usual = usual(&self.name);
        let by = usual.map_or_else(String::new, |one| format!(" ({}: `{}`)", one.says, one.workers));
        match (self.alike, self.threads) {
            (0 | 1, 0 | 1) => format!("run more workers or threads{by}"),
            (0 | 1, _) => {
                format!("see why one thread has all the work: a lock, or too few that may do it{by}")
            }
            _ => {
                let spread = usual.and_then(|one| one.spread);
                let spread = spread.map_or_else(String::new, |how| format!("; `{how}` gives each a queue"));
                format!("see why it takes all connections (one listener, one lock){spread}")
            }
        }
    }
}

fn plural(number: usize, word: &str) -> String {
    if number == 1 { format!("1 {word}") } else { format!("{number} {word}es") }
}

/// The settings of a usual server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsualServer {
    /// Names of its processes.
    names: &'static [&'static str],
    pub says: &'static str,
    /// The setting that gives it more workers or threads.
    pub workers: &'static str,
    /// It keeps as many workers and threads as its settings say.
    pub is_fixed: bool,
    /// The setting by which each worker gets connections of its own.
    pub spread: Option<&'static str>,
    /// The setting by which the kernel sends files by itself.
    pub sendfile: Option<&'static str>,
}

/// Servers whose settings are known.
pub const USUAL: [UsualServer; 5] = [
    UsualServer {
        names: &["nginx"],
        says: "nginx",
        workers: "worker_processes",
        is_fixed: true,
        spread: Some("listen ... reuseport"),
        sendfile: Some("sendfile on"),
    },
    UsualServer {
        names: &["apache2", "httpd"],
        says: "Apache",
        workers: "MaxRequestWorkers, ServerLimit",
        is_fixed: false,
        spread: Some("ListenCoresBucketsRatio"),
        sendfile: Some("EnableSendfile on"),
    },
    UsualServer {
        names: &["redis-server"],
        says: "Redis",
        workers: "io-threads",
        is_fixed: true,
        spread: None,
        sendfile: None,
    },
    UsualServer {
        names: &["valkey-server"],
        says: "Valkey",
        workers: "io-threads",
        is_fixed: true,
        spread: None,
        sendfile: None,
    },
    UsualServer {
        names: &["memcached"],
        says: "memcached",
        workers: "-t",
        is_fixed: true,
        spread: None,
        sendfile: None,
    },
];

/// The usual server whose processes have this name.
pub fn usual(name: &str) -> Option<&'static UsualServer> {
    USUAL.iter().find(|one| one.names.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workers(alike: usize, threads: usize, busy: &[i32]) -> ServerWorkers {
        let (name, busy) = ("nginx".to_owned(), busy.to_vec());
        ServerWorkers { name, pid: 7, threads, alike, busy, all: Some((alike + 1, alike + threads)) }
    }

    #[test]
    fn who_is_full_is_named_with_its_setting() {
        let one = workers(1, 1, &[7]);
        assert_eq!(one.of_one_thread(), "it has 1 worker process, nginx (pid 7), of one thread");
        assert_eq!(one.advice(), "run more workers or threads (nginx: `worker_processes`)");
        assert_eq!(one.size().unwrap(), "2 processes, 2 threads");
        let four = workers(4, 1, &[7, 8]);
        assert_eq!(four.of_one_thread(), "of its 4 worker processes nginx (pid 7) alone is full");
        assert!(four.advice().ends_with("`listen ... reuseport` gives each a queue"), "{}", four.advice());
        assert_eq!(four.pids(), "7 8");
        assert_eq!(workers(5, 1, &[1, 2, 3, 4, 5]).pids(), "1 2 3 4 ...");
        let threads = ServerWorkers { name: "memcached".into(), all: None, ..workers(1, 4, &[7]) };
        assert!(threads.of_one_thread().ends_with("of its 4 threads one is full"));
        assert!(threads.advice().ends_with("(memcached: `-t`)") && threads.size().is_none());
        assert_eq!(usual("thttpd"), None);
    }
}
