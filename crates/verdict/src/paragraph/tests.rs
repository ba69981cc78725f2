//! Tests of a comparison in plain words; rows and sides for those of its parts.

use model::doc::MachineDoc;
use model::why::{Disturbance, Held, Needed, Reason, Weighed, Why, Withheld};
use model::{Params, Unit};

use super::*;

pub fn row(instrument: &str, params: &str, better: Better, ratio: f64, verdict: VerdictWord) -> RowDoc {
    let card = model::card::find(instruments::cards(), instrument);
    RowDoc {
        card,
        instrument: instrument.to_owned(),
        metric: card.map_or("m", |card| card.shown.main).to_owned(),
        unit: Unit::PerSec,
        better,
        params: Params::parse(params).unwrap(),
        headline: true,
        index: None,
        arm: "mini-1".to_owned(),
        base: "ref".to_owned(),
        arm_value: None,
        base_value: None,
        ratio: Some(ratio),
        low: None,
        high: None,
        p: None,
        p_holm: None,
        floor: None,
        noise: None,
        noise_runs: Vec::new(),
        margin: 0.05,
        verdict,
        why: Why::default(),
        point: false,
        per_price: None,
        per_watt: None,
        worth: None,
        lower_bounds: Vec::new(),
    }
}

pub fn arm(name: &str) -> ArmDoc {
    let machine = MachineDoc { id: name.to_owned(), name: name.to_owned() };
    ArmDoc {
        name: name.to_owned(),
        machine,
        subject: None,
        runs: Vec::new(),
        boxes: None,
        cpus: None,
        published: false,
        planted: false,
        price: None,
        watts: None,
        source: None,
        pasted: false,
    }
}

fn doc(rows: Vec<RowDoc>) -> CompareDoc {
    CompareDoc {
        cards: &[],
        beside: Vec::new(),
        schema: String::new(),
        paragraph: Paragraph::default(),
        answer: String::new(),
        arms: vec![arm("ref"), arm("mini-1")],
        unit_of_replication: None,
        rows,
        ranks: Vec::new(),
        ties: Vec::new(),
        index: Vec::new(),
        value: Vec::new(),
        next_step: None,
        scaling: Vec::new(),
        findings: Vec::new(),
        settings: Vec::new(),
        footnotes: Vec::new(),
    }
}

#[test]
fn wins_losses_ties_and_what_is_not_known() {
    use Better::{Higher, Lower};
    use VerdictWord::{CannotTell, Invalid, Tie, Worse};
    let won = VerdictWord::Better;
    let mut refused = row("disk-fsync", "", Lower, 0.03, Invalid);
    let text = "no flush reached the drive".to_owned();
    refused.why = Reason::Refused { side: Some("mini-1".to_owned()), text }.into();
    let mut held = row("cipher", "algorithm=aes-128-gcm;threads=1", Higher, 1.02, CannotTell);
    held.why = Reason::Held(Held::AssumedNoise).into();
    let text = paragraph(&doc(vec![
        row("index", "kind=integer;threads=1", Higher, 1.31, won),
        row("compress", "codec=zstd;threads=1", Higher, 1.18, won),
        row("mem-latency", "level=memory;threads=1", Lower, 1.21, Worse),
        row("mem-bandwidth", "op=read;size=auto;threads=1", Higher, 1.0, Tie),
        held,
        refused,
    ]))
    .to_string();
    assert_eq!(
        text,
        "mini-1 computes 18 % (compress zstd) to 31 % (integer) faster than ref and waits 21 % longer for memory. \
         They tie on memory read (within 5 %). Whether mini-1 and ref differ on cipher AES-128-GCM cannot be told yet, since the \
         noise between runs is assumed. Not counted: disk fsync (mini-1: no flush reached the drive)."
    );
}

#[test]
fn where_all_is_refused_the_lead_is_short() {
    let mut refused = row("disk-fsync", "", Better::Lower, 0.03, VerdictWord::Invalid);
    refused.why = Reason::Refused { side: None, text: "no flush".to_owned() }.into();
    let said = paragraph(&doc(vec![refused]));
    assert_eq!(said.lead, "mini-1 and ref cannot be compared: every figure is refused.");
    assert!(said.rest.starts_with(" Not counted: disk fsync (no flush)."), "{}", said.rest);
}

#[test]
fn what_differs_is_said_while_the_margin_is_open() {
    let apart = |reasons: Vec<Reason>| RowDoc {
        low: Some(0.91),
        high: Some(0.96),
        p_holm: Some(0.002),
        why: Why::new(reasons),
        ..row("index", "kind=integer", Better::Higher, 0.94, VerdictWord::CannotTell)
    };
    let needed = Reason::Needed(Needed::new(3, model::why::Repeat::Runs));
    let held = Reason::Held(Held::Interval);
    let text = paragraph(&doc(vec![apart(vec![held.clone(), needed])])).to_string();
    assert_eq!(
        text,
        "mini-1 computes 4 to 9 % slower than ref; whether that exceeds the margin of 5 % is open, about 3 runs \
         each would settle it."
    );
    // Of a row that may not differ at all this is not said, nor advice where there is none.
    let mut rows = vec![apart(vec![held.clone()]), apart(vec![held])];
    rows[1].p_holm = Some(0.2);
    let text = paragraph(&doc(rows)).to_string();
    assert!(text.contains("is open. Whether mini-1 and ref differ on integer cannot be told yet"), "{text}");
}

#[test]
fn response_times_are_told_before_that_both_answered_what_was_offered() {
    let load = "arrivals=constant;rate=5000";
    let mut wait = RowDoc {
        metric: "response-time-p50".to_owned(),
        low: Some(1.06),
        high: Some(1.22),
        ..row("web", load, Better::Lower, 1.12, VerdictWord::CannotTell)
    };
    wait.why = Reason::Held(Held::AssumedNoise).into();
    let rate = row("web", load, Better::Higher, 1.0, VerdictWord::Tie);
    let text = paragraph(&doc(vec![rate, wait])).to_string();
    assert!(text.starts_with("mini-1 probably takes 6 to 22 % longer for"), "{text}");
    assert!(text.contains("They tie on"), "{text}");
}

#[test]
fn one_take_each_is_no_probability() {
    let far = |each: bool| {
        let mut row = row("index", "kind=integer", Better::Higher, 0.3, VerdictWord::CannotTell);
        (row.low, row.high) = (Some(0.28), Some(0.32));
        row.why = Reason::Held(Held::OneTake { each }).into();
        row
    };
    let says = |rows: Vec<RowDoc>| paragraph(&doc(rows)).to_string();
    let text = says(vec![far(true)]);
    let said = "Whether mini-1 and ref differ on any of the figures cannot be told yet, since they have one take each and \
                the noise is assumed.";
    assert!(text.starts_with(said), "{text}");
    let text = says(vec![far(true), far(false)]);
    assert!(
        text.contains("cannot be told yet, since a side has one take and the noise is assumed"),
        "{text}"
    );
}

#[test]
fn many_arms_that_are_told_alike_share_their_sentences() {
    let held = |arm: &str, ratio: f64, verdict: VerdictWord| {
        let mut row = row("index", "kind=integer", Better::Higher, ratio, verdict);
        row.arm = arm.to_owned();
        if verdict == VerdictWord::CannotTell {
            row.why = Reason::Held(Held::OneTake { each: true }).into();
        }
        row
    };
    let said = |names: &[String]| {
        let rows = names.iter().map(|name| match name.as_str() {
            "atom017" => held(name, 0.5, VerdictWord::Worse),
            _ => held(name, 1.0, VerdictWord::CannotTell),
        });
        let mut doc = doc(rows.collect());
        let base = doc.arms[0].clone();
        doc.arms = std::iter::once(base)
            .chain(names.iter().map(|name| ArmDoc { name: name.clone(), ..doc.arms[1].clone() }))
            .collect();
        paragraph(&doc).to_string()
    };
    let atoms = |numbers: std::ops::RangeInclusive<u32>| -> Vec<String> {
        numbers.map(|at| format!("atom{at:03}")).collect()
    };
    // A few share them where they have one expression.
    let text = said(&atoms(12..=18));
    assert!(text.starts_with("Whether atom[012-016,018] and ref differ on any of the figures"), "{text}");
    let text = said(&["oak", "elm", "fir", "ash"].map(str::to_owned));
    assert!(text.starts_with("Whether oak and ref differ on any of the figures"), "{text}");
    let text = said(&atoms(2..=132));
    assert!(text.starts_with("Whether atom[002-016,018-132] and ref differ on any of the figures"), "{text}");
    assert!(text.contains("\natom017 computes") && text.lines().count() <= 3, "{text}");
}

#[test]
fn counts_of_many_sides_are_told_together() {
    assert_eq!(super::counts(&[3, 2]), "3 and 2");
    assert_eq!(super::counts(&[1; 132]), "1 each");
    assert_eq!(super::counts(&[1, 1, 3, 1, 2]), "1 to 3 each");
}

#[test]
fn it_says_of_what_it_speaks() {
    let mut doc = doc(vec![row("index", "kind=integer", Better::Higher, 1.0, VerdictWord::Tie)]);
    for (arm, runs) in doc.arms.iter_mut().zip([3, 2]) {
        arm.runs = vec!["r".to_owned(); runs];
    }
    for (unit, says) in [
        (Replicate::Run, "This speaks of these boxes, not of their types: the unit is the run (3 and 2)."),
        (
            Replicate::Box,
            "This speaks of types of boxes: the unit is the box (1 and 1), each worth one value.",
        ),
        (Replicate::Sitting, "This speaks of one run: the unit is the sitting."),
    ] {
        doc.unit_of_replication = Some(unit);
        let text = paragraph(&doc).to_string();
        assert_eq!(text.lines().last(), Some(says));
    }
}

#[test]
fn rows_of_a_topic_that_goes_both_ways_are_named() {
    let flops = |kernel: &str, ratio, verdict| {
        row("scimark", &format!("kernel={kernel};lang=c"), Better::Higher, ratio, verdict)
    };
    let text = paragraph(&doc(vec![
        flops("fft", 1.23, VerdictWord::Better),
        flops("lu", 1.9, VerdictWord::Better),
        flops("monte-carlo", 0.89, VerdictWord::Worse),
    ]))
    .to_string();
    assert_eq!(
        text,
        "mini-1 runs scimark in c 23 % (fft c) to 90 % (lu c) faster than ref and runs scimark in c 11 % slower \
         (monte-carlo c)."
    );
}

#[test]
fn failed_requests_are_told_and_their_ties_are_not() {
    let failed = |given: &str, arm, base, verdict| RowDoc {
        metric: "error-rate".to_owned(),
        unit: model::Unit::Ratio,
        ratio: None,
        arm_value: Some(arm),
        base_value: Some(base),
        ..row("web", given, Better::Lower, 1.0, verdict)
    };
    let text = paragraph(&doc(vec![
        failed("connections=50", 0.2, 0.0, VerdictWord::Worse),
        failed("connections=1", 0.1, 0.0, VerdictWord::Worse),
        failed("connections=2", 0.0, 0.0, VerdictWord::Tie),
    ]))
    .to_string();
    assert!(
        text.contains("fails 20 % of the requests, not 0 % (") && text.contains(" and 1 more)"),
        "{text}"
    );
    assert!(!text.contains("tie"), "{text}");
}

#[test]
fn doubtful_figures_are_told_as_such() {
    let mut rows = vec![
        row("index", "kind=integer;threads=1", Better::Higher, 0.5, VerdictWord::CannotTell),
        row("mem-bandwidth", "op=read;threads=1", Better::Higher, 1.0, VerdictWord::Tie),
    ];
    let weighed = |what| Weighed { what, share: None };
    let by_what = vec![weighed(Disturbance::OtherProcesses), weighed(Disturbance::Swap)];
    rows[0].why = Reason::Withheld(Withheld::Disturbed { by_what }).into();
    assert_eq!(
        paragraph(&doc(rows)).to_string(),
        "mini-1 and ref tie on memory read (within 5 %). Whether mini-1 and ref differ on integer cannot be told, \
         since these figures are doubtful: other processes used CPUs and the system swapped."
    );
}

#[test]
fn waits_of_one_instrument_are_named_by_their_metric() {
    let wait = |metric: &str, ratio, verdict| RowDoc {
        metric: metric.to_owned(),
        ..row("web", "connections=50", Better::Lower, ratio, verdict)
    };
    let text = paragraph(&doc(vec![
        wait("response-time", 0.76, VerdictWord::Better),
        wait("response-time-p99", 1.47, VerdictWord::Worse),
    ]))
    .to_string();
    let (median, p99) = ("24 % less time for web p50", "47 % longer for web p99");
    assert!(text.contains(median) && text.contains(p99), "{text}");
}

#[test]
fn a_tie_within_a_raised_margin_says_so() {
    let tie = |kind: &str, margin| RowDoc {
        margin,
        ..row("index", &format!("kind={kind}"), Better::Higher, 1.0, VerdictWord::Tie)
    };
    let text = |rows| paragraph(&doc(rows)).to_string();
    let both = text(vec![tie("integer", 0.05), tie("floating", 0.4)]);
    assert_eq!(both, "mini-1 and ref tie on integer and floating (within 5 to 40 %).");
    assert!(text(vec![tie("integer", 0.025)]).ends_with("(within 2.5 %)."));
}

#[test]
fn clocks_that_differ_a_little_are_one_reason() {
    let names = ["integer", "floating", "memory"];
    let mut rows: Vec<RowDoc> = names
        .map(|kind| row("index", &format!("kind={kind}"), Better::Higher, 0.9, VerdictWord::CannotTell))
        .into();
    for (row, arm) in rows.iter_mut().zip([3.6e9, 3.58e9, 3.61e9]) {
        row.why = Reason::Withheld(Withheld::Clocks { arm, base: 4.2e9 }).into();
    }
    assert_eq!(
        paragraph(&doc(rows)).to_string(),
        "Whether mini-1 and ref differ on any of the figures cannot be told, since these figures are doubtful: \
         the clock was 3.58 to 3.61 GHz against 4.20 GHz."
    );
}

fn index(scope: Scope, value: f64) -> IndexDoc {
    IndexDoc {
        scope,
        arm: "mini-1".to_owned(),
        reference: "ref".to_owned(),
        value: Some(value),
        low: Some(value - 0.1),
        high: Some(value + 0.1),
        why: None,
        components: 3,
        open: 0,
    }
}

#[test]
fn the_indexes_come_first_and_then_what_goes_the_other_way() {
    use Better::{Higher, Lower};
    use VerdictWord::{Better as Won, CannotTell, Tie, Worse};
    let mut held = row("cipher", "algorithm=aes-128-gcm;threads=1", Higher, 1.2, CannotTell);
    held.why = Reason::Held(Held::Interval).into();
    let mut doc = doc(vec![
        row("index", "kind=integer;threads=all", Higher, 1.31, Won),
        row("index", "kind=floating;threads=all", Higher, 1.0, Tie),
        row("mem-bandwidth", "op=read;size=auto;threads=all", Higher, 0.8, Worse),
        row("index", "kind=integer;threads=1", Higher, 1.25, Won),
        row("mem-latency", "level=memory;threads=1", Lower, 0.8, Won),
        held,
        // A further metric of a figure that has a scope, and one that goes along.
        row("mem-bandwidth", "op=copy;size=auto;threads=4", Higher, 0.7, Worse),
        row("mem-bandwidth", "op=write;size=auto;threads=4", Higher, 1.3, Won),
    ]);
    doc.index = vec![index(Scope::WholeMachine, 1.3), index(Scope::PerThread, 1.2)];
    assert_eq!(
        paragraph(&doc).to_string(),
        "As a whole machine, mini-1 has 1.30 times the performance of ref over 3 figures (95 %: 1.20 to 1.40; single \
         figures: 0.80 to 1.31 times). They tie on floating (within 5 %). Per thread, mini-1 has 1.20 times the \
         performance of ref over 3 figures (95 %: 1.10 to 1.30; single figures: 1.20 to 1.25 times). The other way, mini-1 \
         moves memory 20 % (memory read on all CPUs) to 30 % (memory copy on 4 CPUs) slower than ref. Whether mini-1 \
         and ref differ on cipher AES-128-GCM cannot be told yet, since most intervals reach across the margin."
    );
    // An index that tells nothing speaks for no figure.
    doc.index = vec![index(Scope::WholeMachine, 1.05), index(Scope::PerThread, 1.2)];
    let text = paragraph(&doc).to_string();
    assert!(text.contains("mini-1 computes 31 % faster than ref and moves memory 20 % slower."), "{text}");
}

#[test]
fn the_money_is_part_of_the_answer_and_planted_sides_are_told() {
    let mut doc = doc(vec![RowDoc {
        per_price: Some(0.65),
        ..row("index", "kind=integer;threads=all", Better::Higher, 1.3, VerdictWord::Better)
    }]);
    doc.index = vec![index(Scope::WholeMachine, 1.3)];
    for (arm, amount) in doc.arms.iter_mut().zip([0.1, 0.2]) {
        arm.price = Some(model::price::Price { amount, currency: "USD".to_owned(), hourly: true });
    }
    doc.arms[1].planted = true;
    doc.value = values(&doc);
    let told = paragraph(&doc);
    assert!(
        told.lead.contains(
            "ref gives more for the money: per unit of price mini-1 (0.20 USD/h) has 0.65 times the performance of ref \
             (0.10 USD/h; 95 %: 0.60 to 0.70)."
        ),
        "{told}"
    );
    assert!(told.lead.ends_with(" mini-1 is planted by --fake: no measurement."), "{told}");
}

#[test]
fn what_is_likely_is_told_as_not_proved() {
    let mut rows = vec![
        row("index", "kind=integer;threads=all", Better::Higher, 0.59, VerdictWord::CannotTell),
        row("index", "kind=integer;threads=1", Better::Higher, 1.12, VerdictWord::CannotTell),
    ];
    let by_what = vec![Weighed { what: Disturbance::OtherProcesses, share: None }];
    for (row, interval) in rows.iter_mut().zip([(0.41, 0.85), (0.78, 1.62)]) {
        (row.low, row.high) = (Some(interval.0), Some(interval.1));
        row.why = Reason::Withheld(Withheld::Disturbed { by_what: by_what.clone() }).into();
    }
    let text = paragraph(&doc(rows)).to_string();
    assert_eq!(
        text,
        "In cpu figures, with all CPUs, mini-1 probably computes 15 to 59 % slower than ref; not proved: other \
         processes used CPUs. Whether mini-1 and ref differ on integer cannot be told, since these figures are doubtful: other \
         processes used CPUs."
    );
}

#[test]
fn nothing_in_common_is_said() {
    assert_eq!(paragraph(&doc(Vec::new())).to_string(), "mini-1 and ref have no figure in common.");
    let mut three = doc(Vec::new());
    three.arms.push(arm("mini-2"));
    assert_eq!(paragraph(&three).to_string(), "mini-1 and mini-2 have no figure in common with ref.");
}
