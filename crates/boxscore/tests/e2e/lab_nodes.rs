//! A study of eight nodes, each with a limit of memory and a CPU quota of its own, of which one has less memory and one
//! is throttled: they are put in order, and these two are the odd ones.

use std::fs;

use model::doc::{LabOddDoc, NodesDoc, RunDoc, StudyDoc, StudyOrderDoc};

use crate::common::host::{MemoryLimit, Quota, enter};
use crate::common::sshd::{Fleet, cache_at};
use crate::common::{Said, cannot};
use crate::lab_on::done;

const NODES: usize = 8;

/// The node with less memory, and the one that is throttled.
const LESS: usize = 3;
const SLOW: usize = 6;

/// Bytes, and microseconds of 10,000: as much as one thread can use and more, or a tenth of it.
const MEMORY: (u64, u64) = (2 << 30, 1 << 30);
const QUOTA: (u32, u32) = (40_000, 1_000);

/// The limits of every node, which go when they are dropped.
fn limits() -> Result<Vec<(MemoryLimit, Quota)>, String> {
    let one = |number: usize| {
        let which = format!("node{number}");
        let memory = MemoryLimit::of(&which, if number == LESS { MEMORY.1 } else { MEMORY.0 })?;
        Ok((memory, Quota::of(&which, if number == SLOW { QUOTA.1 } else { QUOTA.0 })?))
    };
    (1..=NODES).map(one).collect()
}

fn limit(fleet: &Fleet, limits: &[(MemoryLimit, Quota)]) -> Result<(), String> {
    (1..).zip(limits).try_for_each(|(number, (memory, quota))| {
        enter(&memory.0, fleet.pid(number))?;
        enter(&quota.0, fleet.pid(number))
    })
}

fn studied(fleet: &Fleet, words: &[&str]) -> Said {
    let binaries = fleet.binaries();
    done(&mut fleet.on(&[&["study", "nodes.toml", "--binaries", &binaries], words].concat()))
}

fn order(fleet: &Fleet) -> NodesDoc {
    let said = studied(fleet, &["--show", "--json"]).expect(0, &[]);
    let doc: StudyDoc = serde_json::from_str(&said.out).expect("a document");
    let [order]: [StudyOrderDoc; 1] = doc.orders.try_into().expect("one run");
    assert_eq!((order.name.as_str(), order.label.as_str()), ("crc", "nodes.crc"));
    order.nodes
}

fn odd(doc: &NodesDoc) -> Vec<String> {
    let mut odd = doc.odd();
    odd.sort();
    odd
}

/// The order once it is settled: work of others may slow a healthy node of this machine, but not each time.
fn settled(fleet: &Fleet) -> NodesDoc {
    for _ in 0..3 {
        studied(fleet, &[]).expect(0, &[]);
        let doc = order(fleet);
        if odd(&doc) == ["rack3", "rack6"] {
            return doc;
        }
    }
    order(fleet)
}

fn assert_order(doc: &NodesDoc) {
    assert_eq!(odd(doc), ["rack3", "rack6"], "{doc:#?}");
    assert_eq!((doc.nodes.len(), doc.missing.len()), (NODES, 0), "{doc:#?}");
    let last = doc.nodes.last().expect("eight nodes");
    // How many are told apart from it depends on what else this machine does.
    assert_eq!((last.node.as_str(), last.worst_rank, last.held_back), ("rack6", Some(8), true), "{doc:#?}");
    assert!(last.high.is_some_and(|high| high < 1.0), "{doc:#?}");
    let scores: Vec<f64> = doc.nodes.iter().map(|node| node.score.expect("a score")).collect();
    assert!(scores[NODES - 1] < 0.6 * scores[NODES - 2], "{scores:?}");
    for node in &doc.nodes {
        let (low, high) = node.low.zip(node.high).expect("an interval");
        assert!(low < node.score.expect("a score") && high > node.score.expect("a score"), "{node:?}");
        assert_eq!((node.values.len(), node.faults), (1, 0), "{node:?}");
    }
    // The seven others are equal, and whoever is ahead by chance is not called better.
    let tie = doc.ties.first().expect("a tie");
    assert!(tie.len() >= NODES - 2, "{:?}", doc.ties);
}

/// The page has a row for each node, in order, and says of these two in what they are odd.
fn assert_page(page: &str, doc: &NodesDoc) {
    let (_, section) = page.split_once("<section id=\"nodes\">").expect("a section of nodes");
    let (section, _) = section.split_once("</section>").expect("its end");
    let at = |node: &String| section.find(&format!("\u{2002}{node}")).unwrap_or_else(|| panic!("no {node}"));
    let places: Vec<usize> = doc.nodes.iter().map(|node| at(&node.node)).collect();
    assert!(places.is_sorted(), "{places:?}");
    for text in [
        "<b>rack3</b> is odd: cgroup.memory.limit is 1.00 GiB",
        "<b>rack6</b> is odd: cgroup.cpu.quota is 0.1",
        "held back",
    ] {
        assert!(section.contains(text), "no `{text}` in {section}");
    }
    for number in (1..=NODES).filter(|number| ![LESS, SLOW].contains(number)) {
        assert!(!section.contains(&format!("<b>rack{number}</b> is odd")), "{section}");
    }
}

#[test]
fn a_study_of_eight_nodes_puts_them_in_order_and_names_the_odd_two() {
    // They go after the servers.
    let limits = match limits() {
        Ok(limits) => limits,
        Err(why) => return cannot(&why),
    };
    let fleet = Fleet::start(NODES, |number| cache_at(number, "KEYS/cache"));
    fleet.inventory();
    if let Err(why) = limit(&fleet, &limits) {
        return cannot(&why);
    }
    let text = "name = \"nodes\"\ntitle = \"Checksums on nodes\"\non = \"@*\"\n\n\
                [[run]]\nname = \"crc\"\nmeasure = [\"crc32c\"]\n\
                set = [\"size=1KiB\", \"impl=fast\", \"threads=1\"]\ntakes = 9\nsittings = 1\nfor = \"5m\"\n\n\
                [[table]]\nname = \"crc\"\ntitle = \"crc32c\"\ncolumns = []\n\
                rows = [{ label = \"1 KiB\", figure = \"crc32c throughput size=1KiB;impl=fast;threads=1\" }]\n";
    fs::write(fleet.path("nodes.toml"), text).expect("a study");
    let doc = settled(&fleet);
    assert_order(&doc);
    let said = studied(&fleet, &["--show"]).expect(0, &[]);
    for text in ["8 nodes: ", "rack3 is odd: cgroup.memory.limit", "boxscore report nodes.crc"] {
        assert!(said.out.contains(text), "no `{text}` in {said:#?}");
    }
    // `lab odd` names the same two by the same evidence.
    let stored = fleet.run_with(&["odd", "@*", "--stored", "--json"], &[]).expect(3, &[]);
    let judged: LabOddDoc = serde_json::from_str(&stored.out).expect("a document");
    for node in &judged.nodes {
        let same = doc.nodes.iter().find(|one| one.node == node.node).expect("the node");
        assert_eq!(same.evidence, node.evidence, "{}", node.node);
    }
    let page = fleet.path("page.html");
    let name = page.display().to_string();
    done(&mut fleet.plain(&["report", "nodes.crc", "--output", &name])).expect(0, &[]);
    assert_page(&fs::read_to_string(&page).expect("a page"), &doc);
    // A run of one of them knows the others of its study.
    let run = &doc.nodes[0].run;
    let shown = done(&mut fleet.plain(&["show", run, "--json"])).expect(0, &[]);
    let shown: RunDoc = serde_json::from_str(&shown.out).expect("a document");
    assert_eq!(shown.nodes.map(|nodes| odd(&nodes)), Some(odd(&doc)));
    let shown = done(&mut fleet.plain(&["show", run])).expect(0, &[]);
    assert!(shown.out.contains("rack6 is odd: cgroup.cpu.quota"), "{shown:#?}");
}
