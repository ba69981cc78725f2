//! The demand of each need: as it was given, or that of a log or of the mix of one, with the profile of its day.

use std::collections::BTreeMap;
use std::path::Path;

use logs::aggregate::{Aggregate, Settings};
use logs::read::tally::Wants;
use logs::read::{Options, Watch};
use model::decision::Key;
use model::doc::MixDoc;
use model::format::{Moment, fixed};
use model::need::{Need, Ranged, Work, parse};
use verdict::decide::Demanded;

use super::asked::{Asked, Said};
use crate::access_logs::{self, Formats};
use crate::error::CliError;
use crate::plan::mixes;

const QUARTER_S: f64 = 900.0;
const HOURS: usize = 24;

/// Needs with their demands.
#[derive(Clone, Debug, Default)]
pub struct Demands {
    pub needs: Vec<Demanded>,
    /// The demand of each hour as a share of the largest; empty: nobody knows.
    pub day: Vec<f64>,
    pub notes: Vec<String>,
    /// Files of mixes and logs as needs name them, with the name that figures of the mix have.
    pub mixes: BTreeMap<String, String>,
}

/// The demand that a file shows.
struct Shown {
    rate: f64,
    from: String,
    day: Vec<f64>,
    mix: Option<String>,
}

/// Reads every need, and the logs that they name.
pub fn read(asked: &Asked, growth: Ranged) -> Result<Demands, CliError> {
    let mut demands = Demands::default();
    for said in asked.all(Key::Need) {
        let need = parse(&said.given)
            .map_err(|error| CliError::usage(format!("{}: {}", said.at, error.what)).hint(error.hint))?;
        if demands.needs.iter().any(|known| known.need.name() == need.name()) {
            let what = format!("{}: two needs are called `{}`", said.at, need.name());
            return Err(CliError::usage(what).hint("say each work once, with all of its demand"));
        }
        demands.add(need, said, growth)?;
    }
    Ok(demands)
}

impl Demands {
    fn add(&mut self, need: Need, said: &Said, growth: Ranged) -> Result<(), CliError> {
        let shown = match &need.work {
            Work::Logs(file) => Some(of_log(file, said)?),
            Work::Mix(file) => Some(of_mix(file, &need, said)?),
            _ => None,
        };
        let mut from = "given".to_owned();
        let mut demand = need.demand;
        if let Some(shown) = shown {
            if demand.is_none() {
                (demand, from) = (Some(Ranged::point(shown.rate)), shown.from);
            }
            self.mixes.extend(shown.mix.map(|mix| (need.name().to_owned(), mix)));
            match (self.day.is_empty(), shown.day.is_empty()) {
                (_, true) => {}
                (true, false) => {
                    self.day = shown.day;
                    self.notes.push(format!("the load of the day's hours is that of {}", need.name()));
                }
                (false, false) => self.notes.push(format!(
                    "the day's hours of {} are not used: those of the first log stand for all needs",
                    need.name()
                )),
            }
        }
        let demand = demand.ok_or_else(|| said.wrong("nothing says its demand", "write a rate: 3000/s"))?;
        self.needs.push(Demanded { need, demand, growth, from });
        Ok(())
    }
}

/// Reads a log as `boxscore logs` does, with its format detected.
fn of_log(file: &str, said: &Said) -> Result<Shown, CliError> {
    let chosen = access_logs::choose(&[file.to_owned()], &Formats::Detected)?;
    if let Some(refused) = chosen.refused.first() {
        return Err(CliError::data(format!("{}: {refused}", said.at)));
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let settings = Settings { group_by: Vec::new(), filters: Vec::new(), mix: true, folders: false };
    let wants = Wants { cut: None, timeline: false };
    let options = Options { settings, threads, strict: false, piece: None, wants };
    let outcome = logs::read::read(chosen.inputs, &options, &Watch::default());
    if let Some(fault) = outcome.faults.first() {
        return Err(CliError::data(format!("{}: {}", fault.file, fault.what)));
    }
    let Some(one) = outcome.labels.labels.values().next() else {
        return Err(CliError::data(format!("{file}: no request in it")));
    };
    let (rate, moment) = busiest_quarter(one).ok_or_else(|| {
        CliError::data(format!("{file}: no request with a time of day in it, so its demand is not known"))
            .hint("say the demand: `logs` needs times; MIX.json 3000/s does not")
    })?;
    let mix = access_logs::mix::document(&outcome.labels, &chosen.formats, false).ok();
    Ok(Shown {
        rate,
        from: format!("the busiest quarter hour of {file} ({moment})"),
        day: day_of_log(one),
        mix: mix.map(mixes::named).transpose()?.map(|named| named.name),
    })
}

/// Requests a second of the busiest quarter hour, and when it was by the log's own clock.
fn busiest_quarter(one: &Aggregate) -> Option<(f64, String)> {
    // Slots of two zones may be of one quarter hour.
    let mut quarters: BTreeMap<i64, (u64, i64)> = BTreeMap::new();
    for (slot, all) in one.slots.sorted()? {
        let entry = quarters.entry(slot.quarter).or_insert((0, slot.local()));
        entry.0 += all.total().requests;
    }
    // Of equal ones the first.
    let (requests, local) = quarters.into_values().rev().max_by_key(|(requests, _)| *requests)?;
    let moment = Moment::at(local as f64)?;
    let rate = requests as f64 / QUARTER_S;
    (rate > 0.0).then(|| (rate, format!("{} {}", moment.date(), moment.time())))
}

/// Mean demand of each hour of the day as a share of the busiest hour's, over the days that have that hour.
fn day_of_log(one: &Aggregate) -> Vec<f64> {
    let mut sums = [0.0; HOURS];
    for (slot, all) in one.slots.sorted().unwrap_or_default() {
        let hour = (slot.local().rem_euclid(86_400) / 3600) as usize;
        sums[hour.min(HOURS - 1)] += all.total().requests as f64;
    }
    shares(&sums)
}

/// Shares of the largest; nothing where less than the whole day has a demand, since a log of a few hours says nothing
/// of the others.
fn shares(sums: &[f64]) -> Vec<f64> {
    let most = sums.iter().copied().fold(0.0, f64::max);
    if sums.len() != HOURS || most <= 0.0 || sums.iter().any(|sum| *sum <= 0.0) {
        return Vec::new();
    }
    sums.iter().map(|sum| sum / most).collect()
}

/// A mix's demand is its busiest step.
fn of_mix(file: &str, need: &Need, said: &Said) -> Result<Shown, CliError> {
    let named = mixes::read(&said.at, Path::new(file))?;
    let (rate, from) = match busiest_step(&named.mix) {
        Some((rate, step)) => (rate, format!("the busiest {} of {file}", model::format::duration(step))),
        None if need.demand.is_some() => (0.0, String::new()),
        None => {
            return Err(
                said.wrong("the mix tells no arrivals, so its demand is not known", "write MIX.json 3000/s")
            );
        }
    };
    let day: Vec<f64> = named.mix.arrivals.hours.iter().map(|hour| *hour as f64).collect();
    Ok(Shown { rate, from, day: shares(&day), mix: Some(named.name) })
}

/// Requests a second of the busiest step, and its seconds.
fn busiest_step(mix: &MixDoc) -> Option<(f64, f64)> {
    let arrivals = &mix.arrivals;
    let seconds = |at: usize| match at + 1 == arrivals.steps.len() {
        // The last one may be shorter.
        true => arrivals.seconds.saturating_sub(arrivals.step * at as u64).clamp(1, arrivals.step.max(1)),
        false => arrivals.step,
    };
    let rates = arrivals.steps.iter().enumerate().filter_map(|(at, step)| {
        let seconds = seconds(at) as f64;
        (seconds > 0.0).then(|| (step.requests as f64 / seconds, seconds))
    });
    rates.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(rate, _)| *rate > 0.0)
}

/// Says that a log covers less than a day.
pub fn short_day(demands: &Demands) -> Option<String> {
    let of_log = demands.needs.iter().find(|need| matches!(need.need.work, Work::Logs(_) | Work::Mix(_)))?;
    demands.day.is_empty().then(|| {
        format!(
            "{} does not cover all {} hours of a day: the demand is taken to be there all day",
            of_log.need.name(),
            fixed(HOURS as f64, 0)
        )
    })
}

#[cfg(test)]
mod tests {
    use model::doc::mix::{MixArrivals, MixStep};

    use super::*;

    #[test]
    fn the_busiest_step_is_a_mixes_demand() {
        let step = |requests| MixStep { requests, peak: None };
        let arrivals = MixArrivals {
            step: 60,
            seconds: 130,
            steps: vec![step(600), step(1200), step(300)],
            ..MixArrivals::default()
        };
        // The last step has 10 s.
        let mix = MixDoc { arrivals, ..MixDoc::default() };
        assert_eq!(busiest_step(&mix), Some((30.0, 10.0)));
        assert_eq!(busiest_step(&MixDoc::default()), None);
    }

    #[test]
    fn a_day_needs_all_of_its_hours() {
        let mut sums = [10.0; HOURS];
        sums[20] = 40.0;
        let day = shares(&sums);
        assert_eq!((day.len(), day[0], day[20]), (24, 0.25, 1.0));
        sums[3] = 0.0;
        assert!(shares(&sums).is_empty() && shares(&[]).is_empty());
    }
}
