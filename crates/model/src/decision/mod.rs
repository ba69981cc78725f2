//! The input of a decision: its keys, the file that holds them, and amounts as they are written.
//!
//! A key is an option of `boxscore decide` and a line of its file alike. Not done here: needs (`need`), and looking up
//! what a key names.

mod amounts;
mod file;

pub use amounts::{
    CONTINUOUS, Circuit, Fuse, Growth, MOST_GROWTH, PriceText, SECONDS_A_MONTH, SECONDS_A_YEAR, Term,
    parse_circuit, parse_growth, parse_life, parse_loss, parse_price, parse_range, parse_utilisation,
};
pub use file::{Entry, read};

crate::words! {
    /// A key of a decision, as its file and the command line (`--KEY`) write it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Key as word {
        Need = "need",
        From = "from",
        Utilisation = "utilisation",
        Spare = "spare",
        Life = "life",
        Kwh = "kwh",
        Pue = "pue",
        PerU = "per-u",
        RackWatts = "rack-watts",
        RackUnits = "rack-units",
        Circuit = "circuit",
        PerCircuit = "per-circuit",
        Scaling = "scaling",
        Currency = "currency",
        Budget = "budget",
        EqualPrice = "equal-price",
        Growth = "growth",
        For = "for",
        Prices = "prices",
        Price = "price",
        Watts = "watts",
        Sure = "sure",
        Accept = "accept",
        Stale = "stale",
        Draws = "draws",
        Seed = "seed",
    }
}

/// How the values of a key are written in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `life = "4y"`
    One,
    /// `from = ["a", "b"]`, or one text.
    Several,
    /// `price = { a = "0.19/h" }`, a table `[price]`, or one value for all.
    Named,
}

impl Key {
    pub const fn shape(self) -> Shape {
        match self {
            Key::Need | Key::From | Key::Accept => Shape::Several,
            Key::Price | Key::Watts | Key::Scaling => Shape::Named,
            _ => Shape::One,
        }
    }
}
