//! `lab boot`: what is refused before anything is done, and machines (QEMU) that their BMCs turn on and that boot from
//! the network: without a disk, into boxscore, inspected and scored; into an image of the user's, by BIOS and EFI; and
//! with an image written onto their disks.

use std::fs;
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use lab::boot::cpio::Cpio;
use model::doc::{InspectDoc, LabBootDoc, LabBootNodeDoc};
use store::{Filter, Mode, Store};
use tempfile::TempDir;

use crate::common::guests::{CALM, Guest, Guests, OVMF, PASSWORD, kernel};
use crate::common::{PATIENCE, PROGRAM, Said, cannot, root};

/// The document of a boot that came to its end with this code.
#[track_caller]
fn document(lab: &Guests, said: &Said, code: i32) -> LabBootDoc {
    let document: LabBootDoc =
        serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:?}\n{}", lab.logs()));
    assert!(said.code == Some(code), "{document:?}\n{}\n{}", said.err, lab.logs());
    assert!(!said.out.contains(PASSWORD) && !said.err.contains(PASSWORD));
    document
}

/// The stages of a node; the switch and the first request may be seen in one look.
fn stages(node: &LabBootNodeDoc) -> Vec<&str> {
    node.seen.iter().map(|seen| seen.stage.as_str()).filter(|stage| *stage != "BIOS").collect()
}

/// The kernel as words of `lab boot`.
fn kernel_words() -> Option<[String; 6]> {
    let (kernel, modules) = kernel()?;
    let (kernel, modules) = (kernel.display().to_string(), modules.display().to_string());
    let word = |text: &str| text.to_owned();
    Some([word("--kernel"), kernel, word("--modules"), modules, word("--append"), word(CALM)])
}

const NO_KERNEL: &str = "there is no kernel in target/kernel; `sh xtask/setup.sh test` puts one there";
const NO_ROOT: &str = "network namespaces need root";

/// One cell that is soon measured.
const CELL: [&str; 2] = ["--set", "size=1KiB;impl=fast;threads=1"];

#[test]
fn two_machines_without_disks_are_booted_inspected_scored_and_measured() {
    if !root() {
        return cannot(NO_ROOT);
    }
    let Some(kernel) = kernel_words() else { return cannot(NO_KERNEL) };
    let kernel: Vec<&str> = kernel.iter().map(String::as_str).collect();
    let lab = Guests::start(&[Guest::default(); 2]);
    lease_of_another_card(&lab);
    let score = ["--score", "--measure", "crc32c", "--takes", "3"];
    let said = lab.boot(&[&kernel[..], &score, &CELL].concat());
    let document = document(&lab, &said, 0);
    for (number, node) in document.nodes.iter().enumerate().map(|(at, node)| (at + 1, node)) {
        assert_eq!(stages(node), ["DHCP", "kernel", "agent up", "inspected", "scored"]);
        assert_eq!(
            lab.read(&format!("{number}/boot")),
            "none\n",
            "the wish to boot from the network is taken back"
        );
        let asked = lab.read(&format!("{number}/log"));
        assert!(asked.starts_with("boot pxe\npower 1\n"), "{asked}");
        let sheet = lab.run(&["inspect", &node.node, "--json"]).expect(0, &[]);
        let sheet: InspectDoc = serde_json::from_str(&sheet.out).expect("a spec sheet");
        let fact =
            |key: &str| sheet.facts.iter().find(|fact| fact.key == key).map(|fact| format!("{fact:?}"));
        assert!(fact("kernel.release").is_some_and(|fact| fact.contains("cloud")), "{sheet:?}");
        let line = fact("kernel.cmdline").expect("its command line");
        assert!(
            line.contains("tsc=reliable") && !line.contains("boxscore."),
            "a secret key is there: {line}"
        );
    }
    // They serve on after the command has ended.
    let vias =
        document.nodes.iter().map(|node| format!("{}={}", node.node, node.via.as_ref().expect("a way")));
    let vias: Vec<String> = vias.flat_map(|via| ["--via".to_owned(), via]).collect();
    let vias: Vec<&str> = vias.iter().map(String::as_str).collect();
    let cell = ["run", "crc32c", "--takes", "3", "--no-report"];
    lab.run(&[&cell[..], &CELL, &vias].concat()).expect(0, &[]);
    let store = Store::open(&lab.path("s.db"), Mode::ReadOnly).expect("the store opens");
    let heads = store.heads(&Filter::default()).expect("its runs");
    let mut machines: Vec<&str> = heads.iter().map(|head| head.machine.as_str()).collect();
    machines.sort_unstable();
    assert_eq!(machines, ["guest1", "guest1", "guest2", "guest2"]);
    assert!(heads.iter().all(|head| head.measured == 3 && head.faults == 0), "{heads:?}");
    for node in &document.nodes {
        let own = heads.iter().find(|head| Some(&head.id) == node.run.as_ref()).expect("its score");
        assert_eq!(own.machine, node.node);
    }
}

/// What an earlier boot left: the first node's address is leased to the network card that it had then.
fn lease_of_another_card(lab: &Guests) {
    let folder = lab.path("boxscore/boot-br0");
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).expect("a folder");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970").as_secs();
    let lease = format!("{} 52:54:00:88:00:99 10.88.0.101 * *\n", now + 3600);
    fs::write(folder.join("leases"), lease).expect("a lease");
}

#[test]
fn an_image_is_written_onto_the_disk_that_was_shown_and_onto_no_other() {
    if !root() {
        return cannot(NO_ROOT);
    }
    let Some(kernel) = kernel_words() else { return cannot(NO_KERNEL) };
    let kernel: Vec<&str> = kernel.iter().map(String::as_str).collect();
    let (large, small) = (48 << 20, 4 << 20);
    let lab = Guests::start(&[large, small].map(|bytes| Guest { disk: Some(bytes), ..Guest::default() }));
    // What does not repeat, and no whole number of blocks.
    let mut number = 1_u64;
    let image: Vec<u8> = (0..20_000_777)
        .map(|_| {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (number >> 56) as u8
        })
        .collect();
    fs::write(lab.path("image.zst"), zstd::encode_all(&image[..], 1).expect("zstd")).expect("an image");
    let said = lab.boot(&[&kernel[..], &["--write", "/dev/vda", "image.zst"]].concat());
    let document = document(&lab, &said, 3);
    let [first, second] = &document.nodes[..] else { panic!("{document:?}") };
    assert!(said.err.contains("  guest1  vda (no model, serial GUEST-1, 48.0 MiB)\n"), "{}", said.err);
    assert_eq!(stages(first).last(), Some(&"written"));
    let disk = first.disk.as_ref().expect("its disk");
    assert_eq!((disk.serial.as_str(), disk.verified), ("GUEST-1", Some(image.len() as u64)));
    let why = second.why.as_ref().expect("why not");
    assert!(why.contains("nothing was written: the image has 20000777 bytes"), "{why}");
    let disk_of = |number: u32| fs::read(lab.path(&format!("{number}/disk.raw"))).expect("a disk");
    let written = disk_of(1);
    assert!(written[..image.len()] == image[..] && written[image.len()..].iter().all(|byte| *byte == 0xe5));
    assert!(disk_of(2).iter().all(|byte| *byte == 0xe5));
    // Each node itself refuses what was not agreed to: another disk at that name, and who does not know its key.
    let way = lab.read("boxscore/boot-br0/guest2.way");
    let key = way.trim().split_once(' ').expect("its key").1;
    let order = |key: &str, serial: &str, bytes: u64| {
        let disk =
            format!(r#"{{"name":"vda","model":null,"serial":"{serial}","bytes":{},"uses":[]}}"#, small);
        ask(&lab, &format!("{key} write\n{{\"disk\":{disk},\"bytes\":{bytes},\"sha256\":\"0\"}}\n"))
    };
    let refused = order(key, "GUEST-1", 512);
    assert!(refused.contains("is not what was agreed to: it is vda (no model, serial GUEST-2"), "{refused}");
    assert_eq!(order("0000", "GUEST-2", 512), "");
    let large = order(key, "GUEST-2", 1 << 30);
    assert!(large.contains("the image has 1073741824 bytes"), "{large}");
    assert!(disk_of(2).iter().all(|byte| *byte == 0xe5));
}

/// The answer of guest2's agent.
fn ask(lab: &Guests, text: &str) -> String {
    let mut command = lab.command("busybox");
    command.args(["nc", "10.88.0.102", "7411"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("busybox");
    child.stdin.take().expect("stdin").write_all(text.as_bytes()).expect("it takes it");
    String::from_utf8_lossy(&child.wait_with_output().expect("it ends").stdout).into_owned()
}

/// A kernel of the user's with an initramfs that says on the console what it was given.
fn own_image(folder: &Path, kernel: &Path) {
    let busybox = Command::new("sh").args(["-c", "command -v busybox"]).output().expect("a shell");
    let busybox = String::from_utf8(busybox.stdout).expect("a path");
    let mut cpio = Cpio::new(Vec::new());
    let init = "#!/bin/busybox sh\n/bin/busybox mount -t proc proc /proc\n\
                echo \"own image: $(/bin/busybox cat /proc/cmdline)\"\nexec /bin/busybox sleep 1000000\n";
    cpio.folder("proc").expect("a folder");
    cpio.device("dev/console", (5, 1)).expect("a device");
    cpio.file("init", 0o755, init.as_bytes()).expect("a file");
    cpio.file("bin/busybox", 0o755, &fs::read(busybox.trim()).expect("busybox")).expect("a file");
    fs::create_dir(folder).expect("a folder");
    fs::write(folder.join("initrd"), cpio.finish().expect("an archive")).expect("a file");
    fs::copy(kernel, folder.join("vmlinuz")).expect("a kernel");
    fs::write(folder.join("cmdline"), format!("console=ttyS0,115200 {CALM} is=mine\n")).expect("a file");
}

#[test]
fn an_image_of_the_users_is_booted_by_bios_and_by_efi() {
    if !root() {
        return cannot(NO_ROOT);
    }
    let Some((kernel, _)) = kernel() else { return cannot(NO_KERNEL) };
    if !Path::new(OVMF).exists() {
        return cannot("there is no EFI for QEMU; `sh xtask/setup.sh test` installs ovmf");
    }
    let lab = Guests::start(&[Guest::default(), Guest { efi: true, ..Guest::default() }]);
    own_image(&lab.path("own"), &kernel);
    let said = lab.boot(&["--image", "own"]);
    let document = document(&lab, &said, 0);
    for (number, node) in document.nodes.iter().enumerate().map(|(at, node)| (at + 1, node)) {
        assert_eq!(stages(node), ["DHCP", "kernel"]);
        assert!(node.via.is_none(), "boxscore does not run in it");
        let began = Instant::now();
        let said = "own image: ";
        while !lab.read(&format!("{number}/serial.log")).contains(said) {
            assert!(began.elapsed() < PATIENCE, "{}", lab.logs());
            std::thread::sleep(Duration::from_millis(100));
        }
        let log = lab.read(&format!("{number}/serial.log"));
        let line = log.lines().find(|line| line.contains(said)).expect("its line");
        assert!(line.contains("is=mine") && !line.contains("boxscore."), "{line}");
    }
    let log = lab.read("boxscore/boot-br0/dnsmasq.log");
    let sent = |file: &str, last: u32| log.contains(&format!("/{file} to 10.88.0.{last}"));
    assert!(sent("ipxe.efi", 102) && !sent("ipxe.efi", 101) && !sent("undionly.kpxe", 102), "{log}");
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
    let lo = ["c", "--interface", "lo"];
    boot(&[&lo[..], &["--yes", "--write", "sda", "none.raw"]].concat())
        .expect(1, &["--write: none.raw: No such file"]);
    boot(&[&lo[..], &["--write", "sda"]].concat()).expect(2, &["--write"]);
    fs::write(dir.path().join("i.raw"), "image").expect("a file");
    boot(&[&lo[..], &["--write", "sda", "i.raw", "--score"]].concat()).expect(2, &["cannot be used with"]);
    let said = boot(&[&lo[..], &["--write", "/dev/sda", "i.raw", "--dry-run"]].concat()).expect(0, &[]);
    let what = "then write i.raw (5.00 B, sha256 6105d6cc76af4003...) onto sda: 1 node: c";
    assert!(said.out.contains(what), "{said:?}");
    boot(&[&lo[..], &["--takes", "3"]].concat()).expect(2, &["--takes is of --score"]);
    boot(&[&lo[..], &["--score", "--measure", "nosuch"]].concat()).expect(2, &["nosuch"]);
    if root() {
        boot(&["c", "--interface", "lo", "--yes", "--image", "none"]).expect(1, &["none/cmdline: "]);
    }
}
