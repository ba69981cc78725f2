//! Sides of a decision: names and patterns into candidates' data. `box-a@0199a4c1` is a run of the label or machine
//! box-a, and a run alone is called by its label, if it has one. A run of several arms gives each of them. A run that
//! is the only side gives the machines that were measured with it too, which is said; beside other sides it is itself.

use std::collections::{BTreeMap, BTreeSet};

use model::data::Price;
use model::fact::CpuSet;
use model::format::list;

use crate::error::CliError;
use crate::lookup::ids::short;
use crate::lookup::resolve::{Loaded, Resolver};
use crate::lookup::sides::{distinct, of_arm};
use crate::out;

use super::asked::Said;

/// The data of every candidate, each under a name of its own.
pub fn load(from: &[Said], resolver: &mut Resolver) -> Result<Vec<Loaded>, CliError> {
    let mut sides: Vec<Loaded> = Vec::new();
    for said in from {
        let names =
            if is_pattern(&said.given) { matching(said, resolver)? } else { vec![said.given.clone()] };
        for name in names {
            let found = candidates(&of_name(&name, resolver)?, from.len() > 1, resolver);
            for side in found.map_err(|error| apart(said, error))? {
                // A pattern and a name may mean the same.
                let is_known = |known: &Loaded| {
                    known.name == side.name && known.arm == side.arm && ids(known).eq(ids(&side))
                };
                if !sides.iter().any(is_known) {
                    sides.push(side);
                }
            }
        }
    }
    distinct(&sides)?;
    let known: Vec<(&str, Option<&str>)> =
        sides.iter().map(|side| (side.name.as_str(), ids(side).next_back())).collect();
    let names = told_apart(&known);
    let sides = sides.into_iter().zip(names).map(|(side, name)| Loaded { name, ..side }).collect();
    // A run that is an earlier one of a side and also a side is read once.
    resolver.all_with_earlier(sides)
}

/// The run of `box-a@0199a4c1`, as answers call one of several sides of a name; another name as it is. Fails where the
/// run is none of that label or machine.
fn of_name(name: &str, resolver: &mut Resolver) -> Result<String, CliError> {
    let Some((of, run)) = name.rsplit_once('@').filter(|(of, _)| !of.is_empty()) else {
        return Ok(name.to_owned());
    };
    if resolver.names().iter().any(|known| known == name) || !resolver.is_run(run) {
        return Ok(name.to_owned());
    }
    let side = resolver.bare(run)?;
    let labels = || side.runs.iter().filter_map(|run| run.head.label.as_deref());
    let machines = side.runs.iter().map(|run| run.head.machine.as_str());
    match labels().chain(machines).any(|own| own == of) {
        true => Ok(run.to_owned()),
        false => Err(CliError::usage(format!("{name}: the run {run} is none of {of}"))
            .hint("`boxscore history` lists the runs with their machines and labels")),
    }
}

/// Says which sides are parts of one machine, since their names look like those of two.
pub fn parts_of_one(sides: &[Loaded]) -> Option<String> {
    let parts = |side: &Loaded| match CpuSet::of_facts(&side.facts) {
        Some(set) => format!("{} ({set})", side.name),
        None => format!("{} (all CPUs)", side.name),
    };
    let is_limited = |side: &&Loaded| CpuSet::of_facts(&side.facts).is_some() && !side.machine.id.is_empty();
    let limited = sides.iter().find(is_limited)?;
    let same: Vec<&Loaded> = sides.iter().filter(|side| side.machine.id == limited.machine.id).collect();
    let all: Vec<String> = same.iter().map(|side| parts(side)).collect();
    Some(match all.as_slice() {
        [only] => {
            format!("{only} is a part of its machine: what is sized and paid for is boxes of that part")
        }
        all => format!(
            "{} are one machine, {}: each is the part of it that it may use",
            list(all),
            limited.machine.name
        ),
    })
}

/// Fails for a name of runs of several machines whose prices differ: their figures are not those of one box.
pub fn one_price(side: &Loaded) -> Result<(), CliError> {
    let heads = side.runs.iter().map(|run| &run.head);
    let priced: BTreeMap<&str, (&str, &Price)> = heads
        .filter_map(|head| Some((head.machine.as_str(), (head.id.as_str(), head.price.as_ref()?))))
        .collect();
    let mut each = priced.iter();
    let Some((first, (of_first, price))) = each.next() else { return Ok(()) };
    let Some((other, (of_other, unlike))) = each.find(|(_, (_, other))| other != price) else {
        return Ok(());
    };
    let name = &side.name;
    Err(CliError::usage(format!(
        "{name} names runs of {first} ({price}) and of {other} ({unlike}), whose prices differ"
    ))
    .hint(format!(
        "name each by itself: --from {first}@{} {other}@{}; or say one price for both: --price {name}=...",
        short(of_first),
        short(of_other)
    )))
}

/// The error of a name that is no side's; of several with commas between them, how they are said.
fn apart(said: &Said, error: CliError) -> CliError {
    let names: Vec<&str> = said.given.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    match names.len() {
        0 | 1 => error,
        _ => error.hint(format!("blanks stand between sides: --from {}", names.join(" "))),
    }
}

/// The ids of its runs, oldest first.
fn ids(side: &Loaded) -> impl DoubleEndedIterator<Item = &str> {
    side.runs.iter().map(|run| run.head.id.as_str())
}

/// A name of its own for each side of a name and a newest run: sides of one name have the short id of that run behind
/// it, and numbers where that is the same too.
fn told_apart(sides: &[(&str, Option<&str>)]) -> Vec<String> {
    let is_shared = |name: &str| sides.iter().filter(|(other, _)| *other == name).count() > 1;
    let mut names: Vec<String> = Vec::new();
    for (name, newest) in sides {
        let own = match newest {
            Some(id) if is_shared(name) => format!("{name}@{}", short(id)),
            _ => (*name).to_owned(),
        };
        let numbered = (2..).map(|number| format!("{own}#{number}"));
        let free = std::iter::once(own.clone()).chain(numbered).find(|name| !names.contains(name));
        names.extend(free);
    }
    names
}

/// The label of a side without an arm that is called as its machine is.
fn labelled(side: &Loaded) -> Option<String> {
    let label = side.runs.last()?.head.label.clone()?;
    (side.arm.is_none() && side.name == side.machine.name).then_some(label)
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

/// The machines or arms that a name means, without earlier runs.
fn candidates(name: &str, among: bool, resolver: &mut Resolver) -> Result<Vec<Loaded>, CliError> {
    if resolver.is_run(name) {
        let whole = resolver.bare(name)?;
        let mut all = resolver.bare_arms(name)?;
        let is_of_machines = all.len() > 1 && all.iter().all(|side| side.arm.is_none());
        if is_of_machines && among {
            all.retain(|side| ids(side).eq(ids(&whole)));
        } else if is_of_machines {
            let names: Vec<String> = all.iter().map(|side| side.name.clone()).collect();
            out::say(&format!(
                "note: {} were measured in one study with {name}, and all are candidates; name several sides to choose",
                model::format::list(&names)
            ));
        }
        let is_split = all.len() > 1;
        let called = |side: Loaded| match (side.arm.is_some() && among && is_split, labelled(&side)) {
            (true, _) => Loaded { name: format!("{name}/{}", side.name), ..side },
            (false, Some(label)) => Loaded { name: label, ..side },
            (false, None) => side,
        };
        return Ok(all.into_iter().map(called).collect());
    }
    let side = resolver.bare(name)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_with_a_comma_between_them_have_the_hint() {
        let of = |given: &str| {
            let said = Said { given: given.into(), at: "--from".into(), from: "--from".into() };
            apart(&said, CliError::data("no such side").hint("did you mean x?")).hint.unwrap()
        };
        assert_eq!(of("box-a,box-b"), "blanks stand between sides: --from box-a box-b");
        assert_eq!(of("box-a"), "did you mean x?");
    }

    #[test]
    fn sides_of_one_name_have_the_ids_of_their_runs() {
        let (one, two) = ("0123456789abcdef", "fedcba9876543210");
        let of = |sides: &[(&str, Option<&str>)]| told_apart(sides);
        assert_eq!(of(&[("a", Some(one)), ("b", Some(two)), ("c", None)]), ["a", "b", "c"]);
        let both = of(&[("a", Some(one)), ("b", None), ("a", Some(two))]);
        assert_eq!(both, [format!("a@{}", short(one)), "b".to_owned(), format!("a@{}", short(two))]);
        // A pool whose newest run is the other side.
        let pool = of(&[("a", Some(one)), ("a", Some(one))]);
        assert_eq!(pool, [format!("a@{}", short(one)), format!("a@{}#2", short(one))]);
    }
}
