//! TestDFSIO: files written into HDFS, then read, one a map.
//!
//! A take is two jobs: one writes, one reads what was written just before. HDFS writes and reads through the page
//! cache of its nodes and syncs nothing, so that neither is a figure of the disk as long as memory has room: the read
//! is named so.

use model::metrics::hadoop::{FILE_RATE, RATE};
use model::{
    Cadence, Card, Family, Label, MetricInfo, Need, ParamKind, ParamSpec, Setup, Simple, TestName, Tier,
    Variant,
};

use super::hadoop::params;
use super::hadoop::probe::{OF_ALL, OF_DATA, OF_FILES, OF_RATE, OF_REDUCES, Test, fit, prepare};

const METRICS: [MetricInfo;
    OF_ALL.len() + OF_DATA.len() + OF_RATE.len() + OF_REDUCES.len() + OF_FILES.len()] =
    model::joined(&[&OF_FILES, &OF_RATE, &OF_ALL, &OF_REDUCES, &OF_DATA]);

static CARD: Card = Card {
    name: model::names::instrument::HADOOP_DFSIO,
    family: Family::Hadoop,
    says: "TestDFSIO: files written into HDFS, and read back from the page cache",
    source: "Hadoop's TestDFSIO",
    shown: params::shown_steps("TestDFSIO", RATE.name(), 40),
    cadence: Cadence::Repeat,
    definition: 1,
    params: params::OF_DATA,
    parts: &[ParamSpec::new("step", ParamKind::Choice(&["write", "read"]), "write", "the job of the take")
        .label(Label::Words(&[("write", "write"), ("read", "cached read")]))],
    metrics: &METRICS,
    needs: &[Need::Server],
    variants: &[Variant { tier: Tier::Default, set: "", headline: &[RATE.name(), FILE_RATE.name()] }],
    tests: &[TestName::new("dfsio")],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, |setup: &Setup| prepare(setup, Test::Dfsio)).fits(fit);
