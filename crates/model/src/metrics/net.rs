//! Metrics of network tests.

use crate::{Better, BytesPerSec, Metric, PerSec};

pub const BANDWIDTH: Metric<BytesPerSec> = Metric::new(
    "bandwidth",
    Better::Higher,
    "bytes of messages that receivers got, by the time from the first to the last of them; both directions added up",
);
pub const PACKET_RATE: Metric<PerSec> = Metric::new(
    "packet-rate",
    Better::Higher,
    "datagrams that the far end's program got, by the time from the first to the last",
)
.per("packet");
