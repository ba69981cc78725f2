//! The options of `run` that the cards of instruments bring along: clap's arguments for them, the help of a family, and
//! what was given.

use std::collections::BTreeMap;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command};
use model::plan::Profiled;
use model::{Card, Example, Family, Flag, Means};

/// The options that were given, by their names without dashes.
#[derive(Clone, Debug, Default)]
pub struct Given(BTreeMap<&'static str, Vec<String>>);

impl Given {
    pub fn has(&self, long: &str) -> bool {
        self.0.contains_key(long)
    }

    pub fn values(&self, long: &str) -> &[String] {
        self.0.get(long).map_or(&[], Vec::as_slice)
    }

    pub fn value(&self, long: &str) -> Option<&str> {
        self.values(long).first().map(String::as_str)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &[String])> {
        self.0.iter().map(|(long, values)| (*long, values.as_slice()))
    }
}

impl clap::FromArgMatches for Given {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Given, clap::Error> {
        let mut given = Given::default();
        given.update_from_arg_matches(matches)?;
        Ok(given)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for (long, flags) in flags() {
            let values = match flags.iter().any(|(_, flag)| flag.value_name.is_empty()) {
                true => matches.get_flag(long).then(Vec::new),
                false => matches.get_many::<String>(long).map(|all| all.cloned().collect()),
            };
            self.0.extend(values.map(|values| (long, values)));
        }
        Ok(())
    }
}

impl clap::Args for Given {
    fn augment_args(command: Command) -> Command {
        command.args(flags().into_iter().map(|(long, flags)| arg(long, &flags)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Given::augment_args(command)
    }
}

#[cfg(test)]
impl<const N: usize> From<[(&'static str, &str); N]> for Given {
    fn from(all: [(&'static str, &str); N]) -> Given {
        let mut given = Given::default();
        for (long, value) in all {
            given.0.entry(long).or_default().push(value.to_owned());
        }
        given
    }
}

fn cards() -> impl Iterator<Item = &'static Card> {
    instruments::cards().iter().copied()
}

/// Every option with the families that have it and what it is there.
fn flags() -> BTreeMap<&'static str, Vec<(Family, &'static Flag)>> {
    let mut all: BTreeMap<&str, Vec<(Family, &Flag)>> = BTreeMap::new();
    for card in cards() {
        for flag in card.all_flags() {
            let known = all.entry(flag.long).or_default();
            if known.iter().all(|(family, _)| *family != card.family) {
                known.push((card.family, flag));
            }
        }
    }
    all
}

/// The families that have options or examples of their own.
pub fn families() -> Vec<Family> {
    let has =
        |family: &Family| cards().any(|card| card.family == *family && card.all_flags().next().is_some());
    Family::ALL.into_iter().filter(has).collect()
}

fn arg(long: &'static str, flags: &[(Family, &'static Flag)]) -> Arg {
    let arg = Arg::new(long).long(long).help(help(flags)).help_heading(heading(flags));
    let Some((_, flag)) = flags.first() else { return arg };
    let arg = arg.conflicts_with_all(flag.conflicts).short(flag.short);
    match flag.means {
        _ if flag.value_name.is_empty() => arg.action(ArgAction::SetTrue),
        Means::Profile => arg
            .value_name(flag.value_name)
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value(Profiled::default().word())
            .value_parser(PossibleValuesParser::new(Profiled::WORDS)),
        Means::Tests => {
            let arg = arg.value_name(flag.value_name).action(ArgAction::Append);
            arg.value_delimiter(',').value_parser(tests(flags))
        }
        Means::Lines(_) => arg.value_name(flag.value_name).action(ArgAction::Append),
        _ => arg.value_name(flag.value_name),
    }
}

fn tests(flags: &[(Family, &Flag)]) -> PossibleValuesParser {
    let of = |card: &&Card| flags.iter().any(|(family, _)| *family == card.family);
    let mut names: Vec<&str> = Vec::new();
    for test in cards().filter(of).flat_map(|card| card.tests) {
        if !names.contains(&test.name) {
            names.push(test.name);
        }
    }
    PossibleValuesParser::new(names)
}

/// The help of an option; one for each family if they differ.
fn help(flags: &[(Family, &Flag)]) -> String {
    match flags {
        [(_, first), rest @ ..] if rest.iter().any(|(_, flag)| flag.says != first.says) => {
            let each = flags.iter().map(|(family, flag)| format!("{} ({})", flag.says, family.name()));
            each.collect::<Vec<_>>().join("; ")
        }
        [(_, first), ..] => first.says.to_owned(),
        [] => String::new(),
    }
}

fn heading(flags: &[(Family, &Flag)]) -> String {
    let names: Vec<&str> = flags.iter().map(|(family, _)| family.name()).collect();
    format!("Options of {}", names.join(" and "))
}

/// `run` with the options and examples of these families only; of none, where there are none.
pub fn narrowed(run: Command, families: &[Family]) -> Command {
    let run = flags().into_iter().fold(run, |run, (long, flags)| {
        let own: Vec<_> = flags.into_iter().filter(|(family, _)| families.contains(family)).collect();
        run.mut_arg(long, |_| arg(long, &own).hide(own.is_empty()))
    });
    let own: Vec<&Example> =
        cards().filter(|card| families.contains(&card.family)).flat_map(|card| card.examples).collect();
    if own.is_empty() { run } else { run.after_help(format!("Examples:\n{}", table(&own))) }
}

/// The families that command-line words name, by their own names or those of their instruments.
pub fn named(words: &[String]) -> Vec<Family> {
    let is_named = |family: &Family| {
        let own = |card: &Card| card.family == *family && words.iter().any(|word| word == card.name);
        let is_command = |word: &String| word == "--cmd" || word.starts_with("--cmd=");
        *family == Family::User && words.iter().any(is_command)
            || words.iter().any(|word| word == family.name())
            || cards().any(own)
    };
    Family::ALL.into_iter().filter(is_named).collect()
}

/// Examples as lines of a help text.
pub fn table(examples: &[&Example]) -> String {
    const WIDTH: usize = 78;
    const COLUMN: usize = 40;
    let line = |example: &&Example| {
        let Example { command, says } = example;
        match command.chars().count().max(COLUMN - 2) + 2 + says.chars().count() <= WIDTH - 2 {
            true => format!("  {command:0$}  {says}\n", COLUMN - 2),
            false => format!("  {command}\n      {says}\n"),
        }
    };
    examples.iter().map(line).collect()
}
