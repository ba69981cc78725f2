//! The screen of a load while it runs: how far it is, rate, failures, response times so far.
//!
//! Redrawn about once a second. The rate is that of the last look; percentiles are of all answers since the start.

use model::format::{self, Kind};
use model::{Histogram, Unit, ladder};

use super::{Look, Spread, Tone, bars, cut};
use crate::text::width;

const STEPS: usize = 7;
const SPARKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The state of a load that runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Live {
    pub title: String,
    /// Seconds since the start.
    pub elapsed: f64,
    /// Planned length in seconds.
    pub duration: Option<f64>,
    /// The longest wait for late answers after it, in seconds.
    pub drain: Option<f64>,
    /// Planned number of requests; shown in place of seconds.
    pub requests: Option<u64>,
    pub good: u64,
    pub failed: u64,
    pub body_bytes: u64,
    /// Good answers a second between looks, the newest last.
    pub rates: Vec<f64>,
    pub response: Option<Histogram>,
    /// The step before the load, or after it.
    pub doing: Option<String>,
    /// The user wants its end.
    pub ending: bool,
}

/// At most as wide as asked; without a line end after the last line.
pub fn live(load: &Live, look: Look) -> String {
    let columns = look.columns.saturating_sub(1);
    let mut lines = vec![progress(load, columns, look.paint)];
    if load.elapsed > 0.0 {
        lines.push(rates(load, columns, look.paint));
    }
    let sparks = sparks(&load.rates, columns.saturating_sub(12).min(60));
    if !sparks.is_empty() {
        lines.push(format!("rate        {sparks}"));
    }
    if let Some(response) = load.response.as_ref().filter(|response| response.count() > 0) {
        lines.push(cut(&percentiles(response), columns));
        let borders = ladder::borders(&[response], STEPS);
        let buckets = ladder::count(response, &borders);
        let text = bars(&[("response time", &buckets)], Look { columns: columns.min(72), ..look });
        lines.extend(text.lines().map(str::to_owned));
    }
    if let Some(doing) = &load.doing {
        lines.push(cut(doing, columns));
    }
    if load.ending {
        lines.push(cut("no more requests are sent; Ctrl-C again ends without a result", columns));
    }
    lines.join("\n")
}

/// The title, and how far it is, at the end of the line.
fn progress(load: &Live, columns: usize, paint: bool) -> String {
    let all = load.good + load.failed;
    let far = match (load.duration, load.requests) {
        _ if load.ending => "ending".to_owned(),
        _ if load.elapsed <= 0.0 => "connecting".to_owned(),
        (_, Some(requests)) => {
            format!("{} of {}", format::fixed(all as f64, 0), format::fixed(requests as f64, 0))
        }
        (Some(duration), None) if load.elapsed > duration => match load.drain {
            Some(drain) => format!("waiting for late answers, {}", late(load.elapsed - duration, drain)),
            None => "waiting for the last answers".to_owned(),
        },
        (Some(duration), None) => {
            let late = load.drain.map(|drain| format!(" + {} for late answers", format::duration(drain)));
            let whole = format::duration(duration.round());
            format!("{:.0} of {whole}{}", load.elapsed, late.unwrap_or_default())
        }
        (None, None) => format::duration(load.elapsed.round()),
    };
    let title = cut(&load.title, columns.saturating_sub(width(&far) + 2));
    let gap = columns.saturating_sub(width(&title) + width(&far)).max(2);
    format!("{}{}{far}", Tone::Bold.paint(&title, paint), " ".repeat(gap))
}

/// `3 of at most 10 s`.
fn late(waited: f64, most: f64) -> String {
    format!("{waited:.0} of at most {}", format::duration(most))
}

fn rates(load: &Live, columns: usize, paint: bool) -> String {
    let mut parts = Vec::new();
    if let Some(now) = load.rates.last() {
        parts.push(format!("{} /s now", format::number(*now)));
    }
    parts.push(format!("{} /s so far", format::number(load.good as f64 / load.elapsed)));
    let bytes = load.body_bytes as f64 / load.elapsed;
    parts.push(format::quantity(bytes, Kind::for_unit(Unit::BytesPerSec)));
    let line = format!("throughput  {}", parts.join(" · "));
    let failed = format!("{} failed", format::fixed(load.failed as f64, 0));
    let line = cut(&line, columns.saturating_sub(width(&failed) + 3));
    let tone = if load.failed > 0 { Tone::Bad } else { Tone::Plain };
    format!("{line} · {}", tone.paint(&failed, paint))
}

/// The newest rates as small bars; the highest of them is the highest bar.
fn sparks(rates: &[f64], most: usize) -> String {
    let shown = &rates[rates.len().saturating_sub(most)..];
    let highest = shown.iter().copied().fold(0.0, f64::max);
    if shown.len() < 2 || highest <= 0.0 {
        return String::new();
    }
    let level = |rate: &f64| {
        let at = (rate / highest * (SPARKS.len() - 1) as f64).round();
        // Between 0 and 7, whatever the rates are.
        SPARKS
            .iter()
            .enumerate()
            .rev()
            .find(|(level, _)| at >= *level as f64)
            .map_or(SPARKS[0], |(_, spark)| *spark)
    };
    shown.iter().map(level).collect()
}

fn percentiles(response: &Histogram) -> String {
    let points = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];
    let mut values: Vec<(&str, f64)> =
        points.iter().filter_map(|(name, q)| Some((*name, response.percentile_s(*q)?))).collect();
    values.extend(response.quantile_s(1.0).map(|max| ("max", max)));
    let all: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
    let spread = Spread::of(&all);
    let parts: Vec<String> =
        values.iter().map(|(name, value)| format!("{name} {}", spread.number(*value))).collect();
    format!("response    {} {}", parts.join("  "), spread.unit()).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_for_late_answers_is_told_first() {
        let of = |elapsed: f64, drain: Option<f64>| {
            let load = Live { elapsed, duration: Some(5.0), drain, ..Live::default() };
            progress(&load, 60, false).trim().to_owned()
        };
        assert_eq!(of(2.0, Some(10.0)), "2 of 5 s + 10 s for late answers");
        assert_eq!(of(8.0, Some(10.0)), "waiting for late answers, 3 of at most 10 s");
        assert_eq!(
            (of(2.0, None), of(8.0, None)),
            ("2 of 5 s".to_owned(), "waiting for the last answers".to_owned())
        );
    }

    #[test]
    fn sparks_show_the_newest() {
        assert_eq!(sparks(&[9.0, 0.0, 4.0, 8.0], 3), "▁▅█");
        assert_eq!(sparks(&[5.0], 3), "");
        assert_eq!(sparks(&[0.0, 0.0], 3), "");
        assert_eq!(sparks(&[f64::NAN, 1.0], 3).chars().count(), 2);
    }
}
