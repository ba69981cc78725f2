//! The card of runs of access logs: figures of a server's requests, hour by hour.
//!
//! Bytes sent (`%B`) and time taken (`%D`) as the server logged them: from when it read the request to when it gave the
//! last byte to the kernel, so that neither the client's waiting before nor the network after is in them. Nothing is
//! measured here: `boxscore logs` reads the files, and one take is one hour of one label.

use model::Need;
use model::metrics::logs::{
    BYTES, ERROR_RATE, MEAN_OF_RATIOS, RATIO_MEDIAN, RATIO_OF_TOTALS, RATIO_OF_TOTALS_GOOD, REQUESTS,
    SIZE_MEAN, TIME_MEAN, TIME_MEAN_GOOD, TIME_P50, TIME_P90, TIME_P99,
};
use model::{Cadence, Card, Family, MetricInfo, Probe, Samples, Setup, Simple, Tier, Unfit, Variant};

const METRICS: [MetricInfo; 13] = [
    MEAN_OF_RATIOS.info(),
    RATIO_OF_TOTALS_GOOD.info(),
    RATIO_OF_TOTALS.info(),
    RATIO_MEDIAN.info(),
    TIME_MEAN_GOOD.info(),
    TIME_MEAN.info(),
    TIME_P50.info(),
    TIME_P90.info(),
    TIME_P99.info(),
    SIZE_MEAN.info(),
    REQUESTS.info(),
    BYTES.info(),
    ERROR_RATE.info(),
];

static CARD: Card = Card {
    name: model::traffic::INSTRUMENT,
    family: Family::Web,
    says: "what a web server's access logs say of its requests, hour by hour (`boxscore logs`)",
    source: "serving speed, bytes over time as Apache logs them (%B over %D): the 2010 study of Apache on SSD and HDD",
    samples: Samples::Periods,
    cadence: Cadence::Repeat,
    definition: 3,
    metrics: &METRICS,
    needs: &[Need::Files],
    variants: &[Variant {
        tier: Tier::Full,
        set: "",
        headline: &[RATIO_OF_TOTALS_GOOD.name(), TIME_P99.name()],
    }],
    ..Card::DEFAULT
};

/// Told wherever somebody wants to run it.
const HOW: &str = "logs are read, not measured: boxscore logs LABEL=access.log";

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare).fits(|_| Err(Unfit::new(HOW)));

fn prepare(_: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    Err(Unfit::new(HOW))
}
