//! The parameters of a load on a web server, and what they ask for.
//!
//! `auto` and `none` stand for what is not given. Rates are requests per second, spans seconds.

use std::sync::Arc;
use std::time::Duration;

use model::doc::MixDoc;
use model::params::parse_bytes;
use model::tree::ServedTree;
use model::url::Scheme;
use model::{
    Flag, Label, Matched, Means, NoteBody, ParamKind, ParamSpec, Params, Part, Setup, Size, Unfit, flags,
};

use super::cold;
use super::cores::Cores;
use super::course;
use super::mixed;
use super::own;
use super::subject::{AUTO, NONE, Offered, Subject};
use crate::bench::kernel::int_param;
use crate::load::generators::{Generators, Local, Remote, Sent};
use crate::load::http::request::header;
use crate::load::schedule::{self, Schedule};
use crate::load::shape::Shape;
use crate::load::{Control, Error, Load, check};
use crate::workload::mix;
use crate::workload::server::contained::only_nginx;
use crate::workload::server::content::{Limits, Set};
use crate::workload::server::installed;
use crate::workload::server::memory;
use crate::workload::server::options::{self, Options};
use crate::workload::web::words::ServerWords;

/// Connections that a server can hold at least, so that loads of different size share one.
const LEAST_HELD: u64 = 1024;
/// Percent of the capacity that an open loop may ask for: beyond, its takes only show how a queue grows.
const MOST_LOAD: u64 = 200;
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number of requests")]
const HIGHEST_RATE: u64 = schedule::HIGHEST_RATE as u64;
const MOST_REQUESTS: u64 = 1_000_000_000_000;
/// How long a smoke take lasts.
const SMOKE: Duration = Duration::from_millis(500);

const fn spec(name: &'static str, kind: ParamKind, default: &'static str, says: &'static str) -> ParamSpec {
    ParamSpec::new(name, kind, default, says)
}

/// A parameter that a search chooses itself.
pub(crate) const fn schedule(
    name: &'static str,
    kind: ParamKind,
    default: &'static str,
    says: &'static str,
) -> ParamSpec {
    spec(name, kind, default, says).part(Part::Schedule)
}

/// Figures of a closed and of an open loop are of different things.
pub(crate) const ONE_LOOP: &str = "give both the same arrivals: a closed loop waits for its answers, an open one (`-r`, with or without `--poisson`) not";

/// `--url` of every load.
pub(crate) const URL: Flag =
    Flag::new("url", "URL", "Load this server instead of one that is started here", Means::Param("url"));

/// The URL of a target that is a web server; of several pages of one, with blanks between them.
fn server(address: &str) -> Result<flags::Settings, String> {
    match Scheme::of_url(address) {
        Some(Scheme::Http | Scheme::Https) => Ok(vec![("url", address.to_owned())]),
        _ => Err("a web server has an http:// or https:// URL".to_owned()),
    }
}

const HEADER: Flag = Flag::new(
    "header",
    "HEADER",
    "A header of each request, 'Name: value'; repeatable",
    Means::Lines("headers"),
)
.short('H');

const OWN: &[ParamSpec] = &[
    schedule(
        "arrivals",
        ParamKind::Choice(&["closed", "constant", "poisson", "ramp", "replay", "mix"]),
        "closed",
        "closed: each connection sends on its answer; the others: requests are due at a rate, mix: in the shape of the mix",
    ).first(&["closed"]).label(Label::Form("{} arrivals")).remedy(ONE_LOOP),
    schedule(
        "ramp",
        ParamKind::Or(NONE, &ParamKind::FromTo { max: HIGHEST_RATE }),
        NONE,
        "rates at the start and at the end of arrivals=ramp, such as 100:5000",
    ),
    schedule(
        "replay",
        ParamKind::Or(NONE, &ParamKind::Path),
        NONE,
        "file of arrivals=replay: lines of `seconds /path`, or an access log",
    ),
    schedule(
        "speed",
        ParamKind::Number { max: 1_000_000 },
        "1",
        "how much faster than it was arrivals=replay goes, or arrivals=mix at the mix's own rate",
    ).label(Label::Form("{} times as fast")),
    schedule(
        "load",
        ParamKind::Or(AUTO, &ParamKind::Percent { max: MOST_LOAD }),
        AUTO,
        "rate of an open loop as a share of the server's capacity, such as 50%",
    ).label(Label::Form("{} load")).matched(Matched::Condition),
    schedule(
        "rate",
        ParamKind::Or(AUTO, &ParamKind::Number { max: HIGHEST_RATE }),
        AUTO,
        "requests due per second in an open loop",
    ).label(Label::Form("{}/s")).matched(Matched::Condition),
    schedule(
        "requests",
        ParamKind::Or(AUTO, &ParamKind::Int { min: 1, max: MOST_REQUESTS }),
        AUTO,
        "that many requests, in whatever time, instead of a duration; no fewer than connections",
    ).label(Label::Count("request", "requests")).matched(Matched::Extent),
    spec(
        "url",
        ParamKind::Or(NONE, &ParamKind::Urls),
        NONE,
        "http:// or https:// URL to load; none starts a server here",
    ).label(Label::Value).part(Part::Address { ours: &[NONE] }).matched(Matched::Url).flag(URL).target(server),
    spec(
        "weights",
        ParamKind::Or(NONE, &ParamKind::Weights),
        NONE,
        "of several URLs (blanks between them), a number each",
    ).matched(Matched::Condition),
    spec(
        "content",
        ParamKind::Choice(Set::WORDS),
        "gif",
        "what our own server serves: 43 B to 500 MB, a mix, or files of yours (own)",
    ).label(Label::Form("{} files")).part(Part::Server),
    spec(
        "files",
        ParamKind::Text,
        "",
        "the files of content=own: name and digest of the folder given with --content",
    ).label(Label::Form("of {}")).part(Part::Server).flag(Flag::new(
        "content",
        "DIR",
        "Serve the files of this folder, each asked for as often as the others, or as a --mix with the log's own paths has \
         it; nodes of --on get what they lack of it",
        Means::Tree { name: "files", content: ("content", "own") },
    ).conflicts(&["url"])),
    spec(
        "mix",
        ParamKind::Or(NONE, &ParamKind::Text),
        NONE,
        "the mix of requests that is repeated: label and digest of the document given with --mix",
    ).label(Label::Form("as {}")).flag(Flag::new(
        "mix",
        "FILE",
        "Repeat the mix of requests of a log (boxscore logs --profile-out): our server serves files that stand for it, \
         and --set arrivals=mix has requests arrive as they did",
        Means::Mix { name: "mix", content: ("content", "mix"), unless: &["url", "content"] },
    )),
    spec(
        "connections",
        ParamKind::Int { min: 1, max: 1_000_000 },
        "50",
        "connections of all generators together",
    ).label(Label::Count("connection", "connections")).matched(Matched::Condition),
    spec(
        "generators",
        ParamKind::Int { min: 1, max: 1024 },
        "1",
        "generator threads, one a CPU while there are any; with --from, how many of those take part",
    ).label(Label::Count("generator", "generators")).matched(Matched::Condition),
    spec("duration", ParamKind::Seconds { max: 86_400 }, "1", "seconds in which requests are sent").label(Label::Form("{} s")).matched(Matched::Extent),
    spec(
        "keepalive",
        ParamKind::Choice(&["on", "off"]),
        "on",
        "off: each request has a connection of its own",
    ).label(Label::Switch("keep-alive")),
    spec("method", ParamKind::Text, "GET", "the method, such as GET, HEAD or POST").label(Label::Value),
    spec("headers", ParamKind::Text, NONE, "further headers, `name: value`, one a line").label(Label::Form("own headers")).flag(HEADER).matched(Matched::Condition),
    spec(
        "body",
        ParamKind::Or(NONE, &ParamKind::TextOrFile),
        NONE,
        "the body of each request, or @PATH of a file that is it",
    ).label(Label::Form("own body")),
    spec(
        "timeout",
        ParamKind::Seconds { max: 3600 },
        "10",
        "seconds after which a request has failed, and for which the end of a take waits",
    ).label(Label::Form("timeout {} s")).matched(Matched::Condition),
    spec(
        "certificate",
        ParamKind::Choice(&["checked", "any"]),
        "checked",
        "whether the server's certificate must be valid",
    ).label(Label::Words(&[("any", "any certificate"), ("checked", "checked certificate")])),
    spec(
        "content-size",
        ParamKind::Or("auto", &ParamKind::Bytes { min: 1 << 20, max: 1 << 40 }),
        AUTO,
        "bytes of the mix (auto: 64MiB) or of the large file (auto: 500 MB)",
    ),
    spec(
        "cache",
        ParamKind::Choice(&["warm", "cold"]),
        "warm",
        "cold: the mix or the large file is read from the disk in each take",
    ).label(Label::Form("{} cache")),
];

/// Those of the load and those of the server.
pub const PARAMS: &[ParamSpec] =
    &model::joined::<_, { OWN.len() + options::PARAMS.len() }>(&[OWN, options::PARAMS]);

/// A server of the user's is never changed: what would be set of it is refused.
pub(crate) fn unchanged(params: &Params, specs: &[ParamSpec]) -> Result<(), String> {
    let is_set = |spec: &&ParamSpec| params.get(spec.name).is_some_and(|value| value != spec.default);
    match specs.iter().filter(|spec| spec.part == Part::Server).find(is_set) {
        None => Ok(()),
        Some(spec) => Err(format!(
            "{} is of a server that is started here; the one of the URL is yours, and never changed",
            spec.name
        )),
    }
}

/// A load, as the parameters describe it.
#[derive(Clone, Debug)]
pub struct Ask {
    pub subject: Subject,
    /// Without targets where the server is ours and not started yet; the rate of a share is set later.
    pub load: Load,
    pub offered: Offered,
    pub is_poisson: bool,
    pub is_cold: bool,
    /// Of a ramp or a replay.
    pub course: Option<Schedule>,
    /// The mix that is repeated, and the shape of arrivals where that is the mix's too.
    pub mix: Option<Arc<MixDoc>>,
    pub shape: Option<Shape>,
    /// The user's files that a server of ours serves.
    pub tree: Option<Arc<ServedTree>>,
    /// Remarks on a mix or on how a replay was read.
    pub notes: Vec<NoteBody>,
    pub cores: Cores,
    /// The server in words, where more is known than its URL.
    pub server: Option<ServerWords>,
    /// Generators in other processes; without them, threads of this one send.
    pub remote: Option<Remote>,
}

impl Ask {
    /// Reads the parameters of a setup; starts and asks nothing. Fails when a value is malformed or the load is
    /// impossible here.
    pub fn from_setup(setup: &Setup) -> Result<Ask, Unfit> {
        let text = |name: &str| setup.params.get(name).unwrap_or_default();
        let mut offered = offered(&setup.params).map_err(Unfit::new)?;
        let (mix, tree) = (mixed::from_setup(setup)?, own::from_setup(setup)?);
        let generators = small(setup, "generators")?;
        let urls = Some(text("url")).filter(|url| *url != NONE).unwrap_or_default();
        let mut targets = course::targets(urls, text("weights")).map_err(Unfit::new)?;
        let url = targets.first().map(|target| target.url.clone());
        let remote = setup.relay.clone().map(Remote::new);
        let cores = match &remote {
            None => Cores::split(&setup.cpus, generators, url.is_none()),
            Some(remote) => {
                remote.choose(generators).map_err(|error| Unfit::new(error.to_string()))?;
                Cores::remote(&setup.cpus, remote.cpus_here(generators), url.is_none())
            }
        };
        let subject = match &url {
            Some(url) => {
                unchanged(&setup.params, PARAMS).map_err(Unfit::new)?;
                Subject::Url(url.clone())
            }
            None => managed(setup, &cores)?,
        };
        // Stands for the server that is not there yet, so that the rest can be checked.
        let stand_in = "http://127.0.0.1/".parse().map_err(|error| Unfit::new(format!("{error}")))?;
        let mut load = Load::new(url.unwrap_or(stand_in));
        describe(setup, &mut load)?;
        let course = course::schedule(&setup.params, &mut targets, load.duration, setup.seed);
        let (course, read) =
            course.map_err(Unfit::new)?.map_or((None, None), |(course, said)| (Some(course), said));
        let mut notes: Vec<NoteBody> = read.map(NoteBody::Replay).into_iter().collect();
        let shape = shape(setup, mix.as_deref(), &mut offered)?;
        if let Some(mix) = &mix {
            notes.push(NoteBody::remark("mix", mixed::says(text("mix"), mix)));
            if let Some(first) = targets.first().cloned() {
                let (plain, more) = mixed::theirs(mix, &first.url);
                notes.extend(more.into_iter().map(|more| NoteBody::remark("mix", more)));
                targets = mixed::targets(&plain, Some(mix));
            }
        }
        if matches!(course, Some(Schedule::Replay(_))) {
            // It ends with its last line.
            load.duration = None;
        }
        if !targets.is_empty() {
            load.targets = targets;
        }
        load.threads = generators;
        load.cpus = cores.generators.iter().map(|&cpu| cpu as usize).collect();
        load.own_cores = cores.own;
        let is_cold = cold::is_asked(&setup.params, &subject).map_err(Unfit::new)?;
        let is_poisson = text("arrivals") == "poisson";
        let ask = Ask {
            subject,
            load,
            offered,
            is_poisson,
            course,
            mix,
            shape,
            tree,
            notes,
            is_cold,
            cores,
            remote,
            server: None,
        };
        ask.possible()?;
        Ok(ask)
    }

    /// Fails when there cannot be such a load.
    pub fn possible(&self) -> Result<(), Unfit> {
        let rate = match self.offered {
            Offered::Rate(rate) => rate,
            Offered::Closed | Offered::Share(_) => 1.0,
        };
        check(&self.at(rate)).map(drop).map_err(|error| Unfit::new(error.to_string()))
    }

    /// True if few answers fit into a take.
    pub fn is_large(&self) -> bool {
        match &self.subject {
            Subject::Managed { set: Set::Large, .. } => true,
            Subject::Managed { set: Set::Own, .. } => self.tree.as_deref().is_some_and(own::are_large),
            _ => false,
        }
    }

    /// Carries a load out on the generators. Fails when they cannot work.
    pub fn run(&self, load: &Load, control: &Control) -> Result<Sent, Error> {
        match &self.remote {
            Some(remote) => remote.run(load, load.threads, control),
            None => {
                Local { cpus: load.cpus.clone(), own_cores: load.own_cores }.run(load, load.threads, control)
            }
        }
    }

    /// The load with this rate, where it has one.
    pub fn at(&self, rate: f64) -> Load {
        let schedule = match (self.offered, &self.shape) {
            (_, Some(shape)) => self.shaped(shape, rate),
            (Offered::Closed, None) => self.course.clone().unwrap_or(Schedule::Closed),
            _ if self.is_poisson => Schedule::Poisson { rate, seed: self.load.seed },
            _ => Schedule::Constant { rate },
        };
        Load { schedule, ..self.load.clone() }
    }

    /// Once through the shape, in the time that there is.
    fn shaped(&self, shape: &Shape, rate: f64) -> Schedule {
        let over = self.load.duration.unwrap_or_else(|| {
            let seconds = mix::float(self.load.requests.unwrap_or_default()) / rate;
            Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
        });
        let over_ns = u64::try_from(over.as_nanos()).unwrap_or(u64::MAX);
        Schedule::Shaped { rate, seed: self.load.seed, over_ns, shape: shape.clone() }
    }
}

/// The shape of arrivals where that is the mix's, and its rate where no other is given.
fn shape(setup: &Setup, mix: Option<&MixDoc>, offered: &mut Offered) -> Result<Option<Shape>, Unfit> {
    match (mix, setup.params.get("arrivals")) {
        (Some(mix), Some("mix")) => {
            *offered = mixed::own_rate(mix, *offered, number(setup, "speed")?)?;
            let untold = || Unfit::new(format!("arrivals=mix: {}", mixed::untold(mix)));
            mix::shape(mix).ok_or_else(untold).map(Some)
        }
        _ => Ok(None),
    }
}

/// The parameters of a search, or of levels of a load: the schedule is their own. Arrivals that a setup does not name
/// are Poisson.
pub(crate) fn searching(setup: &Setup) -> Setup {
    let mut setup = setup.clone();
    if setup.params.get("arrivals").is_none() {
        setup.params.set("arrivals", "poisson");
    }
    for (name, value) in [("load", "100%"), ("rate", AUTO), ("requests", AUTO)] {
        setup.params.set(name, value);
    }
    setup
}

/// A whole number that fits into memory. Fails when the parameter is malformed.
pub(crate) fn small(setup: &Setup, name: &str) -> Result<usize, Unfit> {
    usize::try_from(int_param(setup, name)?).map_err(|_| Unfit::new(format!("{name} is too large")))
}

fn number(setup: &Setup, name: &str) -> Result<f64, Unfit> {
    let text = setup.params.get(name).unwrap_or_default();
    text.parse().map_err(|_| Unfit::new(format!("{name}={text}: not a number")))
}

fn span(params: &Params, name: &str) -> Result<Duration, Unfit> {
    let text = params.get(name).unwrap_or_default();
    let seconds = text.parse::<f64>().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let seconds = seconds.filter(|span| !span.is_zero());
    seconds.ok_or_else(|| Unfit::new(format!("{name}={text}: a number of seconds above 0")))
}

/// Reads everything of a load but its server, its rate and its threads; a parameter that is not given has its default.
/// Fails when a value is malformed.
pub(crate) fn describe(setup: &Setup, load: &mut Load) -> Result<(), Unfit> {
    let text = |name: &str| setup.params.get(name).unwrap_or_default();
    let seconds = |name: &str| span(&setup.params, name);
    load.connections = small(setup, "connections")?;
    load.duration = Some(if setup.size == Size::Smoke { SMOKE } else { seconds("duration")? });
    if text("requests") != AUTO {
        let count = text("requests").parse::<u64>().ok().filter(|count| *count > 0);
        let wrong = || Unfit::new(format!("requests={}: a whole number above 0, or auto", text("requests")));
        let count = count.ok_or_else(wrong)?;
        if count < load.connections as u64 {
            return Err(Unfit::new(format!(
                "connections={} for requests={count}: each connection needs a request",
                load.connections
            )));
        }
        load.requests = Some(count);
        load.duration = None;
    }
    load.timeout = seconds("timeout")?;
    load.drain = load.timeout;
    load.keepalive = text("keepalive") != "off";
    text("method").clone_into(&mut load.method);
    if text("headers") != NONE {
        let lines = text("headers").lines().filter(|line| !line.trim().is_empty());
        load.headers = lines.map(header).collect::<Result<_, _>>().map_err(Unfit::new)?;
    }
    if text("body") != NONE {
        load.body = body(text("body"))?;
    }
    load.tls.insecure = text("certificate") == "any";
    load.seed = setup.seed;
    Ok(())
}

/// The text itself, or what a file holds.
fn body(text: &str) -> Result<Vec<u8>, Unfit> {
    match text.strip_prefix('@') {
        None => Ok(text.as_bytes().to_vec()),
        Some(path) => std::fs::read(path)
            .map_err(|error| Unfit::new(format!("the body cannot be read from {path}: {error}"))),
    }
}

/// The rate that the parameters ask for. Fails when they contradict each other.
pub(crate) fn offered(params: &Params) -> Result<Offered, String> {
    let text = |name: &str| params.get(name).unwrap_or(AUTO);
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
    let has_speed = params.get("speed").is_some_and(|speed| speed != "1");
    match (text("arrivals"), text("load"), text("rate")) {
        ("replay", AUTO, AUTO) | ("mix", AUTO, AUTO) => Ok(Offered::Closed),
        _ if has_speed => {
            Err("speed belongs to arrivals=replay, or to arrivals=mix without a rate".to_owned())
        }
        ("closed" | "ramp", AUTO, AUTO) => Ok(Offered::Closed),
        ("ramp" | "replay", ..) => {
            Err("a ramp or a replay has rates of its own: leave rate and load out".to_owned())
        }
        ("closed", ..) => {
            Err("a closed loop has no rate: add arrivals=constant or arrivals=poisson".to_owned())
        }
        (_, AUTO, AUTO) => {
            Err("an open loop needs its rate: rate=1000, or load=50% of the server's capacity".to_owned())
        }
        (_, AUTO, rate) => match number(rate) {
            Some(rate) => Ok(Offered::Rate(rate)),
            None => Err(format!("rate={rate}: a number of requests per second above 0, or auto")),
        },
        (_, load, AUTO) => match load.strip_suffix('%').and_then(number) {
            Some(percent) => Ok(Offered::Share(percent / 100.0)),
            None => Err(format!("load={load}: a share of the capacity such as 50%, or auto")),
        },
        (_, load, rate) => Err(format!("load={load} and rate={rate}: give one of them")),
    }
}

/// Our own server: which one, and how it is set up.
fn managed(setup: &Setup, cores: &Cores) -> Result<Subject, Unfit> {
    let text = |name: &str| setup.params.get(name).unwrap_or_default();
    let wrong = |why: String| Unfit::new(why);
    let kind = match (text("server"), text("mpm")) {
        // An MPM names its server.
        (AUTO, mpm) if mpm != AUTO => installed::find("httpd"),
        (AUTO, _) => Some(installed::usual()),
        (name, _) => installed::find(name),
    };
    let kind = kind.ok_or_else(|| wrong(format!("server={} is not known", text("server"))))?;
    let mut options = Options::from_params(&setup.params).map_err(wrong)?;
    let held = int_param(setup, "connections")?.max(LEAST_HELD).next_power_of_two();
    options.connections = u32::try_from(held).map_err(|_| wrong("too many connections".to_owned()))?;
    options.cpus = cores.server.iter().map(|&cpu| cpu as usize).collect();
    kind.accepts(&options).map_err(|error| wrong(error.to_string()))?;
    if let Some(container) = &options.inside {
        let name = kind.inside().ok_or_else(|| wrong(only_nginx(container)));
        name.and_then(|_| container.is_there().map_err(wrong))?;
    }
    if let Err(error) = std::net::TcpListener::bind((options.listen, 0)) {
        return Err(wrong(format!("listen={}: no server can listen there: {error}", options.listen)));
    }
    if text("certificate") != "checked" {
        return Err(wrong("certificate=any belongs to a url of https".to_owned()));
    }
    if let Some(limit) = options.memory {
        memory::possible(limit).map_err(wrong)?;
    }
    let set = Set::parse(text("content")).ok_or_else(|| wrong("this content is not known".to_owned()))?;
    let limits = sizes(set, text("content-size")).map_err(wrong)?;
    set.fits(&limits, &setup.dir).map_err(wrong)?;
    Ok(Subject::Managed { kind, options: Box::new(options), set, limits })
}

/// How large the content is; one that has a size of its own takes no other.
fn sizes(set: Set, asked: &str) -> Result<Limits, String> {
    let usual = Limits::default();
    let Some(bytes) = parse_bytes(asked) else { return Ok(usual) };
    match set {
        Set::Mix => Ok(Limits { mix_bytes: bytes, ..usual }),
        Set::Large => Ok(Limits { large_bytes: bytes, ..usual }),
        _ => Err(format!("content-size={asked}: only content=mix and content=large have a size to choose")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_texts_or_files() {
        assert_eq!(body("a=b&c").unwrap(), b"a=b&c");
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), [0u8, 255, 10]).unwrap();
        assert_eq!(body(&format!("@{}", file.path().display())).unwrap(), [0, 255, 10]);
        assert!(body("@/no/such/file").unwrap_err().why.contains("/no/such/file"));
    }

    #[test]
    fn a_server_of_the_users_is_not_set_up() {
        let params = |text: &str| Params::parse(text).unwrap();
        assert_eq!(unchanged(&params("connections=5;workers=auto;content=gif"), PARAMS), Ok(()));
        for text in ["workers=2", "memory=64M", "mpm=event", "listen=10.0.0.1", "content=1M", "server=nginx"]
        {
            assert!(unchanged(&params(text), PARAMS).unwrap_err().contains("is yours"), "{text}");
        }
    }

    #[test]
    fn rates_are_read_or_explained() {
        let of = |text: &str| offered(&Params::parse(text).unwrap());
        assert_eq!(of("arrivals=closed"), Ok(Offered::Closed));
        assert_eq!(of("arrivals=constant;rate=12.5"), Ok(Offered::Rate(12.5)));
        assert_eq!(of("arrivals=poisson;load=110%"), Ok(Offered::Share(1.1)));
        for (text, says) in [
            ("arrivals=closed;rate=1", "no rate"),
            ("arrivals=poisson", "needs its rate"),
            ("arrivals=ramp;rate=1", "of its own"),
            ("arrivals=poisson;rate=0", "rate=0"),
            ("arrivals=poisson;rate=inf", "rate=inf"),
            ("arrivals=poisson;load=50", "load=50"),
            ("arrivals=poisson;load=-1%", "load=-1%"),
            ("arrivals=poisson;load=5%;rate=1", "one of them"),
        ] {
            let why = of(text).unwrap_err();
            assert!(why.contains(says), "{text}: {why}");
        }
    }
}
