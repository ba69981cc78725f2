//! The answer of a verb: one plain sentence with the numbers that were asked for. It is made here and nowhere else.
//!
//! Documents carry it as [`AnswerDoc`]; screens, pages and JSON show that sentence. Values are in base units. Which
//! figures answer a question is decided elsewhere (`verdict`).

mod beside;
mod commands;
mod decided;
mod jobs;
mod power;
mod together;

use std::fmt::{self, Write as _};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::doc::{Binding, Proof, VerdictWord};
use crate::format::{self, Kind, NOT_KNOWN, Scale, count, number, percent, quantity};
use crate::unit::Unit;

pub use beside::Beside;
pub use commands::Timed;
pub use decided::{Chosen, Decided};
pub use jobs::{Job, JobBound, JobLimit, Jobs};
pub use power::Drawn;
pub use together::{TOTAL, Together};

/// One figure of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    /// People's name of the figure: `integer`.
    pub name: String,
    /// Words behind its value that stand for the name: `a read`. Empty: the name stands before the value.
    pub per: &'static str,
    pub kind: Kind,
    pub value: f64,
    pub low: Option<f64>,
    pub high: Option<f64>,
}

/// A load on a server: its rate, its tail, and the resource that held it back.
#[derive(Clone, Debug, PartialEq)]
pub struct Served {
    /// The server; empty where it has no name.
    pub server: String,
    /// Good answers a second.
    pub rate: Answered,
    /// Requests due a second; open loops only.
    pub offered: Option<f64>,
    /// The words that tell the load from others of the run: `with 100 connections`.
    pub with: String,
    /// Response time of 99 in 100.
    pub p99: Option<f64>,
    /// Of all requests.
    pub failed: Option<f64>,
    pub bound: Option<Bound>,
    /// The server may do more: something else set the rate.
    pub least: bool,
}

/// The highest load within a limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Within {
    pub server: String,
    pub rate: Answered,
    /// `p99`, `20ms`: as they were asked for.
    pub percentile: String,
    pub limit: String,
    /// The rate that its loads proved.
    pub proof: Proof,
    /// The resource that holds the server there.
    pub bound: Option<Bound>,
}

/// The resource that holds a load back.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    pub kind: Binding,
    pub resource: String,
    /// Share of its ceiling, where it has one.
    pub share: Option<f64>,
    /// CPUs' time that the load generator used of it, as a share, where it works there.
    pub generator: Option<f64>,
    /// Requests that wait, though all that is offered is answered.
    pub waits: Option<Waits>,
}

/// Of so many requests one waits so long, or longer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waits {
    pub one_in: u32,
    pub seconds: f64,
}

impl fmt::Display for Waits {
    /// `1 in 100 waits 1.02 s or longer`
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "1 in {} waits {} or longer", self.one_in, quantity(self.seconds, Unit::Second))
    }
}

/// Figures of one thing: a machine, or one of several servers.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// `vm`, `Redis`.
    pub name: String,
    pub figures: Vec<Answered>,
}

/// An answer, by the kind of question.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Served(Served),
    Within(Vec<Within>),
    /// Commands of the user's beside the first.
    Commands(Vec<Timed>),
    /// Power from idle to full load.
    Drawn(Vec<Drawn>),
    /// Jobs on a cluster.
    Jobs(Jobs),
    /// Rates of the machines of a study, and their sum.
    Together(Together),
    /// How one language fares beside another.
    Speed(Vec<Beside>),
    Measured {
        all: Vec<Measured>,
        /// Of the first beside each other, where there are several.
        beside: Vec<Beside>,
    },
    /// Boxes that do the work.
    Decided(Decided),
    /// No figure of so many holds.
    Nothing {
        name: String,
        figures: usize,
    },
}

/// How far an answer may be believed: figures that are doubtful, of how many, and the cause that most of them share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Doubted {
    pub doubtful: usize,
    pub of: usize,
    pub cause: &'static str,
}

/// The sentence that answers what was asked, and the figures in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerDoc {
    /// Without a full stop: ready to stand as a title.
    pub sentence: String,
    pub figures: Vec<AnsweredDoc>,
    /// Most of the run's figures are doubtful: the sentence says why.
    #[serde(default)]
    pub doubtful: bool,
}

/// One figure of an answer, in base units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnsweredDoc {
    pub name: String,
    pub unit: Unit,
    pub value: f64,
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// Of a ratio of two: whether they differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<VerdictWord>,
    /// A lower bound: something else than what was measured set it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub least: bool,
}

impl Answered {
    /// The ends of its interval as text in brackets; nothing where there is none.
    fn ends(&self, scale: &Scale) -> String {
        let Some((low, high)) = self.low.zip(self.high) else { return String::new() };
        match scale.interval(low, high) {
            Some((low, high)) => format!(" ({low} to {high})"),
            None => format!(" (interval {NOT_KNOWN})"),
        }
    }

    /// `36,400 requests/s (35,900 to 37,100)`, where the unit is spelled out.
    fn rate(&self) -> String {
        let ends = match self.low.zip(self.high) {
            Some((low, high)) if low <= 0.0 || format::tells(low, high) => {
                format!(" ({} to {})", number(low), number(high))
            }
            Some(_) => format!(" (interval {NOT_KNOWN})"),
            None => String::new(),
        };
        format!("{} requests/s{ends}", number(self.value))
    }

    fn doc(&self) -> AnsweredDoc {
        let Answered { name, kind, value, low, high, .. } = self;
        AnsweredDoc {
            name: name.clone(),
            unit: kind.unit,
            value: *value,
            low: *low,
            high: *high,
            verdict: None,
            least: false,
        }
    }
}

impl fmt::Display for Answered {
    /// `integer 192 Mop/s (190 to 194)`, or `21.9 us a read`.
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = Scale::common(&[self.value], self.kind);
        if self.per.is_empty() {
            write!(to, "{} ", self.name)?;
        }
        to.write_str(&quantity(self.value, self.kind))?;
        to.write_str(&self.ends(&scale))?;
        if !self.per.is_empty() {
            write!(to, " {}", self.per)?;
        }
        Ok(())
    }
}

/// `name: ` of what has a name.
fn head(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!("{name}: ") }
}

/// Words with a capital in front: `Redis`, `Java`.
pub fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

impl fmt::Display for Served {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let least = if self.is_least() { "at least " } else { "" };
        write!(to, "{}{least}{}", head(&self.server), self.rate.rate())?;
        if let Some(offered) = self.offered {
            write!(to, " of {} offered", number(offered))?;
        }
        if !self.with.is_empty() {
            write!(to, " {}", self.with)?;
        }
        if let Some(p99) = self.p99.filter(|p99| p99.is_finite()) {
            write!(to, "; 99 % within {}", quantity(p99, Unit::Second))?;
        }
        if let Some(failed) = self.failed.filter(|failed| *failed > 0.0) {
            write!(to, "; {} of the requests failed", percent(failed))?;
        }
        self.bound.as_ref().map_or(Ok(()), |bound| write!(to, "; {}", bound.said()))
    }
}

impl Served {
    fn is_least(&self) -> bool {
        self.least || self.bound.as_ref().is_some_and(|bound| bound.kind == Binding::Generator)
    }
}

/// A thread of an application that is so busy is what is waited for.
const CEILING: f64 = 0.85;
/// From this share on a resource is full; below it answers wait for it all the same.
const FULL: f64 = 0.95;
/// From this share on the generator's part of a resource is told.
const TOLD: f64 = 0.05;

impl Bound {
    /// `full`, `nearly full (88 %)`, `nearly full (93 %, of these the generator 40 %)`.
    fn full(&self) -> String {
        let near = self.share.filter(|share| *share < FULL);
        let generator = self.generator.filter(|share| *share >= TOLD);
        let word = if near.is_some() { "nearly full" } else { "full" };
        let said = match (near, generator) {
            (None, None) => return word.to_owned(),
            (Some(share), None) => percent(share),
            (Some(share), Some(own)) => {
                format!("{}, of these the generator {}", percent(share), percent(own))
            }
            (None, Some(own)) => format!("the generator used {} of it", percent(own)),
        };
        format!("{word} ({said})")
    }

    /// In a few words.
    fn said(&self) -> String {
        let (resource, full) = (&self.resource, self.full());
        match self.kind {
            Binding::Silent => "the server stopped answering".to_owned(),
            Binding::Generator => "the load generator was the limit".to_owned(),
            Binding::Cores => format!("the server's cores are {full}"),
            Binding::Shared => format!("server and generator share {resource}, which is {full}"),
            Binding::Others => format!("other programs fill {resource}"),
            Binding::Core => format!("{resource} is {full}"),
            Binding::Thread => format!("one thread of the server is {full}"),
            Binding::Softirq => "one core is full with the kernel's network work".to_owned(),
            Binding::Steal => "the hypervisor gave the server's CPU time to others".to_owned(),
            Binding::Disk => format!("the disk {resource} is full"),
            Binding::Memory => "it waits for memory".to_owned(),
            Binding::RunQueue => "its threads wait for CPU time".to_owned(),
            Binding::Io => "it waits for input and output".to_owned(),
            Binding::Quota => "its CPU quota is used up".to_owned(),
            Binding::Link => format!("the network link {resource} is full"),
            Binding::KernelLimit => "a limit of the kernel was reached".to_owned(),
            Binding::Behind => match self.share.is_some_and(|share| share >= CEILING) {
                true => format!("one thread of the application behind it, {resource}, is {full}"),
                false => format!("it waits for {resource}"),
            },
            Binding::Serial => "requests are served one at a time".to_owned(),
            Binding::Connections => "more connections would get more".to_owned(),
            Binding::Offered => match &self.waits {
                Some(waits) => format!("it answers all that is offered, but {waits}"),
                None => "it serves all that is offered".to_owned(),
            },
            Binding::Failures => "it refuses a part of what is offered".to_owned(),
            Binding::Waiting => "the server waits, though nothing here is full".to_owned(),
            Binding::Unknown => "what holds it back is not known".to_owned(),
        }
    }
}

impl fmt::Display for Within {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Within { server, rate, percentile, limit, proof, bound } = self;
        let text = |rate: f64| format!("{} requests/s", number(rate));
        to.write_str(&head(server))?;
        to.write_str(&proof.says(&format!("{percentile} within {limit}"), &rate.rate(), text, "keep"))?;
        bound.as_ref().map_or(Ok(()), |bound| write!(to, "; {}", bound.said()))
    }
}

impl Within {
    /// The rate that was found, and the one that was kept.
    fn docs(&self) -> Vec<AnsweredDoc> {
        let found = self.rate.doc();
        let kept = match self.proof {
            Proof::Kept(kept) => Some(kept),
            Proof::Broken(_) | Proof::Untold => None,
        };
        let kept = kept.map(|kept| AnsweredDoc {
            name: format!("{}, kept in most loads", found.name),
            value: kept.rate,
            low: None,
            high: None,
            ..found.clone()
        });
        [Some(found), kept].into_iter().flatten().collect()
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let figures: Vec<String> = self.figures.iter().map(ToString::to_string).collect();
        write!(to, "{}{}", head(&self.name), figures.join(", "))
    }
}

fn joined<T: fmt::Display>(all: &[T]) -> String {
    all.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

impl fmt::Display for Answer {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Served(served) => served.fmt(to),
            Answer::Within(all) => to.write_str(&joined(all)),
            Answer::Commands(all) => to.write_str(&commands::sentence(all)),
            Answer::Drawn(all) => to.write_str(&joined(all)),
            Answer::Jobs(jobs) => jobs.fmt(to),
            Answer::Together(together) => together.fmt(to),
            Answer::Speed(all) => to.write_str(&all.iter().map(Beside::speed).collect::<Vec<_>>().join("; ")),
            Answer::Measured { all, beside } => {
                to.write_str(&joined(all))?;
                beside.iter().try_for_each(|one| write!(to, "; {}", one.compared()))
            }
            Answer::Decided(decided) => decided.fmt(to),
            Answer::Nothing { name, figures } => {
                write!(to, "{}no figure of {figures} holds", head(name))
            }
        }
    }
}

impl Answer {
    fn figures(&self) -> Vec<AnsweredDoc> {
        match self {
            Answer::Served(served) => vec![AnsweredDoc { least: served.is_least(), ..served.rate.doc() }],
            Answer::Within(all) => all.iter().flat_map(Within::docs).collect(),
            Answer::Commands(all) => all.iter().map(Timed::doc).collect(),
            Answer::Drawn(all) => all.iter().flat_map(Drawn::figures).collect(),
            Answer::Jobs(jobs) => jobs.figures(),
            Answer::Together(together) => together.figures(),
            Answer::Speed(all) => all.iter().map(Beside::doc).collect(),
            Answer::Measured { all, beside } => {
                let figures = all.iter().flat_map(|one| one.figures.iter().map(Answered::doc));
                figures.chain(beside.iter().map(Beside::doc)).collect()
            }
            Answer::Decided(decided) => decided.docs(),
            Answer::Nothing { .. } => Vec::new(),
        }
    }

    /// The document. Doubts that most figures share belong to the sentence.
    pub fn doc(&self, doubted: Doubted) -> AnswerDoc {
        let Doubted { doubtful, of, cause } = doubted;
        let is_doubtful = doubtful * 2 > of;
        let mut sentence = self.to_string();
        if is_doubtful {
            let which = match (doubtful == of, of) {
                (true, 1) => "doubtful".to_owned(),
                (true, 2) => "both figures are doubtful".to_owned(),
                (true, _) => format!("all {} are doubtful", count(of, "figure")),
                (false, _) => format!("{doubtful} of {} are doubtful", count(of, "figure")),
            };
            let cause = if cause.is_empty() { String::new() } else { format!(": {cause}") };
            let _ = write!(sentence, " ({which}{cause})");
        }
        AnswerDoc { sentence, figures: self.figures(), doubtful: is_doubtful }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(name: &str, per: &'static str, unit: Unit, value: f64, ends: Option<(f64, f64)>) -> Answered {
        let (low, high) = (ends.map(|ends| ends.0), ends.map(|ends| ends.1));
        Answered { name: name.to_owned(), per, kind: Kind::for_unit(unit), value, low, high }
    }

    fn held(kind: Binding, share: f64) -> Bound {
        Bound { kind, resource: "cpu0".to_owned(), share: Some(share), generator: None, waits: None }
    }

    fn served() -> Served {
        Served {
            server: String::new(),
            rate: figure("web", "", Unit::PerSec, 36_400.0, None),
            offered: None,
            with: String::new(),
            p99: Some(0.0014),
            failed: Some(0.0),
            bound: Some(held(Binding::Thread, 1.0)),
            least: false,
        }
    }

    #[test]
    fn a_load_is_answered_with_its_rate_its_tail_and_what_holds_it_back() {
        let one = served();
        assert_eq!(
            one.to_string(),
            "36,400 requests/s; 99 % within 1.40 ms; one thread of the server is full"
        );
        let bound = Some(held(Binding::Generator, 0.99));
        let least = Served { server: "nginx".to_owned(), bound, p99: Some(f64::INFINITY), ..served() };
        assert_eq!(least.to_string(), "nginx: at least 36,400 requests/s; the load generator was the limit");
        let failing =
            Served { failed: Some(0.95), offered: Some(40_000.0), bound: None, p99: None, ..served() };
        assert_eq!(failing.to_string(), "36,400 requests/s of 40,000 offered; 95 % of the requests failed");
    }

    #[test]
    fn who_fills_cores_and_who_waits_is_said() {
        let of = |kind, share, generator| Bound { generator, ..held(kind, share) }.said();
        assert_eq!(
            of(Binding::Cores, 0.93, Some(0.4)),
            "the server's cores are nearly full (93 %, of these the generator 40 %)"
        );
        assert_eq!(of(Binding::Cores, 0.93, Some(0.01)), "the server's cores are nearly full (93 %)");
        assert_eq!(of(Binding::Core, 0.99, Some(0.4)), "cpu0 is full (the generator used 40 % of it)");
        let waits = Some(Waits { one_in: 100, seconds: 1.02 });
        let offered = Bound { waits, ..held(Binding::Offered, 1.0) };
        assert_eq!(offered.said(), "it answers all that is offered, but 1 in 100 waits 1.02 s or longer");
    }

    #[test]
    fn a_limit_is_answered_with_its_rate_and_interval() {
        let rate = figure("web", "", Unit::PerSec, 61_500.0, Some((58_000.0, 63_000.0)));
        let mut one = Within {
            server: String::new(),
            rate,
            percentile: "p99".to_owned(),
            limit: "20ms".to_owned(),
            proof: Proof::Untold,
            bound: Some(held(Binding::Core, 0.88)),
        };
        let said = |one: &Within| Answer::Within(vec![one.clone()]).to_string();
        assert_eq!(
            said(&one),
            "61,500 requests/s (58,000 to 63,000) keep p99 within 20ms; cpu0 is nearly full (88 %)"
        );
        let tried = |rate, held, broken| crate::doc::TriedDoc { rate, held, broken };
        one.proof = Proof::Kept(tried(58_300.0, 4, 1));
        one.bound = Some(held(Binding::Others, 1.0));
        assert_eq!(
            said(&one),
            "58,300 requests/s keep p99 within 20ms, in 4 of 5 loads; loads break from about 61,500 requests/s (58,000 to \
             63,000) on; other programs fill cpu0"
        );
        assert_eq!(one.docs().iter().map(|doc| doc.value).collect::<Vec<_>>(), [61_500.0, 58_300.0]);
        one.proof = Proof::Broken(Some(tried(61_500.0, 0, 3)));
        assert!(
            said(&one).starts_with("no rate kept p99 within 20ms in most of its loads; the search ended at")
        );
        let wide = figure("web", "", Unit::PerSec, 3_647.0, Some((52.0, 229_700.0)));
        assert_eq!(wide.rate(), "3,647 requests/s (interval not known)");
    }

    #[test]
    fn ratios_say_whether_they_tell() {
        let one = |verdict| Beside {
            over: "Java".to_owned(),
            under: "C".to_owned(),
            of: "composite".to_owned(),
            ratio: 1.02,
            low: Some(1.0),
            high: Some(1.04),
            verdict,
            worst: Some(("sparse".to_owned(), 0.71)),
        };
        assert_eq!(
            Answer::Speed(vec![one(VerdictWord::Tie)]).to_string(),
            "Java computes at 1.02 times the speed of C here (1.00 to 1.04); slowest: sparse, 0.71"
        );
        assert_eq!(
            one(VerdictWord::CannotTell).compared(),
            "faster than C? cannot tell (composite: 1.02 times the time, 1.00 to 1.04)"
        );
    }

    #[test]
    fn doubts_of_most_figures_belong_to_the_answer() {
        let figures = vec![
            figure("read 100 B", "a read", Unit::Second, 21.9e-6, Some((21e-6, 23e-6))),
            figure("integer", "", Unit::PerSec, 1.92e8, None),
        ];
        let answer = Answer::Measured {
            all: vec![Measured { name: "Redis".to_owned(), figures }],
            beside: Vec::new(),
        };
        let doc = answer.doc(Doubted { doubtful: 2, of: 3, cause: "other processes were busy" });
        assert_eq!(
            doc.sentence,
            "Redis: 21.9 us (21.0 to 23.0) a read, integer 192 M/s (2 of 3 figures are doubtful: other processes were \
             busy)"
        );
        assert!(doc.doubtful && doc.figures.len() == 2 && doc.figures[0].low == Some(21e-6));
        assert!(!answer.doc(Doubted { doubtful: 1, of: 3, cause: "" }).doubtful);
    }
}
