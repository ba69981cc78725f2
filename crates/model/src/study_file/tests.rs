//! Study files as they are read, checked and refused.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;
use crate::card::Cards;
use crate::data::Published;
use crate::mutate::{Dice, mutate};
use crate::unit::PerSec;
use crate::{Basis, Better, Card, Family, Metric, ParamKind, ParamSpec, SeriesKey, Unit};

const RATE: Metric<PerSec> = Metric::new("rate", Better::Higher, "");
const CARD: Card = Card {
    name: "toy",
    family: Family::Cpu,
    params: &[
        ParamSpec::new("size", ParamKind::Bytes { min: 1, max: 1 << 20 }, "1KiB", ""),
        ParamSpec::new("lang", ParamKind::Choice(&["c", "java"]), "c", ""),
    ],
    metrics: &[RATE.info()],
    ..Card::DEFAULT
};
const CARDS: Cards = &[&CARD];

const GOOD: &str = r#"
name = "toy-2009"
title = "A toy"
about = "about it"

[[run]]
name = "all"
measure = ["toy"]
set = ["lang=c|java"]
arms = ["size=1024", "size=2048"]
takes = 10
for = "2m"
quick = { takes = 2 }

[[table]]
name = "rates"
title = "Rates"
columns = [{ head = "box", machine = "box", with = "dimms=1" }]
rows = [
    { label = "1 KiB", figure = "toy rate size=1024;lang=c", unit = "1/s", note = "as printed" },
    { label = "words", cells = { box = "N/A" } },
]

[[missing]]
what = "watts"
why = "no meter"
"#;

fn figure(params: &str, value: f64) -> Published {
    let key = SeriesKey {
        instrument: "toy".into(),
        metric: "rate".into(),
        unit: Unit::PerSec,
        params: Params::parse(params).unwrap(),
        arm: String::new(),
        definition: 1,
    };
    Published {
        study: "s".into(),
        machine: "box".into(),
        key,
        better: Better::Higher,
        value,
        low: None,
        high: None,
        bounds: String::new(),
        basis: Basis::Measured,
        note: String::new(),
    }
}

fn checked(text: &str, figures: &[Published]) -> Result<StudyFile, FileError> {
    check(read(text)?, CARDS, &[KnownMachine { name: "box", figures }])
}

fn figures() -> Vec<Published> {
    vec![
        figure("size=1KiB;lang=c;dimms=1", 1.0),
        figure("size=1KiB;lang=c;dimms=1;cpus=4-7", 2.0),
        figure("size=1KiB;lang=c;dimms=2", 3.0),
    ]
}

#[test]
fn a_file_is_read_with_its_defaults_and_the_spelling_of_cards() {
    let file = checked(GOOD, &figures()).unwrap();
    let run = &file.runs[0];
    assert_eq!((run.line, run.usual.takes, run.usual.most_seconds), (7, 10, 120.0));
    assert_eq!((run.quick.takes, run.quick.sittings, run.quick.most_seconds), (2, 1, 30.0));
    let table = &file.tables[0];
    assert_eq!(table.columns.iter().map(|column| column.head.as_str()).collect::<Vec<_>>(), ["box", "here"]);
    let Content::Figure { key, .. } = &table.rows[0].what else { panic!("a figure") };
    assert_eq!(key.to_string(), "toy rate lang=c;size=1KiB");
    // Of two that fit it is the one that says least besides.
    let figures = figures();
    let found = published(key, &table.columns[0], &figures).unwrap().unwrap();
    assert_eq!(found.value, 1.0);
    assert_eq!(file.missing, [Missing { what: "watts".into(), why: "no meter".into() }]);
}

/// The line and the words of the error where a part of the good file is another one.
fn refused(from: &str, to: &str) -> (usize, String, String) {
    assert!(GOOD.contains(from), "{from}");
    let error = checked(&GOOD.replacen(from, to, 1), &figures()).unwrap_err();
    (error.line, error.what, error.hint)
}

#[test]
fn each_error_says_where_what_and_what_to_do() {
    for (from, to, line, says) in [
        ("name = \"toy-2009\"", "name = \"Toy 2009\"", 2, "`Toy 2009` is no name"),
        ("title = \"A toy\"", "titel = \"A toy\"", 3, "unknown field `titel`"),
        ("takes = 10", "takes = 0", 7, "0 takes or sittings are not possible"),
        ("for = \"2m\"", "for = \"soon\"", 7, "`soon` is no length of time"),
        ("measure = [\"toy\"]", "measure = [\"toi\"]", 7, "measures `toi`, which is no instrument"),
        ("measure = [\"toy\"]", "", 7, "measures nothing"),
        ("lang=c|java", "lang=c|cobol", 7, "lang=cobol is not possible"),
        ("size=2048", "sise=2048", 7, "no instrument of it has the parameter `sise`"),
        ("machine = \"box\"", "machine = \"bux\"", 18, "there is no machine `bux`"),
        ("figure = \"toy rate", "figure = \"toi rate", 20, "no instrument is called `toi`"),
        ("figure = \"toy rate", "figure = \"toy rait", 20, "toy has no metric `rait`"),
        ("size=1024;lang=c\"", "sise=1024\"", 20, "toy has no parameter `sise`"),
        ("size=1024;lang=c\"", "lang=cobol\"", 20, "lang=cobol is not possible"),
        ("unit = \"1/s\"", "unit = \"furlong\"", 20, "there is no unit `furlong`"),
        ("unit = \"1/s\"", "unit = \"ms\"", 20, "`ms` is no unit of toy rate"),
        ("size=1024;lang=c\"", "size=1;lang=c\"", 20, "no machine of the table has the figure"),
        ("with = \"dimms=1\"", "with = \"\"", 20, "2 figures of box fit"),
        ("cells = { box", "cells = { bux", 21, "no column has the head `bux`"),
        (", cells = { box = \"N/A\" }", "", 21, "a row without figure, fact or cells"),
        ("[[run]]\nname = \"all\"", "[[run]\nname = \"all\"", 6, ""),
    ] {
        let (found, what, hint) = refused(from, to);
        assert!(what.contains(says), "{to}: {what}");
        assert_eq!(found, line, "{to}: {what}");
        assert!(!hint.is_empty(), "{to}");
    }
}

#[test]
fn names_are_given_once_and_figures_are_measured_by_a_run() {
    let run = "[[run]]\nname = \"all\"\nmeasure = [\"toy\"]\n\n[[table]]";
    let (line, what, _) = refused("[[table]]", run);
    assert_eq!((line, what.as_str()), (16, "two of them are called `all`"));
    let other = "by-hand = \"boxscore logs here=FILE\"";
    let text = GOOD.replace("measure = [\"toy\"]", other).replace("set = [\"lang=c|java\"]\n", "");
    assert!(checked(&text, &figures()).is_ok(), "what the user makes may hold any figure");
    let error = checked(&GOOD.replace("title = \"Rates\"", "title = \"Rates\"\nrun = \"no\""), &figures())
        .unwrap_err();
    assert!(error.what.contains("a run `no`"), "{error}");
    for without in ["[[run]]", "[[table]]"] {
        let kept =
            GOOD.split("\n\n").filter(|part| !part.starts_with(without)).collect::<Vec<_>>().join("\n\n");
        assert_eq!(read(&kept).unwrap_err().what, format!("there is no {without}"));
    }
}

#[test]
fn a_ratio_names_two_values_of_a_parameter() {
    let ratio = GOOD.replace("size=1024;lang=c\", unit = \"1/s\"", "lang=c/java\", unit = \"ratio\"");
    let figures = [figure("lang=c/java;dimms=1", 4.0)];
    let file = checked(&ratio, &figures).unwrap();
    let Content::Figure { key, .. } = &file.tables[0].rows[0].what else { panic!("a figure") };
    let is_value =
        |name: &str, value: &str| CARD.param(name).is_some_and(|spec| spec.canonical(value).is_ok());
    assert_eq!(key.ratio(is_value), Some(("lang".into(), "c".into(), "java".into())));
    let error = checked(&ratio.replace("unit = \"ratio\"", "unit = \"1/s\""), &figures).unwrap_err();
    assert!(error.what.contains("is no unit of"), "{error}");
}

proptest! {
    #[test]
    fn figures_parse_back(instrument in "[a-z]{1,8}", metric in "[a-z.]{1,8}", params in "([a-c]=[0-9]{1,3})?") {
        let key = FigureKey { instrument, metric, params: Params::parse(&params).unwrap() };
        prop_assert_eq!(FigureKey::parse(&key.to_string()), Ok(key));
    }

    #[test]
    fn no_text_panics(text in ".*") {
        prop_assert!(read(&text).is_err());
        let _ = FigureKey::parse(&text);
    }
}

/// How long mutated files are read, in seconds; longer where BOXSCORE_FUZZ_SECONDS says so.
const FUZZ_SECONDS: u64 = 2;

#[test]
fn fuzz_files_are_read_or_refused_with_a_line_of_theirs() {
    let given = std::env::var("BOXSCORE_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let end = Instant::now() + Duration::from_secs(given.unwrap_or(FUZZ_SECONDS));
    let plants: [&[u8]; 8] = [
        b"[[run]]\n",
        b"\"\"\"",
        b"{",
        b"= \"",
        b"[[table]]\n",
        b"\xff",
        b"figure = \"toy\"",
        b"99999999999",
    ];
    let mut dice = Dice::new(1);
    let figures = figures();
    while Instant::now() < end {
        let bytes = mutate(GOOD.as_bytes(), &plants, &mut dice);
        let text = String::from_utf8_lossy(&bytes);
        if let Err(error) = checked(&text, &figures) {
            let lines = text.lines().count() + 1;
            assert!((1..=lines).contains(&error.line), "{error} of {lines} lines:\n{text}");
        }
    }
}

#[test]
fn nodes_stand_in_the_place_of_this_machine_with_its_texts() {
    let text = GOOD.replace(
        "columns = [{ head = \"box\", machine = \"box\", with = \"dimms=1\" }]",
        "columns = [{ head = \"box\", machine = \"box\" }, { head = \"here\", machine = \".\" }]",
    );
    let text = text.replace("cells = { box = \"N/A\" }", "cells = { box = \"N/A\", here = \"yes\" }");
    let nodes = ["rack1".to_owned(), "rack2".to_owned()];
    let table = read(&text).unwrap().tables[0].of_nodes(&nodes);
    let heads: Vec<_> = table.columns.iter().map(|one| (one.head.as_str(), one.node.as_deref())).collect();
    assert_eq!(heads, [("box", None), ("rack1", Some("rack1")), ("rack2", Some("rack2"))]);
    assert!(table.columns[1].is_here());
    assert_eq!(table.rows[1].cells["rack2"], "yes");
    let more = "{ head = \"here\", machine = \".\" }, { head = \"mean\", machine = \".\", show = \"mean\" }";
    let two = text.replace("{ head = \"here\", machine = \".\" }", more);
    let table = read(&two).unwrap().tables[0].of_nodes(&nodes);
    let heads: Vec<_> = table.columns.iter().map(|one| one.head.as_str()).collect();
    assert_eq!(heads, ["box", "rack1 here", "rack2 here", "rack1 mean", "rack2 mean"]);
}

#[test]
fn limits_of_a_study_are_read_and_refused_with_their_line() {
    let file = read(&format!("on = \"@rack\"\nfor = \"8h\"\nbudget = 20\n{GOOD}")).unwrap();
    assert_eq!(
        (file.on.as_deref(), file.most_seconds, file.budget),
        (Some("@rack"), Some(28_800.0), Some(20.0))
    );
    for (line, wrong) in [("for = \"soon\"", "`soon` is no length of time"), ("budget = 0", "0 is no budget")]
    {
        let error = read(&format!("{line}\n{GOOD}")).unwrap_err();
        assert!(error.to_string().starts_with(&format!("1: {wrong}")), "{error}");
    }
}
