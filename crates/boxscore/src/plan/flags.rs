//! The settings that the options of cards stand for.

use model::plan::FAR;
use model::{Card, Flag, Means, Params};

use super::children;
use super::mixes::{self, Named};
use super::scan;
use super::setting::{Scope, Setting};
use super::trees::{self, NamedTree};
use crate::cli::run::RunArgs;
use crate::error::CliError;

/// The meaning of the options: settings, and what some of them name.
#[derive(Debug, Default)]
pub struct OfFlags {
    pub settings: Vec<Setting>,
    pub mix: Option<Named>,
    pub tree: Option<NamedTree>,
}

/// The settings that the options mean for the chosen cards, and the mix and the files that they name. Fails when a
/// value is malformed or a file cannot be read.
pub fn read(args: &RunArgs, chosen: &[&'static Card]) -> Result<OfFlags, CliError> {
    let mut all = OfFlags::default();
    for (long, values) in args.given.iter() {
        let owners: Vec<(&Card, &Flag)> =
            chosen.iter().filter_map(|card| Some((*card, card.flag(long)?))).collect();
        let Some((_, first)) = owners.first() else { continue };
        if owners.iter().any(|(_, flag)| flag.says != first.says) {
            let mut families: Vec<&str> = owners.iter().map(|(card, _)| card.family.name()).collect();
            families.dedup();
            let error =
                CliError::usage(format!("--{long} is ambiguous: {} define it", families.join(" and ")));
            return Err(error.hint("--set INSTRUMENT.PARAMETER=VALUE says it of one instrument"));
        }
        if let Some((other, why)) = first.needs.filter(|(other, _)| !args.given.has(other)) {
            let error = CliError::usage(format!("--{long} needs --{other}: {why}"));
            return Err(with_example(error, long));
        }
        match first.means {
            Means::Profile | Means::Ceilings | Means::Chooses(None) => {}
            Means::Chooses(Some(_)) if first.value_name.is_empty() => {
                all.add(args, &owners, "")?;
            }
            Means::Tests => all.settings.extend(tests(values, chosen)),
            Means::Lines(_) => all.add(args, &owners, &values.join("\n"))?,
            _ => values.iter().try_for_each(|value| all.add(args, &owners, value))?,
        }
    }
    Ok(all)
}

/// The settings of the picked tests; all tests of an instrument together set nothing.
fn tests(values: &[String], chosen: &[&'static Card]) -> Vec<Setting> {
    let mut settings = Vec::new();
    for card in chosen {
        let mut picked: Vec<_> =
            card.tests.iter().filter(|test| values.contains(&test.name.to_owned())).collect();
        let Some(test) = picked.pop().filter(|_| picked.is_empty()) else { continue };
        let scope = Scope::Instrument(card.name.to_owned());
        let fixed = Params::parse(test.params).unwrap_or_default();
        let setting = |(key, value): (&String, &String)| {
            Setting::new(&format!("--test {}", test.name), scope.clone(), key, value)
        };
        settings.extend(fixed.iter().map(setting));
    }
    settings
}

impl OfFlags {
    /// Adds the meaning of a value for the cards of each family. Fails when it has none for any of them.
    fn add(&mut self, args: &RunArgs, owners: &[(&Card, &Flag)], value: &str) -> Result<(), CliError> {
        let (mut settings, mut errors) = (Vec::new(), Vec::new());
        for (card, flag) in owners {
            match self.meaning(args, flag, value) {
                Ok((flag, pairs)) => {
                    let of = |(key, value): (&str, String)| {
                        Setting::new(&flag, Scope::Family(card.family), key, &value)
                    };
                    let new: Vec<Setting> =
                        pairs.into_iter().map(of).filter(|setting| !settings.contains(setting)).collect();
                    settings.extend(new);
                }
                Err(error) => errors.push(error),
            }
        }
        match errors.into_iter().next() {
            Some(error) if settings.is_empty() => Err(error),
            _ => {
                self.settings.extend(settings);
                Ok(())
            }
        }
    }

    /// An option as it is named in errors, and the parameters that it stands for.
    fn meaning(
        &mut self,
        args: &RunArgs,
        flag: &Flag,
        value: &str,
    ) -> Result<(String, model::flags::Settings), CliError> {
        let long = flag.long;
        let named = format!("--{long} {value}").trim_end().to_owned();
        let pairs = match flag.means {
            Means::Param(key) | Means::Lines(key) => vec![(key, value.to_owned())],
            Means::Each(key) => {
                let values = scan::values(value).map_err(|why| CliError::usage(format!("{named}: {why}")))?;
                vec![(key, values.join("|"))]
            }
            Means::Path(key) => {
                // The far end is asked from another directory than this one.
                let path = std::path::absolute(value)
                    .map_err(|error| CliError::data(format!("{named}: {error}")))?;
                let path = path.display().to_string();
                return Ok((format!("--{long} {path}"), vec![(key, path)]));
            }
            Means::Read(read) => read(value).map_err(|why| CliError::usage(format!("{named}: {why}")))?,
            Means::Child(key) => {
                let child = children::child(&format!("--{long}"), value, FAR.to_owned())?;
                return Ok((format!("--{long} {}", child.called()), vec![(key, child.name)]));
            }
            Means::Mix { name, content: (key, mixed), unless } => {
                if self.mix.is_none() {
                    self.mix = Some(mixes::read(&format!("--{long}"), value.as_ref())?);
                }
                let mix = self.mix.iter().map(|mix| (name, mix.name.clone()));
                let is_told = unless.iter().any(|other| args.given.has(other));
                mix.chain((!is_told).then(|| (key, mixed.to_owned()))).collect()
            }
            Means::Tree { name, content: (key, own) } => {
                if self.tree.is_none() {
                    self.tree = Some(trees::read(value.as_ref(), !args.lab.on.is_empty())?);
                }
                let tree = self.tree.iter().map(|tree| (name, tree.name.clone()));
                tree.chain([(key, own.to_owned())]).collect()
            }
            Means::Chooses(sets) => sets.iter().map(|(key, value)| (*key, (*value).to_owned())).collect(),
            Means::Profile | Means::Ceilings | Means::Tests => Vec::new(),
        };
        Ok((named, pairs))
    }
}

/// With a command line of a card that has the option.
fn with_example(error: CliError, long: &str) -> CliError {
    let flag = format!("--{long} ");
    let mut examples = instruments::cards().iter().flat_map(|card| card.examples);
    match examples.find(|example| example.command.contains(&flag)) {
        Some(example) => error.hint(example.command),
        None => error,
    }
}
