//! Sweeps over threads: the Universal Scalability Law through the figures of a machine by number of threads.
//!
//! Figures of CPUs and memory whose rates add up over threads, at three thread counts or more. Where the cores are
//! known and fewer than the threads, the law is that of one thread a core; siblings are told apart from it.

use model::doc::{ScalingDoc, ScalingPointDoc, SeriesDoc, SideScalingDoc};
use model::fact::CpuSet;
use model::scope::{ALL, THREADS};
use model::{Better, Cards, Fact, Family, Params, Unit, Validity, card, names};
use stats::{Interval, Usl};

use crate::compare::prepared::Prepared;
use crate::facts;

/// Thread counts of a sweep.
const LEAST: usize = 3;

/// A figure at one number of threads.
struct At<'a> {
    instrument: &'a str,
    metric: &'a str,
    unit: Unit,
    better: Better,
    params: &'a Params,
    arm: &'a str,
    value: f64,
}

/// The machine that the threads ran on.
struct Threads {
    /// CPUs that could be used.
    cpus: Option<f64>,
    cores: Option<f64>,
    hidden: bool,
}

impl Threads {
    fn of_facts(facts: &[Fact], used: Option<f64>) -> Threads {
        let count = |key| facts::number(facts, key).filter(|count| *count >= 1.0);
        let (all, cores) = (count("cpu.threads"), count("cpu.cores"));
        let used = used.or_else(|| CpuSet::of_facts(facts).map(|set| set.count as f64));
        let is_virtual = facts::text(facts, "virt.kind").is_some_and(|kind| kind != "none");
        // With a part of the CPUs it is not known how many cores they are.
        let is_whole = used.is_none() || used == all;
        Threads {
            cpus: used.or(all),
            cores: cores.filter(|_| is_whole),
            hidden: is_virtual && cores.is_none_or(|cores| Some(cores) == all),
        }
    }

    fn count(&self, params: &Params) -> Option<f64> {
        match params.get(THREADS)? {
            ALL => self.cpus,
            number => number.parse().ok(),
        }
    }
}

/// The sweeps among the figures of a run. `used` is the number of CPUs that the run was bound to.
pub fn of_run(series: &[SeriesDoc], facts: &[Fact], used: Option<f64>, cards: Cards) -> Vec<ScalingDoc> {
    let at = |doc: &'_ SeriesDoc| -> Option<f64> { doc.median.filter(|_| doc.validity != Validity::Invalid) };
    let figures = series.iter().filter_map(|doc| {
        let SeriesDoc { instrument, metric, unit, better, params, arm, .. } = doc;
        Some(At { instrument, metric, unit: *unit, better: *better, params, arm, value: at(doc)? })
    });
    sweeps(&figures.collect::<Vec<_>>(), &Threads::of_facts(facts, used), cards)
}

/// The sweeps of each side of a comparison that has any.
pub fn of_sides(prepared: &[Prepared<'_>], cards: Cards) -> Vec<SideScalingDoc> {
    let of_side = |side: &Prepared<'_>| {
        let figures = side.rows.iter().filter_map(|(key, row)| {
            let card = card::find(cards, &key.instrument)?;
            let unit = card.metric(&key.metric)?.unit;
            let (instrument, metric, params) = (&key.instrument, &key.metric, &key.params);
            row.speaking().ok()?;
            Some(At { instrument, metric, unit, better: row.better, params, arm: "", value: row.value()? })
        });
        let used =
            side.side.runs.first().and_then(|run| run.plan.cpus.as_ref()).map(|cpus| cpus.len() as f64);
        let scaling = sweeps(&figures.collect::<Vec<_>>(), &Threads::of_facts(&side.side.facts, used), cards);
        (!scaling.is_empty()).then(|| SideScalingDoc { side: side.side.name.clone(), scaling })
    };
    prepared.iter().filter_map(of_side).collect()
}

fn sweeps(figures: &[At<'_>], threads: &Threads, cards: Cards) -> Vec<ScalingDoc> {
    let mut all: Vec<ScalingDoc> = Vec::new();
    for one in figures.iter().filter(|one| one.better == Better::Higher) {
        let Some(card) = card::find(cards, one.instrument) else { continue };
        let adds_up = matches!(card.family, Family::Cpu | Family::Memory);
        let Some(count) = threads.count(one.params) else { continue };
        if !adds_up || names::is_detail(Some(card), one.metric) {
            continue;
        }
        let mut params = one.params.clone();
        params.remove(THREADS);
        let point = ScalingPointDoc { threads: count, value: one.value };
        let is_same = |doc: &&mut ScalingDoc| {
            doc.instrument == one.instrument
                && doc.metric == one.metric
                && doc.params == params
                && doc.arm == one.arm
        };
        match all.iter_mut().find(is_same) {
            Some(doc) => doc.points.push(point),
            None => all.push(ScalingDoc {
                card: Some(card),
                instrument: one.instrument.to_owned(),
                metric: one.metric.to_owned(),
                unit: one.unit,
                params,
                arm: one.arm.to_owned(),
                points: vec![point],
                fitted_to: None,
                lambda: None,
                sigma: None,
                sigma_low: None,
                sigma_high: None,
                kappa: None,
                kappa_low: None,
                kappa_high: None,
                peak: None,
                cpus: threads.cpus,
                times: None,
                siblings: None,
                why: None,
                hidden: threads.hidden,
            }),
        }
    }
    for doc in &mut all {
        doc.points.sort_by(|a, b| a.threads.total_cmp(&b.threads));
        doc.points.dedup_by(|a, b| a.threads == b.threads);
    }
    all.retain(|doc| doc.points.len() >= LEAST);
    all.iter_mut().for_each(|doc| fit(doc, threads));
    all.sort_by_cached_key(|doc| names::order(names::Key::from(doc)));
    all
}

fn fit(doc: &mut ScalingDoc, threads: &Threads) {
    let value = |count: f64| doc.points.iter().find(|point| point.threads == count).map(|point| point.value);
    let over = |count: Option<f64>, under: f64| Some(value(count?)? / value(under)?);
    doc.times = over(threads.cpus, 1.0);
    let shared = threads.cores.filter(|cores| threads.cpus.is_some_and(|cpus| *cores < cpus));
    doc.siblings = shared.and_then(|cores| over(threads.cpus, cores));
    // Fewer cores than a fit needs leave nothing but the whole curve.
    let few = |most: &f64| doc.points.iter().filter(|point| point.threads <= *most).count() < LEAST;
    let most = [shared, threads.cpus].into_iter().flatten().find(|most| !few(most));
    let fitted: Vec<&ScalingPointDoc> =
        doc.points.iter().filter(|point| most.is_none_or(|most| point.threads <= most)).collect();
    let workers: Vec<f64> = fitted.iter().map(|point| point.threads).collect();
    let rates: Vec<f64> = fitted.iter().map(|point| point.value).collect();
    let law = match stats::usl(&workers, &rates) {
        Ok(law) => law,
        Err(why) => {
            doc.why = Some(why.to_string());
            return;
        }
    };
    doc.fitted_to = workers.last().copied();
    doc.peak = law.peak();
    let Usl { lambda, sigma, kappa, sigma_interval, kappa_interval, why, .. } = law;
    (doc.lambda, doc.sigma, doc.kappa) = (Some(lambda), Some(sigma), Some(kappa));
    let ends = |interval: Option<Interval>| interval.map(|one| (one.low, one.high)).unzip();
    (doc.sigma_low, doc.sigma_high) = ends(sigma_interval);
    (doc.kappa_low, doc.kappa_high) = ends(kappa_interval);
    doc.why = why.map(|why| why.to_string());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A law of sigma 5 % up to the cores; siblings add a quarter.
    fn sweep(cores: f64, all: f64, facts: &[Fact]) -> Vec<ScalingDoc> {
        let law = |n: f64| 1e9 * n / (1.0 + 0.05 * (n - 1.0));
        let mut counts: Vec<f64> = (0..8).map(|power| f64::from(1 << power)).filter(|n| *n < all).collect();
        counts.push(all);
        let texts = counts.iter().map(|n| if *n == all { ALL.to_owned() } else { n.to_string() });
        let params: Vec<Params> = texts
            .map(|text| Params::parse(&format!("kind=integer;threads={text}")).expect("parameters"))
            .collect();
        let figures: Vec<At<'_>> = (counts.iter().zip(&params))
            .map(|(n, params)| At {
                instrument: "index",
                metric: "rate",
                unit: Unit::PerSec,
                better: Better::Higher,
                params,
                arm: "",
                value: if *n > cores { law(cores) * 1.25 } else { law(*n) },
            })
            .collect();
        sweeps(&figures, &Threads::of_facts(facts, None), instruments::cards())
    }

    fn counts(cores: f64, threads: f64, virt: &str) -> Vec<Fact> {
        let number = |key: &str, n| Fact::number(key, n, Unit::Count, "test");
        vec![
            number("cpu.cores", cores),
            number("cpu.threads", threads),
            Fact::text("virt.kind", virt, "test"),
        ]
    }

    #[test]
    fn siblings_are_no_part_of_the_law_of_cores() {
        let all = sweep(32.0, 64.0, &counts(32.0, 64.0, "none"));
        let [one] = &all[..] else { panic!("{all:?}") };
        assert_eq!((one.fitted_to, one.hidden, one.points.len()), (Some(32.0), false, 7));
        assert!(one.sigma.is_some_and(|sigma| (sigma - 0.05).abs() < 1e-6), "{one:?}");
        assert!(one.siblings.is_some_and(|gain| (gain - 1.25).abs() < 1e-9), "{one:?}");
        assert!(one.sigma_low.is_some() && one.why.is_none(), "{one:?}");
    }

    #[test]
    fn a_machine_that_hides_its_cores_is_called_so() {
        let all = sweep(8.0, 8.0, &counts(8.0, 8.0, "kvm"));
        assert!(all[0].hidden && all[0].fitted_to == Some(8.0) && all[0].siblings.is_none(), "{all:?}");
        assert!(!sweep(8.0, 8.0, &counts(8.0, 8.0, "none"))[0].hidden);
    }

    #[test]
    fn more_threads_than_cpus_are_no_part_of_the_law() {
        let all = sweep(4.0, 16.0, &counts(4.0, 4.0, "none"));
        assert_eq!((all[0].cpus, all[0].fitted_to), (Some(4.0), Some(4.0)), "{all:?}");
    }

    #[test]
    fn three_points_have_no_interval_and_two_are_no_sweep() {
        let all = sweep(4.0, 4.0, &counts(4.0, 4.0, "none"));
        assert!(all[0].sigma.is_some() && all[0].sigma_low.is_none() && all[0].why.is_some(), "{all:?}");
        assert!(sweep(2.0, 2.0, &counts(2.0, 2.0, "none")).is_empty());
    }
}
