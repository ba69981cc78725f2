//! Invented decisions: two boxes that tie, one that is published, one that is left out.

use model::Validity;
use model::answer::AnswerDoc;
use model::doc::decide::SCHEMA;
use model::doc::{
    BoughtDoc, BoxesDoc, BreakEvenDoc, CandidateDoc, CapacityDoc, CostCurveDoc, CostDoc, CostPointDoc,
    DecideDoc, EstimateDoc, ExcludedDoc, FleetPointDoc, FleetScalingDoc, InputDoc, MachineDoc, MixedDoc,
    MixedPartDoc, NeedDoc, RackBound, ScalingBasis, SettleDoc, SwingDoc,
};
use model::unit::Unit;

fn need(text: &str, name: &str, demand: f64) -> NeedDoc {
    NeedDoc {
        text: text.to_owned(),
        name: name.to_owned(),
        unit: Unit::PerSec,
        demand,
        demand_low: demand,
        demand_high: demand,
        grown: demand * 1.2,
        conditions: vec!["p99 < 20 ms".to_owned()],
        from: "given".to_owned(),
        logged: None,
    }
}

pub fn input(name: &str, shown: &str, from: &str) -> InputDoc {
    InputDoc {
        name: name.to_owned(),
        shown: shown.to_owned(),
        value: Some(1.0),
        low: None,
        high: None,
        from: from.to_owned(),
        date: None,
        is_stale: false,
    }
}

fn capacity(need: &str, value: f64) -> CapacityDoc {
    CapacityDoc {
        need: need.to_owned(),
        unit: Unit::PerSec,
        value,
        low: Some(value * 0.97),
        high: Some(value * 1.03),
        at_least: false,
        per_price: Some(value / 1999.0),
        per_watt: Some(value / 110.0),
        figure: "web SLO p99 within 20 ms".to_owned(),
        runs: vec!["0192f3".to_owned()],
        validity: Validity::Ok,
        doubted_by: Vec::new(),
        why: None,
    }
}

fn candidate(name: &str, (needed, tie): (u64, u64), cost: f64) -> CandidateDoc {
    let estimate = |value: f64| EstimateDoc {
        value: Some(value),
        low: Some(value * 0.93),
        high: Some(value * 1.07),
        why: None,
    };
    CandidateDoc {
        name: name.to_owned(),
        machine: MachineDoc { id: name.to_owned(), name: name.to_owned() },
        published: false,
        planted: false,
        sheet: Some("Atom, 2 cores 4 threads, 2 GiB".to_owned()),
        capacities: vec![
            capacity("web", 24_000.0 / needed as f64),
            capacity("kv", 310_000.0 / needed as f64),
        ],
        boxes: BoxesDoc {
            now: None,
            needed,
            probability: 0.93,
            next: Some((needed + 1, 0.995)),
            next_spare: None,
            low: needed - 1,
            high: needed + 1,
            spare: 1,
            total: needed + 1,
            at_most: false,
            binding: "web".to_owned(),
            utilisation: Some(0.61),
        },
        price: Some(input("price", "1,999 EUR", "prices.csv (2026-03-01, vendor list)")),
        rented: false,
        watts: Some(input("watts", "110 W", "the curve of run 0192f3")),
        rack_units: Some(input("rack units", "1", "noted")),
        utilisation: None,
        cost: Some(CostDoc {
            life: cost,
            low: cost * 0.95,
            high: cost * 1.05,
            per_month: cost / 48.0,
            boxes: cost * 0.7,
            energy: Some(cost * 0.28),
            space: Some(cost * 0.02),
            circuits: None,
            without: Vec::new(),
        }),
        no_cost: None,
        total_watts: Some(110.0 * (needed + 1) as f64),
        total_rack_units: Some((needed + 1) as f64),
        racks: Some(2),
        boxes_per_rack: Some(7),
        rack_bound: Some(RackBound::Power),
        circuits: Some(3),
        boxes_per_circuit: Some(5),
        joules: vec![Some(0.052), Some(0.0041)],
        per_million: vec![Some(0.031), Some(0.0024)],
        cheapest: Some(if needed == 11 { 0.71 } else { 0.29 }),
        tie: Some(tie),
        ratio: Some(estimate(cost / 48_200.0)),
    }
}

fn tornado() -> Vec<SwingDoc> {
    let swing = |input: &str, ends: (&str, &str), at: (f64, f64), best: (&str, &str)| SwingDoc {
        input: input.to_owned(),
        low: ends.0.to_owned(),
        high: ends.1.to_owned(),
        at_low: at.0,
        at_high: at.1,
        dearer_at_low: Some(1.0 / at.0),
        dearer_at_high: Some(1.0 / at.1),
        best_at_low: best.0.to_owned(),
        best_at_high: best.1.to_owned(),
    };
    vec![
        swing("energy price", ("0.20 EUR/kWh", "0.40 EUR/kWh"), (0.96, 1.06), ("box-a", "box-b")),
        swing("web of box-a", ("1,660/s", "1,760/s"), (0.95, 1.02), ("box-b", "box-b")),
        swing("utilisation", ("60 %", "80 %"), (0.97, 0.99), ("box-b", "box-b")),
    ]
}

fn bought(candidate: &str, boxes: u64) -> BoughtDoc {
    let does = EstimateDoc { value: Some(2000.0 * boxes as f64), low: None, high: None, why: None };
    BoughtDoc {
        candidate: candidate.to_owned(),
        amount: 20_000.0,
        boxes,
        does: vec![Some(does), None],
        is_enough: boxes > 10,
    }
}

fn curve(name: &str, each: f64) -> CostCurveDoc {
    let point = |factor: f64| {
        let boxes = (11.0 * factor).ceil();
        CostPointDoc {
            factor,
            boxes: boxes as u64,
            cost: Some(boxes * each),
            low: Some(boxes * each * 0.95),
            high: Some(boxes * each * 1.05),
        }
    };
    let points = (1..=30).map(|step| point(f64::from(step) / 10.0)).collect();
    CostCurveDoc { candidate: name.to_owned(), points }
}

fn excluded() -> ExcludedDoc {
    ExcludedDoc {
        name: "box-c".to_owned(),
        need: Some("kv".to_owned()),
        why: "nobody measured kv with p99 within 1 ms and replicas=2".to_owned(),
        command: Some("boxscore run kv-slo --slo p99<1ms --set replicas=2".to_owned()),
        on: Some("box-c".to_owned()),
    }
}

fn mixed() -> MixedDoc {
    let part = |candidate: &str, boxes: u64, share: f64| MixedPartDoc {
        candidate: candidate.to_owned(),
        boxes,
        shares: vec![share, share],
    };
    MixedDoc { parts: vec![part("box-b", 8, 0.7), part("box-a", 4, 0.3)], cost: 46_300.0, saved: 0.04 }
}

fn scaling() -> FleetScalingDoc {
    let point = |boxes: u64, value: f64| FleetPointDoc {
        boxes,
        side: format!("web-{boxes}"),
        value,
        figure: "web SLO p99 within 20 ms".to_owned(),
        runs: vec![format!("0192f{boxes}")],
    };
    FleetScalingDoc {
        basis: ScalingBasis::Measured,
        contention: 0.018,
        contention_low: Some(0.011),
        contention_high: Some(0.026),
        coherence: 0.0,
        coherence_low: Some(0.0),
        coherence_high: Some(0.0),
        points: vec![point(1, 2_180.0), point(2, 4_280.0), point(4, 8_270.0)],
    }
}

/// Two candidates that tie, a third that is dearer, and what is left out.
pub fn decision() -> DecideDoc {
    let mut third = candidate("box-with-a-long-name", (16, 2), 71_000.0);
    third.cheapest = Some(0.0);
    DecideDoc {
        schema: SCHEMA.to_owned(),
        answer: AnswerDoc {
            sentence:
                "12 of box-b are enough with 93 % and cost 48,200 EUR in 4 years; box-a cannot be told apart \
                       from it by cost"
                    .to_owned(),
            ..AnswerDoc::default()
        },
        paragraph: vec![
            "box-b needs 11 boxes and 1 spare, bound by web".to_owned(),
            "box-a needs 14 and costs 1.02 times as much (0.95 to 1.09)".to_owned(),
            "box-a is the cheaper one below 0.14 EUR/kWh".to_owned(),
        ],
        currency: Some("EUR".to_owned()),
        cautions: Vec::new(),
        needs: vec![
            need("web 20000/s p99<20ms", "web", 20_000.0),
            need("kv 200k/s p99<1ms replicas=2", "kv", 200_000.0),
        ],
        inputs: vec![
            input("life", "4 years", "default"),
            input("energy price", "0.20 to 0.40 EUR/kWh", "--kwh"),
            input("utilisation", "70 %", "default"),
            input("spare", "1 may fail", "--spare"),
        ],
        candidates: vec![candidate("box-b", (11, 1), 48_200.0), candidate("box-a", (14, 1), 49_100.0), third],
        excluded: vec![excluded()],
        mixed: Some(mixed()),
        tornado: tornado(),
        break_even: vec![BreakEvenDoc {
            input: "energy price".to_owned(),
            now: 0.3,
            at: 0.14,
            now_shown: "0.30 EUR/kWh".to_owned(),
            at_shown: "0.14 EUR/kWh".to_owned(),
            first: None,
            first_shown: None,
            then: "box-a".to_owned(),
        }],
        settle: vec![SettleDoc {
            command: "boxscore run web-slo --slo p99<20ms".to_owned(),
            on: None,
            runs: 3,
            seconds: Some(380.0),
            why: "tells box-b from box-a, if they differ as they do now".to_owned(),
        }],
        equal_price: vec![bought("box-b", 10), bought("box-a", 12)],
        budget: Vec::new(),
        curves: vec![curve("box-b", 4400.0), curve("box-a", 4300.0)],
        scaling: Some(scaling()),
        notes: vec![
            "11 of box-b are taken to do 9.30 times the work of one: more than 4 were never measured together, and the \
             fitted law goes on"
                .to_owned(),
        ],
        draws: 10_000,
        seed: 1,
    }
}

/// A single published candidate without a price.
pub fn published() -> DecideDoc {
    let mut doc = decision();
    doc.candidates.truncate(1);
    let one = &mut doc.candidates[0];
    (one.published, one.price, one.cost, one.tie, one.cheapest, one.ratio) =
        (true, None, None, None, None, None);
    one.no_cost = Some("nobody says its price".to_owned());
    (one.boxes.probability, one.boxes.next, one.boxes.spare, one.boxes.at_most) = (1.0, None, 0, true);
    one.per_million = vec![None, None];
    for own in &mut one.capacities {
        (own.low, own.high, own.per_price, own.at_least) = (None, None, None, true);
    }
    for list in [&mut doc.paragraph, &mut doc.notes] {
        list.clear();
    }
    (doc.currency, doc.mixed) = (None, None);
    (doc.tornado, doc.break_even, doc.settle) = (Vec::new(), Vec::new(), Vec::new());
    (doc.equal_price, doc.curves, doc.excluded) = (Vec::new(), Vec::new(), Vec::new());
    doc.answer.sentence = "at most 11 of box-b are enough; their cost is not known".to_owned();
    doc
}
