//! `lab sensors`, `lab sel` and `lab bootdev` on simulated BMCs.

use std::time::{Duration, Instant};

use model::doc::{LabBootdevDoc, LabSelDoc, LabSensorsDoc};
use serde::de::DeserializeOwned;

use crate::common::ipmi::{Bmcs, PASSWORD, write_private};
use crate::common::{PATIENCE, Said};

fn lab(bmcs: &Bmcs, words: &[&str]) -> Said {
    bmcs.lab(words).output().expect("it starts").into()
}

fn document<T: DeserializeOwned>(said: &Said) -> T {
    serde_json::from_str(&said.out).expect("a document")
}

/// Two nodes, one whose password is wrong, one whose BMC is not there.
fn bmcs() -> Bmcs {
    let bmcs = Bmcs::start(3);
    write_private(&bmcs.path("wrong"), "hunter2-wrong\n");
    bmcs.inventory(
        "[[nodes]]\nname = \"n[1-2]\"\nbmc = { address = \"127.0.3.1+2\" }\n\
         [[nodes]]\nname = \"wrong\"\nbmc = { address = \"127.0.3.3\", password_file = \"wrong\" }\n\
         [[nodes]]\nname = \"dead\"\nbmc = { address = \"127.0.3.8\" }\n",
    );
    bmcs
}

const FAILED: [&str; 2] = [
    "failed: 1 node: wrong: its BMC refused the password\n",
    "failed: 1 node: dead: its BMC does not answer\n",
];

#[test]
fn sensors_are_read_side_by_side_and_one_beyond_a_threshold_is_named() {
    let bmcs = bmcs();
    let said = lab(&bmcs, &["sensors", "n1"]).expect(0, &[]);
    assert_eq!(
        said.out,
        "sensor           value  unit       status\n\
         MBTemp              45  degrees C  ok\n\
         Pwr Consumption    348  Watts      ok\n"
    );
    bmcs.measure(2, "temp", 150);
    bmcs.measure(2, "watt", 20);
    let began = Instant::now();
    let said = loop {
        let said = lab(&bmcs, &["sensors", "@*"]).expect(3, &FAILED);
        if said.out.contains("critical: n2: MBTemp: 150 degrees C\n") {
            break said;
        }
        assert!(began.elapsed() < PATIENCE, "{said:?}");
        std::thread::sleep(Duration::from_millis(100));
    };
    assert!(
        said.out.contains("MBTemp               2     45     150   150  degrees C  n2\n"),
        "{}",
        said.out
    );
    let said = lab(&bmcs, &["sensors", "n2", "--json"]).expect(3, &[]);
    let document: LabSensorsDoc = document(&said);
    let sensors = &document.nodes[0].sensors;
    assert_eq!((sensors[1].value, sensors[0].status.as_str()), (Some(80.0), "critical"));
}

#[test]
fn logs_are_read_by_their_last_entries() {
    let bmcs = bmcs();
    let said = lab(&bmcs, &["sel", "@*"]).expect(3, &FAILED);
    let line = "n[1-2]: before its clock was set: Temperature MBTemp: Device Disabled\n";
    assert!(said.out.contains(line), "{}", said.out);
    bmcs.measure(1, "temp", 150);
    let began = Instant::now();
    loop {
        let said = lab(&bmcs, &["sel", "n1", "--last", "1", "--json"]).expect(0, &[]);
        let document: LabSelDoc = document(&said);
        let entries = &document.nodes[0].entries;
        assert_eq!(entries.len(), 1, "{entries:?}");
        if entries[0].event == "Upper Critical going high" {
            assert_eq!(entries[0].begins, Some(true));
            assert!(
                entries[0].detail.as_deref().is_some_and(|text| text.starts_with("Reading 150")),
                "{entries:?}"
            );
            break;
        }
        assert!(began.elapsed() < PATIENCE, "{entries:?}");
        std::thread::sleep(Duration::from_millis(100));
    }
    lab(&bmcs, &["sel", "n1", "--last", "0"]).expect(2, &["--last"]);
}

#[test]
fn what_nodes_boot_from_is_set_and_read_back() {
    let bmcs = bmcs();
    let said = lab(&bmcs, &["bootdev", "pxe", "@*", "--yes"]).expect(3, &FAILED);
    assert_eq!(said.out, "pxe, next boot: 2 nodes: n[1-2]\n");
    lab(&bmcs, &["bootdev", "disk", "n2", "--yes"]).expect(0, &[]);
    let said = lab(&bmcs, &["bootdev", "status", "n[1-2]"]).expect(0, &[]);
    assert_eq!(said.out, "pxe, next boot: 1 node: n1\ndisk, next boot: 1 node: n2\n");
    assert!(bmcs.requests(1).contains("boot pxe\n"), "{}", bmcs.requests(1));
    let said = lab(&bmcs, &["bootdev", "none", "n1", "--yes", "--json"]).expect(0, &[]);
    let document: LabBootdevDoc = document(&said);
    assert_eq!(document.nodes[0].device.as_deref(), Some("none"));
    lab(&bmcs, &["bootdev", "pxe", "n1"])
        .expect(2, &["boot from pxe, next boot: 1 node: n1: nobody can be asked"]);
    lab(&bmcs, &["bootdev", "status", "n1", "--efi"]).expect(2, &["`status` makes none"]);
    let said = lab(&bmcs, &["bootdev", "pxe", "n1", "--dry-run"]).expect(0, &[]);
    assert_eq!(said.out, "would do: boot from pxe, next boot: 1 node: n1\n");
}

#[test]
fn a_bmc_that_forgets_a_part_of_a_setting_is_told() {
    // ipmi_sim keeps the device alone.
    let bmcs = bmcs();
    let said = lab(&bmcs, &["bootdev", "pxe", "n1", "--persistent", "--efi", "--yes"]);
    let said =
        said.expect(3, &["failed: 1 node: n1: its BMC took the setting, and says now: pxe, next boot\n"]);
    assert!(!format!("{said:?}").contains(PASSWORD), "{said:?}");
}
