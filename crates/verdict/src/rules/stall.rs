//! Stalls: times in which a server answered nobody, though requests waited, and then went on.
//!
//! Seconds; the longest of all measured takes of a load. It doubts no figure: the requests that waited are in the
//! response times, in an open loop those that came due meanwhile too.

use crate::loads::stall;
use crate::ruling::Ruling;
use crate::run_index::RunIndex;

pub fn rule(index: &RunIndex<'_>) -> Vec<Ruling> {
    let found = index.loads().iter();
    found.filter_map(|load| Some(Ruling::about(load.subject(), stall::longest(load)?, Vec::new()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loads::planted::one;
    use crate::run_index::RunContext;

    #[test]
    fn a_stall_is_told_and_doubts_no_figure() {
        let mut figures = vec![
            ("throughput", 1000.0),
            ("offered-load", 1000.0),
            ("requests", 5000.0),
            ("answering-time", 5.0),
        ];
        let of = |figures: &[(&str, f64)]| {
            rule(&RunIndex::new(
                &one("arrivals=constant", figures),
                &RunContext { cards: instruments::cards(), ..RunContext::default() },
            ))
        };
        assert_eq!(of(&figures), []);
        figures.extend([("longest-stall", 1.0), ("longest-stall-at", 2.0), ("longest-stall-waiting", 9.0)]);
        let found = of(&figures);
        assert_eq!((found.len(), found[0].reach.clone()), (1, Vec::new()));
        let text = &found[0].finding.text();
        assert!(
            text.starts_with(
                "its figures hold a stall of the server: no answer for 1.00 s from 2.00 s on, while about 1000 requests"
            ),
            "{text}"
        );
        assert!((found[0].finding.evidence()["in_flight"] - 9.0).abs() < 0.01);
    }
}
