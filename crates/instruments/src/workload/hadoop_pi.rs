//! Hadoop's `pi`: by default a job with no work, which is what Hadoop's own start costs a job.
//!
//! One map of one sample and one reduce: the client's JVM, a container for the process that directs the job, one for
//! the map, one for the reduce. With more `samples` it is work that needs no data, for JVMs beside each other.

use model::metrics::hadoop::WALL;
use model::{Cadence, Card, Example, Family, Need, ParamKind, ParamSpec, Simple, TestName, Tier, Variant};
use model::{Label, Setup};

use super::hadoop::params;
use super::hadoop::probe::{OF_ALL, Test, fit, prepare};

const OWN: &[ParamSpec] = &[
    ParamSpec::new("maps", ParamKind::Int { min: 1, max: 10_000 }, "1", "maps of the job")
        .label(Label::Count("map", "maps")),
    ParamSpec::new(
        "samples",
        ParamKind::Int { min: 1, max: 1_000_000_000 },
        "1",
        "points that each map draws",
    )
    .label(Label::Form("{} samples a map")),
];
const PARAMS: [ParamSpec; params::OF_ALL.len() + OWN.len()] = model::joined(&[params::OF_ALL, OWN]);

static CARD: Card = Card {
    name: model::names::instrument::HADOOP_PI,
    family: Family::Hadoop,
    says: "pi: the time of a job with no work, which is what starting one costs",
    source: "Hadoop's example `pi` (QuasiMonteCarlo)",
    shown: params::shown_pi("pi", WALL.name(), 0),
    cadence: Cadence::Repeat,
    definition: 1,
    params: &PARAMS,
    metrics: &OF_ALL,
    needs: &[Need::Server],
    variants: &[Variant { tier: Tier::Quick, set: "", headline: &[WALL.name()] }],
    tests: &[TestName::new("pi")],
    examples: &[
        Example::new("boxscore run hadoop --quick", "start of a job, and a sort, on a cluster of one node"),
        Example::new(
            "boxscore run hadoop --test pi --set maps=4 --set samples=20000000 --arm jvm=zero --arm jvm=hotspot",
            "a JVM without a compiler beside the usual one",
        ),
    ],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, |setup: &Setup| prepare(setup, Test::Pi)).fits(fit);
