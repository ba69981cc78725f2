//! Sweeps over threads, a line each: how much more all threads do than one, and the law of it.

use model::Scope;
use model::doc::{ScalingDoc, SideScalingDoc};
use model::format::{self, percent};
use model::names::{self, Key};
use model::scope::{ALL, THREADS};

use super::{Look, hang};

/// The lines of a run; empty without a sweep.
pub fn lines(all: &[ScalingDoc], look: Look) -> String {
    let told = told(all);
    let mut out = String::new();
    for (one, label) in told.iter().zip(labels(&told)) {
        out.push_str(&hang("scaling  ", &format!("{label}: {}", sentence(one)), look.columns));
    }
    if told.len() < all.len() {
        out.push_str(&format!("scaling of {} more figures: see the report\n", all.len() - told.len()));
    }
    if all.iter().any(|one| one.hidden) {
        let text = "the virtual machine does not show which CPUs share a core: two threads may be on one";
        out.push_str(&hang("- ", text, look.columns));
    }
    out
}

/// The lines of a comparison: the headline sweeps of each side.
pub fn of_sides(sides: &[SideScalingDoc], look: Look) -> String {
    let side = |side: &SideScalingDoc| {
        let told = told(&side.scaling);
        let lines = told.iter().zip(labels(&told)).map(|(one, label)| {
            hang("scaling  ", &format!("{} {label}: {}", side.side, sentence(one)), look.columns)
        });
        lines.collect::<String>()
    };
    let all: String = sides.iter().map(side).collect();
    if all.is_empty() { all } else { format!("\n{all}") }
}

/// Those of figures that speak for the whole machine; of a run that has none of these, all.
fn told(all: &[ScalingDoc]) -> Vec<&ScalingDoc> {
    let is_whole = |one: &&ScalingDoc| {
        let mut params = one.params.clone();
        params.set(THREADS, ALL);
        one.card.and_then(|card| card.scope(&one.metric, &params)) == Some(Scope::WholeMachine)
    };
    let whole: Vec<&ScalingDoc> = all.iter().filter(is_whole).collect();
    if whole.is_empty() { all.iter().collect() } else { whole }
}

fn labels(all: &[&ScalingDoc]) -> Vec<String> {
    names::labels(&all.iter().map(|one| Key::from(*one)).collect::<Vec<_>>())
}

/// `8 threads do 5.9 times the work of 1; sigma 5.0 % (4.1 % to 6.0 %), kappa 0.00012 (0 to 0.0004)`
fn sentence(one: &ScalingDoc) -> String {
    let mut parts = Vec::new();
    if let (Some(times), Some(cpus)) = (one.times, one.cpus) {
        let (threads, times) = (format::fixed(cpus, 0), format::number(times));
        parts.push(format!("{threads} threads do {times} times the work of 1"));
    }
    if let Some(gain) = one.siblings {
        parts.push(format!("siblings of its cores add {}", percent(gain - 1.0)));
    }
    parts.extend(law(one));
    if let Some(peak) = one.peak.filter(|peak| one.points.last().is_some_and(|last| *peak < last.threads)) {
        parts.push(format!("more than {} do less", format::fixed(peak, 0)));
    }
    parts.join("; ")
}

/// `sigma 5.0 % (4.1 % to 6.0 %), kappa 0.012 % (no interval: 3 values: too few ...)`
pub fn law(one: &ScalingDoc) -> Option<String> {
    let (sigma, kappa) = one.sigma.zip(one.kappa)?;
    let with = |value: f64, low: Option<f64>, high: Option<f64>| match low.zip(high) {
        Some((low, high)) => format!("{} ({} to {})", percent(value), percent(low), percent(high)),
        None => percent(value),
    };
    let sigma = with(sigma, one.sigma_low, one.sigma_high);
    let kappa = with(kappa, one.kappa_low, one.kappa_high);
    let why = one.why.as_ref().map_or(String::new(), |why| format!(" (no interval: {why})"));
    Some(format!("contention sigma {sigma}, agreement kappa {kappa}{why}"))
}
