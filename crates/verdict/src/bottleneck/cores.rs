//! Cores: those of the server together, one of them, interrupts on one, and one thread that fills its core. What is
//! near its ceiling (70 to 95 %) is said so: answers wait for it, though it does not bind alone.

use model::doc::Binding;
use model::metrics::load;

use super::view::{Claim, Rank, Seen, View, idle, name, split};
use super::{behind, room, work};
use crate::loads::Core;
use crate::loads::sweep::{CEILING, COMPETES, FULL, NEAR, OTHERS};
use model::finding::generator_bound::Filled;
use model::format;

/// Least share of a core in interrupts that can bind it.
const SOFTIRQ: f64 = 0.4;
/// Least share of a core that the hypervisor gives to others, which can bind what is on it.
const STOLEN: f64 = 0.1;
/// Most of the time.
const MOST: f64 = 0.5;
/// The part of a core's work that has to be the server's.
const OWN: f64 = 0.5;

pub fn seen(view: &View<'_, '_>) -> Vec<Seen> {
    let mut all: Vec<Seen> = view.cores.iter().map(|core| plain(view, core)).collect();
    all.extend(thread(view));
    all.extend(filled_by_others(view));
    let server = &view.server_cores;
    let busy: Vec<f64> = server.iter().map(|core| core.busy).collect();
    let mean = stats::mean(&busy);
    if let Some(mean) = mean.filter(|_| server.len() > 1) {
        all.push(together(view, mean));
    }
    all
}

/// One core, with a claim of its own where it is at its ceiling.
fn plain(view: &View<'_, '_>, core: &Core) -> Seen {
    let softirq = is_softirq(core);
    let is_stolen = core.steal.is_some_and(|share| share >= STOLEN);
    let is_shared = core.is_shared() && !is_filled_by_others(view);
    let is_applications = is_shared && behind::is_full(view);
    let kind = match (softirq, is_stolen) {
        _ if is_shared && core.taken() >= NEAR => Binding::Shared,
        (_, true) => Binding::Steal,
        (true, false) => Binding::Softirq,
        (false, false) => Binding::Core,
    };
    let role = match core.role.as_str() {
        "other" => String::new(),
        "both" => " (server and generator)".to_owned(),
        role => format!(" ({role})"),
    };
    let parts = split(core);
    let text = format!("{}{role} {} busy", name(core), format::percent(core.busy));
    let text = if parts.is_empty() { text } else { format!("{text}: {parts}") };
    let of_server = view.server_cores.iter().any(|own| own.cpu == core.cpu);
    // The server leaves a core alone that it may share, too.
    let is_generators = core.role == "generator" || (core.role == "both" && !core.is_shared());
    let crowded = room::crowded(view);
    let is_crowded = crowded.is_some_and(|one| one.cpu == core.cpu);
    let is_full = core.taken() >= CEILING || is_crowded;
    let claim = (is_full && (of_server || softirq) && !is_generators).then(|| {
        let all_full =
            view.server_cores.len() > 1 && view.server_cores.iter().all(|own| own.taken() >= CEILING);
        match softirq {
            // The thread that uses all it can get says it, or what others use.
            false if one_thread(view) => None,
            // What the application asks for it would ask for on any core.
            _ if is_applications => None,
            _ if is_shared => shared(view, core),
            _ if view.foreign().is_some() => None,
            _ if is_stolen && !all_full => Some(stolen(view, &name(core), core)),
            true => interrupts(view, core),
            // The cores together say it.
            _ if all_full => None,
            _ => alone(view, core).filter(|_| crowded.is_none() && may_be_servers(view, core)),
        }
    });
    let is_near = of_server && !is_generators && !softirq && !is_stolen && alone_is_near(view, core);
    let is_near = is_near && !is_applications;
    let is_near = is_near && (is_shared || may_be_servers(view, core));
    let is_near = is_near && !one_thread(view) && crowded.is_none();
    let near = || is_near.then(|| if is_shared { shared(view, core) } else { alone(view, core) });
    let claim = claim.or_else(near).flatten();
    Seen { kind, resource: name(core), share: Some(core.taken()), text, claim }
}

/// False where the server used too little CPU for the core to be full of its work, on whichever cores it ran.
fn may_be_servers(view: &View<'_, '_>, core: &Core) -> bool {
    view.load.median(&load::SERVER_CORES).is_none_or(|own| own >= OWN * core.busy)
}

/// A core of the server's own work near its ceiling, where not all of its cores are.
fn alone_is_near(view: &View<'_, '_>, core: &Core) -> bool {
    let server = &view.server_cores;
    let mean = stats::mean(&server.iter().map(Core::taken).collect::<Vec<_>>()).unwrap_or(0.0);
    is_near(core.taken()) && (server.len() == 1 || mean < NEAR) && view.foreign_from(NEAR).is_none()
}

fn is_near(share: f64) -> bool {
    (NEAR..CEILING).contains(&share)
}

/// How what is so busy is called, and which claims it goes before.
pub(super) fn grade(share: f64) -> (&'static str, Rank) {
    match share {
        share if share >= FULL => ("bound by", Rank::AtCeiling),
        share if share >= CEILING => ("near the ceiling of", Rank::AtCeiling),
        _ => ("near the ceiling of", Rank::Near),
    }
}

/// The wait that queueing alone makes at a core that has some time left.
fn queueing(core: &Core) -> Option<String> {
    let busy = core.taken();
    (busy < FULL).then(|| {
        format!(
            "at {} busy an answer waits for the core some {} times the CPU time that it takes",
            format::percent(busy),
            format::number(busy / (1.0 - busy))
        )
    })
}

/// Others use more of the server's cores than the server and the generator there together.
pub(super) fn is_filled_by_others(view: &View<'_, '_>) -> bool {
    let others = view.foreign().zip(view.generator_there());
    others.is_some_and(|((own, foreign), generator)| competes(view, own) && foreign > own + generator)
}

/// The server asks for its cores: it uses more than next to nothing of them, or its busiest thread is ready most of the
/// time and gets none.
fn competes(view: &View<'_, '_>, own: f64) -> bool {
    let is_kept = thread_time(view).is_some_and(|thread| thread.waited >= MOST);
    is_kept || own >= COMPETES * view.server_cores.len() as f64
}

/// The server's cores by their names, or how many they are.
fn names(view: &View<'_, '_>) -> String {
    let names: Vec<String> = view.server_cores.iter().map(name).collect();
    if names.len() > 4 { format!("the server's {} cores", names.len()) } else { format::list(&names) }
}

/// Cores of the server that are full, but not of its work: what other programs used of them.
fn filled_by_others(view: &View<'_, '_>) -> Option<Seen> {
    let (own, foreign) = view.shares()?;
    let server = &view.server_cores;
    let count = server.len() as f64;
    let is_claimed = |core: &Core| core.is_shared() && core.taken() >= CEILING && !is_filled_by_others(view);
    let is_theirs = view.foreign().is_some() && competes(view, own);
    let claim = (is_theirs && !one_thread(view) && !server.iter().any(is_claimed))
        .then(|| others(view, own, foreign));
    let text = format!("other programs {} CPUs of {}", format::number(foreign.max(0.0)), server.len());
    // Seen by the cores themselves where others have next to nothing of them.
    let is_worth_a_line = claim.is_some() || foreign >= OTHERS * count;
    let share = Some((foreign / count).clamp(0.0, 1.0)).filter(|share| share.is_finite());
    is_worth_a_line.then(|| Seen { kind: Binding::Others, resource: names(view), share, text, claim })
}

fn others(view: &View<'_, '_>, own: f64, foreign: f64) -> Claim {
    let server = &view.server_cores;
    let shared: Vec<String> = server.iter().filter(|core| core.is_shared()).map(name).collect();
    let shared = match shared.as_slice() {
        [] => String::new(),
        shared => format!(" (the generator works on {} too)", format::list(shared)),
    };
    let free = if shared.is_empty() { "" } else { ", and the generator others" };
    let thread = thread_time(view).filter(|thread| thread.waited >= COMPETES).map(|thread| {
        let (ran, waited) = (format::percent(thread.ran), format::percent(thread.waited));
        let alone = matches!(view.load.filled(), Some(Filled::Threads(1))) && thread.asked() >= CEILING;
        let then = if alone { ": without the others this one thread is the limit" } else { "" };
        format!("its busiest thread ran {ran} of the time and waited {waited} for a CPU{then}")
    });
    let (first, against) = view.against_others();
    Claim {
        rank: Rank::Proved,
        sentence: format!(
            "bound by other programs on {}: {} got {} cores of {}{shared}, others {}{}; {first}",
            names(view),
            view.load.server(),
            format::number(own),
            server.len(),
            format::number(foreign),
            view.named()
        ),
        evidence: view.server_cost().into_iter().chain(thread).chain(view.shortfall()).collect(),
        counter: generator(view).into_iter().collect(),
        advice: vec![against, format!("give the server cores of its own{free}")],
    }
}

/// Cores that are full only since the hypervisor gives part of them to others.
fn stolen(view: &View<'_, '_>, which: &str, core: &Core) -> Claim {
    let steal = core.steal.unwrap_or(0.0);
    Claim {
        rank: Rank::AtCeiling,
        sentence: format!(
            "bound by steal on {which}: the hypervisor gave {} of the time to others, the {} that were left were used \
             up by {}: take a machine with CPUs of its own",
            format::percent(steal),
            format::percent(core.busy),
            view.load.server()
        ),
        evidence: [split(core)]
            .into_iter()
            .filter(|text| !text.is_empty())
            .chain(view.server_cost())
            .chain(view.shortfall())
            .collect(),
        counter: generator(view).into_iter().collect(),
        advice: vec![
            "a machine with dedicated CPUs, another host, or a time when its neighbours are quiet".to_owned(),
        ],
    }
}

/// Interrupts are the largest part of a core's work.
pub(super) fn is_softirq(core: &Core) -> bool {
    let most = core.user.unwrap_or(0.0).max(core.system.unwrap_or(0.0));
    core.softirq.is_some_and(|share| share >= SOFTIRQ && share > most)
}

/// A core on which the generator works and the server may.
fn shared(view: &View<'_, '_>, core: &Core) -> Option<Claim> {
    let (bound, rank) = grade(core.taken());
    let (one, server) = (name(core), view.load.server());
    let where_ = match view.server_cores.len() {
        1 => format!("on which {server} and the generator both run"),
        _ => format!("which the generator shares with {server}, that may run on {}", view.server_cpus()),
    };
    let foreign = view.shares().map(|(_, foreign)| foreign.max(0.0));
    let filled = foreign.is_some_and(|foreign| foreign >= OTHERS * view.server_cores.len() as f64);
    let others = filled.then(|| view.against_others().1);
    Some(Claim {
        rank: if rank == Rank::Near && room::crowded(view).is_none() { rank } else { Rank::Proved },
        sentence: format!(
            "{bound} {one}, {where_} ({} busy{}): {}",
            format::percent(core.busy),
            parts_of(view, foreign),
            match room::free(view).is_empty() {
                true => "the generator needs a core of its own",
                false => "give them different cores",
            }
        ),
        evidence: [split(core)]
            .into_iter()
            .filter(|text| !text.is_empty())
            .chain(view.server_cost())
            .collect(),
        counter: Vec::new(),
        advice: room::apart(view).into_iter().chain(others).collect(),
    })
}

/// `; of it the server 0.41, the generator 0.21, other programs 0.38`; of several cores: `; of the 2 cores …`.
fn parts_of(view: &View<'_, '_>, foreign: Option<f64>) -> String {
    let known = || Some((view.load.median(&load::SERVER_CORES)?, view.generator_there()?, foreign?));
    let of = match view.server_cores.len() {
        1 => "of it".to_owned(),
        many => format!("of the {many} CPUs"),
    };
    known().map_or_else(String::new, |(own, generator, foreign)| {
        let behind = view
            .applications()
            .map_or_else(String::new, |cpus| format!("applications behind it {}, ", format::number(cpus)));
        format!(
            "; {of} the server used {}, {behind}the generator {}, other programs {}",
            format::number(own),
            format::number(generator),
            format::number(foreign)
        )
    })
}

fn interrupts(view: &View<'_, '_>, core: &Core) -> Option<Claim> {
    let softirq = core.softirq?;
    let of = if softirq >= CEILING {
        format!("{} of one core", format::percent(softirq))
    } else {
        format!("{} of one core, which is {} busy", format::percent(softirq), format::percent(core.busy))
    };
    let others: Vec<&Core> = view.cores.iter().filter(|other| other.cpu != core.cpu).collect();
    let idle = idle(&others).map_or_else(String::new, |text| format!("; {text}"));
    let (what, advice) = if view.is_loopback() {
        (
            "give the server more cores",
            "packets of the loopback are handled on the core that sends them: give the server more cores and workers",
        )
    } else {
        (
            "spread the NIC's interrupts",
            "spread the NIC's interrupts over the cores: more queues (ethtool -L), their affinity, RPS",
        )
    };
    let facts = view.index.run.facts.iter().filter(|fact| fact.key.ends_with(".irq_affinity"));
    let affinity = facts
        .filter(|_| !view.is_loopback())
        .filter_map(|fact| Some(format!("{}: {}", fact.key, fact.value.as_ref()?.text())));
    Some(Claim {
        rank: Rank::AtCeiling,
        sentence: format!("bound by softirq on {} ({of}{idle}): {what}", name(core)),
        evidence: [split(core)].into_iter().chain(affinity).chain(view.shortfall()).collect(),
        counter: Vec::new(),
        advice: vec![advice.to_owned()],
    })
}

/// One core of the server, with the others less busy.
fn alone(view: &View<'_, '_>, core: &Core) -> Option<Claim> {
    let others: Vec<&Core> = view.server_cores.iter().filter(|other| other.cpu != core.cpu).collect();
    let server = view.load.server();
    let parts = split(core);
    let parts = if parts.is_empty() { String::new() } else { format!(": {parts}") };
    let busy = format!("{} busy{parts}", format::percent(core.busy));
    let (bound, rank) = grade(core.taken());
    let sentence = match idle(&others) {
        None => format!("{bound} {}, the one core of {server} ({busy})", name(core)),
        Some(idle) => format!(
            "{bound} {}, one of the {} cores of {server} ({busy}; {idle}): spread its work",
            name(core),
            view.server_cores.len()
        ),
    };
    let mut advice: Vec<String> = Vec::new();
    if others.is_empty() {
        advice.push(room::more_cores(view));
    } else {
        advice.push("let more workers or threads share the work evenly".to_owned());
    }
    advice.extend(cheaper(view));
    let unused = view.cores.iter().filter(|other| other.role == "other" && other.busy < 0.5).count();
    let unused = (unused > 0 && others.is_empty())
        .then(|| format!("{} of the machine did not serve", format::count(unused, "idle core")));
    Some(Claim {
        rank,
        sentence,
        evidence: view.server_work().into_iter().chain(queueing(core)).chain(view.shortfall()).collect(),
        counter: unused.into_iter().chain(generator(view)).collect(),
        advice,
    })
}

/// All cores of the server.
fn together(view: &View<'_, '_>, mean: f64) -> Seen {
    let server = &view.server_cores;
    let part = |of: fn(&Core) -> Option<f64>| -> Option<f64> {
        stats::mean(&server.iter().filter_map(of).collect::<Vec<_>>())
    };
    let average = Core {
        cpu: String::new(),
        role: "server".to_owned(),
        busy: mean,
        user: part(|core| core.user),
        system: part(|core| core.system),
        softirq: part(|core| core.softirq),
        steal: part(|core| core.steal),
        server: None,
        generator: None,
    };
    let parts = split(&average);
    let parts = if parts.is_empty() { String::new() } else { format!(": {parts}") };
    // A core that the generator does not work on has no part of it.
    let own = server.iter().filter_map(|core| core.generator).sum::<f64>() / server.len() as f64;
    let parts = match own >= COMPETES {
        true => format!("{parts}; of these the generator {}", format::percent(own)),
        false => parts,
    };
    let text = format!("the {} server cores together {} busy{parts}", server.len(), format::percent(mean));
    let full = server.iter().all(|core| core.taken() >= CEILING);
    let is_stolen = average.steal.is_some_and(|share| share >= STOLEN);
    let which = format!("the {} server cores", server.len());
    let (word, rank) =
        grade(if full { average.taken() } else { average.taken().min(CEILING - f64::EPSILON) });
    let bound = || Claim {
        rank,
        sentence: format!(
            "{word} the {} cores of {} ({} busy{parts})",
            server.len(),
            view.load.server(),
            format::percent(mean)
        ),
        evidence: view.server_work().into_iter().chain(view.shortfall()).collect(),
        counter: generator(view).into_iter().collect(),
        advice: ["more or faster cores".to_owned()].into_iter().chain(cheaper(view)).collect(),
    };
    let near = !full && !is_stolen && average.taken() >= NEAR;
    let claim = match (full, is_stolen) {
        _ if one_thread(view) => None,
        (true, true) if view.foreign().is_none() => Some(stolen(view, &which, &average)),
        (true, false) if view.foreign().is_none() => Some(bound()),
        _ if near && view.foreign_from(NEAR).is_none() => Some(bound()),
        _ => None,
    };
    let kind = if is_stolen { Binding::Steal } else { Binding::Cores };
    Seen { kind, resource: "server cores".to_owned(), share: Some(average.taken()), text, claim }
}

/// The busiest thread of the server. Shares of the take's time.
#[derive(Clone, Copy)]
struct ThreadTime {
    ran: f64,
    /// It was ready and waited for a CPU; 0 where the kernel does not tell it.
    waited: f64,
}

impl ThreadTime {
    /// All that it asked for.
    fn asked(self) -> f64 {
        (self.ran + self.waited).min(1.0)
    }
}

fn thread_time(view: &View<'_, '_>) -> Option<ThreadTime> {
    let ran = view.load.median(&load::SERVER_THREAD)?;
    Some(ThreadTime { ran, waited: view.load.median(&load::SERVER_THREAD_WAIT).unwrap_or(0.0) })
}

/// One thread of the server uses all of a CPU's time that it can get, and the server has more CPUs than it fills.
fn one_thread(view: &View<'_, '_>) -> bool {
    let (server, Some(thread)) = (&view.server_cores, thread_time(view)) else { return false };
    // With more threads than CPUs they wait for each other.
    let is_few = matches!(view.load.filled(), Some(Filled::Threads(_)));
    let asked = if is_few { thread.asked() } else { thread.ran };
    // One that waits for long is kept from its work by others.
    let is_full = asked >= CEILING && (thread.ran >= CEILING || thread.waited < OTHERS);
    let is_full = is_full && room::crowded(view).is_none();
    let own = view.load.median(&load::SERVER_CORES);
    let leaves = own.is_some_and(|own| own < CEILING * server.len() as f64) && (is_few || thread.ran >= FULL);
    // Where its cores are not known, one thread may not fill them either.
    let is_left = server.is_empty() || leaves || server.iter().any(|core| core.busy < CEILING);
    is_full && server.len() != 1 && is_left
}

/// The busiest thread of the server, where it has more cores than it fills.
fn thread(view: &View<'_, '_>) -> Option<Seen> {
    let time = thread_time(view)?;
    let share = if one_thread(view) { time.asked() } else { time.ran };
    let text = format!("the server's busiest thread {} of one core", format::percent(time.ran));
    let server = &view.server_cores;
    let is_near = is_near(share) && server.len() > 1 && server.iter().all(|core| core.taken() < NEAR);
    let (bound, rank) = grade(share);
    let claim = (one_thread(view) || is_near).then(|| Claim {
        rank,
        sentence: format!(
            "{bound} one thread of {} ({} of one core{}): a one-thread limit{}",
            view.load.server(),
            format::percent(time.ran),
            beside_thread(view, time),
            room::workers(view).map_or_else(String::new, |all| format!("; {}", all.of_one_thread()))
        ),
        evidence: view.server_work().into_iter().chain(view.shortfall()).collect(),
        counter: generator(view).into_iter().collect(),
        advice: work::compressed(view).into_iter().chain(more_threads(view)).collect(),
    });
    let resource = "the server's busiest thread".to_owned();
    Some(Seen { kind: Binding::Thread, resource, share: Some(share), text, claim })
}

/// Advice against one full thread, with what it may gain at most beside a generator on this machine.
fn more_threads(view: &View<'_, '_>) -> Vec<String> {
    let most = room::most_here(view).map_or_else(String::new, |most| format!(": {most}"));
    match room::workers(view) {
        Some(workers) => vec![format!("{}{most}", workers.advice())],
        None => vec![
            format!("run more workers or threads{most}"),
            "where there are more: see which one takes all connections (one listener, one lock)".to_owned(),
        ],
    }
}

/// The rest of the server's cores beside a thread that fills one: idle, or used by others.
fn beside_thread(view: &View<'_, '_>, time: ThreadTime) -> String {
    let waited = (time.waited >= COMPETES && time.ran < FULL)
        .then(|| format!(", {} more waiting for a CPU", format::percent(time.waited)));
    let rest = match view.foreign() {
        Some((_, foreign)) => {
            let cpus = format::count(view.server_cores.len(), "CPU");
            Some(format!("other programs used {} of its {cpus}", format::number(foreign)))
        }
        None => {
            let mut sorted: Vec<&Core> = view.server_cores.iter().collect();
            sorted.sort_by(|a, b| b.busy.total_cmp(&a.busy));
            idle(sorted.get(1..).unwrap_or_default())
        }
    };
    format!("{}{}", waited.unwrap_or_default(), rest.map_or_else(String::new, |rest| format!("; {rest}")))
}

/// Properties of the load that make each request dear.
fn cheaper(view: &View<'_, '_>) -> Vec<String> {
    let hints = [
        ("keepalive", "off", "keep connections alive: each request opens one of its own"),
        ("access-log", "on", "turn off the access log"),
        ("sendfile", "off", "turn on sendfile"),
    ];
    let given = hints.iter().filter(|(name, value, _)| view.load.params.get(name) == Some(*value));
    given.map(|(.., says)| (*says).to_owned()).chain(work::compressed(view)).collect()
}

/// The generator speaks against the server where it is near its ceiling.
fn generator(view: &View<'_, '_>) -> Option<String> {
    let share = view.load.median(&load::SHARE).filter(|share| is_near(*share))?;
    Some(format!("the generator's busiest core is at work {} of the time", format::percent(share)))
}
