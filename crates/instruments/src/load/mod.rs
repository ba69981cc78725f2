//! The load engine: schedule x connection x recorder.
//!
//! In: a [`Load`]. Out: an [`Outcome`] of exact counts and times. Requests go out when the schedule says so, or in a
//! closed loop one after the other on each connection. Each request is timed from its intended and from its actual
//! start; failed requests are in the same record. Nothing is printed or stored here.

pub mod control;
pub mod engine;
mod error;
pub mod failure;
pub mod generators;
pub mod host;
pub mod http;
pub mod limits;
pub mod outcome;
mod placement;
pub mod protocol;
mod quota;
pub mod reach;
pub mod recorder;
pub mod redirect;
mod relayed;
pub mod schedule;
pub mod shape;
pub mod stalls;
pub mod statuses;
pub mod store_client;
pub mod target;
#[cfg(test)]
pub(crate) mod tests;
pub mod tls;
pub mod transport;
pub mod watched;

use std::net::IpAddr;
use std::time::Duration;

use model::login::Login;
use serde::{Deserialize, Serialize};

use crate::store_protocol::memcached::Memcached;
use crate::store_protocol::resp::Resp;
pub use control::Control;
use engine::arrivals::Choice;
use engine::{LoadShare, Rules};
pub use error::Error;
use http::Http;
use http::request::{Expected, Origin, Wanted, asks_to_close};
use model::url::{Scheme, Url};
pub use outcome::Outcome;
pub use relayed::serve;
use schedule::Schedule;
use store_client::Kv;
use store_client::greeted::Greeted;
use tls::Tls;
use transport::Plain;

use crate::system_files::root::Root;

/// One URL of a load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Target {
    pub url: Url,
    /// The target's share of the requests is its weight divided by the sum of all weights.
    pub weight: f64,
    pub expected: Expected,
    /// The method of this target; `None`: that of the load.
    pub method: Option<String>,
    /// True: the connection is closed after this request, even if the load keeps connections alive.
    pub closes: bool,
}

impl From<Url> for Target {
    fn from(url: Url) -> Target {
        Target { url, weight: 1.0, expected: Expected::default(), method: None, closes: false }
    }
}

/// A load on one server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// All targets have the same scheme, host and port.
    pub targets: Vec<Target>,
    pub method: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// False: each request opens a connection.
    pub keepalive: bool,
    pub schedule: Schedule,
    pub connections: usize,
    /// At most as many as connections.
    pub threads: usize,
    /// How long requests are sent; `None`: until `requests` are sent.
    pub duration: Option<Duration>,
    pub requests: Option<u64>,
    /// Time limit of one request, connecting included.
    pub timeout: Duration,
    /// How long after the window requests that were due in it may still be sent.
    pub drain: Duration,
    /// CPUs for the threads, assigned in turn; empty: the system chooses.
    pub cpus: Vec<usize>,
    /// True if nothing else needs those CPUs: threads may spin just before a request is due.
    pub own_cores: bool,
    /// Seed for the choice among targets.
    pub seed: u64,
    /// Used for https only.
    pub tls: tls::Options,
    /// The keys that are read and written, for a key-value store only. Method, headers, body and weights are then
    /// not used.
    pub store: Option<store_client::Spec>,
    /// Credentials, for a store that requires them.
    pub login: Option<Login>,
}

impl Load {
    /// True if connections are used again, by the setting and by the headers.
    fn keeps(&self) -> bool {
        self.keepalive && !asks_to_close(&self.headers)
    }

    /// A closed loop of one connection for ten seconds.
    pub fn new(url: Url) -> Load {
        Load {
            targets: vec![url.into()],
            method: "GET".to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
            keepalive: true,
            schedule: Schedule::Closed,
            connections: 1,
            threads: 1,
            duration: Some(Duration::from_secs(10)),
            requests: None,
            timeout: Duration::from_secs(10),
            drain: Duration::from_secs(10),
            cpus: Vec::new(),
            own_cores: false,
            seed: 0,
            tls: tls::Options::default(),
            store: None,
            login: None,
        }
    }
}

/// Carries out a load and waits for its end. Fails when the description is wrong, a limit is too low, the server
/// cannot be reached, or a thread cannot work.
pub fn run(load: &Load, control: &Control) -> Result<Outcome, Error> {
    run_at(load, control, &mut || Some(sys::clock::now_ns() + engine::LEAD_NS)).map(|(outcome, _)| outcome)
}

/// Carries out a load from the time that `start` returns; it is called when all connections are open, and `None` calls
/// the load off. Returns the outcome and the time of the start. Fails as [`run`] does.
fn run_at(
    load: &Load,
    control: &Control,
    start: &mut dyn FnMut() -> Option<u64>,
) -> Result<(Outcome, u64), Error> {
    let requests = check(load)?;
    limits::open_files(load.connections, load.threads).map_err(Error::Limit)?;
    let secure = reach::secure(load)?;
    let address = reach::reach(load, secure.as_ref(), control)?;
    limits::ports(load.connections, address.ip()).map_err(Error::Limit)?;
    host::Host::read(&Root::live()).files(&ask(load, address.ip())).map_err(Error::Limit)?;
    let rules = Rules {
        address,
        timeout_ns: nanoseconds(load.timeout),
        drain_ns: nanoseconds(load.drain),
        duration_ns: load.duration.map(nanoseconds),
        keepalive: load.keeps(),
        spin: load.own_cores,
    };
    let share = LoadShare {
        threads: load.threads,
        connections: load.connections,
        cpus: load.cpus.clone(),
        schedule: load.schedule.clone(),
        requests: load.requests,
        choice: match &load.store {
            None => Choice::Weights(load.targets.iter().map(|target| target.weight).collect()),
            Some(spec) => Choice::Keys(spec.draws()),
        },
        seed: load.seed,
    };
    let ran = match (&requests, &secure) {
        (Requests::Http(http), None) => engine::run::<Http, Plain>(http, &(), rules, &share, control, start)?,
        (Requests::Http(http), Some(secure)) => {
            engine::run::<Http, Tls>(http, secure, rules, &share, control, start)?
        }
        (Requests::Resp(kv), _) => match &load.login {
            None => engine::run::<Kv<Resp>, Plain>(kv, &(), rules, &share, control, start)?,
            Some(login) => {
                engine::run::<Kv<Resp>, Greeted>(kv, &login.resp(), rules, &share, control, start)?
            }
        },
        (Requests::Memcached(kv), _) => {
            engine::run::<Kv<Memcached>, Plain>(kv, &(), rules, &share, control, start)?
        }
    };
    let start_ns = ran.start_ns;
    Ok((Outcome::new(ran, address, &load.targets), start_ns))
}

/// The needs of a load on a server at this address.
pub fn ask(load: &Load, address: IpAddr) -> host::Ask {
    host::Ask {
        connections: load.connections as u64,
        keepalive: load.keeps() && !load.targets.iter().any(|target| target.closes),
        rate: highest_rate(&load.schedule),
        seconds: load.duration.map(|span| span.as_secs_f64()),
        is_here: limits::is_here(address),
    }
}

/// The highest rate, of all generators together.
fn highest_rate(schedule: &Schedule) -> Option<f64> {
    match schedule {
        Schedule::Constant { rate } | Schedule::Poisson { rate, .. } => Some(*rate),
        Schedule::Ramp { from, to, .. } => Some(from.max(*to)),
        Schedule::Each { of, .. } => highest_rate(of),
        Schedule::Shaped { rate, shape, .. } => Some(rate * shape.steepest()),
        Schedule::Closed | Schedule::Replay(_) => None,
    }
}

fn nanoseconds(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

/// The requests of a load, by protocol.
#[derive(Clone, Debug)]
pub enum Requests {
    Http(Http),
    Resp(Kv<Resp>),
    Memcached(Kv<Memcached>),
}

/// Builds the requests. Fails when the description of the load is wrong.
pub fn check(load: &Load) -> Result<Requests, Error> {
    let wrong = |what: String| Err(Error::Load(what));
    let Some(first) = load.targets.first() else { return wrong("no URL to load".to_owned()) };
    if let Some(other) = load.targets.iter().find(|one| !one.url.same_server(&first.url)) {
        return wrong(format!(
            "{} and {} are on different servers; load one server at a time",
            first.url, other.url
        ));
    }
    let weights = load.targets.iter().map(|target| target.weight);
    if !weights.clone().all(|weight| weight.is_finite() && weight >= 0.0) || weights.sum::<f64>() <= 0.0 {
        return wrong("the weights of the URLs must not be negative, and one must be over 0".to_owned());
    }
    if load.connections == 0 || load.threads == 0 || load.threads > load.connections {
        return wrong(format!(
            "{} threads for {} connections; each thread needs at least one connection",
            load.threads, load.connections
        ));
    }
    if load.duration.is_none() && load.requests.is_none() && !matches!(load.schedule, Schedule::Replay(_)) {
        return wrong("neither a duration nor a number of requests; the load would never end".to_owned());
    }
    if load.duration.is_some_and(|span| span.is_zero()) || load.requests == Some(0) || load.timeout.is_zero()
    {
        return wrong("a duration, a number of requests or a time limit of 0".to_owned());
    }
    load.schedule.check().map_err(Error::Load)?;
    if let Schedule::Replay(arrivals) = &load.schedule
        && arrivals.iter().filter_map(|one| one.target).any(|target| target as usize >= load.targets.len())
    {
        return wrong("a replay that names a target which the load does not have".to_owned());
    }
    match (&load.store, first.url.scheme) {
        (None, Scheme::Http | Scheme::Https) => http(load).map(Requests::Http),
        (Some(spec), scheme) if scheme.is_store() => {
            spec.check(scheme, load.connections).map_err(Error::Load)?;
            if !load.keepalive {
                return wrong("requests of a store have no connections of their own".to_owned());
            }
            if let Schedule::Replay(_) = load.schedule {
                return wrong("a replay is of a web server".to_owned());
            }
            Ok(match scheme {
                Scheme::Memcached => Requests::Memcached(Kv::new(spec.clone())),
                _ => Requests::Resp(Kv::new(spec.clone())),
            })
        }
        (None, scheme) => wrong(format!("a load on {}:// needs its keys", scheme.name())),
        (Some(_), scheme) => wrong(format!("a load on {}:// has no keys", scheme.name())),
    }
}

fn http(load: &Load) -> Result<Http, Error> {
    let Some(first) = load.targets.first() else { return Err(Error::Load("no URL to load".to_owned())) };
    let origin = Origin {
        host: first.url.authority(),
        method: load.method.clone(),
        headers: load.headers.clone(),
        body: load.body.clone(),
        keepalive: load.keeps(),
    };
    let wanted = |target: &Target| Wanted {
        path: target.url.path.clone(),
        expected: target.expected,
        method: target.method.clone(),
        closes: target.closes,
    };
    let wanted: Vec<Wanted> = load.targets.iter().map(wanted).collect();
    Http::new(&origin, &wanted).map_err(Error::Load)
}
