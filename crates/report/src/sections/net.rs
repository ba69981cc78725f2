//! Network: the takes of round trips, bandwidth, connections and packets.

use maud::Markup;

use super::takes;
use crate::section::{ReportInput, Section};

pub struct Net;
pub static SECTION: Net = Net;

impl Section for Net {
    fn rank(&self) -> u32 {
        41
    }

    fn draw(&self, input: &ReportInput) -> Option<Markup> {
        takes::section(input, "net", "Network", Vec::new())
    }
}
