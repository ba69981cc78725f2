//! Every boxscore command of docs/coming-from.md runs. Loads and takes are made short, and names of servers are those
//! of servers that the test starts; nothing else of a command is changed.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::process::Command;

use crate::common::{Bench, PROGRAM, Said, said};
use crate::kv_load::Managed as Store;
use crate::load::Managed as Web;
use crate::net::Peer;
use instruments::workload::store_server::StoreKind;

/// The right-hand commands, under the heading of their tool.
fn commands() -> Vec<(String, String)> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/coming-from.md");
    let text = fs::read_to_string(path).expect("the page");
    let (mut tool, mut found) = (String::new(), Vec::new());
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            name.clone_into(&mut tool);
        }
        // A `|` within a command is written `\|`.
        let line = line.replace("\\|", "\u{1}");
        let Some(cell) = line.strip_prefix('|').and_then(|line| line.split('|').nth(1)) else { continue };
        let cell = cell.replace('\u{1}', "|");
        for command in cell.split('`').skip(1).step_by(2).filter(|text| text.starts_with("boxscore ")) {
            found.push((tool.clone(), command.to_owned()));
        }
    }
    found
}

/// What the commands name: files, and programs of the user's.
fn folder(bench: &Bench) {
    fs::write(bench.path("post.json"), "{}").expect("a file");
    fs::create_dir(bench.path("bin")).expect("a folder");
    symlink(PROGRAM, bench.path("bin/boxscore")).expect("a link");
    fs::write(bench.path("in.txt"), "some text\n").expect("a file");
    let programs = [("bin/go", "echo 'BenchmarkX-2 1000 1234.5 ns/op'"), ("a", "true"), ("b", "true")];
    for (name, text) in programs {
        let program = bench.path(name);
        fs::write(&program, format!("#!/bin/sh\n{text}\n")).expect("a program");
        fs::set_permissions(program, fs::Permissions::from_mode(0o755)).expect("it may be run");
    }
}

fn shell(bench: &Bench, line: &str) -> Said {
    let mut command = Command::new("sh");
    bench.settle(&mut command);
    let path = std::env::var("PATH").unwrap_or_default();
    said(command.env("PATH", format!("{}:{path}", bench.path("bin").display())).args(["-c", line]))
}

/// The command with the names of these servers, and short.
fn shortened(command: &str, names: &[(&str, &str)]) -> String {
    let mut line = names.iter().fold(command.to_owned(), |line, (name, value)| line.replace(name, value));
    for (long, short) in [("-d 10s", "-d 200ms"), ("-n 100000", "-n 2000"), ("-n 10000", "-n 2000")] {
        line = line.replace(long, short);
    }
    let is_load = line.starts_with("boxscore load ");
    if is_load && !line.contains(" -n ") && !line.contains(" -d ") {
        line.push_str(" -d 200ms");
    }
    if line.starts_with("boxscore run ") {
        line.push_str(" --no-report");
        if !line.contains("--takes") {
            line.push_str(" --takes 2 --sittings 1");
        }
        if !line.contains("--cmd") {
            line.push_str(" --set duration=250ms --quick");
        }
    }
    line
}

#[test]
fn every_command_of_the_page_runs() {
    let bench = Bench::new();
    folder(&bench);
    let (web, redis, peer) = (Web::start("nginx"), Store::start(StoreKind::Redis), Peer::start(&bench, &[]));
    let names = [
        (" URL", format!(" {}", web.url())),
        ("redis://127.0.0.1:6379", redis.url()),
        ("--to HOST", format!("--to {}", peer.address)),
    ];
    let names: Vec<(&str, &str)> = names.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let all = commands();
    assert!(all.len() >= 20, "{all:?}");
    for label in ["old", "new"] {
        bench.fake(&["--takes", "6", "--label", label]).expect(0, &[]);
    }
    // The far end is one that runs already.
    for (tool, command) in all.iter().filter(|(_, command)| command != "boxscore peer") {
        let line = shortened(command, &names);
        let said = shell(&bench, &line);
        // A POST of a page that stands still is refused by the server, which is no fault of the command.
        let is_refused = said.code == Some(1) && line.contains(" -b ") && said.err.contains("405");
        assert!(said.code == Some(0) || is_refused, "{tool}: {line}: {said:#?}");
    }
}
