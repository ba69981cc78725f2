//! `boxscore lab nodes`: the machines that an expression names, by the inventory where there is one.

use std::path::{Path, PathBuf};

use lab::inventory::{Inventory, Node, price_text};
use lab::ranges::{Expanded, Known, NameSet, RangeError, RangeNote, expand, fold};
use model::doc::{LabBmcDoc, LabNodeDoc, LabNodesDoc};
use model::format;

use crate::cli::Global;
use crate::error::CliError;
use crate::lookup::inventory::{self, Found};
use crate::lookup::paths;
use crate::out;

const AFTER: &str = "\
Examples:
  boxscore lab nodes '@*'                       all machines of the inventory
  boxscore lab nodes 'atom[001-044,100]!@sick'  a range and a number, without a group
  boxscore lab nodes 1,5-7,10+3 --fold          numbers of the default name; 10+3 is 10, 11, 12
  boxscore lab nodes '@leaf1&@role:server' --count
  boxscore lab nodes atom001+44 -x @sick        without quotation marks; -i EXPR is in both
  boxscore lab nodes -f names.txt --expand
Operators work from left to right: a,b or, a!b without, a&b in both, a^b in one of them.
In a shell, ! & ^ * ? [ ( need quotation marks. In xCAT, 10+3 is four: 10 to 13.";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER)]
pub struct NodesArgs {
    /// Names, ranges and groups; several words are joined by commas
    #[arg(value_name = "EXPR", required_unless_present = "file")]
    pub expressions: Vec<String>,
    /// Print how many there are
    #[arg(long, conflicts_with_all = ["fold", "expand"])]
    pub count: bool,
    /// Print the shortest expression that names them
    #[arg(long, conflicts_with = "expand")]
    pub fold: bool,
    /// Print their names, one a line
    #[arg(long)]
    pub expand: bool,
    /// Leave these out; repeatable
    #[arg(short = 'x', long = "exclude", value_name = "EXPR")]
    pub exclude: Vec<String>,
    /// Keep only those that are also in this; repeatable
    #[arg(short = 'i', long = "intersect", value_name = "EXPR")]
    pub intersect: Vec<String>,
    /// Also the expressions of a file, between blanks or line ends; # begins a remark
    #[arg(short = 'f', long = "file", value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// The inventory [default: ./lab.toml, else boxscore/lab.toml in the XDG configuration directory]
    #[arg(long, value_name = "FILE")]
    pub inventory: Option<PathBuf>,
}

pub fn run(args: &NodesArgs, global: &Global) -> Result<u8, CliError> {
    let found = inventory::find(args.inventory.as_deref())?;
    say_source(found.as_ref());
    let nothing = Known::default();
    let known = found.as_ref().map_or(&nothing, |found| found.inventory.known());
    let expanded = named(args, known)?;
    let document = document(found.as_ref(), expanded);
    if global.json {
        out::json(&document);
        return Ok(0);
    }
    for note in &document.notes {
        out::say(&format!("note: {note}"));
    }
    if let Some(found) = &found {
        say_unknown(&found.inventory, &document);
    }
    if args.count {
        out::print(&format!("{}\n", document.count));
    } else if args.fold || (!args.expand && document.nodes.is_empty()) {
        out::print(&format!("{}\n", document.folded));
    } else if args.expand {
        out::print(&document.names.iter().map(|name| format!("{name}\n")).collect::<String>());
    } else {
        let folded = |names: &[&str]| fold(names.iter().copied());
        out::print(&report::text::lab::nodes(&document, &folded, &out::look()));
    }
    Ok(0)
}

/// Says which inventory was read, or where one was looked for.
fn say_source(found: Option<&Found>) {
    match found {
        Some(found) => out::say(&found.sentence()),
        None => {
            let places: Vec<String> = inventory::usual().iter().map(|path| paths::tilde(path)).collect();
            out::say(&format!("inventory: none (no {})", places.join(", no ")));
        }
    }
}

fn say_unknown(inventory: &Inventory, document: &LabNodesDoc) {
    let Some(first) = document.unknown.first() else { return };
    let names = fold(document.unknown.iter().map(String::as_str));
    let count = format::count(document.unknown.len(), "name");
    let hint = inventory.hint_for(first);
    out::say(&format!("note: {count} of no node in the inventory: {names} ({first}: {hint})"));
}

/// The names that all arguments together leave. Fails where none is left.
fn named(args: &NodesArgs, known: &Known) -> Result<Expanded, CliError> {
    let mut texts: Vec<String> = Vec::new();
    if !args.expressions.is_empty() {
        texts.push(args.expressions.join(","));
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
pub fn refused(text: &str, error: &RangeError) -> CliError {
    let shown: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    CliError::usage(format!("`{shown}`: {error}")).hint(error.hint.clone())
}

fn document(found: Option<&Found>, expanded: Expanded) -> LabNodesDoc {
    let notes = expanded.notes.iter().map(ToString::to_string).collect();
    let folded = fold(expanded.names.iter());
    let names: Vec<String> = expanded.names.iter().map(str::to_owned).collect();
    let (nodes, unknown) = match found {
        Some(Found { inventory, .. }) => {
            let selection = inventory.selection(expanded);
            let currency = inventory.settings().currency.as_deref();
            (selection.nodes.iter().map(|node| node_doc(node, currency)).collect(), selection.unknown)
        }
        None => (Vec::new(), names.clone()),
    };
    LabNodesDoc {
        schema: "boxscore.lab-nodes/1".to_owned(),
        inventory: found.map(|found| found.path.display().to_string()),
        count: names.len() as u64,
        folded,
        names,
        nodes,
        unknown,
        notes,
    }
}

fn node_doc(node: &Node, currency: Option<&str>) -> LabNodeDoc {
    let bmc = node.bmc.as_ref().map(|bmc| LabBmcDoc {
        kind: bmc.kind.word().to_owned(),
        address: bmc.address.clone(),
        port: bmc.port,
        user: bmc.user.clone(),
        mac: bmc.mac.map(|mac| mac.to_string()),
    });
    LabNodeDoc {
        name: node.name.clone(),
        address: node.address.clone(),
        user: node.user.clone(),
        port: node.port,
        roles: node.roles.iter().map(|role| role.word().to_owned()).collect(),
        groups: node.groups.clone(),
        price: node.price.as_ref().map(price_text),
        currency: currency.filter(|_| node.price.is_some()).map(str::to_owned),
        watts: node.watts,
        rack: node.rack.clone(),
        position: node.position,
        mac: node.mac.map(|mac| mac.to_string()),
        bmc,
    }
}
