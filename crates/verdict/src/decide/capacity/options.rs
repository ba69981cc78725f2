//! The user's consent to figures that rules doubt, and the files that needs name.

use std::collections::BTreeMap;

use model::Cards;

use super::definitions::Definitions;

/// Files of mixes and of logs as needs name them, with the name that plans have for the mix: label and digest. Of a log
/// of whose requests no mix can be made, the reason.
pub type Mixes = BTreeMap<String, Result<String, String>>;

/// The user's consent, and the mixes of the files that needs name.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    pub cards: Cards,
    /// Rules that may doubt or refuse what is used.
    pub accept: &'a [String],
    pub mixes: &'a Mixes,
    pub definitions: &'a Definitions,
}
