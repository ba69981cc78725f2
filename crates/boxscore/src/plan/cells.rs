//! The cells of a plan: every parameter set of every instrument, with what the settings fix laid over it.

use model::plan::Level;
use model::url::Scheme;
use model::{Arm, Better, Card, Cell, ParamSpec, Params, Part, Role, Tier, Variant};

use super::host::Host;
use super::settings::Settings;
use super::{children, choice};
use crate::cli::run::RunArgs;
use crate::error::CliError;

const SERVER: &str = "server";
const AUTO: &str = "auto";
const RATE: &str = "rate";

/// The cells of each card, before arms and before the check of what fits here, with notes for the user. Fails when a
/// value is impossible.
pub fn make(
    args: &RunArgs,
    chosen: &[&'static Card],
    level: Level,
    settings: &Settings,
    host: &Host,
) -> Result<(Vec<Cell>, Vec<String>), CliError> {
    let (mut cells, mut notes) = (Vec::new(), Vec::new());
    for card in chosen {
        let host = children::spread(card, host, args.from.len());
        let level = level_of(card, args, level);
        let own = card_cells(card, level, tier(card, level, settings.arms.len()), settings, &host)?;
        let mut own: Vec<Cell> = own.into_iter().filter(|cell| is_of_server(card, cell, settings)).collect();
        for cell in &mut own {
            notes.extend(name_server(card, cell, settings, host.server));
        }
        cells.extend(own);
    }
    notes.dedup();
    Ok((cells, notes))
}

/// How much of a card is measured: a quick run has the quick variants too where they are named, and all of a card that
/// is named itself, or by one of its tests, and has none.
fn level_of(card: &Card, args: &RunArgs, level: Level) -> Level {
    let has_quick = card.variants.iter().any(|variant| variant.tier <= Tier::Quick);
    let is_quick = args.usual.quick && card.family.is_named_only();
    if is_quick && (has_quick || !choice::is_named(args, card)) { Level::Quick } else { level }
}

/// How much of a card is measured: all of it when it is named, but in a study of several arms only what the default run
/// has of it, where it has anything.
fn tier(card: &Card, level: Level, arms: usize) -> Tier {
    let has = |tier: Tier| card.variants.iter().any(|variant| tier.has(variant.tier));
    match level {
        Level::Named if arms > 1 && has(Tier::Default) => Tier::Default,
        level => level.tier(),
    }
}

/// Rows of the box score: of a named instrument every figure with a good direction, else those of the variant.
fn headline(card: &Card, variant: &Variant, level: Level) -> Vec<String> {
    // Of power the levels between idle and saturation are its curve.
    if level != Level::Named || matches!(card.role, Role::Power { .. }) {
        return variant.headline.iter().map(|name| (*name).to_owned()).collect();
    }
    let is_row = |better: Better, name: &str| better != Better::Neither || variant.headline.contains(&name);
    let rows = card.metrics.iter().filter(|metric| is_row(metric.better, metric.name));
    rows.map(|metric| metric.name.to_owned()).collect()
}

fn add(headline: &mut Vec<String>, more: Vec<String>) {
    let new: Vec<String> = more.into_iter().filter(|name| !headline.contains(name)).collect();
    headline.extend(new);
}

/// The cells of one card at a level. A `--set` fixes a parameter in every variant; equal cells merge.
fn card_cells(
    card: &'static Card,
    level: Level,
    tier: Tier,
    settings: &Settings,
    host: &Host,
) -> Result<Vec<Cell>, CliError> {
    let wrong = |error: model::params::ParamError| CliError::usage(format!("{}: {error}", card.name));
    let fixed = settings.fixed_for(card);
    let mut cells: Vec<Cell> = Vec::new();
    for variant in card.variants.iter().filter(|variant| tier.has(variant.tier)) {
        let expanded = card.expand(variant, host.cpus, &host.nodes).map_err(wrong)?;
        for params in expanded.iter().flat_map(|params| fixed.iter().map(|fixed| params.with(fixed))) {
            let params = card.resolve(&params).map_err(wrong)?;
            let headline = headline(card, variant, level);
            match cells.iter_mut().find(|cell| cell.params == params) {
                Some(cell) => add(&mut cell.headline, headline),
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

/// A server that is the user's is as it is: of that there are no variants with a parameter that only a server of ours
/// has, unless the user asks for its value. Nor is one offered a fixed rate that nobody asked for: it may be a thousand
/// times what the server can do, and shares of its capacity are offered anyway.
fn is_of_server(card: &Card, cell: &Cell, settings: &Settings) -> bool {
    let is_varied = |spec: &ParamSpec| {
        // One without a value of its own has none in a cell.
        let value = cell.params.get(spec.name).unwrap_or(spec.default);
        spec.part == Part::Server && value != spec.default && !settings.fixes(card, spec.name)
    };
    let is_rate = |spec: &ParamSpec| spec.name == RATE && cell.params.get(RATE) != Some(spec.default);
    let is_foreign_rate = card.params.iter().any(is_rate) && !settings.fixes(card, RATE);
    is_ours(card, &cell.params, settings) || !(card.params.iter().any(is_varied) || is_foreign_rate)
}

/// True if the server is ours in one of the arms at least.
fn is_ours(card: &Card, params: &Params, settings: &Settings) -> bool {
    let in_arm = |arm: &Arm| match card.lay(params, &arm.set) {
        Ok(laid) => card.is_server_ours(&laid),
        // It is refused where the arms are read.
        Err(_) => card.is_server_ours(params),
    };
    settings.arms.iter().any(in_arm)
}

/// Names the server that a cell is about, so that results of different servers are never taken for the same. Returns
/// what follows from the settings.
fn name_server(card: &Card, cell: &mut Cell, settings: &Settings, usual: &str) -> Option<String> {
    if let Some(store) = cell.params.get("url").and_then(Scheme::of_store_url) {
        cell.params.set(SERVER, store.name());
        return None;
    }
    let implied = card.implied(&cell.params);
    let note = implied.and_then(|(from, implied)| {
        let setting = settings.fixed.iter().find(|setting| setting.key == from)?;
        Some(setting.taken_as(&implied))
    });
    if let Some((_, implied)) = implied {
        cell.params.set(implied.param, implied.value);
    } else if is_ours(card, &cell.params, settings) && cell.params.get(SERVER) == Some(AUTO) {
        cell.params.set(SERVER, usual);
    }
    note
}

/// Cells with those that the arms make equal merged into one: with `--arm impl=fast --arm impl=chain` every size is
/// measured once an arm, not once for each implementation that the arms replace.
pub fn merged(cells: Vec<Cell>, arms: &[Arm], chosen: &[&'static Card]) -> Vec<Cell> {
    let laid = |cell: &Cell| -> Vec<Params> {
        let card = chosen.iter().find(|card| card.name == cell.instrument);
        let lay = |arm: &Arm| card.and_then(|card| card.lay(&cell.params, &arm.set).ok());
        arms.iter().map(|arm| lay(arm).unwrap_or_else(|| cell.params.clone())).collect()
    };
    let mut kept: Vec<Cell> = Vec::new();
    for cell in cells {
        let same = |other: &&mut Cell| other.instrument == cell.instrument && laid(other) == laid(&cell);
        match kept.iter_mut().find(same) {
            Some(other) => add(&mut other.headline, cell.headline),
            None => kept.push(cell),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use model::Node;

    use super::*;
    use crate::cli::run::Usual;
    use crate::plan::plan;

    /// The CPU lists and nodes of the cells that are bound to a node.
    fn matrix(instrument: &str, host: &Host, args: &RunArgs) -> Vec<(String, String, String)> {
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
        let usual = Usual { full: true, ..Usual::default() };
        let full = RunArgs { usual: usual.clone(), ..RunArgs::default() };
        let pairs = |threads: &str| {
            [("0-1", "0"), ("0-1", "1"), ("2-3", "0"), ("2-3", "1")]
                .map(|(cpus, node)| (threads.to_owned(), cpus.to_owned(), node.to_owned()))
        };
        assert_eq!(matrix("mem-latency", &two, &full), pairs("1"));
        assert_eq!(matrix("mem-bandwidth", &two, &full), [pairs("1"), pairs("all")].concat());
        let usual = Usual { cpus: Some("1-2".to_owned()), ..usual };
        let some = RunArgs { usual, ..RunArgs::default() };
        let lists: Vec<String> = matrix("mem-latency", &two, &some).into_iter().map(|cell| cell.1).collect();
        assert_eq!(lists, ["1", "1", "2", "2"]);
        let one = Host { cpus: 4, nodes: vec![node(0, &[0, 1, 2, 3])], server: "nginx", setup: None };
        assert_eq!(matrix("mem-latency", &one, &full), []);
        assert_eq!(matrix("mem-bandwidth", &one, &full), []);
        assert_eq!(matrix("mem-latency", &two, &RunArgs::default()), []);
    }
}
