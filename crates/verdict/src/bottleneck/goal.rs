//! The result of a search: the largest load that keeps a percentile within its limit, and what holds the server there.
//!
//! Requests per second. Cores and times are those of the step that held nearest to the rate found. No resource need be
//! full there: answers wait for one that is nearly so.

use model::doc::{Binding, BottleneckDoc, SearchDoc};
use model::format;

use super::view::{Seen, View};
use super::{at_work, document, sort, waiting, work};
use crate::loads::Load;
use crate::run_index::RunIndex;
use crate::searches;

/// `58.3 k/s keeps p99 within 20ms, in 4 of 5 loads; loads break from about 61.5 k/s (58.2 to 63.0) on; there near the
/// ceiling of cpu0 …`; `None` where nothing was found.
pub fn found(index: &RunIndex<'_>, load: &Load<'_>) -> Option<BottleneckDoc> {
    load.given("percentile").and(load.given("limit"))?;
    let search: SearchDoc = searches::search(load);
    let says = search.says()?;
    let (cores, server_cores) = (load.cores(), load.server_cores());
    let backends = index.backends(load.takes().into_iter());
    let view = View { index, load, cores, server_cores, backends, ceilings: Vec::new() };
    // Where nothing is full, or nearly so, the answers wait in the server.
    let waits = waiting::seen(&view).into_iter().filter(|seen| seen.kind == Binding::Waiting);
    let mut seen: Vec<Seen> = at_work(&view).into_iter().chain(waits).collect();
    sort(&mut seen);
    let mut doc = document(load, &seen);
    let there = match doc.kind {
        Binding::Unknown => {
            doc.kind = Binding::Offered;
            fullest(&view)
        }
        _ => Some(doc.sentence.clone()),
    };
    doc.sentence = there.map_or_else(|| says.clone(), |there| format!("{says}; there {there}"));
    doc.also = work::also(&view, &doc);
    Some(doc)
}

/// `no core is fuller than cpu0, 52 % busy`, of those that may serve.
fn fullest(view: &View<'_, '_>) -> Option<String> {
    let most = view.server_cores.iter().max_by(|a, b| a.taken().total_cmp(&b.taken()))?;
    Some(format!("no core of the server is fuller than {} %", format::fixed(100.0 * most.taken(), 0)))
}

#[cfg(test)]
mod tests {
    use model::doc::Binding;

    use crate::loads::planted::one;
    use crate::{RunContext, run_doc};

    #[test]
    fn a_search_says_what_it_found_and_how_sure() {
        let mut run = one("limit=20ms;percentile=p99;server=nginx", &[("slo-throughput", 61_500.0)]);
        for series in &mut run.series {
            series.key.instrument = "web-slo".to_owned();
            for (at, point) in series.points.iter_mut().enumerate() {
                point.value = model::Value::Number(58_000.0 + 1_000.0 * (at * 3 % 8) as f64);
            }
        }
        let context = RunContext { cards: instruments::cards(), ..RunContext::default() };
        let doc = run_doc(&run, &context);
        assert_eq!(doc.bottlenecks[0].sentence, "61.5 k/s (58.0 to 65.0) keeps p99 within 20ms");
        let first = run.series[0].points.clone();
        run.series[0].points.truncate(1);
        assert_eq!(run_doc(&run, &context).bottlenecks[0].sentence, "58.0 k/s keeps p99 within 20ms");
        run.series[0].points = first;
        run.series[0].points.iter_mut().for_each(|point| point.phase = model::Phase::WarmUp);
        assert!(run_doc(&run, &context).bottlenecks.is_empty());
    }

    #[test]
    fn a_search_says_what_holds_the_server_at_the_rate_it_found() {
        let of = |busy: f64, tries: [f64; 2]| {
            let mut run = one(
                "limit=20ms;percentile=p99;server=nginx",
                &[
                    ("slo-throughput", 1_000.0),
                    ("core-busy;cpu=0;role=server", busy),
                    ("core-busy;cpu=1;role=generator", 0.3),
                    ("step-rate;step=1", 800.0),
                    ("step-requests;step=1", 4_000.0),
                    ("step-held;step=1", tries[0]),
                    ("step-rate;step=2", 1_000.0),
                    ("step-requests;step=2", 5_000.0),
                    ("step-held;step=2", tries[1]),
                ],
            );
            run.series.iter_mut().for_each(|series| series.key.instrument = "web-slo".to_owned());
            let context = RunContext { cards: instruments::cards(), ..RunContext::default() };
            run_doc(&run, &context)
        };
        let full = of(0.97, [1.0, 1.0]);
        let says = &full.bottlenecks[0].sentence;
        assert!(says.contains("keeps p99 within 20ms") && says.contains("; there bound by cpu0"), "{says}");
        assert_eq!(full.bottlenecks[0].kind, Binding::Core);
        let answer = full.answer.unwrap().sentence;
        assert!(
            answer.contains("requests/s")
                && answer.ends_with("keep p99 within 20ms, in 8 of 8 loads; cpu0 is full"),
            "{answer}"
        );
        // At the rate found every take broke.
        let broken = of(0.8, [1.0, 0.0]);
        let answer = broken.answer.unwrap();
        let says = &answer.sentence;
        assert!(says.contains("800 requests/s keep p99 within 20ms, in 8 of 8 loads"), "{says}");
        assert!(
            says.contains("loads break from about 1,000 requests/s")
                && says.contains("cpu0 is nearly full (80 %)"),
            "{says}"
        );
        assert!(
            broken.bottlenecks[0].sentence.starts_with("800 /s keeps p99"),
            "{:?}",
            broken.bottlenecks[0]
        );
        assert!(broken.searches[0].kept.is_some() && broken.searches[0].tried.is_some());
        assert_eq!(answer.figures.len(), 2);
        let idle = of(0.4, [1.0, 1.0]);
        assert_eq!(idle.bottlenecks[0].kind, Binding::Offered);
        assert!(idle.bottlenecks[0].sentence.ends_with("there no core of the server is fuller than 40 %"));
    }
}
