//! `lab power` on simulated BMCs: states that are looked for, what goes wrong by node and kind, and a password that is
//! nowhere to be seen.

use std::fs;
use std::net::{SocketAddr, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use model::doc::LabPowerDoc;

use crate::common::ipmi::{Bmcs, PASSWORD, Relay, Way, write_private};
use crate::common::{PROGRAM, Said};

const TOOLS: [&str; 2] = ["ipmipower", "ipmitool"];

fn by(tool: &str, bmcs: &Bmcs, words: &[&str]) -> Said {
    bmcs.run(&[words, &["--tool", tool]].concat())
}

#[test]
fn both_tools_change_the_power_and_look_for_it() {
    let bmcs = Bmcs::start(3);
    for tool in TOOLS {
        let run = |words: &[&str]| by(tool, &bmcs, words).expect(0, &[]).out;
        assert_eq!(run(&["on", "n[1-2]", "--yes"]), "on: 2 nodes: n[1-2]\n");
        assert!(bmcs.is_on(1) && bmcs.is_on(2) && !bmcs.is_on(3));
        assert_eq!(run(&["status", "@*"]), "on: 2 nodes: n[1-2]\noff: 1 node: n3\n");
        let before = bmcs.requests(1);
        assert_eq!(run(&["cycle", "n1", "--yes"]), "on: 1 node: n1\n");
        assert_eq!(bmcs.requests(1).strip_prefix(&before), Some("power 0\npower 1\n"));
        assert_eq!(run(&["reset", "n[1-3]", "-x", "n3", "--yes"]), "on: 2 nodes: n[1-2]\n");
        assert!(bmcs.requests(2).ends_with("reset 1\n"), "{}", bmcs.requests(2));
        by(tool, &bmcs, &["reset", "n3", "--yes"]).expect(3, &["failed: 1 node: n3: it is off\n"]);
        assert_eq!(run(&["soft", "n2", "--yes"]), "off: 1 node: n2\n");
        assert!(bmcs.requests(2).ends_with("shutdown 1\n"), "{}", bmcs.requests(2));
        assert_eq!(run(&["off", "@*", "--yes"]), "off: 3 nodes: n[1-3]\n");
        assert!((1..=3).all(|number| !bmcs.is_on(number)));
    }
}

#[test]
fn a_state_is_awaited_and_a_bmc_that_lies_or_is_silent_keeps_no_other_back() {
    let bmcs = Bmcs::start(3);
    bmcs.make(2, "deaf");
    bmcs.make(3, "late");
    // It takes packets and answers none.
    let silent = UdpSocket::bind(("127.0.3.9", bmcs.port)).expect("a port");
    bmcs.inventory(
        "[[nodes]]\nname = \"n[1-3]\"\nbmc = { address = \"127.0.3.1+3\" }\n\
         [[nodes]]\nname = \"mute[8-9]\"\nbmc = { address = \"127.0.3.8+2\" }\n\
         [[nodes]]\nname = \"gone\"\nbmc = { address = \"gone.invalid\" }\n[[nodes]]\nname = \"bare[1-2]\"\n",
    );
    for tool in TOOLS {
        let said = by(tool, &bmcs, &["on", "@*", "--yes", "--wait", "3"]).expect(
            3,
            &[
                "failed: 1 node: n2: its BMC took the request; it is still off after 3 s\n",
                "failed: 2 nodes: mute[8-9]: its BMC does not answer\n",
                "failed: 1 node: gone: the name of its BMC is not known: gone.invalid: ",
                "failed: 2 nodes: bare[1-2]: the inventory names no BMC\n",
            ],
        );
        assert_eq!(said.out, "on: 2 nodes: n[1,3]\n");
        assert!(bmcs.is_on(3), "it was waited for");
        let said = by(tool, &bmcs, &["off", "n[1,3]", "--yes", "--json"]).expect(0, &[]);
        let document: LabPowerDoc = serde_json::from_str(&said.out).expect("a document");
        assert!(
            document.nodes.iter().all(|node| node.ok && node.state.as_deref() == Some("off")),
            "{said:?}"
        );
    }
    drop(silent);
}

#[test]
fn what_a_bmc_refuses_is_told_by_its_kind() {
    let bmcs = Bmcs::start(2);
    write_private(&bmcs.path("wrong"), "hunter2-wrong\n");
    let at = |ip: &str| -> SocketAddr { format!("{ip}:{}", bmcs.port).parse().expect("an address") };
    // Of a session of either tool, the fifth packet asks for the power or for the privilege to.
    let _busy = Relay::start(at("127.0.3.11"), at("127.0.3.1"), Way::Busy(usize::MAX));
    let _broken = Relay::start(at("127.0.3.12"), at("127.0.3.2"), Way::Break(4));
    bmcs.inventory(
        "[[nodes]]\nname = \"wrong\"\nbmc = { address = \"127.0.3.1\", password_file = \"wrong\" }\n\
         [[nodes]]\nname = \"nobody\"\nbmc = { address = \"127.0.3.2\", user = \"nobody\" }\n\
         [[nodes]]\nname = \"busy\"\nbmc = { address = \"127.0.3.11\" }\n\
         [[nodes]]\nname = \"broken\"\nbmc = { address = \"127.0.3.12\" }\n",
    );
    for tool in TOOLS {
        let said = by(tool, &bmcs, &["status", "@*", "--json"]).expect(3, &[]);
        let document: LabPowerDoc = serde_json::from_str(&said.out).expect("a document");
        let kinds: Vec<_> =
            document.nodes.iter().map(|node| node.failure.as_deref().unwrap_or("-")).collect();
        assert_eq!(kinds, ["password", "user", "busy", "lost"], "{tool}: {said:#?}");
        assert!(!format!("{said:?}").contains("hunter2"), "{said:?}");
    }
}

#[test]
fn a_busy_bmc_is_asked_again() {
    let bmcs = Bmcs::start(1);
    for tool in TOOLS {
        let at = |ip: &str| -> SocketAddr { format!("{ip}:{}", bmcs.port).parse().expect("an address") };
        bmcs.inventory("[[nodes]]\nname = \"n1\"\nbmc = { address = \"127.0.3.1\" }\n");
        by(tool, &bmcs, &["off", "n1", "--yes"]).expect(0, &[]);
        bmcs.inventory("[[nodes]]\nname = \"n1\"\nbmc = { address = \"127.0.3.11\" }\n");
        let relay = Relay::start(at("127.0.3.11"), at("127.0.3.1"), Way::Busy(2));
        by(tool, &bmcs, &["status", "n1"]).expect(3, &["failed: 1 node: n1: its BMC is busy\n"]);
        // It says so once more to the question for the state.
        assert_eq!(by(tool, &bmcs, &["on", "n1", "--yes"]).expect(0, &[]).out, "on: 1 node: n1\n");
        drop(relay);
    }
}

#[test]
fn nothing_is_done_without_a_yes_an_inventory_and_known_nodes() {
    let bmcs = Bmcs::start(2);
    bmcs.run(&["on", "n[1-2]"])
        .expect(2, &["power on of 2 nodes: n[1-2]: nobody can be asked here, so nothing was done", "--yes"]);
    let said = bmcs.run(&["on", "n[1-2]", "--dry-run"]).expect(0, &[]);
    assert_eq!(said.out, "would do: power on of 2 nodes: n[1-2]\n");
    bmcs.run(&["on", "n[1-3]", "--yes"])
        .expect(2, &["no node of the inventory: n3", "the inventory has n[1-2]"]);
    bmcs.run(&["on", "--yes"]).expect(2, &["<EXPR>"]);
    bmcs.run(&["on", "n1", "-x", "n1", "--yes"]).expect(2, &["no machine is left"]);
    assert_eq!((bmcs.requests(1), bmcs.requests(2)), (String::new(), String::new()));
    fs::set_permissions(bmcs.path("password"), PermissionsExt::from_mode(0o640)).expect("its mode");
    let what =
        "failed: 2 nodes: n[1-2]: no password for its BMC: ./password may be read by others (mode 0640)\n";
    bmcs.run(&["status", "@*"]).expect(3, &[what, " hint: chmod 600 ./password\n"]);
    fs::remove_file(bmcs.path("lab.toml")).expect("a file");
    bmcs.run(&["status", "n1"]).expect(1, &["there is no inventory"]);
}

/// What the program says on a terminal whose user answers its question.
fn answered(bmcs: &Bmcs, answer: &str, words: &str) -> Said {
    let line = format!("printf '{answer}\\n' | script -qec \"'{PROGRAM}' lab power {words}\" /dev/null");
    let mut command = Command::new("sh");
    command.args(["-c", &line]).current_dir(bmcs.dir.path()).env("XDG_CONFIG_HOME", bmcs.path("config"));
    command.output().expect("it starts").into()
}

#[test]
fn a_person_is_shown_the_nodes_and_asked() {
    let bmcs = Bmcs::start(3);
    let said = answered(&bmcs, "n", "on n1,n3");
    assert!(said.out.contains("power on of 2 nodes: n[1,3]? [y/N]"), "{said:#?}");
    assert_eq!((said.code, bmcs.is_on(1)), (Some(1), false), "{said:#?}");
    let said = answered(&bmcs, "y", "on n1,n3");
    assert!(said.out.contains("on: 2 nodes: n[1,3]"), "{said:#?}");
    assert_eq!((said.code, bmcs.is_on(1), bmcs.is_on(2)), (Some(0), true, false), "{said:#?}");
}

/// A program before each tool that writes down its command line and its environment.
fn spies(bmcs: &Bmcs) -> String {
    let folder = bmcs.path("spies");
    fs::create_dir_all(&folder).expect("a folder");
    for (tool, real) in TOOLS.iter().zip(["/usr/sbin/ipmipower", "/usr/bin/ipmitool"]) {
        let log = bmcs.path("seen").display().to_string();
        let text = format!(
            "#!/bin/sh\n{{ echo \"$0 $*\"; tr '\\0' '\\n' < /proc/$$/cmdline; env; }} >> {log}\nexec {real} \"$@\"\n"
        );
        let file = folder.join(tool);
        fs::write(&file, text).expect("a program");
        fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).expect("its mode");
    }
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default())
}

#[test]
fn no_command_line_environment_file_or_output_holds_the_password() {
    let bmcs = Bmcs::start(2);
    let path = spies(&bmcs);
    for tool in TOOLS {
        for words in
            [&["cycle", "n[1-2]", "--yes"][..], &["status", "@*", "--json"], &["on", "nobody", "--yes"]]
        {
            let mut command = bmcs.command(&[words, &["--tool", tool]].concat());
            let said: Said = command.env("PATH", &path).output().expect("it starts").into();
            assert!(!format!("{said:?}").contains(PASSWORD), "{said:?}");
        }
        let seen = fs::read_to_string(bmcs.path("seen")).expect("it was called");
        assert!(seen.contains(&format!("/{tool} ")) && !seen.contains(PASSWORD), "{seen}");
    }
    let called = |seen: &str, words: &str| {
        let calls = seen.lines().filter(|line| TOOLS.iter().any(|tool| line.contains(&format!("/{tool} -"))));
        calls.into_iter().any(|line| line.contains(words))
    };
    for (words, asks) in [
        (&["sensors", "@*"][..], " sdr list"),
        (&["sensors", "n1", "--json"], " sdr list"),
        (&["sel", "@*"], " sel elist"),
        (&["bootdev", "pxe", "@*", "--yes"], " chassis bootdev pxe"),
        (&["check", "n1"], ""),
    ] {
        fs::remove_file(bmcs.path("seen")).expect("what was seen before");
        let said: Said = bmcs.lab(words).env("PATH", &path).output().expect("it starts").into();
        assert!(!format!("{said:?}").contains(PASSWORD), "{said:?}");
        let seen = fs::read_to_string(bmcs.path("seen")).expect("a tool was called");
        assert!(called(&seen, asks) && !seen.contains(PASSWORD), "{words:?}: {seen}");
    }
    // Of the files, only those that the test wrote hold it.
    let mut command = Command::new("grep");
    command.args(["-rl", "--exclude=lan.conf", "--exclude=password", "--devices=skip", PASSWORD, "."]);
    let found = command.current_dir(bmcs.dir.path()).stdin(Stdio::null()).output().expect("grep starts");
    assert_eq!(String::from_utf8_lossy(&found.stdout), "", "files with the password");
}

#[test]
fn a_password_comes_from_a_variable_or_a_program_and_may_hold_odd_letters() {
    let bmcs = Bmcs::start(1);
    for secret in ["password_env = \"LAB_BMC\"", "password_cmd = [\"cat\", \"password\"]"] {
        let text = format!(
            "[[nodes]]\nname = \"n1\"\nbmc = {{ kind = \"ipmi\", address = \"127.0.3.1\", port = {}, user = \"ADMIN\", {secret} }}\n",
            bmcs.port
        );
        fs::write(bmcs.path("lab.toml"), text).expect("an inventory");
        let said: Said =
            bmcs.command(&["status", "n1"]).env("LAB_BMC", PASSWORD).output().expect("it starts").into();
        assert_eq!(said.expect(0, &[]).out, "off: 1 node: n1\n");
    }
    // Quotation marks go to the tool that takes them; the BMC has another password.
    let odd = "a\"b#c\\d";
    write_private(&bmcs.path("password"), odd);
    let said = bmcs.run(&["status", "n1"]).expect(3, &["its BMC refused the password"]);
    assert!(!format!("{said:?}").contains(odd), "{said:?}");
    by("ipmipower", &bmcs, &["status", "n1"])
        .expect(3, &["ipmipower does not take this address or password; ipmitool would"]);
}
