//! Key-value stores: the takes of each test, loads among them; the curves of loads have sections of their own.

use maud::Markup;

use super::takes;
use crate::section::{ReportInput, Section};

pub static SECTION: Section = Section::new(41, draw);

fn draw(input: &ReportInput) -> Option<Markup> {
    takes::section(input, "kv", "Stores", Vec::new())
}
