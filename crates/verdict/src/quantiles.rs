//! Quantiles of times over several takes: those of all their events together, whatever the takes' own quantiles are.
//!
//! A metric says which times it is a quantile of. An event without a good end is beyond every time, so that a quantile
//! may be infinite: over the time limit. Seconds.

use std::collections::BTreeMap;

use model::data::{Point, RunData, Series};
use model::histogram::percentile_needs;
use model::{Cards, Histogram, Phase, Value, card};
use stats::{Bootstrap, Rng, Run, Take, Unfit};

/// Enough for two digits of an interval's ends.
const RESAMPLES: usize = 500;

/// The times of one take.
#[derive(Clone, Debug)]
struct OfTake {
    sitting: u32,
    block: u64,
    times: Take,
}

/// The times of the measured takes of one figure, and the quantile of them that it is.
#[derive(Clone, Debug)]
pub struct Quantile {
    pub q: f64,
    /// In time order; takes without any times are left out.
    takes: Vec<OfTake>,
    seed: u64,
}

/// The values and counts of a histogram; what is over is infinite.
pub fn take(histogram: &Histogram) -> Take {
    let over = (histogram.over() > 0).then_some((f64::INFINITY, histogram.over()));
    histogram.bins().map(|(ns, count)| (ns as f64 / 1e9, count)).chain(over).collect()
}

impl Quantile {
    /// `None` where the figure is no quantile, or where the times themselves were not kept.
    pub fn of_series(run: &RunData, series: &Series, cards: Cards) -> Option<Quantile> {
        let key = &series.key;
        let (times, q) = card::find(cards, &key.instrument)?.metric(&key.metric)?.quantile_of?;
        let is_of = |other: &&Series| other.key.metric == times && other.key.is_beside(key);
        Quantile::of_points(&run.series.iter().find(is_of)?.points, q, run.plan.seed)
    }

    /// Of times that were kept; `None` without any.
    pub fn of_points(times: &[Point], q: f64, seed: u64) -> Option<Quantile> {
        let measured = times.iter().filter(|point| point.phase == Phase::Measured);
        let takes: Vec<OfTake> = measured.filter_map(of_point).collect();
        (!takes.is_empty()).then_some(Quantile { q, takes, seed })
    }

    /// Adds the takes of another run.
    pub fn extend(&mut self, other: Quantile) {
        self.takes.extend(other.takes);
    }

    fn events(&self) -> Vec<Take> {
        self.takes.iter().map(|take| take.times.clone()).collect()
    }

    /// The takes' own quantiles by sitting.
    fn by_sitting(&self) -> Vec<Vec<f64>> {
        let mut all = BTreeMap::<u32, Vec<f64>>::new();
        for take in &self.takes {
            all.entry(take.sitting).or_default().extend(at(&take.times, self.q));
        }
        all.into_values().collect()
    }

    /// The interval, on the scale of logarithms, that counts sittings: as wide as the takes' own quantiles make it,
    /// around that of all events. `None` for one sitting, and where a quantile is not positive or infinite.
    fn over_sittings(&self, value: f64) -> Option<Run> {
        let sittings = self.by_sitting();
        if sittings.len() < 2 || !(value.is_finite() && value > 0.0) {
            return None;
        }
        let run = Run::from_sittings(&sittings.iter().map(Vec::as_slice).collect::<Vec<_>>()).ok()?;
        Some(Run { m: value.ln(), ..run })
    }

    /// With the interval over sittings, or over the takes of a single one. Fails with too few takes or events.
    pub fn estimate(&self) -> Result<Bootstrap, Unfit> {
        let need = percentile_needs(self.q);
        let value = self.value();
        if let Some((estimate, se)) = value.and_then(|value| Some((value, self.over_sittings(value)?.se?))) {
            let half = stats::normal_quantile(1.0 - stats::ALPHA / 2.0) * se;
            let (low, high) = (estimate * (-half).exp(), estimate * half.exp());
            let interval = stats::Interval { low, high, level: 1.0 - stats::ALPHA };
            return Ok(Bootstrap { estimate, interval, se: estimate * se });
        }
        stats::quantile_over_takes(&self.events(), self.q, need, RESAMPLES, &mut Rng::new(self.seed))
    }

    /// Of all events together; `None` with too few of them.
    pub fn value(&self) -> Option<f64> {
        let events = self.events();
        let total: u64 = events.iter().flatten().map(|(_, count)| count).sum();
        model::histogram::has_percentile(total, self.q).then_some(())?;
        merged_at(&events, self.q)
    }

    /// The quantile of each take by itself.
    fn each(&self) -> Vec<f64> {
        self.takes.iter().filter_map(|take| at(&take.times, self.q)).collect()
    }

    /// The one number of a run: the quantile of its events together. The spread of fewer than six takes is that of
    /// their own quantiles. `None` where it is, or may be, infinite.
    pub fn run(&self) -> Option<Run> {
        let value = self.value().filter(|value| value.is_finite() && *value > 0.0)?;
        if let Some(run) = self.over_sittings(value) {
            return Some(run);
        }
        let takes = self.takes.len();
        let se = match self.estimate() {
            Ok(found) if !found.interval.high.is_finite() => return None,
            Ok(found) => {
                let z = stats::normal_quantile(0.5 + found.interval.level / 2.0);
                let width = (found.interval.high / found.interval.low).ln();
                Some(width / 2.0 / z).filter(|se| se.is_finite())
            }
            Err(_) => Run::from_takes(&self.each()).ok().and_then(|run| run.se),
        };
        Some(Run { m: value.ln(), se, takes })
    }

    /// The share of each take's events that never came to a good end, and how many events there were.
    pub fn over(&self) -> (Vec<f64>, f64) {
        let count = |take: &Take, wanted: fn(f64) -> bool| -> u64 {
            take.iter().filter(|(value, _)| wanted(*value)).map(|(_, count)| count).sum()
        };
        let all = |take: &Take| count(take, |_| true).max(1) as f64;
        let shares = self
            .takes
            .iter()
            .map(|take| count(&take.times, f64::is_infinite) as f64 / all(&take.times))
            .collect();
        (shares, self.takes.iter().map(|take| all(&take.times)).sum())
    }

    /// Against another one of the same study: over sittings where both have at least three in common, else block by
    /// block where both have at least six.
    pub fn paired(&self, base: &Quantile) -> Result<stats::Paired, Unfit> {
        let of = |block: u64| base.takes.iter().find(|take| take.block == block);
        let pairs: Vec<(&OfTake, &OfTake)> =
            self.takes.iter().filter_map(|take| Some((take, of(take.block)?))).collect();
        let mut sittings = BTreeMap::<u32, Vec<f64>>::new();
        for (arm, base) in &pairs {
            let apart =
                at(&arm.times, self.q).zip(at(&base.times, self.q)).map(|(arm, base)| (arm / base).ln());
            sittings.entry(arm.sitting).or_default().extend(apart);
        }
        let (arm, base): (Vec<Take>, Vec<Take>) =
            pairs.iter().map(|(arm, base)| (arm.times.clone(), base.times.clone())).unzip();
        let is_finite = sittings.values().flatten().all(|d| d.is_finite());
        if is_finite && sittings.len() >= stats::MIN_SITTINGS {
            let d: Vec<&[f64]> = sittings.values().map(Vec::as_slice).collect();
            let merged = merged_at(&arm, self.q).zip(merged_at(&base, self.q));
            let estimate = merged.map(|(arm, base)| (arm / base).ln()).filter(|d| d.is_finite());
            let estimate = estimate.ok_or(Unfit::Argument("the quantile does not exist"))?;
            return Ok(stats::paired_sittings(&d)?.around(estimate));
        }
        if pairs.len() < stats::MIN_N {
            return Err(Unfit::TooFew { have: pairs.len(), need: stats::MIN_N });
        }
        stats::paired_quantiles((&arm, &base), self.q, RESAMPLES, &mut Rng::new(self.seed))
    }
}

/// The quantile of all takes together.
fn merged_at(takes: &[Take], q: f64) -> Option<f64> {
    let mut all = takes.concat();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    at(&all, q)
}

fn of_point(point: &Point) -> Option<OfTake> {
    match &point.value {
        Value::Histogram(times) if times.count() > 0 => {
            Some(OfTake { sitting: point.sitting, block: u64::from(point.block), times: take(times) })
        }
        Value::Histogram(_) | Value::Number(_) => None,
    }
}

/// The quantile of values that ascend.
fn at(values: &[(f64, u64)], q: f64) -> Option<f64> {
    let total: u64 = values.iter().map(|(_, count)| count).sum();
    let mut left = (q * total as f64).ceil().max(1.0);
    values.iter().find_map(|(value, count)| {
        left -= *count as f64;
        (left <= 0.0).then_some(*value)
    })
}
