//! `lab boot`: what is refused before anything is done, and a machine (QEMU) that its BMC turns on, that boots from the
//! network without a disk, whose spec sheet comes into the store, and that is then measured.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use model::doc::{InspectDoc, LabBootDoc};
use store::{Filter, Mode, Store};
use tempfile::TempDir;

use crate::common::ipmi::write_private;
use crate::common::{PATIENCE, PROGRAM, Said, cannot, root};

/// The program of its BMC's power switch: a file says what it boots from, and QEMU runs while it is on. It is emulated
/// without KVM, which not every machine has.
const CHASSIS: &str = r#"#!/bin/sh
d=DIR; pf=$d/qemu.pid; op=$1; shift
alive() { [ -f $pf ] && kill -0 $(cat $pf) 2>/dev/null; }
on() { alive || qemu-system-x86_64 -accel tcg -cpu max -m 1024 -nodefaults -display none -boot n -daemonize -pidfile $pf \
  -netdev tap,id=n0,ifname=tap1,script=no,downscript=no -device virtio-net-pci,netdev=n0,mac=52:54:00:88:00:01,bootindex=1 \
  -smbios type=1,product=fleetbox,serial=SN1,uuid=00000000-0000-4000-8000-000000000001 \
  -serial file:$d/serial.log >/dev/null 2>>$d/qemu.err </dev/null; }
off() { alive && kill $(cat $pf); rm -f $pf; }
case $op in
get) for p; do case $p in
    power) alive && echo power:1 || echo power:0;;
    boot) echo "boot:$(cat $d/boot)";;
    *) echo "$p:0";; esac; done;;
set) while [ $# -gt 1 ]; do
    echo "$1 $2" >> $d/log
    case $1 in power) [ $2 = 1 ] && on || off;; boot) echo $2 > $d/boot;; esac
    shift 2; done;;
esac
exit 0
"#;

const BMC: &str = "mc_setbmc 0x20
mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr
sel_enable 0x20 1000 0x0a
mc_enable 0x20
";

fn done(words: &[&str]) {
    let output = Command::new(words[0]).args(&words[1..]).output();
    let output = output.unwrap_or_else(|error| panic!("{words:?}: {error}; `sh xtask/setup.sh test`"));
    assert!(output.status.success(), "{words:?}: {output:?}");
}

/// A network of its own with a bridge, a machine at it that is off, and its BMC.
struct Lab {
    dir: TempDir,
    space: String,
    sim: Child,
}

impl Lab {
    fn start() -> Lab {
        let dir = TempDir::new().expect("a temporary directory");
        let space = format!("boot{}", std::process::id());
        let path = |name: &str| dir.path().join(name);
        let inside = |words: &str| {
            let words: Vec<&str> = words.split(' ').collect();
            done(&[&["ip", "netns", "exec", &space, "ip"], &words[..]].concat());
        };
        done(&["ip", "netns", "add", &space]);
        for words in [
            "link set lo up",
            "link add br0 type bridge",
            "link set br0 up",
            "addr add 10.88.0.1/24 dev br0",
            "addr add fd88::1/64 dev br0 nodad",
            "tuntap add tap1 mode tap",
            "link set tap1 master br0 up",
        ] {
            inside(words);
        }
        let chassis = CHASSIS.replace("DIR", &dir.path().display().to_string());
        fs::write(path("chassis.sh"), chassis).expect("a script");
        fs::set_permissions(path("chassis.sh"), PermissionsExt::from_mode(0o755)).expect("its mode");
        fs::write(path("boot"), "default\n").expect("what it boots");
        fs::write(path("bmc.emu"), BMC).expect("an emulator's commands");
        fs::create_dir_all(path("state/ipmi_sim/atom001")).expect("a folder");
        write_private(&path("password"), "secret\n");
        let config = format!(
            "name \"atom001\"\nset_working_mc 0x20\n startlan 1\n addr 10.88.0.1 9623\n priv_limit admin\n \
             allowed_auths_admin none md2 md5 straight\n guid a123456789abcdefa123456789abcdef\n endlan\n \
             chassis_control \"{}\"\n user 2 true \"ADMIN\" \"secret\" admin 10 none md2 md5 straight\n",
            path("chassis.sh").display()
        );
        fs::write(path("lan.conf"), config).expect("a configuration");
        let mut sim = Command::new("ip");
        sim.args(["netns", "exec", &space, "ipmi_sim", "-n", "-c"]).arg(path("lan.conf"));
        sim.arg("-f").arg(path("bmc.emu")).arg("-s").arg(path("state")).stdin(Stdio::null());
        let out = fs::File::create(path("sim.out")).expect("a log");
        let sim = sim.stdout(out).stderr(Stdio::null()).spawn().expect("ipmi_sim of openipmi");
        let lab = Lab { dir, space, sim };
        fs::write(
            lab.path("lab.toml"),
            "[[nodes]]\nname = \"atom001\"\naddress = \"10.88.0.101\"\nmac = \"52:54:00:88:00:01\"\n\
             bmc = { kind = \"ipmi\", address = \"10.88.0.1\", port = 9623, user = \"ADMIN\", password_file = \"password\" }\n",
        )
        .expect("an inventory");
        let began = std::time::Instant::now();
        while lab.run(&["lab", "power", "status", "atom001"]).code != Some(0) {
            assert!(began.elapsed() < PATIENCE, "its BMC does not answer");
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        lab
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        String::from_utf8_lossy(&fs::read(self.path(name)).unwrap_or_default()).into_owned()
    }

    /// boxscore on the network of the lab.
    fn run(&self, words: &[&str]) -> Said {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.space, PROGRAM]).args(words).stdin(Stdio::null());
        command.env("XDG_RUNTIME_DIR", self.dir.path()).env("BOXSCORE_STORE", self.path("s.db"));
        command.env("XDG_CONFIG_HOME", self.path("config")).current_dir(self.dir.path());
        command.output().expect("it starts").into()
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        // What has ended already needs no end.
        if let Ok(pid) = fs::read_to_string(self.path("qemu.pid")) {
            let _ended = Command::new("kill").arg(pid.trim()).status();
        }
        let _ended = self.sim.kill();
        let _reaped = self.sim.wait();
        let _gone = Command::new("ip").args(["netns", "del", &self.space]).status();
    }
}

/// The kernel that `xtask/setup.sh test` unpacks, and the folder of its modules.
fn kernel() -> Option<(PathBuf, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/kernel");
    let modules = fs::read_dir(root.join("lib/modules")).ok()?.next()?.ok()?;
    let kernel = root.join("boot").join(format!("vmlinuz-{}", modules.file_name().to_string_lossy()));
    kernel.exists().then(|| (kernel, modules.path()))
}

#[test]
fn a_machine_without_a_disk_is_booted_inspected_and_measured() {
    if !root() {
        return cannot("network namespaces need root");
    }
    let Some((kernel, modules)) = kernel() else {
        return cannot("there is no kernel in target/kernel; `sh xtask/setup.sh test` puts one there");
    };
    let lab = Lab::start();
    let (kernel, modules) = (kernel.display().to_string(), modules.display().to_string());
    // Without the last word, a loaded machine's emulated timer makes the kernel panic.
    let words = ["lab", "boot", "atom001", "--interface", "br0", "--kernel", &kernel, "--modules", &modules];
    let more = ["--append", "no_timer_check tsc=reliable", "--wait", "5m", "--yes", "--json"];
    let said = lab.run(&[&words[..], &more].concat());
    let document: LabBootDoc = serde_json::from_str(&said.out).unwrap_or_else(|error| {
        panic!("{error}: {said:?}\n{}\n{}", lab.read("serial.log"), lab.read("qemu.err"))
    });
    assert!(said.code == Some(0), "{document:?}\n{}", lab.read("serial.log"));
    let node = &document.nodes[0];
    let stages: Vec<&str> = node.seen.iter().map(|seen| seen.stage.as_str()).collect();
    // The switch and the first request may be seen in one look.
    assert!(stages.ends_with(&["DHCP", "kernel", "agent up", "inspected"]), "{stages:?}");
    assert_eq!(lab.read("boot"), "none\n", "the wish to boot from the network is taken back");
    assert!(lab.read("log").starts_with("boot pxe\npower 1\n"), "{}", lab.read("log"));
    let sheet = lab.run(&["inspect", "atom001", "--json"]).expect(0, &[]);
    let sheet: InspectDoc = serde_json::from_str(&sheet.out).expect("a spec sheet");
    let fact = |key: &str| sheet.facts.iter().find(|fact| fact.key == key).map(|fact| format!("{fact:?}"));
    assert!(fact("kernel.release").is_some_and(|fact| fact.contains("cloud")), "{sheet:?}");
    let via = format!("atom001={}", node.via.as_ref().expect("a way to its agent"));
    let cell = ["run", "crc32c", "--set", "size=1KiB;impl=fast;threads=1", "--takes", "3", "--no-report"];
    lab.run(&[&cell[..], &["--via", &via]].concat()).expect(0, &[]);
    let store = Store::open(&lab.path("s.db"), Mode::ReadOnly).expect("the store opens");
    let heads = store.heads(&Filter::default()).expect("its runs");
    assert_eq!(heads.iter().map(|head| head.machine.as_str()).collect::<Vec<_>>(), ["atom001"]);
    assert!(heads[0].measured >= 3 && heads[0].faults == 0, "{heads:?}");
    let password = "secret";
    let shown = [said.out, said.err].concat();
    assert!(!shown.contains(password));
}

#[test]
fn what_cannot_be_booted_is_named_before_anything_is_done() {
    let dir = TempDir::new().expect("a temporary directory");
    let inventory = "[[nodes]]\nname = \"a[1-2]\"\naddress = \"127.0.9.1+2\"\n\
                     [[nodes]]\nname = \"b\"\naddress = \"10.1.2.3\"\nmac = \"52:54:00:00:00:01\"\n\
                     [[nodes]]\nname = \"c\"\naddress = \"127.0.9.7\"\nmac = \"52:54:00:00:00:02\"\n";
    fs::write(dir.path().join("lab.toml"), inventory).expect("an inventory");
    let boot = |words: &[&str]| -> Said {
        let mut command = Command::new(PROGRAM);
        command.args(["lab", "boot"]).args(words).current_dir(dir.path()).stdin(Stdio::null());
        command.env("XDG_RUNTIME_DIR", dir.path()).env("BOXSCORE_STORE", dir.path().join("s.db"));
        command.output().expect("it starts").into()
    };
    boot(&["@*", "--interface", "lo", "--yes"])
        .expect(1, &["these nodes cannot be booted: a[1-2]: no `mac`; b: no address of 127.0.0.0/8"]);
    boot(&["c", "--interface", "none", "--yes"]).expect(1, &["none: "]);
    boot(&["c", "--interface", "a;b", "--yes"]).expect(1, &["`a;b` is no name of an interface"]);
    boot(&["c", "--interface", "lo"]).expect(2, &["nobody can be asked here, so nothing was done"]);
    let said = boot(&["c", "--interface", "lo", "--dry-run"]).expect(0, &[]);
    assert!(
        said.out.contains("would do: boot from lo (127.0.0.1/8), turned on, or off and on: 1 node: c"),
        "{said:?}"
    );
    boot(&["nobody", "--interface", "lo"]).expect(2, &["nobody"]);
    if root() {
        boot(&["c", "--interface", "lo", "--yes", "--image", "none"]).expect(1, &["none/cmdline: "]);
    }
}
