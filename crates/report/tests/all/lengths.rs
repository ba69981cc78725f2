//! Default screens with everything that can stand on them fit in their lines, and all of it is shown on demand.

use model::doc::{BottleneckDoc, CompareDoc, ScalingDoc, VerdictWord};
use model::finding::{About, FigureName};
use model::note::{Dropped, Note, NoteBody};
use model::{Finding, Subject, Validity};
use report::text::score::{Advice, Tail, score};
use report::text::{LINES, Look, compare, load, width};

/// Doubts of many kinds with long sentences, and refusals.
fn doubts(about: &Subject, count: usize) -> Vec<Finding> {
    let text = |at: usize| {
        format!(
            "cause {at} held for {at} of the takes, which is more than may be, so the figures may be off; look at what \
             else ran on the machine, end it, and measure again when nothing else is busy"
        )
    };
    let one = |at: usize| {
        let state = if at % 5 == 4 { Validity::Invalid } else { Validity::Doubtful };
        Finding::foreign(&format!("rule-{at}"), state, text(at)).about(about.clone())
    };
    (0..count).map(one).collect()
}

/// The screen at 80 columns, which fits and begins and ends with its answer; and all of it, which is longer.
fn fits(draw: impl Fn(Look) -> String, answer: &str, command: &str) {
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for columns in [80, 100, 160] {
        let screen = draw(Look::wide(columns));
        assert!(screen.lines().count() <= LINES, "{} lines:\n{screen}", screen.lines().count());
        assert!(screen.lines().all(|line| width(line) <= columns), "{screen}");
        let (screen, answer) = (squeezed(&screen), squeezed(answer));
        assert!(screen.starts_with(&answer), "{screen}");
        assert!(screen.rsplit_once("answer ").is_some_and(|(_, last)| last.starts_with(&answer)), "{screen}");
        assert!(
            screen.contains("shortened to fit: ") && screen.contains(&format!("whole: {command}")),
            "{screen}"
        );
        assert!(!screen.contains("  \n"));
    }
    let all = draw(Look::wide(80).with_all(true));
    assert!(all.lines().count() > LINES && !all.contains("shortened to fit"), "{all}");
    (0..9).for_each(|at| assert!(squeezed(&all).contains(&format!("cause {at} held for")), "{all}"));
}

#[test]
fn a_load_with_every_doubt_fits() {
    for open in [false, true] {
        let mut doc = crate::common::load(open);
        doc.findings = doubts(&Subject::RUN, 12);
        doc.remarks = (0..2)
            .map(|at| {
                format!(
                    "remark {at}: {}",
                    "a user waits longer than the server takes, which says why ".repeat(2)
                )
            })
            .collect();
        if let Some(answer) = &mut doc.answer {
            answer.sentence =
                format!("{}{}", answer.sentence, "; and a doubt that takes a few words more".repeat(3));
        }
        let answer = doc.answer.as_ref().expect("one").sentence.clone();
        let mut bound = crate::common::load(false).bottlenecks;
        bound.iter_mut().for_each(|one: &mut BottleneckDoc| {
            one.evidence = vec!["one reason that takes many words to say what was seen".to_owned(); 2];
            one.counter_evidence = one.evidence.clone();
            one.advice = one.evidence.clone();
        });
        doc.bottlenecks = bound;
        let advice = ["stored", "again", "versus"].map(|word| {
            (word.to_owned(), "boxscore show 0192f3a4b5c6 --all".to_owned(), "what it is for".to_owned())
        });
        let whole = "boxscore show 0192f3a4b5c6 --all";
        let tail = load::Tail { advice: advice.to_vec(), whole: Some(whole.to_owned()), has_ceilings: false };
        let draw = |look: Look| load::screen(&doc, &tail, look);
        fits(draw, &answer, whole);
        let unstored = load::screen(&doc, &load::Tail::default(), Look::wide(80));
        assert!(unstored.contains("whole: --json"), "{unstored}");
    }
}

fn about(run: &model::doc::RunDoc, at: usize) -> Subject {
    let series = &run.series[at];
    let figure = FigureName {
        instrument: series.instrument.clone(),
        metric: series.metric.clone(),
        params: series.params.clone(),
        arm: String::new(),
    };
    Subject::from(About::Figure(figure))
}

fn tail() -> Tail {
    let advice = |word: &str| Advice {
        word: word.to_owned(),
        command: "boxscore compare . ref-epyc-2c xeon-x3470".to_owned(),
        says: "the same ratios with intervals; or name another machine".to_owned(),
        is_needed: false,
    };
    Tail {
        report: Some("~/report.html".to_owned()),
        advice: ["again", "versus", "share"].map(advice).to_vec(),
    }
}

#[test]
fn a_run_with_every_doubt_fits() {
    let (mut run, compared) = (crate::common::run(), crate::common::compare());
    run.series.iter_mut().for_each(|series| series.headline = true);
    run.findings = doubts(&about(&run, 0), 12);
    run.scaling = Vec::<ScalingDoc>::new();
    run.errors = (0..8).map(|at| (format!("a fault of kind {at}"), 3)).collect();
    run.notes = (0..9)
        .map(|at| {
            let (what, why) = (format!("net-rdma size={at}"), format!("no device of kind {at} is there"));
            Note::of_run(NoteBody::Unfit(Dropped { what, arm: String::new(), why }))
        })
        .collect();
    let answer = run.answer.as_ref().expect("one").sentence.clone();
    let draw = |look: Look| score(&run, &crate::common::facts(), Some(&compared), &tail(), look);
    fits(draw, &answer, "boxscore show 0192f3a4b5c6 --all");
}

#[test]
fn sweeps_of_a_web_server_with_every_doubt_fit() {
    let (mut run, _) = crate::common::web::web();
    run.findings = doubts(&Subject::RUN, 12);
    let answer = run.answer.as_ref().expect("one").sentence.clone();
    let draw = |look: Look| score(&run, &crate::common::facts(), None, &tail(), look);
    fits(draw, &answer, "boxscore show 0192f3a4b5c6 --all");
    let screen = draw(Look::wide(80));
    assert!(screen.contains("peak") && screen.contains("knee"), "what sweeps come to stays: {screen}");
}

/// The same rows many times, with other parameters, prices and watts.
fn longer(doc: &mut CompareDoc) {
    let rows = doc.rows.clone();
    for at in 1..4 {
        doc.rows.extend(rows.iter().cloned().map(|mut row| {
            row.params.set("block", &format!("{at}MiB"));
            row.verdict = if at == 3 { row.verdict } else { VerdictWord::CannotTell };
            row.why = crate::common::open(3 * at, model::why::Repeat::Runs);
            row
        }));
    }
    for row in &mut doc.rows {
        (row.per_price, row.per_watt) = (Some(1.9), Some(0.7));
    }
    doc.paragraph.lead = crate::common::LEAD.to_owned();
    doc.paragraph.rest = format!(
        "{}\nThis speaks of these boxes, not of their types.",
        "\nA further sentence on disks.".repeat(6)
    );
    doc.footnotes =
        vec!["runs differ in kernel, governor, mitigations and the build of the program".to_owned(); 4];
    let side = |side: &str| Subject { side: Some(side.to_owned()), ..Subject::RUN };
    let (first, second) = (doc.arms[0].name.clone(), doc.arms[1].name.clone());
    doc.findings = [doubts(&side(&first), 12), doubts(&side(&second), 12)].concat();
}

#[test]
fn comparisons_with_every_doubt_price_and_watt_fit() {
    let (mut two, mut three) = (crate::common::compare(), crate::common::three());
    longer(&mut two);
    longer(&mut three);
    for doc in [&two, &three] {
        fits(|look| compare::table(doc, look.all, look), crate::common::LEAD, "--all");
    }
    // What was told apart stays where rows are left out.
    let screen = compare::table(&two, false, Look::wide(80));
    assert!(screen.contains("better") && screen.contains("worse"), "{screen}");
    let mut many = three.clone();
    for at in 0..20 {
        let name = format!("machine-{at}");
        many.arms.push(crate::common::arm(&name, false));
        let of_third = three.rows.iter().filter(|row| row.arm == "nano-2").cloned();
        many.rows.extend(of_third.map(|row| model::doc::RowDoc { arm: name.clone(), ..row }));
    }
    fits(|look| compare::table(&many, look.all, look), crate::common::LEAD, "--all");
}

#[test]
fn a_shortened_table_shows_what_decides_and_counts_the_rest() {
    let mut doc = crate::common::compare();
    let better = doc.rows[0].clone();
    let worse = doc.rows[5].clone();
    doc.rows.clear();
    let with = |row: &model::doc::RowDoc, at: usize, ratio: f64| {
        let mut row = model::doc::RowDoc { ratio: Some(ratio), low: None, high: None, ..row.clone() };
        row.params.set("block", &format!("{at}MiB"));
        row
    };
    doc.rows.extend((0..60).map(|at| with(&better, at, 1.3 + at as f64 / 100.0)));
    doc.rows.extend((0..12).map(|at| with(&worse, at, 1.2 - at as f64 / 1000.0)));
    let screen = compare::table(&doc, false, Look::wide(80));
    assert!(screen.lines().count() <= 40, "{screen}");
    let verdicts: Vec<&str> = screen
        .lines()
        .filter_map(|line| ["better", "worse"].into_iter().find(|word| line.trim_end().ends_with(word)))
        .collect();
    let shown = |word: &str| verdicts.iter().filter(|one| **one == word).count();
    // As many of the few that are worse as of the many that are better.
    assert!(shown("worse") == 12 && shown("better") >= 12, "{screen}");
    assert!(verdicts[0] == "better" && screen.contains("1.89 "), "the farthest stands first: {screen}");
    let rest = format!("the most different first; {} more figures ({0} better): --all", 60 - shown("better"));
    assert!(screen.lines().any(|line| line == rest), "{rest}: {screen}");
}
