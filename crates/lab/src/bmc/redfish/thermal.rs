//! Sensors by Redfish: temperatures, fans, voltages and the draw of power of each chassis.

use serde_json::Value;

use super::{Redfish, members};
use crate::bmc::health::{Event, Health, Sensor, Status};
use crate::bmc::{Access, Failure};
use crate::ssh::printable;

impl Health for Redfish<'_> {
    fn sensors(&self, of: &[&Access]) -> Vec<Result<Vec<Sensor>, Failure>> {
        self.each(of, |service| {
            let mut all = Vec::new();
            for chassis in members(&service.get("/redfish/v1/Chassis")?) {
                let thermal = service.find(&format!("{chassis}/Thermal"))?.unwrap_or_default();
                all.extend(list(&thermal["Temperatures"], "ReadingCelsius", "degrees C"));
                all.extend(list(&thermal["Fans"], "Reading", "RPM"));
                let power = service.find(&format!("{chassis}/Power"))?.unwrap_or_default();
                all.extend(list(&power["Voltages"], "ReadingVolts", "Volts"));
                all.extend(list(&power["PowerControl"], "PowerConsumedWatts", "Watts"));
            }
            Ok(all)
        })
    }

    fn events(&self, last: u32, of: &[&Access]) -> Vec<Result<Vec<Event>, Failure>> {
        self.each(of, |service| service.events(last))
    }
}

fn list<'v>(all: &'v Value, key: &'v str, unit: &'v str) -> impl Iterator<Item = Sensor> + 'v {
    all.as_array().into_iter().flatten().filter_map(move |value| sensor(value, key, unit))
}

fn sensor(value: &Value, key: &str, unit: &str) -> Option<Sensor> {
    let name = value["Name"].as_str().or(value["FanName"].as_str())?;
    let status = match value["Status"]["Health"].as_str() {
        Some("OK") => Status::Ok,
        Some("Warning") => Status::NonCritical,
        Some("Critical") => Status::Critical,
        _ => Status::Unknown,
    };
    let unit = value["ReadingUnits"].as_str().filter(|unit| *unit != "RPM").unwrap_or(unit);
    let shown = |text: &str| printable(text.as_bytes());
    Some(Sensor { name: shown(name), value: value[key].as_f64(), unit: shown(unit), status })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sensor_that_is_absent_has_no_reading() {
        let all = serde_json::json!([
            {"Name": "CPU", "ReadingCelsius": 41.5, "Status": {"Health": "OK"}},
            {"Name": "Inlet", "ReadingCelsius": null, "Status": {"State": "Absent"}},
            {"ReadingCelsius": 1}
        ]);
        let all: Vec<Sensor> = list(&all, "ReadingCelsius", "degrees C").collect();
        let said: Vec<_> = all.iter().map(|one| (one.name.as_str(), one.value, one.status)).collect();
        assert_eq!(said, [("CPU", Some(41.5), Status::Ok), ("Inlet", None, Status::Unknown)]);
        let fan = serde_json::json!({"FanName": "Fan 1", "Reading": 30, "ReadingUnits": "Percent"});
        assert_eq!(sensor(&fan, "Reading", "RPM").map(|fan| fan.unit), Some("Percent".to_owned()));
    }
}
