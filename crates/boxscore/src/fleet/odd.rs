//! `boxscore lab odd`: a quick score of every node, all at once, and the nodes that are not like the others.

use lab::ranges::fold;
use lab::ssh::Host;
use model::data::{RunData, Status};
use model::doc::OddMissingDoc;
use model::plan::Via;
use store::{Filter, Store};

use super::on::Nodes;
use super::reach::{self, Progress};
use super::{score, select};
use crate::cli::Global;
use crate::cli::lab::odd::LabOddArgs;
use crate::error::CliError;
use crate::lookup::paths;
use crate::study::stop_signal::StopSignal;
use crate::{out, study};

/// Runs by node, and nodes without one.
#[derive(Default)]
struct Group {
    runs: Vec<(String, RunData)>,
    missing: Vec<OddMissingDoc>,
    interrupted: bool,
}

pub fn run(args: &LabOddArgs, global: &Global) -> Result<u8, CliError> {
    let hosts = select::hosts(&args.expressions, &args.select, &args.reach)?;
    let group = match args.stored {
        true => stored(&hosts, global)?,
        false => match measured(&hosts, args, global)? {
            Some(group) => group,
            None => return Ok(0),
        },
    };
    if group.runs.is_empty() {
        let first = group.missing.first().map(|one| format!("{}: {}", one.node, one.why));
        return Err(CliError::data("no node could be judged").maybe_hint(first));
    }
    let document = verdict::odd::of_group(&group.runs, group.missing, instruments::cards());
    if global.json {
        out::json(&document);
    } else {
        let folded = |names: &[&str]| fold(names.iter().copied());
        out::print(&report::text::lab_odd::odd(&document, &folded, out::look()));
    }
    Ok(reach::code(document.is_well(), group.interrupted))
}

/// The newest run of each node in the store that came to its end and was not planted.
fn stored(hosts: &[Host], global: &Global) -> Result<Group, CliError> {
    let path = paths::store(global)?;
    let store = paths::open(&path)?;
    let heads = store.heads(&Filter::default())?;
    let mut group = Group::default();
    for host in hosts {
        let ended = |status: Status| matches!(status, Status::Complete | Status::Faulty);
        let own = heads.iter().rev().filter(|head| head.machine == host.name() && ended(head.status));
        match newest(own.map(|head| head.id.as_str()), &store)? {
            Some(run) => group.runs.push((host.to_string(), run)),
            None => group.missing.push(missing(host, "the store has no run of it that ended")),
        }
    }
    Ok(group)
}

fn newest<'a>(ids: impl Iterator<Item = &'a str>, store: &Store) -> Result<Option<RunData>, CliError> {
    for id in ids {
        let run = store.load(id)?;
        if run.plan.fake.is_none() {
            return Ok(Some(run));
        }
    }
    Ok(None)
}

fn missing(host: &Host, why: impl Into<String>) -> OddMissingDoc {
    OddMissingDoc { node: host.to_string(), why: why.into() }
}

/// Measures every node, at most `--width` at once, and stores each when it is done. `None` where only the plan was
/// wanted.
fn measured(hosts: &[Host], args: &LabOddArgs, global: &Global) -> Result<Option<Group>, CliError> {
    let path = paths::store(global)?;
    let options = reach::options(&args.reach)?;
    let width = options.width;
    let (plan, notes) = study::planned(&score::asked(&args.score), &path)?;
    if args.reach.dry_run {
        let what = format!("would measure {} on each", model::format::count(plan.cells.len(), "figure"));
        out::print(&reach::plan(hosts, &options, &what)?);
        return Ok(None);
    }
    notes.iter().for_each(|note| out::say(&format!("note: {note}")));
    let stop = StopSignal::listen_with_message("ended at once; nothing was stored")?;
    let nodes = Nodes::prepare(hosts, options, &args.put, None, &stop)?;
    let mut store = paths::create(&path)?;
    let mut group = Group::default();
    let left_out = nodes.left_out.iter().map(|(failure, host)| missing(host, failure.to_string()));
    group.missing.extend(left_out);
    let mut progress = Progress::begin(hosts, global.json);
    let mut stored = Ok(());
    let ways = |(host, _): &(Host, String)| Some((host.clone(), nodes.via(host)?));
    let ready: Vec<(Host, Via)> = nodes.ready.iter().filter_map(ways).collect();
    let mut all = score::each(&ready, &plan, width, &stop, |host, result| {
        // Each as it comes: what is done stays where this machine dies.
        if let (Ok(run), Ok(())) = (result, &stored) {
            stored = store.import(std::slice::from_ref(run), &[]).map(drop);
        }
        progress.done(host, || {});
    })?;
    drop(progress);
    stored?;
    all.sort_by_key(|(host, _)| hosts.iter().position(|one| one == host));
    for (host, result) in all {
        match result {
            Ok(run) => group.runs.push((host.to_string(), run)),
            Err(error) => group.missing.push(missing(&host, error.message)),
        }
    }
    group.interrupted = stop.is_requested();
    nodes.end(true)?;
    Ok(Some(group))
}
