//! Parameters that a figure has without being given them: worked out of those of its take, and of facts of its machine.
//!
//! They are no part of a figure's key, so a card that gets one keeps its series. A published figure that states one
//! stands only beside figures of which it is known and the same, or not known and the usual one.

use crate::card::Card;
use crate::fact::Fact;
use crate::params::Params;

/// Such a parameter on a card.
#[derive(Clone, Copy, Debug)]
pub struct Derived {
    pub name: &'static str,
    /// The value; `None` where it is not known.
    pub value: fn(&Params, &[Fact]) -> Option<String>,
    /// The value that a figure of which it is not known is taken to have, which is told with the comparison.
    pub usual: Option<&'static str>,
    /// How it becomes known, as a clause.
    pub remedy: &'static str,
}

/// The derived parameters of one figure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conditions {
    /// The card of its instrument, where it is known here.
    pub card: Option<&'static Card>,
    pub known: Params,
    pub unknown: Vec<&'static Derived>,
}

impl PartialEq for Derived {
    /// A name stands for one parameter of a card.
    fn eq(&self, other: &Derived) -> bool {
        self.name == other.name
    }
}

impl Conditions {
    /// True where a figure that states these parameters may stand beside the one that has the conditions, as far as
    /// its conditions are not known.
    pub fn allow(&self, stated: &Params) -> bool {
        self.refused(stated).is_none()
    }

    /// The first condition that keeps a figure with these parameters apart because it is not known.
    pub fn refused(&self, stated: &Params) -> Option<&'static Derived> {
        let is_other = |derived: &&&'static Derived| {
            stated.get(derived.name).is_some_and(|value| derived.usual != Some(value))
        };
        self.unknown.iter().find(is_other).copied()
    }
}

impl Card {
    /// The derived parameters of a figure with these parameters, on a machine with these facts. One that was given is
    /// none.
    pub fn conditions(&'static self, params: &Params, facts: &[Fact]) -> Conditions {
        let mut all = Conditions { card: Some(self), ..Conditions::default() };
        for derived in self.derived.iter().filter(|derived| params.get(derived.name).is_none()) {
            match (derived.value)(params, facts) {
                Some(value) => all.known.set(derived.name, &value),
                None => all.unknown.push(derived),
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static CARD: Card = Card {
        name: "x",
        derived: &[
            Derived {
                name: "way",
                value: |params, _| params.get("kv").map(str::to_owned),
                usual: None,
                remedy: "",
            },
            Derived {
                name: "channels",
                value: |_, facts| Some(facts.first()?.key.clone()),
                usual: Some("all"),
                remedy: "",
            },
        ],
        ..Card::DEFAULT
    };

    #[test]
    fn what_is_not_known_stands_beside_the_usual_alone() {
        let params = |text: &str| Params::parse(text).unwrap();
        let unknown = CARD.conditions(&params("size=1"), &[]);
        let names: Vec<&str> = unknown.unknown.iter().map(|derived| derived.name).collect();
        assert_eq!((names, unknown.known.is_empty()), (vec!["way", "channels"], true));
        for (stated, allowed) in [("", true), ("channels=all", true), ("channels=1", false), ("way=a", false)]
        {
            assert_eq!(unknown.allow(&params(stated)), allowed, "{stated}");
        }
        assert_eq!(
            unknown.refused(&params("channels=1;size=1")).map(|derived| derived.name),
            Some("channels")
        );
        let known = CARD.conditions(&params("kv=a"), &[Fact::flag("two", true, "")]);
        assert_eq!((known.known.to_string().as_str(), known.unknown.len()), ("channels=two;way=a", 0));
        let given = CARD.conditions(&params("way=b;channels=1"), &[]);
        assert!(given.known.is_empty() && given.unknown.is_empty());
    }
}
