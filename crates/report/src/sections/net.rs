//! Network: the takes of round trips, bandwidth, connections and packets.

use maud::Markup;

use super::takes;
use crate::section::{ReportInput, Section};

pub static SECTION: Section = Section::new(41, draw);

fn draw(input: &ReportInput) -> Option<Markup> {
    takes::section(input, "net", "Network", Vec::new())
}
