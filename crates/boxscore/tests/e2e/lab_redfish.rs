//! BMCs that speak Redfish: certificates, power, what nodes boot from, sensors.

use std::process::Command;

use model::doc::LabPowerDoc;

use crate::common::ipmi::{Bmcs, PASSWORD, write_private};
use crate::common::redfish::Emulator;

/// The certificate that the BMC shows, as the failure tells it.
pub fn shown(emulator: &Emulator) -> String {
    emulator.inventory("", "");
    let said = emulator.lab(&["power", "status", "r1"]).expect(3, &["--insecure", "bmc = { fingerprint ="]);
    let mark = "the inventory knows no certificate of its BMC, which shows ";
    let at = said.err.find(mark).unwrap_or_else(|| panic!("{said:#?}")) + mark.len();
    said.err[at..at + 64].to_owned()
}

#[test]
fn a_certificate_is_that_of_the_inventory_or_the_user_says_that_any_will_do() {
    let emulator = Emulator::start();
    let shown = shown(&emulator);
    let said = emulator.lab(&["power", "status", "r1", "--insecure"]).expect(0, &[]);
    assert_eq!(said.out, "off: 1 node: r1\n");
    let other = "0".repeat(64);
    emulator.inventory(&format!(", fingerprint = [\"{other}\", \"{shown}\"]"), "");
    emulator.lab(&["power", "status", "r1"]).expect(0, &[]);
    emulator.inventory(&format!(", fingerprint = \"{other}\""), "");
    let what = format!("its BMC shows a certificate that is not the known one: {shown}\n");
    emulator.lab(&["power", "status", "r1"]).expect(3, &[&what]);
    emulator.inventory(", fingerprint = \"12\"", "");
    emulator
        .lab(&["power", "status", "r1"])
        .expect(1, &["lab.toml:3: fingerprint: a fingerprint is 64 hexadecimal"]);
    emulator.inventory(&format!(", fingerprint = \"{shown}\""), "");
    write_private(&emulator.path("password"), "hunter2-wrong\n");
    let said =
        emulator.lab(&["power", "status", "r1"]).expect(3, &["its BMC refused the user or the password"]);
    assert!(!format!("{said:?}").contains("hunter2"), "{said:?}");
}

/// Node `r1` of the emulator, and node `n1` with a BMC that speaks IPMI.
fn with_ipmi() -> (Emulator, Bmcs) {
    let (emulator, bmcs) = (Emulator::start(), Bmcs::start(1));
    let ipmi = format!(
        "[[nodes]]\nname = \"n1\"\nbmc = {{ kind = \"ipmi\", address = \"127.0.3.1\", port = {}, user = \"ADMIN\", \
         password_file = \"password\" }}\n",
        bmcs.port
    );
    emulator.inventory("", &ipmi);
    (emulator, bmcs)
}

#[test]
fn a_state_that_comes_seconds_later_is_awaited_side_by_side_with_ipmi() {
    let (emulator, bmcs) = with_ipmi();
    let lab = |words: &[&str]| emulator.lab(&[words, &["--insecure"]].concat());
    assert_eq!(lab(&["power", "on", "@*", "--yes"]).expect(0, &[]).out, "on: 2 nodes: n1,r1\n");
    assert!(bmcs.is_on(1));
    assert_eq!(lab(&["power", "status", "@*"]).expect(0, &[]).out, "on: 2 nodes: n1,r1\n");
    let said = lab(&["power", "soft", "r1", "--yes", "--json"]).expect(0, &[]);
    assert!(said.out.contains("\"state\": \"off\"") && !format!("{said:?}").contains(PASSWORD), "{said:?}");
    lab(&["power", "reset", "r1", "--yes"]).expect(3, &["failed: 1 node: r1: it is off\n"]);
}

#[test]
fn boot_settings_are_read_back_and_sensors_are_read() {
    let emulator = Emulator::start();
    emulator.inventory("", "");
    let lab = |words: &[&str]| emulator.lab(&[words, &["--insecure"]].concat());
    assert!(
        lab(&["bootdev", "pxe", "r1", "--persistent", "--yes"])
            .expect(0, &[])
            .out
            .starts_with("pxe, every boot")
    );
    // The emulator keeps every setting for all boots.
    lab(&["bootdev", "disk", "r1", "--yes"])
        .expect(3, &["its BMC took the setting, and says now: disk, every boot"]);
    let said = lab(&["sensors", "r1"]).expect(0, &[]);
    assert!(said.out.contains("degrees C"), "{said:#?}");
    lab(&["sel", "r1"]).expect(
        3,
        &["failed: 1 node: r1: its BMC has no system event log that Redfish can read (LogServices)\n"],
    );
}

/// A system with an event log of three entries on two pages, and another log.
const LOGS: &str = r#"{
    "/redfish/v1/Systems": {"Members": [{"@odata.id": "/redfish/v1/Systems/1"}]},
    "/redfish/v1/Systems/1": {"PowerState": "On", "LogServices": {"@odata.id": "/redfish/v1/Systems/1/LogServices"}},
    "/redfish/v1/Systems/1/LogServices": {"Members": [
        {"@odata.id": "/redfish/v1/Systems/1/LogServices/Audit"}, {"@odata.id": "/redfish/v1/Systems/1/LogServices/SEL"}]},
    "/redfish/v1/Systems/1/LogServices/Audit": {"Id": "Audit", "Entries": {"@odata.id": "/audit"}},
    "/redfish/v1/Systems/1/LogServices/SEL": {"Id": "SEL", "Entries": {"@odata.id": "/sel"}},
    "/sel": {"Members@odata.nextLink": "/sel?skip=2", "Members": [
        {"Id": "1", "Created": "2026-11-26T11:00:00+00:00", "SensorType": "Power Unit", "EntryCode": "Assert", "Message": "AC lost"},
        {"Id": "3", "Created": "2026-11-26T13:00:00+00:00", "SensorType": "Memory", "Message": "Correctable ECC", "Severity": "Warning"}]},
    "/sel?skip=2": {"Members": [{"@odata.id": "/sel/2", "Id": "2", "Created": "2026-11-26T12:00:00+00:00", "Message": "AC back"}]}
}"#;

#[test]
fn the_last_entries_of_an_event_log_are_read_from_all_its_pages() {
    let emulator = Emulator::of_pages(LOGS);
    emulator.inventory("", "");
    let said = emulator.lab(&["sel", "r1", "--last", "2", "--insecure"]).expect(0, &[]);
    let lines: Vec<&str> = said.out.lines().collect();
    assert_eq!(lines.len(), 2, "{said:#?}");
    assert!(lines[0].contains("2026-11-26 12:00:00") && lines[0].contains("AC back"), "{said:#?}");
    assert!(lines[1].contains("Memory") && lines[1].contains("Correctable ECC"), "{said:#?}");
    assert!(lines[1].contains("Warning") && !said.out.contains("AC lost"), "{said:#?}");
}

#[test]
fn what_a_bmc_refuses_is_told_by_its_kind_and_node() {
    let message = r#""error": {"message": "the flash is worn"}"#;
    for (answer, kind, told) in [
        (r#""$status": 503"#.to_owned(), "busy", "its BMC is busy"),
        (r#""$status": 429"#.to_owned(), "busy", "its BMC is busy"),
        (r#""$status": 401"#.to_owned(), "login", "its BMC refused the user or the password"),
        (r#""$status": 403"#.to_owned(), "privilege", "its BMC does not let this user do that"),
        (format!(r#""$status": 500, {message}"#), "error", "its BMC reports an error: 500 for "),
        (format!(r#""$cut": 9, {message}"#), "lost", "its BMC fell silent during the session"),
        (format!(r#""$cut": 0, {message}"#), "lost", "its BMC fell silent during the session"),
    ] {
        let pages = ["Systems", "Chassis"].map(|name| format!(r#""/redfish/v1/{name}": {{{answer}}}"#));
        let emulator = Emulator::of_pages(&format!("{{{}}}", pages.join(", ")));
        emulator.inventory("", "");
        let said = emulator.lab(&["power", "status", "r1", "--insecure", "--json"]).expect(3, &[]);
        let document: LabPowerDoc = serde_json::from_str(&said.out).expect("a document");
        assert_eq!(document.nodes[0].failure.as_deref(), Some(kind), "{answer}: {said:#?}");
        for words in [&["power", "status"][..], &["sensors"], &["sel"], &["bootdev", "pxe", "--yes"]] {
            let said = emulator.lab(&[words, &["r1", "--insecure"]].concat()).expect(3, &["r1: ", told]);
            assert!(!format!("{said:?}").contains(PASSWORD), "{words:?}: {said:?}");
        }
    }
}

#[test]
fn a_plan_has_the_mac_addresses_that_bmcs_tell() {
    let (emulator, bmcs) = with_ipmi();
    // As it leaves the factory.
    let port = bmcs.port.to_string();
    let mut set = Command::new("ipmitool");
    set.args(["-I", "lanplus", "-C", "3", "-H", "127.0.3.1", "-p", &port, "-U", "ADMIN", "-E"]);
    set.args(["lan", "set", "1", "macaddr", "00:25:90:ab:cd:ef"]).env("IPMI_PASSWORD", PASSWORD);
    assert!(set.output().expect("ipmitool").status.success());
    let of = |name: &str| {
        format!(
            "[[hosts]]\nname = \"{name}\"\nsubnet = \"hosts\"\nnics = {{ a = \"hosts\" }}\n\
             bmc = {{ suffix = \"m\", subnet = \"hosts\" }}\n"
        )
    };
    let (path, subnets) =
        (emulator.path("plan.toml"), "subnets = [{ name = \"hosts\", network = \"192.168.3.0/24\" }]\n");
    let file = path.display().to_string();
    let lab = || {
        let words = ["plan", &file, "--macs-from", "@*", "--insecure", "--format", "dnsmasq"];
        emulator.lab(&words)
    };
    std::fs::write(&path, format!("{subnets}{}", of("r1"))).expect("a plan");
    lab().expect(1, &["`n1` is no host of the plan"]);
    std::fs::write(&path, format!("{subnets}{}{}", of("r1"), of("n1"))).expect("a plan");
    let said = lab().expect(0, &[]);
    for (mac, name) in [("52:54:00:00:00:01", "r1"), ("00:25:90:ab:cd:ef", "n1m")] {
        let line = said.out.lines().find(|line| line.starts_with(&format!("dhcp-host={mac},192.168.3.")));
        assert!(line.is_some_and(|line| line.ends_with(&format!(",{name}"))), "{said:#?}");
    }
    drop(bmcs);
    let said = lab().expect(3, &["failed: 1 node: n1: "]);
    assert!(said.out.contains("52:54:00:00:00:01"), "{said:#?}");
}
