//! Network settings of this host that limit a load softly: it runs, but connections wait, are refused for a moment, or
//! lose packets that are sent again. Each one is reported with its number and how to raise it.
//!
//! Units: counts of connections, packets and files, in the network namespace of the generator. The settings of a
//! remote server are not seen.

use crate::system_files::root::Root;
use crate::telemetry::parse::{number, words};

/// How long the kernel keeps the port of a connection that it closed first (TIME_WAIT), in seconds.
const TIME_WAIT_S: f64 = 60.0;

/// The needs of a load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ask {
    pub connections: u64,
    /// False: each request opens a connection.
    pub keepalive: bool,
    /// Requests per second; `None` for a closed loop.
    pub rate: Option<f64>,
    /// Longest duration, in seconds.
    pub seconds: Option<f64>,
    /// True if the server is reached without leaving this host.
    pub is_here: bool,
}

/// The settings; `None` where one cannot be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Host {
    /// Longest accept queue of a server (`somaxconn`).
    pub somaxconn: Option<u64>,
    /// Half-open connections of a listener (`tcp_max_syn_backlog`), and whether SYN cookies answer the rest.
    pub syn_backlog: Option<u64>,
    pub syn_cookies: Option<u64>,
    /// Packets that may wait for one CPU (`netdev_max_backlog`).
    pub packets: Option<u64>,
    /// Number of local ports.
    pub ports: Option<u64>,
    /// Reuse of ports in TIME_WAIT after a second (`tcp_tw_reuse`): 0 never, 1 always, 2 on loopback.
    pub reuse: Option<u64>,
    pub timestamps: Option<u64>,
    /// Most connections in TIME_WAIT.
    pub time_waits: Option<u64>,
    /// Files that all programs together have open, and the most they may have.
    pub open_files: Option<u64>,
    pub most_files: Option<u64>,
}

impl Host {
    pub fn read(root: &Root) -> Host {
        let words_of = |name: &str| -> Vec<Option<u64>> {
            let bytes = root.bytes(&format!("/proc/sys/{name}")).unwrap_or_default();
            words(&bytes).map(number).collect()
        };
        let word = |name: &str, at: usize| words_of(name).get(at).copied().flatten();
        let files = |at| word("fs/file-nr", at);
        Host {
            somaxconn: word("net/core/somaxconn", 0),
            syn_backlog: word("net/ipv4/tcp_max_syn_backlog", 0),
            syn_cookies: word("net/ipv4/tcp_syncookies", 0),
            packets: word("net/core/netdev_max_backlog", 0),
            ports: range(&words_of("net/ipv4/ip_local_port_range")),
            reuse: word("net/ipv4/tcp_tw_reuse", 0),
            timestamps: word("net/ipv4/tcp_timestamps", 0),
            time_waits: word("net/ipv4/tcp_max_tw_buckets", 0),
            open_files: files(0).zip(files(1)).map(|(given, free)| given.saturating_sub(free)),
            most_files: files(2),
        }
    }

    /// Fails when the load would need more open files than the whole system allows.
    pub fn files(&self, ask: &Ask) -> Result<(), String> {
        // Each end of a connection is a file.
        let needed = ask.connections.saturating_mul(if ask.is_here { 2 } else { 1 });
        let (Some(open), Some(most)) = (self.open_files, self.most_files) else { return Ok(()) };
        if needed <= most.saturating_sub(open) {
            return Ok(());
        }
        let all = open.saturating_add(needed);
        Err(format!(
            "{} connections need {needed} files and the system has {} of {most} left: use fewer connections, or as \
             root `sysctl -w fs.file-max={all}`",
            ask.connections,
            most.saturating_sub(open)
        ))
    }

    /// Warnings: the soft limits that this load may meet.
    pub fn notes(&self, ask: &Ask) -> Vec<String> {
        let mut notes = self.ports(ask);
        if ask.is_here {
            notes.extend(self.queues(ask));
        }
        notes
    }

    /// Warnings about queues on the server's side.
    fn queues(&self, ask: &Ask) -> Vec<String> {
        let count = ask.connections;
        let over = |limit: Option<u64>| limit.filter(|limit| *limit < count);
        let mut notes = Vec::new();
        if let Some(limit) = over(self.somaxconn) {
            notes.push(format!(
                "{count} connections are opened at once and {limit} may wait for the server to accept them; the others \
                 are tried again after 1 s: `sysctl -w net.core.somaxconn={count}`"
            ));
        }
        // Without cookies the last quarter is kept for hosts that are known.
        let half_open = match self.syn_cookies {
            Some(0) => self.syn_backlog.map(|backlog| backlog - backlog / 4),
            _ => self.syn_backlog,
        };
        if let Some(limit) = over(half_open) {
            let then = match self.syn_cookies {
                Some(0) => "the others are tried again after 1 s",
                _ => "the others are answered with cookies, without window scaling",
            };
            let wanted = count.saturating_add(count / 2);
            notes.push(format!(
                "{count} connections are opened at once and {limit} may be half open; {then}: `sysctl -w \
                 net.ipv4.tcp_max_syn_backlog={wanted}`"
            ));
        }
        if let Some(limit) = over(self.packets) {
            notes.push(format!(
                "{count} connections may have a packet each waiting for one CPU, whose queue holds {limit}; what is \
                 more is dropped and sent again: `sysctl -w net.core.netdev_max_backlog={count}`"
            ));
        }
        notes
    }

    /// Warnings about ports in TIME_WAIT.
    fn ports(&self, ask: &Ask) -> Vec<String> {
        if ask.keepalive {
            return Vec::new();
        }
        let span_s = ask.seconds.unwrap_or(TIME_WAIT_S).min(TIME_WAIT_S);
        let reused = match (self.reuse, self.timestamps) {
            (_, Some(0)) | (Some(0), _) => false,
            (Some(1), _) => true,
            (Some(2), _) => ask.is_here,
            // Kernels before 4.19 have no 2, and what is not known binds nobody.
            _ => true,
        };
        let mut notes = Vec::new();
        // Who closes first keeps the port; here that should be the server, which some are not.
        if let Some(ports) = self.ports.filter(|_| !reused) {
            let text = match ask.rate.map(|rate| rate * span_s) {
                Some(needed) if needed <= ports as f64 => None,
                Some(needed) => Some(format!("{needed:.0} connections within {span_s:.0} s")),
                None => Some(format!("more than {:.0} connections per second", ports as f64 / span_s)),
            };
            notes.extend(text.map(|text| {
                format!(
                    "{text} need more than the {ports} local ports where this side closes first and its ports rest for \
                     60 s: `sysctl -w net.ipv4.tcp_tw_reuse=1` with net.ipv4.tcp_timestamps=1, or \
                     `sysctl -w net.ipv4.ip_local_port_range='1024 65535'`"
                )
            }));
        }
        let resting = ask.rate.map(|rate| rate * span_s);
        if let (Some(limit), Some(resting)) = (self.time_waits, resting)
            && resting > limit as f64
        {
            notes.push(format!(
                "{resting:.0} connections would rest in TIME_WAIT and {limit} may; the others end at once: `sysctl -w \
                 net.ipv4.tcp_max_tw_buckets={resting:.0}`"
            ));
        }
        notes
    }
}

fn range(ends: &[Option<u64>]) -> Option<u64> {
    let (low, high) = (ends.first().copied()??, ends.get(1).copied()??);
    high.checked_sub(low)?.checked_add(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const USUAL: Host = Host {
        somaxconn: Some(4096),
        syn_backlog: Some(2048),
        syn_cookies: Some(1),
        packets: Some(1000),
        ports: Some(28_232),
        reuse: Some(2),
        timestamps: Some(1),
        time_waits: Some(131_072),
        open_files: Some(2000),
        most_files: Some(100_000),
    };

    fn ask(connections: u64) -> Ask {
        Ask { connections, keepalive: true, rate: None, seconds: Some(10.0), is_here: true }
    }

    #[test]
    fn settings_are_read_and_missing_ones_bind_nobody() {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("net/core/somaxconn", "4096\n"),
            ("net/ipv4/ip_local_port_range", "32768\t60999\n"),
            ("net/ipv4/tcp_syncookies", "odd\n"),
            ("fs/file-nr", "1792\t92\t2466170\n"),
        ] {
            let path = dir.path().join("proc/sys").join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let host = Host::read(&Root::at(dir.path()));
        let wanted = Host {
            somaxconn: Some(4096),
            ports: Some(28_232),
            open_files: Some(1700),
            most_files: Some(2_466_170),
            ..Host::default()
        };
        assert_eq!(host, wanted);
        let none = Ask { keepalive: false, rate: Some(1e9), ..ask(u64::MAX) };
        assert_eq!(Host::default().notes(&none), [""; 0]);
        assert_eq!(Host::default().files(&none), Ok(()));
        assert_eq!(
            (range(&[Some(5), Some(5)]), range(&[Some(6), Some(5)]), range(&[])),
            (Some(1), None, None)
        );
    }

    #[test]
    fn queues_are_named_with_the_command_that_raises_them() {
        assert_eq!(USUAL.notes(&ask(1000)), [""; 0]);
        let notes = USUAL.notes(&ask(5000));
        let says = [
            "4096 may wait for the server to accept them; the others are tried again after 1 s: `sysctl -w \
             net.core.somaxconn=5000`",
            "2048 may be half open; the others are answered with cookies, without window scaling: `sysctl -w \
             net.ipv4.tcp_max_syn_backlog=7500`",
            "whose queue holds 1000; what is more is dropped and sent again: `sysctl -w \
             net.core.netdev_max_backlog=5000`",
        ];
        assert!(
            notes.len() == 3 && notes.iter().zip(says).all(|(note, end)| note.ends_with(end)),
            "{notes:?}"
        );
        // Elsewhere these are somebody else's.
        assert_eq!(USUAL.notes(&Ask { is_here: false, ..ask(5000) }), [""; 0]);
        let without = Host { syn_cookies: Some(0), packets: None, ..USUAL };
        assert_eq!(without.notes(&ask(1536)), [""; 0]);
        assert!(without.notes(&ask(1537))[0].contains("1536 may be half open; the others are tried again"));
    }

    #[test]
    fn ports_that_rest_are_counted() {
        let busy = Ask { keepalive: false, rate: Some(3000.0), ..ask(10) };
        assert_eq!(USUAL.notes(&busy), [""; 0]);
        for host in [Host { reuse: Some(0), ..USUAL }, Host { timestamps: Some(0), ..USUAL }] {
            let notes = host.notes(&busy);
            assert!(
                notes[0].starts_with("30000 connections within 10 s need more than the 28232"),
                "{notes:?}"
            );
            assert_eq!(host.notes(&Ask { rate: Some(2800.0), ..busy }), [""; 0]);
            assert_eq!(host.notes(&Ask { keepalive: true, ..busy }), [""; 0]);
            let closed = host.notes(&Ask { rate: None, seconds: None, ..busy });
            assert!(closed[0].starts_with("more than 471 connections per second"), "{closed:?}");
        }
        // The usual setting helps on this host alone.
        assert_eq!(USUAL.notes(&Ask { is_here: false, ..busy }).len(), 1);
        let many = USUAL.notes(&Ask { rate: Some(20_000.0), ..busy });
        assert!(
            many[0].contains("200000 connections would rest")
                && many[0].contains("tcp_max_tw_buckets=200000")
        );
    }

    #[test]
    fn files_of_the_whole_system_are_refused() {
        assert_eq!(USUAL.files(&ask(49_000)), Ok(()));
        assert_eq!(USUAL.files(&Ask { is_here: false, ..ask(98_000) }), Ok(()));
        let why = USUAL.files(&ask(49_001)).unwrap_err();
        assert!(why.contains("98002 files and the system has 98000 of 100000 left"), "{why}");
        assert!(why.contains("fs.file-max=100002"), "{why}");
        assert!(Host::read(&Root::live()).files(&ask(1)).is_ok());
    }

    proptest! {
        #[test]
        fn any_numbers_give_words(
            connections: u64, keepalive: bool, rate in proptest::option::of(0.0..1e12), is_here: bool,
            limit: u64, reuse in 0u64..4, open: u64,
        ) {
            let ask = Ask { connections, keepalive, rate, seconds: None, is_here };
            let host = Host {
                somaxconn: Some(limit), syn_backlog: Some(limit), syn_cookies: Some(reuse), packets: Some(limit),
                ports: Some(limit), reuse: Some(reuse), timestamps: Some(reuse), time_waits: Some(limit),
                open_files: Some(open), most_files: Some(limit),
            };
            prop_assert!(host.notes(&ask).iter().all(|note| note.contains("`sysctl -w ")));
            let _any = host.files(&ask);
        }
    }
}
