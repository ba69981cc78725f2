//! The source that nodes boot from, by IPMI: parameter 5 of the boot options.

use super::Ipmi;
use super::ipmitool::other;
use crate::bmc::boot::{Boot, Boots, Device};
use crate::bmc::{Access, Failure};

/// Bits of the first byte of the parameter.
const PERSISTENT: u8 = 0x40;
const EFI: u8 = 0x20;

impl Boots for Ipmi<'_> {
    fn boots(&self, of: &[&Access]) -> Vec<Result<Boot, Failure>> {
        self.by_ipmitool("OPERATOR", &["chassis", "bootparam", "get", "5"], of, read)
    }

    fn set(&self, boot: Boot, of: &[&Access]) -> Vec<Result<(), Failure>> {
        let options: Vec<&str> = [("persistent", boot.persistent), ("efiboot", boot.efi)]
            .into_iter()
            .filter_map(|(word, wanted)| wanted.then_some(word))
            .collect();
        let options = format!("options={}", options.join(","));
        let mut words = vec!["chassis", "bootdev", boot.device.word()];
        if options != "options=" {
            words.push(&options);
        }
        self.by_ipmitool("OPERATOR", &words, of, |_| Ok(()))
    }
}

/// Reads the bytes of the parameter: `Boot parameter data: 8004000000`.
fn read(said: &str) -> Result<Boot, Failure> {
    let data = said.lines().find_map(|line| line.trim().strip_prefix("Boot parameter data: "));
    let byte = |at: usize| u8::from_str_radix(data?.get(2 * at..2 * at + 2)?, 16).ok();
    let (Some(flags), Some(device)) = (byte(0), byte(1)) else { return Err(other(said)) };
    let device = match (device >> 2) & 0xf {
        0 => Device::None,
        1 => Device::Pxe,
        2 => Device::Disk,
        5 => Device::Cdrom,
        6 => Device::Bios,
        other => return Err(Failure::Otherwise { says: format!("device {other} of IPMI") }),
    };
    Ok(Boot { device, persistent: flags & PERSISTENT != 0, efi: flags & EFI != 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_the_parameter_are_read() {
        let of = |data: &str| {
            read(&format!("Boot parameter version: 1\nBoot parameter data: {data}\n Boot Flags :\n"))
        };
        assert_eq!(of("8004000000"), Ok(Boot { device: Device::Pxe, persistent: false, efi: false }));
        assert_eq!(of("e018000000"), Ok(Boot { device: Device::Bios, persistent: true, efi: true }));
        assert_eq!(of("0000000000").map(|boot| boot.says()), Ok("none".to_owned()));
        for bad in ["", "8", "zz04", "80\u{e4}"] {
            assert!(of(bad).is_err(), "{bad}");
        }
        assert!(of("803c000000").unwrap_err().to_string().contains("device 15"));
    }
}
