//! `boxscore lab nodes`: the machines that an expression names, by the inventory where there is one.

use lab::inventory::{Node, price_text};
use lab::ranges::{Expanded, fold};
use model::doc::{LabBmcDoc, LabNodeDoc, LabNodesDoc};

use super::select::SelectArgs;
use crate::cli::Global;
use crate::error::CliError;
use crate::fleet::select::{self, Selected};
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
    #[command(flatten)]
    pub select: SelectArgs,
}

pub fn run(args: &NodesArgs, global: &Global) -> Result<u8, CliError> {
    let Selected { found, expanded } = select::select(&args.expressions, &args.select)?;
    if found.is_none() {
        let places: Vec<String> = inventory::usual().iter().map(|path| paths::tilde(path)).collect();
        out::say(&format!("inventory: none (no {})", places.join(", no ")));
    }
    let document = document(found.as_ref(), expanded);
    if global.json {
        out::json(&document);
        return Ok(0);
    }
    for note in &document.notes {
        out::say(&format!("note: {note}"));
    }
    if let Some(found) = &found {
        select::say_unknown(&found.inventory, &document.unknown);
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
