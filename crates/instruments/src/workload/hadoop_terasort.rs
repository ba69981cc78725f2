//! TeraSort: rows of 100 bytes sorted by maps and reduces, from HDFS into HDFS.
//!
//! The rows are TeraGen's, written before the first take. Each take is proved: TeraValidate finds its output in order,
//! with the checksum that TeraChecksum found in the input; a take that is not proved has no figures. Neither is in the
//! time. The input was written just before, so that it may be read from the page cache.

use model::metrics::hadoop::RATE;
use model::{Cadence, Card, Example, Family, MetricInfo, Need, Setup, Simple, TestName, Tier, Variant};

use super::hadoop::params;
use super::hadoop::probe::{OF_ALL, OF_DATA, OF_FAULTS, OF_RATE, OF_REDUCES, Test, fit, prepare};

const METRICS: [MetricInfo;
    OF_ALL.len() + OF_DATA.len() + OF_RATE.len() + OF_REDUCES.len() + OF_FAULTS.len()] =
    model::joined(&[&OF_RATE, &OF_ALL, &OF_FAULTS, &OF_REDUCES, &OF_DATA]);

static CARD: Card = Card {
    name: model::names::instrument::HADOOP_TERASORT,
    family: Family::Hadoop,
    says: "TeraSort: rows sorted from HDFS into HDFS, proved by TeraValidate",
    source: "Hadoop's example `terasort`, after Gray's sort benchmark",
    shown: params::shown_sort("TeraSort", RATE.name(), 20),
    cadence: Cadence::Repeat,
    definition: 1,
    params: params::OF_SORT,
    metrics: &METRICS,
    needs: &[Need::Server],
    variants: &[Variant { tier: Tier::Quick, set: "", headline: &[RATE.name()] }],
    tests: &[TestName::new("terasort")],
    examples: &[
        Example::new(
            "boxscore run hadoop --nodes 3 --test terasort --data 1GB --replication 2",
            "a sort on three nodes",
        ),
        Example::new(
            "boxscore run hadoop --test terasort --arm compression=snappy --arm compression=none",
            "what compression between maps and reduces changes",
        ),
        Example::new(
            "boxscore run hadoop --test terasort --nodes 3 --replication 2 --arm fault=none --arm fault=kill-node@40%",
            "what a node costs that dies in the midst of a sort",
        ),
    ],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, |setup: &Setup| prepare(setup, Test::TeraSort)).fits(fit);
