//! A summary of access logs on one screen: each label's figures side by side, the days, the verdicts with the findings
//! about them, the paths that weigh most.
//!
//! Speed is bytes sent over time taken; 1 MB/s is 1 B/us. Labels stand in columns while they fit, else in rows.

use model::doc::{LogsDoc, RowDoc, TopDoc, TrafficDoc, VerdictWord};
use model::format::{self, Kind, Scale, count};
use model::{Finding, Unit};

use super::grid::{Align, Cell, Cut, Grid};
use super::{Look, Tone, cut, date_time, hang, notes};

/// Labels that stand side by side.
const MOST_COLUMNS: usize = 4;
const NONE: &str = "-";

/// The whole screen; `next` is the command that shows what was stored.
pub fn screen(doc: &LogsDoc, next: Option<&str>, look: Look) -> String {
    let mut parts = vec![read(doc, look)];
    if doc.labels.len() <= MOST_COLUMNS {
        parts.push(beside(&doc.labels, look));
    } else {
        parts.push(table(&doc.labels, look));
    }
    parts.extend(
        [&doc.days, &doc.groups].into_iter().filter(|all| !all.is_empty()).map(|all| table(all, look)),
    );
    parts.push(super::logs_beside::tables(&doc.beside, look));
    parts.push(verdicts(doc, look));
    parts.push(said(&doc.findings, look));
    parts.extend(doc.top.iter().map(|top| paths(top, doc.labels.len() > 1, look)));
    parts.extend(next.map(|command| hang("stored  ", command, look.columns)));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// How many lines were read, as what, and what was not.
fn read(doc: &LogsDoc, look: Look) -> String {
    let whole = |number: u64| format::fixed(number as f64, 0);
    let skipped: u64 = doc.skipped.iter().map(|kind| kind.lines).sum();
    let of = |number: u64, what| format!("{} {what}{}", whole(number), if number == 1 { "" } else { "s" });
    let mut told = format!("{}, {}", of(doc.lines, "line"), of(doc.parsed, "request"));
    if doc.filtered > 0 {
        told.push_str(&format!(", {} left out by --where", whole(doc.filtered)));
    }
    let mut out = hang("", &told, look.columns);
    let mut formats: Vec<(&str, &str)> =
        doc.formats.iter().map(|one| (one.format.as_str(), one.how.as_str())).collect();
    formats.sort_unstable();
    formats.dedup();
    for (format, how) in formats {
        out.push_str(&hang("format  ", &format!("{format} ({how})"), look.columns));
    }
    if skipped > 0 {
        let share = format::percent(skipped as f64 / doc.lines.max(1) as f64);
        let kinds: Vec<String> =
            doc.skipped.iter().map(|one| kind(one.lines, &one.kind, &one.samples)).collect();
        let text = format!("{share} of the lines were skipped: {}", kinds.join("; "));
        out.push_str(&notes::line(model::Validity::Doubtful, &text, look));
    }
    out
}

fn kind(lines: u64, what: &str, samples: &[String]) -> String {
    let at = samples.first().map_or(String::new(), |first| format!(" (first {first})"));
    format!("{} {what}{at}", format::fixed(lines as f64, 0))
}

/// A figure of a group, and how it is written.
struct Figure {
    head: &'static str,
    kind: Kind,
    of: fn(&TrafficDoc) -> Option<f64>,
}

fn figures() -> Vec<Figure> {
    let one = |head, unit, of| Figure { head, kind: Kind::for_unit(unit), of };
    vec![
        one("bytes sent", Unit::Byte, |group| group.bytes),
        one("speed: totals", Unit::BytesPerSec, |group| group.ratio_of_totals),
        one("speed: mean of requests", Unit::BytesPerSec, |group| group.mean_of_ratios),
        one("speed: median", Unit::BytesPerSec, |group| group.ratio_median),
        one("time: mean", Unit::Second, |group| group.time_mean),
        one("time: median", Unit::Second, |group| group.p50),
        one("time: p90", Unit::Second, |group| group.p90),
        one("time: p99", Unit::Second, |group| group.p99),
        one("time: p99.9", Unit::Second, |group| group.p999),
        one("size: mean", Unit::Byte, |group| group.size_mean),
        one("size: median", Unit::Byte, |group| group.size_median),
    ]
}

/// Figures as rows, labels as columns.
fn beside(groups: &[TrafficDoc], look: Look) -> String {
    let names: Vec<String> = groups.iter().map(|group| cut(&group.label, 16)).collect();
    let mut heads = vec![("", Align::Left)];
    heads.extend(names.iter().map(|name| (name.as_str(), Align::Right)));
    let mut grid = Grid::new(&heads).gap(3);
    let mut row = |head: &str, cells: Vec<String>| {
        let mut all = vec![Cell::from(head)];
        all.extend(cells.into_iter().map(Cell::from));
        grid.row(all);
    };
    let whole = |number: u64| format::fixed(number as f64, 0);
    row("requests", groups.iter().map(|group| whole(group.parsed)).collect());
    for figure in figures() {
        let values: Vec<Option<f64>> = groups.iter().map(|group| (figure.of)(group)).collect();
        if values.iter().any(Option::is_some) {
            row(figure.head, bounded(&values, figure.kind, groups));
        }
    }
    if groups.iter().any(|group| group.zero_time > 0) {
        row("time 0 in the log", groups.iter().map(|group| whole(group.zero_time)).collect());
    }
    if groups.iter().any(|group| group.clients.is_some()) {
        row("clients", groups.iter().map(clients).collect());
    }
    row("from (UTC)", groups.iter().map(|group| moment(group.first)).collect());
    row("to", groups.iter().map(|group| moment(group.last)).collect());
    grid.render(look.columns, look.paint)
}

fn clients(group: &TrafficDoc) -> String {
    let about = |clients: f64| match group.clients_error {
        // A sketch of few is off by less than one.
        Some(error) if error * clients < 0.5 => format!("about {}", format::fixed(clients, 0)),
        Some(error) if error > 0.0 => {
            format!("about {} (±{})", format::number(clients), format::percent(error))
        }
        _ => format::fixed(clients, 0),
    };
    group.clients.map_or(NONE.to_owned(), about)
}

fn moment(seconds: Option<f64>) -> String {
    seconds.map_or(NONE.to_owned(), date_time)
}

/// Values in one scale, each with its unit.
fn shared(values: &[Option<f64>], kind: Kind) -> Vec<String> {
    let known: Vec<f64> = values.iter().flatten().copied().collect();
    let scale = Scale::common(&known, kind);
    values.iter().map(|value| value.map_or(NONE.to_owned(), |value| scale.with_unit(value))).collect()
}

/// The same, with times that are lower bounds marked.
fn bounded(values: &[Option<f64>], kind: Kind, groups: &[TrafficDoc]) -> Vec<String> {
    let is_time = kind == Kind::for_unit(Unit::Second);
    let mark = |((text, value), group): ((String, &Option<f64>), &TrafficDoc)| {
        let over = value.zip(group.time_limit).is_some_and(|(value, limit)| value >= limit);
        if is_time && over { format!(">{text}") } else { text }
    };
    shared(values, kind).into_iter().zip(values).zip(groups).map(mark).collect()
}

/// Groups as rows: the 2010 study's table.
fn table(groups: &[TrafficDoc], look: Look) -> String {
    let columns = [
        (
            "mean speed",
            Kind::for_unit(Unit::BytesPerSec),
            (|group| group.mean_of_ratios) as fn(&TrafficDoc) -> _,
        ),
        ("of totals", Kind::for_unit(Unit::BytesPerSec), |group| group.ratio_of_totals),
        ("mean time", Kind::for_unit(Unit::Second), |group| group.time_mean),
        ("p99", Kind::for_unit(Unit::Second), |group| group.p99),
        ("mean size", Kind::for_unit(Unit::Byte), |group| group.size_mean),
    ];
    let filled: Vec<_> =
        columns.into_iter().filter(|(_, _, of)| groups.iter().any(|group| of(group).is_some())).collect();
    let keys: Vec<&str> =
        groups.first().map(|group| group.key.keys().map(String::as_str).collect()).unwrap_or_default();
    let several = groups.iter().any(|group| group.label != groups[0].label);
    let head = if keys.is_empty() { "label".to_owned() } else { keys.join(", ") };
    let mut heads = vec![(head.as_str(), Align::Left)];
    let labelled = !keys.is_empty() && several;
    heads.extend(labelled.then_some(("label", Align::Left)));
    heads.push(("requests", Align::Right));
    heads.extend(filled.iter().map(|(head, ..)| (*head, Align::Right)));
    let cells: Vec<Vec<String>> = filled
        .iter()
        .map(|(_, kind, of)| bounded(&groups.iter().map(of).collect::<Vec<_>>(), *kind, groups))
        .collect();
    let mut grid = Grid::new(&heads).cutting(Cut::Front);
    for (index, group) in groups.iter().enumerate() {
        let words: Vec<&str> = group.key.values().map(String::as_str).collect();
        let name = if keys.is_empty() { group.label.clone() } else { words.join(" ") };
        let mut row: Vec<Cell> = vec![name.into()];
        row.extend(labelled.then(|| group.label.as_str().into()));
        row.push(format::fixed(group.parsed as f64, 0).into());
        row.extend(cells.iter().filter_map(|column| column.get(index)).map(|text| text.as_str().into()));
        grid.row(row);
    }
    grid.render(look.table(), look.paint)
}

/// Every two labels, like with like.
fn verdicts(doc: &LogsDoc, look: Look) -> String {
    doc.rows.iter().map(|row| verdict(row, look)).collect()
}

fn verdict(row: &RowDoc, look: Look) -> String {
    let tone = match row.verdict {
        VerdictWord::Better => Tone::Good,
        VerdictWord::Worse => Tone::Bad,
        VerdictWord::Tie => Tone::Plain,
        VerdictWord::CannotTell | VerdictWord::Invalid => Tone::Warn,
    };
    let what = if row.metric == model::traffic::SPEED {
        "speed of the same work"
    } else {
        "time of the same request"
    };
    let mut text = format!("{} beside {}: {what}", row.arm, row.base);
    if let (Some(ratio), Some(low), Some(high)) = (row.ratio, row.low, row.high) {
        let (ratio, low, high) = (format::ratio(ratio), format::ratio(low), format::ratio(high));
        text.push_str(&format!(" {ratio} times ({low} to {high})"));
    }
    if !row.why.is_empty() {
        text.push_str(&format!("; {}", row.why));
    }
    notes::marked(row.verdict.word(), tone, &text, look)
}

/// The paths that weigh most.
fn paths(top: &TopDoc, labelled: bool, look: Look) -> String {
    let scale = |values: Vec<Option<f64>>, unit| shared(&values, Kind::for_unit(unit));
    let bytes = scale(top.paths.iter().map(|path| path.bytes).collect(), Unit::Byte);
    let seconds = scale(top.paths.iter().map(|path| path.seconds).collect(), Unit::Second);
    let of = if labelled { format!(" of {}", top.label) } else { String::new() };
    let head = format!("top {} by {}{of}", count(top.paths.len(), "path"), top.by);
    let heads = [
        (head.as_str(), Align::Left),
        ("requests", Align::Right),
        ("bytes", Align::Right),
        ("time", Align::Right),
    ];
    let mut grid = Grid::new(&heads).cutting(Cut::Front);
    for ((path, bytes), seconds) in top.paths.iter().zip(bytes).zip(seconds) {
        let requests = format::fixed(path.requests, 0);
        grid.row(vec![path.path.as_str().into(), requests.into(), bytes.into(), seconds.into()]);
    }
    grid.render(look.table(), look.paint)
}

fn said(findings: &[Finding], look: Look) -> String {
    let line = |finding: &Finding| {
        let about = if finding.subject.is_run() { String::new() } else { format!("{}: ", finding.subject) };
        notes::line(finding.state, &format!("{about}{}", finding.text()), look)
    };
    findings.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use model::doc::{FormatDoc, PathDoc, SkippedDoc};
    use model::params::Params;
    use model::why::Why;
    use model::{Better, Validity};

    use super::*;

    /// The first day of the 2010 study, as far as it was published.
    fn study(label: &str, requests: u64, speed: f64, size: f64, time: f64) -> TrafficDoc {
        TrafficDoc {
            label: label.to_owned(),
            parsed: requests,
            bytes: Some(size * requests as f64),
            seconds: Some(time * requests as f64),
            mean_of_ratios: Some(speed),
            ratio_of_totals: Some(size / time),
            time_mean: Some(time),
            size_mean: Some(size),
            first: Some(1_272_672_000.0),
            last: Some(1_272_758_399.0),
            ..TrafficDoc::default()
        }
    }

    fn doc() -> LogsDoc {
        let labels = vec![
            study("hdd", 14_987_023, 12.233_71e6, 7_702.666_78, 24_674.277_63e-6),
            study("ssd", 14_983_388, 24.275_63e6, 7_683.716_85, 13_908.684_85e-6),
        ];
        let day = |group: &TrafficDoc| TrafficDoc {
            key: BTreeMap::from([("day".to_owned(), "2010-05-01".to_owned())]),
            ..group.clone()
        };
        LogsDoc {
            schema: "boxscore.logs/1".into(),
            run: None,
            formats: vec![FormatDoc {
                file: "ssd.log".into(),
                format: "%h %l %u %t \"%r\" %>s %B %D".into(),
                how: "detected: 8 fields in 1,000 lines".into(),
                time_step: Some(1e-6),
            }],
            lines: 29_970_412,
            parsed: 29_970_411,
            skipped: vec![SkippedDoc {
                kind: "cut in the middle".into(),
                lines: 1,
                samples: vec!["hdd.log:14987024".into()],
            }],
            filtered: 0,
            days: labels.iter().map(day).collect(),
            groups: Vec::new(),
            rows: vec![row()],
            top: vec![TopDoc {
                label: "ssd".into(),
                by: "bytes".into(),
                paths: vec![PathDoc {
                    path: "/photos/large/a-name-that-is-much-longer-than-a-terminal-is-wide/and-goes-on.jpg"
                        .into(),
                    requests: 120_331.0,
                    bytes: Some(91e9),
                    seconds: Some(8_120.0),
                }],
                error: 0.0001,
            }],
            cut: None,
            beside: Vec::new(),
            findings: vec![
                Finding::foreign("means", Validity::Ok, "the two averages differ")
                    .about(model::Subject::label("ssd")),
            ],
            labels,
        }
    }

    fn row() -> RowDoc {
        RowDoc {
            card: model::card::find(instruments::cards(), "logs"),
            instrument: "logs".into(),
            metric: "speed".into(),
            unit: Unit::BytesPerSec,
            better: Better::Higher,
            params: Params::default(),
            headline: true,
            arm: "ssd".into(),
            base: "hdd".into(),
            arm_value: Some(552e3),
            base_value: Some(312e3),
            ratio: Some(1.77),
            low: Some(1.71),
            high: Some(1.84),
            p: Some(1e-9),
            p_holm: Some(2e-9),
            floor: None,
            noise: None,
            noise_runs: Vec::new(),
            margin: 0.05,
            verdict: VerdictWord::Better,
            why: Why::default(),
            point: false,
            per_price: None,
            per_watt: None,
        }
    }

    #[test]
    fn the_studys_table_fits_in_80_columns() {
        let text = screen(&doc(), None, Look::wide(80));
        assert!(text.lines().all(|line| super::super::width(line) <= 80), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn many_labels_stand_in_rows() {
        let mut doc = doc();
        doc.labels = (0..9).map(|i| study(&format!("host{i}"), 10 + i, 1e6, 100.0, 1e-3)).collect();
        let text = screen(&doc, None, Look::wide(80));
        assert!(text.contains("host8") && text.lines().all(|line| super::super::width(line) <= 80), "{text}");
    }

    #[test]
    fn a_log_without_times_has_no_rows_of_them() {
        let mut doc = doc();
        for group in &mut doc.labels {
            *group = TrafficDoc {
                label: group.label.clone(),
                parsed: group.parsed,
                bytes: group.bytes,
                size_mean: group.size_mean,
                ..TrafficDoc::default()
            };
        }
        (doc.days, doc.rows) = (Vec::new(), Vec::new());
        let text = screen(&doc, None, Look::plain());
        assert!(!text.contains("speed:") && !text.contains("time:") && text.contains("size: mean"), "{text}");
    }
}
