//! Whole runs from another store or file. Importing twice changes nothing; what is there already stays.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::{Sql, SqlError, Tx, args};
use crate::rows::{self, ReadingPlace};
use crate::series_numbers::SeriesNumbers;
use crate::value::to_json;
use crate::write::NewRun;
use crate::{MachineSheet, Result, Store, StoreError, machine};
use model::FactValue;
use model::data::{Origin, Point, RunData, Status, TakeHead};
use model::frame::TargetTelemetry;
use model::reading::{SeriesKey, Take, Value};

/// The changes of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    pub runs: u64,
    pub takes: u64,
}

/// The changes of a copy of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    pub is_new: bool,
    pub takes: u64,
    pub notes: u64,
}

impl Store {
    /// Adds runs that are not here yet, takes that runs here do not have yet, and sheets, in one transaction. A run
    /// that is here with other content is refused, and nothing is added.
    pub fn import(&mut self, runs: &[RunData], sheets: &[MachineSheet]) -> Result<Imported> {
        self.must_write()?;
        for run in runs {
            self.agrees(run)?;
        }
        let mut imported = Imported::default();
        let mut series = std::mem::take(&mut self.series);
        let done = self.transact(|tx| {
            for run in runs {
                import_run(tx, run, &mut series, &mut imported, false)?;
            }
            sheets.iter().try_for_each(|sheet| machine::insert_sheet(tx, sheet))
        });
        series.drop_fresh();
        self.series = series;
        done.map(|()| imported)
    }

    /// Adds a run with everything of it, or what it has more than the copy here, in one transaction. What was changed
    /// here of its label, price, watts, or being hidden stays. Fails, and adds nothing, if the run here has other
    /// content, or a process writes it.
    pub fn copy(&mut self, run: &RunData) -> Result<Copied> {
        self.must_write()?;
        self.agrees(run)?;
        let known = self.number(&run.head.id);
        if let Ok(no) = known
            && self.is_held(no)?
        {
            return Err(StoreError::Busy { run: run.head.id.clone() });
        }
        let before = known.ok().map(|no| self.notes_of(no)).transpose()?.map_or(0, |notes| notes.len());
        let mut imported = Imported::default();
        let mut series = SeriesNumbers::default();
        self.transact(|tx| import_run(tx, run, &mut series, &mut imported, true))?;
        let Imported { runs, takes } = imported;
        let no = self.number(&run.head.id)?;
        let notes = self.notes_of(no)?.len() - before;
        Ok(Copied { is_new: runs > 0, takes, notes: notes as u64 })
    }

    /// Adds sheets of machines and facts by hand that are not here yet; what is here stays.
    pub fn copy_machines(&mut self, from: &Store) -> Result<()> {
        self.must_write()?;
        let known: BTreeSet<String> = self.sheets()?.into_iter().map(|sheet| sheet.id).collect();
        for sheet in from.sheets()?.iter().filter(|sheet| !known.contains(&sheet.id)) {
            self.put_sheet(sheet)?;
        }
        let machines =
            from.rows("SELECT DISTINCT machine_id FROM machine_fact ORDER BY machine_id", &[], |row| {
                row.get::<String>(0)
            })?;
        for machine in machines {
            let known = self.machine_facts(&machine)?;
            let known: BTreeSet<&str> = known.iter().map(|fact| fact.key.as_str()).collect();
            let mut fresh = from.machine_facts(&machine)?;
            fresh.retain(|fact| !known.contains(fact.key.as_str()));
            self.add_machine_facts(&machine, &fresh)?;
        }
        Ok(())
    }

    /// Fails if the stored copy of a run, or of its study's plan, contradicts this one.
    fn agrees(&self, run: &RunData) -> Result<()> {
        let differs =
            |what: String| StoreError::Differs { path: self.path.clone(), run: run.head.id.clone(), what };
        let known = "SELECT count(*) FROM study WHERE id = $1";
        let known: Vec<i64> = self.rows(known, args![run.head.study], |row| row.get(0))?;
        if known.iter().any(|count| *count > 0) && self.plan(&run.head.study)? != run.plan {
            return Err(differs(format!("the plan of its study {}", run.head.study)));
        }
        match self.number(&run.head.id) {
            Err(StoreError::NoRun { .. }) => Ok(()),
            Err(error) => Err(error),
            Ok(_) => conflict(&self.load_light(&run.head.id)?, run).map_or(Ok(()), |what| Err(differs(what))),
        }
    }
}

/// The contradiction between two copies of one run; `None` without one, and for two different runs. One copy may have
/// takes that the other has not yet. Label, price, watts and notes may differ: they can be changed at any time.
pub fn conflict(a: &RunData, b: &RunData) -> Option<String> {
    if a.head.study == b.head.study && a.plan != b.plan {
        return Some(format!("the plan of study {}", a.head.study));
    }
    if a.head.id != b.head.id {
        return None;
    }
    let (one, other) = (&a.head, &b.head);
    let fixed = [
        ("study", one.study == other.study),
        ("machine", one.machine_id == other.machine_id),
        ("start", one.started_ns == other.started_ns),
        ("build", one.build == other.build),
    ];
    if let Some((what, _)) = fixed.iter().find(|(_, same)| !same) {
        return Some(format!("its {what}"));
    }
    let ended = |run: &RunData| matches!(run.head.status, Status::Complete | Status::Faulty);
    if ended(a) && ended(b) && facts(a) != facts(b) {
        return Some("its facts".to_owned());
    }
    let known: BTreeMap<u64, &TakeHead> = a.takes.iter().map(|take| (take.seq, take)).collect();
    let both = b.takes.iter().filter_map(|take| known.get(&take.seq).map(|known| (*known, take)));
    let shared: BTreeSet<u64> = both.clone().map(|(take, _)| take.seq).collect();
    // Evidence of refusals may be NaN, which equals nothing.
    let plain = |take: &TakeHead| TakeHead { refusals: Vec::new(), ..take.clone() };
    if let Some((take, _)) = both.clone().find(|(known, take)| plain(known) != plain(take)) {
        return Some(format!("take {}", take.seq));
    }
    let (a, b) = (values(a, &shared), values(b, &shared));
    let differs = |(key, value): &(&Spot<'_>, &Vec<Content>)| b.get(*key) != Some(*value);
    let found = a.iter().find(differs).map(|(key, _)| key);
    let found = found.or_else(|| b.keys().find(|key| !a.contains_key(*key)));
    found.map(|(key, seq)| format!("{} of take {seq}", key.title()))
}

/// Which series and take.
type Spot<'a> = (&'a SeriesKey, u64);
/// Start, window, and the value's bits or bytes.
type Content = (u64, u64, Vec<u8>);

fn values<'a>(run: &'a RunData, of: &BTreeSet<u64>) -> BTreeMap<Spot<'a>, Vec<Content>> {
    let mut all: BTreeMap<Spot<'a>, Vec<Content>> = BTreeMap::new();
    for series in &run.series {
        for point in series.points.iter().filter(|point| of.contains(&point.seq)) {
            let value = match &point.value {
                Value::Number(number) => number.to_bits().to_le_bytes().to_vec(),
                Value::Histogram(histogram) => histogram.to_bytes(),
            };
            all.entry((&series.key, point.seq)).or_default().push((point.at_ns, point.window_ns, value));
        }
    }
    all
}

fn facts(run: &RunData) -> Vec<(&str, Option<String>)> {
    run.facts.iter().map(|fact| (fact.key.as_str(), fact.value.as_ref().map(FactValue::text))).collect()
}

/// `all`: notes and telemetry of a run that is here too, even where no take is new.
fn import_run(
    tx: &Tx<'_>,
    run: &RunData,
    series: &mut SeriesNumbers,
    imported: &mut Imported,
    all: bool,
) -> Sql<()> {
    let head = &run.head;
    let known = "SELECT no, status FROM run WHERE id = $1";
    let found: Vec<(i64, String)> = tx.query(known, args![head.id], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let fresh = found.is_empty();
    let (no, status) = match found.into_iter().next() {
        Some(found) => found,
        None => {
            rows::insert_study(tx, &head.study, &run.plan)?.map_err(SqlError::Value)?;
            let no = tx.next_number("run")?;
            rows::insert_run(tx, no, &new_run(run), Status::Interrupted)?;
            rows::write_facts(tx, no, &run.facts)?;
            tx.execute("UPDATE run SET hidden = $1 WHERE no = $2", args![head.hidden, no])?;
            imported.runs += 1;
            (no, Status::Interrupted.word().to_owned())
        }
    };
    let ended = |status: Status| matches!(status, Status::Complete | Status::Faulty);
    let mut added = 0;
    for take in &run.takes {
        added += u64::from(rows::insert_take_head(tx, no, &bare(take))?);
    }
    imported.takes += added;
    import_points(tx, no, run, series)?;
    if fresh || added > 0 || all {
        import_rest(tx, no, run, fresh)?;
    }
    if fresh || (ended(head.status) && !Status::parse(&status).is_some_and(ended)) {
        // A run that still runs elsewhere is cut here.
        let status = if head.status == Status::Running { Status::Interrupted } else { head.status };
        rows::write_finish(tx, no, status.word(), head.seconds, run.own_cost.as_ref())?;
    }
    Ok(())
}

fn import_points(tx: &Tx<'_>, no: i64, run: &RunData, series: &mut SeriesNumbers) -> Sql<()> {
    for one in &run.series {
        let of = series.number(tx, no, &one.key, one.better)?;
        let mut last = None;
        let mut ord = 0;
        for point in &one.points {
            ord = if last == Some(point.seq) { ord + 1 } else { 0 };
            last = Some(point.seq);
            let Point { seq, block, sitting, phase, .. } = *point;
            let place = ReadingPlace { seq, ord, block, sitting, phase };
            rows::insert_reading(tx, of, &place, (point.at_ns, point.window_ns), &point.value)?;
        }
    }
    Ok(())
}

/// Clock offsets, notes, traffic and telemetry that are not there yet.
fn import_rest(tx: &Tx<'_>, no: i64, run: &RunData, fresh: bool) -> Sql<()> {
    for offset in &run.clock_offsets {
        rows::insert_clock_offset(tx, no, offset)?;
    }
    add_notes(tx, no, run)?;
    if let Some(traffic) = &run.traffic {
        rows::insert_traffic(tx, no, traffic)?;
    }
    for segment in &run.telemetry {
        if fresh || !rows::has_segment(tx, no, None, segment)? {
            rows::insert_segment(tx, no, None, segment)?;
        }
    }
    for TargetTelemetry { target, segment } in &run.target_telemetry {
        if fresh || !rows::has_segment(tx, no, Some(target), segment)? {
            rows::insert_segment(tx, no, Some(target), segment)?;
        }
    }
    Ok(())
}

/// Notes that are not there yet; one that stands twice is there twice.
fn add_notes(tx: &Tx<'_>, no: i64, run: &RunData) -> Sql<()> {
    let sql = "SELECT body, at_ns FROM note WHERE run = $1";
    let mut there: Vec<(String, Option<i64>)> =
        tx.query(sql, args![no], |row| Ok((row.get(0)?, row.get(1)?)))?;
    for note in &run.notes {
        let this = (to_json(&note.body)?, note.at_ns.map(u64::cast_signed));
        match there.iter().position(|known| *known == this) {
            Some(at) => drop(there.swap_remove(at)),
            None => rows::insert_note(tx, no, &note.body, note.at_ns)?,
        }
    }
    Ok(())
}

fn new_run(run: &RunData) -> NewRun {
    let head = run.head.clone();
    NewRun {
        id: head.id,
        study: head.study,
        machine_id: head.machine_id,
        machine: head.machine,
        label: head.label,
        price: head.price,
        watts: head.watts,
        started_ns: head.started_ns,
        origin: Origin { build: head.build, ..run.origin.clone() },
    }
}

fn bare(take: &TakeHead) -> Take {
    Take {
        seq: take.seq,
        block: take.block,
        sitting: take.sitting,
        phase: take.phase,
        cell: take.cell,
        arm: take.arm,
        start_ns: take.start_ns,
        end_ns: take.end_ns,
        repeats: take.repeats,
        readings: Vec::new(),
        refusals: take.refusals.clone(),
        notes: Vec::new(),
        fault: take.fault.clone(),
    }
}
