//! The report of access logs: what machines did meanwhile, the moment of a cut, and nothing that takes hours for takes.

use model::doc::{CompareDoc, RunDoc};

use crate::common::logs::{HDD, Label, label, machines, sides};
use report::html::{ReportInput, report};

fn page(runs: Vec<(RunDoc, model::data::RunData)>, compare: Option<CompareDoc>) -> String {
    report(&ReportInput {
        runs,
        compare,
        version: "0.1.0".to_owned(),
        command: "boxscore report hdd ssd".to_owned(),
        generated: "2010-05-02 00:00 UTC".to_owned(),
        ..ReportInput::default()
    })
}

/// The section of logs.
fn section(text: &str) -> &str {
    let rest = text.split("<section id=\"logs\"").nth(1).expect("a section of logs");
    rest.split("</section>").next().expect("its end")
}

/// Headings, titles and notes of a section, a line each.
fn outline(section: &str) -> String {
    let mut said: Vec<(usize, &str)> = Vec::new();
    for (open, close) in [
        ("<h2>", "</h2>"),
        ("<h3>", "</h3>"),
        ("<figcaption><strong>", "</strong>"),
        ("<li>", "</li>"),
        ("<div>", "</div>"),
        ("<p class=\"note\">", "</p>"),
    ] {
        let all = section.match_indices(open);
        said.extend(all.filter_map(|(at, _)| Some((at, section[at + open.len()..].split(close).next()?))));
    }
    said.sort_unstable_by_key(|(at, _)| *at);
    said.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("\n")
}

#[test]
fn machines_are_drawn_beside_the_requests() {
    let (runs, compare) = machines();
    let text = page(runs, Some(compare));
    let logs = section(&text);
    // Serving speed, load, CPU, disk reads, memory used, page cache: a line of each label in its colour.
    let figures = logs.split("What the machines did meanwhile").nth(1).expect("a heading");
    assert_eq!(figures.matches("<figcaption>").count(), 6);
    for class in ["s0", "s1"] {
        assert!(figures.matches(&format!("<g class=\"{class}\">")).count() >= 12, "{class}");
    }
    insta::assert_snapshot!(outline(logs));
}

#[test]
fn a_machine_that_was_not_recorded_has_no_line_and_no_colour_moves() {
    let (mut runs, _) = machines();
    runs[0] = label(HDD, false, None);
    let text = page(runs, None);
    let figures = section(&text).split("What the machines did meanwhile").nth(1).expect("a heading");
    assert!(figures.contains("<g class=\"s1\">"), "ssd keeps its colour");
    assert!(figures.contains("The page cache holds 1.2") && figures.contains("on average"));
    let mut runs = machines().0;
    for (run, _) in &mut runs {
        for row in run.beside.iter_mut().flat_map(|doc| doc.rows.iter_mut().chain(&mut doc.mean)) {
            row.load = None;
        }
    }
    assert!(!section(&page(runs, None)).contains("load average"), "what nobody recorded is not drawn");
    let none = machines().0.into_iter().map(|(run, data)| (RunDoc { beside: None, ..run }, data)).collect();
    assert!(!section(&page(none, None)).contains("meanwhile"));
}

#[test]
fn the_moment_of_a_cut_is_drawn() {
    let (runs, compare) = sides();
    let text = page(runs, Some(compare));
    let logs = section(&text);
    // Requests, and six of the machines.
    assert_eq!(logs.matches(">cut 2010-05-01 14:00</text>").count(), 7, "{}", outline(logs));
    insta::assert_snapshot!(outline(logs));
}

#[test]
fn hours_are_not_taken_for_takes() {
    let (runs, compare) = machines();
    let one = vec![runs[0].clone()];
    for text in [page(runs, Some(compare)), page(one, None)] {
        for other in
            ["id=\"noise\"", "id=\"other\"", "A/A", "scatter", "resemble", "too few", "takes a figure"]
        {
            assert!(!text.contains(other), "the report says {other}");
        }
        assert!(text.contains("Hours differ in what was asked for"), "how the figures were made");
    }
}

#[test]
fn a_short_log_has_an_axis_of_minutes() {
    let (mut run, data) = label(Label { hours: 2, ..HDD }, true, None);
    let doc = run.beside.as_mut().expect("a machine");
    let row = doc.rows[0].clone();
    doc.rows = (0..40)
        .map(|n| model::doc::BesideRow { at: row.at + f64::from(n) * 60.0, seconds: 60.0, ..row.clone() })
        .collect();
    doc.step = Some(60.0);
    let text = page(vec![(run, data)], None);
    assert!(section(&text).contains("minutes since 2010-05-01 00:00 UTC"));
    assert!(section(&text).contains("mean of each 1 min"));
}
