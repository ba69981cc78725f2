//! Decisions on the screen, on the page and as CSV.

use model::Validity;
use model::doc::{DecideDoc, LoggedDoc};
use model::format;
use report::text::decide::cells;
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
    let html = report::decide::page(&decision(), "boxscore decide plan.toml", ("0.1.0", "2026-05-01"));
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
    let without = report::decide::page(&published(), "boxscore decide plan.toml", ("0.1.0", "2026-05-01"));
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

/// The text of a page without its tags.
fn plain(html: &str) -> String {
    let body = html.split_once("<main>").map_or(html, |(_, body)| body);
    let pieces = body.split('<').map(|piece| piece.split_once('>').map_or(piece, |(_, text)| text));
    pieces.collect::<Vec<_>>().concat().replace('\u{a0}', " ").replace("&lt;", "<").replace("&gt;", ">")
}

fn flowing(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A log that breaks the goal: one box of each does far more than what is asked for, by a lower bound.
fn broken() -> DecideDoc {
    let mut doc = decision();
    doc.needs.truncate(1);
    doc.candidates.truncate(2);
    doc.needs[0].logged = Some(LoggedDoc { percentile: "p99".into(), seconds: 0.297, breaks: true });
    doc.needs[0].from = "200 times the 1.03/s of the busiest quarter hour of a.log".into();
    (doc.needs[0].demand, doc.needs[0].grown) = (206.0, 370.0);
    doc.cautions = vec!["the log's own p99 is 297 ms, over 50.0 ms".into()];
    (doc.mixed, doc.scaling, doc.excluded) = (None, None, Vec::new());
    (doc.equal_price, doc.settle, doc.break_even) = (Vec::new(), Vec::new(), Vec::new());
    for curve in &mut doc.curves {
        curve.points.iter_mut().for_each(|point| point.boxes = 1);
    }
    for swing in &mut doc.tornado {
        (swing.dearer_at_low, swing.dearer_at_high) = (Some(1.68), Some(1.68));
        (swing.best_at_low, swing.best_at_high) = ("box-b".into(), "box-b".into());
    }
    for (one, cheapest) in doc.candidates.iter_mut().zip([1.0, 0.0]) {
        (one.cheapest, one.capacities[0].at_least) = (Some(cheapest), true);
        one.capacities[0].validity = Validity::Doubtful;
        one.capacities.truncate(1);
    }
    doc
}

#[test]
fn a_number_is_the_same_on_the_screen_on_the_page_and_in_the_document() {
    for doc in [broken(), decision()] {
        let screen = flowing(&decide::screen(&doc, "", Look::plain().with_all(true)));
        let html = report::decide::page(&doc, "boxscore decide plan.toml", ("0.1.0", "2026-05-01"));
        let page = flowing(&plain(&html));
        let of_need = doc.needs.iter().flat_map(|need| [cells::demand(need), need.from.clone()]);
        let of_box = doc.candidates.iter().flat_map(|one| {
            let cost = one.cost.as_ref().unwrap();
            let capacities = one.capacities.iter().map(cells::capacity);
            let own = [cells::boxes(&one.boxes), cells::money(cost.life), cells::money(cost.per_month)];
            own.into_iter().chain(capacities).collect::<Vec<_>>()
        });
        let cautions = doc.cautions.iter().map(|text| text.trim_start_matches("the ").to_owned());
        for text in of_need.chain(of_box).chain(cautions) {
            assert!(screen.contains(&text), "{text} is not on the screen: {screen}");
            assert!(page.contains(&text), "{text} is not on the page: {page}");
        }
    }
}

#[test]
fn a_caution_comes_before_the_numbers_and_a_drawing_of_nothing_is_a_sentence() {
    let doc = broken();
    let screen = decide::screen(&doc, "", Look::plain());
    let (caution, table) = (screen.find("! the log's own p99"), screen.find("boxes  EUR 4 years"));
    assert!(caution < table && caution.is_some(), "{screen}");
    assert!(screen.contains("change  within its range none of these changes the cost"), "{screen}");
    sound(&screen);
    let html = report::decide::page(&doc, "boxscore decide plan.toml", ("0.1.0", "2026-05-01"));
    assert!(!html.contains("<figure"), "bars of 100 and 0, flat lines and dots on one place say nothing");
    let page = flowing(&plain(&html));
    for text in [
        "Before you buy",
        "! 1 caution",
        "the numbers of boxes and their cost stay as they are",
        "!: in doubt",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(page.contains(&format::amount(370.0, model::unit::Unit::PerSec)), "{page}");
    if let Ok(folder) = std::env::var("BOXSCORE_PAGES") {
        std::fs::write(format!("{folder}/broken.html"), html).expect("a folder");
    }
}
