//! Language runtimes from end to end: the study of two virtual machines with real compilers, and everything that can be
//! wrong with a tool, planted by small programs that stand for compilers.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::common::{Bench, Said, said, text};
use model::data::{RunData, Series};
use model::reading::Phase;

/// As short as a batch may be, so that tests do not wait for figures.
const SHORT: [&str; 5] = ["--set", "seconds=0.001", "--no-report", "--takes", "2"];

fn run(bench: &Bench, args: &[&str]) -> Said {
    let all: Vec<&str> = ["run"].iter().chain(args).chain(&SHORT).copied().collect();
    bench.run(&all)
}

fn of<'a>(run: &'a RunData, metric: &str) -> Vec<&'a Series> {
    run.series.iter().filter(|series| series.key.metric == metric).collect()
}

/// Language, arm and kernel of each series of a metric.
fn keys(run: &RunData, metric: &str) -> BTreeSet<String> {
    let param = |series: &Series, key: &str| series.key.params.get(key).unwrap_or_default().to_owned();
    of(run, metric)
        .into_iter()
        .map(|series| format!("{} [{}] {}", param(series, "lang"), series.key.arm, param(series, "kernel")))
        .collect()
}

fn notes<'a>(run: &'a RunData, kind: &str) -> Vec<std::borrow::Cow<'a, str>> {
    run.notes.iter().filter(|note| note.kind() == kind).map(|note| note.text()).collect()
}

#[test]
fn two_virtual_machines_beside_c() {
    let bench = Bench::new();
    let args = ["runtime", "--lang", "c,java", "--arm", "jvm=hotspot", "--arm", "jvm=zero"];
    let shown = run(&bench, &args).expect(0, &[]);
    let run = bench.only();
    let kernels = ["fft", "sor", "monte-carlo", "sparse", "lu", "composite"];
    let wanted: BTreeSet<String> = ["c []", "java [jvm=hotspot]", "java [jvm=zero]"]
        .iter()
        .flat_map(|side| kernels.iter().map(move |kernel| format!("{side} {kernel}")))
        .collect();
    assert_eq!(keys(&run, "flops"), wanted, "{shown:?}");
    assert_eq!(keys(&run, "wall-flops"), wanted);
    for series in of(&run, "flops") {
        let measured = series.points.iter().filter(|point| point.phase == Phase::Measured);
        assert_eq!(measured.clone().count(), 2, "{:?}", series.key);
        assert!(
            measured.clone().all(|point| point.number().is_some_and(|rate| rate > 1e5)),
            "{:?}",
            series.key
        );
    }
    // The mean is of one take.
    let of_c = |kernel: &str| {
        let is = |series: &&&Series| {
            series.key.params.get("lang") == Some("c") && series.key.params.get("kernel") == Some(kernel)
        };
        of(&run, "flops").iter().find(is).expect("a series").points[0].number().expect("a number")
    };
    let mean = kernels[..5].iter().map(|kernel| of_c(kernel)).sum::<f64>() / 5.0;
    assert!((of_c("composite") / mean - 1.0).abs() < 1e-12);
    // C has the compiler's value in its key, Java the machine's, and neither the other's.
    let has = |lang: &str, key: &str| {
        of(&run, "flops")
            .iter()
            .filter(|series| series.key.params.get("lang") == Some(lang))
            .all(|series| series.key.params.get(key).is_some())
    };
    assert!(has("c", "cc") && has("java", "jvm") && !has("c", "jvm") && !has("java", "cc"));
    let tools = notes(&run, "toolchain").join("\n");
    for words in ["gcc -O2", "floating point: SSE2", "Zero VM", "Server VM", "-XX:+UseSerialGC", "on CPU"] {
        assert!(tools.contains(words), "{words}: {tools}");
    }
    assert!(notes(&run, "bits").is_empty(), "{:?}", notes(&run, "bits"));
    // Warming up is kept iteration by iteration, and after the first ones in growing steps.
    let iterations = of(&run, "iteration");
    assert!(iterations.len() >= 2 * 5 * 40, "{}", iterations.len());
    assert!(iterations.iter().all(|series| series.key.params.get("iteration").is_some_and(|n| n.len() == 6)));
    for words in ["fft java", "jvm=zero", "jvm=hotspot"] {
        assert!(shown.out.contains(words), "{words}: {}", shown.out);
    }
}

#[test]
fn every_language_computes_what_the_others_do() {
    let bench = Bench::new();
    run(&bench, &["scimark", "--size", "large", "--kernel", "sparse,lu"]).expect(0, &[]);
    let run = bench.only();
    let langs: BTreeSet<&str> =
        of(&run, "flops").iter().filter_map(|series| series.key.params.get("lang")).collect();
    assert_eq!(langs, BTreeSet::from(["c", "java", "rust"]));
    assert_eq!(of(&run, "flops").len(), 6, "the kernels that were asked for, and no mean");
    assert!(run.takes.iter().all(|take| take.fault.is_none()), "{:?}", run.takes);
    assert!(notes(&run, "bits").is_empty());
}

#[test]
fn fused_multiply_add_is_right_within_its_tolerance_and_said() {
    let bench = Bench::new();
    let args = ["scimark", "--lang", "c", "--arm", "cc=gcc -O2", "--arm", "cc=gcc -O3 -mfma"];
    run(&bench, &args).expect(0, &[]);
    let run = bench.only();
    assert!(run.takes.iter().all(|take| take.fault.is_none()));
    let bits = notes(&run, "bits");
    assert!(!bits.is_empty() && bits.iter().all(|note| note.contains("fused multiply-add")), "{bits:?}");
    // -ffast-math promises nothing: it is not known to be right, and no figure comes of it where it is wrong.
    assert_eq!(keys(&run, "flops").len(), 12);
}

#[test]
fn the_index_is_measured_by_compiler_and_flags() {
    let bench = Bench::new();
    let arms = ["-O1", "gcc -O2 -march=core2", "gcc -O3 -mfma", "no-such-compiler"];
    let mut args =
        vec!["run", "index", "--set", "kind=floating", "--set", "threads=1", "--takes", "2", "--no-report"];
    let arms: Vec<String> = arms.iter().map(|cc| format!("cc={cc}")).collect();
    args.extend(arms.iter().flat_map(|arm| ["--arm", arm.as_str()]));
    bench.run(&args).expect(0, &["there is no program `no-such-compiler` here", "apt-get install gcc"]);
    let run = bench.only();
    assert!(run.takes.iter().all(|take| take.fault.is_none()), "{:?}", run.takes);
    let measured: BTreeSet<&str> = of(&run, "rate").iter().map(|series| series.key.arm.as_str()).collect();
    assert_eq!(measured, arms[..3].iter().map(String::as_str).collect());
    assert_eq!(of(&run, "part-rate").len(), 3 * 4);
    assert!(of(&run, "part-rate").iter().all(|series| series.measured().iter().all(|rate| *rate > 1e5)));
    let tools = notes(&run, "toolchain");
    assert!(tools.iter().any(|note| note.contains("gcc -O2 -march=core2")), "{tools:?}");
    let bits = notes(&run, "bits");
    assert!(bits.iter().all(|note| note.contains("fused multiply-add")), "{bits:?}");
}

#[test]
fn copies_run_at_once_and_their_rates_are_added() {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    if cpus < 2 {
        return crate::common::cannot("two copies need two CPUs");
    }
    let bench = Bench::new();
    let args = ["scimark", "--lang", "c", "--kernel", "sor", "--arm", "copies=1", "--arm", "copies=2"];
    run(&bench, &args).expect(0, &[]);
    let run = bench.only();
    assert_eq!(keys(&run, "flops"), BTreeSet::from(["c [copies=1] sor".into(), "c [copies=2] sor".into()]));
    assert!(notes(&run, "toolchain").iter().any(|note| note.contains("2 copies")));
    let many = (cpus + 1).to_string();
    let many = bench.run(&["run", "scimark", "--set", &format!("copies={many}")]);
    many.expect(2, &["allowed CPUs", "copies="]);
}

#[test]
fn a_flag_that_the_machine_rejects_leaves_the_other_arm_alone() {
    let bench = Bench::new();
    let what = ["scimark", "--lang", "java", "--kernel", "sor"];
    let arms = ["--arm", "jvm=hotspot", "--arm", "jvm=-XX:+NoSuchFlag"];
    run(&bench, &[&what[..], &arms].concat()).expect(0, &["cannot run", "Unrecognized VM option"]);
    let run = bench.only();
    assert_eq!(keys(&run, "flops"), BTreeSet::from(["java [jvm=hotspot] sor".to_owned()]));
    assert!(notes(&run, "unfit").iter().any(|note| note.contains("arm jvm=-XX:+NoSuchFlag cannot run")));
}

/// A real virtual machine that is killed from outside while it works: its second timed take and no other.
#[test]
fn a_virtual_machine_that_is_killed_costs_its_take_alone() {
    let compilers = Compilers::new();
    let bench = &compilers.bench;
    // The shell becomes the machine and keeps its number, so what it left behind can kill it by that.
    let body = format!(
        "case \"$*\" in *' time '*)\n  echo x >> {0}\n  \
         [ $(wc -l < {0}) -eq 2 ] && (sleep 0.7; kill -9 $$) > /dev/null 2>&1 &\nesac\nexec java \"$@\"\n",
        text(&bench.path("timed"))
    );
    let arm = format!("jvm={}", text(&compilers.script("mortal-java", &body)));
    let what = ["run", "scimark", "--lang", "java", "--kernel", "sor", "--arm", "jvm=hotspot", "--arm", &arm];
    bench
        .run(&[&what[..], &["--set", "seconds=1", "--no-report", "--takes", "3"]].concat())
        .expect(3, &["signal: 9"]);
    let run = bench.only();
    let faults: Vec<&model::Fault> = run.takes.iter().filter_map(|take| take.fault.as_ref()).collect();
    assert!(faults.len() == 1 && faults[0].text.contains("signal: 9"), "{faults:?}");
    let measured = |arm: &str| {
        let of_arm = |series: &&Series| series.key.arm == arm;
        of(&run, "flops").into_iter().find(of_arm).map(|series| series.points.len())
    };
    let (whole, cut) = (measured("jvm=hotspot"), measured(&arm));
    assert!(cut.is_some_and(|cut| cut > 0) && whole >= cut, "{whole:?} {cut:?}");
}

/// Programs that stand for a C compiler: what they build is a script.
struct Compilers {
    bench: Bench,
}

impl Compilers {
    fn new() -> Compilers {
        Compilers { bench: Bench::new() }
    }

    fn script(&self, name: &str, body: &str) -> PathBuf {
        let path = self.bench.path(name);
        fs::write(&path, format!("#!/bin/sh\n{body}")).expect("a script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("its mode");
        path
    }

    /// A compiler whose programs do what `made` says, wrapped around gcc for everything else.
    fn compiler(&self, made: &str) -> PathBuf {
        let body = format!(
            "case \"$*\" in\n  *--version*) echo fake 1.0 ;;\n  *-dM*) ;;\n  *)\n    while [ \"$1\" != -o ]; do shift; done\n    \
             cat > \"$2\" <<'END'\n#!/bin/sh\n{made}\nEND\n    chmod +x \"$2\" ;;\nesac\n"
        );
        self.script("fakecc", &body)
    }

    /// The kernel `sor` in C with gcc and with this compiler as arms.
    fn beside_gcc(&self, compiler: &str) -> Said {
        let arm = format!("cc={compiler}");
        // What happens between the takes of one preparation is looked at here.
        let args = ["scimark", "--sittings", "1", "--lang", "c", "--kernel", "sor"];
        run(&self.bench, &[&args[..], &["--arm", "cc=gcc -O2", "--arm", &arm]].concat())
    }

    /// That the arm of gcc has its takes, and the other none.
    #[track_caller]
    fn assert_gcc_alone(&self) -> RunData {
        let run = self.bench.only();
        let flops = of(&run, "flops");
        assert_eq!(keys(&run, "flops"), BTreeSet::from(["c [cc=gcc -O2] sor".to_owned()]));
        assert_eq!(flops[0].points.iter().filter(|point| point.phase == Phase::Measured).count(), 2);
        run
    }
}

#[test]
fn a_missing_compiler_is_named_with_its_package() {
    let compilers = Compilers::new();
    compilers.beside_gcc("no-such-cc -O2").expect(0, &["no program `no-such-cc`", "apt-get install gcc"]);
    compilers.assert_gcc_alone();
}

#[test]
fn a_compiler_that_fails_is_shown_with_its_words() {
    let compilers = Compilers::new();
    compilers
        .beside_gcc("gcc -fno-such-flag")
        .expect(0, &["cannot run", "-fno-such-flag", "unrecognized command"]);
    compilers.assert_gcc_alone();
}

#[test]
fn libraries_of_the_other_width_that_are_missing_are_named() {
    let compilers = Compilers::new();
    let lack = "fatal error: bits/libc-header-start.h: No such file or directory";
    let cc = compilers.script(
        "narrow",
        &format!("case \"$*\" in *-m32*) echo '{lack}' >&2; exit 1;; esac\nexec gcc \"$@\"\n"),
    );
    let set = format!("cc={} -O2", text(&cc));
    let args =
        ["scimark", "--lang", "c", "--kernel", "sor", "--set", &set, "--arm", "bits=32", "--arm", "bits=64"];
    run(&compilers.bench, &args).expect(0, &[lack, "gcc-multilib"]);
    let run = compilers.bench.only();
    assert_eq!(keys(&run, "flops"), BTreeSet::from(["c [bits=64] sor".to_owned()]));
}

#[test]
fn the_unit_that_calculates_is_named() {
    let compilers = Compilers::new();
    // Says what gcc does for 32 bits, and builds for 64, so that it needs no library.
    let cc = compilers.script(
        "wide",
        "case \"$*\" in *-m32*-dM*) echo '#define __i386__ 1'; exit 0;; esac\nfor flag; do shift; \
         [ \"$flag\" = -m32 ] || set -- \"$@\" \"$flag\"; done\nexec gcc \"$@\"\n",
    );
    let set = format!("cc={} -O2", text(&cc));
    let args =
        ["scimark", "--lang", "c", "--kernel", "sor", "--set", &set, "--arm", "bits=32", "--arm", "bits=64"];
    let shown = run(&compilers.bench, &args).expect(0, &[]);
    let run = compilers.bench.only();
    assert!(notes(&run, "toolchain").iter().any(|note| note.contains("floating point: x87")));
    let flat = shown.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("floating point: x87") && flat.contains("floating point: SSE2"), "{flat}");
}

#[test]
fn programs_that_go_wrong_are_faults_with_their_reason() {
    for (made, says) in [
        ("echo Hello, world", "line 1: no line of a kernel's program: `Hello, world`"),
        ("kill -9 $$", "signal: 9"),
        ("echo no memory left >&2; exit 1", "its last words: no memory left"),
        ("echo check sweep1.sum x40b3c0d467a653c5", "does not end with the line `end`"),
        ("echo batch 1 5 5 5\necho end", "wrong result: it does not tell sweep1"),
        (
            "for n in 1 10 100; do for p in sum l2 fnv; do echo check sweep$n.$p x3ff0000000000000; done; done\n\
             echo batch 1 5000000 5000000 5000000\necho end",
            "wrong result: sweep1 has the sum 1 and hash 3ff0000000000000",
        ),
    ] {
        let compilers = Compilers::new();
        let cc = compilers.compiler(made);
        compilers.beside_gcc(text(&cc)).expect(3, &[]);
        let run = compilers.assert_gcc_alone();
        let faults: Vec<&model::Fault> = run.takes.iter().filter_map(|take| take.fault.as_ref()).collect();
        assert!(
            !faults.is_empty() && faults.iter().all(|fault| fault.text.contains(says)),
            "{says}: {faults:?}"
        );
        let shown = compilers.bench.run(&["show"]);
        assert!(shown.out.contains("C, sor small"), "{shown:?}");
    }
}

#[test]
fn a_tool_that_is_changed_between_takes_gives_its_arm_up() {
    let compilers = Compilers::new();
    let count = compilers.bench.path("asked");
    let body = format!(
        "case \"$*\" in *--version*) echo x >> {0}; n=$(wc -l < {0})\n[ $n -gt 5 ] && echo fake 2.0 || echo fake 1.0;;\n\
         *) exec gcc \"$@\";; esac\n",
        text(&count)
    );
    let cc = compilers.script("updated", &body);
    // Asked once before it builds, then before and after each take: the second measured one finds another version.
    let said = compilers.beside_gcc(&format!("{} -O2", text(&cc)));
    let line = "the tool of C was changed during the run: it was fake 1.0, and is fake 2.0 now";
    said.expect(3, &[line]);
    let run = compilers.bench.only();
    let of_gcc: Vec<_> =
        of(&run, "flops").into_iter().filter(|series| series.key.arm == "cc=gcc -O2").collect();
    assert_eq!(of_gcc[0].points.iter().filter(|point| point.phase == Phase::Measured).count(), 2);
    assert!(notes(&run, "given-up").iter().any(|note| note.contains(line)), "{:?}", run.notes);
}

#[test]
fn what_is_missing_is_in_the_list() {
    let bench = Bench::new();
    let empty = bench.path("nothing");
    fs::create_dir(&empty).expect("a folder");
    let listed = said(bench.command(&["list", "--long", "runtime"]).env("PATH", &empty)).expect(0, &[]);
    let flat = listed.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in ["apt-get install gcc", "apt-get install default-jdk-headless", "apt-get install rustc"] {
        assert!(flat.contains(words), "{words}: {}", listed.out);
    }
    let there = bench.run(&["list", "--long", "runtime"]).expect(0, &[]);
    let flat = there.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("jvm=zero is /") && flat.contains("cc=gcc -O2 is /"), "{flat}");
    // Without any compiler nothing of it can run here, and nothing is stored.
    let none = said(bench.command(&["run", "scimark", "--lang", "java"]).env("PATH", &empty));
    none.expect(1, &["scimark lang=java cannot run", "apt-get install default-jdk-headless"]);
}

#[test]
fn versions_are_facts() {
    let bench = Bench::new();
    let inspected = bench.run(&["inspect", "--json"]).expect(0, &[]);
    for words in ["runtime.c.version", "runtime.java.path", "runtime.rust.version"] {
        assert!(inspected.out.contains(words), "{words}");
    }
}
