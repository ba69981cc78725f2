//! How often requests failed, by kind.

pub use model::failure::Failure;

/// How often each kind occurred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Failures([u64; Failure::ALL.len()]);

impl Failures {
    pub fn add(&mut self, kind: Failure) {
        self.add_many(kind, 1);
    }

    pub fn add_many(&mut self, kind: Failure, count: u64) {
        self.0[kind as usize] += count;
    }

    pub fn merge(&mut self, other: &Failures) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine += theirs;
        }
    }

    pub fn count(&self, kind: Failure) -> u64 {
        self.0[kind as usize]
    }

    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The kinds that occurred, with their counts.
    pub fn seen(&self) -> impl Iterator<Item = (Failure, u64)> + '_ {
        Failure::ALL.into_iter().map(|kind| (kind, self.count(kind))).filter(|&(_, count)| count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_own_place_and_name() {
        let mut failures = Failures::default();
        for (index, kind) in Failure::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, index);
            (0..=index).for_each(|_| failures.add(kind));
        }
        let mut names: Vec<_> = failures.seen().map(|(kind, _)| kind.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Failure::ALL.len());
        assert_eq!(failures.count(Failure::Unsent), 19);
        assert_eq!(failures.total(), 210);
        let mut twice = failures;
        twice.merge(&failures);
        assert_eq!(twice.total(), 420);
    }
}
