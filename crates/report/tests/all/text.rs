//! The text outputs of fixed documents, as agreed.

use model::data::Status;
use model::doc::{
    CheckDoc, CheckState, DoctorDoc, HistoryDoc, HistoryRow, InstrumentDoc, ListDoc, MetricDoc, ParamDoc,
    RemarkDoc, VerdictWord,
};
use model::metric::Better;
use model::note::{Dropped, Note, NoteBody};
use model::unit::Unit;
use model::why::{Disturbance, Reason, Withheld};
use model::{Finding, Subject, Validity};
use report::text::score::{Advice, Tail};
use report::text::{Look, compare, doctor, history, line, list, load, ratio, score, sheet, width};

fn tail() -> Tail {
    let advice = |word: &str, command: &str, says: &str| Advice {
        word: word.to_owned(),
        command: command.to_owned(),
        says: says.to_owned(),
        is_needed: false,
    };
    Tail {
        report: Some("~/.local/share/boxscore/0192f3.html".to_owned()),
        advice: vec![
            advice("again", "boxscore run --quick", "a 2nd run starts replacing the assumed noise"),
            advice("versus", "boxscore compare . ref-epyc-2c xeon-x3470", ""),
            advice("share", "boxscore show --line", "one line that others paste into compare"),
        ],
    }
}

/// No line is wider than asked, none ends in a space, nothing is not a number.
fn sound(text: &str, columns: usize) -> String {
    for line in text.lines() {
        assert!(width(line) <= columns, "{} columns: {line}", width(line));
        assert!(!line.ends_with(' '), "{line:?}");
    }
    assert!(!text.contains("NaN") && !text.contains("inf "), "{text}");
    text.to_owned()
}

#[test]
fn the_last_screen_of_a_run() {
    let (run, compared) = (crate::common::run(), crate::common::compare());
    let text = score::score(&run, &crate::common::facts(), Some(&compared), &tail(), Look::plain());
    insta::assert_snapshot!(sound(&text, 80));
}

#[test]
fn a_run_without_reference_facts_or_intervals() {
    let mut run = crate::common::run();
    run.status = Status::Interrupted;
    run.findings.clear();
    run.errors.insert("no space left on the device".to_owned(), 3);
    for series in &mut run.series {
        (series.low, series.high, series.n) = (None, None, 3);
        series.why = Some("3 takes: 6 are the least for a 95 % interval".to_owned());
    }
    let text = score::score(&run, &[], None, &Tail::default(), Look::plain());
    insta::assert_snapshot!(sound(&text, 80));
    run.series.clear();
    let unfit = |what: &str, why: &str| {
        let cell = Dropped { what: what.to_owned(), arm: String::new(), why: why.to_owned() };
        Note::of_run(NoteBody::Unfit(cell))
    };
    run.notes = vec![
        unfit("net-rdma size=64", "no device: none is there"),
        unfit("web", "no nginx"),
        unfit("net-rdma", "no device: none is there"),
    ];
    let text = score::score(&run, &[], None, &Tail::default(), Look::plain());
    for said in [
        "no figure was measured",
        "- not run: net-rdma size=64 and 1 more: no device: none is there\n",
        "- not run: web: no nginx\n",
    ] {
        assert!(text.contains(said), "{text}");
    }
}

#[test]
fn a_run_that_was_cut_in_its_first_take_shows_no_empty_table() {
    let (mut run, _) = crate::common::web::web();
    run.status = Status::Interrupted;
    let (taken, rest) = run.series.split_at_mut(1);
    for series in rest {
        (series.n, series.faults, series.median, series.low, series.high) = (0, 0, None, None, None);
    }
    taken[0].low = None;
    let one = score::score(&run, &crate::common::facts(), None, &Tail::default(), Look::plain());
    let loads = one.lines().skip_while(|line| !line.starts_with("web: ")).take_while(|line| !line.is_empty());
    assert_eq!(loads.filter(|line| !line.starts_with('-')).count(), 3, "a title, a head and one load: {one}");
    run.series[0].n = 0;
    let none = score::score(&run, &crate::common::facts(), None, &tail(), Look::plain());
    assert!(none.contains("no figure yet"), "{none}");
    assert!(!none.contains("95 %") && !none.contains("checks"), "{none}");
}

#[test]
fn sweeps_of_a_web_server() {
    let (run, _) = crate::common::web::web();
    let text = score::score(&run, &crate::common::facts(), None, &Tail::default(), Look::plain());
    insta::assert_snapshot!(sound(&text, 80));
    let (run, _) = crate::common::web::one_load();
    let text = score::score(&run, &crate::common::facts(), None, &Tail::default(), Look::plain());
    insta::assert_snapshot!("one load", sound(&text, 80));
}

#[test]
fn colour_only_repeats_the_words() {
    let (run, compared) = (crate::common::run(), crate::common::compare());
    let plain = score::score(&run, &crate::common::facts(), Some(&compared), &tail(), Look::plain());
    let look = Look { paint: true, ..Look::wide(80) };
    let mut painted = score::score(&run, &crate::common::facts(), Some(&compared), &tail(), look);
    assert!(painted.contains("\u{1b}[32m"));
    for code in ["0", "1", "2", "31", "32", "33"] {
        painted = painted.replace(&format!("\u{1b}[{code}m"), "");
    }
    assert_eq!(painted, plain);
}

#[test]
fn two_machines() {
    insta::assert_snapshot!(sound(&compare::table(&crate::common::compare(), false, Look::plain()), 80));
}

#[test]
fn three_machines_with_prices() {
    insta::assert_snapshot!(sound(&compare::table(&crate::common::three(), false, Look::plain()), 80));
}

#[test]
fn brackets_overlap_where_ties_do_not_carry_over() {
    let mut doc = crate::common::three();
    let first = doc.ties[0].clone();
    doc.ties
        .insert(1, model::doc::TieDoc { arms: vec!["ref-epyc-2c".to_owned(), "nano-2".to_owned()], ..first });
    let places = [("mini-1", 1, 2), ("ref-epyc-2c", 1, 3), ("nano-2", 2, 3)];
    for (rank, (_, best, worst)) in doc.ranks.iter_mut().zip(places) {
        (rank.rank, rank.worst_rank) = (best, worst);
    }
    let text = sound(&compare::table(&doc, false, Look::plain()), 80);
    let line = "integer             [1-2 mini-1, 1-3 ref-epyc-2c] [1-3 ref-epyc-2c, 2-3 nano-2]";
    assert!(text.lines().any(|found| found == line), "{text}");
    // Many machines break lines between machines.
    let one = doc.ranks[0].clone();
    for at in 0..40 {
        let arm = format!("machine-with-a-long-name-{at}");
        doc.ranks.push(model::doc::RankDoc { arm, rank: 4, worst_rank: 43, ..one.clone() });
    }
    sound(&compare::table(&doc, false, Look::plain()), 80);
}

#[test]
fn clocks_that_differ_a_little_have_one_footnote() {
    let mut doc = crate::common::compare();
    for (at, row) in doc.rows.iter_mut().enumerate() {
        row.verdict = VerdictWord::CannotTell;
        let arm = 3.6e9 + 1e7 * at as f64;
        row.why = Reason::Withheld(Withheld::Clocks { arm, base: 4.2e9 }).into();
    }
    let text = sound(&compare::table(&doc, false, Look::plain()), 80);
    let last = doc.rows.len() - 1;
    let folded = format!("(a) doubtful: the clock was 3.60 to 3.6{last} GHz against 4.20 GHz");
    assert!(text.lines().any(|line| line == folded) && !text.contains("(b)"), "{text}");
}

#[test]
fn beside_a_published_study() {
    let doc = crate::common::published();
    let text = sound(&compare::table(&doc, false, Look::plain()), 80);
    let judged =
        |line: &str| ["better", "worse"].iter().any(|word| line.trim_end_matches(" !").ends_with(word));
    assert!(text.lines().all(|line| line.starts_with("x = ") || !judged(line)), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn nothing_in_common() {
    let mut doc = crate::common::compare();
    doc.rows.clear();
    doc.index.clear();
    assert!(compare::table(&doc, false, Look::plain()).contains("nothing to compare"));
}

#[test]
fn markdown_and_csv() {
    insta::assert_snapshot!("markdown", report::markdown::compare(&crate::common::three(), false));
    let csv = report::csv::compare(&crate::common::three());
    assert_eq!(csv.lines().count(), 1 + crate::common::three().rows.len());
    insta::assert_snapshot!("csv", csv);
}

#[test]
fn ratios_of_two_languages() {
    let doc = crate::common::runtime::ratios();
    insta::assert_snapshot!(
        "ratios",
        sound(&ratio::table(&doc, "--all", Look { lines: 99, ..Look::plain() }), 80)
    );
    insta::assert_snapshot!("ratios markdown", report::markdown::ratios(&doc));
    let csv = report::csv::ratio(&doc);
    assert_eq!(csv.lines().count(), 1 + doc.rows.len() + doc.ratios_of_ratios.len());
    let fields = |line: &str| line.split(',').count();
    assert!(csv.starts_with("kind,machine,method,instrument,metric,"), "{csv}");
    assert!(csv.lines().all(|line| line.contains('"') || fields(line) == 27), "{csv}");
    let point = csv.lines().find(|line| line.starts_with("ratio,pandaboard-es,point,")).unwrap();
    assert!(point.ends_with(",true,3.6,8.9,range"), "{point}");
}

#[test]
fn one_machine_has_ratios_alone() {
    let mut doc = crate::common::runtime::ratios();
    doc.machines.truncate(1);
    doc.rows.retain(|row| row.machine == "mini-1");
    (doc.ratios_of_ratios, doc.findings, doc.footnotes) = (Vec::new(), Vec::new(), Vec::new());
    doc.rows[0].row.verdict = VerdictWord::Invalid;
    let text = sound(&ratio::table(&doc, "--all", Look { lines: 99, ..Look::plain() }), 80);
    assert!(text.contains("invalid") && !text.contains("ratio of both") && !text.contains("gains"), "{text}");
}

#[test]
fn csv_never_mixes_prices() {
    let mut doc = crate::common::three();
    let mut bought = doc.rows[0].clone();
    bought.per_price = Some(2.0);
    doc.rows.push(bought);
    doc.arms[1].price = Some(model::data::Price { amount: 429.0, currency: "EUR".to_owned(), hourly: false });
    let csv = report::csv::compare(&doc);
    let (hourly, bought) = (csv.lines().nth(7).unwrap(), csv.lines().last().unwrap());
    assert!(hourly.ends_with(",1.9,,USD,,,,,,"), "{hourly}");
    assert!(bought.ends_with(",,2,EUR,,,,,,"), "{bought}");
}

#[test]
fn fields_are_quoted() {
    let mut doc = crate::common::compare();
    doc.rows.truncate(1);
    doc.rows[0].why = Reason::Doubtful { text: "a \"b\", c".to_owned() }.into();
    assert!(report::csv::compare(&doc).contains(",\"doubtful: a \"\"b\"\", c\","));
}

#[test]
fn the_instruments() {
    let metric = MetricDoc {
        name: "latency".to_owned(),
        unit: Unit::Second,
        better: Better::Lower,
        definition: "time of one dependent load".to_owned(),
    };
    let param = ParamDoc {
        name: "mode".to_owned(),
        values: "random, stride".to_owned(),
        default: "random".to_owned(),
        says: "order of the loads".to_owned(),
    };
    let one = |name: &str, family: &str, runnable, why: Option<&str>| InstrumentDoc {
        name: name.to_owned(),
        family: family.to_owned(),
        says: "latency of dependent loads by working set, stride and order, with the plateaus of the caches"
            .to_owned(),
        source: "lat_mem_rd-style (lmbench)".to_owned(),
        definition: 1,
        params: vec![param.clone()],
        metrics: vec![metric.clone()],
        needs: Vec::new(),
        runnable,
        why: why.map(str::to_owned),
    };
    let doc = ListDoc {
        schema: "boxscore.list/1".to_owned(),
        instruments: vec![
            one("mem-latency", "memory", true, None),
            one("disk-fsync", "disk", false, Some("/tmp is in memory (tmpfs): name a directory with --dir")),
            one("mem-bandwidth", "memory", true, None),
        ],
        remarks: vec![RemarkDoc {
            family: "memory".to_owned(),
            about: "mem-swap".to_owned(),
            says: "not there yet".to_owned(),
        }],
    };
    insta::assert_snapshot!("list", sound(&list::list(&doc, false, 80), 80));
    insta::assert_snapshot!("list-long", sound(&list::list(&doc, true, 80), 80));
}

#[test]
fn the_history() {
    let row = |run: &str, status: Status, label: Option<&str>| HistoryRow {
        run: run.to_owned(),
        study: "s".to_owned(),
        label: label.map(str::to_owned),
        machine: "mini-1".to_owned(),
        status,
        started: 1_795_242_060.0,
        seconds: Some(112.0),
        level: "quick".to_owned(),
        instruments: vec!["crc32c".to_owned(), "disk-read".to_owned()],
        what: "quick".to_owned(),
        subjects: Vec::new(),
        hidden: false,
        planted: false,
        takes: 120,
        faults: u64::from(status == Status::Faulty) * 2,
        cut: None,
        older: Vec::new(),
    };
    let runs = vec![
        row("0192f3a4b5c67def", Status::Complete, None),
        row("0192f3a4b5ffffff", Status::Faulty, Some("after the BIOS update")),
        HistoryRow {
            level: "named".to_owned(),
            what: "crc32c disk-read".to_owned(),
            ..row("0192f3a4c0000000", Status::Interrupted, None)
        },
    ];
    let doc = HistoryDoc { schema: "boxscore.history/1".to_owned(), runs };
    insta::assert_snapshot!(sound(&history::table(&doc, 80), 80));
    let none = HistoryDoc { schema: doc.schema, runs: Vec::new() };
    assert!(history::table(&none, 80).contains("no runs yet"));
}

#[test]
fn the_sheet_of_one_machine() {
    insta::assert_snapshot!("sheet", sound(&sheet::sheet(&crate::common::sheets()[..1], 80), 80));
    insta::assert_snapshot!("sheets", sound(&sheet::sheet(&crate::common::sheets(), 80), 80));
    assert_eq!(sheet::sheet(&[], 80), "no machine\n");
}

#[test]
fn the_doctor() {
    let check = |key: &str, state, found: &str, wanted: &str, how: &str| CheckDoc {
        key: key.to_owned(),
        state,
        found: found.to_owned(),
        wanted: wanted.to_owned(),
        how: how.to_owned(),
    };
    let checks = vec![
        check("governor", CheckState::Ok, "performance", "performance", ""),
        check(
            "cgroup.quota",
            CheckState::Bad,
            "0.9 CPUs of 2",
            "no quota",
            "raise CPUQuota= of the unit, or run outside the container",
        ),
        check("turbo", CheckState::Unknown, "not readable", "", "run with sudo"),
        check(
            "background",
            CheckState::Warn,
            "load 1.8 on 2 CPUs",
            "below 0.1",
            "stop other work; `ps aux --sort=-%cpu | head` names it",
        ),
    ];
    let doc = DoctorDoc { schema: "boxscore.doctor/1".to_owned(), checks };
    insta::assert_snapshot!(sound(&doctor::table(&doc, Look::plain()), 80));
}

#[test]
fn a_line_to_paste() {
    let text = line::line(&crate::common::run());
    let back = line::parse(&text, instruments::cards()).expect("its own line");
    assert_eq!(back.rows.len(), 7, "the refused figure is left out");
    assert_eq!(line::write(&back, instruments::cards()), text);
    insta::assert_snapshot!(text);
}

#[test]
fn narrow_and_wide_terminals() {
    for columns in [60, 100, 200] {
        let look = Look::wide(columns);
        let _ = sound(&compare::table(&crate::common::published(), true, look), columns.max(70));
        let _ = sound(&sheet::sheet(&crate::common::sheets(), columns), columns);
    }
}

#[test]
fn many_findings_of_a_rule_are_one_line() {
    let mut run = crate::common::run();
    run.findings = (0..40)
        .map(|i| {
            Finding::foreign("drift", Validity::Doubtful, format!("figure {i} drifts by {i} %"))
                .about(Subject::instrument("crc32c"))
        })
        .collect();
    let text = score::score(&run, &crate::common::facts(), None, &Tail::default(), Look::plain());
    assert_eq!(text.matches("drifts by").count(), 1, "{text}");
    assert!(text.contains("! 40 further figures (crc32c, …)"), "{text}");
    assert!(crate::common::compare().rows.iter().any(|row| row.verdict == VerdictWord::Better));
}

#[test]
fn a_doubtful_comparison_is_marked_and_explained_once() {
    let mut doc = crate::common::compare();
    let row = doc.rows.iter_mut().find(|row| row.headline && !row.point && row.low.is_some()).expect("a row");
    row.verdict = model::doc::VerdictWord::CannotTell;
    let by_what = vec![model::why::Weighed { what: Disturbance::OtherProcesses, share: None }];
    row.why = Reason::Withheld(Withheld::Disturbed { by_what }).into();
    let text = report::text::compare::table(&doc, false, Look::wide(120));
    assert!(text.contains("? (a) !") && text.matches("! = doubtful").count() == 1, "{text}");
    let markdown = report::markdown::compare(&doc, false);
    assert!(
        markdown.contains("cannot tell !") && markdown.matches("! = doubtful").count() == 1,
        "{markdown}"
    );
}

fn load_tail() -> load::Tail {
    let one = |word: &str, command: &str, says: &str| (word.to_owned(), command.to_owned(), says.to_owned());
    let show = one("show", "boxscore show 0192f3a4b5c6", "all that was measured");
    let advice = vec![show, one("again", "boxscore run --plan 0192f3a4b5c6", "")];
    load::Tail { advice, whole: Some("boxscore show 0192f3a4b5c6 --all".to_owned()), has_ceilings: false }
}

#[test]
fn a_closed_load() {
    let text = load::screen(&crate::common::load(false), &load_tail(), Look::plain());
    insta::assert_snapshot!(sound(&text, 80));
}

#[test]
fn an_open_load() {
    let text = load::screen(&crate::common::load(true), &load_tail(), Look::plain());
    insta::assert_snapshot!(sound(&text, 80));
    for columns in [40, 60, 120] {
        sound(
            &load::screen(&crate::common::load(true), &load::Tail::default(), Look::wide(columns)),
            columns.max(66),
        );
    }
}

#[test]
fn a_load_while_it_runs() {
    let mut response = model::Histogram::default();
    (0..5000u64).for_each(|i| response.record(150_000 + i * 97 + if i % 50 == 0 { 3_000_000 } else { 0 }));
    let mut live = load::live::Live {
        title: "http://127.0.0.1:8080/ · 50 connections".to_owned(),
        elapsed: 3.02,
        duration: Some(10.0),
        good: 4_990,
        failed: 10,
        body_bytes: 1_234_567,
        rates: vec![1700.0, 1650.0, 1200.0],
        response: Some(response),
        ..load::live::Live::default()
    };
    insta::assert_snapshot!(sound(&load::live::live(&live, Look::plain()), 79));
    live.elapsed = 11.0;
    assert!(load::live::live(&live, Look::plain()).contains("waiting for the last answers"));
    live.ending = true;
    assert!(load::live::live(&live, Look::plain()).ends_with("ends without a result"));
    live.requests = Some(1_000_000);
    live.ending = false;
    assert!(load::live::live(&live, Look::plain()).contains("5,000 of 1,000,000"));
    sound(&load::live::live(&load::live::Live::default(), Look::plain()), 79);
    let painted = load::live::live(&live, Look { paint: true, ..Look::plain() });
    assert!(painted.contains("\u{1b}[31m10 failed"), "{painted}");
}

#[test]
fn requests_of_all_takes() {
    let load = crate::common::load(false);
    let one = |arm: &str| model::doc::RequestsDoc {
        card: model::card::find(instruments::cards(), "web"),
        instrument: "web".to_owned(),
        params: model::Params::parse("connections=50;url=http://127.0.0.1:8080/").unwrap(),
        arm: arm.to_owned(),
        takes: 3,
        requests: load.requests,
        good: load.good,
        errors: load.errors.clone(),
        statuses: load.statuses.clone(),
        response_time: load.response_time.clone(),
        service_time: load.service_time.clone(),
        cores: load.bottlenecks[0].cores.clone(),
        files: load.bottlenecks[0].files.clone(),
    };
    insta::assert_snapshot!(load::requests(&[one("workers=1"), one("workers=2")], Look::plain()));
}

/// The words of a table's heading.
fn heading(text: &str) -> Vec<&str> {
    let head = text.lines().find(|line| line.contains(" verdict")).expect("a heading");
    head.split_whitespace().collect()
}

#[test]
fn a_price_adds_a_column_and_takes_none() {
    let mut doc = crate::common::compare();
    let without = compare::table(&doc, false, Look::plain());
    doc.rows.iter_mut().for_each(|row| row.per_price = Some(0.87));
    let with = compare::table(&doc, false, Look::plain());
    assert_eq!([heading(&without), vec!["/price"]].concat(), heading(&with));
    assert!(with.contains("ratio = mini-1 / ref-epyc-2c; /price: above 1 mini-1 gives more"), "{with}");
    assert!(!without.contains("/price"), "{without}");
}

#[test]
fn all_figures_with_prices_are_one_table_folded_where_it_is_too_wide() {
    let mut doc = crate::common::compare();
    for row in &mut doc.rows {
        (row.per_price, row.per_watt) = (Some(0.87), Some(0.9));
    }
    let wide = compare::table(&doc, true, Look::wide(140));
    let narrow = sound(&compare::table(&doc, true, Look::plain()), 80);
    for text in [&wide, &narrow] {
        assert!(heading(text).contains(&"floor") && heading(text).contains(&"/watt"), "{text}");
        assert_eq!(text.matches(" verdict").count(), 1, "{text}");
    }
    // The name alone, and its numbers below it.
    assert!(narrow.contains("\nmemory latency\n") && !narrow.contains("memory latency "), "{narrow}");
}

#[test]
fn a_cut_table_has_one_count_and_the_marks_of_its_rows() {
    let mut doc = crate::common::compare();
    let rows = doc.rows.clone();
    for at in 0..12 {
        doc.rows.extend(rows.iter().cloned().map(|mut row| {
            row.params.set("block", &format!("{at}MiB"));
            row
        }));
    }
    // A doubtful figure that is not told apart stands last.
    let last = doc.rows.last_mut().expect("a row");
    last.verdict = VerdictWord::CannotTell;
    last.why = Reason::Withheld(Withheld::Disturbed { by_what: Vec::new() }).into();
    doc.rows.push(model::doc::RowDoc { headline: false, metric: "part".to_owned(), ..rows[0].clone() });
    let text = compare::table(&doc, false, Look::plain());
    assert_eq!(text.matches("more figure").count(), 1, "{text}");
    let all = doc.rows.len();
    let is_row = |line: &&str| !line.contains("more figure") && !line.starts_with("? =");
    let below = text.lines().skip_while(|line| !line.contains(" verdict")).skip(1);
    let shown = below.take_while(is_row).count();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = words.split("the most different first; ").nth(1).and_then(|rest| rest.split(": --all").next());
    let line = line.expect("a count");
    let count: usize =
        line.split(" more figures (").next().and_then(|one| one.parse().ok()).expect("a count");
    // The verdicts of the others add up to it.
    let verdicts = line.split(['(', ')']).nth(1).expect("verdicts").split(", ");
    let verdicts = verdicts.filter_map(|one| one.split(' ').next()?.parse::<usize>().ok());
    assert_eq!(verdicts.sum::<usize>(), count, "{line}");
    assert_eq!(shown + count, all, "{text}");
    assert!(!text.contains("! = doubtful"), "{text}");
}
