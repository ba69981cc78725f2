//! Screens of `boxscore lab`: nodes that are alike share a line, and so do the names of a plan.

use model::doc::{LabNodeDoc, LabNodesDoc, LabPlanDoc};
use model::format;

use super::grid::{Align, Cell, Grid};
use super::{Look, cut, width};

/// The nodes of an expression as a table, with the columns that one of them has a value for; names without a node
/// behind it. Where a screen is narrow, the last columns are left out and named: names are never cut.
pub fn nodes(doc: &LabNodesDoc, fold: &dyn Fn(&[&str]) -> String, look: &Look) -> String {
    let mut groups: Vec<(Vec<String>, Vec<&LabNodeDoc>)> = Vec::new();
    for node in &doc.nodes {
        let cells = shared(node, doc);
        match groups.last_mut().filter(|(own, _)| *own == cells) {
            Some((_, nodes)) => nodes.push(node),
            None => groups.push((cells, vec![node])),
        }
    }
    let is_used =
        |at: &usize| groups.iter().any(|(cells, _)| cells.get(*at).is_some_and(|cell| !cell.is_empty()));
    let used: Vec<usize> = (0..SHARED.len()).filter(is_used).collect();
    let room = if look.cuts { look.columns } else { usize::MAX };
    let mut shown = used.as_slice();
    let mut grid = table(&groups, shown, fold);
    while let ([rest @ .., _], true) = (shown, grid.width() > room) {
        shown = rest;
        grid = table(&groups, shown, fold);
    }
    let mut out = if groups.is_empty() { String::new() } else { grid.render(usize::MAX, false) };
    let left_out: Vec<&str> = used.iter().skip(shown.len()).map(|at| SHARED[*at]).collect();
    if !left_out.is_empty() {
        out.push_str(&format!("no room for: {} (a wider screen or --json has them)\n", left_out.join(", ")));
    }
    if !doc.unknown.is_empty() {
        let names = fold(&doc.unknown.iter().map(String::as_str).collect::<Vec<_>>());
        out.push_str(&format!(
            "{names}  {}, of which nothing is known\n",
            format::count(doc.unknown.len(), "name")
        ));
    }
    out
}

/// A row for each group, with these of the shared columns.
fn table(
    groups: &[(Vec<String>, Vec<&LabNodeDoc>)],
    shown: &[usize],
    fold: &dyn Fn(&[&str]) -> String,
) -> Grid {
    let mut heads = vec![("nodes", Align::Left), ("count", Align::Right), ("address", Align::Left)];
    heads.extend(shown.iter().map(|at| (SHARED[*at], Align::Left)));
    let mut grid = Grid::new(&heads);
    for (cells, nodes) in groups {
        let names = fold(&nodes.iter().map(|node| node.name.as_str()).collect::<Vec<_>>());
        let addresses = fold(&nodes.iter().map(|node| node.address.as_str()).collect::<Vec<_>>());
        let mut row = vec![Cell::from(names), Cell::from(nodes.len().to_string()), Cell::from(addresses)];
        row.extend(shown.iter().filter_map(|at| cells.get(*at)).map(|cell| Cell::from(cell.clone())));
        grid.row(row);
    }
    grid
}

const SHARED: [&str; 8] = ["user", "port", "roles", "groups", "rack", "BMC", "price", "watts"];

/// The cells of a node that others may share.
fn shared(node: &LabNodeDoc, doc: &LabNodesDoc) -> Vec<String> {
    let price = node.price.as_ref().map(|price| match &node.currency {
        Some(currency) => format!("{price} {currency}"),
        None => price.clone(),
    });
    // A port beside the login is told where it is not the same everywhere.
    let ports = doc.nodes.iter().any(|other| other.port != node.port);
    let port = node.port.filter(|port| ports || *port != 22);
    vec![
        node.user.clone().unwrap_or_default(),
        port.map(|port| port.to_string()).unwrap_or_default(),
        node.roles.join(","),
        node.groups.join(","),
        node.rack.clone().unwrap_or_default(),
        node.bmc.as_ref().map(|bmc| bmc.kind.clone()).unwrap_or_default(),
        price.unwrap_or_default(),
        node.watts.map(|watts| format!("{watts}")).unwrap_or_default(),
    ]
}

/// A plan: its subnets, then the names of all ports by chassis. Names are never cut, what a subnet is for may be.
pub fn plan(doc: &LabPlanDoc, look: &Look) -> String {
    let room = if look.cuts { look.columns } else { usize::MAX };
    let mut subnets = subnet_table(doc, usize::MAX);
    let over = subnets.width().saturating_sub(room);
    if over > 0 {
        let longest = doc.subnets.iter().map(|subnet| width(&subnet.usage)).max().unwrap_or(0);
        subnets = subnet_table(doc, longest.saturating_sub(over));
    }
    format!("{}\n{}", subnets.render(usize::MAX, false), port_table(doc).render(usize::MAX, false))
}

/// The subnets; what each is for has at most so many letters.
fn subnet_table(doc: &LabPlanDoc, most: usize) -> Grid {
    let mut subnets = Grid::new(&[
        ("network", Align::Left),
        ("name", Align::Left),
        ("addresses", Align::Right),
        ("free", Align::Right),
        ("", Align::Left),
    ]);
    for subnet in &doc.subnets {
        let state = if subnet.in_use { " in use" } else { "" };
        subnets.row(vec![
            Cell::from(subnet.network.clone()),
            Cell::from(subnet.name.clone()),
            Cell::from(format!("{}{state}", subnet.addresses)),
            Cell::from(subnet.free.to_string()),
            Cell::from(cut(&subnet.usage, most)),
        ]);
    }
    subnets
}

fn port_table(doc: &LabPlanDoc) -> Grid {
    let others = doc.ports.iter().any(|port| port.names.last().is_some_and(|names| !names.is_empty()));
    let mut heads = vec![("port", Align::Left)];
    heads.extend(doc.chassis.iter().map(|chassis| (chassis.as_str(), Align::Left)));
    if others {
        heads.push((if doc.chassis.is_empty() { "names" } else { "in no chassis" }, Align::Left));
    }
    heads.push(("subnet", Align::Left));
    let mut ports = Grid::new(&heads);
    for port in &doc.ports {
        let kind = match port.kind.as_str() {
            "host" => "host".to_owned(),
            "bmc" => format!("BMC {}", port.suffix),
            kind => format!("{kind} {}", port.suffix),
        };
        let mut row = vec![Cell::from(kind)];
        let shown = if others { port.names.len() } else { doc.chassis.len() };
        row.extend(port.names.iter().take(shown).map(|names| Cell::from(names.clone())));
        row.push(Cell::from(port.subnet.clone()));
        ports.row(row);
    }
    ports
}

#[cfg(test)]
mod tests {
    use model::doc::{LabPortDoc, LabSubnetDoc};

    use super::*;

    fn node(name: &str, roles: &[&str]) -> LabNodeDoc {
        LabNodeDoc {
            name: name.to_owned(),
            address: format!("{name}.lab"),
            user: None,
            port: None,
            roles: roles.iter().map(|role| (*role).to_owned()).collect(),
            groups: Vec::new(),
            price: Some("429".to_owned()),
            currency: Some("USD".to_owned()),
            watts: None,
            rack: None,
            position: None,
            mac: None,
            bmc: None,
        }
    }

    #[test]
    fn nodes_that_are_alike_share_a_line() {
        let doc = LabNodesDoc {
            schema: String::new(),
            inventory: None,
            count: 4,
            folded: String::new(),
            names: Vec::new(),
            nodes: vec![node("a1", &["server"]), node("a2", &["server"]), node("b", &[])],
            unknown: vec!["x".to_owned()],
            notes: Vec::new(),
        };
        let set = |columns: usize| {
            let look = Look { cuts: true, ..Look::wide(columns) };
            nodes(&doc, &|names| names.join("+"), &look)
        };
        assert_eq!(
            set(80),
            "nodes  count  address        roles   price\n\
             a1+a2      2  a1.lab+a2.lab  server  429 USD\n\
             b          1  b.lab                  429 USD\n\
             x  1 name, of which nothing is known\n"
        );
        assert_eq!(
            set(40),
            "nodes  count  address        roles\n\
             a1+a2      2  a1.lab+a2.lab  server\n\
             b          1  b.lab\n\
             no room for: price (a wider screen or --json has them)\n\
             x  1 name, of which nothing is known\n"
        );
    }

    #[test]
    fn a_plan_shows_subnets_and_names_by_chassis() {
        let doc = LabPlanDoc {
            schema: String::new(),
            domain: None,
            subnets: vec![LabSubnetDoc {
                network: "10.0.0.0/24".to_owned(),
                name: "os".to_owned(),
                addresses: 2,
                free: 252,
                in_use: false,
                usage: "eth0".to_owned(),
            }],
            chassis: vec!["m1".to_owned(), "m2".to_owned()],
            ports: vec![LabPortDoc {
                kind: "bmc".to_owned(),
                suffix: "m".to_owned(),
                subnet: "os".to_owned(),
                names: vec!["a1m".to_owned(), "a2m".to_owned(), String::new()],
            }],
            rows: Vec::new(),
            notes: Vec::new(),
            paths: Vec::new(),
        };
        assert_eq!(
            plan(&doc, &Look::wide(80)),
            "network      name  addresses  free\n10.0.0.0/24  os            2   252  eth0\n\n\
             port   m1   m2   subnet\nBMC m  a1m  a2m  os\n"
        );
    }
}
