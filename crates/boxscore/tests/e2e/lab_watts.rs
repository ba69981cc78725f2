//! Watts at idle and at full load, and joules a job, of a node whose BMC reads its power by DCMI, by Redfish's metrics
//! or by its power supplies: on the screen, in JSON and in the report. The power follows the CPU time of the node.

use std::fs;
use std::path::Path;

use model::doc::{PowerDoc, RunDoc};

use crate::common::ipmi::{Bmcs, PASSWORD, write_private};
use crate::common::meter::{IDLE, Meter};
use crate::common::redfish::Emulator;
use crate::common::sshd::Fleet;
use crate::lab_on::{done, fleet};
use crate::lab_redfish;

/// A node `rack1` whose BMC is reached so.
fn node(bmc: &str) -> Fleet {
    let fleet = fleet(1);
    write_private(&fleet.path("password"), &format!("{PASSWORD}\n"));
    let text = format!(
        "[[nodes]]\nname = \"rack1\"\naddress = \"127.0.2.1\"\nport = {}\n\
         bmc = {{ {bmc}, password_file = \"password\" }}\n",
        fleet.port
    );
    fs::write(fleet.path("lab.toml"), text).expect("an inventory");
    fleet
}

/// Runs idle and full load on the node, and gives what the document, the screen and the page say of it.
fn measured(fleet: &Fleet, file: &Path) -> PowerDoc {
    let meter = Meter::start(fleet.pid(1), file.to_owned());
    let binaries = fleet.binaries();
    let words = ["run", "power", "--watts-bmc", "--set", "level=idle|100", "--takes", "1", "--sittings", "1"];
    let times = ["--set", "duration=4", "--set", "settle=2", "--on", "rack1", "--binaries", &binaries];
    let said = done(&mut fleet.on(&[&words[..], &times].concat())).expect(0, &[]);
    drop(meter);
    assert!(said.out.contains(" W idle and ") && said.out.contains("at full load"), "{said:#?}");
    assert!(said.out.contains("energy a job"), "{said:#?}");
    let shown = done(&mut fleet.plain(&["show", "--json"])).expect(0, &[]);
    let doc: RunDoc = serde_json::from_str(&shown.out).expect("a document");
    let page = fleet.path("page.html");
    let name = page.display().to_string();
    done(&mut fleet.plain(&["report", "--output", &name])).expect(0, &[]);
    let page = fs::read_to_string(page).expect("a page");
    assert!(page.contains("<section id=\"power\">") && page.contains("by the BMC of the node"), "no power");
    for text in [&said.out, &said.err, &shown.out, &page] {
        assert!(!text.contains(PASSWORD), "the password is shown");
    }
    let [power] = doc.power.as_slice() else { panic!("{:?}", doc.power) };
    power.clone()
}

/// Full load draws more than idle, and a job takes the watts over the rate of jobs.
fn assert_power(power: &PowerDoc, idle: f64) {
    assert_eq!((power.meter.as_str(), power.unit.as_str()), ("bmc", "job"));
    let of = |level: f64| power.at(level).unwrap_or_else(|| panic!("no level {level} in {power:?}"));
    let watts = |level: f64| of(level).watts.value.unwrap_or_else(|| panic!("no watts in {power:?}"));
    assert!(watts(0.0) >= idle && watts(1.0) > watts(0.0), "{power:?}");
    assert_eq!((of(0.0).rate.value, of(0.0).joules.value), (None, None), "nothing is done at idle");
    let (rate, joules) = (of(1.0).rate.value.expect("a rate"), of(1.0).joules.value.expect("joules"));
    assert!((joules * rate / watts(1.0) - 1.0).abs() < 0.01, "{power:?}");
}

#[test]
fn dcmi_gives_watts_at_idle_and_load_and_joules_a_job() {
    let bmcs = Bmcs::start_dcmi(1);
    let bmc = format!("kind = \"ipmi\", address = \"127.0.3.1\", port = {}, user = \"ADMIN\"", bmcs.port);
    let power = measured(&node(&bmc), &bmcs.dcmi(1));
    assert_power(&power, IDLE);
    // Its sensor says 348 W all the time.
    assert!(power.at(0.0).and_then(|level| level.watts.value) < Some(348.0), "{power:?}");
}

/// A node with one chassis, and further resources.
fn pages(more: &str) -> String {
    format!(
        r#"{{
    "/redfish/v1/Systems": {{"Members": [{{"@odata.id": "/redfish/v1/Systems/1"}}]}},
    "/redfish/v1/Systems/1": {{"PowerState": "On", "Links": {{"Chassis": [{{"@odata.id": "/redfish/v1/Chassis/1"}}]}}}},
    {more}
}}"#
    )
}

fn by_redfish(more: impl Fn(&str) -> String, idle: f64) {
    let folder = tempfile::TempDir::new().expect("a folder");
    let file = folder.path().join("watts");
    let number = format!("{{\"$file\": {:?}}}", file.display().to_string());
    let emulator = Emulator::of_pages(&pages(&more(&number)));
    let fingerprint = lab_redfish::shown(&emulator);
    let power = measured(&node(&emulator.access(&fingerprint)), &file);
    assert_power(&power, idle);
}

#[test]
fn redfish_gives_watts_by_the_metrics_of_the_chassis() {
    let more = |watts: &str| {
        format!("\"/redfish/v1/Chassis/1/EnvironmentMetrics\": {{\"PowerWatts\": {{\"Reading\": {watts}}}}}")
    };
    by_redfish(more, IDLE);
}

#[test]
fn redfish_gives_watts_by_all_power_supplies_together() {
    let supply = |number: usize, watts: &str| {
        let path = format!("/redfish/v1/Chassis/1/PowerSubsystem/PowerSupplies/{number}");
        format!(
            "\"{path}\": {{\"Metrics\": {{\"@odata.id\": \"{path}/Metrics\"}}}},\n    \
             \"{path}/Metrics\": {{\"InputPowerWatts\": {{\"Reading\": {watts}}}}}"
        )
    };
    let more = |watts: &str| {
        let path = "/redfish/v1/Chassis/1/PowerSubsystem";
        let subsystem = format!(
            "\"{path}\": {{\"PowerSupplies\": {{\"@odata.id\": \"{path}/PowerSupplies\"}}}},\n    \
             \"{path}/PowerSupplies\": {{\"Members\": [{{\"@odata.id\": \"{path}/PowerSupplies/1\"}}, \
             {{\"@odata.id\": \"{path}/PowerSupplies/2\"}}]}}"
        );
        // The second one takes the same all the time.
        [subsystem, supply(1, watts), supply(2, "40")].join(",\n    ")
    };
    by_redfish(more, IDLE + 40.0);
}
