//! Sentences of reasons.

use super::*;
use crate::basis::Basis;
use crate::why::{Disturbance, Weighed};

fn few(have: u64) -> Reason {
    Reason::NoInterval(NoInterval { blocks: None, cause: Cause::FewValues { have, need: 6 } })
}

fn needed(count: u64, of: Repeat) -> Reason {
    Reason::Needed(Needed::new(count, of))
}

/// One of each form, with the sentence of one row.
fn samples() -> Vec<(Reason, &'static str)> {
    [undecided(), special(), of_logs()].concat()
}

fn undecided() -> Vec<(Reason, &'static str)> {
    let blocks = |blocks| Reason::NoInterval(NoInterval { blocks: Some(blocks), cause: Cause::NoPair });
    vec![
        (Reason::Held(Held::Interval), "the interval reaches across the margin"),
        (Reason::Held(Held::AssumedNoise), "the noise between runs is assumed"),
        (Reason::Held(Held::OneTake { each: true }), "one take each; the noise is assumed"),
        (Reason::Held(Held::OneTake { each: false }), "one take of a side; the noise is assumed"),
        (
            Reason::Held(Held::Family { rows: 1 }),
            "beyond the margin alone, not after the correction for 1 figure",
        ),
        (Reason::Held(Held::NoSamples), "a published point has no samples"),
        (
            Reason::Held(Held::FewBlocks { have: 3, need: 6 }),
            "3 takes a side are too few for an interval, need 6",
        ),
        (
            Reason::Held(Held::FewBlocks { have: 1, need: 6 }),
            "1 take a side is too few for an interval, need 6",
        ),
        (few(1), "1 value: too few for a 95 % interval, need 6"),
        (few(4), "4 values: too few for a 95 % interval, need 6"),
        (blocks(Blocks::Shared), "spans of time that both served: no interval"),
        (blocks(Blocks::Seconds(3600.0)), "spans of 1 h each: no interval"),
        (needed(1, Repeat::Runs), "about 1 run each would settle it"),
        (needed(4, Repeat::Takes), "about 4 takes each would settle it"),
        (needed(4, Repeat::Boxes), "about 4 boxes each would settle it"),
        (needed(40, Repeat::Takes), "it would need many more takes (about 40 each)"),
        (
            needed(40, Repeat::Runs),
            "it would need many more runs (about 40 each); an interleaved study (`--arm` or `--via`) needs less",
        ),
        (
            Reason::OtherConditions {
                differ: vec![Unlike { name: "connections".into(), arm: "20".into(), base: "50".into() }],
            },
            "loads differ in connections (50 against 20)",
        ),
        (
            Reason::Across {
                differ: vec![Unlike { name: "server".into(), arm: "redis".into(), base: "valkey".into() }],
            },
            "compared across server (valkey against redis): that is in the ratio too",
        ),
        (Reason::Unsteady(Unsteady::Drift), "takes drift: more of them would settle nothing"),
        (Reason::Unsteady(Unsteady::ResembleEachOther), "takes resemble each other: repeat the run"),
        (Reason::Alone { verdict: VerdictWord::Tie }, "without that it would be a tie"),
        (Reason::Alone { verdict: VerdictWord::Worse }, "the interval lies beyond the margin"),
        (Reason::NearMargin, "more of the same would not settle it: too close to the margin"),
    ]
}

fn of_logs() -> Vec<(Reason, &'static str)> {
    let coarse = Cause::CoarseTimes { side: "b".into(), step: 1e-3, mean: 1.2e-3 };
    vec![
        (
            Reason::NoInterval(NoInterval { blocks: None, cause: coarse }),
            "times of b are written in steps of 1.00 ms, too coarse for a mean of 1.20 ms; log them in finer steps, \
             such as Apache's %D",
        ),
        (
            Reason::Mix { totals_ratio: 1.25 },
            "the totals' ratio is 1.25: their mixes of sizes, failures and hours differ",
        ),
        (
            Reason::FailedAtOnce {
                share: 1.0,
                blocks: 2,
                of: 96,
                within: Some(FailedWithin { arm: (0, 325), base: (61, 1338), p: 1e-9 }),
            },
            "100 % of the failures stand in 2 of 96 quarter hours: they tell of that time, and of no other; in them 0 of \
             325 requests failed against 61 of 1,338",
        ),
    ]
}

fn special() -> Vec<(Reason, &'static str)> {
    let text = || "the clock moved; repeat it".to_owned();
    let raised = Raised { margin: 0.4, side: "nano".into(), step_seconds: 1e-6, take_seconds: 2.5e-6 };
    let point = Point {
        study: Some("s".into()),
        open: vec!["threads".into(), "size".into()],
        stated: "op=read".into(),
        others: 2,
        basis: Basis::Estimate,
        note: "by hand".into(),
    };
    let disturbed = vec![
        Weighed { what: Disturbance::OtherProcesses, share: Some(0.06) },
        Weighed { what: Disturbance::Swap, share: None },
    ];
    vec![
        (
            Reason::Raised(raised),
            "the margin is 40 %: the clock of nano steps by 1.00 us in takes of 2.50 us",
        ),
        (
            Reason::Withheld(Withheld::LowerBound { sides: vec!["a".into(), "b".into()] }),
            "doubtful: lower bounds: the load generator set the figure of a and b",
        ),
        (
            Reason::Withheld(Withheld::Disturbed { by_what: disturbed.clone() }),
            "doubtful: other processes used CPUs (can have made up to 6 %) and the system swapped",
        ),
        (
            Reason::Widened { widened: 0.06, by_what: disturbed[..1].to_vec() },
            "it holds even with an interval wider by 6 % either way: other processes used CPUs (can have made \
             up to 6 %)",
        ),
        (
            Reason::Withheld(Withheld::Clocks { arm: 3.6e9, base: 4.2e9 }),
            "doubtful: the clock was 3.60 GHz against 4.20 GHz",
        ),
        (Reason::Withheld(Withheld::ClockMoved { share: 0.12 }), "doubtful: the clock moved by 12 % or more"),
        (Reason::Doubtful { text: text() }, "doubtful: the clock moved; repeat it"),
        (
            Reason::Point(point),
            "point of s without samples; it leaves open: threads, size; it was taken with op=read; 2 more of its \
             figures would fit; an estimate, not a measurement; by hand",
        ),
        (Reason::Point(Point::default()), "pasted line: a point with its interval, without samples"),
        (Reason::Refused { side: Some("box".into()), text: text() }, "box: the clock moved; repeat it"),
        (Reason::Refused { side: None, text: text() }, "the clock moved; repeat it"),
        (
            Reason::Hours { judged_elsewhere: true },
            "not like with like: hours of logs differ in what was asked for; `speed` and `time` compare like with like",
        ),
        (
            Reason::Hours { judged_elsewhere: false },
            "not like with like: hours of logs differ in what was asked for; `boxscore logs A=FILE B=FILE` compares like with like",
        ),
        (
            Reason::OtherRates(OtherRates { arm: 2e3, base: 1e3 }),
            "not at the same rate: 2.00 k/s against 1.00 k/s were offered; give both one (--set load=auto --set \
             rate=1000)",
        ),
        (Reason::NeitherHolds { offered: 1e3 }, "neither side answers 1.00 k/s: offer less"),
    ]
}

#[test]
fn each_reason_has_a_sentence_and_comes_back_from_json() {
    for (reason, sentence) in samples() {
        assert_eq!(reason.to_string(), sentence);
        assert!(reason.is_like(&reason));
        for machine in [None, Some("mini-1".to_owned())] {
            let why = Why { machine, reasons: vec![Reason::NearMargin, reason.clone()] };
            let json = serde_json::to_value(&why).unwrap();
            assert_eq!(json["why"], why.to_string());
            assert_eq!(serde_json::from_value::<Why>(json).unwrap(), why);
        }
    }
    let none = serde_json::to_value(Why::default()).unwrap();
    assert_eq!(none, serde_json::json!({ "why": null }));
}

#[test]
fn one_row_reads_as_several_alike_do() {
    for (reason, sentence) in samples() {
        let why = Why::new(vec![reason, needed(4, Repeat::Runs)]);
        let want = match why.withheld() {
            Some(_) => sentence.to_owned(),
            None => format!("{sentence}; about 4 runs each would settle it"),
        };
        assert_eq!(
            (Why::many(std::slice::from_ref(&why)), Why::many(&[why.clone(), why])),
            (want.clone(), want)
        );
    }
}

#[test]
fn a_withheld_verdict_says_what_the_interval_says() {
    let by_what = vec![Weighed { what: Disturbance::OtherProcesses, share: None }];
    let withheld = |second| {
        let first = Reason::Withheld(Withheld::Disturbed { by_what: by_what.clone() });
        Why::new(vec![first, second, needed(4, Repeat::Runs)])
    };
    let open = withheld(Reason::Held(Held::Interval));
    let text = "doubtful: other processes used CPUs; the interval reaches across the margin";
    assert_eq!(open.to_string(), format!("{text}; once that is gone, about 4 runs each would settle it"));
    assert_eq!(Why::many(&[open.clone(), open.clone()]), text);
    let alone = |verdict| withheld(Reason::Alone { verdict });
    assert!(!open.is_like(&alone(VerdictWord::Worse)) && !open.is_like(&alone(VerdictWord::Tie)));
    assert!(alone(VerdictWord::Better).is_like(&alone(VerdictWord::Worse)));
}

#[test]
fn numbers_of_several_rows_become_ranges() {
    let many = |all: &[Vec<Reason>]| {
        let whys: Vec<Why> = all.iter().cloned().map(Why::new).collect();
        assert!(whys.iter().all(|why| why.is_like(&whys[0])), "{whys:?}");
        Why::many(&whys)
    };
    let held = |rows, count| {
        vec![Reason::Held(Held::Family { rows }), needed(count, Repeat::Runs), Reason::NearMargin]
    };
    assert_eq!(
        many(&[held(1, 2), held(9, 4)]),
        "beyond the margin alone, not after the correction for 1 to 9 figures; about 2 to 4 runs each would settle \
         it; for some, more of the same would not settle it: too close to the margin"
    );
    assert_eq!(
        many(&[vec![needed(31, Repeat::Takes)], vec![needed(31, Repeat::Takes)]]),
        "it would need many more takes (about 31 each)"
    );
    assert_eq!(many(&[vec![few(1)], vec![few(4)]]), "1 to 4 values: too few for a 95 % interval, need 6");
    let clock = |arm| vec![Reason::Withheld(Withheld::Clocks { arm, base: 4.2e9 })];
    let text = many(&[clock(3.6e9), clock(3.58e9)]);
    assert_eq!(text, "doubtful: the clock was 3.58 to 3.60 GHz against 4.20 GHz");
    let moved = |share| vec![Reason::Withheld(Withheld::ClockMoved { share })];
    assert_eq!(many(&[moved(0.12), moved(0.2)]), "doubtful: the clock moved by 12 to 20 % or more");
}

#[test]
fn reasons_of_other_sides_and_kinds_are_not_alike() {
    let why = |machine: Option<&str>, reason: Reason| Why {
        machine: machine.map(str::to_owned),
        reasons: vec![reason],
    };
    let bound = |side: &str| Reason::Withheld(Withheld::LowerBound { sides: vec![side.to_owned()] });
    assert!(!why(None, bound("a")).is_like(&why(None, bound("b"))));
    assert!(!why(Some("a"), few(1)).is_like(&why(Some("b"), few(1))));
    assert!(!why(None, few(1)).is_like(&why(None, Reason::NearMargin)));
    assert!(!Why::default().is_like(&why(None, few(1))) && Why::default().is_like(&Why::default()));
}

#[test]
fn disturbances_of_several_rows_are_told_once() {
    let weighed = |what: &Disturbance| Weighed { what: *what, share: None };
    let disturbed =
        |by_what: &[Disturbance]| Withheld::Disturbed { by_what: by_what.iter().map(weighed).collect() };
    let clock = |arm| Withheld::Clocks { arm, base: 4.2e9 };
    let all = [
        disturbed(&[Disturbance::OtherProcesses, Disturbance::Swap]),
        clock(3.6e9),
        disturbed(&[Disturbance::Swap]),
        clock(3.5e9),
    ];
    assert_eq!(
        Withheld::each(&all.iter().collect::<Vec<_>>()),
        [
            "other processes used CPUs",
            "the system swapped",
            "the clock was 3.50 to 3.60 GHz against 4.20 GHz"
        ]
    );
}
