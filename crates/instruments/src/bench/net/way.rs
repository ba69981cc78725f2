//! The device through which packets leave for the far end, and its driver, rate, queues and interrupts.
//!
//! Read from the kernel's main routing table (/proc/net/route, ipv6_route). Not looked at: rules that choose another
//! table, and the network behind the device.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

use model::{Fact, FactValue};

use crate::inventory::inventory_net;
use crate::system_files::Root;

const LOOPBACK: &str = "lo";

/// A sentence on the way to `to`; `None` if the kernel tells nothing.
pub fn sentence(root: &Root, to: IpAddr) -> Option<String> {
    let device = interface(root, to)?;
    if device == LOOPBACK {
        return Some("over the loopback: no device, no interrupts".to_owned());
    }
    Some(described(&device, &inventory_net::scan(root)))
}

/// The interface through which packets leave for `to`; `None` if the kernel tells nothing.
pub fn interface(root: &Root, to: IpAddr) -> Option<String> {
    if is_own(to) { Some(LOOPBACK.to_owned()) } else { device(root, to) }
}

/// True if the address is one of this machine's own.
fn is_own(to: IpAddr) -> bool {
    let any: IpAddr = if to.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    // Nothing is sent: the kernel only chooses the way.
    let own = UdpSocket::bind((any, 0)).and_then(|socket| {
        socket.connect((to, 9))?;
        socket.local_addr()
    });
    own.is_ok_and(|own| own.ip() == to)
}

fn device(root: &Root, to: IpAddr) -> Option<String> {
    match to.to_canonical() {
        IpAddr::V4(to) => best(root.maybe("/proc/net/route")?.lines().filter_map(|line| route4(line, to))),
        IpAddr::V6(to) => {
            best(root.maybe("/proc/net/ipv6_route")?.lines().filter_map(|line| route6(line, to)))
        }
    }
}

/// A matching route: its prefix length, its metric, its device.
type Route = (u32, u32, String);

/// The device of the route with the longest prefix, and of these the lowest metric.
fn best(routes: impl Iterator<Item = Route>) -> Option<String> {
    routes.max_by_key(|(bits, metric, _)| (*bits, std::cmp::Reverse(*metric))).map(|(_, _, device)| device)
}

/// True if the route is up and not a reject route.
fn is_used(flags: u32) -> bool {
    flags & 0x1 != 0 && flags & 0x200 == 0
}

fn hex(fields: &[&str], at: usize) -> Option<u32> {
    u32::from_str_radix(fields.get(at)?, 16).ok()
}

fn route4(line: &str, to: Ipv4Addr) -> Option<Route> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    // The kernel prints the bytes of the network as one of the machine's own numbers; ours are little endian.
    let (net, mask) = (hex(&fields, 1)?, hex(&fields, 7)?);
    let metric = fields.get(6)?.parse().ok()?;
    let leads = u32::from_le_bytes(to.octets()) & mask == net;
    (leads && is_used(hex(&fields, 3)?)).then(|| (mask.count_ones(), metric, (*fields[0]).to_owned()))
}

fn route6(line: &str, to: Ipv6Addr) -> Option<Route> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let net = u128::from_str_radix(fields.first()?, 16).ok()?;
    let bits = hex(&fields, 1).filter(|bits| *bits <= 128)?;
    let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
    let leads = to.to_bits() & mask == net;
    let metric = hex(&fields, 5)?;
    let device = fields.get(9)?;
    (leads && is_used(hex(&fields, 8)?)).then(|| (bits, metric, (*device).to_owned()))
}

fn described(device: &str, facts: &[Fact]) -> String {
    let known = |what: &str| {
        let key = format!("nic.{device}.{what}");
        facts.iter().find(|fact| fact.key == key).and_then(|fact| fact.value.clone())
    };
    let text = |what: &str| match known(what) {
        Some(FactValue::Text(text)) => Some(text),
        _ => None,
    };
    let number = |what: &str| match known(what) {
        Some(FactValue::Number(number)) => Some(number),
        _ => None,
    };
    let mut words = vec![text("driver").unwrap_or_else(|| "no driver of its own".to_owned())];
    words.extend(number("speed").map(|bytes| format!("{} Gbit/s", bytes * 8.0 / 1e9)));
    words.extend(number("mtu").map(|mtu| format!("MTU {mtu} B")));
    words.extend(number("queues.rx").map(|count| match count {
        1.0 => "1 receive queue".to_owned(),
        count => format!("{count} receive queues"),
    }));
    words.extend(text("irq_affinity").map(|cpus| format!("interrupts {cpus}")));
    words.extend(text("rps").filter(|rps| rps != "off").map(|rps| format!("RPS on {rps}")));
    format!("over {device}: {}", words.join(", "))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ROUTES: &str = "\
Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
eth0\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0
wlan0\t00000000\t0102A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0
eth1\t0000000A\t00000000\t0001\t0\t0\t0\t000000FF\t0\t0\t0
gone\t0000010A\t00000000\t0000\t0\t0\t0\t0000FFFF\t0\t0\t0
";
    const ROUTES6: &str = "\
20010db8000000000000000000000000 20 00000000000000000000000000000000 00 00000000000000000000000000000000 00000100 00000001 00000000 00000001     eth0
00000000000000000000000000000000 00 00000000000000000000000000000000 00 fe800000000000000000000000000001 00000400 00000001 00000000 00000003     eth1
00000000000000000000000000000000 00 00000000000000000000000000000000 00 00000000000000000000000000000000 ffffffff 00000001 00000000 00200200       lo
";

    fn root() -> (tempfile::TempDir, Root) {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        put("proc/net/route", ROUTES);
        put("proc/net/ipv6_route", ROUTES6);
        for (file, text) in
            [("mtu", "9000"), ("speed", "25000"), ("device/vendor", "0x15b3"), ("queues/rx-0/x", "")]
        {
            put(&format!("sys/class/net/eth1/{file}"), text);
        }
        put("sys/class/net/eth1/device/msi_irqs/41", "msix");
        put("proc/irq/41/smp_affinity_list", "0-3");
        put("proc/irq/41/effective_affinity_list", "2");
        let root = Root::at(dir.path());
        (dir, root)
    }

    #[test]
    fn the_longest_prefix_then_the_least_metric_leads() {
        let (_dir, root) = root();
        let leads = |to: &str| device(&root, to.parse().unwrap());
        assert_eq!(leads("10.1.2.3").as_deref(), Some("eth1"));
        assert_eq!(leads("8.8.8.8").as_deref(), Some("eth0"));
        assert_eq!(leads("2001:db8::5").as_deref(), Some("eth0"));
        assert_eq!(leads("2002::5").as_deref(), Some("eth1"));
        assert_eq!(leads("::ffff:10.1.2.3").as_deref(), Some("eth1"));
    }

    #[test]
    fn the_device_is_described() {
        let (_dir, root) = root();
        assert_eq!(
            described("eth1", &inventory_net::scan(&root)),
            "over eth1: no driver of its own, 25 Gbit/s, MTU 9000 B, 1 receive queue, interrupts may run on CPUs 0-3, \
             do run on 2"
        );
    }

    #[test]
    fn an_address_of_this_machine_needs_no_device() {
        let (_dir, root) = root();
        let words = sentence(&root, "127.0.0.1".parse().unwrap()).unwrap();
        assert!(words.contains("loopback"), "{words}");
    }

    proptest! {
        #[test]
        fn any_table_is_read(line in "[0-9a-fA-F \t]{0,140}[a-z]{0,4}", to in any::<u32>(), six in any::<u128>()) {
            let _route = route4(&line, Ipv4Addr::from_bits(to));
            let _route = route6(&line, Ipv6Addr::from_bits(six));
        }
    }
}
