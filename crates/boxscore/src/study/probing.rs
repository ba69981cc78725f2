//! One request to a server of the user's before a study of it, so that a wrong URL costs a line and not a study. A
//! key-value store is asked what it is, and takes a key and hands it back; with the far end of tests of the network
//! some connections are made.
//!
//! It goes the way that the study's load would: from the same machine, and with `--from` from each generator, measured
//! as any take in a store that is thrown away. Nothing is said where it cannot be carried out at all: the study itself
//! says why. A whole answer of 2xx or 3xx is enough.

use std::path::Path;

use model::names::instrument;
use model::plan::{FAR, Plan, Takes, Via};
use model::url::Scheme;
use model::{Cell, Fault, Params, card};

use crate::error::{CliError, Kind};
use crate::lookup::paths::Scratch;
use crate::study::attempt::tried;
use crate::study::remedy;
use crate::study::stop_signal::StopSignal;

/// Longer than any time limit of one request, in seconds.
const BUDGET: f64 = 3700.0;
/// Parameters of a request besides its URL.
const OF_REQUEST: [&str; 6] = ["method", "headers", "body", "timeout", "certificate", "keepalive"];
const INSTRUMENT: &str = instrument::WEB;
/// Instruments that ask a store, with the parameters that keep them short.
const ASK_STORE: (&str, &[(&str, &str)]) = (instrument::KV_MISS, &[]);
const ASK_SERVER: (&str, &[(&str, &str)]) =
    (instrument::KV_LOAD, &[("connections", "1"), ("generators", "1"), ("requests", "1"), ("keys", "1")]);

/// The instrument that asks the far end of the network, kept short.
const ASK_PEER: (&str, &[(&str, &str)]) = (instrument::NET_CONNECT, &[("duration", "0.02")]);

/// A server that would be loaded, a store, or the far end of the network.
#[derive(Clone, Debug, PartialEq)]
struct Probe {
    instrument: &'static str,
    url: String,
    params: Params,
    /// Its own path is asked for; a replay asks for others.
    is_asked: bool,
}

/// Refuses a study of a URL that does not answer, or answers 4xx or 5xx.
pub fn before(plan: &Plan, stop: &StopSignal) -> Result<(), CliError> {
    let probes = probes(plan);
    if plan.fake.is_some() || probes.is_empty() {
        return Ok(());
    }
    let folder = Scratch::new("probe")?;
    for (index, via) in plan.machines.iter().enumerate() {
        let store = folder.path().join(format!("probe-{index}.db"));
        on(via, plan, &probes, &store, stop)?;
    }
    Ok(())
}

fn on(via: &Via, plan: &Plan, probes: &[Probe], store: &Path, stop: &StopSignal) -> Result<(), CliError> {
    let cells = probes.iter().map(|probe| Cell {
        instrument: probe.instrument.to_owned(),
        params: probe.params.clone(),
        headline: Vec::new(),
    });
    let asked = Plan {
        machines: [via.clone()].into(),
        generators: plan.generators.clone(),
        version: plan.version,
        seed: plan.seed,
        budget_seconds: Some(BUDGET),
        ..Plan::bare(cells.collect(), Takes::Fixed(1))
    };
    let (outcome, run) = match tried(&asked, store, stop) {
        Ok(tried) => tried,
        Err(error) if error.kind == Kind::Interrupted => return Err(error),
        // The study meets the same, and says it with all that belongs to it.
        Err(_) => return Ok(()),
    };
    let faults = run.takes.iter().filter_map(|take| Some((take.cell, take.fault.clone()?)));
    // What web cannot carry out at all is said by the study; of a store it is what the store answered.
    let unfit = outcome.unfit.iter().map(|(_, cell, why)| (*cell, Fault::new(why)));
    let unfit = unfit
        .filter(|(cell, _)| probes.get(*cell as usize).is_some_and(|probe| probe.instrument != INSTRUMENT));
    for (cell, fault) in faults.chain(unfit) {
        let Some(probe) = probes.get(cell as usize) else { continue };
        if let Some(error) = refused(probe, &fault) {
            let whom = if via.name.is_empty() { String::new() } else { format!("on {}: ", via.name) };
            return Err(CliError { message: format!("{whom}{}", error.message), ..error });
        }
    }
    Ok(())
}

/// The error for a server that does not answer well; `None` for an answer that is good enough.
fn refused(probe: &Probe, fault: &Fault) -> Option<CliError> {
    if probe.instrument != INSTRUMENT {
        let error = CliError::data(format!("{fault}; nothing was measured or stored"));
        let hint = match probe.instrument == ASK_PEER.0 {
            true => Some("`--test ping` asks the kernel there, and needs no peer"),
            false => remedy::hint(&fault.kind),
        };
        return Some(error.maybe_hint(hint));
    }
    match remedy::only_status(&fault.kind) {
        Some(_) if !probe.is_asked => None,
        Some(status) => Some(
            CliError::data(format!("{} answers {status}: nothing was measured or stored", probe.url)).hint(
                "give the URL of a page that is there; `boxscore load URL` measures answers of 4xx and 5xx too",
            ),
        ),
        None => {
            let error = CliError::data(format!("{}: {fault}; nothing was measured or stored", probe.url));
            Some(error.maybe_hint(remedy::hint(&fault.kind)))
        }
    }
}

/// One for each server and way of asking it, with one request from each generator.
fn probes(plan: &Plan) -> Vec<Probe> {
    let generators = plan.generators.len().max(1).to_string();
    let mut probes: Vec<Probe> = Vec::new();
    for (cell, arm) in plan.cells.iter().flat_map(|cell| plan.arms.iter().map(move |arm| (cell, arm))) {
        let of = |name: &str| arm.set.get(name).or_else(|| cell.params.get(name));
        if let Some(probe) = store(&of, cell).or_else(|| far(&of, cell)) {
            if !probes.contains(&probe) {
                probes.push(probe);
            }
            continue;
        }
        // What has no URL among its parameters loads nothing of the user's.
        let Some(urls) = cell.params.get("url").and(of("url")).filter(|urls| *urls != "none") else {
            continue;
        };
        let is_asked = of("arrivals") != Some("replay");
        for url in urls.split_whitespace() {
            let mut params = Params::default();
            params.set("url", url);
            for name in OF_REQUEST {
                if let Some(value) = of(name) {
                    params.set(name, value);
                }
            }
            for name in ["connections", "generators", "requests"] {
                params.set(name, &generators);
            }
            let probe = Probe { instrument: INSTRUMENT, url: url.to_owned(), params, is_asked };
            if !probes.contains(&probe) {
                probes.push(probe);
            }
        }
    }
    probes
}

/// The question to a store of the user's, where a cell has one. How RAMCloud is reached is for its own library.
fn store<'a>(of: &impl Fn(&str) -> Option<&'a str>, cell: &Cell) -> Option<Probe> {
    let is_named = |name: &str| cell.params.get(name).is_some();
    let kv = of("kv").filter(|kv| is_named("kv") && kv.contains(':') && !kv.starts_with("ramcloud:"));
    let url = of("url").filter(|url| is_named("url") && Scheme::of_store_url(url).is_some());
    let ((instrument, short), key, whom) = match (kv, url) {
        (Some(kv), _) => (ASK_STORE, "kv", kv),
        (None, Some(url)) => (ASK_SERVER, "url", url),
        (None, None) => return None,
    };
    let mut params = Params::default();
    params.set(key, whom);
    for (name, value) in short {
        params.set(name, value);
    }
    Some(Probe { instrument, url: whom.to_owned(), params, is_asked: true })
}

/// The question to a peer of the user's, where a cell needs one. One that the study starts itself is no wrong address.
fn far<'a>(of: &impl Fn(&str) -> Option<&'a str>, cell: &Cell) -> Option<Probe> {
    let card = card::find(instruments::cards(), &cell.instrument);
    // A test that no far end can be started for needs none.
    let is_asked = card.is_some_and(|card| card.param(FAR).is_some()) && of(FAR).is_none();
    let to = of("to").filter(|to| is_asked && *to != instruments::bench::net::target::LOOPBACK)?;
    let mut params = Params::default();
    params.set("to", to);
    for (name, value) in of("token").map(|token| ("token", token)).iter().chain(ASK_PEER.1) {
        params.set(name, value);
    }
    Some(Probe { instrument: ASK_PEER.0, url: to.to_owned(), params, is_asked: true })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::failure::Failure;
    use model::fault::FailedRequests;
    use model::{Arm, FaultKind};

    fn plan(cells: &[&str], arms: &[&str]) -> Plan {
        let cell = |text: &&str| Cell {
            instrument: INSTRUMENT.to_owned(),
            params: Params::parse(text).unwrap(),
            headline: Vec::new(),
        };
        let mut plan = Plan::bare(cells.iter().map(cell).collect(), Takes::Fixed(9));
        if !arms.is_empty() {
            let arm = |text: &&str| Arm { name: (*text).to_owned(), set: Params::parse(text).unwrap() };
            plan.arms = arms.iter().map(arm).collect();
        }
        plan
    }

    #[test]
    fn each_way_of_asking_is_tried_once() {
        let urls =
            |plan: &Plan| probes(plan).into_iter().map(|probe| probe.params.to_string()).collect::<Vec<_>>();
        let cells = [
            "url=http://a/;method=GET;connections=5",
            "url=http://a/;method=GET;connections=9",
            "url=none;method=GET",
            "size=1",
        ];
        let one = "connections=1;generators=1;method=GET;requests=1;url=http://a/";
        assert_eq!(urls(&plan(&cells, &[])), [one]);
        assert_eq!(urls(&plan(&cells, &["method=GET", "method=HEAD"])).len(), 2);
        assert_eq!(urls(&plan(&["url=http://a/ http://a/b"], &[])).len(), 2);
        let mut remote = plan(&cells, &[]);
        remote.generators =
            vec![Via { name: "g".into(), command: None }, Via { name: "h".into(), command: None }];
        assert_eq!(urls(&remote), ["connections=2;generators=2;method=GET;requests=2;url=http://a/"]);
    }

    #[test]
    fn a_far_end_of_the_users_is_asked_once() {
        let of = |cells: &[(&str, &str)]| {
            let cells = cells.iter().map(|(instrument, params)| Cell {
                instrument: (*instrument).to_owned(),
                params: Params::parse(params).unwrap(),
                headline: Vec::new(),
            });
            let asked = probes(&Plan::bare(cells.collect(), Takes::Fixed(9)));
            asked
                .into_iter()
                .map(|probe| format!("{} {}", probe.instrument, probe.params))
                .collect::<Vec<_>>()
        };
        let (rtt, bandwidth) = (("net-rtt", "to=a:1;proto=udp"), ("net-bandwidth", "to=a:1;token=none"));
        assert_eq!(of(&[rtt, rtt]), ["net-connect duration=0.02;to=a:1"]);
        assert_eq!(of(&[bandwidth]), ["net-connect duration=0.02;to=a:1;token=none"]);
        for alone in
            [("net-ping", "to=a"), ("net-rtt", "to=loopback"), ("net-rtt", "far=b;to=a"), ("web", "to=a")]
        {
            assert_eq!(of(&[alone]), [""; 0], "{alone:?}");
        }
    }

    #[test]
    fn what_answers_is_said() {
        let probe = |is_asked| Probe {
            instrument: INSTRUMENT,
            url: "http://a/x".into(),
            params: Params::default(),
            is_asked,
        };
        let status = |count| FailedRequests { failure: Failure::Status4xx, status: Some(404), count };
        let timeout = FailedRequests { failure: Failure::Timeout, status: None, count: 1 };
        let fault = |failed| Fault { kind: FaultKind::NoGoodAnswer(failed), text: "no good answer".into() };
        let error = refused(&probe(true), &fault(vec![status(2)])).unwrap();
        assert_eq!(
            (error.kind, error.message.as_str()),
            (Kind::Data, "http://a/x answers 404: nothing was measured or stored")
        );
        assert_eq!(refused(&probe(false), &fault(vec![status(2)])), None, "a replay asks for other paths");
        let nobody = Fault::new(
            "nothing accepts connections at a (refused); is the server running, and is the port right?",
        );
        assert!(refused(&probe(false), &nobody).unwrap().message.contains("is the server running"));
        let both = fault(vec![status(1), timeout]);
        assert!(refused(&probe(true), &both).unwrap().hint.is_some());
    }
}
