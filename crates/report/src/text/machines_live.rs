//! The table of a study while it runs on several machines: a row each, as many as the screen has lines for, and a line
//! for the rest.
//!
//! Takes are counted, values are in the units of their figures. Without a line end after the last line.

use model::format::count;

use super::{cut, width};

model::words! {
    /// The work of a machine.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Doing as word {
        Measuring = "measuring",
        Preparing = "preparing",
        /// Others have their turn.
        #[default]
        Waiting = "waiting",
        Done = "done",
        Lost = "lost",
        NotReached = "not reached",
    }
}

/// A machine of the study.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MachineRow {
    pub name: String,
    pub doing: Doing,
    /// Measured takes that are stored.
    pub done: u64,
    /// Those of the plan; `None` where the stop rule decides.
    pub total: Option<u64>,
    /// The last estimate, as text.
    pub value: String,
    pub faults: u64,
    /// The figure that is measured, or was last.
    pub figure: String,
}

impl MachineRow {
    fn takes(&self) -> String {
        match self.total {
            Some(total) => format!("{}/{total}", self.done),
            None => self.done.to_string(),
        }
    }

    /// True for one that somebody should look at.
    fn is_odd(&self) -> bool {
        self.faults > 0 || matches!(self.doing, Doing::Lost | Doing::NotReached)
    }
}

/// The screen that the table has.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    pub columns: usize,
    pub lines: usize,
}

/// Headings and the line below the rows.
const AROUND: usize = 2;
const HEADS: [&str; 6] = ["machine", "state", "takes", "value", "faults", "figure"];
/// The longest name that has a column of its own width.
const NAME: usize = 20;
/// Columns that numbers stand in.
const RIGHT: [usize; 2] = [2, 4];

/// The table; `fold` writes names in few letters.
pub fn table(rows: &[MachineRow], fold: &dyn Fn(&[&str]) -> String, room: Room) -> String {
    let shown = shown(rows, room.lines);
    let cells = |row: &MachineRow| {
        let faults = if row.faults > 0 { row.faults.to_string() } else { String::new() };
        let (name, doing) = (cut(&row.name, NAME), row.doing.word().to_owned());
        [name, doing, row.takes(), row.value.clone(), faults, row.figure.clone()]
    };
    let heads = HEADS.map(str::to_owned);
    let table: Vec<[String; 6]> =
        std::iter::once(heads).chain(shown.iter().filter_map(|at| rows.get(*at)).map(cells)).collect();
    let widths: Vec<usize> =
        (0..HEADS.len()).map(|at| table.iter().map(|row| width(&row[at])).max().unwrap_or(0)).collect();
    let line = |row: &[String; 6]| {
        let cell = |(at, text): (usize, &String)| match RIGHT.contains(&at) {
            true => format!("{text:>0$}", widths[at]),
            false => format!("{text:<0$}", widths[at]),
        };
        let joined = row.iter().enumerate().map(cell).collect::<Vec<_>>().join("  ");
        cut(joined.trim_end(), room.columns)
    };
    let mut lines: Vec<String> = table.iter().map(line).collect();
    lines.extend(rest(rows, &shown, fold).map(|rest| cut(&rest, room.columns)));
    lines.join("\n")
}

/// The places of the rows that are shown, in their order: all, or those that are odd, up to half, and the page of the
/// others that the one that measures is on.
fn shown(rows: &[MachineRow], lines: usize) -> Vec<usize> {
    if rows.len() < lines {
        return (0..rows.len()).collect();
    }
    let room = lines.saturating_sub(AROUND).max(1);
    let (odd, others): (Vec<usize>, Vec<usize>) = (0..rows.len()).partition(|at| rows[*at].is_odd());
    let least = room.saturating_sub(others.len()).max(room / 2);
    let mut places: Vec<usize> = odd.into_iter().take(least).collect();
    let page = room - places.len();
    // The first of those that are alike: one that measures goes before those that prepare.
    let busy = (0..others.len()).min_by_key(|at| rows[others[*at]].doing).unwrap_or(0);
    let first = (busy / page.max(1) * page).min(others.len().saturating_sub(page));
    places.extend(others.iter().skip(first).take(page));
    places.sort_unstable();
    places
}

/// `and 21 more: 18 waiting, 3 done: rack[19-39]`; `None` where all are shown.
fn rest(rows: &[MachineRow], shown: &[usize], fold: &dyn Fn(&[&str]) -> String) -> Option<String> {
    let hidden: Vec<&MachineRow> =
        rows.iter().enumerate().filter(|(at, _)| !shown.contains(at)).map(|(_, row)| row).collect();
    if hidden.is_empty() {
        return None;
    }
    let of = |doing: Doing| hidden.iter().filter(|row| row.doing == doing).count();
    let states = Doing::ALL.into_iter().filter(|doing| of(*doing) > 0);
    let mut parts: Vec<String> = states.map(|doing| format!("{} {}", of(doing), doing.word())).collect();
    let faults: u64 = hidden.iter().map(|row| row.faults).sum();
    parts.extend((faults > 0).then(|| count(usize::try_from(faults).unwrap_or(usize::MAX), "fault")));
    let names: Vec<&str> = hidden.iter().map(|row| row.name.as_str()).collect();
    Some(format!("and {} more: {}: {}", hidden.len(), parts.join(", "), fold(&names)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(number: usize, doing: Doing, done: u64) -> MachineRow {
        let value = if done > 0 { "36.4 k/s ± 2 %".to_owned() } else { String::new() };
        let figure = "web connections=50;content=own".to_owned();
        MachineRow { name: format!("rack{number}"), doing, done, total: Some(30), value, faults: 0, figure }
    }

    fn fold(names: &[&str]) -> String {
        format!("{} to {}", names[0], names[names.len() - 1])
    }

    #[test]
    fn each_machine_has_a_row() {
        let mut rows = vec![row(1, Doing::Waiting, 3), row(2, Doing::Measuring, 2), row(3, Doing::Lost, 1)];
        rows[2].faults = 2;
        rows[0].total = None;
        let wanted = "\
machine  state      takes  value           faults  figure
rack1    waiting        3  36.4 k/s ± 2 %          web connections=50;content=own
rack2    measuring   2/30  36.4 k/s ± 2 %          web connections=50;content=own
rack3    lost        1/30  36.4 k/s ± 2 %       2  web connections=50;content=own";
        assert_eq!(table(&rows, &fold, Room { columns: 90, lines: 24 }), wanted);
        let narrow = table(&rows, &fold, Room { columns: 60, lines: 24 });
        assert!(narrow.lines().all(|line| width(line) <= 60), "{narrow}");
        assert!(narrow.contains("web conn…"), "{narrow}");
    }

    #[test]
    fn what_has_no_room_is_one_line() {
        let mut rows: Vec<MachineRow> = (1..=40).map(|n| row(n, Doing::Waiting, 0)).collect();
        rows[29].doing = Doing::Measuring;
        rows[4].doing = Doing::NotReached;
        rows[5].faults = 1;
        rows[39].doing = Doing::Done;
        let text = table(&rows, &fold, Room { columns: 80, lines: 12 });
        let wanted = "\
machine  state        takes  value  faults  figure
rack5    not reached   0/30                 web connections=50;content=own
rack6    waiting       0/30              1  web connections=50;content=own
rack27   waiting       0/30                 web connections=50;content=own
rack28   waiting       0/30                 web connections=50;content=own
rack29   waiting       0/30                 web connections=50;content=own
rack30   measuring     0/30                 web connections=50;content=own
rack31   waiting       0/30                 web connections=50;content=own
rack32   waiting       0/30                 web connections=50;content=own
rack33   waiting       0/30                 web connections=50;content=own
rack34   waiting       0/30                 web connections=50;content=own
and 30 more: 29 waiting, 1 done: rack1 to rack40";
        assert_eq!(text, wanted);
        // Whatever the room, and whoever measures, that row is there and nothing is longer than the screen.
        for lines in 1..45 {
            for busy in 0..40 {
                rows.iter_mut().for_each(|row| row.doing = Doing::Waiting);
                rows[busy].doing = Doing::Measuring;
                let text = table(&rows, &fold, Room { columns: 80, lines });
                assert!(text.lines().count() <= lines.max(3), "{lines}:\n{text}");
                assert!(text.contains("measuring") || rows[busy].faults > 0, "{lines} {busy}:\n{text}");
            }
        }
    }

    #[test]
    fn when_all_are_odd_there_are_rows_all_the_same() {
        let rows: Vec<MachineRow> = (1..=40).map(|n| row(n, Doing::Lost, 1)).collect();
        let text = table(&rows, &fold, Room { columns: 80, lines: 12 });
        assert_eq!(text.lines().count(), 12, "{text}");
    }
}
