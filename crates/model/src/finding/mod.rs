//! Findings: what the rules concluded, as data, and the sentences that say it.
//!
//! A [`Finding`] has a [`Subject`] (what it is about) and a [`Rule`] (what was concluded, with its numbers in base
//! units). Each rule has a file of its own here, named as its kind. The sentence about one figure ([`Conclusion::one`])
//! and the sentence about several ([`Conclusion::many`]) stand side by side in it. Nothing else makes a sentence of a
//! rule, and nothing reads a number back out of one. `docs/adding.md` says what a new rule needs.

mod above_ceiling;
mod autocorrelation;
mod background;
mod clock;
mod clock_step;
mod counted;
mod credits;
mod cut;
mod drift;
pub mod drops;
mod errors;
pub mod generator_bound;
mod generator_delay;
mod guest;
mod heat;
mod idle_at_peak;
mod immature;
mod late;
mod logs_compared;
mod logs_failed;
mod logs_parts;
mod logs_read;
mod logs_since;
mod lost_syns;
mod low_memory;
mod memory_ceiling;
mod noisy_neighbour;
mod own_cost;
mod recorded;
mod redirects;
mod same_cores;
mod samples;
pub mod server_quota;
pub mod stall;
mod steal;
mod subject;
mod throttled;
mod timer;
mod told;

use std::borrow::Borrow;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use above_ceiling::{AboveCeiling, Limit};
pub use autocorrelation::Autocorrelation;
pub use background::Background;
pub use clock::Clock;
pub use clock_step::ClockStep;
pub use counted::{Counted, Counter};
pub use credits::Credits;
pub use cut::Cut;
pub use drift::Drift;
pub use drops::Drops;
pub use errors::{Errors, Failed};
pub use generator_bound::GeneratorBound;
pub use generator_delay::GeneratorDelay;
pub use guest::Guest;
pub use heat::Heat;
pub use idle_at_peak::IdleAtPeak;
pub use immature::Immature;
pub use late::Late;
pub use logs_compared::{Cache, LogsCompared, MixCause, Share, TimeBlocks, Times};
pub use logs_failed::{LogsFailed, Mostly, Stretch};
pub use logs_parts::{AskerTimes, LogsParts, PartTime, Rest};
pub use logs_read::{LogsRead, TimeUnit};
pub use logs_since::{Changed, LogsSince};
pub use lost_syns::LostSyns;
pub use low_memory::LowMemory;
pub use memory_ceiling::{MemoryCeiling, MemoryPeak};
pub use noisy_neighbour::NoisyNeighbour;
pub use own_cost::OwnCost;
pub use recorded::{InTakes, Recorded, TIMES_CACHE};
pub use redirects::Redirects;
pub use same_cores::SameCores;
pub use samples::{MoreTakes, Samples};
pub use server_quota::ServerQuota;
pub use stall::Stall;
pub use steal::Steal;
pub use subject::{About, FigureName, Subject};
pub use throttled::Throttled;
pub use timer::Timer;
pub use told::Told;

crate::words! {
    /// Validity of a number. A rule without inputs says `Unknown`, never `Ok`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum Validity as word {
        Ok = "ok",
        Unknown = "unknown",
        Doubtful = "doubtful",
        Invalid = "invalid",
    }
}

/// The numbers behind a sentence by name, in base units.
pub type Evidence = BTreeMap<String, f64>;

/// Conclusion of one rule: its kind, how grave it is, and the sentences that say it.
pub trait Conclusion {
    /// The rule's name: `clock`, `throttled`, `page-cache`, `above-ceiling`.
    fn kind(&self) -> &str;

    fn state(&self) -> Validity;

    /// The sentence about one subject. One that doubts begins with the consequence (what may not be concluded). Then it
    /// says the cause with its number, and what to do where something can be done.
    fn one(&self) -> String;

    fn evidence(&self) -> Evidence {
        Evidence::new()
    }

    /// True if [`Conclusion::one`] names its subject itself, so that it is not put in front.
    fn names_subject(&self) -> bool {
        false
    }

    /// The sentence about several figures. `None` where the rule has none: then the first figure's sentence stands for
    /// all.
    fn many(_all: &Several<'_, Self>) -> Option<String>
    where
        Self: Sized,
    {
        None
    }

    /// Consequence and cause in one short line, about one or several figures that are counted behind it; without
    /// advice. `None` where the whole sentence is short, or none does.
    fn brief(_all: &Several<'_, Self>) -> Option<String>
    where
        Self: Sized,
    {
        None
    }
}

/// Conclusions of one rule about several figures.
pub struct Several<'a, T> {
    /// How many figures, and the names of some: `3 figures (integer, floating, …)`.
    pub figures: &'a str,
    /// Each conclusion with the name of its figure.
    pub members: Vec<(&'a T, &'a str)>,
}

impl<'a, T> Several<'a, T> {
    pub fn rules(&self) -> impl Iterator<Item = &'a T> + use<'_, 'a, T> {
        self.members.iter().map(|(rule, _)| *rule)
    }

    /// The member with the largest absolute number, and that number; `None` where none has one.
    pub fn worst(&self, number: impl Fn(&T) -> Option<f64>) -> Option<(f64, &'a T, &'a str)> {
        let known = self.members.iter().filter_map(|(rule, name)| Some((number(rule)?, *rule, *name)));
        known.max_by(|a, b| a.0.abs().total_cmp(&b.0.abs()))
    }
}

/// The rule as its variant holds it.
macro_rules! held {
    ($rule:ident) => { $rule };
    ($rule:ident, Box) => { Box<$rule> };
}

macro_rules! rules {
    ($($(#[$doc:meta])* $rule:ident $(in $in:ident)?,)+) => {
        /// A conclusion. One variant for each rule or small family of rules. The large ones are boxed: a run has dozens
        /// of conclusions, and most of them are small.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Rule {
            $($(#[$doc])* $rule(held!($rule $(, $in)?)),)+
        }

        $(impl From<$rule> for Rule {
            fn from(rule: $rule) -> Rule {
                Rule::$rule(rule.into())
            }
        })+

        impl Rule {
            fn conclusion(&self) -> &dyn Conclusion {
                match self {
                    $(Rule::$rule(rule) => Borrow::<$rule>::borrow(rule),)+
                }
            }

            /// The rule's own sentence about several figures.
            fn own_many(&self, members: &[(&Rule, &str)], figures: &str) -> Option<String> {
                match self {
                    $(Rule::$rule(_) => {
                        let own = members.iter().map(|(rule, name)| match rule {
                            Rule::$rule(rule) => Some((Borrow::borrow(rule), *name)),
                            _ => None,
                        });
                        $rule::many(&Several { figures, members: own.collect::<Option<Vec<_>>>()? })
                    })+
                }
            }

            /// The rule's short line about these, all of its kind.
            fn own_brief(&self, members: &[&Rule]) -> Option<String> {
                match self {
                    $(Rule::$rule(_) => {
                        let own = members.iter().map(|rule| match rule {
                            Rule::$rule(rule) => Some((Borrow::borrow(rule), "")),
                            _ => None,
                        });
                        $rule::brief(&Several { figures: "", members: own.collect::<Option<Vec<_>>>()? })
                    })+
                }
            }
        }
    };
}

rules! {
    AboveCeiling,
    Autocorrelation,
    Background,
    Clock,
    ClockStep,
    Counted,
    Credits,
    /// The user ended a load early.
    Cut in Box,
    Drift,
    Drops in Box,
    Errors,
    GeneratorBound in Box,
    GeneratorDelay,
    /// A disk of a virtual machine.
    Guest,
    Heat,
    IdleAtPeak,
    Immature in Box,
    /// Refused by an instrument in some takes.
    InTakes,
    Late,
    LogsCompared in Box,
    LogsFailed in Box,
    LogsParts,
    LogsRead,
    LogsSince,
    LostSyns,
    LowMemory,
    MemoryCeiling,
    NoisyNeighbour,
    OwnCost,
    Recorded,
    Redirects,
    SameCores,
    Samples,
    ServerQuota in Box,
    Stall,
    Steal,
    Throttled,
    Timer,
    Told,
}

impl Rule {
    pub fn kind(&self) -> &str {
        self.conclusion().kind()
    }

    /// True for rules of the CPU's clock and of what moves it; a step of the wall clock is none.
    pub fn is_of_clock(&self) -> bool {
        ["clock", Counter::ThermalThrottle.kind()].contains(&self.kind())
    }

    /// True for what the sentences of a log, a comparison and a page begin with.
    pub fn is_told_first(&self) -> bool {
        matches!(self, Rule::LogsFailed(failed) if failed.is_told_first())
    }

    pub fn state(&self) -> Validity {
        self.conclusion().state()
    }

    /// The sentence about one subject.
    pub fn one(&self) -> String {
        self.conclusion().one()
    }

    pub fn evidence(&self) -> Evidence {
        self.conclusion().evidence()
    }

    /// True if [`Rule::one`] names its subject itself.
    pub fn names_subject(&self) -> bool {
        self.conclusion().names_subject()
    }

    /// One sentence about several figures: each rule of one kind with the name of its figure. `figures` counts them.
    pub fn many(members: &[(&Rule, &str)], figures: &str) -> String {
        let Some((first, name)) = members.first() else { return figures.to_owned() };
        if let Some(own) = first.own_many(members, figures) {
            return own;
        }
        let one = first.one();
        match members.iter().all(|(rule, _)| rule.one() == one) {
            true => format!("{figures}: {one}"),
            false => format!("{figures}, such as {name}: {one}"),
        }
    }

    /// Consequence and cause of conclusions of one kind in one short line without their figures; `None` where only the
    /// whole sentences say it.
    pub fn brief(members: &[&Rule]) -> Option<String> {
        members.first()?.own_brief(members)
    }

    /// The cause in a few words, where it explains doubts of many figures: `other processes used CPUs`.
    pub fn cause(&self) -> Option<&'static str> {
        Some(match self.base() {
            Rule::Background(Background::Busy { .. }) => "other processes used CPUs",
            Rule::Clock(_) if self.state() == Validity::Doubtful => "the clock moved",
            Rule::Cut(_) => "the user ended it early",
            Rule::Steal(Steal::Much { .. }) => "the hypervisor withheld CPU time",
            Rule::Drift(Drift::Drifted { .. }) => "figures drifted",
            Rule::Samples(Samples::TooFew { .. }) => "there are too few takes",
            Rule::Autocorrelation(Autocorrelation::Alike { .. }) => "takes resemble each other",
            Rule::NoisyNeighbour(_) if self.state() == Validity::Doubtful => "runs of this machine differ",
            Rule::Counted(Counted::Rose { counter: Counter::Swap | Counter::MajorFaults, .. }) => {
                "pages came from disk"
            }
            _ => return None,
        })
    }

    /// Words for a list of several: its cause where it has one, else its kind in words.
    pub fn topic(&self) -> String {
        let words = match self.base() {
            Rule::Errors(_) => "requests failed",
            Rule::GeneratorBound(_) => "the load generator was the limit",
            Rule::GeneratorDelay(_) | Rule::Late(_) => "the load generator was late",
            Rule::SameCores(_) => "generator and server share cores",
            Rule::ServerQuota(_) => "a CPU quota stopped the server",
            Rule::LostSyns(_) => "connections waited for TCP",
            Rule::Stall(_) => "the server stalled",
            Rule::Throttled(_) => "boxscore's own CPU quota stopped it",
            Rule::NoisyNeighbour(_) => "runs of this machine differ",
            rule => match rule.cause() {
                Some(cause) => cause,
                None => return rule.kind().replace('-', " "),
            },
        };
        words.to_owned()
    }

    /// The share by which what it found disturbed its figures: of what these used, of the time, of the clock.
    pub fn disturbed(&self) -> Option<f64> {
        match self.base() {
            Rule::Background(Background::Busy { cpus, of, .. }) => Some(cpus / of),
            Rule::Steal(Steal::Much { share }) => Some(*share),
            Rule::Clock(Clock::Moved { apart, .. }) => Some(apart.abs()),
            _ => None,
        }
        .filter(|share: &f64| share.is_finite())
    }

    /// The rule without what was added when takes were gathered.
    pub fn base(&self) -> &Rule {
        match self {
            Rule::InTakes(gathered) => gathered.rule.base(),
            other => other,
        }
    }
}

/// One conclusion, and what it is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "FindingDoc", into = "FindingDoc")]
pub struct Finding {
    pub state: Validity,
    pub subject: Subject,
    pub rule: Rule,
}

impl Finding {
    /// About the whole run, until [`Finding::about`] says otherwise.
    pub fn new(rule: impl Into<Rule>) -> Finding {
        let rule = rule.into();
        Finding { state: rule.state(), subject: Subject::RUN, rule }
    }

    /// A conclusion that another program made: it has a sentence already.
    pub fn foreign(kind: &str, state: Validity, text: impl Into<String>) -> Finding {
        Finding::new(Told { kind: kind.to_owned(), state, text: text.into(), evidence: Evidence::new() })
    }

    #[must_use]
    pub fn about(mut self, subject: impl Into<Subject>) -> Finding {
        self.subject = subject.into();
        self
    }

    pub fn kind(&self) -> &str {
        self.rule.kind()
    }

    /// The sentence.
    pub fn text(&self) -> String {
        self.rule.one()
    }

    pub fn evidence(&self) -> Evidence {
        self.rule.evidence()
    }
}

impl JsonSchema for Finding {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        FindingDoc::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        FindingDoc::json_schema(generator)
    }
}

/// One conclusion. `subject` is the series or machine part that it is about, empty for the whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Finding")]
pub struct FindingDoc {
    /// The rule, one word or hyphenated: `clock`, `throttled`, `page-cache`, `above-ceiling`.
    pub kind: String,
    pub state: Validity,
    /// Instrument, or instrument plus params, or empty.
    pub subject: String,
    /// A sentence with numbers, and what to do where something can be done.
    pub text: String,
    /// The numbers behind the sentence, in base units.
    #[serde(with = "crate::exact")]
    #[schemars(with = "BTreeMap<String, f64>")]
    pub evidence: BTreeMap<String, f64>,
}

impl From<Finding> for FindingDoc {
    fn from(finding: Finding) -> FindingDoc {
        FindingDoc {
            kind: finding.kind().to_owned(),
            state: finding.state,
            subject: finding.subject.to_string(),
            text: finding.text(),
            evidence: finding.evidence(),
        }
    }
}

impl From<FindingDoc> for Finding {
    /// A refusal of an instrument is typed again if kind, state and evidence say all of it: the sentence of an older
    /// file may have other words. Anything else keeps its sentence as it is.
    fn from(doc: FindingDoc) -> Finding {
        let FindingDoc { kind, state, subject, text, evidence } = doc;
        let rule = match Recorded::read(&kind, state, &evidence) {
            Some(recorded) => recorded,
            None => Told { kind, state, text, evidence }.into(),
        };
        Finding { state, subject: Subject::read(&subject), rule }
    }
}

/// Evidence of these numbers.
fn evidence<const N: usize>(numbers: [(&str, f64); N]) -> Evidence {
    numbers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Evidence of those of these numbers that are known.
fn known<const N: usize>(numbers: [(&str, Option<f64>); N]) -> Evidence {
    numbers.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

#[cfg(test)]
mod tests;
