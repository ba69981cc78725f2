//! Rows as they are inserted: one function a table, each part of a caller's transaction.

use std::collections::HashMap;

use crate::engine::{Db, Sql, SqlError, Tx, args};
use crate::figures;
use crate::journal::Entry;
use crate::read::{FAULTS, MEASURED, TAKES};
use crate::series_numbers::SeriesNumbers;
use crate::value::{self, to_json};
use crate::write::NewRun;
use model::data::{ClockOffset, Origin, Price, Status};
use model::fact::config_class;
use model::frame::{OwnCost, Segment, TargetTelemetry};
use model::plan::Plan;
use model::reading::{Phase, Reading, Take, Value};
use model::traffic::Traffic;
use model::{Fact, Fault, Note, NoteBody};

fn next_ord(tx: &Tx<'_>, table: &str, run: i64) -> Sql<i64> {
    let sql = format!("SELECT coalesce(max(ord), -1) + 1 FROM {table} WHERE run = $1");
    tx.one(&sql, args![run])
}

pub(crate) fn insert_study(db: &Db, id: &str, plan: &Plan) -> Sql<std::result::Result<(), String>> {
    let text = match serde_json::to_string(plan) {
        Ok(text) => text,
        Err(error) => return Ok(Err(format!("a plan: {error}"))),
    };
    // JSON has no NaN: better refused now than unreadable later.
    if let Err(what) = value::plan(&text) {
        return Ok(Err(what));
    }
    let sql = "INSERT INTO study (id, plan, seed) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
    db.execute(sql, args![id, text, plan.seed.to_string()])?;
    Ok(Ok(()))
}

/// Takes a study out, where none of its runs has a take or is still held.
pub(crate) fn discard(tx: &Tx<'_>, study: &str) -> Sql<bool> {
    let sql = "SELECT COUNT(*) FROM run WHERE study = $1 AND (status = $2
                   OR EXISTS (SELECT 1 FROM take WHERE take.run = run.no)
                   OR EXISTS (SELECT 1 FROM series WHERE series.run = run.no))";
    let kept: i64 = tx.one(sql, args![study, Status::Running.word()])?;
    if kept > 0 {
        return Ok(false);
    }
    let runs: Vec<i64> = tx.query("SELECT no FROM run WHERE study = $1", args![study], |row| row.get(0))?;
    runs.into_iter().try_for_each(|run| remove(tx, run))?;
    tx.execute("DELETE FROM study WHERE id = $1", args![study])?;
    Ok(true)
}

/// Takes a run out, with its study where it was the last run of it.
pub(crate) fn remove(tx: &Tx<'_>, run: i64) -> Sql<()> {
    tx.execute("DELETE FROM reading WHERE series IN (SELECT no FROM series WHERE run = $1)", args![run])?;
    for table in ["series", "take", "note", "traffic", "telemetry", "clock_offset", "fact", "participant"] {
        tx.execute(&format!("DELETE FROM {table} WHERE run = $1"), args![run])?;
    }
    tx.execute("DELETE FROM fact_value WHERE no NOT IN (SELECT fact_value FROM fact)", &[])?;
    let study: String = tx.one("SELECT study FROM run WHERE no = $1", args![run])?;
    tx.execute("DELETE FROM run WHERE no = $1", args![run])?;
    let unused = "DELETE FROM figure_set
        WHERE NOT EXISTS (SELECT 1 FROM run WHERE run.figure_set = figure_set.no)";
    tx.execute(unused, &[])?;
    tx.execute(
        "DELETE FROM study WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM run WHERE study = $1)",
        args![study],
    )?;
    Ok(())
}

pub(crate) fn price_columns(price: Option<&Price>) -> (Option<f64>, Option<&str>, Option<&str>) {
    match price {
        None => (None, None, None),
        Some(price) => {
            let per = if price.hourly { "hour" } else { "machine" };
            (Some(price.amount), Some(per), Some(&price.currency))
        }
    }
}

pub(crate) fn insert_run(tx: &Tx<'_>, no: i64, run: &NewRun, status: Status) -> Sql<()> {
    let (amount, per, currency) = price_columns(run.price.as_ref());
    let sql = "INSERT INTO run (no, id, study, status, config_class, label, price, price_per, currency,
                   watts, started_ns)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    tx.execute(
        sql,
        args![
            no,
            run.id,
            run.study,
            status.word(),
            config_class(&[]),
            run.label,
            amount,
            per,
            currency,
            run.watts,
            run.started_ns
        ],
    )?;
    let sql = "INSERT INTO participant (run, no, role, machine_id, machine, hostname, boot_id, build,
                   target, clock_source)
               VALUES ($1, 0, '', $2, $3, $4, $5, $6, $7, $8)";
    let Origin { hostname, boot_id, build, target, clock_source } = &run.origin;
    tx.execute(sql, args![no, run.machine_id, run.machine, hostname, boot_id, build, target, clock_source])?;
    Ok(())
}

pub(crate) fn insert_clock_offset(tx: &Tx<'_>, no: i64, offset: &ClockOffset) -> Sql<()> {
    let sql =
        "INSERT INTO clock_offset (run, participant, at_ns, offset_ns, error_ns) VALUES ($1, 0, $2, $3, $4)
               ON CONFLICT DO NOTHING";
    let (at, error) = (offset.at_ns.cast_signed(), offset.error_ns.cast_signed());
    tx.execute(sql, args![no, at, offset.offset_ns, error])?;
    Ok(())
}

pub(crate) fn write_facts(tx: &Tx<'_>, no: i64, facts: &[Fact]) -> Sql<()> {
    tx.execute("DELETE FROM fact WHERE run = $1 AND participant = 0", args![no])?;
    let insert = "INSERT INTO fact (run, participant, ord, fact_value) VALUES ($1, 0, $2, $3)";
    for (ord, fact) in (0_i64..).zip(facts) {
        tx.execute(insert, args![no, ord, fact_number(tx, fact)?])?;
    }
    tx.execute("UPDATE run SET config_class = $1 WHERE no = $2", args![config_class(facts), no])?;
    Ok(())
}

/// The number of a fact's text, which runs share: most facts of a machine are the same in each of its runs.
fn fact_number(tx: &Tx<'_>, fact: &Fact) -> Sql<i64> {
    let (kind, text) = value::fact_parts(fact);
    let unit = value::unit_symbol(fact.unit);
    let why = fact.why.as_deref();
    let parts = [&fact.key, kind, &text, unit, &fact.source, why.unwrap_or_default()];
    let hash = value::hash(parts.map(str::as_bytes)).cast_signed();
    let sql =
        "SELECT no FROM fact_value WHERE hash = $1 AND key = $2 AND kind = $3 AND value = $4 AND unit = $5
               AND source = $6 AND coalesce(why, '') = $7 AND (why IS NULL) = $8";
    let (said, is_silent) = (why.unwrap_or_default(), why.is_none());
    let found = tx.first(sql, args![hash, fact.key, kind, text, unit, fact.source, said, is_silent])?;
    if let Some(no) = found {
        return Ok(no);
    }
    let no = tx.next_number("fact_value")?;
    let sql = "INSERT INTO fact_value (no, key, kind, value, unit, source, why, hash)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    tx.execute(sql, args![no, fact.key, kind, text, unit, fact.source, why, hash])?;
    Ok(no)
}

pub(crate) fn apply(tx: &Tx<'_>, no: i64, entry: &Entry, series: &mut SeriesNumbers, again: bool) -> Sql<()> {
    match entry {
        Entry::Take { take, telemetry, notes } => {
            if !insert_take_head(tx, no, take)? {
                return Ok(());
            }
            insert_readings(tx, no, take, series)?;
            for body in &take.notes {
                insert_note(tx, no, body, Some(take.start_ns))?;
            }
            for note in notes {
                insert_note(tx, no, &note.body, note.at_ns)?;
            }
            telemetry.iter().try_for_each(|segment| insert_segment(tx, no, None, segment))
        }
        Entry::Telemetry(segment) if again && has_segment(tx, no, None, segment)? => Ok(()),
        Entry::Telemetry(segment) => insert_segment(tx, no, None, segment),
        Entry::OfTarget(TargetTelemetry { target, segment }) => {
            let target = Some(target.as_str());
            match again && has_segment(tx, no, target, segment)? {
                true => Ok(()),
                false => insert_segment(tx, no, target, segment),
            }
        }
        Entry::Note(note) if again && has_note(tx, no, note)? => Ok(()),
        Entry::Note(note) => insert_note(tx, no, &note.body, note.at_ns),
        Entry::Finish { status, seconds, cost } => {
            write_finish(tx, no, status, Some(*seconds), cost.as_ref())
        }
    }
}

pub(crate) fn write_finish(
    tx: &Tx<'_>,
    no: i64,
    status: &str,
    seconds: Option<f64>,
    cost: Option<&OwnCost>,
) -> Sql<()> {
    let sql = "UPDATE run SET status = $1, seconds = $2, agent_cpu_seconds = $3, telemetry_cpu_seconds = $4,
               cost_seconds = $5 WHERE no = $6";
    let (agent, telemetry, span) = (
        cost.map(|cost| cost.agent_cpu_seconds),
        cost.map(|cost| cost.telemetry_cpu_seconds),
        cost.map(|cost| cost.seconds),
    );
    tx.execute(sql, args![status, seconds, agent, telemetry, span, no])?;
    let counted = format!(
        "UPDATE run AS r SET takes = {TAKES}, faults = {FAULTS}, measured = {MEASURED} WHERE no = $1"
    );
    tx.execute(&counted, args![no])?;
    figures::write_set(tx, no)
}

/// False when a take of this number is there already.
pub(crate) fn insert_take_head(tx: &Tx<'_>, no: i64, take: &Take) -> Sql<bool> {
    let refusals = if take.refusals.is_empty() { None } else { Some(to_json(&take.refusals)?) };
    let kind = take.fault.as_ref().map(|fault| &fault.kind).filter(|kind| !kind.is_other());
    let kind = kind.map(to_json).transpose()?;
    let sql =
        "INSERT INTO take (run, seq, block, sitting, warm_up, cell, arm, start_ns, end_ns, repeats, fault,
                   fault_kind, refusals)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT DO NOTHING";
    let rows = tx.execute(
        sql,
        args![
            no,
            take.seq.cast_signed(),
            take.block,
            take.sitting,
            take.phase == Phase::WarmUp,
            take.cell,
            take.arm,
            take.start_ns.cast_signed(),
            take.end_ns.cast_signed(),
            take.repeats.cast_signed(),
            take.fault.as_ref().map(Fault::as_str),
            kind,
            refusals
        ],
    )?;
    if rows > 0 {
        // The counts and the figures of a run that had ended hold no more.
        tx.execute(
            "UPDATE run SET takes = NULL, faults = NULL, measured = NULL, figure_set = NULL
                WHERE no = $1 AND takes IS NOT NULL",
            args![no],
        )?;
    }
    Ok(rows > 0)
}

fn insert_readings(tx: &Tx<'_>, no: i64, take: &Take, series: &mut SeriesNumbers) -> Sql<()> {
    let mut ords = HashMap::<i64, i64>::new();
    for reading in &take.readings {
        let of = series.number(tx, no, &reading.key, reading.better)?;
        let ord = ords.entry(of).or_default();
        let Reading { at_ns, window_ns, value, .. } = reading;
        let Take { seq, block, sitting, phase, .. } = *take;
        let place = ReadingPlace { seq, ord: *ord, block, sitting, phase };
        insert_reading(tx, of, &place, (*at_ns, *window_ns), value)?;
        *ord += 1;
    }
    Ok(())
}

/// Where a reading stands within its series.
pub(crate) struct ReadingPlace {
    pub seq: u64,
    pub ord: i64,
    pub block: u32,
    pub sitting: u32,
    pub phase: Phase,
}

pub(crate) fn insert_reading(
    tx: &Tx<'_>,
    series: i64,
    place: &ReadingPlace,
    (at_ns, window_ns): (u64, u64),
    value: &Value,
) -> Sql<()> {
    let sql =
        "INSERT INTO reading (series, seq, ord, block, sitting, warm_up, at_ns, window_ns, value, bits, histogram)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING";
    let ((number, bits), histogram) = match value {
        Value::Number(number) => (value::split(*number), None),
        Value::Histogram(histogram) => ((None, None), Some(histogram.to_bytes())),
    };
    tx.execute(
        sql,
        args![
            series,
            place.seq.cast_signed(),
            place.ord,
            place.block,
            place.sitting,
            place.phase == Phase::WarmUp,
            at_ns.cast_signed(),
            window_ns.cast_signed(),
            number,
            bits,
            histogram
        ],
    )?;
    Ok(())
}

pub(crate) fn insert_note(tx: &Tx<'_>, no: i64, body: &NoteBody, at_ns: Option<u64>) -> Sql<()> {
    let ord = next_ord(tx, "note", no)?;
    let sql = "INSERT INTO note (run, ord, kind, body, at_ns) VALUES ($1, $2, $3, $4, $5)";
    tx.execute(sql, args![no, ord, body.kind(), to_json(body)?, at_ns.map(u64::cast_signed)])?;
    Ok(())
}

pub(crate) fn has_note(tx: &Tx<'_>, no: i64, note: &Note) -> Sql<bool> {
    let sql =
        "SELECT count(*) FROM note WHERE run = $1 AND kind = $2 AND body = $3 AND coalesce(at_ns, -1) = $4";
    let at = note.at_ns.map_or(-1, u64::cast_signed);
    let there: i64 = tx.one(sql, args![no, note.kind(), to_json(&note.body)?, at])?;
    Ok(there > 0)
}

/// Keeps what a run of logs served; what is there already stays.
pub(crate) fn insert_traffic(tx: &Tx<'_>, no: i64, traffic: &Traffic) -> Sql<()> {
    let sql = "INSERT INTO traffic (run, document) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    tx.execute(sql, args![no, to_json(traffic)?])?;
    Ok(())
}

/// `target`: whose host it is of; `None` is the machine that measures.
pub(crate) fn has_segment(tx: &Tx<'_>, no: i64, target: Option<&str>, segment: &Segment) -> Sql<bool> {
    let sql = "SELECT count(*) FROM telemetry WHERE run = $1 AND source = $2 AND segment = $3 AND target IS NOT DISTINCT FROM $4";
    let there: i64 = tx.one(sql, args![no, segment.source, segment_bytes(segment)?, target])?;
    Ok(there > 0)
}

pub(crate) fn insert_segment(tx: &Tx<'_>, no: i64, target: Option<&str>, segment: &Segment) -> Sql<()> {
    let bytes = segment_bytes(segment)?;
    let ord = next_ord(tx, "telemetry", no)?;
    let sql = "INSERT INTO telemetry (run, ord, source, segment, target) VALUES ($1, $2, $3, $4, $5)";
    tx.execute(sql, args![no, ord, segment.source, bytes, target])?;
    Ok(())
}

pub(crate) fn segment_bytes(segment: &Segment) -> Sql<Vec<u8>> {
    postcard::to_stdvec(segment).map_err(|error| SqlError::Value(error.to_string()))
}
