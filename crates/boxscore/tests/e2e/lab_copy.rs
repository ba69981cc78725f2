//! `lab push` and `lab pull` on real ssh servers: whole and verified, or not at all.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use model::doc::LabCopyDoc;

use crate::common::sshd::{Fleet, text};
use crate::common::{cannot, root};

fn plain(_: usize) -> String {
    String::new()
}

fn names(folder: &std::path::Path) -> Vec<String> {
    let found = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> =
        found.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn files_arrive_whole_verified_and_with_their_permissions() {
    let fleet = Fleet::start(2, plain);
    let body: Vec<u8> = (0..300_000u32).flat_map(|n| n.to_be_bytes()).collect();
    fs::write(fleet.path("-big $(id) 'x'"), &body).expect("a file");
    fs::write(fleet.path("tool"), "#!/bin/sh\n").expect("a file");
    fs::set_permissions(fleet.path("tool"), PermissionsExt::from_mode(0o755)).expect("its mode");
    // Both servers are this machine, so each file is written twice.
    let odd = fleet.path("it's a $(touch pwned) \"folder\"");
    fs::create_dir(&odd).expect("a folder");
    let to = format!("node1,node2:{}", text(&odd));
    let said = fleet.run(&["push", "./-big $(id) 'x'", "tool", &to]);
    let said = said.expect(0, &["copied: 2 hosts: 2 files each, verified by sha256"]);
    assert_eq!(said.out, "");
    assert_eq!(names(&odd), ["-big $(id) 'x'", "tool"]);
    assert!(fs::read(odd.join("-big $(id) 'x'")).expect("the file") == body);
    assert_eq!(fs::metadata(odd.join("tool")).expect("the file").permissions().mode() & 0o777, 0o755);
    assert!(!fleet.path("pwned").exists() && !odd.join("pwned").exists());
    let from = format!("node1,node2:{},{}", text(&odd.join("-big $(id) 'x'")), text(&odd.join("tool")));
    fleet.run(&["pull", &from, "here"]).expect(0, &["copied: 2 hosts: 2 files each, verified by sha256"]);
    for host in ["node1", "node2"] {
        assert!(fs::read(fleet.path("here").join(host).join("-big $(id) 'x'")).expect("the file") == body);
        assert_eq!(names(&fleet.path("here").join(host)).len(), 2);
    }
}

#[test]
fn groups_and_files_of_names_stand_before_the_colon() {
    let fleet = Fleet::start(4, plain);
    fleet.inventory();
    fs::write(fleet.path("f"), "new").expect("a file");
    fs::create_dir(fleet.path("to")).expect("a folder");
    fleet
        .run(&["push", "f", &format!("@even!rack2:{}", text(&fleet.path("to")))])
        .expect(0, &["inventory: ./lab.toml (4 nodes)", "copied: 1 host: 1 file each, verified by sha256"]);
    fs::write(fleet.path("names"), "@odd\n").expect("a file");
    let from = format!(":{}", text(&fleet.path("to/f")));
    fleet.run(&["pull", "-f", "names", &from, "here"]).expect(0, &["copied: 2 hosts"]);
    assert_eq!(names(&fleet.path("here")), ["rack1", "rack3"]);
    fleet.run(&["pull", &from, "here"]).expect(2, &["no machine stands before the colon"]);
}

#[test]
fn what_cannot_be_copied_leaves_the_old_file_and_nothing_else() {
    let fleet =
        Fleet::start(2, |number| if number == 2 { "ForceCommand false".to_owned() } else { String::new() });
    fs::create_dir_all(fleet.path("to/f")).expect("a folder");
    fs::write(fleet.path("f"), "new").expect("a file");
    let push = |folder: &str| fleet.run(&["push", "f", &format!("node1:{folder}")]);
    let to = text(&fleet.path("to"));
    push(&to).expect(3, &["failed: 1 host: node1: not copied: f: a folder has its name there"]);
    push(&text(&fleet.path("none")))
        .expect(3, &["failed: 1 host: node1: not copied: f: its folder ", "cannot be entered"]);
    assert_eq!(names(&fleet.path("to")), ["f"]);
    fleet
        .run(&["push", "f", &format!("node2:{to}")])
        .expect(3, &["failed: 1 host: node2: not copied: f: the script"]);
    fleet
        .run(&["pull", "node1:/nowhere/x", "here"])
        .expect(3, &["node1: not copied: /nowhere/x: there is no such file"]);
    fleet.run(&["pull", "node2:/etc/hostname", "here"]).expect(3, &["node2: not copied: /etc/hostname"]);
    assert!(!fleet.path("here/node1/x").exists() && !fleet.path("here/node2/hostname").exists());
    fleet.run(&["pull", "node1:/etc/..", "here"]).expect(2, &["names no file"]);
    fleet.run(&["push", "none", "node1:/tmp"]).expect(2, &["none: "]);
    fleet.run(&["push", "f", "node1"]).expect(2, &["machines, a colon and a folder are needed"]);
    let said = fleet.run_with(&["pull", "node1:/nowhere/x", "here"], &["--keep", "0", "--json"]);
    let document: LabCopyDoc = serde_json::from_str(&said.out).expect("a document");
    assert_eq!((document.hosts[0].ok, document.failures.len()), (false, 1));
}

#[test]
fn a_full_disk_is_told_by_host_and_keeps_the_old_file() {
    if !root() {
        return cannot("a small disk needs root");
    }
    let fleet = Fleet::start(1, plain);
    let disk = fleet.path("disk");
    fs::create_dir(&disk).expect("a folder");
    fs::write(fleet.path("f"), vec![1u8; 200_000]).expect("a file");
    let mount = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=64k", "none"])
        .arg(&disk)
        .status();
    assert!(mount.is_ok_and(|status| status.success()), "no tmpfs");
    fs::write(disk.join("f"), "old").expect("a file");
    let said = fleet.run(&["push", "f", &format!("node1:{}", text(&disk))]);
    let left = (names(&disk), fs::read_to_string(disk.join("f")).expect("the file"));
    let gone = std::process::Command::new("umount").arg(&disk).status();
    assert!(gone.is_ok_and(|status| status.success()), "it stays mounted");
    said.expect(3, &["node1: not copied: f: it could not be written", "No space left on device"]);
    assert_eq!(left, (vec!["f".to_owned()], "old".to_owned()));
}

/// A tree with odd names.
fn tree(fleet: &Fleet) -> std::path::PathBuf {
    let tree = fleet.path("site");
    fs::create_dir_all(tree.join("it's $(touch pwned)")).expect("a folder");
    fs::write(tree.join("index.html"), "<p>").expect("a file");
    fs::write(tree.join("it's $(touch pwned)/-x \\ \"y\""), vec![7u8; 100_000]).expect("a file");
    fs::set_permissions(tree.join("index.html"), PermissionsExt::from_mode(0o640)).expect("its mode");
    tree
}

#[test]
fn a_tree_is_sent_where_it_differs_and_verified_file_by_file() {
    let fleet = Fleet::start(1, plain);
    let tree = tree(&fleet);
    let to = fleet.path("it's a \"place\"");
    let push = || fleet.run(&["push", "--content", "site", &format!("node1:{}", text(&to))]);
    let whole = "content: 1 host: 2 files each (97.7 KiB), verified by sha256\n";
    push().expect(0, &[whole, "1 host: sent 2 files (97.7 KiB) by rsync\n"]);
    let odd = "it's $(touch pwned)/-x \\ \"y\"";
    assert!(fs::read(to.join(odd)).expect("the file") == vec![7u8; 100_000]);
    let mode = fs::metadata(to.join("index.html")).expect("the file").permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    push().expect(0, &[whole, "1 host: nothing to send\n"]);
    // What looks the same from outside is told by its hash.
    fs::write(to.join("index.html"), "<q>").expect("a change");
    fs::write(to.join("old.html"), "old").expect("a file of the node");
    push().expect(0, &["1 host: sent 1 file (3.00 B) by rsync; 1 file there that the tree does not have\n"]);
    assert_eq!(fs::read_to_string(to.join("index.html")).expect("the file"), "<p>");
    assert!(to.join("old.html").exists() && !fleet.path("pwned").exists() && !tree.join("pwned").exists());
    fleet.run(&["push", "--content", "none", "node1"]).expect(1, &["none: No such file"]);
    fleet.run(&["push", "f", "--content", "site", "node1"]).expect(2, &["no file can be named beside it"]);
    fleet.run(&["push", "node1:/tmp"]).expect(2, &["files of this side are needed before it"]);
}

#[test]
fn a_tree_goes_by_tar_without_rsync_and_each_failure_has_its_host() {
    // Its shell finds these programs alone.
    let few = |number: usize| match number {
        1 => "SetEnv PATH=KEYS/bin".to_owned(),
        2 => "SetEnv PATH=KEYS/nothing".to_owned(),
        _ => String::new(),
    };
    let fleet = Fleet::start(3, few);
    let tree = tree(&fleet);
    for (folder, programs) in
        [("bin", &["sh", "mkdir", "sha256sum", "find", "tar", "sshd"][..]), ("nothing", &["sh", "mkdir"])]
    {
        fs::create_dir(fleet.path(folder)).expect("a folder");
        for program in programs {
            let found = std::path::Path::new("/usr/bin").join(program);
            std::os::unix::fs::symlink(found, fleet.path(folder).join(program)).expect("a link");
        }
    }
    fs::write(fleet.path("file"), "").expect("a file");
    let to = fleet.path("to");
    let said =
        fleet.run_with(&["push", "--content", "site", &format!("node1,node2:{}", text(&to))], &["--json"]);
    let document: LabCopyDoc = serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{said:?}"));
    let by = document.hosts[0].sent.as_ref().and_then(|sent| sent.by.as_deref());
    assert_eq!(by, Some("tar"), "{said:?}");
    assert_eq!(fs::read(to.join("index.html")).expect("the file"), b"<p>");
    assert!(document.hosts[1].why.as_ref().is_some_and(|why| why.contains("no sha256sum")), "{said:?}");
    let said = fleet.run(&["push", "--content", "site", &format!("node3:{}/x", text(&fleet.path("file")))]);
    said.expect(3, &["failed: 1 host: node3: not copied: its folder cannot be made or entered"]);
    drop(tree);
}
