//! `drops`: what the kernel dropped or refused during the loads.

use super::{Conclusion, Evidence, Several, Validity, evidence};
use crate::backend::place;
use crate::drops as names;
use crate::format::{count, fixed, list};

#[derive(Clone, Debug, PartialEq)]
pub enum Drops {
    NotCounted,
    Nothing,
    Dropped {
        counter: &'static DropCounter,
        /// Of the load that met most of them.
        most: f64,
        /// Its connections.
        connections: Option<f64>,
        /// Loads that met some.
        loads: usize,
        /// The kernel's settings that limit it, as they are: `net.core.somaxconn`, `128`.
        settings: Vec<(String, String)>,
        /// Whose queue it was, where that was read.
        queue: Option<Queue>,
    },
}

/// A counter of the kernel: what it counts, what to try, and the settings that limit it.
#[derive(Debug, PartialEq, Eq)]
pub struct DropCounter {
    pub name: &'static str,
    /// The doubt about figures of a load that met it.
    pub doubt: &'static str,
    pub says: &'static str,
    pub advice: &'static str,
    /// The advice where no setting is below the connections of the load: it is not what limits.
    pub else_advice: Option<&'static str>,
    pub settings: &'static [&'static str],
    /// True if a few of them are normal.
    pub usual: bool,
}

/// `once`, `20,981 times`.
fn often(times: f64) -> String {
    match times.round() {
        times if times > 1.0 => format!("{} times", fixed(times, 0)),
        _ => "once".to_owned(),
    }
}

/// The listening socket that dropped most of what a counter counted.
#[derive(Clone, Debug, PartialEq)]
pub struct Queue {
    /// Address and port: `127.0.0.1:8197`.
    pub socket: String,
    /// The process that holds it, where that was seen.
    pub process: Option<String>,
    /// The server's own, or that of another program on its host.
    pub is_servers: bool,
    /// Connections that it holds.
    pub room: Option<f64>,
}

impl Queue {
    /// `127.0.0.1:8197 (python3)`.
    pub fn place(&self) -> String {
        place(&self.socket, self.process.as_deref())
    }

    /// `the queue of 127.0.0.1:8197 (python3), which is not the server's, was full 20,981 times`.
    fn says(&self, counter: &DropCounter, times: f64) -> String {
        let whose = if self.is_servers { "the server's own" } else { "which is not the server's" };
        let times = often(times);
        match counter.name {
            names::LISTEN_DROP => {
                format!("{}, {whose}, dropped a connection {times} with room in its queue", self.place())
            }
            names::SYN_COOKIES => {
                format!(
                    "{}, {whose}, answered a connection with a cookie {times}, its queue being full",
                    self.place()
                )
            }
            _ => format!("the queue of {}, {whose}, was full {times}", self.place()),
        }
    }

    /// ` (it holds 5)`.
    fn holds(&self) -> String {
        self.room.map_or_else(String::new, |room| format!(" (it holds {room:.0})"))
    }

    /// Against a full queue of an application behind the server, whose own backlog is not what to raise.
    pub fn advice_of_room(&self) -> String {
        format!("raise that application's listen backlog{}", self.holds())
    }
}

impl DropCounter {
    /// The event that it counts, so many times, at that socket where it is known.
    pub fn says_of(&self, times: f64, queue: Option<&Queue>) -> String {
        queue.map_or_else(|| format!("{times:.0} {}", self.says), |queue| queue.says(self, times))
    }

    /// The doubt about figures of a load that met it.
    fn doubt_of(&self, queue: Option<&Queue>) -> &'static str {
        match queue {
            Some(queue) if !queue.is_servers => {
                "may measure an application behind the server, not the server"
            }
            _ => self.doubt,
        }
    }

    /// As [`Self::advice`], of the socket that dropped it.
    pub fn advice_of(
        &self,
        queue: Option<&Queue>,
        settings: &[(String, String)],
        connections: Option<f64>,
    ) -> String {
        let Some(queue) = queue else { return self.advice(settings, connections) };
        if !queue.is_servers {
            return format!(
                "let that application answer faster or several at once (more workers or threads), and {}",
                queue.advice_of_room()
            );
        }
        let limit = settings.iter().find(|(name, _)| name == "net.core.somaxconn");
        let limit = limit.and_then(|(_, value)| value.parse::<f64>().ok());
        // A shorter queue than the kernel allows was asked for by the server itself.
        match queue.room.zip(limit).is_some_and(|(room, limit)| room < limit) {
            true => format!(
                "raise the server's own backlog{} (nginx `listen ... backlog=`, httpd `ListenBackLog`), or let more \
                 workers accept",
                queue.holds()
            ),
            false => self.advice(settings, connections),
        }
    }

    /// `raise net.core.somaxconn (net.core.somaxconn is 128)`; of a load with so many connections.
    pub fn advice(&self, settings: &[(String, String)], connections: Option<f64>) -> String {
        if settings.is_empty() {
            return self.advice.to_owned();
        }
        let is_ample = |connections: f64| {
            settings.iter().all(|(_, value)| value.parse().is_ok_and(|value: f64| value >= connections))
        };
        let advice = self.else_advice.filter(|_| connections.is_some_and(is_ample)).unwrap_or(self.advice);
        let known = settings.iter().map(|(name, value)| format!("{name} is {value}"));
        format!("{advice} ({})", list(&known.collect::<Vec<_>>()))
    }
}

const fn counter(
    name: &'static str,
    says: &'static str,
    advice: &'static str,
    settings: &'static [&'static str],
) -> DropCounter {
    DropCounter {
        name,
        doubt: "may measure a limit of the kernel, not the server",
        says,
        advice,
        else_advice: None,
        settings,
        usual: false,
    }
}

/// Where the kernel's limits are above the connections, the server asked for a shorter queue itself.
const OWN_BACKLOG: Option<&str> = Some(
    "see whose queue it is, this server's or that of an application behind it (`ss -ltnm`: the `d` of each), and \
          raise its backlog (nginx `listen ... backlog=`, httpd `ListenBackLog`)",
);

pub static COUNTERS: [DropCounter; 9] = [
    DropCounter {
        else_advice: OWN_BACKLOG,
        ..counter(
            names::LISTEN_OVERFLOW,
            "times the queue of connections to be accepted was full",
            "raise net.core.somaxconn and the server's own backlog, or let more workers accept",
            &["net.core.somaxconn"],
        )
    },
    DropCounter {
        else_advice: OWN_BACKLOG,
        ..counter(
            names::LISTEN_DROP,
            "connections dropped at a listening socket whose queue was not full",
            "raise net.core.somaxconn and net.ipv4.tcp_max_syn_backlog, and the server's own backlog",
            &["net.core.somaxconn", "net.ipv4.tcp_max_syn_backlog"],
        )
    },
    counter(
        names::SYN_COOKIES,
        "connections answered with a cookie, since the queue of half-open ones was full",
        "raise net.ipv4.tcp_max_syn_backlog and net.core.somaxconn",
        &["net.ipv4.tcp_max_syn_backlog", "net.core.somaxconn"],
    ),
    counter(
        names::BACKLOG_DROP,
        "packets dropped since the queue of their socket was full",
        "raise net.ipv4.tcp_rmem and net.core.rmem_max",
        &["net.core.rmem_max"],
    ),
    counter(
        names::SOFTNET_DROP,
        "packets dropped since a core's receive queue was full",
        "raise net.core.netdev_max_backlog, and spread the packets over cores (RPS, more NIC queues)",
        &["net.core.netdev_max_backlog"],
    ),
    counter(
        names::TIME_WAIT_OVERFLOW,
        "closed connections that found no place to wait",
        "raise net.ipv4.tcp_max_tw_buckets, widen net.ipv4.ip_local_port_range, or keep connections alive",
        &["net.ipv4.tcp_max_tw_buckets", "net.ipv4.ip_local_port_range"],
    ),
    DropCounter {
        usual: true,
        doubt: "response times may hold waits for lost packets",
        ..counter(
            names::RETRANSMITS,
            "segments sent again",
            "packets were lost: look at the drops and errors of the interfaces on the way",
            &[],
        )
    },
    DropCounter {
        usual: true,
        doubt: "response times may hold waits for acknowledgements",
        ..counter(
            names::LATE_ACKS,
            "segments sent again on the loopback, which loses none",
            "acknowledgements came late since the CPU was busy: give server and generator cores of their own",
            &[],
        )
    },
    DropCounter {
        usual: true,
        doubt: "not all that was offered was served",
        ..counter(
            names::RESETS,
            "connections reset",
            "look at the server's error log, its limits of connections and its timeouts",
            &[],
        )
    },
];

impl Conclusion for Drops {
    fn kind(&self) -> &str {
        "drops"
    }

    fn state(&self) -> Validity {
        match self {
            Drops::NotCounted => Validity::Unknown,
            Drops::Nothing => Validity::Ok,
            Drops::Dropped { .. } => Validity::Doubtful,
        }
    }

    fn one(&self) -> String {
        match self {
            Drops::NotCounted => "what the kernel drops was not counted".to_owned(),
            Drops::Nothing => "the kernel dropped nothing".to_owned(),
            Drops::Dropped { counter, most, connections, loads, settings, queue } => {
                let at = match connections {
                    Some(connections) => format!(" at {}", count(*connections as usize, "connection")),
                    None => String::new(),
                };
                let more = match loads {
                    0 | 1 => String::new(),
                    loads => format!(" (and in {} more loads)", loads - 1),
                };
                let queue = queue.as_ref();
                let (doubt, says) = (counter.doubt_of(queue), counter.says_of(*most, queue));
                format!("{doubt}: {says}{at}{more}; {}", counter.advice_of(queue, settings, *connections))
            }
        }
    }

    fn brief(all: &Several<'_, Self>) -> Option<String> {
        let most = all.rules().filter_map(|one| match one {
            Drops::Dropped { counter, most, queue, .. } => Some((counter, *most, queue.as_ref())),
            _ => None,
        });
        let (counter, most, queue) = most.max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(match queue.filter(|queue| !queue.is_servers) {
            Some(queue) => format!("an application's queue ({}) was full {}", queue.place(), often(most)),
            None => format!("{}: {most:.0} {}", counter.doubt, counter.says),
        })
    }

    fn evidence(&self) -> Evidence {
        match self {
            Drops::NotCounted | Drops::Nothing => Evidence::new(),
            Drops::Dropped { counter, most, loads, .. } => {
                evidence([(counter.name, *most), ("loads", *loads as f64)])
            }
        }
    }
}
