//! Limits of the kernel, by the counters of what it dropped during the takes. One of them may bind where it dropped at
//! least one in a hundred requests; fewer are seen, and no more. A full queue of another program is `behind`.

use model::doc::Binding;
use model::finding::drops::DropCounter;

use super::view::{Claim, Rank, Seen, View};
use crate::rules::drops;
use model::format;

pub fn seen(view: &View<'_, '_>) -> Vec<Seen> {
    let of = |(counter, count): (&'static DropCounter, f64)| {
        let share = drops::share(view.load, count);
        let of = share.map_or_else(String::new, |(share, _)| match share > 1.0 {
            true => ", more often than it had requests".to_owned(),
            false => format!(", {} of its requests", format::percent(share)),
        });
        let queue = drops::queue(counter, view.load, &view.backends);
        let text = format!("{}{of}", counter.says_of(count, queue.as_ref()));
        let settings = drops::settings(counter, &view.index.run.facts);
        let advice = counter.advice_of(queue.as_ref(), &settings, view.load.number("connections"));
        let binds = !counter.usual && share.is_some_and(|(_, binds)| binds);
        let is_servers = queue.as_ref().is_none_or(|queue| queue.is_servers);
        let claim = (binds && is_servers).then(|| Claim {
            rank: Rank::Dropped,
            sentence: format!("held back by a limit of the kernel ({text}): {advice}"),
            evidence: view.shortfall().into_iter().collect(),
            counter: (queue.is_none().then(|| {
                "the counter is of the whole network namespace, not of this server alone".to_owned()
            }))
            .into_iter()
            .collect(),
            advice: vec![advice],
        });
        let resource = counter.settings.first().copied().unwrap_or(counter.name).to_owned();
        Seen { kind: Binding::KernelLimit, resource, share: None, text, claim }
    };
    drops::of_load(view.load, &view.backends).into_iter().map(of).collect()
}
