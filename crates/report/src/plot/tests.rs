//! Tests of every figure: well-formed, finite, labels inside, small.

use model::format::Kind;
use model::unit::Unit;

use super::flame::Frame;
use super::line::{Marker, Point, Series, Span};
use super::strip::{Strip, Take};
use super::*;
use crate::scale::AxisSpec;
use crate::theme::Verdict;
use proptest::prelude::*;

fn latency() -> AxisSpec {
    AxisSpec::new("latency", Kind::for_unit(Unit::Second)).log()
}
fn sizes() -> AxisSpec {
    AxisSpec::new("array", Kind::for_unit(Unit::Byte)).log2()
}

fn line(ys: &[f64]) -> LinePlot {
    let points = ys.iter().enumerate().map(|(i, y)| Point {
        interval: Some((y * 0.9, y * 1.1)),
        ..Point::at(4096.0 * 1.5f64.powi(i as i32 % 40), *y)
    });
    LinePlot {
        caption: Caption::new("Memory answers in 92 ns").subtitle("random reads"),
        x: sizes(),
        y: latency(),
        series: vec![
            Series { name: "mini-1".into(), points: points.clone().collect(), reference: false },
            Series {
                name: "a machine with a very long name indeed".into(),
                points: points.collect(),
                reference: true,
            },
        ],
        markers: vec![
            Marker { at: 32_768.0, label: "L1 32 KiB".into(), upright: true },
            Marker { at: 40_768.0, label: "L2 a longer label".into(), upright: true },
            Marker { at: 1e-8, label: "goal".into(), upright: false },
        ],
        spans: vec![Span { from: 5000.0, to: 9000.0, label: "take 1".into() }],
        size: Size::Cell,
    }
}

fn strips(values: &[f64]) -> StripPlot {
    let takes: Vec<Take> =
        values.iter().enumerate().map(|(i, v)| Take { value: *v, warm_up: i < 2 }).collect();
    let median = values.first().map(|v| Estimate { value: *v, interval: Some((v * 0.99, v * 1.01)) });
    let strip = |name: &str, colour| Strip {
        name: name.into(),
        takes: takes.clone(),
        median,
        colour,
        members: Vec::new(),
    };
    StripPlot {
        caption: Caption::new("Takes agree within 1 %"),
        y: AxisSpec::new("rate", Kind::for_unit(Unit::PerSec).item("op")),
        series: vec![strip("mini-1", 0), strip("reference machine with a long name", 1)],
        size: Size::Cell,
    }
}

fn ratios(values: &[f64]) -> RatioPlot {
    let row = |(i, v): (usize, &f64)| ratio::RatioRow {
        group: format!("group {}", i / 3),
        label: format!("metric {i} & more"),
        hint: String::new(),
        ratio: Estimate { value: *v, interval: (i % 2 == 0).then_some((v * 0.9, v * 1.1)) },
        shown: model::format::ratio(*v),
        shown_interval: if i % 2 == 0 { "a to b".into() } else { String::new() },
        verdict: Verdict::ALL[i % 6],
        less_is_better: i % 3 == 1,
        doubtful: false,
        sampled: i % 2 == 0,
    };
    RatioPlot {
        caption: Caption::new("7 better"),
        rows: values.iter().enumerate().map(row).collect(),
        margin: 0.05,
        axis: "ratio to ref".into(),
        sides: ratio::Sides::default(),
    }
}

fn bars(values: &[f64]) -> Bars {
    let estimate = |v: &f64| Some(Estimate { value: *v, interval: Some((v * 0.9, v * 1.1)) });
    Bars {
        caption: Caption::new("Bars"),
        y: AxisSpec::new("rate", Kind::for_unit(Unit::BytesPerSec)),
        series: vec!["one".into(), "two".into()],
        groups: values
            .iter()
            .map(|v| bars::BarGroup { name: "a group name".into(), values: vec![estimate(v), None] })
            .collect(),
        size: Size::Cell,
        text: None,
    }
}

/// One series: numbers stand above the bars.
fn single(values: &[f64]) -> Bars {
    let mut plot = bars(values);
    plot.series.clear();
    plot.groups.iter_mut().for_each(|g| g.values.truncate(1));
    plot
}

fn heat(values: &[f64], side: usize) -> Heat {
    let at = |i: usize| values.get(i % values.len().max(1)).copied().unwrap_or(f64::NAN);
    Heat {
        caption: Caption::new("Neighbours are near"),
        rows: (0..side).map(|i| format!("cpu{i}")).collect(),
        columns: (0..side).map(|i| format!("{i}")).collect(),
        cells: (0..side).map(|r| (0..side).map(|c| at(r * side + c)).collect()).collect(),
        kind: Kind::for_unit(Unit::Second),
        row_title: "from core".into(),
        column_title: "to core".into(),
        size: Size::Cell,
    }
}

fn ecdf(values: &[f64], tail: bool) -> Ecdf {
    Ecdf {
        caption: Caption::new("Half of the reads take 80 us"),
        values: latency(),
        curves: vec![
            ecdf::Curve::from_samples("NVMe", values),
            ecdf::Curve::from_samples("SATA SSD", values),
        ],
        tail,
        size: Size::Cell,
    }
}

fn stack(values: &[f64]) -> Stack {
    let row = |i: usize| stack::StackRow {
        name: format!("cpu{i} server"),
        parts: (0..3).map(|p| values.get(i + p).copied().filter(|_| p != 1)).collect(),
    };
    Stack {
        caption: Caption::new("cpu0 is full").subtitle("shares of the take's time"),
        parts: ["user", "system", "softirq"].map(str::to_owned).to_vec(),
        rows: (0..values.len()).map(row).collect(),
        size: Size::Cell,
    }
}

/// A tree of calls: each value's share of the whole, ever deeper.
fn flame(values: &[f64]) -> Flame {
    let mut root = Frame { name: "all".into(), ..Frame::default() };
    for (i, value) in values.iter().enumerate() {
        let total = (value.abs() * 1e9) as u64;
        let inner = Frame { name: "a_function_of_the_kernel".into(), kernel: true, total, calls: Vec::new() };
        let name = format!("<function {i}>");
        root.calls.push(Frame { name, kernel: false, total, calls: vec![inner] });
        root.total = root.total.saturating_add(total);
    }
    Flame { caption: Caption::new("Kernel code took most"), root }
}

/// Intervals as bars, every other point hollow.
fn bounds(values: &[f64]) -> LinePlot {
    let mut plot = line(values);
    for (i, point) in plot.series.iter_mut().flat_map(|series| &mut series.points).enumerate() {
        (point.bar, point.hollow) = (true, i % 2 == 0);
    }
    plot
}

fn every(values: &[f64]) -> Vec<String> {
    let spark =
        Sparkline { name: "clock".into(), kind: Kind::for_unit(Unit::Hertz), values: values.to_vec() };
    [
        line(values).render(),
        bounds(values).render(),
        stack(values).render(),
        flame(values).render(),
        strips(values).render(),
        ratios(values).render(),
        bars(values).render(),
        single(values).render(),
        heat(values, 5).render(),
        ecdf(values, false).render(),
        ecdf(values, true).render(),
        spark.render(),
    ]
    .map(Markup::into_string)
    .to_vec()
}

fn sound(values: &[f64]) {
    for text in every(values) {
        check::balanced(&text);
        check::finite(&text);
        check::inside(&text);
    }
}

#[test]
fn awkward_data_is_drawn_or_said() {
    let awkward: [&[f64]; 9] = [
        &[],
        &[5.0],
        &[5.0; 20],
        &[0.0],
        &[-3.0, -1.0, 0.0],
        &[f64::NAN, f64::INFINITY, 1.0, f64::NEG_INFINITY],
        &[f64::NAN],
        &[1e-18, 1e18],
        &[f64::MAX, f64::MIN_POSITIVE, 1e300],
    ];
    for values in awkward {
        sound(values);
    }
}

#[test]
fn what_is_left_out_is_said() {
    let text = line(&[1.0, f64::NAN, -1.0, 2.0]).render().into_string();
    assert!(text.contains("2 values not drawn: unknown, or beyond every number"), "{text}");
    assert!(text.contains("2 values not drawn: 0 or less on a logarithmic axis"));
    let mut broken = line(&[1.0, 2.0, 3.0]);
    broken.series[0].points[1] = Point::gap(broken.series[0].points[1].x);
    let text = broken.render().into_string();
    assert!(!text.contains("not drawn"), "a gap is no value: {text}");
    for text in every(&[]).iter().take(11) {
        assert!(text.contains("No data"), "{text}");
    }
}

#[test]
fn many_points_stay_small() {
    let values: Vec<f64> = (0..10_000).map(|i| 1e-7 * (1.5 + f64::from(i % 977) / 977.0)).collect();
    let mut telemetry = line(&values);
    telemetry.x = AxisSpec::new("time", Kind::for_unit(Unit::Second));
    telemetry.series.truncate(1);
    for (i, point) in telemetry.series[0].points.iter_mut().enumerate() {
        point.x = i as f64;
    }
    let telemetry = telemetry.render().into_string();
    assert!(telemetry.len() < 60_000, "{}", telemetry.len());
    check::inside(&telemetry);
    for (text, most) in [
        (strips(&values).render(), 120_000),
        (ecdf(&values, false).render(), 25_000),
        (ecdf(&values, true).render(), 25_000),
        (heat(&values, 128).render(), 260_000),
    ] {
        let text = text.into_string();
        assert!(text.len() < most, "{} of {most}", text.len());
        check::balanced(&text);
        check::inside(&text);
    }
}

#[test]
fn names_that_would_look_alike_move_to_the_key() {
    let mut plot = line(&[1.0, 2.0]);
    for (series, generators) in plot.series.iter_mut().zip(["1 generator", "2 generators"]) {
        series.name = format!("event without sendfile, {generators}");
    }
    let text = plot.render().into_string();
    assert!(text.contains("class=\"key\"") && text.contains("sendfile, 2 generators</span>"), "{text}");
    assert!(!line(&[1.0, 2.0]).render().into_string().contains("class=\"key\""));
}

#[test]
fn names_are_escaped() {
    let mut plot = strips(&[1.0, 2.0]);
    plot.series[0].name = "<script>&".into();
    let text = plot.render().into_string();
    assert!(!text.contains("<script>") && text.contains("&lt;script&gt;&amp;"));
}

#[test]
fn cut_and_wrapped() {
    assert_eq!(ellipsis("short", 100.0), "short");
    assert!(text_width(&ellipsis("a very long label that cannot fit", 80.0)) <= 80.0);
    assert_eq!(wrap("memory read", 60.0, 2), ["memory", "read"]);
    assert_eq!(wrap("read100K.99", 60.0, 2), ["read100K", ".99"]);
    assert_eq!(wrap("write100K", 50.0, 2), ["write", "100K"]);
    assert_eq!(wrap("unbreakableunbreakable", 60.0, 4).len(), 1);
    assert_eq!(wrap("TestDFSIO write throughput", 62.0, 4), ["Test", "DFSIO", "write", "through…"]);
    assert_eq!(wrap("TestDFSIO write", 40.0, 4), ["Test", "DFSIO", "write"]);
    assert_eq!(wrap("one two three four five", 30.0, 3).len(), 3);
    assert_eq!(thin(10, 4), [0, 3, 6, 9]);
}

#[test]
fn small_figures_look_as_agreed() {
    insta::assert_snapshot!("strip", strips(&[2.0e6, 2.1e6, 2.05e6]).render().into_string());
    insta::assert_snapshot!("ratio", ratios(&[1.31, 0.8]).render().into_string());
    insta::assert_snapshot!("line", line(&[1e-9, 2e-9, 9e-9]).render().into_string());
    insta::assert_snapshot!("bounds", bounds(&[1e-9, 2e-9]).render().into_string());
    insta::assert_snapshot!("stack", stack(&[0.25, 0.5, 0.125]).render().into_string());
    insta::assert_snapshot!("flame", flame(&[0.5, 0.25]).render().into_string());
    insta::assert_snapshot!("bars", bars(&[1e9, 2e9]).render().into_string());
    insta::assert_snapshot!("heat", heat(&[1e-9, 2e-9, 3e-9, f64::NAN], 2).render().into_string());
    insta::assert_snapshot!("ecdf", ecdf(&[1e-4, 2e-4, 3e-4], false).render().into_string());
    let spark = Sparkline {
        name: "clock".into(),
        kind: Kind::for_unit(Unit::Hertz),
        values: vec![5.07e9, 4.9e9, 4.21e9],
    };
    insta::assert_snapshot!("sparkline", spark.render().into_string());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn any_numbers_make_sound_figures(values in proptest::collection::vec(proptest::num::f64::ANY, 0..40)) {
        sound(&values);
    }

    #[test]
    fn usual_numbers_make_sound_figures(values in proptest::collection::vec(1e-9..1e3_f64, 0..60)) {
        sound(&values);
    }
}
