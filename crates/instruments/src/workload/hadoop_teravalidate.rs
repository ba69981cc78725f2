//! TeraValidate: sorted rows read out of HDFS and checked for their order by maps.
//!
//! The rows were sorted before the first take; the checksum of each take is compared with that of TeraGen's rows. They
//! were written just before, so that they may be read from the page cache.

use model::metrics::hadoop::RATE;
use model::{Cadence, Card, Family, MetricInfo, Need, Setup, Simple, TestName, Tier, Variant};

use super::hadoop::params;
use super::hadoop::probe::{OF_ALL, OF_DATA, OF_RATE, OF_REDUCES, Test, fit, prepare};

const METRICS: [MetricInfo; OF_ALL.len() + OF_DATA.len() + OF_RATE.len() + OF_REDUCES.len()] =
    model::joined(&[&OF_RATE, &OF_ALL, &OF_REDUCES, &OF_DATA]);

static CARD: Card = Card {
    name: model::names::instrument::HADOOP_TERAVALIDATE,
    family: Family::Hadoop,
    says: "TeraValidate: sorted rows read and checked",
    source: "Hadoop's example `teravalidate`",
    shown: params::shown("TeraValidate", RATE.name(), 30),
    cadence: Cadence::Repeat,
    definition: 1,
    params: params::OF_DATA,
    metrics: &METRICS,
    needs: &[Need::Server],
    variants: &[Variant { tier: Tier::Default, set: "", headline: &[RATE.name()] }],
    tests: &[TestName::new("teravalidate")],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple =
    Simple::new(&CARD, |setup: &Setup| prepare(setup, Test::TeraValidate)).fits(fit);
