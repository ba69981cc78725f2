//! How the work of several boxes adds up: as it is stated, or as it was measured on several of them.
//!
//! A run does not know how many boxes stand behind the address that it loads, so the number is said with the side.

use std::collections::BTreeMap;

use model::decision::parse_loss;
use model::need::Need;
use model::shell::placed;
use verdict::decide::capacity::{Definitions, Options, capacities};
use verdict::decide::{Capacity, Missing, Scaling, Together};
use verdict::{JudgedSide, Side, place};

use super::asked::Said;
use super::demand::Demands;
use crate::error::CliError;
use crate::lookup::resolve::{Loaded, Resolver};

const HINT: &str =
    "write a loss, 0.03 or 0.03:0.001, or the sides by their number of boxes, 1=web-1 2=web-2 4=web-4";
/// Boxes beyond this are a slip.
const MOST: u64 = 1_000_000;

/// The scaling that was asked for.
pub enum Wish {
    Settled(Scaling),
    /// As these sides measured it, each of so many boxes.
    Measured {
        boxes: Vec<(u64, Said)>,
        sides: Vec<Loaded>,
    },
}

/// A side with its number of boxes, and what it does for each need.
type Of<'s> = (u64, &'s Said, &'s Side<'s>, Vec<Result<Capacity, Missing>>);

impl Wish {
    /// Linear where nothing was asked for. Fails for what is neither a loss nor sides.
    pub fn read(all: &[Said], resolver: &mut Resolver) -> Result<Wish, CliError> {
        let Some(first) = all.first() else { return Ok(Wish::Settled(Scaling::Linear)) };
        if let ([_], Some((sigma, kappa))) = (all, parse_loss(&first.given)) {
            return Ok(Wish::Settled(Scaling::Stated { sigma, kappa }));
        }
        let (mut boxes, mut sides) = (Vec::new(), Vec::new());
        for (count, (name, said)) in self::sides(all)? {
            boxes.push((count, said.clone()));
            sides.push(resolver.resolve(name)?);
        }
        Ok(Wish::Measured { boxes, sides })
    }

    /// The sides that measured it, by rising number of boxes.
    pub fn sides(&self) -> &[Loaded] {
        match self {
            Wish::Settled(_) => &[],
            Wish::Measured { sides, .. } => sides,
        }
    }

    /// The scaling, of its sides as they were judged. Fails where they did not measure one need on three numbers of
    /// boxes.
    pub fn settle(
        &self,
        accept: &[Said],
        demands: &Demands,
        judged: &[JudgedSide<'_>],
        definitions: &Definitions,
    ) -> Result<Scaling, CliError> {
        let boxes = match self {
            Wish::Settled(scaling) => return Ok(scaling.clone()),
            Wish::Measured { boxes, .. } => boxes,
        };
        let Some((_, first)) = boxes.first() else { return Ok(Scaling::Linear) };
        let needs: Vec<Need> = demands.needs.iter().map(|need| need.need.clone()).collect();
        let accept: Vec<String> = accept.iter().map(|said| said.given.clone()).collect();
        let (cards, mixes) = (instruments::cards(), &demands.mixes);
        let options = Options { cards, accept: &accept, mixes, definitions };
        let mut found: Vec<Of<'_>> = Vec::new();
        for ((boxes, said), side) in boxes.iter().zip(judged) {
            found.push((*boxes, said, side.side, capacities(side, &needs, &options)));
        }
        // One need that all of them measured.
        let is_rate = |place: &usize| needs.get(*place).is_some_and(|need| !need.is_space());
        let rates: Vec<usize> = (0..needs.len()).filter(is_rate).collect();
        let of = |place: usize| {
            let one = |(boxes, _, side, all): &Of<'_>| {
                let capacity = all.get(place)?.clone().ok()?;
                Some(Together { boxes: *boxes, side: side.name.clone(), capacity })
            };
            found.iter().map(one).collect::<Option<Vec<_>>>()
        };
        match rates.iter().find_map(|place| of(*place)) {
            Some(points) => Scaling::measured(points).map_err(|why| first.wrong(&why.to_string(), HINT)),
            None => Err(unmeasured(first, &rates, &found)),
        }
    }
}

/// Sides by their number of boxes.
fn sides(all: &[Said]) -> Result<BTreeMap<u64, (&str, &Said)>, CliError> {
    let mut sides = BTreeMap::new();
    for said in all {
        let (boxes, name) = said.given.split_once('=').ok_or_else(|| said.wrong("not a loss", HINT))?;
        let boxes = boxes.trim().parse::<u64>().ok().filter(|boxes| (1..=MOST).contains(boxes));
        let boxes =
            boxes.ok_or_else(|| said.wrong("no number of boxes stands in front of the side", HINT))?;
        if sides.insert(boxes, (name.trim(), said)).is_some() {
            return Err(said.wrong("this number of boxes is given twice", HINT));
        }
    }
    Ok(sides)
}

/// No need of a rate was measured of all sides: the first that was not, and why.
fn unmeasured(said: &Said, rates: &[usize], found: &[Of<'_>]) -> CliError {
    let missing = |place: usize| {
        let of = |(_, said, side, all): &Of<'_>| {
            let missing = all.get(place)?.as_ref().err()?.clone();
            Some(((*said).clone(), (side.name.clone(), place::to_measure(side)), missing))
        };
        found.iter().find_map(of)
    };
    match rates.first().and_then(|place| missing(*place)) {
        None => said.wrong("no need is of a rate, and only rates are lost between boxes", HINT),
        Some((said, (side, on), Missing { why, command })) => {
            let hint = |command: String| format!("{} measures it", placed(on.as_deref(), &command));
            said.wrong(&format!("{side}: {why}"), &command.map_or_else(|| HINT.to_owned(), hint))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(all: &[&str]) -> Vec<Said> {
        let one = |text: &&str| Said {
            given: (*text).to_owned(),
            at: "--scaling".to_owned(),
            from: "--scaling".to_owned(),
        };
        all.iter().map(one).collect()
    }

    #[test]
    fn sides_are_by_their_number_of_boxes() {
        let all = said(&["4=web-4", "1=web-1", "2=run=x"]);
        let named: Vec<(u64, &str)> =
            sides(&all).unwrap().into_iter().map(|(n, (name, _))| (n, name)).collect();
        assert_eq!(named, [(1, "web-1"), (2, "run=x"), (4, "web-4")]);
    }

    #[test]
    fn what_is_neither_a_loss_nor_sides_is_refused() {
        for (all, says) in [
            (vec!["0=a"], "no number of boxes stands in front"),
            (vec!["x=a"], "no number of boxes stands in front"),
            (vec!["1.5"], "--scaling 1.5: not a loss"),
            (vec!["1=a", "1=b"], "given twice"),
        ] {
            let all = said(&all);
            let error = sides(&all).expect_err(says);
            assert!(error.message.contains(says) && error.hint.is_some(), "{error}");
        }
    }
}
