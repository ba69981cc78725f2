//! Readings of the machine's temperature sensors.
//!
//! Degrees Celsius, from hwmon, and from thermal zones where hwmon has none. Impossible readings (below -60 or over
//! 200) are left out for that tick.

use std::collections::BTreeSet;

use model::metrics::telemetry::TEMPERATURE;
use model::{Cadence, Card, Celsius, Family, Fault, Params, Probe, Record, RecordExt, Setup, Simple, Unfit};

use super::parse::lone_signed;
use super::read::{Kept, names};
use super::since::extra;

const MOST_SENSORS: usize = 32;

static CARD: Card = Card {
    name: "temperature",
    family: Family::Telemetry,
    says: "temperature sensors",
    source: "hwmon and thermal zones in /sys",
    cadence: Cadence::Tick,
    definition: 1,
    metrics: &[TEMPERATURE.info()],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare);

fn prepare(_: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let sensors = sensors("/sys");
    if sensors.is_empty() {
        return Err(Unfit::new("there is no temperature sensor that can be read here"));
    }
    Ok(Box::new(Sensors { sensors }))
}

struct Sensors {
    sensors: Vec<(Params, Kept)>,
}

fn text(path: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Name and file of each sensor; equal names get a number.
fn sensors(sys: &str) -> Vec<(Params, Kept)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for chip in names(format!("{sys}/class/hwmon")) {
        let folder = format!("{sys}/class/hwmon/{chip}");
        let name = text(&format!("{folder}/name")).unwrap_or(chip);
        for file in names(&folder) {
            let Some(stem) = file.strip_suffix("_input").filter(|stem| stem.starts_with("temp")) else {
                continue;
            };
            let label = text(&format!("{folder}/{stem}_label")).unwrap_or_else(|| stem.to_owned());
            found.push((format!("{name} {label}"), format!("{folder}/{file}")));
        }
    }
    if found.is_empty() {
        for zone in names(format!("{sys}/class/thermal")) {
            let folder = format!("{sys}/class/thermal/{zone}");
            if zone.starts_with("thermal_zone") {
                let name = text(&format!("{folder}/type")).unwrap_or(zone);
                found.push((name, format!("{folder}/temp")));
            }
        }
    }
    let mut taken = BTreeSet::new();
    let mut sensors = Vec::new();
    for (name, path) in found {
        let free = (1..).map(|n| if n == 1 { name.clone() } else { format!("{name} {n}") });
        let Some(name) = free.take(MOST_SENSORS).find(|name| !taken.contains(name)) else { continue };
        if let Some(file) = Kept::open(&path).filter(|_| sensors.len() < MOST_SENSORS) {
            sensors.push((extra("sensor", &name), file));
            taken.insert(name);
        }
    }
    sensors
}

#[expect(clippy::cast_precision_loss, reason = "thousandths of a degree")]
fn celsius(bytes: &[u8]) -> Option<Celsius> {
    let degrees = lone_signed(bytes)? as f64 / 1000.0;
    (-60.0..=200.0).contains(&degrees).then_some(Celsius(degrees))
}

impl Probe for Sensors {
    fn take(&mut self, _: u64, record: &mut dyn Record) -> Result<(), Fault> {
        for (name, file) in &mut self.sensors {
            record.push_of_if(&TEMPERATURE, name, file.parse(celsius).flatten());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::record::Values;

    fn put(dir: &tempfile::TempDir, path: &str, text: &str) {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(dir: &tempfile::TempDir) -> Values {
        let mut values = Values::default();
        Sensors { sensors: sensors(dir.path().to_str().unwrap()) }.take(1, &mut values).unwrap();
        values
    }

    #[test]
    fn chips_before_zones() {
        let dir = tempfile::tempdir().unwrap();
        put(&dir, "class/thermal/thermal_zone0/type", "x86_pkg_temp\n");
        put(&dir, "class/thermal/thermal_zone0/temp", "48000\n");
        put(&dir, "class/thermal/cooling_device0/type", "fan\n");
        assert_eq!(read(&dir).get("temperature sensor=x86_pkg_temp"), Some(48.0));
        put(&dir, "class/hwmon/hwmon0/name", "coretemp\n");
        put(&dir, "class/hwmon/hwmon0/temp1_input", "61000\n");
        put(&dir, "class/hwmon/hwmon0/temp1_label", "Package id 0\n");
        put(&dir, "class/hwmon/hwmon0/temp2_input", "-274000\n");
        put(&dir, "class/hwmon/hwmon1/name", "coretemp\n");
        put(&dir, "class/hwmon/hwmon1/temp1_input", "59500\n");
        put(&dir, "class/hwmon/hwmon1/temp1_label", "Package id 0\n");
        let values = read(&dir);
        assert_eq!(values.get("temperature sensor=coretemp Package id 0"), Some(61.0));
        assert_eq!(values.get("temperature sensor=coretemp Package id 0 2"), Some(59.5));
        assert_eq!(values.values.len(), 2);
    }
}
