//! The document of a decision, from the question and the candidates.

use model::answer::{Answer, Chosen, Decided, Doubted};
use model::doc::decide::SCHEMA;
use model::doc::{CandidateDoc, CapacityDoc, DecideDoc, ExcludedDoc, MixedDoc, NeedDoc};
use model::format;
use model::shell::placed;
use model::{Unit, Validity};

use super::draws::{centre, known, middle, shared};
use super::energy::{self, mean_watts, saturated};
use super::order::{Place, places, sort};
use super::racks::{self, PerCircuit};
use super::sized::Sized;
use super::swing::{Field, interval};
use super::values::Shared;
use super::words;
use super::world::{Common, load, spare};
use super::{Candidate, Capacity, Older, Question, Watts, bought, mixed, scaling, settle};

const MILLION: f64 = 1e6;

/// Sizes every candidate that can do the work, and orders them by cost. `excluded` are sides that cannot, as far as
/// they were known before.
pub fn decide(question: &Question, candidates: &[Candidate], excluded: Vec<ExcludedDoc>) -> DecideDoc {
    let (all, middle) = (shared(question), middle(question));
    let common = common(question, candidates);
    let mut out = excluded;
    let mut sized = Vec::new();
    for candidate in candidates {
        match Sized::new(candidate, question, (&all, &middle), common) {
            Ok(Some(one)) => sized.push(one),
            Ok(None) => out.extend(missing(candidate, question)),
            Err(why) => {
                out.push(ExcludedDoc {
                    name: candidate.name.clone(),
                    need: None,
                    why,
                    command: None,
                    on: None,
                });
            }
        }
    }
    sort(&mut sized, common);
    let places = places(&sized, common);
    let law = scaling::ends(question, &all);
    let field = Field { all: &sized, question, middle: &middle, shared: &all, common, law };
    let each = |(one, place): (&Sized<'_>, &Place)| candidate_doc(one, place, question, &middle, common);
    let mixed = mixed::mixed(&sized, question, &middle, common);
    let docs: Vec<CandidateDoc> = sized.iter().zip(&places).map(each).collect();
    let buys = |amount: Option<f64>| {
        amount.map_or_else(Vec::new, |amount| bought::bought(&sized, question, &middle, amount))
    };
    let (answer, break_even) = (decided(&docs, question), field.break_evens());
    DecideDoc {
        schema: SCHEMA.to_owned(),
        paragraph: words::paragraph(&docs, (question, &middle.demand), mixed.as_ref(), &break_even),
        answer: Answer::Decided(answer).doc(Doubted::default()),
        currency: question.currency.clone(),
        cautions: question.cautions.iter().cloned().chain(accepted(&docs)).collect(),
        needs: needs(question, &middle),
        inputs: question.inputs.clone(),
        excluded: out,
        tornado: field.swings(),
        break_even,
        settle: settle_if_tied(&docs, || settle::settle(&sized, question, &middle, common)),
        equal_price: buys(question.equal_price),
        budget: buys(question.budget),
        curves: bought::curves(&sized, question, &middle, common),
        notes: older(&sized)
            .into_iter()
            .chain(notes(question, &docs, mixed.as_ref(), common))
            .chain(of_boxes(&sized, question, &middle))
            .chain(without_card(&sized, question))
            .collect(),
        scaling: Some(scaling::doc(question, &all)),
        mixed,
        candidates: docs,
        draws: question.draws as u64,
        seed: question.seed,
    }
}

/// Parts of the cost that every candidate with a price has.
fn common(question: &Question, candidates: &[Candidate]) -> Common {
    let can = |one: &&Candidate| one.price.is_some() && known(one).is_some();
    let mut priced = candidates.iter().filter(can).peekable();
    if priced.peek().is_none() {
        return Common::default();
    }
    // The rent of a box pays for both.
    let bought = priced.filter(|one| one.price.as_ref().is_some_and(|price| !price.hourly));
    let all = Common { energy: true, space: true, circuits: true };
    let known = bought.fold(all, |all, one| {
        let fed = centre(one).and_then(|own| racks::per_circuit(one, question, &own.inputs));
        Common {
            energy: all.energy && one.watts.is_some(),
            space: all.space && one.rack_units.is_some(),
            circuits: all.circuits && fed.is_some(),
        }
    });
    Common {
        energy: known.energy && question.kwh.is_some(),
        space: known.space && question.per_unit_month.is_some(),
        circuits: known.circuits && question.per_circuit_month.is_some(),
    }
}

fn missing<'a>(candidate: &'a Candidate, question: &'a Question) -> impl Iterator<Item = ExcludedDoc> + 'a {
    let each = candidate.capacities.iter().zip(&question.needs);
    each.filter_map(|(capacity, need)| {
        let missing = capacity.as_ref().err()?;
        Some(ExcludedDoc {
            name: candidate.name.clone(),
            need: Some(need.need.name().to_owned()),
            why: missing.why.clone(),
            command: missing.command.clone(),
            on: candidate.on.clone().filter(|_| missing.command.is_some()),
        })
    })
}

fn needs(question: &Question, middle: &Shared) -> Vec<NeedDoc> {
    let one = |(need, grown): (&super::Demanded, &f64)| {
        let conditions = need.need.limit.iter().map(ToString::to_string);
        let errors = need.need.errors.map(|share| format!("errors < {}", format::percent(share)));
        NeedDoc {
            text: need.need.text.clone(),
            name: need.need.name().to_owned(),
            unit: need.need.unit,
            demand: need.demand.middle(),
            demand_low: need.demand.low,
            demand_high: need.demand.high,
            grown: *grown,
            conditions: conditions.chain(errors).collect(),
            from: need.from.clone(),
            logged: need.logged.clone(),
        }
    };
    question.needs.iter().zip(&middle.demand).map(one).collect()
}

fn candidate_doc(
    one: &Sized<'_>,
    place: &Place,
    question: &Question,
    middle: &Shared,
    common: Common,
) -> CandidateDoc {
    let candidate = one.candidate;
    let total = one.total(question) as f64;
    let mean = load(question, &middle.mean, &one.own.capacity).rates;
    let watts =
        mean_watts(candidate, question, &one.own.inputs, share(one, question, middle).clamp(0.0, 1.0));
    let rack = racks::per_rack(candidate, question, &one.own.inputs);
    let circuit = racks::per_circuit(candidate, question, &one.own.inputs);
    let cost = one.cost_doc(question, common);
    let capacities = known(candidate).unwrap_or_default();
    // The demand of the day's hours is a share of the largest.
    let day = stats::mean(&question.day).unwrap_or(1.0);
    let shares: Vec<Option<f64>> = question
        .needs
        .iter()
        .zip(&middle.mean)
        .zip(&one.own.capacity)
        .map(|((need, demand), value)| {
            (!need.need.is_space()).then(|| demand / value / mean / (demand * day))
        })
        .collect();
    let life = cost.as_ref().map(|cost| cost.life);
    CandidateDoc {
        name: candidate.name.clone(),
        machine: candidate.machine.clone(),
        published: candidate.published,
        planted: candidate.planted,
        sheet: candidate.sheet.clone(),
        capacities: capacities
            .iter()
            .zip(&question.needs)
            .map(|(one, need)| capacity_doc(one, need, candidate))
            .collect(),
        boxes: one.boxes_doc(question, middle),
        price: candidate.price.as_ref().map(|price| price.doc.clone()),
        rented: candidate.price.as_ref().is_some_and(|price| price.hourly),
        watts: candidate.watts.as_ref().map(|watts| watts.doc.clone()),
        rack_units: candidate.rack_units.as_ref().map(|units| units.doc.clone()),
        utilisation: candidate.utilisation.as_ref().map(|used| used.doc.clone()),
        no_cost: candidate.price.is_none().then(|| format!("the price of {} is unknown", candidate.name)),
        total_watts: watts.map(|watts| watts * total),
        total_rack_units: one.own.inputs.rack_units.map(|units| units * total),
        racks: rack.map(|(boxes, _)| (total / boxes as f64).ceil() as u64),
        boxes_per_rack: rack.map(|(boxes, _)| boxes),
        rack_bound: rack.map(|(_, bound)| bound),
        circuits: racks::circuits(candidate, question, &one.own.inputs, one.total(question)),
        boxes_per_circuit: circuit.and_then(|each| match each {
            PerCircuit::Boxes(boxes) => Some(boxes),
            PerCircuit::Circuits(_) => None,
        }),
        joules: shares.iter().map(|share| Some(watts? * total * (*share)?)).collect(),
        per_million: shares.iter().map(|share| Some(life? * (*share)? / question.life_s * MILLION)).collect(),
        cost,
        cheapest: place.cheapest,
        tie: place.tie,
        ratio: place.ratio.clone(),
    }
}

fn capacity_doc(one: &Capacity, need: &super::Demanded, candidate: &Candidate) -> CapacityDoc {
    let ends = interval(one);
    let value = one.ln.exp();
    let price = candidate.price.as_ref().map(|price| price.amount.middle());
    let factor = |watts: &Watts| watts.factor.middle();
    let watts = energy::highest(candidate).zip(candidate.watts.as_ref().map(factor));
    let watts = watts.map(|(highest, factor)| highest * factor);
    let by = |divisor: Option<f64>| divisor.filter(|divisor| *divisor > 0.0).map(|divisor| value / divisor);
    CapacityDoc {
        need: need.need.name().to_owned(),
        unit: one.unit,
        value,
        low: ends.map(|(low, _)| low),
        high: ends.map(|(_, high)| high),
        at_least: one.at_least,
        per_price: by(price),
        per_watt: by(watts),
        figure: one.figure.clone(),
        runs: one.runs.clone(),
        validity: one.validity,
        doubted_by: one.doubted_by.clone(),
        why: one.why.clone(),
    }
}

/// The mean load of one box over the life, as a share of its saturation.
fn share(one: &Sized<'_>, question: &Question, middle: &Shared) -> f64 {
    saturated(one.candidate, question, &middle.mean, &one.own.capacity) / one.total(question) as f64
}

/// Sentences on racks, circuits and watts that do not fit what was said or measured of them.
fn of_boxes(sized: &[Sized<'_>], question: &Question, middle: &Shared) -> Vec<String> {
    let of = |one: &Sized<'_>| {
        let racks = racks::notes(one.candidate, question, &one.own.inputs);
        let load = share(one, question, middle);
        racks.into_iter().chain(energy::outside(one.candidate, question, load)).collect::<Vec<_>>()
    };
    sized.iter().flat_map(of).collect()
}

/// Says of which needs the load came over the loopback, where nothing else may be known to be too slow.
fn without_card(sized: &[Sized<'_>], question: &Question) -> Option<String> {
    let has_none = |place: usize| {
        let of =
            |one: &Sized<'_>| matches!(one.candidate.capacities.get(place), Some(Ok(one)) if one.no_card);
        sized.iter().any(of)
    };
    let needs = question.needs.iter().enumerate().filter(|(place, _)| has_none(*place));
    let needs: Vec<String> = needs.map(|(_, one)| one.need.name().to_owned()).collect();
    (!needs.is_empty()).then(|| {
        format!(
            "{}: loaded over the loopback; no network card was measured (`run net`, or a load from another host)",
            format::list(&needs)
        )
    })
}

fn decided(docs: &[CandidateDoc], question: &Question) -> Decided {
    let chosen = |doc: &CandidateDoc| {
        let ratio = doc.ratio.as_ref().and_then(|ratio| Some((ratio.value?, ratio.low?, ratio.high?)));
        Chosen {
            name: doc.name.clone(),
            boxes: doc.boxes.total,
            low: doc.boxes.low + spare(doc.boxes.low, question.spare),
            high: doc.boxes.high + spare(doc.boxes.high, question.spare),
            at_most: doc.boxes.at_most,
            published: doc.published,
            planted: doc.planted,
            cost: doc.cost.as_ref().map(|cost| cost.life),
            rent: doc.cost.as_ref().filter(|_| doc.rented).map(|cost| cost.per_month),
            ratio,
        }
    };
    Decided {
        all: docs.iter().map(chosen).collect(),
        tied: tied(docs),
        currency: question.currency.clone().unwrap_or_default(),
        life: words::life(question.life_s),
        but: broken(question),
        more: 0,
    }
}

/// The goals that a log's own server does not keep: `the log's own p99 is 297 ms, over 50.0 ms`.
fn broken(question: &Question) -> Vec<String> {
    let of = |need: &super::Demanded| {
        let logged = need.logged.as_ref().filter(|logged| logged.breaks)?;
        let time = |seconds: f64| format::quantity(seconds, Unit::Second);
        let limit = need.need.limit.as_ref()?.seconds;
        Some(format!("the log's own {} is {}, over {}", logged.percentile, time(logged.seconds), time(limit)))
    };
    question.needs.iter().filter_map(of).collect()
}

/// Candidates that cannot be told apart from the first by cost, itself included.
fn tied(docs: &[CandidateDoc]) -> usize {
    docs.iter().filter(|doc| doc.tie == Some(1)).count().max(1)
}

fn settle_if_tied<T>(docs: &[CandidateDoc], settle: impl FnOnce() -> Vec<T>) -> Vec<T> {
    if tied(docs) > 1 { settle() } else { Vec::new() }
}

/// Says whose figures are used although rules doubt or refuse them.
fn accepted(docs: &[CandidateDoc]) -> impl Iterator<Item = String> + '_ {
    let of = |doc: &'_ CandidateDoc, one: &CapacityDoc| {
        let rules: Vec<String> = one.doubted_by.iter().map(|rule| format!("--accept {rule}")).collect();
        let is_refused = one.validity == Validity::Invalid;
        let how = if is_refused { "refused" } else { "doubtful" };
        (!rules.is_empty()).then(|| {
            format!("the figure of {} for {} is {how}, and used by {}", doc.name, one.need, rules.join(" "))
        })
    };
    docs.iter().flat_map(move |doc| doc.capacities.iter().filter_map(move |one| of(doc, one)))
}

/// Says which instruments were measured by an older definition, and what measures them anew.
fn older(sized: &[Sized<'_>]) -> Vec<String> {
    let mut all: Vec<(&Older, Vec<String>)> = Vec::new();
    for one in sized.iter().flat_map(|one| one.candidate.capacities.iter().flatten()) {
        let Some(older) = &one.older else { continue };
        let again = one.repeat.iter().map(|again| placed(again.on.as_deref(), &again.command));
        match all.iter_mut().find(|(known, _)| *known == older) {
            Some((_, commands)) => commands.extend(again),
            None => all.push((older, again.collect())),
        }
    }
    let note = |(older, commands): (&Older, Vec<String>)| {
        let again = match commands.is_empty() {
            true => String::new(),
            false => format!("; anew by {}", format::list(&commands)),
        };
        format!("definition: {older}: the candidates compare with each other, not with new runs{again}")
    };
    all.into_iter().map(note).collect()
}

/// Remarks that a reader must know beside the figures.
fn notes(
    question: &Question,
    docs: &[CandidateDoc],
    mixed: Option<&MixedDoc>,
    common: Common,
) -> Vec<String> {
    // Doubts of the figures come first.
    let mut notes = Vec::new();
    for doc in docs.iter().filter(|doc| !doc.published) {
        let said = doc.capacities.iter().filter_map(|one| Some((one, one.why.as_ref()?)));
        // What is enough at least is enough.
        let bound = if doc.boxes.needed < 2 { "at least this, which is enough: " } else { "at least this: " };
        let bound = |one: &CapacityDoc| if one.at_least { bound } else { "" };
        notes.extend(said.map(|(one, why)| format!("{}, {}: {}{why}", doc.name, one.need, bound(one))));
    }
    notes.extend(question.notes.iter().cloned());
    let rates = question.needs.iter().filter(|need| !need.need.is_space()).count();
    if rates > 1 {
        notes.push("needs of rates share the boxes: what they take of a box is assumed to add up".to_owned());
    }
    let most = docs.iter().map(|doc| (doc.name.as_str(), doc.boxes.needed)).max_by_key(|(_, boxes)| *boxes);
    notes.extend(most.and_then(|most| scaling::note(question, most)));
    let published: Vec<String> =
        docs.iter().filter(|doc| doc.published).map(|doc| doc.name.clone()).collect();
    if !published.is_empty() && published.len() < docs.len() {
        notes.push(format!(
            "figures of {} are published points without an interval, beside measured ones",
            format::list(&published)
        ));
    }
    let bounds: Vec<String> =
        docs.iter().skip(1).filter(|doc| doc.boxes.at_most).map(|doc| doc.name.clone()).collect();
    if !bounds.is_empty() {
        let names = format::list(&bounds);
        notes.push(format!(
            "{names} may need fewer boxes and cost less: a rate of it is a lower bound, which the load set; measure \
             with more generators (`--from`) or a higher load"
        ));
    }
    if docs.iter().any(|doc| doc.rented)
        && (question.kwh.is_some()
            || question.per_unit_month.is_some()
            || question.per_circuit_month.is_some())
    {
        notes.push("the rent of a box pays for its energy and its place".to_owned());
    }
    let unmeasured = |has: bool, wanted: bool, what: &str, of: &str| {
        (wanted && !has && docs.iter().any(|doc| doc.cost.is_some() && !doc.rented))
            .then(|| format!("{what} is in no comparison of costs: {of} of some candidate are unknown"))
    };
    notes.extend(unmeasured(common.energy, question.kwh.is_some(), "energy", "the watts"));
    notes.extend(unmeasured(common.space, question.per_unit_month.is_some(), "space", "the rack units"));
    let is_fed = question.per_circuit_month.is_some();
    notes.extend(unmeasured(common.circuits, is_fed, "the price of circuits", "the watts"));
    if mixed.is_some() {
        notes.push(
            "the mixture is computed at the estimates, with the same margin as each kind alone".to_owned(),
        );
    }
    notes
}
