//! The platform: manufacturer, firmware, kernel, operating system, and the machine's identity.
//!
//! `machine.id` is a hash of a stable hardware id and the CPU model, because a virtual machine with the same id can
//! resume on other silicon. Serial numbers and the id itself are not recorded.

use model::Fact;

use super::scan::Scan;
use crate::inventory::{inventory_cpu as cpu, inventory_memory as memory};
use crate::system_files::cpuinfo;
use crate::system_files::root::ABSENT;
use crate::system_files::sheet::known;
use crate::system_files::smbios;
use crate::system_files::{Root, Sheet, text};

pub static INSTRUMENT: &Scan =
    &Scan::new("inventory-platform", "board, firmware, kernel, system, machine identity", scan);

const DMI: &str = "/sys/class/dmi/id";
const TREE: &str = "/proc/device-tree";

pub fn scan(root: &Root) -> Vec<Fact> {
    let mut sheet = Sheet::new(root);
    makers(&mut sheet);
    kernel(&mut sheet);
    identity(&mut sheet);
    sheet.done()
}

/// Fact and the name that /sys/class/dmi/id uses.
const MAKERS: [(&str, &str); 11] = [
    ("product.vendor", "sys_vendor"),
    ("product.name", "product_name"),
    ("product.version", "product_version"),
    ("product.family", "product_family"),
    ("board.vendor", "board_vendor"),
    ("board.name", "board_name"),
    ("board.version", "board_version"),
    ("firmware.vendor", "bios_vendor"),
    ("firmware.version", "bios_version"),
    ("firmware.date", "bios_date"),
    ("chassis.vendor", "chassis_vendor"),
];

fn makers(sheet: &mut Sheet<'_>) {
    let root = sheet.root;
    let table = memory::tables(root).map(|table| smbios::identity(&table)).unwrap_or_default();
    for (key, name) in MAKERS {
        let path = format!("{DMI}/{name}");
        let by_file = root.maybe(&path).filter(|text| smbios::says_something(text));
        match by_file.or_else(|| table.get(name).cloned()) {
            Some(value) => sheet.text(key, text::tidy(&value), &path),
            None if root.exists(DMI) => sheet.unknown(key, &path, "the firmware does not say"),
            None => {}
        }
    }
    let chassis = root.maybe(&format!("{DMI}/chassis_type")).or_else(|| table.get("chassis_type").cloned());
    if let Some(kind) = chassis.and_then(|text| text.parse().ok()).and_then(smbios::chassis) {
        sheet.text("chassis.type", kind, &format!("{DMI}/chassis_type"));
    }
    let model = root.maybe(&format!("{TREE}/model"));
    match model.or_else(|| root.maybe("/sys/firmware/devicetree/base/model")) {
        Some(model) => {
            sheet.text("board.model", text::tidy(&model), &format!("{TREE}/model"));
            if let Some(parts) = root.maybe(&format!("{TREE}/compatible")) {
                sheet.text("board.compatible", text::tidy(&parts), &format!("{TREE}/compatible"));
            }
        }
        None if !root.exists(DMI) => {
            for key in ["product.name", "board.name", "firmware.version"] {
                sheet.unknown(key, DMI, "this system has neither DMI nor a device tree");
            }
        }
        None => {}
    }
    let efi = root.exists("/sys/firmware/efi");
    if root.exists("/sys/firmware") {
        sheet.text("firmware.boot", if efi { "UEFI" } else { "not UEFI" }, "/sys/firmware/efi");
    }
    processors(sheet);
}

/// The firmware's name of the processors: the only name on some ARM servers.
fn processors(sheet: &mut Sheet<'_>) {
    let Ok(table) = memory::tables(sheet.root) else { return };
    let all = smbios::processors(&table);
    let source = format!("{} type 4", memory::TABLES);
    let present = all.iter().filter(|cpu| cpu.populated).count();
    if !all.is_empty() {
        sheet.text("cpu.dmi.sockets", format!("{present} of {} populated", all.len()), &source);
    }
    if let Some(version) = all.iter().find_map(|cpu| cpu.version.clone()) {
        sheet.text("cpu.dmi.version", text::tidy(&version), &source);
    }
}

fn kernel(sheet: &mut Sheet<'_>) {
    sheet.file("kernel.release", "/proc/sys/kernel/osrelease");
    sheet.maybe("kernel.version", "/proc/sys/kernel/version");
    command_line(sheet);
    arch(sheet);
    let places = ["/etc/os-release", "/usr/lib/os-release"];
    let name = places.iter().find_map(|path| Some((path, text::os_name(&sheet.root.maybe(path)?)?)));
    match name {
        Some((path, name)) => sheet.text("os.name", name, path),
        None => sheet.unknown("os.name", "/etc/os-release", ABSENT),
    }
    sheet.file("boot.id", "/proc/sys/kernel/random/boot_id");
}

/// The kernel's command line. What boxscore itself put there when it booted the machine is left out: it differs from
/// machine to machine, and has the key of the agent.
fn command_line(sheet: &mut Sheet<'_>) {
    let path = "/proc/cmdline";
    match sheet.root.read(path) {
        Ok(text) if text.split_ascii_whitespace().any(is_ours) => {
            let words: Vec<&str> = text.split_ascii_whitespace().filter(|word| !is_ours(word)).collect();
            sheet.text("kernel.cmdline", words.join(" "), path);
        }
        _ => sheet.file("kernel.cmdline", path),
    }
}

fn is_ours(word: &str) -> bool {
    word.starts_with("boxscore.")
}

/// The architecture. Kernels since 6.1 name it; before, the running program's own is used. The program's architecture
/// is a fact too: emulated or 32-bit code scores differently from native code.
fn arch(sheet: &mut Sheet<'_>) {
    let path = "/proc/sys/kernel/arch";
    if sheet.root.live {
        sheet.text("program.arch", std::env::consts::ARCH, "this program's target");
        match sheet.root.maybe(path) {
            Some(kernel) if !same_arch(&kernel, std::env::consts::ARCH) => sheet.because(&format!(
                "the kernel is {kernel}: this program is emulated or in a narrower mode, so its figures are not \
                 those of native code"
            )),
            _ => {}
        }
    } else {
        sheet.unknown("program.arch", "this program's target", "these files are of another machine");
    }
    match sheet.root.maybe(path) {
        Some(name) => sheet.text("kernel.arch", name, path),
        None if sheet.root.live => {
            sheet.text("kernel.arch", std::env::consts::ARCH, "this program's target");
            sheet.because("the program's own architecture; the kernel may be wider");
        }
        None => sheet.unknown("kernel.arch", path, ABSENT),
    }
}

/// True if a kernel that calls its machine `kernel` runs code for `program` natively.
fn same_arch(kernel: &str, program: &str) -> bool {
    kernel == program || (program == "x86" && matches!(kernel, "i386" | "i486" | "i586" | "i686"))
}

fn identity(sheet: &mut Sheet<'_>) {
    let root = sheet.root;
    let model = known(&cpu::scan(root), "cpu.model");
    match hardware_id(root) {
        Some((id, source)) => {
            let hash = digest(&format!("{id}\n{}", model.as_deref().unwrap_or("unknown")));
            sheet.text("machine.id", hash, &format!("hash of {source} and the CPU model"));
        }
        None => sheet.unknown("machine.id", "/etc/machine-id", "no stable id is readable"),
    }
    let host = ["/proc/sys/kernel/hostname", "/etc/hostname"];
    let host = host.iter().find_map(|path| root.maybe(path).map(|name| (name, *path)));
    if let Some((name, path)) = &host {
        sheet.text("hostname", name.clone(), path);
    }
    match instance_type(root) {
        Some((name, path)) => sheet.text("machine.name", name, &path),
        None => match host {
            Some((name, path)) => sheet.text("machine.name", name, path),
            None => sheet.unknown("machine.name", "/proc/sys/kernel/hostname", ABSENT),
        },
    }
}

/// The most stable id that anyone may read, so that root and others get the same.
fn hardware_id(root: &Root) -> Option<(String, String)> {
    // product_uuid is for root only on nearly all systems; where it is not, it is the best.
    let world = |path: &str| {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(root.path(path)).ok()?.permissions().mode();
        (mode & 0o004 != 0).then(|| root.maybe(path)).flatten()
    };
    let uuid = format!("{DMI}/product_uuid");
    let serial = format!("{TREE}/serial-number");
    let from = |path: &str| {
        let value = world(path)?;
        let dull = value.chars().all(|c| matches!(c, '0' | '-' | 'f' | 'F'));
        (!dull && value != "uninitialized").then(|| (value, path.to_owned()))
    };
    let tree = || from(&serial).or_else(|| cpuinfo_serial(root));
    from(&uuid).or_else(tree).or_else(|| from("/etc/machine-id")).or_else(|| first_mac(root))
}

/// The `Serial` line of boards whose kernel has no device tree.
fn cpuinfo_serial(root: &Root) -> Option<(String, String)> {
    let path = "/proc/cpuinfo";
    let info = cpuinfo::parse(&root.bytes(path).ok()?);
    let serial = info.shared.get("Serial")?.clone();
    serial.chars().any(|c| c != '0').then(|| (serial, format!("{path} Serial")))
}

/// The address of the first network device with hardware behind it.
fn first_mac(root: &Root) -> Option<(String, String)> {
    root.list("/sys/class/net").into_iter().find_map(|name| {
        let folder = format!("/sys/class/net/{name}");
        let path = format!("{folder}/address");
        let real = root.exists(&format!("{folder}/device"));
        let address = root.maybe(&path).filter(|text| real && text.chars().any(|c| c != '0' && c != ':'))?;
        Some((address, path))
    })
}

/// 128 bits of SHA-256, in hexadecimal.
fn digest(text: &str) -> String {
    let hash = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
    hash.as_ref().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// The DMI product name if it is a cloud's instance type.
fn instance_type(root: &Root) -> Option<(String, String)> {
    let read = |name: &str| root.maybe(&format!("{DMI}/{name}")).unwrap_or_default();
    let (vendor, product) = (read("sys_vendor"), read("product_name"));
    let typed = match vendor.as_str() {
        "Amazon EC2" => looks_like_type(&product, '.'),
        "Alibaba Cloud" => product.starts_with("ecs."),
        "Hetzner" | "Exoscale" | "OVHcloud" => {
            looks_like_type(&product, '-') || looks_like_type(&product, '.')
        }
        "Scaleway" => true,
        _ => false,
    };
    (typed && !product.is_empty()).then(|| (product, format!("{DMI}/product_name")))
}

/// `m5.large`: two words of lower-case letters and digits around the separator.
fn looks_like_type(name: &str, separator: char) -> bool {
    let word = |text: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    name.split_once(separator).is_some_and(|(family, size)| word(family) && word(size))
}

#[cfg(test)]
mod tests {
    use model::FactValue;

    use super::*;

    #[test]
    fn instance_types_are_told_from_products() {
        assert!(looks_like_type("m5.large", '.'));
        assert!(looks_like_type("c7g.metal", '.'));
        assert!(!looks_like_type("HVM domU", '.'));
        assert!(!looks_like_type("PowerEdge R740", '.'));
    }

    #[test]
    fn a_32_bit_program_on_a_64_bit_kernel_is_no_native_one() {
        assert!(same_arch("aarch64", "aarch64") && same_arch("i686", "x86"));
        assert!(!same_arch("x86_64", "x86") && !same_arch("x86_64", "aarch64"));
    }

    #[test]
    fn the_key_of_a_booted_agent_is_in_no_sheet() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::at(dir.path());
        std::fs::create_dir(dir.path().join("proc")).unwrap();
        let line_of = |text: &str| {
            std::fs::write(dir.path().join("proc/cmdline"), text).unwrap();
            let mut sheet = Sheet::new(&root);
            command_line(&mut sheet);
            sheet.done().pop().and_then(|fact| fact.value.clone())
        };
        let said = |text: &str| Some(FactValue::Text(text.to_owned()));
        let line = line_of("initrd=initrd quiet boxscore.name=a1 boxscore.key=e5f7772d  panic=30\n");
        assert_eq!(line, said("initrd=initrd quiet panic=30"));
        assert_eq!(line_of("root=x  ro\n"), said("root=x  ro"));
        assert_eq!(line_of("\n"), None);
    }

    #[test]
    fn the_digest_is_stable() {
        assert_eq!(digest("abc"), "ba7816bf8f01cfea414140de5dae2223");
    }
}
