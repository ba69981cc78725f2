//! What access logs say of a server's requests, hour by hour: the card that such runs are stored under.
//!
//! Bytes sent (`%B`) and time taken (`%D`) as the server logged them: from when it read the request to when it gave the
//! last byte to the kernel, so that neither the client's waiting before nor the network after is in them. Nothing is
//! measured here: `boxscore logs` reads the files, and one take is one hour of one label.

use model::{
    Better, BytesPerSec, Cadence, Card, Count, Family, Instrument, Metric, MetricInfo, Probe, Samples,
    Seconds, Setup, Tier, Unfit, Variant,
};
use model::{Bytes, Need};

pub const MEAN_OF_RATIOS: Metric<BytesPerSec> = Metric::new(
    "mean_of_ratios",
    Better::Higher,
    "mean over requests of bytes sent over time taken; requests that took no time are outside",
)
.label("mean speed");
pub const RATIO_OF_TOTALS: Metric<BytesPerSec> =
    Metric::new("ratio_of_totals", Better::Higher, "bytes sent by all requests over the time that all took")
        .label("speed of totals");
pub const RATIO_MEDIAN: Metric<BytesPerSec> =
    Metric::new("ratio_median", Better::Higher, "median over requests of bytes sent over time taken");
pub const TIME_MEAN: Metric<Seconds> =
    Metric::new("time.mean", Better::Lower, "time that the mean request took in the server");
pub const TIME_P50: Metric<Seconds> =
    Metric::new("time.p50", Better::Lower, "time that half of the requests took at most");
pub const TIME_P90: Metric<Seconds> =
    Metric::new("time.p90", Better::Lower, "time that 90 in 100 requests took at most");
pub const TIME_P99: Metric<Seconds> =
    Metric::new("time.p99", Better::Lower, "time that 99 in 100 requests took at most");
pub const SIZE_MEAN: Metric<Bytes> = Metric::new(
    "size.mean",
    Better::Neither,
    "bytes of the mean request's answer, headers not counted with %B",
);
pub const REQUESTS: Metric<Count> = Metric::new("requests", Better::Neither, "requests of the hour");
pub const BYTES: Metric<Bytes> = Metric::new("bytes", Better::Neither, "bytes sent in the hour");

const METRICS: [MetricInfo; 10] = [
    MEAN_OF_RATIOS.info(),
    RATIO_OF_TOTALS.info(),
    RATIO_MEDIAN.info(),
    TIME_MEAN.info(),
    TIME_P50.info(),
    TIME_P90.info(),
    TIME_P99.info(),
    SIZE_MEAN.info(),
    REQUESTS.info(),
    BYTES.info(),
];

static CARD: Card = Card {
    name: "logs",
    family: Family::Web,
    says: "what a web server's access logs say of its requests, hour by hour (`boxscore logs`)",
    source: "serving speed, bytes over time as Apache logs them (%B over %D): the 2010 study of Apache on SSD and HDD",
    samples: Samples::Periods,
    cadence: Cadence::Repeat,
    definition: 1,
    metrics: &METRICS,
    needs: &[Need::Files],
    variants: &[Variant { tier: Tier::Full, set: "", headline: &["ratio_of_totals", "time.p99"] }],
    ..Card::DEFAULT
};

pub struct Logs;

pub static INSTRUMENT: Logs = Logs;

/// Told wherever somebody wants to run it.
const HOW: &str = "logs are read, not measured: boxscore logs LABEL=access.log";

impl Instrument for Logs {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn fit(&self, _: &Setup) -> Result<(), Unfit> {
        Err(Unfit::new(HOW))
    }

    fn prepare(&self, _: &Setup) -> Result<Box<dyn Probe>, Unfit> {
        Err(Unfit::new(HOW))
    }
}
