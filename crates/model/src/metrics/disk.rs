//! Metrics of a disk.

use crate::{Better, BytesPerSec, Metric, PerSec, Seconds};

pub const IOPS: Metric<PerSec> =
    Metric::new("iops", Better::Higher, "reads per second from the first submitted to the last finished")
        .per("read");
pub const LATENCY: Metric<Seconds> = Metric::new(
    "latency",
    Better::Lower,
    "median of the take's reads, each from handing it to the kernel until its answer is seen",
);
pub const LATENCIES: Metric<Seconds> =
    Metric::neither("latencies", "all reads of the take, as `latency` times them");
pub const FSYNC_LATENCY: Metric<Seconds> = Metric::new(
    "latency",
    Better::Lower,
    "median of the take's write and sync pairs, each from before the write until the sync has returned",
);
pub const FSYNC_LATENCIES: Metric<Seconds> =
    Metric::neither("latencies", "all write and sync pairs of the take");
pub const BANDWIDTH: Metric<BytesPerSec> = Metric::new(
    "bandwidth",
    Better::Higher,
    "bytes read or written per second, one block at a time, MB = 10^6; writes include the final fdatasync",
);
