//! Units as studies print them, with the factor to the base unit.

use crate::names::instrument;
use crate::unit::Unit;

/// The units that are known by these names.
pub const UNITS: [&str; 14] =
    ["1/s", "MB/s", "GB/s", "B/us", "s", "ms", "us", "ns", "B", "KiB", "W", "1", "share", "ratio"];

/// The base unit of a printed unit, and the factor to it. A MB is 2^20 bytes in the programs of RAMCloud.
pub fn unit(printed: &str, instrument: &str) -> Option<(Unit, f64)> {
    let binary = [instrument::CRC32C, instrument::RABIN, instrument::MAC, instrument::KV_BASIC];
    let is_binary = binary.contains(&instrument);
    Some(match printed {
        "MB/s" if is_binary => (Unit::BytesPerSec, 1_048_576.0),
        "GB/s" if is_binary => (Unit::BytesPerSec, 1_073_741_824.0),
        "MB/s" => (Unit::BytesPerSec, 1e6),
        "GB/s" => (Unit::BytesPerSec, 1e9),
        "B/us" => (Unit::BytesPerSec, 1e6),
        "s" => (Unit::Second, 1.0),
        "ms" => (Unit::Second, 1e-3),
        "us" => (Unit::Second, 1e-6),
        "ns" => (Unit::Second, 1e-9),
        "1/s" => (Unit::PerSec, 1.0),
        "B" => (Unit::Byte, 1.0),
        "KiB" => (Unit::Byte, 1024.0),
        "W" => (Unit::Watt, 1.0),
        "1" => (Unit::Count, 1.0),
        "share" | "ratio" => (Unit::Ratio, 1.0),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_unit_and_programs_of_ramcloud_count_in_powers_of_two() {
        assert!(UNITS.iter().all(|name| unit(name, "web").is_some()));
        assert_eq!(unit("MB/s", "mem-bandwidth"), Some((Unit::BytesPerSec, 1e6)));
        assert_eq!(unit("MB/s", "crc32c"), Some((Unit::BytesPerSec, 1_048_576.0)));
        assert_eq!(unit("kg", "web"), None);
    }
}
