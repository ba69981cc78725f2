//! The room that a machine has for a server beside its generator, and what other places for the two could gain at most.
//!
//! Requests a second, by the CPU time that server and generator use for each. Packets' interrupts on the loopback are
//! in it as far as the kernel charges them to the two; so all of it is said with `about`.

use model::finding::generator_bound::{Filled, rate};
use model::format::quantity;
use model::metrics::load;
use model::params::show_cpus;
use model::workers::ServerWorkers;
use model::{NoteBody, Unit};

use super::cores;
use super::view::View;
use crate::loads::Core;
use crate::loads::sweep::{CEILING, NEAR, OTHERS};

/// The processes of a server of the user's.
pub fn workers<'v>(view: &View<'v, '_>) -> Option<&'v ServerWorkers> {
    view.load.given("url")?;
    view.load.notes(view.index.run).into_iter().rev().find_map(|note| match note {
        NoteBody::ServerWorkers(workers) => Some(workers),
        _ => None,
    })
}

/// The pids of a server's processes that work, or the word for them.
pub fn pids(view: &View<'_, '_>) -> String {
    workers(view).map_or_else(|| "PID".to_owned(), ServerWorkers::pids)
}

/// Cores that neither server nor generator may use, and that have time left.
pub fn free(view: &View<'_, '_>) -> Vec<u32> {
    let free = view.cores.iter().filter(|core| core.role == "other" && core.busy < CEILING);
    free.filter_map(|core| core.cpu.parse().ok()).collect()
}

/// The core that a server of several workers shares with a generator that has a large part of it, where another core or
/// a thread of the server is full: that its workers do not share the work evenly follows from that.
pub fn crowded<'v>(view: &'v View<'_, '_>) -> Option<&'v Core> {
    let is_one = matches!(view.load.filled(), Some(Filled::Threads(1)));
    let server = &view.server_cores;
    let is_crowded = |core: &&Core| {
        core.is_shared()
            && core.taken() >= NEAR
            && core.generator.is_some_and(|share| share >= OTHERS)
            && !cores::is_filled_by_others(view)
    };
    let one = server.iter().filter(|_| !is_one && server.len() > 1).find(is_crowded)?;
    let is_full = server.iter().any(|core| core.cpu != one.cpu && core.taken() >= CEILING);
    let thread = view.load.median(&load::SERVER_THREAD).is_some_and(|share| share >= CEILING);
    (is_full || thread).then_some(one)
}

/// CPU time of a request, of server and generator, where the generator works on this machine.
fn costs(view: &View<'_, '_>) -> Option<(f64, f64)> {
    let costs = view.load.median(&load::SERVER_CPU).zip(view.load.median(&load::CPU));
    costs.filter(|(server, generator)| generators(view) > 0 && *server > 0.0 && *generator > 0.0)
}

/// Cores of this machine that the generator has.
fn generators(view: &View<'_, '_>) -> usize {
    view.cores.iter().filter(|core| matches!(core.role.as_str(), "generator" | "both")).count()
}

/// Cores of the machine that server and generator have, or could have.
fn together(view: &View<'_, '_>) -> usize {
    let theirs = view.cores.iter().filter(|core| core.role != "other").count();
    theirs + free(view).len()
}

/// `here at most about 41.7 k/s (now 31.2 k/s), as the generator takes 15.7 us of CPU a request`: all that server and
/// generator could do if they filled every core that they have or could have.
pub fn most_here(view: &View<'_, '_>) -> Option<String> {
    let (server, generator) = costs(view)?;
    let most = together(view) as f64 / (server + generator);
    let now = view.load.throughput().map_or_else(String::new, |now| format!(" (now {})", rate(now)));
    Some(format!(
        "here at most about {}{now}, as the generator takes {} of CPU a request",
        rate(most),
        quantity(generator, Unit::Second)
    ))
}

/// Advice where the server has too few cores: others of this machine, or the generator's.
pub fn more_cores(view: &View<'_, '_>) -> String {
    let usual = "give the server more cores, or a faster one".to_owned();
    match (costs(view), free(view).is_empty()) {
        (Some((server, _)), true) => {
            let cores = together(view) as f64;
            let limit = most_here(view).map_or_else(String::new, |most| format!("; {most}"));
            format!(
                "generate from another machine (`--from`): with all cores the server could do up to {}{limit}",
                rate(cores / server)
            )
        }
        (Some(_), false) if workers(view).is_some() => {
            format!("{usual}: `taskset -acp LIST PID` gives one, PID {}", pids(view))
        }
        _ => usual,
    }
}

/// Advice where server and generator share a core.
pub fn apart(view: &View<'_, '_>) -> Vec<String> {
    let free = free(view);
    if view.server_cores.len() + free.len() == 1 {
        return vec!["generate from another machine (`--from`): there is one CPU for both".to_owned()];
    }
    if !free.is_empty() {
        return vec![format!(
            "`taskset -acp {} {}` moves a process of the server, --cpus the generator; or generate from another machine",
            show_cpus(&free),
            pids(view)
        )];
    }
    let count = view.server_cores.len() as f64;
    let elsewhere = costs(view).map_or_else(String::new, |(server, _)| {
        format!(", where the server could do up to {}", rate(count / server))
    });
    let first = format!(
        "no core is left for the generator alone: generate from another machine (`--from`){elsewhere}"
    );
    [Some(first), beside(view)].into_iter().flatten().collect()
}

/// The most that the server could do on the cores that the generator leaves it.
fn beside(view: &View<'_, '_>) -> Option<String> {
    let alone = |core: &&Core| core.role == "server";
    let left: Vec<u32> =
        view.server_cores.iter().filter(alone).filter_map(|core| core.cpu.parse().ok()).collect();
    let (server, generator) = costs(view).filter(|_| !left.is_empty())?;
    let most = (left.len() as f64 / server).min(generators(view) as f64 / generator);
    let now = view.load.throughput().map_or_else(String::new, |now| format!(", now {}", rate(now)));
    Some(format!(
        "the server without the generator's core (CPU {}) could do at most about {} here{now}",
        show_cpus(&left),
        rate(most)
    ))
}
