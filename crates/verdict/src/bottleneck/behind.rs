//! Behind the server: an application that is full, or a place where requests are served one at a
//! time.
//!
//! An application's queue of connections that is full binds where it dropped at least one connection in a hundred
//! requests. By Little's law, as many requests are served at once as the rate times the time that one takes alone;
//! about one, however many wait, is a lock or one thread.

use model::Unit;
use model::backend::Backend;
use model::doc::Binding;
use model::finding::drops::Queue;
use model::finding::generator_bound::rate;
use model::format;
use model::metrics::load;

use super::view::{Claim, Rank, Seen, View};
use super::waiting::suspect;
use crate::loads::queues;
use crate::loads::sweep::{CEILING, FULL, siblings};
use crate::rules::drops;

/// More requests than this are not one at a time.
const ONE: f64 = 1.5;
/// The connections of a load that show whether more are served at once.
const MANY: f64 = 4.0;
/// CPUs that the threads of a process use together where they take turns: one, and what some do outside of the lock.
const TURNS: f64 = 1.2;
/// The share of the requests in flight that has to be at the application.
const MOST: f64 = 0.5;

pub fn seen(view: &View<'_, '_>) -> Option<Seen> {
    let (queue, serial) = (full_queue(view), serial(view));
    let behind = application(view, queue.as_ref().map(|(queue, _)| queue));
    let full = behind.and_then(|behind| full_thread(view, behind));
    let turns = behind.filter(|_| full.is_none()).and_then(|behind| turns(view, behind));
    let waits = behind.and_then(|behind| waits(view, behind));
    let rank = match (&full, &queue) {
        (Some(_), _) => Some(Rank::Proved),
        (None, Some(_)) => Some(Rank::Dropped),
        (None, None) if view.server_waits() => waits.is_some().then_some(Rank::Rest),
        (None, None) => waits.is_some().then_some(Rank::AtApplication),
    };
    let Some(rank) = rank else {
        // An application that the server hardly asks is not known to make it wait.
        let serial = serial.filter(|_| view.server_waits());
        return serial
            .map(|serial| one_at_a_time(view, &serial, behind))
            .or_else(|| Some(idle(view, behind?)));
    };
    let place = behind.map(Backend::place).or_else(|| Some(queue.as_ref()?.0.place()))?;
    let text = format!("the application at {place} behind {}", view.load.server());
    let dropped = queue.as_ref().map(|(_, dropped)| overflowed(view, *dropped));
    let serial = serial.map(|serial| format!("requests are served one at a time {serial}"));
    let one_process = turns.is_some();
    let facts: Vec<String> = [full, turns, serial, dropped, waits].into_iter().flatten().collect();
    let claim = Claim {
        rank,
        sentence: format!("held back by {text}: {}", facts.join("; ")),
        evidence: view.own_cost().into_iter().chain(view.shortfall()).collect(),
        counter: Vec::new(),
        advice: advice(view, &place, queue.as_ref().map(|(queue, _)| queue), one_process),
    };
    let (kind, share) = (Binding::Behind, behind.and_then(Backend::thread));
    Some(Seen { kind, resource: place, share, text, claim: Some(claim) })
}

/// One thread of the application behind the server uses all of a CPU.
pub(super) fn is_full(view: &View<'_, '_>) -> bool {
    let queue = full_queue(view).map(|(queue, _)| queue);
    application(view, queue.as_ref()).and_then(|behind| full_thread(view, behind)).is_some()
}

/// An application that is there, and does not hold the server back.
fn idle(view: &View<'_, '_>, behind: &Backend) -> Seen {
    let text = format!("behind {}: {}", view.load.server(), behind.text());
    Seen { kind: Binding::Behind, resource: behind.place(), share: behind.thread(), text, claim: None }
}

/// A server that serves one request at a time, and nobody who is known to make it so.
fn one_at_a_time(view: &View<'_, '_>, serial: &str, behind: Option<&Backend>) -> Seen {
    let text = format!("requests are served one at a time behind {} {serial}", view.load.server());
    let behind = behind.map(|behind| idle(view, behind).text);
    let evidence = [view.own_cost(), behind, suspect(view), view.shortfall()];
    let claim = Claim {
        rank: Rank::Rest,
        sentence: format!("{text}: a lock, or one thread of an application behind it"),
        evidence: evidence.into_iter().flatten().collect(),
        counter: Vec::new(),
        advice: vec![
            "measure what is behind the server alone; let it work on several requests at once".to_owned(),
        ],
    };
    let resource = "one request at a time".to_owned();
    Seen { kind: Binding::Serial, resource, share: None, text, claim: Some(claim) }
}

/// The queue of another program that dropped most, where that is enough to bind.
fn full_queue(view: &View<'_, '_>) -> Option<(Queue, f64)> {
    let (queue, dropped) =
        queues::fullest(view.load, &view.backends).filter(|(queue, _)| !queue.is_servers)?;
    drops::share(view.load, dropped).is_some_and(|(_, binds)| binds).then_some((queue, dropped))
}

/// The application whose queue was full, else the one that the server has most connections to.
fn application<'v>(view: &'v View<'_, '_>, queue: Option<&Queue>) -> Option<&'v Backend> {
    match queue {
        Some(queue) => view.backends.iter().find(|one| one.socket == queue.socket),
        None => view.backends.first(),
    }
}

/// An application that fills a thread, where the server's own busiest one is not full.
fn full_thread(view: &View<'_, '_>, behind: &Backend) -> Option<String> {
    let is_servers = view.load.median(&load::SERVER_THREAD).is_some_and(|share| share >= CEILING);
    let (thread, cpus) = (behind.thread()?, behind.cpus()?);
    let full = if thread >= FULL { "full" } else { "nearly full" };
    (thread >= CEILING && !is_servers)
        .then(|| format!("one thread of it is {full} (it used {} of a CPU)", format::number(cpus)))
}

/// The threads of an application's one process use one CPU between them, on a machine that has more: they take turns.
fn turns(view: &View<'_, '_>, behind: &Backend) -> Option<String> {
    let cpus = behind.cpus()?;
    let is_one = behind.pids.len() == 1 && view.cores.len() > 1;
    (is_one && (CEILING..=TURNS).contains(&cpus)).then(|| {
        format!("all its threads together used {} of a CPU, as one thread would", format::number(cpus))
    })
}

/// Most of the requests in flight were at the application, and the server itself had time left: of one connection, the
/// one request.
fn waits(view: &View<'_, '_>, behind: &Backend) -> Option<String> {
    let in_flight = view.load.median(&load::IN_FLIGHT).or_else(|| view.load.number("connections"))?;
    let connections = behind.connections as f64;
    (view.waits_mostly() && connections >= MOST * in_flight).then(|| {
        format!(
            "{} had {} to it while {} requests were in flight",
            view.load.server(),
            format::count(behind.connections as usize, "connection"),
            format::number(in_flight)
        )
    })
}

/// `(230 /s whatever the connections; each takes 4.40 ms alone)`, where loads of one and of many connections show it.
fn serial(view: &View<'_, '_>) -> Option<String> {
    let own = (view.load, view.load.number("connections")?);
    let all: Vec<_> = siblings(view.load, view.index.loads(), "connections").chain([own]).collect();
    let (alone, fewest) = all.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let each = alone.mean_time(&load::SERVICES).or_else(|| alone.response())?;
    let at_once = |load: &crate::loads::Load<'_>| Some(load.throughput()? * each);
    let is_flat = all.iter().all(|(load, _)| at_once(load).is_some_and(|count| count < ONE));
    let shows = *fewest < ONE && all.iter().any(|(_, connections)| *connections >= MANY);
    (is_flat && shows).then(|| {
        format!(
            "({} whatever the connections; each takes {} alone)",
            view.load.throughput().map_or_else(String::new, rate),
            format::quantity(each, Unit::Second)
        )
    })
}

fn overflowed(view: &View<'_, '_>, dropped: f64) -> String {
    let share = drops::share(view.load, dropped).map(|(share, _)| match share > 1.0 {
        true => ", more often than there were requests".to_owned(),
        false => format!(", {} of the requests", format::percent(share)),
    });
    format!(
        "its queue of connections to be accepted, which is not the server's, was full {} times{}",
        format::fixed(dropped, 0),
        share.unwrap_or_default()
    )
}

fn advice(view: &View<'_, '_>, place: &str, queue: Option<&Queue>, one_process: bool) -> Vec<String> {
    let socket = place.split(' ').next().unwrap_or(place);
    let reached = socket.replace("0.0.0.0:", "127.0.0.1:").replace("[::]:", "[::1]:");
    let url = view.load.params.get("url");
    let path = url.and_then(path_of).unwrap_or("/");
    // Most proxies open a connection for each request by default; one that stays open may be all that it serves.
    let alone = format!(
        "measure the application alone, a connection a request as most proxies ask: boxscore load http://{reached}{path} \
         -H 'Connection: close'"
    );
    let is_one = view.load.median(&load::IN_FLIGHT).is_some_and(|requests| requests < ONE);
    let more = match is_one {
        true => "let it serve faster",
        false if one_process => {
            "let it serve faster, or run several processes of it: its threads seem to take turns, as under a lock \
             such as Python's"
        }
        false => "let it serve faster, or several requests at once (more workers or threads)",
    };
    let at_once = url.filter(|_| queue.is_none()).map(|url| {
        format!("how many it serves at once: boxscore run web --url {url} --scan connections=1,4,16,64")
    });
    let queue = queue.map(Queue::advice_of_room);
    [more.to_owned(), alone].into_iter().chain(at_once).chain(queue).collect()
}

/// `/orders/` of `http://127.0.0.1:8080/orders/`.
fn path_of(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    rest.find('/').map(|at| &rest[at..])
}
