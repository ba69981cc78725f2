//! Whole runs from another store or file. Importing twice changes nothing; what is there already stays.

use model::data::{RunData, Status, TakeHead};
use model::reading::Take;
use rusqlite::{OptionalExtension, Transaction};

use crate::rows::{self, Place, Series};
use crate::write::{NewRun, Origin};
use crate::{Result, Store};

/// What an import changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    pub runs: u64,
    pub takes: u64,
}

impl Store {
    /// Adds runs that are not here yet, and takes that runs here do not have yet, in one transaction.
    pub fn import(&mut self, runs: &[RunData]) -> Result<Imported> {
        self.must_write()?;
        let mut imported = Imported::default();
        let mut series = Series { known: std::mem::take(&mut self.series), fresh: Vec::new() };
        let done = self.transact(|tx| {
            for run in runs {
                import_run(tx, run, &mut series, &mut imported)?;
            }
            Ok(())
        });
        for key in &series.fresh {
            series.known.remove(key);
        }
        self.series = series.known;
        done.map(|()| imported)
    }
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
            let place = Place { seq: point.seq, ord, block: point.block, phase: point.phase };
            rows::insert_reading(tx, of, &place, (point.at_ns, point.window_ns), &point.value)?;
        }
    }
    Ok(())
}

/// Notes and telemetry that are not there yet.
fn import_rest(tx: &Transaction<'_>, no: i64, run: &RunData) -> rusqlite::Result<()> {
    for note in &run.notes {
        if !rows::has_note(tx, no, &note.kind, &note.text, note.at_ns)? {
            rows::insert_note(tx, no, &note.kind, &note.text, note.at_ns)?;
        }
    }
    for segment in &run.telemetry {
        if !rows::has_segment(tx, no, segment)? {
            rows::insert_segment(tx, no, segment)?;
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
        origin: Origin { build: head.build, ..Origin::default() },
    }
}

fn bare(take: &TakeHead) -> Take {
    Take {
        seq: take.seq,
        block: take.block,
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
