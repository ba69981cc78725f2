//! `lab check` on real ssh servers: equal results together, what is wrong by host.

use model::doc::{LabCheckDoc, LabCheckedDoc};

use crate::common::ipmi::Bmcs;
use crate::common::sshd::Fleet;

fn of<'a>(document: &'a LabCheckDoc, host: &str) -> &'a LabCheckedDoc {
    document.hosts.iter().find(|one| one.host == host).unwrap_or_else(|| panic!("no {host}: {document:#?}"))
}

fn kinds(host: &LabCheckedDoc) -> Vec<&str> {
    host.result.faults.iter().map(|fault| fault.kind.as_str()).collect()
}

/// Five servers: the third refuses keys, the fourth answers nothing, the fifth is gone.
fn fleet() -> Fleet {
    let mut fleet = Fleet::start(5, |number| match number {
        3 => "AuthorizedKeysFile none".to_owned(),
        4 => "ForceCommand true".to_owned(),
        _ => String::new(),
    });
    fleet.inventory();
    fleet.end(5);
    fleet
}

#[test]
fn equal_results_are_a_line_and_faulty_machines_are_named() {
    let fleet = fleet();
    let said = fleet.run(&["check", "rack[1-2]"]).expect(0, &[]);
    let lines: Vec<&str> = said.out.lines().collect();
    assert_eq!(lines.len(), 2, "{said:?}");
    assert!(lines[1].starts_with("rack[1-2]      2  yes"), "{said:?}");
    assert!(lines[1].contains(std::env::consts::ARCH), "{said:?}");
    let said = fleet.run(&["check", "@*"]).expect(3, &[]);
    for line in [
        "faulty: rack3: it refused the login; it accepts publickey\n",
        "faulty: rack4: it let us in and answered no question\n",
        "faulty: rack5: it refused the connection\n",
    ] {
        assert!(said.out.contains(line), "{line}: {}", said.out);
    }
    let said = fleet.run_with(&["check", "@*"], &["--keep", "0", "--json"]);
    assert_eq!(said.code, Some(3));
    let document: LabCheckDoc = serde_json::from_str(&said.out).expect("a document");
    let one = of(&document, "rack1");
    assert!(one.ok && one.free_bytes.is_some_and(|free| free > 0), "{one:#?}");
    // It is this machine.
    let (offset, within) = (one.clock_offset.expect("a clock"), one.clock_within.expect("its error"));
    assert!(offset.abs() <= within + 0.001, "{one:#?}");
    let of = |host: &str| {
        let host = of(&document, host);
        (host.result.reachable, host.result.key, kinds(host))
    };
    assert_eq!(of("rack1"), (Some(true), Some(true), vec![]));
    assert_eq!(of("rack3"), (Some(true), Some(false), vec!["login-refused"]));
    assert_eq!(of("rack4"), (Some(true), Some(true), vec!["silent"]));
    assert_eq!(of("rack5"), (Some(false), None, vec!["refused"]));
    assert_eq!(document.groups.len(), 4);
    assert!(fleet.sockets().is_empty(), "--keep 0 closes connections");
}

#[test]
fn room_and_folders_are_of_the_folder_that_is_named() {
    let fleet = Fleet::start(1, |_| String::new());
    let odd = fleet.path("it's a $(touch pwned) \"folder\"");
    std::fs::create_dir(&odd).expect("a folder");
    let odd = odd.display().to_string();
    fleet.run(&["check", "node1", "--folder", &odd]).expect(0, &[]);
    assert!(!fleet.path("pwned").exists());
    let said = fleet.run(&["check", "node1", "--folder", "/no/such"]).expect(3, &[]);
    assert!(said.out.contains("faulty: node1: there is no folder /no/such\n"), "{}", said.out);
    let said = fleet.run(&["check", "node1", "--space", "1000000T"]).expect(3, &[]);
    assert!(said.out.contains("faulty: node1: less than "), "{}", said.out);
    fleet.run(&["check", "node1", "--space", "much"]).expect(2, &["not a size"]);
    fleet.run(&["check", "node1", "--folder", "a\nb"]).expect(2, &["not the name of a folder"]);
    let said = fleet.run(&["check", "--dry-run", "node1"]).expect(0, &[]);
    assert!(said.out.contains("would ask for sudo, architecture, clock"), "{}", said.out);
}

#[test]
fn bmcs_are_asked_and_one_that_does_not_say_is_a_fault() {
    let fleet = Fleet::start(3, |_| String::new());
    let bmcs = Bmcs::start(2);
    std::fs::write(bmcs.path("wrong"), "hunter2-wrong\n").expect("a password");
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(bmcs.path("wrong"), private).expect("its mode");
    let nodes = format!(
        "[[nodes]]\nname = \"rack1\"\naddress = \"127.0.2.1\"\nport = {port}\nbmc = {{ address = \"127.0.3.1\" }}\n\
         [[nodes]]\nname = \"rack2\"\naddress = \"127.0.2.2\"\nport = {port}\n\
         bmc = {{ address = \"127.0.3.2\", password_file = \"wrong\" }}\n\
         [[nodes]]\nname = \"rack3\"\naddress = \"127.0.2.3\"\nport = {port}\n",
        port = fleet.port
    );
    bmcs.inventory(&nodes);
    let inventory = bmcs.path("lab.toml").display().to_string();
    let said = fleet.run(&["check", "@*", "--inventory", &inventory]).expect(3, &[]);
    assert!(said.out.contains("BMC says\n"), "{}", said.out);
    assert!(
        said.out.lines().any(|line| line.starts_with("rack1 ") && line.ends_with("  off")),
        "{}",
        said.out
    );
    assert!(said.out.contains("faulty: rack2: its BMC refused the password\n"), "{}", said.out);
    let said = fleet.run(&["check", "@*", "--inventory", &inventory, "--json"]);
    let document: LabCheckDoc = serde_json::from_str(&said.out).expect("a document");
    let said: Vec<_> = document.hosts.iter().map(|host| host.result.bmc.as_deref()).collect();
    assert_eq!(said, [Some("off"), Some("unknown"), None]);
    assert_eq!(kinds(of(&document, "rack2")), ["bmc-password"]);
    let said = fleet.run(&["check", "@*", "--inventory", &inventory, "--no-bmc"]).expect(0, &[]);
    assert!(!said.out.contains("BMC"), "{}", said.out);
}
