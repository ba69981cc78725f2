//! Network: the takes of round trips, bandwidth, connections and packets.

use maud::Markup;

use super::takes;
use crate::page;
use crate::section::{ReportInput, Section};

pub struct Net;
pub static SECTION: Net = Net;

impl Section for Net {
    fn rank(&self) -> u32 {
        41
    }

    fn draw(&self, input: &ReportInput) -> Option<Markup> {
        let plots = takes::plots(input, "net");
        let title =
            takes::title(input, "net", "Network").unwrap_or_else(|| "Network: no figure holds".to_owned());
        (!plots.is_empty()).then(|| page::section("net", &title, &page::grid(&plots)))
    }
}
