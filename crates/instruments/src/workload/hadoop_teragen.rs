//! TeraGen: rows of 100 bytes written into HDFS by maps alone, in no order.
//!
//! The bytes that came into HDFS are counted afterwards. Files are not synced to disk: what is written may be in the
//! page cache when the job has ended.

use model::metrics::hadoop::RATE;
use model::{Cadence, Card, Family, MetricInfo, Need, Setup, Simple, TestName, Tier, Variant};

use super::hadoop::params;
use super::hadoop::probe::{OF_ALL, OF_DATA, OF_RATE, Test, fit, prepare};

const METRICS: [MetricInfo; OF_ALL.len() + OF_DATA.len() + OF_RATE.len()] =
    model::joined(&[&OF_RATE, &OF_ALL, &OF_DATA]);

static CARD: Card = Card {
    name: model::names::instrument::HADOOP_TERAGEN,
    family: Family::Hadoop,
    says: "TeraGen: rows written into HDFS",
    source: "Hadoop's example `teragen`",
    shown: params::shown("TeraGen", RATE.name(), 10),
    cadence: Cadence::Repeat,
    definition: 1,
    params: params::OF_DATA,
    metrics: &METRICS,
    needs: &[Need::Server],
    variants: &[Variant { tier: Tier::Default, set: "", headline: &[RATE.name()] }],
    tests: &[TestName::new("teragen")],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, |setup: &Setup| prepare(setup, Test::TeraGen)).fits(fit);
