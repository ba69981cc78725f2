//! One figure, one value: text, JSON and HTML of the same runs say the same number wherever a figure stands.
//!
//! Compared are stored runs and planted worlds. The page has the whole number of each cell as the value of its `data`
//! element, and the figure's name in JSON as the title of its row; text is read by the names that the page shows.

use std::collections::BTreeMap;

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
                    all.iter()
                        .find(|one| one["quantile"].as_f64() == Some(q))
                        .and_then(|one| one["time"]["value"].as_f64())
                };
                let at = match series["metric"].as_str() {
                    Some("throughput") => point["throughput"]["value"].as_f64(),
                    Some("response-time") => quantile(0.5),
                    Some("response-time-p99") => quantile(0.99),
                    _ => continue,
                };
                assert_eq!(value(series), at, "{run}: {} at {}", series["metric"], point["asked"]);
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
