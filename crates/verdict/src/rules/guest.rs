//! Disks of a virtual machine: what is behind them is unknown, and so whether a write that is confirmed is safe, and
//! whether a read came from the medium or from a cache of the host.

use model::finding::Guest;
use model::{Family, Host};

use crate::noise;
use crate::ruling::Ruling;
use crate::run_index::RunIndex;

pub fn rule(index: &RunIndex<'_>) -> Vec<Ruling> {
    let disks = index.figures().filter(|row| index.family(*row) == Some(Family::Disk));
    match noise::host(index.run) {
        Host::Virtual => disks.map(|row| Ruling::about(row.subject(), Guest, vec![row.index])).collect(),
        Host::Bare | Host::Unknown => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use model::data::RunData;
    use model::{Fact, Validity};

    use super::*;
    use crate::loads::planted::one;
    use crate::run_index::RunContext;

    #[test]
    fn a_virtual_disk_is_what_the_guest_sees() {
        let says = |run: &RunData| {
            let context = RunContext { cards: instruments::cards(), ..RunContext::default() };
            rule(&RunIndex::new(run, &context))
        };
        let mut run = one("op=append", &[("response-time", 1e-3)]);
        run.series[0].key.instrument = "disk-fsync".to_owned();
        assert!(says(&run).is_empty());
        run.facts.push(Fact::text("virt.kind", "kvm", "planted"));
        let found = says(&run);
        assert_eq!((found.len(), found[0].finding.state), (1, Validity::Unknown));
        assert!(found[0].finding.text().ends_with("as the guest sees it; the medium is unknown"));
        run.series[0].key.instrument = "crc32c".to_owned();
        assert!(says(&run).is_empty());
    }
}
