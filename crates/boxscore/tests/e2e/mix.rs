//! A mix of requests from a log to a load and back: what nginx logged of the load is the mix again. Tolerances follow
//! from the number of requests, so that chance fails none of these in 10^8; nothing is timed.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::common::Bench;
use instruments::workload::guard;
use instruments::workload::mix::objects::objects;
use instruments::workload::server::account;
use instruments::workload::server::content::{Content, Item, Set};
use instruments::workload::server::installed;
use instruments::workload::server::options::Options;
use instruments::workload::server::run::Server;
use model::doc::mix::MixBin;
use model::doc::{LoadDoc, MixDoc};

/// nginx with these files and a log.
struct Logged {
    dir: tempfile::TempDir,
    server: Server,
    _content: Content,
}

impl Logged {
    fn serve(items: Vec<Item>) -> Logged {
        guard::set_program(crate::common::open_program());
        let dir = tempfile::Builder::new().prefix("mix").tempdir_in("/tmp").expect("a folder");
        std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).expect("open to all");
        let account = account::choose().expect("an account");
        let content = Content::from_items(items, Set::Mix, 1, dir.path(), account.as_ref()).expect("content");
        let options = Options { connections: 64, access_log: true, ..Options::default() };
        let server = Server::start(installed::find("nginx").expect("known"), &options, &content, dir.path());
        Logged { dir, server: server.expect("it starts"), _content: content }
    }

    fn url(&self) -> String {
        format!("http://{}/", self.server.address())
    }

    fn log(&self) -> String {
        let pattern = format!("{}/**/access.log", self.dir.path().display());
        let logs: Vec<PathBuf> = glob::glob(&pattern).expect("a pattern").map(Result::unwrap).collect();
        assert_eq!(logs.len(), 1, "{logs:?}");
        logs[0].display().to_string()
    }

    /// The mix of its log, but for the file that it is asked for when it starts.
    fn mix(&self, bench: &Bench, name: &str, more: &[&str]) -> MixDoc {
        let log = format!("{name}={}", self.log());
        let file = format!("{name}.json");
        let args = ["logs", &log, "--where", "path!=/boxscore-ready", "--no-store", "--profile-out", &file];
        bench.run(&[&args, more].concat()).expect(0, &[&file]);
        serde_json::from_str(&std::fs::read_to_string(bench.path(&file)).expect("written")).expect("a mix")
    }
}

/// Forty files, wanted as Zipf's law has it; the first ones are small.
fn items() -> Vec<Item> {
    let item = |n: u32| Item { path: format!("/f{n}.bin"), bytes: u64::from(n * n) * 97, weight: 1 };
    (1..=40).map(item).collect()
}

/// Lines of a replay, all due within 0.2 s: file n is asked for `most / n` times.
fn lines(most: u32) -> String {
    let mut text = String::new();
    for n in 1..=40 {
        for nth in 0..most / n {
            writeln!(text, "0.{:03} /f{n}.bin", (nth * 7 + n * 13) % 200).unwrap();
        }
    }
    text
}

fn load(bench: &Bench, args: &[&str]) -> LoadDoc {
    let said = bench.run(&[&["load", "--json", "--timeout", "60s", "-c", "8"], args].concat()).expect(0, &[]);
    serde_json::from_str(&said.out).expect("a document")
}

/// A share in n requests is further from what it is drawn from only once in 10^9 (Hoeffding; for distributions
/// Dvoretzky, Kiefer and Wolfowitz).
fn allowed(n: u64) -> f64 {
    ((2.0f64 / 1e-9).ln() / (2.0 * n as f64)).sqrt()
}

/// The largest difference of two distributions of sizes, at the ends of all bins.
fn distance(one: &[MixBin], two: &[MixBin]) -> f64 {
    let below = |bins: &[MixBin], to: u64| {
        let all: u64 = bins.iter().map(|bin| bin.requests).sum();
        bins.iter().filter(|bin| bin.to <= to).map(|bin| bin.requests).sum::<u64>() as f64 / all as f64
    };
    let ends = one.iter().chain(two).map(|bin| bin.to);
    ends.map(|to| (below(one, to) - below(two, to)).abs()).fold(0.0, f64::max)
}

fn share(counts: &BTreeMap<String, u64>, name: &str) -> f64 {
    counts.get(name).copied().unwrap_or(0) as f64 / counts.values().sum::<u64>() as f64
}

#[test]
fn a_replayed_mix_is_found_again() {
    const SENT: u64 = 8000;
    let bench = Bench::new();
    std::fs::write(bench.path("get.txt"), lines(800)).unwrap();
    std::fs::write(bench.path("head.txt"), lines(100)).unwrap();
    let first = Logged::serve(items());
    load(&bench, &[&first.url(), "--replay", "get.txt"]);
    load(&bench, &[&first.url(), "--replay", "head.txt", "-m", "HEAD"]);
    let mix = first.mix(&bench, "first", &[]);
    let asked: u32 = (1..=40).map(|n| 800 / n + 100 / n).sum();
    assert_eq!((mix.requests, mix.popularity.top.len()), (u64::from(asked), 40));
    assert_eq!(mix.sizes.heads + mix.sizes.requests, mix.requests);
    // Its paths are not in the document.
    assert!(!std::fs::read_to_string(bench.path("first.json")).unwrap().contains(".bin"));

    // Names follow the rank, so that the sizes of files are those of the paths that they stand for.
    let made = objects(&mix, 64 << 20);
    assert_eq!((made.items.len(), made.cut, made.items[0].bytes), (40, None, 97));
    // The requests with HEAD are spread a little differently, by rounding.
    assert!(made.distance < 5e-3, "{}", made.distance);
    let second = Logged::serve(made.items);
    let sent = SENT.to_string();
    let done = load(&bench, &[&second.url(), "--replay", "first.json", "-n", &sent, "-r", "20k"]);
    assert_eq!((done.good, done.errors.len()), (SENT, 0), "{done:#?}");
    assert!(done.params.get("mix").unwrap().starts_with("first@"), "{:?}", done.params);

    let again = second.mix(&bench, "second", &["--paths"]);
    assert_eq!((again.requests, again.popularity.logged), (SENT, true));
    let apart = distance(&mix.sizes.bins, &again.sizes.bins);
    assert!(apart <= made.distance + allowed(again.sizes.requests), "{apart}");
    let (head, found) = (share(&mix.methods, "HEAD"), share(&again.methods, "HEAD"));
    assert!(head > 0.1 && (head - found).abs() <= allowed(SENT), "{head} {found}");
    for one in &mix.popularity.top {
        let there = again.popularity.top.iter().find(|other| other.path == one.path);
        let found = there.map_or(0, |other| other.requests) as f64 / SENT as f64;
        let wanted = one.requests as f64 / mix.popularity.requests as f64;
        assert!((found - wanted).abs() <= allowed(SENT), "{} {found} {wanted}", one.path);
        if let Some(bytes) = there.and_then(|other| other.bytes) {
            assert_eq!(Some(bytes), one.bytes, "{}", one.path);
        }
    }
    assert_eq!(share(&again.statuses, "200"), 1.0);
}

#[test]
fn a_log_is_sent_again_as_it_is() {
    let bench = Bench::new();
    std::fs::write(bench.path("get.txt"), lines(100)).unwrap();
    let server = Logged::serve(items());
    load(&bench, &[&server.url(), "--replay", "get.txt"]);
    load(&bench, &[&server.url(), "--replay", "get.txt", "-m", "HEAD"]);
    std::fs::copy(server.log(), bench.path("once.log")).expect("a copy");
    let before = server.mix(&bench, "before", &["--paths"]);
    let done = load(&bench, &[&server.url(), "--replay", "once.log", "--speed", "50x"]);
    // The file that the server is asked for when it starts is in its log too.
    assert_eq!(done.good, before.requests + 1);
    let after = server.mix(&bench, "after", &["--paths"]);
    assert_eq!(after.requests, 2 * before.requests);
    for (one, two) in before.popularity.top.iter().zip(&after.popularity.top) {
        assert_eq!((2 * one.requests, one.bytes), (two.requests, two.bytes));
    }
    let doubled = |counts: &BTreeMap<String, u64>| -> BTreeMap<String, u64> {
        counts.iter().map(|(name, count)| (name.clone(), 2 * count)).collect()
    };
    assert_eq!(doubled(&before.methods), after.methods);
    bench.run(&["load", &server.url(), "--replay", "once.log", "-d", "1s"]).expect(2, &["--duration"]);
    bench.run(&["load", &server.url(), "--replay", "once.log", "-m", "POST"]).expect(2, &["method=POST"]);
}

#[test]
fn our_server_serves_a_mix_and_figures_of_two_are_kept_apart() {
    let bench = Bench::new();
    std::fs::set_permissions(bench.dir.path(), PermissionsExt::from_mode(0o755)).expect("open to all");
    let mut names = Vec::new();
    for (name, bytes) in [("small", 300), ("large", 30_000)] {
        let mut log = String::new();
        for n in 0..2000u32 {
            let (path, second) = (n * n % 90, n / 400);
            writeln!(
                log,
                "::1 - - [01/May/2010:10:00:{second:02} +0000] \"GET /{path} HTTP/1.1\" 200 {}",
                bytes + path
            )
            .unwrap();
        }
        std::fs::write(bench.path("a.log"), log).unwrap();
        let (label, file) = (format!("{name}=a.log"), format!("{name}.json"));
        bench
            .run(&["logs", &label, "--no-store", "--profile-out", &file])
            .expect(0, &["called by their rank"]);
        let set = "connections=2;arrivals=mix;load=auto;keepalive=on;generators=1;duration=0.5;server=nginx";
        let args =
            ["run", "web", "--takes", "1", "--no-report", "--mix", &file, "--set", set, "--label", name];
        bench.run(&args).expect(0, &[]);
        let head =
            bench.heads().into_iter().find(|head| head.label.as_deref() == Some(name)).expect("stored");
        let run = bench.data(&head.id);
        let (named, mix) = run.plan.mixes.first_key_value().expect("the mix is in the plan");
        assert_eq!(mix.label, name);
        let of_web = || run.series.iter().filter(|series| series.key.instrument == "web");
        assert!(of_web().count() > 0 && of_web().all(|series| series.key.params.get("mix") == Some(named)));
        let said: Vec<_> =
            run.notes.iter().filter(|note| note.kind() == "mix").map(|note| note.text()).collect();
        assert!(said.iter().any(|text| text.contains("files of")), "{said:?}");
        names.push(named.clone());
    }
    assert_ne!(names[0], names[1]);
    bench.run(&["compare", "small", "large"]).expect(1, &["differ in mix (small@"]);
    // The plan has the mix: it needs no file.
    std::fs::remove_file(bench.path("small.json")).unwrap();
    bench.run(&["run", "--plan", "small", "--no-report"]).expect(0, &[]);
}

#[test]
fn a_mix_that_cannot_be_is_told_with_file_and_key() {
    let bench = Bench::new();
    std::fs::write(
        bench.path("a.log"),
        "::1 - - [01/May/2010:10:00:00 +0000] \"GET / HTTP/1.1\" 200 10\n".repeat(5),
    )
    .unwrap();
    bench.run(&["logs", "a.log", "--no-store", "--profile-out", "mix.json"]).expect(0, &[]);
    let text = std::fs::read_to_string(bench.path("mix.json")).unwrap();
    for (from, to, says) in [
        ("\"requests\": 5,\n    \"bytes\"", "\"requests\": 6,\n    \"bytes\"", "sizes.requests: 6"),
        ("\"seed\": 1,", "", "missing field `seed`"),
        ("boxscore.mix/1", "boxscore.mix/7", "schema: \"boxscore.mix/7\""),
        ("\"/m-000001\"", "\"m 1\"", "popularity.top[0].path"),
    ] {
        let bad = text.replace(from, to);
        assert_ne!(bad, text);
        std::fs::write(bench.path("bad.json"), bad).unwrap();
        bench
            .run(&["run", "web", "--takes", "1", "--for", "5s", "--mix", "bad.json"])
            .expect(1, &["--mix bad.json", says]);
        bench.run(&["load", "http://127.0.0.1:1/", "--replay", "bad.json"]).expect(1, &["bad.json", says]);
    }
    bench.run(&["run", "web", "--mix", "no.json"]).expect(1, &["no.json"]);
    bench.run(&["run", "cpu", "--mix", "mix.json"]).expect(2, &["--mix", "family web"]);
    bench
        .run(&["run", "web", "--takes", "1", "--for", "5s", "--set", "arrivals=mix"])
        .expect(2, &["--mix FILE"]);
    bench
        .run(&["logs", "x=a.log", "y=a.log", "--no-store", "--profile-out", "m.json"])
        .expect(2, &["one label"]);
    bench.run(&["logs", "a.log", "--no-store", "--paths"]).expect(2, &["--profile-out"]);
    assert!(!bench.store().exists());
}
