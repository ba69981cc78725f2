//! A log as a job: this program as mapper and reducer of Hadoop Streaming, over a log in HDFS.
//!
//! The log is made before the first take. Each take is proved: its result is, to the byte, what one process of this
//! program makes of the same log on this machine, or the take has no figures. The log was written just before, so that
//! it may be read from the page cache.

use model::metrics::hadoop::{ALONE, RATE};
use model::{Cadence, Card, Example, Family, MetricInfo, Need, Setup, Simple, TestName, Tier, Variant};

use super::hadoop::params;
use super::hadoop::probe::{OF_ALL, OF_DATA, OF_RATE, OF_REDUCES, Test, fit, prepare};

const METRICS: [MetricInfo; OF_ALL.len() + OF_DATA.len() + OF_RATE.len() + OF_REDUCES.len() + 1] =
    model::joined(&[&OF_RATE, &[ALONE.info()], &OF_ALL, &OF_REDUCES, &OF_DATA]);

static CARD: Card = Card {
    name: model::names::instrument::HADOOP_LOGS,
    family: Family::Hadoop,
    says: "an access log read by a streaming job of `logs map` and `logs reduce`, proved by one process",
    source: "boxscore",
    shown: params::shown("access log", RATE.name(), 50),
    cadence: Cadence::Repeat,
    definition: 1,
    params: params::OF_DATA,
    metrics: &METRICS,
    needs: &[Need::Server],
    variants: &[Variant { tier: Tier::Default, set: "", headline: &[RATE.name()] }],
    tests: &[TestName::new("logs")],
    examples: &[Example::new(
        "boxscore run hadoop --nodes 1,2 --test logs --data 1GB",
        "a log read by a job, and by one process beside it",
    )],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, |setup: &Setup| prepare(setup, Test::Logs)).fits(fit);
