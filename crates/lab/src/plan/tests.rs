//! Plans: the address plan of the 2014 study, what a later plan keeps, what is refused, and the files.

use super::{
    Earlier, Plan, PlanNote, Row, RowKind, ansible, csv, dnsmasq, earlier, hosts, is_made, lab_file, macs,
    plan, read, ssh,
};
use crate::bmc::cards::Cards;
use crate::import::{Form, import};
use crate::inventory;
use crate::ranges::fold;

/// The plan of the 132 servers of 2014 as a file.
pub const ATOMS: &str = r#"# 132 Atom servers in three chassis, beside a cluster of 88.
user = "root"
subnets = [
    { name = "rc**", network = "192.168.0.0/24", used = 176, usage = "Both OS port and IPMI port on each server" },
    { name = "infiniband", network = "192.168.1.0/24", used = 88, usage = "IP address for Infiniband" },
    { name = "inf eth", network = "192.168.2.0/24", used = 88, usage = "10G Ethernet on Infiniband card" },
    { name = "atom***", network = "192.168.3.0/24", usage = "OS port (eth0) of ATOM server" },
    { name = "atom***a", network = "192.168.4.0/24", usage = "Eth1 of ATOM server (for future use)" },
    { name = "atom management", network = "192.168.5.0/24", usage = "MMC of servers, CMMs and ONS of chassis" },
]

[[hosts]]
name = "atom[001-132]"
subnet = "atom***"
nics = { a = "atom***a" }
bmc = { suffix = "m", subnet = "atom management", user = "ADMIN" }

[[chassis]]
name = "mercury[1-3]"
slots = 44
managers = ["cmm", "cms", "onm", "ons"]
subnet = "atom management"
"#;

/// The table of subnets as the study prints it: network, name, number of addresses, usage. Of the last one the study
/// writes `192.168.5/25`, which has room for 126 of its 144 addresses; the others are /24, and so is this one here.
const STUDY_SUBNETS: [(&str, &str, u64, &str); 6] = [
    ("192.168.0.0/24", "rc**", 176, "Both OS port and IPMI port on each server"),
    ("192.168.1.0/24", "infiniband", 88, "IP address for Infiniband"),
    ("192.168.2.0/24", "inf eth", 88, "10G Ethernet on Infiniband card"),
    ("192.168.3.0/24", "atom***", 132, "OS port (eth0) of ATOM server"),
    ("192.168.4.0/24", "atom***a", 132, "Eth1 of ATOM server (for future use)"),
    ("192.168.5.0/24", "atom management", 132 + 12, "MMC of servers, CMMs and ONS of chassis"),
];

/// The study's names of the ports, for each chassis: the first and the last server, or the manager.
const STUDY_PORTS: [(&str, [&str; 3]); 7] = [
    ("", ["atom001 to atom044", "atom045 to atom088", "atom089 to atom132"]),
    ("m", ["atom001m to atom044m", "atom045m to atom088m", "atom089m to atom132m"]),
    ("cmm", ["mercury1cmm", "mercury2cmm", "mercury3cmm"]),
    ("cms", ["mercury1cms", "mercury2cms", "mercury3cms"]),
    ("onm", ["mercury1onm", "mercury2onm", "mercury3onm"]),
    ("ons", ["mercury1ons", "mercury2ons", "mercury3ons"]),
    ("a", ["atom001a to atom044a", "atom045a to atom088a", "atom089a to atom132a"]),
];

fn planned(text: &str) -> Plan {
    plan(read(text).unwrap_or_else(|error| panic!("{error}")), &Earlier::default()).expect("a plan")
}

fn row<'p>(plan: &'p Plan, name: &str) -> &'p Row {
    plan.rows.iter().find(|row| row.name == name).unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn the_address_plan_of_2014_from_a_file_of_30_lines_is_the_studys() {
    assert!(ATOMS.lines().count() <= 30, "{}", ATOMS.lines().count());
    let plan = planned(ATOMS);
    for (at, (subnet, (network, name, count, usage))) in plan.subnets.iter().zip(STUDY_SUBNETS).enumerate() {
        let own = plan.rows.iter().filter(|row| row.subnet == at).count() as u64;
        let counted = subnet.used.unwrap_or(own);
        assert_eq!(
            (subnet.to_string().as_str(), subnet.name.as_str(), counted, subnet.usage.as_str()),
            (network, name, count, usage)
        );
    }
    assert_eq!((plan.subnets.len(), plan.chassis.join(" ")), (6, "mercury1 mercury2 mercury3".to_owned()));
    for (suffix, names) in STUDY_PORTS {
        for (chassis, wanted) in plan.chassis.iter().zip(names) {
            let own =
                plan.rows.iter().filter(|row| row.suffix == suffix && row.chassis.as_ref() == Some(chassis));
            let names: Vec<&str> = own.map(|row| row.name.as_str()).collect();
            let shown = match names.as_slice() {
                [one] => (*one).to_owned(),
                [first, .., last] => {
                    assert_eq!(names.len(), 44);
                    format!("{first} to {last}")
                }
                [] => String::new(),
            };
            assert_eq!(shown, wanted);
        }
    }
    assert_eq!(plan.rows.len(), 3 * 132 + 12);
    // Names and addresses of every server, and the controls behind the last of them.
    for number in 1..=132 {
        for (suffix, network) in [("", 3), ("a", 4), ("m", 5)] {
            let name = format!("atom{number:03}{suffix}");
            assert_eq!(row(&plan, &name).address.to_string(), format!("192.168.{network}.{number}"));
        }
    }
    let managers: Vec<String> = plan
        .rows
        .iter()
        .filter(|row| row.kind == RowKind::Manager)
        .map(|row| row.address.to_string())
        .collect();
    assert_eq!(fold(managers.iter().map(String::as_str)), "192.168.5.[133-144]");
    let last = row(&plan, "atom132");
    assert_eq!((last.chassis.as_deref(), last.slot), (Some("mercury3"), Some(44)));
}

#[test]
fn the_subnet_of_126_addresses_that_the_study_writes_is_refused() {
    let small = ATOMS.replace("192.168.5.0/24", "192.168.5.0/25");
    let error = plan(read(&small).expect("rules"), &Earlier::default()).expect_err("overflow");
    assert_eq!(
        error.to_string(),
        "9: atom management (192.168.5.0/25) has 126 addresses, and 144 are asked for"
    );
}

#[test]
fn addresses_are_kept_when_nodes_are_added() {
    let before = planned(ATOMS);
    let kept = earlier(&csv(&before)).expect("its own table");
    let larger = ATOMS.replace("atom[001-132]", "atom[000-140]").replace("mercury[1-3]", "mercury[1-4]");
    let after = plan(read(&larger).expect("rules"), &kept).expect("a plan");
    for row_before in &before.rows {
        assert_eq!(row(&after, &row_before.name).address, row_before.address, "{}", row_before.name);
    }
    assert_eq!(row(&after, "atom000").address.to_string(), "192.168.3.133");
    assert_eq!(row(&after, "atom000m").address.to_string(), "192.168.5.145");
    let addresses: std::collections::HashSet<_> = after.rows.iter().map(|row| row.address).collect();
    assert_eq!((addresses.len(), after.notes.len()), (after.rows.len(), 0));
    // Without the table, new names in front move the others.
    let fresh = planned(&larger);
    assert_ne!(row(&fresh, "atom001").address, row(&before, "atom001").address);
}

#[test]
fn names_that_went_or_moved_are_told() {
    let kept = earlier(&csv(&planned(ATOMS))).expect("its own table");
    let other = ATOMS.replace("atom[001-132]", "atom[001-131]").replace("192.168.4.0/24", "192.168.6.0/24");
    let after = plan(read(&other).expect("rules"), &kept).expect("a plan");
    let gone = ["atom132", "atom132a", "atom132m"].map(str::to_owned).to_vec();
    assert_eq!(after.notes[0], PlanNote::Gone(gone));
    assert!(after.notes[1].to_string().ends_with(": atom[001-131]a"), "{}", after.notes[1]);
    assert_eq!(row(&after, "mercury1cmm").address.to_string(), "192.168.5.133");
}

#[test]
fn what_is_wrong_has_its_line_and_a_way_out() {
    let cases = [
        (
            "192.168.4.0/24\"",
            "192.168.3.128/25\"",
            8,
            "atom*** (192.168.3.0/24) and atom***a (192.168.3.128/25) overlap: lines 7 and 8",
        ),
        ("\"atom***a\", network", "\"atom***\", network", 8, "two subnets are called atom***: lines 7 and 8"),
        ("slots = 44", "slots = 43", 20, "129 slots for 132 hosts"),
        ("a = \"atom***a\"", "a = \"eth9\"", 15, "there is no subnet `eth9`"),
        ("a = \"atom***a\"", "a = \"rc**\"", 15, "the subnet `rc**` is in use already"),
        ("nics = { a =", "nics = { m =", 13, "the suffix m is both"),
        ("suffix = \"m\"", "suffix = \"$(m)\"", 16, "suffix: `$(m)` cannot be one"),
        ("used = 176", "used = 300", 4, "rc** (192.168.0.0/24) has 254 addresses, and 300 are asked for"),
        ("192.168.3.0/24", "192.168.3/24", 7, "network: `192.168.3` is no IPv4 address"),
        ("user = \"root\"", "user = \"-l\"", 2, "user: `-l` cannot be one"),
        ("slots =", "slotz =", 20, "unknown key `slotz`"),
        ("\"cms\"", "\"cmm\"", 21, "managers: `cmm` is no suffix, or stands there twice"),
        ("name = \"atom[001-132]\"", "name = \"atom[001-132\"", 13, "the bracket is not closed"),
    ];
    for (from, to, line, what) in cases {
        assert!(ATOMS.contains(from), "{from}");
        let error = read(&ATOMS.replacen(from, to, 1)).map(|_| ()).expect_err(to);
        assert_eq!(error.line, line, "{error}");
        assert!(error.what.contains(what) && !error.hint.is_empty(), "{to}: {error:?}");
    }
    let twice =
        ATOMS.replace("name = \"mercury[1-3]\"", "name = \"atom[001-132]\"").replace("\"cmm\"", "\"m\"");
    let error = plan(read(&twice).expect("rules"), &Earlier::default()).expect_err("one name");
    assert!(error.what.starts_with("two things are called `atom001m`: lines 13 and 19"), "{error}");
}

#[test]
fn mac_addresses_belong_to_one_name_of_the_plan() {
    let list = "name,mac\natom001,00:25:90:00:00:01\natom001m,00-25-90-00-00-02\natom002,\n";
    let rules = || read(ATOMS).expect("rules");
    let made =
        plan(rules(), &Earlier::default()).and_then(|made| made.with_macs(&macs(list)?)).expect("a plan");
    let dnsmasq = dnsmasq(&made);
    for line in [
        "dhcp-range=192.168.3.0,static,255.255.255.0",
        "dhcp-host=00:25:90:00:00:01,192.168.3.1,atom001",
        "dhcp-host=00:25:90:00:00:02,192.168.5.1,atom001m",
        "host-record=mercury1cmm,192.168.5.133",
    ] {
        assert!(dnsmasq.lines().any(|own| own == line), "no {line} in {dnsmasq}");
    }
    assert!(
        !dnsmasq.contains("dhcp-range=192.168.4.0")
            && dnsmasq.contains("without a MAC address: atom[002-132],")
    );
    for (text, line, what) in [
        ("name,mac\na,00:25:90:00:00:01\nb,00:25:90:00:00:01\n", 3, "stands there twice: lines 2 and 3"),
        ("name,mac\na,00:25:90:00:00:01\na,00:25:90:00:00:02\n", 3, "`a` stands there twice: lines 2 and 3"),
        ("name,mac\na,zz\n", 2, "a MAC address is six pairs"),
        ("name,address\n", 1, "no column is called `mac`"),
    ] {
        let error = macs(text).expect_err(text);
        assert!(error.line == line && error.what.contains(what), "{text}: {error}");
    }
    let unknown =
        macs("name,mac\natom001,00:25:90:00:00:01\natom0002,00:25:90:00:00:02\n").expect("addresses");
    let error = plan(rules(), &Earlier::default())
        .and_then(|made| made.with_macs(&unknown))
        .expect_err("no such name");
    assert_eq!((error.line, error.what.as_str()), (3, "`atom0002` is no name of the plan"));
}

#[test]
fn mac_addresses_that_bmcs_tell_go_to_ports_in_their_order() {
    let made = || plan(read(ATOMS).expect("rules"), &Earlier::default()).expect("a plan");
    let mac = |text: &str| text.parse::<crate::inventory::Mac>().expect("an address");
    let (first, second, own) = (mac("00:25:90:00:00:01"), mac("00:25:90:00:00:02"), mac("00:25:90:00:00:03"));
    let told = Cards { bmc: Some(own), ports: vec![first, second] };
    let planned = made().with_cards(&[("atom001".to_owned(), told.clone())]).expect("a plan");
    let of = |name: &str| row(&planned, name).mac;
    assert_eq!((of("atom001"), of("atom001m"), of("atom002")), (Some(first), Some(own), None));
    assert_eq!(of("atom001a"), Some(second));
    let given = macs("name,mac\natom001,00:25:90:00:00:09\n").expect("addresses");
    let both = planned.clone().with_macs(&given).expect("a plan");
    assert_eq!(row(&both, "atom001").mac, Some(mac("00:25:90:00:00:09")));
    assert_eq!(row(&both, "atom001m").mac, Some(own), "it stays");
    let twice =
        made().with_cards(&[("atom001".to_owned(), told.clone()), ("atom002".to_owned(), told.clone())]);
    let why = twice.expect_err("one card");
    assert_eq!(why, "BMCs tell one MAC address, 00:25:90:00:00:01, of atom001 and of atom002");
    let kept = earlier(&csv(&planned)).expect("a table");
    let later = plan(read(ATOMS).expect("rules"), &kept).expect("a plan");
    assert_eq!(row(&later, "atom001m").mac, Some(own), "a later plan keeps it");
    let moved = macs("name,mac\natom005m,00:25:90:00:00:03\n").expect("addresses");
    let later = later.with_macs(&moved).expect("a plan");
    let both = (row(&later, "atom001m").mac, row(&later, "atom005m").mac);
    assert_eq!(both, (None, Some(own)), "the card is in another machine now");
    let unknown = made().with_cards(&[("mercury1".to_owned(), told)]).expect_err("no host");
    assert_eq!(unknown, "`mercury1` is no host of the plan");
}

#[test]
fn the_files_are_read_as_they_are_meant() {
    let made = planned(&ATOMS.replace("user = \"root\"", "user = \"root\"\ndomain = \"lab\""));
    let listed = hosts(&made);
    assert!(listed.contains("192.168.3.7     atom007.lab atom007\n"), "{listed}");
    assert_eq!(import(&listed, Form::Hosts).expect("hosts").inventory.nodes().len(), made.rows.len());
    let of_ansible = import(&ansible(&made), Form::AnsibleIni).expect("an inventory").inventory;
    let atom = of_ansible.find("atom045").expect("a node");
    assert_eq!(
        (atom.address.as_str(), atom.user.as_deref(), atom.groups.join(" ")),
        ("192.168.3.45", Some("root"), "mercury2".to_owned())
    );
    let files = [hosts(&made), dnsmasq(&made), ssh(&made), ansible(&made), csv(&made)];
    assert!(
        files.iter().all(|text| is_made(text))
            && is_made(&lab_file(&made).expect("a file"))
            && !is_made(ATOMS)
    );
    let of_ssh = import(&ssh(&made), Form::Ssh).expect("a configuration").inventory;
    assert_eq!((of_ssh.nodes().len(), of_ssh.nodes()[0].user.as_deref()), (132, Some("root")));
    let lab = inventory::read(&lab_file(&made).expect("an inventory")).expect("it reads");
    assert_eq!(lab.nodes().len(), 132 + 12);
    let atom = lab.find("atom132").expect("a node");
    assert_eq!((atom.rack.as_deref(), atom.position), (Some("mercury3"), Some(44)));
    assert_eq!(atom.bmc.as_ref().map(|bmc| bmc.address.as_str()), Some("192.168.5.132"));
    assert_eq!(lab.targets("@mercury1&mercury?cmm").expect("a manager").len(), 1);
}
