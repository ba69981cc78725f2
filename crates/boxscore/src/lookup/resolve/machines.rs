//! The machines of a store and their runs: which can be named, which have several runs, and which began earlier.

use model::data::RunHead;
use model::shell::word;

use super::{Meaning, Resolver};
use crate::lookup::runs::is_whole;

impl Resolver {
    /// The complete runs of a run's machine that began before it and are not hidden, newest first.
    pub fn before(&self, run: &RunHead) -> impl Iterator<Item = &RunHead> {
        let (machine, started) = (run.machine_id.clone(), run.started_ns);
        let is_of = move |head: &&RunHead| {
            head.machine_id == machine && head.started_ns < started && is_whole(head) && !head.hidden
        };
        self.heads.iter().rev().filter(is_of)
    }

    /// Every run of the store, oldest first.
    pub fn heads(&self) -> &[RunHead] {
        &self.heads
    }

    /// True where each of these names means one machine alone, and one of these has several complete runs, which
    /// `compare` of the names pools.
    pub fn are_pooled(&self, names: &[&str]) -> bool {
        let of = |name: &&str| match self.meanings(name).ok()?.as_slice() {
            [Meaning::Machine(heads)] => {
                Some(heads.iter().filter(|head| is_whole(head) && !head.hidden).count())
            }
            _ => None,
        };
        let counts = names.iter().map(of).collect::<Option<Vec<usize>>>();
        counts.is_some_and(|counts| counts.iter().any(|count| *count > 1))
    }

    /// The names of machines with complete runs that are not hidden, as they may be typed; that with the newest first.
    pub fn measured_machines(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for head in self.heads.iter().rev().filter(|head| is_whole(head) && !head.hidden) {
            let name = word(&head.machine);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}
