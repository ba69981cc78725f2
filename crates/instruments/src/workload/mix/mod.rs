//! A mix of requests, as `boxscore logs --profile-out` tells it, turned into what a load asks for: targets with their
//! weights, methods and connections, and the shape of arrivals.
//!
//! Sent are GET and HEAD: a log holds no bodies, and a server of files has no answer to others. Statuses, conditional
//! requests and the order of requests are not repeated.

pub mod objects;

use model::doc::MixDoc;
use model::doc::mix::MixArrivals;

use crate::bench::kernels::random::Random;
use crate::load::Target;
use crate::load::http::request::Expected;
use crate::load::shape::Shape;

/// The share of HEAD among the requests that are sent, and that of requests that are not sent among all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Methods {
    pub head: f64,
    pub left_out: f64,
}

impl Methods {
    pub fn from_mix(mix: &MixDoc) -> Methods {
        let count = |name: &str| mix.methods.get(name).copied().unwrap_or(0);
        let (get, head) = (count("GET"), count("HEAD"));
        let all: u64 = mix.methods.values().sum();
        let share = |part: u64, whole: u64| if whole > 0 { float(part) / float(whole) } else { 0.0 };
        Methods { head: share(head, get + head), left_out: share(all - get - head, all) }
    }
}

/// Each target once for each method and each fate of its connection, with its share of the weight.
pub fn spread(plain: &[Target], mix: &MixDoc) -> Vec<Target> {
    let methods = Methods::from_mix(mix);
    let closes = 1.0 - mix.reuse().unwrap_or(1.0);
    let kinds = [
        ("GET", false, (1.0 - methods.head) * (1.0 - closes)),
        ("GET", true, (1.0 - methods.head) * closes),
        ("HEAD", false, methods.head * (1.0 - closes)),
        ("HEAD", true, methods.head * closes),
    ];
    let mut all = Vec::new();
    for (method, closes, share) in kinds.into_iter().filter(|(.., share)| *share > 0.0) {
        all.extend(plain.iter().map(|one| Target {
            url: one.url.clone(),
            weight: one.weight * share,
            // An answer to HEAD has no body to check.
            expected: if method == "HEAD" { Expected::default() } else { one.expected },
            method: Some(method.to_owned()),
            closes,
        }));
    }
    all
}

/// Sentences on the parts of a mix that a load leaves out.
pub fn left_out(mix: &MixDoc) -> Vec<String> {
    let methods = Methods::from_mix(mix);
    let mut said = Vec::new();
    if methods.left_out > 0.0 {
        let percent = 100.0 * methods.left_out;
        said.push(format!(
            "{percent:.2} % of the mix's requests have another method than GET and HEAD, and are not sent"
        ));
    }
    if mix.reuse().is_none() {
        said.push("the log does not tell which connections were kept: all are".to_owned());
    }
    said
}

/// How the rate of the mix goes: each step's busiest second apart from its others, in a place that the seed draws. None
/// where the log does not tell.
pub fn shape(mix: &MixDoc) -> Option<Shape> {
    let MixArrivals { seconds, step, steps, .. } = &mix.arrivals;
    let mut random = Random::new(u64::from(mix.seed));
    let mut parts = Vec::with_capacity(3 * steps.len());
    let mut left = *seconds;
    for one in steps {
        let lasts = left.min(*step);
        left -= lasts;
        match one.peak.filter(|_| lasts > 1) {
            None => parts.push((float(lasts), float(one.requests))),
            Some(peak) => {
                let before = random.below(lasts);
                let each = float(one.requests.saturating_sub(peak)) / float(lasts - 1);
                let after = lasts - 1 - before;
                parts.push((float(before), float(before) * each));
                parts.push((1.0, float(peak)));
                parts.push((float(after), float(after) * each));
            }
        }
    }
    Shape::new(parts)
}

#[expect(clippy::cast_precision_loss, reason = "counts that a sound mix keeps below 2^53")]
pub(crate) fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;

    use model::doc::mix::{
        MixBin, MixConnections, MixPath, MixPopularity, MixRanks, MixSizes, MixStep, SCHEMA, path_of_rank,
    };

    use super::*;

    /// Few files that are wanted much, many that are not; sizes from 100 B to 100 kB.
    pub fn planted() -> MixDoc {
        let top: Vec<MixPath> = (1..=50u64)
            .map(|rank| MixPath { path: path_of_rank(rank), requests: 6000 / rank, bytes: Some(rank * 1009) })
            .collect();
        let tail = vec![MixRanks { paths: 200, requests: 4000 }, MixRanks { paths: 800, requests: 3000 }];
        let asked: u64 = top.iter().map(|one| one.requests).sum::<u64>() + 7000;
        let mut bins: BTreeMap<u64, u64> = BTreeMap::new();
        top.iter().for_each(|one| *bins.entry(one.bytes.unwrap()).or_default() += one.requests);
        (0..7000u64).for_each(|n| *bins.entry(100 + n * n % 99_991).or_default() += 1);
        let bins: Vec<MixBin> =
            bins.into_iter().map(|(bytes, requests)| MixBin { from: bytes, to: bytes, requests }).collect();
        let bins = objects::tests::coarse(&bins, 512);
        MixDoc {
            schema: SCHEMA.to_owned(),
            label: "planted".to_owned(),
            seed: 1,
            requests: asked,
            sizes: MixSizes { requests: asked, bins, ..MixSizes::default() },
            methods: BTreeMap::from([
                ("GET".into(), asked * 9 / 10),
                ("HEAD".into(), asked / 20),
                ("POST".into(), 50),
            ]),
            connections: MixConnections { told: 1000, reused: 800 },
            arrivals: MixArrivals {
                requests: 100,
                seconds: 5,
                step: 2,
                steps: vec![
                    MixStep { requests: 40, peak: Some(30) },
                    MixStep { requests: 20, peak: None },
                    MixStep { requests: 40, peak: Some(40) },
                ],
                mean_rate: Some(20.0),
                ..MixArrivals::default()
            },
            popularity: MixPopularity { requests: asked, top, tail, ..MixPopularity::default() },
            ..MixDoc::default()
        }
    }

    #[test]
    fn the_planted_mix_is_sound() {
        assert_eq!(planted().check(), Ok(()));
    }

    #[test]
    fn peaks_are_in_the_shape() {
        let shape = shape(&planted()).unwrap();
        // 40 in the last second of five, where 20 are the mean.
        assert!((shape.steepest() - 2.0).abs() < 1e-9, "{}", shape.steepest());
        assert!((shape.time_of(0.6) - 0.8).abs() < 1e-9);
        assert_eq!(super::shape(&MixDoc::default()), None);
    }

    #[test]
    fn weights_are_shared_among_methods_and_connections() {
        let mix = planted();
        let plain: Vec<Target> =
            ["http://a/x", "http://a/y"].map(|url| url.parse::<model::url::Url>().unwrap().into()).to_vec();
        let all = spread(&plain, &mix);
        let sum = |of: &dyn Fn(&Target) -> bool| -> f64 {
            all.iter().filter(|one| of(one)).map(|one| one.weight).sum::<f64>() / 2.0
        };
        let head = Methods::from_mix(&mix).head;
        assert_eq!(all.len(), 8);
        assert!((sum(&|_| true) - 1.0).abs() < 1e-12);
        assert!((sum(&|one| one.closes) - 0.2).abs() < 1e-12);
        assert!((sum(&|one| one.method.as_deref() == Some("HEAD")) - head).abs() < 1e-12);
        assert!(left_out(&mix)[0].starts_with("0."), "{:?}", left_out(&mix));
        let silent = MixDoc { connections: MixConnections::default(), methods: BTreeMap::new(), ..mix };
        assert!(
            spread(&plain, &silent).iter().all(|one| !one.closes && one.method.as_deref() == Some("GET"))
        );
        assert_eq!(left_out(&silent).len(), 1);
    }
}
