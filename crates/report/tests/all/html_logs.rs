//! The report of access logs: what machines did meanwhile, the moment of a cut, and nothing that takes hours for takes.

use model::answer::AnswerDoc;
use model::doc::{AnswersDoc, CompareDoc, LogsDoc, OverTimeDoc, RunDoc, TrafficDoc};

use crate::common::logs::{HDD, Label, answers, label, machines, sides};
use crate::common::web::shared;
use report::html::{ReportInput, report};
use report::text::Look;
use report::text::logs::{View, screen};

fn page(runs: Vec<(RunDoc, model::data::RunData)>, compare: Option<CompareDoc>) -> String {
    report(&ReportInput {
        runs: shared(runs),
        compare: compare.map(Into::into),
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
fn all_labels_are_drawn_on_one_axis() {
    let (mut runs, _) = machines();
    for ((run, _), share) in runs.iter_mut().zip([1, 2]) {
        let rows = (0..200).map(|n| (crate::common::logs::DAY + f64::from(n) * 300.0, 600 * share, 0, 0));
        let over_time = OverTimeDoc { step: 300.0, rows: rows.collect(), ..OverTimeDoc::default() };
        run.log = Some(Box::new(AnswersDoc { over_time, ..AnswersDoc::default() }));
    }
    let text = page(runs.clone(), None);
    let figure = |title: &str| {
        let rest =
            section(&text).split(&format!("<strong>{title}")).nth(1).unwrap_or_else(|| panic!("no {title}"));
        rest.split("</figure>").next().expect("its end").to_owned()
    };
    // 1,200 requests in 5 minutes of the second label; each label has its line, and the ends are left out.
    let rates = figure("ssd had the most requests at once: 4.00/s in 10 min");
    assert!(rates.contains("requests a second of each 10 min, all on one axis"), "{rates}");
    for title in ["Half of the requests took at most", "99 in 100 of the requests took at most"] {
        assert!(figure(title).contains("hdd") && figure(title).contains("ssd"));
    }
    for class in ["s0", "s1"] {
        assert!(rates.contains(&format!("<g class=\"{class}\">")), "{class}");
    }
    // One label alone is drawn by the hour.
    let one = page(vec![runs.remove(0)], None);
    assert!(!section(&one).contains("on one axis") && section(&one).contains("requests of each hour"));
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
    // Requests, medians and p99 of all labels, and six of the machines.
    assert_eq!(logs.matches(">cut 2010-05-01 14:00</text>").count(), 9, "{}", outline(logs));
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
fn an_axis_of_time_begins_with_its_day() {
    let (mut run, data) = label(Label { hours: 2, ..HDD }, true, None);
    let doc = run.beside.as_mut().expect("a machine");
    let row = doc.rows[0].clone();
    doc.rows = (0..40)
        .map(|n| model::doc::BesideRow { at: row.at + f64::from(n) * 60.0, seconds: 60.0, ..row.clone() })
        .collect();
    doc.step = Some(60.0);
    let text = page(vec![(run, data)], None);
    assert!(section(&text).contains("time from 2010-05-01, UTC"));
    assert!(section(&text).contains("mean of each 1 min"));
}

#[test]
fn failures_and_who_asked_are_told() {
    let (mut run, data) = label(HDD, false, None);
    run.answer = Some(AnswerDoc { sentence: answers().sentence, ..AnswerDoc::default() });
    run.log = Some(Box::new(answers()));
    let text = page(vec![(run, data)], None);
    assert!(text.contains("shop: 600 k requests in 1 d"), "the first screen answers");
    let logs = section(&text);
    for part in [
        "2,142 failed with 5xx, 0.4 %; 2,000 of them in one episode, 2010-05-01 14:00 to 14:20",
        "/cart",
        "203.0.113.9",
    ] {
        assert!(logs.contains(part), "no {part}");
    }
    insta::assert_snapshot!(outline(logs));
}

#[test]
fn the_screen_of_a_label_fits_in_two_of_a_terminal() {
    let answers = answers();
    let label = TrafficDoc {
        label: "shop".into(),
        lines: Some(600_000),
        parsed: 600_000,
        first: Some(crate::common::logs::DAY),
        last: Some(crate::common::logs::DAY + 86_399.0),
        bytes: Some(6e9),
        seconds: Some(15e3),
        size_mean: Some(1e4),
        time_mean: Some(0.025),
        time_mean_good: Some(0.0247),
        p50: Some(0.013),
        p90: Some(0.054),
        p99: Some(0.24),
        p999: Some(0.4),
        ratio_of_totals: Some(4e5),
        ratio_of_totals_good: Some(4.1e5),
        clients: Some(6_443.0),
        clients_error: Some(0.008),
        statuses: [("200", 590_000), ("304", 2_098), ("404", 5_760), ("502", 2_142)]
            .map(|(s, n)| (s.to_owned(), n))
            .into(),
        methods: [("GET", 552_000), ("POST", 48_000)].map(|(s, n)| (s.to_owned(), n)).into(),
        answers: Some(Box::new(answers.clone())),
        ..TrafficDoc::default()
    };
    let doc = LogsDoc {
        schema: "boxscore.logs/1".into(),
        summary: vec![answers.sentence],
        run: None,
        formats: Vec::new(),
        lines: 600_000,
        parsed: 600_000,
        skipped: Vec::new(),
        filtered: 0,
        conditions: Vec::new(),
        labels: vec![label],
        days: Vec::new(),
        groups: Vec::new(),
        by: Vec::new(),
        group_count: None,
        group_rows: Vec::new(),
        parts: Vec::new(),
        left_out: Vec::new(),
        rows: Vec::new(),
        top: Vec::new(),
        cut: None,
        beside: Vec::new(),
        log_format: Vec::new(),
        findings: Vec::new(),
    };
    let text = screen(&doc, Some("boxscore report shop"), View::SHORT, Look::wide(80));
    assert!(text.lines().count() <= 44 && text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!(text);
}
