//! The use of the nodes of a cluster while a job ran, stretch by stretch.
//!
//! Whole milliseconds of CPU time and bytes. What could not be read is missing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Stretches that are kept of a node at most; of a longer job each is longer.
pub const MOST_STRETCHES: usize = 600;

/// A node, with its stretches in order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeUse {
    pub node: String,
    pub stretches: Vec<Stretch>,
}

/// The use between two looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stretch {
    /// Milliseconds since the job was submitted.
    pub from_ms: u64,
    pub to_ms: u64,
    /// CPU time of the node's processes, in milliseconds.
    pub user_ms: Option<u64>,
    pub system_ms: Option<u64>,
    /// Bytes that its processes read from disk, and gave to be written.
    pub read: Option<u64>,
    pub written: Option<u64>,
    /// Bytes over its link.
    pub received: Option<u64>,
    pub sent: Option<u64>,
}

impl Stretch {
    /// Both, where this one goes on where the other ended.
    #[must_use]
    pub fn joined(self, next: Stretch) -> Stretch {
        let sum = |of: fn(&Stretch) -> Option<u64>| Some(of(&self)?.saturating_add(of(&next)?));
        Stretch {
            from_ms: self.from_ms,
            to_ms: next.to_ms,
            user_ms: sum(|one| one.user_ms),
            system_ms: sum(|one| one.system_ms),
            read: sum(|one| one.read),
            written: sum(|one| one.written),
            received: sum(|one| one.received),
            sent: sum(|one| one.sent),
        }
    }
}

impl NodeUse {
    /// The sum over its stretches; `None` where one is not known, or there is none.
    pub fn sum(&self, of: fn(&Stretch) -> Option<u64>) -> Option<u64> {
        let all: Option<Vec<u64>> = self.stretches.iter().map(of).collect();
        all.filter(|all| !all.is_empty()).map(|all| all.into_iter().fold(0, u64::saturating_add))
    }

    /// Adds a stretch. Where there are too many, each two become one, and it is true.
    pub fn push(&mut self, stretch: Stretch) -> bool {
        self.stretches.push(stretch);
        let is_full = self.stretches.len() >= MOST_STRETCHES;
        if is_full {
            let join = |pair: &[Stretch]| pair.iter().copied().reduce(Stretch::joined);
            self.stretches = self.stretches.chunks(2).filter_map(join).collect();
        }
        is_full
    }

    /// Adds the last stretch, which may be short: it becomes part of the one before, where there is one.
    pub fn end(&mut self, stretch: Stretch) {
        let before = self.stretches.pop();
        self.stretches.push(before.map_or(stretch, |before| before.joined(stretch)));
    }

    /// It since a moment of its clock, without what was before.
    #[must_use]
    pub fn since(self, from_ms: u64) -> NodeUse {
        let later = |one: Stretch| Stretch {
            from_ms: one.from_ms.saturating_sub(from_ms),
            to_ms: one.to_ms.saturating_sub(from_ms),
            ..one
        };
        let stretches = self.stretches.into_iter().filter(|one| one.from_ms >= from_ms).map(later).collect();
        NodeUse { stretches, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretch(from_ms: u64, user_ms: Option<u64>) -> Stretch {
        Stretch { from_ms, to_ms: from_ms + 1_000, user_ms, sent: Some(5), ..Stretch::default() }
    }

    #[test]
    fn a_long_job_has_longer_stretches_and_the_same_sum() {
        let mut node = NodeUse::default();
        let many = MOST_STRETCHES as u64;
        let joined = (0..many).filter(|at| node.push(stretch(at * 1_000, Some(700)))).count();
        assert_eq!((joined, node.stretches.len()), (1, MOST_STRETCHES / 2));
        assert_eq!(node.sum(|one| one.user_ms), Some(700 * many));
        assert_eq!((node.stretches[1].from_ms, node.stretches[1].to_ms), (2_000, 4_000));
        assert_eq!(node.sum(|one| one.read), None);
        assert_eq!(NodeUse::default().sum(|one| one.user_ms), None);
    }

    #[test]
    fn the_rest_of_a_job_is_part_of_its_last_stretch() {
        let mut node = NodeUse::default();
        node.end(stretch(0, Some(3)));
        node.end(Stretch { to_ms: 1_004, ..stretch(1_000, Some(4)) });
        let [one] = &node.stretches[..] else { panic!("{node:?}") };
        assert_eq!((one.from_ms, one.to_ms, one.user_ms, one.sent), (0, 1_004, Some(7), Some(10)));
    }

    #[test]
    fn time_begins_with_the_job() {
        let stretches = vec![stretch(9_000, Some(1)), stretch(10_000, None), stretch(11_000, Some(2))];
        let node = NodeUse { node: "w1".to_owned(), stretches }.since(10_000);
        assert_eq!(node.stretches.iter().map(|one| one.from_ms).collect::<Vec<_>>(), [0, 1_000]);
        assert_eq!((node.sum(|one| one.user_ms), node.sum(|one| one.sent)), (None, Some(10)));
    }
}
