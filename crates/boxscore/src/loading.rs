//! From the arguments of `load` to a plan of one take, and from its run to the screen, the document and the exit code.
//!
//! What is wrong with the command line is said before anything is started or stored.

mod stores;

use std::path::Path;
use std::sync::Arc;

use harness::conductor::{Ended, Interaction, Outcome};
use instruments::load::Load;
use instruments::load::failure::Failure;
use instruments::load::http::request::header;
use instruments::load::kv::data::meaning;
use instruments::load::reach::reachable;
use instruments::load::schedule::Schedule;
use instruments::workload::kv_load::{self, ask::KvAsk};
use instruments::workload::web::{self, params::Ask};
use model::doc::LoadDoc;
use model::plan::Takes;
use model::url::Url;
use model::{Cell, Fault, FaultKind, Instrument, NoteBody, ParamKind, Params, Plan, Setup};
use report::text::load::live::Live;
use report::text::load::{Tail, screen};

use crate::cli::Global;
use crate::cli::load::Args;
use crate::error::{CliError, Kind};
use crate::ids::short;
use crate::live::LiveScreen;
use crate::planning::mixes::Named;
use crate::present::{self, Shown};
use crate::resolve::Resolver;
use crate::study;
use crate::{login, out, planning};
use stores::is_store;

const DURATION: &str = "10s";
const CONNECTIONS: u64 = 50;
const MOST_THREADS: usize = 4;
/// A longer body is named by its file instead of standing in every figure's parameters.
const MOST_BODY: usize = 4096;

/// `boxscore load`.
pub fn run(args: &Args, global: &Global) -> Result<u8, CliError> {
    planning::check_label(args.label.as_deref())?;
    let args = &Args { urls: login::take_off(&args.urls)?, ..args.clone() };
    let allowed = sys::affinity::allowed().map_err(|error| CliError::data(error.to_string()))?;
    let seed = sys::clock::wall_ns() ^ u64::from(std::process::id());
    let (plan, load) = plan(args, &allowed, seed)?;
    // Nothing is stored of a server that nobody can reach.
    reachable(&load).map_err(|error| failed(&error.into()))?;
    let params = &plan.cells[0].params;
    let number = |key: &str| params.get(key).and_then(|text| text.parse::<u64>().ok());
    let count = usize::try_from(number("connections").unwrap_or_default()).unwrap_or(usize::MAX);
    let connections = report::text::count(count, "connection");
    let duration = match &load.schedule {
        Schedule::Replay(all) => all.last().map(|last| last.at_ns as f64 / 1e9),
        // The number of requests ends it.
        _ => params.get("duration").and_then(|text| text.parse().ok()).filter(|_| args.requests.is_none()),
    };
    let live = Live {
        title: format!("{} · {connections}", args.urls.join(" ")),
        duration,
        requests: number("requests"),
        ..Live::default()
    };
    let mut screen = LiveScreen::new(live, global.json);
    let interaction = Interaction { watched: screen.is_drawn(), cuts: true };
    let (outcome, runs) = study::of_plan(&plan, &mut screen, interaction, global)?;
    finish(&outcome, &runs, global)
}

/// One cell, one take; and the load that it is.
fn plan(args: &Args, allowed: &[usize], seed: u64) -> Result<(Plan, Load), CliError> {
    let cpus = args.cpus.as_deref().map(|list| study::cpus_here(list, allowed)).transpose()?;
    let number = |cpu: &usize| u32::try_from(*cpu).unwrap_or(u32::MAX);
    let usable: Vec<u32> = cpus.clone().unwrap_or_else(|| allowed.iter().map(number).collect());
    let is_mix = |name: &&String| planning::mixes::is_mix(Path::new(name));
    let mix =
        args.replay.as_ref().filter(is_mix).map(|name| planning::mixes::read("--replay", Path::new(name)));
    let mix = mix.transpose()?;
    let given = params(args, usable.len(), mix.as_ref())?;
    let is_store = is_store(args);
    let card = if is_store { kv_load::INSTRUMENT.card() } else { web::INSTRUMENT.card() };
    let wrong = |why: String| match why.strip_prefix("the replay ") {
        Some(why) => CliError::data(format!("--replay {why}")),
        None => CliError::usage(why).hint("boxscore load --help shows how each is written"),
    };
    let params = card.resolve(&given).map_err(|error| wrong(error.to_string()))?;
    let document = mix.as_ref().map(|named| Arc::new(named.mix.clone()));
    let setup = Setup { seed, mix: document, ..Setup::bare(params.clone(), usable, ".") };
    let ask = if is_store { KvAsk::of(&setup).map(|asked| asked.ask) } else { Ask::of(&setup) };
    let load = ask.map_err(|unfit| wrong(unfit.why))?.at(1.0);
    let headline = ["throughput", "response-time-p99"].map(str::to_owned).to_vec();
    let plan = Plan {
        seed,
        cpus,
        label: args.label.clone(),
        mixes: mix.map(|named| (named.name, named.mix)).into_iter().collect(),
        ..Plan::bare(vec![Cell { instrument: card.name.to_owned(), params, headline }], Takes::Fixed(1))
    };
    Ok((plan, load))
}

/// The parameters of `web` or `kv-load` that the flags mean.
fn params(args: &Args, cpus: usize, mix: Option<&Named>) -> Result<Params, CliError> {
    let mut params = Params::default();
    for url in &args.urls {
        url.parse::<Url>().map_err(|error| {
            CliError::usage(error.to_string()).hint("for example: boxscore load http://127.0.0.1:8080/a.html")
        })?;
    }
    params.set("url", &args.urls.join(" "));
    if !args.weights.is_empty() {
        let weights = args.weights.iter().map(|text| value("--weight", "weights", text));
        params.set("weights", &weights.collect::<Result<Vec<_>, _>>()?.join(" "));
    }
    match &args.requests {
        Some(requests) => params.set("requests", &value("--requests", "requests", requests)?),
        // It lasts as long as its file says.
        None if args.replay.is_some() => {}
        None => {
            let text = args.duration.as_deref().unwrap_or(DURATION);
            params.set("duration", &value("--duration", "duration", text)?);
        }
    }
    let connections = connections(args, params.get("requests"))?;
    params.set("connections", &connections.to_string());
    params.set("generators", &threads(args, cpus, connections)?.to_string());
    arrivals(args, &mut params, mix)?;
    params.set("timeout", &value("--timeout", "timeout", &args.timeout)?);
    if is_store(args) {
        stores::params(args, &mut params)?
    } else {
        of_web(args, &mut params)?
    }
    Ok(params)
}

/// What is asked for, and how.
fn of_web(args: &Args, params: &mut Params) -> Result<(), CliError> {
    stores::none(args)?;
    for text in &args.headers {
        header(text).map_err(|why| CliError::usage(format!("--header: {why}")))?;
    }
    if !args.headers.is_empty() {
        params.set("headers", &args.headers.join("\n"));
    }
    let body = args.body.as_deref().map(body).transpose()?;
    let method = args.method.as_deref().map(method).transpose()?;
    params.set("method", method.unwrap_or(if body.is_some() { "POST" } else { "GET" }));
    if let Some(body) = body {
        params.set("body", &body);
    }
    params.set("keepalive", if args.no_keepalive { "off" } else { "on" });
    params.set("certificate", if args.insecure { "any" } else { "checked" });
    Ok(())
}

/// When requests are due.
fn arrivals(args: &Args, params: &mut Params, mix: Option<&Named>) -> Result<(), CliError> {
    if let Some(rate) = &args.rate {
        let rate = value("--rate", "rate", rate).map_err(|error| {
            error.hint("without --rate each connection sends as soon as it has its answer")
        })?;
        params.set("rate", &rate);
        params.set("arrivals", if args.poisson { "poisson" } else { "constant" });
    }
    if let Some(ramp) = &args.ramp {
        params.set("ramp", &value("--ramp", "ramp", ramp)?);
        params.set("arrivals", "ramp");
    }
    if let Some(name) = &args.replay {
        replay(name, args, params, mix)?;
    }
    if let Some(text) = &args.speed {
        let factor = text.strip_suffix('x').unwrap_or(text);
        params.set("speed", &value("--speed", "speed", factor)?);
    }
    Ok(())
}

/// A mix is drawn from for as long as is asked; what has times of its own ends with its last.
fn replay(name: &str, args: &Args, params: &mut Params, mix: Option<&Named>) -> Result<(), CliError> {
    if let Some(Named { name, .. }) = mix {
        params.set("mix", name);
        if !args.poisson {
            params.set("arrivals", "mix");
        }
        return Ok(());
    }
    let given = [("--rate", &args.rate), ("--requests", &args.requests), ("--duration", &args.duration)];
    if let Some((flag, _)) = given.iter().find(|(_, given)| given.is_some()) {
        return Err(CliError::usage(format!(
            "{flag} with --replay {name}: its lines have times of their own"
        ))
        .hint("--speed 2x goes faster; a mix (boxscore logs --profile-out) takes a rate and a duration"));
    }
    let path = Path::new(name).canonicalize();
    let path = path.map_err(|error| CliError::data(format!("--replay {name}: {error}")))?;
    let text =
        path.to_str().ok_or_else(|| CliError::data(format!("--replay {name}: its path is not UTF-8")))?;
    params.set("replay", text);
    params.set("arrivals", "replay");
    Ok(())
}

/// What a flag says of a parameter, in the spelling of the card.
fn value(flag: &str, key: &str, text: &str) -> Result<String, CliError> {
    // What both kinds of load have is the same.
    let spec = web::INSTRUMENT.card().param(key).or_else(|| kv_load::INSTRUMENT.card().param(key));
    let spec = spec.ok_or_else(|| CliError::usage(format!("{flag}: a load has no {key}")))?;
    // What stands for "not given" is said by leaving the flag out.
    let kind = match spec.kind {
        ParamKind::Or(_, kind) => *kind,
        kind => kind,
    };
    let wrong = || CliError::usage(format!("{flag} {text} is not possible: {}", kind.wanted()));
    kind.canonical(text).ok_or_else(wrong)
}

fn number(flag: &str, key: &str, text: &str) -> Result<u64, CliError> {
    let number = value(flag, key, text)?;
    number.parse().map_err(|_| CliError::usage(format!("{flag} {text} is not a whole number")))
}

/// Never more than there are requests.
fn connections(args: &Args, requests: Option<&str>) -> Result<u64, CliError> {
    let requests = requests.and_then(|text| text.parse::<u64>().ok()).unwrap_or(u64::MAX);
    match &args.connections {
        None => Ok(CONNECTIONS.min(requests)),
        Some(text) => match number("--connections", "connections", text)? {
            count if count > requests => Err(CliError::usage(format!(
                "--connections {text} with --requests {requests}: each connection needs a request"
            ))
            .hint(format!("-c {requests} or fewer, or -n {count}"))),
            count => Ok(count),
        },
    }
}

fn threads(args: &Args, cpus: usize, connections: u64) -> Result<u64, CliError> {
    match &args.threads {
        None => Ok(((cpus / 2).clamp(1, MOST_THREADS) as u64).min(connections)),
        Some(text) => match number("--threads", "generators", text)? {
            threads if threads > connections => Err(CliError::usage(format!(
                "--threads {text} with --connections {connections}: each thread needs a connection"
            ))
            .hint(format!("-t {connections} or fewer, or -c {threads}"))),
            threads => Ok(threads),
        },
    }
}

/// Methods are told apart by their case (RFC 9110), so that a known one in small letters is another that no server has.
fn method(text: &str) -> Result<&str, CliError> {
    const KNOWN: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    match KNOWN.iter().find(|known| known.eq_ignore_ascii_case(text)) {
        Some(known) if *known != text => {
            Err(CliError::usage(format!("--method {text}: methods are in capitals"))
                .hint(format!("--method {known}")))
        }
        _ => Ok(text),
    }
}

/// The body as a parameter: a short text itself, anything else by the path of its file.
fn body(given: &str) -> Result<String, CliError> {
    let Some(name) = given.strip_prefix('@') else { return Ok(given.to_owned()) };
    let unread = |error: std::io::Error| CliError::data(format!("--body {given}: {error}"));
    let bytes = std::fs::read(name).map_err(unread)?;
    match String::from_utf8(bytes) {
        Ok(text) if text.len() <= MOST_BODY && !text.starts_with('@') && text != "none" => Ok(text),
        _ => {
            let path = Path::new(name).canonicalize().map_err(unread)?;
            let path = path
                .to_str()
                .ok_or_else(|| CliError::data(format!("--body {given}: its path is not UTF-8")))?;
            Ok(format!("@{path}"))
        }
    }
}

/// The screen or the document; the exit code says how the requests went.
fn finish(outcome: &Outcome, runs: &[String], global: &Global) -> Result<u8, CliError> {
    if let Some((_, _, why)) = outcome.unfit.first() {
        return Err(CliError::data(why.clone()));
    }
    let mut resolver = Resolver::new(global)?;
    let run = runs.first().ok_or_else(|| CliError::data("nothing was measured"))?;
    let shown = present::shown(run, "boxscore.show/1", false, &mut resolver)?;
    let cut = shown.data.notes.iter().any(|note| matches!(note.body, NoteBody::Cut(_)));
    if let Some(doc) = verdict::load_doc(&shown.data, &shown.doc) {
        if global.json {
            out::json(&doc);
        } else {
            out::print(&screen(&doc, &tail(&doc), out::look()));
        }
        return Ok(match (doc.cut, doc.errors.is_empty()) {
            (true, _) => Kind::Interrupted.exit_code(),
            (false, false) => Kind::Faults.exit_code(),
            (false, true) => 0,
        });
    }
    Err(match (fault(&shown), outcome.ended) {
        (Some(fault), _) if cut => CliError { kind: Kind::Interrupted, ..CliError::data(&fault.text) },
        (Some(fault), _) => failed(fault),
        (None, Ended::Interrupted) => {
            CliError { kind: Kind::Interrupted, ..CliError::data("interrupted before the load began") }
        }
        (None, Ended::Refused) => {
            let why = outcome.refused.as_deref().unwrap_or("it gave no reason");
            CliError::data(format!("the load could not be stored: {why}"))
        }
        (None, _) => CliError::data("the measuring child was lost before the load ended"),
    })
}

fn fault(shown: &Shown) -> Option<&Fault> {
    shown.data.takes.iter().find_map(|take| take.fault.as_ref())
}

/// Nothing good came back: what did, and what to do about it.
fn failed(fault: &Fault) -> CliError {
    let error = CliError::data(&fault.text);
    match hint(&fault.kind) {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

/// What to do about a fault: about its most frequent kind of failure, as far as its text does not say.
pub fn hint(fault: &FaultKind) -> Option<&'static str> {
    match fault {
        FaultKind::Other => None,
        FaultKind::Tls => Some(
            "certificate=any (load: --insecure) takes any certificate; http:// is for a server without TLS",
        ),
        FaultKind::NoGoodAnswer(failed) => {
            let most = failed.iter().max_by_key(|failed| failed.count)?;
            meaning(most.failure).or_else(|| remedy(most.failure))
        }
    }
}

/// What to do where requests failed so; stores' own failures are explained by [`meaning`].
fn remedy(failure: Failure) -> Option<&'static str> {
    Some(match failure {
        Failure::Refused => "the store refuses the requests: its log says why",
        Failure::Status4xx => {
            "the server refuses the request: check path and headers; `curl -i URL` shows its answer"
        }
        Failure::Status5xx => "the server fails at the request: its error log says why",
        Failure::Cut => "no answer came until the load was ended: is it the right port?",
        Failure::Connect => {
            "no connection could be made: is the server still running, and are ports and files left?"
        }
        Failure::Tls => "--insecure takes any certificate; http:// is for a server without TLS",
        Failure::Timeout => "no answer came in time: is it the right port? --timeout waits longer",
        Failure::Reset | Failure::Closed => {
            "the server closes connections without an answer: try https:// or --no-keepalive; see its error log"
        }
        Failure::BadResponse => {
            "what answers there does not speak HTTP/1.1: check the port, and https:// for http://"
        }
        Failure::ShortBody | Failure::WrongBody => "its answers are not whole: see the server's error log",
        Failure::Unsent => "nothing could be sent in time: lower --rate, or raise --connections",
        Failure::Auth
        | Failure::Moved
        | Failure::Loading
        | Failure::OutOfMemory
        | Failure::TooLarge
        | Failure::ReadOnly
        | Failure::Missing => return None,
    })
}

/// The status of a load whose answers were all whole and of this one status of 4xx or 5xx.
#[must_use]
pub fn only_status(fault: &FaultKind) -> Option<u16> {
    match fault.failed() {
        [only] => only.status,
        _ => None,
    }
}

fn tail(doc: &LoadDoc) -> Tail {
    let run = short(&doc.run);
    let advice = |word: &str, command: String, says: &str| (word.to_owned(), command, says.to_owned());
    Tail {
        advice: vec![
            advice("stored", format!("boxscore show {run} --all"), "all that was measured"),
            advice("again", format!("boxscore run --plan {run}"), "the same load once more"),
            advice("versus", "boxscore compare latest~1 latest".to_owned(), "both, once it ran again"),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Verb};
    use model::fault::FailedRequests;

    fn args(given: &[&str]) -> Args {
        let all = ["boxscore", "load"].iter().chain(given);
        match Cli::from_words(all).unwrap().verb {
            Verb::Load(args) => *args,
            other => panic!("{other:?}"),
        }
    }

    pub fn planned(given: &[&str]) -> Result<Params, CliError> {
        plan(&args(given), &[0, 1, 2, 3], 1).map(|(plan, _)| plan.cells[0].params.clone())
    }

    pub const URL: &str = "http://127.0.0.1:8080/a";

    #[test]
    fn flags_become_parameters() {
        let has = |given: &[&str], wanted: &str| {
            let params = planned(given).unwrap();
            let wanted = Params::parse(wanted).unwrap();
            assert!(params.contains(&wanted), "{given:?}: {params}");
        };
        has(
            &[URL],
            "connections=50;generators=2;duration=10;arrivals=closed;method=GET;keepalive=on;requests=auto",
        );
        has(&[URL, "-c", "1"], "connections=1;generators=1");
        has(&[URL, "-c9", "-t3", "-d", "2m", "--no-keepalive"], "generators=3;duration=120;keepalive=off");
        has(&[URL, "-n", "1000"], "requests=1000");
        has(&[URL, "-n", "1"], "requests=1;connections=1;generators=1");
        has(&[URL, "-n", "1k", "-c", "0.1k"], "requests=1000;connections=100");
        has(&[URL, "-d", "2.5s", "--timeout", "500ms"], "duration=2.5;timeout=0.5");
        has(&[URL, "-d", "500ms", "-r", "1k"], "duration=0.5;rate=1000");
        has(&[URL, "-r", "2.5", "--poisson"], "arrivals=poisson;rate=2.5");
        // What wrk2, oha and hey call it.
        has(&[URL, "-R", "100"], "arrivals=constant;rate=100");
        has(&[URL, "-q", "100", "-z", "3s"], "rate=100;duration=3");
        has(
            &[URL, "-b", "x", "--insecure", "--timeout", "3"],
            "method=POST;body=x;certificate=any;timeout=3",
        );
        has(&[URL, "-b", "x", "-m", "PUT"], "method=PUT");
        has(&[URL, "--ramp", "1:20", "-d", "4"], "arrivals=ramp;ramp=1:20;rate=auto;duration=4");
        let two = "url=http://127.0.0.1:8080/a http://127.0.0.1:8080/b;weights=9 0.5";
        has(&[URL, "http://127.0.0.1:8080/b", "--weight", "9", "--weight", "0.5"], two);
        assert_eq!(
            planned(&[URL, "-H", "A: b, c", "-H", "D: e"]).unwrap().get("headers"),
            Some("A: b, c\nD: e")
        );
    }

    #[test]
    fn long_bodies_are_named_and_short_ones_are_taken_along() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let name = format!("@{}", file.path().display());
        std::fs::write(file.path(), "{}").unwrap();
        assert_eq!(body(&name).unwrap(), "{}");
        for bytes in [vec![b'x'; MOST_BODY + 1], vec![255, 0], b"@home".to_vec(), b"none".to_vec()] {
            std::fs::write(file.path(), &bytes).unwrap();
            let path = file.path().canonicalize().unwrap();
            assert_eq!(body(&name).unwrap(), format!("@{}", path.display()), "{bytes:?}");
        }
        assert!(body("@/no/such/file").unwrap_err().message.contains("/no/such/file"));
    }

    #[test]
    fn a_replay_that_cannot_be_read_is_told_with_its_line() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "0 /a\n2 /b\n2 /b\n1 /a\n").unwrap();
        let name = file.path().to_str().unwrap();
        assert_eq!(planned(&[URL, "--replay", name]).unwrap().get("arrivals"), Some("replay"));
        std::fs::write(file.path(), "0 /a\nsoon /b\n").unwrap();
        let error = planned(&[URL, "--replay", name]).unwrap_err();
        assert!(error.kind == Kind::Data && error.message.contains(&format!("{name}: line 2: ")), "{error}");
    }

    #[test]
    fn what_makes_no_sense_is_a_usage_error() {
        for (given, says) in [
            (vec!["127.0.0.1:8080/"], "http://"),
            (vec!["ftp://a/"], "only http"),
            (vec![URL, "-c", "2", "-t", "3"], "each thread needs a connection"),
            (vec![URL, "-c", "0"], "--connections 0 is not possible: a whole number from 1"),
            (vec![URL, "-c", "many"], "--connections many"),
            (vec![URL, "-c", "-3"], "--connections -3"),
            (vec![URL, "-c", "50", "-n", "10"], "each connection needs a request"),
            (vec![URL, "-t", "0"], "--threads 0"),
            (vec![URL, "-n", "0"], "--requests 0"),
            (vec![URL, "-n", "1.5"], "--requests 1.5"),
            (vec![URL, "-r", "0"], "--rate 0 is not possible: a number above 0"),
            (vec![URL, "-r", "nan"], "--rate nan"),
            (vec![URL, "-r", "inf"], "--rate inf"),
            (vec![URL, "-r", "-5"], "--rate -5"),
            (vec![URL, "-r", "5/s"], "--rate 5/s"),
            (vec![URL, "-d", "0"], "--duration 0 is not possible: a time such as 10s"),
            (vec![URL, "-d", "-3"], "--duration -3"),
            (vec![URL, "-d", "soon"], "--duration soon"),
            (vec![URL, "-d", "30h"], "at most 86400s"),
            (vec![URL, "--timeout", "0"], "--timeout 0"),
            (vec![URL, "--ramp", "5"], "--ramp 5 is not possible: two rates"),
            (vec![URL, "--ramp", "-1:5"], "--ramp -1:5"),
            (vec![URL, "--weight", "much"], "--weight much"),
            (vec![URL, "-m", "get"], "capitals"),
            (vec![URL, "--weight", "1", "--weight", "2"], "2 weights for 1 URLs"),
            (vec![URL, "http://127.0.0.1:81/"], "different servers"),
            (vec![URL, "-H", "no colon"], "no colon"),
            (vec![URL, "-m", "A B"], "one word"),
            (vec![URL, "--cpus", "7"], "CPU 7"),
            (vec![URL, "--cpus", "x"], "not a CPU list"),
        ] {
            let error = planned(&given).unwrap_err();
            assert!(error.kind == Kind::Usage && error.message.contains(says), "{given:?}: {error}");
        }
    }

    #[test]
    fn the_most_frequent_failure_has_a_hint() {
        let failed = |failure, status, count| FailedRequests { failure, status, count };
        let both = vec![failed(Failure::Status4xx, Some(404), 10), failed(Failure::Reset, None, 2)];
        let advice = hint(&FaultKind::NoGoodAnswer(both)).unwrap();
        assert!(advice.contains("path"), "{advice}");
        assert!(hint(&FaultKind::Tls).unwrap().contains("--insecure"));
        assert_eq!(hint(&FaultKind::Other), None);
        for kind in Failure::ALL {
            assert!(hint(&FaultKind::NoGoodAnswer(vec![failed(kind, None, 1)])).is_some(), "{kind:?}");
        }
    }

    #[test]
    fn the_status_of_a_load_is_known_where_it_had_no_other() {
        let failed = |status, count| FailedRequests { failure: Failure::Status4xx, status, count };
        let of = |failed| only_status(&FaultKind::NoGoodAnswer(failed));
        assert_eq!(of(vec![failed(Some(404), 2)]), Some(404));
        assert_eq!(of(vec![failed(Some(404), 2), failed(Some(410), 1)]), None);
        assert_eq!(of(vec![FailedRequests { failure: Failure::Timeout, status: None, count: 1 }]), None);
        assert_eq!(only_status(&FaultKind::Other), None);
    }
}
