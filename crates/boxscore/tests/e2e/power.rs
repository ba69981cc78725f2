//! Power at levels of load: by a command whose watts follow the server, by readings that are typed, and what is said
//! where nothing reads the power.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Bench, PATIENCE, PROGRAM, Said, cannot};
use crate::targets::Nginx;
use instruments::workload::levels::rapl::Rapl;
use model::data::RunData;
use model::doc::{CompareDoc, DecideDoc, PowerDoc, RunDoc};

const SHORT: [&str; 8] = ["--takes", "1", "--sittings", "1", "--no-report", "--set", "settle=0.3", "--seed"];

/// A short run, with further words.
fn words<'a>(words: &[&'a str]) -> Vec<&'a str> {
    [&["run"], words, SHORT.as_slice(), &["5"]].concat()
}

fn shown(bench: &Bench, run: &str) -> RunDoc {
    let said = bench.run(&["show", run, "--json"]).expect(0, &[]);
    serde_json::from_str(&said.out).expect("a document")
}

fn watts(power: &PowerDoc, level: f64) -> f64 {
    power.at(level).and_then(|one| one.watts.value).unwrap_or_else(|| panic!("{level}: {power:?}"))
}

/// A program that says 40 W and up to 40 W more, as far as the workers of an nginx were busy since it was asked last.
fn meter(bench: &Bench, nginx: &Nginx) -> String {
    let (pid, state) = (nginx.pid(), bench.path("meter").display().to_string());
    let text = format!(
        "#!/bin/sh\nticks=0\nfor pid in $(cat /proc/{pid}/task/{pid}/children); do\n\
         set -- $(cat /proc/$pid/stat); ticks=$((ticks + ${{14}} + ${{15}})); done\n\
         now=$(date +%s%N); before=$ticks; then=$((now - 1000000000))\n\
         test -e {state} && read before then < {state}\necho $ticks $now > {state}\n\
         awk -v t=$((ticks - before)) -v n=$((now - then)) \
         'BEGIN {{ b = t / 100 / (n / 1e9); if (b > 1) b = 1; printf \"supply: %.2f W\\n\", 40 + 40 * b }}'\n"
    );
    let path = bench.path("watts.sh");
    std::fs::write(&path, text).expect("a program");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("one that runs");
    path.display().to_string()
}

#[test]
fn a_command_reads_the_power_of_each_level_of_a_web_server() {
    let (bench, nginx) = (Bench::new(), Nginx::start(""));
    let (meter, url) = (meter(&bench, &nginx), nginx.url());
    let args = ["web", "--power", "--url", &url, "--watts-cmd", &meter, "--set", "duration=3"];
    let said = bench.run(&words(&[args.as_slice(), &["--label", "a"]].concat())).expect(0, &[]);
    assert!(said.out.contains(" idle and ") && said.out.contains(" at full load ("), "{said:#?}");
    assert!(said.out.contains("energy a request") && said.out.contains("at 75 %"), "{said:#?}");
    assert!(said.out.contains("its power is in the watts"), "{said:#?}");
    let doc = shown(&bench, "latest");
    let power = &doc.power[0];
    let levels: Vec<f64> = power.levels.iter().map(|one| one.level).collect();
    assert_eq!((levels, power.meter.as_str()), (vec![0.0, 0.25, 0.5, 0.75, 1.0], "command"));
    let (idle, full) = (watts(power, 0.0), watts(power, 1.0));
    assert!((40.0..45.0).contains(&idle) && idle < full && full <= 80.0, "{power:?}");
    // How fast the server is at a level is up to what else runs; its energy a request follows from both figures.
    assert_eq!(power.at(0.0).and_then(|one| one.joules.value), None);
    for level in [0.25, 0.5, 0.75, 1.0] {
        let one = power.at(level).expect("a level");
        let (rate, joules) = (one.rate.value.expect("a rate"), one.joules.value.expect("its energy"));
        assert!(rate > 0.0 && (rate * joules / watts(power, level) - 1.0).abs() < 1e-6, "{one:?}");
    }
    let run = bench.only();
    let samples = run.series.iter().filter(|series| series.key.metric == "watts-sample");
    assert!(
        samples.clone().count() == 5 && samples.map(|one| one.points.len()).all(|n| n >= 2),
        "{:?}",
        run.takes
    );
    assert_eq!(run.plan.watts_command.as_deref(), Some(meter.as_str()));
    let curve = verdict::power::curve(&run, &[]);
    assert_eq!(curve.len(), 5);
    assert!(curve[0].throughput.is_none() && curve[4].throughput > Some(1.0), "{curve:?}");
    compared(&bench, &words(&[args.as_slice(), &["--label", "b"]].concat()));
}

/// Two runs of it have the energy a request and the watts of idle as headline rows.
fn compared(bench: &Bench, again: &[&str]) {
    bench.run(again).expect(0, &[]);
    let said = bench.run(&["compare", "a", "b", "--all", "--json"]);
    let doc: CompareDoc = serde_json::from_str(&said.out).expect("a document");
    let has = |metric: &str, level: &str, headline: bool| {
        doc.rows.iter().any(|row| {
            row.metric == metric && row.params.get("level") == Some(level) && row.headline == headline
        })
    };
    assert!(has("joules-per-request", "100", true) && has("watts", "idle", true), "{:#?}", doc.rows);
    assert!(has("joules-per-request", "50", false) && has("watts", "50", false), "{:#?}", doc.rows);
}

/// The remarks on missing readings.
fn missing(run: &RunData) -> usize {
    run.notes.iter().filter(|note| note.kind() == "watts").count()
}

#[test]
fn readings_come_over_a_pipe_and_an_empty_one_is_missing() {
    let bench = Bench::new();
    std::fs::write(bench.path("readings"), "41.5\nforty\n60,5 W\n\n70\n80\n").expect("readings");
    let args = ["web", "--watts-typed", "readings", "--set", "server=builtin", "--set", "duration=2"];
    let said = bench.run(&words(&args)).expect(0, &["Watts on the meter now [take 1 of 5, web "]);
    assert!(
        said.err.contains("`forty` is not a number of watts, such as 41.3; watts, or nothing:"),
        "{said:#?}"
    );
    let run = bench.only();
    let mut typed: Vec<f64> = (run.series.iter())
        .filter(|series| series.key.metric == "watts")
        .flat_map(|series| series.measured())
        .collect();
    typed.sort_by(f64::total_cmp);
    assert_eq!(typed, [41.5, 60.5, 70.0, 80.0], "{said:#?}");
    assert_eq!(missing(&run), 1, "{:?}", run.notes);
    assert!(run.takes.iter().all(|take| take.fault.is_none()), "{:?}", run.takes);
    // The figure of the level without a reading has its rate and no watts.
    let rates = run.series.iter().filter(|series| series.key.metric == "level-rate").count();
    assert_eq!(rates, 4);
    // The readings have ended.
    std::fs::write(bench.path("readings"), "").expect("no readings");
    let said = bench.run(&words(&args)).expect(0, &["the readings have ended"]);
    assert!(said.out.contains("has no reading of its power"), "{said:#?}");
}

/// What the program says on a terminal, where somebody types after each question.
fn typed_on_a_terminal(bench: &Bench, args: &[&str], line: &str) -> Said {
    let quoted: Vec<String> =
        std::iter::once(PROGRAM).chain(args.iter().copied()).map(|w| format!("'{w}'")).collect();
    let mut command = Command::new("script");
    bench.settle(&mut command);
    command.args(["-qec", &quoted.join(" "), "/dev/null"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("script of util-linux");
    let (mut stdin, mut stdout) = (child.stdin.take().expect("stdin"), child.stdout.take().expect("stdout"));
    let (end, mut heard, mut answered) = (Instant::now() + PATIENCE, String::new(), 0);
    let mut chunk = [0; 4096];
    while let Ok(count) = stdout.read(&mut chunk) {
        assert!(Instant::now() < end, "{heard}");
        if count == 0 {
            break;
        }
        heard.push_str(&String::from_utf8_lossy(&chunk[..count]));
        if heard.matches("Watts on the meter now").count() > answered {
            answered += 1;
            std::thread::sleep(Duration::from_millis(100));
            stdin.write_all(format!("{line}\n").as_bytes()).expect("it listens");
        }
    }
    let code = child.wait().expect("it ends").code();
    Said { code, out: heard, err: String::new() }
}

#[test]
fn a_terminal_is_asked_in_the_middle_of_each_take() {
    if Command::new("script").arg("--version").output().is_err() {
        cannot("script is not installed");
        return;
    }
    let bench = Bench::new();
    let args = ["power", "--watts-typed", "-", "--set", "duration=4"];
    let said = typed_on_a_terminal(&bench, &words(&args), "61.5");
    assert_eq!(said.code, Some(0), "{said:#?}");
    assert!(said.out.contains("[take 3 of 5, CPUs "), "{said:#?}");
    let run = bench.only();
    let watts = run.series.iter().filter(|series| series.key.metric == "watts");
    let watts: Vec<f64> = watts.flat_map(|series| series.measured()).collect();
    assert_eq!(watts, [61.5; 5], "{said:#?}");
    let rate = |level: &str| {
        let is = |metric: &str, key: &model::SeriesKey| {
            key.metric == metric && key.params.get("level") == Some(level)
        };
        let of =
            |metric: &str| run.series.iter().find(|one| is(metric, &one.key)).map(|one| one.measured()[0]);
        (of("level-rate"), of("joules-per-job"))
    };
    let ((quarter, much), (full, little)) = (rate("25"), rate("100"));
    assert!(quarter < full && much > little && little > Some(0.0), "{quarter:?} {full:?}");
    assert_eq!(rate("idle"), (None, None));
}

#[test]
fn a_store_has_its_energy_a_request() {
    let bench = Bench::new();
    let args = ["kv-load", "--watts-cmd", "echo 50", "--set", "duration=1", "--set", "keys=100"];
    let said = bench.run(&words(&args)).expect(0, &[]);
    assert!(said.out.contains("draws 50.0 W idle and 50.0 W at full load ("), "{said:#?}");
    let doc = shown(&bench, "latest");
    let full = doc.power[0].at(1.0).expect("a level");
    let (rate, joules) = (full.rate.value.expect("a rate"), full.joules.value.expect("its energy"));
    assert!((rate * joules / 50.0 - 1.0).abs() < 1e-6, "{full:?}");
}

/// A rule that doubts the figures of a side that was left out of a decision, and is not accepted yet.
fn doubting(out: &str, accepted: &[String]) -> Option<String> {
    let doc: DecideDoc = serde_json::from_str(out).ok()?;
    let (_, rules) = doc.excluded.first()?.why.split_once("is doubtful (")?;
    let mut rules = rules.split_once(')')?.0.split(", ");
    rules.find(|rule| !accepted.iter().any(|known| known == rule)).map(str::to_owned)
}

#[test]
fn a_command_has_its_energy_a_job() {
    let bench = Bench::new();
    let args = ["--cmd", "sleep 0.2", "--watts-cmd", "echo 50", "--set", "duration=1", "--label", "box"];
    let said = bench.run(&words(&args)).expect(0, &[]);
    assert!(said.out.contains("energy a job") && !said.out.contains("generator"), "{said:#?}");
    let doc = shown(&bench, "latest");
    let (idle, full) = (watts(&doc.power[0], 0.0), doc.power[0].at(1.0).expect("a level"));
    let (rate, joules) = (full.rate.value.expect("a rate"), full.joules.value.expect("its energy"));
    assert!(idle == 50.0 && (rate * joules / 50.0 - 1.0).abs() < 1e-6, "{full:?}");
    assert!((1.0..5.0).contains(&rate), "a job of 0.2 s: {full:?}");
    // What is done before a job is in no figure of it.
    let of = ["--watts-cmd", "echo 50", "--set", "duration=1", "--prepare", "sleep 2", "--cmd"];
    bench.run(&words(&[&of[..], &["sleep 1.2"]].concat())).expect(0, &[]);
    let rate = shown(&bench, "latest").power[0].at(1.0).and_then(|full| full.rate.value);
    assert!(rate.is_some_and(|rate| (0.5..0.84).contains(&rate)), "{rate:?}");
    bench.run(&words(&[&of[..], &["true"]].concat())).expect(3, &["its runs are then repeated"]);
    let printed = [&args[..], &["--metric", "tps=([0-9]+)"]].concat();
    bench.run(&words(&printed)).expect(1, &["leave out --metric"]);
    // A decision reads its watts at the share of the time for which the command runs.
    bench.run(&["run", "--cmd", "sleep 0.2", "--takes", "8", "--no-report", "--label", "box"]).expect(0, &[]);
    let need = ["decide", "--need", "cmd 'sleep 0.2' 9000/h", "--from", "box", "--no-report", "--json"];
    let mut said = bench.run(&need);
    // A busy machine makes the time of the command doubtful, by one rule or by several.
    let mut accepted: Vec<String> = Vec::new();
    while let Some(rule) = doubting(&said.out, &accepted).filter(|_| said.code == Some(1)) {
        accepted.push(rule);
        let options = accepted.iter().flat_map(|rule| ["--accept", rule]);
        said = bench.run(&need.iter().copied().chain(options).collect::<Vec<_>>());
    }
    let said = said.expect(0, &[]);
    let doc: DecideDoc = serde_json::from_str(&said.out).expect("a document");
    let one = &doc.candidates[0];
    assert!(one.watts.as_ref().is_some_and(|watts| watts.from.contains("the power curve of run")), "{one:?}");
    let each = one.joules[0].expect("joules a job");
    assert!((10.0..60.0).contains(&each), "one box of 50 W for 2.5 jobs a second: {each}");
    assert!(!doc.notes.iter().any(|note| note.contains("were measured under")), "{:?}", doc.notes);
}

#[test]
fn where_nothing_reads_the_power_it_says_what_could() {
    let bench = Bench::new();
    if Rapl::open().is_err() {
        for args in [
            &["run", "--power"][..],
            &["run", "web", "--power"],
            &["run", "power"],
            &["run", "--cmd", "true", "--power"],
        ] {
            let ways = ["nothing to read the power by", "three ways: RAPL", "--watts-cmd", "--watts-typed"];
            bench.run(args).expect(2, &ways);
        }
    }
    bench.run(&["run", "disk", "--power"]).expect(2, &["--power belongs to "]);
    bench.run(&["run", "web", "--power", "--slo", "p99=10ms"]).expect(2, &["cannot be used with"]);
    bench.run(&["run", "web", "--watts-cmd", " "]).expect(2, &["--watts-cmd is empty"]);
    bench.run(&["run", "web", "--set", "meter=command", "--power"]).expect(2, &["--watts-cmd"]);
    bench.run(&["run", "power", "--watts-typed", "/no/such"]).expect(1, &["--watts-typed /no/such: "]);
    let failing = ["power", "--watts-cmd", "echo ACPI is off >&2; exit 4", "--set", "duration=1"];
    let said = bench.run(&words(&failing));
    assert_eq!(said.code, Some(1), "{said:#?}");
    assert!(said.err.contains("ACPI is off") && said.err.contains("cannot run: --watts-cmd"), "{said:#?}");
}
