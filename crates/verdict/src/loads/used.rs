//! Use of the machine by a load, as documents show it: the parts of each core's time, and files from disks.

use model::doc::{CoreDoc, FilesDoc};
use model::metrics::load;

use super::Load;

/// Every core that was watched.
pub fn cores(load: &Load<'_>) -> Vec<CoreDoc> {
    let doc = |core: super::Core| CoreDoc {
        idle: 1.0 - core.taken(),
        cpu: core.cpu,
        role: core.role,
        user: core.user,
        system: core.system,
        softirq: core.softirq,
        steal: core.steal,
        generator: core.generator,
    };
    load.cores().into_iter().map(doc).collect()
}

/// `None` where nothing of it was read.
pub fn files(load: &Load<'_>) -> Option<FilesDoc> {
    let files = FilesDoc {
        disk_read: load.median(&load::DISK_READ),
        server_read: load.median(&load::SERVER_READ),
        refaults: load.median(&load::MEMORY_REFAULTS),
        server_cache: load.median(&load::SERVER_CACHE),
    };
    (files != FilesDoc::default()).then_some(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loads::of_run;
    use crate::loads::planted::one;

    #[test]
    fn the_parts_of_a_core_and_what_is_left() {
        let run = one(
            "connections=5",
            &[
                ("throughput", 1.0),
                ("core-busy;cpu=0;role=server", 0.9),
                ("core-user;cpu=0;role=server", 0.2),
                ("core-system;cpu=0;role=server", 0.5),
                ("core-softirq;cpu=0;role=server", 0.2),
                ("core-steal;cpu=0;role=server", 0.04),
                ("memory-refaults", 2000.0),
                ("disk-read", 8e6),
            ],
        );
        let all = of_run(&run, instruments::cards());
        let found = cores(&all[0]);
        assert_eq!((found.len(), found[0].role.as_str()), (1, "server"));
        let near =
            |value: Option<f64>, wanted: f64| value.is_some_and(|value| (value / wanted - 1.0).abs() < 0.01);
        assert!(near(found[0].system, 0.5) && near(Some(found[0].idle), 0.06), "{found:?}");
        let files = files(&all[0]).unwrap();
        assert!(near(files.refaults, 2000.0) && near(files.disk_read, 8e6), "{files:?}");
        assert_eq!(files.server_cache, None);
        let plain = one("connections=5", &[("throughput", 1.0)]);
        let all = of_run(&plain, instruments::cards());
        assert!(super::cores(&all[0]).is_empty() && super::files(&all[0]).is_none());
    }
}
