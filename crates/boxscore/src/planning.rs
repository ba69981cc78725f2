//! From the command line to a plan. It knows the cards, the number of CPUs and the NUMA nodes; of this machine it asks
//! only whether it can carry out what the user said, and only where it is to be measured here.

mod children;
mod fits;
mod kv;
pub mod mixes;
mod net;
mod runtime;
pub mod web;
mod words;

use std::sync::Arc;

use model::fake::FakeWorld;
use model::plan::{Command, Level, PLAN_VERSION, Takes};
use model::{Arm, Cadence, Card, Cell, Family, Need, Node, ParamKind, ParamSpec, Params, Plan, Setup, Tier};
use words::Word;

pub use model::params::parse_span;

use crate::cli::run::Args;
use crate::error::{CliError, nearest};

const QUICK_BUDGET: f64 = 110.0;
/// Of instruments that the user named: the command ends within 3 minutes.
const QUICK_NAMED_BUDGET: f64 = 165.0;
const DEFAULT_BUDGET: f64 = 570.0;
const TAKE_SECONDS: f64 = 0.05;
const TARGET: f64 = 0.02;

/// What variants are spread over.
#[derive(Clone, Debug, Default)]
pub struct Host {
    pub cpus: u32,
    pub nodes: Vec<Node>,
    /// The web server that `server=auto` stands for.
    pub server: &'static str,
    /// What instruments would be set up with here; none where it is measured elsewhere.
    pub setup: Option<Setup>,
}

impl Host {
    /// As much of it as `listed` CPUs leave.
    fn within(&self, listed: &[u32]) -> Host {
        let mut nodes = self.nodes.clone();
        nodes.iter_mut().for_each(|node| node.cpus.retain(|cpu| listed.contains(cpu)));
        let mut setup = self.setup.clone();
        setup.iter_mut().for_each(|setup| setup.cpus.retain(|cpu| listed.contains(cpu)));
        Host { cpus: u32::try_from(listed.len()).unwrap_or(u32::MAX), nodes, setup, ..*self }
    }
}

/// What belongs to a command needs one.
fn of_command(args: &Args) -> Result<(), CliError> {
    let given = match (args.metrics.is_empty(), &args.prepare) {
        (false, _) => "--metric",
        (true, Some(_)) => "--prepare",
        (true, None) => return Ok(()),
    };
    match &args.cmd {
        Some(_) => Ok(()),
        None => Err(CliError::usage(format!("{given} belongs to a command"))
            .hint(format!("boxscore run --cmd 'make -j8' {given} ..."))),
    }
}

/// The plan that the arguments ask for, and what the user should know of it beside.
pub fn plan(
    args: &Args,
    cards: &[&'static Card],
    host: &Host,
    seed: u64,
) -> Result<(Plan, Vec<String>), CliError> {
    of_command(args)?;
    let level = level(args);
    let telemetry_only = args.names == ["telemetry"];
    let command = command(args)?;
    let mix = args.mix.as_deref().map(|path| mixes::read("--mix", path)).transpose()?;
    let sets = fixed(args, mix.as_ref())?;
    let chosen = choose(args, cards, command.is_some(), telemetry_only)?;
    words::check(&sets, &chosen)?;
    let without = words::left_out(&sets, &chosen);
    let listed = args.cpus.as_deref().map(parse_cpus).transpose()?;
    let mut host = listed.as_ref().map_or_else(|| host.clone(), |listed| host.within(listed));
    if let (Some(setup), Some(named)) = (&mut host.setup, &mix) {
        setup.mix = Some(Arc::new(named.mix.clone()));
    }
    let cells = all_cells(args, &chosen, level, &sets, &host)?;
    let words::Arms { mut arms, words, said } = words::arms(args, &chosen, &sets)?;
    let (cells, implied) = web::settle(cells, &host, &chosen, &sets);
    let mut said = [without, said, implied].concat();
    let words = kv::without_login([sets, words].concat())?;
    web::agree(&words, arms.len())?;
    words::concern(&words, &cells, &arms, &chosen)?;
    let cells = distinct(kv::settle(args, cells, &words, &mut said), &arms, &chosen);
    let (cells, left_out) = match &host.setup {
        Some(setup) => fits::Asked { words: &words, arms: &arms, cards: &chosen, setup }.settle(cells)?,
        None => (cells, Vec::new()),
    };
    said.extend(left_out);
    let (takes, budget_seconds) = limits(args, level)?;
    let short = budget_seconds.filter(|_| args.quick && level == Level::Named);
    let (cells, no_time) = web::within(cells, arms.len(), short);
    said.extend(no_time);
    has_end(telemetry_only, budget_seconds)?;
    let warm_up = web::warm_up(args, &cells);
    if let Some(budget) = budget_seconds {
        said.extend(web::short_of_time(&cells, arms.len(), &takes, warm_up, budget));
    }
    let unchanged = words::unchanged(&cells, &arms, &chosen);
    if args.profile {
        web::profile(&cells, &mut arms)?;
    }
    let plan = Plan {
        version: PLAN_VERSION,
        seed,
        level,
        cells,
        arms,
        machines: children::machines(&args.via)?,
        generators: children::others(args, &chosen)?,
        takes,
        warm_up,
        take_seconds: TAKE_SECONDS,
        budget_seconds,
        cpus: listed,
        dir: args.dir.as_ref().map(|dir| dir.display().to_string()),
        command,
        telemetry_only,
        label: args.label.clone(),
        fake: args.fake.as_deref().map(fake).transpose()?,
        mixes: mix.map(|named| (named.name, named.mix)).into_iter().collect(),
        unchanged,
    };
    Ok((plan, said))
}

/// What records alone ends by the clock.
fn has_end(telemetry_only: bool, budget_seconds: Option<f64>) -> Result<(), CliError> {
    let error =
        || CliError::usage("`run telemetry` needs an end").hint("say how long, for example --for 24h");
    if telemetry_only && budget_seconds.is_none() { Err(error()) } else { Ok(()) }
}

/// The parameters that `--set` and the flags of families fix.
fn fixed(args: &Args, mix: Option<&mixes::Named>) -> Result<Vec<Word>, CliError> {
    let families = [web::flags(args, mix)?, net::flags(args)?, kv::flags(args)?, runtime::flags(args)?];
    Ok([words::sets(&args.sets)?, families.concat()].concat())
}

/// What each card measures where it is, before arms and what fits.
fn all_cells(
    args: &Args,
    chosen: &[&'static Card],
    level: Level,
    sets: &[Word],
    host: &Host,
) -> Result<Vec<Cell>, CliError> {
    let mut cells = Vec::new();
    for card in chosen {
        let host = children::spread(card, host, args.from.len());
        let level = net::level(card, args, level);
        cells.extend(card_cells(card, level, tier(card, level, args.arms.len()), sets, &host)?);
    }
    Ok(cells)
}

/// Reads a plan that somebody may have written by hand.
pub fn read(name: &str, text: &str, cards: &[&'static Card]) -> Result<Plan, CliError> {
    #[derive(serde::Deserialize)]
    struct Version {
        version: u32,
    }
    let at = |error: serde_json::Error| {
        CliError::data(format!("{name}:{}:{}: not a plan: {error}", error.line(), error.column()))
    };
    // First, since a newer plan may hold what this build cannot read.
    let Version { version } = serde_json::from_str(text).map_err(at)?;
    if version > PLAN_VERSION {
        return Err(CliError::data(format!(
            "{name}: a plan of version {version}; this boxscore knows versions up to {PLAN_VERSION}"
        )));
    }
    let plan: Plan = serde_json::from_str(text).map_err(at)?;
    match fault(&plan, cards) {
        None => Ok(plan),
        Some(what) => Err(CliError::data(format!("{name}: not a plan that can be carried out: {what}"))),
    }
}

/// Why a plan cannot be carried out, if so.
fn fault(plan: &Plan, cards: &[&'static Card]) -> Option<String> {
    let sound = |seconds: f64| seconds.is_finite() && seconds > 0.0;
    if plan.arms.is_empty() || plan.machines.is_empty() {
        return Some("it has no arm or no machine".to_owned());
    }
    if !sound(plan.take_seconds) || !plan.budget_seconds.is_none_or(sound) {
        return Some("its take_seconds or budget_seconds is no time above 0".to_owned());
    }
    if let Some(what) = plan.fake.as_ref().and_then(FakeWorld::fault) {
        return Some(format!("its planted world: {what}"));
    }
    if let Some(Err(unfit)) = plan.command.as_ref().map(instruments::workload::cmd::check) {
        return Some(unfit.why);
    }
    for (name, mix) in &plan.mixes {
        if let Err(what) = mix.check() {
            return Some(format!("its mix {name}: {what}"));
        }
    }
    for cell in &plan.cells {
        let Some(card) = cards.iter().find(|card| card.name == cell.instrument) else {
            return Some(format!("no instrument is called `{}`", cell.instrument));
        };
        if let Err(error) = card.resolve(&cell.params) {
            return Some(format!("{}: {error}", cell.instrument));
        }
    }
    None
}

fn level(args: &Args) -> Level {
    match (args.quick, args.full) {
        (true, _) if args.names.is_empty() => Level::Quick,
        (_, true) => Level::Full,
        _ if args.names.is_empty() && args.cmd.is_none() => Level::Default,
        _ => Level::Named,
    }
}

/// The cards that are measured.
fn choose(
    args: &Args,
    cards: &[&'static Card],
    command: bool,
    telemetry_only: bool,
) -> Result<Vec<&'static Card>, CliError> {
    let measured = |card: &&&'static Card| card.cadence == Cadence::Repeat;
    if telemetry_only {
        return Ok(Vec::new());
    }
    if command {
        return Ok(cards.iter().filter(measured).filter(|card| card.name == "cmd").copied().collect());
    }
    let own = |card: &&&'static Card| card.family != Family::User && !card.needs.contains(&Need::Files);
    let usual = |card: &&&'static Card| web::is_usual(card);
    let names = runtime::names(args, kv::names(args, net::names(args, web::names(args)?)?)?)?;
    if names.is_empty() {
        let alone = |card: &&&'static Card| net::is_alone(card) && kv::is_alone(card);
        return Ok(cards.iter().filter(measured).filter(own).filter(usual).filter(alone).copied().collect());
    }
    let mut chosen: Vec<&'static Card> = Vec::new();
    for name in &names {
        let before = chosen.len();
        let fits =
            |card: &&&'static Card| card.name == name || card.family.name() == name && web::is_usual(card);
        chosen.extend(cards.iter().filter(measured).filter(own).filter(fits).copied());
        if chosen.len() == before {
            return Err(unknown(name, cards));
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

/// The first instrument that has a parameter with that choice, as rows of the box score are called.
fn with_choice(name: &str, cards: &[&'static Card]) -> Option<(&'static Card, &'static str)> {
    let chosen = |param: &&ParamSpec| matches!(param.kind, ParamKind::Choice(all) if all.contains(&name));
    let of = |card: &&'static Card| Some((*card, card.params.iter().find(chosen)?.name));
    cards.iter().filter(|card| card.cadence == Cadence::Repeat).find_map(of)
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

/// How much of a card is measured: all of it when it is named, but in a study of several arms only what the default run
/// has of it, where it has anything.
fn tier(card: &Card, level: Level, arms: usize) -> Tier {
    let some = |tier: Tier| card.variants.iter().any(|variant| variant.tier <= tier);
    match level {
        Level::Named if arms > 1 && some(Tier::Default) => Tier::Default,
        level => level.tier(),
    }
}

/// The cells of one card at a level. A `--set` fixes a parameter in every variant; equal cells merge.
fn card_cells(
    card: &'static Card,
    level: Level,
    tier: Tier,
    sets: &[Word],
    host: &Host,
) -> Result<Vec<Cell>, CliError> {
    let wrong = |error: model::params::ParamError| CliError::usage(format!("{}: {error}", card.name));
    let fixed = words::fixed(sets, card);
    let mut cells: Vec<Cell> = Vec::new();
    for variant in card.variants.iter().filter(|variant| variant.tier <= tier) {
        let expanded = card.expand(variant, host.cpus, &host.nodes).map_err(wrong)?;
        for params in expanded.iter().flat_map(|params| fixed.iter().map(|fixed| params.with(fixed))) {
            let params = card.resolve(&params).map_err(wrong)?;
            let named = level == Level::Named;
            let headline: Vec<String> = match named {
                true => card
                    .metrics
                    .iter()
                    .filter(|m| {
                        m.better != model::Better::Neither || (card.name == "cmd" && m.name == "value")
                    })
                    .map(|m| m.name)
                    .collect::<Vec<_>>(),
                false => variant.headline.to_vec(),
            }
            .into_iter()
            .map(str::to_owned)
            .collect();
            match cells.iter_mut().find(|cell| cell.params == params) {
                Some(cell) => {
                    let new: Vec<String> =
                        headline.into_iter().filter(|name| !cell.headline.contains(name)).collect();
                    cell.headline.extend(new);
                }
                None => cells.push(Cell { instrument: card.name.to_owned(), params, headline }),
            }
        }
    }
    if card.variants.is_empty() && level == Level::Named {
        for fixed in &fixed {
            let params = card.resolve(fixed).map_err(wrong)?;
            let headline = card.metrics.iter().map(|metric| metric.name.to_owned()).collect();
            cells.push(Cell { instrument: card.name.to_owned(), params, headline });
        }
    }
    Ok(cells)
}

/// Cells that the arms make equal are one: with `--arm impl=fast --arm impl=chain` every size is measured once an arm,
/// not once for each implementation that the arms replace.
fn distinct(cells: Vec<Cell>, arms: &[Arm], chosen: &[&'static Card]) -> Vec<Cell> {
    let laid = |cell: &Cell| -> Vec<Params> {
        let card = chosen.iter().find(|card| card.name == cell.instrument);
        let lay = |arm: &Arm| card.and_then(|card| card.lay(&cell.params, &arm.set).ok());
        arms.iter().map(|arm| lay(arm).unwrap_or_else(|| cell.params.clone())).collect()
    };
    let mut kept: Vec<Cell> = Vec::new();
    for cell in cells {
        let same = |other: &&mut Cell| other.instrument == cell.instrument && laid(other) == laid(&cell);
        match kept.iter_mut().find(same) {
            Some(other) => {
                let new = cell.headline.iter().filter(|name| !other.headline.contains(name));
                let new: Vec<String> = new.cloned().collect();
                other.headline.extend(new);
            }
            None => kept.push(cell),
        }
    }
    kept
}

fn limits(args: &Args, level: Level) -> Result<(Takes, Option<f64>), CliError> {
    let target = match &args.target {
        None => TARGET,
        Some(text) => share("--target", text)?,
    };
    let takes = match args.takes {
        Some(n) => Takes::Fixed(n),
        None => Takes::Adaptive { quick: args.quick, target },
    };
    let budget = match (&args.span, level) {
        (Some(text), _) => Some(parse_span(text).ok_or_else(|| {
            CliError::usage(format!("--for {text}: not a duration")).hint("write it as 90s, 10m or 24h")
        })?),
        (None, _) if args.takes.is_some() => None,
        (None, Level::Quick) => Some(QUICK_BUDGET),
        (None, Level::Named) if args.quick => Some(QUICK_NAMED_BUDGET),
        (None, Level::Default) => Some(DEFAULT_BUDGET),
        // One run of a command may take longer than any budget of ours.
        (None, Level::Named) if args.cmd.is_none() && args.names != ["telemetry"] => Some(DEFAULT_BUDGET),
        (None, _) => None,
    };
    Ok((takes, budget))
}

/// A label must be able to stand where a run is named, and mean nothing else there.
pub fn check_label(label: Option<&str>) -> Result<(), CliError> {
    let Some(label) = label else { return Ok(()) };
    check_name(label).map_err(|why| {
        CliError::usage(format!("--label {why}")).hint("a short word, for example --label before")
    })
}

/// Why a label or a machine may not be called so.
pub fn check_name(label: &str) -> Result<(), String> {
    const MOST: usize = 80;
    let taken = || {
        let machines = crate::catalogue::machines().map_err(|error| error.to_string())?;
        let published = machines.iter().any(|machine| machine.name == label);
        Ok::<bool, String>(published || crate::catalogue::references().into_iter().any(|name| name == label))
    };
    let why = if label.trim().is_empty() {
        "is empty".to_owned()
    } else if label.chars().any(char::is_control) {
        "has control characters".to_owned()
    } else if label.chars().count() > MOST {
        format!("is longer than {MOST} characters")
    } else if label == "." || label == "latest" || label.starts_with("latest~") {
        format!("`{label}` means something else already")
    } else if taken()? {
        format!("`{label}` is the name of a machine that is part of boxscore")
    } else {
        return Ok(());
    };
    Err(why)
}

/// A share that a flag was given.
pub fn share(flag: &str, text: &str) -> Result<f64, CliError> {
    parse_share(text).ok_or_else(|| {
        CliError::usage(format!("{flag} {text}: not a share")).hint("write it as 2% or 0.02, above 0")
    })
}

/// `2%` or `0.02`.
fn parse_share(text: &str) -> Option<f64> {
    let (number, scale) = match text.trim().strip_suffix('%') {
        Some(number) => (number.trim(), 100.0),
        None => (text.trim(), 1.0),
    };
    let share = number.parse::<f64>().ok()? / scale;
    (share.is_finite() && share > 0.0 && share < 10.0).then_some(share)
}

/// The CPUs of `--cpus`.
pub fn parse_cpus(list: &str) -> Result<Vec<u32>, CliError> {
    model::params::parse_cpus(list)
        .ok_or_else(|| CliError::usage(format!("--cpus {list}: not a CPU list")).hint("write it as 0-3,8"))
}

fn command(args: &Args) -> Result<Option<Command>, CliError> {
    let Some(run) = &args.cmd else { return Ok(None) };
    let mut command = Command { run: run.clone(), prepare: args.prepare.clone(), ..Command::default() };
    for text in &args.metrics {
        let Some((name, regex)) = text.split_once('=') else {
            return Err(CliError::usage(format!("--metric {text}: not of the form NAME=REGEX")));
        };
        if command.metrics.insert(name.trim().to_owned(), regex.to_owned()).is_some() {
            return Err(CliError::usage(format!("--metric: `{}` is given twice", name.trim())));
        }
    }
    instruments::workload::cmd::check(&command).map_err(|unfit| {
        CliError::usage(unfit.why).hint("for example --cmd './bench' --metric 'tps=rate: ([0-9.]+)'")
    })?;
    Ok(Some(command))
}

/// Reads a planted world.
pub fn fake(path: &std::path::Path) -> Result<FakeWorld, CliError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| CliError::data(format!("--fake {}: {error}", path.display())))?;
    let hint = "docs/fake.md describes a planted world";
    let world: FakeWorld = serde_json::from_str(&text).map_err(|error| {
        CliError::data(format!("{}:{}:{}: {error}", path.display(), error.line(), error.column())).hint(hint)
    })?;
    match world.fault() {
        None => Ok(world),
        Some(what) => Err(CliError::data(format!("{}: {what}", path.display())).hint(hint)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The CPU lists and nodes of the cells that are bound to a node.
    fn matrix(instrument: &str, host: &Host, args: &Args) -> Vec<(String, String, String)> {
        let cards: Vec<_> = instruments::all().iter().map(|one| one.card()).collect();
        let cells = plan(args, &cards, host, 1).unwrap().0.cells;
        let bound = cells.iter().filter(|cell| cell.instrument == instrument);
        let of = |cell: &Cell, key: &str| cell.params.get(key).unwrap_or_default().to_owned();
        let bound = bound.filter(|cell| of(cell, "node") != "any");
        let mut all: Vec<_> =
            bound.map(|cell| (of(cell, "threads"), of(cell, "cpus"), of(cell, "node"))).collect();
        all.sort();
        all
    }

    #[test]
    fn a_full_run_has_the_matrix_of_nodes() {
        let node = |id, cpus: &[u32]| Node { id, cpus: cpus.to_vec(), memory: true };
        let two =
            Host { cpus: 4, nodes: vec![node(0, &[0, 1]), node(1, &[2, 3])], server: "nginx", setup: None };
        let full = Args { full: true, ..Args::default() };
        let pairs = |threads: &str| {
            [("0-1", "0"), ("0-1", "1"), ("2-3", "0"), ("2-3", "1")]
                .map(|(cpus, node)| (threads.to_owned(), cpus.to_owned(), node.to_owned()))
        };
        assert_eq!(matrix("mem-latency", &two, &full), pairs("1"));
        assert_eq!(matrix("mem-bandwidth", &two, &full), [pairs("1"), pairs("all")].concat());
        let some = Args { cpus: Some("1-2".to_owned()), ..full.clone() };
        let lists: Vec<String> = matrix("mem-latency", &two, &some).into_iter().map(|cell| cell.1).collect();
        assert_eq!(lists, ["1", "1", "2", "2"]);
        let one = Host { cpus: 4, nodes: vec![node(0, &[0, 1, 2, 3])], server: "nginx", setup: None };
        assert_eq!(matrix("mem-latency", &one, &full), []);
        assert_eq!(matrix("mem-bandwidth", &one, &full), []);
        assert_eq!(matrix("mem-latency", &two, &Args::default()), []);
    }

    #[test]
    fn spans_and_shares() {
        assert_eq!(parse_span("90s"), Some(90.0));
        assert_eq!(parse_span("1h30m"), Some(5400.0));
        assert_eq!(parse_span("24h"), Some(86400.0));
        assert_eq!(parse_span("10"), Some(10.0));
        assert_eq!(parse_span("10 parsecs"), None);
        assert_eq!(parse_span("-1s"), None);
        assert_eq!(parse_share("2%"), Some(0.02));
        assert_eq!(parse_share("0.02"), Some(0.02));
        assert_eq!(parse_share("0"), None);
    }
}
