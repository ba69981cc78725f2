//! Decisions over planted boxes whose truth is known.

use std::fmt::Write as _;

use model::Validity;
use model::doc::{InputDoc, MachineDoc, ScalingBasis};
use model::need::{self, Ranged};
use stats::{Rng, Run};

use super::law::Law;
use super::world::{Load, boxes};
use super::*;

pub fn input(name: &str) -> InputDoc {
    InputDoc {
        name: name.to_owned(),
        shown: String::new(),
        value: None,
        low: None,
        high: None,
        from: "given".to_owned(),
        date: None,
        is_stale: false,
    }
}

pub fn capacity(value: f64, se: f64, dof: f64, unit: Unit) -> Capacity {
    Capacity {
        ln: value.ln(),
        se,
        dof,
        unit,
        at_least: false,
        no_card: false,
        figure: "planted".to_owned(),
        runs: Vec::new(),
        published: false,
        validity: Validity::Ok,
        doubted_by: Vec::new(),
        older: None,
        why: None,
        repeat: None,
    }
}

pub fn candidate(name: &str, capacities: Vec<Capacity>, price: f64) -> Candidate {
    Candidate {
        name: name.to_owned(),
        machine: MachineDoc { id: name.to_owned(), name: name.to_owned() },
        published: false,
        planted: false,
        sheet: None,
        capacities: capacities.into_iter().map(Ok).collect(),
        on: None,
        price: Some(Cost {
            amount: Ranged::point(price),
            hourly: false,
            currency: "EUR".to_owned(),
            doc: input("price"),
        }),
        watts: None,
        rack_units: None,
        utilisation: None,
    }
}

fn demanded(text: &str) -> Demanded {
    let need = need::parse(text).expect(text);
    let demand = need.demand.expect("a demand");
    Demanded { need, demand, growth: Ranged::point(1.0), from: "given".to_owned(), logged: None }
}

pub fn question(needs: &[&str]) -> Question {
    Question {
        needs: needs.iter().map(|text| demanded(text)).collect(),
        utilisation: Ranged::point(0.7),
        spare: Spare::None,
        scaling: Scaling::Linear,
        life_s: 4.0 * 365.25 * 86_400.0,
        months: 48.0,
        kwh: None,
        pue: Ranged::point(1.0),
        per_unit_month: None,
        rack_watts: None,
        rack_units: 42.0,
        circuit_watts: None,
        per_circuit_month: None,
        currency: Some("EUR".to_owned()),
        equal_price: None,
        budget: None,
        sure: 0.9,
        growth_s: 4.0 * 365.25 * 86_400.0,
        day: Vec::new(),
        inputs: Vec::new(),
        cautions: Vec::new(),
        notes: Vec::new(),
        draws: 2_000,
        seed: 1,
    }
}

pub fn watts(curve: &[(f64, f64)]) -> Option<Watts> {
    let (curve, factor, saturation) = (curve.to_vec(), Ranged::point(1.0), Vec::new());
    Some(Watts { curve, saturation, factor, doc: input("watts") })
}

#[test]
fn points_are_counted_as_by_hand() {
    let mut question = question(&["web 20000/s", "kv 100k/s", "memory 1TiB"]);
    (question.kwh, question.pue) = (Some(Ranged::point(0.3)), Ranged::point(1.5));
    question.per_unit_month = Some(Ranged::point(20.0));
    let gib = 1024f64.powi(3);
    let mut a = candidate(
        "a",
        vec![
            capacity(5_000.0, 0.0, 4.0, Unit::PerSec),
            capacity(50e3, 0.0, 4.0, Unit::PerSec),
            capacity(128.0 * gib, 0.0, 4.0, Unit::Byte),
        ],
        1_000.0,
    );
    a.watts = watts(&[(0.0, 100.0), (1.0, 200.0)]);
    a.rack_units = Some(Input { value: Ranged::point(2.0), doc: input("rack units") });
    let doc = decide(&question, &[a], Vec::new());
    let one = &doc.candidates[0];
    // 20,000 / 5,000 + 100,000 / 50,000 = 6 boxes of work, 8.57 at 70 %; 1 TiB needs 8.
    assert_eq!((one.boxes.needed, one.boxes.total, one.boxes.probability), (9, 9, 1.0));
    assert_eq!(one.boxes.binding, "web");
    assert!((one.boxes.utilisation.expect("utilisation") - 6.0 / 9.0).abs() < 1e-9);
    let cost = one.cost.as_ref().expect("a cost");
    // 166.7 W a box over 35,064 h.
    let energy = 9.0 * (100.0 + 100.0 * 6.0 / 9.0) / 1000.0 * 35_064.0 * 1.5 * 0.3;
    assert!((cost.energy.expect("energy") - energy).abs() < 1e-6 * energy);
    assert_eq!((cost.boxes, cost.space), (9_000.0, Some(9.0 * 2.0 * 20.0 * 48.0)));
    assert!((cost.life - (9_000.0 + energy + 17_280.0)).abs() < 1e-6);
    // Two thirds of the work are of web: 1,500 W x 2/3 / 20,000.
    assert!((one.joules[0].expect("joules") - 1_500.0 * (4.0 / 6.0) / 20_000.0).abs() < 1e-9);
    assert_eq!(one.joules[2], None);
    assert_eq!(doc.answer.sentence, "9 of a for 49,950 EUR over 4 years");
}

#[test]
fn a_rack_is_full_by_power_or_by_space() {
    let mut question = question(&["web 1000/s"]);
    question.rack_watts = Some(800.0);
    let rack = |watts_of: f64, units: f64| {
        let mut one = candidate("a", vec![capacity(1_000.0, 0.0, 4.0, Unit::PerSec)], 10.0);
        one.watts = watts(&[(0.0, watts_of)]);
        one.rack_units = Some(Input { value: Ranged::point(units), doc: input("rack units") });
        let doc = decide(&question, &[one], Vec::new());
        (doc.candidates[0].boxes_per_rack, doc.candidates[0].rack_bound)
    };
    assert_eq!(rack(40.0, 1.0), (Some(20), Some(model::doc::RackBound::Power)));
    assert_eq!(rack(10.0, 2.0), (Some(21), Some(model::doc::RackBound::Space)));
    assert_eq!(rack(900.0, 1.0).0, None, "not one fits");
}

#[test]
fn a_side_that_misses_a_figure_is_left_out_with_its_command() {
    let question = question(&["web 1000/s"]);
    let mut one = candidate("a", Vec::new(), 10.0);
    one.capacities =
        vec![Err(Missing { why: "never measured".to_owned(), command: Some("boxscore run web".to_owned()) })];
    let doc = decide(&question, &[one], Vec::new());
    assert!(doc.candidates.is_empty() && doc.answer.sentence.starts_with("None of these"));
    assert_eq!(doc.excluded[0].command.as_deref(), Some("boxscore run web"));
}

#[test]
fn an_older_definition_is_told_once_with_what_measures_anew() {
    let of = |name: &str, command: &str| {
        let mut one = candidate(name, vec![capacity(900.0, 0.01, 4.0, Unit::PerSec)], 10.0);
        let own = one.capacities[0].as_mut().expect("a capacity");
        own.older = Some(Older { instrument: "web-slo".into(), definition: 5, today: 6 });
        own.repeat = Some(Repeat { command: command.into(), on: None, seconds: None, noise: 0.01, runs: 1 });
        one
    };
    let doc = decide(&question(&["web 2000/s"]), &[of("a", "again a"), of("b", "again b")], Vec::new());
    let told: Vec<&String> = doc.notes.iter().filter(|note| note.starts_with("definition: ")).collect();
    let wanted = "definition: web-slo 5 (today 6): the candidates compare with each other, not with new runs; anew by \
                  `again a` and `again b`";
    assert_eq!(told, [wanted]);
}

#[test]
fn two_kinds_together_do_what_each_is_good_at() {
    let question = question(&["web 70000/s", "memory 4TiB"]);
    let tib = 1024f64.powi(4);
    let kinds = [
        candidate(
            "fast",
            vec![capacity(50e3, 0.0, 4.0, Unit::PerSec), capacity(0.1 * tib, 0.0, 4.0, Unit::Byte)],
            100.0,
        ),
        candidate(
            "roomy",
            vec![capacity(1e3, 0.0, 4.0, Unit::PerSec), capacity(2.0 * tib, 0.0, 4.0, Unit::Byte)],
            150.0,
        ),
    ];
    let doc = decide(&question, &kinds, Vec::new());
    // Alone: 40 of fast for 4,000. Together: 2 of fast serve, 2 of roomy hold, for 500.
    assert_eq!(doc.answer.sentence.split(';').next(), Some("40 of fast for 4,000 EUR over 4 years"));
    let mixed = doc.mixed.expect("a mixture");
    let parts: Vec<(&str, u64)> =
        mixed.parts.iter().map(|part| (part.candidate.as_str(), part.boxes)).collect();
    assert_eq!((parts, mixed.cost), (vec![("fast", 2), ("roomy", 2)], 500.0));
}

#[test]
fn the_price_at_which_another_is_cheaper_is_found() {
    let question = question(&["web 7000/s"]);
    let kind = |name, rate: f64, price| candidate(name, vec![capacity(rate, 0.0, 4.0, Unit::PerSec)], price);
    let doc = decide(&question, &[kind("a", 1_000.0, 100.0), kind("b", 2_000.0, 220.0)], Vec::new());
    // 10 of a for 1,000; 5 of b for 1,100: b is cheaper below 200.
    let of_b = doc.break_even.iter().find(|one| one.input == "price of b").expect("a break-even");
    assert!((of_b.at - 200.0).abs() < 0.01 && of_b.then == "b", "{of_b:?}");
    let of_a = doc.break_even.iter().find(|one| one.input == "price of a").expect("a break-even");
    assert!((of_a.at - 110.0).abs() < 0.01 && of_a.then == "b", "{of_a:?}");
    assert!(doc.break_even.iter().all(|one| one.then == "b"));
}

#[test]
fn the_nearest_change_and_the_demand_asked_for_are_told() {
    // From 1,400/s on 3 of a cost more than 1 of b, until 2 of b are needed; b's cheaper work wins for good later.
    let question = question(&["web 1300/s"]);
    let kind = |name, rate: f64, price| candidate(name, vec![capacity(rate, 0.0, 4.0, Unit::PerSec)], price);
    let doc = decide(&question, &[kind("a", 1_000.0, 100.0), kind("b", 2_300.0, 210.0)], Vec::new());
    let demand = doc.break_even.iter().find(|one| one.input == "demand of web").expect("a break-even");
    let first = demand.first.expect("a nearer change");
    assert!((first / 1_400.0 - 1.0).abs() < 1e-6 && first < demand.at, "{demand:?}");
    for curve in &doc.curves {
        let rates: Vec<f64> = curve.points.iter().map(|point| point.factor * 1_300.0).collect();
        for wanted in [700.0, 1_300.0, 1_400.0, 1_610.0] {
            assert!(rates.iter().any(|rate| (rate / wanted - 1.0).abs() < 1e-6), "{wanted}: {rates:?}");
        }
    }
}

#[test]
fn a_break_even_of_a_rate_begins_at_the_estimate() {
    let question = question(&["web 70000/s"]);
    let kind = |name, rate: f64, price| candidate(name, vec![capacity(rate, 0.2, 4.0, Unit::PerSec)], price);
    let doc = decide(&question, &[kind("a", 1_000.0, 100.0), kind("b", 1_000.0, 130.0)], Vec::new());
    let of_b = doc.break_even.iter().find(|one| one.input == "rate of web on b").expect("a break-even");
    assert!((of_b.now - 1_000.0).abs() < 1e-6 && of_b.at > 1_200.0 && of_b.at < 1_400.0, "{of_b:?}");
}

#[test]
fn energy_that_is_not_known_of_all_is_in_no_comparison() {
    let mut question = question(&["web 7000/s"]);
    question.kwh = Some(Ranged::point(1.0));
    let kind = |name, price| candidate(name, vec![capacity(1_000.0, 0.0, 4.0, Unit::PerSec)], price);
    let mut hot = kind("hot", 90.0);
    hot.watts = watts(&[(0.0, 500.0)]);
    let doc = decide(&question, &[kind("unknown", 100.0), hot], Vec::new());
    assert_eq!(doc.candidates[0].name, "hot");
    let without = |place: usize| doc.candidates[place].cost.as_ref().map(|cost| cost.without.join(" "));
    assert!(without(0).is_some_and(|text| text.contains("energy of hot, 175,")), "{:?}", without(0));
    assert!(without(1).is_some_and(|text| text.contains("the watts of unknown are unknown")));
    assert!(doc.notes.iter().any(|note| note.starts_with("energy is in no comparison")));
    let said = "10 of hot for 900 EUR over 4 years; unknown needs 10 and costs 1.11 times as much";
    assert_eq!(doc.answer.sentence, said);
}

#[test]
fn rent_pays_for_the_energy() {
    let mut question = question(&["web 7000/s"]);
    question.kwh = Some(Ranged::point(0.3));
    let rate = || vec![capacity(1_000.0, 0.0, 4.0, Unit::PerSec)];
    let mut bought = candidate("bought", rate(), 1_000.0);
    bought.watts = watts(&[(0.0, 100.0)]);
    let mut rented = candidate("rented", rate(), 0.05);
    rented.price = rented.price.map(|price| Cost { hourly: true, ..price });
    let doc = decide(&question, &[bought, rented], Vec::new());
    let life = |name: &str| {
        let one = doc.candidates.iter().find(|one| one.name == name).expect("a candidate");
        one.cost.as_ref().expect("a cost").life
    };
    assert!((life("rented") - 10.0 * 0.05 * 35_064.0).abs() < 1e-6);
    assert!((life("bought") - 10.0 * (1_000.0 + 0.1 * 35_064.0 * 0.3)).abs() < 1e-6);
}

#[test]
fn a_rival_whose_rate_is_a_lower_bound_is_not_beaten() {
    let question = question(&["web 7000/s"]);
    let known = candidate("known", vec![capacity(1_000.0, 0.0, 4.0, Unit::PerSec)], 100.0);
    let least = Capacity { at_least: true, ..capacity(900.0, 0.0, 4.0, Unit::PerSec) };
    let bound = candidate("bound", vec![least], 100.0);
    let doc = decide(&question, &[known, bound], Vec::new());
    assert_eq!(
        (doc.candidates[0].tie, doc.candidates[1].tie, doc.candidates[0].cheapest),
        (Some(1), Some(1), None)
    );
    assert!(doc.answer.sentence.contains("at most 12 of bound"), "{}", doc.answer.sentence);
    assert!(doc.answer.sentence.contains("cannot be told apart"));
    assert!(doc.notes.iter().any(|note| note.starts_with("bound may need fewer boxes")));
}

#[test]
fn the_margin_is_that_of_the_rates_where_they_decide() {
    let question = question(&["web 6000/s", "memory 8GiB"]);
    let gib = 1024f64.powi(3);
    let seen = vec![capacity(1_000.0, 0.06, 30.0, Unit::PerSec), capacity(gib, 0.0, 4.0, Unit::Byte)];
    let doc = decide(&question, &[candidate("a", seen, 100.0)], Vec::new());
    let one = &doc.candidates[0];
    // 8.57 boxes by the rate in the middle, 8 by memory.
    assert_eq!((one.boxes.needed, one.boxes.binding.as_str()), (10, "web"));
    let at_once =
        doc.curves[0].points.iter().min_by(|a, b| (a.factor - 1.0).abs().total_cmp(&(b.factor - 1.0).abs()));
    assert!(at_once.is_some_and(|point| point.boxes.abs_diff(10) <= 1), "{at_once:?}");
}

/// Boxes of 100 W idle and 200 W saturated at twice the rate that they do within the need's conditions.
fn lit() -> Candidate {
    let mut one = candidate("a", vec![capacity(1_000.0, 0.0, 4.0, Unit::PerSec)], 100.0);
    one.watts = watts(&[(0.0, 100.0), (1.0, 200.0)]);
    one
}

#[test]
fn watts_are_read_at_the_share_of_saturation() {
    let question = question(&["web 7000/s"]);
    let of = |saturation: Vec<Option<f64>>| {
        let mut one = lit();
        one.watts = one.watts.map(|watts| Watts { saturation, ..watts });
        decide(&question, &[one], Vec::new()).candidates[0].total_watts.expect("watts")
    };
    // 10 boxes at 700/s: 70 % of what they do within the conditions, 35 % of saturation.
    assert!((of(Vec::new()) - 1_700.0).abs() < 1e-6 && (of(vec![Some(2_000.0)]) - 1_350.0).abs() < 1e-6);
}

#[test]
fn a_load_outside_the_measured_levels_is_said() {
    let mut question = question(&["web 7000/s"]);
    let notes = |question: &Question, curve: &[(f64, f64)], saturation: f64| {
        let mut one = lit();
        one.watts = watts(curve).map(|watts| Watts { saturation: vec![Some(saturation)], ..watts });
        decide(question, &[one], Vec::new()).notes.join("\n")
    };
    let whole = [(0.0, 100.0), (1.0, 200.0)];
    assert!(!notes(&question, &whole, 1_000.0).contains("whose watts were measured"));
    let above = notes(&question, &whole, 500.0);
    assert!(
        above.contains("the load of a is at times 140 % of its saturation, above 100 %, the highest"),
        "{above}"
    );
    question.day = vec![0.1, 1.0];
    let below = notes(&question, &[(0.25, 120.0), (1.0, 200.0)], 1_000.0);
    assert!(below.contains("at times 7 % of its saturation, below 25 %, the lowest level"), "{below}");
}

#[test]
fn a_box_is_used_up_to_its_own_share() {
    let question = question(&["web 7000/s"]);
    let mut one = lit();
    one.utilisation =
        Some(Input { value: Ranged::point(0.5), doc: InputDoc { value: Some(0.5), ..input("utilisation") } });
    let doc = decide(
        &question,
        &[one, candidate("b", lit().capacities.into_iter().flatten().collect(), 100.0)],
        Vec::new(),
    );
    let needed = |name: &str| doc.candidates.iter().find(|one| one.name == name).map(|one| one.boxes.needed);
    assert_eq!((needed("a"), needed("b")), (Some(14), Some(10)));
    assert!(doc.break_even.iter().any(|one| one.input == "utilisation"), "{:?}", doc.break_even);
    let of_a = doc.break_even.iter().find(|one| one.input == "utilisation of a");
    // 9 boxes are cheaper than 10.
    assert!(of_a.is_some_and(|one| (one.at - 7.0 / 9.0).abs() < 1e-6 && one.then == "a"), "{of_a:?}");
}

#[test]
fn what_boxes_lose_together_needs_more_of_them_and_has_a_swing() {
    let mut question = question(&["web 7000/s"]);
    let of = |question: &Question| decide(question, &[lit()], Vec::new());
    assert_eq!(
        (of(&question).candidates[0].boxes.needed, of(&question).scaling.expect("scaling").basis),
        (10, ScalingBasis::Assumed)
    );
    question.scaling = Scaling::Stated { sigma: Ranged { low: 0.01, high: 0.03 }, kappa: Ranged::point(0.0) };
    question.sure = 0.999;
    let doc = of(&question);
    // 10 = n / (1 + 0.03 (n - 1)) has n = 13.86.
    assert_eq!((doc.candidates[0].boxes.low, doc.candidates[0].boxes.needed), (12, 14));
    assert!(doc.tornado.iter().any(|one| one.input == "contention of boxes" && one.at_low < one.at_high));
    assert!(doc.notes.iter().any(|note| note.contains("by the loss that was stated and not measured")));
    question.scaling = Scaling::Stated { sigma: Ranged::point(0.2), kappa: Ranged::point(0.0) };
    assert_eq!(
        of(&question).excluded[0].why,
        "by what several boxes lose together, no number of them does the work with a probability of 99.9 %"
    );
}

#[test]
fn circuits_are_counted_and_paid_for() {
    let mut question = question(&["web 7000/s"]);
    (question.circuit_watts, question.per_circuit_month) = (Some(900.0), Some(Ranged::point(50.0)));
    let doc = decide(&question, &[lit()], Vec::new());
    let one = &doc.candidates[0];
    // 10 boxes of 200 W at full load, 4 on a circuit: 3 circuits for 48 months.
    assert_eq!((one.circuits, one.boxes_per_circuit), (Some(3), Some(4)));
    let cost = one.cost.as_ref().expect("a cost");
    assert_eq!((cost.circuits, cost.life), (Some(3.0 * 50.0 * 48.0), 1_000.0 + 7_200.0));
    let dark = candidate("b", lit().capacities.into_iter().flatten().collect(), 10.0);
    let doc = decide(&question, &[lit(), dark], Vec::new());
    let life =
        |name: &str| doc.candidates.iter().find(|one| one.name == name)?.cost.as_ref().map(|cost| cost.life);
    assert_eq!((life("a"), life("b")), (Some(1_000.0), Some(100.0)), "the watts of b are unknown");
    assert!(doc.notes.iter().any(|note| note.starts_with("the price of circuits is in no comparison")));
}

#[test]
fn growth_and_memory_have_break_evens() {
    let mut question = question(&["web 700/s", "memory 8GiB"]);
    let gib = 1024f64.powi(3);
    let kind = |name, rate: f64, memory: f64, price| {
        candidate(
            name,
            vec![capacity(rate, 0.0, 4.0, Unit::PerSec), capacity(memory * gib, 0.0, 4.0, Unit::Byte)],
            price,
        )
    };
    // One box of either now; 3 of small for 300 beside 1 of large for 250 when the demand is more than doubled.
    let kinds = [kind("small", 1_000.0, 32.0, 100.0), kind("large", 100_000.0, 64.0, 250.0)];
    question.needs[0].growth = Ranged::point(1.5);
    question.needs[1].growth = Ranged::point(1.5);
    let doc = decide(&question, &kinds, Vec::new());
    let at = |input: &str| doc.break_even.iter().find(|one| one.input == input).expect(input);
    assert_eq!((at("growth").then.as_str(), at("memory of small").then.as_str()), ("large", "large"));
    assert!(
        (at("growth").at - 2.0).abs() < 0.01 && at("growth").at_shown.ends_with(" a month"),
        "{:?}",
        at("growth")
    );
    // 12 GiB in the end on boxes with less than 6 GiB each are three.
    assert!((at("memory of small").at / gib - 6.0).abs() < 0.01, "{:?}", at("memory of small"));
}

#[test]
fn growth_that_ends_is_paid_for_until_the_end() {
    let question = Question { growth_s: 365.25 * 86_400.0, ..question(&["web 1/s"]) };
    // A quarter of the life grows to twice the demand, the rest stays there.
    let wanted = 0.25 / 2f64.ln() + 0.75 * 2.0;
    assert!((draws::mean_growth(2.0, &question) - wanted).abs() < 1e-9);
}

#[test]
fn each_number_of_boxes_has_its_own_spares() {
    let question = Question { spare: Spare::Zones(3), ..question(&["web 4000/s"]) };
    let doc = decide(
        &question,
        &[candidate("a", vec![capacity(1_000.0, 0.06, 30.0, Unit::PerSec)], 1.0)],
        Vec::new(),
    );
    let boxes = &doc.candidates[0].boxes;
    // 7 in two of three zones are 4 in each, and so are 8.
    assert_eq!((boxes.needed, boxes.spare, boxes.next_spare), (7, 5, Some(4)));
}

/// Runs of a planted box: noise between runs from the prior that the noise of comparisons starts from.
fn measured(truth: f64, runs: usize, floor: f64, rng: &mut Rng, unit: Unit) -> Capacity {
    let s0 = floor / (1.96 * std::f64::consts::SQRT_2);
    // Student's t over normal is the root of dof over chi-square, which is the prior's factor.
    let (z, t) = (rng.clone().normal(), rng.student(stats::between::PRIOR_DOF));
    let s = s0 * (t / z).abs();
    let all: Vec<Run> =
        (0..runs).map(|_| Run { m: truth.ln() + s * rng.normal(), se: None, takes: 6 }).collect();
    let noise = stats::noise(&[&all], &[], floor, None).expect("noise");
    let m = all.iter().map(|run| run.m).sum::<f64>() / runs as f64;
    Capacity { ln: m, ..capacity(1.0, noise.s / (runs as f64).sqrt(), noise.dof(), unit) }
}

/// Worlds with so many runs of each figure: the share of intervals that hold the true number of boxes, how often a
/// cheapest is named, and how often wrongly.
fn worlds(count: u64, runs: usize, floor: f64) -> (f64, u64, u64) {
    let question = Question { draws: 400, ..question(&["web 400k/s", "kv 3M/s"]) };
    let (mut held, mut counted, mut named, mut wrong) = (0u64, 0u64, 0u64, 0u64);
    for seed in 0..count {
        let mut rng = Rng::derive(seed, "world");
        let mut planted = |name: &str| {
            let truth = [2_000.0 * (0.3 * rng.normal()).exp(), 20e3 * (0.3 * rng.normal()).exp()];
            let seen = truth.map(|truth| measured(truth, runs, floor, &mut rng, Unit::PerSec));
            let price = 1_000.0 * (0.3 * rng.normal()).exp();
            let load = Load { rates: 400e3 / truth[0] + 3e6 / truth[1], space: 0.0 };
            let needed = boxes(load, 0.7, Law::default()).expect("boxes");
            (candidate(name, seen.to_vec(), price), needed, needed as f64 * price)
        };
        let all = [planted("a"), planted("b"), planted("c")];
        let asked = Question { seed, ..question.clone() };
        let doc = decide(&asked, &all.clone().map(|(candidate, ..)| candidate), Vec::new());
        let of = |name: &str| all.iter().find(|(candidate, ..)| candidate.name == name).expect("planted");
        for one in &doc.candidates {
            counted += 1;
            held += u64::from((one.boxes.low..=one.boxes.high).contains(&of(&one.name).1));
        }
        if let Some(best) = doc.candidates.first().filter(|one| one.cheapest >= Some(order::NAMED)) {
            let least = all.iter().map(|(.., cost)| *cost).fold(f64::INFINITY, f64::min);
            named += 1;
            wrong += u64::from(of(&best.name).2 > least);
        }
    }
    (held as f64 / counted as f64, named, wrong)
}

/// The table of `docs/statistics.md`, which `BOXSCORE_WORLDS=FILE` writes.
#[test]
fn intervals_hold_the_truth_and_the_cheapest_is_rarely_named_wrongly() {
    let path = std::env::var_os("BOXSCORE_WORLDS");
    let count = if path.is_some() { 1_000 } else { 300 };
    let mut table = String::new();
    for (floor, runs) in [(0.10, 1), (0.22, 1), (0.22, 2), (0.22, 5)] {
        let (held, named, wrong) = worlds(count, runs, floor);
        let _ = writeln!(table, "| {:.0} % | {runs} | {held:.3} | {named} | {wrong} |", floor * 100.0);
        assert!((0.92..=0.98).contains(&held), "{table}");
        assert!(named * 2 > count && wrong * 20 <= named, "{table}");
    }
    if let Some(path) = path {
        std::fs::write(path, table).expect("the table");
    }
}

#[test]
fn swings_and_the_answer_have_one_sense() {
    let mut dear = candidate("b", lit().capacities.into_iter().flatten().collect(), 200.0);
    if let Some(price) = &mut dear.price {
        price.amount = Ranged { low: 150.0, high: 250.0 };
    }
    let cheap = candidate("a", lit().capacities.into_iter().flatten().collect(), 100.0);
    let doc = decide(&question(&["web 7000/s"]), &[cheap, dear], Vec::new());
    let ratio = doc.candidates[1].ratio.as_ref().and_then(|ratio| ratio.value).expect("a ratio");
    let swing = doc.tornado.iter().find(|one| one.input == "price of b").expect("its price has a range");
    let ends = swing.dearer_at_low.zip(swing.dearer_at_high).expect("two candidates have a cost");
    // b costs so many times as much as a, at either end and in the answer.
    assert!(ends.0 < ratio && ratio < ends.1, "{ends:?} {ratio}");
    assert!((ends.0 - 1.5).abs() < 1e-9 && (ends.1 - 2.5).abs() < 1e-9, "{ends:?}");
    assert!((ends.0 * swing.at_low - 1.0).abs() < 1e-9, "the older fields stay as they are: {swing:?}");
}

/// Moved to its end, a range counts as that value alone: its spread is not counted once more. Of an uncertain rate the
/// other inputs keep theirs.
#[test]
fn an_input_at_its_end_is_as_if_it_had_been_given_so() {
    let all = || {
        let of = |value, se| capacity(value, se, 9.0, Unit::PerSec);
        [candidate("south", vec![of(78_220.0, 0.01)], 0.8), candidate("north", vec![of(61_130.0, 0.01)], 1.0)]
    };
    let ratio = |question: &Question| {
        let doc = decide(question, &all(), Vec::new());
        let life = |name: &str| {
            let found = doc.candidates.iter().find(|one| one.name == name);
            found.and_then(|one| one.cost.as_ref()).expect("a cost").life
        };
        life("north") / life("south")
    };
    let given = |demand: &str, utilisation: Ranged, sure: f64| Question {
        utilisation,
        sure,
        ..question(&[&format!("web {demand}/s")])
    };
    let swing = |question: &Question, input: &str| {
        let doc = decide(question, &all(), Vec::new());
        let found = doc.tornado.iter().find(|one| one.input == input).expect(input);
        (found.dearer_at_low.expect("two"), found.dearer_at_high.expect("two"))
    };
    let near = |a: f64, b: f64, what: &str| assert!((a / b - 1.0).abs() < 1e-9, "{what}: {a} and {b}");
    let point = Ranged::point;
    for sure in [0.9, 0.99] {
        let used = given("2000000", Ranged { low: 0.5, high: 0.8 }, sure);
        let (low, high) = swing(&used, "utilisation");
        near(low, ratio(&given("2000000", point(0.5), sure)), "used by half");
        near(high, ratio(&given("2000000", point(0.8), sure)), "used by 80 %");
        let asked = given("1000k..3000k", point(0.7), sure);
        let (low, high) = swing(&asked, "demand of web");
        near(low, ratio(&given("1000000", point(0.7), sure)), "a small demand");
        near(high, ratio(&given("3000000", point(0.7), sure)), "a large demand");
        let (low, high) = swing(&used, "rate of web on north");
        let now = ratio(&used);
        assert!(high <= now && now <= low, "{now} is not between {high} and {low}");
    }
}

#[test]
fn a_lower_bound_that_is_enough_decides_and_a_broken_log_stands_in_the_answer() {
    let least = Capacity { at_least: true, ..capacity(34_000.0, 0.1, 4.0, Unit::PerSec) };
    let boxes = [
        candidate("small", vec![least], 100.0),
        candidate("large", vec![capacity(56_000.0, 0.1, 4.0, Unit::PerSec)], 168.0),
    ];
    let mut question = question(&["web 370/s p99<50ms"]);
    question.needs[0].logged = Some(LoggedDoc { percentile: "p99".into(), seconds: 0.297, breaks: true });
    let doc = decide(&question, &boxes, Vec::new());
    let first = &doc.candidates[0];
    assert!(first.name == "small" && !first.boxes.at_most && first.capacities[0].at_least, "{first:?}");
    let said = &doc.answer.sentence;
    assert!(said.contains("costs 1.68 times as much"), "{said}");
    assert!(said.ends_with("; but the log's own p99 is 297 ms, over 50.0 ms"), "{said}");
    assert!(doc.break_even.iter().all(|one| !one.input.starts_with("price")), "{:?}", doc.break_even);
    assert!(doc.paragraph[0].contains("91.9 times the demand, of which 70 %"), "{:?}", doc.paragraph);
}
