//! `boxscore compare` end to end: runs that stand on two sides, three sides in order, tables and ratios.

use crate::common::Bench;
use model::doc::{CompareDoc, Method, RatioDoc, VerdictWord};
use model::why::Held;

#[test]
fn a_run_on_two_sides_counts_on_one() {
    let bench = Bench::new();
    for _ in 0..2 {
        bench.fake(&["--takes", "6", "--label", "pool"]).expect(0, &[]);
    }
    let said = bench.run(&["compare", "pool", "latest", "--json"]).expect(0, &[]);
    let document: CompareDoc = serde_json::from_str(&said.out).expect("a document");
    let (pool, latest) = (&document.arms[0], &document.arms[1]);
    assert_eq!((pool.runs.len(), latest.runs.len()), (1, 1));
    assert_ne!(pool.runs, latest.runs);
    let note = format!("pool: without run {}, counted as latest only", &latest.runs[0][..12]);
    assert!(document.footnotes.contains(&note), "{:?}", document.footnotes);
    let text = bench.run(&["compare", "pool", "latest"]).expect(0, &[]).out;
    assert!(text.contains("pool: without run"), "{text}");
    bench.run(&["compare", "pool", "latest", "latest~1"]).expect(2, &["nothing is left of it"]);
}

#[test]
fn one_take_each_tells_nothing_however_far_apart() {
    let bench = Bench::new();
    for (label, median) in [("one", "1e9"), ("half", "5e8")] {
        bench.world(&format!(r#"{{"seed": 7, "series": [{{"instrument": "*", "median": {median}}}]}}"#));
        bench.fake(&["--takes", "1", "--label", label]).expect(0, &[]);
    }
    let document = |bench: &Bench, names: &[&str]| -> CompareDoc {
        let said = bench.run(&[names, &["--json"]].concat()).expect(0, &[]);
        serde_json::from_str(&said.out).expect("a document")
    };
    let names = ["compare", "one", "half"];
    let document_of_one = document(&bench, &names);
    assert!(!document_of_one.rows.is_empty());
    for row in &document_of_one.rows {
        assert_eq!(row.verdict, VerdictWord::CannotTell, "{row:?}");
        assert_eq!(row.why.held(), Some(Held::OneTake { each: true }), "{row:?}");
    }
    let text = bench.run(&names).expect(0, &[]).out;
    assert!(text.contains("one take each; the noise is assumed"), "{text}");
    assert!(text.contains("with --takes 6 or more") && !text.contains("probably"), "{text}");
    bench.run(&["report", "one", "half", "-o", "two.html"]).expect(0, &[]);
    let page = std::fs::read_to_string(bench.path("two.html")).expect("a page");
    assert!(page.contains("one take each; the noise is assumed") && !page.contains("probably"));
    // Runs that have an interval of their own are told apart as before.
    let bench = Bench::new();
    for (label, median) in [("many", "1e9"), ("slow", "5e8")] {
        bench.world(&format!(
            r#"{{"seed": 9, "series": [{{"instrument": "*", "median": {median}, "spread": 0.01}}]}}"#
        ));
        bench.fake(&["--takes", "8", "--label", label]).expect(0, &[]);
    }
    let told = document(&bench, &["compare", "many", "slow"]);
    assert!(told.rows.iter().all(|row| row.verdict == VerdictWord::Worse), "{:?}", told.paragraph);
}

#[test]
fn three_sides_have_brackets() {
    let bench = Bench::new();
    for _ in 0..3 {
        bench.fake(&["--takes", "6"]).expect(0, &[]);
    }
    let names = ["compare", "latest~2", "latest~1", "latest"];
    let said = bench.run(&[&names[..], &["--json"]].concat()).expect(0, &[]);
    let document: CompareDoc = serde_json::from_str(&said.out).expect("a document");
    assert!(
        !document.ties.is_empty() && document.ties.iter().all(|tie| tie.arms.len() == 3),
        "{:?}",
        document.ties
    );
    let text = bench.run(&names).expect(0, &[]).out;
    assert!(text.contains("[1-3 latest"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn a_label_may_have_a_slash() {
    let bench = Bench::new();
    for (seed, label) in [(7, "rack/a"), (8, "rack/b")] {
        let world = format!(
            r#"{{"seed": {seed}, "series": [{{"instrument": "*", "median": 1e9, "spread": 0.01}}]}}"#
        );
        bench.world(&world);
        bench.fake(&["--takes", "4", "--label", label]).expect(0, &[]);
    }
    let said = bench.run(&["compare", "rack/a", "rack/b"]).expect(0, &[]);
    assert!(said.out.contains("rack/b"), "{}", said.out);
}

#[test]
fn a_matrix_sets_figures_over_parameters() {
    let bench = Bench::new();
    let call = |more: &[&str]| {
        let names = ["compare", "atom-c2750", "ramcloud-xeon-infiniband", "--matrix"];
        bench.run(&[&names[..], more].concat())
    };
    let said = call(&["transport,replicas,size", "--json"]).expect(0, &[]);
    let doc: model::doc::MatrixDoc = serde_json::from_str(&said.out).expect("a document");
    let reads = doc.tables.iter().find(|table| table.metric == "basic.read").expect("the reads");
    let rows: Vec<&str> = reads.rows.iter().map(|row| row.as_deref().unwrap_or("-")).collect();
    assert_eq!(rows, ["100", "1K", "10K", "100K", "1M"]);
    let columns: Vec<String> = (reads.columns.iter())
        .map(|one| {
            format!("{} {}", one.side, one.values.iter().flatten().cloned().collect::<Vec<_>>().join(" "))
        })
        .collect();
    let expected = [
        "atom-c2750 kernel-tcp",
        "atom-c2750 kernel-tcp 0",
        "atom-c2750 kernel-bypass 0",
        "atom-c2750 kernel-bypass-store-and-forward 0",
        "atom-c2750 kernel-bypass-at-NEC 0",
        "atom-c2750 kernel-bypass-August-2014",
        "atom-c2750 kernel-bypass-at-NEC-with-replicas",
        "ramcloud-xeon-infiniband kernel-tcp 0",
        "ramcloud-xeon-infiniband kernel-tcp 1",
        "ramcloud-xeon-infiniband infiniband",
        "ramcloud-xeon-infiniband infiniband 0",
    ];
    assert_eq!(columns, expected);
    assert_eq!(reads.cells.len(), 15 + 9);
    assert!(reads.cells.iter().all(|cell| cell.point && cell.n == 0 && cell.source == "ramcloud-atom-2014"));
    // Any instrument and parameter, and one name is enough.
    let said =
        bench.run(&["compare", "xeon-e5620", "--matrix", "impl,size", "--metric", "crc32c"]).expect(0, &[]);
    assert!(said.out.starts_with("crc32c throughput"), "{}", said.out);
    call(&["nosuch"]).expect(1, &["no figure has any of the parameters nosuch"]);
    call(&["size,size"]).expect(2, &["each parameter stands once"]);
    call(&["size", "--format", "csv"]).expect(2, &["text or JSON"]);
    call(&["size", "--all"]).expect(2, &[]);
}

/// Two runs of a study of two settings: on the second one `chain` is slower than it should be.
fn settings(bench: &Bench) {
    for (label, chain) in [("usual", 2e9), ("new", 0.5e9)] {
        bench.world(&format!(
            r#"{{"seed": 9, "series": [
                {{"instrument": "crc32c", "params": {{"impl": "chain"}}, "median": {chain:e}, "spread": 0.01}},
                {{"instrument": "*", "median": 6e9, "spread": 0.01}}]}}"#
        ));
        let study =
            ["run", "crc32c", "--set", "size=1KiB;threads=1", "--arm", "impl=fast", "--arm", "impl=chain"];
        let rest = ["--takes", "8", "--fake", "world.json", "--no-report", "--seed", "5", "--label", label];
        bench.run(&[&study[..], &rest].concat()).expect(0, &[]);
    }
}

#[test]
fn ratios_of_two_arms_and_of_two_runs() {
    let bench = Bench::new();
    settings(&bench);
    let call = |more: &[&str]| bench.run(&[&["compare", "--ratio", "impl=fast/chain"], more].concat());
    let document = |more: &[&str]| -> RatioDoc {
        serde_json::from_str(&call(&[more, &["--json"]].concat()).expect(0, &[]).out).expect("a document")
    };
    let one = document(&["usual"]);
    let [row] = one.rows.as_slice() else { panic!("{one:?}") };
    assert_eq!((row.method, row.row.verdict, row.row.margin), (Method::Blocks, VerdictWord::Better, 0.02));
    assert!(row.row.ratio.is_some_and(|ratio| (ratio - 3.0).abs() < 0.1), "{row:?}");
    assert!(
        one.ratios_of_ratios.is_empty() && one.findings.iter().all(|finding| finding.kind() != "immature")
    );
    let two = document(&["usual", "new"]);
    let [across] = two.ratios_of_ratios.as_slice() else { panic!("{two:?}") };
    assert_eq!((across.method, across.row.verdict), (Method::Runs, VerdictWord::Better));
    assert!(across.row.ratio.is_some_and(|ratio| (ratio - 4.0).abs() < 0.2), "{across:?}");
    let found: Vec<String> = two
        .findings
        .iter()
        .filter(|one| one.kind() == "immature")
        .map(|one| one.subject.to_string())
        .collect();
    assert_eq!(found, ["new: impl=chain"]);
    let text = call(&["usual", "new"]).expect(0, &[]).out;
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for says in
        ["fast / chain on usual", "fast / chain: new over usual", "fast better", "fast gains", "falls behind"]
    {
        assert!(text.contains(says), "no `{says}` in {text}");
    }
    assert!(call(&["usual", "new", "--format", "markdown"]).expect(0, &[]).out.contains("| new |"));
    assert_eq!(call(&["usual", "new", "--format", "csv"]).expect(0, &[]).out.lines().count(), 1 + 2 + 1);
    // Arms of one run are sides, too; the other value is what --fail-on may be asked about.
    call(&["usual", "new", "--fail-on", "better"]).expect(3, &[]);
    call(&["usual", "new", "--fail-on", "worse"]).expect(0, &[]);
    call(&["usual", "--fail-on", "better"]).expect(3, &[]);
}

#[test]
fn what_a_ratio_lacks_is_said() {
    let bench = Bench::new();
    settings(&bench);
    let call =
        |ratio: &str, more: &[&str]| bench.run(&[&["compare", "--ratio", ratio, "usual"], more].concat());
    call("impl", &[]).expect(2, &["no `=` in it", "lang=c/java"]);
    call("impl=fast", &[]).expect(2, &["two values"]);
    call("impl=fast/fast", &[]).expect(2, &["over itself"]);
    call("imp=fast/chain", &[])
        .expect(1, &["no figure has the parameter `imp`", "did you mean `impl`?", "threads"]);
    call("impl=fast/table", &[]).expect(1, &["no figure has impl=table", "impl=chain, fast"]);
    call("impl=fast/chain", &["--metric", "nosuch"])
        .expect(1, &["no figure of `nosuch` has the parameter `impl`"]);
    call("impl=fast/chain", &["--matrix", "size"]).expect(2, &["--matrix"]);
    call("impl=fast/chain", &["--margin", "x"]).expect(2, &["--margin"]);
    call("impl=fast/chain", &["usual"]).expect(2, &["the same run"]);
    call("impl=fast/chain", &["nosuch"]).expect(1, &["no run, label, machine or file is called `nosuch`"]);
    // A machine that has neither value is said.
    let said = call("impl=fast/chain", &["pandaboard-es"]).expect(0, &[]);
    assert!(
        said.out.contains("pandaboard-es: no two figures that differ in impl=fast and chain alone"),
        "{}",
        said.out
    );
    bench.run(&["compare", "--ratio", "impl=fast/chain"]).expect(1, &["this machine has no complete run"]);
}

#[test]
fn published_figures_and_ratios_are_points() {
    let bench = Bench::new();
    let call = |more: &[&str]| -> RatioDoc {
        let said = bench.run(&[&["compare", "--json", "--ratio"], more].concat()).expect(0, &[]);
        serde_json::from_str(&said.out).expect("a document")
    };
    let both = call(&["lang=c/java", "intel-i5", "pandaboard-es"]);
    assert_eq!(
        both.rows.iter().map(|row| row.row.ratio).collect::<Vec<_>>(),
        [Some(1.0), Some((3.6_f64 * 8.9).sqrt())]
    );
    assert!(
        both.rows.iter().all(|row| row.row.point && row.method == Method::Point && row.row.low.is_none())
    );
    let [across] = both.ratios_of_ratios.as_slice() else { panic!("{both:?}") };
    assert!(across.row.point && across.unlike == ["jvm: zero, on intel-i5 hotspot"], "{across:?}");
    assert!(
        both.findings.is_empty() && both.footnotes.iter().any(|note| note.contains("Java by wall clock"))
    );
    let turned = call(&["lang=java/c", "pandaboard-es"]);
    let bounds = turned.rows[0].bounds.clone().expect("the printed range");
    assert!((bounds.low * 8.9 - 1.0).abs() < 1e-12 && (bounds.high * 3.6 - 1.0).abs() < 1e-12, "{bounds:?}");
    // Two figures of one machine are a point as well.
    let replicas = call(&["replicas=0/1", "ramcloud-xeon-infiniband", "--all"]);
    assert!(
        !replicas.rows.is_empty() && replicas.rows.iter().all(|row| row.row.point && row.bounds.is_none())
    );
    let text = bench.run(&["compare", "--ratio", "lang=c/java", "pandaboard-es"]).expect(0, &[]).out;
    assert!(
        text.contains("published in linaro-2012")
            && text.contains("point, range")
            && text.contains("3.60 - 8.90"),
        "{text}"
    );
}

#[test]
fn a_run_of_runtimes_shows_their_ratio_beside_the_printed_ones() {
    let bench = Bench::new();
    bench.world(
        r#"{"seed": 7, "series": [
            {"instrument": "scimark", "params": {"lang": "c"}, "median": 2e9, "spread": 0.01},
            {"instrument": "scimark", "params": {"jvm": "zero"}, "median": 4e7, "spread": 0.01},
            {"instrument": "*", "median": 1e9, "spread": 0.01}]}"#,
    );
    let study =
        ["run", "scimark", "--lang", "c,java", "--arm", "jvm=hotspot", "--arm", "jvm=zero", "--takes", "8"];
    let said = bench.run(&[&study[..], &["--fake", "world.json", "--seed", "5"]].concat()).expect(0, &[]);
    // What a study printed of another machine stands in the report, where it is asked for.
    assert!(said.out.contains("java / c on planted") && !said.out.contains("pandaboard"), "{}", said.out);
    assert!(said.out.lines().all(|line| line.chars().count() <= 80), "{}", said.out);
    let out = bench
        .run(&["compare", "--ratio", "lang=c/java", "latest", "pandaboard-es", "--json"])
        .expect(0, &[])
        .out;
    let doc: RatioDoc = serde_json::from_str(&out).expect("a document");
    let flops = doc.rows.iter().filter(|one| one.row.metric == "flops" && !one.row.point);
    let ratios: Vec<(Option<&str>, f64)> =
        flops.map(|one| (one.row.params.get("jvm"), one.row.ratio.expect("a ratio").round())).collect();
    assert!(
        ratios.len() == 2
            && ratios.contains(&(Some("hotspot"), 2.0))
            && ratios.contains(&(Some("zero"), 50.0))
    );
    assert!(doc.ratios_of_ratios.iter().all(|one| one.row.params.get("jvm") == Some("zero")));
    let page = bench.run(&["report", "latest", "-o", "page.html"]).expect(0, &[]);
    let page = std::fs::read_to_string(bench.path(page.out.trim())).expect("the report");
    assert!(page.contains("<section id=\"runtime\"") && page.contains("gcc -O3 / zero on pandaboard-es"));
    assert!(page.contains("Java by wall clock"), "the footnote of the printed ratio");
}

/// Two machines in one study: `big` has 64 CPUs, each like one of the two of `small`; their disks are the same.
fn two_against_64(bench: &Bench) {
    bench.world(
        r#"{"seed": 5,
        "machines": {"small": {"facts": {"cpu.threads": "2"}}, "big": {"facts": {"cpu.threads": "64"}}},
        "series": [
            {"instrument": "index", "machine": "big", "params": {"threads": "all"}, "median": 32e9, "spread": 0.005},
            {"instrument": "mem-bandwidth", "machine": "big", "params": {"threads": "all"}, "median": 32e9,
             "spread": 0.005},
            {"instrument": "compress", "machine": "big", "params": {"threads": "all"}, "median": 32e9, "spread": 0.005},
            {"instrument": "cipher", "machine": "big", "params": {"threads": "all"}, "median": 32e9, "spread": 0.005},
            {"instrument": "*", "median": 1e9, "spread": 0.005}]}"#,
    );
    let via = ["small", "big"].map(|name| format!("{name}={}", crate::common::PROGRAM));
    for seed in ["1", "2", "3"] {
        let study = ["run", "--quick", "--fake", "world.json", "--takes", "8", "--no-report", "--seed", seed];
        bench.run(&[&study[..], &["--via", &via[0], "--via", &via[1]]].concat()).expect(0, &[]);
    }
}

#[test]
fn a_machine_of_64_cpus_does_not_tie_with_one_of_two() {
    let bench = Bench::new();
    two_against_64(&bench);
    let said = bench.run(&["compare", "small", "big", "--json"]).expect(0, &[]);
    let doc: CompareDoc = serde_json::from_str(&said.out).expect("a document");
    let [whole, thread] = doc.index.as_slice() else { panic!("{:?}", doc.index) };
    assert!(whole.value.is_some_and(|value| (value / 32.0 - 1.0).abs() < 0.02), "{whole:?}");
    assert!(thread.value.is_some_and(|value| (value - 1.0).abs() < 0.02), "{thread:?}");
    // Five figures of all CPUs; of one thread those and the latency of memory. No disk and no server is among them.
    assert_eq!((whole.components, thread.components), (5, 6));
    assert!(doc.rows.iter().any(|row| row.headline && row.instrument == "disk-read"));
    for format in ["text", "markdown"] {
        let text = bench.run(&["compare", "small", "big", "--format", format]).expect(0, &[]).out;
        let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let says = ["As a whole machine (64 CPUs against 2), big has 3", "Per thread, big has 1.0"];
        // On a screen the sentences stand for the indexes.
        let indexes = ["whole machine: big is 3", "per thread: big is 1.00"];
        let indexes = if format == "markdown" { &indexes[..] } else { &[] };
        for says in [&says[..], indexes].concat() {
            assert!(plain.contains(says), "no `{says}` in {text}");
        }
        assert!(format == "markdown" || plain.contains("all CPUs: small 2, big 64"), "{text}");
    }
    let page = bench.path("two.html").display().to_string();
    bench.run(&["report", "small", "big", "-o", &page]).expect(0, &[]);
    let page = std::fs::read_to_string(page).expect("a page");
    assert!(
        page.contains("As a whole machine (64 CPUs against 2), ") && page.contains("Per thread, "),
        "the page names both"
    );
}

#[test]
fn arms_that_differ_in_threads_are_no_figures_of_one_thread() {
    let bench = Bench::new();
    bench.world(r#"{"seed": 11, "series": [{"instrument": "*", "median": 1e9, "spread": 0.01}]}"#);
    let study = ["run", "index", "--set", "kind=integer", "--arm", "threads=1", "--arm", "threads=8"];
    let said = bench.run(&[&study[..], &["--takes", "6", "--no-report", "--fake", "world.json"]].concat());
    let text = said.expect(0, &[]).out;
    assert!(text.contains("threads=8") && !text.to_lowercase().contains("per thread"), "{text}");
}

#[test]
fn a_sweep_over_threads_has_a_law() {
    let bench = Bench::new();
    // Contention of 5 %, a thread a core; siblings add a quarter.
    let law = |n: f64| 1e9 * n / (1.0 + 0.05 * (n - 1.0));
    let series: Vec<String> =
        [("1", law(1.0)), ("2", law(2.0)), ("4", law(4.0)), ("8", law(8.0)), ("all", law(8.0) * 1.25)]
            .iter()
            .map(|(threads, rate)| {
                format!(
                    r#"{{"instrument": "index", "params": {{"threads": "{threads}"}}, "median": {rate:e}}}"#
                )
            })
            .collect();
    bench.world(&format!(
        r#"{{"seed": 2, "machines": {{"": {{"facts": {{"cpu.threads": "16", "cpu.cores": "8"}}}}}}, "series": [{}]}}"#,
        series.join(", ")
    ));
    let run = ["run", "index", "--cpus", "0-15", "--set", "kind=integer", "--takes", "6", "--no-report"];
    for seed in ["1", "2"] {
        bench.run(&[&run[..], &["--fake", "world.json", "--seed", seed]].concat()).expect(0, &[]);
    }
    let said = bench.run(&["show", "latest", "--json"]).expect(0, &[]);
    let doc: model::doc::RunDoc = serde_json::from_str(&said.out).expect("a document");
    let [one] = doc.scaling.as_slice() else { panic!("{:?}", doc.scaling) };
    assert!(one.sigma.is_some_and(|sigma| (sigma - 0.05).abs() < 0.001), "{one:?}");
    assert_eq!((one.fitted_to, one.points.len(), one.hidden), (Some(8.0), 5, false));
    assert!(one.siblings.is_some_and(|gain| (gain - 1.25).abs() < 0.001), "{one:?}");
    let text = bench.run(&["show", "latest"]).expect(0, &[]).out;
    assert!(text.contains("scaling  integer: 16 threads do") && text.contains("sigma 5 %"), "{text}");
    let text = bench.run(&["compare", "latest~1", "latest"]).expect(0, &[]).out;
    assert!(text.contains("scaling  latest~1 integer:"), "{text}");
    let page = bench.path("sweep.html").display().to_string();
    bench.run(&["report", "latest", "-o", &page]).expect(0, &[]);
    assert!(std::fs::read_to_string(page).expect("a page").contains("law: contention sigma"));
}
