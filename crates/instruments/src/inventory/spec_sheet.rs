//! All scans of the inventory, in the order of a spec sheet.

use model::Fact;

use super::scan::Scan;
use crate::system_files::Root;

/// Every scan, in the order of a spec sheet.
pub static SCANS: &[&Scan] = &[
    super::inventory_platform::INSTRUMENT,
    super::inventory_cpu::INSTRUMENT,
    super::inventory_cache::INSTRUMENT,
    super::inventory_isa::INSTRUMENT,
    super::inventory_memory::INSTRUMENT,
    super::inventory_disk::INSTRUMENT,
    super::inventory_net::INSTRUMENT,
    super::inventory_pcie::INSTRUMENT,
    super::inventory_power::INSTRUMENT,
    super::inventory_limits::INSTRUMENT,
];

/// All facts of a machine.
pub fn all_facts(root: &Root) -> Vec<Fact> {
    SCANS.iter().flat_map(|scan| (scan.scan)(root)).collect()
}
