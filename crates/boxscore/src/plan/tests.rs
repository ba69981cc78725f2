//! Plans from whole command lines, by family.

use model::plan::{PLAN_VERSION, PROFILE, Profiled};
use model::{Arm, Cell, Params, Plan};

use super::{Host, plan, profile};
use crate::cli::run::{RunArgs, Usual};
use crate::cli::targets::TargetArgs;
use crate::error::CliError;

fn host(cpus: u32) -> Host {
    Host { cpus, server: "nginx", ..Host::default() }
}

fn planned(args: &RunArgs) -> Result<(Plan, Vec<String>), CliError> {
    plan(args, instruments::cards(), &host(2), 1)
}

fn refused(args: &RunArgs) -> String {
    planned(args).unwrap_err().to_string()
}

fn cells(args: &RunArgs, cpus: u32) -> Vec<Cell> {
    plan(args, instruments::cards(), &host(cpus), 1).unwrap().0.cells
}

fn list(all: &[&str]) -> Vec<String> {
    all.iter().map(|one| (*one).to_owned()).collect()
}

fn named(names: &[&str]) -> RunArgs {
    RunArgs { usual: Usual { names: list(names), ..Usual::default() }, ..RunArgs::default() }
}

/// The same with some of the usual options changed.
fn usually(args: RunArgs, change: impl FnOnce(&mut Usual)) -> RunArgs {
    let mut usual = args.usual.clone();
    change(&mut usual);
    RunArgs { usual, ..args }
}

fn quickly(args: RunArgs) -> RunArgs {
    usually(args, |usual| usual.quick = true)
}

fn with<const N: usize>(names: &[&str], given: [(&'static str, &str); N]) -> RunArgs {
    RunArgs { given: given.into(), ..named(names) }
}

fn text(cell: &Cell, key: &str) -> String {
    cell.params.get(key).unwrap_or_default().to_owned()
}

fn distinct(mut all: Vec<String>) -> Vec<String> {
    all.sort();
    all.dedup();
    all
}

fn lang(names: &[&str], arms: &[&str], lang: &str) -> RunArgs {
    RunArgs { arms: list(arms), ..with(names, [("lang", lang)]) }
}

/// Instrument, language and kernels of each cell.
fn languages(args: &RunArgs) -> Vec<String> {
    let of = |cell: &Cell| format!("{} {} {}", cell.instrument, text(cell, "lang"), text(cell, "kernel"));
    cells(args, 2).iter().map(of).collect()
}

fn of(cells: &[Cell], key: &str) -> Vec<String> {
    distinct(cells.iter().map(|cell| text(cell, key)).collect())
}

#[test]
fn numbers_of_nodes_are_cells_of_their_own() {
    let of_nodes = |nodes: &str| with(&["hadoop-pi"], [("nodes", nodes)]);
    assert_eq!(of(&cells(&of_nodes("1,2, 3"), 2), "nodes"), ["1", "2", "3"]);
    assert_eq!(of(&cells(&of_nodes("2"), 2), "nodes"), ["2"]);
    assert!(refused(&of_nodes("1,0")).contains("--nodes 1,0 is not possible"));
}

#[test]
fn the_sweep_has_every_part() {
    let sweep = cells(&named(&["web"]), 4);
    assert!(sweep.iter().all(|cell| cell.instrument == "web"));
    assert_eq!(of(&sweep, "connections"), ["1", "10", "100", "1000", "2", "20", "4", "400", "50"]);
    assert_eq!(of(&sweep, "load"), ["10%", "100%", "120%", "25%", "50%", "75%", "90%", "auto"]);
    assert_eq!(of(&sweep, "generators"), ["1", "2"]);
    assert_eq!(of(&sweep, "content"), ["gif", "large"]);
    assert_eq!(of(&sweep, "keepalive"), ["off", "on"]);
    assert_eq!(of(&sweep, "server"), ["nginx"]);
    let from = RunArgs { from: list(&["a", "b", "c"]), ..named(&["web"]) };
    assert_eq!(of(&cells(&from, 2), "generators"), ["1", "2", "3"]);
    assert_eq!(of(&cells(&named(&["web"]), 2), "generators"), ["1"]);
}

#[test]
fn a_quick_run_has_the_headline_and_a_quick_sweep_what_fits() {
    let quick = cells(&quickly(RunArgs::default()), 2);
    let web: Vec<&Cell> = quick.iter().filter(|cell| cell.instrument.starts_with("web")).collect();
    assert_eq!(web.len(), 1);
    assert_eq!((web[0].params.get("connections"), web[0].params.get("content")), (Some("50"), Some("gif")));
    assert_eq!(web[0].headline, ["throughput", "error-rate"]);
    let sweep = cells(&quickly(named(&["web"])), 64);
    let all = cells(&named(&["web"]), 64);
    assert!(sweep.len() < all.len() && all.starts_with(&sweep), "{} {}", sweep.len(), all.len());
    assert_eq!(of(&sweep, "load").len(), 8);
    // On a small machine only the fixed rates are left out.
    let (small, all) = (cells(&quickly(named(&["web"])), 2), cells(&named(&["web"]), 2));
    let rest = all.strip_prefix(&small[..]).expect("a quick sweep begins the whole one");
    assert!(rest.iter().all(|cell| cell.params.get("rate") != Some("auto")), "{rest:?}");
}

#[test]
fn a_closed_loop_with_a_rate_is_refused_on_any_machine() {
    let plan = |sets: &[&str], arms: &[&str]| {
        let args = RunArgs { arms: list(arms), ..named(&["web"]) };
        planned(&usually(args, |usual| usual.sets = list(sets)))
    };
    for (sets, arms) in [
        (vec!["arrivals=closed", "rate=100"], vec![]),
        (vec!["arrivals=closed"], vec!["load=50%"]),
        (vec![], vec!["connections=1", "arrivals=closed,rate=100"]),
    ] {
        let error = plan(&sets, &arms).unwrap_err();
        assert!(error.message.ends_with("cannot go together: a closed loop has no rate"), "{error}");
    }
    assert!(plan(&[], &["arrivals=closed", "arrivals=constant,rate=5"]).is_ok());
}

#[test]
fn a_url_is_loaded_without_our_content() {
    let sweep = cells(&with(&["web"], [("url", "http://a/?b=1;c")]), 2);
    assert_eq!(of(&sweep, "url"), ["http://a/?b=1;c"]);
    assert_eq!((of(&sweep, "content"), of(&sweep, "server")), (vec!["gif".into()], vec!["auto".into()]));
    assert!(refused(&with(&["cpu"], [("url", "http://a/")])).contains("family web"));
}

#[test]
fn an_mpm_names_its_server_in_every_arm() {
    let arms = ["mpm=prefork", "mpm=event,sendfile=off"].map(str::to_owned).to_vec();
    let plan = planned(&RunArgs { arms, ..named(&["web"]) }).unwrap().0;
    assert_eq!(
        plan.arms.iter().map(|arm| arm.name.as_str()).collect::<Vec<_>>(),
        ["mpm=prefork", "mpm=event;sendfile=off"]
    );
    assert!(plan.arms.iter().all(|arm| arm.set.get("server") == Some("httpd")));
    assert_eq!(plan.cells.len(), 1);
}

#[test]
fn too_little_time_is_said() {
    let slo = |span: Option<&str>, set: &str| {
        let args = usually(with(&["web"], [("slo", "p99=10ms")]), |usual| {
            (usual.span, usual.sets) = (span.map(str::to_owned), vec![set.to_owned()]);
        });
        planned(&args).unwrap().1
    };
    assert_eq!(slo(None, "duration=1"), [""; 0]);
    let said = slo(Some("60s"), "duration=5");
    assert!(said.len() == 1 && said[0].starts_with("6 takes of 1 load need about "), "{said:?}");
    assert!(said[0].contains("--for"), "{said:?}");
}

#[test]
fn a_goal_is_searched_for_and_nothing_else() {
    let search = cells(&with(&["web"], [("slo", "p99.9 = 1500us")]), 2);
    assert_eq!(search.len(), 1);
    assert_eq!(search[0].instrument, "web-slo");
    assert_eq!(
        (of(&search, "percentile"), of(&search, "limit")),
        (vec!["p99.9".into()], vec!["1500us".into()])
    );
    for (text, says) in [("p99", "PERCENTILE=TIME"), ("p99=fast", "not a time"), ("p99=-1ms", "not a time")] {
        let why = refused(&with(&["web"], [("slo", text)]));
        assert!(why.contains(says), "{text}: {why}");
    }
    for (given, spelled) in [("10ms", "10ms"), ("0.01", "10ms"), ("2s", "2s"), ("500us", "500us")] {
        let search = cells(&with(&["web"], [("slo", &format!("p50={given}"))]), 2);
        assert_eq!(of(&search, "limit"), [spelled]);
    }
}

#[test]
fn stores_are_swept_and_searched_too() {
    let sweep = cells(&named(&["kv-load"]), 4);
    assert_eq!(of(&sweep, "connections"), ["1", "10", "100", "400", "50"]);
    assert!(sweep.iter().all(|cell| text(cell, "server") == "redis"));
    let search = cells(&with(&["kv-load"], [("slo", "p99=1ms")]), 4);
    assert_eq!((search.len(), search[0].instrument.as_str()), (1, "kv-slo"));
    let theirs = cells(&with(&["kv-load"], [("url", "memcached://10.0.0.7")]), 4);
    assert!(!theirs.is_empty() && theirs.iter().all(|cell| text(cell, "server") == "memcached"));
    assert!(refused(&with(&["crc32c"], [("slo", "p99=1ms")])).contains("kv-load"));
    assert!(refused(&with(&["kv"], [("slo", "p99=1ms")])).contains("the load kv-load"));
}

#[test]
fn typical_closed_loops_are_profiled_in_every_arm() {
    let sweep = cells(&named(&["web"]), 2);
    let arm = || Arm { name: String::new(), set: Params::default() };
    let mut arms = vec![arm(), arm()];
    profile::choose(&sweep, &mut arms, Profiled::Server).unwrap();
    let listed: Vec<usize> =
        arms[1].set.get(PROFILE).unwrap().split(',').map(|text| text.parse().unwrap()).collect();
    assert_eq!(arms[0].set, arms[1].set);
    let of = |index: usize, key: &str| text(&sweep[index], key);
    let first = listed.iter().find(|&&index| of(index, "content") == "gif" && of(index, "keepalive") == "on");
    let first = *first.unwrap();
    assert_eq!((of(first, "arrivals"), of(first, "connections")), ("closed".to_owned(), "50".to_owned()));
    assert!(listed.len() <= 4 && listed.iter().any(|&index| of(index, "content") == "large"));
    let none = profile::choose(&cells(&named(&["cpu"]), 2), &mut arms, Profiled::Server).unwrap_err();
    assert!(none.to_string().contains("run web --profile"));
    let given = [("profile", "system")];
    assert!(refused(&with(&["net"], given)).contains("--profile belongs to the family web"));
    assert!(planned(&with(&[], given)).is_ok());
}

#[test]
fn what_is_named_is_measured_in_a_quick_run_too() {
    let quick = |name: &str| {
        let cells = cells(&quickly(named(&[name])), 2);
        cells.iter().any(|cell| cell.instrument == "kv-load")
    };
    assert!(quick("kv-load") && !quick("kv"));
}

#[test]
fn tests_are_picked() {
    let picked = |args: &RunArgs| {
        let all = cells(args, 2);
        let of = |cell: &Cell| format!("{} {} {}", cell.instrument, text(cell, "proto"), text(cell, "to"));
        distinct(all.iter().map(of).collect())
    };
    assert_eq!(picked(&with(&["net"], [("test", "udp-rtt")])), ["net-rtt udp loopback"]);
    let two = picked(&with(&["net"], [("test", "udp-rtt"), ("test", "tcp-rtt")]));
    assert_eq!(two, ["net-rtt tcp loopback", "net-rtt udp loopback"]);
    let to = picked(&with(&["net"], [("test", "bandwidth"), ("to", "10.0.0.2:9")]));
    assert_eq!(to, ["net-bandwidth  10.0.0.2:9"]);
}

#[test]
fn a_run_without_names_has_no_tests_of_the_network() {
    assert!(cells(&named(&[]), 2).iter().all(|cell| !cell.instrument.starts_with("net-")));
    assert!(cells(&named(&["net"]), 2).len() >= 5);
}

#[test]
fn flags_belong_to_the_family() {
    assert!(refused(&with(&["cpu"], [("to", "a")])).contains("--to belongs to the family net"));
    assert!(refused(&with(&[], [("test", "tcp-rtt")])).contains("--test belongs to the family net"));
    let other = refused(&with(&["hadoop"], [("test", "pi"), ("fault", "kill-am")]));
    assert!(other.contains("--fault belongs to the test terasort"), "{other}");
    assert!(refused(&with(&["kv-load"], [("kv", "redis")])).contains("--kv belongs to the family kv"));
    let far = ("far", "ssh box2 boxscore");
    assert!(refused(&with(&["cpu"], [far])).contains("--far belongs to the family net"));
    assert!(refused(&with(&["net"], [far])).contains("--far needs --to"));
    let plan = planned(&with(&["net-rtt"], [far, ("to", "10.0.0.2")])).unwrap().0;
    assert_eq!(
        (of(&plan.cells, "to"), of(&plan.cells, "far")),
        (vec!["10.0.0.2".into()], vec!["far".into()])
    );
    assert!(refused(&with(&["net-rtt"], [("test", "tcp-rtt")])).contains("both name"));
    assert!(
        refused(&with(&["kv", "runtime"], [("size", "100")])).contains("--size is ambiguous: kv and runtime")
    );
}

#[test]
fn languages_and_kernels_are_picked() {
    let two = lang(&["runtime"], &[], "c,java");
    assert_eq!(languages(&two), ["scimark c all", "scimark java all", "scimark-warmup java all"]);
    let some = with(&["scimark"], [("lang", "c"), ("kernel", "fft, lu")]);
    assert_eq!(languages(&some), ["scimark c fft", "scimark c lu"]);
    let (plan, said) = planned(&lang(&["runtime"], &[], "c")).unwrap();
    assert_eq!(plan.cells.len(), 1);
    assert!(said.iter().any(|line| line.contains("scimark-warmup is left out: --lang c")), "{said:?}");
    let all = planned(&named(&["runtime"])).unwrap().0.cells.len();
    assert_eq!(
        all,
        instruments::bench::runtime::language::NAMES.len()
            + instruments::bench::runtime::language::WARMING.len()
    );
}

#[test]
fn an_arm_of_one_language_leaves_the_others_as_they_are() {
    let study = lang(&["runtime"], &["jvm=hotspot", "jvm=zero"], "c,java");
    let plan = planned(&study).unwrap().0;
    assert_eq!((plan.unchanged.as_slice(), plan.arms.len()), ([0].as_slice(), 2));
    assert_eq!(plan.version, PLAN_VERSION);
    assert_eq!([plan.arms_of(0).len(), plan.arms_of(1).len()], [1, 2]);
    // A program and a machine of different arms: everything changes somewhere.
    let study = lang(&["scimark"], &["jvm=zero", "cc=gcc -O3"], "c,java");
    assert_eq!(planned(&study).unwrap().0.unchanged, [0u32; 0]);
    let bound = lang(&["scimark"], &["cpus=0,jvm=zero", "cpus=1"], "c,java");
    assert_eq!(planned(&bound).unwrap().0.unchanged, [0u32; 0]);
}

#[test]
fn words_that_concern_nothing_are_refused() {
    let why = refused;
    let c = lang(&["scimark"], &["jvm=hotspot", "jvm=zero"], "c");
    assert!(why(&c).contains("--arm jvm=hotspot has no effect") && why(&c).contains("lang is java"));
    let bits = lang(&["scimark"], &["bits=32", "bits=64"], "java");
    assert!(why(&bits).contains("--arm bits=32 has no effect"), "{}", why(&bits));
    let set = usually(lang(&["scimark"], &[], "c"), |usual| usual.sets = vec!["jvm=zero".to_owned()]);
    assert!(why(&set).contains("--set jvm=zero has no effect"));
    let go = why(&lang(&["runtime"], &[], "c,cobol"));
    assert!(go.contains("--lang c,cobol is not possible: one of c, java"), "{go}");
    assert!(why(&lang(&["cpu"], &[], "c")).contains("--lang belongs to the family runtime"));
    let size = |size: &str| with(&["runtime", "cpu"], [("size", size)]);
    assert!(why(&size("huge")).contains("one of small, large"));
    assert!(planned(&size("large")).is_ok());
}

#[test]
fn runtimes_are_measured_only_where_they_are_named() {
    assert!(languages(&named(&[])).iter().all(|cell| !cell.starts_with("scimark")));
}

fn on(names: &[&str], targets: &[&str]) -> RunArgs {
    let on = TargetArgs { targets: list(targets), ..TargetArgs::default() };
    RunArgs { on, ..named(names) }
}

#[test]
fn a_target_is_an_arm_with_its_address() {
    let (a, b) = ("a=http://10.0.0.1/x?y=z", "b=http://10.0.0.2:81/x");
    let plan = planned(&on(&["web"], &[a, b])).unwrap().0;
    let arms: Vec<(&str, Option<&str>)> =
        plan.arms.iter().map(|arm| (arm.name.as_str(), arm.set.get("url"))).collect();
    assert_eq!(arms, [("a", Some("http://10.0.0.1/x?y=z")), ("b", Some("http://10.0.0.2:81/x"))]);
    assert_eq!(plan.targets[1].address, "http://10.0.0.2:81/x");
    // Nothing is asked of them that only a server of ours could be.
    assert_eq!(
        (of(&plan.cells, "content"), of(&plan.cells, "server")),
        (vec!["gif".into()], vec!["auto".into()])
    );
    let stores = planned(&on(&["kv"], &["r=redis://10.0.0.1", "m=memcached://10.0.0.2:9"])).unwrap().0;
    let set = |arm: &Arm| ["kv", "url", "server"].map(|key| arm.set.get(key).unwrap_or_default().to_owned());
    assert_eq!(set(&stores.arms[0]), ["10.0.0.1:6379", "redis://10.0.0.1", "redis"]);
    assert_eq!(set(&stores.arms[1]), ["10.0.0.2:9", "memcached://10.0.0.2:9", "memcached"]);
    let net = planned(&on(&["net-rtt"], &["10.0.0.1", "b=10.0.0.2:9"])).unwrap().0;
    assert_eq!(net.arms[0].name, "10.0.0.1");
    assert_eq!(net.arms[1].set.get("to"), Some("10.0.0.2:9"));
}

#[test]
fn what_is_no_target_is_refused() {
    let a = "a=http://10.0.0.1/";
    assert!(refused(&on(&["cpu"], &[a])).contains("measures this machine, and no target"));
    assert!(refused(&on(&[], &[a])).contains("measures this machine, and no target"));
    assert!(refused(&on(&["kv"], &[a])).contains("redis:// or memcached:// URL"));
    assert!(refused(&on(&["net"], &["a=loopback"])).contains("the loopback is this machine"));
    assert!(refused(&on(&["web"], &[a, "b=http://10.0.0.1/"])).contains("`a` and `b` are one target"));
    let twice = RunArgs { given: [("url", "http://10.0.0.3/")].into(), ..on(&["web"], &[a]) };
    assert!(refused(&twice).contains("cannot both be"), "{}", refused(&twice));
    let secret = refused(&on(&["kv-load"], &["a=redis://u:secret@h"]));
    assert!(secret.contains("would be stored") && !secret.contains("secret"), "{secret}");
}

#[test]
fn each_target_is_measured_in_each_arm() {
    let targets = ["a=http://10.0.0.1/x", "b=http://10.0.0.2/x"];
    let crossed = |arms: &[&str]| RunArgs { arms: list(arms), ..on(&["web"], &targets) };
    let (plan, notes) = planned(&crossed(&["connections=10", "connections=100"])).unwrap();
    let how = "boxscore compare 'a connections=100' 'b connections=100'";
    assert!(notes.iter().any(|note| note.ends_with(how)), "{notes:?}");
    let arms: Vec<(&str, Option<&str>, Option<&str>)> = (plan.arms.iter())
        .map(|arm| (arm.name.as_str(), arm.set.get("url"), arm.set.get("connections")))
        .collect();
    let (a, b) = (Some("http://10.0.0.1/x"), Some("http://10.0.0.2/x"));
    let wanted = [
        ("a connections=10", a, Some("10")),
        ("b connections=10", b, Some("10")),
        ("a connections=100", a, Some("100")),
        ("b connections=100", b, Some("100")),
    ];
    assert_eq!(arms, wanted);
    assert_eq!(plan.targets.iter().map(|target| target.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(plan.target("b connections=10").map(|target| target.name.as_str()), Some("b"));
    assert!(plan.target("a").is_none(), "it has no arm of its own");
    // A scan is arms too.
    let scanned = RunArgs { scans: list(&["connections=4,8,16"]), ..on(&["web"], &targets) };
    assert_eq!(planned(&scanned).unwrap().0.arms.len(), 6);
    assert!(refused(&crossed(&["url=http://10.0.0.3/"])).contains("cannot both be"));
    assert!(refused(&crossed(&["connections=10", "connections=10"])).contains("is given twice"));
}
