//! The user's own work, the machine's clocks and timers, and instruments without a topic of their own: their takes.

use maud::Markup;

use super::takes;
use crate::page;
use crate::section::{ReportInput, Section};

pub static SECTION: Section = Section::new(45, draw);

fn draw(input: &ReportInput) -> Option<Markup> {
    let topics = [("user", "Your command"), ("machine", "Clock and timer"), ("other", "Other figures")];
    let plots: Vec<Markup> = topics.iter().flat_map(|(family, _)| takes::plots(input, family)).collect();
    let title = topics.iter().find_map(|(family, name)| takes::title(input, family, name))?;
    (!plots.is_empty()).then(|| page::section("other", &title, &page::grid(&plots)))
}
