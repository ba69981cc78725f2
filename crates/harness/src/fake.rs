//! Probes of a planted world: they draw values from the plan's fake world and measure nothing.
//!
//! A value depends on the seed, the run's number, the series, the sitting and the block only. So a run gives the same
//! bytes every time, in any order, also when it is resumed.

use model::fake::{FakeSeries, FakeWorld, Shape, Slow};
use model::{Better, Card, Fault, MetricInfo, Params, Probe, Record};
use stats::Rng;

/// The position of a fake probe in the plan.
#[derive(Clone, Debug)]
pub struct Stand {
    pub machine: String,
    pub arm: String,
    pub params: Params,
    /// Those of its cell, which all arms share.
    pub cell: Params,
    pub sitting: u32,
}

/// Gives planted values for every metric of a card.
pub struct FakeProbe {
    world: FakeWorld,
    card: &'static Card,
    stand: Stand,
}

impl FakeProbe {
    pub fn new(world: &FakeWorld, card: &'static Card, stand: Stand) -> FakeProbe {
        FakeProbe { world: world.clone(), card, stand }
    }

    fn entry(&self, metric: &MetricInfo) -> Option<&FakeSeries> {
        let fits = |wanted: Option<&String>, have: &str| wanted.is_none_or(|wanted| wanted == have);
        self.world.series.iter().find(|entry| {
            (entry.instrument == "*" || entry.instrument == self.card.name)
                && fits(entry.metric.as_ref(), metric.name)
                && fits(entry.machine.as_ref(), &self.stand.machine)
                && fits(entry.arm.as_ref(), &self.stand.arm)
                && self.stand.params.contains(&entry.params)
        })
    }

    fn draw(&self, entry: &FakeSeries, metric: &MetricInfo, block: u32) -> f64 {
        let series = format!(
            "{} {} {} {} {}",
            self.stand.machine, self.stand.arm, self.card.name, metric.name, self.stand.params
        );
        let seed = self.world.seed;
        let run = format!("{series} run {}", self.world.run_index);
        let between = Rng::derive(seed, &run).normal() * entry.between;
        let mut rng = Rng::derive(seed, &format!("{run} block {block}"));
        let sitting =
            Rng::derive(seed, &format!("{run} sitting {}", self.stand.sitting)).normal() * entry.sitting;
        let drift = (1.0 + entry.drift).powf(f64::from(block));
        let within = match entry.shape {
            Shape::Constant => 1.0,
            Shape::Normal => 1.0 + entry.spread * rng.normal(),
            Shape::LogNormal => (entry.spread * rng.normal()).exp(),
            Shape::Exponential => 1.0 + entry.spread * (rng.exponential() - std::f64::consts::LN_2),
        };
        let step = entry.step.filter(|step| block >= step.from).map_or(1.0, |step| step.factor);
        entry.median * step * (between + sitting + self.slow(entry, metric, block)).exp() * drift * within
    }
}

impl FakeProbe {
    /// The machine's own slow noise in a block, which its arms share: the logarithm of a factor.
    fn slow(&self, entry: &FakeSeries, metric: &MetricInfo, block: u32) -> f64 {
        let Some(Slow { sd, phi }) = entry.slow else { return 0.0 };
        let Stand { machine, cell, .. } = &self.stand;
        let series = format!("{machine} {} {} {cell}", self.card.name, metric.name);
        let mut rng = Rng::derive(self.world.seed, &format!("{series} run {} slow", self.world.run_index));
        let step = (1.0 - phi * phi).max(0.0).sqrt();
        (0..block).fold(rng.normal(), |state, _| phi * state + step * rng.normal()) * sd
    }
}

impl Probe for FakeProbe {
    /// `repeats` is the number of the block.
    fn take(&mut self, repeats: u64, record: &mut dyn Record) -> Result<(), Fault> {
        let block = u32::try_from(repeats).unwrap_or(u32::MAX);
        let planted: Vec<(&MetricInfo, &FakeSeries)> = (self.card.metrics.iter())
            .filter(|metric| metric.better != Better::Neither)
            .filter_map(|metric| self.entry(metric).map(|entry| (metric, entry)))
            .collect();
        if planted.is_empty() {
            return Err(Fault::new(format!("the planted world has no entry for {}", self.card.name)));
        }
        if planted.iter().any(|(_, entry)| entry.faults.contains(&block)) {
            return Err(Fault::new(format!("planted fault in block {block}")));
        }
        planted.iter().for_each(|(metric, entry)| record.value(metric, self.draw(entry, metric, block)));
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use model::plan::{Takes, Via};
    use model::{Arm, Cell, Plan};

    use super::*;

    /// A plan with this many cells, arms and machines, for the tests of this crate.
    pub fn plan(cells: usize, arms: usize, machines: usize) -> Plan {
        let cell = |n| Cell {
            instrument: "toy".into(),
            params: Params::parse(&format!("n={n}")).unwrap(),
            headline: vec!["rate".into()],
        };
        let arm = |n| Arm {
            name: if arms == 1 { String::new() } else { format!("arm{n}") },
            set: Params::default(),
        };
        let via = |n| Via { name: format!("m{n}"), command: None };
        Plan {
            seed: 7,
            arms: (0..arms).map(arm).collect(),
            machines: (0..machines).map(via).collect(),
            warm_up: 1,
            take_seconds: 0.001,
            ..Plan::bare((0..cells).map(cell).collect(), Takes::Fixed(4))
        }
    }
}
