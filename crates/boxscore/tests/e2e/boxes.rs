//! Which of two boxes: import, prices, compare, report, show and detect of machines that were measured several times.

use model::doc::{CompareDoc, HistoryDoc, RunDoc};

use crate::common::{Bench, PROGRAM, said, short};

/// Two planted machines, each measured three times in studies of both; `beta` does 1.3 times the work.
fn two_boxes() -> Bench {
    let bench = Bench::new();
    bench.world(
        r#"{"seed": 5, "series": [
            {"instrument": "mem-latency", "machine": "beta", "median": 1e-7, "spread": 0.01},
            {"instrument": "mem-latency", "median": 9e-8, "spread": 0.01},
            {"instrument": "*", "machine": "beta", "median": 1.3e9, "spread": 0.01},
            {"instrument": "*", "median": 1e9, "spread": 0.01}]}"#,
    );
    let via = ["alpha", "beta"].map(|name| format!("{name}={PROGRAM}"));
    for seed in ["1", "2", "3"] {
        let study = ["run", "--quick", "--fake", "world.json", "--takes", "8", "--no-report", "--seed", seed];
        bench.run(&[&study[..], &["--via", &via[0], "--via", &via[1]]].concat()).expect(0, &[]);
    }
    bench
}

fn compared(bench: &Bench, names: [&str; 2]) -> CompareDoc {
    let said = bench.run(&["compare", names[0], names[1], "--json"]).expect(0, &[]);
    serde_json::from_str(&said.out).expect("a document")
}

/// Words between single blanks, as they wrap nowhere.
fn squeezed(text: &str) -> String {
    text.replace('\u{a0}', " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A page without its tags.
fn words(page: &str) -> String {
    let body = page.split_once("<body").map_or(page, |(_, body)| body);
    let text: Vec<&str> = body.split('<').filter_map(|part| Some(part.split_once('>')?.1)).collect();
    squeezed(&text.concat())
}

#[test]
fn text_json_and_page_give_one_answer_with_the_money() {
    let bench = two_boxes();
    let without = bench.run(&["compare", "alpha", "beta"]).expect(0, &[]).out;
    assert!(without.contains("boxscore note alpha --price 0.10/h (and beta)"), "{without}");
    bench.run(&["note", "alpha", "--price", "0.10/h"]).expect(0, &[]);
    bench.run(&["note", "beta", "--price", "0.15/h"]).expect(0, &[]);
    let doc = compared(&bench, ["alpha", "beta"]);
    let [value] = doc.value.as_slice() else { panic!("{:?}", doc.value) };
    assert_eq!(value.more.as_deref(), Some("alpha"), "{value:?}");
    assert!((value.value - 1.3 / 1.5).abs() < 0.03, "{value:?}");
    let money = "alpha gives more for the money: per unit of price beta (0.15 USD/h) has 0.8";
    assert!(
        doc.answer.starts_with("As a whole machine, beta has 1.3") && doc.answer.contains(money),
        "{}",
        doc.answer
    );
    // First and last on the screen, which has no count twice and no mark without its row.
    let text = bench.run(&["compare", "alpha", "beta"]).expect(0, &[]).out;
    let plain = squeezed(&text);
    assert!(plain.starts_with(&doc.answer) && !text.contains("note alpha --price"), "{text}");
    let lines = text.lines().count();
    assert!(lines <= 40 && (lines <= 24 || plain.ends_with(&format!("answer {}", doc.answer))), "{text}");
    assert!(text.matches(": --all").count() <= 1, "{text}");
    assert!(text.contains("each figure per unit of price: --all, or a wider screen"), "{text}");
    let wide = said(bench.command(&["compare", "alpha", "beta"]).env("COLUMNS", "120")).out;
    assert!(wide.contains("/price: above 1 beta gives more") && wide.contains(" /price\n"), "{wide}");
    for (name, more) in [("page.html", None), ("one.html", Some("--summary"))] {
        let report = ["report", "alpha", "beta", "-o", name];
        bench.run(&[&report[..], &more.into_iter().collect::<Vec<_>>()].concat()).expect(0, &[]);
        let page = std::fs::read_to_string(bench.path(name)).expect("a page");
        assert!(page.contains("<title>alpha, beta · boxscore</title>"), "{name}");
        let page = words(&page);
        assert!(page.contains(&doc.answer) && page.contains("boxscore report alpha beta"), "{name}: {page}");
        // The same verdicts: as many as the rows that the text has.
        let of =
            |word: &str| doc.rows.iter().filter(|row| row.headline && row.verdict.word() == word).count();
        assert!(page.contains(&format!("{} better", of("better"))), "{name}: {page}");
        if more.is_none() {
            assert!(doc.arms.iter().flat_map(|arm| &arm.runs).all(|run| page.contains(short(run))), "{name}");
        }
    }
}

#[test]
fn a_report_pools_the_runs_of_each_name() {
    let bench = two_boxes();
    let page = |names: &[&str]| {
        bench.run(&[&["report", "-o", "x.html"], names].concat()).expect(0, &[]);
        words(&std::fs::read_to_string(bench.path("x.html")).expect("a page"))
    };
    let doc = compared(&bench, ["alpha", "beta"]);
    let unit = "the unit is the run (3 and 3)";
    assert!(doc.paragraph.to_string().contains(unit), "{}", doc.paragraph);
    assert!(page(&["alpha", "beta"]).contains(unit));
    // Named twice is one side; one machine alone is beside nothing, since it is planted.
    assert!(page(&["alpha", "alpha", "beta"]).contains(unit));
    assert!(!page(&["alpha"]).contains("the unit is"));
    // Runs that are named one by one are sides of their own.
    let ids: Vec<String> = bench.heads().into_iter().map(|head| head.id).collect();
    assert!(page(&[&ids[0], &ids[1]]).contains("the unit is the run (1 and 1)"));
    // What a machine has under a label is one side, too.
    for id in &ids[2..4] {
        bench.run(&["note", id, "--label", "later"]).expect(0, &[]);
    }
    assert!(page(&["later"]).contains("the unit is the run (1 and 1)"));
}

#[test]
fn a_report_and_its_summary_are_files_with_short_names_of_their_own() {
    let bench = two_boxes();
    let file = |words: &[&str]| {
        let out = bench.run(words).expect(0, &[]).out;
        let path = std::path::PathBuf::from(out.trim());
        assert!(path.is_file(), "{out}");
        path.file_name().expect("a file").to_string_lossy().into_owned()
    };
    let (page, summary) =
        (file(&["report", "alpha", "beta"]), file(&["report", "alpha", "beta", "--summary"]));
    assert!(page.starts_with("alpha-beta-") && page.len() <= 40 + ".html".len(), "{page}");
    assert_eq!(summary, page.replace(".html", "-summary.html"));
    // The same command writes the same file; other runs are another page.
    assert_eq!(file(&["report", "alpha", "beta"]), page);
    let id = bench.heads().pop().expect("a run").id;
    bench.run(&["remove", &id, "--yes"]).expect(0, &[]);
    assert_ne!(file(&["report", "alpha", "beta"]), page);
}

#[test]
fn what_is_planted_is_told_on_every_screen() {
    let bench = two_boxes();
    let says = "planted by --fake: no measurement";
    for words in [
        "compare alpha beta",
        "compare alpha beta --all",
        "show alpha",
        "history",
        "detect 10 --machine alpha",
    ] {
        let text = bench.run(&words.split(' ').collect::<Vec<_>>()).expect(0, &[]).out;
        assert!(squeezed(&text).contains(says), "{words}: {text}");
    }
    bench.run(&["report", "alpha", "--summary", "-o", "x.html"]).expect(0, &[]);
    assert!(std::fs::read_to_string(bench.path("x.html")).expect("a page").contains(says));
    let doc = compared(&bench, ["alpha", "beta"]);
    assert!(doc.arms.iter().all(|arm| arm.planted));
    let history = bench.run(&["history", "--json"]).expect(0, &[]).out;
    let history: HistoryDoc = serde_json::from_str(&history).expect("a document");
    let shown = bench.run(&["show", "alpha", "--json"]).expect(0, &[]).out;
    let shown: RunDoc = serde_json::from_str(&shown).expect("a document");
    assert!(shown.planted && history.runs.iter().all(|run| run.planted));
}

#[test]
fn names_that_can_be_typed_next_are_told() {
    let bench = two_boxes();
    let other = Bench::new();
    for name in ["alpha", "beta"] {
        let file = other.path(name).display().to_string();
        std::fs::write(&file, bench.run(&["export", name]).expect(0, &[]).out).expect("a file");
    }
    let next = "of alpha (3 runs) and beta (3 runs): boxscore compare alpha beta";
    other.run(&["import", "alpha", "beta"]).expect(0, &["6 added", next]);
    std::fs::remove_file(other.path("alpha")).expect("the file");
    std::fs::remove_file(other.path("beta")).expect("the file");
    let hint = "(alpha, beta): `boxscore detect 5 index --machine ";
    let said = other.run(&["detect", "5", "index"]).expect(1, &["this machine has no complete run"]);
    assert!(
        said.err.contains(hint) || said.err.contains(&hint.replace("alpha, beta", "beta, alpha")),
        "{said:?}"
    );
    let shown = other.run(&["show", "alpha"]).expect(0, &["the newest of 3 runs of alpha"]);
    assert!(shown.out.contains("boxscore compare alpha beta"), "{}", shown.out);
}
