//! A network of its own with machines (QEMU) at it that are off, each with a BMC (ipmi_sim) that turns it on, and an
//! inventory that names them: guest1, guest2 ... They are emulated without KVM, which not every machine has.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::ipmi::write_private;
use super::{PATIENCE, PROGRAM, Said};

/// The password of their BMCs, which nothing may show.
pub const PASSWORD: &str = "Kfz8-wachs_7";

/// EFI for QEMU, of the package `ovmf`.
pub const OVMF: &str = "/usr/share/ovmf/OVMF.fd";

/// Words of the kernel's command line without which an emulated timer makes it panic on a loaded machine.
pub const CALM: &str = "no_timer_check tsc=reliable";

/// The program of a BMC's power switch: a file says what its machine boots from, and QEMU runs while it is on.
const CHASSIS: &str = r#"#!/bin/sh
d=DIR; pf=$d/qemu.pid; op=$1; shift
alive() { [ -f $pf ] && kill -0 $(cat $pf) 2>/dev/null; }
on() { alive || qemu-system-x86_64 -accel tcg -cpu max -m 1024 -nodefaults -display none -boot n -daemonize -pidfile $pf \
  $(cat $d/args) -serial file:$d/serial.log >/dev/null 2>>$d/qemu.err </dev/null; }
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

/// A machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Guest {
    /// Bytes of its disk, whose serial number is GUEST-1, GUEST-2 ...
    pub disk: Option<u64>,
    /// True for EFI, and a network card without a program of its own.
    pub efi: bool,
}

fn done(words: &[&str]) {
    let output = Command::new(words[0]).args(&words[1..]).output();
    let output = output.unwrap_or_else(|error| panic!("{words:?}: {error}; `sh xtask/setup.sh test`"));
    assert!(output.status.success(), "{words:?}: {output:?}");
}

pub struct Guests {
    dir: TempDir,
    space: String,
    sims: Vec<Child>,
    count: usize,
}

impl Guests {
    pub fn start(guests: &[Guest]) -> Guests {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let dir = TempDir::new().expect("a temporary directory");
        let space = format!("boot{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::SeqCst));
        let mut lab = Guests { dir, space, sims: Vec::new(), count: guests.len() };
        done(&["ip", "netns", "add", &lab.space]);
        for words in [
            "link set lo up",
            "link add br0 type bridge",
            "link set br0 up",
            "addr add 10.88.0.1/24 dev br0",
            "addr add fd88::1/64 dev br0 nodad",
        ] {
            lab.ip(words);
        }
        write_private(&lab.path("password"), &format!("{PASSWORD}\n"));
        for (at, guest) in guests.iter().enumerate() {
            lab.add(at + 1, *guest);
        }
        let count = guests.len();
        let inventory = format!(
            "[[nodes]]\nname = \"guest[1-{count}]\"\naddress = \"10.88.0.101+{count}\"\nmac = [{}]\n\
             bmc = {{ kind = \"ipmi\", address = \"10.88.0.201+{count}\", port = 9623, user = \"ADMIN\", \
             password_file = \"password\" }}\n",
            (1..=count).map(|number| format!("\"{}\"", mac(number))).collect::<Vec<_>>().join(", ")
        );
        fs::write(lab.path("lab.toml"), inventory).expect("an inventory");
        let began = Instant::now();
        while lab.run(&["lab", "power", "status", "@*"]).code != Some(0) {
            assert!(began.elapsed() < PATIENCE, "a BMC does not answer");
            std::thread::sleep(Duration::from_millis(100));
        }
        lab
    }

    fn ip(&self, words: &str) {
        let words: Vec<&str> = words.split(' ').collect();
        done(&[&["ip", "netns", "exec", &self.space, "ip"], &words[..]].concat());
    }

    /// A machine that is off, and its BMC.
    fn add(&mut self, number: usize, guest: Guest) {
        let path = |name: &str| self.path(&format!("{number}/{name}"));
        fs::create_dir_all(path("state/ipmi_sim/bmc")).expect("a folder");
        self.ip(&format!("tuntap add tap{number} mode tap"));
        self.ip(&format!("link set tap{number} master br0 up"));
        self.ip(&format!("addr add 10.88.0.20{number}/24 dev br0"));
        let own_program = if guest.efi { ",romfile=" } else { "" };
        let mut args = format!(
            "-netdev tap,id=n0,ifname=tap{number},script=no,downscript=no \
             -device virtio-net-pci,netdev=n0,mac={},bootindex=1{own_program} \
             -smbios type=1,product=fleetbox,serial=SN{number},uuid=00000000-0000-4000-8000-00000000000{number}",
            mac(number)
        );
        if let Some(bytes) = guest.disk {
            fs::write(path("disk.raw"), vec![0xe5; bytes as usize]).expect("a disk");
            args.push_str(&format!(
                " -drive if=none,id=d0,format=raw,file={} -device virtio-blk-pci,drive=d0,serial=GUEST-{number}",
                path("disk.raw").display()
            ));
        }
        if guest.efi {
            args.push_str(&format!(" -bios {OVMF}"));
        }
        fs::write(path("args"), args).expect("its words");
        fs::write(path("chassis.sh"), CHASSIS.replace("DIR", &path("").display().to_string()))
            .expect("a script");
        fs::set_permissions(path("chassis.sh"), PermissionsExt::from_mode(0o755)).expect("its mode");
        fs::write(path("boot"), "default\n").expect("what it boots");
        fs::write(path("bmc.emu"), BMC).expect("an emulator's commands");
        let config = format!(
            "name \"bmc\"\nset_working_mc 0x20\n startlan 1\n addr 10.88.0.20{number} 9623\n priv_limit admin\n \
             allowed_auths_admin none md2 md5 straight\n guid a123456789abcdefa123456789abcdef\n endlan\n \
             chassis_control \"{}\"\n user 2 true \"ADMIN\" \"{PASSWORD}\" admin 10 none md2 md5 straight\n",
            path("chassis.sh").display()
        );
        fs::write(path("lan.conf"), config).expect("a configuration");
        let mut sim = Command::new("ip");
        sim.args(["netns", "exec", &self.space, "ipmi_sim", "-n", "-c"]).arg(path("lan.conf"));
        sim.arg("-f").arg(path("bmc.emu")).arg("-s").arg(path("state")).stdin(Stdio::null());
        let out = fs::File::create(path("sim.out")).expect("a log");
        let sim = sim.stdout(out).stderr(Stdio::null()).spawn().expect("ipmi_sim of openipmi");
        self.sims.push(sim);
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn read(&self, name: &str) -> String {
        String::from_utf8_lossy(&fs::read(self.path(name)).unwrap_or_default()).into_owned()
    }

    /// All that could tell why a machine did not come up.
    pub fn logs(&self) -> String {
        let logs = (1..=self.count).map(|number| {
            let read = |name: &str| self.read(&format!("{number}/{name}"));
            format!("--- guest{number}\n{}\n{}\n", read("serial.log"), read("qemu.err"))
        });
        logs.collect::<String>() + &self.read("boxscore/boot-br0/dnsmasq.log")
    }

    /// A command on the network of the lab.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.space, program]).stdin(Stdio::null());
        command.env("XDG_RUNTIME_DIR", self.dir.path()).env("BOXSCORE_STORE", self.path("s.db"));
        command.env("XDG_CONFIG_HOME", self.path("config")).current_dir(self.dir.path());
        command
    }

    /// boxscore on the network of the lab.
    pub fn run(&self, words: &[&str]) -> Said {
        self.command(PROGRAM).args(words).output().expect("it starts").into()
    }

    /// `boxscore lab boot` of all of them, with these words.
    pub fn boot(&self, words: &[&str]) -> Said {
        let common = ["--interface", "br0", "--wait", "8m", "--yes", "--json"];
        self.run(&[&["lab", "boot", &format!("guest[1-{}]", self.count)], &common[..], words].concat())
    }
}

impl Drop for Guests {
    fn drop(&mut self) {
        // What has ended already needs no end.
        for number in 1..=self.count {
            if let Ok(pid) = fs::read_to_string(self.path(&format!("{number}/qemu.pid"))) {
                let _ended = Command::new("kill").arg(pid.trim()).status();
            }
        }
        for sim in &mut self.sims {
            let _ended = sim.kill();
            let _reaped = sim.wait();
        }
        let _gone = Command::new("ip").args(["netns", "del", &self.space]).status();
    }
}

fn mac(number: usize) -> String {
    format!("52:54:00:88:00:0{number}")
}

/// The kernel that `xtask/setup.sh test` unpacks, and the folder of its modules.
pub fn kernel() -> Option<(PathBuf, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/kernel");
    let modules = fs::read_dir(root.join("lib/modules")).ok()?.next()?.ok()?;
    let kernel = root.join("boot").join(format!("vmlinuz-{}", modules.file_name().to_string_lossy()));
    kernel.exists().then(|| (kernel, modules.path()))
}
