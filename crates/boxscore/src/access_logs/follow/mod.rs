//! `--follow`: logs that grow, until Ctrl-C, `--for` or the end of all streams; then what was read is a result like any
//! other.
//!
//! Lines that are there already are read first. Rates count lines by when they appear, not by the times in them: a
//! server that writes its log in batches shows as bursts.

mod show;
mod source;

use std::collections::BTreeMap;
use std::time::Duration;

use logs::aggregate::bounded::Merge;
use logs::aggregate::{Aggregate, Settings};
use logs::read::follow::Target;
use logs::read::tally::{Tally, Wants};
use model::doc::{FormatDoc, LogsLiveDoc, LogsLiveFigures, LogsLiveLabel};

use self::show::Show;
use self::source::Source;
use super::Formats;
use super::inputs::{Seen, expanded, labelled};
use crate::error::CliError;
use crate::study::stop_signal::StopSignal;
use crate::{out, plan};

/// Between two looks at the logs.
const LOOK: Duration = Duration::from_millis(200);
const TERMINAL_SECONDS: f64 = 1.0;
const PLAIN_SECONDS: f64 = 10.0;
const LAST: &str = "ended at once: what was read is lost";
const NS: f64 = 1e9;

/// Time after which following ends, and time between two lines of figures, both in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ask {
    pub seconds: Option<f64>,
    pub every: Option<f64>,
    pub json: bool,
}

impl Ask {
    pub fn parse(span: Option<&str>, every: Option<&str>, json: bool) -> Result<Ask, CliError> {
        let seconds = |flag: &str, text: Option<&str>| {
            let Some(text) = text else { return Ok(None) };
            let found = plan::parse_span(text).filter(|seconds| (0.1..=1e9).contains(seconds));
            found.map(Some).ok_or_else(|| {
                CliError::usage(format!("{flag} {text}: not a duration")).hint("write it as 90s, 10m or 24h")
            })
        };
        Ok(Ask { seconds: seconds("--for", span)?, every: seconds("--every", every)?, json })
    }
}

/// Everything that was read while following.
pub struct Followed {
    pub tallies: BTreeMap<String, Tally>,
    /// The labels in the order in which they were given.
    pub order: Vec<String>,
    pub formats: Vec<FormatDoc>,
    /// Nanoseconds of the unit in which a label's times are written.
    pub units: BTreeMap<String, u64>,
    pub faults: Vec<String>,
}

/// Follows every log that the arguments name.
pub fn follow(
    sources: Vec<Source>,
    formats: &Formats,
    settings: &Settings,
    wants: Wants,
    ask: Ask,
) -> Result<Followed, CliError> {
    let stop = StopSignal::listen_with_message(LAST)?;
    let order: Vec<String> = sources.iter().map(|source| source.label.clone()).collect();
    let tallies = order.iter().map(|label| (label.clone(), Tally::new(wants))).collect();
    let show = Show::open(ask.json, sources.len());
    let fallback = if show.is_drawn() { TERMINAL_SECONDS } else { PLAIN_SECONDS };
    let (formats_told, units, faults) = Default::default();
    let followed = Followed { tallies, order, formats: formats_told, units, faults };
    let mut run = Run { sources, formats, settings, wants, followed, show, events: Vec::new() };
    run.until(&stop, ask.seconds, ask.every.unwrap_or(fallback));
    run.end()
}

/// The logs in the order in which they are named.
pub fn sources(given: &[String]) -> Result<Vec<Source>, CliError> {
    let (mut all, mut seen) = (Vec::new(), Seen::default());
    for text in given {
        let (label, place) = labelled(text)?;
        if place == "-" {
            all.push(Source::stream(label, "-", Box::new(std::io::stdin())));
            continue;
        }
        for path in expanded(place)? {
            if let Some(shared) = seen.shared(label, &path)? {
                out::say(&format!("note: {}", shared.text()));
            }
            all.push(Source::file(label, &path.display().to_string(), &path)?);
        }
    }
    Ok(all)
}

struct Run<'a> {
    sources: Vec<Source>,
    formats: &'a Formats,
    settings: &'a Settings,
    wants: Wants,
    followed: Followed,
    show: Show,
    /// Of this interval.
    events: Vec<String>,
}

impl Run<'_> {
    /// Intervals of so many seconds, until something ends them.
    fn until(&mut self, stop: &StopSignal, seconds: Option<f64>, every: f64) {
        let now = || sys::clock::now_ns() as f64 / NS;
        let begin = now();
        let (mut from, mut backlog) = (begin, true);
        loop {
            let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
            let (mut over, mut more) = (false, false);
            while !over && now() < from + every {
                more = self.look(&mut tallies);
                over = stop.is_requested()
                    || seconds.is_some_and(|seconds| now() >= begin + seconds)
                    || !more && self.sources.iter().all(Source::is_ended);
                // The first figures are those of what is there, however soon they are told.
                if backlog && !more {
                    break;
                }
                if !more && !over {
                    std::thread::sleep(LOOK.min(Duration::from_secs_f64(every)));
                }
            }
            let took = now() - from;
            from = now();
            for (label, tally) in &tallies {
                self.followed.tallies.entry(label.clone()).or_default().merge(tally);
            }
            let doc = self.told(&tallies, took, !backlog && took >= every / 2.0, backlog);
            backlog &= more;
            self.show.show(&doc, from - begin, stop.is_requested());
            if over {
                return;
            }
        }
    }

    /// Polls each log once; true if more is there already.
    fn look(&mut self, tallies: &mut BTreeMap<String, Tally>) -> bool {
        let mut more = false;
        for source in &mut self.sources {
            let tally = tallies.entry(source.label.clone()).or_insert_with(|| Tally::new(self.wants));
            let mut target = Target { tally, settings: self.settings, wants: self.wants };
            let found = source.poll(self.formats, &mut target);
            more |= found.more;
            self.events.extend(found.events);
            if let Some((format, doc)) = found.format {
                let unit = format.unit_ns().map(|unit| (source.label.clone(), unit));
                self.followed.units.extend(unit);
                self.followed.formats.push(doc);
            }
        }
        more
    }

    fn told(
        &mut self,
        now: &BTreeMap<String, Tally>,
        seconds: f64,
        has_rate: bool,
        backlog: bool,
    ) -> LogsLiveDoc {
        let label = |(label, all): (&String, &Tally)| {
            let mut recent = now.get(label).map(|tally| figures(&tally.whole.aggregate)).unwrap_or_default();
            recent.rate = has_rate.then(|| recent.requests as f64 / seconds);
            LogsLiveLabel { label: label.clone(), now: recent, all: figures(&all.whole.aggregate) }
        };
        LogsLiveDoc {
            schema: "boxscore.logs-live/1".to_owned(),
            at: sys::clock::wall_ns() as f64 / NS,
            seconds,
            backlog,
            labels: self.followed.tallies.iter().map(label).collect(),
            events: std::mem::take(&mut self.events),
        }
    }

    fn end(mut self) -> Result<Followed, CliError> {
        self.show.end();
        for source in self.sources {
            let tally = self.followed.tallies.entry(source.label.clone()).or_default();
            let mut target = Target { tally, settings: self.settings, wants: self.wants };
            let (fault, left) = source.end(&mut target);
            self.followed.faults.extend(fault);
            left.iter().for_each(|left| crate::out::say(&format!("note: {left}")));
        }
        let lines: u64 = self.followed.tallies.values().map(|tally| tally.whole.aggregate.lines).sum();
        if lines == 0 && !self.followed.faults.is_empty() {
            return Err(CliError::data(self.followed.faults.join("\n       ")));
        }
        Ok(self.followed)
    }
}

fn figures(one: &Aggregate) -> LogsLiveFigures {
    let totals = one.totals();
    let time = |share| one.times.quantile(share).map(|ns| ns as f64 / NS);
    LogsLiveFigures {
        requests: totals.requests,
        rate: None,
        bytes: totals.bytes as f64,
        p50: time(0.5),
        p99: time(0.99),
        client_errors: one.statuses.between(400, 500),
        server_errors: one.statuses.between(500, u16::MAX),
        skipped: one.skipped(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_checked() {
        assert_eq!(
            Ask::parse(Some("90s"), None, true).unwrap(),
            Ask { seconds: Some(90.0), every: None, json: true }
        );
        for (span, every) in [(Some("x"), None), (None, Some("0s")), (Some("-1s"), None)] {
            assert!(Ask::parse(span, every, false).is_err(), "{span:?} {every:?}");
        }
    }
}
