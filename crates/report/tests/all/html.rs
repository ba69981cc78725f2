//! The HTML report of fixed input: complete, well formed, small, and without what it has no data for.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::common::web::shared;
use model::note::{Dropped, Note, NoteBody};
use report::html::{Cover, ReportInput, report};
use report::sections::ALL;

fn input() -> ReportInput {
    ReportInput {
        runs: shared([(crate::common::run(), crate::common::data(12, 4, 60))]),
        compare: Some(crate::common::compare().into()),
        version: "0.1.0".to_owned(),
        command: "boxscore report latest".to_owned(),
        generated: "2026-11-21 06:30 UTC".to_owned(),
        ..ReportInput::default()
    }
}

/// Every tag closes in order; nothing reaches out; no number is not one.
fn sound(text: &str) {
    let mut open: Vec<&str> = Vec::new();
    let (style, script) = (text.find("<style>").unwrap_or(0), text.find("</style>").unwrap_or(0));
    let markup = format!("{}{}", &text[..style], &text[script + 8..]);
    let cut = markup.find("<script>").unwrap_or(markup.len());
    for part in markup[..cut].split('<').skip(1) {
        let tag = part.split('>').next().unwrap_or("");
        let name = tag.trim_start_matches('/').split([' ', '\n']).next().unwrap_or("");
        if tag.starts_with('!') || ["meta", "br", "hr"].contains(&name) || tag.ends_with('/') {
            continue;
        }
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "near {}", &part[..part.len().min(80)]);
        } else {
            open.push(name);
        }
    }
    assert_eq!(open, ["html", "body"], "only these are open where the script starts");
    assert!(
        !text.contains("NaN") && ![">inf", ">-inf", " inf ", " -inf "].iter().any(|odd| text.contains(odd)),
        "a number is not one"
    );
    assert!(!text.contains("src=\"http") && !text.contains("url(") && !text.contains("@import"));
    let mut ids: Vec<&str> = text.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all, "an id stands twice");
    for link in text.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(ids.contains(&link), "#{link} leads nowhere");
    }
}

#[test]
fn a_full_report_has_every_section_in_order() {
    let text = report(&input());
    sound(&text);
    let places: Vec<usize> =
        ["score", "cpu", "memory", "disk", "clock", "validity", "noise", "telemetry", "machines", "methods"]
            .iter()
            .map(|id| {
                text.find(&format!("<section id=\"{id}\"")).unwrap_or_else(|| panic!("no section {id}"))
            })
            .collect();
    assert!(places.windows(2).all(|pair| pair[0] < pair[1]), "{places:?}");
    let tied = crate::common::LEAD.replace(" %", "\u{a0}%");
    let lead = text.find(&tied).expect("the lead is there");
    assert!(lead < places[0], "the verdict stands first");
    assert!(text.contains("7 better") || text.contains("5 better"), "a tally");
    assert!(text.contains("boxscore run --quick --seed 7"), "the command that makes it again");
}

/// The run of many machines, the last of which is refused a figure.
fn many(count: usize) -> ReportInput {
    let runs = (1..=count).map(|at| {
        let (mut doc, mut data) = (crate::common::run(), crate::common::data(12, 4, 60));
        doc.run = format!("run{at:03}");
        doc.label = None;
        doc.machine.name = format!("atom{at:03}");
        data.head.id.clone_from(&doc.run);
        (doc, data)
    });
    ReportInput { runs: shared(runs), ..input() }
}

#[test]
fn many_runs_are_one_table_a_section_with_a_note() {
    let (few, all) = (many(16), many(132));
    let (text_of_few, text) = (report(&few), report(&all));
    sound(&text);
    assert!(text.len() < 5_000_000, "{} bytes", text.len());
    assert!(text.len() < 2 * text_of_few.len(), "{} of 132, {} of 16", text.len(), text_of_few.len());
    for id in ["score", "validity", "telemetry", "machines", "methods"] {
        assert!(text.contains(&format!("<section id=\"{id}\"")), "no section {id}");
    }
    // Every machine has its row, and what is equal on all is told once.
    for name in ["atom001", "atom077", "atom132"] {
        assert!(text.contains(&format!("<th scope=\"row\">{name}</th>")), "{name}");
    }
    assert!(text.contains("<b>atom[001-132]</b>: "), "doubts fold");
    assert!(text.contains("a report of one, such as <code>boxscore report atom005</code>"), "a note");
    assert!(!text_of_few.contains("a report of one, such as"), "nothing is left out of few");
}

#[test]
fn what_is_drawn_turned_round_is_said() {
    let text = report(&input());
    assert!(text.contains("↓ = less is better, so 1 / ratio is drawn"), "memory latency");
    let mut all_rates = input();
    let rows = &mut all_rates.compare.as_mut().expect("a comparison").rows;
    rows.retain(|row| row.better == model::Better::Higher);
    let plot = report(&all_rates);
    assert!(!plot.contains("less is better"), "nothing is turned round");
}

#[test]
fn prices_and_watts_stand_on_cards_and_in_a_section() {
    let mut input = input();
    assert!(!report(&input).contains("<section id=\"price\""));
    let run = input.runs[0].0.run.clone();
    let doc = input.compare.as_mut().expect("a comparison");
    for (arm, amount) in doc.arms.iter_mut().zip([0.1, 0.2]) {
        arm.price = Some(model::data::Price { amount, currency: "USD".to_owned(), hourly: true });
    }
    doc.arms[1].watts = Some(65.0);
    doc.arms[1].runs = vec![run];
    doc.rows[0].per_price = Some(0.65);
    doc.rows[0].worth = Some(model::doc::WorthDoc {
        price: Some("USD/h".to_owned()),
        arm_per_price: Some(655e6),
        base_per_price: Some(1e9),
        arm_per_watt: None,
        base_per_watt: None,
    });
    let text = report(&input);
    sound(&text);
    assert!(text.contains("Price and power: ref-epyc-2c 0.10 USD/h; mini-1 0.20 USD/h, 65 W"), "the title");
    assert!(text.contains("0.20 USD/h · 65 W"), "the card");
    assert!(text.contains("Mop/s per USD/h") && text.contains(">0.65<"), "the figure per price");
}

fn web(runs: Vec<(model::doc::RunDoc, model::data::RunData)>) -> String {
    let text = report(&ReportInput { runs: shared(runs), compare: None, ..input() });
    sound(&text);
    text
}

#[test]
fn a_web_run_shows_sweep_curve_bottleneck_profile_and_setup() {
    let text = web(vec![crate::common::web::web()]);
    let places: Vec<usize> = ["score", "web", "web-load", "web-bound", "profile", "web-setup"]
        .iter()
        .map(|id| text.find(&format!("<section id=\"{id}\"")).unwrap_or_else(|| panic!("no section {id}")))
        .collect();
    assert!(places.windows(2).all(|pair| pair[0] < pair[1]), "{places:?}");
    for said in [
        "nginx serves up to 59.0 k/s, with 1,000 connections (2 generators)",
        "class=\"hollow\"",
        "a lower bound</title>",
        ">saturation</text>",
        ">service p99</text>",
        "7.8\u{a0}% of the requests failed",
        "nginx delivers up to 4.80 GB/s of large files, to 4 readers",
        "Evidence against it",
        "cpu0 server",
        "generator 11.9 us",
        "the generator, 90 %",
        "function, kernel",
        "tcp_sendmsg: 52 % (470 samples)",
        "The load was on nginx/1.22.1, 1 worker on CPU 0",
    ] {
        assert!(text.contains(said), "{said}");
    }
    assert!(!text.contains("<section id=\"web-times\""), "sweeps have curves instead");
}

#[test]
fn one_load_shows_its_times_by_percentile_and_no_sweep() {
    let text = web(vec![crate::common::web::one_load()]);
    assert!(text.contains("Half of the answers take 160 us, 1 in 100 more than"), "the median as planted");
    assert!(text.contains("from when it was sent") && text.contains("<section id=\"web-bound\""));
    assert!(text.contains("<h1>29,900 requests/s; 99\u{a0}% within 2.10 ms</h1>"), "the answer is the title");
    assert!(!text.contains("<section id=\"web\"") && !text.contains("all threads"));
    assert!(!text.contains("<section id=\"web-load\"") && !text.contains("<section id=\"profile\""));
}

#[test]
fn arms_and_runs_of_web_loads_stand_side_by_side() {
    let text = web(vec![crate::common::web::arms()]);
    assert!(text.contains("event, no sendfile, 2 generators") && text.contains("prefork, 2 generators"));
    assert!(text.contains(">p99 response time"), "one plot of all arms");
    let mut other = crate::common::web::web();
    other.0.machine.name = "nano-2".to_owned();
    let text = web(vec![crate::common::web::web(), other]);
    assert!(text.contains("nano-2, 2 generators") && text.contains("mini-1, 2 generators"));
}

#[test]
fn refused_loads_are_not_drawn() {
    let (mut run, data) = crate::common::web::web();
    for point in run.curves.iter_mut().flat_map(|curve| &mut curve.points).filter(|point| point.x >= 400.0) {
        point.validity = model::Validity::Invalid;
    }
    let text = web(vec![(run, data)]);
    assert!(text.contains("with 100 connections (2 generators)") && !text.contains("1,000 connections (2"));
}

#[test]
fn a_refused_figure_shows_no_number() {
    let text = report(&input());
    assert!(text.contains("refused"));
    let row =
        text.split("disk fsync</span>").nth(1).and_then(|rest| rest.split("</tr>").next()).expect("its row");
    assert!(row.contains("refused") && !row.contains("3.00</td>"), "{row}");
}

#[test]
fn a_report_of_many_cores_stays_small() {
    let mut big = input();
    big.runs = shared([(crate::common::run(), crate::common::data(18, 64, 120))]);
    let text = report(&big);
    sound(&text);
    assert!(text.len() < 1_000_000, "{} bytes", text.len());
}

#[test]
fn sections_without_data_are_absent() {
    let nothing = ReportInput::default();
    assert!(ALL.iter().all(|section| section.draw(&nothing).is_none()));
    sound(&report(&nothing));
    let mut bare = input();
    bare.compare = None;
    let (run, data) = &mut bare.runs[0];
    let (run, data) = (Rc::make_mut(run), Rc::make_mut(data));
    (run.series, run.findings, run.notes, run.errors) = (Vec::new(), Vec::new(), Vec::new(), BTreeMap::new());
    (data.series, data.takes, data.telemetry, data.facts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let text = report(&bare);
    sound(&text);
    for id in
        ["score", "cpu", "memory", "disk", "clock", "validity", "noise", "telemetry", "machines", "faults"]
    {
        assert!(!text.contains(&format!("<section id=\"{id}\"")), "{id} is empty and yet there");
    }
}

#[test]
fn one_family_alone_makes_its_own_section() {
    for (family, id) in [("mem-latency", "memory"), ("disk-read", "disk"), ("index", "cpu")] {
        let mut one = input();
        Rc::make_mut(&mut one.runs[0].0).series.retain(|series| series.instrument == family);
        let text = report(&one);
        sound(&text);
        for other in ["cpu", "memory", "disk"] {
            assert_eq!(text.contains(&format!("<section id=\"{other}\"")), other == id, "{family}: {other}");
        }
    }
}

#[test]
fn a_family_that_a_later_run_alone_has_is_drawn() {
    for (instrument, id) in [("disk-read", "disk"), ("net-rtt", "net"), ("kv-basic", "kv")] {
        let mut two = input();
        let (mut doc, mut data) = (crate::common::run(), crate::common::data(12, 4, 60));
        doc.run = "0192ffff".to_owned();
        doc.series.retain(|series| series.instrument == "disk-read");
        for series in &mut doc.series {
            series.instrument = instrument.to_owned();
            series.card = model::card::find(instruments::cards(), instrument);
        }
        for series in data.series.iter_mut().filter(|series| series.key.instrument == "disk-read") {
            series.key.instrument = instrument.to_owned();
        }
        Rc::make_mut(&mut two.runs[0].0).series.retain(|series| series.instrument == "index");
        two.runs.extend(shared([(doc, data)]));
        let text = report(&two);
        sound(&text);
        let part = text.split(&format!("<section id=\"{id}\"")).nth(1).unwrap_or_default();
        assert!(part.split("</section>").next().unwrap_or_default().contains("each dot one take"), "{id}");
        assert_eq!(text.matches("full spec sheet").count(), 1, "both runs are of one machine");
    }
}

#[test]
fn runtimes_have_ratios_and_warm_up_curves() {
    let mut one = input();
    one.ratios = vec![crate::common::runtime::ratios()];
    one.runs =
        shared([crate::common::runtime::warm_up((crate::common::run(), crate::common::data(12, 4, 60)))]);
    let text = report(&one);
    sound(&text);
    let part = |id: &str| {
        let part = text
            .split(&format!("<section id=\"{id}\""))
            .nth(1)
            .and_then(|rest| rest.split("</section>").next());
        part.unwrap_or_else(|| panic!("no section {id}"))
    };
    let ratios = part("runtime");
    assert!(ratios.contains("C over java is 0.51 to 1.38 on mini-1"), "{ratios}");
    // Seven groups: five kernels, the composite, and what was printed of every kernel, with both of its ends.
    assert_eq!(ratios.matches("class=\"group\"").count(), 7);
    assert_eq!(ratios.matches("class=\"hollow\"").count(), 2);
    assert!(
        ratios.contains("> java</tspan>")
            && ratios.contains(">c </tspan>→")
            && ratios.contains("right of 1 c is better")
    );
    assert!(
        ratios.contains("gcc -O2 / zero on mini-1") && ratios.contains("gcc -O3 / zero on pandaboard-es")
    );
    assert!(
        ratios.contains("this runtime is immature on this machine") && ratios.contains("Java by wall clock")
    );
    let warm = part("warm-up");
    assert!(warm.contains("sor: java hotspot is steady after 8 iterations: 77"), "{warm}");
    assert!(warm.contains("java zero is steady after 1 iteration"), "{warm}");
    assert!(warm.contains("java hotspot steady"), "{warm}");
    // A runtime that was not measured to the end says so.
    let data = Rc::make_mut(&mut one.runs[0].1);
    data.series.retain(|series| !series.key.metric.starts_with("steady"));
    assert!(report(&one).contains("java zero is not steady yet"));
}

#[test]
fn several_runs_stand_side_by_side() {
    let mut two = input();
    let mut other = crate::common::run();
    other.run = "0192ffff".to_owned();
    other.machine.name = "nano-2".to_owned();
    for series in &mut other.series {
        series.median = series.median.map(|median| median * 0.8);
        series.low = series.low.map(|low| low * 0.8);
        series.high = series.high.map(|high| high * 0.8);
    }
    two.runs.extend(shared([(other, crate::common::data(12, 4, 60))]));
    two.compare = Some(crate::common::three().into());
    let text = report(&two);
    sound(&text);
    assert!(text.contains("Trust · nano-2") && text.contains("mini-1, nano-2"));
    let ranks = text.split("<section id=\"ranks\"").nth(1).and_then(|rest| rest.split("</section>").next());
    let ranks = ranks.expect("three machines have ranks");
    let figures = crate::common::three().ties.len();
    assert_eq!(ranks.matches("class=\"tie\" rowspan=\"2\"").count(), figures);
    assert_eq!(ranks.matches("cannot be told apart: mini-1, ref-epyc-2c<").count(), figures);
    two.compare = Some(crate::common::compare().into());
    assert!(!report(&two).contains("<section id=\"ranks\""), "two machines have verdicts");
    assert!(text.len() < 1_000_000, "{} bytes", text.len());
}

#[test]
fn names_are_escaped() {
    let mut odd = input();
    Rc::make_mut(&mut odd.runs[0].0).machine.name = "<img src=x onerror=alert(1)>".to_owned();
    Rc::make_mut(&mut odd.runs[0].0).findings[0] =
        model::Finding::foreign("clock", model::Validity::Doubtful, "<script>alert(1)</script>");
    let text = report(&odd);
    assert!(!text.contains("<img") && !text.contains("<script>alert"));
}

#[test]
fn missing_and_odd_numbers_are_said_not_drawn() {
    let mut odd = input();
    let (run, data) = &mut odd.runs[0];
    let (run, data) = (Rc::make_mut(run), Rc::make_mut(data));
    for (index, series) in run.series.iter_mut().enumerate() {
        match index % 4 {
            0 => (series.median, series.low, series.high) = (None, None, None),
            1 => series.median = Some(f64::NAN),
            2 => series.median = Some(0.0),
            _ => series.high = Some(f64::INFINITY),
        }
    }
    for series in &mut data.series {
        if let Some(point) = series.points.last_mut() {
            point.value = model::reading::Value::Number(f64::NAN);
        }
    }
    if let Some(compare) = &mut odd.compare {
        for row in &mut compare.rows {
            row.ratio = Some(0.0);
        }
    }
    sound(&report(&odd));
}

/// FNV-1a over the whole file: any change of a report is seen, and agreed to here.
#[test]
fn doubtful_figures_are_marked_and_counted_alike() {
    let mut run = crate::common::run();
    for series in run.series.iter_mut().filter(|series| series.validity != model::Validity::Invalid) {
        series.validity = model::Validity::Doubtful;
    }
    let text = report(&ReportInput {
        runs: shared([(run, crate::common::data(12, 4, 60))]),
        compare: None,
        ..input()
    });
    sound(&text);
    assert!(text.contains("0 figures hold · 7 doubtful · 1 refused"), "counted as in the box score");
    assert!(text.contains("Box score: 0 of 8 figures hold, 7 doubtful, 1 refused"));
    assert!(text.contains("! = doubtful: Trust says why"));
}

#[test]
fn the_report_of_fixed_input_is_as_agreed() {
    let text = report(&input());
    let digest = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let headings: Vec<&str> = text
        .split("<h2>")
        .skip(1)
        .chain(text.split("<figcaption><strong>").skip(1))
        .filter_map(|rest| rest.split("</").next())
        .collect();
    insta::assert_snapshot!(format!("{digest:016x}, {} bytes\n{}", text.len(), headings.join("\n")));
}

#[test]
fn commands_in_notes_faults_and_doubts_are_code() {
    let mut given = input();
    let run = Rc::make_mut(&mut given.runs[0].0);
    let unfit = Dropped {
        what: "net-ping".to_owned(),
        arm: String::new(),
        why: "`sysctl -w net.ipv4.ping_group_range='0 1'` lets it -> 5 % of <all>".to_owned(),
    };
    let notes = [NoteBody::Unfit(unfit), NoteBody::User("one ` alone".to_owned())];
    run.notes = notes.map(Note::of_run).to_vec();
    run.errors = BTreeMap::from([("nothing listens; `boxscore peer --listen <host>`".to_owned(), 3)]);
    run.findings.push(
        model::Finding::foreign(
            "background",
            model::Validity::Doubtful,
            "end them (`boxscore doctor` names them)",
        )
        .about(model::Subject::label("timer cost")),
    );
    let text = report(&given);
    sound(&text);
    assert!(text.contains("end them (<code>boxscore doctor</code> names them)"), "a doubt");
    let faults = text.split("<section id=\"faults\">").nth(1).expect("a section").split("</section>").next();
    insta::assert_snapshot!(faults.unwrap_or_default().replace("<li", "\n<li"));
}

#[test]
fn a_summary_is_the_first_screen_with_its_authors_words() {
    let cover =
        Cover { title: Some("Which box?".to_owned()), note: Some("for the shop".to_owned()), summary: true };
    let text = report(&ReportInput { cover, ..input() });
    sound(&text);
    assert!(text.contains("<title>Which box?</title>") && text.contains("for the shop"));
    assert!(text.contains("<h1>") && text.contains("Trust") && !text.contains("<section"));
}
