//! Capacities of planted runs and published points.

use model::data::{Published, RunData};
use model::doc::MachineDoc;
use model::need;
use model::{Basis, Better, Fact, SeriesKey, Unit, Validity, Value, card};

use super::*;
use crate::compare::Side;
use crate::loads::planted::{TAKES, empty, load, load_in, params, series, times};
use crate::run_index::RunContext;

const SEARCHED: &str = "connections=50;limit=20ms;percentile=p99;server=nginx";

/// A run of a machine with a number of its own.
fn run(number: u32) -> RunData {
    let mut run = empty();
    run.head.id = format!("{number:016x}");
    run.head.started_ns = i64::from(number) * 1_000_000_000;
    run
}

/// Figures of one setup, the same in every take but for the last digits.
fn figure(run: &mut RunData, instrument: &str, metric: &str, given: &str, value: f64) {
    let near = |seq: u64| Value::Number(value * (1.0 + 1e-5 * (seq * 7 % 5) as f64));
    let points: Vec<(u64, Value)> = (0..TAKES).map(|seq| (seq, near(seq))).collect();
    series(run, instrument, metric, params(given), "", &points);
}

fn search(number: u32, given: &str, value: f64) -> RunData {
    let mut run = run(number);
    figure(&mut run, "web-slo", "slo-throughput", given, value);
    run
}

/// Open loops of these rates, of which those up to `good` answer in 2 ms and those beyond in 80 ms.
fn open(run: &mut RunData, rates: &[f64], good: f64) {
    for rate in rates {
        let given = format!("arrivals=poisson;connections=50;rate={rate}");
        let figures = [("throughput", *rate), ("offered-load", *rate), ("window", 1.0), ("requests", *rate)];
        let seqs = load(run, &given, &figures);
        let time = if *rate <= good { 2_000 } else { 80_000 };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few thousand")]
        let requests = *rate as u64;
        times(run, &seqs, "response-times", &given, &[(time, requests)]);
    }
}

/// The side of these runs, by the definitions of today.
fn capacity_of(mut runs: Vec<RunData>, text: &str, accept: &[&str]) -> Result<Capacity, Missing> {
    for series in runs.iter_mut().flat_map(|run| &mut run.series) {
        if let Some(card) = card::find(instruments::cards(), &series.key.instrument) {
            series.key.definition = card.definition;
        }
    }
    of_side(&Side { is_stored: true, ..side(&runs) }, text, accept)
}

fn side(runs: &[RunData]) -> Side<'_> {
    let machine = MachineDoc { id: "m".into(), name: "box".into() };
    Side { runs: runs.iter().collect(), ..Side::new("box", machine) }
}

fn of_side(side: &Side<'_>, text: &str, accept: &[&str]) -> Result<Capacity, Missing> {
    let accept: Vec<String> = accept.iter().map(|rule| (*rule).to_owned()).collect();
    let mixes = Mixes::from([
        ("shop.json".to_owned(), Ok("shop@00ff".to_owned())),
        ("heads.log".to_owned(), Err("no answer with a body has a size".to_owned())),
    ]);
    let cards = instruments::cards();
    let definitions = Definitions::between([side], cards);
    let options = Options { cards, accept: &accept, mixes: &mixes, definitions: &definitions };
    let context = RunContext { cards: instruments::cards(), ..RunContext::default() };
    let sides = std::slice::from_ref(side);
    capacities(&JudgedSide::all(sides, &context)[0], &[need::parse(text).unwrap()], &options).remove(0)
}

fn near(found: &Capacity, value: f64) -> bool {
    (found.ln.exp() / value - 1.0).abs() < 1e-3
}

#[test]
fn a_search_of_the_limit_is_the_capacity() {
    let found = capacity_of(vec![search(1, SEARCHED, 8000.0)], "web 20000/s p99<20ms", &[]).unwrap();
    assert!(near(&found, 8000.0) && !found.at_least && !found.published, "{found:?}");
    assert_eq!((found.unit, found.validity, found.why.as_deref()), (Unit::PerSec, Validity::Ok, None));
    assert_eq!(found.figure, "web, nginx, p99, within 20ms, 50 connections");
    // The assumption for web on a machine of unknown kind: two runs stay within 10 %.
    let assumed = 0.1 / (1.959_964 * std::f64::consts::SQRT_2);
    assert!((found.se / assumed - 1.0).abs() < 1e-4 && found.dof == 4.0, "{found:?}");
    let repeat = found.repeat.unwrap();
    assert_eq!((repeat.command.as_str(), repeat.seconds), ("boxscore run --plan 000000000000", Some(10.0)));
    assert!((repeat.noise, repeat.runs) == (found.se, 1));
}

#[test]
fn runs_are_pooled_as_comparisons_pool_them() {
    let runs =
        || [7600.0, 8000.0, 8400.0].iter().zip(1..).map(|(value, at)| search(at, SEARCHED, *value)).collect();
    let three: Vec<RunData> = runs();
    let found = capacity_of(three.clone(), "web 1/s p99<20ms", &[]).unwrap();
    let logs: Vec<f64> = [7600.0f64, 8000.0, 8400.0].map(f64::ln).to_vec();
    let worth = |m: &f64| stats::Run { m: *m, se: None, takes: 8 };
    let all: Vec<stats::Run> = logs.iter().map(worth).collect();
    let noise = stats::noise(&[&all], &[], 0.1, None).unwrap();
    assert!((found.ln - stats::mean(&logs).unwrap()).abs() < 1e-4, "{found:?}");
    assert!((found.se / (noise.s / 3f64.sqrt()) - 1.0).abs() < 1e-2 && found.dof == noise.dof(), "{found:?}");
    // On three boxes the box is the unit, and they are assumed to spread as virtual machines do.
    let mut boxes = three.clone();
    boxes.iter_mut().zip(["a", "b", "c"]).for_each(|(run, id)| run.head.machine_id = id.into());
    let of_type = stats::noise(&[&all], &[], 0.22, None).unwrap();
    let found = capacity_of(boxes, "web 1/s p99<20ms", &[]).unwrap();
    assert!((found.se / (of_type.s / 3f64.sqrt()) - 1.0).abs() < 1e-2, "{found:?}");
    // Earlier runs tell the noise, and nothing of the level.
    let mut three = three;
    let definition = card::find(instruments::cards(), "web-slo").unwrap().definition;
    three.iter_mut().flat_map(|run| &mut run.series).for_each(|series| series.key.definition = definition);
    let now = Side { earlier: three[..2].iter().collect(), ..side(&three[2..]) };
    let found = of_side(&now, "web 1/s p99<20ms", &[]).unwrap();
    assert!(near(&found, 8400.0) && found.dof == 6.0, "{found:?}");
    assert!(found.repeat.unwrap().command.starts_with("boxscore run web --slo p99=20ms"));
}

#[test]
fn stricter_searches_are_lower_bounds_and_looser_ones_none() {
    let of = |given: &str, need: &str| capacity_of(vec![search(1, given, 8000.0)], need, &[]);
    for given in ["limit=10ms;percentile=p99", "limit=20ms;percentile=p99.9", "limit=5ms;percentile=p99.9"] {
        let found = of(given, "web 1/s p99<20ms").unwrap();
        assert!(found.at_least && near(&found, 8000.0), "{given}: {found:?}");
    }
    assert!(!of("limit=20000us;percentile=p99", "web 1/s p99<20ms").unwrap().at_least);
    assert!(of("limit=20ms;percentile=p99", "web 1/s").unwrap().at_least);
    for given in ["limit=50ms;percentile=p99", "limit=20ms;percentile=p95"] {
        let missing = of(given, "web 1/s p99<20ms").unwrap_err();
        assert!(missing.why.contains("was searched; the need has p99 < 20.0 ms"), "{missing:?}");
        assert_eq!(missing.command.as_deref(), Some("boxscore run web --slo p99=20ms"));
    }
    // The exact one before a stricter one that found more, and the better setup of two.
    let mut run = search(1, "limit=20ms;percentile=p99;connections=10", 5000.0);
    figure(&mut run, "web-slo", "slo-throughput", "limit=20ms;percentile=p99;connections=100", 6000.0);
    figure(&mut run, "web-slo", "slo-throughput", "limit=10ms;percentile=p99;connections=100", 9000.0);
    let found = capacity_of(vec![run.clone()], "web 1/s p99<20ms", &[]).unwrap();
    assert!(near(&found, 6000.0) && found.figure.contains("100 connections"), "{found:?}");
    let found = capacity_of(vec![run], "web 1/s p99<20ms connections=10", &[]).unwrap();
    assert!(near(&found, 5000.0), "{found:?}");
}

#[test]
fn a_curve_holds_up_to_the_first_rate_that_breaks() {
    let of = |rates: &[f64], good: f64, need: &str| {
        let mut run = run(1);
        open(&mut run, rates, good);
        capacity_of(vec![run], need, &[])
    };
    let rates = [2000.0, 1000.0, 4000.0, 8000.0];
    let found = of(&rates, 4000.0, "web 1/s p99<20ms").unwrap();
    assert!(near(&found, 4000.0) && !found.at_least, "{found:?}");
    assert_eq!(found.why.as_deref(), Some("4,000/s was held, 8,000/s was not"));
    assert!(found.figure.contains("open loop, p99 < 20.0 ms"), "{found:?}");
    let found = of(&rates, 9000.0, "web 1/s p99<20ms").unwrap();
    assert!(near(&found, 8000.0) && found.at_least, "{found:?}");
    let missing = of(&rates, 500.0, "web 1/s p99<20ms").unwrap_err();
    assert!(
        missing.why.starts_with("no load of the run kept p99 within 20.0 ms; the lowest was 1,000/s"),
        "{missing:?}"
    );
    // A higher percentile needs more requests than a take has: those of all takes together.
    let found = of(&rates, 4000.0, "web 1/s p99.9<20ms").unwrap();
    assert!(near(&found, 4000.0), "{found:?}");
    let missing = of(&rates, 4000.0, "web 1/s p99.99<20ms").unwrap_err();
    assert!(missing.why.starts_with("the open loops had too few requests for p99.99"), "{missing:?}");
    // Without a limit all were held.
    assert!(of(&rates, 4000.0, "web 1/s").unwrap().at_least);
}

#[test]
fn earlier_curves_and_other_figures_tell_the_noise() {
    let of = |number: u32, factor: f64| {
        let mut run = run(number);
        open(&mut run, &[1000.0 * factor, 2000.0 * factor, 4000.0 * factor], 2000.0 * factor);
        for connections in 1..=6 {
            let value = 9000.0 * factor * (1.0 + 1e-3 * f64::from(connections * number % 5));
            load(&mut run, &format!("connections={connections}"), &[("throughput", value)]);
        }
        run.series.iter_mut().for_each(|series| series.key.definition = web_definition());
        run
    };
    let runs = [of(1, 1.0), of(2, 0.99), of(3, 1.01)];
    // Alone, with an assumption worth four degrees of freedom; then with what seven figures of three runs show.
    let one = of_side(&side(&runs[2..]), "web 1/s p99<20ms", &[]).unwrap();
    let now = Side { earlier: runs[..2].iter().collect(), ..side(&runs[2..]) };
    let found = of_side(&now, "web 1/s p99<20ms", &[]).unwrap();
    assert!(near(&found, 2020.0) && one.dof == 4.0 && found.dof > 6.0, "{one:?} {found:?}");
    assert!(found.se < one.se / 2.0, "{one:?} {found:?}");
    let pooled = of_side(&side(&runs), "web 1/s p99<20ms", &[]).unwrap();
    assert!(near(&pooled, 2000.0) && pooled.dof == found.dof && pooled.runs.len() == 3, "{pooled:?}");
}

fn web_definition() -> u32 {
    card::find(instruments::cards(), "web").unwrap().definition
}

#[test]
fn rates_that_arms_set_are_one_curve() {
    let mut run = run(1);
    run.plan.arms.clear();
    for (at, rate) in (0..).zip([1000.0, 2000.0, 4000.0]) {
        let (name, given) = (format!("rate={rate}"), format!("arrivals=poisson;connections=50;rate={rate}"));
        run.plan.arms.push(model::Arm { name: name.clone(), set: params(&name) });
        let reached = f64::min(rate, 2500.0);
        load_in(&mut run, (at, &name), &given, &[("throughput", reached), ("offered-load", rate)]);
    }
    let found = capacity_of(vec![run], "web 1/s", &[]).unwrap();
    assert!(near(&found, 2000.0) && !found.at_least, "{found:?}");
}

#[test]
fn failures_and_answers_that_come_late_break_a_rate() {
    let of = |figures: &[(&str, f64)], need: &str| {
        let mut run = run(1);
        open(&mut run, &[1000.0, 2000.0], 9000.0);
        let given = "arrivals=poisson;connections=50;rate=4000";
        let common = [("offered-load", 4000.0), ("window", 1.0), ("requests", 4000.0)];
        let seqs = load(&mut run, given, &[&common, figures].concat());
        times(&mut run, &seqs, "response-times", given, &[(2_000, 4000)]);
        capacity_of(vec![run], need, &["errors"]).unwrap()
    };
    assert!(near(&of(&[("throughput", 4000.0)], "web 1/s p99<20ms"), 4000.0));
    assert!(near(&of(&[("throughput", 3500.0)], "web 1/s p99<20ms"), 2000.0), "too few in time");
    assert!(near(&of(&[("throughput", 3900.0)], "web 1/s p99<20ms"), 2000.0), "a queue grows");
    let failing = [("throughput", 3980.0), ("failed;kind=5xx", 20.0)];
    assert!(near(&of(&failing, "web 1/s p99<20ms"), 2000.0), "0.5 % fail");
    assert!(near(&of(&failing, "web 1/s p99<20ms errors<1%"), 4000.0));
}

#[test]
fn closed_loops_count_where_there_is_no_limit() {
    let mut run = run(1);
    for (connections, rate) in [(1, 2000.0), (10, 9000.0), (100, 8500.0)] {
        let given = format!("connections={connections}");
        load(
            &mut run,
            &given,
            &[("throughput", rate), ("generator-share", 0.2), ("requests", rate), ("window", 1.0)],
        );
    }
    let found = capacity_of(vec![run.clone()], "web 1/s", &[]).unwrap();
    assert!(near(&found, 9000.0) && !found.at_least, "{found:?}");
    assert_eq!(found.figure, "web, 10 connections");
    let missing = capacity_of(vec![run.clone()], "web 1/s p99<20ms", &[]).unwrap_err();
    assert_eq!(missing.why, "no run of it measured web with p99 < 20.0 ms");
    assert!(capacity_of(vec![run.clone()], "web 1/s errors<0.1%", &[]).is_ok());
    let missing = capacity_of(vec![run], "web 1/s errors<0.001%", &[]).unwrap_err();
    assert!(missing.why.contains("too few to show errors below 0.001 %"), "{missing:?}");
}

#[test]
fn the_load_generator_makes_lower_bounds() {
    let mut run = run(1);
    load(&mut run, "connections=10", &[("throughput", 9000.0), ("generator-share", 0.97)]);
    let found = capacity_of(vec![run], "web 1/s", &[]).unwrap();
    assert!(found.at_least && found.validity == Validity::Doubtful && found.why.is_some(), "{found:?}");
}

#[test]
fn doubtful_figures_need_consent_and_refused_ones_are_not_used() {
    let mut few = search(1, SEARCHED, 8000.0);
    few.series.iter_mut().for_each(|series| series.points.truncate(3));
    let missing = capacity_of(vec![few.clone()], "web 1/s p99<20ms", &[]).unwrap_err();
    assert!(
        missing.why.starts_with("8,000/s (web, nginx, p99, within 20ms, 50 connections) is doubtful"),
        "{missing:?}"
    );
    assert!(missing.why.contains("not used unless --accept samples"), "{missing:?}");
    let found = capacity_of(vec![few.clone()], "web 1/s p99<20ms", &["samples"]).unwrap();
    assert!(found.validity == Validity::Doubtful && found.why.is_some(), "{found:?}");
    // A good run speaks alone.
    let found = capacity_of(vec![few, search(2, SEARCHED, 6000.0)], "web 1/s p99<20ms", &[]).unwrap();
    assert!(near(&found, 6000.0) && found.runs.len() == 1, "{found:?}");
    let why = found.why.unwrap();
    assert!(why.starts_with("1 of 2 runs is not used: ") && why.ends_with("is doubtful (samples)"), "{why}");
    let broken = search(1, SEARCHED, f64::NAN);
    let missing = capacity_of(vec![broken], "web 1/s p99<20ms", &["samples"]).unwrap_err();
    assert!(!missing.why.is_empty() && missing.command.is_some(), "{missing:?}");
}

/// A search by a definition that is so much older than that of today.
fn by_definition(number: u32, older: u32) -> RunData {
    let mut run = search(number, SEARCHED, 8000.0);
    let today = card::find(instruments::cards(), "web-slo").unwrap().definition;
    run.series.iter_mut().for_each(|series| series.key.definition = today - older);
    run
}

fn between(runs: &[RunData]) -> Vec<Result<Capacity, Missing>> {
    let (cards, mixes, need) = (instruments::cards(), Mixes::new(), need::parse("web 1/s p99<20ms").unwrap());
    let sides: Vec<Side<'_>> = runs.iter().map(|run| side(std::slice::from_ref(run))).collect();
    let definitions = Definitions::between(&sides, cards);
    let options = Options { cards, accept: &[], mixes: &mixes, definitions: &definitions };
    let context = RunContext { cards, ..RunContext::default() };
    let judged = JudgedSide::all(&sides, &context);
    judged.iter().map(|side| capacities(side, std::slice::from_ref(&need), &options).remove(0)).collect()
}

#[test]
fn figures_of_one_older_definition_are_decided_by() {
    let today = card::find(instruments::cards(), "web-slo").unwrap().definition;
    for one in between(&[by_definition(1, 1), by_definition(2, 1)]) {
        let one = one.unwrap();
        assert!(near(&one, 8000.0), "{one:?}");
        let older = one.older.unwrap();
        assert_eq!((older.instrument.as_str(), older.definition, older.today), ("web-slo", today - 1, today));
    }
    assert!(between(&[by_definition(1, 0)])[0].as_ref().unwrap().older.is_none());
}

#[test]
fn figures_of_two_definitions_are_never_mixed_and_all_that_is_against_them_is_told() {
    let mut few = by_definition(1, 1);
    few.series.iter_mut().for_each(|series| series.points.truncate(3));
    let all = between(&[few, by_definition(2, 0)]);
    assert!(all[1].as_ref().unwrap().older.is_none());
    let missing = all[0].as_ref().unwrap_err();
    for part in ["the two are not compared; besides, it is doubtful (samples)", "--accept samples"] {
        assert!(missing.why.contains(part), "{missing:?}");
    }
    assert!(missing.command.is_some(), "{missing:?}");
    // Two older ones are as unlike.
    assert!(between(&[by_definition(1, 1), by_definition(2, 2)]).iter().all(Result::is_err));
    // A curve of today's definition and an older search are not mixed either.
    let mut curve = run(2);
    open(&mut curve, &[1000.0, 2000.0], 1000.0);
    curve.series.iter_mut().for_each(|series| series.key.definition = web_definition());
    let all = between(&[by_definition(1, 1), curve]);
    assert!(all[0].is_err() && all[1].is_ok(), "{all:?}");
}

#[test]
fn unknown_parameters_and_units_are_refused() {
    let of = |need: &str| capacity_of(vec![search(1, SEARCHED, 8000.0)], need, &[]).unwrap_err();
    assert_eq!(
        of("web 1/s conections=50").why,
        "web has no parameter `conections`: did you mean `connections`?"
    );
    assert!(of("web 1GB/s").why.contains("web counts requests"), "{:?}", of("web 1GB/s"));
    assert!(of("web 1/s p99<20ms connections=51").command.unwrap().contains("--set connections=51"));
    assert_eq!(of("diks-seq 1GB/s").why, "no instrument is called diks-seq: did you mean disk-seq?");
    let unknown = of("spark 1/h");
    assert!(unknown.why.starts_with("nobody measured spark"), "{unknown:?}");
    assert_eq!(unknown.command.as_deref(), Some("boxscore run --cmd spark"));
    let sort = of("spark terasort 1TB/h");
    assert!(sort.why.contains("needed as `cmd 'spark terasort' 400/h`"), "{sort:?}");
    assert_eq!(sort.command.as_deref(), Some("boxscore run --cmd 'spark terasort'"));
    assert!(of("disk-seq read 1GB/s").why.starts_with("disk-seq has no parameter `test`"));
    assert!(of("crc32c 1/s").why.contains("crc32c measures B/s"), "{:?}", of("crc32c 1/s"));
    assert!(of("crc32c 1GB/s p99<1ms").why.contains("no response times"));
    assert!(
        of("kv 1/s p99<1ms replicas=2")
            .command
            .unwrap()
            .starts_with("boxscore run kv-load --slo p99=1ms --set replicas=2")
    );
}

#[test]
fn a_mix_is_answered_by_its_own_requests() {
    let mixed = "content=mix;limit=20ms;mix=shop@00ff;percentile=p99";
    let of = |given: &str, need: &str| capacity_of(vec![search(1, given, 8000.0)], need, &[]);
    assert!(of(mixed, "shop.json 1/s p99<20ms").is_ok());
    let missing = of(mixed, "other.json 1/s p99<20ms").unwrap_err();
    assert_eq!(missing.command.as_deref(), Some("boxscore run web --slo p99=20ms --mix other.json"));
    assert!(of(mixed, "web 1/s p99<20ms").is_err() && of(SEARCHED, "shop.json 1/s p99<20ms").is_err());
    let named = mixed.replace("shop@", "a.log@");
    assert!(of(&named, "logs /x/a.log p99<20ms").unwrap().why.is_none());
    // Other requests say nothing of those of the log.
    for given in [SEARCHED, mixed] {
        let missing = of(given, "logs /x/a.log p99<20ms").unwrap_err();
        assert_eq!(missing.why, "no run of it measured web by the requests of /x/a.log with p99 < 20.0 ms");
        let command = missing.command.unwrap();
        let made =
            "boxscore logs /x/a.log --profile-out mix.json && boxscore run web --slo p99=20ms --mix mix.json";
        assert!(command.starts_with(made), "{command}");
    }
    // No command measures the requests of a log of which no mix can be made.
    let missing = of(mixed, "logs heads.log").unwrap_err();
    assert_eq!(
        missing.why,
        "no run of it measured web by the requests of heads.log; no mix can be made of these requests"
    );
    assert_eq!(missing.command, None);
}

#[test]
fn a_command_is_as_fast_as_its_time() {
    let mut run = run(1);
    figure(&mut run, "cmd", "wall", "command=make -j8", 9.0);
    run.series[0].better = Better::Lower;
    let found = capacity_of(vec![run.clone()], "cmd 'make -j8' 400/h", &[]).unwrap();
    assert!(near(&found, 1.0 / 9.0) && found.unit == Unit::PerSec, "{found:?}");
    let missing = capacity_of(vec![run], "cmd 'make -j9' 400/h", &[]).unwrap_err();
    assert_eq!(missing.why, "no run of it timed `make -j9`; did you mean `make -j8`?");
    assert_eq!(missing.command.as_deref(), Some("boxscore run --cmd 'make -j9'"));
}

#[test]
fn a_rate_of_an_instrument_is_chosen_by_its_parameters() {
    let mut run = run(1);
    figure(&mut run, "disk-seq", "bandwidth", "op=read;size=1GiB", 2e9);
    figure(&mut run, "disk-seq", "bandwidth", "op=write;size=1GiB", 1e9);
    let found = capacity_of(vec![run.clone()], "disk-seq 1GB/s op=write", &["samples"]).unwrap();
    assert!(near(&found, 1e9) && found.unit == Unit::BytesPerSec, "{found:?}");
    let missing = capacity_of(vec![run], "disk-seq 1GB/s", &[]).unwrap_err();
    assert_eq!(
        missing.why,
        "2 figures of disk-seq fit, which differ in op (read, write): say which is meant, as in `disk-seq 1GB/s op=read`"
    );
}

fn published(instrument: &str, metric: &str, given: &str, value: f64) -> Published {
    let definition = card::find(instruments::cards(), instrument).unwrap().definition;
    let (instrument, metric) = (instrument.to_owned(), metric.to_owned());
    Published {
        study: "satellite-2009".into(),
        machine: "atom-330".into(),
        key: SeriesKey {
            instrument,
            metric,
            unit: Unit::PerSec,
            params: params(given),
            arm: String::new(),
            definition,
        },
        better: Better::Higher,
        value,
        low: None,
        high: None,
        bounds: String::new(),
        basis: Basis::Stated,
        note: String::new(),
    }
}

#[test]
fn published_points_are_points() {
    let machine = || MachineDoc { id: String::new(), name: "atom-330".into() };
    let rows = ["connections=10", "connections=20"].iter().zip([3000.0, 5000.0]);
    let rows = rows.map(|(given, value)| published("web", "throughput", given, value)).collect();
    let atom = Side { published: rows, ..Side::new("atom-330", machine()) };
    let found = of_side(&atom, "web 1/s replicas=1", &[]).unwrap_err();
    assert!(found.why.starts_with("web has no parameter `replicas`"), "{found:?}");
    let found = of_side(&atom, "web 1/s keepalive=on errors<1%", &[]).unwrap();
    assert!(
        found.published && near(&found, 5000.0) && found.se == 0.0 && found.repeat.is_none(),
        "{found:?}"
    );
    assert_eq!(
        found.why.as_deref(),
        Some(
            "published by satellite-2009, without an interval; its basis: stated; it does not say: keepalive and errors"
        )
    );
    assert!(near(&of_side(&atom, "web 1/s connections=10", &[]).unwrap(), 3000.0));
    let missing = of_side(&atom, "web 1/s p99<20ms", &[]).unwrap_err();
    assert_eq!(missing.why, "5,000/s was published without response times, and the need has p99 < 20.0 ms");
    let slo = published("web-slo", "slo-throughput", "limit=10ms;percentile=p99", 900.0);
    let atom = Side { published: vec![slo], ..Side::new("atom-330", machine()) };
    assert!(of_side(&atom, "web 1/s p99<20ms", &[]).unwrap().at_least);
}

#[test]
fn space_is_a_fact() {
    let mut run = run(1);
    run.facts = vec![
        Fact::number("memory.bytes", 64e9, Unit::Byte, ""),
        Fact::number("disk.sda.bytes", 2e12, Unit::Byte, ""),
        Fact::number("disk.nvme0n1.bytes", 1e12, Unit::Byte, ""),
        Fact::number("disk.zram0.bytes", 8e9, Unit::Byte, ""),
        Fact::number("disk.dm-0.bytes", 2e12, Unit::Byte, ""),
        Fact::text("disk.dm-0.bus", "device mapper", ""),
    ];
    assert!(near(&capacity_of(vec![run.clone()], "memory 2TiB", &[]).unwrap(), 64e9));
    let found = capacity_of(vec![run.clone()], "disk 40TB", &[]).unwrap();
    assert!(near(&found, 3e12) && found.se == 0.0 && found.unit == Unit::Byte, "{found:?}");
    let mut other = run.clone();
    (other.head.machine_id, other.facts) =
        ("n".into(), vec![Fact::number("memory.bytes", 32e9, Unit::Byte, "")]);
    let found = capacity_of(vec![run, other.clone()], "memory 2TiB", &[]).unwrap();
    assert!(near(&found, 32e9) && found.why.as_deref() == Some("the least of 2 boxes"), "{found:?}");
    other.facts = vec![Fact::unknown("disk.names", "", "no disk is visible here")];
    let missing = capacity_of(vec![other], "disk 40TB", &[]).unwrap_err();
    assert!(missing.why.starts_with("nobody knows its disks: no disk is visible here"), "{missing:?}");
}

#[test]
fn what_is_missing_is_measured_as_it_was_before() {
    let mut run = search(1, "limit=50ms;percentile=p99;keepalive=off;connections=7", 8000.0);
    run.plan.cells = vec![model::Cell {
        instrument: "web-slo".into(),
        params: params("connections=7;keepalive=off;limit=50ms;percentile=p99;server=nginx"),
        headline: Vec::new(),
    }];
    run.head.label = Some("small box".into());
    run.plan.machines =
        [model::plan::Via { name: "m".into(), command: Some("ssh m ./boxscore".into()) }].into();
    run.plan.generators =
        vec![model::plan::Via { name: "g".into(), command: Some("ssh g ./boxscore".into()) }];
    let missing = capacity_of(vec![run], "web 1/s p99<20ms keepalive=off", &[]).unwrap_err();
    assert_eq!(
        missing.command.as_deref(),
        Some(
            "boxscore run web --slo p99=20ms --set connections=7 --set keepalive=off --set server=nginx \
             --via 'm=ssh m ./boxscore' --from 'g=ssh g ./boxscore' --label 'small box'"
        )
    );
}

#[test]
fn nothing_is_asked_of_nothing() {
    let nothing = Side::new("x", MachineDoc { id: String::new(), name: "x".into() });
    for need in [
        "web 1/s",
        "kv 1/s p99<1ms",
        "cmd ls 1/h",
        "disk-seq 1GB/s",
        "memory 1TiB",
        "disk 1TB",
        "logs a",
        "a.json",
    ] {
        let missing = of_side(&nothing, need, &[]).unwrap_err();
        assert!(!missing.why.is_empty() && !missing.why.contains("  "), "{need}: {missing:?}");
    }
    assert_eq!(
        of_side(&nothing, "web 1/s p99<20ms", &[]).unwrap_err().why,
        "nobody published web with p99 < 20.0 ms of it"
    );
}

/// Per cent of 95 % intervals that miss the truth, of 1,000 worlds. Runs spread as it is assumed, or by a draw from
/// what an assumption of four degrees of freedom says: by its inverse chi-squared.
fn misses(runs: u32, drawn: bool, seed: u64) -> f64 {
    let mut rng = stats::Rng::new(seed);
    let assumed = 0.1 / (1.959_964 * std::f64::consts::SQRT_2);
    let missed = (0..1000).filter(|_| {
        let chi_squared = 2.0 * (rng.exponential() + rng.exponential());
        let spread = if drawn { assumed * (4.0 / chi_squared).sqrt() } else { assumed };
        let all: Vec<RunData> = (1..=runs)
            .map(|number| search(number, SEARCHED, 8000.0 * (spread * rng.normal()).exp()))
            .collect();
        let found = capacity_of(all, "web 1/s p99<20ms", &[]).unwrap();
        let half = stats::student_quantile(0.975, found.dof) * found.se;
        (found.ln - 8000f64.ln()).abs() > half
    });
    missed.count() as f64 / 10.0
}

#[test]
fn the_interval_holds_the_truth_in_95_of_100_worlds() {
    for (runs, seed) in [(1, 1), (3, 3)] {
        let missed = misses(runs, true, seed);
        assert!((3.0..=7.0).contains(&missed), "{runs} runs: {missed} % miss");
    }
    // Where runs spread as it is assumed, the interval is wider than it need be.
    let missed = misses(3, false, 13);
    assert!(missed <= 5.0, "{missed} % miss");
}
