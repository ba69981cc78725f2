//! Whole runs from another store or file. Importing twice changes nothing; what is there already stays.

use std::collections::{BTreeMap, BTreeSet};

use model::FactValue;
use model::data::{Origin, Point, RunData, Status, TakeHead};
use model::frame::TargetTelemetry;
use model::reading::{SeriesKey, Take, Value};
use rusqlite::{OptionalExtension, Transaction};

use crate::rows::{self, ReadingPlace, Series};
use crate::write::NewRun;
use crate::{MachineSheet, Result, Store, StoreError, machine};

/// The changes of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    pub runs: u64,
    pub takes: u64,
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
        let mut series = Series { known: std::mem::take(&mut self.series), fresh: Vec::new() };
        let done = self.transact(|tx| {
            for run in runs {
                import_run(tx, run, &mut series, &mut imported)?;
            }
            sheets.iter().try_for_each(|sheet| machine::insert_sheet(tx, sheet))
        });
        for key in &series.fresh {
            series.known.remove(key);
        }
        self.series = series.known;
        done.map(|()| imported)
    }

    /// Fails if the stored copy of a run, or of its study's plan, contradicts this one.
    fn agrees(&self, run: &RunData) -> Result<()> {
        let differs =
            |what: String| StoreError::Differs { path: self.path.clone(), run: run.head.id.clone(), what };
        let known = "SELECT count(*) FROM study WHERE id = $1";
        let known: Vec<i64> = self.rows(known, [&run.head.study], |row| row.get(0))?;
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

fn import_run(
    tx: &Transaction<'_>,
    run: &RunData,
    series: &mut Series,
    imported: &mut Imported,
) -> rusqlite::Result<()> {
    let head = &run.head;
    let found: Option<(i64, String)> = tx
        .prepare_cached("SELECT no, status FROM run WHERE id = $1")?
        .query_row([&head.id], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let fresh = found.is_none();
    let (no, status) = match found {
        Some(found) => found,
        None => {
            rows::insert_study(tx, &head.study, &run.plan)?
                .map_err(|what| rusqlite::Error::ToSqlConversionFailure(what.into()))?;
            let no = rows::next(tx, "run")?;
            rows::insert_run(tx, no, &new_run(run), Status::Interrupted)?;
            rows::write_facts(tx, no, &run.facts)?;
            tx.execute("UPDATE run SET hidden = $1 WHERE no = $2", (head.hidden, no))?;
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
    if fresh || added > 0 {
        import_rest(tx, no, run)?;
    }
    if fresh || (ended(head.status) && !Status::parse(&status).is_some_and(ended)) {
        // A run that still runs elsewhere is cut here.
        let status = if head.status == Status::Running { Status::Interrupted } else { head.status };
        rows::write_finish(tx, no, status.word(), head.seconds, run.own_cost.as_ref())?;
    }
    Ok(())
}

fn import_points(tx: &Transaction<'_>, no: i64, run: &RunData, series: &mut Series) -> rusqlite::Result<()> {
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
fn import_rest(tx: &Transaction<'_>, no: i64, run: &RunData) -> rusqlite::Result<()> {
    for offset in &run.clock_offsets {
        rows::insert_clock_offset(tx, no, offset)?;
    }
    for note in &run.notes {
        if !rows::has_note(tx, no, note)? {
            rows::insert_note(tx, no, &note.body, note.at_ns)?;
        }
    }
    if let Some(traffic) = &run.traffic {
        rows::insert_traffic(tx, no, traffic)?;
    }
    for segment in &run.telemetry {
        if !rows::has_segment(tx, no, None, segment)? {
            rows::insert_segment(tx, no, None, segment)?;
        }
    }
    for TargetTelemetry { target, segment } in &run.target_telemetry {
        if !rows::has_segment(tx, no, Some(target), segment)? {
            rows::insert_segment(tx, no, Some(target), segment)?;
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
