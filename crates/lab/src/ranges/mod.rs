//! Expressions that name machines: `atom[001-044,100]!@sick`, and the shorter list of the 2014 study, `1,5-7,10+3`.
//!
//! 1. `lex`: characters into tokens, each with its column.
//! 2. `parse`: tokens into a tree. All operators have the same rank and work from left to right.
//! 3. `element`: one word into names to be counted out: a pattern, numbers, or octets of an address.
//! 4. `expand`: the tree into a set of names, by what is known of names and groups.
//! 5. `fold`: names into a short expression that gives the same names.
//!
//! The grammar, with the rules for what could be read in two ways, stands in docs/guide/lab.md. Counted are names;
//! nothing here asks whether a machine answers.

mod element;
mod error;
mod expand;
mod fold;
mod known;
mod lex;
mod name;
mod parse;
mod set;

pub use element::plain_numbers;
pub use error::{MOST, RangeError};
pub use expand::{Expanded, RangeNote, expand};
pub use fold::fold;
pub use known::{DefaultName, Known};
pub use name::{MOST_LETTERS, NAME_HINT, is_address, is_name};
pub use set::NameSet;

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod tests;
