//! Output that stays as it is: the commands of `tests/frozen/commands.txt` over stored runs, the catalogue, planted
//! worlds and written logs, compared byte for byte with `tests/frozen/out/`.
//!
//! `BOXSCORE_FROZEN=accept` writes what is printed now; the commit that does so lists the changed lines and why.
//! Left out: what depends on this host (what `list` can run here, what `doctor` found), build ids, the CPU time of the
//! program itself, drawings of reports.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::common::{Bench, Said};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/frozen")
}

#[test]
fn output_is_as_it_was() {
    let bench = Bench::new();
    worlds(&bench);
    logs(&bench);
    runs(&bench);
    crate::hadoop::configuration(&bench);
    let known: Vec<String> = bench.heads().into_iter().map(|head| head.id).collect();
    let accept = std::env::var("BOXSCORE_FROZEN").is_ok_and(|word| word == "accept");
    let commands = std::fs::read_to_string(folder().join("commands.txt")).expect("the commands");
    let mut wrong = String::new();
    for line in commands.lines().filter(|line| !line.starts_with('#')) {
        let (name, words) = line.split_once(": ").expect("NAME: WORDS");
        let words = split(words);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let said = bench.run(&words);
        let text = plain(&bench, &known, name, line, said);
        let file = folder().join("out").join(format!("{name}.txt"));
        if accept {
            std::fs::write(&file, &text).expect("the frozen output");
        }
        let frozen = std::fs::read_to_string(&file).unwrap_or_default();
        if frozen != text {
            let _ = writeln!(wrong, "{name}: boxscore {}\n{}", words.join(" "), difference(&frozen, &text));
        }
    }
    assert!(wrong.is_empty(), "changed (BOXSCORE_FROZEN=accept takes it):\n{wrong}");
}

/// Planted runs: two machines that differ, a pool of three, and one with faults.
pub fn worlds(bench: &Bench) {
    let series = |median: f64| {
        format!(
            r#"{{"instrument": "index", "median": {}, "spread": 0.02, "between": 0.01}},
               {{"instrument": "mem-latency", "median": 9e-8, "spread": 0.03}},
               {{"instrument": "disk-fsync", "median": 0.002, "spread": 0.2, "shape": "exponential"}},
               {{"instrument": "compress", "median": 4e8, "spread": 0.02, "drift": 0.01}},
               {{"instrument": "*", "median": {median}, "spread": 0.01, "between": 0.01}}"#,
            median / 3.0
        )
    };
    let world = |seed: u32, median: f64| format!(r#"{{"seed": {seed}, "series": [{}]}}"#, series(median));
    let run = |world: &str, more: &[&str]| {
        bench.world(world);
        let args = ["run", "--quick", "--no-report", "--seed", "5", "--fake", "world.json"];
        bench.run(&[&args[..], more].concat())
    };
    run(&world(1, 1e9), &["--label", "planted-a", "--price", "0.192/h", "--watts", "65"]).expect(0, &[]);
    run(&world(2, 1.4e9), &["--label", "planted-b", "--price", "0.4/h", "--watts", "95"]).expect(0, &[]);
    for seed in 3..6 {
        run(&world(seed, 1.1e9), &["--label", "pool"]).expect(0, &[]);
    }
    let faulty =
        r#"{"seed": 9, "series": [{"instrument": "*", "median": 1e9, "spread": 0.05, "faults": [2, 3]}]}"#;
    run(faulty, &["--label", "faulty"]).expect(3, &[]);
    bench.world(&world(11, 1e9));
}

/// Two logs of two days whose second group is slower, and one that cannot be read.
pub fn logs(bench: &Bench) {
    for (name, slow) in [("a", 1.0), ("b", 1.3)] {
        let mut text = String::new();
        let mut state = 12_345_u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for n in 0..6000_u64 {
            let second = n * 28;
            let (day, of_day) = (1 + second / 86_400, second % 86_400);
            let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
            let bytes = 200 + draw(100) * draw(100) * draw(20);
            let micros = (bytes as f64 * slow / 8.0) as u64 + 40 + draw(200);
            let status = if draw(50) == 0 { 404 } else { 200 };
            let _ = writeln!(
                text,
                "10.0.{}.{} - - [{day:02}/Jan/2026:{hour:02}:{minute:02}:{second:02} +0000] \"GET /p/{}.html HTTP/1.1\" \
                 {status} {bytes} {micros}",
                draw(4),
                draw(200),
                draw(300)
            );
        }
        std::fs::write(bench.path(&format!("{name}.log")), text).expect("a log");
    }
    std::fs::write(bench.path("bad.log"), "no log line\nnor this\n").expect("a log");
}

/// The machine that measured the stored runs. In a store of a test they are runs of this one, whichever it is.
const MEASURED_ON: &str = "1b449007b6c2a40ab51e0438be15a305";

fn own_id(bench: &Bench) -> &'static str {
    static ID: OnceLock<String> = OnceLock::new();
    ID.get_or_init(|| {
        let said = bench.run(&["inspect", "--json"]).expect(0, &[]);
        let document: serde_json::Value = serde_json::from_str(&said.out).expect("a document");
        document["machine"]["id"].as_str().expect("an id").to_owned()
    })
}

/// Runs that were measured once.
pub fn runs(bench: &Bench) {
    let own_id = own_id(bench);
    let entries = std::fs::read_dir(folder().join("runs")).expect("runs").flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    assert!(files.len() >= 9, "{files:?}");
    for file in files {
        let packed = std::fs::read(&file).expect("a run");
        let run = String::from_utf8(zstd::decode_all(&packed[..]).expect("zstd")).expect("a text");
        assert!(run.contains(MEASURED_ON), "{}", file.display());
        std::fs::write(bench.path("run.json"), run.replace(MEASURED_ON, own_id)).expect("a file");
        bench.run(&["import", "run.json"]).expect(0, &["1 added"]);
    }
}

/// Words between blanks; quotation marks keep blanks.
pub fn split(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in text.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().expect("one").push(c),
        }
    }
    words
}

/// What is printed, without what belongs to this host or build.
pub fn plain(bench: &Bench, known: &[String], name: &str, line: &str, said: Said) -> String {
    let dir = bench.dir.path().to_string_lossy().into_owned();
    let mut out = match name {
        "list-json" => without(&said.out, &["runnable", "why"]),
        "doctor-json" => without(&said.out, &["state", "found", "how"]),
        _ => said.out,
    };
    if line.contains("out.html") {
        out.push_str(&markup(&std::fs::read_to_string(bench.path("out.html")).expect("the report")));
    }
    let text = format!("{line}\nexit {}\n--- stdout\n{out}--- stderr\n{}", said.code.unwrap_or(-1), said.err);
    let build = bench.run(&["--version"]).out;
    let build = build.trim().trim_start_matches("boxscore ").to_owned();
    let mut text = text.replace(&dir, "DIR").replace(&build, "BUILD").replace(own_id(bench), MEASURED_ON);
    // Runs that the commands made are of now; the others have ids and times of their own.
    let new: Vec<String> =
        bench.heads().into_iter().map(|head| head.id).filter(|id| !known.contains(id)).collect();
    for length in [32, 12, 9] {
        for id in &new {
            text = text.replace(&id[..length], "RUN");
        }
    }
    // The program's own cost is measured, also in a planted world.
    let own = ["beside the takes", "agent_cpu_seconds", "own_cpu_seconds", " written ", " newest run began "];
    // How far a run has come is told as often as there is time for.
    let is_progress = |line: &str| line.starts_with("take ") && line.contains(", at most ");
    let lines = text.lines().filter(|line| !own.iter().any(|own| line.contains(own)) && !is_progress(line));
    lines.map(|line| format!("{line}\n")).collect()
}

/// A document, a field a line, without these fields anywhere.
fn without(text: &str, fields: &[&str]) -> String {
    fn clean(value: &mut serde_json::Value, fields: &[&str]) {
        match value {
            serde_json::Value::Object(map) => {
                map.retain(|key, _| !fields.contains(&key.as_str()));
                map.values_mut().for_each(|value| clean(value, fields));
            }
            serde_json::Value::Array(all) => all.iter_mut().for_each(|value| clean(value, fields)),
            _ => {}
        }
    }
    let mut value: serde_json::Value = serde_json::from_str(text).expect("a document");
    clean(&mut value, fields);
    serde_json::to_string_pretty(&value).expect("a document") + "\n"
}

/// A report's body, a tag a line, its drawings left out but for their texts.
fn markup(html: &str) -> String {
    let body = html.split_once("<body").map_or(html, |(_, body)| body);
    let mut out = String::new();
    for part in body.split('<') {
        let (tag, text) = part.split_once('>').unwrap_or((part, ""));
        let word = tag.split([' ', '/']).next().unwrap_or_default();
        let drawn = ["path", "line", "rect", "circle", "polyline", "polygon", "g", "use", "script", "style"];
        if !drawn.contains(&word) && !tag.starts_with('/') && !word.is_empty() {
            let _ = writeln!(out, "<{word}>");
        }
        if !text.trim().is_empty() && word != "script" && word != "style" {
            let _ = writeln!(out, "{}", text.trim());
        }
    }
    out
}

/// The first lines that differ.
pub fn difference(frozen: &str, now: &str) -> String {
    let (was, is): (Vec<&str>, Vec<&str>) = (frozen.lines().collect(), now.lines().collect());
    let mut out = String::new();
    let gone = was.iter().filter(|line| !is.contains(line)).take(20);
    for line in gone {
        let _ = writeln!(out, "  - {line}");
    }
    let new = is.iter().filter(|line| !was.contains(line)).take(20);
    for line in new {
        let _ = writeln!(out, "  + {line}");
    }
    if out.is_empty() {
        out.push_str("  the same lines in another order or number\n");
    }
    out
}
