//! The demand of each need: as it was given, or that of a log or of the mix of one, with the profile of its day.

mod cautions;
mod shown;

use logs::aggregate::filter::Filter;
use model::decision::Key;
use model::format::{amount, number};
use model::need::{Need, Ranged, Work, parse};
use model::unit::Unit;
use verdict::decide::Demanded;
use verdict::decide::capacity::Mixes;

use super::asked::{Asked, Said};
use crate::error::CliError;

use shown::{HOURS, Shown, of_log, of_mix};

/// Needs with their demands.
#[derive(Clone, Debug, Default)]
pub struct Demands {
    pub needs: Vec<Demanded>,
    /// The demand of each hour as a share of the peak; empty: nobody knows.
    pub day: Vec<f64>,
    pub notes: Vec<String>,
    /// Sentences that stand before the numbers.
    pub cautions: Vec<String>,
    pub mixes: Mixes,
    /// Work of each log's requests that boxes which serve files do not do.
    pub stood_in: Vec<String>,
}

/// Reads every need, and the logs that they name.
pub fn read(asked: &Asked, growth: Ranged) -> Result<Demands, CliError> {
    let said = asked.all(Key::Need);
    let mut demands = Demands::default();
    for (need, said) in named(said)?.into_iter().zip(said) {
        demands.add(need, said, growth)?;
    }
    Ok(demands)
}

/// The needs, each with a name of its own: of several of one work its conditions and parameters are part of it. Fails
/// for two that differ in nothing but their demand.
fn named(all: &[Said]) -> Result<Vec<Need>, CliError> {
    let mut needs: Vec<Need> = Vec::new();
    for said in all {
        let need = parse(&said.given)
            .map_err(|error| CliError::usage(format!("{}: {}", said.at, error.what)).hint(error.hint))?;
        let need = filtered(need);
        if needs.iter().any(|known| known.long_name() == need.long_name()) {
            let what = format!("{}: two needs are called `{}`", said.at, need.long_name());
            return Err(CliError::usage(what).hint("say each work once, with all of its demand"));
        }
        needs.push(need);
    }
    let is_shared =
        |need: &&Need| needs.iter().filter(|other| other.work.name() == need.work.name()).count() > 1;
    let called: Vec<Option<String>> =
        needs.iter().map(|need| Some(need).filter(is_shared).map(Need::long_name)).collect();
    Ok(needs.into_iter().zip(called).map(|(need, called)| Need { called, ..need }).collect())
}

/// Words of a log's need that are conditions on its requests, as `--where` of `logs` takes them. A parameter of loads
/// is none, whatever a log calls so.
fn filtered(mut need: Need) -> Need {
    if !matches!(need.work, Work::Logs(_)) {
        return need;
    }
    let web = model::card::find(instruments::cards(), model::names::instrument::WEB);
    let is_of_load = |name: &str| web.is_some_and(|card| card.param(name).is_some());
    let is_filter = |name: &str, value: &str| {
        !is_of_load(name.trim_end_matches(['!', '^', '>']))
            && Filter::parse(&format!("{name}={value}")).is_ok()
    };
    let filters = need.params.iter().filter(|(name, value)| is_filter(name, value));
    need.filters = filters.map(|(name, value)| format!("{name}={value}")).collect();
    need.params.retain(|name, value| !is_filter(name, value));
    need
}

impl Demands {
    fn add(&mut self, need: Need, said: &Said, growth: Ranged) -> Result<(), CliError> {
        let shown = match &need.work {
            Work::Logs(file) => Some((file, of_log(file, &need, said)?)),
            Work::Mix(file) => Some((file, of_mix(file, &need, said)?)),
            _ => None,
        };
        let mut from = "given".to_owned();
        let mut demand = need.demand;
        let mut logged = None;
        if let Some((file, shown)) = shown {
            self.cautions.extend(cautions::of_log(&need, &shown.own, demand.is_none()));
            logged = cautions::logged(&need, &shown.own);
            self.stood_in.extend(cautions::stood_in(&need, &shown.own));
            if demand.is_none() {
                let factor = need.factor.unwrap_or(Ranged::point(1.0));
                demand = Some(factor.times(shown.rate));
                from = multiplied(&need, &shown);
            }
            self.notes.extend(shown.notes);
            if let Err(why) = &shown.mix {
                self.notes.push(format!("{file}: {why}"));
            }
            self.mixes.insert(need.source().unwrap_or_else(|| file.clone()), shown.mix);
            match (self.day.is_empty(), shown.day.is_empty()) {
                (_, true) => {}
                (true, false) => {
                    self.day = shown.day;
                    self.notes.push(format!("the load of the day's hours is that of {file}"));
                }
                (false, false) if self.day == shown.day => {}
                (false, false) => self.notes.push(format!(
                    "the day's hours of {file} are not used: those of the first log stand for all needs"
                )),
            }
        }
        let demand = demand.ok_or_else(|| said.wrong("nothing says its demand", "write a rate: 3000/s"))?;
        self.needs.push(Demanded { need, demand, growth, from, logged });
        Ok(())
    }
}

/// `200 times the 1.03/s of the busiest quarter hour of access.log (2026-11-17 02:00)`.
fn multiplied(need: &Need, shown: &Shown) -> String {
    let Some(factor) = need.factor else { return shown.from.clone() };
    let times = match factor.is_range() {
        true => format!("{} to {}", number(factor.low), number(factor.high)),
        false => number(factor.low),
    };
    format!("{times} times the {} of {}", amount(shown.rate, Unit::PerSec), shown.from)
}

/// Says that the first log or mix shows no profile of a day.
pub fn short_day(demands: &Demands) -> Option<String> {
    let of_log = demands.needs.iter().find(|need| matches!(need.need.work, Work::Logs(_) | Work::Mix(_)))?;
    demands.day.is_empty().then(|| {
        format!(
            "{} does not show the demand of all {HOURS} hours of a day: the demand is taken to be there all day",
            of_log.need.name()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(texts: &[&str]) -> Result<Vec<String>, CliError> {
        let said = |text: &&str| Said { given: (*text).into(), at: "--need".into(), from: "--need".into() };
        let all: Vec<Said> = texts.iter().map(said).collect();
        Ok(named(&all)?.iter().map(|need| need.name().to_owned()).collect())
    }

    #[test]
    fn conditions_on_a_logs_requests_are_no_parameters() {
        let of = |text: &str| filtered(parse(text).unwrap());
        let people = of("logs a.log bot=no path^=/shop/ connections=100");
        assert_eq!(people.filters, ["bot=no", "path^=/shop/"]);
        assert_eq!((people.params.get("connections"), people.params.len()), (Some("100"), 1));
        assert_eq!(people.source().as_deref(), Some("a.log bot=no path^=/shop/"));
        // Elsewhere it is a parameter that nothing has, which is said.
        assert!(of("web 10/s bot=no").filters.is_empty());
    }

    #[test]
    fn needs_of_one_work_are_told_apart_by_what_they_ask_for() {
        let disks = names(&["disk-seq 1GB/s op=read", "disk-seq 1GB/s op=write", "kv 10/s"]).unwrap();
        assert_eq!(disks, ["disk-seq op=read", "disk-seq op=write", "kv"]);
        let web = names(&["web 10/s", "web 20/s p99<20ms", "web 30/s errors<0.1%"]).unwrap();
        assert_eq!(web[..2], ["web", "web p99 < 20.0 ms"]);
        let error = names(&["web 10/s", "web 20/s"]).unwrap_err();
        assert!(error.message.contains("two needs are called `web`"), "{error}");
    }
}
