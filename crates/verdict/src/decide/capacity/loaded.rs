//! A load, and the search for its largest one: they measure the same work.

use model::{Card, Cards, Role, card};

/// The instruments of a load and of the search for its largest one.
#[derive(Clone, Copy)]
pub struct Loaded {
    pub load: &'static Card,
    pub search: Option<&'static Card>,
}

impl Loaded {
    /// Those of the load that an instrument is, or looks for; `None` of one that loads nothing.
    pub fn new(cards: Cards, instrument: &str) -> Option<Loaded> {
        let card = card::find(cards, instrument)?;
        let load = match card.role {
            Role::Plain | Role::Power { .. } => return None,
            Role::Load { .. } => card,
            Role::Search { load, .. } => card::find(cards, load)?,
        };
        let is_its =
            |card: &&&'static Card| matches!(card.role, Role::Search { load: of, .. } if of == load.name);
        Some(Loaded { load, search: cards.iter().find(is_its).copied() })
    }

    pub fn cards(self) -> impl Iterator<Item = &'static Card> {
        std::iter::once(self.load).chain(self.search)
    }
}
