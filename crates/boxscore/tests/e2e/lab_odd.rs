//! `lab odd` on eight ssh servers, of which one has less memory and one is throttled.

use model::doc::{LabOddDoc, OddEvidenceDoc, OddNodeDoc};

use crate::common::host::{MemoryLimit, Quota, enter};
use crate::common::sshd::{Fleet, cache_at};
use crate::common::{Said, cannot};

/// The node with less memory, and the one that is throttled.
const LESS: usize = 3;
const SLOW: usize = 6;

fn lab(fleet: &Fleet, words: &[&str]) -> Said {
    fleet.run_with(words, &[])
}

fn keys(node: &OddNodeDoc) -> Vec<&str> {
    let key = |evidence: &OddEvidenceDoc| match evidence {
        OddEvidenceDoc::Fact { key, .. } => Some(key.as_str().to_owned()),
        OddEvidenceDoc::Rule { .. } | OddEvidenceDoc::Figure { .. } => None,
    };
    let all: Vec<String> = node.evidence.iter().filter_map(key).collect();
    ["cgroup.memory.limit", "cgroup.cpu.quota"]
        .into_iter()
        .filter(|one| all.iter().any(|key| key == one))
        .collect()
}

fn odd(document: &LabOddDoc) -> Vec<&str> {
    let odd = document.nodes.iter().filter(|node| !node.evidence.is_empty());
    odd.map(|node| node.node.as_str()).collect()
}

#[test]
fn a_node_with_less_memory_and_a_throttled_one_are_the_odd_ones() {
    let (limit, quota) = match (MemoryLimit::new(1 << 30), Quota::new(2000)) {
        (Ok(limit), Ok(quota)) => (limit, quota),
        (Err(why), _) | (_, Err(why)) => return cannot(&why),
    };
    let fleet = Fleet::start(8, |number| cache_at(number, "KEYS/cache"));
    fleet.inventory();
    for (group, number) in [(&limit.0, LESS), (&quota.0, SLOW)] {
        if let Err(why) = enter(group, fleet.pid(number)) {
            return cannot(&why);
        }
    }
    let binaries = fleet.binaries();
    let words =
        ["odd", "@*", "--measure", "crc32c", "--set", "size=1KiB;impl=fast;threads=1", "--takes", "9"];
    // One after the other: they share the cores of this machine.
    let words = [&words[..], &["--width", "1", "--keep", "10", "--binaries", &binaries]].concat();
    let alike = "like the others: 6 nodes: rack[1-2,4-5,7-8]\n";
    let mut said = lab(&fleet, &words).expect(3, &[]);
    // Work of others may slow a healthy node of this machine, but not each time.
    for _ in 0..3 {
        if !said.out.contains(alike) {
            said = lab(&fleet, &words).expect(3, &[]);
        }
    }
    for text in [
        "8 nodes: 1 figure and ",
        "odd: rack3\n",
        "cgroup.memory.limit is 1.00 GiB; of 7 of 8 nodes it is none",
        "odd: rack6\n",
    ] {
        assert!(said.out.contains(text), "no `{text}` in {said:#?}");
    }
    assert!(said.out.contains(alike), "{said:#?}");
    let stored = lab(&fleet, &["odd", "@*", "--stored", "--json"]);
    let document: LabOddDoc = serde_json::from_str(&stored.out).expect("a document");
    assert_eq!((odd(&document), stored.code), (vec!["rack3", "rack6"], Some(3)));
    let of = |number: usize| &document.nodes[number - 1];
    assert_eq!(keys(of(LESS)), ["cgroup.memory.limit"]);
    assert_eq!(keys(of(SLOW)), ["cgroup.cpu.quota"]);
    let is_throttled = |evidence: &OddEvidenceDoc| matches!(evidence, OddEvidenceDoc::Rule { rule, .. } if rule == "throttled");
    assert!(of(SLOW).evidence.iter().any(is_throttled), "{:#?}", of(SLOW));
    let said = lab(&fleet, &["odd", "rack[1-2]", "--stored"]).expect(0, &[]);
    assert!(said.out.contains("figures are judged of 5 nodes or more\n"), "{said:#?}");
    let said = lab(&fleet, &["odd", "rack1,node1", "--stored"]).expect(3, &[]);
    assert!(said.out.contains("not judged: node1: the store has no run of it that ended\n"), "{said:#?}");
}
