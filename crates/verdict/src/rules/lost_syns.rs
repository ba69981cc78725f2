//! Lost SYNs: requests whose time holds a wait of TCP's for a connection. It doubts no figure: they waited.

use crate::loads::lost_syns;
use crate::ruling::Ruling;
use crate::run_index::RunIndex;

pub fn rule(index: &RunIndex<'_>) -> Vec<Ruling> {
    let found = index.loads().iter();
    found
        .filter_map(|load| Some(Ruling::about(load.subject(), lost_syns::of_load(load)?, Vec::new())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loads::planted::{empty, load, times};
    use crate::rules::{drops, stall};
    use crate::run_index::RunContext;

    #[test]
    fn dropped_syns_are_no_stall_and_no_late_acknowledgements() {
        let mut run = empty();
        let given = "url=http://127.0.0.1:80/;connections=50";
        let figures = [
            ("throughput", 100.0),
            ("requests", 1018.0),
            ("answering-time", 8.0),
            ("longest-stall", 0.99),
            ("longest-stall-at", 2.0),
            ("drops;counter=listen-overflow", 40.0),
            ("drops;counter=listen-drop", 40.0),
            ("drops;counter=retransmits", 40.0),
            ("drops;counter=syn-retransmits", 40.0),
        ];
        let seqs = load(&mut run, given, &figures);
        times(
            &mut run,
            &seqs[..1],
            "service-times",
            given,
            &[(8_000, 1000), (1_009_000, 13), (3_021_000, 5)],
        );
        let context = RunContext { cards: instruments::cards(), ..RunContext::default() };
        let index = RunIndex::new(&run, &context);
        let found = rule(&index);
        let says = "18 requests waited 1 s or 3 s for a connection: their SYN was dropped, TCP sends it again after 1, 2, 4 s";
        assert!(found.len() == 1 && found[0].finding.text().contains(says), "{found:?}");
        assert!(stall::rule(&index).is_empty());
        let dropped = drops::rule(&index);
        assert!(dropped.len() == 1 && dropped[0].finding.text().contains("the queue"), "{dropped:?}");
    }
}
