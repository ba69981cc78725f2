//! `boxscore compare` end to end: runs that stand on two sides, and three sides in order.

mod common;

use common::Bench;
use model::doc::CompareDoc;

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
        "atom-c2750 kernel-tcp 0",
        "atom-c2750 kernel-bypass 0",
        "atom-c2750 kernel-bypass 1",
        "ramcloud-xeon-infiniband kernel-tcp 0",
        "ramcloud-xeon-infiniband kernel-tcp 1",
        "ramcloud-xeon-infiniband infiniband 0",
    ];
    assert_eq!(columns, expected);
    assert_eq!(reads.cells.len(), 7 + 7);
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
