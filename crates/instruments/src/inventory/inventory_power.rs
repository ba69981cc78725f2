//! Power and temperature sensors: which exist and whether we may read them; not their values.
//!
//! RAPL zones count the processor's energy only, never the whole machine's.

use model::Fact;

use super::scan::Scan;
use crate::system_files::root::{ABSENT, NEEDS_ROOT};
use crate::system_files::{Root, Sheet};

pub static INSTRUMENT: &Scan =
    &Scan::new("inventory-power", "power and temperature sensors that exist", scan);

const POWERCAP: &str = "/sys/class/powercap";
const HWMON: &str = "/sys/class/hwmon";
const THERMAL: &str = "/sys/class/thermal";

pub fn scan(root: &Root) -> Vec<Fact> {
    let mut sheet = Sheet::new(root);
    rapl(&mut sheet);
    monitors(&mut sheet);
    zones(&mut sheet);
    supplies(&mut sheet);
    sheet.done()
}

/// One line, `none` where the class exists but is empty.
fn names(sheet: &mut Sheet<'_>, key: &str, found: &[String], source: &str) {
    if !found.is_empty() {
        sheet.text(key, found.join(", "), source);
    } else if sheet.root.exists("/sys/class") {
        sheet.text(key, "none", source);
    } else {
        sheet.unknown(key, source, ABSENT);
    }
}

fn rapl(sheet: &mut Sheet<'_>) {
    let root = sheet.root;
    // The mmio twin counts the same energy again.
    let zones: Vec<String> = root
        .list(POWERCAP)
        .into_iter()
        .filter(|zone| zone.contains(':') && !zone.starts_with("intel-rapl-mmio"))
        .collect();
    let name = |zone: &String| root.maybe(&format!("{POWERCAP}/{zone}/name"));
    let found: Vec<String> = zones.iter().filter_map(name).collect();
    names(sheet, "power.rapl", &found, POWERCAP);
    if let Some(zone) = zones.first() {
        let path = format!("{POWERCAP}/{zone}/energy_uj");
        match root.read(&path) {
            Ok(_) => sheet.flag("power.rapl.readable", true, &path),
            Err(why) => {
                sheet.flag("power.rapl.readable", false, &path);
                sheet.because(&why);
            }
        }
    }
}

fn monitors(sheet: &mut Sheet<'_>) {
    let root = sheet.root;
    let (mut power, mut all) = (Vec::new(), Vec::new());
    for chip in root.list(HWMON) {
        let folder = format!("{HWMON}/{chip}");
        let Some(name) = root.maybe(&format!("{folder}/name")) else { continue };
        let is_power = |file: &String| {
            file.starts_with("power") && (file.ends_with("_input") || file.ends_with("_average"))
        };
        power.extend(
            root.list(&folder).iter().filter(|file| is_power(file)).map(|file| format!("{name} {file}")),
        );
        all.push(name);
    }
    names(sheet, "power.sensors", &power, HWMON);
    names(sheet, "sensors", &all, HWMON);
}

fn zones(sheet: &mut Sheet<'_>) {
    let root = sheet.root;
    let zones = root.list(THERMAL).into_iter().filter(|name| name.starts_with("thermal_zone"));
    let found: Vec<String> = zones.filter_map(|zone| root.maybe(&format!("{THERMAL}/{zone}/type"))).collect();
    names(sheet, "thermal.zones", &found, THERMAL);
}

/// Batteries and mains; and the management controller, which may know the whole machine's watts.
fn supplies(sheet: &mut Sheet<'_>) {
    let root = sheet.root;
    let class = "/sys/class/power_supply";
    let found: Vec<String> =
        root.list(class).iter().filter_map(|name| root.maybe(&format!("{class}/{name}/type"))).collect();
    names(sheet, "power.supplies", &found, class);
    let device = "/sys/class/ipmi";
    match root.list(device).first() {
        Some(name) if root.live && std::fs::File::open(format!("/dev/{name}")).is_err() => {
            sheet.text("power.bmc", name.clone(), device);
            sheet.because(NEEDS_ROOT);
        }
        Some(name) => sheet.text("power.bmc", name.clone(), device),
        None => names(sheet, "power.bmc", &[], device),
    }
}
