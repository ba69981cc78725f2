//! Stalls: times in which a server answered nobody, though requests waited, and then went on.
//!
//! Seconds; the longest of all measured takes of a load. It doubts no figure: the requests that waited are in the
//! response times, in an open loop those that came due meanwhile too.

use model::{Finding, Validity};

use super::{Look, Ruling};
use crate::loads::stall;

const KIND: &str = "stall";

pub fn rule(look: &Look<'_>) -> Vec<Ruling> {
    let found = look.loads().iter().filter_map(|load| {
        let stall = stall::longest(load)?;
        let text = format!("stalled: {}; {}", stall.text(), ADVICE);
        let finding = Finding::new(KIND, Validity::Doubtful, text).about(load.title());
        let known = [("in_flight", stall.in_flight), ("due", stall.due)];
        let known = known.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let all = [("seconds", stall.long), ("at", stall.at), ("takes", stall.takes as f64)];
        Some(
            all.into_iter()
                .chain(known)
                .fold(finding, |finding, (name, value)| finding.evidence(name, value)),
        )
    });
    found.map(|finding| Ruling { finding, reach: Vec::new() }).collect()
}

/// What to look at.
pub const ADVICE: &str = "see what the server does now and then: garbage collection, a checkpoint, a flush of logs, a reload, a lock";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loads::planted::one;
    use crate::run::RunContext;

    #[test]
    fn a_stall_is_told_and_doubts_no_figure() {
        let mut figures = vec![
            ("throughput", 1000.0),
            ("offered-load", 1000.0),
            ("requests", 5000.0),
            ("answering-time", 5.0),
        ];
        let of = |figures: &[(&str, f64)]| {
            rule(&Look::new(
                &one("arrivals=constant", figures),
                &RunContext { cards: instruments::cards(), ..RunContext::default() },
            ))
        };
        assert_eq!(of(&figures), []);
        figures.extend([("longest-stall", 1.0), ("longest-stall-at", 2.0), ("longest-stall-waiting", 9.0)]);
        let found = of(&figures);
        assert_eq!((found.len(), found[0].reach.clone()), (1, Vec::new()));
        let text = &found[0].finding.text;
        assert!(
            text.starts_with("stalled: no answer for 1.00 s from 2.00 s on, while about 1000 requests"),
            "{text}"
        );
        assert!((found[0].finding.evidence["in_flight"] - 9.0).abs() < 0.01);
    }
}
