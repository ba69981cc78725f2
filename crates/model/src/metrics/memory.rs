//! Metrics of memory.

use crate::{Better, BytesPerSec, Metric, Seconds};

pub const BANDWIDTH: Metric<BytesPerSec> = Metric::new(
    "bandwidth",
    Better::Higher,
    "bytes per second of all threads together, counted as `counting` says, MB = 10^6; write-allocate \
     traffic is not counted",
);
pub const LATENCY: Metric<Seconds> = Metric::new(
    "latency",
    Better::Lower,
    "time of one dependent load; the range that stands for memory is flushed from the caches before the walk, a \
     working set walked once around to warm them; translations are at hand: huge pages (proved for nine tenths), a \
     range of at most 4 MiB, or a forward walk",
);
pub const LATENCY_AND_WALK: Metric<Seconds> = Metric::new(
    "latency-and-walk",
    Better::Lower,
    "as latency, where pages are not known to be huge and loads go further than translation caches reach: it holds \
     walks through page tables, in a virtual machine through two sets of them",
)
.called("memory latency and page walk");
pub const LOADED_LATENCY: Metric<Seconds> = Metric::new(
    "latency",
    Better::Lower,
    "time of one dependent load in random page order while the other threads read memory",
);
pub const LOAD: Metric<BytesPerSec> =
    Metric::neither("load", "bytes per second that the other threads read meanwhile, MB = 10^6");
