//! Key-value stores: the takes of each test, loads among them; the curves of loads have sections of their own.

use maud::Markup;

use super::takes;
use crate::section::{ReportInput, Section};

pub struct Kv;
pub static SECTION: Kv = Kv;

impl Section for Kv {
    fn rank(&self) -> u32 {
        41
    }

    fn draw(&self, input: &ReportInput) -> Option<Markup> {
        takes::section(input, "kv", "Stores", Vec::new())
    }
}
