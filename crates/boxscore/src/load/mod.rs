//! `boxscore load`: its arguments become a plan of one take, and its run a screen, a document and an exit code.
//!
//! Mistakes on the command line are reported before anything is started or stored.

mod live;
mod params;
mod since;
mod stores;
mod targets;
mod value;

use std::path::Path;
use std::sync::Arc;

use harness::conductor::{Ended, Interaction};
use instruments::load::Load;
use instruments::load::reach::reachable;
use instruments::load::schedule::Schedule;
use instruments::workload::kv_load::{self, ask::KvAsk};
use instruments::workload::web::{self, params::Ask};
use model::doc::LoadDoc;
use model::format;
use model::metrics::load;
use model::plan::Takes;
use model::{Cell, Fault, Instrument, NoteBody, Plan, Setup};
use report::text::load::live::Live;
use report::text::load::{Tail, screen};

use crate::cli::Global;
use crate::cli::load::LoadArgs;
use crate::error::{CliError, Kind};
use crate::fleet::on;
use crate::load::live::LiveScreen;
use crate::lookup::ids::short;
use crate::lookup::resolve::Resolver;
use crate::lookup::{cpus, labels, paths};
use crate::show::shown;
use crate::show::shown::Shown;
use crate::study::stop_signal::StopSignal;
use crate::study::{Measured, login, remedy};
use crate::{out, plan, study};
use stores::is_store;

/// `boxscore load`.
pub fn run(args: &LoadArgs, global: &Global) -> Result<u8, CliError> {
    if !args.lab.is_given()? {
        return load(args, global);
    }
    if args.threads.is_some() {
        return Err(CliError::usage("--threads: with --on each node sends with one thread")
            .hint("more nodes send more"));
    }
    study::nobody_measures(&paths::store(global)?)?;
    let stop = StopSignal::listen_with_message("ended at once; nothing was stored")?;
    let (nodes, generators) = on::generators(&args.lab, &stop)?;
    let threads = Some(generators.len().to_string());
    let code = load(&LoadArgs { generators, threads, ..args.clone() }, global)?;
    nodes.end(true)?;
    Ok(code)
}

fn load(args: &LoadArgs, global: &Global) -> Result<u8, CliError> {
    labels::check_label(args.label.as_deref())?;
    args.wait.seconds()?;
    if !args.on.targets.is_empty() {
        return targets::run(args, global, &cpus::allowed()?, seed());
    }
    let of_targets = [
        ("--takes", args.takes.is_some()),
        ("--at", !args.on.at.is_empty()),
        ("--facts", !args.on.facts.is_empty()),
        ("--price", !args.costs.price.is_empty()),
        ("--watts", !args.costs.watts.is_empty()),
    ];
    if let Some((flag, _)) = of_targets.iter().find(|(_, is_given)| *is_given) {
        let error = CliError::usage(format!("{flag} belongs to a load of several targets"));
        return Err(error.hint("boxscore load --target a=URL --target b=URL"));
    }
    let args = &LoadArgs { urls: login::take_off(&args.urls)?, ..args.clone() };
    let allowed = cpus::allowed()?;
    let (plan, load) = plan(args, &allowed, seed())?;
    // Nothing is stored of a server that nobody can reach.
    reachable(&load).map_err(|error| remedy::failed(&error.into()))?;
    if args.ceilings {
        study::ceilings::measure(&plan, &args.wait, global)?;
    }
    let params = &plan.cells[0].params;
    let number = |key: &str| params.get(key).and_then(|text| text.parse::<u64>().ok());
    let count = usize::try_from(number("connections").unwrap_or_default()).unwrap_or(usize::MAX);
    let connections = format::count(count, "connection");
    let duration = match &load.schedule {
        Schedule::Replay(all) => all.last().map(|last| last.at_ns as f64 / 1e9),
        // The number of requests ends it.
        _ => params.get("duration").and_then(|text| text.parse().ok()).filter(|_| args.requests.is_none()),
    };
    // A closed loop has no more under way than its connections; of an open one much may be unanswered at the end.
    let is_open = !matches!(load.schedule, Schedule::Closed);
    let drain = duration.filter(|_| is_open).map(|_| load.timeout.as_secs_f64());
    let live = Live {
        drain,
        title: format!("{} · {connections}", args.urls.join(" ")),
        duration,
        requests: number("requests"),
        ..Live::default()
    };
    let mut screen = LiveScreen::new(live, global.json);
    if let (Some(seconds), Some(drain), false, false) = (duration, drain, screen.is_drawn(), global.json) {
        let (seconds, drain) = (format::duration(seconds.round()), format::duration(drain));
        out::say(&format!("requests for {seconds}, then at most {drain} for late answers (--timeout)"));
    }
    let interaction = Interaction { watched: screen.is_drawn(), cuts: true };
    let mut measure = |global: &Global| {
        let kept = (!args.no_store, global);
        let measured = study::measure_plan(&plan, &mut screen, interaction, &args.wait, kept)?;
        finish(&measured, kept, args.ceilings)
    };
    if args.no_store { study::unstored(&plan, global, measure) } else { measure(global) }
}

fn seed() -> u64 {
    sys::clock::wall_ns() ^ u64::from(std::process::id())
}

/// A plan of one cell and one take, and the load that it makes.
fn plan(args: &LoadArgs, allowed: &[usize], seed: u64) -> Result<(Plan, Load), CliError> {
    let cpus = args.cpus.as_deref().map(|list| cpus::listed(list, allowed)).transpose()?;
    let usable = cpus.clone().unwrap_or_else(|| cpus::numbered(allowed));
    let is_mix = |name: &&String| plan::mixes::is_mix(Path::new(name));
    let mix = args.replay.as_ref().filter(is_mix).map(|name| plan::mixes::read("--replay", Path::new(name)));
    let mix = mix.transpose()?;
    let given = params::params(args, usable.len(), mix.as_ref())?;
    let is_store = is_store(args);
    let card = if is_store { kv_load::INSTRUMENT.card() } else { web::INSTRUMENT.card() };
    let wrong = |why: String| CliError::usage(why).hint("boxscore load --help shows how each is written");
    let params = card.resolve(&given).map_err(|error| wrong(error.to_string()))?;
    let document = mix.as_ref().map(|named| Arc::new(named.mix.clone()));
    let setup = Setup { seed, mix: document, ..Setup::bare(params.clone(), usable, ".") };
    let ask =
        if is_store { KvAsk::from_setup(&setup).map(|asked| asked.ask) } else { Ask::from_setup(&setup) };
    let load = ask.map_err(|unfit| wrong(unfit.why))?.at(1.0);
    let headline = [load::THROUGHPUT.name(), load::RESPONSE_P99.name(), load::ERROR_RATE.name()];
    let headline = headline.map(str::to_owned).to_vec();
    let plan = Plan {
        seed,
        cpus,
        label: args.label.clone(),
        mixes: mix.map(|named| (named.name, named.mix)).into_iter().collect(),
        generators: args.generators.clone(),
        ..Plan::bare(vec![Cell { instrument: card.name.to_owned(), params, headline }], Takes::Fixed(1))
    };
    Ok((plan, load))
}

/// Shows the result on the screen or as a document. Exit code 3 when requests failed, 130 when the user ended it.
fn finish(
    measured: &Measured,
    (is_kept, global): (bool, &Global),
    has_ceilings: bool,
) -> Result<u8, CliError> {
    let Measured { outcome, runs, .. } = measured;
    if let Some((_, _, why)) = outcome.unfit.first() {
        return Err(CliError::data(why.clone()));
    }
    let mut resolver = Resolver::new(global)?;
    let run = runs.first().ok_or_else(|| CliError::data("nothing was measured"))?;
    let shown = shown::shown(run, "boxscore.show/1", false, &mut resolver)?;
    let cut = shown.data.notes.iter().any(|note| matches!(note.body, NoteBody::Cut(_)));
    if let Some(mut doc) = verdict::load_doc(&shown.data, &shown.doc) {
        doc.since = since::since(&shown.data, &doc.findings, &resolver)?;
        if global.json {
            out::json(&doc);
        } else {
            let tail = Tail { has_ceilings, ..if is_kept { tail(&doc) } else { Tail::default() } };
            out::print(&screen(&doc, &tail, out::look()));
        }
        return Ok(match (doc.cut, doc.errors.is_empty()) {
            (true, _) => Kind::Interrupted.exit_code(),
            (false, false) => Kind::Faults.exit_code(),
            (false, true) => 0,
        });
    }
    Err(match (fault(&shown), outcome.ended) {
        (Some(fault), _) if cut => CliError::interrupted(&fault.text),
        (Some(fault), _) => remedy::failed(fault),
        (None, Ended::Interrupted) => CliError::interrupted("interrupted before the load began"),
        (None, Ended::Refused) => {
            let why = study::refused(outcome);
            CliError::data(format!("the load could not be stored: {why}"))
        }
        (None, _) => CliError::data("the measuring child was lost before the load ended"),
    })
}

fn fault(shown: &Shown) -> Option<&Fault> {
    shown.data.takes.iter().find_map(|take| take.fault.as_ref())
}

/// A longer address is no part of a command that is shown.
const URL_ROOM: usize = 32;

fn tail(doc: &LoadDoc) -> Tail {
    let run = short(&doc.run);
    let advice = |word: &str, command: String, says: &str| (word.to_owned(), command, says.to_owned());
    // Where something differs from the load before, that is what one wants to compare.
    let versus = match &doc.since {
        Some(before) => {
            advice("versus", format!("boxscore compare {} {run}", short(&before.run)), "with the one before")
        }
        None => advice("versus", "boxscore compare latest~1 latest".to_owned(), "both, once it ran again"),
    };
    // One load has no interval.
    let is_web = doc.url.starts_with("http") && !doc.url.contains(' ');
    let url = if doc.url.len() <= URL_ROOM { doc.url.as_str() } else { "URL" };
    let intervals = advice("more", format!("boxscore run web --url {url}"), "with intervals");
    Tail {
        advice: vec![
            advice("stored", format!("boxscore show {run} --all"), "all that was measured"),
            advice("again", format!("boxscore run --plan {run}"), "the same load once more"),
            versus,
        ]
        .into_iter()
        .chain(is_web.then_some(intervals))
        .collect(),
        whole: Some(format!("boxscore show {run} --all")),
        ..Tail::default()
    }
}

#[cfg(test)]
mod tests {
    use model::Params;

    use super::*;
    use crate::cli::{Cli, Verb};

    fn args(given: &[&str]) -> LoadArgs {
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
}
