//! The screen of logs that are followed: each label's requests, rate and times, of the last interval and in all; and
//! the same as one plain line.
//!
//! Times are to 0.05 %, rates of the last interval. Without a line end after the last line.

use model::Unit;
use model::doc::{LogsLiveDoc, LogsLiveLabel};
use model::format::{self, Kind, count, quantity};

use super::grid::{Align, Cell, Grid};
use super::{Look, Tone, cut};

const NONE: &str = "-";

/// The state while logs are followed.
#[derive(Clone, Copy, Debug)]
pub struct Live<'a> {
    pub doc: &'a LogsLiveDoc,
    /// Seconds since the start.
    pub elapsed: f64,
    pub files: usize,
    /// Files that were rotated, cut or lost, newest last.
    pub events: &'a [String],
    pub ending: bool,
}

/// At most as wide as asked.
pub fn screen(live: &Live<'_>, look: Look) -> String {
    let columns = look.columns.saturating_sub(1);
    let far = match (live.ending, live.doc.backlog) {
        (true, _) => "ending".to_owned(),
        (false, true) => "reading what is there".to_owned(),
        (false, false) => {
            let elapsed = match live.elapsed {
                short if short < 60.0 => format!("{short:.0} s"),
                long => format::duration(long.round()),
            };
            format!("{elapsed}, Ctrl-C ends it with the result")
        }
    };
    let head = format!("following {}: {far}", count(live.files, "log"));
    let mut lines = vec![Tone::Bold.paint(&cut(&head, columns), look.paint)];
    let table = table(live.doc, columns, look.paint);
    lines.extend(table.lines().map(str::to_owned));
    lines.extend(live.events.iter().map(|event| Tone::Warn.paint(&cut(event, columns), look.paint)));
    lines.join("\n")
}

fn table(doc: &LogsLiveDoc, columns: usize, paint: bool) -> String {
    let mut heads = vec![("", Align::Left)];
    let names = ["requests", "now /s", "sent", "p50 now", "p99 now", "p50", "p99", "4xx", "5xx", "skipped"];
    let skipped = doc.labels.iter().any(|label| label.all.skipped > 0);
    let shown = names.len() - usize::from(!skipped);
    heads.extend(names.iter().take(shown).map(|name| (*name, Align::Right)));
    let mut grid = Grid::new(&heads).gap(1);
    for label in &doc.labels {
        let mut row: Vec<Cell> = vec![cut(&label.label, 12).into()];
        row.extend(cells(label).into_iter().take(shown).map(Cell::from));
        grid.row(row);
    }
    grid.render(columns, paint)
}

fn cells(label: &LogsLiveLabel) -> [String; 10] {
    let whole = |number: u64| format::fixed(number as f64, 0);
    let time =
        |time: Option<f64>| time.map_or(NONE.to_owned(), |time| quantity(time, Kind::for_unit(Unit::Second)));
    let (now, all) = (&label.now, &label.all);
    // What was there before is not of now.
    let recent = |figure: Option<f64>| now.rate.and(figure);
    [
        whole(all.requests),
        now.rate.map_or(NONE.to_owned(), format::number),
        quantity(all.bytes, Kind::for_unit(Unit::Byte)),
        time(recent(now.p50)),
        time(recent(now.p99)),
        time(all.p50),
        time(all.p99),
        whole(all.client_errors),
        whole(all.server_errors),
        whole(all.skipped),
    ]
}

/// One interval in one line, for logs of logs.
pub fn line(doc: &LogsLiveDoc) -> String {
    let label = |label: &LogsLiveLabel| {
        let (now, all) = (&label.now, &label.all);
        let mut parts = vec![format!("{} requests", format::fixed(all.requests as f64, 0))];
        if let Some(rate) = now.rate {
            let sent = quantity(now.bytes / doc.seconds, Kind::for_unit(Unit::BytesPerSec));
            parts.push(format!("{} /s", format::number(rate)));
            parts.push(sent);
        }
        for (name, time) in [("p50", now.p50), ("p99", now.p99)] {
            parts.extend(time.map(|time| format!("{name} {}", quantity(time, Kind::for_unit(Unit::Second)))));
        }
        let errors = [(all.client_errors, "4xx"), (all.server_errors, "5xx"), (all.skipped, "lines skipped")];
        let told = errors.iter().filter(|(count, _)| *count > 0);
        parts.extend(told.map(|(count, what)| format!("{} {what}", format::fixed(*count as f64, 0))));
        format!("{}: {}", label.label, parts.join(", "))
    };
    let labels: Vec<String> = doc.labels.iter().map(label).collect();
    labels.join("; ")
}

#[cfg(test)]
mod tests {
    use model::doc::LogsLiveFigures;

    use super::*;

    fn doc() -> LogsLiveDoc {
        let label = |name: &str, skipped| LogsLiveLabel {
            label: name.to_owned(),
            now: LogsLiveFigures {
                requests: 1_234,
                rate: Some(1_230.4),
                bytes: 12e6,
                p50: Some(0.001_2),
                p99: Some(0.034),
                ..LogsLiveFigures::default()
            },
            all: LogsLiveFigures {
                requests: 14_987_023,
                bytes: 115e9,
                p50: Some(0.001_1),
                p99: Some(0.045),
                client_errors: 312,
                server_errors: 4,
                skipped,
                ..LogsLiveFigures::default()
            },
        };
        LogsLiveDoc {
            schema: "boxscore.logs-live/1".into(),
            at: 1_700_000_000.0,
            seconds: 1.003,
            backlog: false,
            labels: vec![label("hdd", 0), label("ssd-with-a-long-name", 0)],
            events: Vec::new(),
        }
    }

    #[test]
    fn the_screen_fits_in_80_columns() {
        let doc = doc();
        let events = ["a.log is a new file: the old one is read to its end".to_owned()];
        let live = Live { doc: &doc, elapsed: 83.4, files: 2, events: &events, ending: false };
        let text = screen(&live, Look::plain());
        assert!(text.lines().all(|line| super::super::width(line) <= 80), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn a_line_says_what_there_is() {
        let mut doc = doc();
        insta::assert_snapshot!(line(&doc));
        doc.labels.truncate(1);
        (doc.labels[0].now, doc.labels[0].all) = Default::default();
        assert_eq!(line(&doc), "hdd: 0 requests");
    }
}
