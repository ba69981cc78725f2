//! Network and RDMA devices: driver, line rate, queues, interrupts, place.
//!
//! Line rates in B/s (10GbE is 1.25e9). The loopback is left out; of devices without hardware only their kind is
//! listed. Offloads need a system call on a socket and are not read here.

use std::collections::BTreeSet;

use model::{Fact, Unit};

use super::scan::Scan;
use crate::system_files::root::ABSENT;
use crate::system_files::{Root, Sheet, text};

pub static INSTRUMENT: &Scan =
    &Scan::new("inventory-net", "network and RDMA devices: driver, speed, queues, interrupts", scan);

const NET: &str = "/sys/class/net";
const RDMA: &str = "/sys/class/infiniband";
/// A host of containers has hundreds of virtual devices; beyond this they are only counted.
const MOST_VIRTUAL: usize = 16;

pub fn scan(root: &Root) -> Vec<Fact> {
    let mut sheet = Sheet::new(root);
    let names: Vec<String> = root
        .list(NET)
        .into_iter()
        .filter(|name| name != "lo" && root.exists(&format!("{NET}/{name}/mtu")))
        .collect();
    if names.is_empty() {
        let why = if root.exists(NET) { "only the loopback is visible here" } else { ABSENT };
        sheet.unknown("nic.names", NET, why);
    } else {
        sheet.text("nic.names", names.join(" "), NET);
    }
    let (real, made): (Vec<String>, Vec<String>) =
        names.into_iter().partition(|name| root.exists(&format!("{NET}/{name}/device")));
    for name in &real {
        nic(&mut sheet, name);
    }
    for name in made.iter().take(MOST_VIRTUAL) {
        made_up(&mut sheet, name);
    }
    if made.len() > MOST_VIRTUAL {
        sheet.count("nic.virtual", made.len() as u64, Unit::Count, NET);
    }
    rdma(&mut sheet);
    sheet.done()
}

fn nic(sheet: &mut Sheet<'_>, name: &str) {
    let root = sheet.root;
    let folder = format!("{NET}/{name}");
    let key = |what: &str| format!("nic.{name}.{what}");
    let from = sheet.len();
    let driver = root.link(&format!("{folder}/device/driver"));
    let paravirtual = driver.as_deref().is_some_and(|driver| {
        matches!(driver, "virtio_net" | "vif" | "xen_netfront" | "hv_netvsc" | "vmxnet3" | "ena" | "gve")
    });
    sheet.text_or(&key("driver"), driver, &format!("{folder}/device/driver"), ABSENT);
    common(sheet, name);
    let speed = format!("{folder}/speed");
    match root.read(&speed).map(|text| text.parse::<i64>()) {
        Ok(Ok(mbit)) if mbit > 0 => {
            let bytes_per_sec = mbit as f64 * 1e6 / 8.0;
            sheet.number(&key("speed"), bytes_per_sec, Unit::BytesPerSec, &speed);
        }
        Ok(_) => sheet.unknown(&key("speed"), &speed, "no link, or a virtual device without a rate"),
        Err(why) => sheet.unknown(&key("speed"), &speed, &why),
    }
    if let Some(duplex) = root.maybe(&format!("{folder}/duplex")).filter(|text| text != "unknown") {
        sheet.text(&key("duplex"), duplex, &format!("{folder}/duplex"));
    }
    let queues = root.list(&format!("{folder}/queues"));
    for side in ["rx", "tx"] {
        let count = queues.iter().filter(|queue| queue.starts_with(side)).count() as u64;
        sheet.count(&key(&format!("queues.{side}")), count, Unit::Count, &format!("{folder}/queues"));
    }
    interrupts(sheet, name, &folder);
    steering(sheet, name, &queues);
    let node = root.number(&format!("{folder}/device/numa_node")).and_then(|node| u64::try_from(node).ok());
    if let Some(node) = node {
        sheet.count(&key("numa_node"), node, Unit::Count, &format!("{folder}/device/numa_node"));
    }
    if paravirtual {
        sheet.paravirtual(
            from,
            &[".driver", ".state", ".mtu", ".mac", ".irq_affinity", ".irq_cpus", ".rps", ".rfs_flows"],
        );
    }
}

fn common(sheet: &mut Sheet<'_>, name: &str) {
    let folder = format!("{NET}/{name}");
    sheet.file(&format!("nic.{name}.state"), &format!("{folder}/operstate"));
    sheet.file_number(&format!("nic.{name}.mtu"), &format!("{folder}/mtu"), 1.0, Unit::Byte);
    sheet.file(&format!("nic.{name}.mac"), &format!("{folder}/address"));
}

/// The interrupts of the device (or, of virtio, of the PCI device above it) and the CPUs that may take them.
fn interrupts(sheet: &mut Sheet<'_>, name: &str, folder: &str) {
    let root = sheet.root;
    let places = [format!("{folder}/device/msi_irqs"), format!("{folder}/device/../msi_irqs")];
    let numbers = places.iter().map(|place| root.list(place)).find(|list| !list.is_empty());
    let key = format!("nic.{name}.irqs");
    let Some(numbers) = numbers else {
        return sheet.unknown(&key, &places[0], ABSENT);
    };
    let mut cpus: BTreeSet<u32> = BTreeSet::new();
    let mut effective: BTreeSet<u32> = BTreeSet::new();
    for number in &numbers {
        let list = |file: &str| {
            let list = root.maybe(&format!("/proc/irq/{number}/{file}"));
            list.map(|list| text::cpu_list(&list)).unwrap_or_default()
        };
        cpus.extend(list("smp_affinity_list"));
        effective.extend(list("effective_affinity_list"));
    }
    sheet.count(&key, numbers.len() as u64, Unit::Count, &places[0]);
    if !cpus.is_empty() {
        let mut words = format!("may run on CPUs {}", text::fold_list(&cpus));
        if !effective.is_empty() {
            words.push_str(&format!(", do run on {}", text::fold_list(&effective)));
        }
        sheet.text(&format!("nic.{name}.irq_affinity"), words, "/proc/irq/*/smp_affinity_list");
        let (taken, file) = match effective.is_empty() {
            true => (&cpus, "smp_affinity_list"),
            false => (&effective, "effective_affinity_list"),
        };
        sheet.text(&format!("nic.{name}.irq_cpus"), text::fold_list(taken), &format!("/proc/irq/*/{file}"));
    }
}

/// Which CPUs handle received packets after the interrupt (RPS, of any queue), and how many flows are sent to the CPU
/// of their reader (RFS).
fn steering(sheet: &mut Sheet<'_>, name: &str, queues: &[String]) {
    let root = sheet.root;
    let receive = queues.iter().filter(|queue| queue.starts_with("rx"));
    let mut cpus: Option<BTreeSet<u32>> = None;
    let mut flows: Option<u64> = None;
    for queue in receive {
        let folder = format!("{NET}/{name}/queues/{queue}");
        if let Some(mask) = root.maybe(&format!("{folder}/rps_cpus")) {
            cpus.get_or_insert_default().extend(text::cpu_mask(&mask));
        }
        if let Some(count) =
            root.number(&format!("{folder}/rps_flow_cnt")).and_then(|n| u64::try_from(n).ok())
        {
            flows = Some(flows.unwrap_or(0).saturating_add(count));
        }
    }
    if let Some(cpus) = cpus {
        let words =
            if cpus.is_empty() { "off".to_owned() } else { format!("CPUs {}", text::fold_list(&cpus)) };
        sheet.text(&format!("nic.{name}.rps"), words, &format!("{NET}/{name}/queues/rx-*/rps_cpus"));
    }
    if let Some(flows) = flows {
        let path = format!("{NET}/{name}/queues/rx-*/rps_flow_cnt");
        sheet.count(&format!("nic.{name}.rfs_flows"), flows, Unit::Count, &path);
    }
}

/// Bridges, bonds, tunnels and the like.
fn made_up(sheet: &mut Sheet<'_>, name: &str) {
    let folder = format!("{NET}/{name}");
    let root = sheet.root;
    let kinds =
        [("bridge", "bridge"), ("bonding", "bond"), ("tun_flags", "tap or tun"), ("wireless", "wireless")];
    let kind = kinds.iter().find(|(file, _)| root.exists(&format!("{folder}/{file}"))).map(|(_, kind)| *kind);
    let event = root.maybe(&format!("{folder}/uevent"));
    let by_event = event.and_then(|text| text::pairs(&text, '=').remove("DEVTYPE"));
    let kind = kind.map(str::to_owned).or(by_event).unwrap_or_else(|| "virtual".to_owned());
    sheet.text(&format!("nic.{name}.kind"), kind, &folder);
    common(sheet, name);
}

fn rdma(sheet: &mut Sheet<'_>) {
    let root = sheet.root;
    let names = root.list(RDMA);
    if names.is_empty() {
        if root.exists("/sys/class") {
            sheet.text("rdma.names", "none", RDMA);
        } else {
            sheet.unknown("rdma.names", RDMA, ABSENT);
        }
        return;
    }
    sheet.text("rdma.names", names.join(" "), RDMA);
    for name in names {
        let folder = format!("{RDMA}/{name}");
        let driver = root.link(&format!("{folder}/device/driver"));
        sheet.text_or(&format!("rdma.{name}.driver"), driver, &format!("{folder}/device/driver"), ABSENT);
        sheet.maybe(&format!("rdma.{name}.board"), &format!("{folder}/board_id"));
        sheet.maybe(&format!("rdma.{name}.firmware"), &format!("{folder}/fw_ver"));
        for port in root.list(&format!("{folder}/ports")) {
            let key = |what: &str| format!("rdma.{name}.{port}.{what}");
            let path = |what: &str| format!("{folder}/ports/{port}/{what}");
            sheet.maybe(&key("link"), &path("link_layer"));
            sheet.maybe(&key("state"), &path("state"));
            // `100 Gb/sec (4X EDR)`: the data rate after coding.
            if let Some(bits) = root.maybe(&path("rate")).and_then(|text| text::giga(&text)) {
                sheet.number(&key("rate"), bits / 8.0, Unit::BytesPerSec, &path("rate"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use model::FactValue;

    use super::*;

    fn facts(queues: &[(&str, &str)]) -> Vec<Fact> {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        put("sys/class/net/eth0/mtu", "1500\n");
        put("sys/class/net/eth0/device/vendor", "0x8086\n");
        put("sys/class/net/eth0/device/msi_irqs/24", "msix\n");
        put("sys/class/net/eth0/device/msi_irqs/25", "msix\n");
        put("proc/irq/24/smp_affinity_list", "0-3\n");
        put("proc/irq/24/effective_affinity_list", "2\n");
        put("proc/irq/25/smp_affinity_list", "0-3\n");
        put("proc/irq/25/effective_affinity_list", "3\n");
        for (path, text) in queues {
            put(&format!("sys/class/net/eth0/queues/{path}"), text);
        }
        scan(&Root::at(dir.path()))
    }

    #[test]
    fn who_takes_over_received_packets_is_told() {
        let value = |facts: &[Fact], key: &str| {
            facts.iter().find(|fact| fact.key == format!("nic.eth0.{key}"))?.value.clone()
        };
        let on = facts(&[
            ("rx-0/rps_cpus", "00000000,0000000f\n"),
            ("rx-1/rps_cpus", "00000001,00000000\n"),
            ("rx-0/rps_flow_cnt", "2048\n"),
            ("rx-1/rps_flow_cnt", "2048\n"),
            ("tx-0/rps_cpus", "f0\n"),
        ]);
        assert_eq!(value(&on, "rps"), Some(FactValue::Text("CPUs 0-3,32".to_owned())));
        assert_eq!(value(&on, "rfs_flows"), Some(FactValue::Number(4096.0)));
        let off = facts(&[("rx-0/rps_cpus", "0\n"), ("rx-0/rps_flow_cnt", "0\n")]);
        assert_eq!(value(&off, "rps"), Some(FactValue::Text("off".to_owned())));
        assert_eq!(value(&facts(&[("rx-0/none", "")]), "rps"), None);
        assert_eq!(value(&off, "irq_cpus"), Some(FactValue::Text("2-3".to_owned())));
    }
}
