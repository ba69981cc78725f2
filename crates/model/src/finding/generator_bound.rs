//! `generator-bound`: the load generator, not the server, set the figures of a load, which are then lower bounds.

use std::collections::BTreeMap;
use std::fmt;

use super::{Conclusion, Evidence, Several, Validity, evidence, known};
use crate::format::{count, list, number, percent, quantity};
use crate::unit::Unit;

#[derive(Clone, Debug, PartialEq)]
pub enum GeneratorBound {
    Unknown,
    /// The busiest core of any generator.
    Free {
        share: f64,
    },
    /// More generators reach no more.
    Settled(Settled),
    /// The server is full as well: what it reached is about what it can do.
    Both(BothFull),
    Bound(LowerBound),
}

/// A server and a generator that both fill what they have.
#[derive(Clone, Debug, PartialEq)]
pub struct BothFull {
    /// The core of the server, its cores, or its one thread, and how busy.
    pub server: String,
    pub busy: f64,
    pub cores: Cores,
    /// Share of its time that the generator's busiest core worked.
    pub share: f64,
}

impl BothFull {
    pub const ADVICE: &str = "generate from another machine to see whether the server does more";
}

impl fmt::Display for BothFull {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            to,
            "server and generator are both full ({} {} busy; {} {} of its time): {}",
            self.server,
            percent(self.busy),
            self.cores,
            percent(self.share),
            Self::ADVICE
        )
    }
}

/// `tried` generators reach no more than `own`, which reach so many requests a second.
#[derive(Clone, Debug, PartialEq)]
pub struct Settled {
    pub tried: f64,
    pub own: f64,
    pub reached: Option<f64>,
}

/// A load that the generator set.
#[derive(Clone, Debug, PartialEq)]
pub struct LowerBound {
    pub cause: Cause,
    pub cores: Cores,
    /// Share of its time that the generator's busiest core worked.
    pub share: Option<f64>,
    /// CPU time of the generator for each request, s.
    pub generator_cpu: Option<f64>,
    pub capacity: Option<Capacity>,
    /// A core of the server that is full as well, and how busy it is.
    pub full: Option<(String, f64)>,
}

/// Why the generator set a figure. Shares are of a core's time.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// Its busiest core is at its ceiling.
    Busy { share: f64 },
    /// It got that share of a core alone that others, or the server, kept so busy.
    Starved { share: f64, busy: f64, is_shared: bool },
    /// So many generators reach that many times as much.
    More { generators: f64, ratio: f64 },
    /// It reaches that many times as much as fewer generators do, and more were not tried.
    Rising { own: f64, fewer: f64, ratio: f64 },
}

/// All that a server can fill: the cores that it may run on, or its threads that work, where those are fewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filled {
    Cores(usize),
    Threads(usize),
}

/// CPU time of the server for each request in s, and the most requests a second that it could serve by that, where it
/// is known what it can fill.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capacity {
    pub cpu: f64,
    pub most: Option<(Filled, f64)>,
}

/// The cores of a generator, as `cpu1`. Shown as `the generator on cpu1 works`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cores(pub Vec<String>);

impl fmt::Display for Cores {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [] => to.write_str("the busiest core of the generator works"),
            [only] => write!(to, "the generator on {only} works"),
            few if few.len() <= 4 => write!(to, "the busiest generator core of {} works", list(few)),
            many => write!(to, "the busiest of {} generator cores works", many.len()),
        }
    }
}

impl fmt::Display for Settled {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reached = self.reached.map(rate).unwrap_or_default();
        write!(
            to,
            "{} no more than {:.0} ({reached}): the generator is not what holds it back",
            reach(self.tried),
            self.own
        )
    }
}

impl fmt::Display for Capacity {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "the server used {} of CPU a request", quantity(self.cpu, Unit::Second))?;
        match self.most {
            Some((Filled::Cores(cores), most)) => {
                write!(to, ", by which its {} could do up to {}", count(cores, "core"), rate(most))
            }
            Some((Filled::Threads(threads), most)) => {
                let threads = count(threads, "busy thread");
                write!(to, ", by which its {threads} could do up to {}", rate(most))
            }
            None => Ok(()),
        }
    }
}

impl Cause {
    /// The reason why it is a lower bound.
    pub fn text(&self, cores: &Cores) -> String {
        match self {
            Cause::Busy { share } => format!("{cores} {} of its time", percent(*share)),
            Cause::Starved { share, busy, is_shared } => format!(
                "{cores} only {} of its time, on a core that {} ({} busy)",
                percent(*share),
                if *is_shared { "it shares with the server" } else { "other programs fill" },
                percent(*busy)
            ),
            Cause::More { generators, ratio } => format!("{} {}", reach(*generators), more(*ratio)),
            Cause::Rising { own, fewer, ratio } => format!(
                "{} {} (against {fewer:.0}), and more than {own:.0} were not tried",
                reach(*own),
                more(*ratio)
            ),
        }
    }

    /// Advice.
    pub const fn advice(&self) -> &'static str {
        match self {
            Cause::Starved { is_shared: false, .. } => {
                "give the generator a core that others leave alone, or generate from another machine"
            }
            Cause::Starved { is_shared: true, .. } => {
                "give it a core of its own, or generate from another machine"
            }
            Cause::Busy { .. } | Cause::More { .. } | Cause::Rising { .. } => {
                "add generators, or generate from another machine"
            }
        }
    }

    /// True if other programs fill the generator's core.
    pub const fn is_of_others(&self) -> bool {
        matches!(self, Cause::Starved { is_shared: false, .. })
    }

    /// True if the generator shares its core with the server.
    const fn is_of_server(&self) -> bool {
        matches!(self, Cause::Starved { is_shared: true, .. })
    }

    /// How busy a core is that other programs fill beside the generator.
    const fn filled(&self) -> Option<f64> {
        match self {
            Cause::Starved { busy, is_shared: false, .. } => Some(*busy),
            _ => None,
        }
    }

    const fn ratio(&self) -> Option<f64> {
        match self {
            Cause::More { ratio, .. } | Cause::Rising { ratio, .. } => Some(*ratio),
            Cause::Busy { .. } | Cause::Starved { .. } => None,
        }
    }

    /// True if [`Cause::text`] tells how busy the generator's core was.
    const fn tells_share(&self) -> bool {
        matches!(self, Cause::Busy { .. } | Cause::Starved { .. })
    }
}

impl LowerBound {
    fn text(&self) -> String {
        let mut text = format!("lower bound: {}", self.cause.text(&self.cores));
        if let Some(share) = self.share.filter(|_| !self.cause.tells_share()) {
            text.push_str(&format!("; {} {} of its time", self.cores, percent(share)));
        }
        if let Some(cpu) = self.generator_cpu {
            text.push_str(&format!(" ({} of CPU a request)", quantity(cpu, Unit::Second)));
        }
        if let Some(capacity) = self.capacity {
            text.push_str(&format!("; {capacity}"));
        }
        if let Some((cpu, busy)) = &self.full {
            text.push_str(&format!("; its {cpu} was {} busy too", percent(*busy)));
        }
        format!("{text}; {}", self.cause.advice())
    }
}

/// `2 generators reach`.
fn reach(generators: f64) -> String {
    let count = count(generators as usize, "generator");
    if generators > 1.0 { format!("{count} reach") } else { format!("{count} reaches") }
}

/// Requests a second.
pub fn rate(per_second: f64) -> String {
    quantity(per_second, Unit::PerSec)
}

/// `38 % more`, `9.90 times as much`, of a ratio above 1.
pub fn more(ratio: f64) -> String {
    match ratio < 3.0 {
        true => format!("{} more", percent(ratio - 1.0)),
        false => format!("{} times as much", number(ratio)),
    }
}

impl GeneratorBound {
    /// True where a figure is a lower bound.
    pub const fn is_bound(&self) -> bool {
        matches!(self, GeneratorBound::Bound(_))
    }

    const fn bound(&self) -> Option<&LowerBound> {
        match self {
            GeneratorBound::Bound(bound) => Some(bound),
            _ => None,
        }
    }
}

impl Conclusion for GeneratorBound {
    fn kind(&self) -> &str {
        "generator-bound"
    }

    fn state(&self) -> Validity {
        match self {
            GeneratorBound::Unknown => Validity::Unknown,
            GeneratorBound::Free { .. } | GeneratorBound::Settled(_) | GeneratorBound::Both(_) => {
                Validity::Ok
            }
            GeneratorBound::Bound(_) => Validity::Doubtful,
        }
    }

    fn one(&self) -> String {
        match self {
            GeneratorBound::Unknown => "how busy the load generator was is not known".to_owned(),
            GeneratorBound::Free { share } => {
                format!("the busiest core of a generator worked {} of its time", percent(*share))
            }
            GeneratorBound::Settled(settled) => settled.to_string(),
            GeneratorBound::Both(both) => both.to_string(),
            GeneratorBound::Bound(bound) => bound.text(),
        }
    }

    /// Loads that the generator set, each in its own way.
    fn many(all: &Several<'_, Self>) -> Option<String> {
        let bounds = || all.rules().filter_map(GeneratorBound::bound);
        let busiest = all.worst(|one| one.bound()?.share).map(|(share, ..)| share);
        let mut advices: BTreeMap<&str, usize> = BTreeMap::new();
        bounds().for_each(|bound| *advices.entry(bound.cause.advice()).or_default() += 1);
        let (advice, _) = advices.into_iter().max_by_key(|(_, times)| *times)?;
        // A generator whose core others fill does not set the figure by its own work.
        let filled = all.worst(|one| one.bound()?.cause.filled()).map(|(busy, ..)| busy);
        if let (true, Some(busy), Some(share)) =
            (bounds().all(|bound| bound.cause.is_of_others()), filled, busiest)
        {
            return Some(format!(
                "lower bounds: other programs fill the load generator's core ({} busy, of which the generator works up \
                 to {}) during {}; {advice}",
                percent(busy),
                percent(share),
                all.figures
            ));
        }
        if bounds().all(|bound| bound.cause.is_of_server()) {
            let works = busiest
                .map_or_else(String::new, |share| format!(" and works up to {} of it", percent(share)));
            return Some(format!(
                "lower bounds: the load generator shares a full core with the server{works} during {}; {advice}",
                all.figures
            ));
        }
        let busiest = busiest.map_or_else(String::new, |share| {
            format!("; its busiest core works up to {} of its time", percent(share))
        });
        Some(format!(
            "lower bounds: the load generator, not the server, sets {}{busiest}; {advice}",
            all.figures
        ))
    }

    fn brief(all: &Several<'_, Self>) -> Option<String> {
        let bounds = || all.rules().filter_map(GeneratorBound::bound);
        bounds().next()?;
        if bounds().all(|bound| bound.cause.is_of_others()) {
            return Some("lower bounds: other programs fill the load generator's core".to_owned());
        }
        if bounds().all(|bound| bound.cause.is_of_server()) {
            return Some("lower bounds: the load generator shares a full core with the server".to_owned());
        }
        Some("lower bounds: the load generator, not the server, was the limit".to_owned())
    }

    fn evidence(&self) -> Evidence {
        match self {
            GeneratorBound::Unknown | GeneratorBound::Settled(_) => Evidence::new(),
            GeneratorBound::Free { share } => evidence([("share", *share)]),
            GeneratorBound::Both(both) => evidence([("share", both.share), ("server", both.busy)]),
            GeneratorBound::Bound(bound) => known([
                ("share", bound.share),
                ("generator_cpu", bound.generator_cpu),
                ("server_cpu", bound.capacity.map(|capacity| capacity.cpu)),
                ("capacity", bound.capacity.and_then(|capacity| Some(capacity.most?.1))),
                ("more", bound.cause.ratio()),
                ("filled_by_others", bound.cause.filled()),
            ]),
        }
    }
}
