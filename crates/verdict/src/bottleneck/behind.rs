//! An application behind the server, which the server waits for: its queue of connections to be accepted was full.
//!
//! A queue that is full binds where it dropped at least one connection in a hundred requests.

use model::doc::Binding;

use super::view::{Claim, Rank, Seen, View};
use crate::loads::queues;
use crate::rules::drops;
use model::finding::drops::Queue;
use model::format;

pub fn seen(view: &View<'_, '_>) -> Option<Seen> {
    let (queue, dropped) = full_queue(view)?;
    let text = format!("the application at {} behind {}", queue.place(), view.load.server());
    let claim = Claim {
        rank: Rank::Dropped,
        sentence: format!("held back by {text}: {}", says(view, &queue, dropped)),
        evidence: view.shortfall().into_iter().collect(),
        counter: Vec::new(),
        advice: advice(&queue),
    };
    Some(Seen { kind: Binding::Behind, resource: queue.place(), share: None, text, claim: Some(claim) })
}

/// The queue of another program that dropped most, where that is enough to bind.
fn full_queue(view: &View<'_, '_>) -> Option<(Queue, f64)> {
    let (queue, dropped) = queues::fullest(view.load).filter(|(queue, _)| !queue.is_servers)?;
    drops::share(view.load, dropped).is_some_and(|(_, binds)| binds).then_some((queue, dropped))
}

fn says(view: &View<'_, '_>, queue: &Queue, dropped: f64) -> String {
    let share = drops::share(view.load, dropped).map(|(share, _)| match share > 1.0 {
        true => "more often than there were requests".to_owned(),
        false => format!("{} of the requests", format::percent(share)),
    });
    let share = share.map_or_else(String::new, |share| format!(", {share}"));
    format!(
        "its queue of connections to be accepted, which is not the server's, was full {} times{share}",
        format::fixed(dropped, 0)
    )
}

fn advice(queue: &Queue) -> Vec<String> {
    let mut advice = vec![format!("measure the application alone: boxscore load http://{}/", queue.socket)];
    advice.extend(queue.advice_to_application());
    advice
}
