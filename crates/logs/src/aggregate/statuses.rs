//! How often each status was answered.

use serde::{Deserialize, Serialize};

const LEN: usize = 1000;

/// Counts by status, 0 to 999.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<(u16, u64)>", into = "Vec<(u16, u64)>")]
pub struct Statuses {
    counts: Box<[u64; LEN]>,
}

impl Default for Statuses {
    fn default() -> Statuses {
        Statuses { counts: Box::new([0; LEN]) }
    }
}

impl Statuses {
    /// A request whose line tells no status is in none.
    #[inline]
    pub fn add(&mut self, status: Option<u16>) {
        if let Some(count) = status.and_then(|status| self.counts.get_mut(usize::from(status))) {
            *count += 1;
        }
    }

    pub fn merge(&mut self, other: &Statuses) {
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts[..]) {
            *mine = mine.saturating_add(*theirs);
        }
    }

    /// Status and count of those that occurred.
    pub fn iter(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        self.counts.iter().enumerate().filter(|(_, n)| **n > 0).map(|(status, n)| (status as u16, *n))
    }

    /// How many are from `low` up to, not including, `high`.
    pub fn between(&self, low: u16, high: u16) -> u64 {
        let inside = self.iter().filter(|(status, _)| (low..high).contains(status));
        inside.fold(0, |sum, (_, count)| sum.saturating_add(count))
    }
}

impl From<Statuses> for Vec<(u16, u64)> {
    fn from(from: Statuses) -> Vec<(u16, u64)> {
        from.iter().collect()
    }
}

impl TryFrom<Vec<(u16, u64)>> for Statuses {
    type Error = &'static str;

    fn try_from(all: Vec<(u16, u64)>) -> Result<Statuses, &'static str> {
        let mut into = Statuses::default();
        for (status, count) in all {
            *into.counts.get_mut(usize::from(status)).ok_or("a status beyond 999")? = count;
        }
        Ok(into)
    }
}
