//! Ceilings of a load: what the same machine delivered when one thing alone was asked of it, and how much of that the
//! load used.
//!
//! A ceiling is the best figure of stored runs, not a physical limit: a load may get more than it. Ages are seconds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::finding::Validity;
use crate::format::{Kind, Scale, duration, percent, percent_range, quantity};
use crate::params::Params;
use crate::unit::Unit;

/// From this share of a ceiling on a load is near it.
pub const NEAR: f64 = 0.7;

crate::words! {
    /// The thing that a ceiling is of.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum CeilingOf as word {
        /// Read requests of a disk, per second: `disk-read`, the best of its depths.
        Reads = "reads",
        /// Bytes read from a disk: `disk-seq`.
        BytesRead = "bytes-read",
        /// Bytes written to a disk: `disk-seq`.
        BytesWritten = "bytes-written",
        /// Bytes of bodies or values over a network interface: `net-bandwidth`.
        BytesCarried = "bytes-carried",
        /// Packets that an interface sent: `net-packets`.
        Packets = "packets",
        /// Bytes of bodies or values, each of which is copied at least once: `mem-bandwidth`.
        BytesCopied = "bytes-copied",
        /// Good answers under the same load: `web` with boxscore's own server.
        Answers = "answers",
    }
}

/// The figure that is the ceiling.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CeilingFigureDoc {
    pub instrument: String,
    pub metric: String,
    pub params: Params,
    /// Median of its run, with its interval where that is known.
    pub value: f64,
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub run: String,
    /// Seconds from the start of its run to that of the load's; negative where the load came first, 0 in one run.
    pub age: f64,
    /// Of the figure: `doubtful` only where no run has a better one.
    pub validity: Validity,
    /// Doubts about it.
    pub doubts: Vec<String>,
}

/// One ceiling of a load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CeilingDoc {
    pub of: CeilingOf,
    /// Where: `vda`, `lo`, `memory`, `builtin`.
    pub resource: String,
    pub unit: Unit,
    /// Of it the load used so much: median over its takes.
    pub used: f64,
    /// It used more than what is counted.
    pub at_least: bool,
    /// `null` where it was never measured.
    pub measured: Option<CeilingFigureDoc>,
    /// Part of the ceiling that was used, with the ends that the ceiling's interval gives it. `null` where it was never
    /// measured, or where the load got more than it.
    pub share: Option<f64>,
    pub share_low: Option<f64>,
    pub share_high: Option<f64>,
    /// The load got more than the best run: what that run measured is no ceiling.
    pub exceeded: bool,
    /// The command that measures it.
    pub command: String,
    /// `--ceilings` measures it before a load.
    pub by_option: bool,
    /// Why figures that there are do not count.
    pub why: Option<String>,
    /// The ceiling with its numbers: one line without a full stop.
    pub text: String,
}

impl CeilingDoc {
    /// `reads from disk vda`.
    pub fn what(&self) -> String {
        let over = if self.resource == "lo" { "the loopback" } else { self.resource.as_str() };
        match self.of {
            CeilingOf::Reads => format!("reads from disk {}", self.resource),
            CeilingOf::BytesRead => format!("bytes read from disk {}", self.resource),
            CeilingOf::BytesWritten => format!("bytes written to disk {}", self.resource),
            CeilingOf::BytesCarried => format!("bytes over {over}"),
            CeilingOf::Packets => format!("packets over {over}"),
            CeilingOf::BytesCopied => "bytes copied in memory".to_owned(),
            CeilingOf::Answers => "answers of boxscore's own server".to_owned(),
        }
    }

    /// It was measured, and the load stayed below it.
    pub fn held(&self) -> Option<(f64, &CeilingFigureDoc)> {
        self.share.zip(self.measured.as_ref())
    }

    /// True where so much was used that the ceiling may bind.
    pub fn is_near(&self) -> bool {
        self.exceeded || self.share.is_some_and(|share| share >= NEAR)
    }

    /// `4.00 of the 22.0 k/s`; `None` where there is no ceiling.
    pub fn amount(&self) -> Option<String> {
        let (_, figure) = self.held()?;
        let scale = Scale::common(&[self.used, figure.value], Kind::for_unit(self.unit));
        let least = if self.at_least { "at least " } else { "" };
        Some(format!("{least}{} of the {}", scale.number(self.used), scale.with_unit(figure.value)))
    }

    /// The share with its ends: `18 %, 17 to 19 %`.
    pub fn shares(&self) -> Option<String> {
        let share = percent(self.share?);
        let ends = self.share_low.zip(self.share_high).and_then(|(low, high)| percent_range(&[low, high]));
        Some(ends.filter(|ends| *ends != share).map_or(share.clone(), |ends| format!("{share}, {ends}")))
    }

    /// `reads from disk vda 18 %`; `None` where it was never measured.
    pub fn brief(&self) -> Option<String> {
        let share = match (self.share, &self.measured) {
            (Some(share), Some(_)) => percent(share),
            (None, Some(_)) => "above 100 %".to_owned(),
            (_, None) => return None,
        };
        Some(format!("{} {share}", self.what()))
    }

    /// The sentence of [`CeilingDoc::text`].
    pub fn says(&self) -> String {
        let used = quantity(self.used, Kind::for_unit(self.unit));
        let what = self.what();
        match (self.amount().zip(self.shares()), &self.measured) {
            (Some((amount, shares)), Some(figure)) => {
                format!("{what}: {amount} ({shares}; {})", figure.says())
            }
            (_, Some(figure)) => format!(
                "{what}: {used}, more than the {} of {}: that is no ceiling; measure it again with nothing beside it: \
                 {}",
                quantity(figure.value, Kind::for_unit(self.unit)),
                figure.says(),
                self.command
            ),
            (_, None) => {
                let why = self.why.as_deref().map_or_else(String::new, |why| format!(" ({why})"));
                format!("{what}: {used}; what it can do was never measured{why}: {}", self.command)
            }
        }
    }

    /// The document with its sentence.
    #[must_use]
    pub fn with_text(self) -> CeilingDoc {
        CeilingDoc { text: self.says(), ..self }
    }
}

impl CeilingFigureDoc {
    /// `disk-read 2 h before`, `disk-read in this run, a doubtful figure`.
    fn says(&self) -> String {
        let doubt = if self.validity == Validity::Doubtful { ", a doubtful figure" } else { "" };
        format!("{} {}{doubt}", self.instrument, self.when())
    }

    fn when(&self) -> String {
        match self.age {
            age if age > 0.0 => format!("{} before", duration(age.round())),
            age if age < 0.0 => format!("{} later", duration((-age).round())),
            _ => "in this run".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads() -> CeilingDoc {
        let measured = CeilingFigureDoc {
            instrument: "disk-read".into(),
            metric: "iops".into(),
            params: Params::default(),
            value: 22e3,
            low: Some(21e3),
            high: Some(24e3),
            run: "r".into(),
            age: 7_500.0,
            validity: Validity::Ok,
            doubts: Vec::new(),
        };
        CeilingDoc {
            of: CeilingOf::Reads,
            resource: "vda".into(),
            unit: Unit::PerSec,
            used: 4e3,
            at_least: false,
            measured: Some(measured),
            share: Some(4.0 / 22.0),
            share_low: Some(4.0 / 24.0),
            share_high: Some(4.0 / 21.0),
            exceeded: false,
            command: "boxscore run disk-read".into(),
            by_option: true,
            why: None,
            text: String::new(),
        }
    }

    #[test]
    fn a_share_of_what_the_disk_can_do() {
        let says = "reads from disk vda: 4.00 of the 22.0 k/s (18 %, 17 to 19 %; disk-read 2 h 5 min before)";
        assert_eq!(reads().with_text().text, says);
        assert_eq!(reads().brief().as_deref(), Some("reads from disk vda 18 %"));
        let mut doubtful = reads();
        doubtful.measured.as_mut().unwrap().validity = Validity::Doubtful;
        doubtful.measured.as_mut().unwrap().age = -60.0;
        (doubtful.at_least, doubtful.share_low) = (true, None);
        let says = "reads from disk vda: at least 4.00 of the 22.0 k/s (18 %; disk-read 1 min later, a doubtful figure)";
        assert_eq!(doubtful.says(), says);
    }

    #[test]
    fn more_than_the_ceiling_and_none_at_all() {
        let beyond = CeilingDoc { used: 30e3, share: None, exceeded: true, ..reads() };
        let says = "reads from disk vda: 30.0 k/s, more than the 22.0 k/s of disk-read 2 h 5 min before: that is no \
                    ceiling; measure it again with nothing beside it: boxscore run disk-read";
        assert_eq!(beyond.says(), says);
        assert!(beyond.is_near() && !reads().is_near());
        assert_eq!(beyond.brief().as_deref(), Some("reads from disk vda above 100 %"));
        let never = CeilingDoc { measured: None, share: None, ..reads() };
        let says = "reads from disk vda: 4.00 k/s; what it can do was never measured: boxscore run disk-read";
        assert_eq!((never.says().as_str(), never.brief()), (says, None));
        let other = CeilingDoc { why: Some("that of sdb was".into()), ..never };
        assert!(other.says().contains("never measured (that of sdb was): boxscore"), "{}", other.says());
    }

    #[test]
    fn every_resource_has_its_name() {
        let named = |of, resource: &str| CeilingDoc { of, resource: resource.into(), ..reads() }.what();
        assert_eq!(named(CeilingOf::BytesCarried, "lo"), "bytes over the loopback");
        assert_eq!(named(CeilingOf::Packets, "eth0"), "packets over eth0");
        assert_eq!(named(CeilingOf::BytesWritten, "sda"), "bytes written to disk sda");
    }
}
