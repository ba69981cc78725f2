//! Ceilings of a load below its bottleneck: how much it used of what the machine did elsewhere, the nearest first, and
//! what was never measured.

use model::doc::{BottleneckDoc, CeilingDoc};
use model::format::list;

use super::Look;
use super::fit::{Part, Rank};
use super::load::reason;

/// Ceilings on a screen that was not asked for everything.
const MOST: usize = 2;

/// The lines below a bottleneck; with everything those of each ceiling, with the command that measures it.
pub fn parts(found: &BottleneckDoc, look: Look) -> Vec<Part> {
    let (measured, never): (Vec<&CeilingDoc>, Vec<&CeilingDoc>) =
        found.ceilings.iter().partition(|one| one.measured.is_some());
    let texts = |some: &[&CeilingDoc]| some.iter().map(|one| one.text.clone()).collect::<Vec<_>>();
    if look.all {
        return vec![reason("ceilings", &texts(&found.ceilings.iter().collect::<Vec<_>>()), look).into()];
    }
    let of = |most: usize| reason("ceilings", &texts(&measured[..measured.len().min(most)]), look);
    let brief: Vec<String> = measured.iter().take(MOST).filter_map(|one| one.brief()).collect();
    let brief = reason("ceilings", &brief, look);
    let whole = Part::new(of(MOST)).or(Rank::Reason, "ceilings", of(1));
    let whole = whole.or(Rank::Reason, "ceilings", brief).or(Rank::Sentence, "ceilings", "");
    vec![whole, Part::new(reason("unknown", &unmeasured(&never), look)).or(Rank::Hint, "", "")]
}

/// What was never measured: together what `--ceilings` measures, and the rest with its command.
fn unmeasured(never: &[&CeilingDoc]) -> Vec<String> {
    let (first, others): (Vec<&CeilingDoc>, Vec<&CeilingDoc>) =
        never.iter().copied().partition(|one| one.by_option);
    let names: Vec<String> = first.iter().map(|one| one.what()).collect();
    let says = || format!("never measured here: {}; --ceilings does it before the load", list(&names));
    let first = (!names.is_empty()).then(says);
    first.into_iter().chain(others.iter().map(|one| one.text.clone())).collect()
}
