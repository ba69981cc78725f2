//! `boxscore decide`: which boxes do the work, how many, at what cost, and what would change that.
//!
//! `asked` reads the command line and the file as text, `inputs`, `demand` and `prices` make numbers of it, `sides` and
//! `candidates` look up what was measured. `verdict::decide` draws the conclusion.

mod asked;
mod candidates;
mod changed;
mod demand;
mod inputs;
mod knee;
mod page;
mod prices;
mod scaling;
mod sides;
mod watts;

use model::decision::Key;
use model::doc::{DecideDoc, InputDoc};
use model::need::Need;
use verdict::decide::capacity::Definitions;
use verdict::decide::{Candidate, Question, decide};
use verdict::{JudgedSide, RunContext, Side};

use crate::cli::Global;
use crate::cli::decide::{DecideArgs, FailOn, Format};
use crate::error::{CliError, Kind};
use crate::lookup::paths;
use crate::lookup::resolve::{Loaded, Resolver};
use crate::out;

use asked::Asked;
use candidates::Measured;
use demand::Demands;
use inputs::Inputs;
use prices::Prices;
use scaling::Wish;

pub fn run(args: &DecideArgs, global: &Global) -> Result<u8, CliError> {
    let asked = Asked::new(args)?;
    // What cannot be read is said before logs are.
    let before = args.against.as_deref().map(changed::stored).transpose()?;
    let inputs = Inputs::read(&asked)?;
    let prices = Prices::read(&asked, inputs.currency.clone(), now(), inputs.stale_s)?;
    let mut resolver = Resolver::new(global)?;
    let sides = sides::load(asked.all(Key::From), &mut resolver)?;
    let demands = demand::read(&asked, inputs.growth)?;
    let scaling = Wish::read(asked.all(Key::Scaling), &mut resolver)?;
    let doc = document(&asked, (inputs, demands), (&sides, &scaling), &prices)?;
    let page = match args.no_report || (args.out.is_none() && !resolver.has_store()) {
        true => None,
        false => Some(page::write(&doc, &asked, args, &paths::store(global)?)?),
    };
    match (global.json, args.format) {
        (true, _) | (_, Format::Json) => out::json(&doc),
        (_, Format::Csv) => out::print(&report::csv::decide(&doc)),
        (_, Format::Text) => {
            let tail = page.map_or_else(String::new, |path| format!("report  {}\n", paths::tilde(&path)));
            out::print(&report::text::decide::screen(&doc, &tail, out::look().with_all(args.all)));
        }
    }
    if let Some(change) = before.as_ref().and_then(|before| changed::change(before, &doc)) {
        out::say(&change);
        if args.fail_on == Some(FailOn::Changed) {
            return Ok(Kind::Faults.exit_code());
        }
    }
    Ok(if doc.candidates.is_empty() { Kind::Data.exit_code() } else { 0 })
}

/// Seconds since 1970.
fn now() -> f64 {
    sys::clock::wall_ns() as f64 / 1e9
}

fn document(
    asked: &Asked,
    (inputs, demands): (Inputs, Demands),
    (sides, scaling): (&[Loaded], &Wish),
    prices: &Prices,
) -> Result<DecideDoc, CliError> {
    let at_knee = inputs::knee(asked);
    if let Some(said) = at_knee {
        let needs: Vec<Need> = demands.needs.iter().map(|need| need.need.clone()).collect();
        knee::check(said, &needs)?;
    }
    let context = RunContext { cards: instruments::cards(), ..RunContext::default() };
    let borrowed: Vec<Side<'_>> = sides.iter().chain(scaling.sides()).map(Loaded::side).collect();
    let judged = JudgedSide::all(&borrowed, &context);
    let (judged, together) = judged.split_at(sides.len());
    let definitions = Definitions::between(&borrowed, context.cards);
    let scaling = scaling.settle(asked.all(Key::Accept), &demands, together, &definitions)?;
    let measured = Measured { sides, judged, definitions: &definitions };
    let found = candidates::gather(asked, measured, &demands, prices, at_knee.is_some())?;
    // The prices say the currency of what else is money.
    let currency = found.currency.or_else(|| inputs.currency.clone());
    let docs = inputs.docs(currency.as_deref());
    let mut notes = found.notes;
    notes.extend(demand::short_day(&demands));
    notes.extend(demands.notes);
    let mut cautions = demands.cautions;
    if sides.iter().any(serves_files) {
        cautions.extend(demands.stood_in);
    }
    notes.extend(sides::parts_of_one(sides));
    notes.extend(inputs::stale_note(&stale(&found.candidates), inputs.stale_s));
    let question = Question {
        months: inputs.months(),
        needs: demands.needs,
        utilisation: inputs.utilisation,
        spare: inputs.spare,
        scaling,
        life_s: inputs.life_s,
        kwh: inputs.kwh,
        pue: inputs.pue,
        per_unit_month: inputs.per_unit_month,
        rack_watts: inputs.rack_watts,
        rack_units: inputs.rack_units,
        circuit_watts: inputs.circuit_watts,
        per_circuit_month: inputs.per_circuit_month,
        currency,
        equal_price: inputs.equal_price,
        budget: inputs.budget,
        sure: inputs.sure,
        growth_s: inputs.growth_s,
        day: demands.day,
        inputs: docs,
        cautions,
        notes,
        draws: inputs.draws,
        seed: inputs.seed,
    };
    Ok(decide(&question, &found.candidates, found.excluded))
}

/// True where its loads of a mix were of files that stand in for a log's requests.
fn serves_files(side: &Loaded) -> bool {
    let cells = side.runs.iter().flat_map(|run| &run.plan.cells);
    let of_mix = cells.filter(|cell| cell.params.get("mix").is_some_and(|mix| mix != "none"));
    of_mix.into_iter().any(|cell| cell.params.get("content") == Some("mix"))
}

/// Prices, watts and rack units that are older than they may be: which one of which candidate, and the date.
fn stale(candidates: &[Candidate]) -> Vec<(String, String)> {
    let of = |one: &Candidate| {
        let price = one.price.iter().map(|price| &price.doc);
        let docs = price.chain(one.watts.iter().map(|watts| &watts.doc));
        let docs = docs.chain(one.rack_units.iter().map(|units| &units.doc));
        let said = |doc: &InputDoc| {
            let date = doc.date.clone().filter(|_| doc.is_stale)?;
            Some((format!("{} of {}", doc.name, one.name), date))
        };
        docs.filter_map(said).collect::<Vec<_>>()
    };
    candidates.iter().flat_map(of).collect()
}
