//! The result of a search: the largest load that keeps a percentile within its limit, with the interval over its takes.
//!
//! Requests per second. Nothing is said of what would bind a larger load.

use model::Unit;
use model::doc::{Binding, BottleneckDoc};
use model::format::{Kind, Scale};

use super::document;
use crate::loads::Load;

/// `61.5 k/s keeps p99 within 20ms (58.2 to 63.0)`; `None` where nothing was found.
pub fn found(load: &Load<'_>) -> Option<BottleneckDoc> {
    let found = load.rate_summary()?;
    let (percentile, limit) = (load.given("percentile")?, load.given("limit")?);
    let scale = Scale::common(&[found.median], Kind::for_unit(Unit::PerSec));
    let ends = found.interval.and_then(|interval| scale.interval(interval.low, interval.high));
    let interval = ends.map(|(low, high)| format!(" ({low} to {high})"));
    let rate = model::finding::generator_bound::rate(found.median);
    let sentence = format!("{rate} keeps {percentile} within {limit}{}", interval.unwrap_or_default());
    Some(BottleneckDoc { kind: Binding::Offered, sentence, ..document(load, &[]) })
}

#[cfg(test)]
mod tests {
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
        assert_eq!(doc.bottlenecks[0].sentence, "61.5 k/s keeps p99 within 20ms (58.0 to 65.0)");
        let first = run.series[0].points.clone();
        run.series[0].points.truncate(1);
        assert_eq!(run_doc(&run, &context).bottlenecks[0].sentence, "58.0 k/s keeps p99 within 20ms");
        run.series[0].points = first;
        run.series[0].points.iter_mut().for_each(|point| point.phase = model::Phase::WarmUp);
        assert!(run_doc(&run, &context).bottlenecks.is_empty());
    }
}
