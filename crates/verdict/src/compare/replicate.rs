//! The unit of replication: the thing that is repeated on the sides of a comparison, and of which its verdicts
//! therefore speak.
//!
//! Runs of a box speak of that box. Several boxes under one label speak of their type: each box is then worth one
//! value, the mean of its runs' logarithms, and the spread is that between boxes. It starts from what is published of
//! one type measured again, which is what virtual machines are assumed to spread by. Not known here: whether boxes
//! under one label are of one type.

use model::doc::Replicate;
use model::{Cards, Host, Samples};
use stats::Run;

use super::judged::paired_by_block;
use super::prepared::{Entry, Prepared};

/// The boxes of either side are several, so that they are the unit.
pub fn by_box(arm: &Prepared<'_>, base: &Prepared<'_>) -> bool {
    [arm, base].iter().any(|side| side.side.boxes() > 1)
}

/// The kind of host whose spread is assumed between boxes of one type.
pub const OF_A_TYPE: Host = Host::Virtual;

/// One value for each box.
pub fn boxes(entries: &[&Entry<'_>]) -> Vec<Run> {
    let of_entry = |entry: &&Entry<'_>| Some((entry.run.head.machine_id.clone(), entry.worth?));
    by_machine(entries.iter().filter_map(of_entry))
}

/// One value for each box, given each run's with the machine that it was made on.
pub fn by_machine(runs: impl Iterator<Item = (String, Run)>) -> Vec<Run> {
    let mut by: std::collections::BTreeMap<String, Vec<Run>> = std::collections::BTreeMap::new();
    for (machine, run) in runs {
        by.entry(machine).or_default().push(run);
    }
    by.into_values().map(|runs| pooled(&runs)).collect()
}

fn pooled(runs: &[Run]) -> Run {
    let n = runs.len() as f64;
    let errors: Option<Vec<f64>> = runs.iter().map(|run| run.se).collect();
    let se = errors.map(|errors| errors.iter().map(|se| se * se).sum::<f64>().sqrt() / n);
    let m = runs.iter().map(|run| run.m).sum::<f64>() / n;
    Run { m, se, takes: runs.iter().map(|run| run.takes).sum() }
}

/// The unit of the whole comparison; `None` where no two sides have takes (logs have blocks of time).
pub fn unit(sides: &[Prepared<'_>], cards: Cards) -> Option<Replicate> {
    let has_takes = |side: &&Prepared<'_>| side.rows.keys().any(|key| key.samples(cards) == Samples::Takes);
    let measured: Vec<&Prepared<'_>> = sides.iter().filter(has_takes).collect();
    let (base, arms) = measured.split_first()?;
    if arms.is_empty() {
        return None;
    }
    if measured.iter().any(|side| side.side.boxes() > 1) {
        return Some(Replicate::Box);
    }
    if !arms.iter().all(|arm| paired_by_block(arm, base)) {
        return Some(Replicate::Run);
    }
    let points = base.side.runs.iter().flat_map(|run| run.rows()).flat_map(|series| &series.points);
    let sittings: std::collections::BTreeSet<u32> =
        points.filter(|point| point.phase == model::Phase::Measured).map(|point| point.sitting).collect();
    let enough = sittings.len() >= stats::MIN_SITTINGS;
    Some(if enough { Replicate::Sitting } else { Replicate::Block })
}
