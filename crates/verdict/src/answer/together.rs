//! The answer of a study in which each of several machines served a load: the rate of each, and all of them together.

use model::Unit;
use model::answer::{Answer, AnswerDoc, AnsweredDoc, Doubted, Together};
use model::doc::RunDoc;
use model::names;

/// `None` where there are fewer than two machines, or one of them has no rate, or has other figures than loads.
pub fn together(docs: &[&RunDoc]) -> Option<AnswerDoc> {
    let rates: Vec<AnsweredDoc> = docs.iter().map(|doc| rate(doc)).collect::<Option<_>>()?;
    let is_own = |at: usize| rates.iter().take(at).all(|other| other.name != rates[at].name);
    if !(0..rates.len()).all(is_own) {
        return None;
    }
    let doubtful = docs.iter().filter(|doc| doc.answer.as_ref().is_some_and(|answer| answer.doubtful));
    let doubted = Doubted { doubtful: doubtful.count(), of: docs.len(), cause: "" };
    Some(Answer::Together(Together::new(rates)?).doc(doubted))
}

/// The rate that answers a run of nothing but loads, in one arm, under the name of its machine.
fn rate(doc: &RunDoc) -> Option<AnsweredDoc> {
    let heads = doc.headlines();
    let is_load = heads.iter().all(|series| names::is_load(series.card) && series.arm.is_empty());
    let first = doc.answer.as_ref().filter(|_| is_load)?.figures.first()?;
    (first.unit == Unit::PerSec).then(|| AnsweredDoc { name: doc.machine.name.clone(), ..first.clone() })
}
