//! One parameter as the user fixed it, with the option that fixes it.

use model::params::Implied;
use model::{Card, Family, ParamSpec};

/// One parameter as the user fixed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The option with its value: `--set rate=100`, `--url http://a/`.
    pub flag: String,
    pub scope: Scope,
    pub key: String,
    pub value: String,
    /// The arm that it belongs to.
    pub arm: Option<usize>,
}

/// The instruments that a setting is for, where they have the parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    All,
    Family(Family),
    Instrument(String),
}

impl Scope {
    fn has(&self, card: &Card) -> bool {
        match self {
            Scope::All => true,
            Scope::Family(family) => *family == card.family,
            Scope::Instrument(name) => name == card.name,
        }
    }

    /// True if neither of two scopes is an exception from the other.
    pub fn clashes(&self, other: &Scope) -> bool {
        match (self, other) {
            (Scope::Instrument(one), Scope::Instrument(other)) => one == other,
            (Scope::Family(one), Scope::Family(other)) => one == other,
            (Scope::Instrument(_), _) | (_, Scope::Instrument(_)) => false,
            (Scope::All, _) | (_, Scope::All) => true,
        }
    }
}

impl Setting {
    pub fn new(flag: &str, scope: Scope, key: &str, value: &str) -> Setting {
        Setting { flag: flag.to_owned(), scope, key: key.to_owned(), value: value.to_owned(), arm: None }
    }

    /// The values that it has for a parameter: of one that is a word there may be several with `|` between them, of
    /// which a card has those that it knows; of a whole number too, and it has all.
    pub fn values(&self, spec: &ParamSpec) -> Vec<&str> {
        match spec.kind.choices() {
            Some(_) => self.each().filter(|value| spec.kind.canonical(value).is_some()).collect(),
            None if spec.kind.is_whole() => self.each().collect(),
            None => vec![&self.value],
        }
    }

    pub fn each(&self) -> impl Iterator<Item = &str> {
        self.value.split('|').map(str::trim)
    }

    pub fn is_for(&self, card: &Card) -> bool {
        self.scope.has(card) && card.param(&self.key).is_some()
    }

    /// The note on what it implies.
    pub fn taken_as(&self, implied: &Implied) -> String {
        format!("{} is taken as {}={}, {}", self.flag, implied.param, implied.value, implied.why)
    }
}
