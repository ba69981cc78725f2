//! `low-memory`: a 32-bit kernel with more memory than it can have mapped.

use super::{Conclusion, Evidence, Several, Validity, evidence};
use crate::format::quantity;
use crate::unit::Unit;

/// Bytes of a machine whose kernel has 32 bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LowMemory {
    /// The part that the kernel has mapped (`LowTotal`); `None` where it was not read.
    pub low: Option<f64>,
    pub all: f64,
}

impl LowMemory {
    /// The most that a 32-bit kernel maps where each process has 3 GiB of addresses.
    pub const MOST: f64 = 896.0 * 1024.0 * 1024.0;
}

impl Conclusion for LowMemory {
    fn kind(&self) -> &str {
        "low-memory"
    }

    fn state(&self) -> Validity {
        Validity::Doubtful
    }

    fn one(&self) -> String {
        let all = quantity(self.all, Unit::Byte);
        let part = match self.low {
            Some(low) => format!("{} of {all}", quantity(low, Unit::Byte)),
            None => format!("at most {} of {all}", quantity(LowMemory::MOST, Unit::Byte)),
        };
        format!(
            "files may be served from disks that a 64-bit kernel would keep in memory: this kernel has 32 bits and maps \
             {part}; inodes, directories and network buffers must lie there, cached files leave with them, and a process \
             can use 3 GiB; run a 64-bit kernel"
        )
    }

    fn brief(_all: &Several<'_, LowMemory>) -> Option<String> {
        Some("files may come from disks: a 32-bit kernel cannot map all memory".to_owned())
    }

    fn evidence(&self) -> Evidence {
        let mut all = evidence([("bytes", self.all)]);
        all.extend(self.low.map(|low| ("low_bytes".to_owned(), low)));
        all
    }
}
