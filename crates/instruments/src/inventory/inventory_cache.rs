//! Caches by level and how they are shared, and NUMA nodes with their distances.
//!
//! `cache.<level>.bytes` is the size of one instance; `.instances` and `.total` stand beside it. Sizes in B, what
//! the kernel reports: a hypervisor may pass on the host's figures, and does.

use std::collections::{BTreeMap, BTreeSet};

use model::format::quantity;
use model::{Fact, Unit};

use super::scan::Scan;
use crate::system_files::root::ABSENT;
use crate::system_files::{Root, Sheet, text, virt};
use model::fact::HYPERVISOR;

pub static INSTRUMENT: &Scan = &Scan::new("inventory-cache", "caches by level and sharing, NUMA nodes", scan);

const CPUS: &str = "/sys/devices/system/cpu";
const NODES: &str = "/sys/devices/system/node";

pub fn scan(root: &Root) -> Vec<Fact> {
    let mut sheet = Sheet::new(root);
    caches(&mut sheet);
    numa(&mut sheet);
    sheet.done()
}

/// One physical cache.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cache {
    /// `l1d`, `l1i`, `l2`, `l3` ...
    pub name: String,
    pub bytes: u64,
    /// CPUs that share it.
    pub cpus: BTreeSet<u32>,
    pub ways: Option<u64>,
    pub line: Option<u64>,
}

/// The caches that sysfs describes, each instance once.
pub fn instances(root: &Root) -> Vec<Cache> {
    let mut found: BTreeSet<Cache> = BTreeSet::new();
    let mut seen: BTreeSet<u32> = BTreeSet::new();
    for cpu in crate::inventory::inventory_cpu::online(root, root.cpuinfo()) {
        // Threads of one core see the same caches: one of them is enough.
        if !seen.insert(cpu) {
            continue;
        }
        let folder = format!("{CPUS}/cpu{cpu}/cache");
        let indexes = root.list(&folder).into_iter().filter(|name| name.starts_with("index"));
        let own: Vec<Cache> =
            indexes.filter_map(|name| cache(root, &format!("{folder}/{name}"), cpu)).collect();
        if let Some(first) = own.iter().find(|cache| cache.name.starts_with("l1")) {
            seen.extend(&first.cpus);
        }
        found.extend(own);
    }
    found.into_iter().collect()
}

fn cache(root: &Root, folder: &str, cpu: u32) -> Option<Cache> {
    let read = |name: &str| root.maybe(&format!("{folder}/{name}"));
    let number =
        |name: &str| read(name).and_then(|text| text.parse().ok()).filter(|&number: &u64| number > 0);
    let level = read("level")?;
    let letter = match read("type")?.as_str() {
        "Data" => "d",
        "Instruction" => "i",
        _ => "",
    };
    let cpus = read("shared_cpu_list").map(|list| text::cpu_list(&list));
    let cpus = cpus.or_else(|| read("shared_cpu_map").map(|mask| text::cpu_mask(&mask)));
    Some(Cache {
        name: format!("l{level}{letter}"),
        bytes: text::size(&read("size")?)?,
        cpus: cpus.unwrap_or_else(|| BTreeSet::from([cpu])),
        ways: number("ways_of_associativity"),
        line: number("coherency_line_size"),
    })
}

fn caches(sheet: &mut Sheet<'_>) {
    let source = format!("{CPUS}/cpu*/cache");
    let from = sheet.len();
    let mut levels: BTreeMap<String, Vec<Cache>> = BTreeMap::new();
    for cache in instances(sheet.root) {
        levels.entry(cache.name.clone()).or_default().push(cache);
    }
    for (name, caches) in &levels {
        level(sheet, name, caches, &source);
    }
    for name in ["l1d", "l1i", "l2", "l3"].into_iter().filter(|name| !levels.contains_key(*name)) {
        let why = if levels.is_empty() { ABSENT } else { "this CPU reports no such cache" };
        sheet.unknown(&format!("cache.{name}.bytes"), &source, why);
    }
    let last = levels.values().flatten().filter(|cache| cache.name != "l1i").max_by_key(|cache| cache.bytes);
    if let Some(last) = last {
        sheet.count("cache.last.bytes", last.bytes, Unit::Byte, &source);
    }
    if virt::is_virtual(sheet.root) {
        sheet.paravirtual(from, &[]);
    }
}

/// Facts of one level; where instances differ (hybrid cores) the largest stands, with the list beside it.
fn level(sheet: &mut Sheet<'_>, name: &str, caches: &[Cache], source: &str) {
    let largest = caches.iter().max_by_key(|cache| cache.bytes);
    let Some(largest) = largest else { return };
    let mut sizes: BTreeMap<u64, usize> = BTreeMap::new();
    for cache in caches {
        *sizes.entry(cache.bytes).or_default() += 1;
    }
    let key = |what: &str| format!("cache.{name}.{what}");
    sheet.count(&key("bytes"), largest.bytes, Unit::Byte, source);
    if sizes.len() > 1 {
        let list: Vec<String> = sizes.iter().map(|(bytes, count)| format!("{count}x {bytes} B")).collect();
        sheet.because(&format!("instances differ: {}", list.join(" + ")));
    }
    sheet.count(&key("instances"), caches.len() as u64, Unit::Count, source);
    sheet.count(&key("total"), caches.iter().map(|cache| cache.bytes).sum(), Unit::Byte, source);
    let sharing = caches.iter().map(|cache| cache.cpus.len()).max().unwrap_or(1);
    sheet.count(&key("shared_by"), sharing as u64, Unit::Count, source);
    if let Some(ways) = largest.ways {
        sheet.count(&key("ways"), ways, Unit::Count, source);
    }
    if let Some(line) = largest.line {
        sheet.count(&key("line"), line, Unit::Byte, source);
    }
}

fn numa(sheet: &mut Sheet<'_>) {
    let root = sheet.root;
    let is_node = |name: &String| name.strip_prefix("node").is_some_and(|id| id.parse::<u32>().is_ok());
    let nodes: Vec<String> = root.list(NODES).into_iter().filter(is_node).collect();
    let source = format!("{NODES}/node*");
    if nodes.is_empty() {
        if root.exists(CPUS) {
            sheet.count("numa.nodes", 1, Unit::Count, &source);
            sheet.because("the kernel has no NUMA support: memory is one node");
        } else {
            sheet.unknown("numa.nodes", &source, ABSENT);
        }
        return;
    }
    sheet.count("numa.nodes", nodes.len() as u64, Unit::Count, &source);
    let mut distances = Vec::new();
    let apart = totals_apart(root, &nodes);
    for node in &nodes {
        let folder = format!("{NODES}/{node}");
        let cpus = root.maybe(&format!("{folder}/cpulist")).map(|list| text::cpu_list(&list));
        let cpus = cpus.or_else(|| root.maybe(&format!("{folder}/cpumap")).map(|mask| text::cpu_mask(&mask)));
        if let Some(cpus) = cpus {
            let list = if cpus.is_empty() { "none".to_owned() } else { text::fold_list(&cpus) };
            sheet.text(&format!("numa.{node}.cpus"), list, &format!("{folder}/cpulist"));
        }
        if let Some(bytes) = root.maybe(&format!("{folder}/meminfo")).and_then(|text| node_total(&text)) {
            sheet.count(&format!("numa.{node}.bytes"), bytes, Unit::Byte, &format!("{folder}/meminfo"));
            apart.iter().for_each(|why| sheet.because(why));
        }
        distances.extend(root.maybe(&format!("{folder}/distance")).map(|text| text::tidy(&text)));
    }
    if distances.len() == nodes.len() {
        sheet.text("numa.distances", distances.join("; "), &format!("{NODES}/node*/distance"));
        if virt::is_virtual(root) {
            sheet.because(HYPERVISOR);
        }
    }
}

/// Why the memory of the nodes is not that of the machine, where their sums differ by more than a hundredth.
fn totals_apart(root: &Root, nodes: &[String]) -> Option<String> {
    let of_node = |node: &String| node_total(&root.maybe(&format!("{NODES}/{node}/meminfo"))?);
    let of_nodes: u64 = nodes.iter().map(of_node).sum::<Option<u64>>()?;
    let total = text::size(text::pairs(&root.maybe("/proc/meminfo")?, ':').get("MemTotal")?)?;
    (of_nodes.abs_diff(total) > total / 100).then(|| {
        let bytes = |bytes: u64| quantity(bytes as f64, Unit::Byte);
        let nodes = if nodes.len() == 1 { "the node counts" } else { "all nodes count" };
        format!(
            "{nodes} {} and memory.bytes is {}: the kernel's counts by node may leave out memory that was added while \
             it ran, as a virtual machine's is; memory.bytes is all there is",
            bytes(of_nodes),
            bytes(total)
        )
    })
}

/// `Node 0 MemTotal: 32768 kB`.
fn node_total(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.contains("MemTotal:"))?;
    text::size(line.split_once("MemTotal:")?.1)
}
