//! The reasons behind a row's verdict: what kept it from being decided, what would decide it, what is doubtful about
//! its figures, and what a published point leaves open.
//!
//! Reasons are data; their sentences are made here, for one row and for several. Units are base units. A document has
//! both: `why` is the sentence, `reasons` are the parts.

mod shown;

pub(crate) use shown::{MANY, not_worth};
mod withheld;

pub use shown::quarters;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::basis::Basis;
use crate::doc::VerdictWord;

/// The reasons behind one verdict, in the order in which they are told; empty where the verdict speaks for itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(into = "WhyDoc", from = "WhyDoc")]
pub struct Why {
    /// Of a ratio of ratios: the machine whose ratio the reasons are about.
    pub machine: Option<String>,
    pub reasons: Vec<Reason>,
}

/// One reason behind a verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Reason {
    /// The figures were compared, and the result was not clear.
    Held(Held),
    /// The figures could not be compared.
    NoInterval(NoInterval),
    /// More of the same would settle it.
    Needed(Needed),
    /// More of the same would not settle it: the difference is about as large as the margin.
    NearMargin,
    /// More of the same would not settle it, or on the wrong side.
    Unsteady(Unsteady),
    /// The margin is larger than the one that was asked for.
    Raised(Raised),
    /// Something besides the figures may have made the difference, so that no verdict is given.
    Withheld(Withheld),
    /// The verdict that the interval alone would give, where it is withheld.
    Alone { verdict: VerdictWord },
    /// The percentile of these sides falls on a failed request.
    OverLimit(OverLimit),
    /// The sides were offered different loads.
    OtherRates(OtherRates),
    /// The sides were loaded under other conditions; the verdict stands.
    OtherConditions { differ: Vec<Unlike> },
    /// The user had figures compared that differ in these parameters: what they do is in the ratio.
    Across { differ: Vec<Unlike> },
    /// A load that neither side answers in full: how long it takes is the length of the take.
    NeitherHolds { offered: f64 },
    /// The interval was widened by what went on while the figures were measured; the verdict stands.
    Widened {
        /// How much further the interval that was judged reaches on either side, as a share of the ratio.
        widened: f64,
        by_what: Vec<Weighed>,
    },
    /// A rule doubts a figure; the verdict stands.
    Doubtful {
        /// The rule's sentence.
        text: String,
    },
    /// A published figure.
    Point(Point),
    /// A rule refused the figure of a side.
    Refused {
        side: Option<String>,
        /// The rule's sentence.
        text: String,
    },
    /// Hours of logs are no takes of one thing.
    Hours {
        /// The rows `speed` and `time` of the same comparison have the verdict.
        judged_elsewhere: bool,
    },
    /// The ratio of the totals lies outside the interval of the like-with-like comparison.
    Mix { totals_ratio: f64 },
    /// This share of the failures stands in so few quarter hours of so many: they tell of that time alone.
    FailedAtOnce {
        share: f64,
        blocks: u64,
        of: u64,
        /// Requests of both in these quarter hours.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        within: Option<FailedWithin>,
    },
}

/// Failed requests and all requests of a stretch of time, and p that both sides failed alike (Fisher's exact test).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailedWithin {
    pub arm: (u64, u64),
    pub base: (u64, u64),
    pub p: f64,
}

/// The reason that kept a comparison undecided.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "kebab-case")]
pub enum Held {
    /// The interval reaches across the margin.
    Interval,
    /// It does, and the noise between runs is assumed, not measured.
    AssumedNoise,
    /// Decided alone, but not after the correction for this many rows.
    Family { rows: u64 },
    /// A published point has no samples.
    NoSamples,
    /// Too few blocks for an interval.
    FewBlocks { have: u64, need: u64 },
    /// Each side has one take, or one of them has, and the noise between runs is assumed: nothing of the interval was
    /// measured.
    OneTake { each: bool },
}

/// Why there is no interval at all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NoInterval {
    /// Of logs: the blocks that were to be compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Blocks>,
    pub cause: Cause,
}

/// Blocks of a log.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Blocks {
    /// Stretches of time in which both sides served.
    Shared,
    /// Stretches of this many seconds on either side of the cut.
    Seconds(f64),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Neither side could be paired with the other.
    NoPair,
    FewValues {
        have: u64,
        need: u64,
    },
    /// Something lasts through so many blocks of time that they tell as much as so few.
    OneEpisode {
        blocks: u64,
        tell: f64,
    },
    /// The mean time of a side is so few steps of its log's times that these may have made the difference. Seconds.
    CoarseTimes {
        side: String,
        step: f64,
        mean: f64,
    },
    /// Values that cannot be used; the text names the first.
    Unusable(String),
}

/// How many more takes or runs of each side would settle a row, going by what was found so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Needed {
    pub count: u64,
    pub of: Repeat,
    /// How long all of them would take, where it is known how long one took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u64>,
}

impl Needed {
    /// Of a cost that is not known.
    pub const fn new(count: u64, of: Repeat) -> Needed {
        Needed { count, of, seconds: None }
    }

    /// True where they would take longer than anybody waits for one verdict.
    pub fn is_beyond(&self) -> bool {
        self.seconds.is_some_and(|seconds| seconds > SENSIBLE_S)
    }
}

/// The longest time that repetitions are worth which are to settle a verdict.
const SENSIBLE_S: u64 = 3600;

/// The unit of repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Repeat {
    Takes,
    Runs,
    Boxes,
}

/// Takes that are no repetitions of one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "takes", rename_all = "kebab-case")]
pub enum Unsteady {
    Drift,
    ResembleEachOther,
}

/// A margin raised to the least difference that a side's clock can show.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Raised {
    /// As a share.
    pub margin: f64,
    /// The side with the coarser clock.
    pub side: String,
    pub step_seconds: f64,
    /// How long a take lasts.
    pub take_seconds: f64,
}

/// A percentile that is slower than any answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OverLimit {
    pub sides: Vec<String>,
}

/// Requests per second that the sides were offered.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OtherRates {
    pub arm: f64,
    pub base: f64,
}

/// A parameter in which two figures differ that are compared nevertheless, with the value of each side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unlike {
    pub name: String,
    pub arm: String,
    pub base: String,
}

/// Something besides the figures that may have made the difference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "kebab-case")]
pub enum Withheld {
    /// The load generator, not the server, set the figures of these sides.
    LowerBound { sides: Vec<String> },
    /// Other things went on while the figures were measured, and may have moved them so far that the verdict would not
    /// stand.
    Disturbed { by_what: Vec<Weighed> },
    /// The clocks of the two sides differed. Hertz.
    Clocks { arm: f64, base: f64 },
    /// The clock moved within runs by this share or more.
    ClockMoved { share: f64 },
}

/// Something that went on while a figure was measured, and how far it can have moved the figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Weighed {
    pub what: Disturbance,
    /// As a share of the figure, over both sides; `None` where it cannot be bounded.
    pub share: Option<f64>,
}

/// Something that went on while a figure was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Disturbance {
    OtherProcesses,
    Steal,
    Heat,
    Swap,
    MajorFaults,
    Cache,
    SharedCore,
    LateRequests,
    Flush,
}

/// A published figure beside a measured one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Point {
    /// The study that published it; `None` for a pasted line.
    pub study: Option<String>,
    /// Parameters of the measured figure that it does not state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<String>,
    /// Parameters that only it states: `size=43;url=gif`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stated: String,
    /// How many other published figures would fit as well.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub others: u64,
    /// How the figure came about, where no test measured it.
    #[serde(default, skip_serializing_if = "Basis::is_measured")]
    pub basis: Basis,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Why {
    /// True if more of the same would settle nothing.
    pub fn is_final(&self) -> bool {
        let settles_nothing = |reason: &Reason| match reason {
            Reason::NearMargin | Reason::Unsteady(_) | Reason::FailedAtOnce { .. } => true,
            Reason::NoInterval(none) => {
                matches!(none.cause, Cause::OneEpisode { .. } | Cause::CoarseTimes { .. })
            }
            _ => false,
        };
        self.reasons.iter().any(settles_nothing)
    }

    /// True if there is no interval, since the difference may be one episode.
    pub fn one_episode(&self) -> bool {
        let is_one = |reason: &Reason| {
            matches!(reason, Reason::NoInterval(NoInterval { cause: Cause::OneEpisode { .. }, .. }))
        };
        self.reasons.iter().any(is_one)
    }

    /// The quarter hours that both sides served, and those that an interval needs, where they are too few.
    pub fn few_quarters(&self) -> Option<(u64, u64)> {
        self.reasons.iter().find_map(|reason| match reason {
            Reason::NoInterval(NoInterval {
                blocks: Some(Blocks::Shared),
                cause: Cause::FewValues { have, need },
            }) => Some((*have, *need)),
            _ => None,
        })
    }

    /// True if the row is of failures that tell of a short time alone.
    pub fn failed_at_once(&self) -> bool {
        self.reasons.iter().any(|reason| matches!(reason, Reason::FailedAtOnce { .. }))
    }

    pub fn new(mut reasons: Vec<Reason>) -> Why {
        // A comparison of many sides keeps those of all its rows.
        reasons.shrink_to_fit();
        Why { machine: None, reasons }
    }

    pub fn is_empty(&self) -> bool {
        self.reasons.is_empty()
    }

    /// The reason that kept the comparison undecided.
    pub fn held(&self) -> Option<Held> {
        self.reasons.iter().find_map(Reason::as_held)
    }

    /// Why no verdict is given although the figures may differ.
    pub fn withheld(&self) -> Option<&Withheld> {
        self.reasons.iter().find_map(Reason::as_withheld)
    }

    /// How much further the judged interval reaches on either side than the one that is shown, as a share of the ratio.
    pub fn widened(&self) -> Option<f64> {
        self.reasons.iter().find_map(|reason| match reason {
            Reason::Widened { widened, .. } => Some(*widened),
            _ => None,
        })
    }

    /// How many more takes, runs or boxes would settle it.
    pub fn needed(&self) -> Option<Needed> {
        self.reasons
            .iter()
            .find_map(|reason| if let Reason::Needed(needed) = reason { Some(*needed) } else { None })
    }

    /// True where a rule doubts a figure of the row, even where the verdict stands.
    pub fn is_doubtful(&self) -> bool {
        let doubts = |reason: &Reason| {
            matches!(
                reason,
                Reason::Withheld(_)
                    | Reason::Doubtful { .. }
                    | Reason::OtherConditions { .. }
                    | Reason::Across { .. }
            )
        };
        self.reasons.iter().any(doubts)
    }

    /// True where a figure of the row came from a pasted line.
    pub fn is_pasted(&self) -> bool {
        let pasted = |reason: &Reason| matches!(reason, Reason::Point(Point { study: None, .. }));
        self.reasons.iter().any(pasted)
    }
}

impl Reason {
    /// Of a withheld verdict: whether the interval alone would decide.
    const fn is_beside_withheld(&self) -> bool {
        matches!(self, Reason::Held(_) | Reason::Alone { .. })
    }

    const fn as_held(&self) -> Option<Held> {
        if let Reason::Held(held) = self { Some(*held) } else { None }
    }

    const fn as_withheld(&self) -> Option<&Withheld> {
        if let Reason::Withheld(withheld) = self { Some(withheld) } else { None }
    }

    const fn as_no_interval(&self) -> Option<&NoInterval> {
        if let Reason::NoInterval(none) = self { Some(none) } else { None }
    }
}

impl From<Reason> for Why {
    fn from(reason: Reason) -> Why {
        Why::new(vec![reason])
    }
}

/// The form of [`Why`] in a document.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WhyDoc {
    /// Why the verdict is as it is, or what a point is.
    why: Option<String>,
    /// The parts of `why`; absent where there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    reasons: Vec<ReasonDoc>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct ReasonDoc {
    /// Of a ratio of ratios: the machine whose ratio the reason is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    machine: Option<String>,
    #[serde(flatten)]
    reason: Reason,
}

impl From<Why> for WhyDoc {
    fn from(why: Why) -> WhyDoc {
        let text = (!why.is_empty()).then(|| why.to_string());
        let machine = why.machine;
        let doc = |reason| ReasonDoc { machine: machine.clone(), reason };
        WhyDoc { why: text, reasons: why.reasons.into_iter().map(doc).collect() }
    }
}

impl From<WhyDoc> for Why {
    fn from(doc: WhyDoc) -> Why {
        Why {
            machine: doc.reasons.first().and_then(|one| one.machine.clone()),
            reasons: doc.reasons.into_iter().map(|one| one.reason).collect(),
        }
    }
}
