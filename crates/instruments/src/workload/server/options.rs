//! How a managed server is set up: what an arm of a study may change.
//!
//! Nothing here is measured. What a kind of server cannot do it refuses, and never leaves out silently.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

use model::params::parse_bytes;
use model::{ParamKind, ParamSpec, Params};

use super::memory;

const ON_OFF: ParamKind = ParamKind::Choice(&["on", "off"]);
const AUTO: &str = "auto";
const NONE: &str = "none";
const MOST_WORKERS: u64 = 20_000;
/// Bytes per second.
const MOST_RATE: u64 = 1 << 40;

/// The parameters of a managed server, for the card of what loads one.
pub const PARAMS: &[ParamSpec] = &[
    spec(
        "server",
        ParamKind::Choice(&["auto", "nginx", "httpd", "builtin"]),
        AUTO,
        "auto is nginx where installed",
    ),
    spec(
        "mpm",
        ParamKind::Choice(&["auto", "prefork", "worker", "event"]),
        AUTO,
        "httpd only; auto is event",
    ),
    spec(
        "binary",
        ParamKind::Or(AUTO, &ParamKind::Path),
        AUTO,
        "path of the server's program; auto is the installed one",
    ),
    spec(
        "workers",
        ParamKind::Or(AUTO, &ParamKind::Int { min: 1, max: MOST_WORKERS }),
        AUTO,
        "nginx: processes, httpd: requests at once, builtin: threads",
    ),
    spec("sendfile", ON_OFF, "on", "whether the kernel sends files by itself"),
    spec("access-log", ON_OFF, "off", "whether each request is logged"),
    spec("open-file-cache", ON_OFF, "off", "nginx only: keep files open between requests"),
    spec(
        "limit-rate",
        ParamKind::Or(AUTO, &ParamKind::Int { min: 1, max: MOST_RATE }),
        AUTO,
        "nginx only: bytes per second of each response; auto is no limit",
    ),
    spec(
        "memory",
        ParamKind::Or("none", &ParamKind::Bytes { min: memory::LEAST, max: memory::MOST }),
        NONE,
        "limit of the server's memory, its cached files included; nginx and httpd only",
    ),
    spec(
        "nice",
        ParamKind::Signed { min: -20, max: 19 },
        "0",
        "added to the server's niceness; below 0 needs root",
    ),
    spec("listen", ParamKind::Address, "127.0.0.1", "address of this machine on which the server listens"),
];

const fn spec(name: &'static str, kind: ParamKind, default: &'static str, says: &'static str) -> ParamSpec {
    ParamSpec::new(name, kind, default, says)
}

/// How httpd divides work among processes and threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mpm {
    /// A process for each connection.
    Prefork,
    /// A thread for each connection.
    Worker,
    /// A thread for each request; idle connections wait together.
    #[default]
    Event,
}

impl Mpm {
    pub const NAMES: &[&str] = &["prefork", "worker", "event"];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Mpm::Prefork => "prefork",
            Mpm::Worker => "worker",
            Mpm::Event => "event",
        }
    }

    #[must_use]
    pub fn parse(name: &str) -> Option<Mpm> {
        [Mpm::Prefork, Mpm::Worker, Mpm::Event].into_iter().find(|mpm| mpm.name() == name)
    }
}

/// What a server is asked to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The program, instead of the one that is installed.
    pub binary: Option<PathBuf>,
    /// httpd only; event when not given.
    pub mpm: Option<Mpm>,
    /// nginx: worker processes; builtin: threads; both one for each CPU when not given. httpd: how many requests are
    /// served at once, `connections` when not given.
    pub workers: Option<u32>,
    /// How many connections it must be able to hold at once.
    pub connections: u32,
    pub sendfile: bool,
    /// Into a file in its private folder, in the server's usual format.
    pub access_log: bool,
    /// nginx only: keep files open between requests.
    pub open_file_cache: bool,
    /// nginx only: bytes per second for each response.
    pub limit_rate: Option<u64>,
    /// Bytes that its processes and the files that they read may have of the memory.
    pub memory: Option<u64>,
    /// Added to its niceness; below 0 needs root.
    pub nice: i32,
    /// The CPUs that it may use; empty is those of the thread that starts it.
    pub cpus: Vec<usize>,
    /// Where it listens; only this machine reaches the usual one.
    pub listen: IpAddr,
    /// The ports to try, in order; empty is any free one.
    pub ports: Vec<u16>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            binary: None,
            mpm: None,
            workers: None,
            connections: 1024,
            sendfile: true,
            access_log: false,
            open_file_cache: false,
            limit_rate: None,
            memory: None,
            nice: 0,
            cpus: Vec::new(),
            listen: IpAddr::V4(Ipv4Addr::LOCALHOST),
            ports: Vec::new(),
        }
    }
}

impl Options {
    /// Reads [`PARAMS`]; what is not given has its default. The kind of server is not read here.
    pub fn of(params: &Params) -> Result<Options, String> {
        let given = |name: &str| params.get(name).filter(|value| *value != AUTO);
        let bad = |name: &str, wanted: &str| {
            format!("{name}={} is not possible: {wanted}", params.get(name).unwrap_or_default())
        };
        let switch = |name: &str, default: bool| match given(name) {
            None => Ok(default),
            Some("on") => Ok(true),
            Some("off") => Ok(false),
            Some(_) => Err(bad(name, "on or off")),
        };
        fn number<T: std::str::FromStr>(text: Option<&str>) -> Result<Option<T>, ()> {
            text.map(|text| text.parse().map_err(|_| ())).transpose()
        }
        let mpm = given("mpm").map(|name| Mpm::parse(name).ok_or_else(|| bad("mpm", &Mpm::NAMES.join(", "))));
        let usual = Options::default();
        let listen = given("listen").map(|text| text.parse().map_err(|_| bad("listen", "an IP address")));
        let options = Options {
            listen: listen.transpose()?.unwrap_or(usual.listen),
            binary: given("binary").map(PathBuf::from),
            mpm: mpm.transpose()?,
            workers: number(given("workers")).map_err(|()| bad("workers", "a whole number or auto"))?,
            sendfile: switch("sendfile", usual.sendfile)?,
            access_log: switch("access-log", usual.access_log)?,
            open_file_cache: switch("open-file-cache", usual.open_file_cache)?,
            limit_rate: number(given("limit-rate"))
                .map_err(|()| bad("limit-rate", "a whole number or auto"))?,
            memory: match given("memory").filter(|value| *value != NONE) {
                None => None,
                Some(size) => {
                    Some(parse_bytes(size).ok_or_else(|| bad("memory", "a size such as 512M, or none"))?)
                }
            },
            nice: number(given("nice")).map_err(|()| bad("nice", "from -20 to 19"))?.unwrap_or(usual.nice),
            ..usual
        };
        options.check().map(|()| options)
    }

    /// What no server could do, in words; the kinds refuse more.
    pub fn check(&self) -> Result<(), String> {
        let within = |name: &str, value: u64, least: u64, most: u64| match (least..=most).contains(&value) {
            true => Ok(()),
            false => Err(format!("{name}={value}: from {least} to {most} is possible")),
        };
        within("workers", u64::from(self.workers.unwrap_or(1)), 1, MOST_WORKERS)?;
        within("connections", u64::from(self.connections), 1, 1_000_000)?;
        within("limit-rate", self.limit_rate.unwrap_or(1), 1, MOST_RATE)?;
        within("memory", self.memory.unwrap_or(memory::LEAST), memory::LEAST, memory::MOST)?;
        if !(-20..=19).contains(&self.nice) {
            return Err(format!("nice={}: from -20 to 19 is possible", self.nice));
        }
        if self.ports.contains(&0) {
            return Err("port 0 is no port; give none to have a free one chosen".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mpms_have_names() {
        for name in Mpm::NAMES {
            assert_eq!(Mpm::parse(name).map(Mpm::name), Some(*name));
        }
        assert_eq!(Mpm::parse("itk"), None);
    }

    #[test]
    fn parameters_become_options() {
        let of = |text: &str| Options::of(&Params::parse(text).unwrap());
        assert_eq!(of(""), Ok(Options::default()));
        let defaults: Vec<String> =
            PARAMS.iter().map(|spec| format!("{}={}", spec.name, spec.default)).collect();
        assert_eq!(of(&defaults.join(";")), Ok(Options::default()));
        let all = of(
            "mpm=prefork;binary=/x/httpd;workers=7;sendfile=off;access-log=on;open-file-cache=on;limit-rate=9;nice=-5;memory=96M;listen=::1",
        );
        let wanted = Options {
            mpm: Some(Mpm::Prefork),
            binary: Some(PathBuf::from("/x/httpd")),
            workers: Some(7),
            sendfile: false,
            access_log: true,
            open_file_cache: true,
            limit_rate: Some(9),
            memory: Some(96 << 20),
            nice: -5,
            listen: "::1".parse().unwrap(),
            ..Options::default()
        };
        assert_eq!(all, Ok(wanted));
        for bad in [
            "mpm=itk",
            "workers=x",
            "workers=-1",
            "workers=0",
            "sendfile=yes",
            "limit-rate=1k",
            "nice=20",
            "nice=a",
            "memory=1000",
            "memory=all",
            "listen=localhost",
        ] {
            let why = of(bad).unwrap_err();
            assert!(why.contains(bad), "{why}");
        }
    }

    #[test]
    fn impossible_options_are_named() {
        let good = Options::default();
        assert_eq!(good.check(), Ok(()));
        for (bad, says) in [
            (Options { workers: Some(0), ..good.clone() }, "workers=0"),
            (Options { connections: 0, ..good.clone() }, "connections=0"),
            (Options { limit_rate: Some(0), ..good.clone() }, "limit-rate=0"),
            (Options { memory: Some(1), ..good.clone() }, "memory=1"),
            (Options { nice: 20, ..good.clone() }, "nice=20"),
            (Options { nice: -21, ..good.clone() }, "nice=-21"),
            (Options { ports: vec![80, 0], ..good.clone() }, "port 0"),
        ] {
            let why = bad.check().unwrap_err();
            assert!(why.contains(says), "{why}");
        }
    }
}
