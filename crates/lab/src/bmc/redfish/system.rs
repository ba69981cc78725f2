//! Power and boot of a system, by Redfish.

use serde_json::{Value, json};

use super::{Redfish, Service, is_path, link, members};
use crate::bmc::boot::{Boot, Boots, Device};
use crate::bmc::{Access, Failure, Power, Request, State};
use crate::ssh::printable;

impl Service<'_> {
    /// The only system of this BMC.
    pub(super) fn system(&self) -> Result<Value, Failure> {
        let all = members(&self.get("/redfish/v1/Systems")?);
        match all.as_slice() {
            [one] => self.get(one),
            all => Err(Failure::Other {
                said: format!("its BMC manages {} systems, and which one is meant is not said", all.len()),
            }),
        }
    }
}

impl Power for Redfish<'_> {
    fn states(&self, of: &[&Access]) -> Vec<Result<State, Failure>> {
        self.each(of, |service| state(&service.system()?))
    }

    fn ask(&self, request: Request, of: &[&Access]) -> Vec<Result<(), Failure>> {
        let kind = match request {
            Request::On => "On",
            Request::Off => "ForceOff",
            Request::Soft => "GracefulShutdown",
            Request::Reset => "ForceRestart",
        };
        self.each(of, |service| {
            let system = service.system()?;
            let target = system["Actions"]["#ComputerSystem.Reset"]["target"].as_str();
            let target = target.filter(|path| is_path(path)).ok_or_else(|| lacks("a reset action"))?;
            service.call("POST", target, Some(&json!({ "ResetType": kind }))).map(|_| ())
        })
    }
}

impl Boots for Redfish<'_> {
    fn boots(&self, of: &[&Access]) -> Vec<Result<Boot, Failure>> {
        self.each(of, |service| boot(&service.system()?["Boot"]))
    }

    fn set(&self, boot: Boot, of: &[&Access]) -> Vec<Result<(), Failure>> {
        let target = match boot.device {
            Device::None => "None",
            Device::Pxe => "Pxe",
            Device::Disk => "Hdd",
            Device::Cdrom => "Cd",
            Device::Bios => "BiosSetup",
        };
        let enabled = match (boot.device, boot.persistent) {
            (Device::None, _) => "Disabled",
            (_, true) => "Continuous",
            (_, false) => "Once",
        };
        let mut wanted = json!({ "BootSourceOverrideTarget": target, "BootSourceOverrideEnabled": enabled });
        if boot.efi {
            wanted["BootSourceOverrideMode"] = json!("UEFI");
        }
        self.each(of, |service| {
            let path = link(&service.system()?).ok_or_else(|| lacks("a path of the system"))?;
            service.call("PATCH", &path, Some(&json!({ "Boot": wanted }))).map(|_| ())
        })
    }
}

fn lacks(what: &str) -> Failure {
    Failure::Other { said: format!("its BMC does not tell {what}") }
}

/// The state of a system. On the way to a state it is not there yet.
fn state(system: &Value) -> Result<State, Failure> {
    match system["PowerState"].as_str() {
        Some("On" | "PoweringOff") => Ok(State::On),
        Some("Off" | "PoweringOn") => Ok(State::Off),
        Some(other) => Err(Failure::Other { said: format!("its power is {}", printable(other.as_bytes())) }),
        None => Err(lacks("whether it is on")),
    }
}

fn boot(settings: &Value) -> Result<Boot, Failure> {
    let enabled = settings["BootSourceOverrideEnabled"].as_str();
    let device = match settings["BootSourceOverrideTarget"].as_str() {
        _ if enabled == Some("Disabled") => Device::None,
        Some("None") => Device::None,
        Some("Pxe") => Device::Pxe,
        Some("Hdd") => Device::Disk,
        Some("Cd") => Device::Cdrom,
        Some("BiosSetup") => Device::Bios,
        Some(other) => return Err(Failure::Otherwise { says: printable(other.as_bytes()) }),
        None => return Err(lacks("what it boots from")),
    };
    let persistent = device != Device::None && enabled == Some("Continuous");
    let efi = settings["BootSourceOverrideMode"].as_str() == Some("UEFI");
    Ok(Boot { device, persistent, efi })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_on_its_way_is_not_there() {
        let of = |word: &str| state(&json!({ "PowerState": word }));
        assert_eq!(of("On"), Ok(State::On));
        assert_eq!(of("PoweringOn"), Ok(State::Off));
        assert_eq!(of("PoweringOff"), Ok(State::On));
        assert!(of("Paused").is_err() && state(&Value::Null).is_err());
    }

    #[test]
    fn boot_settings_are_read() {
        let of = |target: &str, enabled: &str| {
            boot(&json!({"BootSourceOverrideTarget": target, "BootSourceOverrideEnabled": enabled}))
        };
        assert_eq!(of("Pxe", "Once"), Ok(Boot { device: Device::Pxe, persistent: false, efi: false }));
        assert_eq!(of("Hdd", "Continuous").map(|boot| boot.says()), Ok("disk, every boot".to_owned()));
        assert_eq!(of("Pxe", "Disabled").map(|boot| boot.device), Ok(Device::None));
        assert!(of("Floppy", "Once").is_err() && boot(&Value::Null).is_err());
    }
}
