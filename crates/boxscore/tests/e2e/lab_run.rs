//! `lab run` on real ssh servers: outputs, exit codes, connections that are used again, names, stops.

use std::process::Command;
use std::time::Duration;

use model::doc::{LabHostDoc, LabRunDoc};
use serde_json::from_str;

use crate::common::sshd::Fleet;
use crate::common::{Running, alive, assert_gone, children, wait_for};

fn plain(_: usize) -> String {
    String::new()
}

/// The document of a run, whatever its exit code.
fn document(fleet: &Fleet, words: &[&str]) -> LabRunDoc {
    let said = fleet.run_with(words, &["--keep", "0", "--json"]);
    from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:#?}"))
}

fn of<'a>(document: &'a LabRunDoc, host: &str) -> &'a LabHostDoc {
    document.hosts.iter().find(|one| one.host == host).unwrap_or_else(|| panic!("no {host}: {document:#?}"))
}

#[test]
fn outputs_that_are_the_same_are_shown_once_and_each_end_has_a_line() {
    let fleet = Fleet::start(5, plain);
    let command = "case $FLEET_NAME in node4) echo other; echo oh >&2; exit 7;; *) echo same;; esac";
    let hosts = "node1,node2,node3,node4,node5";
    let said = fleet.run(&["run", hosts, "--fold", "--", command]).expect(3, &[]);
    assert_eq!(said.out, "--- 4 hosts: node[1-3,5]\nsame\n--- 1 host: node4\nother\n");
    assert_eq!(said.err, "--- 1 host, stderr: node4\noh\nexit 0: 4 hosts\nexit 7: 1 host: node4\n");
    let said = fleet
        .run(&["run", hosts, "--width", "2", "--", "echo $FLEET_NAME"])
        .expect(0, &["exit 0: 5 hosts\n"]);
    let mut lines: Vec<&str> = said.out.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["node1: node1", "node2: node2", "node3: node3", "node4: node4", "node5: node5"]);
    let document = document(&fleet, &["run", "node4,node1", "--", command]);
    assert_eq!(document.hosts.iter().map(|host| host.exit).collect::<Vec<_>>(), [Some(7), Some(0)]);
    assert_eq!((document.stdout.len(), document.exits.len(), document.interrupted), (2, 2, false));
    assert!(fleet.sockets().is_empty(), "--keep 0 closes connections");
}

#[test]
fn expressions_name_nodes_of_the_inventory_and_hosts_of_the_configuration() {
    let fleet = Fleet::start(5, plain);
    fleet.inventory();
    let echo = ["--fold", "--", "echo $FLEET_NAME"];
    let run = |words: &[&str]| fleet.run(&[&["run"], words, &echo].concat());
    let said = run(&["@even!rack4"]).expect(0, &["inventory: ./lab.toml (5 nodes)\nexit 0: 1 host\n"]);
    assert_eq!(said.out, "--- 1 host: rack2\nnode2\n");
    let said = fleet.run(&["run", "@*", "-x", "@even", "-i", "rack[1-4]", "--fold", "--", "echo same"]);
    assert_eq!(said.expect(0, &[]).out, "--- 2 hosts: rack[1,3]\nsame\n");
    std::fs::write(fleet.path("names"), "rack5 # the last\n").expect("a file");
    let said = fleet.run(&["run", "rack1", "-f", "names", "--fold", "--", "echo same"]);
    assert_eq!(said.expect(0, &[]).out, "--- 2 hosts: rack[1,5]\nsame\n");
    // A name of the configuration alone.
    let said = run(&["node3"]).expect(0, &["note: 1 name of no node in the inventory: node3 ("]);
    assert_eq!(said.out, "--- 1 host: node3\nnode3\n");
    let said = run(&["rack9", "--connect-timeout", "2"]);
    said.expect(3, &["rack9: the inventory has rack[1-5]", "failed: 1 host: rack9: its name is not known"]);
    run(&["@evn"]).expect(2, &["evn"]);
    run(&["@even!@even"]).expect(2, &["nothing is left"]);
    let said = run(&["rack1", "-l", "nobody-here"]);
    said.expect(3, &[&format!("`ssh -o BatchMode=yes -p {} nobody-here@127.0.2.1 true`", fleet.port)]);
    let said = fleet.run(&["run", "--dry-run", "@odd", "--", "true"]).expect(0, &[]);
    assert!(
        said.out.contains("3 hosts: rack[1,3,5]\n") && said.out.contains("HostName=127.0.2.1"),
        "{said:?}"
    );
}

#[test]
fn the_commands_own_255_and_a_signal_are_not_taken_for_failures_of_ssh() {
    let fleet = Fleet::start(1, plain);
    let said = fleet.run(&["run", "node1", "--", "exit 255"]).expect(3, &[]);
    assert_eq!(said.err, "exit 255: 1 host: node1\n");
    let document = document(&fleet, &["run", "node1", "--", "kill -9 $$"]);
    assert_eq!(of(&document, "node1").failure.as_deref(), Some("signal"));
    assert_eq!(of(&document, "node1").exit, None);
}

#[test]
fn a_connection_is_used_again_and_closed_at_the_end() {
    let fleet = Fleet::start(2, plain);
    let words = ["run", "node1,node2", "--json", "--", "true"];
    let reused = |said: crate::common::Said| -> Vec<bool> {
        let document: LabRunDoc = from_str(&said.out).expect("a document");
        document.hosts.iter().map(|host| host.reused).collect()
    };
    assert_eq!(reused(fleet.run_with(&words, &["--keep", "60"])), [false, false]);
    assert_eq!(fleet.sockets().len(), 2);
    assert_eq!(reused(fleet.run_with(&words, &["--keep", "60"])), [true, true]);
    // Another configuration is another connection.
    fleet.prepend("# changed");
    assert_eq!(reused(fleet.run_with(&words, &["--keep", "0"])), [false, false]);
    fleet.sockets().iter().for_each(|socket| close(socket));
}

/// Closes a connection as the user would. ssh returns once its request is sent: the master removes its
/// socket after that.
fn close(socket: &std::path::Path) {
    let done = Command::new("ssh").arg("-S").arg(socket).args(["-O", "exit", "x"]).output().expect("ssh");
    assert!(done.status.success(), "{done:?}");
    wait_for("the master removes its socket", || !socket.exists());
}

#[test]
fn a_socket_that_nobody_listens_at_is_replaced() {
    let fleet = Fleet::start(1, plain);
    fleet.run_with(&["run", "node1", "--", "true"], &["--keep", "60"]).expect(0, &[]);
    let sockets = fleet.sockets();
    close(&sockets[0]);
    drop(std::os::unix::net::UnixListener::bind(&sockets[0]).expect("a socket"));
    fleet.run(&["run", "node1", "--", "true"]).expect(0, &[]);
}

#[test]
fn what_a_shell_prints_is_told_with_the_host() {
    let greets = "ForceCommand echo Welcome to $FLEET_NAME; eval \"$SSH_ORIGINAL_COMMAND\"";
    let fixed = "ForceCommand echo fixed";
    let fleet = Fleet::start(3, |number| match number {
        1 => greets.to_owned(),
        2 => fixed.to_owned(),
        _ => "Banner /etc/hostname".to_owned(),
    });
    let document = document(&fleet, &["run", "node1,node2,node3", "--", "echo mine"]);
    let one = of(&document, "node1");
    assert_eq!((one.stdout.as_str(), one.greeting.as_deref()), ("mine\n", Some("Welcome to node1")));
    let two = of(&document, "node2");
    assert_eq!((two.stdout.as_str(), two.marked), ("fixed\n", false));
    let three = of(&document, "node3");
    assert_eq!((three.stdout.as_str(), three.stderr.as_str()), ("mine\n", ""), "a banner is no output");
    fleet.run(&["run", "node1,node2", "--", "true"]).expect(
        0,
        &[
            "note: node1: its shell prints before commands, which is no output of theirs: Welcome to node1",
            "note: node2: a forced command or a shell of another kind answered",
        ],
    );
}

#[test]
fn no_shell_of_ours_reads_a_name_and_the_plan_reaches_nobody() {
    let fleet = Fleet::start(1, plain);
    for bad in
        ["-oProxyCommand=touch pwned", "$(touch pwned)", "node1;touch pwned", "a\nb", "../node1", "node1 x"]
    {
        let said = fleet.run(&["run", bad, "--", "true"]);
        assert_eq!(said.code, Some(2), "{bad}: {said:?}");
    }
    let said = fleet.run(&["run", "--dry-run", "node1,node2", "--", "touch pwned"]).expect(0, &[]);
    assert!(said.out.contains("2 hosts: node[1-2]\nwould run: touch pwned\n"), "{}", said.out);
    assert!(!fleet.path("pwned").exists());
    for (words, says) in [
        (["run", "node1", "--width", "0", "--", "x"], "from 1 to"),
        (["run", "node1", "--timeout", "x", "--", "x"], "not a length of time"),
        (["run", ",", "--keep", "0", "--", "x"], "column 1"),
        (["run", "root@node1", "--keep", "0", "--", "x"], "behind -l"),
        (["run", "@none", "--keep", "0", "--", "x"], "none"),
    ] {
        fleet
            .command(&words, &[])
            .output()
            .map(crate::common::Said::from)
            .expect("it starts")
            .expect(2, &[says]);
    }
}

#[test]
fn a_stop_keeps_what_was_collected_and_leaves_no_child() {
    let fleet = Fleet::start(3, plain);
    let begun = |number: usize| fleet.path(&format!("begun{number}"));
    let command = format!(
        "echo begun; touch {}/begun${{FLEET_NAME#node}}; case $FLEET_NAME in node3) ;; *) exec sleep 1000;; esac",
        fleet.dir.path().display()
    );
    let words = ["run", "node1,node2,node3", "--", &command];
    let running = Running::start(fleet.command(&words, &["--keep", "0"]));
    wait_for("the command begins", || (1..=3).all(|number| begun(number).exists()));
    // What was printed before the file was made is on its way.
    std::thread::sleep(Duration::from_secs(1));
    let pids = children(running.pid());
    running.signal("INT");
    let said = running.end().expect(130, &["exit 0: 1 host\n"]);
    assert!(
        said.err.contains("failed: 2 hosts: node[1-2]: interrupted; its command may go on there"),
        "{said:#?}"
    );
    let mut lines: Vec<&str> = said.out.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["node1: begun", "node2: begun", "node3: begun"]);
    pids.into_iter().for_each(assert_gone);
    assert!(fleet.sockets().is_empty());
    assert!(alive(fleet.pid(1)), "the server is nobody's to end");
}

#[test]
fn many_logins_to_one_server_are_not_lost() {
    // Its default, MaxStartups 10:30:100, drops a third of them.
    let fleet = Fleet::start(1, plain);
    let hosts: Vec<String> = (1..=40).map(|number| format!("alias{number}")).collect();
    let said =
        fleet.run(&["run", &hosts.join(","), "--fold", "--", "echo here"]).expect(0, &["exit 0: 40 hosts\n"]);
    assert_eq!(said.out, "--- 40 hosts: alias[1-40]\nhere\n");
}
