//! CPU quotas of generators: how much CPU time each was allowed where several share a control group.
//!
//! A control group is identified by its host and path. A thread that worked less leaves more to the others, so that
//! all threads under a quota have used the same share of it.

use std::collections::BTreeMap;

use super::engine::ThreadUse;
use super::relayed::Brought;

/// A quota and the generators that it limits.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shared {
    pub members: Vec<usize>,
    /// Cores that the quota allows.
    pub cpus: f64,
}

fn worked_ns(thread: &ThreadUse) -> u64 {
    thread.cpu_ns.saturating_sub(thread.spun_ns)
}

/// Lowers `allowed_ns` of the threads under a quota. Returns the quotas, of those with the same generators only the
/// tightest.
pub(super) fn share_out(brought: &mut [Brought]) -> Vec<Shared> {
    let mut groups: BTreeMap<(u32, (u64, u64)), Shared> = BTreeMap::new();
    for (at, own) in brought.iter().enumerate() {
        let host = own.outcome.generator.threads.first().map_or(0, |thread| thread.host);
        for quota in &own.quotas {
            let new = Shared { members: Vec::new(), cpus: quota.cpus };
            let group = groups.entry((host, quota.group)).or_insert(new);
            // Two may have read it at times between which it was changed.
            group.cpus = group.cpus.min(quota.cpus);
            group.members.push(at);
        }
    }
    let mut shared: Vec<Shared> = Vec::new();
    for group in groups.into_values() {
        allow(brought, &group);
        match shared.iter_mut().find(|one| one.members == group.members) {
            Some(one) => one.cpus = one.cpus.min(group.cpus),
            None => shared.push(group),
        }
    }
    shared
}

fn allow(brought: &mut [Brought], group: &Shared) {
    let threads = || group.members.iter().flat_map(|&at| &brought[at].outcome.generator.threads);
    let (count, all_ns) = (threads().count(), threads().map(worked_ns).sum::<u64>());
    let wall_ns = threads().map(|thread| thread.wall_ns).max().unwrap_or(0);
    let budget_ns = wall_ns as f64 * group.cpus;
    for &at in &group.members {
        for thread in &mut brought[at].outcome.generator.threads {
            let worked_ns = worked_ns(thread);
            let part = if all_ns > 0 { worked_ns as f64 / all_ns as f64 } else { 1.0 / count as f64 };
            // Left over from before the start, a group may have a little more than its quota.
            let allowed_ns = ((budget_ns * part) as u64).max(worked_ns);
            thread.allowed_ns = thread.allowed_ns.min(allowed_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::tests::ran;
    use crate::system_files::cgroup::Quota;

    /// One thread on each host's core with this work out of 1000, and these quotas of groups.
    fn one(host: u32, cpu: usize, worked_ns: u64, quotas: &[(u64, f64)]) -> Brought {
        let mut outcome = ran(&[(0, 1)], 0);
        outcome.generator.threads = vec![ThreadUse {
            host,
            cpu: Some(cpu),
            connections: 1,
            cpu_ns: worked_ns + 7,
            spun_ns: 7,
            wall_ns: 1000,
            allowed_ns: 1000,
        }];
        let quota = |&(group, cpus)| Quota { group: (1, group), cpus };
        Brought { outcome, quotas: quotas.iter().map(quota).collect() }
    }

    fn shares(brought: &[Brought]) -> Vec<f64> {
        let threads = brought.iter().flat_map(|own| &own.outcome.generator.threads);
        threads.map(|thread| (thread.share() * 100.0).round() / 100.0).collect()
    }

    #[test]
    fn a_quota_that_two_share_is_used_by_both() {
        // Each alone would have used half of it, and the second less than that.
        let mut both = [one(0, 0, 500, &[(5, 1.0)]), one(0, 1, 250, &[(5, 1.0)])];
        assert_eq!(share_out(&mut both), [Shared { members: vec![0, 1], cpus: 1.0 }]);
        assert_eq!(shares(&both), [0.75, 0.75]);
        // The same folder on two hosts is two groups.
        let mut apart = [one(0, 0, 500, &[(5, 1.0)]), one(1, 0, 250, &[(5, 1.0)])];
        assert_eq!(share_out(&mut apart).len(), 2);
        assert_eq!(shares(&apart), [0.5, 0.25]);
    }

    #[test]
    fn the_tightest_of_a_group_and_those_above_it_counts() {
        let mut nested = [
            one(0, 0, 300, &[(7, 0.5), (5, 1.0)]),
            one(0, 1, 600, &[(8, 2.0), (5, 1.0)]),
            one(0, 2, 100, &[]),
        ];
        let shared = share_out(&mut nested);
        let members: Vec<_> = shared.iter().map(|one| (one.members.clone(), one.cpus)).collect();
        assert_eq!(members, [(vec![0, 1], 1.0), (vec![0], 0.5), (vec![1], 2.0)]);
        assert_eq!(shares(&nested), [0.9, 0.9, 0.1]);
        let mut own = [one(0, 0, 300, &[(7, 0.5), (6, 0.4), (5, 1.0)])];
        assert_eq!(share_out(&mut own), [Shared { members: vec![0], cpus: 0.4 }]);
        assert_eq!(shares(&own), [0.75]);
    }

    #[test]
    fn who_did_nothing_or_more_than_a_quota_has_a_share_between_0_and_1() {
        let mut idle = [one(0, 0, 0, &[(5, 0.5)]), one(0, 1, 0, &[(5, 0.5)])];
        share_out(&mut idle);
        assert_eq!(shares(&idle), [0.0, 0.0]);
        let mut saved = [one(0, 0, 130, &[(5, 0.1)])];
        share_out(&mut saved);
        assert_eq!(shares(&saved), [1.0]);
        assert_eq!(share_out(&mut []), []);
    }
}
