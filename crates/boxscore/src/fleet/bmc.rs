//! Common to every command for BMCs: nodes from arguments, how their BMCs are reached, a yes, failures as a document.

use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};

use lab::bmc::{Access, Failure, accesses};
use lab::inventory::{Inventory, Node};
use lab::ranges::fold;
use lab::ssh::fold::by_text;
use model::doc::{LabBmcFailureDoc, LabStateDoc};
use serde::Serialize;

use super::select::{self, Selected};
use crate::cli::Global;
use crate::cli::lab::select::SelectArgs;
use crate::error::CliError;
use crate::lookup::inventory;
use crate::out;

/// Nodes of an inventory by their names.
pub struct Nodes {
    inventory: Inventory,
    /// The folder of the inventory.
    base: PathBuf,
    pub names: Vec<String>,
}

impl Nodes {
    /// The nodes of expressions and options. Fails without an inventory, and where a name is no node.
    pub fn select(expressions: &[String], args: &SelectArgs) -> Result<Nodes, CliError> {
        let Selected { found, expanded } = select::select(expressions, args)?;
        let Some(found) = found else {
            let usual: Vec<String> =
                inventory::usual().iter().map(|path| path.display().to_string()).collect();
            let what = format!("there is no inventory (no {}): it says where BMCs are", usual.join(", no "));
            return Err(CliError::data(what)
                .hint("docs/guide/lab.md says what one holds; `boxscore lab import` makes one"));
        };
        for note in &expanded.notes {
            out::say(&format!("note: {note}"));
        }
        let selection = found.inventory.selection(expanded);
        if let Some(first) = selection.unknown.first() {
            let names = fold(selection.unknown.iter().map(String::as_str));
            let hint = found.inventory.hint_for(first);
            return Err(CliError::usage(format!("no node of the inventory: {names}")).hint(hint));
        }
        let names = selection.nodes.iter().map(|node| node.name.clone()).collect();
        let base = found.folder().to_owned();
        Ok(Nodes { inventory: found.inventory, base, names })
    }

    /// The folder of the inventory.
    pub fn base(&self) -> &Path {
        &self.base
    }

    /// The node, where there is one alone.
    pub fn only(&self) -> Result<&Node, CliError> {
        let node = match self.names.as_slice() {
            [one] => self.inventory.find(one),
            _ => None,
        };
        node.ok_or_else(|| CliError::usage(format!("one node at a time: {}", self.folded())))
    }

    pub fn folded(&self) -> String {
        fold(self.names.iter().map(String::as_str))
    }

    pub fn nodes(&self) -> Vec<&Node> {
        self.names.iter().filter_map(|name| self.inventory.find(name)).collect()
    }

    /// How the BMC of each is reached.
    pub fn accesses(&self) -> Vec<Result<Access, Failure>> {
        accesses(&self.nodes(), &self.base)
    }
}

/// True where a command may go on: with `--dry-run` it says what it would do and ends, and a change wants a yes unless
/// `--yes` is given. Fails where that is not given.
pub fn agreed(
    what: &str,
    is_change: bool,
    (dry_run, yes): (bool, bool),
    global: &Global,
) -> Result<bool, CliError> {
    if dry_run {
        out::print(&format!("would do: {what}\n"));
        return Ok(false);
    }
    if is_change && !yes {
        ask(what, global)?;
    }
    Ok(true)
}

/// Prints a document, or its text with its failures apart.
pub fn tell<T: Serialize>(document: &T, text: &str, failures: &[LabBmcFailureDoc], global: &Global) {
    if global.json {
        out::json(document);
    } else {
        out::print(text);
        out::say_all(&report::text::lab_bmc::failures(failures));
    }
}

/// Shows what would be done and waits for a yes. Fails where the answer is another one, or nobody can be asked.
fn ask(what: &str, global: &Global) -> Result<(), CliError> {
    if !std::io::stdin().is_terminal() || !out::talks_to_a_person() || global.json {
        let text = format!("{what}: nobody can be asked here, so nothing was done");
        return Err(CliError::usage(text).hint("--yes agrees beforehand"));
    }
    out::ask(&format!("{what}? [y/N]"));
    let mut answer = String::new();
    match std::io::stdin().lock().read_line(&mut answer) {
        Ok(_) if matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") => Ok(()),
        _ => Err(CliError::data("nothing was done").hint("answer y to do it")),
    }
}

/// The failures of nodes, those that are the same together.
pub fn failures_of<T>(names: &[String], all: &[Result<T, Failure>]) -> Vec<LabBmcFailureDoc> {
    let failed =
        names.iter().zip(all).filter_map(|(name, result)| Some((name.as_str(), result.as_ref().err()?)));
    let groups = by_text(failed.map(|one| (one.1.to_string(), one)));
    let document = |(why, group): (String, Vec<(&str, &Failure)>)| {
        let (_, failure) = group.first()?;
        Some(LabBmcFailureDoc {
            failure: failure.word().to_owned(),
            why,
            hint: failure.hint(),
            count: group.len(),
            nodes: fold(group.iter().map(|(node, _)| *node)),
        })
    };
    groups.into_iter().filter_map(document).collect()
}

/// The kind of a failure and its sentence, as documents have them.
pub fn failed(failure: Option<&Failure>) -> (Option<String>, Option<String>) {
    (failure.map(|failure| failure.word().to_owned()), failure.map(ToString::to_string))
}

/// Nodes by their state; `says` gives what orders states, and their words.
pub fn states<T, K: Ord + Clone>(
    names: &[String],
    all: &[Result<T, Failure>],
    says: impl Fn(&T) -> (K, String),
) -> Vec<LabStateDoc> {
    let known = names.iter().zip(all).filter_map(|(name, state)| Some((says(state.as_ref().ok()?), name)));
    let mut groups = by_text(known);
    groups.sort_by(|a, b| a.0.0.cmp(&b.0.0));
    let document = |((_, state), names): ((K, String), Vec<&String>)| LabStateDoc {
        state,
        count: names.len(),
        nodes: fold(names.into_iter().map(String::as_str)),
    };
    groups.into_iter().map(document).collect()
}
