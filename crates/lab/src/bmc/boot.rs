//! Where nodes boot from next, as their BMCs say it.

use super::{Access, Failure};

model::words! {
    /// The source that a node boots from.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Device as word {
        /// As its own setup says.
        None = "none",
        Pxe = "pxe",
        Disk = "disk",
        Cdrom = "cdrom",
        /// Its setup is shown.
        Bios = "bios",
    }
}

/// A setting of a node's next boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Boot {
    pub device: Device,
    /// For all boots, not for the next one alone.
    pub persistent: bool,
    /// By EFI, where it can do both.
    pub efi: bool,
}

impl Boot {
    /// In words: `pxe, next boot`.
    pub fn says(&self) -> String {
        let when = match (self.device, self.persistent) {
            (Device::None, _) => "",
            (_, true) => ", every boot",
            (_, false) => ", next boot",
        };
        format!("{}{when}{}", self.device.word(), if self.efi { ", by EFI" } else { "" })
    }
}

/// A way to say and to set what nodes boot from. Results are in the order of the BMCs.
pub trait Boots {
    fn boots(&self, of: &[&Access]) -> Vec<Result<Boot, Failure>>;
    fn set(&self, boot: Boot, of: &[&Access]) -> Vec<Result<(), Failure>>;
}

/// Sets what each node boots from, and reads it back: a BMC may take a request and forget a part of it.
pub fn set(boots: &dyn Boots, boot: Boot, of: &[&Access]) -> Vec<Result<Boot, Failure>> {
    let taken = boots.set(boot, of);
    let asked: Vec<&Access> =
        of.iter().zip(&taken).filter(|(_, taken)| taken.is_ok()).map(|(access, _)| *access).collect();
    let mut read = boots.boots(&asked).into_iter();
    let one = |taken: Result<(), Failure>| {
        taken?;
        match read.next().unwrap_or(Err(Failure::Interrupted))? {
            // Without a wish each way will do.
            now if now.device == boot.device
                && now.persistent == boot.persistent
                && (now.efi || !boot.efi) =>
            {
                Ok(now)
            }
            now => Err(Failure::Otherwise { says: now.says() }),
        }
    };
    taken.into_iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bmc::ipmi::tests::access;

    /// BMCs by port: 1 refuses, 2 forgets `persistent`, others do as they are told.
    struct Planted(std::cell::Cell<Option<Boot>>);

    impl Boots for Planted {
        fn boots(&self, of: &[&Access]) -> Vec<Result<Boot, Failure>> {
            let told = self.0.get().unwrap();
            of.iter().map(|access| Ok(Boot { persistent: access.port != 2, ..told })).collect()
        }

        fn set(&self, boot: Boot, of: &[&Access]) -> Vec<Result<(), Failure>> {
            self.0.set(Some(boot));
            of.iter().map(|access| if access.port == 1 { Err(Failure::Privilege) } else { Ok(()) }).collect()
        }
    }

    #[test]
    fn what_was_set_is_read_back() {
        let all: Vec<Access> = (0..4).map(|port| access("a", "127.0.0.1", port)).collect();
        let boot = Boot { device: Device::Pxe, persistent: true, efi: false };
        let states = set(&Planted(std::cell::Cell::new(None)), boot, &all.iter().collect::<Vec<_>>());
        let forgot = Failure::Otherwise { says: "pxe, next boot".to_owned() };
        assert_eq!(states, [Ok(boot), Err(Failure::Privilege), Err(forgot), Ok(boot)]);
    }
}
