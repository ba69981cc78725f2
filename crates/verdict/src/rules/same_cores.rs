//! Generator and server on the same core: each slows the other, so that the figures are of neither.
//!
//! Doubtful where a core has both roles. Input: the cores' roles, which the instrument knows for a server of its own.

use model::finding::SameCores;

use crate::ruling::{Ruling, settle};
use crate::run_index::RunIndex;

pub fn rule(index: &RunIndex<'_>) -> Vec<Ruling> {
    let (mut bad, mut good) = (Vec::new(), Vec::new());
    for load in index.loads() {
        let cores = load.cores();
        let both: Vec<_> = cores.iter().filter(|core| core.role == "both").collect();
        if both.is_empty() {
            // Without a core of the server's, nothing says that it has its own.
            if cores.iter().any(|core| core.role == "server") {
                good.extend(load.rows(&[]));
            }
            continue;
        }
        let shared = both.iter().map(|core| (format!("cpu{}", core.cpu), core.busy)).collect();
        bad.push(Ruling::about(load.subject(), SameCores::Shared(shared), load.rows(&[])));
    }
    if bad.is_empty() && good.is_empty() && !index.loads().is_empty() {
        return vec![Ruling::of_run(SameCores::Unknown)];
    }
    settle(bad, good, |_| SameCores::Apart)
}

#[cfg(test)]
mod tests {
    use model::Validity;

    use super::*;
    use crate::loads::planted::{empty, one};
    use crate::run_index::RunContext;

    #[test]
    fn fires_for_a_shared_core_alone() {
        let of = |figures: &[(&str, f64)]| {
            let run = one("connections=1", figures);
            rule(&RunIndex::new(&run, &RunContext { cards: instruments::cards(), ..RunContext::default() }))
        };
        let shared = of(&[("throughput", 1.0), ("server-cpu", 1e-5), ("core-busy;cpu=0;role=both", 0.98)]);
        assert_eq!((shared[0].finding.state, shared[0].reach.clone()), (Validity::Doubtful, vec![0, 1]));
        assert!(shared[0].finding.text().contains("share cpu0 (98 % busy)"), "{shared:?}");
        let apart = [
            ("throughput", 1.0),
            ("core-busy;cpu=0;role=server", 0.98),
            ("core-busy;cpu=1;role=generator", 0.98),
        ];
        assert_eq!(of(&apart)[0].finding.state, Validity::Ok);
        let unseen = of(&[("throughput", 1.0), ("core-busy;cpu=0;role=other", 0.98)]);
        assert_eq!(unseen[0].finding.state, Validity::Unknown);
        assert!(
            rule(&RunIndex::new(
                &empty(),
                &RunContext { cards: instruments::cards(), ..RunContext::default() }
            ))
            .is_empty()
        );
    }
}
