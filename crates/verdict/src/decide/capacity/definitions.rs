//! The definition by which a decision reads the figures of each instrument.
//!
//! It is that of today. Where nobody measured a work by that, figures of an older definition are compared with each
//! other: the newest that all sides have which measured such work. Figures of two definitions are never mixed.

use std::collections::{BTreeMap, BTreeSet};

use model::{Card, Cards};

use super::loaded::Loaded;
use crate::compare::Side;
use crate::decide::Older;

/// Older definitions by instrument; all others are read by that of today.
#[derive(Clone, Debug, Default)]
pub struct Definitions(BTreeMap<&'static str, Older>);

impl Definitions {
    /// Those of a decision between these sides.
    pub fn between<'s, 'a: 's>(sides: impl IntoIterator<Item = &'s Side<'a>>, cards: Cards) -> Definitions {
        let measured: Vec<BTreeSet<(&str, u32)>> = sides.into_iter().map(measured).collect();
        let older = |card: &'static Card| {
            let definition = shared(card, &measured, cards)?;
            let of = Older { instrument: card.name.to_owned(), definition, today: card.definition };
            Some((card.name, of))
        };
        Definitions(cards.iter().copied().filter_map(older).collect())
    }

    /// The definition that figures of an instrument must have.
    pub fn wanted(&self, card: &Card) -> u32 {
        self.older(card.name).map_or(card.definition, |older| older.definition)
    }

    /// The older definition by which an instrument is read.
    pub fn older(&self, instrument: &str) -> Option<&Older> {
        self.0.get(instrument)
    }
}

/// The instruments and definitions that a side has figures of.
fn measured<'s>(side: &'s Side<'_>) -> BTreeSet<(&'s str, u32)> {
    let runs = side.runs.iter().flat_map(|run| &run.series).map(|series| &series.key);
    let keys = runs.chain(side.published.iter().map(|row| &row.key));
    keys.map(|key| (key.instrument.as_str(), key.definition)).collect()
}

/// The newest older definition that all sides have which measured such work: a load, or the search of its largest one.
/// `None` where one of them measured it as it is measured today, or there is no such definition.
fn shared(card: &'static Card, measured: &[BTreeSet<(&str, u32)>], cards: Cards) -> Option<u32> {
    let alike: Vec<&'static Card> =
        Loaded::new(cards, card.name).map_or_else(|| vec![card], |loaded| loaded.cards().collect());
    let of_today = |(name, definition): &(&str, u32)| {
        alike.iter().any(|card| card.name == *name && *definition >= card.definition)
    };
    let is_alike = |(name, _): &(&str, u32)| alike.iter().any(|card| card.name == *name);
    let such: Vec<&BTreeSet<(&str, u32)>> =
        measured.iter().filter(|side| side.iter().any(is_alike)).collect();
    if such.iter().any(|side| side.iter().any(of_today)) {
        return None;
    }
    let mut of_card = such.first()?.iter().rev().filter(|(name, _)| *name == card.name);
    of_card.find(|one| such.iter().all(|side| side.contains(*one))).map(|(_, definition)| *definition)
}
