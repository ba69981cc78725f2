//! The same facts as lscpu, lsblk, ip and /proc/meminfo give on the running machine. Where a tool is not
//! installed its comparison has nothing to check; the facts themselves are still read by the other tests.

use std::process::Command;

use instruments::inventory::spec_sheet::all_facts;
use instruments::system_files::Root;
use instruments::system_files::sheet::known;
use model::Fact;
use serde_json::Value;

fn tool(name: &str, args: &[&str]) -> Option<Value> {
    let out = Command::new(name).args(args).env("LC_ALL", "C").output().ok()?;
    if !out.status.success() {
        return None;
    }
    serde_json::from_slice(&out.stdout).ok()
}

fn facts() -> Vec<Fact> {
    all_facts(&Root::live())
}

fn same(facts: &[Fact], key: &str, theirs: Option<String>) {
    if let Some(theirs) = theirs {
        assert_eq!(known(facts, key), Some(theirs), "{key}");
    }
}

#[test]
fn as_lscpu() {
    let Some(document) = tool("lscpu", &["-J"]) else { return };
    let mut rows = Vec::new();
    flatten(&document["lscpu"], &mut rows);
    let get = |name: &str| rows.iter().find(|row| row.0 == name).map(|row| row.1.clone());
    let number = |name: &str| get(name).and_then(|text| text.parse::<u64>().ok());
    let facts = facts();
    if cfg!(any(target_arch = "x86_64", target_arch = "x86")) {
        same(
            &facts,
            "cpu.model",
            get("Model name").map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")),
        );
        same(&facts, "cpu.vendor", get("Vendor ID"));
        same(&facts, "cpu.family", get("CPU family"));
        same(&facts, "cpu.model.id", get("Model"));
        let theirs = get("Hypervisor vendor").map(|name| name.to_lowercase());
        same(
            &facts,
            "virt.machine",
            theirs.map(|name| if name == "microsoft" { "hyperv".into() } else { name }),
        );
    }
    same(&facts, "cpu.threads", get("CPU(s)"));
    same(&facts, "cpu.sockets", get("Socket(s)"));
    let cores = number("Core(s) per socket").zip(number("Socket(s)")).map(|(cores, sockets)| cores * sockets);
    same(&facts, "cpu.cores", cores.map(|cores| cores.to_string()));
    same(&facts, "cpu.smt", number("Thread(s) per core").map(|threads| (threads > 1).to_string()));
    same(&facts, "numa.nodes", get("NUMA node(s)"));
    for (key, name) in [("l1d", "L1d cache"), ("l1i", "L1i cache"), ("l2", "L2 cache"), ("l3", "L3 cache")] {
        let Some((total, instances)) = get(name).as_deref().and_then(cache) else { continue };
        same(&facts, &format!("cache.{key}.total"), Some(total.to_string()));
        same(&facts, &format!("cache.{key}.instances"), Some(instances.to_string()));
    }
    let flags = get("Flags").map(|text| {
        let mut flags: Vec<&str> = text.split_whitespace().collect();
        flags.sort_unstable();
        flags.dedup();
        flags.join(" ")
    });
    same(&facts, "cpu.flags", flags);
}

/// Newer versions nest the fields.
fn flatten(value: &Value, rows: &mut Vec<(String, String)>) {
    for row in value.as_array().into_iter().flatten() {
        let field = row["field"].as_str().unwrap_or("").trim_end_matches(':').to_owned();
        rows.push((field, row["data"].as_str().unwrap_or("").to_owned()));
        flatten(&row["children"], rows);
    }
}

/// `96 KiB (2 instances)`: exact only when the tool did not round.
fn cache(text: &str) -> Option<(u64, u64)> {
    let (size, rest) = text.split_once(" (")?;
    let (number, unit) = size.split_once(' ')?;
    let scale: u64 = match unit {
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    let instances = rest.split(' ').next()?.parse().ok()?;
    Some((number.parse::<u64>().ok()?.checked_mul(scale)?, instances))
}

#[test]
fn as_lsblk() {
    let columns = "NAME,SIZE,ROTA,TYPE,MODEL,SCHED,LOG-SEC,PHY-SEC,TRAN";
    let Some(document) = tool("lsblk", &["-J", "-b", "-d", "-o", columns]) else { return };
    let facts = facts();
    for disk in document["blockdevices"].as_array().into_iter().flatten() {
        let size = disk["size"].as_u64().or_else(|| disk["size"].as_str()?.parse().ok()).unwrap_or(0);
        if disk["type"] != "disk"
            || size == 0
            || disk["name"].as_str().is_none_or(|name| name.starts_with("zram"))
        {
            continue;
        }
        let name = disk["name"].as_str().unwrap_or_default();
        let text = |field: &str| match &disk[field] {
            Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(flag) => Some(flag.to_string()),
            _ => None,
        };
        same(&facts, &format!("disk.{name}.bytes"), Some(size.to_string()));
        same(
            &facts,
            &format!("disk.{name}.rotational"),
            text("rota").map(|word| {
                if word == "1" {
                    "true".into()
                } else if word == "0" {
                    "false".into()
                } else {
                    word
                }
            }),
        );
        same(&facts, &format!("disk.{name}.model"), text("model"));
        same(&facts, &format!("disk.{name}.scheduler"), text("sched"));
        same(&facts, &format!("disk.{name}.logical_block"), text("log-sec"));
        same(&facts, &format!("disk.{name}.physical_block"), text("phy-sec"));
    }
}

#[test]
fn as_ip_link() {
    let Some(document) = tool("ip", &["-j", "link"]) else { return };
    let facts = facts();
    let names = known(&facts, "nic.names").unwrap_or_default();
    for link in document.as_array().into_iter().flatten() {
        let name = link["ifname"].as_str().unwrap_or("lo");
        if name == "lo" {
            continue;
        }
        assert!(names.split(' ').any(|ours| ours == name), "{name} is not among {names}");
        if known(&facts, &format!("nic.{name}.mtu")).is_none() {
            continue;
        }
        same(&facts, &format!("nic.{name}.mtu"), link["mtu"].as_u64().map(|mtu| mtu.to_string()));
        same(&facts, &format!("nic.{name}.mac"), link["address"].as_str().map(str::to_owned));
        same(&facts, &format!("nic.{name}.state"), link["operstate"].as_str().map(str::to_lowercase));
    }
}

#[test]
fn the_store_directory_is_on_a_known_file_system() {
    let dir = tempfile::tempdir().unwrap();
    let facts = all_facts(&Root::live().with_dir(dir.path()));
    let number = |key: &str| facts.iter().find(|fact| fact.key == key)?.value.as_ref()?.number();
    let (size, free) = (number("fs.store.bytes").unwrap(), number("fs.store.free.bytes").unwrap());
    assert!(size > 0.0 && (0.0..=size).contains(&free), "{free} free of {size}");
    assert!(known(&facts, "fs.store.type").is_some_and(|kind| !kind.is_empty()));
}

#[test]
fn as_meminfo() {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:")).unwrap();
    let kib: u64 = line.trim().trim_end_matches(" kB").parse().unwrap();
    assert_eq!(known(&facts(), "memory.bytes"), Some((kib * 1024).to_string()));
}
