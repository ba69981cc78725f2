//! Content that is read from the disk: dropped from the page cache before a take, proven by what the disk read in it.
//!
//! Bytes. The disk's own cache, and that of the host of a virtual machine, are not reached.

use std::path::Path;

use model::{Fault, Params, Record};

use super::pool::Hosted;
use super::subject::Subject;
use crate::bench::file::device::Device;
use crate::bench::file::proof::{self, Before, Known};
use crate::load::Outcome;
use crate::telemetry::parse::float;
use crate::workload::server::content::{Content, Item, Set};

/// Of the bytes that a mix is expected to need: which files were asked for is a matter of chance.
const CHANCE: f64 = 0.5;

/// True if a load asks for content from the disk. Fails, with the reason, when it cannot have it.
pub fn is_asked(params: &Params, subject: &Subject) -> Result<bool, String> {
    if params.get("cache") != Some("cold") {
        return Ok(false);
    }
    let Subject::Managed { kind, set, .. } = subject else {
        return Err("cache=cold: the files of a server that is not ours are not known".to_owned());
    };
    match set {
        Set::Mix | Set::Own if kind.name() == "builtin" => {
            Err("cache=cold: the builtin server holds such files in its own memory: take server=nginx"
                .to_owned())
        }
        Set::Mix | Set::Large | Set::Own => Ok(true),
        set => Err(format!(
            "cache=cold: content={} is read once and then cached: take mix, large or own",
            set.name()
        )),
    }
}

/// A take with its content on the disk.
#[derive(Debug)]
pub struct Cold {
    device: Known,
    before: Before,
}

impl Cold {
    /// Drops the content from the cache. Fails when it stays there.
    pub fn before(hosted: &Hosted) -> Result<Cold, Fault> {
        hosted.content().leave_cache().map_err(|why| Fault::new(format!("cache=cold: {why}")))?;
        let device = Device::under(Path::new("/sys"), hosted.content().root());
        Ok(Cold { before: proof::before(&device), device })
    }

    /// Refuses a take whose answers did not come from the disk.
    pub fn after(&self, content: &Content, outcome: &Outcome, record: &mut dyn Record) {
        let least = needed(content.set, &content.items, outcome.record.good).min(outcome.record.body_bytes);
        if let Some(finding) = proof::reads(&self.device, &self.before, least) {
            record.refuse(finding.about(model::Subject::instrument("web")));
        }
    }
}

/// Bytes that the disk must deliver for so many answers: each file once.
fn needed(set: Set, items: &[Item], answers: u64) -> u64 {
    let weights: f64 = items.iter().map(|item| f64::from(item.weight)).sum();
    let expected: f64 = items
        .iter()
        .map(|item| float(item.bytes) * (1.0 - (1.0 - f64::from(item.weight) / weights).powf(float(answers))))
        .sum();
    let sure = if matches!(set, Set::Mix | Set::Own) { CHANCE } else { 1.0 };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "bytes of files, not negative"
    )]
    let bytes = (expected * sure) as u64;
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::server::content::Limits;
    use crate::workload::server::installed;
    use crate::workload::server::options::Options;

    #[test]
    fn every_file_is_needed_once() {
        let item = |bytes, weight| Item { path: "/x".to_owned(), bytes, weight };
        assert_eq!(needed(Set::Large, &[item(1000, 1)], 1), 1000);
        assert_eq!(needed(Set::Large, &[item(1000, 1)], 50), 1000);
        let two = [item(1000, 3), item(8000, 1)];
        // 3/4 of 1000 and 1/4 of 8000, of which half may be missing by chance.
        assert_eq!(needed(Set::Mix, &two, 1), 1375);
        assert_eq!(needed(Set::Mix, &two, 10_000), 4500);
        assert_eq!(needed(Set::Mix, &two, 0), 0);
    }

    #[test]
    fn only_what_stays_on_the_disk_can_be_cold() {
        let subject = |name: &str, set| Subject::Managed {
            kind: installed::find(name).unwrap(),
            options: Box::new(Options::default()),
            set,
            limits: Limits::default(),
        };
        let asked = |subject: &Subject, cache: &str| {
            is_asked(&Params::parse(&format!("cache={cache}")).unwrap(), subject)
        };
        assert_eq!(asked(&subject("nginx", Set::Mix), "cold"), Ok(true));
        assert_eq!(asked(&subject("builtin", Set::Large), "cold"), Ok(true));
        assert_eq!(asked(&subject("builtin", Set::Mix), "warm"), Ok(false));
        for (subject, says) in [
            (subject("builtin", Set::Mix), "own memory"),
            (subject("nginx", Set::K1), "content=1k"),
            (Subject::Url("http://a/".parse().unwrap()), "not ours"),
        ] {
            assert!(asked(&subject, "cold").unwrap_err().contains(says), "{says}");
        }
    }
}
