//! Identifiers: UUIDv7, so that stores merge; in a planted world drawn from its seed.

use model::fake::FakeWorld;

pub use model::id::{short, told_apart};
use uuid::Builder;

/// Makes the ids of one run.
pub enum Ids {
    /// The millisecond of the last one: no two ids of one program share theirs, so that their short forms differ.
    Real {
        last: u64,
    },
    Planted {
        seed: u64,
        millis: u64,
        made: u64,
    },
}

impl Ids {
    pub fn new(fake: Option<&FakeWorld>) -> Ids {
        match fake {
            None => Ids::Real { last: 0 },
            Some(world) => {
                let seconds = u64::try_from(world.start).unwrap_or(0) + world.run_index * 3600;
                Ids::Planted {
                    seed: world.seed.wrapping_add(world.run_index),
                    millis: seconds * 1000,
                    made: 0,
                }
            }
        }
    }

    pub fn next(&mut self) -> String {
        let mut random = [0u8; 10];
        let millis = match self {
            Ids::Real { last } => {
                let wall_ns = sys::clock::wall_ns();
                // A clock and the process are enough to tell the few ids of one host apart.
                let mut rng =
                    stats::Rng::derive(wall_ns, &format!("{} {}", std::process::id(), sys::clock::now_ns()));
                random[..8].copy_from_slice(&rng.bits().to_le_bytes());
                random[8..].copy_from_slice(&rng.bits().to_le_bytes()[..2]);
                *last = (wall_ns / 1_000_000).max(*last + 1);
                *last
            }
            Ids::Planted { seed, millis, made } => {
                *made += 1;
                let mut rng = stats::Rng::derive(*seed, &format!("id {made}"));
                random[..8].copy_from_slice(&rng.bits().to_le_bytes());
                random[8..].copy_from_slice(&rng.bits().to_le_bytes()[..2]);
                *millis + *made
            }
        };
        Builder::from_unix_timestamp_millis(millis, &random).into_uuid().simple().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_time_and_differ() {
        let mut ids = Ids::new(None);
        let made: Vec<String> = (0..100).map(|_| ids.next()).collect();
        assert_eq!(made.iter().map(|id| short(id)).collect::<std::collections::BTreeSet<_>>().len(), 100);
        assert!(made.iter().all(|id| id.len() == 32 && id.as_bytes()[12] == b'7'));
    }
}
