//! Screens and pages of a study.

use model::Validity;
use model::doc::{StudyCellDoc, StudyColumnDoc, StudyDoc, StudyMissingDoc, StudyRowDoc, StudyTableDoc};
use model::study_file::Statistic;

use super::{page, screen};
use crate::text::Look;

fn cell(value: f64) -> StudyCellDoc {
    StudyCellDoc { value: Some(value), ..StudyCellDoc::default() }
}

fn ours(value: f64, validity: Validity) -> StudyCellDoc {
    StudyCellDoc {
        low: Some(value * 0.9),
        high: Some(value * 1.1),
        n: Some(10),
        run: Some("01a2".to_owned()),
        validity: Some(validity),
        ..cell(value)
    }
}

fn table(machines: usize) -> StudyTableDoc {
    let column = |head: String, machine: &str| StudyColumnDoc {
        head,
        machine: machine.to_owned(),
        node: None,
        show: Statistic::Figure,
    };
    let published = (1..=machines).map(|number| column(format!("a machine {number}"), "m"));
    let row = |label: &str, note: Option<&str>, own: StudyCellDoc| StudyRowDoc {
        label: label.to_owned(),
        figure: Some("web throughput".to_owned()),
        ours: None,
        unit: Some(model::Unit::Second),
        shown_unit: "us".to_owned(),
        shown_factor: 1e-6,
        note: note.map(str::to_owned),
        cells: (1..=machines).map(|number| cell(number as f64 * 1.25e-6)).chain([own]).collect(),
    };
    StudyTableDoc {
        name: "t".to_owned(),
        title: "Times".to_owned(),
        columns: published.chain([column("here".to_owned(), ".")]).collect(),
        rows: vec![
            row("read", Some("of 100 B"), ours(8e-6, Validity::Doubtful)),
            row("write", None, StudyCellDoc::absent("no InfiniBand")),
        ],
        notes: vec!["a note of the table".to_owned()],
    }
}

fn study(machines: usize) -> StudyDoc {
    StudyDoc {
        schema: "boxscore.study/1".to_owned(),
        study: "toy".to_owned(),
        title: "A toy".to_owned(),
        about: "about it".to_owned(),
        machine: None,
        machine_says: "vm".to_owned(),
        nodes: Vec::new(),
        quick: false,
        runs: Vec::new(),
        tables: vec![table(machines)],
        orders: Vec::new(),
        missing: vec![StudyMissingDoc { what: "watts".to_owned(), why: "no meter".to_owned() }],
        doubts: vec!["all: others used 1 CPU".to_owned()],
    }
}

#[test]
fn a_screen_has_tables_footnotes_doubts_and_what_is_missing() {
    let text = screen(&study(2), Look::plain());
    let wanted = "\
Times
          unit  a machine 1  a machine 2   here         95 %
read (a)  us           1.25          2.5  8.00!  7.20 - 8.80
write     us           1.25          2.5  - (b)
  a of 100 B
  b no InfiniBand
  - a note of the table
";
    assert!(text.contains(wanted), "{text}");
    for part in ["here: vm\n", "not to be had here\n  - watts: no meter", "! = doubtful", "  - all: others"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_table_that_is_too_wide_is_folded_with_its_labels() {
    let text = screen(&study(9), Look::plain());
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert_eq!(text.matches("read (a)").count(), 2, "{text}");
    assert!(
        (1..=9).all(|number| text.contains(&format!("a machine {number}"))) && text.contains("8.00!"),
        "{text}"
    );
}

#[test]
fn a_page_has_the_command_and_every_column() {
    let text = page(&study(9), "boxscore study toy");
    assert!(text.starts_with("# A toy\n\nabout it\n\n```\nboxscore study toy\n```\n"), "{text}");
    assert!(
        text.contains("| read (a) | us | 1.25 | 2.5 |") && text.contains("| 8.00! | 7.20 - 8.80 |"),
        "{text}"
    );
    assert!(text.contains("- (b) no InfiniBand\n") && text.contains("- watts: no meter\n"), "{text}");
}
