//! Sensors and the system event log, by the lines that `ipmitool -c` prints.

use super::Ipmi;
use crate::bmc::health::{Event, Health, Sensor, Status};
use crate::bmc::{Access, Failure};
use crate::ssh::printable;

impl Health for Ipmi<'_> {
    fn sensors(&self, of: &[&Access]) -> Vec<Result<Vec<Sensor>, Failure>> {
        let read = |said: &str| Ok(said.lines().filter_map(sensor).collect());
        self.by_ipmitool("USER", &["-c", "sdr", "list", "full"], of, read)
    }

    fn events(&self, last: u32, of: &[&Access]) -> Vec<Result<Vec<Event>, Failure>> {
        let read = |said: &str| Ok(said.lines().filter_map(event).collect());
        self.by_ipmitool("USER", &["-c", "sel", "elist", "last", &last.to_string()], of, read)
    }
}

/// A line of a sensor: `MBTemp,45,degrees C,ok`. The name may have commas.
fn sensor(line: &str) -> Option<Sensor> {
    let mut parts = line.rsplitn(4, ',');
    let (status, unit, value, name) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let status = match status.trim() {
        "ok" => Status::Ok,
        "unc" | "lnc" | "nc" => Status::NonCritical,
        "ucr" | "lcr" | "cr" => Status::Critical,
        "unr" | "lnr" | "nr" => Status::NonRecoverable,
        // `ns`: no sensor; `disabled`.
        "ns" | "us" | "disabled" | "na" => Status::Unknown,
        _ => return None,
    };
    let shown = |text: &str| printable(text.as_bytes());
    let value = value.trim().parse::<f64>().ok().filter(|value| value.is_finite());
    Some(Sensor { name: shown(name), value, unit: shown(unit), status })
}

/// A line of the log: `3,11/26/2026,11:00:00,Temperature MBTemp,Upper Critical going high,Asserted,Reading 152 > ...`.
fn event(line: &str) -> Option<Event> {
    let mut parts = line.splitn(7, ',').map(|part| printable(part.as_bytes()));
    let (id, date, clock) = (parts.next()?, parts.next()?, parts.next()?);
    if id.is_empty() || !id.chars().all(|c| c.is_ascii_hexdigit()) {
        return None;
    }
    let (sensor, event) = (parts.next()?, parts.next()?);
    let begins = parts.next().and_then(|word| match word.as_str() {
        "Asserted" => Some(true),
        "Deasserted" => Some(false),
        _ => None,
    });
    let detail = parts.next().filter(|text| !text.is_empty());
    Some(Event { id, time: time(&date, &clock), sensor, event, begins, detail })
}

/// `11/26/2026` and `11:00:00` as `2026-11-26 11:00:00`.
fn time(date: &str, clock: &str) -> Option<String> {
    let parts: Vec<&str> = date.split('/').collect();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let [month, day, year] = parts[..] else { return None };
    if ![month, day, year].into_iter().all(is_number) {
        return None;
    }
    let century = if year.len() == 2 { "20" } else { "" };
    // Some versions add the zone: `11:00:00 UTC`.
    let clock = clock.split_whitespace().next()?;
    Some(format!("{century}{year}-{month}-{day} {clock}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sensor_without_a_reading_has_none() {
        let temp = sensor("MBTemp,45,degrees C,ok").unwrap();
        assert_eq!((temp.value, temp.unit.as_str(), temp.status), (Some(45.0), "degrees C", Status::Ok));
        let odd = sensor("Fan 1, left,na,RPM,ns").unwrap();
        assert_eq!((odd.name.as_str(), odd.value, odd.status), ("Fan 1, left", None, Status::Unknown));
        assert!(sensor("CPU,98,degrees C,ucr").unwrap().status.is_fault());
        for bad in [
            "",
            "Loading IANA PEN Registry...",
            "Get HPM.x Capabilities request failed, compcode = d4",
            "a,b,c,d",
        ] {
            assert_eq!(sensor(bad), None, "{bad}");
        }
    }

    #[test]
    fn an_event_has_the_time_of_the_bmc_if_its_clock_was_set() {
        let line = "3,11/26/2026,11:00:00,Temperature MBTemp,Upper Critical going high,Asserted,Reading 152 > 144, C";
        let one = event(line).unwrap();
        assert_eq!(one.time.as_deref(), Some("2026-11-26 11:00:00"));
        assert_eq!((one.begins, one.detail.as_deref()), (Some(true), Some("Reading 152 > 144, C")));
        let early = event("1, Pre-Init ,0000073938,Temperature #0x01,Device Disabled,Deasserted").unwrap();
        assert_eq!((early.time, early.begins, early.detail), (None, Some(false), None));
        assert_eq!(
            event("a1,11/26/26,11:00:00 UTC,x,y").unwrap().time.as_deref(),
            Some("2026-11-26 11:00:00")
        );
        for bad in ["", "SEL has no entries", "x,y,z,a,b"] {
            assert_eq!(event(bad), None, "{bad}");
        }
    }
}
