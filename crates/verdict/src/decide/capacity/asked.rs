//! A need of requests to a server or a store, and which loads of a side could answer it.

use model::nearest::nearest;
use model::need::Need;
use model::shell::word;
use model::{Card, Params, Unit};

use super::loaded::Loaded;
use super::measure;
use super::ready::Ready;
use crate::compare::matching::same_of;

/// The file of a log's mix in the commands that make and measure it.
const MIX: &str = "mix.json";

/// The requests that must have been sent.
#[derive(Clone, Copy)]
pub enum Requests<'n> {
    /// Those of the load itself.
    Plain,
    /// Those of the mix that plans call `name`.
    Mix { name: &'n str, file: &'n str },
    /// Those of a log: of the mix that plans call `name`, or that is labelled as the log's file is called. Without
    /// `has_mix` no mix can be made of them. Where conditions leave some out, a label is not enough.
    Log { name: Option<&'n str>, file: &'n str, filters: &'n [String], has_mix: bool },
}

impl Requests<'_> {
    fn fit(self, mix: Option<&str>) -> bool {
        match self {
            Requests::Plain => mix.is_none(),
            Requests::Mix { name, .. } => mix == Some(name),
            Requests::Log { name, filters: [_, ..], .. } => mix.is_some() && name == mix,
            Requests::Log { name, file, .. } => mix.is_some_and(|mix| {
                let label = mix.rsplit_once('@').map_or(mix, |(label, _)| label);
                let path = std::path::Path::new(file);
                let mut called = [path.file_name(), path.file_stem()].into_iter().flatten();
                name == Some(mix) || called.any(|called| called.to_str() == Some(label))
            }),
        }
    }

    /// The file of the mix, or of the log.
    pub const fn file(&self) -> Option<&str> {
        match self {
            Requests::Mix { file, .. } | Requests::Log { file, .. } => Some(file),
            Requests::Plain => None,
        }
    }
}

/// A need of a load, and the side that is asked.
#[derive(Clone, Copy)]
pub struct Asked<'q, 'a> {
    pub ready: &'q Ready<'a>,
    pub of: Loaded,
    pub need: &'q Need,
    pub requests: Requests<'q>,
}

impl Asked<'_, '_> {
    /// Fails where the need cannot be one of this load.
    pub fn check(self) -> Result<(), String> {
        let name = self.of.load.name;
        if self.need.unit != Unit::PerSec {
            let unit = self.need.unit.symbol();
            return Err(format!("{name} counts requests, such as 20000/s, and the demand is in {unit}"));
        }
        known(&self.of.cards().collect::<Vec<_>>(), &self.need.params)
    }

    /// Parameters that are all that the need asks for, whatever the schedule.
    pub fn fits(self, card: &Card, params: &Params) -> bool {
        let mix = params.get("mix").filter(|value| *value != "none");
        let same = |(name, value): (&String, &String)| {
            params.get(name).is_some_and(|own| same_of(Some(card), name, own, value))
        };
        let is_asked = self.need.params.get("mix").is_some();
        (is_asked || self.requests.fit(mix)) && self.need.params.iter().all(same)
    }

    /// The same of a published figure: what it does not say may be so. Returns what it leaves open.
    pub fn fits_published(self, card: &Card, params: &Params) -> Option<Vec<String>> {
        let mix = params.get("mix").filter(|value| *value != "none");
        let is_asked = self.need.params.get("mix").is_some();
        let differs = |(name, value): (&String, &String)| {
            params.get(name).is_some_and(|own| !same_of(Some(card), name, own, value))
        };
        if !(is_asked || self.requests.fit(mix)) || self.need.params.iter().any(differs) {
            return None;
        }
        let open = self.need.params.keys().filter(|name| params.get(name).is_none()).cloned();
        Some(open.chain(self.need.errors.map(|_| "errors".to_owned())).collect())
    }

    /// The command that measures it. Of a log, a mix of its requests is made first; `None` where there can be none.
    pub fn command(self) -> Option<String> {
        let alike: Vec<&str> = self.of.cards().map(|card| card.name).collect();
        let run = |mix| measure::load(self.ready.side, self.of.load, &alike, self.need, mix);
        match self.requests {
            Requests::Log { has_mix: false, .. } => None,
            Requests::Log { file, filters, .. } => {
                let filters: String = filters.iter().map(|text| format!(" --where {}", word(text))).collect();
                Some(format!(
                    "boxscore logs {}{filters} --profile-out {MIX} && {}",
                    word(file),
                    run(Some(MIX))
                ))
            }
            Requests::Plain | Requests::Mix { .. } => Some(run(self.requests.file())),
        }
    }
}

/// Fails where a parameter is none of these instruments, with the nearest that is.
pub fn known(cards: &[&Card], params: &Params) -> Result<(), String> {
    let names = || {
        let of_card = |card: &&Card| {
            let derived = card.derived.iter().map(|derived| derived.name);
            card.params.iter().chain(card.parts).map(|spec| spec.name).chain(derived).collect::<Vec<_>>()
        };
        cards.iter().flat_map(of_card).collect::<Vec<_>>()
    };
    let Some(unknown) = params.keys().find(|name| !names().contains(&name.as_str())) else { return Ok(()) };
    let name = cards.first().map_or("", |card| card.name);
    let hint = nearest(unknown, names()).map_or_else(
        || "`boxscore list --long` shows those it has".to_owned(),
        |near| format!("did you mean `{near}`?"),
    );
    Err(format!("{name} has no parameter `{unknown}`: {hint}"))
}
