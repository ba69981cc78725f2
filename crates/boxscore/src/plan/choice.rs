//! Which instruments a run measures: those that are named, those of the tests that are picked, or the headline set.

use model::names::instrument::POWER;
use model::plan::Level;
use model::power::{COMMAND_FLAG, FLAG, TYPED_FLAG};
use model::{Cadence, Card, Family, Need, ParamKind, ParamSpec, Role, Tier};

use crate::cli::run::RunArgs;
use crate::error::{CliError, nearest};

/// How thorough a run is.
pub fn level(args: &RunArgs) -> Level {
    if args.soak.is_some() {
        return Level::Soak;
    }
    match (args.usual.quick, args.usual.full) {
        (true, _) if args.usual.names.is_empty() => Level::Quick,
        (_, true) => Level::Full,
        _ if args.usual.names.is_empty() && args.commands.is_empty() => Level::Default,
        _ => Level::Named,
    }
}

/// True if a run only records telemetry.
pub fn is_telemetry_alone(args: &RunArgs) -> bool {
    args.usual.names == [Family::Telemetry.name()]
}

/// The cards that a run measures, in the order in which they were named. Fails when a name is unknown, or an option is
/// given that none of the instruments named obeys.
pub fn cards(args: &RunArgs, all: &[&'static Card]) -> Result<Vec<&'static Card>, CliError> {
    let measured: Vec<&'static Card> =
        all.iter().filter(|card| card.cadence == Cadence::Repeat).copied().collect();
    let chosen = match () {
        () if is_telemetry_alone(args) => Vec::new(),
        () if !args.commands.is_empty() => {
            let is_command =
                |card: &&&'static Card| card.needs.contains(&Need::Command) && load_of(card).is_none();
            measured.iter().filter(is_command).map(|card| searched(args, card, &measured)).collect()
        }
        () if args.soak.is_some() => {
            let is_soaked = |card: &&Card| card.variants.iter().any(|variant| variant.tier == Tier::Soak);
            measured.into_iter().filter(is_soaked).collect()
        }
        () if args.usual.names.is_empty() => {
            let is_headline = |card: &&Card| is_usual(card) && !card.family.is_named_only();
            measured.into_iter().filter(is_headline).collect()
        }
        () => named(args, &measured, all)?,
    };
    match unobeyed(args, &chosen, all) {
        None => Ok(chosen),
        Some(error) => Err(error),
    }
}

/// True if the instrument itself is named, or one of its tests.
pub fn is_named(args: &RunArgs, card: &Card) -> bool {
    args.usual.names.iter().any(|name| name == card.name) || picked(args, card)
}

/// True if one of the instrument's tests is picked.
fn picked(args: &RunArgs, card: &Card) -> bool {
    card.tests.iter().any(|test| args.given.values("test").iter().any(|given| given == test.name))
}

/// True if an instrument needs nothing that only its user can name.
fn is_usual(card: &Card) -> bool {
    let is_asked = |need: &Need| matches!(need, Need::Objective | Need::Meter);
    is_nameable(card) && !card.needs.iter().any(is_asked)
}

fn is_nameable(card: &Card) -> bool {
    card.family != Family::User && !card.needs.contains(&Need::Files)
}

/// The cards that names stand for. A family stands for its usual instruments, or for those of the tests picked.
fn named(
    args: &RunArgs,
    measured: &[&'static Card],
    all: &[&'static Card],
) -> Result<Vec<&'static Card>, CliError> {
    let mut chosen: Vec<&'static Card> = Vec::new();
    for name in &args.usual.names {
        let own: Vec<&'static Card> = measured.iter().filter(|card| is_nameable(card)).copied().collect();
        let family = || own.iter().filter(|card| card.family.name() == name);
        let has_picked = family().any(|card| picked(args, card));
        let fits = |card: &&&Card| match has_picked {
            true => card.family.name() == name && picked(args, card),
            false => card.name == name || card.family.name() == name && is_usual(card),
        };
        let before = chosen.len();
        chosen.extend(own.iter().filter(fits).map(|card| searched(args, card, measured)));
        if chosen.len() == before {
            return Err(unknown(name, all));
        }
    }
    let mut seen = Vec::new();
    chosen.retain(|card| {
        let new = !seen.contains(&card.name);
        seen.push(card.name);
        new
    });
    Ok(chosen)
}

/// The names that options stand for where none is given: power is then that of work of our own.
pub fn names(args: &RunArgs) -> Option<Vec<String>> {
    let is_free = args.usual.names.is_empty() && args.commands.is_empty() && args.soak.is_none();
    let asks = [FLAG, COMMAND_FLAG, TYPED_FLAG].iter().any(|long| args.given.has(long));
    (is_free && asks).then(|| vec![POWER.to_owned()])
}

/// With a goal, the search for it in place of the load; the same with power.
fn searched(args: &RunArgs, card: &'static Card, all: &[&'static Card]) -> &'static Card {
    let is_search = |other: &&&Card| {
        let has_goal =
            || other.all_flags().any(|flag| args.given.has(flag.long) && card.flag(flag.long).is_none());
        load_of(other) == Some(card.name) && has_goal()
    };
    all.iter().find(is_search).copied().unwrap_or(card)
}

/// The load that a search is for, or of which the power is measured.
fn load_of(card: &Card) -> Option<&'static str> {
    match card.role {
        Role::Search { load, .. } => Some(load),
        Role::Power { load } => load,
        Role::Load { .. } | Role::Plain => None,
    }
}

/// The first option that no instrument named obeys.
fn unobeyed(args: &RunArgs, chosen: &[&Card], all: &[&Card]) -> Option<CliError> {
    let is_one_of = |names: &[&str]| args.usual.names.iter().any(|given| names.contains(&given.as_str()));
    for (long, values) in args.given.iter() {
        // The family names a test; a load obeys where it is named itself.
        let obeys = |card: &&Card| match card.role {
            _ if card.flags.iter().any(|flag| flag.long == long) => true,
            Role::Plain => is_one_of(&[card.name, card.family.name()]),
            Role::Load { .. } => is_one_of(&[card.name]),
            Role::Search { load, .. } => is_one_of(&[card.name, load]),
            Role::Power { load } => is_one_of(&[card.name, load.unwrap_or_default()]),
        };
        let owners: Vec<&&Card> = all.iter().filter(|card| card.flag(long).is_some()).collect();
        if long != "test" {
            if !chosen.iter().filter(|card| card.flag(long).is_some()).any(obeys) {
                let error = of_tests(long, chosen, &owners).unwrap_or_else(|| belongs(long, &owners));
                let instead = values.first().and_then(|value| instead(long, value, chosen, &owners));
                return Some(instead.into_iter().fold(error, CliError::hint));
            }
            continue;
        }
        for test in values {
            let owners: Vec<&&Card> =
                owners.iter().filter(|card| card.tests.iter().any(|one| one.name == test)).copied().collect();
            let family = owners.first()?.family;
            if let Some(card) = all.iter().find(|card| card.family == family && is_one_of(&[card.name])) {
                let error = CliError::usage(format!("--test and `{}` both name a test", card.name));
                return Some(error.hint(format!("boxscore run {} --test {test}", family.name())));
            }
            if !is_one_of(&[family.name()]) {
                return Some(belongs(long, &owners));
            }
        }
    }
    None
}

/// How the instrument named takes what the option of another one says: as a parameter of its own, or as the address of
/// what runs already. `None` where it has neither.
fn instead(long: &str, value: &str, chosen: &[&Card], owners: &[&&Card]) -> Option<String> {
    let card = chosen.iter().find(|card| owners.iter().any(|owner| owner.family == card.family))?;
    let is_address = |param: &&ParamSpec| matches!(param.part, model::Part::Address { .. });
    let of_owner = owners.iter().find_map(|owner| owner.params.iter().find(|param| param.name == long))?;
    let choice =
        card.params.iter().find(|param| matches!(param.kind, ParamKind::Choice(all) if all.contains(&value)));
    let address = card.params.iter().filter(is_address).find_map(|param| param.flag);
    let address = address.filter(|_| is_address(&of_owner));
    let here = choice.map(|param| format!("--set {}={value}", param.name));
    let there = address.map(|flag| format!("--{} {}", flag.long, flag.value_name));
    let ways: Vec<String> = here.into_iter().chain(there).collect();
    (!ways.is_empty()).then(|| format!("boxscore run {} {}", card.name, ways.join(", or ")))
}

/// The tests whose option it is, where other tests of their family were picked (a load of the family is no test of it).
fn of_tests(long: &str, chosen: &[&Card], owners: &[&&Card]) -> Option<CliError> {
    let tests = chosen.iter().filter(|card| matches!(card.role, Role::Plain));
    let family = tests.map(|card| card.family).find(|one| owners.iter().any(|own| own.family == *one))?;
    let own = owners.iter().filter(|card| card.family == family);
    let tests: Vec<&str> = own.flat_map(|card| card.tests).map(|test| test.name).collect();
    let first = tests.first()?;
    let noun = if tests.len() == 1 { "test" } else { "tests" };
    let error = CliError::usage(format!("--{long} belongs to the {noun} {}", tests.join(", ")));
    Some(error.hint(format!("boxscore run {} --test {first} --{long} ...", family.name())))
}

/// Whose an option is.
fn belongs(long: &str, owners: &[&&Card]) -> CliError {
    let mut whose: Vec<(&str, String)> = Vec::new();
    for card in owners {
        let name = load_of(card).unwrap_or(card.name);
        let one = match card.role {
            Role::Load { .. } | Role::Search { .. } | Role::Power { .. } if name != card.family.name() => {
                (name, format!("the load {name}"))
            }
            _ => (card.family.name(), format!("the family {}", card.family.name())),
        };
        if !whose.contains(&one) {
            whose.push(one);
        }
    }
    let names: Vec<&str> = whose.iter().map(|(_, says)| says.as_str()).collect();
    let error = CliError::usage(format!("--{long} belongs to {}", names.join(" or ")));
    match whose.first() {
        Some((name, _)) => error.hint(format!("boxscore run {name} --{long} ...")),
        None => error,
    }
}

/// The first instrument that has a parameter with that choice, as rows of the box score are called.
fn with_choice(name: &str, cards: &[&'static Card]) -> Option<(&'static Card, &'static str)> {
    let chosen = |param: &&ParamSpec| matches!(param.kind, ParamKind::Choice(all) if all.contains(&name));
    let of = |card: &&'static Card| Some((*card, card.params.iter().find(chosen)?.name));
    cards.iter().filter(|card| card.cadence == Cadence::Repeat).find_map(of)
}

/// Fails where a name is of no instrument and no family, with the nearest one.
pub fn check_names(names: &[String]) -> Result<(), CliError> {
    let cards = instruments::cards();
    let is_known = |name: &&String| {
        cards.iter().any(|card| card.name == name.as_str() || card.family.name() == name.as_str())
    };
    match names.iter().find(|name| !is_known(name)) {
        Some(name) => Err(unknown(name, cards)),
        None => Ok(()),
    }
}

fn unknown(name: &str, cards: &[&'static Card]) -> CliError {
    if let Some(card) = cards.iter().find(|card| card.name == name) {
        let when = match card.family {
            _ if card.needs.contains(&Need::Files) => {
                "are read, not measured: boxscore logs LABEL=access.log"
            }
            Family::User => "is run with --cmd",
            _ => "is read in every run by itself",
        };
        return CliError::usage(format!("`{name}` {when}"));
    }
    let names = (cards.iter().filter(|card| card.cadence == Cadence::Repeat).map(|card| card.name))
        .chain(Family::ALL.iter().map(|family| family.name()));
    let error = CliError::usage(format!("no instrument or family is called `{name}`"));
    if let Some((card, param)) = with_choice(name, cards) {
        return error.hint(format!(
            "it is {param}={name} of {card}: boxscore run {card} --set {param}={name}",
            card = card.name,
        ));
    }
    match nearest(name, names) {
        Some(near) => error.hint(format!("did you mean `{near}`? `boxscore list` shows them all")),
        None => error.hint("`boxscore list` shows them all"),
    }
}
