//! Generator and server on the same core: each slows the other, so that the figures are of neither.
//!
//! Doubtful where a core has both roles. Input: the cores' roles, which the instrument knows for a server of its own.

use model::{Finding, Validity};

use super::{Look, Ruling, settle, unknown};
use crate::say;

const KIND: &str = "same-cores";

pub fn rule(look: &Look<'_>) -> Vec<Ruling> {
    let (mut bad, mut good) = (Vec::new(), Vec::new());
    for load in look.loads() {
        let cores = load.cores();
        let both: Vec<_> = cores.iter().filter(|core| core.role == "both").collect();
        if both.is_empty() {
            // Without a core of the server's, nothing says that it has its own.
            if cores.iter().any(|core| core.role == "server") {
                good.extend(load.rows(&[]));
            }
            continue;
        }
        let named: Vec<String> =
            both.iter().map(|core| format!("cpu{} ({} busy)", core.cpu, say::percent(core.busy))).collect();
        let text = format!(
            "generator and server share {}: each slows the other; generate from another machine, or give the server \
             cores of its own",
            say::list(&named)
        );
        let busiest = both.iter().map(|core| core.busy).fold(0.0, f64::max);
        let finding = Finding::new(KIND, Validity::Doubtful, text)
            .about(load.title())
            .evidence("cores", both.len() as f64)
            .evidence("busy", busiest);
        bad.push(Ruling { finding, reach: load.rows(&[]) });
    }
    if bad.is_empty() && good.is_empty() && !look.loads().is_empty() {
        return unknown(KIND, "which cores the server ran on is not known");
    }
    settle(bad, good, |_| Finding::new(KIND, Validity::Ok, "generator and server on cores of their own"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loads::planted::{empty, one};
    use crate::run::RunContext;

    #[test]
    fn fires_for_a_shared_core_alone() {
        let of = |figures: &[(&str, f64)]| {
            let run = one("connections=1", figures);
            rule(&Look::new(&run, &RunContext { cards: instruments::cards(), ..RunContext::default() }))
        };
        let shared = of(&[("throughput", 1.0), ("server-cpu", 1e-5), ("core-busy;cpu=0;role=both", 0.98)]);
        assert_eq!((shared[0].finding.state, shared[0].reach.clone()), (Validity::Doubtful, vec![0, 1]));
        assert!(shared[0].finding.text.contains("share cpu0 (98 % busy)"), "{shared:?}");
        let apart = [
            ("throughput", 1.0),
            ("core-busy;cpu=0;role=server", 0.98),
            ("core-busy;cpu=1;role=generator", 0.98),
        ];
        assert_eq!(of(&apart)[0].finding.state, Validity::Ok);
        let unseen = of(&[("throughput", 1.0), ("core-busy;cpu=0;role=other", 0.98)]);
        assert_eq!(unseen[0].finding.state, Validity::Unknown);
        assert!(
            rule(&Look::new(&empty(), &RunContext { cards: instruments::cards(), ..RunContext::default() }))
                .is_empty()
        );
    }
}
