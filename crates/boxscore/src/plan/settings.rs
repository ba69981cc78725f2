//! The parameters that the command line fixes, each with the option that fixes it, so that an error can name it.
//!
//! Two settings of one parameter that differ are refused; none is preferred.

use std::collections::BTreeSet;

use model::params::Implied;
use model::plan::Target;
use model::{Arm, Card, Cell, Flag, Means, ParamKind, ParamSpec, Params};

use super::cluster;
use super::mixes::Named;
use super::setting::{Scope, Setting};
use super::targets::{self, Given};
use super::trees::NamedTree;
use super::{command, flags, listen, scan};
use crate::cli::run::RunArgs;
use crate::error::{CliError, nearest};
use crate::study::login;

/// The parameters that the command line fixes.
#[derive(Debug, Default)]
pub struct Settings {
    /// In every arm.
    pub fixed: Vec<Setting>,
    pub arms: Vec<Arm>,
    /// Those that the arms are of, in their order; none where arms are settings alone.
    pub targets: Vec<Target>,
    pub of_arms: Vec<Setting>,
    pub mix: Option<Named>,
    pub tree: Option<NamedTree>,
    pub notes: Vec<String>,
}

/// `--in` of servers and stores that are started here, where it is given once.
fn inside(args: &RunArgs) -> Vec<Setting> {
    match args.commands.inside.as_slice() {
        [one] if args.commands.is_empty() => {
            vec![Setting::new(&format!("--in {one}"), Scope::All, "in", one)]
        }
        _ => Vec::new(),
    }
}

/// An arm for each of several `--in` of servers. Fails beside other arms.
fn containers(args: &RunArgs) -> Result<Vec<String>, CliError> {
    let given = args.commands.inside.as_slice();
    if !args.commands.is_empty() || given.len() < 2 {
        return Ok(Vec::new());
    }
    match args.arms.is_empty() && args.scans.is_empty() && args.on.targets.is_empty() {
        true => Ok(given.iter().map(|one| format!("in={one}")).collect()),
        false => Err(CliError::usage(
            "several --in are arms of their own, and beside --arm, --scan or --target they are not",
        )
        .hint("say it in each arm: --arm in=podman:app:1,workers=2 --arm in=podman:app:2,workers=2")),
    }
}

impl Settings {
    /// Reads `--set`, the options of the chosen cards, and `--arm`, which may fill the placeholders `free`. Fails when
    /// a setting means nothing to any card, is impossible, or differs from another one.
    pub fn read(
        args: &RunArgs,
        chosen: &[&'static Card],
        free: &BTreeSet<String>,
    ) -> Result<Settings, CliError> {
        let of_flags = flags::read(args, chosen)?;
        let fixed = [sets(&args.usual.sets)?, of_flags.settings, inside(args)].concat();
        check(&fixed, chosen)?;
        let mut all = Settings { fixed, mix: of_flags.mix, tree: of_flags.tree, ..Settings::default() };
        all.notes = left_out(&all.fixed, chosen);
        all.read_arms(args, chosen, free)?;
        if !args.on.targets.is_empty() {
            all.read_targets(args, chosen)?;
        }
        let listens = listen::implied(&all, args, chosen);
        all.fixed.extend(listens);
        let of_cluster = cluster::implied(&all, args, chosen)?;
        all.fixed.extend(of_cluster);
        // A plan is stored, and no user name or password with it.
        login::refuse(all.all().map(|setting| (setting.key.as_str(), setting.value.as_str())))?;
        all.check_rates()?;
        Ok(all)
    }

    /// Those of every arm and those of one.
    pub fn all(&self) -> impl Iterator<Item = &Setting> {
        self.fixed.iter().chain(&self.of_arms)
    }

    /// The fixed parameters of a card, a set for each combination of values; none if it has no value of a setting.
    pub fn fixed_for(&self, card: &Card) -> Vec<Params> {
        let mut sets = vec![Params::default()];
        for setting in self.fixed.iter().filter(|setting| setting.is_for(card)) {
            let values = card.param(&setting.key).map(|spec| setting.values(spec)).unwrap_or_default();
            let with = |set: &Params, value: &str| {
                let mut set = set.clone();
                set.set(&setting.key, value);
                set
            };
            sets = sets.iter().flat_map(|set| values.iter().map(|value| with(set, value))).collect();
        }
        sets
    }

    /// True if a parameter of a card is fixed in an arm at least.
    pub fn fixes(&self, card: &Card, key: &str) -> bool {
        self.all().any(|setting| setting.key == key && setting.is_for(card))
    }

    /// `--arm k=v,...`, beside what is fixed for all of them.
    fn read_arms(
        &mut self,
        args: &RunArgs,
        chosen: &[&'static Card],
        free: &BTreeSet<String>,
    ) -> Result<(), CliError> {
        let texts = [scan::arms(&args.arms, &args.scans)?, containers(args)?].concat();
        if texts.is_empty() {
            self.arms.push(Arm { name: String::new(), set: Params::default() });
        }
        for (index, text) in texts.iter().enumerate() {
            let set =
                Params::parse(text).map_err(|error| CliError::usage(format!("--arm {text}: {error}")))?;
            let mut clean = Params::default();
            for (key, value) in &set {
                let plain = Setting::new(&format!("--arm {key}={value}"), Scope::All, key, value);
                let setting = Setting { arm: Some(index), ..plain };
                let differs = |other: &&Setting| other.key == *key && other.value != *value;
                if let Some(other) = self.fixed.iter().find(differs) {
                    return Err(twice(other, &setting));
                }
                clean.set(key, &canonical(&setting, chosen, free)?);
                self.of_arms.push(setting);
            }
            let name = clean.to_string();
            if self.arms.iter().any(|arm| arm.name == name) {
                return Err(CliError::usage(format!("--arm {text} is given twice")));
            }
            // What is implied fills a gap and replaces no other setting.
            let implied = chosen.iter().find_map(|card| Some(card.implied(&clean)?.1));
            let is_free = |implied: &Implied| self.fixed.iter().all(|setting| setting.key != implied.param);
            if let Some(implied) = implied.filter(is_free) {
                clean.set(implied.param, implied.value);
                let whole = Setting::new(&format!("--arm {text}"), Scope::All, "", "");
                self.notes.push(whole.taken_as(&implied));
            }
            self.arms.push(Arm { name, set: clean });
        }
        Ok(())
    }

    /// `--target NAME=ADDRESS`: each in every arm that is there, the targets of one arm side by side.
    fn read_targets(&mut self, args: &RunArgs, chosen: &[&'static Card]) -> Result<(), CliError> {
        let given = targets::read(&args.on.targets)?;
        let (arms, of_arms) = (std::mem::take(&mut self.arms), std::mem::take(&mut self.of_arms));
        self.targets = given.iter().map(Given::target).collect();
        let mut plain: Vec<(Arm, Vec<Setting>)> = Vec::new();
        for one in &given {
            let own = targets::settings(one, chosen)?;
            let mut set = Params::default();
            for setting in &own {
                let differs = |other: &&Setting| other.key == setting.key && other.value != setting.value;
                if let Some(other) = self.fixed.iter().chain(&of_arms).find(differs) {
                    return Err(twice(other, setting));
                }
                set.set(&setting.key, &canonical(setting, chosen, &BTreeSet::new())?);
            }
            plain.push((Arm { name: one.name.clone(), set }, own));
        }
        for (index, arm) in arms.iter().enumerate() {
            let beside = of_arms.iter().filter(|setting| setting.arm == Some(index));
            for (target, (one, own)) in self.targets.iter_mut().zip(&plain) {
                let number = Some(self.arms.len());
                let settings = own.iter().chain(beside.clone()).cloned();
                self.of_arms.extend(settings.map(|setting| Setting { arm: number, ..setting }));
                let name = match arm.name.as_str() {
                    "" => one.name.clone(),
                    name => format!("{} {name}", one.name),
                };
                target.arms.extend((!arm.name.is_empty()).then(|| name.clone()));
                self.arms.push(Arm { name, set: one.set.with(&arm.set) });
            }
        }
        let plain: Vec<Arm> = plain.into_iter().map(|(arm, _)| arm).collect();
        targets::distinct(&plain)?;
        self.notes.extend(targets::shared(&given));
        self.notes.extend(targets::how_compared(&self.targets));
        Ok(())
    }

    /// A closed loop has no rate, whatever the other settings are and on whatever machine.
    fn check_rates(&self) -> Result<(), CliError> {
        for arm in 0..self.arms.len().max(1) {
            let find = |key: &str| {
                let mut mine = self.all().filter(|setting| setting.arm.is_none_or(|of| of == arm));
                mine.find(|setting| setting.key == key && setting.value != "auto")
            };
            let closed = find("arrivals").filter(|setting| setting.value == "closed");
            if let (Some(closed), Some(rate)) = (closed, find("rate").or_else(|| find("load"))) {
                let flags = format!("{} and {}", closed.flag, rate.flag);
                return Err(CliError::usage(format!(
                    "{flags} cannot go together: a closed loop has no rate"
                ))
                .hint("arrivals=constant or arrivals=poisson have one"));
            }
        }
        Ok(())
    }

    /// Fails when a setting has no effect: some parameters are there only where another one has certain values.
    pub fn check_effect(&self, cells: &[Cell], chosen: &[&'static Card]) -> Result<(), CliError> {
        for setting in self.all() {
            let none = Params::default();
            let set = setting.arm.and_then(|arm| self.arms.get(arm)).map_or(&none, |arm| &arm.set);
            let has = |card: &Card| {
                let mut own = cells.iter().filter(|cell| cell.instrument == card.name);
                own.any(|cell| card.lay(&cell.params, set).is_ok_and(|all| all.get(&setting.key).is_some()))
            };
            let cards = || chosen.iter().filter(|card| setting.is_for(card));
            let condition = |card: &&&'static Card| match card.param(&setting.key)?.kind {
                ParamKind::Only(key, values, _) => Some(format!("{key} is {}", values.join(" or "))),
                _ => None,
            };
            let conditions: Vec<String> = cards().filter_map(|card| condition(&card)).collect();
            if conditions.len() < cards().count() || cards().any(|card| has(card)) {
                continue;
            }
            if let Some(condition) = conditions.first() {
                let why = format!("`{}` is there only where {condition}", setting.key);
                return Err(CliError::usage(format!("{} has no effect: {why}", setting.flag)));
            }
        }
        Ok(())
    }

    /// Numbers of the cells that no arm changes.
    pub fn unchanged(&self, cells: &[Cell], chosen: &[&'static Card]) -> Vec<u32> {
        let is_bound = self.arms.iter().any(|arm| arm.set.get("cpus").is_some());
        // A command is no parameter of its cell, and differs from arm to arm all the same.
        if self.arms.len() < 2 || is_bound || command::is_measured(chosen) {
            return Vec::new();
        }
        let is_same = |cell: &Cell| {
            let Some(card) = chosen.iter().find(|card| card.name == cell.instrument) else { return false };
            let laid: Result<Vec<Params>, _> =
                self.arms.iter().map(|arm| card.lay(&cell.params, &arm.set)).collect();
            laid.is_ok_and(|laid| laid.windows(2).all(|pair| pair[0] == pair[1]))
        };
        (0u32..).zip(cells).filter(|(_, cell)| is_same(cell)).map(|(number, _)| number).collect()
    }
}

/// `--set k=v` or `--set instrument.k=v`.
fn sets(given: &[String]) -> Result<Vec<Setting>, CliError> {
    let mut settings = Vec::new();
    for text in given {
        let pairs = Params::parse(text).map_err(|error| CliError::usage(format!("--set {text}: {error}")))?;
        for (key, value) in &pairs {
            let flag = format!("--set {key}={value}");
            let (scope, key) = match key.split_once('.') {
                Some((instrument, key)) => (Scope::Instrument(instrument.to_owned()), key),
                None => (Scope::All, key.as_str()),
            };
            settings.push(Setting::new(&flag, scope, key, value));
        }
    }
    Ok(settings)
}

/// Fails when a setting means nothing to any of the instruments, is not what their cards allow, or differs from another
/// setting of the same parameter.
fn check(settings: &[Setting], chosen: &[&'static Card]) -> Result<(), CliError> {
    for (index, setting) in settings.iter().enumerate() {
        let cards = chosen.iter().filter(|card| setting.is_for(card));
        let specs: Vec<_> = cards.filter_map(|card| card.param(&setting.key)).collect();
        if specs.is_empty() {
            return Err(unknown(setting, chosen));
        }
        possible(setting, &specs).map_err(|error| error.maybe_hint(own_files(setting, chosen)))?;
        let clashes = |other: &&Setting| other.key == setting.key && other.scope.clashes(&setting.scope);
        let mut earlier = settings[..index].iter().filter(clashes);
        if let Some(other) = earlier.find(|other| other.value != setting.value) {
            return Err(twice(other, setting));
        }
    }
    Ok(())
}

/// A word of a list must be one of those of a card at least, any other value of every card.
fn possible(setting: &Setting, specs: &[&ParamSpec]) -> Result<(), CliError> {
    let wrong =
        |kind: ParamKind| CliError::usage(format!("{} is not possible: {}", setting.flag, kind.wanted()));
    let (listed, free): (Vec<&ParamSpec>, Vec<&ParamSpec>) =
        specs.iter().partition(|spec| spec.kind.choices().is_some());
    let is_wrong =
        |spec: &&&ParamSpec| setting.values(spec).iter().any(|value| spec.kind.canonical(value).is_none());
    if let Some(spec) = free.iter().find(is_wrong) {
        return Err(wrong(spec.kind));
    }
    let is_known = |value: &str| listed.iter().any(|spec| spec.kind.canonical(value).is_some());
    match listed.first() {
        Some(spec) if !setting.each().all(is_known) => Err(wrong(spec.kind)),
        _ => Ok(()),
    }
}

/// The option that takes files of the user's, of the parameter that says which are served.
fn own_files(setting: &Setting, chosen: &[&'static Card]) -> Option<String> {
    let mut flags = chosen.iter().flat_map(|card| card.all_flags());
    let is_of_it = |flag: &&Flag| match flag.means {
        Means::Tree { content: (content, _), .. } => content == setting.key,
        _ => false,
    };
    flags
        .find(is_of_it)
        .map(|flag| format!("files of any size of yours: --{} {}", flag.long, flag.value_name))
}

fn unknown(setting: &Setting, chosen: &[&'static Card]) -> CliError {
    let (flag, key) = (&setting.flag, &setting.key);
    let known = chosen.iter().flat_map(|card| card.params.iter().map(|param| param.name));
    let error = CliError::usage(format!("{flag}: no instrument of this run has the parameter `{key}`"));
    match nearest(key, known) {
        Some(near) => {
            error.hint(format!("did you mean `{near}`? `boxscore list --long` shows the parameters"))
        }
        None => error.hint("`boxscore list --long` shows the parameters of each"),
    }
}

fn no_placeholder(setting: &Setting) -> CliError {
    let key = &setting.key;
    CliError::usage(format!("{}: no command has the placeholder {{{key}}}", setting.flag))
        .hint(format!("write it where its value shall stand: --cmd 'prog --{key} {{{key}}}'"))
}

fn twice(one: &Setting, other: &Setting) -> CliError {
    CliError::usage(format!("{} and {} cannot both be", one.flag, other.flag))
        .hint(format!("say {} once, or give each value an --arm of its own", other.key))
}

/// Notes on cards that are not measured, since they have none of a setting's values.
fn left_out(settings: &[Setting], chosen: &[&'static Card]) -> Vec<String> {
    let mut notes = Vec::new();
    for card in chosen {
        let none = settings.iter().filter(|setting| setting.is_for(card)).find_map(|setting| {
            let spec = card.param(&setting.key)?;
            let has = spec.kind.wanted();
            setting.values(spec).is_empty().then(|| format!("{}, and it has {has}", setting.flag))
        });
        notes.extend(none.map(|why| format!("{} is left out: {why}", card.name)));
    }
    notes
}

/// The canonical value of a setting of an arm; `free` are placeholders of commands, which may be any text.
fn canonical(
    setting: &Setting,
    chosen: &[&'static Card],
    free: &BTreeSet<String>,
) -> Result<String, CliError> {
    let kind = chosen.iter().find_map(|card| card.param(&setting.key)).map(|spec| spec.kind);
    let kind = match kind {
        None if setting.key == "cpus" => ParamKind::Cpus,
        None if free.contains(&setting.key) => return Ok(setting.value.clone()),
        None if command::is_measured(chosen) => return Err(no_placeholder(setting)),
        None => return Err(unknown(setting, chosen)),
        Some(kind) => kind,
    };
    let wrong = || CliError::usage(format!("{} is not possible: {}", setting.flag, kind.wanted()));
    kind.canonical(&setting.value).ok_or_else(wrong)
}
