//! Who waits for whom where nothing is at its ceiling: the load itself, few connections, or the server.
//!
//! An open loop that is served in full binds nothing. A closed loop sends only on an answer: with few connections the
//! time of an answer binds it, unless the server spends that time waiting itself.

use model::Unit;
use model::doc::Binding;

use super::{Claim, Rank, Seen, View, name};
use crate::loads::sweep::{more_connections, siblings};
use crate::loads::{more, rate};
use crate::say;

/// An answer that takes this many times the CPU time that went into it was waited for.
const WAITED: f64 = 10.0;
/// A core of the server below this share has time left.
const HALF: f64 = 0.5;

pub fn seen(view: &View<'_, '_>) -> Vec<Seen> {
    let mut all = Vec::new();
    all.extend(offered(view));
    all.extend(connections(view));
    all.extend(server(view));
    all
}

/// The busiest core: `cpu0 52 % busy`.
fn busiest(view: &View<'_, '_>) -> Option<String> {
    let most = view.cores.iter().max_by(|a, b| a.busy.total_cmp(&b.busy))?;
    Some(format!("{} {} busy", name(most), say::percent(most.busy)))
}

fn offered(view: &View<'_, '_>) -> Option<Seen> {
    view.load.is_held().filter(|held| *held)?;
    let (offered, reached) = (view.load.offered()?, view.load.throughput()?);
    let near = busiest(view).map_or_else(String::new, |core| format!("; nearest its ceiling: {core}"));
    let text = format!("{} of {} offered were answered", rate(reached), rate(offered));
    let claim = Claim {
        rank: Rank::Asked,
        sentence: format!("serves all that is offered ({}){near}", rate(offered)),
        evidence: vec![text.clone()],
        counter: Vec::new(),
        advice: vec!["offer more to see what binds".to_owned()],
    };
    let resource = "offered load".to_owned();
    Some(Seen { kind: Binding::Offered, resource, share: Some(reached / offered), text, claim: Some(claim) })
}

/// How many times the CPU time of a request its answer took, where both are known.
fn waited(view: &View<'_, '_>) -> Option<f64> {
    let cpu = view.load.median("server-cpu")? + view.load.median("generator-cpu").unwrap_or(0.0);
    let service = view.load.mean_time("service-times").or_else(|| view.load.response())?;
    Some(service / cpu).filter(|times| times.is_finite())
}

/// The server itself waited for something, with time left on each of its cores.
fn server_waits(view: &View<'_, '_>) -> bool {
    let rests = !view.server_cores.is_empty() && view.server_cores.iter().all(|core| core.busy < HALF);
    rests && waited(view).is_some_and(|times| times >= WAITED)
}

fn connections(view: &View<'_, '_>) -> Option<Seen> {
    let load = view.load;
    let (count, reached) = (load.number("connections")?, load.throughput()?);
    if !load.is_closed() {
        return None;
    }
    let each = load.mean_time("service-times").or_else(|| load.response())?;
    let whole = say::count(count as usize, "connection");
    let text = format!("{whole}, each answer {}", say::quantity(each, Unit::Second));
    let larger = more_connections(load, view.look.loads());
    let tried = siblings(load, view.look.loads(), "connections").any(|(_, other)| other > count);
    let untried = !tried && waited(view).is_some_and(|times| times < 4.0);
    let claim = ((larger.is_some() || untried) && !server_waits(view)).then(|| {
        let then = match larger {
            Some((connections, ratio)) => format!("{connections:.0} connections reach {} more", more(ratio)),
            None => "more were not tried".to_owned(),
        };
        let its = if count > 1.0 { format!("its {whole}") } else { "its one connection".to_owned() };
        Claim {
            rank: Rank::Rest,
            sentence: format!(
                "bound by {its} (an answer takes {}, which makes {}; {then}): use more connections",
                say::quantity(each, Unit::Second),
                rate(reached)
            ),
            evidence: busiest(view)
                .into_iter()
                .map(|core| format!("no core is fuller than {core}"))
                .collect(),
            counter: Vec::new(),
            advice: vec!["use more connections".to_owned()],
        }
    });
    Some(Seen { kind: Binding::Connections, resource: "connections".to_owned(), share: None, text, claim })
}

/// The share of the response time in which the generator only waited.
pub fn waiting_share(view: &View<'_, '_>) -> Option<f64> {
    let response = view.load.response().filter(|time| *time > 0.0)?;
    let service = view.load.mean_time("service-times").unwrap_or(response);
    let own = view.load.median("generator-cpu").unwrap_or(0.0);
    Some(((service - own) / response).clamp(0.0, 1.0))
}

/// What remains: the server, without a resource at its ceiling.
fn server(view: &View<'_, '_>) -> Option<Seen> {
    let load = view.load;
    let share = waiting_share(view)?;
    let most = view.cores.iter().map(|core| core.busy).max_by(f64::total_cmp);
    let idle = match most {
        Some(most) => format!("no core above {}", say::percent(most)),
        None => "nothing that was read is at its ceiling".to_owned(),
    };
    let way = if view.is_loopback() { "" } else { " or the way to it" };
    let text = format!("waiting for {}{way}: {} of response time", load.server(), say::percent(share));
    let mut advice = Vec::new();
    if let Some(limit) = load.given("limit-rate").filter(|limit| *limit != "0") {
        advice
            .push(format!("the server is told to send {limit} B/s for each answer at most: lift limit-rate"));
    }
    if load.given("cache") == Some("cold") {
        advice.push("the content is read from the disk in each take (cache=cold)".to_owned());
    }
    advice.push(
        "see what its threads wait for: a rate limit, a lock, a backend, a sleep; where each handles one request at a \
         time, run more"
            .to_owned(),
    );
    let larger = more_connections(load, view.look.loads());
    let evidence = [
        waited(view).map(|times| {
            format!("an answer took {} times the CPU time that went into it", say::digits(times))
        }),
        view.server_cost(),
        at_once(view),
        view.shortfall(),
    ];
    let counter =
        larger.map(|(connections, ratio)| format!("{connections:.0} connections reach {} more", more(ratio)));
    let claim = Claim {
        rank: Rank::Last,
        sentence: format!("{text}; {idle}"),
        evidence: evidence.into_iter().flatten().collect(),
        counter: counter.into_iter().collect(),
        advice,
    };
    let resource = load.server();
    Some(Seen { kind: Binding::Waiting, resource, share: Some(share), text, claim: Some(claim) })
}

/// How many requests the server works on at once, going by the time that one takes alone.
fn at_once(view: &View<'_, '_>) -> Option<String> {
    let own = view.load.number("connections")?;
    let fewest = siblings(view.load, view.look.loads(), "connections").min_by(|a, b| a.1.total_cmp(&b.1))?;
    let (alone, few) = (fewest.0.mean_time("service-times").or_else(|| fewest.0.response())?, fewest.1);
    let at_once = view.load.throughput()? * alone;
    (few * 4.0 <= own && at_once < own / 2.0).then(|| {
        format!(
            "as if {} were served at once, {} each, which is how long it takes with {}",
            say::digits(at_once),
            say::quantity(alone, Unit::Second),
            say::count(few as usize, "connection")
        )
    })
}
