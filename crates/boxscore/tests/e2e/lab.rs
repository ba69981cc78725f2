//! `boxscore lab` end to end: expressions with and without an inventory, lists of others, and a plan.

use model::doc::{LabImportDoc, LabNodesDoc, LabPlanDoc};

use crate::common::{Bench, Said, cannot};

const LAB: &str = r#"default_name = "atom%03d"
default_subnet = "192.168.5.0/24"

[groups]
sick = "atom[002-003]"

[[nodes]]
name = "atom[001-009]"
address = "192.168.3.1+9"
user = "root"
roles = ["server"]
bmc = { kind = "ipmi", address = "192.168.5.1+9", user = "ADMIN", password_file = "~/.bmc" }

[[nodes]]
name = "mercury[1-3]cmm"
"#;

fn bench() -> Bench {
    let bench = Bench::new();
    std::fs::write(bench.path("lab.toml"), LAB).expect("an inventory");
    bench
}

/// The program with no inventory but one in its folder.
fn lab(bench: &Bench, args: &[&str]) -> Said {
    let mut command = bench.command(&[&["lab"], args].concat());
    command.env("XDG_CONFIG_HOME", bench.path("config"));
    command.output().expect("it starts").into()
}

fn printed(bench: &Bench, args: &[&str]) -> String {
    lab(bench, args).expect(0, &[]).out
}

#[test]
fn nodes_are_shown_counted_folded_and_expanded() {
    let bench = bench();
    let said = lab(&bench, &["nodes", "@*"]).expect(0, &["inventory: ./lab.toml (12 nodes)"]);
    assert_eq!(
        said.out,
        "nodes            count  address          user  roles   groups  BMC\n\
         atom001              1  192.168.3.1      root  server          ipmi\n\
         atom[002-003]        2  192.168.3.[2-3]  root  server  sick    ipmi\n\
         atom[004-009]        6  192.168.3.[4-9]  root  server          ipmi\n\
         mercury[1-3]cmm      3  mercury[1-3]cmm\n"
    );
    for (args, out) in [
        (&["nodes", "1,5-7,8+2", "--fold"][..], "atom[001,005-009]\n"),
        (&["nodes", ".1,5-7,8+2", "--fold"], "atom[001,005-009]\n"),
        (&["nodes", "mercury?cmm", "--count"], "3\n"),
        (&["nodes", "3", "1", "--expand"], "atom003\natom001\n"),
        (&["nodes", "@*!@sick&atom*", "--fold"], "atom[001,004-009]\n"),
        (&["nodes", "@*", "-x", "@sick", "-i", "atom*", "--fold"], "atom[001,004-009]\n"),
        (&["nodes", "a[1-3]!a2", "--fold"], "a[1,3]\n"),
    ] {
        assert_eq!(printed(&bench, args), out, "{args:?}");
    }
}

#[test]
fn names_come_from_a_file_and_the_inventory_from_the_configuration_directory() {
    let bench = Bench::new();
    let said = lab(&bench, &["nodes", "a[1-2]"]).expect(0, &["inventory: none (no ./lab.toml, no "]);
    assert_eq!(said.out, "a[1-2]\n");
    std::fs::create_dir_all(bench.path("config/boxscore")).expect("a folder");
    std::fs::write(bench.path("config/boxscore/lab.toml"), LAB).expect("an inventory");
    std::fs::write(bench.path("names"), "atom001 atom004 # two\n5-6\n\n# none\n").expect("names");
    let said =
        lab(&bench, &["nodes", "-f", "names", "--fold"]).expect(0, &["config/boxscore/lab.toml (12 nodes)"]);
    assert_eq!(said.out, "atom[001,004-006]\n");
    std::fs::write(bench.path("other.toml"), "[[nodes]]\nname = \"b1\"\n").expect("an inventory");
    let said = lab(&bench, &["nodes", "@*", "--fold", "--inventory", "other.toml"])
        .expect(0, &["other.toml (1 node)"]);
    assert_eq!(said.out, "b1\n");
}

#[test]
fn an_expression_that_is_wrong_or_empty_is_a_usage_error() {
    let bench = bench();
    for (args, says) in [
        (&["nodes", "atom[1-5"][..], &["`atom[1-5`: column 5: the bracket is not closed", "hint: add ]"][..]),
        (&["nodes", ""], &["column 1: the expression is empty"]),
        (&["nodes", "a", "", "b"], &["column 3: nothing stands between"]),
        (&["nodes", "@sik"], &["there is no group `@sik`", "did you mean `@sick`?"]),
        (&["nodes", "atom002-005"], &["atom[002-005]"]),
        (&["nodes", "atom001!atom001"], &["nothing is left"]),
        (&["nodes", "atom001", "-x", "atom001"], &["no machine is left"]),
        (&["nodes", "-x", "@sick"], &["<EXPR>"]),
    ] {
        let said = lab(&bench, args).expect(2, says);
        assert_eq!(said.out, "", "{args:?}");
    }
    lab(&bench, &["nodes", "atom[008-012]", "--count"])
        .expect(0, &["note: 3 names of no node in the inventory: atom[010-012]"]);
    lab(&bench, &["nodes", "atom[1-3]!atom2,atom2"])
        .expect(0, &["note: atom2 was excluded and is named again"]);
    std::fs::write(bench.path("lab.toml"), LAB.replace("password_file", "password")).expect("an inventory");
    let said = lab(&bench, &["nodes", "@*"])
        .expect(1, &["./lab.toml:12: a password does not stand", "password_file"]);
    assert!(!said.err.contains("~/.bmc"), "{}", said.err);
}

#[test]
fn the_document_has_the_nodes_and_no_secret() {
    let bench = bench();
    let text = printed(&bench, &["nodes", "atom003,x", "--json"]);
    let doc: LabNodesDoc = serde_json::from_str(&text).expect("a document");
    assert_eq!(
        (doc.count, doc.names, doc.unknown),
        (2, vec!["atom003".to_owned(), "x".to_owned()], vec!["x".to_owned()])
    );
    let node = &doc.nodes[0];
    assert_eq!((node.address.as_str(), node.groups.join(",")), ("192.168.3.3", "sick".to_owned()));
    assert_eq!(node.bmc.as_ref().map(|bmc| bmc.address.as_str()), Some("192.168.5.3"));
    assert!(!text.contains("password") && !text.contains(".bmc"), "{text}");
    lab(&bench, &["nodes", "a[", "--json"]).expect(2, &[]);
}

#[test]
fn a_list_of_others_becomes_an_inventory() {
    let bench = Bench::new();
    std::fs::write(bench.path("hosts.ini"), "[web]\nweb[01:03] ansible_user=root ansible_password=geheim\n")
        .expect("a list");
    let said = lab(&bench, &["import", "hosts.ini"]).expect(0, &["left out: passwords"]);
    assert_eq!(
        said.out,
        "[groups]\nweb = \"web[01-03]\"\n\n[[nodes]]\nname = \"web[01-03]\"\nuser = \"root\"\n"
    );
    assert!(!said.err.contains("geheim"));
    std::fs::write(bench.path("lab.toml"), &said.out).expect("an inventory");
    assert_eq!(printed(&bench, &["nodes", "@web", "--fold"]), "web[01-03]\n");
    let doc: LabImportDoc =
        serde_json::from_str(&printed(&bench, &["import", "hosts.ini", "--json"])).expect("a document");
    assert_eq!((doc.form.as_str(), doc.count, doc.toml), ("ansible-ini", 3, said.out));
    std::fs::write(bench.path("list"), "hello\n").expect("a list");
    lab(&bench, &["import", "list"]).expect(1, &["its form is not known", "--format"]);
    lab(&bench, &["import", "list", "--format", "hosts"]).expect(1, &["list:1: there is no machine in it"]);
    lab(&bench, &["import", "none"]).expect(1, &["none: "]);
}

const PLAN: &str = r#"subnets = [
    { name = "os", network = "10.3.0.0/24", usage = "first ports" },
    { name = "management", network = "10.5.0.0/24" },
]
[[hosts]]
name = "atom[001-004]"
subnet = "os"
bmc = { suffix = "m", subnet = "management" }
[[chassis]]
name = "mercury[1-2]"
slots = 2
managers = ["cmm"]
subnet = "management"
"#;

#[test]
fn a_plan_is_shown_written_and_kept() {
    let bench = Bench::new();
    std::fs::write(bench.path("plan.toml"), PLAN).expect("a plan");
    assert_eq!(
        printed(&bench, &["plan", "plan.toml"]),
        "network      name        addresses  free\n\
         10.3.0.0/24  os                  4   250  first ports\n\
         10.5.0.0/24  management          6   248\n\n\
         port         mercury1        mercury2        subnet\n\
         host         atom[001-002]   atom[003-004]   os\n\
         BMC m        atom[001-002]m  atom[003-004]m  management\n\
         manager cmm  mercury1cmm     mercury2cmm     management\n"
    );
    let hosts = printed(&bench, &["plan", "plan.toml", "--format", "hosts"]);
    assert!(hosts.contains("10.5.0.5        mercury1cmm\n"), "{hosts}");
    lab(&bench, &["plan", "plan.toml", "--out", "net"]).expect(0, &["wrote net/hosts, net/dnsmasq.conf"]);
    std::fs::write(
        bench.path("plan.toml"),
        PLAN.replace("[001-004]", "[000-004]").replace("slots = 2", "slots = 3"),
    )
    .expect("a plan");
    lab(&bench, &["plan", "plan.toml", "--out", "net"]).expect(0, &[]);
    let doc: LabPlanDoc =
        serde_json::from_str(&printed(&bench, &["plan", "plan.toml", "--keep", "net/plan.csv", "--json"]))
            .expect("a document");
    let address = |name: &str| doc.rows.iter().find(|row| row.name == name).map(|row| row.address.clone());
    assert_eq!(
        [address("atom001"), address("atom000")],
        [Some("10.3.0.1".to_owned()), Some("10.3.0.5".to_owned())]
    );
    assert_eq!(
        [address("mercury1cmm"), address("atom000m")],
        [Some("10.5.0.5".to_owned()), Some("10.5.0.7".to_owned())]
    );
    let said = lab(&bench, &["nodes", "@*", "--count", "--inventory", "net/lab.toml"]).expect(0, &[]);
    assert_eq!(said.out, "7\n");
    // A file that somebody wrote stays.
    std::fs::write(bench.path("net/lab.toml"), LAB).expect("an inventory");
    lab(&bench, &["plan", "plan.toml", "--out", "net"])
        .expect(1, &["net/lab.toml is there and was not made"]);
    assert_eq!(std::fs::read_to_string(bench.path("net/lab.toml")).expect("a file"), LAB);
    std::fs::write(bench.path("plan.toml"), PLAN.replace("10.5.0.0/24", "10.3.0.128/25")).expect("a plan");
    lab(&bench, &["plan", "plan.toml"])
        .expect(1, &["plan.toml:3: os (10.3.0.0/24) and management", "overlap"]);
}

/// Runs a program of others on a file of the plan; `None` where it is not installed.
fn checked(bench: &Bench, program: &str, args: &[&str]) -> Option<Said> {
    let output = std::process::Command::new(program).args(args).current_dir(bench.dir.path()).output();
    output.ok().map(Said::from)
}

#[test]
fn the_programs_that_the_files_are_for_accept_them() {
    let bench = Bench::new();
    std::fs::write(bench.path("plan.toml"), format!("user = \"root\"\ndomain = \"lab\"\n{PLAN}"))
        .expect("a plan");
    std::fs::write(
        bench.path("macs.csv"),
        "name,mac\natom001,00:25:90:00:00:01\natom001m,00:25:90:00:00:02\n",
    )
    .expect("addresses");
    lab(&bench, &["plan", "plan.toml", "--macs", "macs.csv", "--out", "net"]).expect(0, &[]);
    match checked(&bench, "/usr/sbin/dnsmasq", &["--test", "-C", "net/dnsmasq.conf"]) {
        Some(said) => drop(said.expect(0, &["syntax check OK"])),
        None => cannot("dnsmasq is not installed"),
    }
    match checked(&bench, "ssh", &["-G", "-F", "net/ssh_config", "atom003"]) {
        Some(said) => {
            let said = said.expect(0, &[]);
            for line in ["hostname 10.3.0.3", "user root"] {
                assert!(said.out.lines().any(|own| own == line), "no `{line}` in {}", said.out);
            }
        }
        None => cannot("ssh is not installed"),
    }
}
