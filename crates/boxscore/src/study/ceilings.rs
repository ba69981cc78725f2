//! `--ceilings`: measures, before a load, what this machine can do that the load is held against, as far as no stored
//! run says it. It is a run of its own, which stays in the store.
//!
//! Disks are those under the folder of the store or of `--dir`. A server on another host is not measured, and neither
//! is the way to it.

use harness::conductor::Ended;
use model::metrics::{disk, load, memory, net};
use model::names::instrument;
use model::plan::Takes;
use model::url::{Scheme, Url};
use model::{Cell, Params, Plan, card, format, names};
use verdict::ceiling_figure::{Figure, OWN_SERVER};

use super::attempt::interaction_of;
use super::display::Display;
use super::quiet::WaitIdle;
use super::run::measure_plan;
use super::sink::limited;
use crate::cli::Global;
use crate::error::CliError;
use crate::lookup;
use crate::lookup::ids::short;
use crate::lookup::resolve::Resolver;
use crate::out;

/// Enough for an interval.
const TAKES: u32 = 8;
/// Connections of the load beside which our own server is set, where a run has several.
const TYPICAL: f64 = 50.0;
/// Loads of our own server: each takes some seconds.
const MOST_SERVERS: usize = 4;

/// The tests that every load on this machine is held against: the instrument, its figure, and the parameters that make
/// it one.
const TESTS: [(&str, &str, &str); 8] = [
    (instrument::DISK_READ, disk::IOPS.name(), "qd=1"),
    (instrument::DISK_READ, disk::IOPS.name(), "qd=32"),
    (instrument::DISK_SEQ, disk::BANDWIDTH.name(), "op=read"),
    (instrument::DISK_SEQ, disk::BANDWIDTH.name(), "op=write"),
    (instrument::MEM_BANDWIDTH, memory::BANDWIDTH.name(), "op=copy;threads=1"),
    (instrument::MEM_BANDWIDTH, memory::BANDWIDTH.name(), "op=copy;threads=all"),
    (instrument::NET_BANDWIDTH, net::BANDWIDTH.name(), "to=loopback;streams=1;direction=send"),
    (instrument::NET_PACKETS, net::PACKET_RATE.name(), "to=loopback;size=64"),
];

/// Measures what is missing for the loads of a plan. Fails where the plan measures elsewhere, and where the user ends
/// it.
pub fn measure(of: &Plan, wait: &WaitIdle, global: &Global) -> Result<(), CliError> {
    let is_elsewhere = of.machines.iter().any(|via| via.command.is_some()) || !of.generators.is_empty();
    if of.fake.is_some() || is_elsewhere {
        return Err(CliError::usage("--ceilings measures this machine alone")
            .hint("without --via, --from and --fake; on another machine run it there"));
    }
    let facts = lookup::names::this().1;
    let facts = of.cpus.as_ref().map_or_else(|| facts.clone(), |cpus| limited(&facts, cpus));
    let cards = instruments::cards();
    let known = lookup::ceilings::of_this_machine(&facts, cards, &mut Resolver::new(global)?)?;
    let cells: Vec<Cell> = wanted(of)?.into_iter().filter(|cell| !is_known(cell, &known)).collect();
    if cells.is_empty() {
        out::say("note: --ceilings has nothing to measure: stored runs of this machine say it");
        return Ok(());
    }
    let mut titles: Vec<&str> =
        cells.iter().filter_map(|cell| names::says(card::find(cards, &cell.instrument))).collect();
    titles.dedup();
    let count = format::count(cells.len(), "figure");
    out::say(&format!(
        "note: first what this machine can do and no stored run says ({}; {count}, a minute or two)",
        titles.join(", ")
    ));
    let plan = Plan {
        seed: of.seed,
        cpus: of.cpus.clone(),
        dir: of.dir.clone(),
        warm_up: 1,
        ..Plan::bare(cells, Takes::Fixed(TAKES))
    };
    let mut display = Display::new(&plan, global.json, false);
    let measured = measure_plan(&plan, &mut display, interaction_of(&plan), wait, (true, global))?;
    match measured.outcome.ended {
        Ended::Interrupted => Err(CliError::interrupted("interrupted before the load")),
        _ => {
            let runs: Vec<&str> = measured.runs.iter().map(|run| short(run)).collect();
            out::say(&format!("note: stored as run {}; now the load", runs.join(" ")));
            Ok(())
        }
    }
}

/// The cells of everything that the loads of a plan are held against.
fn wanted(of: &Plan) -> Result<Vec<Cell>, CliError> {
    let tests = TESTS.iter().map(|(name, metric, given)| cell(name, metric, &parsed(given)?));
    let mut all = tests.collect::<Result<Vec<_>, _>>()?;
    let mut servers: Vec<Params> = Vec::new();
    let mut loads: Vec<Params> = of
        .cells
        .iter()
        .filter(|cell| cell.instrument == instrument::WEB)
        .flat_map(|cell| of.arms.iter().map(|arm| cell.params.with(&arm.set)))
        .collect();
    loads.sort_by(|a, b| far(a).total_cmp(&far(b)));
    for params in loads.iter().filter_map(own_server) {
        let alone = |one: &Params| one.without(&only("connections", "")).without(&only("generators", ""));
        if !servers.iter().any(|known| alone(known) == alone(&params)) {
            servers.push(params);
        }
    }
    for params in servers.iter().take(MOST_SERVERS) {
        all.push(cell(instrument::WEB, load::THROUGHPUT.name(), params)?);
    }
    Ok(all)
}

/// How far a load is from the typical one; an open loop is farther than any closed one.
fn far(params: &Params) -> f64 {
    let connections = params.get("connections").and_then(|text| text.parse::<f64>().ok());
    let is_closed = params.get("arrivals").is_none_or(|arrivals| arrivals == "closed");
    connections.map_or(TYPICAL, |connections| (connections / TYPICAL).ln().abs())
        + if is_closed { 0.0 } else { TYPICAL }
}

/// A closed loop on our own server as this load; `None` where there is none that is alike.
fn own_server(load: &Params) -> Option<Params> {
    let given = |name: &str| load.get(name).filter(|value| !matches!(*value, "none" | "auto" | ""));
    let url = given("url").map(|url| url.split(' ').next().unwrap_or(url).parse::<Url>());
    let is_here = match &url {
        None => given("listen").is_none_or(|listen| listen == "127.0.0.1"),
        Some(Ok(url)) => url.is_loopback() && url.scheme == Scheme::Http,
        Some(Err(_)) => false,
    };
    let is_plain = given("mix").is_none() && given("body").is_none() && given("headers").is_none();
    let is_get = given("method").is_none_or(|method| method == "GET");
    if !is_here || !is_plain || !is_get || (url.is_none() && given("server") == Some(OWN_SERVER)) {
        return None;
    }
    let mut own = only("server", OWN_SERVER);
    own.set("arrivals", "closed");
    for name in ["connections", "generators", "keepalive", "content", "content-size"] {
        if let Some(value) = given(name) {
            own.set(name, value);
        }
    }
    Some(own)
}

fn only(name: &str, value: &str) -> Params {
    let mut params = Params::default();
    params.set(name, value);
    params
}

fn parsed(given: &str) -> Result<Params, CliError> {
    Params::parse(given).map_err(|error| CliError::usage(error.to_string()))
}

fn cell(name: &str, metric: &str, given: &Params) -> Result<Cell, CliError> {
    let card = card::find(instruments::cards(), name)
        .ok_or_else(|| CliError::data(format!("there is no instrument {name}")))?;
    let params = card.resolve(given).map_err(|error| CliError::usage(error.to_string()))?;
    Ok(Cell { instrument: name.to_owned(), params, headline: vec![metric.to_owned()] })
}

/// True where a stored figure says what the cell would. A doubtful one does not.
fn is_known(cell: &Cell, known: &[Figure]) -> bool {
    let doubtful = |figure: &Figure| figure.doc.validity == model::Validity::Doubtful;
    known.iter().any(|figure| {
        figure.doc.instrument == cell.instrument && figure.doc.params == cell.params && !doubtful(figure)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn web(given: &str) -> Cell {
        cell(instrument::WEB, load::THROUGHPUT.name(), &parsed(given).unwrap()).unwrap()
    }

    fn servers(cells: Vec<Cell>) -> Vec<String> {
        let plan = Plan::bare(cells, Takes::Fixed(1));
        let all = wanted(&plan).unwrap().into_iter().filter(|cell| cell.instrument == instrument::WEB);
        all.map(|cell| {
            let part = ["server", "content", "connections", "keepalive", "arrivals"]
                .map(|name| cell.params.get(name).unwrap_or_default().to_owned());
            part.join(" ")
        })
        .collect()
    }

    #[test]
    fn a_sweep_is_set_beside_one_load_of_our_own_server() {
        let sweep = ["1", "50", "1000"].map(|count| web(&format!("server=nginx;connections={count}")));
        assert_eq!(servers(sweep.to_vec()), ["builtin gif 50 on closed"]);
        let two = [web("server=nginx;content=1M"), web("server=nginx;keepalive=off")];
        assert_eq!(servers(two.to_vec()), ["builtin 1M 50 on closed", "builtin gif 50 off closed"]);
        let open = web("server=nginx;connections=7;arrivals=poisson;rate=1000");
        assert_eq!(servers(vec![open]), ["builtin gif 7 on closed"]);
    }

    #[test]
    fn what_our_own_server_cannot_stand_beside_is_left_out() {
        for given in [
            "server=builtin",
            "url=https://127.0.0.1/",
            "url=http://10.0.0.2/",
            "url=http://127.0.0.1/;method=POST;body=x",
            "server=nginx;listen=10.0.0.1",
        ] {
            assert!(servers(vec![web(given)]).is_empty(), "{given}");
        }
        assert_eq!(
            servers(vec![web("url=http://127.0.0.1:80/a;connections=9")]),
            ["builtin gif 9 on closed"]
        );
    }

    #[test]
    fn every_test_is_a_ceiling() {
        for cell in wanted(&Plan::bare(Vec::new(), Takes::Fixed(1))).unwrap() {
            let key = model::SeriesKey {
                instrument: cell.instrument.clone(),
                metric: cell.headline[0].clone(),
                unit: model::Unit::PerSec,
                params: cell.params.clone(),
                arm: String::new(),
                definition: 1,
            };
            assert!(verdict::ceilings::is_ceiling(&key), "{key:?}");
        }
    }
}
