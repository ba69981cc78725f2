//! Key-value stores: the takes of each test. Loads and searches have the sections of loads.

use maud::Markup;

use super::takes;
use crate::page;
use crate::section::{ReportInput, Section};

pub struct Kv;
pub static SECTION: Kv = Kv;

impl Section for Kv {
    fn rank(&self) -> u32 {
        41
    }

    fn draw(&self, input: &ReportInput) -> Option<Markup> {
        let plots = takes::plots(input, "kv");
        let title =
            takes::title(input, "kv", "Stores").unwrap_or_else(|| "Stores: no figure holds".to_owned());
        (!plots.is_empty()).then(|| page::section("kv", &title, &page::grid(&plots)))
    }
}
