//! Nodes of `--on` that are down at the start, die with the controller, or hang: none of the others loses anything, the
//! lost ones are named, and `resume` finishes.

use std::fs;
use std::time::Instant;

use model::data::Status;
use model::note::NoteBody;

use crate::common::ipmi::{Bmcs, PASSWORD};
use crate::common::sshd::Fleet;
use crate::common::{FAKE, PATIENCE, assert_whole, children, signal};
use crate::lab_on::{done, five, fleet, of, runs, settled, started};

/// Ends a server with all of its sessions.
pub fn kill(fleet: &mut Fleet, number: usize) {
    let sessions = children(fleet.pid(number));
    fleet.end(number);
    sessions.into_iter().for_each(|pid| signal(pid, "KILL"));
}

#[test]
fn nodes_and_the_controller_die_and_resume_finishes() {
    let (mut fleet, words) = five("300");
    let mut running = started(&fleet, &words);
    assert!(running.until("rack5: stored take 3"), "{:?}", running.heard);
    [4, 5].into_iter().for_each(|number| kill(&mut fleet, number));
    running.signal("KILL");
    let said = running.end();
    assert_eq!(said.code, None, "{said:?}");
    let before = runs(&fleet);
    let shown = |name: &str| said.err.matches(&format!("{name}: stored take ")).count();
    for name in ["rack1", "rack2", "rack3", "rack4", "rack5"] {
        let run = of(&before, name);
        assert_eq!(run.head.status, Status::Interrupted, "{name}");
        assert!(
            run.takes.len() >= shown(name) && shown(name) >= 3,
            "{name}: every take that was shown is there"
        );
    }
    fleet.start_again(4, &settled(4));
    // One is still down: it is named, and the others are whole.
    done(&mut fleet.plain(&["resume"])).expect(
        3,
        &["left out: rack5: it refused the connection\n", "skipped: rack5: lost and not reached again"],
    );
    let between = runs(&fleet);
    assert_eq!(between.len(), 5);
    ["rack1", "rack2", "rack3", "rack4"].iter().for_each(|name| assert_whole(of(&between, name), 300));
    assert_eq!(of(&between, "rack5").head.status, Status::Interrupted);
    fleet.start_again(5, &settled(5));
    done(&mut fleet.plain(&["resume"])).expect(0, &[]);
    let after = runs(&fleet);
    assert_eq!(after.len(), 5);
    after.iter().for_each(|run| assert_whole(run, 300));
}

#[test]
fn a_node_that_is_down_at_the_start_is_named_and_resume_adds_it() {
    let mut fleet = fleet(3);
    let inventory = fs::read_to_string(fleet.path("lab.toml")).expect("an inventory");
    fs::write(fleet.path("lab.toml"), format!("{inventory}watts = 95\n")).expect("an inventory");
    fleet.end(3);
    let binaries = fleet.binaries();
    let words = [&FAKE[..], &["--takes", "3", "--on", "@*", "--binaries", &binaries]].concat();
    done(&mut fleet.on(&words)).expect(
        3,
        &[
            "left out: rack3: it refused the connection\n",
            "note: not reached: rack3; reached again in 3 s\n",
            "skipped: rack3: lost and not reached again; `boxscore resume`",
        ],
    );
    assert_eq!(runs(&fleet).len(), 2);
    fleet.start_again(3, &settled(3));
    done(&mut fleet.plain(&["resume"])).expect(0, &["boxscore was copied to 1 node: rack3\n"]);
    let all = runs(&fleet);
    assert_eq!(all.len(), 3);
    all.iter().for_each(|run| assert_whole(run, 3));
    assert_eq!(
        (&of(&all, "rack3").head.study, of(&all, "rack3").head.watts),
        (&all[0].head.study, Some(95.0))
    );
    done(&mut fleet.plain(&["resume"])).expect(1, &["no run of this store was interrupted"]);
}

/// The processes of boxscore that run below a server.
fn agents(pid: u32) -> Vec<u32> {
    let below: Vec<u32> = children(pid).into_iter().flat_map(agents).collect();
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    if name.starts_with("boxscore") { vec![pid] } else { below }
}

#[test]
fn a_node_that_hangs_is_turned_off_and_on_where_the_inventory_allows_it() {
    let (fleet, bmcs) = (fleet(3), Bmcs::start(2));
    bmcs.run(&["on", "@*", "--yes"]).expect(0, &[]);
    fs::copy(bmcs.path("password"), fleet.path("password")).expect("a copy");
    // Of the third the BMC may do nothing.
    let bmc =
        format!("kind = \"ipmi\", port = {}, user = \"ADMIN\", password_file = \"password\"", bmcs.port);
    let node = |name: &str, address: &str, more: &str| {
        format!("[[nodes]]\nname = \"{name}\"\naddress = \"{address}\"\nport = {}\n{more}", fleet.port)
    };
    let inventory = [
        node("rack1", "127.0.2.1", ""),
        node(
            "rack2",
            "127.0.2.2",
            &format!("cycle_on_hang = true\nbmc = {{ {bmc}, address = \"127.0.3.1\" }}\n"),
        ),
        node("rack3", "127.0.2.3", &format!("bmc = {{ {bmc}, address = \"127.0.3.2\" }}\n")),
    ];
    fs::write(fleet.path("lab.toml"), inventory.concat()).expect("an inventory");
    let (before, spared) = (bmcs.requests(1), bmcs.requests(2));
    let binaries = fleet.binaries();
    let words = [&FAKE[..], &["--takes", "300", "--show-takes", "--hang-after", "3", "--on", "@*"]].concat();
    let words = [&words[..], &["--binaries", &binaries]].concat();
    let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
    let mut running = started(&fleet, &words);
    assert!(running.until("rack3: stored take 3"), "{:?}", running.heard);
    let hung: Vec<u32> = [2, 3].into_iter().flat_map(|number| agents(fleet.pid(number))).collect();
    assert_eq!(hung.len(), 2, "an agent each");
    hung.iter().for_each(|pid| signal(*pid, "STOP"));
    let began = Instant::now();
    let said = running.end().expect(
        0,
        &[
            "note: silent for too long, so it may hang: rack[2-3]\n",
            "note: power cycle by the BMC: rack2 (cycle_on_hang in the inventory)\n",
            "note: rack2: it was off, and is on again\n",
        ],
    );
    assert!(began.elapsed() < PATIENCE);
    hung.iter().for_each(|pid| signal(*pid, "KILL"));
    let all = runs(&fleet);
    assert_eq!(all.len(), 3);
    all.iter().for_each(|run| assert_whole(run, 300));
    assert_eq!(bmcs.requests(1).strip_prefix(&before), Some("power 0\npower 1\n"));
    assert_eq!(bmcs.requests(2), spared, "nobody allowed it");
    let notes = |name: &str, kind: &str| {
        let is = |body: &NoteBody| body.kind() == kind;
        of(&all, name).notes.iter().filter(|note| is(&note.body)).count()
    };
    assert_eq!((notes("rack2", "power-cycle"), notes("rack3", "power-cycle")), (1, 0));
    assert!(notes("rack3", "lost") > 0);
    let store = fs::read(fleet.path("s.db")).expect("the store");
    assert!(!store.windows(PASSWORD.len()).any(|part| part == PASSWORD.as_bytes()));
    assert!(!said.err.contains(PASSWORD) && !said.out.contains(PASSWORD));
}
