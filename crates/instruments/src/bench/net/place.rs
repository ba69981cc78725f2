//! The CPUs of the two ends of a test on one machine: different cores if there are two.

use model::params::show_cpus;
use sys::affinity::{self, Pinned};

use crate::system_files::topology::{self, in_turn};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// CPUs of the measuring end, in order of use.
    pub near: Vec<u32>,
    pub far: Vec<u32>,
    shares: Shares,
}

/// The resource that the two ends share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shares {
    Nothing,
    Core,
    Cpu,
}

impl Places {
    /// Divides the allowed CPUs by this machine's topology.
    pub fn divide(allowed: &[u32]) -> Places {
        Places::split(allowed, &topology::here(allowed))
    }

    /// Divides the CPUs, which lie in these cores.
    fn split(allowed: &[u32], cores: &[Vec<u32>]) -> Places {
        match (cores.len(), allowed) {
            (0 | 1, [] | [_]) => {
                Places { near: allowed.to_vec(), far: allowed.to_vec(), shares: Shares::Cpu }
            }
            (0 | 1, [far, near @ ..]) => {
                Places { near: near.to_vec(), far: vec![*far], shares: Shares::Core }
            }
            (count, _) => {
                let (far, near) = cores.split_at(count / 2);
                Places { near: in_turn(near.iter().rev()), far: in_turn(far), shares: Shares::Nothing }
            }
        }
    }

    /// Limits the far end to these CPUs: to those of its half among them, or to all of them if there are none.
    pub fn keep_far(&mut self, its: &[u32]) {
        self.far.retain(|cpu| its.contains(cpu));
        if self.far.is_empty() {
            self.far = its.to_vec();
            self.shares =
                if its.iter().any(|cpu| self.near.contains(cpu)) { Shares::Cpu } else { self.shares };
        }
    }

    pub fn sentence(&self) -> String {
        let both = format!("this end on CPUs {}, the peer on CPUs {}", list(&self.near), list(&self.far));
        match self.shares {
            Shares::Nothing => both,
            Shares::Core => format!("{both}: two threads of one core"),
            Shares::Cpu => format!("{both}: both ends take turns on it"),
        }
    }
}

/// Binds the calling thread to CPU `nth`, modulo their number; does nothing if there are none. Fails when the kernel
/// refuses.
pub fn pin(cpus: &[u32], nth: usize) -> Result<Option<Pinned>, String> {
    let Some(cpu) = cpus.get(nth % cpus.len().max(1)) else { return Ok(None) };
    affinity::pin(*cpu as usize).map(Some).map_err(|error| error.to_string())
}

/// The first CPU of each end, in order: those that a test of one thread keeps busy.
pub fn busy(near: &[u32], far: &[u32]) -> Vec<u32> {
    let mut busy: Vec<u32> = near.iter().take(1).chain(far.iter().take(1)).copied().collect();
    busy.sort_unstable();
    busy.dedup();
    busy
}

fn list(cpus: &[u32]) -> String {
    let mut cpus = cpus.to_vec();
    cpus.sort_unstable();
    show_cpus(&cpus)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn the_ends_share_no_core_if_there_are_two() {
        let places = |allowed: &[u32], core: fn(u32) -> u32| {
            let mut cores: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
            allowed.iter().for_each(|cpu| cores.entry(core(*cpu)).or_default().push(*cpu));
            Places::split(allowed, &cores.into_values().collect::<Vec<_>>())
        };
        let split = |allowed: &[u32], core: fn(u32) -> u32| {
            let places = places(allowed, core);
            (places.far, places.near, places.shares)
        };
        assert_eq!(split(&[3], |cpu| cpu), (vec![3], vec![3], Shares::Cpu));
        assert_eq!(split(&[0, 1], |cpu| cpu), (vec![0], vec![1], Shares::Nothing));
        assert_eq!(split(&[0, 1], |_| 0), (vec![0], vec![1], Shares::Core));
        assert_eq!(split(&[0, 1, 2], |cpu| cpu), (vec![0], vec![2, 1], Shares::Nothing));
        // Four cores of two threads, numbered as most machines do.
        let all = [0, 1, 2, 3, 4, 5, 6, 7];
        assert_eq!(split(&all, |cpu| cpu % 4), (vec![0, 1, 4, 5], vec![3, 2, 7, 6], Shares::Nothing));
        assert_eq!(split(&[0, 4, 1], |cpu| cpu % 4), (vec![0, 4], vec![1], Shares::Nothing));
        assert!(places(&[0, 1], |_| 0).sentence().contains("one core"));
        for (its, far, shares) in [
            (&[0, 5][..], &[0][..], Shares::Nothing),
            (&[1, 5], &[1, 5], Shares::Cpu),
            (&[5], &[5], Shares::Nothing),
        ] {
            let mut places = places(&[0, 1], |cpu| cpu);
            places.keep_far(its);
            assert_eq!((&places.far[..], places.shares), (far, shares));
        }
        assert!(places(&[0], |_| 0).sentence().contains("take turns"));
    }
}
