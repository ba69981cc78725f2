//! The part of a machine that a figure speaks for: all of its CPUs together, or one thread.
//!
//! Work is bought by the whole machine and waited for by the thread, so the two are told, ranked and averaged apart.
//! Disks, links and loads of servers are neither: their figures follow queue depth, distance, connections and the load
//! generator rather than cores. The rate of a server is bought with a machine nevertheless.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::card::{Card, Family, Variant};
use crate::metric::Better;
use crate::params::Params;
use crate::shown::Role;
use crate::unit::Unit;

/// The parameter that says how many threads work, and its values that have a scope.
pub const THREADS: &str = "threads";
pub const ALL: &str = "all";
pub const ONE: &str = "1";

crate::words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
    pub enum Scope as word {
        /// All CPUs at work together.
        #[serde(rename = "whole-machine")]
        WholeMachine = "whole machine",
        #[serde(rename = "per-thread")]
        PerThread = "per thread",
    }
}

impl Scope {
    /// In front of a noun: `whole-machine figures`.
    pub const fn adjective(self) -> &'static str {
        match self {
            Scope::WholeMachine => "whole-machine",
            Scope::PerThread => "per-thread",
        }
    }
}

/// True for an open loop that offers a fixed rate: its throughput is what was offered, where the server kept up.
pub fn is_at_given_rate(params: &Params) -> bool {
    let differs = |name: &str, usual: &str| params.get(name).is_some_and(|value| value != usual);
    differs("rate", "auto") && differs("arrivals", "closed")
}

impl Card {
    /// The scope of one of the card's figures. Of CPUs, memory and runtimes: of the metrics that are headlines of that
    /// number of threads. The user's own command speaks for the machine that it runs on.
    pub fn scope(&self, metric: &str, params: &Params) -> Option<Scope> {
        match self.family {
            // Watts and joules are no performance.
            _ if matches!(self.role, Role::Power { .. }) => None,
            Family::Cpu | Family::Memory | Family::Runtime => self.scope_by_threads(metric, params),
            Family::User => Some(Scope::WholeMachine),
            Family::Web | Family::Kv | Family::Hadoop | Family::Disk | Family::Net => None,
            Family::Machine | Family::Telemetry | Family::Inventory => None,
        }
    }

    /// True for figures of CPUs, memory and runtimes: those of one thread and of all of them have a scope.
    pub const fn has_scopes(&self) -> bool {
        matches!(self.family, Family::Cpu | Family::Memory | Family::Runtime)
            && !matches!(self.role, Role::Power { .. })
    }

    /// True for a figure that a price buys: of the whole machine, or the rate at which a machine serves requests. Not
    /// of a load at a given rate: its throughput is what was offered, on a small machine as on a large one.
    pub fn is_bought(&self, metric: &str, params: &Params) -> bool {
        let is_rate = || {
            let info = self.metric(metric);
            info.is_some_and(|info| {
                info.better == Better::Higher && matches!(info.unit, Unit::PerSec | Unit::BytesPerSec)
            })
        };
        match self.family {
            Family::Web | Family::Kv | Family::Hadoop => is_rate() && !is_at_given_rate(params),
            _ => self.scope(metric, params) == Some(Scope::WholeMachine),
        }
    }

    fn scope_by_threads(&self, metric: &str, params: &Params) -> Option<Scope> {
        let usual = self.param(THREADS).map_or(ONE, |spec| spec.default);
        let value = match params.get(THREADS) {
            Some(value) => value,
            // Arms that differ in it: it is what is compared.
            None if self.param(THREADS).is_some() => return None,
            None => ONE,
        };
        let scope = match value {
            ONE => Scope::PerThread,
            ALL => Scope::WholeMachine,
            _ => return None,
        };
        let tells =
            |variant: &Variant| variant.headline.contains(&metric) && variant.has(THREADS, value, usual);
        self.variants.iter().any(tells).then_some(scope)
    }
}

impl Variant {
    /// True if one of the variant's values of a parameter is this one; without any, the usual value is its only one.
    fn has(&self, name: &str, value: &str, usual: &str) -> bool {
        let mut pairs = self.set.split(';').filter_map(|pair| pair.split_once('='));
        let values = pairs.find(|(key, _)| key.trim() == name).map_or(usual, |(_, values)| values);
        values.split('|').any(|one| one.trim() == value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::Tier;
    use crate::metric::MetricInfo;
    use crate::params::{ParamKind, ParamSpec};

    const CARD: Card = Card {
        name: "x",
        family: Family::Cpu,
        params: &[ParamSpec::new(THREADS, ParamKind::Threads, ONE, "")],
        variants: &[
            Variant { tier: Tier::Quick, set: "kind=a|b;threads=1", headline: &["time", "rate"] },
            Variant { tier: Tier::Quick, set: "kind=a;threads=all", headline: &["rate"] },
            Variant { tier: Tier::Full, set: "threads=sweep", headline: &[] },
        ],
        ..Card::DEFAULT
    };

    #[test]
    fn a_figure_speaks_for_one_thread_or_for_all() {
        let scope = |metric: &str, text: &str| CARD.scope(metric, &Params::parse(text).unwrap());
        assert_eq!(scope("rate", "kind=a;threads=all"), Some(Scope::WholeMachine));
        assert_eq!(scope("rate", "kind=a;threads=1"), Some(Scope::PerThread));
        // The time of one thread among many is neither, nor is a figure whose threads are what arms differ in.
        assert_eq!((scope("time", "threads=all"), scope("time", "kind=a")), (None, None));
        assert_eq!((scope("rate", "threads=4"), scope("other", "threads=1")), (None, None));
        let disk = Card { family: Family::Disk, ..CARD };
        assert_eq!(disk.scope("rate", &Params::default()), None);
        let power = Card { role: Role::Power { load: None }, ..CARD };
        assert_eq!(
            (power.scope("rate", &Params::parse("threads=1").unwrap()), power.has_scopes()),
            (None, false)
        );
    }

    #[test]
    fn a_price_buys_no_throughput_that_was_offered() {
        const METRICS: &[MetricInfo] = &[crate::metrics::load::THROUGHPUT.info()];
        let web = Card { family: Family::Web, metrics: METRICS, ..CARD };
        let bought = |text: &str| web.is_bought("throughput", &Params::parse(text).unwrap());
        assert!(bought("arrivals=closed;rate=auto") && bought("arrivals=poisson;load=100%;rate=auto"));
        assert!(!bought("arrivals=poisson;rate=4000"));
        // A closed loop has no rate of its own.
        assert!(bought("arrivals=closed;rate=4000"));
    }
}
