//! The machines that a command line names: an expression, the inventory where there is one, and the hosts that ssh is
//! told for them.

use std::path::Path;

use lab::inventory::Inventory;
use lab::ranges::{Expanded, Known, NameSet, RangeError, RangeNote, expand, fold};
use lab::ssh::{BadHost, Host};
use model::format;

use crate::cli::lab::reach::ReachArgs;
use crate::cli::lab::select::SelectArgs;
use crate::error::CliError;
use crate::lookup::inventory::{self, Found};
use crate::out;

impl From<BadHost> for CliError {
    fn from(error: BadHost) -> CliError {
        CliError::usage(error.to_string())
    }
}

/// The names of an expression, and the inventory that they were read by.
pub struct Selected {
    pub found: Option<Found>,
    pub expanded: Expanded,
}

/// The names of expressions and options. Says which inventory was read. Fails where no name is left.
pub fn select(expressions: &[String], args: &SelectArgs) -> Result<Selected, CliError> {
    let found = inventory::find(args.inventory.as_deref())?;
    if let Some(found) = &found {
        out::say(&found.sentence());
    }
    let nothing = Known::default();
    let known = found.as_ref().map_or(&nothing, |found| found.inventory.known());
    let expanded = named(expressions, args, known)?;
    Ok(Selected { found, expanded })
}

/// Hosts, and the inventory that they were found in.
pub struct Machines {
    pub hosts: Vec<Host>,
    pub found: Option<Found>,
}

/// The hosts of expressions and options: nodes of the inventory with their address, login and port, other names as ssh
/// knows them. `-l` goes before the login of the inventory. Says what is odd about the expression.
pub fn machines(expressions: &[String], args: &SelectArgs, reach: &ReachArgs) -> Result<Machines, CliError> {
    let Selected { found, expanded } = select(expressions, args)?;
    for note in &expanded.notes {
        out::say(&format!("note: {note}"));
    }
    let login = reach.login.as_deref();
    let mut unknown: Vec<String> = Vec::new();
    let mut hosts: Vec<Host> = Vec::with_capacity(expanded.names.len());
    for name in expanded.names {
        let node = found.as_ref().and_then(|found| found.inventory.find(&name));
        hosts.push(match node {
            Some(node) => {
                // Where the name is the address, the ssh configuration may know another one.
                let address = Some(node.address.as_str()).filter(|address| *address != name);
                Host::new(&name, address, login.or(node.user.as_deref()), node.port)?
            }
            None => Host::new(&name, None, login, None)?,
        });
        if node.is_none() {
            unknown.push(name);
        }
    }
    if let Some(found) = &found {
        say_unknown(&found.inventory, &unknown);
    }
    Ok(Machines { hosts, found })
}

/// The same without the inventory.
pub fn hosts(expressions: &[String], args: &SelectArgs, reach: &ReachArgs) -> Result<Vec<Host>, CliError> {
    machines(expressions, args, reach).map(|machines| machines.hosts)
}

/// Says which names are of no node in the inventory.
pub fn say_unknown(inventory: &Inventory, unknown: &[String]) {
    let Some(first) = unknown.first() else { return };
    let names = fold(unknown.iter().map(String::as_str));
    let count = format::count(unknown.len(), "name");
    let hint = inventory.hint_for(first);
    out::say(&format!("note: {count} of no node in the inventory: {names} ({first}: {hint})"));
}

/// The names that all arguments together leave. Fails where none is left.
fn named(expressions: &[String], args: &SelectArgs, known: &Known) -> Result<Expanded, CliError> {
    let mut texts: Vec<String> = Vec::new();
    if !expressions.is_empty() {
        texts.push(expressions.join(","));
    }
    if let Some(path) = &args.file {
        texts.push(of_file(path)?);
    }
    let mut names = NameSet::default();
    let mut notes: Vec<RangeNote> = Vec::new();
    for text in &texts {
        let expanded = expand(text, known).map_err(|error| refused(text, &error))?;
        names.extend(expanded.names);
        notes.extend(expanded.notes);
    }
    for text in &args.intersect {
        let kept = expand(text, known).map_err(|error| refused(text, &error))?.names;
        names = names.filtered(|name| kept.contains(name));
    }
    for text in &args.exclude {
        let excluded = expand(text, known).map_err(|error| refused(text, &error))?.names;
        names = names.filtered(|name| !excluded.contains(name));
    }
    if names.is_empty() {
        let hint = "name others, or leave out less with -x and -i";
        return Err(CliError::usage("no machine is left").hint(hint));
    }
    Ok(Expanded { names, notes })
}

/// The expressions of a file, joined by commas.
fn of_file(path: &Path) -> Result<String, CliError> {
    let text = inventory::file(path)?;
    let words = text.lines().flat_map(|line| line.split('#').next().unwrap_or_default().split_whitespace());
    let joined = words.collect::<Vec<_>>().join(",");
    match joined.is_empty() {
        true => Err(CliError::data(format!("{}: no names in it", path.display()))),
        false => Ok(joined),
    }
}

/// The error of an expression, with the place in it.
fn refused(text: &str, error: &RangeError) -> CliError {
    let shown: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    CliError::usage(format!("`{shown}`: {error}")).hint(error.hint.clone())
}
