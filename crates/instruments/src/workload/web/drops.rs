//! Packets that the kernel dropped, refused or sent again during a take, by its own counters.
//!
//! Counts of the network namespace that the server is in, all its connections together; `softnet-drop` is of the
//! whole machine. Where the server is elsewhere, only what this machine itself sent is known: `retransmits` and
//! `resets`. Both ends count where both are here.

use std::fs;
use std::path::{Path, PathBuf};

use model::{Count, Record, RecordExt, drops as names};

use super::served::Served;
use crate::telemetry::parse::{float, softnet, tables};
use crate::telemetry::since::extra;
use model::metrics::load::DROPS;

/// Names of the counters of a server that is here, in the order of [`Drops`].
const NAMES: [&str; 10] = [
    names::LISTEN_OVERFLOW,
    names::LISTEN_DROP,
    names::BACKLOG_DROP,
    names::TIME_WAIT_OVERFLOW,
    names::SYN_COOKIES,
    names::RETRANSMITS,
    names::RESETS,
    names::SOFTNET_DROP,
    names::SPURIOUS,
    names::SYN_RETRANSMITS,
];
/// Those that this machine has for its own part in any load.
const OWN: [&str; 4] = [names::RETRANSMITS, names::SYN_RETRANSMITS, names::SPURIOUS, names::RESETS];

/// Where the counters of a load stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterSource {
    net: PathBuf,
    /// True if the server's own counters are there.
    has_server: bool,
}

/// The counters at one moment; a kernel lacks some.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drops([Option<u64>; NAMES.len()]);

impl CounterSource {
    /// The namespace of the server where it runs here, else ours.
    pub fn from_served(served: &Served) -> CounterSource {
        match served.leader() {
            Some(pid) => CounterSource { net: PathBuf::from(format!("/proc/{pid}/net")), has_server: true },
            None => CounterSource { net: PathBuf::from("/proc/self/net"), has_server: false },
        }
    }

    /// The counters now.
    pub fn look(&self) -> Drops {
        read(&self.net)
    }

    /// Pushes what was counted since `before`.
    pub fn push(&self, before: &Drops, now: &Drops, record: &mut dyn Record) {
        for ((name, before), now) in NAMES.iter().zip(before.0).zip(now.0) {
            let risen = before.zip(now).and_then(|(before, now)| now.checked_sub(before));
            if let Some(risen) = risen.filter(|_| self.has_server || OWN.contains(name)) {
                record.push_of(&DROPS, &extra("counter", name), Count(float(risen)));
            }
        }
    }
}

fn read(net: &Path) -> Drops {
    const EXT: [&str; 8] = [
        "ListenOverflows",
        "ListenDrops",
        "TCPBacklogDrop",
        "TCPTimeWaitOverflow",
        "SyncookiesSent",
        "TCPDSACKRecv",
        "TCPDSACKOfoRecv",
        "TCPSynRetrans",
    ];
    let text = |name: &str| fs::read(net.join(name)).unwrap_or_default();
    let [overflows, drops, backlog, waits, cookies, again, beyond, syns] =
        tables::pick(&text("netstat"), "TcpExt:", EXT);
    let [retransmits, resets] = tables::pick(&text("snmp"), "Tcp:", ["RetransSegs", "OutRsts"]);
    let dropped = softnet::dropped(&text("softnet_stat"));
    let spurious = again.map(|again| again.saturating_add(beyond.unwrap_or(0)));
    Drops([overflows, drops, backlog, waits, cookies, retransmits, resets, dropped, spurious, syns])
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::{TcpListener, TcpStream};

    use super::*;
    use crate::telemetry::record::Values;

    fn folder(overflows: u64, resets: u64, dropped: &str) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let netstat = format!(
            "TcpExt: SyncookiesSent ListenOverflows TCPDSACKRecv TCPDSACKOfoRecv\nTcpExt: 5 {overflows} {overflows} 1\n"
        );
        let snmp = format!("Tcp: MaxConn RetransSegs OutRsts\nTcp: -1 9 {resets}\n");
        for (name, text) in [("netstat", netstat), ("snmp", snmp), ("softnet_stat", dropped.to_owned())] {
            fs::write(dir.path().join(name), text).unwrap();
        }
        dir
    }

    #[test]
    fn differences_are_told_and_what_is_missing_is_not() {
        let (before, after) = (folder(7, 100, "1 0\n1 3\n"), folder(9, 90, "1 4\n1 3\n"));
        let pushed = |has_server| {
            let mut values = Values::default();
            let place = CounterSource { net: PathBuf::new(), has_server };
            place.push(&read(before.path()), &read(after.path()), &mut values);
            values
        };
        let values = pushed(true);
        for (name, wanted) in [
            ("listen-overflow", Some(2.0)),
            ("syn-cookies", Some(0.0)),
            ("retransmits", Some(0.0)),
            ("softnet-drop", Some(4.0)),
            ("spurious-retransmits", Some(2.0)),
            // Not in these files, and one that fell.
            ("listen-drop", None),
            ("resets", None),
        ] {
            assert_eq!(values.get(&format!("drops counter={name}")), wanted, "{name}");
        }
        // The counters of a server elsewhere are not here.
        let values = pushed(false);
        assert_eq!(values.get("drops counter=retransmits"), Some(0.0));
        assert_eq!(values.get("drops counter=spurious-retransmits"), Some(2.0));
        assert_eq!(values.get("drops counter=listen-overflow"), None);
        assert_eq!(read(Path::new("/no/such")), Drops::default());
    }

    #[test]
    fn a_reset_is_counted() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
        let place = CounterSource::from_served(&Served::theirs(&url));
        assert_eq!(place.net, Path::new(&format!("/proc/{}/net", std::process::id())));
        let before = place.look();
        // Closed with something unread in it.
        let mut stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut taken, _) = listener.accept().unwrap();
        std::io::Write::write_all(&mut stream, b"unread").unwrap();
        taken.read_exact(&mut [0; 1]).unwrap();
        drop(taken);
        assert!(stream.read(&mut [0; 1]).is_err());
        let mut values = Values::default();
        place.push(&before, &place.look(), &mut values);
        assert!(values.get("drops counter=resets").is_some_and(|count| count >= 1.0));
        assert!(values.get("drops counter=listen-overflow").is_some());
        let far = CounterSource::from_served(&Served::theirs(&"http://192.0.2.1/".parse().unwrap()));
        assert_eq!(far, CounterSource { net: PathBuf::from("/proc/self/net"), has_server: false });
    }
}
