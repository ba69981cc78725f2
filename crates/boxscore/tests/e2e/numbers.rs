//! One figure, one value: text, JSON and HTML of the same runs say the same number wherever a figure stands.
//!
//! Compared are stored runs and planted worlds. The page has the whole number of each cell as the value of its `data`
//! element, and the figure's name in JSON as the title of its row; text is read by the names that the page shows.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use crate::common::Bench;
use crate::frozen;

/// Three significant digits.
const ROUNDED: f64 = 0.006;

/// One row of the page: its key in JSON, its label, its unit, and each cell's whole number, text and doubt.
struct Row {
    key: String,
    label: String,
    unit: String,
    cells: Vec<(f64, String, bool)>,
}

fn between<'t>(text: &'t str, before: &str, after: &str) -> Option<(&'t str, &'t str)> {
    let (_, rest) = text.split_once(before)?;
    rest.split_once(after)
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

/// The rows of all tables that name their figures.
fn rows(page: &str) -> Vec<Row> {
    let row = |text: &str| {
        let (head, _) = text.split_once("</tr>")?;
        let (key, rest) = between(head, "<th scope=\"row\"><span title=\"", "\">")?;
        let (label, rest) = rest.split_once("</span>")?;
        let (unit, rest) = between(rest, "<td class=\"l\">", "</td>")?;
        let cells = rest.split("<td>").filter_map(|cell| {
            let (value, rest) = between(cell, "<data value=\"", "\">")?;
            let (shown, rest) = rest.split_once("</data>")?;
            Some((value.parse().expect("a number"), shown.to_owned(), rest.contains("t-doubt")))
        });
        Some(Row {
            key: unescaped(key),
            label: unescaped(label),
            unit: unescaped(unit),
            cells: cells.collect(),
        })
    };
    page.split("<tr>").filter_map(row).collect()
}

fn key(series: &Value) -> String {
    let params = series["params"].as_object().expect("parameters");
    let params: Vec<String> =
        params.iter().map(|(name, value)| format!("{name}={}", value.as_str().expect("text"))).collect();
    let word = |name: &str| series[name].as_str().expect("a word").to_owned();
    let params = params.join(";");
    format!("{} {} {params} {}", word("instrument"), word("metric"), word("arm")).trim_end().to_owned()
}

/// A number as people read it, times the prefix of its unit beside `base`: `1,015` in `MiB/s`.
fn number(text: &str) -> Option<f64> {
    text.trim_end_matches('!').replace(',', "").parse().ok()
}

fn prefix(unit: &str) -> f64 {
    let binary = ["Ki", "Mi", "Gi", "Ti"].iter().position(|prefix| unit.starts_with(prefix));
    if let Some(at) = binary {
        return 1024f64.powi(at as i32 + 1);
    }
    let known = [
        ("p", 1e-12),
        ("n", 1e-9),
        ("u", 1e-6),
        ("m", 1e-3),
        ("k", 1e3),
        ("M", 1e6),
        ("G", 1e9),
        ("T", 1e12),
    ];
    let long = unit.chars().count() > 1;
    known.iter().find(|(word, _)| long && unit.starts_with(word)).map_or(1.0, |(_, factor)| *factor)
}

fn near(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= ROUNDED * a.abs().max(b.abs())
}

/// Label, unit and value of each line of a table in text.
fn lines(text: &str) -> BTreeMap<String, Vec<(String, String)>> {
    let mut all: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for line in text.lines() {
        let parts: Vec<&str> = line.split("  ").map(str::trim).filter(|part| !part.is_empty()).collect();
        if let [label, unit, value, ..] = parts.as_slice()
            && number(value).is_some()
        {
            all.entry((*label).to_owned()).or_default().push(((*unit).to_owned(), (*value).to_owned()));
        }
    }
    all
}

/// Compares what one run says in three forms; the number of cells that stood in all of them.
fn compared(bench: &Bench, run: &str) -> usize {
    let json = bench.run(&["show", run, "--json"]).expect(0, &[]).out;
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let text = bench.run(&["show", run, "--all"]).expect(0, &[]).out;
    bench.run(&["report", run, "--output", "numbers.html"]).expect(0, &[]);
    let page = std::fs::read_to_string(bench.path("numbers.html")).expect("the page");
    answered(run, &json, &text, &page);
    points(run, &json);
    let series: BTreeMap<String, &Value> =
        json["series"].as_array().expect("series").iter().map(|one| (key(one), one)).collect();
    let lines = lines(&text);
    let mut met = 0;
    for row in rows(&page) {
        let Some(known) = series.get(&row.key) else { panic!("{run}: the page has a figure {:?}", row.key) };
        let Some((value, shown, doubted)) = row.cells.first() else { continue };
        assert_eq!(known["median"].as_f64(), Some(*value), "{run}: {}", row.key);
        assert_eq!(known["validity"] == "doubtful", *doubted, "{run}: {}: the page's !", row.key);
        if *doubted {
            assert!(
                known["reasons"].as_array().is_some_and(|why| !why.is_empty()),
                "{run}: {}: no reason",
                row.key
            );
        }
        let shown =
            number(shown).unwrap_or_else(|| panic!("{run}: {}: {shown}", row.key)) * prefix(&row.unit);
        assert!(near(shown, *value), "{run}: {}: the page shows {shown} for {value}", row.key);
        // A name that several lines have is none to compare by.
        let Some([(unit, printed)]) = lines.get(&row.label).map(Vec::as_slice) else { continue };
        let said = number(printed).expect("a number") * prefix(unit);
        assert!(near(said, *value), "{run}: {}: text says {said}, the page {value}", row.label);
        assert_eq!(printed.ends_with('!'), *doubted, "{run}: {}: the ! of text", row.label);
        met += 1;
    }
    met
}

/// The answer is the same sentence in all three.
fn answered(run: &str, json: &Value, text: &str, page: &str) {
    let Some(sentence) = json["answer"]["sentence"].as_str() else { return };
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(squeezed(text).starts_with(sentence), "{run}: text begins with {}", &text[..text.len().min(200)]);
    // A study with arms has the comparison of them as its title.
    let arms = json["series"].as_array().expect("series");
    if arms.iter().any(|one| one["arm"] != arms[0]["arm"]) {
        return;
    }
    let page = squeezed(&unescaped(&page.replace('\u{a0}', " ")));
    assert!(page.contains(sentence), "{run}: the page lacks {sentence}");
}

/// A load's point of a curve has the values of its rows.
fn points(run: &str, json: &Value) {
    let value = |series: &Value| series["median"].as_f64();
    for curve in json["curves"].as_array().into_iter().flatten() {
        let over =
            if curve["over"] == "offered-load" { "load" } else { curve["over"].as_str().expect("a word") };
        for point in curve["points"].as_array().expect("points") {
            let is_of = |series: &&Value| {
                series["arm"] == curve["arm"]
                    && series["params"][over] == point["asked"]
                    && curve["params"]
                        .as_object()
                        .expect("pairs")
                        .iter()
                        .all(|(name, one)| series["params"][name] == *one)
            };
            for series in json["series"].as_array().expect("series").iter().filter(is_of) {
                let quantile = |q: f64| {
                    let all = point["response"].as_array().expect("times");
                    all.iter().find(|one| one["quantile"].as_f64() == Some(q)).map(|one| &one["time"])
                };
                let at = match series["metric"].as_str() {
                    Some("throughput") => Some(&point["throughput"]),
                    Some("bandwidth") => Some(&point["bandwidth"]),
                    Some("response-time") => quantile(0.5),
                    Some("response-time-p99") => quantile(0.99),
                    Some("response-time-mean") => {
                        let mean = point["mean_response"].as_f64();
                        assert!(mean.is_none() || mean == value(series), "{run}: mean at {}", point["asked"]);
                        continue;
                    }
                    _ => continue,
                };
                // The page draws the curve, text and JSON have the row.
                for (of_row, of_point) in [("median", "value"), ("low", "low"), ("high", "high")] {
                    assert_eq!(
                        series[of_row].as_f64(),
                        at.and_then(|at| at[of_point].as_f64()),
                        "{run}: {of_row} of {} at {}",
                        series["metric"],
                        point["asked"]
                    );
                }
            }
        }
    }
}

#[test]
fn a_figure_has_one_value_wherever_it_stands() {
    let bench = Bench::new();
    frozen::worlds(&bench);
    frozen::runs(&bench);
    let mut met = 0;
    for head in bench.heads() {
        met += compared(&bench, &head.id);
    }
    assert!(met > 150, "only {met} cells stood in text and on the page");
}

/// Two days of three requests a minute, `us` each; where asked, for 20 minutes of the second day nearly all fail after
/// 9 s.
fn log(us: u64, is_down: bool) -> String {
    let mut text = String::new();
    for n in 0..8_640u64 {
        let (minute, second) = (n / 3, n % 3 * 20);
        let failed = is_down && (2_280..2_300).contains(&minute) && n % 10 > 0;
        let (path, bytes) = [("/", 4_000), ("/download/a", 90_000), ("/img/b", 20_000)][n as usize % 3];
        let usual = us + bytes / 10 + n * 37 % 900;
        let (status, bytes, time) = if failed { (504, 160, 9_000_000) } else { (200, bytes, usual) };
        let (day, hour, minute) = (16 + minute / 1440, minute / 60 % 24, minute % 60);
        writeln!(
            text,
            "10.0.0.{} - - [{day}/Nov/2026:{hour:02}:{minute:02}:{second:02} +0000] \"GET {path} HTTP/1.1\" {status} {bytes} \
             \"-\" \"Mozilla/5.0\" {time}",
            n % 200
        )
        .unwrap();
    }
    text
}

/// A figure of a log: its metric on the page, its field in JSON, and its row in the text of several labels.
const OF_LOGS: [(&str, &str, &str); 8] = [
    ("ratio_of_totals.good", "ratio_of_totals_good", "speed: totals, no 5xx"),
    ("ratio_of_totals", "ratio_of_totals", "speed: totals *"),
    ("mean_of_ratios", "mean_of_ratios", "speed: mean of requests *"),
    ("time.mean.good", "time_mean_good", "time: mean, no 5xx"),
    ("time.mean", "time_mean", "time: mean *"),
    ("time.p50", "p50", "time: median *"),
    ("time.p90", "p90", "time: p90 *"),
    ("time.p99", "p99", "time: p99 *"),
];

/// The cells of a row of a screen.
fn cells<'t>(text: &'t str, head: &str) -> Vec<&'t str> {
    let line = text.lines().find(|line| line.starts_with(&format!("{head}  ")));
    let line = line.unwrap_or_else(|| panic!("no {head} in\n{text}"));
    line.split("  ").skip(1).map(str::trim).filter(|cell| !cell.is_empty()).collect()
}

/// `30.3 MB/s` in base units.
fn quantity(text: &str) -> f64 {
    let (value, unit) = text.split_once(' ').expect("a unit");
    number(value).expect("a number") * prefix(unit)
}

#[test]
fn a_figure_of_a_log_has_one_value_wherever_it_stands() {
    let bench = Bench::new();
    std::fs::write(bench.path("a.log"), log(2_000, false)).unwrap();
    std::fs::write(bench.path("b.log"), log(1_000, true)).unwrap();
    let asked = ["logs", "web1=a.log", "web2=b.log", "--format", "combined+D"];
    let json = bench.run(&[&asked[..], &["--json"]].concat()).expect(0, &[]).out;
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let text = bench.run(&[&asked[..], &["--all", "--no-store"]].concat()).expect(0, &[]).out;
    let short = bench.run(&[&asked[..], &["--no-store"]].concat()).expect(0, &[]).out;
    for (place, label) in ["web1", "web2"].into_iter().enumerate() {
        assert!(compared(&bench, label) >= OF_LOGS.len(), "{label}: figures stand in text and on the page");
        let page = std::fs::read_to_string(bench.path("numbers.html")).expect("the page");
        let rows = rows(&page);
        for (metric, field, head) in OF_LOGS {
            let row = rows.iter().find(|row| row.key == format!("logs {metric}"));
            let value = row.unwrap_or_else(|| panic!("{label}: no {metric} on the page")).cells[0].0;
            assert_eq!(json["labels"][place][field].as_f64(), Some(value), "{label}: {field}");
            let said = quantity(cells(&text, head)[place]);
            assert!(near(said, value), "{label}: {head}: text says {said}, the page {value}");
        }
        // What heads the page is on the screen that stands there unasked.
        let show = bench.run(&["show", label, "--json"]).expect(0, &[]).out;
        let show: Value = serde_json::from_str(&show).expect("JSON");
        let series = show["series"].as_array().expect("series");
        let heads = series.iter().filter(|one| one["headline"] == true);
        for series in heads {
            let of = OF_LOGS.iter().find(|(metric, ..)| series["metric"] == *metric).expect("a known figure");
            let (said, value) = (quantity(cells(&short, of.2)[place]), series["median"].as_f64().unwrap());
            assert!(near(said, value), "{label}: {}: text says {said}, the page {value}", of.2);
        }
    }
    // Of one label alone too.
    let alone = bench.run(&["logs", "web2=b.log", "--format", "combined+D", "--no-store"]).expect(0, &[]).out;
    let squeezed = alone.split_whitespace().collect::<Vec<_>>().join(" ");
    for (head, says) in [("speed: totals, no 5xx", "without 5xx"), ("time: mean, no 5xx", "without 5xx")] {
        let said = format!("{} {says}", cells(&text, head)[1]);
        assert!(squeezed.contains(&said), "no {said} in\n{alone}");
    }
}
