//! Redirects: answers that point elsewhere (3xx). They are good answers, since the server gave them, but nobody follows
//! them, so that a load of them measured the redirect and not the page behind it.
//!
//! Counts over all measured takes of a load, by status; shares of its good answers. It doubts no figure.

use std::collections::BTreeMap;

use model::NoteBody;
use model::finding::Redirects;
use model::metrics::load;

use crate::loads::Load;
use crate::ruling::Ruling;
use crate::run_index::RunIndex;

pub fn rule(index: &RunIndex<'_>) -> Vec<Ruling> {
    let found = index.loads().iter().filter_map(|load| {
        let statuses = load.sums_by(&load::REDIRECTS, "status");
        let met = (!statuses.is_empty()).then(|| redirects(index, load, statuses))?;
        Some(Ruling::about(load.subject(), met, Vec::new()))
    });
    found.collect()
}

fn redirects(index: &RunIndex<'_>, load: &Load<'_>, statuses: BTreeMap<String, f64>) -> Redirects {
    let all: f64 = statuses.values().sum();
    let failed: f64 = load.sums_by(&load::FAILED, "kind").values().sum();
    let good = load.requests().map(|requests| requests - failed).filter(|good| *good > 0.0);
    let share = good.map(|good| (all / good).min(1.0));
    let to = redirect(index, load).map(str::to_owned);
    Redirects { statuses, share, to }
}

/// Where the redirects of a load lead.
fn redirect<'r>(index: &RunIndex<'r>, load: &Load<'_>) -> Option<&'r str> {
    load.notes(index.run).into_iter().find_map(|note| match note {
        NoteBody::Redirect { to } => Some(to.as_str()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use model::Note;

    use super::*;
    use crate::loads::planted::{empty, one};
    use crate::run_index::RunContext;

    fn of(run: &model::data::RunData) -> Vec<Ruling> {
        rule(&RunIndex::new(run, &RunContext { cards: instruments::cards(), ..RunContext::default() }))
    }

    #[test]
    fn redirects_are_told_with_where_they_lead() {
        let figures = [
            ("throughput", 9.0),
            ("requests", 100.0),
            ("failed;kind=reset", 20.0),
            ("redirects;status=302", 60.0),
        ];
        let mut run = one("connections=1", &figures);
        assert!(of(&run)[0].finding.text().contains("(302), which are not followed; load the page"));
        let redirect = |to: &str, at_ns| Note { body: NoteBody::Redirect { to: to.into() }, at_ns };
        run.notes.push(redirect("/login", Some(run.takes[1].start_ns)));
        // Of another load.
        run.notes.insert(0, redirect("/x", Some(u64::MAX)));
        let found = of(&run);
        let says = "the figures are of the redirects: 75 % of the answers were redirects (302), which are not followed, \
                    to /login; load that itself";
        assert_eq!((found.len(), found[0].finding.text().as_str()), (1, says));
        assert!(found[0].reach.is_empty());
    }

    #[test]
    fn what_the_client_has_already_is_no_redirect() {
        let run =
            one("connections=1", &[("throughput", 9.0), ("requests", 50.0), ("redirects;status=304", 50.0)]);
        let says = "the figures are of answers without content: 100 % of the answers were 304 (not modified)";
        assert!(of(&run)[0].finding.text().starts_with(says));
        assert!(of(&one("connections=1", &[("throughput", 9.0)])).is_empty() && of(&empty()).is_empty());
    }
}
