//! What machines did while requests came ([`BesideDoc`]): how far it may be set beside them, and what is unlike between
//! the machines.
//!
//! Seconds, bytes. The means over all that the log and the samples have in common are looked at, not single rows.

use model::doc::BesideDoc;
use model::{Finding, Unit, Validity};

use crate::say;

/// Amounts of memory that differ by this factor are said.
const UNLIKE: f64 = 1.25;
/// Clocks that are set by the network agree to well within so many seconds.
const AGREED: f64 = 60.0;
/// Less than this share of the log's time is a part of it.
const WHOLE: f64 = 0.95;

/// What is to be known of each machine, about its label, and of all beside the first.
#[must_use]
pub fn findings(all: &[&BesideDoc]) -> Vec<Finding> {
    let each =
        all.iter().flat_map(|doc| of_one(doc).into_iter().map(|finding| finding.about(doc.label.clone())));
    each.chain(unlike(all)).collect()
}

/// What is to be known of the figures of one label and its machine beside each other.
pub(super) fn of_one(doc: &BesideDoc) -> Vec<Finding> {
    if let Some(why) = &doc.why {
        return vec![Finding::new("telemetry", Validity::Invalid, why.clone())];
    }
    let (Some(step), Some(mean)) = (doc.step, &doc.mean) else { return Vec::new() };
    let mut text = format!(
        "requests are by the clock of the server that logged them, the machine's figures by that of {}: the two clocks \
         were not compared, and rows of {} are off where they differ by more",
        doc.host.as_deref().unwrap_or("the host that recorded them"),
        say::span(step),
    );
    if let Some(drift) = doc.drift {
        text.push_str(&format!("; during the run its clock drifted by {drift:.3} s from the program's"));
    }
    let state = if step < AGREED { Validity::Doubtful } else { Validity::Ok };
    let mut all = vec![Finding::new("clocks", state, text).evidence("step", step)];
    let covered = mean.seconds / (doc.log.1 - doc.log.0).max(1.0);
    if covered < WHOLE {
        let text = format!(
            "the machine was recorded during {} of the log's time; rows are of that alone",
            say::percent(covered)
        );
        all.push(Finding::new("telemetry", Validity::Ok, text).evidence("covered", covered));
    }
    all
}

/// Machines whose memory held unlike amounts of files.
fn unlike(all: &[&BesideDoc]) -> Vec<Finding> {
    let cache = |doc: &BesideDoc| doc.mean.as_ref()?.page_cache.filter(|bytes| *bytes > 0.0);
    let known: Vec<(&BesideDoc, f64)> = all.iter().filter_map(|doc| Some((*doc, cache(doc)?))).collect();
    let Some((base, first)) = known.first() else { return Vec::new() };
    let found = known.iter().skip(1).filter(|(_, other)| !(1.0 / UNLIKE..=UNLIKE).contains(&(other / first)));
    let reads = |doc: &BesideDoc| match doc.mean.as_ref().and_then(|mean| mean.disk_read) {
        Some(rate) => say::quantity(rate, Unit::BytesPerSec),
        None => "an unknown amount".to_owned(),
    };
    let say = |(doc, other): &(&BesideDoc, f64)| {
        let text = format!(
            "{}'s page cache is {} than {}'s: {} beside {}; its disks read {}, the others {}",
            doc.label,
            if other < first { "smaller" } else { "larger" },
            base.label,
            say::quantity(*other, Unit::Byte),
            say::quantity(*first, Unit::Byte),
            reads(doc),
            reads(base),
        );
        let finding = Finding::new("page-cache", Validity::Doubtful, text);
        finding.about(format!("{} beside {}", doc.label, base.label)).evidence("ratio", other / first)
    };
    found.map(say).collect()
}

#[cfg(test)]
mod tests {
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
        let found = all.iter().find(|finding| finding.kind == "page-cache").unwrap();
        assert_eq!(
            found.text,
            "ssd's page cache is smaller than hdd's: 1.20 GiB beside 6.00 GiB; its disks read 14.2 MB/s, the others 14.2 \
             MB/s"
        );
        assert_eq!((found.subject.as_str(), found.state), ("ssd beside hdd", Validity::Doubtful));
        let alike = findings(&[&hdd, &doc("ssd", 900.0, 5.0 * GIB)]);
        assert!(alike.iter().all(|finding| finding.kind != "page-cache"), "{alike:?}");
    }

    #[test]
    fn short_rows_doubt_the_clocks() {
        let of = |step, covered| {
            let mut doc = doc("a", step, GIB);
            doc.log.1 = 3600.0 / covered;
            of_one(&doc).into_iter().map(|finding| (finding.kind, finding.state)).collect::<Vec<_>>()
        };
        assert_eq!(of(5.0, 1.0), [("clocks".to_owned(), Validity::Doubtful)]);
        assert_eq!(of(900.0, 1.0), [("clocks".to_owned(), Validity::Ok)]);
        assert_eq!(of(900.0, 0.5)[1], ("telemetry".to_owned(), Validity::Ok));
        let apart = BesideDoc { why: Some("no time in common".into()), ..BesideDoc::default() };
        assert_eq!(of_one(&apart)[0].state, Validity::Invalid);
    }
}
