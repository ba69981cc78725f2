//! The nodes of a study: gathers the run of each and puts them in order.

use std::rc::Rc;

use model::data::{RunData, RunHead, Status};
use model::doc::{NodesDoc, OddMissingDoc};
use verdict::nodes::{Measured, of_group};

use crate::error::CliError;
use crate::lookup::ids::short;
use crate::lookup::resolve::Resolver;
use crate::lookup::runs::is_whole;
use crate::show::shown::Shown;

/// A node's run with its earlier ones.
struct Node {
    run: Rc<RunData>,
    earlier: Vec<Rc<RunData>>,
}

/// The nodes of these runs in order: of one run, those of its study. `None` where they are no nodes, or fewer than
/// three. Fails when a stored run cannot be read.
pub fn of_runs(shown: &[Shown], resolver: &mut Resolver) -> Result<Option<NodesDoc>, CliError> {
    let own: Vec<&Shown> = shown.iter().filter(|one| is_node(&one.data)).collect();
    let Some(first) = own.first() else { return Ok(None) };
    let is_alone = own.iter().all(|one| one.data.head.machine == first.data.head.machine);
    let mut heads: Vec<RunHead> = own.iter().map(|one| one.data.head.clone()).collect();
    if is_alone {
        heads = resolver.of_study(&first.data.head.study);
    }
    let planned: Vec<String> =
        own.iter().flat_map(|one| one.data.plan.machines.iter().map(|via| via.name.clone())).collect();
    let mut nodes = Vec::new();
    for head in newest(&heads) {
        let known = own.iter().find(|one| one.data.head.id == head.id);
        let run = match known {
            Some(one) => Rc::clone(&one.data),
            None => Rc::new(resolver.store()?.load(&head.id)?),
        };
        nodes.push(run);
    }
    of_nodes(nodes, &absent(&planned, &heads), resolver)
}

/// Whole runs of nodes in order, each with the earlier runs of its node; `missing` have none.
pub fn of_nodes(
    runs: Vec<Rc<RunData>>,
    missing: &[OddMissingDoc],
    resolver: &mut Resolver,
) -> Result<Option<NodesDoc>, CliError> {
    if runs.len() < verdict::nodes::FEWEST_NODES {
        return Ok(None);
    }
    let mut nodes = Vec::new();
    for run in runs {
        let head = &run.head;
        let mut earlier =
            resolver.earlier(head, std::slice::from_ref(&head.id), std::slice::from_ref(&*run))?;
        // Nodes that share a machine are nodes of their own.
        earlier.retain(|other| other.head.machine == head.machine && other.head.study != head.study);
        nodes.push(Node { run, earlier });
    }
    let measured = nodes.iter().map(|node| Measured {
        name: &node.run.head.machine,
        run: &node.run,
        earlier: node.earlier.iter().map(Rc::as_ref).collect(),
    });
    Ok(of_group(&measured.collect::<Vec<_>>(), missing.to_vec(), instruments::cards()))
}

fn is_node(run: &RunData) -> bool {
    run.plan.nodes.as_ref().is_some_and(|nodes| nodes.names.contains(&run.head.machine))
}

/// The newest whole run of each node, in the order in which the nodes are met.
fn newest(heads: &[RunHead]) -> Vec<&RunHead> {
    let mut all: Vec<&RunHead> = Vec::new();
    for head in heads.iter().filter(|head| is_whole(head) && !head.hidden) {
        match all.iter_mut().find(|known| known.machine == head.machine) {
            Some(known) if known.started_ns < head.started_ns => *known = head,
            Some(_) => {}
            None => all.push(head),
        }
    }
    all
}

/// The planned nodes without a whole run, each once.
fn absent(planned: &[String], heads: &[RunHead]) -> Vec<OddMissingDoc> {
    // Whichever run of a study is named, all of it is resumed: one for all.
    let resumed = |study: &str| {
        let is = |head: &&RunHead| head.study == study && head.status == Status::Interrupted;
        heads.iter().rfind(is).map_or_else(String::new, |head| format!(" {}", short(&head.id)))
    };
    let mut all: Vec<OddMissingDoc> = Vec::new();
    for name in planned {
        let mut own = heads.iter().filter(|head| head.machine == *name);
        let is_known = all.iter().any(|one| one.node == *name);
        if is_known || own.clone().any(|head| is_whole(head) && !head.hidden) {
            continue;
        }
        let why = match own.next_back() {
            Some(head) if head.status == Status::Interrupted => {
                format!("the run was interrupted: boxscore resume{}", resumed(&head.study))
            }
            Some(head) => format!("the run has no figure ({})", head.status.word()),
            None => "not in the study's runs".to_owned(),
        };
        all.push(OddMissingDoc { node: name.clone(), why });
    }
    all
}
