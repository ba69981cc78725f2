//! Inventories: what a file says of each node, what it may not say, and that writing has an inverse.

use std::time::{Duration, Instant};

use model::mutate::{Dice, mutate};
use model::toml_file::FileError;
use proptest::prelude::*;

use super::{Bmc, BmcKind, Fingerprint, Group, Inventory, Mac, Node, Role, Secret, Settings, read, write};
use crate::ranges::fold;

/// The cluster of the 2014 study, as one file.
const ATOMS: &str = r#"default_name = "atom%03d"
default_subnet = "192.168.5.0/24"
currency = "USD"

[defaults]
user = "root"
roles = ["server"]
bmc = { kind = "ipmi", user = "ADMIN", password_file = "~/.atom/ipmi_password.txt" }

[groups]
root = "atom[001-044]"
leaf1 = "atom[045-088]"
leaf2 = "atom[089-132]"
leaves = "@leaf1,@leaf2"

[[nodes]]
name = "atom[001-132]"
address = "192.168.3.1+132"
bmc = { address = "192.168.5.1+132" }

[[nodes]]
name = "mercury[1-3]cmm"
address = "192.168.5.133+3"
groups = ["chassis"]

[[nodes]]
name = "rcmaster"
roles = ["generator"]
price = "2000..2500"
watts = 95
rack = "r1"
position = 7
mac = "00:25:90:AB:CD:EF"
"#;

fn atoms() -> Inventory {
    read(ATOMS).expect("an inventory")
}

#[test]
fn a_file_of_30_lines_says_the_cluster_of_2014() {
    assert!(ATOMS.lines().filter(|line| !line.is_empty()).count() <= 30);
    let lab = atoms();
    assert_eq!(lab.nodes().len(), 132 + 3 + 1);
    let atom = lab.find("atom045").expect("a node");
    assert_eq!(
        (atom.address.as_str(), atom.user.as_deref(), &atom.roles[..]),
        ("192.168.3.45", Some("root"), &[Role::Server][..])
    );
    assert_eq!(atom.groups, ["leaf1", "leaves"]);
    let bmc = atom.bmc.as_ref().expect("a BMC");
    assert_eq!(
        (bmc.address.as_str(), bmc.kind, bmc.user.as_deref()),
        ("192.168.5.45", BmcKind::Ipmi, Some("ADMIN"))
    );
    assert_eq!(bmc.secret, Some(Secret::File("~/.atom/ipmi_password.txt".to_owned())));
    let master = lab.find("rcmaster").expect("a node");
    assert_eq!((master.address.as_str(), master.watts, master.position), ("rcmaster", Some(95.0), Some(7)));
    assert_eq!((&master.roles[..], master.bmc.is_none()), (&[Role::Generator][..], true));
    assert_eq!(master.mac, Some(Mac([0, 0x25, 0x90, 0xab, 0xcd, 0xef])));
}

#[test]
fn an_expression_selects_nodes_by_name_group_role_number_and_address() {
    let lab = atoms();
    for (text, names) in [
        ("1,5-7,10+3", "atom[001,005-007,010-012]"),
        (".1,5-7,10+3", "atom[001,005-007,010-012]"),
        ("192.168.3.44+2", "atom[044-045]"),
        ("@root&1-3", "atom[001-003]"),
        ("@role:generator,@rack:r1", "rcmaster"),
        ("mercury?cmm", "mercury[1-3]cmm"),
        ("@*!@leaves!@root!192.168.5.133", "mercury[2-3]cmm,rcmaster"),
    ] {
        let selection = lab.select(text).expect(text);
        assert_eq!(fold(selection.nodes.iter().map(|node| node.name.as_str())), names, "{text}");
        assert!(selection.unknown.is_empty());
    }
}

#[test]
fn a_name_that_is_no_node_is_kept_apart_and_refused_as_a_target() {
    let lab = atoms();
    let selection = lab.select("atom[131-134]").expect("names");
    assert_eq!(
        (selection.nodes.len(), selection.unknown),
        (2, vec!["atom133".to_owned(), "atom134".to_owned()])
    );
    assert_eq!(lab.targets("atom[131-132]").expect("nodes").len(), 2);
    let error = lab.targets("atom[131-134]").expect_err("no nodes");
    assert_eq!(error.what, "`atom133` is no node of the inventory (and 1 more)");
    assert_eq!(error.hint, "the inventory has atom[001-132]");
    let error = lab.targets("rcmastre").expect_err("no node");
    assert_eq!(error.hint, "did you mean `rcmaster`?");
}

fn refused(text: &str) -> FileError {
    read(text).map(|lab| lab.nodes().len()).expect_err(text)
}

#[test]
fn what_is_wrong_has_its_line_and_a_way_out() {
    let cases = [
        ("", 1, "there is no [[nodes]]", "name ="),
        ("[[nodes]]\nadress = \"a\"\n", 2, "unknown key `adress`", "did you mean `address`?"),
        ("defualts = 1\n", 1, "unknown key `defualts`", "did you mean `defaults`?"),
        ("[[nodes]]\naddress = \"a\"\n", 1, "`name` is missing", "name ="),
        ("[[nodes]]\nname = 5\n", 2, "name: not a value of it", "name ="),
        ("[[nodes]]\nname = \"a[1-3\"\n", 2, "column 2: the bracket is not closed", "add ]"),
        ("[[nodes]]\nname = \"$(reboot)\"\n", 2, "`$` has no place here", "names have"),
        ("[[nodes]]\nname = \"../etc\"\n", 2, "", ""),
        ("[[nodes]]\nname = \"a'b\"\n", 2, "has no place here", "names have"),
        ("[[nodes]]\nname = \"a\\nb\"\n", 2, "has no place here", "without blanks"),
        ("[[nodes]]\nname = \"a..b\"\n", 2, "`a..b` is no name", "a name has"),
        ("[[nodes]]\nname = \"a[1-3]\"\naddress = \"10.0.0.1+2\"\n", 3, "address: 2 values for 3", "as many"),
        (
            "[[nodes]]\nname = \"a[1-3]\"\naddress = \"10.0.0.254+3\"\n",
            3,
            "column 8: 256 is past the end",
            "1 to 254",
        ),
        ("[[nodes]]\nname = \"a\"\nuser = \"-oProxyCommand=x\"\n", 3, "user: no login", "a login has"),
        ("[[nodes]]\nname = \"a\"\nport = 0\n", 3, "port: 0 is not a whole number", "port = 22"),
        ("[[nodes]]\nname = \"a\"\nroles = [\"boss\"]\n", 3, "`boss` is no role", "generator, server"),
        ("[[nodes]]\nname = \"a\"\nprice = \"cheap\"\n", 3, "price: not a price", "429"),
        ("[[nodes]]\nname = \"a\"\nwatts = -3\n", 3, "watts: not a power", "watts = 12.5"),
        ("[[nodes]]\nname = \"a\"\nrack = \"R 1\"\n", 3, "rack: `R 1` is no name", "small letters"),
        ("[[nodes]]\nname = \"a\"\nposition = \"1+2\"\n", 3, "position: 2 values for 1", "as many"),
        ("[[nodes]]\nname = \"a\"\nmac = \"00:25\"\n", 3, "mac: `00:25`: a MAC address is", "00:25:90"),
        ("[[nodes]]\nname = \"a\"\nbmc = { address = \"b\" }\n", 3, "bmc: `kind` is missing", "ipmi"),
        (
            "[[nodes]]\nname = \"a\"\nbmc = { kind = \"ilo\", address = \"b\" }\n",
            3,
            "`ilo` is no kind",
            "ipmi, redfish",
        ),
        ("default_name = \"atom\"\n", 1, "default_name: no name", "atom%03d"),
        ("default_subnet = \"10.0.0.0/8\"\n", 1, "default_subnet: no network", "192.168.5.0/24"),
        (
            "[groups]\nx = \"a\"\n[[nodes]]\nname = \"b\"\n",
            2,
            "names `a`, which is no node",
            "nodes of this file",
        ),
        ("[groups]\nx = \"@y\"\ny = \"b\"\n[[nodes]]\nname = \"b\"\n", 2, "there is no group `@y`", ""),
        (
            "[groups]\n\"$(x)\" = \"b\"\n[[nodes]]\nname = \"b\"\n",
            2,
            "`$(x)` is no name of a group",
            "small letters",
        ),
    ];
    for (text, line, what, hint) in cases {
        let error = refused(text);
        assert_eq!(error.line, line, "{text}: {error}");
        assert!(
            error.what.contains(what) && error.hint.contains(hint) && !error.hint.is_empty(),
            "{text}: {error:?}"
        );
    }
}

#[test]
fn a_password_in_the_file_is_refused_and_never_shown() {
    let places = [
        "password = \"geheim\"",
        "bmc = { kind = \"ipmi\", address = \"b\", password = \"geheim\" }",
        "bmc = { kind = \"ipmi\", address = \"b\", password_env = \"ge-heim\" }",
        "bmc = { kind = \"ipmi\", address = \"b\", password_file = \"geheim\", password_env = \"X\" }",
        "bmc = { kind = \"ipmi\", address = \"b\", user = \"root:geheim\" }",
        "user = \"root:geheim\"",
    ];
    for place in places {
        let error = refused(&format!("[[nodes]]\nname = \"a\"\n{place}\n"));
        assert_eq!(error.line, 3, "{place}");
        assert!(!format!("{error:?}").contains("heim"), "{error:?}");
    }
    let error =
        refused("[[nodes]]\nname = \"a\"\nbmc = { kind = \"ipmi\", address = \"b\", password = \"x\" }\n");
    assert!(error.hint.contains("password_file") && error.hint.contains("0600"), "{error:?}");
}

#[test]
fn twins_are_refused_with_both_lines() {
    let two = |first: &str, second: &str| refused(&format!("[[nodes]]\n{first}\n[[nodes]]\n{second}\n"));
    for (first, second, what) in [
        ("name = \"a\"", "name = \"a\"", "the name a: lines 2 and 4"),
        ("name = \"a\"", "name = \"b\"\naddress = \"a\"", "the address a: lines 2 and 4"),
        (
            "name = \"a\"\nmac = \"00:25:90:ab:cd:ef\"",
            "name = \"b\"\nmac = \"00-25-90-AB-CD-EF\"",
            "the MAC address 00:25:90:ab:cd:ef: lines 2 and 5",
        ),
        (
            "name = \"a\"\nbmc = { kind = \"ipmi\", address = \"m\" }",
            "name = \"b\"\nbmc = { kind = \"ipmi\", address = \"m\" }",
            "the BMC address m: lines 2 and 5",
        ),
    ] {
        let error = two(first, second);
        assert!(error.what.contains(what), "{error}");
    }
    // Several sshd of one address are told apart by their ports.
    let ports = "[[nodes]]\nname = \"a\"\naddress = \"h\"\nport = 2201\n\
                 [[nodes]]\nname = \"b\"\naddress = \"h\"\nport = 2202\n";
    assert_eq!(read(ports).expect("two nodes").select("h").expect("both").nodes.len(), 2);
}

/// Groups with the names in them.
type Members = Vec<(String, Vec<String>)>;

/// The parts of an inventory that a file says, without the lines at which it says them.
fn said(lab: &Inventory) -> (Vec<Node>, Members, Settings) {
    let node = |node: &Node| {
        let mut groups = node.groups.clone();
        groups.sort();
        Node { line: 0, groups, ..node.clone() }
    };
    let mut groups: Vec<_> =
        lab.groups().iter().map(|group| (group.name.clone(), group.nodes.clone())).collect();
    groups.sort();
    (lab.nodes().iter().map(node).collect(), groups, lab.settings().clone())
}

#[test]
fn a_written_inventory_is_short_and_reads_the_same() {
    let lab = atoms();
    let text = write(&lab);
    assert_eq!(said(&read(&text).expect(&text)), said(&lab));
    assert!(text.lines().filter(|line| !line.is_empty()).count() <= 30, "{text}");
    assert!(text.contains("name = \"atom[001-132]\"\naddress = \"192.168.3.[1-132]\""), "{text}");
}

fn node() -> impl Strategy<Value = Node> {
    let bmc = (any::<bool>(), 0_u8..250, prop::option::of(1_u16..9), 0_u8..4).prop_map(
        |(kind, at, port, secret)| Bmc {
            kind: if kind { BmcKind::Ipmi } else { BmcKind::Redfish },
            address: format!("10.2.0.{}", at + 1),
            port,
            user: None,
            secret: match secret {
                0 => None,
                1 => Some(Secret::File("~/a \"b\"".to_owned())),
                2 => Some(Secret::Env("BMC".to_owned())),
                _ => Some(Secret::Cmd(vec!["pass".to_owned(), "a\\b".to_owned()])),
            },
            mac: None,
            fingerprints: (0..secret % 3).map(|byte| Fingerprint([byte; 32])).collect(),
        },
    );
    let numbers = (prop::option::of(1_u64..5), prop::option::of(1_u16..4), 0_usize..3, any::<bool>());
    ("[ab](0?[0-9])?m?", 0_u8..250, numbers, prop::option::of(bmc)).prop_map(|(name, at, numbers, bmc)| {
        let (position, port, groups, has_mac) = numbers;
        let mut node = Node::new(0, name, format!("10.1.0.{}", at + 1));
        node.groups = ["g1", "g2"].iter().take(groups).map(|group| (*group).to_owned()).collect();
        node.mac = has_mac.then_some(Mac([0, 1, 2, 3, 4, at]));
        Node { position, port, bmc, ..node }
    })
}

/// Nodes without twins, with the groups that they name.
fn inventory(nodes: Vec<Node>) -> Inventory {
    let mut kept: Vec<Node> = Vec::new();
    for node in nodes {
        kept.push(node);
        if Inventory::new(kept.clone(), Vec::new(), Settings::default()).is_err() {
            kept.pop();
        }
    }
    let members = |group: &str| -> Vec<String> {
        kept.iter()
            .filter(|node| node.groups.iter().any(|own| own == group))
            .map(|node| node.name.clone())
            .collect()
    };
    let groups =
        ["g1", "g2"].iter().map(|name| Group { line: 0, name: (*name).to_owned(), nodes: members(name) });
    let groups: Vec<Group> = groups.filter(|group| !group.nodes.is_empty()).collect();
    Inventory::new(kept, groups, Settings::default()).expect("no twins")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_written_inventory_reads_the_same(nodes in prop::collection::vec(node(), 1..30)) {
        let lab = inventory(nodes);
        let text = write(&lab);
        let back = read(&text);
        prop_assert_eq!(back.as_ref().map(said), Ok(said(&lab)), "{}", text);
    }
}

/// How long mutated files are read, in seconds; longer where BOXSCORE_FUZZ_SECONDS says so.
const FUZZ_SECONDS: u64 = 2;

#[test]
fn fuzz_inventories_are_read_or_refused_with_a_line_of_theirs() {
    let given = std::env::var("BOXSCORE_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let end = Instant::now() + Duration::from_secs(given.unwrap_or(FUZZ_SECONDS));
    let plants: [&[u8]; 8] =
        [b"[[nodes]]\n", b"name = \"", b"\"", b"{", b"[1-9]", b"\xff", b"password = \"x\"\n", b"$(x)"];
    let mut dice = Dice::new(9);
    while Instant::now() < end {
        let bytes = mutate(ATOMS.as_bytes(), &plants, &mut dice);
        let text = String::from_utf8_lossy(&bytes);
        match read(&text) {
            Ok(lab) => assert_eq!(said(&read(&write(&lab)).expect("the same")), said(&lab), "{text}"),
            Err(error) => {
                let lines = text.lines().count() + 1;
                assert!((1..=lines).contains(&error.line), "{error} of {lines} lines:\n{text}");
                assert!(!error.hint.is_empty(), "{error}");
            }
        }
    }
}
