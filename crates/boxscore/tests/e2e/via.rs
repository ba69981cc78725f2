//! Studies of several machines by `--via`: shells, network namespaces, a CPU quota, and commands that fail.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::common::host::{Namespace, Quota};
use crate::common::{Bench, FAKE, ONE, PROGRAM, Running, assert_whole, cannot, said};
use model::data::{RunData, Status};

fn runs(bench: &Bench) -> Vec<RunData> {
    bench.heads().iter().map(|head| bench.data(&head.id)).collect()
}

fn of<'a>(runs: &'a [RunData], machine: &str) -> &'a RunData {
    let found = runs.iter().find(|run| run.head.machine == machine);
    found.unwrap_or_else(|| {
        panic!("no {machine} in {:?}", runs.iter().map(|run| &run.head).collect::<Vec<_>>())
    })
}

/// Runs one cell on these machines.
fn study(bench: &Bench, first: &[&str], takes: &str, via: &[String]) -> crate::common::Said {
    let mut args: Vec<&str> = first.iter().copied().chain(["--takes", takes, "--show-takes"]).collect();
    via.iter().for_each(|via| args.extend(["--via", via.as_str()]));
    bench.run(&args)
}

#[test]
fn two_machines_are_one_interleaved_study() {
    let bench = Bench::new();
    let via = [format!("a={PROGRAM}"), format!("b=sh -c 'exec \"$0\" \"$@\"' {PROGRAM}")];
    let said = study(&bench, &FAKE, "6", &via).expect(0, &[]);
    let runs = runs(&bench);
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[0].head.study, runs[1].head.study);
    runs.iter().for_each(|run| assert_whole(run, 6));
    // In each block each machine once: the lines come in pairs.
    let lines: Vec<&str> = said.err.lines().filter(|line| line.contains("stored take")).collect();
    assert_eq!(lines.len(), 14);
    for (block, pair) in lines.chunks(2).enumerate() {
        let mut pair = pair.to_vec();
        pair.sort_unstable();
        assert_eq!(pair, [format!("a: stored take {block}"), format!("b: stored take {block}")]);
    }
    assert!(lines.iter().step_by(2).any(|line| line.starts_with("b:")), "the order within a block is random");
    assert!(lines.iter().step_by(2).any(|line| line.starts_with("a:")), "the order within a block is random");
}

#[test]
fn a_study_raises_its_limit_of_open_files_and_names_one_that_is_too_low() {
    let bench = Bench::new();
    let machines: Vec<String> =
        (0..30).flat_map(|at| ["--via".to_owned(), format!("m{at}={PROGRAM}")]).collect();
    let words = FAKE.iter().copied().chain(["--takes", "1"]);
    let words: Vec<&str> = words.chain(machines.iter().map(String::as_str)).collect();
    let under = |limit: &str| {
        let limit = format!("ulimit {limit}; exec \"$0\" \"$@\"");
        said(&mut bench.behind(&["sh", "-c", &limit], &words))
    };
    under("-n 90").expect(1, &["30 agents: ", "and this process may have 90; raise the limit"]);
    assert!(bench.heads().is_empty());
    under("-S -n 90").expect(0, &[]);
    assert_eq!(runs(&bench).len(), 30);
}

#[test]
fn machines_of_a_study_have_their_prices_and_a_label_comes_before_them() {
    let bench = Bench::new();
    let via = [format!("a={PROGRAM}"), format!("b={PROGRAM}")];
    let priced = [&FAKE[..], &["--price", "a=0.1/h", "--price", "b=0.06/h", "--cpus", "0"]].concat();
    study(&bench, &priced, "6", &via).expect(0, &[]);
    let runs = runs(&bench);
    let price = |machine: &str| of(&runs, machine).head.price.clone().map(|price| price.amount);
    assert_eq!((price("a"), price("b")), (Some(0.1), Some(0.06)));
    assert_eq!(of(&runs, "a").usable_cpus(), Some(1.0));
    let allowed = of(&runs, "a").facts.iter().find(|fact| fact.key == "process.cpus").unwrap();
    assert_eq!((allowed.value.as_ref().unwrap().text().as_str(), allowed.source.as_str()), ("0", "--cpus"));
    bench.run(&[&FAKE[..], &["--takes", "6", "--label", "a"]].concat()).expect(0, &[]);
    let said = bench.run(&["compare", "a", "b"]).expect(0, &["`a` is the label here"]);
    assert!(said.out.contains("try     ") || !said.out.contains('?'), "{}", said.out);
    // A study that is repeated keeps them.
    let again = of(&runs, "a").head.id.clone();
    bench.run(&["run", "--plan", &again, "--no-report", "--fake", "world.json"]).expect(0, &[]);
    let priced = bench.heads().into_iter().filter(|head| head.machine == "b" && head.price.is_some()).count();
    assert_eq!(priced, 2, "the study and its repetition");
    let other = [&FAKE[..], &["--takes", "2", "--price", "c=1/h"]].concat();
    bench.run(&other).expect(2, &["no machine or target of this run is called `c`"]);
}

#[test]
fn a_machine_that_cannot_be_reached_is_named_and_the_other_goes_on() {
    let bench = Bench::new();
    let via = [format!("good={PROGRAM}"), "bad=/nowhere/boxscore".to_owned()];
    study(&bench, &FAKE, "3", &via).expect(
        3,
        &["bad (/nowhere/boxscore): lost:", "exit code 127", "give the path that boxscore has there"],
    );
    let runs = runs(&bench);
    assert_eq!(runs.len(), 1);
    assert_whole(of(&runs, "good"), 3);
}

#[test]
fn no_machine_at_all_is_an_error() {
    let bench = Bench::new();
    let via = ["bad=echo the door is locked >&2; false".to_owned()];
    study(&bench, &FAKE, "3", &via).expect(
        1,
        &["bad (echo the door is locked >&2; false): lost:", "it said: the door is locked; exit code 1"],
    );
    assert!(bench.heads().is_empty());
}

#[test]
fn what_is_no_agent_is_refused() {
    let bench = Bench::new();
    let via = [format!("good={PROGRAM}"), "chatty=echo Welcome to this host, dear user, and".to_owned()];
    let says = [
        "chatty (echo Welcome to this host, dear user, and): lost: what it sent is not a boxscore frame",
        "its stdout began with: Welcome to this host, dear user, and agent --stdio; exit code 0",
        "hint: what it starts must be boxscore, of this version, and nothing may print before it",
    ];
    study(&bench, &FAKE, "3", &via).expect(3, &says);
    assert_whole(of(&runs(&bench), "good"), 3);
}

#[test]
fn a_machine_that_falls_away_midway_leaves_the_other_whole() {
    let bench = Bench::new();
    let pid = bench.path("pid");
    let via = [format!("stays={PROGRAM}"), format!("goes=echo $$ > {}; exec {PROGRAM}", pid.display())];
    let mut args: Vec<&str> = FAKE.into_iter().chain(["--takes", "400", "--show-takes"]).collect();
    via.iter().for_each(|via| args.extend(["--via", via.as_str()]));
    let mut running = Running::start(bench.command(&args));
    assert!(running.until("goes: stored take 3"), "{:?}", running.heard);
    let pid: u32 = fs::read_to_string(&pid).expect("its pid").trim().parse().expect("a number");
    crate::common::signal(pid, "KILL");
    running.end().expect(3, &["): lost: the pipe was closed; killed by signal 9"]);
    let runs = runs(&bench);
    assert_whole(of(&runs, "stays"), 400);
    assert_eq!(of(&runs, "goes").head.status, Status::Interrupted);
    assert!(of(&runs, "goes").takes.len() >= 4);
    bench.run(&["resume"]).expect(0, &[]);
    let again = self::runs(&bench);
    assert_eq!(again.len(), 2);
    again.iter().for_each(|run| assert_whole(run, 400));
}

/// The most memory that a process had, in KiB.
fn peak_kib(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[test]
fn an_endless_line_on_stderr_fills_no_memory_and_the_run_goes_on() {
    let bench = Bench::new();
    // Far more than fits in a pipe comes before the child is there; the flood goes on beside it.
    let via = format!(
        "loud=tr '\\0' x < /dev/zero >&2 & flood=$!; head -c 2m /dev/zero >&2; {PROGRAM} agent --stdio; \
         kill $flood; exit; :"
    );
    let mut args: Vec<&str> = FAKE.into_iter().chain(["--takes", "30", "--show-takes"]).collect();
    args.extend(["--via", via.as_str()]);
    let mut running = Running::start(bench.command(&args));
    assert!(running.until("stored take 20"), "{:?}", running.heard);
    let peak = peak_kib(running.pid());
    running.end().expect(0, &[]);
    assert_whole(of(&runs(&bench), "loud"), 30);
    assert!(peak.is_none_or(|kib| kib < 128 << 10), "{peak:?} KiB");
}

/// What a child says first, in a file.
fn hello(bench: &Bench) -> PathBuf {
    let hello = bench.path("hello");
    let mut child = Command::new(PROGRAM)
        .args(["agent", "--stdio"])
        .stdin(std::process::Stdio::piped())
        .stdout(fs::File::create(&hello).expect("a file"))
        .spawn()
        .expect("it starts");
    drop(child.stdin.take());
    crate::common::ended(&mut child);
    hello
}

#[test]
fn another_build_is_refused_with_both_names_and_what_to_do() {
    let bench = Bench::new();
    let path = hello(&bench);
    let mut bytes = fs::read(&path).expect("the frame");
    let version = env!("CARGO_PKG_VERSION").as_bytes();
    let at = bytes.windows(version.len()).position(|part| part == version).expect("the build");
    let end = (at..bytes.len()).find(|at| !bytes[*at].is_ascii_graphic()).expect("its end");
    let ours = String::from_utf8(bytes[at..end].to_vec()).expect("text");
    bytes[at] = b'9';
    let other = format!("9{}", &ours[1..]);
    fs::write(&path, bytes).expect("the frame");
    let via = [format!("good={PROGRAM}"), format!("old=cat {}; sleep 1000; :", path.display())];
    let said =
        study(&bench, &FAKE, "3", &via).expect(3, &["lost: it is boxscore 9", "copy this binary there"]);
    // The build may end in a byte that only looks like text: its length.
    let line = said.err.lines().find(|line| line.starts_with("old (")).expect("the line");
    let known = |build: &str| line.contains(&build[..build.len() - 1]);
    assert!(known(&ours) && known(&other), "{line} names not {ours} and {other}");
    assert_whole(of(&runs(&bench), "good"), 3);
    assert!(!runs(&bench).iter().any(|run| run.head.machine == "old"), "nothing of it is stored");
}

#[test]
fn a_flood_of_frames_loses_only_its_machine() {
    let bench = Bench::new();
    let bytes = model::frame::encode(&model::frame::Frame::Ping).expect("a frame");
    let octal: String = bytes.iter().map(|byte| format!("\\{byte:03o}")).collect();
    let ping = format!("while :; do printf '{octal}'; done; :");
    let hello = hello(&bench);
    let via = [
        format!("good={PROGRAM}"),
        format!("early={ping}"),
        format!("flood=cat {}; {ping}", hello.display()),
    ];
    study(&bench, &FAKE, "3", &via).expect(
        3,
        &["lost: it sent a frame before its hello", "lost: it sent far more frames than a machine should"],
    );
    assert_whole(of(&runs(&bench), "good"), 3);
}

#[test]
fn a_network_namespace_is_a_machine() {
    let (one, two) = match (Namespace::new("1"), Namespace::new("2")) {
        (Ok(one), Ok(two)) => (one, two),
        (Err(why), _) | (_, Err(why)) => return cannot(&why),
    };
    let bench = Bench::new();
    let via = [&one, &two].map(|space| format!("{0}=ip netns exec {0} {PROGRAM}", space.0));
    study(&bench, &ONE, "3", &via).expect(0, &[]);
    let runs = runs(&bench);
    assert_eq!(runs.len(), 2);
    assert_ne!(runs[0].head.machine_id, runs[1].head.machine_id);
    [&one, &two].iter().for_each(|space| assert_whole(of(&runs, &space.0), 3));
}

/// The loopback of a new namespace is down: servers bind to it, and nobody reaches them.
#[test]
fn a_server_where_the_loopback_is_down_is_refused_at_once_and_the_rest_is_measured() {
    let space = match Namespace::new("down") {
        Ok(space) => space,
        Err(why) => return cannot(&why),
    };
    let bench = Bench::new();
    let via = [format!("{0}=ip netns exec {0} {PROGRAM}", space.0)];
    let said = study(&bench, &["run", "index", "web", "--quick"], "1", &via);
    said.expect(0, &["cannot run: 127.0.0.1 cannot be reached", "`ip link set lo up` starts it"]);
    let runs = runs(&bench);
    let run = of(&runs, &space.0);
    assert!(!run.takes.is_empty());
    let note = run.notes.iter().find(|note| note.kind() == "unfit").expect("a note");
    assert!(note.text().starts_with("web") && !note.text().contains("access-log"), "{}", note.text());
}

#[test]
fn a_shell_that_enters_a_cpu_quota_is_a_machine() {
    let quota = match Quota::new(3000) {
        Ok(quota) => quota,
        Err(why) => return cannot(&why),
    };
    let bench = Bench::new();
    let via = [
        format!("free={PROGRAM}"),
        format!("tight=echo $$ > {}/cgroup.procs; exec {PROGRAM}", quota.0.display()),
    ];
    study(&bench, &ONE, "6", &via).expect(0, &[]);
    let runs = runs(&bench);
    assert_whole(of(&runs, "free"), 6);
    assert_whole(of(&runs, "tight"), 6);
    assert!(quota.throttled() > 0, "the quota was not felt");
    // What the quota does to the figures depends on who else is at work; that it was felt does not.
    let quota = of(&runs, "tight").fact("cgroup.cpu.quota").and_then(|fact| fact.value.as_ref()?.number());
    assert_eq!(quota, Some(0.3));
}
