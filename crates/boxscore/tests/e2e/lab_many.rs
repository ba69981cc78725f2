//! Five of many nodes are killed in the midst of a study, and then the controller: nothing of the others is lost, the
//! five are named, and `resume` finishes. Twelve nodes, or as many as `BOXSCORE_LAB_HOSTS` says.

use model::data::{RunData, Status};

use crate::common::sshd::Fleet;
use crate::common::{FAKE, assert_whole};
use crate::lab_lost::kill;
use crate::lab_on::{done, fleet, of, runs, settled, started};

/// How many hosts there are; at least eight.
const HOSTS: &str = "BOXSCORE_LAB_HOSTS";
const USUAL: usize = 12;

const KILLED: usize = 5;

/// Measured takes of each node, when the last node is known to be at work, and when the controller dies.
const TAKES: u32 = 120;
const AT_WORK: usize = 3;
const ON_THE_WAY: usize = 12;

fn hosts() -> usize {
    let Ok(text) = std::env::var(HOSTS) else { return USUAL };
    let count = text.parse().unwrap_or_else(|error| panic!("{HOSTS}={text}: {error}"));
    assert!((8..=250).contains(&count), "{HOSTS}={count}: from 8 to 250");
    count
}

/// Five numbers from the first to the last.
fn chosen(count: usize) -> Vec<usize> {
    (0..KILLED).map(|at| 1 + at * (count - 1) / (KILLED - 1)).collect()
}

/// Every take that a run had before is still its own, and unchanged.
fn assert_kept(before: &[RunData], after: &[RunData]) {
    assert_eq!(before.len(), after.len());
    for run in before {
        let now = of(after, &run.head.machine);
        assert_eq!(now.head.id, run.head.id);
        assert_eq!(now.takes.get(..run.takes.len()), Some(run.takes.as_slice()), "{}", run.head.machine);
    }
}

fn start_again(fleet: &mut Fleet, numbers: &[usize]) {
    numbers.iter().for_each(|number| fleet.start_again(*number, &settled(*number)));
}

#[test]
fn five_of_many_nodes_and_the_controller_are_killed_and_nothing_is_lost() {
    let count = hosts();
    let mut fleet = fleet(count);
    let (binaries, takes) = (fleet.binaries(), TAKES.to_string());
    let words =
        [&FAKE[..], &["--takes", &takes, "--show-takes", "--on", "@*", "--binaries", &binaries]].concat();
    let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
    let mut running = started(&fleet, &words);
    assert!(running.until(&format!("rack{count}: stored take {AT_WORK}")), "{:?}", running.heard);
    let killed = chosen(count);
    killed.iter().for_each(|number| kill(&mut fleet, *number));
    // The others go on.
    assert!(running.until(&format!("rack2: stored take {ON_THE_WAY}")), "{:?}", running.heard);
    running.signal("KILL");
    let said = running.end();
    assert_eq!(said.code, None, "{said:?}");
    let before = runs(&fleet);
    assert_eq!(before.len(), count);
    for run in &before {
        let name = &run.head.machine;
        let shown = said.err.matches(&format!("{name}: stored take ")).count();
        assert_eq!(run.head.status, Status::Interrupted, "{name}");
        assert!(shown >= AT_WORK && run.takes.len() >= shown, "{name}: {shown} takes were shown");
    }
    let numbers: Vec<String> = killed.iter().map(ToString::to_string).collect();
    let named = format!("rack[{}]", numbers.join(","));
    done(&mut fleet.plain(&["resume"])).expect(
        3,
        &[
            &format!("left out: {named}: it refused the connection\n"),
            &format!("skipped: {named}: lost and not reached again"),
        ],
    );
    let between = runs(&fleet);
    assert_kept(&before, &between);
    for run in &between {
        let is_killed = numbers.iter().any(|number| run.head.machine == format!("rack{number}"));
        match is_killed {
            true => assert_eq!(run.head.status, Status::Interrupted, "{}", run.head.machine),
            false => assert_whole(run, TAKES),
        }
    }
    start_again(&mut fleet, &killed);
    done(&mut fleet.plain(&["resume"])).expect(0, &[]);
    let after = runs(&fleet);
    assert_kept(&between, &after);
    after.iter().for_each(|run| assert_whole(run, TAKES));
}
