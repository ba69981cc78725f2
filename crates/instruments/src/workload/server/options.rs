//! The options of a managed server: what an arm of a study may change.
//!
//! Nothing is measured here. A kind of server refuses an option that it cannot do and never ignores one.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

use model::params::parse_bytes;
use model::{Label, ParamKind, ParamSpec, Params, Part};

use super::{memory, port};
use crate::workload::container::Container;

const ON_OFF: ParamKind = ParamKind::Choice(&["on", "off"]);
const AUTO: &str = "auto";
const NONE: &str = "none";
/// The value of `listen` that is each node's own address.
pub const NODE: &str = "node";
const MOST_WORKERS: u64 = 20_000;
/// Largest rate, in bytes per second.
const MOST_RATE: u64 = 1 << 40;

/// The parameters of a managed server, for the cards of instruments that load one.
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
    )
    .implies("server", "httpd", "which alone has MPMs"),
    spec(
        "binary",
        ParamKind::Or(AUTO, &ParamKind::Path),
        AUTO,
        "path of the server's program; auto is the installed one",
    )
    .label(Label::Value),
    spec(
        "workers",
        ParamKind::Or(AUTO, &ParamKind::Int { min: 1, max: MOST_WORKERS }),
        AUTO,
        "nginx: processes, httpd: requests at once, builtin: threads",
    )
    .label(Label::Count("worker", "workers")),
    spec("sendfile", ON_OFF, "on", "whether the kernel sends files by itself")
        .label(Label::Switch("sendfile")),
    spec("access-log", ON_OFF, "off", "whether each request is logged").label(Label::Switch("access log")),
    spec("open-file-cache", ON_OFF, "off", "nginx only: keep files open between requests")
        .label(Label::Switch("open-file cache")),
    spec(
        "limit-rate",
        ParamKind::Or(AUTO, &ParamKind::Int { min: 1, max: MOST_RATE }),
        AUTO,
        "nginx only: bytes per second of each response; auto is no limit",
    )
    .label(Label::Form("{} B/s a response")),
    spec(
        "memory",
        ParamKind::Or("none", &ParamKind::Bytes { min: memory::LEAST, max: memory::MOST }),
        NONE,
        "limit of the server's memory, its cached files included; nginx and httpd only",
    )
    .label(Label::Form("{} of memory")),
    spec(
        "nice",
        ParamKind::Signed { min: -20, max: 19 },
        "0",
        "added to the server's niceness; below 0 needs root",
    )
    .label(Label::Form("nice {}")),
    spec("in", ParamKind::Text, "", INSIDE).label(Label::Form("in {}")),
    spec(
        "listen",
        ParamKind::Or(NODE, &ParamKind::Address),
        "127.0.0.1",
        "address of this machine on which the server listens; node: that by which ssh came in",
    )
    .label(Label::Form("on {}")),
];

/// The text of the parameter `in` of servers and stores.
pub(crate) const INSIDE: &str =
    "the container that it runs in: docker:IMAGE, podman:IMAGE or nspawn:DIR; else this system itself";

/// The container of the parameter `in`. Fails when it names none.
pub(crate) fn container(params: &Params) -> Result<Option<Container>, String> {
    let given = params.get("in").filter(|text| !text.is_empty());
    given.map(Container::parse).transpose()
}

const fn spec(name: &'static str, kind: ParamKind, default: &'static str, says: &'static str) -> ParamSpec {
    ParamSpec::new(name, kind, default, says).part(Part::Server)
}

model::words! {
    /// How httpd divides work among processes and threads.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Mpm as name {
        /// One process per connection.
        Prefork = "prefork",
        /// One thread per connection.
        Worker = "worker",
        /// One thread per request; idle connections wait together.
        #[default]
        Event = "event",
    }
}

/// The options, parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The program to use instead of the installed one.
    pub binary: Option<PathBuf>,
    /// httpd only; the default is event.
    pub mpm: Option<Mpm>,
    /// nginx: worker processes; builtin: threads; the default for both is one per CPU. httpd: requests served at once;
    /// the default is `connections`.
    pub workers: Option<u32>,
    /// Connections that it must be able to hold at once.
    pub connections: u32,
    pub sendfile: bool,
    /// True: write an access log in its usual format, in its private folder.
    pub access_log: bool,
    /// nginx only: keep files open between requests.
    pub open_file_cache: bool,
    /// nginx only: bytes per second for each response.
    pub limit_rate: Option<u64>,
    /// Memory limit in bytes, for its processes and the files that they read.
    pub memory: Option<u64>,
    /// Added to its niceness; below 0 needs root.
    pub nice: i32,
    /// CPUs that it may use; empty: those of the thread that starts it.
    pub cpus: Vec<usize>,
    /// Address to listen on; the default is reached from this machine only.
    pub listen: IpAddr,
    /// Ports to try, in order; empty: any free one.
    pub ports: Vec<u16>,
    /// The container that it runs in; nginx only.
    pub inside: Option<Container>,
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
            inside: None,
        }
    }
}

impl Options {
    /// Reads [`PARAMS`], with defaults for those not given. The kind of server is not read here. Fails when a value is
    /// malformed.
    pub fn from_params(params: &Params) -> Result<Options, String> {
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
        let mpm = given("mpm").map(|name| Mpm::parse(name).ok_or_else(|| bad("mpm", &Mpm::WORDS.join(", "))));
        let usual = Options::default();
        let listen = given("listen").map(|text| match text {
            NODE => port::of_login().map_err(|why| format!("listen={NODE}: {why}")),
            text => text.parse().map_err(|_| bad("listen", "an IP address")),
        });
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
            inside: container(params)?,
            ..usual
        };
        options.check().map(|()| options)
    }

    /// Fails for options that no server can have; the kinds refuse more.
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
        if let Some(container) = &self.inside {
            container.takes(self.memory, self.nice)?;
        }
        if self.ports.contains(&0) {
            return Err("port 0 is not a port; without one a free port is chosen".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mpms_have_names() {
        for name in Mpm::WORDS {
            assert_eq!(Mpm::parse(name).map(Mpm::name), Some(*name));
        }
        assert_eq!(Mpm::parse("itk"), None);
    }

    #[test]
    fn every_kind_of_server_can_be_named() {
        let mut kinds: Vec<&str> = crate::workload::server::ALL.iter().map(|kind| kind.name()).collect();
        kinds.push(AUTO);
        let ParamKind::Choice(named) = PARAMS[0].kind else { panic!("{:?}", PARAMS[0]) };
        let mut named = named.to_vec();
        named.sort_unstable();
        kinds.sort_unstable();
        assert_eq!(named, kinds);
    }

    #[test]
    fn parameters_become_options() {
        let of = |text: &str| Options::from_params(&Params::parse(text).unwrap());
        assert_eq!(of(""), Ok(Options::default()));
        let defaults: Vec<String> = PARAMS
            .iter()
            .filter(|spec| !spec.default.is_empty())
            .map(|spec| format!("{}={}", spec.name, spec.default))
            .collect();
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
