//! The power of a node by IPMI: DCMI, else a sensor in watts.

use std::sync::PoisonError;

use super::{Ipmi, Way, ipmitool};
use crate::bmc::health::{Health as _, Sensor};
use crate::bmc::watts::{WallWatts, power};
use crate::bmc::{Access, Failure};

impl WallWatts for Ipmi<'_> {
    fn watts(&self, of: &[&Access]) -> Vec<Result<f64, Failure>> {
        of.iter().map(|access| self.watts_of(access)).collect()
    }
}

impl Ipmi<'_> {
    fn watts_of(&self, access: &Access) -> Result<f64, Failure> {
        let place = (access.ip, access.port);
        let way = self.ways.lock().unwrap_or_else(PoisonError::into_inner).get(&place).cloned();
        let (way, watts) = match way {
            Some(Way::Dcmi(privilege)) => return self.dcmi(privilege, access),
            Some(Way::Sensors(names)) => return self.sum(access, &names),
            None => match self.by_dcmi(access) {
                Ok(found) => found,
                // It answers, and has no DCMI.
                Err(Failure::Error { .. } | Failure::Other { .. } | Failure::Privilege) => {
                    self.by_sensor(access)?
                }
                Err(failure) => return Err(failure),
            },
        };
        self.ways.lock().unwrap_or_else(PoisonError::into_inner).insert(place, way);
        Ok(watts)
    }

    /// As a user, which is enough by the standard; else as an administrator, which some BMCs ask for.
    fn by_dcmi(&self, access: &Access) -> Result<(Way, f64), Failure> {
        let (user, administrator) = ("USER", "ADMINISTRATOR");
        match self.dcmi(user, access) {
            Err(Failure::Privilege) => {
                self.dcmi(administrator, access).map(|watts| (Way::Dcmi(administrator), watts))
            }
            answer => answer.map(|watts| (Way::Dcmi(user), watts)),
        }
    }

    fn dcmi(&self, privilege: &str, access: &Access) -> Result<f64, Failure> {
        self.one(privilege, access, &["dcmi", "power", "reading"], dcmi)
    }

    fn by_sensor(&self, access: &Access) -> Result<(Way, f64), Failure> {
        let all = self.sensors(&[access]).pop().unwrap_or(Err(Failure::Interrupted))?;
        let (names, watts) = chosen(&all)?;
        Ok((Way::Sensors(names), power(watts)?))
    }

    fn sum(&self, access: &Access, names: &[String]) -> Result<f64, Failure> {
        let words: Vec<&str> =
            ["-c", "sensor", "reading"].into_iter().chain(names.iter().map(String::as_str)).collect();
        self.one("USER", access, &words, |said| sum(said, names))
    }

    fn one(
        &self,
        privilege: &str,
        access: &Access,
        words: &[&str],
        read: impl Fn(&str) -> Result<f64, Failure> + Sync,
    ) -> Result<f64, Failure> {
        self.by_ipmitool(privilege, words, &[access], read).pop().unwrap_or(Err(Failure::Interrupted))
    }
}

/// `Instantaneous power reading: 123 Watts`.
fn dcmi(said: &str) -> Result<f64, Failure> {
    let told = said.lines().find_map(|line| line.trim().strip_prefix("Instantaneous power reading:"));
    let watts = told.and_then(|rest| rest.trim().strip_suffix("Watts")?.trim().parse::<f64>().ok());
    let is_off = said.lines().any(|line| line.contains("state is:") && line.contains("deactivated"));
    match watts {
        Some(_) if is_off => {
            Err(Failure::Other { said: "its BMC does not measure power now (DCMI)".to_owned() })
        }
        Some(watts) => power(watts),
        None => Err(ipmitool::other(said)),
    }
}

/// The sensor of the whole node: by its name, or the only one in watts, or all of its power supplies together.
fn chosen(all: &[Sensor]) -> Result<(Vec<String>, f64), Failure> {
    let in_watts: Vec<(&str, f64)> = all
        .iter()
        .filter(|sensor| sensor.unit == "Watts")
        .filter_map(|sensor| Some((sensor.name.as_str(), sensor.value?)))
        .collect();
    let is_whole = |name: &str| {
        let name = name.to_lowercase();
        ["consumption", "system", "sys ", "sys_", "total", "input power"]
            .iter()
            .any(|word| name.contains(word))
    };
    let is_supply = |name: &str| {
        let name = name.to_lowercase();
        name.starts_with("ps") || name.contains("psu") || name.contains("power supply")
    };
    let one = |(name, watts): &(&str, f64)| (vec![(*name).to_owned()], *watts);
    if let Some(found) = in_watts.iter().find(|(name, _)| is_whole(name) && !is_supply(name)) {
        return Ok(one(found));
    }
    match in_watts.as_slice() {
        [] => Err(Failure::Missing { path: "reading of its power (DCMI, or a sensor in watts)".to_owned() }),
        [found] => Ok(one(found)),
        several if several.iter().all(|(name, _)| is_supply(name)) => {
            let names = several.iter().map(|(name, _)| (*name).to_owned()).collect();
            Ok((names, several.iter().map(|(_, watts)| watts).sum()))
        }
        several => {
            let names: Vec<&str> = several.iter().map(|(name, _)| *name).collect();
            let said =
                format!("its sensors do not say which of them is of the whole node: {}", names.join(", "));
            Err(Failure::Other { said })
        }
    }
}

/// `NAME,348` for each of these sensors; without one of them there is no sum.
fn sum(said: &str, names: &[String]) -> Result<f64, Failure> {
    let of = |name: &String| {
        let rest = said.lines().find_map(|line| line.strip_prefix(name.as_str())?.strip_prefix(','))?;
        rest.split(',').next()?.trim().parse::<f64>().ok().filter(|watts| watts.is_finite())
    };
    let all: Option<Vec<f64>> = names.iter().map(of).collect();
    power(all.ok_or_else(|| ipmitool::other(said))?.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bmc::health::Status;

    fn sensors(all: &[(&str, f64)]) -> Vec<Sensor> {
        let one = |(name, value): &(&str, f64)| Sensor {
            name: (*name).to_owned(),
            value: Some(*value),
            unit: "Watts".to_owned(),
            status: Status::Ok,
        };
        all.iter().map(one).collect()
    }

    #[test]
    fn dcmi_is_read_and_a_zero_is_no_reading() {
        let said = "\n    Instantaneous power reading:                  1234 Watts\n    Power reading state is:  activated\n";
        assert_eq!(dcmi(said), Ok(1234.0));
        assert!(dcmi(&said.replace("1234", "0")).is_err());
        assert!(dcmi(&said.replace(" activated", " deactivated")).is_err());
        assert!(dcmi("").is_err());
    }

    #[test]
    fn the_sensor_of_the_whole_node_is_chosen() {
        let of = |all: &[(&str, f64)]| chosen(&sensors(all));
        assert_eq!(
            of(&[("CPU Power", 90.0), ("Pwr Consumption", 348.0)]),
            Ok((vec!["Pwr Consumption".to_owned()], 348.0))
        );
        assert_eq!(of(&[("Node", 80.0)]).map(|one| one.1), Ok(80.0));
        assert_eq!(of(&[("PSU1 Power In", 80.0), ("PSU2 Power In", 85.0)]).map(|one| one.1), Ok(165.0));
        assert_eq!(of(&[]).unwrap_err().word(), "missing");
        assert!(
            of(&[("CPU", 1.0), ("DIMM", 2.0)]).unwrap_err().to_string().ends_with("whole node: CPU, DIMM")
        );
        let names = ["A, left".to_owned(), "B".to_owned()];
        assert_eq!(sum("A, left,40\nB,2.5\n", &names), Ok(42.5));
        assert!(sum("A, left,40\nB,na\n", &names).is_err());
    }
}
