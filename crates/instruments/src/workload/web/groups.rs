//! The limits of the control groups that a loaded server runs in, and how often they stopped it during a take.
//!
//! CPUs, bytes, seconds, counts; by group. The groups of all processes of the server count, with those above them. The
//! counters are of all that runs in a group, and are read right before and right after the load.

use model::{Bytes, Count, NoteBody, Params, Record, RecordExt, Seconds};

use super::served::Served;
use crate::system_files::Root;
use crate::system_files::group_limits::{self, CpuQuota, GroupLimits};
use crate::telemetry::parse::float;
use crate::telemetry::since::extra;
use model::metrics::load::{
    GROUP_MEMORY, GROUP_MEMORY_HITS, GROUP_MEMORY_LIMIT, GROUP_PERIODS, GROUP_QUOTA, GROUP_THROTTLED,
    GROUP_THROTTLED_TIME, SERVER_GROUPS,
};

/// The limits at one moment, or why they are not known; `None` where the server's processes are not known at all.
pub type Limits = Option<Result<GroupLimits, String>>;

/// The limits of a server now.
pub fn look(served: &Served) -> Limits {
    let pids = served.pids().ok()?;
    Some(group_limits::of_processes(&Root::live(), &pids))
}

/// Pushes the limits as they are `now`, and what they did since `before`.
pub fn push(before: &Limits, now: &Limits, record: &mut dyn Record) {
    let now = match now {
        Some(Ok(now)) => now,
        Some(Err(why)) => return record.note(NoteBody::ServerGroups(why.clone())),
        None => return,
    };
    let before = before.as_ref().and_then(|before| before.as_ref().ok());
    record.push(&SERVER_GROUPS, Count(now.cpu_groups as f64));
    for quota in &now.quotas {
        let then = before.and_then(|all| all.quotas.iter().find(|one| one.group == quota.group));
        push_quota(then, quota, record);
    }
    for memory in &now.memory {
        let group = extra("group", &memory.group);
        record.push_of(&GROUP_MEMORY_LIMIT, &group, Bytes(float(memory.limit)));
        if let Some(used) = memory.used {
            record.push_of(&GROUP_MEMORY, &group, Bytes(float(used)));
        }
        let then = before.and_then(|all| all.memory.iter().find(|one| one.group == memory.group));
        if let Some(hits) = risen(then.and_then(|then| then.hits), memory.hits) {
            record.push_of(&GROUP_MEMORY_HITS, &group, Count(hits));
        }
    }
}

fn push_quota(before: Option<&CpuQuota>, now: &CpuQuota, record: &mut dyn Record) {
    let group: Params = extra("group", &now.group);
    record.push_of(&GROUP_QUOTA, &group, Count(now.cpus));
    let Some(before) = before else { return };
    if let Some(periods) = risen(before.periods, now.periods) {
        record.push_of(&GROUP_PERIODS, &group, Count(periods));
    }
    if let Some(throttled) = risen(before.throttled, now.throttled) {
        record.push_of(&GROUP_THROTTLED, &group, Count(throttled));
    }
    if let Some(ns) = risen(before.throttled_ns, now.throttled_ns) {
        record.push_of(&GROUP_THROTTLED_TIME, &group, Seconds(ns / 1e9));
    }
}

/// How far a counter has risen; `None` where it is not known twice, or fell.
fn risen(before: Option<u64>, now: Option<u64>) -> Option<f64> {
    now.zip(before).and_then(|(now, before)| now.checked_sub(before)).map(float)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system_files::group_limits::MemoryLimit;
    use crate::telemetry::record::Values;

    fn at(periods: u64, throttled: u64, throttled_ns: u64, hits: u64) -> Limits {
        let quota = CpuQuota {
            group: "cpu:/cold3".into(),
            cpus: 0.4,
            periods: Some(periods),
            throttled: Some(throttled),
            throttled_ns: Some(throttled_ns),
        };
        let memory =
            MemoryLimit { group: "memory:/m".into(), limit: 1024, used: Some(1000), hits: Some(hits) };
        Some(Ok(GroupLimits { cpu_groups: 2, quotas: vec![quota], memory: vec![memory] }))
    }

    #[test]
    fn differences_are_pushed_by_group() {
        let mut values = Values::default();
        push(&at(100, 90, 5_000_000_000, 3), &at(150, 139, 14_100_000_000, 10), &mut values);
        for (name, wanted) in [
            ("server-groups", 2.0),
            ("group-quota group=cpu:/cold3", 0.4),
            ("group-periods group=cpu:/cold3", 50.0),
            ("group-throttled group=cpu:/cold3", 49.0),
            ("group-throttled-time group=cpu:/cold3", 9.1),
            ("group-memory-limit group=memory:/m", 1024.0),
            ("group-memory group=memory:/m", 1000.0),
            ("group-memory-hits group=memory:/m", 7.0),
        ] {
            assert_eq!(values.get(name), Some(wanted), "{name}");
        }
        assert!(values.notes.is_empty());
    }

    #[test]
    fn what_is_not_known_is_not_pushed_and_said() {
        let mut values = Values::default();
        // A counter that fell is of another group of the same name.
        push(&at(100, 90, 5, 3), &at(10, 9, 1, 0), &mut values);
        assert_eq!(values.get("group-throttled group=cpu:/cold3"), None);
        assert_eq!(values.get("group-quota group=cpu:/cold3"), Some(0.4));
        let mut values = Values::default();
        push(&None, &Some(Err("no control groups".into())), &mut values);
        assert_eq!(values.notes, [("server-groups".to_owned(), "no control groups".to_owned())]);
        assert!(values.values.is_empty());
        push(&None, &None, &mut values);
        assert!(values.values.is_empty());
    }

    #[test]
    fn this_process_has_groups_or_a_reason() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
        let here = look(&Served::theirs(&url)).expect("this process listens");
        assert!(
            here.is_ok_and(|limits| limits.cpu_groups > 0)
                || !std::path::Path::new("/sys/fs/cgroup/cpu").exists()
        );
        assert_eq!(look(&Served::theirs(&"http://192.0.2.1/".parse().unwrap())), None);
    }
}
