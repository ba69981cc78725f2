//! The machines of a study while they measure, for the live display: gathered from the events of the conductor, drawn
//! as a table where there are several.

use std::collections::HashSet;

use harness::conductor::{Finished, Show};
use lab::ranges::fold;
use model::Phase;
use model::plan::{Plan, Takes};
use model::progress::{PREPARING, REMARK};
use report::text::machines_live::{Doing, MachineRow, Room, table};

/// The machines of a plan.
pub struct Machines {
    rows: Vec<MachineRow>,
    /// Takes of each cell and arm, where their number is fixed.
    each: Option<u64>,
    /// Cells and arms that a machine cannot run.
    unfit: HashSet<(usize, u32, u32)>,
}

impl Machines {
    pub fn new(plan: &Plan) -> Machines {
        let each = match plan.takes {
            Takes::Fixed(takes) => Some(u64::from(takes)),
            Takes::Adaptive { .. } => None,
        };
        let entries = (0u32..).zip(&plan.cells).map(|(cell, _)| plan.arms_of(cell).len() as u64).sum::<u64>();
        let row = |name: &str| MachineRow {
            name: name.to_owned(),
            total: each.map(|each| each * entries),
            ..MachineRow::default()
        };
        let rows = plan.machines.iter().map(|via| row(&via.name)).collect();
        Machines { rows, each, unfit: HashSet::new() }
    }

    /// True where each machine has a row of its own.
    pub fn are_several(&self) -> bool {
        self.rows.len() > 1
    }

    /// Those of these names cannot be reached now.
    pub fn absent(&mut self, names: &[String]) {
        let rows = self.rows.iter_mut().filter(|row| names.contains(&row.name));
        rows.for_each(|row| row.doing = Doing::NotReached);
    }

    /// Takes of earlier attempts.
    pub fn had(&mut self, finished: &[Finished]) {
        let measured = finished.iter().filter(|one| one.take.phase == Phase::Measured);
        for one in measured {
            if let Some(row) = self.rows.get_mut(one.machine) {
                row.done += 1;
                row.faults += u64::from(one.take.fault.is_some());
            }
        }
        self.rows.iter_mut().filter(|row| is_done(row)).for_each(|row| row.doing = Doing::Done);
    }

    /// Takes an event in. `figure` is the title of the cell that it is of, `value` its estimate so far.
    pub fn take(&mut self, show: &Show<'_>, figure: &str, value: &str) {
        match show {
            Show::Doing { machine, text } => {
                self.turn(*machine, Doing::Preparing);
                if let Some(row) = self.rows.get_mut(*machine) {
                    text.trim_start_matches(REMARK)
                        .trim_start_matches(PREPARING)
                        .trim()
                        .clone_into(&mut row.figure);
                }
            }
            Show::Starting { machine, .. } => {
                self.turn(*machine, Doing::Measuring);
                if let Some(row) = self.rows.get_mut(*machine) {
                    figure.clone_into(&mut row.figure);
                    value.clone_into(&mut row.value);
                }
            }
            Show::Taken { machine, take, .. } => {
                if let Some(row) = self.rows.get_mut(*machine) {
                    row.faults += u64::from(take.fault.is_some());
                    row.done += u64::from(take.phase == Phase::Measured);
                    if !value.is_empty() {
                        value.clone_into(&mut row.value);
                    }
                    row.doing = if is_done(row) { Doing::Done } else { Doing::Waiting };
                }
            }
            Show::Unfit { machine, cell, arm, .. } => {
                if self.unfit.insert((*machine, *cell, *arm))
                    && let Some((row, each)) = self.rows.get_mut(*machine).zip(self.each)
                {
                    row.total = row.total.map(|total| total.saturating_sub(each));
                }
            }
            Show::Lost { machine, .. } => {
                if let Some(row) = self.rows.get_mut(*machine) {
                    row.doing = Doing::Lost;
                }
            }
            _ => {}
        }
    }

    /// The machine whose turn it is; of those that measured before it, none does any more.
    fn turn(&mut self, machine: usize, doing: Doing) {
        for (at, row) in self.rows.iter_mut().enumerate() {
            if at == machine {
                row.doing = doing;
            } else if row.doing == Doing::Measuring {
                row.doing = Doing::Waiting;
            }
        }
    }

    /// `12 of 90 takes on 3 machines`, with what is left of the time.
    pub fn head(&self) -> String {
        let done: u64 = self.rows.iter().map(|row| row.done).sum();
        let total: Option<u64> = self.rows.iter().map(|row| row.total).sum();
        let of = total.map_or_else(String::new, |total| format!(" of {total}"));
        format!("{done}{of} takes on {} machines", self.rows.len())
    }

    /// The table in so much room.
    pub fn table(&self, room: Room) -> String {
        table(&self.rows, &|names| fold(names.iter().copied()), room)
    }
}

fn is_done(row: &MachineRow) -> bool {
    row.total.is_some_and(|total| total > 0 && row.done >= total)
}

#[cfg(test)]
mod tests {
    use model::plan::Via;
    use model::reading::Take;
    use model::{Cell, Params};

    use super::*;

    fn plan(takes: u32) -> Plan {
        let cell = |size: &str| Cell {
            instrument: "crc32c".to_owned(),
            params: Params::parse(&format!("size={size}")).unwrap(),
            headline: Vec::new(),
        };
        let via = |name: &str| Via { name: name.to_owned(), command: None };
        let plan = Plan::bare(vec![cell("1KiB"), cell("2KiB")], Takes::Fixed(takes));
        Plan { machines: [via("a"), via("b"), via("c")].into(), ..plan }
    }

    fn take(phase: Phase, fault: bool) -> Take {
        Take {
            seq: 0,
            block: 0,
            sitting: 0,
            phase,
            cell: 0,
            arm: 0,
            start_ns: 0,
            end_ns: 0,
            repeats: 1,
            readings: Vec::new(),
            refusals: Vec::new(),
            notes: Vec::new(),
            fault: fault.then(|| model::Fault::new("no")),
        }
    }

    fn taken(machines: &mut Machines, machine: usize, take: &Take) {
        machines.take(&Show::Taken { machine, take, median: None, width: None, n: 1 }, "", "9 GB/s");
    }

    #[test]
    fn machines_take_turns_until_they_are_done() {
        let mut all = Machines::new(&plan(1));
        all.absent(&["c".to_owned()]);
        let starting = |machine| Show::Starting { machine, cell: 0, arm: 0, block: 0, warm_up: false };
        all.take(&Show::Doing { machine: 0, text: "preparing" }, "", "");
        assert_eq!(all.rows[0].doing, Doing::Preparing);
        all.take(&starting(0), "crc32c", "");
        taken(&mut all, 0, &take(Phase::WarmUp, false));
        assert_eq!((all.rows[0].done, all.rows[0].doing), (0, Doing::Waiting));
        all.take(&Show::Unfit { machine: 0, cell: 1, arm: 0, why: "no" }, "", "");
        all.take(&Show::Unfit { machine: 0, cell: 1, arm: 0, why: "no" }, "", "");
        all.take(&starting(0), "crc32c", "");
        all.take(&starting(1), "crc32c", "");
        assert_eq!((all.rows[0].doing, all.rows[1].doing), (Doing::Waiting, Doing::Measuring));
        taken(&mut all, 0, &take(Phase::Measured, false));
        taken(&mut all, 1, &take(Phase::Measured, true));
        all.take(&Show::Lost { machine: 1, why: "gone", hint: None }, "", "");
        let seen: Vec<_> = all.rows.iter().map(|row| (row.doing, row.done, row.total, row.faults)).collect();
        let wanted =
            [(Doing::Done, 1, Some(1), 0), (Doing::Lost, 1, Some(2), 1), (Doing::NotReached, 0, Some(2), 0)];
        assert_eq!(seen, wanted);
        assert_eq!(all.head(), "2 of 5 takes on 3 machines");
        let text = all.table(Room { columns: 80, lines: 20 });
        assert!(text.contains("a        done           1/1  9 GB/s          crc32c"), "{text}");
    }

    #[test]
    fn takes_of_earlier_attempts_count() {
        let mut all = Machines::new(&plan(1));
        let one = |machine, phase| Finished { machine, take: take(phase, false) };
        all.had(&[one(2, Phase::Measured), one(2, Phase::Measured), one(1, Phase::WarmUp)]);
        assert_eq!((all.rows[2].doing, all.rows[2].done, all.rows[1].done), (Doing::Done, 2, 0));
        assert!(all.are_several());
    }
}
