//! Who waits for whom where nothing is at its ceiling: the load itself, few connections, or the server.
//!
//! An open loop that is served in full binds nothing. A closed loop sends only on an answer: with few connections the
//! time of an answer binds it, unless the server spends that time waiting itself.

use model::Unit;
use model::doc::Binding;
use model::failure::Failure;
use model::finding::generator_bound::{more, rate};
use model::metrics::load;

use super::quota;
use super::view::{Claim, Rank, Seen, View, name};
use crate::loads::sweep::{CEILING, more_connections, siblings};
use crate::loads::waits::waits;
use crate::loads::{HELD, Load, WELL, stall};
use model::format;

/// One thread uses no more of a CPU, but for the steps in which it is read.
const MOST_OF_ONE: f64 = 1.1;
/// Linux delays an acknowledgement by 40 ms; an answer in two pieces, of which the second waits for it, takes as long
/// and little more.
const DELAYED_ACK: std::ops::Range<f64> = 0.0395..0.046;
/// Requests that came due and those that were offered are both told where they differ by more than this share.
const DRAWN: f64 = 0.01;

pub fn seen(view: &View<'_, '_>) -> Vec<Seen> {
    let mut all = Vec::new();
    all.extend(offered(view));
    all.extend(failing(view));
    all.extend(connections(view));
    all.extend(server(view));
    all
}

/// The busiest core that is not the generator's alone, which may fill its core by waiting: `cpu0 52 % busy`.
fn busiest(view: &View<'_, '_>) -> Option<(f64, String)> {
    let serving = view.cores.iter().filter(|core| core.role != "generator");
    let most = serving.max_by(|a, b| a.busy.total_cmp(&b.busy))?;
    Some((most.busy, format!("{} {} busy", name(most), format::percent(most.busy))))
}

/// That core, or the server's CPU quota where it used more of that.
fn nearest(view: &View<'_, '_>) -> Option<String> {
    let all = busiest(view).into_iter().chain(quota::used_share(view));
    all.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, text)| text)
}

fn offered(view: &View<'_, '_>) -> Option<Seen> {
    view.load.is_held().filter(|held| *held)?;
    let (offered, reached) = (view.load.offered()?, view.load.throughput()?);
    let near = match (view.foreign(), nearest(view)) {
        (Some((_, foreign)), _) => {
            format!(
                "; other programs used {} of its {}{}",
                format::number(foreign),
                format::count(view.server_cores.len(), "core"),
                view.named()
            )
        }
        (None, Some(resource)) => format!("; nearest its ceiling: {resource}"),
        (None, None) => String::new(),
    };
    // Chance may have made more or fewer of them due than were offered.
    let text = match view.load.due().filter(|due| (due / offered - 1.0).abs() > DRAWN) {
        Some(due) => format!(
            "{} of the {} that came due were answered ({} offered)",
            rate(reached.min(due)),
            rate(due),
            rate(offered)
        ),
        None => format!("{} of {} offered were answered", rate(reached.min(offered)), rate(offered)),
    };
    let waits = waits(view.load);
    let claim = Claim {
        rank: Rank::Asked,
        sentence: match stall::longest(view.load) {
            Some(stall) => {
                format!("serves what is offered ({}), but stalls: {}{near}", rate(offered), stall.text())
            }
            None => match &waits {
                Some(waits) => format!("answers all that is offered ({}), but {waits}{near}", rate(offered)),
                None => format!("serves all that is offered ({}){near}", rate(offered)),
            },
        },
        evidence: vec![text.clone()],
        counter: Vec::new(),
        advice: match waits {
            Some(_) => vec![
                "offer less: where the wait goes, it was a queue; else see what stops the server now and then".to_owned(),
            ],
            None => vec!["offer more to see what binds".to_owned()],
        },
    };
    let resource = "offered load".to_owned();
    Some(Seen { kind: Binding::Offered, resource, share: Some(reached / offered), text, claim: Some(claim) })
}

/// An open loop that is answered as fast as it is offered, but not well: failures that are no sign of too much load.
fn failing(view: &View<'_, '_>) -> Option<Seen> {
    let load = view.load;
    let (offered, reached) = (load.offered().filter(|_| !load.is_closed())?, load.throughput()?);
    let kinds = load.sums_by(&load::FAILED, "kind");
    let own =
        |kind: &str| Failure::ALL.into_iter().find(|one| one.name() == kind).is_some_and(Failure::is_own);
    let (mut failed, due) =
        (kinds.iter().filter(|(kind, _)| own(kind)).collect::<Vec<_>>(), load.requests()?);
    failed.sort_by(|a, b| b.1.total_cmp(a.1));
    let share = failed.iter().map(|(_, count)| *count).sum::<f64>() / due;
    let came = load.due().unwrap_or(offered);
    if share <= 1.0 - WELL || reached + share * came < HELD * came {
        return None;
    }
    let kinds: Vec<String> =
        failed.iter().map(|(kind, count)| format!("{} {kind}", format::fixed(**count, 0))).collect();
    let text = format!(
        "answers {} % of what is offered ({}), {} % fail",
        format::fixed(100.0 * (1.0 - share), 1),
        rate(offered),
        format::fixed(100.0 * share, 1)
    );
    let claim = Claim {
        rank: Rank::Asked,
        sentence: format!("{text}: {}", kinds.join(", ")),
        evidence: vec![format!("{} of {} offered were answered well", rate(reached), rate(offered))],
        counter: Vec::new(),
        advice: vec!["see why it fails them: its error log, a limit, a backend".to_owned()],
    };
    let resource = "failures".to_owned();
    Some(Seen { kind: Binding::Failures, resource, share: Some(share), text, claim: Some(claim) })
}

fn connections(view: &View<'_, '_>) -> Option<Seen> {
    let load = view.load;
    let (count, reached) = (load.number("connections")?, load.throughput()?);
    if !load.is_closed() {
        return None;
    }
    let each = load.mean_time(&load::SERVICES).or_else(|| load.response())?;
    let whole = format::count(count as usize, "connection");
    let text = format!("{whole}, each answer {}", format::quantity(each, Unit::Second));
    let larger = more_connections(load, view.index.loads());
    let tried = siblings(load, view.index.loads(), "connections").any(|(_, other)| other > count);
    let untried = !tried && view.waited().is_some_and(|times| times < 4.0);
    let claim = ((larger.is_some() || untried) && !view.server_waits()).then(|| {
        let then = match larger {
            Some((connections, ratio)) => format!("{connections:.0} connections reach {}", more(ratio)),
            None => "more were not tried".to_owned(),
        };
        let its = if count > 1.0 { format!("its {whole}") } else { "its one connection".to_owned() };
        Claim {
            rank: Rank::Rest,
            sentence: format!(
                "bound by {its} (an answer takes {}, which makes {}; {then}): use more connections",
                format::quantity(each, Unit::Second),
                rate(reached)
            ),
            evidence: busiest(view)
                .into_iter()
                .map(|(_, core)| format!("no core is fuller than {core}"))
                .collect(),
            counter: Vec::new(),
            advice: vec!["use more connections".to_owned()],
        }
    });
    Some(Seen { kind: Binding::Connections, resource: "connections".to_owned(), share: None, text, claim })
}

/// The share of the response time in which the generator only waited for the answer; of the service time in an open
/// loop, whose response time also holds the wait for a free connection.
fn waiting_share(view: &View<'_, '_>) -> Option<(f64, &'static str)> {
    let response = view.load.response().filter(|time| *time > 0.0)?;
    let service = view.load.mean_time(&load::SERVICES).filter(|time| *time > 0.0);
    let own = view.load.median(&load::CPU).unwrap_or(0.0);
    let (of, word) = match service {
        Some(service) if !view.load.is_closed() => (service, "service time"),
        _ => (response, "response time"),
    };
    Some((((service.unwrap_or(response) - own) / of).clamp(0.0, 1.0), word))
}

/// How long requests of an open loop waited for a free connection, where that is most of their time.
fn unsent(view: &View<'_, '_>) -> Option<String> {
    let (response, service) = (view.load.response()?, view.load.mean_time(&load::SERVICES)?);
    (!view.load.is_closed() && response > 2.0 * service).then(|| {
        format!(
            "requests waited {} of {} for a free connection before they were sent",
            format::quantity(response - service, Unit::Second),
            format::quantity(response, Unit::Second)
        )
    })
}

/// The fallback: the server waits, without a resource at its ceiling.
fn server(view: &View<'_, '_>) -> Option<Seen> {
    let load = view.load;
    let (share, of) = waiting_share(view)?;
    let most = view.cores.iter().map(|core| core.busy).max_by(f64::total_cmp);
    let idle = match (view.foreign(), most) {
        (Some((own, foreign)), _) => format!(
            "it used {} cores of {} itself, other programs {}{}",
            format::number(own),
            view.server_cores.len(),
            format::number(foreign),
            view.named()
        ),
        (None, Some(most)) => format!("no core above {}", format::percent(most)),
        (None, None) => "nothing that was read is at its ceiling".to_owned(),
    };
    let way = if view.is_loopback() { "" } else { " or the way to it" };
    let text = format!("waiting for {}{way}: {} of {of}", load.server(), format::percent(share));
    let delayed = delayed_ack(view);
    let advice = server_advice(load, delayed.is_some());
    let larger = more_connections(load, view.index.loads());
    let at_once = at_once(view);
    let one = match at_once {
        Some((count, each, _)) if count < 1.5 => {
            format!(", as if it served one request at a time ({} each)", format::quantity(each, Unit::Second))
        }
        _ => String::new(),
    };
    let evidence = [
        view.waited().map(|times| {
            format!("an answer took {} times the CPU time that went into it", format::number(times))
        }),
        if view.server_waits() { view.own_cost() } else { view.server_cost() },
        at_once.map(|(count, each, few)| {
            format!(
                "as if {} were served at once, {} each, which is how long it takes with {}",
                format::number(count),
                format::quantity(each, Unit::Second),
                format::count(few as usize, "connection")
            )
        }),
        delayed,
        suspect(view),
        view.shortfall(),
        unsent(view),
    ];
    let counter =
        larger.map(|(connections, ratio)| format!("{connections:.0} connections reach {}", more(ratio)));
    let claim = Claim {
        rank: Rank::Last,
        sentence: format!("{text}{one}; {idle}"),
        evidence: evidence.into_iter().flatten().collect(),
        counter: counter.into_iter().collect(),
        advice,
    };
    let resource = load.server();
    Some(Seen { kind: Binding::Waiting, resource, share: Some(share), text, claim: Some(claim) })
}

/// Places to look at where the server waits.
fn server_advice(load: &Load<'_>, is_delayed: bool) -> Vec<String> {
    let mut advice = Vec::new();
    if let Some(limit) = load.given("limit-rate").filter(|limit| *limit != "0") {
        advice
            .push(format!("the server is told to send {limit} B/s for each answer at most: lift limit-rate"));
    }
    if load.given("cache") == Some("cold") {
        advice.push("the content is read from the disk in each take (cache=cold)".to_owned());
    }
    advice.extend(is_delayed.then(|| {
        "let the server set TCP_NODELAY, or write each answer at once: then the wait for an acknowledgement is gone"
            .to_owned()
    }));
    advice.push(
        "see what its threads wait for: a rate limit, a lock, a backend, a sleep; where each handles one request at a \
         time, run more"
            .to_owned(),
    );
    advice
}

/// Where an answer takes as long as a delayed acknowledgement, with next to no CPU time.
fn delayed_ack(view: &View<'_, '_>) -> Option<String> {
    let each = view.load.mean_time(&load::SERVICES).filter(|time| DELAYED_ACK.contains(time))?;
    view.server_waits().then(|| {
        format!(
            "an answer takes {}: most often that is the 40 ms by which Linux delays an acknowledgement, for which the \
             second piece of an answer waits",
            format::quantity(each, Unit::Second)
        )
    })
}

/// The busiest program of others, where it may be what the server waits for: about one full thread.
pub(super) fn suspect(view: &View<'_, '_>) -> Option<String> {
    let busiest = view.index.busiest(view.load.takes().into_iter())?;
    let one = busiest.first().filter(|one| (CEILING..=MOST_OF_ONE).contains(&one.cpus))?;
    Some(format!(
        "{} (pid {}) used {} of a CPU: if the server waits for it, one thread of it is full",
        one.name,
        one.pid,
        format::number(one.cpus)
    ))
}

/// How many requests the server works on at once, going by the time that one takes with few connections: that number,
/// that time and those connections. Only where many more wait.
fn at_once(view: &View<'_, '_>) -> Option<(f64, f64, f64)> {
    let own = view.load.number("connections")?;
    let fewest = siblings(view.load, view.index.loads(), "connections").min_by(|a, b| a.1.total_cmp(&b.1))?;
    let (alone, few) = (fewest.0.mean_time(&load::SERVICES).or_else(|| fewest.0.response())?, fewest.1);
    let count = view.load.throughput()? * alone;
    (few * 4.0 <= own && count < own / 2.0).then_some((count, alone, few))
}
