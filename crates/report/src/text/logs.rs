//! A summary of access logs on one screen: the answer in a sentence, each label's figures side by side, what failed,
//! the days, the findings, the paths that weigh most; where it is longer than a screen, the answer again.
//!
//! Speed is bytes sent over time taken; 1 MB/s is 1 B/us. Labels stand in columns while they fit, else in rows.

use std::collections::BTreeSet;

use model::doc::{LeftOutDoc, LogsDoc, RowDoc, TopDoc, TrafficDoc, VerdictWord, largest_groups};
use model::finding::{LogsSince, Rule};
use model::format::{self, Kind, count};
use model::{Finding, Unit, Validity};

use super::grid::{Align, Cut, Grid};
use super::logs_table::{are_good_known, table};
pub use super::logs_values::View;
use super::logs_values::shared;
use super::{Look, hang, logs_answers, logs_figures, notes};

/// Lines of a screen.
const SCREEN: usize = 24;
/// Labels that stand side by side.
const MOST_COLUMNS: usize = 4;
/// The whole screen; `next` is the command that shows what was stored.
pub fn screen(doc: &LogsDoc, next: Option<&str>, view: View, look: Look) -> String {
    let answer = answer(doc, look);
    let mut parts = vec![answer.clone() + &read(doc, view, look)];
    match doc.labels.as_slice() {
        [only] if only.answers.is_some() => {
            parts.push(logs_answers::lines(only, &doc.top, view, look));
            let over_time = only.answers.as_deref().map_or_else(String::new, logs_answers::over_time);
            parts.push(logs_answers::failed(only, view.most, look) + &over_time);
        }
        several if several.len() <= MOST_COLUMNS => parts.push(logs_figures::beside(several, view, look)),
        several => {
            parts.push(table(several, &[], &[], look) + &of_all_answers(doc, "other speeds and times", look))
        }
    }
    parts.push(super::logs_parts::table(&doc.parts, view.all, look));
    if doc.labels.len() > 1 {
        parts.push(each(doc, view, look));
    }
    parts.push(probe(doc, look));
    let has_days = view.all || view.days && doc.groups.is_empty();
    let days = if has_days { table(&doc.days, &[], &[], look) } else { String::new() };
    let groups = groups(doc, view, look);
    let note = if days.is_empty() && groups.is_empty() {
        String::new()
    } else {
        let what = if are_good_known(&doc.groups) { "percentiles" } else { "speeds and times" };
        of_all_answers(doc, what, look)
    };
    parts.extend([days, groups + &note]);
    parts.push(super::logs_beside::tables(&doc.beside, look));
    parts.push(whys(doc, look));
    parts.push(said(doc, view, look));
    parts.push(logs_answers::log_format(&doc.log_format, look));
    if view.all {
        parts.extend(doc.top.iter().map(|top| paths(top, doc.labels.len() > 1, view.most, look)));
    }
    parts.retain(|part| !part.is_empty());
    let lines: usize = parts.iter().map(|part| part.lines().count() + 1).sum();
    if lines > SCREEN {
        parts.push(answer);
    }
    parts.push(more(doc, next, view, look));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// The answer, a paragraph for each sentence.
fn answer(doc: &LogsDoc, look: Look) -> String {
    doc.summary.iter().map(|sentence| hang("", &logs_answers::shown_name(sentence), look.columns)).collect()
}

/// Each of several labels in a sentence with its short lists, where they are few; with everything, with all of it.
fn each(doc: &LogsDoc, view: View, look: Look) -> String {
    let mut out = String::new();
    let are_few = doc.labels.len() <= MOST_COLUMNS;
    for (label, answers) in doc.labels.iter().filter_map(|label| Some((label, label.answers.as_deref()?))) {
        // Sentences with lists stand apart from each other.
        out.push_str(if are_few && !view.all && !out.is_empty() { "\n" } else { "" });
        out.push_str(&hang("", &logs_answers::shown_name(&answers.sentence), look.columns));
        if view.all {
            for part in [
                logs_answers::lines(label, &doc.top, view, look),
                logs_answers::failed(label, view.most, look),
                logs_answers::over_time(answers),
            ] {
                out.push_str(&part);
            }
        } else if are_few {
            out.push_str(&logs_answers::brief(label, &doc.top, look));
        }
    }
    out
}

/// The client behind most of what was refused.
fn probe(doc: &LogsDoc, look: Look) -> String {
    let is_probe =
        |finding: &&Finding| matches!(&finding.rule, Rule::LogsFailed(failed) if failed.is_probe());
    let all = doc.findings.iter().filter(is_probe);
    all.map(|finding| hang("", &logs_answers::shown_name(&finding.text()), look.columns)).collect()
}

/// The largest groups, as many as are asked for; where there are more, how many there are and what shows them.
fn groups(doc: &LogsDoc, view: View, look: Look) -> String {
    let keys = |groups: &[TrafficDoc]| groups.iter().map(|one| &one.key).collect::<BTreeSet<_>>().len();
    let shown = largest_groups(&doc.groups, view.groups);
    let mut out = table(&shown, &doc.by, &doc.group_rows, look);
    out.push_str(&open_groups(doc, &shown, look));
    let (shown, kept) = (keys(&shown), keys(&doc.groups));
    let count = doc.group_count.map_or(kept, |count| usize::try_from(count).unwrap_or(usize::MAX));
    if shown < count {
        let number = |count: usize| format::fixed(count as f64, 0);
        let all = if count > kept {
            format!("{} of them, as many as are kept", number(kept))
        } else {
            "all".to_owned()
        };
        let more = if shown < kept { format!(": --all shows {all}, --top N so many") } else { String::new() };
        let text = format!("the {} largest of {} groups{more}", number(shown), number(count));
        out.push_str(&hang("", &text, look.columns));
    }
    out
}

/// Why groups have no verdict, each reason once; or that there are too many groups to be compared.
fn open_groups(doc: &LogsDoc, shown: &[TrafficDoc], look: Look) -> String {
    if doc.group_rows.is_empty() {
        let is_told = doc.labels.len() > 1 && doc.cut.is_none() && !shown.is_empty() && !doc.rows.is_empty();
        let text = "there are too many groups for each to be compared with the first label (250 at most)";
        return if is_told { hang("- ", text, look.columns) } else { String::new() };
    }
    let is_shown = |row: &&RowDoc| shown.iter().any(|group| row.params.iter().eq(&group.key));
    let mut reasons: Vec<(String, usize)> = Vec::new();
    let open = |row: &&RowDoc| row.verdict == VerdictWord::CannotTell && !row.why.is_empty();
    for row in doc.group_rows.iter().filter(is_shown).filter(open) {
        let why = row.why.to_string();
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, count)) => *count += 1,
            None => reasons.push((why, 1)),
        }
    }
    let line = |(why, groups): &(String, usize)| {
        hang("- ", &format!("cannot tell of {}: {why}", count(*groups, "group")), look.columns)
    };
    reasons.iter().map(line).collect()
}

/// Below tables of speeds and times: what failures of the server (5xx) are in; nothing where there are none.
fn of_all_answers(doc: &LogsDoc, what: &str, look: Look) -> String {
    let is_timed = doc.labels.iter().any(|label| label.seconds.is_some());
    if !is_timed || !doc.labels.iter().any(logs_figures::has_failures) {
        return String::new();
    }
    let text = format!("{what} are of all answers, 5xx too; --where 'status<500' leaves them out");
    hang("", &text, look.columns)
}

/// Where more is, and the command that shows what was stored.
fn more(doc: &LogsDoc, next: Option<&str>, view: View, look: Look) -> String {
    let mut out = String::new();
    if let Some(option) = since_then(doc) {
        let what =
            if doc.labels.len() > 1 { ", for what was served since then" } else { ", for before and after" };
        out.push_str(&hang("try     ", &format!("{option}{what}"), look.columns));
    }
    if !view.all && !doc.labels.is_empty() {
        let what = "--all, --by path,status, --where client=IP, --top N; --json, report";
        out.push_str(&hang("more    ", what, look.columns));
    }
    out.push_str(&next.map_or_else(String::new, |command| hang("stored  ", command, look.columns)));
    out
}

/// How many lines were read, as what, and what was not.
fn read(doc: &LogsDoc, view: View, look: Look) -> String {
    let whole = |number: u64| format::fixed(number as f64, 0);
    let skipped: u64 = doc.skipped.iter().map(|kind| kind.lines).sum();
    let of = |number: u64, what| format!("{} {what}{}", whole(number), if number == 1 { "" } else { "s" });
    let mut told = format!("{}, {}", of(doc.lines, "line"), of(doc.parsed, "request"));
    if doc.filtered > 0 {
        let each = |one: &LeftOutDoc| format!("{} ({})", one.condition, whole(one.requests));
        let conditions = match doc.left_out.as_slice() {
            [] | [_] => doc.conditions.join(" and "),
            several => several.iter().map(each).collect::<Vec<_>>().join(" and "),
        };
        told.push_str(&format!(", {} left out by --where {conditions}", whole(doc.filtered)));
    }
    let mut formats: Vec<(&str, &str)> = doc
        .formats
        .iter()
        .map(|one| (one.format.as_str(), if view.all { one.how.as_str() } else { how(&one.how) }))
        .collect();
    formats.sort_unstable();
    formats.dedup();
    let mut out = match formats.as_slice() {
        [(format, how)] if !view.all => hang("", &format!("{told}; format {format} ({how})"), look.columns),
        several => {
            let format =
                |(format, how): &(&str, &str)| hang("format  ", &format!("{format} ({how})"), look.columns);
            hang("", &told, look.columns) + &several.iter().map(format).collect::<String>()
        }
    };
    if skipped > 0 {
        let share = format::percent(skipped as f64 / doc.lines.max(1) as f64);
        let kinds: Vec<String> =
            doc.skipped.iter().map(|one| kind(one.lines, &one.kind, &one.samples)).collect();
        let text = format!("{share} of the lines were skipped: {}", kinds.join("; "));
        out.push_str(&notes::line(Validity::Doubtful, &text, look));
    }
    out
}

/// `detected`, without what it was told by.
fn how(how: &str) -> &str {
    how.split(':').next().unwrap_or(how)
}

fn kind(lines: u64, what: &str, samples: &[String]) -> String {
    let at = samples.first().map_or(String::new(), |first| format!(" (first {first})"));
    format!("{} {what}{at}", format::fixed(lines as f64, 0))
}

/// Why the whole time tells nothing of two labels of which one changed meanwhile, and what does.
fn changed(doc: &LogsDoc, row: &RowDoc) -> Option<String> {
    let since = since(doc).find(|since| [&row.arm, &row.base].contains(&&since.label))?;
    let given = since.given().filter(|_| row.why.one_episode())?;
    let at = format!("--where 'at>={given}' compares them since then, --where 'at<{given}' before");
    Some(format!("one figure of the whole time would be of two states of {}; {at}", since.label))
}

/// The option that compares what was served since the first change that is told: of several labels with each other, of
/// one with what it served before.
pub fn since_then(doc: &LogsDoc) -> Option<String> {
    let given = since(doc).next()?.given()?;
    Some(if doc.labels.len() > 1 { format!("--where 'at>={given}'") } else { format!("--cut {given}") })
}

fn since(doc: &LogsDoc) -> impl Iterator<Item = &LogsSince> {
    doc.findings.iter().filter_map(|finding| match &finding.rule {
        Rule::LogsSince(since) => Some(since),
        _ => None,
    })
}

/// Why verdicts were not reached, each reason once.
fn whys(doc: &LogsDoc, look: Look) -> String {
    let mut out: Vec<String> = Vec::new();
    // What stands behind a verdict that was reached is among the findings.
    let open = |row: &&RowDoc| {
        (row.verdict == VerdictWord::CannotTell || row.why.failed_at_once()) && !row.why.is_empty()
    };
    for row in doc.rows.iter().filter(open) {
        let same = doc
            .rows
            .iter()
            .filter(|other| (&other.arm, &other.base, &other.why) == (&row.arm, &row.base, &row.why));
        let info = row.card.and_then(|card| card.metric(&row.metric)).map(|info| info.label);
        let name = info.filter(|label| !label.is_empty()).unwrap_or(&row.metric);
        let of = if same.count() > 1 { String::new() } else { format!(", {name}") };
        let why = changed(doc, row).unwrap_or_else(|| row.why.to_string());
        let text = format!("{} beside {}{of}: {why}", row.arm, row.base);
        let line = hang("- ", &text, look.columns);
        if !out.contains(&line) {
            out.push(line);
        }
    }
    out.concat()
}

/// The paths that weigh most.
fn paths(top: &TopDoc, labelled: bool, most: usize, look: Look) -> String {
    let shown = &top.paths[..top.paths.len().min(most)];
    let scale = |values: Vec<Option<f64>>, unit| shared(&values, Kind::for_unit(unit));
    let bytes = scale(shown.iter().map(|path| path.bytes).collect(), Unit::Byte);
    let seconds = scale(shown.iter().map(|path| path.seconds).collect(), Unit::Second);
    let of = if labelled { format!(" of {}", top.label) } else { String::new() };
    let head = format!("top {} by {}{of}", count(shown.len(), &top.of), top.by);
    let heads = [
        (head.as_str(), Align::Left),
        ("requests", Align::Right),
        ("bytes", Align::Right),
        ("time", Align::Right),
    ];
    let mut grid = Grid::new(&heads).cutting(Cut::Front);
    for ((path, bytes), seconds) in shown.iter().zip(bytes).zip(seconds) {
        let requests = format::fixed(path.requests, 0);
        grid.row(vec![
            logs_answers::shown_name(&path.path).into(),
            requests.into(),
            bytes.into(),
            seconds.into(),
        ]);
    }
    grid.render(look.table(), look.paint)
}

fn said(doc: &LogsDoc, view: View, look: Look) -> String {
    let line = |finding: &Finding| {
        let is_named = finding.subject.is_run() || finding.rule.names_subject();
        let about = if is_named { String::new() } else { format!("{}: ", finding.subject) };
        notes::line(finding.state, &format!("{about}{}", finding.text()), look)
    };
    // That all is well is no news, unless two figures stand side by side that it tells apart.
    // Two averages of one label stand in two rows with their names.
    let is_mean =
        |finding: &Finding| matches!(&finding.rule, Rule::LogsCompared(compared) if compared.is_of_means());
    let is_news = |finding: &&Finding| {
        view.all || finding.state != Validity::Ok || doc.labels.len() > 1 && !is_mean(finding)
    };
    // Failures, probes, where the difference is and since when have their own place.
    let is_placed = |finding: &&Finding| match &finding.rule {
        Rule::LogsFailed(_) | Rule::LogsParts(_) | Rule::LogsSince(_) => false,
        Rule::LogsCompared(compared) => !compared.is_of_slowest(),
        _ => true,
    };
    doc.findings.iter().filter(is_placed).filter(is_news).map(line).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeMap;

    use model::Better;
    use model::doc::{FormatDoc, PathDoc, SkippedDoc};
    use model::params::Params;
    use model::why::Why;

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
            summary: vec!["ssd serves the same requests 71 to 84 % faster than hdd.".into()],
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
            conditions: Vec::new(),
            left_out: Vec::new(),
            days: labels.iter().map(day).collect(),
            groups: Vec::new(),
            by: Vec::new(),
            group_count: None,
            group_rows: Vec::new(),
            parts: Vec::new(),
            rows: vec![row()],
            top: vec![TopDoc {
                label: "ssd".into(),
                of: "path".into(),
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
            log_format: Vec::new(),
            findings: vec![
                Finding::foreign("means", Validity::Ok, "the two averages differ")
                    .about(model::Subject::label("ssd")),
            ],
            labels,
        }
    }

    pub fn row() -> RowDoc {
        RowDoc {
            card: model::card::find(instruments::cards(), "logs"),
            instrument: "logs".into(),
            metric: "speed".into(),
            unit: Unit::BytesPerSec,
            better: Better::Higher,
            params: Params::default(),
            headline: true,
            index: None,
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
            worth: None,
            lower_bounds: Vec::new(),
        }
    }

    #[test]
    fn the_studys_table_fits_in_80_columns() {
        let text = screen(&doc(), None, View::SHORT, Look::wide(80));
        assert!(text.lines().all(|line| super::super::width(line) <= 80), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn of_many_groups_the_largest_are_shown_and_all_are_counted() {
        let mut doc = doc();
        let group = |hour: u64| TrafficDoc {
            key: BTreeMap::from([("hour".to_owned(), format!("{hour:02}"))]),
            ..study("ssd", hour, 1e6, 100.0, 1e-3)
        };
        (doc.groups, doc.group_count) = ((1..=40).map(group).collect(), Some(51));
        let shown = |groups| groups_of(&doc, View { groups, ..View::SHORT });
        let text = shown(20);
        assert!(!text.contains("\n20 ") && text.contains("\n21 ") && text.contains("\n40 "), "{text}");
        let says =
            "the 20 largest of 51 groups: --all shows 40 of them, as many as are kept, --top N so many\n";
        assert!(text.ends_with(says), "{text}");
        assert!(shown(usize::MAX).ends_with("the 40 largest of 51 groups\n"));
        doc.group_count = Some(40);
        let shown = |groups| groups_of(&doc, View { groups, ..View::SHORT });
        assert!(shown(20).ends_with("the 20 largest of 40 groups: --all shows all, --top N so many\n"));
        assert!(!shown(usize::MAX).contains("largest"));
    }

    fn groups_of(doc: &LogsDoc, view: View) -> String {
        groups(doc, view, Look::wide(120))
    }

    #[test]
    fn many_labels_stand_in_rows() {
        let mut doc = doc();
        doc.labels = (0..9).map(|i| study(&format!("host{i}"), 10 + i, 1e6, 100.0, 1e-3)).collect();
        let text = screen(&doc, None, View::SHORT, Look::wide(80));
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
        let text = screen(&doc, None, View::SHORT, Look::plain());
        assert!(!text.contains("speed:") && !text.contains("time:") && text.contains("size: mean"), "{text}");
    }
}
