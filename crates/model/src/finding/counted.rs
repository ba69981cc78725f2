//! `swap`, `major-faults` and `thermal-throttle`: counters that should not rise during a take.

use super::{Conclusion, Evidence, Several, Validity, evidence};
use crate::format::{count, number};
use crate::metrics::machine;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    Swap,
    MajorFaults,
    ThermalThrottle,
}

impl Counter {
    pub const fn kind(self) -> &'static str {
        match self {
            Counter::Swap => "swap",
            Counter::MajorFaults => "major-faults",
            Counter::ThermalThrottle => "thermal-throttle",
        }
    }

    /// The metric of `conditions` that counts it.
    pub const fn metric(self) -> &'static str {
        match self {
            Counter::Swap => machine::SWAPPED.name(),
            Counter::MajorFaults => machine::MAJOR_FAULTS.name(),
            Counter::ThermalThrottle => machine::THERMAL.name(),
        }
    }

    const fn what(self) -> &'static str {
        match self {
            Counter::Swap => "the system swapped",
            Counter::MajorFaults => "pages had to come from disk",
            Counter::ThermalThrottle => "heat slowed the processor",
        }
    }

    const fn advice(self) -> &'static str {
        match self {
            Counter::Swap => "free memory or add more, then repeat",
            Counter::MajorFaults => "repeat once the program is in memory",
            Counter::ThermalThrottle => "cool it, or take the figure as its sustained one",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Counted {
    Unread(Counter),
    None(Counter),
    /// `events` in all, in `takes` of `of` takes.
    Rose {
        counter: Counter,
        events: f64,
        takes: usize,
        of: usize,
    },
}

impl Counted {
    const fn counter(&self) -> Counter {
        match self {
            Counted::Unread(counter) | Counted::None(counter) | Counted::Rose { counter, .. } => *counter,
        }
    }
}

const BETTER: &str = "the machine may do better";

/// `3 of 8 takes (12 in all)`.
fn often(events: f64, takes: usize, of: usize) -> String {
    format!("{takes} of {} ({} in all)", count(of, "take"), number(events))
}

impl Conclusion for Counted {
    fn kind(&self) -> &str {
        self.counter().kind()
    }

    fn state(&self) -> Validity {
        match self {
            Counted::Unread(_) => Validity::Unknown,
            Counted::None(_) => Validity::Ok,
            Counted::Rose { .. } => Validity::Doubtful,
        }
    }

    fn one(&self) -> String {
        match self {
            Counted::Unread(counter) => format!("`{}` was not read during the takes", counter.metric()),
            Counted::None(counter) => format!("{} 0", counter.kind()),
            Counted::Rose { counter, events, takes, of } => {
                let often = often(*events, *takes, *of);
                format!("{BETTER}: {} in {often}; {}", counter.what(), counter.advice())
            }
        }
    }

    fn many(all: &Several<'_, Self>) -> Option<String> {
        let (_, worst, name) = all.worst(|one| match one {
            Counted::Rose { events, .. } => Some(*events),
            _ => None,
        })?;
        let Counted::Rose { counter, events, takes, of } = worst else { return None };
        Some(format!(
            "{BETTER}: {} during {} (worst: {name}, in {}); {}",
            counter.what(),
            all.figures,
            often(*events, *takes, *of),
            counter.advice()
        ))
    }

    fn brief(all: &Several<'_, Self>) -> Option<String> {
        let counter = all.rules().find_map(|one| match one {
            Counted::Rose { counter, .. } => Some(counter),
            _ => None,
        })?;
        Some(format!("may do better: {}", counter.what()))
    }

    fn evidence(&self) -> Evidence {
        match self {
            Counted::Unread(_) => Evidence::new(),
            Counted::None(_) => evidence([("count", 0.0)]),
            Counted::Rose { events, takes, of, .. } => {
                evidence([("count", *events), ("takes", *takes as f64), ("of", *of as f64)])
            }
        }
    }
}
