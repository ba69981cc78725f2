//! The demand that a log or the mix of one shows: its peak, and the hours of a day as shares of that.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use instruments::workload::mix::Methods;
use logs::aggregate::filter::Filter;
use logs::aggregate::{Aggregate, Settings};
use logs::read::tally::Wants;
use logs::read::{Options, Watch};
use model::doc::MixDoc;
use model::doc::mix::MixArrivals;
use model::format::{self, Moment};
use model::need::Need;

use super::Said;
use crate::access_logs::own::{self, Own};
use crate::access_logs::{self, Formats};
use crate::error::CliError;
use crate::plan::mixes;

pub const HOURS: usize = 24;
const QUARTER_S: i64 = 900;
const HOUR_S: i64 = 3600;
const DAY_S: i64 = 86_400;
/// Lines that cannot be read: from the first share on it is said, beyond the second one the demand is not known.
const TOLD: f64 = 0.01;
const REFUSED: f64 = 0.2;
/// Whole days but for an hour, or so many that the rest of one makes little difference.
const ODD_DAYS: f64 = 1.0 / 24.0;
const MANY_DAYS: f64 = 7.0;

/// The demand that a file shows.
pub struct Shown {
    pub rate: f64,
    pub from: String,
    /// The demand of each hour of a day as a share of the peak; empty: nobody knows.
    pub day: Vec<f64>,
    /// The name that figures of its mix have, or why there is none.
    pub mix: Result<String, String>,
    /// The log's own server; of a mix its methods alone.
    pub own: Own,
    pub notes: Vec<String>,
}

/// The peak of a log.
struct Peak {
    rate: f64,
    from: String,
    note: Option<String>,
}

/// Reads a log as `boxscore logs` does, with its format detected, and the requests that a need wants of it.
pub fn of_log(file: &str, need: &Need, said: &Said) -> Result<Shown, CliError> {
    let filters: Result<Vec<Filter>, String> = need.filters.iter().map(|text| Filter::parse(text)).collect();
    let filters = filters.map_err(|what| CliError::usage(format!("{}: {what}", said.at)))?;
    let chosen = access_logs::choose(&[file.to_owned()], &Formats::Detected)?;
    if let Some(refused) = chosen.refused.first() {
        return Err(CliError::data(format!("{}: {refused}", said.at)));
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let settings = Settings { group_by: Vec::new(), filters, mix: true, folders: false };
    let wants = Wants { cut: None, timeline: false };
    let options = Options { settings, threads, strict: false, piece: None, wants };
    let outcome = logs::read::read(chosen.inputs, &options, &Watch::default());
    if let Some(fault) = outcome.faults.first() {
        return Err(CliError::data(format!("{}: {}", fault.file, fault.what)));
    }
    let Some((label, one)) = outcome.labels.labels.iter().next().filter(|(_, one)| one.totals().requests > 0)
    else {
        let of = need.source().unwrap_or_else(|| file.to_owned());
        return Err(CliError::data(format!("{of}: no request in it")));
    };
    let unread = unread(file, one.lines, one.skipped())?;
    let peak = peak_of_log(one, file).ok_or_else(|| {
        CliError::data(format!("{file}: no request with a time of day in it, so its demand is not known"))
            .hint("say the demand: `logs` needs times; MIX.json 3000/s does not")
    })?;
    let mix = match access_logs::mix::document(&outcome.labels, &chosen.formats, false) {
        Ok(mix) => Ok(mixes::named(mix)?.name),
        Err(why) => Err(why),
    };
    let percentile = need.limit.as_ref().map(|limit| limit.percentile.as_str());
    Ok(Shown {
        rate: peak.rate,
        from: peak.from,
        day: day_of_log(one, peak.rate),
        own: own::own(label, one, percentile),
        mix,
        notes: unread.into_iter().chain(peak.note).collect(),
    })
}

/// The remark on lines that cannot be read. Fails where they are so many that the demand is not known.
fn unread(file: &str, lines: u64, skipped: u64) -> Result<Option<String>, CliError> {
    let share = skipped as f64 / lines.max(1) as f64;
    let words = || {
        let lines = format::count(usize::try_from(lines).unwrap_or(usize::MAX), "line");
        format!("{file}: {} of its {lines} cannot be read", format::percent(share))
    };
    match share {
        share if share > REFUSED => Err(CliError::data(format!("{}, so its demand is not known", words()))
            .hint("`boxscore logs FILE` shows the first of them, and which formats it reads")),
        share if share > TOLD => Ok(Some(format!("{}: the demand is at least that of the others", words()))),
        _ => Ok(None),
    }
}

/// Requests a second of the busiest quarter hour, and when it was by the log's own clock. A quarter hour that the log
/// covers in part counts by the seconds covered, if they are at least half of it. A log that is shorter than a quarter
/// hour has its mean.
fn peak_of_log(one: &Aggregate, file: &str) -> Option<Peak> {
    let span = one.span?;
    // Slots of two zones may be of one quarter hour.
    let mut quarters: BTreeMap<i64, (u64, i64)> = BTreeMap::new();
    for (slot, all) in one.slots.sorted()? {
        let entry = quarters.entry(slot.quarter).or_insert((0, slot.local()));
        entry.0 += all.total().requests;
    }
    let moment = |local: i64| {
        let moment = Moment::at(local as f64)?;
        Some(format!("{} {}", moment.date(), moment.time()))
    };
    let seconds = span.1.saturating_sub(span.0).saturating_add(1);
    if seconds < QUARTER_S {
        let requests: u64 = quarters.values().map(|(requests, _)| requests).sum();
        let (covers, begin) = (format::duration(seconds as f64), moment(quarters.values().next()?.1)?);
        return (requests > 0).then(|| Peak {
            rate: requests as f64 / seconds as f64,
            from: format!("the mean over the {covers} of {file} ({begin})"),
            note: Some(format!("{file} covers {covers} and no quarter hour: busier times may not be in it")),
        });
    }
    let rates = quarters.into_iter().filter_map(|(quarter, (requests, local))| {
        let covered = covered(quarter * QUARTER_S, QUARTER_S, span);
        // A log begins and ends with a request: beyond it, it goes on for a mean gap between two.
        let covered = covered as f64 * (1.0 + 1.0 / requests.max(1) as f64);
        let seconds = covered.min(QUARTER_S as f64);
        (seconds * 2.0 >= QUARTER_S as f64).then(|| (requests as f64 / seconds, local))
    });
    // Of equal ones the first.
    let best = rates.reduce(|best, next| if next.0 > best.0 { next } else { best });
    let (rate, local) = best.filter(|(rate, _)| *rate > 0.0)?;
    let from = format!("the busiest quarter hour of {file} ({})", moment(local)?);
    Some(Peak { rate, from, note: None })
}

/// Seconds of a piece of time that the log covers.
fn covered(from: i64, seconds: i64, (first, last): (i64, i64)) -> i64 {
    let end = from.saturating_add(seconds).min(last.saturating_add(1));
    end.saturating_sub(from.max(first)).max(0)
}

/// Mean demand of each hour of the day as a share of the peak, over the days that have that hour. Hours that the log
/// covers in part count by the seconds covered.
fn day_of_log(one: &Aggregate, peak: f64) -> Vec<f64> {
    let Some((span, slots)) = one.span.zip(one.slots.sorted()) else { return Vec::new() };
    let (mut requests, mut seconds) = ([0u64; HOURS], [0i64; HOURS]);
    let mut seen: BTreeSet<i64> = BTreeSet::new();
    for (slot, all) in slots {
        let local = slot.local().div_euclid(HOUR_S);
        let hour = usize::try_from(local.rem_euclid(DAY_S / HOUR_S)).unwrap_or_default();
        requests[hour] += all.total().requests;
        if seen.insert(local) {
            let begin = local * HOUR_S - (slot.local() - slot.start());
            seconds[hour] += covered(begin, HOUR_S, span);
        }
    }
    let rates = requests
        .iter()
        .zip(seconds)
        .map(|(requests, seconds)| if seconds > 0 { *requests as f64 / seconds as f64 } else { 0.0 });
    shares(&rates.collect::<Vec<_>>(), peak)
}

/// Shares of the peak; nothing where less than the whole day has a demand, since a log of a few hours says nothing of
/// the others.
fn shares(rates: &[f64], peak: f64) -> Vec<f64> {
    if rates.len() != HOURS || peak <= 0.0 || rates.iter().any(|rate| *rate <= 0.0) {
        return Vec::new();
    }
    rates.iter().map(|rate| (rate / peak).min(1.0)).collect()
}

/// A mix's demand is its busiest step.
pub fn of_mix(file: &str, need: &Need, said: &Said) -> Result<Shown, CliError> {
    let named = mixes::read(&said.at, Path::new(file))?;
    let unread = unread(file, named.mix.source.lines, named.mix.source.skipped)?;
    let (rate, from) = match busiest_step(&named.mix) {
        Some((rate, step)) => (rate, format!("the busiest {} of {file}", format::duration(step))),
        None if need.demand.is_some() => (0.0, String::new()),
        None => {
            return Err(
                said.wrong("the mix tells no arrivals, so its demand is not known", "write MIX.json 3000/s")
            );
        }
    };
    let day = day_of_mix(&named.mix.arrivals, rate);
    let own = Own { with_body: with_body(&named.mix), ..Own::default() };
    Ok(Shown { rate, from, day, own, mix: Ok(named.name), notes: unread.into_iter().collect() })
}

/// Methods of a mix other than GET and HEAD, and their share.
fn with_body(mix: &MixDoc) -> Option<(Vec<String>, f64)> {
    let names = mix.methods.keys().filter(|name| !matches!(name.as_str(), "GET" | "HEAD"));
    let names: Vec<String> = names.cloned().collect();
    (!names.is_empty()).then(|| (names, Methods::from_mix(mix).left_out))
}

/// The hours of a mix are sums over its days: without whole days some hours were counted more often than others.
fn day_of_mix(arrivals: &MixArrivals, peak: f64) -> Vec<f64> {
    let days = arrivals.seconds as f64 / DAY_S as f64;
    let whole = days.round();
    if whole < 1.0 || ((days - whole).abs() > ODD_DAYS && days < MANY_DAYS) {
        return Vec::new();
    }
    let rates: Vec<f64> =
        arrivals.hours.iter().map(|requests| *requests as f64 / (days * HOUR_S as f64)).collect();
    shares(&rates, peak)
}

/// Requests a second of the busiest step, and its seconds. A last step that is shorter than half of one says little.
fn busiest_step(mix: &MixDoc) -> Option<(f64, f64)> {
    let arrivals = &mix.arrivals;
    let count = arrivals.steps.len();
    let seconds = |at: usize| match at + 1 == count {
        // The last one may be shorter.
        true => arrivals.seconds.saturating_sub(arrivals.step * at as u64).clamp(1, arrivals.step.max(1)),
        false => arrivals.step,
    };
    let rates = arrivals.steps.iter().enumerate().filter_map(|(at, step)| {
        let seconds = seconds(at);
        let is_short = count > 1 && seconds * 2 < arrivals.step;
        (seconds > 0 && !is_short).then(|| (step.requests as f64 / seconds as f64, seconds as f64))
    });
    rates.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(rate, _)| *rate > 0.0)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use model::doc::mix::MixStep;
    use model::need::parse;

    use super::*;

    /// A log that begins at 10:00 and has a request every so many seconds; `busy` are its requests in a second.
    fn log(seconds: i64, every: usize, busy: impl Fn(i64) -> usize) -> String {
        let mut text = String::new();
        for second in (0..seconds).step_by(every) {
            // 2026-05-01 10:00.
            let moment = Moment::at((1_777_629_600 + second) as f64).unwrap();
            let (date, time) = (moment.date(), moment.time());
            let day = &date[8..];
            let rest = format!("{:02}", moment.seconds());
            for _ in 0..busy(second) {
                let _ = writeln!(
                    text,
                    "10.0.0.1 - - [{day}/May/2026:{time}:{rest} +0000] \"GET /a HTTP/1.1\" 200 512 \"-\" \"x\""
                );
            }
        }
        text
    }

    fn shown(text: &str) -> Result<Shown, CliError> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.log");
        std::fs::write(&file, text).unwrap();
        let said = Said { given: "logs a.log".into(), at: "--need".into(), from: "--need".into() };
        let file = file.display().to_string();
        of_log(&file, &parse(&format!("logs '{file}' p99<50ms")).unwrap(), &said)
    }

    #[test]
    fn a_flat_log_of_36_hours_is_flat() {
        let flat = shown(&log(36 * 3600, 20, |_| 1)).unwrap();
        assert!((flat.rate / 0.05 - 1.0).abs() < 0.01, "{}", flat.rate);
        assert_eq!(flat.day.len(), HOURS);
        assert!(flat.day.iter().all(|share| (0.98..=1.0).contains(share)), "{:?}", flat.day);
        assert!(flat.notes.is_empty(), "{:?}", flat.notes);
    }

    #[test]
    fn the_peak_is_the_busiest_quarter_hour_and_not_the_busiest_hour() {
        // From 20:15 to 20:30 four times as much.
        let is_busy = |second: i64| (10 * 3600 + 900..10 * 3600 + 1800).contains(&second);
        let one = shown(&log(24 * 3600, 20, |second| if is_busy(second) { 4 } else { 1 })).unwrap();
        assert!(
            (one.rate / 0.2 - 1.0).abs() < 0.01 && one.from.ends_with("(2026-05-01 20:15)"),
            "{}",
            one.from
        );
        // Three quarters at one and one at four are 7 / 16 of the peak.
        assert!((one.day[20] - 7.0 / 16.0).abs() < 0.01 && (one.day[3] - 0.25).abs() < 0.01, "{:?}", one.day);
    }

    #[test]
    fn a_log_that_makes_no_mix_says_why() {
        let gets = log(960, 1, |_| 1);
        assert!(shown(&gets).unwrap().mix.unwrap().starts_with("log@"));
        // Answers without bodies have no sizes to ask for.
        let heads = shown(&gets.replace("GET", "HEAD")).unwrap();
        assert!((heads.rate - 1.0).abs() < 1e-9, "its demand is known all the same: {}", heads.rate);
        let why = heads.mix.unwrap_err();
        assert_eq!(why, "no mix can be made of these requests: no answer with a body has a size");
    }

    #[test]
    fn a_log_shorter_than_a_quarter_hour_has_its_mean() {
        // Two minutes over the edge of two quarter hours.
        let text = log(960, 1, |second| if second >= 840 { 5 } else { 0 });
        let short = shown(&text).unwrap();
        assert!((short.rate - 5.0).abs() < 1e-9 && short.day.is_empty(), "{}", short.rate);
        assert!(
            short.from.starts_with("the mean over the 2 min of ") && short.notes.len() == 1,
            "{}",
            short.from
        );
    }

    #[test]
    fn lines_that_cannot_be_read_are_told_and_too_many_refused() {
        let with = |bad: usize| shown(&format!("{}{}", log(40_000, 20, |_| 1), "nonsense\n".repeat(bad)));
        assert!(with(1).unwrap().notes.is_empty());
        let note = with(100).unwrap().notes.remove(0);
        assert!(note.contains("4.8 % of its 2100 lines cannot be read"), "{note}");
        let Err(error) = with(800) else { panic!("28 % cannot be read") };
        assert!(error.message.contains("so its demand is not known"), "{error}");
    }

    #[test]
    fn the_busiest_step_is_a_mixes_demand() {
        let step = |requests| MixStep { requests, peak: None };
        let of = |seconds, steps: Vec<MixStep>| {
            let arrivals = MixArrivals { step: 60, seconds, steps, ..MixArrivals::default() };
            busiest_step(&MixDoc { arrivals, ..MixDoc::default() })
        };
        assert_eq!(of(130, vec![step(600), step(1200), step(300)]), Some((20.0, 60.0)), "10 s say little");
        assert_eq!(of(160, vec![step(600), step(1200), step(1000)]), Some((25.0, 40.0)));
        assert_eq!(of(10, vec![step(300)]), Some((30.0, 10.0)));
        assert_eq!(busiest_step(&MixDoc::default()), None);
    }

    #[test]
    fn the_hours_of_a_mix_are_shares_of_its_peak() {
        let of = |hours: u64, sums: [u64; HOURS], peak| {
            let seconds = hours * 3600;
            day_of_mix(&MixArrivals { seconds, hours: sums.to_vec(), ..MixArrivals::default() }, peak)
        };
        let day = of(48, [7200; HOURS], 2.0);
        assert!(day.len() == HOURS && day.iter().all(|share| (share - 0.5).abs() < 1e-9), "{day:?}");
        // Hours of 36 were counted once or twice, and of which a mix does not say.
        assert!(of(36, [7200; HOURS], 2.0).is_empty());
        let mut gap = [7200; HOURS];
        gap[3] = 0;
        assert!(of(24, gap, 2.0).is_empty() && of(3, [0; HOURS], 2.0).is_empty());
    }
}
