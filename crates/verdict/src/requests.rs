//! The requests of each load of a run: how many ended how, and their times, over all measured takes together.
//!
//! Counts are sums over the takes; times are of every request, not medians of takes. Seconds.

use std::collections::BTreeMap;

use model::data::RunData;
use model::doc::{RequestsDoc, StatusDoc};
use model::metrics::load;
use model::{Cards, Histogram, Metric, Seconds, card, ladder};

use crate::load_doc::{STEPS, first_urls, times_doc, whole};
use crate::loads::{Load, of_run, used};

/// In the order of the run's series; a load whose requests were not counted is left out.
pub fn requests(run: &RunData, cards: Cards) -> Vec<RequestsDoc> {
    let of_load = |load: &Load<'_>| {
        let card = card::find(cards, load.instrument);
        Some(RequestsDoc { card, ..of_load(run, load)? })
    };
    of_run(run, cards).iter().filter_map(of_load).collect()
}

fn of_load(run: &RunData, load: &Load<'_>) -> Option<RequestsDoc> {
    let requests = whole(load.requests()?);
    let count = |sums: BTreeMap<String, f64>| sums.into_iter().map(|(name, count)| (name, whole(count)));
    let errors: BTreeMap<String, u64> = count(load.sums_by(&load::FAILED, "kind")).collect();
    let urls = first_urls(load.notes(run));
    let url = |status: &str| Some((*urls.get(&status.parse().ok()?)?).to_owned());
    let statuses = count(load.sums_by(&load::STATUSES, "status")).map(|(status, count)| {
        let first_url = url(&status);
        (status, StatusDoc { count, first_url })
    });
    let times = |metric: &Metric<Seconds>| {
        let mut all = Histogram::default();
        let merged = load.histograms(metric).into_iter().try_for_each(|one| all.merge(one));
        // Histograms of other borders do not add up, and are no times then.
        merged.map_or_else(|_| Histogram::default(), |()| all)
    };
    let (response, service) = (times(&load::RESPONSES), times(&load::SERVICES));
    let borders = ladder::borders(&[&response, &service], STEPS);
    Some(RequestsDoc {
        card: None,
        instrument: load.instrument.to_owned(),
        params: load.params.clone(),
        arm: load.arm.to_owned(),
        takes: load.takes().len(),
        requests,
        good: requests.saturating_sub(errors.values().sum()),
        errors,
        statuses: statuses.collect(),
        response_time: times_doc(&response, &borders),
        service_time: times_doc(&service, &borders),
        cores: used::cores(load),
        files: used::files(load),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loads::planted::{load, one, times};

    #[test]
    fn requests_of_all_takes_are_one() {
        let figures = [
            ("throughput", 9.0),
            ("requests", 100.0),
            ("failed;kind=status_4xx", 10.0),
            ("failed;kind=reset", 5.0),
            ("failed-statuses;status=404", 10.0),
        ];
        let mut run = crate::loads::planted::empty();
        let seqs = load(&mut run, "connections=1", &figures);
        times(&mut run, &seqs, "service-times", "connections=1", &[(100, 3), (500, 1)]);
        let all = requests(&run, instruments::cards());
        assert_eq!((all.len(), all[0].takes, all[0].requests, all[0].good), (1, 8, 800, 680));
        assert_eq!((all[0].errors["reset"], all[0].statuses["404"].count), (40, 80));
        assert_eq!((all[0].service_time.count, all[0].response_time.p50), (32, None));
        assert!(all[0].service_time.p50.is_some_and(|time| (time / 100e-6 - 1.0).abs() < 0.01));
        assert_eq!(requests(&one("connections=1", &[("throughput", 1.0)]), instruments::cards()), []);
    }
}
