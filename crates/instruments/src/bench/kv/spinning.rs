//! CPUs of a store whose threads spin, and of its clients: CPUs of their own, where there are enough.
//!
//! A client of RAMCloud has two threads: one spins and calculates, one sleeps until the kernel has bytes and tells the
//! other. On one CPU every answer waits until the kernel takes it away from the one that spins, so a client gets two
//! where there are as many. Where all together have too few CPUs, nothing is bound: the kernel moves whoever waits.

use model::params::show_cpus;

use crate::bench::net::place::Places;

/// CPUs of a client of RAMCloud.
pub const CLIENT_CPUS: usize = 2;

/// More threads spin than there are CPUs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crowded {
    pub threads: f64,
    pub cpus: f64,
}

impl Crowded {
    /// `None` where there are as many CPUs as are kept busy.
    pub fn with_cpus(busy: u32, cpus: usize) -> Option<Crowded> {
        let have = u32::try_from(cpus).unwrap_or(u32::MAX);
        (have < busy).then_some(Crowded { threads: f64::from(busy), cpus: f64::from(have) })
    }
}

/// The CPUs of either side; the same ones where there are too few.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpinPlaces {
    pub client: Vec<u32>,
    pub store: Vec<u32>,
}

impl SpinPlaces {
    /// Divides the allowed CPUs between one client and a store, which keep `busy` of them busy together.
    pub fn divide(allowed: &[u32], busy: u32) -> SpinPlaces {
        if Crowded::with_cpus(busy, allowed.len()).is_some() {
            return SpinPlaces { client: allowed.iter().rev().copied().collect(), store: allowed.to_vec() };
        }
        // The client's stand first: other cores than those at the other end.
        let near = Places::divide(allowed).near;
        let spare = allowed.len().saturating_sub(busy as usize) + 1;
        let client: Vec<u32> = near.into_iter().take(CLIENT_CPUS.min(spare)).collect();
        let store = allowed.iter().filter(|cpu| !client.contains(cpu)).copied().collect();
        SpinPlaces { client, store }
    }

    pub fn sentence(&self, is_crowded: bool) -> String {
        let list = |cpus: &[u32]| {
            let mut cpus = cpus.to_vec();
            cpus.sort_unstable();
            show_cpus(&cpus)
        };
        match is_crowded {
            true => {
                format!("client and store on CPUs {}, between which the kernel moves them", list(&self.store))
            }
            false => {
                format!("the client on CPUs {}, the store on CPUs {}", list(&self.client), list(&self.store))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_spins_gets_cpus_of_its_own_or_is_not_bound() {
        let allowed: Vec<u32> = (0..9).collect();
        let places = SpinPlaces::divide(&allowed, 8);
        assert_eq!((places.client.len(), places.store.len()), (2, 7));
        assert!(places.client.iter().all(|cpu| !places.store.contains(cpu)));
        // As many as are kept busy: the one that sleeps shares the client's.
        let places = SpinPlaces::divide(&allowed[..8], 8);
        assert_eq!((places.client.len(), places.store.len()), (1, 7));
        let few = SpinPlaces::divide(&[0, 1], 6);
        assert_eq!((&few.client[..], &few.store[..]), (&[1, 0][..], &[0, 1][..]));
        assert_eq!(Crowded::with_cpus(6, 2), Some(Crowded { threads: 6.0, cpus: 2.0 }));
        assert_eq!(Crowded::with_cpus(6, 6), None);
        assert!(few.sentence(true).contains("on CPUs 0-1, between which"), "{}", few.sentence(true));
    }
}
