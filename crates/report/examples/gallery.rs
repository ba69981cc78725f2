//! Writes a gallery of every figure in the frame of a report, to look at: `gallery FILE.html`.
//!
//! The figures are invented; nothing here is a measurement.

use std::f64::consts::PI;

use maud::{Markup, html};
use model::format::Kind;
use model::unit::Unit;
use report::page::{self, Column, Head};
use report::plot::bars::BarGroup;
use report::plot::ecdf::Curve;
use report::plot::line::{Marker, Point, Series, Span};
use report::plot::ratio::{RatioRow, Sides, tally};
use report::plot::strip::{Strip, Take};
use report::plot::{Bars, Caption, Ecdf, Estimate, Heat, LinePlot, RatioPlot, Size, Sparkline, StripPlot};
use report::scale::AxisSpec;
use report::theme::{Trust, Verdict};

const KIB: f64 = 1024.0;

/// Invented scatter in -1 to 1, always the same.
fn scatter(i: usize) -> f64 {
    let mut x = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x ^= x >> 31;
    x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^= x >> 29;
    (x % 20_001) as f64 / 10_000.0 - 1.0
}

/// The interval in words, turned back for a metric whose lower values are better.
fn interval(ratio: f64, spread: f64, verdict: Verdict) -> String {
    if spread == 0.0 {
        return String::new();
    }
    let (a, b) = (ratio * (1.0 - spread), ratio * (1.0 + spread));
    let (a, b) = if verdict == Verdict::Worse { (1.0 / b, 1.0 / a) } else { (a, b) };
    format!("{} to {}", model::format::ratio(a), model::format::ratio(b))
}

fn forest() -> Markup {
    let rows = [
        ("disk read 4 KiB", 1.58, 0.06, Verdict::Better, true, "1.58"),
        ("memory read", 1.44, 0.05, Verdict::Better, true, "1.44"),
        ("integer", 1.31, 0.02, Verdict::Better, true, "1.31"),
        ("floating", 1.22, 0.03, Verdict::Better, true, "1.22"),
        ("compress zstd", 1.18, 0.02, Verdict::Better, true, "1.18"),
        ("cipher AES-GCM", 1.02, 0.06, Verdict::CannotTell, true, "1.02"),
        ("hash table", 1.0, 0.02, Verdict::Tie, true, "1.00"),
        ("crc32c 1 KiB (2010 study)", 1.9, 0.0, Verdict::Point, false, "1.90"),
        ("disk fsync", f64::NAN, 0.0, Verdict::Invalid, true, "-"),
        ("memory latency", 0.83, 0.01, Verdict::Worse, true, "1.21"),
    ];
    let rows = rows.map(|(label, ratio, spread, verdict, sampled, shown)| RatioRow {
        group: String::new(),
        label: label.into(),
        hint: String::new(),
        ratio: Estimate {
            value: ratio,
            interval: (spread > 0.0).then_some((ratio * (1.0 - spread), ratio * (1.0 + spread))),
        },
        shown: shown.into(),
        shown_interval: interval(ratio, spread, verdict),
        verdict,
        less_is_better: label == "memory latency",
        doubtful: false,
        sampled,
    });
    RatioPlot {
        caption: Caption::default(),
        rows: rows.to_vec(),
        margin: 0.05,
        axis: "ratio to ref-epyc-2c".into(),
        sides: Sides::default(),
    }
    .render()
}

fn trust() -> Markup {
    let clock = Sparkline {
        name: "clock".into(),
        kind: Kind::for_unit(Unit::Hertz),
        values: (0..60)
            .map(|i| {
                5.07e9 - 0.86e9 / (1.0 + (-(f64::from(i) - 38.0) / 2.0).exp()) + 1e7 * scatter(i as usize)
            })
            .collect(),
    };
    html! {
        (page::card("Trust", &html! { ul class="trust" {
            (Trust::Doubtful.line(&html! { "clock fell 5.07 → 4.21 GHz within 38 s of full load (firmware power limit) " (clock.render()) }))
            (Trust::Doubtful.line(&html! { "memory read reaches 69 % of the 89.6 GB/s that 2 x DDR5-5600 can deliver" }))
            (Trust::Refused.line(&html! { "disk fsync: 3 us, and the drive's flush counter never moved. Not counted" }))
            (Trust::Ok.line(&html! { details { summary { "13 other checks" } "load 0.02, steal 0, swap 0, drift 0.3 %, own CPU 0.4 %" } }))
        } }))
        (page::card("This machine", &html! {
            p { "Ryzen 7 8845HS · 8 cores, 16 threads · 5.1 GHz · L3 16 MiB" }
            p { "32 GiB, 2 of 2 channels DDR5-5600 · NVMe 1 TB · Linux 6.12" }
        }))
    }
}

fn staircase() -> Markup {
    let curve = |levels: [f64; 4], caps: [f64; 3]| {
        let point = |i: usize| {
            let size = 4.0 * KIB * 2f64.powf(i as f64 / 2.0);
            let mut y = levels[0];
            for (k, cap) in caps.iter().enumerate() {
                y += (levels[k + 1] - levels[k]) / (1.0 + (-(size / cap).ln() * 5.0).exp());
            }
            let y = y * (1.0 + 0.01 * scatter(i));
            Point { interval: Some((y * 0.96, y * 1.05)), ..Point::at(size, y) }
        };
        (0..31).map(point).collect::<Vec<_>>()
    };
    let marker = |size: f64, label: &str| Marker { at: size, label: label.into(), upright: true };
    LinePlot {
        markers: vec![
            marker(32.0 * KIB, "L1d 32 KiB"),
            marker(1024.0 * KIB, "L2 1 MiB"),
            marker(16.0 * KIB * KIB, "L3 16 MiB"),
        ],
        ..LinePlot::new(
            Caption::new("Main memory answers in 92 ns, 21 % later than on ref-epyc-2c")
                .subtitle("random dependent reads, one core; band = 95 % interval"),
            AxisSpec::new("array size", Kind::for_unit(Unit::Byte)).log2(),
            AxisSpec::new("latency", Kind::for_unit(Unit::Second)).log(),
            vec![
                Series {
                    name: "mini-1".into(),
                    points: curve([0.9e-9, 2.9e-9, 10e-9, 92e-9], [40.0 * KIB, 1100.0 * KIB, 17_000.0 * KIB]),
                    reference: false,
                },
                Series {
                    name: "ref-epyc-2c".into(),
                    points: curve([1.1e-9, 3.4e-9, 15e-9, 76e-9], [40.0 * KIB, 1100.0 * KIB, 34_000.0 * KIB]),
                    reference: false,
                },
            ],
        )
    }
    .render()
}

fn scaling() -> Markup {
    let threads = [1.0, 2.0, 4.0, 6.0, 8.0, 12.0, 16.0];
    let real = |t: f64| 1.912e9 * if t <= 8.0 { t * (1.0 - 0.018 * t) } else { 6.85 + (t - 8.0) * 0.08 };
    let points = |f: &dyn Fn(f64) -> f64, spread: f64| {
        threads
            .map(|t| Point {
                interval: (spread > 0.0).then_some((f(t) * (1.0 - spread), f(t) * (1.0 + spread))),
                ..Point::at(t, f(t))
            })
            .to_vec()
    };
    LinePlot {
        markers: vec![Marker { at: 8.0, label: "8 cores".into(), upright: true }],
        ..LinePlot::new(
            Caption::new("16 threads do 7.5 times the integer work of one").subtitle("median of 12 takes"),
            AxisSpec::new("threads", Kind::for_unit(Unit::Count).plain()),
            AxisSpec::new("integer work", Kind::for_unit(Unit::PerSec).item("op")).from_zero(),
            vec![
                Series { name: "mini-1".into(), points: points(&real, 0.02), reference: false },
                Series { name: "ideal".into(), points: points(&|t| 1.912e9 * t, 0.0), reference: true },
            ],
        )
    }
    .render()
}

fn telemetry() -> Markup {
    let points = |base: f64, amplitude: f64, seed: usize| {
        (0..600)
            .map(|i| {
                Point::at(
                    f64::from(i),
                    base + amplitude
                        * ((f64::from(i) / 45.0 * PI).sin().signum() + 0.2 * scatter(i as usize + seed)),
                )
            })
            .collect()
    };
    let spans = (0..6).map(|i| Span {
        from: f64::from(i) * 90.0 + 5.0,
        to: f64::from(i) * 90.0 + 45.0,
        label: format!("take {}", i + 1),
    });
    LinePlot {
        markers: vec![Marker { at: 4.6e9, label: "all-core boost on the data sheet".into(), upright: false }],
        spans: spans.collect(),
        size: Size::Wide,
        ..LinePlot::new(
            Caption::new("The clock follows the load").subtitle("1 sample a second; shaded: takes"),
            AxisSpec::new("time since the start", Kind::for_unit(Unit::Second)),
            AxisSpec::new("frequency", Kind::for_unit(Unit::Hertz)),
            vec![
                Series { name: "core 0".into(), points: points(4.0e9, 0.8e9, 0), reference: false },
                Series { name: "core 1".into(), points: points(3.95e9, 0.8e9, 700), reference: false },
                Series {
                    name: "core 2, the one that throttles".into(),
                    points: points(3.2e9, 0.3e9, 1400),
                    reference: false,
                },
            ],
        )
    }
    .render()
}

fn strips(count: usize, title: &str) -> Markup {
    let names = ["mini-1", "ref-epyc-2c", "xeon-x3470", "opteron-6134"];
    let series = (0..count).map(|k| {
        let centre = 1.9e9 / (1.0 + 0.17 * k as f64);
        let takes: Vec<Take> = (0..14)
            .map(|i| Take {
                value: centre * (1.0 + 0.012 * scatter(i + 50 * k) - if i < 2 { 0.03 } else { 0.0 }),
                warm_up: i < 2,
            })
            .collect();
        Strip {
            name: names[k % 4].into(),
            takes,
            median: Some(Estimate { value: centre, interval: Some((centre * 0.994, centre * 1.005)) }),
            colour: k % 4,
            members: Vec::new(),
        }
    });
    StripPlot {
        caption: Caption::new(title).subtitle(
            "each dot one take, in time order; hollow = warm-up; whisker = 95 % interval of the median",
        ),
        y: AxisSpec::new("integer work", Kind::for_unit(Unit::PerSec).item("op")),
        series: series.collect(),
        size: Size::Cell,
    }
    .render()
}

fn distributions(tail: bool) -> Markup {
    let curve = |name: &str, median: f64, width: f64| {
        let samples: Vec<f64> = (0..20_000)
            .map(|i| {
                let bell = scatter(i) + scatter(i + 31) + scatter(i + 77);
                median * (bell * width + if i % 300 == 0 { 2.0 } else { 0.0 }).exp()
            })
            .collect();
        Curve::from_samples(name, &samples)
    };
    Ecdf {
        caption: Caption::new(if tail {
            "One read in a thousand waits 10 times the median"
        } else {
            "NVMe answers 60 times sooner than the disk"
        })
        .subtitle("4 KiB random read, 20,000 each"),
        values: AxisSpec::new("latency", Kind::for_unit(Unit::Second)).log(),
        curves: vec![curve("NVMe", 85e-6, 0.15), curve("SATA SSD", 230e-6, 0.3), curve("HDD", 5.5e-3, 0.3)],
        tail,
        size: Size::Cell,
    }
    .render()
}

fn bars() -> Markup {
    let group = |name: &str, a: f64, b: f64| BarGroup {
        name: name.into(),
        values: [a, b].map(|v| Some(Estimate { value: v, interval: Some((v * 0.97, v * 1.03)) })).to_vec(),
    };
    Bars {
        caption: Caption::new("The second machine reads memory 1.5 times as fast"),
        y: AxisSpec::new("bandwidth", Kind::for_unit(Unit::BytesPerSec)),
        series: vec!["mini-1".into(), "ref-epyc-2c".into()],
        groups: vec![
            group("read", 31.2e9, 46e9),
            group("write", 22e9, 31e9),
            group("copy, counted as bw_mem does", 18e9, 25e9),
            group("triad", 24e9, 33e9),
        ],
        size: Size::Cell,
        text: None,
    }
    .render()
}

fn single_bars() -> Markup {
    let group = |(i, name): (usize, &str)| BarGroup {
        name: name.into(),
        values: vec![Some(Estimate {
            value: 5.6e9 / (1.0 + i as f64),
            interval: Some((5.5e9 / (1.0 + i as f64), 5.8e9 / (1.0 + i as f64))),
        })],
    };
    Bars {
        caption: Caption::new("AES-GCM is the cheapest cipher here"),
        y: AxisSpec::new("rate", Kind::for_unit(Unit::BytesPerSec)),
        series: Vec::new(),
        groups: ["AES-128-GCM", "ChaCha20-Poly1305", "SHA-256", "MAC"]
            .into_iter()
            .enumerate()
            .map(group)
            .collect(),
        size: Size::Cell,
        text: None,
    }
    .render()
}

fn heat() -> Markup {
    let cell = |r: usize, c: usize| {
        if r == c {
            f64::NAN
        } else {
            20e-9 + if r / 4 == c / 4 { 0.0 } else { 60e-9 } + 4e-9 * scatter(r * 16 + c)
        }
    };
    Heat {
        caption: Caption::new("Cores 0-3 reach each other in 20 ns, other clusters in 80 ns"),
        rows: (0..16).map(|i| format!("cpu{i}")).collect(),
        columns: (0..16).map(|i| i.to_string()).collect(),
        cells: (0..16).map(|r| (0..16).map(|c| cell(r, c)).collect()).collect(),
        kind: Kind::for_unit(Unit::Second),
        row_title: "from core".into(),
        column_title: "to core".into(),
        size: Size::Cell,
    }
    .render()
}

fn box_score() -> Markup {
    let row = |cells: [&str; 6]| cells.iter().map(|c| html! { (c) }).collect::<Vec<_>>();
    let mut rows = vec![
        row(["integer", "Mop/s", "1,912", "1,905 to 1,918", "14,310", "12"]),
        row(["compress zstd", "MB/s", "548", "545 to 551", "4,020", "12"]),
        row(["memory latency", "ns", "92.4", "91.8 to 93.1", "-", "12"]),
    ];
    rows[0].push(html! { "1.31 " (Verdict::Better.badge()) });
    rows[1].push(html! { "1.18 " (Verdict::Better.badge()) });
    rows[2].push(html! { "1.21 " (Verdict::Worse.badge()) });
    let head = ["", "unit", "1 thread", "95 % interval", "16 threads", "n", "vs ref"];
    let head: Vec<(&str, Column)> = head
        .iter()
        .enumerate()
        .map(|(i, h)| (*h, if i == 1 || i == 6 { Column::Text } else { Column::Number }))
        .collect();
    page::table(&head, &rows)
}

fn main() -> std::io::Result<()> {
    use Verdict::{Better, CannotTell, Invalid, Worse};
    let verdicts = [Better, Better, Better, Better, Better, Better, Better, Worse, CannotTell, Invalid];
    let lead = "mini-1 computes 18 to 31 % faster than ref-epyc-2c, waits 21 % longer for memory, and loses 17 % of its clock after 38 s of full load.";
    let tally = html! { span { (tally(&verdicts)) " (disk fsync)" } span class="mut" { "noise assumed (floor 5 to 20 %); more runs measure it" } };
    let figures = [
        staircase(),
        scaling(),
        strips(2, "Takes agree within 2 %"),
        strips(4, "The 2010 machines lie far behind"),
        distributions(false),
        distributions(true),
        bars(),
        single_bars(),
        heat(),
        telemetry(),
        strips(14, "Fourteen series widen the figure"),
    ];
    let body = html! {
        (page::first_screen(&page::prose(lead), &tally, &forest(), &trust()))
        (page::section("score", "Box score", &box_score()))
        (page::section("figures", "Every figure", &page::grid(&figures)))
        (page::section("methods", "Methods", &page::more("How intervals are made", &html! { p { "Median with its exact order-statistic interval." } })))
    };
    let facts = ["quick", "2026-11-21", "1 run", "noise assumed"].map(str::to_owned).to_vec();
    let head = Head { machine: "mini-1".into(), facts, command: "boxscore run --quick --seed 7".into() };
    let file = std::env::args().nth(1).unwrap_or_else(|| "gallery.html".to_owned());
    std::fs::write(file, page::page("mini-1 · boxscore", &head, &body))
}
