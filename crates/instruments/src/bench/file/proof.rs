//! Proof that the device did the work: its counters before and after a take, compared with the work requested.
//!
//! Other programs may use the device too, so a counter that is too high proves nothing; only a shortfall is evidence.

use model::Finding;
use model::finding::Recorded;

use super::device::{Device, Stat, WriteCache};

/// Less than this share of the bytes coming from the device means that a cache answered.
const SHARE: f64 = 0.9;

/// Counters at one moment, or why there are none.
type Counted<T> = Result<T, String>;

/// The device's state before a take.
#[derive(Debug)]
pub struct Before {
    stat: Counted<Stat>,
    flushes: Counted<u64>,
}

/// The device, or why it is not known.
pub type Known = Result<Device, String>;

fn ask<T>(device: &Known, of: impl FnOnce(&Device) -> Counted<T>) -> Counted<T> {
    device.as_ref().map_err(Clone::clone).and_then(of)
}

pub fn before(device: &Known) -> Before {
    Before { stat: ask(device, Device::stat), flushes: ask(device, Device::flushes) }
}

/// Bytes that the device has read since `before`.
pub fn read_since(device: &Known, before: &Before) -> Counted<u64> {
    let now = ask(device, Device::stat)?.read_bytes;
    Ok(now.saturating_sub(before.stat.clone()?.read_bytes))
}

/// After a take that read `bytes`: what is wrong with that, if anything.
pub fn reads(device: &Known, before: &Before, bytes: u64) -> Option<Finding> {
    judge_reads(read_since(device, before), bytes)
}

/// After a take with `syncs` writes made durable: what is wrong with that, if anything.
pub fn syncs(device: &Known, before: &Before, syncs: u64) -> Option<Finding> {
    let cache = ask(device, Device::write_cache);
    let risen = || Ok(ask(device, Device::flushes)?.saturating_sub(before.flushes.clone()?));
    judge_syncs(cache, risen(), syncs)
}

#[expect(clippy::cast_precision_loss, reason = "bytes of a take stay far below 2^53")]
fn judge_reads(risen: Counted<u64>, bytes: u64) -> Option<Finding> {
    match risen {
        Err(why) => Some(Finding::new(Recorded::ReadsUnknown(why))),
        Ok(risen) if (risen as f64) < SHARE * bytes as f64 => {
            Some(Finding::new(Recorded::PageCache { device_bytes: risen, read_bytes: bytes }))
        }
        Ok(_) => None,
    }
}

fn judge_syncs(cache: Counted<WriteCache>, risen: Counted<u64>, syncs: u64) -> Option<Finding> {
    match (cache, risen) {
        (Ok(WriteCache::Through), _) => None,
        (Err(why), _) | (_, Err(why)) => Some(Finding::new(Recorded::SyncsUnknown(why))),
        (Ok(WriteCache::Back), Ok(flushes)) => {
            let is_rare = flushes == 0 || flushes.saturating_mul(2) < syncs;
            is_rare.then(|| Finding::new(Recorded::Flush { flushes, syncs }))
        }
    }
}

#[cfg(test)]
mod tests {
    use model::Validity;

    use super::*;

    fn state(finding: Option<Finding>) -> Option<Validity> {
        finding.map(|finding| finding.state)
    }

    #[test]
    fn reads_that_the_device_did_not_do_are_invalid() {
        assert_eq!(state(judge_reads(Ok(4096 * 100), 4096 * 100)), None);
        assert_eq!(state(judge_reads(Ok(4096 * 999), 4096 * 100)), None);
        assert_eq!(state(judge_reads(Ok(4096 * 50), 4096 * 100)), Some(Validity::Invalid));
        assert_eq!(state(judge_reads(Ok(0), 4096)), Some(Validity::Invalid));
        assert_eq!(state(judge_reads(Err("no".to_owned()), 4096)), Some(Validity::Unknown));
    }

    #[test]
    fn syncs_without_flushes_are_invalid() {
        let judge = |cache, risen| state(judge_syncs(cache, risen, 100));
        assert_eq!(judge(Ok(WriteCache::Back), Ok(0)), Some(Validity::Invalid));
        assert_eq!(judge(Ok(WriteCache::Back), Ok(10)), Some(Validity::Doubtful));
        assert_eq!(judge(Ok(WriteCache::Back), Ok(100)), None);
        assert_eq!(judge(Ok(WriteCache::Through), Ok(0)), None);
        assert_eq!(judge(Ok(WriteCache::Through), Err("old".to_owned())), None);
        assert_eq!(judge(Ok(WriteCache::Back), Err("old".to_owned())), Some(Validity::Unknown));
        assert_eq!(judge(Err("none".to_owned()), Ok(5)), Some(Validity::Unknown));
    }

    #[test]
    fn the_sentence_has_the_numbers() {
        let finding = judge_syncs(Ok(WriteCache::Back), Ok(0), 42).unwrap();
        assert_eq!(
            finding.text(),
            "syncs returned before the data was safe: the device has a volatile write cache, and its flush \
             counter did not move in 42 syncs"
        );
        assert_eq!(finding.evidence()["syncs"], 42.0);
    }
}
