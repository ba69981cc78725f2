//! The control groups of a loaded server: their CPU quotas and memory limits, and what these did in the measured takes.
//!
//! Limits are medians over the takes; periods, stops, times (s) and hits are sums.

use model::finding::server_quota::QuotaUse;
use model::metrics::load;
use model::{Metric, Quantity};

use super::Load;

/// A memory limit, and how often the group was at it. Bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryUse {
    pub group: String,
    pub limit: f64,
    pub used: Option<f64>,
    pub hits: Option<f64>,
}

/// How many groups were read; `None` where nobody looked.
pub fn count_read(load: &Load<'_>) -> Option<usize> {
    load.median(&load::SERVER_GROUPS).map(|groups| groups.round() as usize)
}

/// The quotas, the one that stopped the server in most of its periods first.
pub fn quotas(load: &Load<'_>) -> Vec<QuotaUse> {
    let window = load.by_take(&load::WINDOW).into_values().reduce(|sum, window| sum + window);
    let server_cpus = Some(load.server_cores().len()).filter(|cores| *cores > 0);
    let quota = |(group, cpus): (String, f64)| QuotaUse {
        cpus,
        periods: sum(load, &load::GROUP_PERIODS, &group),
        throttled: sum(load, &load::GROUP_THROTTLED, &group),
        stopped_s: sum(load, &load::GROUP_THROTTLED_TIME, &group),
        window_s: window,
        server_cpus,
        group,
    };
    let mut all: Vec<QuotaUse> =
        load.medians_by(&load::GROUP_QUOTA, "group").into_iter().map(quota).collect();
    let share = |one: &QuotaUse| one.share().unwrap_or(0.0);
    all.sort_by(|a, b| share(b).total_cmp(&share(a)).then(a.cpus.total_cmp(&b.cpus)));
    all
}

/// The memory limits, the lowest first.
pub fn memory_limits(load: &Load<'_>) -> Vec<MemoryUse> {
    let mut used = load.medians_by(&load::GROUP_MEMORY, "group");
    let limits = load.medians_by(&load::GROUP_MEMORY_LIMIT, "group").into_iter();
    let mut all: Vec<MemoryUse> = limits
        .map(|(group, limit)| MemoryUse {
            limit,
            used: used.remove(&group),
            hits: sum(load, &load::GROUP_MEMORY_HITS, &group),
            group,
        })
        .collect();
    all.sort_by(|a, b| a.limit.total_cmp(&b.limit));
    all
}

/// The sum over the takes of one group; `None` where no take has it.
fn sum<Q: Quantity>(load: &Load<'_>, metric: &Metric<Q>, group: &str) -> Option<f64> {
    let values = load.by_part(metric, "group").into_iter();
    let own = values.filter(|((_, of), value)| of == group && value.is_finite());
    own.map(|(_, value)| value).reduce(|sum, value| sum + value)
}
