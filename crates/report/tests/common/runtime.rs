//! An invented study of language runtimes: C and Java under two virtual machines, a second machine where Java lags, the
//! ratios of an old study, and how Java became fast. Nothing here is a measurement.

use model::data::{Point, RunData, Series};
use model::doc::{
    ArmDoc, BoundsDoc, Method, Noise, Paragraph, RatioDoc, RatioOfRatiosDoc, RatioRowDoc, RowDoc, RunDoc,
    VerdictWord,
};
use model::finding::Immature;
use model::metric::Better;
use model::reading::{Phase, SeriesKey, Value};
use model::unit::Unit;
use model::why::{self, Reason, Repeat, Why};
use model::{Finding, Params, Subject, Validity};

use super::{arm, open, params, scatter};

const KERNELS: [&str; 6] = ["fft", "sor", "monte-carlo", "sparse", "lu", "composite"];
/// MFLOPS of C, of Java under HotSpot, and of Java under Zero.
const HERE: [[f64; 3]; 6] = [
    [1930.0, 1557.0, 26.2],
    [1612.0, 1314.0, 100.0],
    [547.0, 1072.0, 11.8],
    [3113.0, 2260.0, 50.0],
    [3852.0, 5719.0, 50.3],
    [2211.0, 2384.0, 47.7],
];
const CLOCKS: &str = "C timed by CPU time and Java by wall clock";

fn figure(kernel: &str, jvm: &str, values: (f64, f64)) -> RowDoc {
    let ratio = values.0 / values.1;
    let verdict = match ratio {
        ratio if ratio > 1.04 => VerdictWord::Better,
        ratio if ratio < 0.95 => VerdictWord::Worse,
        _ => VerdictWord::CannotTell,
    };
    RowDoc {
        card: model::card::find(instruments::cards(), "scimark"),
        instrument: "scimark".to_owned(),
        metric: "flops".to_owned(),
        unit: Unit::PerSec,
        better: Better::Higher,
        params: params(&format!("cc=gcc -O2;copies=1;jvm={jvm};kernel={kernel};seconds=0.3;size=small")),
        headline: true,
        index: None,
        arm: "c".to_owned(),
        base: "java".to_owned(),
        arm_value: Some(values.0),
        base_value: Some(values.1),
        ratio: Some(ratio),
        low: Some(ratio * 0.98),
        high: Some(ratio * 1.02),
        p: Some(0.002),
        p_holm: Some(0.02),
        floor: Some(0.02),
        noise: Some(Noise::Within),
        noise_runs: Vec::new(),
        margin: 0.02,
        verdict,
        why: if verdict == VerdictWord::CannotTell { open(14, Repeat::Takes) } else { Why::default() },
        point: false,
        per_price: None,
        per_watt: None,
        worth: None,
        lower_bounds: Vec::new(),
    }
}

fn row(machine: &str, row: RowDoc) -> RatioRowDoc {
    let jvm = row.params.get("jvm").unwrap_or_default().to_owned();
    RatioRowDoc {
        machine: machine.to_owned(),
        over_params: params("cc=gcc -O2"),
        under_params: params(&format!("jvm={jvm}")),
        row,
        method: Method::Blocks,
        bounds: None,
        source: None,
    }
}

/// What a study printed: a range over the kernels.
fn printed() -> RatioRowDoc {
    let row = RowDoc {
        better: Better::Neither,
        unit: Unit::Ratio,
        params: params("cc=gcc -O3;jvm=zero;size=small"),
        arm_value: None,
        base_value: None,
        ratio: Some(5.66),
        low: None,
        high: None,
        p: None,
        p_holm: None,
        floor: None,
        noise: None,
        noise_runs: Vec::new(),
        margin: 0.0,
        verdict: VerdictWord::CannotTell,
        why: Reason::Point(why::Point {
            study: Some("linaro-2012".to_owned()),
            note: format!("of the five kernels; {CLOCKS}"),
            ..why::Point::default()
        })
        .into(),
        point: true,
        ..figure("fft", "zero", (5.66, 1.0))
    };
    RatioRowDoc {
        machine: "pandaboard-es".to_owned(),
        row,
        over_params: Params::default(),
        under_params: Params::default(),
        method: Method::Point,
        bounds: Some(BoundsDoc { low: 3.6, high: 8.9, kind: "range".to_owned() }),
        source: Some("linaro-2012".to_owned()),
    }
}

fn across(here: &RatioRowDoc, base: &RatioRowDoc) -> RatioOfRatiosDoc {
    let ratio = here.row.ratio.zip(base.row.ratio).map(|(here, base)| here / base).expect("both");
    let point = here.row.point;
    let row = RowDoc {
        arm: here.machine.clone(),
        base: base.machine.clone(),
        unit: Unit::Ratio,
        arm_value: here.row.ratio,
        base_value: base.row.ratio,
        ratio: Some(ratio),
        low: (!point).then_some(ratio * 0.93),
        high: (!point).then_some(ratio * 1.07),
        margin: 0.05,
        verdict: if point { VerdictWord::CannotTell } else { VerdictWord::Better },
        why: Why::default(),
        point,
        ..base.row.clone()
    };
    let unlike = if point { vec!["cc: gcc -O3, on mini-1 gcc -O2".to_owned()] } else { Vec::new() };
    let bounds = here.bounds.as_ref().zip(base.row.ratio).map(|(bounds, base)| BoundsDoc {
        low: bounds.low / base,
        high: bounds.high / base,
        kind: bounds.kind.clone(),
    });
    RatioOfRatiosDoc { row, method: if point { Method::Point } else { Method::Runs }, bounds, unlike }
}

/// C over Java on `mini-1` under two virtual machines, on `new-1` under HotSpot where it lags, and as printed in 2012.
pub fn ratios() -> RatioDoc {
    let here = |at: usize, jvm: &str, column: usize| {
        row("mini-1", figure(KERNELS[at], jvm, (HERE[at][0] * 1e6, HERE[at][column] * 1e6)))
    };
    let new = |at: usize| {
        row(
            "new-1",
            figure(
                KERNELS[at],
                "hotspot",
                (HERE[at][0] * 0.6e6, HERE[at][1] * 0.6e6 / (3.0 + 0.3 * at as f64)),
            ),
        )
    };
    let all = 0..KERNELS.len();
    let mut rows: Vec<RatioRowDoc> = all.clone().map(|at| here(at, "hotspot", 1)).collect();
    rows.extend(all.clone().map(|at| here(at, "zero", 2)));
    rows.extend(all.clone().map(new));
    rows.push(printed());
    let mut ratios_of_ratios: Vec<RatioOfRatiosDoc> =
        all.clone().map(|at| across(&new(at), &here(at, "hotspot", 1))).collect();
    ratios_of_ratios.extend(all.map(|at| across(&printed(), &here(at, "zero", 2))));
    let immature = Immature {
        param: "lang".to_owned(),
        value: "java".to_owned(),
        over: "c".to_owned(),
        under: "java".to_owned(),
        machine: "new-1".to_owned(),
        other: "mini-1".to_owned(),
        is_software: true,
        tools: [vec!["Java: `javac`, which is 17".to_owned()], vec!["Java: `javac`, which is 8".to_owned()]],
        ratio: Some((1.84, 4.96)),
        elsewhere: Some((0.51, 1.38)),
        apart: Some((2.79, 4.81)),
        margin: 0.05,
        figures: KERNELS.map(str::to_owned).to_vec(),
        of: KERNELS.len(),
    };
    let machine = |name: &str| ArmDoc { price: None, watts: None, ..arm(name, false) };
    RatioDoc {
        cards: instruments::cards(),
        schema: "boxscore.ratio/1".to_owned(),
        paragraph: Paragraph {
            lead:
                "c over java is 0.51 to 1.38 on mini-1 with jvm=hotspot (6 figures: c better in 3, java in 3)"
                    .to_owned(),
            rest: "; 16.1 to 76.6 on mini-1 with jvm=zero (6 figures: c better in 6); 1.84 to 4.96 on \
                    new-1 (6 figures: c better in 6); 3.60 to 8.90 on pandaboard-es (published)."
                .to_owned(),
        },
        param: "lang".to_owned(),
        over: "c".to_owned(),
        under: "java".to_owned(),
        machines: vec![
            machine("mini-1"),
            machine("new-1"),
            ArmDoc { published: true, source: Some("linaro-2012".to_owned()), ..machine("pandaboard-es") },
        ],
        rows,
        ratios_of_ratios,
        findings: vec![Finding::new(immature).about(Subject::label("lang=java").of_side("new-1"))],
        footnotes: vec![format!(
            "pandaboard-es: point of linaro-2012 without samples; of the five kernels; {CLOCKS}"
        )],
    }
}

/// CPU time of an iteration of SOR, in microseconds: interpreted, compiled once, compiled well.
fn microseconds(jvm: &str, at: u32) -> f64 {
    match (jvm, at) {
        ("zero", 1) => 1334.0,
        ("zero", _) => 685.0,
        (_, 1) => 1257.0,
        (_, 2..=6) => 590.0,
        (_, 7) => 224.0,
        (_, 8) => 112.0,
        _ => 77.0,
    }
}

fn readings(jvm: &str, metric: &str, more: &str, unit: Unit, value: f64) -> Series {
    let key = SeriesKey {
        instrument: "scimark-warmup".to_owned(),
        metric: metric.to_owned(),
        unit,
        params: params(&format!("iterations=30;jvm={jvm};kernel=sor;lang=java{more}")),
        arm: format!("jvm={jvm}"),
        definition: 1,
    };
    let point = |take: u64| Point {
        seq: take,
        block: take as u32,
        sitting: 0,
        phase: Phase::Measured,
        at_ns: take * 1_000_000_000,
        window_ns: 0,
        value: Value::Number(value * (1.0 + 0.05 * scatter(take as usize + value.to_bits() as usize % 97))),
    };
    Series { key, better: Better::Neither, points: (1..=8).map(point).collect() }
}

/// Adds how two virtual machines became fast.
pub fn warm_up((doc, mut data): (RunDoc, RunData)) -> (RunDoc, RunData) {
    for jvm in ["hotspot", "zero"] {
        for at in 1..=30 {
            let value = microseconds(jvm, at) * 1e-6;
            data.series.push(readings(jvm, "iteration", &format!(";iteration={at:02}"), Unit::Second, value));
        }
        let (from, steady) = if jvm == "zero" { (1.0, 685e-6) } else { (8.0, 77e-6) };
        data.series.push(readings(jvm, "steady", "", Unit::Second, steady));
        let mut begins = readings(jvm, "steady-from", "", Unit::Count, from);
        begins.points.iter_mut().for_each(|point| point.value = Value::Number(from));
        data.series.push(begins);
    }
    (doc, data)
}
