//! Instruments whose figures are of an older definition than that of today: such figures compare with each other, and
//! not with what is measured now.

use std::collections::BTreeSet;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::card::{self, Cards};

/// An instrument that was measured by an older definition than that of today.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Older {
    pub instrument: String,
    pub definition: u32,
    pub today: u32,
}

impl fmt::Display for Older {
    /// `web-slo 5 (today 6)`
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Older { instrument, definition, today } = self;
        write!(to, "{instrument} {definition} (today {today})")
    }
}

impl Older {
    /// Those of figures by instrument and definition, each once. Of an instrument without a card nothing is known.
    pub fn among<'k>(figures: impl IntoIterator<Item = (&'k str, u32)>, cards: Cards) -> Vec<Older> {
        let older = |(instrument, definition): (&str, u32)| {
            let today = card::find(cards, instrument)?.definition;
            (definition < today).then(|| Older { instrument: instrument.to_owned(), definition, today })
        };
        figures.into_iter().filter_map(older).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// `definition: web-slo 5 (today 6): `, and what follows of that for the
    /// figures; `None` where there are no such figures.
    pub fn sentence(all: &[Older], follows: &str) -> Option<String> {
        let each: Vec<String> = all.iter().map(Older::to_string).collect();
        (!each.is_empty()).then(|| format!("definition: {}: {follows}", each.join(", ")))
    }
}

/// The consequence for the figures of one run.
pub const OF_RUN: &str = "not compared with new runs";
/// The consequence for figures of several sides.
pub const OF_SIDES: &str = "the sides compare with each other, not with new runs";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::Card;

    static WEB: Card = Card { name: "web", definition: 3, ..Card::DEFAULT };
    static CARDS: [&Card; 1] = [&WEB];

    #[test]
    fn older_definitions_are_told_once() {
        let figures = [("web", 1), ("web", 3), ("web", 1), ("web", 2), ("unknown", 1), ("web", 4)];
        let all = Older::among(figures, &CARDS);
        let told = Older::sentence(&all, OF_RUN).unwrap();
        let wanted = "definition: web 1 (today 3), web 2 (today 3): not compared with new runs";
        assert_eq!(told, wanted);
        assert_eq!(Older::sentence(&Older::among([("web", 3)], &CARDS), OF_RUN), None);
    }
}
