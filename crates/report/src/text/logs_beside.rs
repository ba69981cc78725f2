//! Telemetry of machines while requests came: each label over all of the common time, and step by step.
//!
//! Of the machine: means over the samples. Memory used is all but what programs could still get; the cache is the page
//! cache with buffers.

use model::Unit;
use model::doc::{BesideDoc, BesideRow};
use model::format::{self, Kind, Moment, Scale};

use super::grid::{Align, Cell, Grid};
use super::{Look, cut, hang};

const NONE: &str = "-";
const HOUR: f64 = 3600.0;
const DAY: f64 = 86_400.0;

/// One table of all labels; none where no machine was recorded.
pub fn means(all: &[BesideDoc], look: Look) -> String {
    let means: Vec<(String, &BesideRow)> =
        all.iter().filter_map(|doc| Some((cut(&doc.label, 12), doc.mean.as_ref()?))).collect();
    if means.is_empty() { String::new() } else { table("meanwhile", &means, look) }
}

/// One table of all labels, and one of each.
pub fn tables(all: &[BesideDoc], look: Look) -> String {
    let means = means(all, look);
    if means.is_empty() {
        return means;
    }
    let mut parts = vec![means];
    for doc in all.iter().filter(|doc| doc.rows.len() > 1) {
        let step = doc.step.unwrap_or(HOUR);
        let head =
            if all.len() > 1 { format!("{} (UTC)", cut(&doc.label, 12)) } else { "from (UTC)".to_owned() };
        let rows: Vec<(String, &BesideRow)> =
            doc.rows.iter().map(|row| (moment(row.at, step), row)).collect();
        parts.push(table(&head, &rows, look));
    }
    let all_rows = all.iter().flat_map(|doc| doc.rows.iter().chain(&doc.mean));
    if all_rows.into_iter().any(|row| row.server_errors > 0 && row.p50.is_some()) {
        parts.push(hang("", "p50 and p99 are of all answers, 5xx too", look.columns));
    }
    parts.join("\n")
}

/// As short as the step allows, in UTC: `10:49:05`, `11-22 10:49`, `2026-11-22`.
fn moment(at: f64, step: f64) -> String {
    let Some(moment) = Moment::at(at) else { return NONE.to_owned() };
    match step {
        step if step >= DAY => moment.date(),
        step if step < 60.0 => format!("{}:{:02.0}", moment.time(), at.rem_euclid(60.0).floor()),
        _ => format!("{} {}", moment.day_of_year(), moment.time()),
    }
}

/// A column: what it is called, how it is written, and where it comes from.
type Column = (&'static str, Kind, fn(&BesideRow) -> Option<f64>);

fn columns() -> [Column; 9] {
    [
        ("req/s", Kind::for_unit(Unit::Count), |row| {
            (row.seconds > 0.0).then(|| row.requests as f64 / row.seconds)
        }),
        ("sent", Kind::for_unit(Unit::BytesPerSec), |row| {
            (row.seconds > 0.0).then(|| row.bytes / row.seconds)
        }),
        ("p50", Kind::for_unit(Unit::Second), |row| row.p50),
        ("p99", Kind::for_unit(Unit::Second), |row| row.p99),
        ("load", Kind::for_unit(Unit::Count), |row| row.load),
        ("CPU", Kind::percent(), |row| row.cpu),
        ("disk read", Kind::for_unit(Unit::BytesPerSec), |row| row.disk_read),
        ("used", Kind::for_unit(Unit::Byte), |row| row.memory_used),
        ("cache", Kind::for_unit(Unit::Byte), |row| row.page_cache),
    ]
}

fn table(head: &str, rows: &[(String, &BesideRow)], look: Look) -> String {
    let shown: Vec<(&str, Vec<String>)> = columns()
        .into_iter()
        .filter_map(|(name, kind, of)| {
            let values: Vec<Option<f64>> = rows.iter().map(|(_, row)| of(row)).collect();
            values.iter().any(Option::is_some).then(|| (name, cells(&values, kind)))
        })
        .collect();
    let mut heads = vec![(head, Align::Left)];
    heads.extend(shown.iter().map(|(name, _)| (*name, Align::Right)));
    let mut grid = Grid::new(&heads).gap(1);
    for (place, (name, _)) in rows.iter().enumerate() {
        let mut row: Vec<Cell> = vec![name.as_str().into()];
        row.extend(shown.iter().filter_map(|(_, cells)| cells.get(place)).map(|text| text.as_str().into()));
        grid.row(row);
    }
    grid.render(look.columns, look.paint)
}

/// In one scale, each with its unit.
fn cells(values: &[Option<f64>], kind: Kind) -> Vec<String> {
    let known: Vec<f64> = values.iter().flatten().copied().collect();
    let scale = Scale::common(&known, kind);
    let one = |value: &Option<f64>| match value {
        None => NONE.to_owned(),
        Some(value) if kind == Kind::percent() => format::percent(*value),
        Some(value) if kind == Kind::for_unit(Unit::Count) => format::number(*value),
        Some(value) => scale.with_unit(*value),
    };
    values.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(at: f64, requests: u64, cache: f64) -> BesideRow {
        BesideRow {
            at,
            seconds: 3600.0,
            requests,
            bytes: requests as f64 * 7600.0,
            p50: Some(0.0131),
            p99: Some(0.342),
            samples: 3600,
            load: Some(1.42),
            cpu: Some(0.317),
            iowait: Some(0.02),
            disk_read: Some(14.2e6),
            memory_used: Some(2.1e9),
            page_cache: Some(cache),
            ..BesideRow::default()
        }
    }

    fn doc(label: &str, cache: f64) -> BesideDoc {
        BesideDoc {
            label: label.into(),
            run: "r".into(),
            machine: label.into(),
            host: None,
            drift: None,
            log: (1_272_672_000.0, 1_272_758_399.0),
            telemetry: (1_272_672_000.0, 1_272_758_399.0),
            step: Some(3600.0),
            why: None,
            mean: Some(row(1_272_672_000.0, 620_000, cache)),
            rows: (0..3)
                .map(|hour| row(1_272_672_000.0 + f64::from(hour) * 3600.0, 600_000, cache))
                .collect(),
        }
    }

    #[test]
    fn machines_stand_beside_each_other_and_hour_by_hour() {
        let mut docs = [doc("hdd", 1.2e9), doc("ssd", 6.4e9)];
        docs[1].rows[1].page_cache = None;
        let text = tables(&docs, Look::plain());
        assert!(text.lines().all(|line| super::super::width(line) <= 80), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn what_was_not_recorded_has_no_column() {
        let mut docs = [doc("hdd", 1.2e9)];
        for row in docs[0].rows.iter_mut().chain(&mut docs[0].mean) {
            (row.load, row.p50, row.p99) = (None, None, None);
        }
        let text = tables(&docs, Look::plain());
        assert!(!text.contains("load") && !text.contains("p99") && text.contains("cache"), "{text}");
        docs[0].mean = None;
        assert_eq!(tables(&docs, Look::plain()), "");
    }

    #[test]
    fn short_steps_show_seconds() {
        assert_eq!(moment(1_795_242_065.0, 5.0), "06:21:05");
        assert_eq!(moment(1_795_242_060.0, 60.0), "11-21 06:21");
        assert_eq!(moment(1_795_242_060.0, DAY), "2026-11-21");
    }
}
