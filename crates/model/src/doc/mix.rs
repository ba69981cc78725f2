//! The document of `boxscore logs --profile-out`: the mix of requests that access logs show, for loads to repeat.
//!
//! Counts of requests, bytes, seconds. Bounded whatever the log. Paths are replaced by names of their rank unless they
//! were asked for. Not in it: times of answers, clients, query strings, and which request followed which.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The schema that is written and read.
pub const SCHEMA: &str = "boxscore.mix/1";
/// The most bins of sizes, steps of time, paths by name, and ranges of ranks.
pub const MOST_SIZES: usize = 1024;
pub const MOST_STEPS: usize = 1440;
pub const MOST_PATHS: usize = 1000;
pub const MOST_RANKS: usize = 256;
/// No path is longer, in bytes.
pub const LONGEST_PATH: usize = 8192;
/// More than any log or server has: sums of these stay exact.
const MOST: u64 = 1 << 52;

/// The mix of requests of one label.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MixDoc {
    pub schema: String,
    pub label: String,
    pub source: MixSource,
    /// Whatever is drawn from this document is drawn from this seed, unless a run has a reason for its own.
    pub seed: u32,
    /// All that is counted below, of lines that were read and not filtered.
    pub requests: u64,
    pub sizes: MixSizes,
    /// Requests by method; `other` is any word of its own. Lines without one are in none.
    pub methods: BTreeMap<String, u64>,
    pub statuses: BTreeMap<String, u64>,
    pub connections: MixConnections,
    pub arrivals: MixArrivals,
    pub popularity: MixPopularity,
}

/// Where the mix comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MixSource {
    /// As they were named; none where the mix comes from merged aggregates alone.
    pub files: Vec<String>,
    pub lines: u64,
    /// Lines that could not be read, and those that `--where` left out.
    pub skipped: u64,
    pub filtered: u64,
    pub conditions: Vec<String>,
    /// From the first to the last request, in seconds since 1970.
    pub first: Option<i64>,
    pub last: Option<i64>,
}

/// Bytes of the bodies of answers, as the log tells them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MixSizes {
    /// Requests in the bins.
    pub requests: u64,
    pub bytes: u64,
    /// Outside the bins: answers to HEAD, and requests whose line tells no size.
    pub heads: u64,
    #[serde(rename = "unsized")]
    pub unsized_: u64,
    /// Half the width of a bin as a share of its sizes, at most.
    pub error: f64,
    /// By rising size; what holds nothing is left out.
    pub bins: Vec<MixBin>,
}

/// Answers of `from` to `to` bytes, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MixBin {
    pub from: u64,
    pub to: u64,
    pub requests: u64,
}

/// Requests on connections that had carried one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MixConnections {
    /// Requests whose line tells it; 0 where the format does not.
    pub told: u64,
    pub reused: u64,
}

/// When requests came, by the log's times.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MixArrivals {
    /// Requests whose line tells a time.
    pub requests: u64,
    /// From the first second to the last, both included; of whole quarter hours where those are all that is known.
    pub seconds: u64,
    /// Requests a second over that time.
    pub mean_rate: Option<f64>,
    /// Requests of the busiest second, and variance over mean of the requests of a second: 1 where arrivals are
    /// independent.
    pub peak_second: Option<u64>,
    pub dispersion: Option<f64>,
    /// Why something is missing.
    pub why: Option<String>,
    /// Seconds that a step lasts; the last one may be shorter.
    pub step: u64,
    pub steps: Vec<MixStep>,
    /// Requests by hour of the log's own clock, from 0 to 23; empty where that is not known.
    pub hours: Vec<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MixStep {
    pub requests: u64,
    /// Those of its busiest second.
    pub peak: Option<u64>,
}

/// How requests are spread over paths (queries are no part of them).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MixPopularity {
    /// Requests that have a path, and those that have none.
    pub requests: u64,
    pub pathless: u64,
    /// Different paths.
    pub paths: f64,
    /// True where every path was counted. Otherwise counts come from a sketch, and the tail follows the slope.
    pub exact: bool,
    /// Where they do not: a count may be too high by this share of `requests`, and `paths` be off by this share (one
    /// standard error).
    pub error: f64,
    pub paths_error: f64,
    /// Zipf's exponent: of the logarithm of requests over that of the rank, by least squares over `top`.
    pub slope: Option<f64>,
    /// True where the paths are those of the log; else they are called by their rank.
    pub logged: bool,
    /// The most wanted paths, by falling requests.
    pub top: Vec<MixPath>,
    /// Those beyond, by rank.
    pub tail: Vec<MixRanks>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MixPath {
    pub path: String,
    pub requests: u64,
    /// Bytes of an answer, on average; missing where no line tells it.
    pub bytes: Option<u64>,
}

/// So many paths that have so many requests together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MixRanks {
    pub paths: u64,
    pub requests: u64,
}

/// How a path is called by its rank, from 1.
pub fn path_of_rank(rank: u64) -> String {
    format!("/m-{rank:06}")
}

impl MixDoc {
    /// The share of requests on a connection that had carried one before; none where the log does not tell.
    pub fn reuse(&self) -> Option<f64> {
        (self.connections.told > 0).then(|| float(self.connections.reused) / float(self.connections.told))
    }

    /// Checks the document; fails with the key that is wrong and the reason.
    pub fn check(&self) -> Result<(), String> {
        if self.schema != SCHEMA {
            return Err(format!("schema: {:?}; this boxscore reads {SCHEMA:?}", self.schema));
        }
        if self.requests == 0 {
            return Err("requests: 0; a mix of nothing".to_owned());
        }
        self.sizes.check()?;
        self.counts()?;
        self.arrivals.check()?;
        self.popularity.check()?;
        let MixSizes { requests, heads, unsized_, .. } = self.sizes;
        let sized = sum([requests, heads, unsized_].into_iter());
        let asked = sum([self.popularity.requests, self.popularity.pathless].into_iter());
        for (key, total) in [("sizes", sized), ("popularity", asked)] {
            if total != Some(self.requests) {
                return Err(format!("{key}: its requests are not the {} that there are", self.requests));
            }
        }
        match self.arrivals.requests > self.requests {
            true => Err(format!("arrivals.requests: more than the {} that there are", self.requests)),
            false => Ok(()),
        }
    }

    fn counts(&self) -> Result<(), String> {
        for (name, counts) in [("methods", &self.methods), ("statuses", &self.statuses)] {
            let total = sum(counts.values().copied());
            if counts.len() > 1000 || total.is_none_or(|total| total > self.requests) {
                return Err(format!("{name}: more than the {} requests there are", self.requests));
            }
        }
        let is_word = |name: &String| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic());
        if let Some(name) = self.methods.keys().find(|name| !is_word(name)) {
            return Err(format!("methods.{name:?}: not a method"));
        }
        let MixConnections { told, reused } = self.connections;
        if reused > told || told > self.requests {
            return Err(format!("connections: {reused} reused of {told} of {} requests", self.requests));
        }
        Ok(())
    }
}

impl MixSizes {
    fn check(&self) -> Result<(), String> {
        if self.bins.is_empty() || self.bins.len() > MOST_SIZES {
            return Err(format!("sizes.bins: {} of them, not 1 to {MOST_SIZES}", self.bins.len()));
        }
        let mut least = 0;
        for (at, bin) in self.bins.iter().enumerate() {
            if bin.from < least || bin.to < bin.from || bin.to > MOST {
                return Err(format!("sizes.bins[{at}]: {} to {} does not come next", bin.from, bin.to));
            }
            if bin.requests == 0 {
                return Err(format!("sizes.bins[{at}].requests: 0"));
            }
            least = bin.to + 1;
        }
        match sum(self.bins.iter().map(|bin| bin.requests)) {
            Some(total) if total == self.requests => Ok(()),
            _ => Err(format!("sizes.requests: {}, which is not the sum of the bins", self.requests)),
        }
    }
}

impl MixArrivals {
    fn check(&self) -> Result<(), String> {
        if self.steps.is_empty() {
            return Ok(());
        }
        if self.steps.len() > MOST_STEPS {
            return Err(format!("arrivals.steps: {} of them, not up to {MOST_STEPS}", self.steps.len()));
        }
        if self.step == 0
            || self.seconds > MOST
            || self.seconds.div_ceil(self.step) != self.steps.len() as u64
        {
            let all = self.steps.len();
            return Err(format!("arrivals.step: {all} of {} s for {} s", self.step, self.seconds));
        }
        let over = self.steps.iter().position(|one| one.peak.is_some_and(|peak| peak > one.requests));
        if let Some(at) = over {
            return Err(format!("arrivals.steps[{at}].peak: more than its requests"));
        }
        match sum(self.steps.iter().map(|step| step.requests)) {
            Some(total) if total == self.requests && total > 0 => Ok(()),
            _ => Err(format!("arrivals.requests: {}, which is not the sum of the steps", self.requests)),
        }
    }
}

impl MixPopularity {
    fn check(&self) -> Result<(), String> {
        let few = |what: &str, have: usize, most: usize| match have <= most {
            true => Ok(()),
            false => Err(format!("popularity.{what}: {have} of them, not up to {most}")),
        };
        few("top", self.top.len(), MOST_PATHS)?;
        few("tail", self.tail.len(), MOST_RANKS)?;
        let is_sent = |path: &str| {
            path.starts_with('/')
                && path.len() <= LONGEST_PATH
                && path.bytes().all(|b| (0x21..0x7f).contains(&b))
        };
        for (at, one) in self.top.iter().enumerate() {
            if !is_sent(&one.path) {
                let path = one.path.escape_debug();
                return Err(format!("popularity.top[{at}].path: `{path}` is no path that can be asked for"));
            }
            if one.requests == 0 || one.bytes.is_some_and(|bytes| bytes > MOST) {
                return Err(format!("popularity.top[{at}]: no requests, or beyond {MOST} bytes"));
            }
        }
        if let Some(at) = self.tail.iter().position(|one| one.paths == 0 || one.paths > one.requests) {
            return Err(format!("popularity.tail[{at}]: each path needs a request"));
        }
        let counts = self.top.iter().map(|one| one.requests).chain(self.tail.iter().map(|one| one.requests));
        match sum(counts) {
            Some(0) | None => Err("popularity: no path, or too many requests".to_owned()),
            Some(total) if total == self.requests => Ok(()),
            _ => Err(format!("popularity.requests: {}, which is not the sum of top and tail", self.requests)),
        }
    }
}

/// None where it is beyond what stays exact.
fn sum(mut counts: impl Iterator<Item = u64>) -> Option<u64> {
    counts.try_fold(0u64, |sum, count| sum.checked_add(count).filter(|sum| *sum <= MOST))
}

#[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sound() -> MixDoc {
        let path = |rank, requests| MixPath { path: path_of_rank(rank), requests, bytes: Some(10) };
        MixDoc {
            schema: SCHEMA.to_owned(),
            requests: 10,
            sizes: MixSizes {
                requests: 10,
                bins: vec![MixBin { from: 0, to: 0, requests: 4 }, MixBin { from: 8, to: 11, requests: 6 }],
                ..MixSizes::default()
            },
            methods: BTreeMap::from([("GET".to_owned(), 10)]),
            connections: MixConnections { told: 8, reused: 6 },
            arrivals: MixArrivals {
                requests: 10,
                seconds: 5,
                step: 2,
                steps: vec![
                    MixStep { requests: 5, peak: Some(3) },
                    MixStep::default(),
                    MixStep { requests: 5, peak: None },
                ],
                ..MixArrivals::default()
            },
            popularity: MixPopularity {
                requests: 10,
                top: vec![path(1, 5), path(2, 2)],
                tail: vec![MixRanks { paths: 3, requests: 3 }],
                ..MixPopularity::default()
            },
            ..MixDoc::default()
        }
    }

    #[test]
    fn a_sound_mix_passes_and_is_read_back() {
        let mix = sound();
        assert_eq!(mix.check(), Ok(()));
        assert_eq!(mix.reuse(), Some(0.75));
        let back: MixDoc = serde_json::from_str(&serde_json::to_string(&mix).unwrap()).unwrap();
        assert_eq!(back, mix);
    }

    #[test]
    fn what_is_wrong_is_named_by_its_key() {
        type Spoil = fn(&mut MixDoc);
        let wrong: [(&str, Spoil); 16] = [
            ("schema", |mix| mix.schema = "boxscore.mix/9".to_owned()),
            ("requests", |mix| mix.requests = 0),
            ("sizes.bins:", |mix| mix.sizes.bins.clear()),
            ("sizes.bins[1]", |mix| mix.sizes.bins[1].from = 0),
            ("sizes.bins[0].requests", |mix| mix.sizes.bins[0].requests = 0),
            ("sizes.requests", |mix| mix.sizes.requests = 11),
            ("sizes: ", |mix| mix.sizes.heads = 1),
            ("popularity: its", |mix| mix.popularity.pathless = 1),
            ("methods:", |mix| _ = mix.methods.insert("HEAD".to_owned(), u64::MAX)),
            ("methods.\"\\r\"", |mix| _ = mix.methods.insert("\r".to_owned(), 0)),
            ("connections", |mix| mix.connections.reused = 9),
            ("arrivals.step:", |mix| mix.arrivals.step = 0),
            ("arrivals.steps[1].peak", |mix| mix.arrivals.steps[1].peak = Some(1)),
            ("popularity.top[1].path", |mix| mix.popularity.top[1].path = "/a\r\nX: y".to_owned()),
            ("popularity.tail[0]", |mix| mix.popularity.tail[0].paths = 4),
            ("popularity:", |mix| (mix.popularity.top, mix.popularity.tail) = (vec![], vec![])),
        ];
        for (key, spoil) in wrong {
            let mut mix = sound();
            spoil(&mut mix);
            let why = mix.check().unwrap_err();
            assert!(why.starts_with(key), "{key}: {why}");
        }
    }
}
