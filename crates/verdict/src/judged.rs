//! Runs that are indexed and judged once, when somebody first asks, whoever asks again.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use model::data::RunData;

use crate::compare::Side;
use crate::rules;
use crate::ruling::Ruling;
use crate::run_index::{RunContext, RunIndex};

/// A run with its index and what the rules say of it.
pub struct Judged<'a> {
    pub run: &'a RunData,
    context: &'a RunContext<'a>,
    index: OnceCell<RunIndex<'a>>,
    rulings: OnceCell<Vec<Ruling>>,
}

impl<'a> Judged<'a> {
    fn new(run: &'a RunData, context: &'a RunContext<'a>) -> Judged<'a> {
        Judged { run, context, index: OnceCell::new(), rulings: OnceCell::new() }
    }

    pub fn index(&self) -> &RunIndex<'a> {
        self.index.get_or_init(|| RunIndex::new(self.run, self.context))
    }

    pub fn rulings(&self) -> &[Ruling] {
        self.rulings.get_or_init(|| rules::of_index(self.index()))
    }
}

/// A side with its runs, oldest first.
pub struct JudgedSide<'a> {
    pub side: &'a Side<'a>,
    pub runs: Vec<Rc<Judged<'a>>>,
}

impl<'a> JudgedSide<'a> {
    /// Each of these sides. A run that several of them have is judged once for all.
    pub fn all(sides: &'a [Side<'a>], context: &'a RunContext<'a>) -> Vec<JudgedSide<'a>> {
        let mut known: BTreeMap<*const RunData, Rc<Judged<'a>>> = BTreeMap::new();
        let mut one = |side: &'a Side<'a>| {
            let mut judge = |run: &&'a RunData| {
                let new = || Rc::new(Judged::new(run, context));
                Rc::clone(known.entry(std::ptr::from_ref(*run)).or_insert_with(new))
            };
            let mut runs: Vec<Rc<Judged<'a>>> = side.runs.iter().map(&mut judge).collect();
            runs.sort_by_key(|judged| judged.run.head.started_ns);
            JudgedSide { side, runs }
        };
        sides.iter().map(&mut one).collect()
    }
}

#[cfg(test)]
mod tests {
    use model::doc::MachineDoc;

    use super::*;
    use crate::loads::planted::empty;

    #[test]
    fn a_run_of_several_sides_is_judged_once() {
        let run = |id: &str, started_ns| {
            let mut run = empty();
            (run.head.id, run.head.started_ns) = (id.to_owned(), started_ns);
            run
        };
        let (newer, older) = (run("b", 2), run("a", 1));
        let in_a_file = older.clone();
        let side = |name: &str, runs| {
            let machine = MachineDoc { id: name.to_owned(), name: name.to_owned() };
            Side { runs, ..Side::new(name, machine) }
        };
        let sides =
            [side("both", vec![&newer, &older]), side("arm", vec![&older]), side("file", vec![&in_a_file])];
        let context = RunContext { cards: instruments::cards(), ..RunContext::default() };
        let all = JudgedSide::all(&sides, &context);
        let ids: Vec<&str> = all[0].runs.iter().map(|one| one.run.head.id.as_str()).collect();
        assert_eq!(ids, ["a", "b"], "oldest first");
        assert!(Rc::ptr_eq(&all[0].runs[0], &all[1].runs[0]));
        assert!(!Rc::ptr_eq(&all[1].runs[0], &all[2].runs[0]), "a file may say anything of a run");
        let judged = &all[0].runs[0];
        assert!(std::ptr::eq(judged.rulings(), judged.rulings()));
    }
}
