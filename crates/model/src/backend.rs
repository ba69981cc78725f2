//! Applications behind a server: programs that listen where the server is connected to, such as behind a proxy.

use serde::{Deserialize, Serialize};

use crate::format::number;

/// A listening socket behind the server, looked at while the server was under load.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backend {
    /// The address and port at which it listens.
    pub socket: String,
    /// The name of the first of the processes that hold the socket; `None` where they cannot be seen.
    pub name: Option<String>,
    /// Those processes and their descendants.
    pub pids: Vec<i32>,
    /// Connections that the server had to it at the look, those that were not accepted yet included.
    pub connections: u64,
    /// From the look to the end of the load.
    pub window_ns: u64,
    /// CPU time of the processes in that window, and of their busiest thread, where it is known.
    pub cpu_ns: Option<u64>,
    pub thread_ns: Option<u64>,
}

impl Backend {
    /// `127.0.0.1:8197 (python3)`.
    pub fn place(&self) -> String {
        place(&self.socket, self.name.as_deref())
    }

    /// CPUs that its processes kept busy: 1 is one CPU all the time.
    pub fn cpus(&self) -> Option<f64> {
        self.share(self.cpu_ns?)
    }

    /// The share of the time in which its busiest thread ran.
    pub fn thread(&self) -> Option<f64> {
        self.share(self.thread_ns?)
    }

    /// Adds what was seen of it in another take.
    pub fn add(&mut self, other: &Backend) {
        let both = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
        self.name = self.name.take().or_else(|| other.name.clone());
        self.pids.extend(other.pids.iter().filter(|pid| !self.pids.contains(pid)).collect::<Vec<_>>());
        self.connections = self.connections.saturating_add(other.connections);
        self.window_ns = self.window_ns.saturating_add(other.window_ns);
        self.cpu_ns = both(self.cpu_ns, other.cpu_ns);
        self.thread_ns = both(self.thread_ns, other.thread_ns);
    }

    fn share(&self, ns: u64) -> Option<f64> {
        (self.window_ns > 0).then(|| ns as f64 / self.window_ns as f64)
    }

    /// `127.0.0.1:8197 (python3), 4 connections, 0.980 of a CPU`.
    pub fn text(&self) -> String {
        let cpus = self.cpus().map_or_else(String::new, |cpus| format!(", {} of a CPU", number(cpus)));
        format!("{}, {}{cpus}", self.place(), crate::format::count(self.connections as usize, "connection"))
    }
}

/// A listening socket with the process that holds it, where that is known: `127.0.0.1:8197 (python3)`.
pub fn place(socket: &str, process: Option<&str>) -> String {
    process.map_or_else(|| socket.to_owned(), |process| format!("{socket} ({process})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_application_is_told_with_what_is_known_of_it() {
        let mut one = Backend {
            socket: "127.0.0.1:8197".into(),
            name: Some("python3".into()),
            pids: vec![7],
            connections: 4,
            window_ns: 2_000_000_000,
            cpu_ns: Some(1_960_000_000),
            thread_ns: Some(1_900_000_000),
        };
        assert_eq!(one.text(), "127.0.0.1:8197 (python3), 4 connections, 0.980 of a CPU");
        assert!(one.thread().is_some_and(|share| (share - 0.95).abs() < 1e-9));
        (one.name, one.cpu_ns, one.window_ns, one.connections) = (None, None, 0, 1);
        assert_eq!((one.text().as_str(), one.thread()), ("127.0.0.1:8197, 1 connection", None));
    }
}
