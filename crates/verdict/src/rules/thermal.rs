//! Heat: the processor itself counted that it slowed down while a figure was measured.
//!
//! Input: the rise of the thermal-throttle counters of the take's CPUs and their package. Doubtful when over a tenth of
//! a figure's takes met it; the `clock` rule sees the effect even where no counter exists.

use model::finding::Counter;

use super::paging::counted;
use super::{Look, Ruling};

pub fn rule(look: &Look<'_>) -> Vec<Ruling> {
    counted(look, Counter::ThermalThrottle)
}
