//! Metrics of the machine around its takes: conditions, clocks, timers, jitter. Hertz, seconds, shares and counts.

use crate::{Better, Count, Hertz, Metric, Ratio, Seconds};

pub const STEAL: Metric<Ratio> = Metric::neither(
    "steal",
    "Share of the time of the take's CPUs that the hypervisor gave to others (/proc/stat)",
);
pub const BACKGROUND: Metric<Count> = Metric::neither("background", "CPUs kept busy by other processes: busy time of all CPUs less that of boxscore and its children, over the take \
     or, where the take is shorter, the last half second",
)
.per("CPU");
pub const THROTTLED: Metric<Count> = Metric::neither(
    "throttled",
    "Periods in which a CPU quota stopped our control group or one above it (nr_throttled)",
);
pub const THROTTLED_TIME: Metric<Seconds> = Metric::neither(
    "throttled-time",
    "Time for which a CPU quota stopped our control group or those above it, summed over CPUs",
);
pub const MAJOR_FAULTS: Metric<Count> =
    Metric::neither("major-faults", "Page faults of boxscore and its ended children that had to read a disk");
pub const SWAPPED: Metric<Count> =
    Metric::neither("swapped", "Pages that the whole system swapped in and out").per("page");
pub const CLOCK_STEP: Metric<Seconds> = Metric::neither(
    "clock-step",
    "How much more time passed by the wall clock than by the monotonic clock; negative when it was set back",
);
pub const THERMAL: Metric<Count> = Metric::neither(
    "thermal-throttle",
    "Times that heat slowed the take's CPUs or their package, as counted by each CPU",
);
pub const PRESSURE: Metric<Ratio> = Metric::neither(
    "cpu-pressure",
    "Share of the time in which some thread of the system waited for a CPU (PSI cpu some)",
);
pub const BEFORE: Metric<Hertz> = Metric::neither(
    "before",
    "Clock of the take's first CPU right before the take: dependent additions per second, best of 20 windows of 50 us",
);
pub const AFTER: Metric<Hertz> = Metric::neither(
    "after",
    "Clock of the take's first CPU right after the take: dependent additions per second, best of 20 windows of 50 us",
);
pub const CYCLES: Metric<Count> =
    Metric::neither("cycles", "Core cycles of boxscore's threads in user mode during the take").per("cycle");
pub const INSTRUCTIONS: Metric<Count> =
    Metric::neither("instructions", "Instructions of boxscore's threads in user mode during the take")
        .per("instruction");
pub const LLC_MISSES: Metric<Count> = Metric::neither(
    "llc-misses",
    "Misses of the last-level cache in user mode, as the processor counts them",
)
.per("miss");
pub const TLB_MISSES: Metric<Count> =
    Metric::neither("dtlb-misses", "Loads in user mode whose address was in no translation cache")
        .per("miss");
pub const EFFECTIVE_CLOCK: Metric<Hertz> = Metric::neither(
    "effective-clock",
    "Cycles in user mode by the CPU time of the same threads: the clock that the take really had, less the share of \
     its time in the kernel",
);
pub const COUNTED: Metric<Ratio> = Metric::neither(
    "counted",
    "Least share of the take in which a counter really counted; the others share its place in the processor, and the \
     counts are scaled up by it",
);
pub const COST: Metric<Seconds> = Metric::new(
    "cost",
    Better::Lower,
    "Time of one reading of the clock, mean of the best of 20 rows of 1000 readings",
)
.per("reading");
pub const STEP: Metric<Seconds> = Metric::new(
    "step",
    Better::Lower,
    "Smallest difference above zero of two successive readings of the clock: no shorter time can be told from it",
);
pub const DISAGREEMENT: Metric<Ratio> = Metric::neither(
    "disagreement",
    "Largest relative difference of the cycle counter's rate by CLOCK_MONOTONIC, by CLOCK_MONOTONIC_RAW and as the \
     hardware states it; over 1 % makes every time of the machine invalid",
);
pub const LONGEST: Metric<Seconds> = Metric::new(
    "longest",
    Better::Lower,
    "Longest gap between two successive readings of the clock over the span",
);
pub const LOST: Metric<Ratio> =
    Metric::new("lost", Better::Lower, "Share of the span that lay in gaps of more than 10 us");
pub const GAPS: Metric<Count> = Metric::neither("gaps", "Gaps of more than 10 us in the span").per("gap");
pub const STOLEN: Metric<Ratio> =
    Metric::neither("stolen", "Share of the CPU's time that the hypervisor gave to others (/proc/stat)");
