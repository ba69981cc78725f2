//! Decisions on the screen, on the page and as CSV.

use model::Validity;
use report::text::{LINES, Look, decide, width};

use crate::common::decide::{decision, published};

fn sound(text: &str) -> &str {
    for line in text.lines() {
        assert!(width(line) <= 80, "{} columns: {line}", width(line));
        assert!(!line.ends_with(' '), "{line:?}");
    }
    assert!(!text.contains("NaN") && !text.contains("inf "), "{text}");
    text
}

#[test]
fn the_answer_comes_first_and_fits_a_screen() {
    let text = decide::screen(&decision(), "report  decision.html\n", Look::plain());
    assert!(text.lines().count() <= LINES, "{text}");
    insta::assert_snapshot!(sound(&text));
}

#[test]
fn all_of_it_is_there_where_it_was_asked_for() {
    let text = decide::screen(&decision(), "", Look::plain().with_all(true));
    insta::assert_snapshot!(sound(&text));
}

#[test]
fn a_published_box_without_a_price_has_no_columns_of_money() {
    let text = decide::screen(&published(), "", Look::plain());
    assert!(!text.contains("/EUR") && !text.contains("/money"), "{text}");
    insta::assert_snapshot!(sound(&text));
}

#[test]
fn many_candidates_and_needs_fit_a_screen_too() {
    let mut doc = decision();
    for at in 0..100 {
        let mut one = doc.candidates[1].clone();
        one.name = format!("machine-of-a-fleet-{at}");
        doc.candidates.push(one);
        doc.excluded.push(doc.excluded[0].clone());
        doc.notes
            .push(format!("a remark about machine {at} that is long enough to need a second line of text"));
    }
    let text = decide::screen(&doc, "report  decision.html\n", Look::plain());
    assert!(text.lines().count() <= LINES, "{}\n{text}", text.lines().count());
    sound(&text);
}

#[test]
fn the_page_has_what_the_screen_has() {
    let html = report::decide::page(&decision(), "boxscore decide plan.toml", "0.1.0");
    for part in [
        "12 of <span class=\"n\">box-b</span> are enough",
        "energy price",
        "What would change the answer",
        "Cost against demand",
        "boxscore run kv-slo",
        "prices.csv (2026-03-01, vendor list)",
        "What 20,000 EUR buys",
    ] {
        assert!(html.contains(part), "{part}");
    }
    assert!(!html.contains("NaN"));
    let without = report::decide::page(&published(), "boxscore decide plan.toml", "0.1.0");
    assert!(!without.contains("Cost against demand") && !without.contains("NaN"));
    if let Ok(folder) = std::env::var("BOXSCORE_PAGES") {
        std::fs::write(format!("{folder}/decide.html"), html).expect("a folder");
        std::fs::write(format!("{folder}/published.html"), without).expect("a folder");
    }
}

#[test]
fn the_table_has_a_line_for_each_candidate_and_need() {
    let table = report::csv::decide(&decision());
    let columns: Vec<usize> = table.lines().map(|line| line.split(',').count()).collect();
    assert_eq!(columns, [40; 8], "{table}");
    let last = table.lines().last().unwrap_or_default();
    assert!(last.starts_with("box-c,,") && last.contains(",kv,"), "{last}");
    let end = "nobody measured kv with p99 within 1 ms and replicas=2,true,";
    assert!(last.contains(end) && last.contains("boxscore run kv-slo"), "{last}");
}

#[test]
fn the_table_says_how_far_figures_may_be_believed() {
    let mut doc = decision();
    let own = &mut doc.candidates[0].capacities[0];
    (own.validity, own.doubted_by) = (Validity::Doubtful, vec!["background".into(), "drift".into()]);
    own.why = Some("it drifts".into());
    let own = &mut doc.candidates[0].capacities[1];
    (own.low, own.high) = (None, None);
    let table = report::csv::decide(&doc);
    let ends = |at: usize, end: &str| table.lines().nth(at).is_some_and(|line| line.ends_with(end));
    assert!(ends(1, ",doubtful,false,background;drift,it drifts,false,"), "{table}");
    assert!(ends(2, ",ok,true,,,false,"), "{table}");
}
