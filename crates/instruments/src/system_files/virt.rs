//! Virtualisation: bare metal or the kind of virtual machine, and the container if we are in one.
//!
//! Evidence in this order: the hypervisor's CPUID signature, /sys/hypervisor, DMI names, the device tree, the
//! `hypervisor` flag of cpuinfo. A hypervisor that hides itself is not found.

use super::cpuinfo::CpuInfo;
use super::root::Root;
use super::sheet::Sheet;

/// A kind, and its evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub kind: String,
    pub source: &'static str,
}

fn seen(kind: impl Into<String>, source: &'static str) -> Option<Seen> {
    Some(Seen { kind: kind.into(), source })
}

/// The kind behind a hypervisor's CPUID name.
fn signature(name: &str) -> String {
    match name {
        "Hyper-V" => "hyperv".to_owned(),
        name if name.starts_with("unknown") => "other".to_owned(),
        name => name.to_ascii_lowercase(),
    }
}

/// The virtual machine, if it is one.
pub fn machine(root: &Root, info: &CpuInfo) -> Option<Seen> {
    let flag = info.flags().is_some_and(|flags| flags.contains(&"hypervisor"));
    from_cpuid(root)
        .or_else(|| root.maybe("/sys/hypervisor/type").and_then(|kind| seen(kind, "/sys/hypervisor/type")))
        .or_else(|| from_dmi(root))
        .or_else(|| from_tree(root))
        .or_else(|| if flag { seen("other", "/proc/cpuinfo flag hypervisor") } else { None })
}

fn from_cpuid(root: &Root) -> Option<Seen> {
    let name = root.cpu.as_ref()?.hypervisor.as_deref()?;
    seen(signature(name), "cpuid 0x40000000")
}

fn from_dmi(root: &Root) -> Option<Seen> {
    const VENDORS: [(&str, &str); 12] = [
        ("QEMU", "qemu"),
        ("Amazon EC2", "amazon"),
        ("Google", "kvm"),
        ("VMware", "vmware"),
        ("VMW", "vmware"),
        ("innotek GmbH", "virtualbox"),
        ("Xen", "xen"),
        ("Bochs", "bochs"),
        ("Parallels", "parallels"),
        ("BHYVE", "bhyve"),
        ("OpenStack", "kvm"),
        ("DigitalOcean", "kvm"),
    ];
    const PRODUCTS: [(&str, &str); 4] =
        [("VirtualBox", "virtualbox"), ("KVM", "kvm"), ("Virtual Machine", "hyperv"), ("HVM domU", "xen")];
    let source = "/sys/class/dmi/id";
    let product = root.maybe("/sys/class/dmi/id/product_name").unwrap_or_default();
    if product.ends_with(".metal") || product.contains(".metal-") {
        return None;
    }
    let has = |file: &str| root.maybe(&format!("{source}/{file}")).unwrap_or_default();
    let vendor = [has("sys_vendor"), has("board_vendor"), has("bios_vendor")];
    let by_vendor = VENDORS.iter().find(|(name, _)| vendor.iter().any(|text| text.starts_with(name)));
    let by_product = PRODUCTS.iter().find(|(name, _)| product == *name);
    let (_, kind) = by_product.or(by_vendor)?;
    // A cloud's own hardware carries the cloud's name too, but as a compute product only when virtual.
    if *kind == "kvm" && vendor[0].starts_with("Google") && product != "Google Compute Engine" {
        return None;
    }
    seen(if *kind == "amazon" { "kvm" } else { kind }, source)
}

fn from_tree(root: &Root) -> Option<Seen> {
    let tree = "/proc/device-tree/hypervisor/compatible";
    let text = root.maybe(tree)?;
    let kind = if text.contains("xen") {
        "xen"
    } else if text.contains("kvm") {
        "kvm"
    } else if text.contains("vmware") {
        "vmware"
    } else {
        "other"
    };
    seen(kind, tree)
}

/// The container, if we are in one.
pub fn container(root: &Root) -> Option<Seen> {
    if root.exists("/run/.containerenv") {
        return seen("podman", "/run/.containerenv");
    }
    if root.exists("/.dockerenv") {
        return seen("docker", "/.dockerenv");
    }
    if let Some(kind) = root.maybe("/run/systemd/container") {
        return seen(kind, "/run/systemd/container");
    }
    if let Some(kind) = root.maybe("/proc/1/environ").and_then(|text| from_environ(&text)) {
        return seen(kind, "/proc/1/environ");
    }
    if root.exists("/proc/vz") && !root.exists("/proc/bc") {
        return seen("openvz", "/proc/vz");
    }
    let kernel = root.maybe("/proc/sys/kernel/osrelease").unwrap_or_default().to_ascii_lowercase();
    if kernel.contains("microsoft") || kernel.ends_with("wsl2") {
        return seen("wsl", "/proc/sys/kernel/osrelease");
    }
    let group = root.maybe("/proc/1/cgroup").or_else(|| root.maybe("/proc/self/cgroup")).unwrap_or_default();
    from_cgroup(&group).and_then(|kind| seen(kind, "/proc/1/cgroup"))
}

/// `container=lxc` among NUL-separated variables.
fn from_environ(text: &str) -> Option<String> {
    let value = text.split('\0').find_map(|variable| variable.strip_prefix("container="))?;
    Some(value.trim().to_owned()).filter(|value| !value.is_empty())
}

fn from_cgroup(text: &str) -> Option<&'static str> {
    const MARKS: [(&str, &str); 6] = [
        ("kubepods", "kubernetes"),
        ("/docker", "docker"),
        ("libpod", "podman"),
        ("/lxc", "lxc"),
        ("containerd", "containerd"),
        ("/garden/", "garden"),
    ];
    // `init.scope` of the host itself may stand beside slices that merely hold containers.
    let own = text.lines().filter_map(|line| line.splitn(3, ':').nth(2)).collect::<Vec<_>>();
    MARKS.iter().find(|(mark, _)| own.iter().any(|path| path.contains(mark))).map(|(_, kind)| *kind)
}

/// The facts `virt.kind`, `virt.machine`, `virt.container`.
pub fn facts(sheet: &mut Sheet<'_>, info: &CpuInfo) {
    let (machine, container) = (machine(sheet.root, info), container(sheet.root));
    let readable = !info.processors.is_empty() || sheet.root.exists("/sys/class/dmi/id");
    let none = || Seen { kind: "none".to_owned(), source: "cpuid, DMI, device tree, cpuinfo" };
    match machine.clone().or_else(|| container.clone()) {
        Some(seen) => sheet.text("virt.kind", seen.kind, seen.source),
        None if readable => sheet.text("virt.kind", "none", none().source),
        None => sheet.unknown("virt.kind", none().source, "neither /proc nor /sys can be read"),
    }
    if readable {
        let machine = machine.unwrap_or_else(none);
        sheet.text("virt.machine", machine.kind, machine.source);
    }
    let container = container.unwrap_or(Seen { kind: "none".to_owned(), source: "/run, /proc/1" });
    sheet.text("virt.container", container.kind, container.source);
}

/// True if the devices here are a hypervisor's.
pub fn is_virtual(root: &Root) -> bool {
    machine(root, root.cpuinfo()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_and_marks() {
        assert_eq!(signature("KVM"), "kvm");
        assert_eq!(signature("Hyper-V"), "hyperv");
        assert_eq!(from_environ("PATH=/bin\0container=lxc\0"), Some("lxc".to_owned()));
        assert_eq!(from_cgroup("0::/kubepods/besteffort/pod1"), Some("kubernetes"));
        assert_eq!(from_cgroup("0::/init.scope"), None);
    }
}
