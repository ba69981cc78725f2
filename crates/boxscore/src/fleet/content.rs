//! The files of `--content` on nodes that serve them: a node gets what it lacks when it is reached, and every file is
//! verified there.

use lab::ssh::content::{Content, Tree};
use lab::ssh::copy::Copied;
use lab::ssh::{Failure, Host, Options, Sockets, fold};
use model::format::{count, quantity};
use model::plan::Plan;
use model::{Unit, tree::ServedTree};

use super::on::while_wanted;
use super::reach;
use crate::error::CliError;
use crate::out;
use crate::plan::trees;
use crate::study::stop_signal::StopSignal;

/// Files for nodes.
pub struct Carried {
    content: Content,
    /// The folder here.
    source: String,
    /// Names of the nodes that serve them; generators need none.
    nodes: Vec<String>,
}

impl Carried {
    /// The files of a folder of this side, into that of nodes.
    pub fn new(tree: Tree, folder: &str, nodes: Vec<String>) -> Result<Carried, CliError> {
        let source = tree.folder().display().to_string();
        Ok(Carried { content: Content::new(tree, folder)?, source, nodes })
    }

    /// Those of a stored plan, where they are still here as they were; what lies on its nodes is used otherwise.
    pub fn of_plan(plan: &Plan, nodes: &[String]) -> Result<Option<Carried>, CliError> {
        let Some(known) = plan.trees.values().next() else { return Ok(None) };
        let tree = trees::hashed(known.source.as_ref()).ok().filter(|tree| is_same(tree, known));
        match tree {
            Some(tree) => Carried::new(tree, &known.folder, nodes.to_vec()).map(Some),
            None => {
                let what = "is not as it was when the run began: the nodes serve what they have of it";
                out::say(&format!("note: {} {what}", known.source));
                Ok(None)
            }
        }
    }

    /// Sends those of these hosts that serve the files what they lack. Gives the hosts that failed, with the reason.
    pub fn send(
        &self,
        hosts: &[Host],
        (options, sockets): (&Options, &Sockets),
        stop: &StopSignal,
    ) -> Result<Vec<(Failure, Host)>, CliError> {
        let serves = |host: &&Host| self.nodes.iter().any(|name| name == host.name());
        let hosts: Vec<Host> = hosts.iter().filter(serves).cloned().collect();
        if hosts.is_empty() {
            return Ok(Vec::new());
        }
        let mut all: Vec<Copied> = Vec::with_capacity(hosts.len());
        let went =
            while_wanted(stop, |told| self.content.run(&hosts, options, sockets, told, |one| all.push(one)))?;
        went.map_err(reach::no_thread)?;
        all.sort_by_key(|one| one.index);
        self.say_sent(&all);
        let failed = |one: Copied| one.result.err().map(|failure| (failure, one.host));
        Ok(all.into_iter().filter_map(failed).collect())
    }

    /// Says which nodes got something; those that had all of it are no news.
    fn say_sent(&self, all: &[Copied]) {
        let sent = all.iter().filter_map(|one| {
            let sent = one.sent.as_ref().filter(|sent| sent.files > 0)?;
            Some(((sent.files, sent.bytes), one.host.clone()))
        });
        for ((files, bytes), hosts) in fold::by_text(sent) {
            out::say(&format!(
                "note: {} of {} ({}) went to {}: {}, verified there",
                count(files, "file"),
                self.source,
                quantity(bytes as f64, Unit::Byte),
                count(hosts.len(), "node"),
                reach::folded(&hosts)
            ));
        }
    }
}

/// True if a folder has the files of a plan, and no others.
fn is_same(tree: &Tree, known: &ServedTree) -> bool {
    let pairs = tree.files().iter().map(|file| (&file.name, &file.sha256));
    pairs.eq(known.files.iter().map(|file| (&file.name, &file.sha256)))
}
