//! Studies of targets: servers, stores and far ends of the user's, measured in turns by one command and compared.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::host::{Namespace, ip};
use crate::common::{Bench, PATIENCE, PROGRAM, Running, Said, cannot, signal};
use crate::kv_load::Managed;
use crate::net::Peer;
use instruments::workload::store_server::StoreKind;
use model::Phase;
use model::data::{RunData, Status};
use model::doc::{CompareDoc, HistoryDoc, HostFigureDoc, RowDoc, RunDoc, VerdictWord};
use model::subject::SubjectKind;

/// An nginx that is started as a user would: one page of text, with these lines of configuration.
pub struct Nginx {
    child: Child,
    host: String,
    port: u16,
    dir: tempfile::TempDir,
}

impl Nginx {
    pub fn start(lines: &str) -> Nginx {
        Nginx::start_within(None, "127.0.0.1", lines)
    }

    /// The same in a network namespace, at an address of it.
    fn start_within(space: Option<&Namespace>, host: &str, lines: &str) -> Nginx {
        let dir = tempfile::Builder::new().prefix("nginx").tempdir_in("/tmp").expect("a folder");
        std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).expect("open to all");
        let page: String = (0..2_000).map(|number| format!("{} line\n", number * 7919 % 10_007)).collect();
        std::fs::write(dir.path().join("page.txt"), page).expect("a page");
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        drop(listener);
        let root = dir.path().display();
        let user = if crate::common::root() { "user root;" } else { "" };
        let config = format!(
            "{user} daemon off; worker_processes 1; worker_cpu_affinity 1; pid {root}/pid; error_log {root}/error.log;\n\
             events {{ worker_connections 256; }}\n\
             http {{ access_log off; client_body_temp_path {root}/body; proxy_temp_path {root}/proxy;\n\
             fastcgi_temp_path {root}/fastcgi; uwsgi_temp_path {root}/uwsgi; scgi_temp_path {root}/scgi;\n\
             types {{ text/plain txt; }} {lines}\n\
             server {{ listen {host}:{port}; root {root}; }} }}\n"
        );
        std::fs::write(dir.path().join("nginx.conf"), config).expect("a configuration");
        let child = Nginx::launched(space, dir.path(), (host, port));
        Nginx { child, host: host.to_owned(), port, dir }
    }

    /// An nginx that listens, with the configuration in a folder.
    fn launched(space: Option<&Namespace>, dir: &Path, address: (&str, u16)) -> Child {
        let mut command = Command::new(if space.is_some() { "ip" } else { "nginx" });
        if let Some(space) = space {
            command.args(["netns", "exec", &space.0, "nginx"]);
        }
        command.arg("-c").arg(dir.join("nginx.conf")).arg("-p").arg(dir);
        let child = command.stderr(Stdio::null()).stdout(Stdio::null()).spawn();
        let end = Instant::now() + PATIENCE;
        while std::net::TcpStream::connect(address).is_err() {
            assert!(Instant::now() < end, "nginx does not listen");
            std::thread::sleep(Duration::from_millis(10));
        }
        child.expect("`sh xtask/setup.sh test` installs nginx")
    }

    /// Starts it again where it was.
    pub fn again(&mut self) {
        self.child = Nginx::launched(None, self.dir.path(), (&self.host, self.port));
    }

    pub fn url(&self) -> String {
        format!("http://{}:{}/page.txt", self.host, self.port)
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn stop(&mut self) {
        if self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            signal(self.child.id(), "TERM");
            self.child.wait().expect("it ends");
        }
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Two of which the second compresses each answer.
pub fn two() -> (Nginx, Nginx) {
    let gzip = "gzip on; gzip_comp_level 9; gzip_types text/plain;";
    (Nginx::start(""), Nginx::start(gzip))
}

pub fn targets(plain: &Nginx, gzip: &Nginx) -> [String; 2] {
    [format!("plain={}", plain.url()), format!("gzip={}", gzip.url())]
}

const GZIP: [&str; 2] = ["-H", "Accept-Encoding: gzip"];

fn compared(said: &Said) -> CompareDoc {
    serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:?}"))
}

fn row<'d>(doc: &'d CompareDoc, metric: &str) -> &'d RowDoc {
    doc.rows
        .iter()
        .find(|row| row.metric == metric)
        .unwrap_or_else(|| panic!("no {metric}: {}", doc.paragraph))
}

/// True where other work on the machine made the load generator the limit, so that nothing is said of the servers.
fn is_generators(doc: &CompareDoc) -> bool {
    doc.paragraph.to_string().contains("the load generator set the figure")
}

/// The ratio lies within these ends, and no verdict is against it. Other work may keep it from being proved.
#[track_caller]
fn assert_slower(doc: &CompareDoc, metric: &str, ends: (f64, f64)) {
    let row = row(doc, metric);
    let is_open = matches!(row.verdict, VerdictWord::Worse | VerdictWord::CannotTell);
    let within = row.ratio.map_or(is_generators(doc), |ratio| (ends.0..ends.1).contains(&ratio));
    assert!(is_open && within, "{metric}: {:?} {:?}: {}", row.verdict, row.ratio, doc.paragraph);
}

/// The first words of a comparison in which `gzip` comes second.
#[track_caller]
fn assert_leads(doc: &CompareDoc, text: &str) {
    let is_told = ["gzip answers ", "gzip probably answers "].iter().any(|start| text.starts_with(start));
    assert!(is_told || is_generators(doc), "{text}");
}

/// The middle rate of a target's takes, as stored.
fn rate(run: &RunData, target: &str) -> f64 {
    let of_target = |key: &model::SeriesKey| key.metric == "throughput" && key.arm == target;
    let series = run.rows().find(|series| of_target(&series.key)).expect("its rates");
    stats::median(&series.measured()).expect("a take")
}

pub fn measured(run: &RunData, arm: u32) -> usize {
    let of_arm = run.takes.iter().filter(|take| take.arm == arm && take.phase == Phase::Measured);
    of_arm.filter(|take| take.fault.is_none()).count()
}

#[test]
fn two_loads_of_one_url_are_one_server() {
    let (bench, nginx) = (Bench::new(), Nginx::start(""));
    for _ in 0..2 {
        bench.run(&["load", &nginx.url(), "-d", "300ms", "-c", "4"]).expect(0, &[]);
    }
    let heads = bench.heads();
    let [one, two] = [0, 1].map(|at: usize| heads[at].id.clone());
    let says =
        format!("both sides are {}, one server measured at different times; measured from", nginx.url());
    let said = bench.run(&["compare", &one, &two, "--all"]);
    let text = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(&says), "{text}");
    assert!(!text.contains("share the host"), "{text}");
}

#[test]
fn one_command_says_which_of_two_web_servers_is_faster() {
    let (plain, gzip) = two();
    let [a, b] = targets(&plain, &gzip);
    let bench = Bench::new();
    let load =
        ["load", "--target", &a, "--target", &b, GZIP[0], GZIP[1], "-c", "4", "-t", "1", "-d", "200ms"];
    let said = bench.run(&[&load[..], &["--json"]].concat()).expect(0, &["`plain` and `gzip` share a host"]);
    let doc = compared(&said);
    let names: Vec<&str> = doc.arms.iter().map(|arm| arm.name.as_str()).collect();
    assert_eq!(names, ["plain", "gzip"]);
    let subject = doc.arms[1].subject.as_ref().expect("a target");
    assert_eq!((subject.kind, subject.address.as_deref()), (SubjectKind::Target, Some(gzip.url().as_str())));
    assert_slower(&doc, "throughput", (0.0, 0.5));
    assert_leads(&doc, &doc.paragraph.lead);
    let run = bench.only();
    assert_eq!((measured(&run, 0), measured(&run, 1)), (10, 10));
    // The screen of the stored study: one table, in which the sides have the names of the targets.
    let said = bench.run(&["compare", "latest"]).expect(0, &[]);
    assert_leads(&doc, &said.out);
    assert!(said.out.contains(&format!("plain is {}", plain.url())), "{}", said.out);
    // A target is a name of `compare` as machines and labels are.
    let said = bench.run(&["compare", "gzip", "plain", "--json"]).expect(0, &[]);
    let turned = compared(&said);
    let ratio = row(&turned, "throughput").ratio;
    assert!(ratio.map_or(is_generators(&turned), |ratio| ratio > 2.0), "{}", said.out);
    assert!(rate(&run, "gzip") < 0.5 * rate(&run, "plain"));
    let said = bench.run(&["history", "--json"]).expect(0, &[]);
    let history: HistoryDoc = serde_json::from_str(&said.out).expect("a document");
    assert!(history.runs[0].what.starts_with("plain against gzip (web)"), "{}", history.runs[0].what);
    assert_eq!(history.runs[0].subjects.len(), 2);
}

#[test]
fn two_servers_under_the_same_open_load_are_judged_by_their_times() {
    let (plain, gzip) = two();
    let [a, b] = targets(&plain, &gzip);
    let bench = Bench::new();
    let load = ["load", "--target", &a, "--target", &b, GZIP[0], GZIP[1], "-c", "4", "-t", "1"];
    let said = bench.run(&[&load[..], &["-r", "50", "-d", "400ms", "--json"]].concat()).expect(0, &[]);
    let doc = compared(&said);
    // Both answer all that is offered, at the same times; one of them later.
    assert_ne!(row(&doc, "throughput").verdict, VerdictWord::Better, "{}", doc.paragraph);
    assert_slower(&doc, "response-time", (1.2, 1e6));
    let run = bench.only();
    let offered: Vec<f64> = run
        .series
        .iter()
        .filter(|series| series.key.metric == "offered-load")
        .flat_map(|series| series.measured())
        .collect();
    assert!(offered.len() == 20 && offered.iter().all(|rate| *rate == 50.0), "{offered:?}");
}

#[test]
fn a_run_of_the_web_compares_targets_and_their_prices() {
    let (plain, gzip) = two();
    let [a, b] = targets(&plain, &gzip);
    let bench = Bench::new();
    let run = [
        "run",
        "web",
        "--target",
        &a,
        "--target",
        &b,
        "--header",
        GZIP[1],
        "--takes",
        "6",
        "--sittings",
        "1",
    ];
    let more = ["--set", "duration=0.2;connections=4", "--price", "plain=0.10/h", "--price", "gzip=0.20/h"];
    let said = bench.run(&[&run[..], &more, &["--no-report"]].concat()).expect(0, &[]);
    let doc = compared(&bench.run(&["compare", "latest", "--json"]).expect(0, &[]));
    assert_leads(&doc, &said.out);
    assert!(row(&doc, "throughput").per_price.is_some() || is_generators(&doc), "{}", doc.paragraph);
    let plan = bench.only().plan;
    assert_eq!(plan.targets.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["plain", "gzip"]);
    // Rates that are shares of a capacity are the same for both.
    let more = ["--set", "duration=0.2;connections=4;arrivals=poisson;load=50%", "--label", "open"];
    let said = bench
        .run(&[&run[..], &more, &["--no-report"]].concat())
        .expect(0, &["ask every target for the same rates"]);
    assert!(said.out.contains("gzip"), "{}", said.out);
    let heads = bench.heads();
    let open = heads.iter().find(|head| head.label.as_deref() == Some("open")).expect("it is stored");
    let cells = bench.data(&open.id).plan.cells.clone();
    let is_absolute = |cell: &model::Cell| {
        cell.params.get("load") == Some("auto") && cell.params.get("rate").is_some_and(|rate| rate != "auto")
    };
    assert!(!cells.is_empty() && cells.iter().all(is_absolute), "{cells:?}");
}

#[test]
fn stores_of_two_kinds_are_compared_under_one_load() {
    let (redis, memcached) = (Managed::start(StoreKind::Redis), Managed::start(StoreKind::Memcached));
    let other = Managed::start(StoreKind::Redis);
    let bench = Bench::new();
    let (a, b) = (format!("r={}", redis.url()), format!("m={}", memcached.url()));
    let load =
        ["load", "--target", &a, "--target", &b, "-c", "4", "-t", "1", "--keys", "1000", "-d", "100ms"];
    let doc = compared(&bench.run(&[&load[..], &["--json"]].concat()).expect(0, &[]));
    assert_eq!(doc.arms.iter().map(|arm| arm.name.as_str()).collect::<Vec<_>>(), ["r", "m"]);
    assert!(row(&doc, "throughput").arm_value.is_some_and(|rate| rate > 0.0), "{}", doc.paragraph);
    assert_eq!((redis.keys(), memcached.keys()), (0, 0), "keys of ours are left");
    let second = format!("s={}", other.url());
    let short = ["--takes", "2", "--sittings", "1", "--no-report", "--for", "60s"];
    let run = [
        "run",
        "kv-load",
        "--target",
        &a,
        "--target",
        &second,
        "--set",
        "duration=0.1;keys=1000;connections=4",
    ];
    bench.run(&[&run[..], &["--set", "arrivals=closed"], &short].concat()).expect(0, &[]);
    // The screen of a run leaves notes out where it has many.
    let id = bench.heads().last().expect("a run").id.clone();
    let said = bench.run(&["compare", &id, "--all"]).expect(0, &[]);
    assert!(said.out.contains("s is redis://"), "{said:?}");
    let run = ["run", "kv-basic", "--target", &a, "--target", &b, "--set", "definition=era1;limit=50ms"];
    bench.run(&[&run[..], &short].concat()).expect(0, &[]);
    let mixed = ["load", "--target", &a, "--target", "w=http://127.0.0.1:1/"];
    bench.run(&mixed).expect(2, &["a store and another target a web server"]);
}

#[test]
fn far_ends_are_compared() {
    let bench = Bench::new();
    let (one, other) = (Peer::start(&bench, &[]), Peer::start(&bench, &[]));
    let (a, b) = (format!("a={}", one.address), format!("b={}", other.address));
    let run = ["run", "net-rtt", "--target", &a, "--target", &b, "--set", "size=64;mode=block;proto=tcp"];
    bench
        .run(&[&run[..], &["--takes", "2", "--sittings", "1", "--no-report"]].concat())
        .expect(0, &["share a host"]);
    let doc = compared(&bench.run(&["compare", "latest", "--json"]).expect(0, &[]));
    assert_eq!(doc.arms[0].subject.as_ref().and_then(|one| one.address.clone()), Some(one.address.clone()));
    assert!(doc.rows.iter().any(|row| row.instrument == "net-rtt"), "{}", doc.paragraph);
}

#[test]
fn wrong_targets_are_refused_before_anything_is_stored() {
    let nginx = Nginx::start("");
    let (a, b) = (format!("a={}", nginx.url()), format!("b={}", nginx.url()));
    let bench = Bench::new();
    for (words, code, says) in [
        (vec!["run", "web", "--target", &a, "--target", &a], 2, "is given twice"),
        (
            vec!["run", "web", "--target", &a, "--target", "a=http://127.0.0.1:1/"],
            2,
            "two targets are called `a`",
        ),
        (vec!["run", "web", "--target", &a, "--target", &b], 2, "`a` and `b` are one target"),
        (vec!["load", "--target", &a, "--target", &b], 2, "`a` and `b` are one target"),
        (vec!["run", "crc32c", "--target", &a], 2, "crc32c measures this machine, and no target"),
        (
            vec!["run", "web", "--target", "a=redis://127.0.0.1"],
            2,
            "a web server has an http:// or https:// URL",
        ),
        (vec!["run", "kv-load", "--target", &a], 2, "a store has a redis:// or memcached:// URL"),
        (vec!["run", "web", "--target", "a=http://127.0.0.1:1/"], 1, "is the server running"),
        (vec!["load", "--target", &a, "--target", "b=http://127.0.0.1:1/"], 1, "b: "),
        (vec!["run", "web", "--target", &a, "--at", "x=true"], 2, "no target is called `x`"),
        (vec!["run", "web", "--target", &a, "--facts", "a=/no/such"], 1, "/no/such"),
        (vec!["run", "web", "--target", &a, "--price", "x=1/h"], 2, "no machine or target of this run"),
        (vec!["run", "web", "--target", &a, "--watts", "x=40"], 2, "no machine or target of this run"),
        (vec!["load", "--target", &a, "--price", "1/h"], 2, "of which target?"),
        (vec!["load", "--target", &a, "--watts", "a=none"], 2, "not a number of watts"),
        (vec!["load", &nginx.url(), "--watts", "40"], 2, "--target"),
        (vec!["load", &nginx.url(), "--takes", "3"], 2, "--target"),
    ] {
        bench.run(&words).expect(code, &[says]);
    }
    assert!(bench.heads().is_empty());
    // Two pages of one server are two targets, and it is said that they are one server.
    let other = format!("b={}?x", nginx.url());
    let two =
        ["load", "--target", &a, "--target", &other, "-d", "50ms", "--takes", "1", "-c", "2", "-t", "1"];
    bench.run(&two).expect(0, &["`a` and `b` lead to one server"]);
}

#[test]
fn a_target_that_dies_midway_leaves_the_other_to_go_on() {
    let (plain, mut gzip) = two();
    let [a, b] = targets(&plain, &gzip);
    let bench = Bench::new();
    let run =
        ["run", "web", "--target", &a, "--target", &b, "--takes", "8", "--sittings", "1", "--show-takes"];
    let command =
        bench.command(&[&run[..], &["--set", "duration=0.2;connections=2", "--no-report"]].concat());
    let mut running = Running::start(command);
    assert!(running.until("stored take 4"), "{:?}", running.heard);
    gzip.stop();
    let said = running.end().expect(3, &[]);
    let run = bench.only();
    assert_eq!((measured(&run, 0), run.head.status), (8, Status::Faulty), "{:?}", run.notes);
    assert!(measured(&run, 1) < 8);
    let words = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("of 8 takes failed: nothing accepts connections at "), "{}", said.out);
}

#[test]
fn facts_of_a_target_come_from_its_host_or_from_a_file() {
    let nginx = Nginx::start("");
    let (a, b) = (format!("a={}", nginx.url()), format!("b={}?x", nginx.url()));
    let bench = Bench::new();
    let sheet = bench.run(&["inspect", "--json"]).expect(0, &[]).out;
    std::fs::write(bench.path("sheet.json"), sheet).expect("a file");
    let at = format!("a={}", crate::common::open_program().display());
    let facts = format!("b={}", bench.path("sheet.json").display());
    let load = ["load", "--target", &a, "--target", &b, "-d", "50ms", "--takes", "1", "-c", "2", "-t", "1"];
    let said = bench.run(&[&load[..], &["--at", &at, "--facts", &facts]].concat()).expect(0, &[]);
    let words = |said: &Said| said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!words(&said).contains("nothing is known"), "{}", said.out);
    let plan = bench.only().plan;
    let model = |fact: &model::Fact| fact.key == "cpu.threads" && fact.value.is_some();
    assert!(plan.targets.iter().all(|target| target.facts.iter().any(model)), "{:?}", plan.targets);
    let unknown = bench.run(&load).expect(0, &[]);
    assert!(words(&unknown).contains("of the host of a and b nothing is known"), "{}", unknown.out);
}

/// A network namespace with a link to this one, and its address.
fn apart() -> Result<(Namespace, &'static str), String> {
    let space = Namespace::new("target")?;
    let (near, far) = ("bxtt0", "bxtt1");
    space.ip(&format!("link add {far} type veth peer name {near} netns {}", std::process::id()))?;
    ip(&format!("address add 10.253.9.1/24 dev {near}"))?;
    ip(&format!("link set {near} up"))?;
    space.ip(&format!("address add 10.253.9.2/24 dev {far}"))?;
    space.ip(&format!("link set {far} up"))?;
    Ok((space, "10.253.9.2"))
}

#[test]
fn the_host_of_a_target_is_watched_while_takes_are_done() {
    let (space, address) = match ip("-V").and_then(|()| apart()) {
        Ok(made) => made,
        Err(why) => return cannot(&why),
    };
    let (far, near) = (Nginx::start_within(Some(&space), address, ""), Nginx::start(""));
    let (a, b) = (format!("a={}", far.url()), format!("b={}", near.url()));
    let at = format!("a=ip netns exec {} {PROGRAM}", space.0);
    let bench = Bench::new();
    let load = ["load", "--target", &a, "--target", &b, "-d", "2500ms", "--takes", "3", "-c", "4", "-t", "1"];
    let costs = ["--price", "a=0.10/h", "--price", "b=0.20/h", "--watts", "a=40", "--watts", "b=20"];
    bench.run(&[&load[..], &costs, &["--at", &at]].concat()).expect(0, &[]);
    let run = bench.only();
    // Raw ticks, under the target's name, from the start of the run to its end; none of the other target.
    assert!(run.target_telemetry.iter().all(|one| one.target == "a"));
    let cpu: Vec<u64> = run
        .target_telemetry
        .iter()
        .filter(|one| one.segment.source == "cpu-use")
        .flat_map(|one| one.segment.at_ns.clone())
        .collect();
    assert!(cpu.len() >= 10 && cpu.windows(2).all(|pair| pair[0] < pair[1]), "{cpu:?}");
    let last_ns = run.takes.iter().map(|take| take.end_ns).max().expect("takes");
    assert!(cpu.last().is_some_and(|at| *at + 2_000_000_000 > last_ns), "{cpu:?} {last_ns}");
    let links = run.target_telemetry.iter().filter(|one| one.segment.source == "net-use");
    let mut names = links.flat_map(|one| &one.segment.columns);
    assert!(names.any(|(name, _)| name == "sent{interface=bxtt1}"), "its own interfaces");
    // It is told where the target is.
    let all = bench.run(&["show", "latest", "--all"]);
    let words = all.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("host of a during its takes: CPUs "), "{}", all.out);
    let shown = bench.run(&["show", "latest", "--json"]).expect(0, &[]);
    let doc: RunDoc = serde_json::from_str(&shown.out).expect("a document");
    let [host] = &doc.target_hosts[..] else { panic!("{:?}", doc.target_hosts) };
    assert_eq!((host.target.as_str(), host.takes, host.takes_seen), ("a", 3, 3));
    let sent = |one: &&HostFigureDoc| one.metric == "sent" && one.part.as_deref() == Some("interface=bxtt1");
    assert!(host.figures.iter().find(sent).is_some_and(|one| one.median > 1e6), "{:?}", host.figures);
    let seen = doc.bottlenecks.iter().find(|one| one.arm == "a").expect("a bottleneck");
    assert!(seen.resources.iter().any(|one| one.resource.ends_with(" of the host of a")), "{seen:?}");
    assert!(
        bench.run(&["show", "latest", "--all"]).expect(0, &[]).out.contains("host of a during its takes")
    );
    // What each costs and draws is its own.
    let doc = compared(&bench.run(&["compare", "latest", "--json"]).expect(0, &[]));
    assert_eq!((doc.arms[0].watts, doc.arms[1].watts), (Some(40.0), Some(20.0)));
    let row = row(&doc, "throughput");
    assert!(row.per_watt.is_some() && row.per_price.is_some() || is_generators(&doc), "{row:?}");
    // An exported run takes it along.
    let export = bench.run(&["export", "latest"]).expect(0, &[]).out;
    std::fs::write(bench.path("run.json"), export).expect("a file");
    let other = Bench::new();
    other.run(&["import", &bench.path("run.json").display().to_string()]).expect(0, &[]);
    assert_eq!(other.only().target_telemetry, run.target_telemetry);
}

#[test]
fn two_servers_of_one_host_are_told_apart_by_their_processes() {
    let (plain, gzip) = two();
    let [a, b] = targets(&plain, &gzip);
    let bench = Bench::new();
    let at = ["plain", "gzip"].map(|name| format!("{name}={PROGRAM}"));
    let load = ["load", "--target", &a, "--target", &b, GZIP[0], GZIP[1], "-c", "4", "-t", "1"];
    let more = ["-d", "2500ms", "--takes", "2", "--at", &at[0], "--at", &at[1]];
    bench.run(&[&load[..], &more].concat()).expect(0, &["share a host"]);
    let doc: RunDoc = serde_json::from_str(&bench.run(&["show", "latest", "--json"]).expect(0, &[]).out)
        .expect("a document");
    assert_eq!(doc.target_hosts.len(), 2, "{:?}", doc.target_hosts);
    for (host, other) in doc.target_hosts.iter().zip(["gzip", "plain"]) {
        // Each has one process that works, on one core: what both use together is more than either may.
        let cores = host.figures.iter().find(|one| one.metric == "server-cores").expect("of its processes");
        assert!(cores.median > 0.0 && cores.highest < 1.2, "{cores:?}");
        assert!(host.sentence.contains("; its server "), "{}", host.sentence);
        let shared =
            format!("{other} is on this host: all of these figures but that of its server count it too");
        assert!(host.sentence.ends_with(&shared), "{}", host.sentence);
    }
}

#[test]
fn each_target_is_measured_in_each_arm_and_compared_in_one() {
    let (plain, gzip) = two();
    let [a, b] = targets(&plain, &gzip);
    let bench = Bench::new();
    let run = ["run", "web", "--target", &a, "--target", &b, "--header", GZIP[1], "--no-report"];
    let arms = ["--arm", "connections=1", "--arm", "connections=4", "--set", "duration=0.2"];
    let said = bench.run(&[&run[..], &arms, &["--takes", "6", "--sittings", "1"]].concat());
    said.expect(0, &["boxscore compare 'plain connections=4' 'gzip connections=4'"]);
    let run = bench.only();
    let names: Vec<&str> = run.plan.arms.iter().map(|arm| arm.name.as_str()).collect();
    let wanted = ["plain connections=1", "gzip connections=1", "plain connections=4", "gzip connections=4"];
    assert_eq!(names, wanted);
    assert_eq!([0, 1, 2, 3].map(|arm| measured(&run, arm)), [6; 4]);
    // In turns: each block has every target in every arm.
    let blocks = run.takes.iter().filter(|take| take.phase == Phase::Measured).map(|take| take.block);
    assert!(blocks.collect::<Vec<_>>().chunks(4).all(|four| four.iter().all(|block| *block == four[0])));
    let compare = ["compare", "plain connections=4", "gzip connections=4", "--json"];
    let doc = compared(&bench.run(&compare).expect(0, &[]));
    assert_slower(&doc, "throughput", (0.0, 0.5));
    let subject = |at: usize| doc.arms[at].subject.as_ref().map(|one| one.name.clone());
    assert_eq!((subject(0).as_deref(), subject(1).as_deref()), (Some("plain"), Some("gzip")));
    bench.run(&["compare", "plain", "gzip"]).expect(2, &["was measured in several arms"]);
    let said = bench.run(&["history", "--json"]).expect(0, &[]);
    let history: HistoryDoc = serde_json::from_str(&said.out).expect("a document");
    assert_eq!(history.runs[0].subjects.len(), 2);
}

#[test]
fn one_process_at_two_addresses_is_said() {
    let port = {
        let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        free.local_addr().expect("an address").port()
    };
    let nginx = Nginx::start(&format!("server {{ listen 127.0.0.1:{port}; location / {{ return 204; }} }}"));
    let (a, b) = (format!("a={}", nginx.url()), format!("b=http://127.0.0.1:{port}/"));
    let bench = Bench::new();
    let load = ["load", "--target", &a, "--target", &b, "-d", "50ms", "--takes", "1", "-c", "2", "-t", "1"];
    let said = bench.run(&load).expect(0, &["`a` and `b` are one process"]);
    assert!(!said.err.contains("share a host"), "{}", said.err);
}

#[test]
fn a_study_goes_on_without_the_host_of_a_target() {
    let nginx = Nginx::start("");
    let (a, b) = (format!("a={}", nginx.url()), format!("b={}?x", nginx.url()));
    let bench = Bench::new();
    // It answers once, when it is asked for its facts.
    let once = bench.path("once").display().to_string();
    let at = format!("a=test -e {once} && exit 7; touch {once}; {PROGRAM}");
    let load = ["load", "--target", &a, "--target", &b, "-d", "100ms", "--takes", "2", "-c", "2", "-t", "1"];
    let said = bench.run(&[&load[..], &["--at", &at]].concat());
    said.expect(0, &["telemetry of the host of target a", "lost"]);
    let run = bench.only();
    assert_eq!((measured(&run, 0), measured(&run, 1)), (2, 2));
    assert!(run.target_telemetry.is_empty());
    assert!(run.notes.iter().any(|note| note.text().contains("the telemetry of the host of a ends here")));
}

#[test]
fn runs_of_unlike_loads_are_set_beside_each_other_on_demand() {
    let (redis, memcached) = (Managed::start(StoreKind::Redis), Managed::start(StoreKind::Memcached));
    let bench = Bench::new();
    for (label, url) in [("r", redis.url()), ("m", memcached.url())] {
        let load = ["load", &url, "-c", "2", "-t", "1", "-d", "100ms", "--keys", "100", "--label", label];
        bench.run(&load).expect(0, &[]);
    }
    bench.run(&["compare", "r", "m"]).expect(1, &["differ in server", "--across", "server"]);
    bench
        .run(&["compare", "r", "m", "--across", "nothing"])
        .expect(2, &["no figure of these has that parameter"]);
    let said = bench.run(&["compare", "r", "m", "--across", "server,url"]).expect(0, &[]);
    let words = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("server (redis against memcached)") && words.contains("(--across)"),
        "{}",
        said.out
    );
}
