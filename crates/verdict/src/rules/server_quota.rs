//! CPU quota of the server: the scheduler stopped the control group that the loaded server runs in, or one above it.
//!
//! Input: the quotas of the groups of all processes of the server and of those above, and how often each stopped it
//! between the readings around each load. The figures are those of the server as it is set up: none is doubted. Not
//! seen: a server elsewhere, groups above those that are mounted here.

use model::NoteBody;
use model::doc::Binding;
use model::finding::ServerQuota;

use crate::bottleneck;
use crate::loads::{Load, groups};
use crate::ruling::Ruling;
use crate::run_index::RunIndex;

pub fn rule(index: &RunIndex<'_>) -> Vec<Ruling> {
    let loads = index.loads();
    if loads.is_empty() {
        return Vec::new();
    }
    let mut stopped: Vec<Ruling> = Vec::new();
    let (mut spare, mut read) = (None, None);
    for load in loads {
        let Some(groups) = groups::count_read(load) else { continue };
        read = read.max(Some(groups));
        let Some(quota) = groups::quotas(load).into_iter().next() else { continue };
        if quota.throttled.is_some_and(|times| times > 0.0) {
            let binds = binds(index, load);
            stopped.push(Ruling::about(load.subject(), ServerQuota::Stopped { quota, binds }, Vec::new()));
        } else {
            spare = Some(quota);
        }
    }
    if !stopped.is_empty() {
        return stopped;
    }
    let rest = match (spare, read) {
        (Some(quota), _) => ServerQuota::Spare(quota),
        (None, Some(groups)) => ServerQuota::None { groups },
        (None, None) => ServerQuota::Unread { why: why(index) },
    };
    vec![Ruling::of_run(rest)]
}

/// Said where the bottleneck is.
fn binds(index: &RunIndex<'_>, load: &Load<'_>) -> bool {
    load.is_plain() && bottleneck::of_load(index, load).kind == Binding::Quota
}

fn why(index: &RunIndex<'_>) -> Option<String> {
    index.run.notes.iter().find_map(|note| match &note.body {
        NoteBody::ServerGroups(why) => Some(why.clone()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use model::Validity;
    use model::data::RunData;

    use super::*;
    use crate::loads::planted::{empty, one};
    use crate::run_index::RunContext;

    fn of(run: &RunData) -> Vec<Ruling> {
        rule(&RunIndex::new(run, &RunContext { cards: instruments::cards(), ..RunContext::default() }))
    }

    fn quota(more: &[(&str, f64)]) -> RunData {
        let figures = [
            ("throughput", 11e3),
            ("server-groups", 2.0),
            ("group-quota;group=cpu:/web", 0.4),
            ("group-periods;group=cpu:/web", 10.0),
        ];
        one("connections=50", &[&figures, more].concat())
    }

    #[test]
    fn a_quota_that_stops_a_server_is_told() {
        let run = quota(&[("group-throttled;group=cpu:/web", 10.0)]);
        let found = of(&run);
        assert_eq!((found.len(), found[0].finding.state), (1, Validity::Ok), "the bottleneck says it");
        let text = found[0].finding.text();
        assert!(text.contains("0.400 CPUs (cpu:/web): stopped in 80 of 80 periods"), "{text}");
        // Too seldom to bind, and often enough for the slowest answers.
        let seldom = of(&quota(&[("group-throttled;group=cpu:/web", 1.0)]));
        assert_eq!((seldom[0].finding.state, seldom[0].reach.len()), (Validity::Doubtful, 0));
        assert!(seldom[0].finding.text().contains("stopped in 8 of 80 periods; raise it"), "{seldom:?}");
    }

    #[test]
    fn no_quota_is_no_unread_one() {
        let spare = of(&quota(&[("group-throttled;group=cpu:/web", 0.0)]));
        assert_eq!(spare[0].finding.state, Validity::Ok);
        assert!(spare[0].finding.text().contains("used up no period"), "{spare:?}");
        let none = of(&one("connections=50", &[("throughput", 11e3), ("server-groups", 2.0)]));
        assert_eq!(none[0].finding.text(), "no CPU quota of the server's: 2 control groups looked at");
        let mut run = one("connections=50", &[("throughput", 11e3)]);
        assert_eq!(of(&run)[0].finding.state, Validity::Unknown);
        assert!(of(&run)[0].finding.text().ends_with("its control groups were not read"));
        run.notes.push(model::Note::of_run(NoteBody::ServerGroups("no `cpu` here".into())));
        assert!(of(&run)[0].finding.text().ends_with("is not known: no `cpu` here"));
        assert!(of(&empty()).is_empty());
    }
}
