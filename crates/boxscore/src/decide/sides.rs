//! Sides of a decision: names and patterns into candidates' data. A run of several machines or arms gives each of them.

use std::collections::BTreeSet;

use crate::error::CliError;
use crate::lookup::resolve::{Loaded, Resolver};
use crate::lookup::sides::{distinct, of_arm};

use super::asked::Said;

/// The data of every candidate, each under a name of its own.
pub fn load(from: &[Said], resolver: &mut Resolver) -> Result<Vec<Loaded>, CliError> {
    let mut sides: Vec<Loaded> = Vec::new();
    for said in from {
        let names =
            if is_pattern(&said.given) { matching(said, resolver)? } else { vec![said.given.clone()] };
        for name in names {
            for side in candidates(&name, from.len() > 1, resolver)? {
                // A pattern and a name may mean the same.
                if !sides.iter().any(|known| known.name == side.name) {
                    sides.push(side);
                }
            }
        }
    }
    distinct(&sides)?;
    Ok(sides)
}

fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '[']) && !std::path::Path::new(name).is_file()
}

/// The names that a pattern fits. Fails where it fits none.
fn matching(said: &Said, resolver: &Resolver) -> Result<Vec<String>, CliError> {
    let pattern = glob::Pattern::new(&said.given)
        .map_err(|error| said.wrong(&format!("not a pattern: {error}"), "write rack1-* or box-?"))?;
    let names: BTreeSet<String> = resolver.names().into_iter().filter(|name| pattern.matches(name)).collect();
    match names.is_empty() {
        true => Err(said.wrong(
            "no label and no machine has such a name",
            "`boxscore history` lists the runs with their machines and labels",
        )),
        false => Ok(names.into_iter().collect()),
    }
}

/// The machines or arms that a name means.
fn candidates(name: &str, among: bool, resolver: &mut Resolver) -> Result<Vec<Loaded>, CliError> {
    if resolver.is_run(name) {
        let all = resolver.arms(name)?;
        let is_split = all.len() > 1;
        let called = |side: Loaded| match side.arm.is_some() && among && is_split {
            true => Loaded { name: format!("{name}/{}", side.name), ..side },
            false => side,
        };
        return Ok(all.into_iter().map(called).collect());
    }
    let side = resolver.resolve(name)?;
    let arms: BTreeSet<String> =
        side.runs.iter().flat_map(|run| &run.plan.arms).map(|arm| arm.name.clone()).collect();
    let newest: Vec<String> = side
        .runs
        .last()
        .map(|run| run.plan.arms.iter().map(|arm| arm.name.clone()).collect())
        .unwrap_or_default();
    if side.arm.is_some() || arms.len() < 2 || newest.len() < 2 {
        return Ok(vec![side]);
    }
    let one = |arm: &String| of_arm(Loaded { name: format!("{name}/{arm}"), ..side.clone() }, arm);
    Ok(newest.iter().map(one).collect())
}
