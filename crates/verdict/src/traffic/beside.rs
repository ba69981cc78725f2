//! Telemetry of machines while requests came ([`BesideDoc`]): how far it may be set beside the requests, and how the
//! machines differ.
//!
//! Seconds, bytes. The means over all that the log and the samples have in common are looked at, not single rows.

use model::Finding;
use model::doc::BesideDoc;
use model::finding::{Cache, LogsCompared, Subject};

/// Amounts of memory that differ by this factor are said.
const UNLIKE: f64 = 1.25;
/// Clocks that are set by the network agree to well within so many seconds.
const AGREED: f64 = 60.0;
/// Less than this share of the log's time is a part of it.
const WHOLE: f64 = 0.95;

/// Findings about each machine under its label, and about the differences of each from the first.
pub fn findings(all: &[&BesideDoc]) -> Vec<Finding> {
    let each = all
        .iter()
        .flat_map(|doc| of_one(doc).into_iter().map(|finding| finding.about(Subject::label(&doc.label))));
    each.chain(unlike(all)).collect()
}

/// Findings about one label and the telemetry of its machine.
pub(super) fn of_one(doc: &BesideDoc) -> Vec<Finding> {
    if let Some(why) = &doc.why {
        return vec![Finding::new(LogsCompared::NoTelemetry(why.clone()))];
    }
    let (Some(step), Some(mean)) = (doc.step, &doc.mean) else { return Vec::new() };
    let clocks =
        LogsCompared::Clocks { host: doc.host.clone(), step, drift: doc.drift, is_doubtful: step < AGREED };
    let mut all = vec![Finding::new(clocks)];
    let covered = mean.seconds / (doc.log.1 - doc.log.0).max(1.0);
    if covered < WHOLE {
        all.push(Finding::new(LogsCompared::PartOfTelemetry { covered }));
    }
    all
}

/// Machines whose memory held unlike amounts of files.
fn unlike(all: &[&BesideDoc]) -> Vec<Finding> {
    let cache = |doc: &BesideDoc| doc.mean.as_ref()?.page_cache.filter(|bytes| *bytes > 0.0);
    let known: Vec<(&BesideDoc, f64)> = all.iter().filter_map(|doc| Some((*doc, cache(doc)?))).collect();
    let Some((base, first)) = known.first() else { return Vec::new() };
    let found = known.iter().skip(1).filter(|(_, other)| !(1.0 / UNLIKE..=UNLIKE).contains(&(other / first)));
    let of = |doc: &BesideDoc, bytes: f64| {
        let disk_read = doc.mean.as_ref().and_then(|mean| mean.disk_read);
        Cache { label: doc.label.clone(), bytes, disk_read }
    };
    let unlike = |(doc, other): &(&BesideDoc, f64)| {
        let caches = LogsCompared::PageCache { arm: of(doc, *other), base: of(base, *first) };
        Finding::new(caches).about(Subject::groups(&doc.label, &base.label))
    };
    found.map(unlike).collect()
}

#[cfg(test)]
mod tests {
    use model::Validity;
    use model::doc::BesideRow;

    use super::*;

    const GIB: f64 = 1_073_741_824.0;

    fn doc(label: &str, step: f64, cache: f64) -> BesideDoc {
        let mean = BesideRow {
            seconds: 3600.0,
            disk_read: Some(14.2e6),
            page_cache: Some(cache),
            ..BesideRow::default()
        };
        let (log, mean) = ((0.0, 3600.0), Some(mean));
        BesideDoc { label: label.into(), step: Some(step), log, mean, ..BesideDoc::default() }
    }

    #[test]
    fn the_smaller_page_cache_is_named() {
        let (hdd, ssd) = (doc("hdd", 900.0, 6.0 * GIB), doc("ssd", 900.0, 1.2 * GIB));
        let all = findings(&[&hdd, &ssd]);
        let found = all.iter().find(|finding| finding.kind() == "page-cache").unwrap();
        assert_eq!(
            found.text(),
            "the page cache may make the difference: ssd's page cache is smaller than hdd's, 1.20 GiB beside 6.00 GiB; its \
             disks read 14.2 MB/s, the others 14.2 MB/s"
        );
        assert_eq!((found.subject.to_string().as_str(), found.state), ("ssd beside hdd", Validity::Doubtful));
        let alike = findings(&[&hdd, &doc("ssd", 900.0, 5.0 * GIB)]);
        assert!(alike.iter().all(|finding| finding.kind() != "page-cache"), "{alike:?}");
    }

    #[test]
    fn short_rows_doubt_the_clocks() {
        let of = |step, covered| {
            let mut doc = doc("a", step, GIB);
            doc.log.1 = 3600.0 / covered;
            of_one(&doc)
                .into_iter()
                .map(|finding| (finding.kind().to_owned(), finding.state))
                .collect::<Vec<_>>()
        };
        assert_eq!(of(5.0, 1.0), [("clocks".to_owned(), Validity::Doubtful)]);
        assert_eq!(of(900.0, 1.0), [("clocks".to_owned(), Validity::Ok)]);
        assert_eq!(of(900.0, 0.5)[1], ("telemetry".to_owned(), Validity::Ok));
        let apart = BesideDoc { why: Some("no time in common".into()), ..BesideDoc::default() };
        assert_eq!(of_one(&apart)[0].state, Validity::Invalid);
    }
}
