//! Writing a run, take by take: each one transaction, on the disk when the call returns.

use model::Fact;
use model::data::{Note, Price, Status};
use model::fact::config_class;
use model::frame::{OwnCost, Segment};
use model::plan::Plan;
use model::reading::{Phase, Reading, SeriesKey, Take, Value};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use crate::error::StoreError;
use crate::journal::{self, Entry, Journal, triple};
use crate::{Live, Result, Store, value};

/// A run that begins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewRun {
    pub id: String,
    pub study: String,
    /// Stable identity of the machine, and its name.
    pub machine_id: String,
    pub machine: String,
    pub label: Option<String>,
    pub price: Option<Price>,
    pub watts: Option<f64>,
    /// Wall clock at the start: nanoseconds since 1970.
    pub started_ns: i64,
    pub origin: Origin,
}

/// Where a run was measured, and by what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    pub hostname: String,
    pub boot_id: Option<String>,
    /// Version and source hash of the program, and its target triple.
    pub build: String,
    pub target: String,
    pub clock_source: Option<String>,
}

/// Offset of a machine's monotonic clock from the program's, with its error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockOffset {
    pub at_ns: u64,
    pub offset_ns: i64,
    pub error_ns: u64,
}

/// Where something went.
#[derive(Debug)]
pub enum Appended {
    Stored,
    /// The database refused, for this reason; it is in the journal, and goes into the store with the next append
    /// that succeeds, or at the next open.
    Spilled(StoreError),
}

type Sql<T> = rusqlite::Result<T>;

impl Store {
    /// Stores a plan under the study's id; a study that is there already stays as it is.
    pub fn begin_study(&mut self, id: &str, plan: &Plan) -> Result<()> {
        self.must_write()?;
        insert_study(&self.db, id, plan).map_err(|error| self.sql(&error))?.map_err(|what| self.data(what))
    }

    /// Stores the run as `running` and takes hold of it: until [`Store::finish`] or the end of this process.
    pub fn begin_run(&mut self, run: &NewRun) -> Result<()> {
        self.must_write()?;
        let (path, owner) = (self.path.clone(), self.owner);
        let fail = |error: rusqlite::Error| StoreError::sql(&path, &error);
        let tx = Transaction::new(&mut self.db, TransactionBehavior::Immediate).map_err(fail)?;
        let no = next(&tx, "run").map_err(fail)?;
        insert_run(&tx, no, run, Status::Running).map_err(fail)?;
        // While the transaction keeps others out: a run without a held journal counts as interrupted.
        let journal = hold(&path, no, &run.id, owner)?;
        if let Err(error) = tx.commit() {
            let side = journal.path.clone();
            journal.remove().map_err(|error| StoreError::io(&side, &error))?;
            return Err(fail(error));
        }
        self.live.insert(run.id.clone(), Live { no, journal });
        Ok(())
    }

    /// Takes hold of an interrupted run, to append further takes; refused while another process holds it.
    pub fn claim(&mut self, run: &str) -> Result<()> {
        self.must_write()?;
        if self.live.contains_key(run) {
            return Ok(());
        }
        let (path, owner) = (self.path.clone(), self.owner);
        let fail = |error: rusqlite::Error| StoreError::sql(&path, &error);
        let no = self.number(run)?;
        let tx = Transaction::new(&mut self.db, TransactionBehavior::Immediate).map_err(fail)?;
        let journal = hold(&path, no, run, owner)?;
        tx.execute("UPDATE run SET status = $1 WHERE no = $2", params![Status::Running.word(), no])
            .map_err(fail)?;
        tx.commit().map_err(fail)?;
        self.live.insert(run.to_owned(), Live { no, journal });
        let drained = self.drain(run);
        if drained.is_err() {
            self.live.remove(run);
        }
        drained
    }

    /// Stores the machine's facts for this run; a key that is there already gets the new value.
    pub fn put_facts(&mut self, run: &str, facts: &[Fact]) -> Result<()> {
        self.must_write()?;
        let no = self.number(run)?;
        let mut all = self.facts_of(no)?;
        for fact in facts {
            match all.iter_mut().find(|known| known.key == fact.key) {
                Some(known) => *known = fact.clone(),
                None => all.push(fact.clone()),
            }
        }
        self.transact(|tx| write_facts(tx, no, &all))
    }

    /// Stores one take with the telemetry and notes that came with it: all of it, or none.
    /// A take whose number is there already changes nothing.
    pub fn append_take(
        &mut self,
        run: &str,
        take: &Take,
        telemetry: &[Segment],
        notes: &[Note],
    ) -> Result<Appended> {
        let entry = Entry::Take {
            take: take.clone(),
            telemetry: telemetry.to_vec(),
            notes: notes.iter().map(triple).collect(),
        };
        self.append(run, entry)
    }

    /// Stores telemetry that belongs to no take.
    pub fn append_telemetry(&mut self, run: &str, segment: &Segment) -> Result<Appended> {
        self.append(run, Entry::Telemetry(segment.clone()))
    }

    /// Adds a note to a run, at any time.
    pub fn note(&mut self, run: &str, note: &Note) -> Result<Appended> {
        let (kind, text, at_ns) = triple(note);
        if self.live.contains_key(run) {
            return self.append(run, Entry::Note { kind, text, at_ns });
        }
        self.must_write()?;
        let no = self.number(run)?;
        self.transact(|tx| insert_note(tx, no, &kind, &text, at_ns))?;
        Ok(Appended::Stored)
    }

    /// Ends the run and lets go of it.
    pub fn finish(
        &mut self,
        run: &str,
        status: Status,
        seconds: f64,
        cost: Option<OwnCost>,
    ) -> Result<Appended> {
        let appended = self.append(run, Entry::Finish { status: status.word().to_owned(), seconds, cost })?;
        if let Some(live) = self.live.remove(run) {
            self.series.retain(|(no, _), _| *no != live.no);
            if matches!(appended, Appended::Stored) {
                let path = live.journal.path.clone();
                live.journal.remove().map_err(|error| StoreError::io(&path, &error))?;
            }
        }
        Ok(appended)
    }

    pub fn set_label(&mut self, run: &str, label: Option<&str>) -> Result<()> {
        self.update_run(run, "UPDATE run SET label = $1 WHERE no = $2", label)
    }

    pub fn set_watts(&mut self, run: &str, watts: Option<f64>) -> Result<()> {
        self.update_run(run, "UPDATE run SET watts = $1 WHERE no = $2", watts)
    }

    pub fn set_price(&mut self, run: &str, price: Option<&Price>) -> Result<()> {
        self.must_write()?;
        let no = self.number(run)?;
        let sql = "UPDATE run SET price = $1, price_per = $2, currency = $3 WHERE no = $4";
        let (amount, per, currency) = price_columns(price);
        self.db.execute(sql, params![amount, per, currency, no]).map_err(|error| self.sql(&error))?;
        Ok(())
    }

    pub fn add_clock_offset(&mut self, run: &str, offset: &ClockOffset) -> Result<()> {
        self.must_write()?;
        let no = self.number(run)?;
        let sql = "INSERT INTO clock_offset (run, participant, at_ns, offset_ns, error_ns) VALUES ($1, 0, $2, $3, $4)
                   ON CONFLICT DO NOTHING";
        let columns =
            params![no, offset.at_ns.cast_signed(), offset.offset_ns, offset.error_ns.cast_signed()];
        self.db.execute(sql, columns).map_err(|error| self.sql(&error))?;
        Ok(())
    }

    fn update_run(&mut self, run: &str, sql: &str, with: impl rusqlite::ToSql) -> Result<()> {
        self.must_write()?;
        let no = self.number(run)?;
        self.db.execute(sql, params![with, no]).map_err(|error| self.sql(&error))?;
        Ok(())
    }

    /// The local number of a run.
    pub(crate) fn number(&self, run: &str) -> Result<i64> {
        if let Some(live) = self.live.get(run) {
            return Ok(live.no);
        }
        let mut find =
            self.db.prepare_cached("SELECT no FROM run WHERE id = $1").map_err(|error| self.sql(&error))?;
        let found = find.query_row([run], |row| row.get(0)).optional().map_err(|error| self.sql(&error))?;
        found.ok_or_else(|| StoreError::NoRun { what: run.to_owned() })
    }

    /// One immediate transaction around `work`.
    pub(crate) fn transact<T>(&mut self, work: impl FnOnce(&Transaction<'_>) -> Sql<T>) -> Result<T> {
        let path = self.path.clone();
        let fail = |error: rusqlite::Error| StoreError::sql(&path, &error);
        let tx = Transaction::new(&mut self.db, TransactionBehavior::Immediate).map_err(fail)?;
        let done = work(&tx).map_err(fail)?;
        tx.commit().map_err(fail)?;
        Ok(done)
    }

    fn append(&mut self, run: &str, entry: Entry) -> Result<Appended> {
        self.must_write()?;
        if !self.live.contains_key(run) {
            return Err(StoreError::Unclaimed { run: run.to_owned() });
        }
        let stored = self.drain(run).and_then(|()| self.apply(run, &entry, false));
        let Err(reason) = stored else { return Ok(Appended::Stored) };
        let Some(live) = self.live.get_mut(run) else {
            return Err(StoreError::Unclaimed { run: run.to_owned() });
        };
        let path = live.journal.path.clone();
        live.journal.append(&entry).map_err(|error| StoreError::io(&path, &error))?;
        Ok(Appended::Spilled(reason))
    }

    /// Moves what was spilled earlier into the store, in order.
    fn drain(&mut self, run: &str) -> Result<()> {
        let Some(live) = self.live.get_mut(run) else { return Ok(()) };
        if live.journal.entries == 0 {
            return Ok(());
        }
        let path = live.journal.path.clone();
        let contents = live.journal.read().map_err(|error| StoreError::io(&path, &error))?;
        for entry in &contents.entries {
            self.apply(run, entry, true)?;
        }
        let Some(live) = self.live.get_mut(run) else { return Ok(()) };
        live.journal.reset(run).map_err(|error| StoreError::io(&path, &error))
    }

    /// `again`: it may have been stored before the journal could be emptied, and must not be there twice.
    pub(crate) fn apply(&mut self, run: &str, entry: &Entry, again: bool) -> Result<()> {
        let no = self.number(run)?;
        let known = std::mem::take(&mut self.series);
        let mut cache = Series { known, fresh: Vec::new() };
        let done = self.transact(|tx| apply(tx, no, entry, &mut cache, again));
        if done.is_err() {
            // Their rows were rolled back.
            for key in &cache.fresh {
                cache.known.remove(key);
            }
        }
        self.series = cache.known;
        done
    }
}

fn hold(path: &std::path::Path, no: i64, run: &str, owner: Option<(u32, u32)>) -> Result<Journal> {
    let path = journal::path_of(path, no);
    match Journal::open(&path, run, owner).map_err(|error| StoreError::io(&path, &error))? {
        Some((journal, _)) => Ok(journal),
        None => Err(StoreError::Busy { run: run.to_owned() }),
    }
}

/// The next local number of a table; safe inside an immediate transaction.
pub(crate) fn next(tx: &Transaction<'_>, table: &str) -> Sql<i64> {
    let sql = format!("SELECT coalesce(max(no), 0) + 1 FROM {table}");
    tx.prepare_cached(&sql)?.query_row([], |row| row.get(0))
}

fn next_ord(tx: &Transaction<'_>, table: &str, run: i64) -> Sql<i64> {
    let sql = format!("SELECT coalesce(max(ord), -1) + 1 FROM {table} WHERE run = $1");
    tx.prepare_cached(&sql)?.query_row([run], |row| row.get(0))
}

pub(crate) fn insert_study(db: &Connection, id: &str, plan: &Plan) -> Sql<std::result::Result<(), String>> {
    let text = match serde_json::to_string(plan) {
        Ok(text) => text,
        Err(error) => return Ok(Err(format!("a plan: {error}"))),
    };
    // JSON has no NaN: better refused now than unreadable later.
    if let Err(what) = value::plan(&text) {
        return Ok(Err(what));
    }
    let sql = "INSERT INTO study (id, plan, seed) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
    db.prepare_cached(sql)?.execute(params![id, text, plan.seed.to_string()])?;
    Ok(Ok(()))
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

pub(crate) fn insert_run(tx: &Transaction<'_>, no: i64, run: &NewRun, status: Status) -> Sql<()> {
    let (amount, per, currency) = price_columns(run.price.as_ref());
    let sql = "INSERT INTO run (no, id, study, status, config_class, label, price, price_per, currency, watts, started_ns)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    tx.prepare_cached(sql)?.execute(params![
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
    ])?;
    let sql = "INSERT INTO participant (run, no, role, machine_id, machine, hostname, boot_id, build, target, clock_source)
               VALUES ($1, 0, '', $2, $3, $4, $5, $6, $7, $8)";
    let Origin { hostname, boot_id, build, target, clock_source } = &run.origin;
    tx.prepare_cached(sql)?.execute(params![
        no,
        run.machine_id,
        run.machine,
        hostname,
        boot_id,
        build,
        target,
        clock_source
    ])?;
    Ok(())
}

pub(crate) fn write_facts(tx: &Transaction<'_>, no: i64, facts: &[Fact]) -> Sql<()> {
    tx.execute("DELETE FROM fact WHERE run = $1 AND participant = 0", [no])?;
    let mut insert =
        tx.prepare_cached("INSERT INTO fact (run, participant, ord, fact_value) VALUES ($1, 0, $2, $3)")?;
    for (ord, fact) in (0_i64..).zip(facts) {
        insert.execute(params![no, ord, fact_number(tx, fact)?])?;
    }
    tx.execute("UPDATE run SET config_class = $1 WHERE no = $2", params![config_class(facts), no])?;
    Ok(())
}

/// The number of a fact's text, which runs share: most facts of a machine are the same in each of its runs.
fn fact_number(tx: &Transaction<'_>, fact: &Fact) -> Sql<i64> {
    let (kind, text) = value::fact_parts(fact);
    let unit = value::unit_symbol(fact.unit);
    let why = fact.why.as_deref();
    let parts = [&fact.key, kind, &text, unit, &fact.source, why.unwrap_or_default()];
    let hash = value::hash(parts.map(str::as_bytes)).cast_signed();
    let sql =
        "SELECT no FROM fact_value WHERE hash = $1 AND key = $2 AND kind = $3 AND value = $4 AND unit = $5
               AND source = $6 AND coalesce(why, '') = $7 AND (why IS NULL) = $8";
    let found = tx
        .prepare_cached(sql)?
        .query_row(
            params![hash, fact.key, kind, text, unit, fact.source, why.unwrap_or_default(), why.is_none()],
            |row| row.get(0),
        )
        .optional()?;
    if let Some(no) = found {
        return Ok(no);
    }
    let no = next(tx, "fact_value")?;
    let sql = "INSERT INTO fact_value (no, key, kind, value, unit, source, why, hash)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    tx.prepare_cached(sql)?.execute(params![no, fact.key, kind, text, unit, fact.source, why, hash])?;
    Ok(no)
}

/// Numbers of series, and which of them this transaction made.
pub(crate) struct Series {
    pub known: std::collections::HashMap<(i64, SeriesKey), i64>,
    pub fresh: Vec<(i64, SeriesKey)>,
}

impl Series {
    pub(crate) fn number(
        &mut self,
        tx: &Transaction<'_>,
        run: i64,
        key: &SeriesKey,
        better: model::Better,
    ) -> Sql<i64> {
        let cached = (run, key.clone());
        if let Some(&no) = self.known.get(&cached) {
            return Ok(no);
        }
        let pairs = to_json(&key.params)?;
        let (unit, definition) = (key.unit.symbol(), key.definition);
        let sql =
            "SELECT no FROM series WHERE run = $1 AND participant = 0 AND instrument = $2 AND metric = $3
                   AND params = $4 AND arm = $5 AND unit = $6 AND definition = $7";
        let columns = params![run, key.instrument, key.metric, pairs, key.arm, unit, definition];
        let found = tx.prepare_cached(sql)?.query_row(columns, |row| row.get(0)).optional()?;
        let no = match found {
            Some(no) => no,
            None => {
                let no = next(tx, "series")?;
                let sql = "INSERT INTO series (no, run, participant, arm, instrument, metric, unit, params, definition, better)
                           VALUES ($1, $2, 0, $3, $4, $5, $6, $7, $8, $9)";
                let columns = params![
                    no,
                    run,
                    key.arm,
                    key.instrument,
                    key.metric,
                    unit,
                    pairs,
                    definition,
                    better.word()
                ];
                tx.prepare_cached(sql)?.execute(columns)?;
                no
            }
        };
        self.fresh.push(cached.clone());
        self.known.insert(cached, no);
        Ok(no)
    }
}

pub(crate) fn to_json<T: serde::Serialize>(value: &T) -> Sql<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

fn apply(tx: &Transaction<'_>, no: i64, entry: &Entry, series: &mut Series, again: bool) -> Sql<()> {
    match entry {
        Entry::Take { take, telemetry, notes } => {
            if !insert_take_head(tx, no, take)? {
                return Ok(());
            }
            insert_readings(tx, no, take, series)?;
            for (kind, text) in &take.notes {
                insert_note(tx, no, kind, text, Some(take.start_ns))?;
            }
            for (kind, text, at_ns) in notes {
                insert_note(tx, no, kind, text, *at_ns)?;
            }
            telemetry.iter().try_for_each(|segment| insert_segment(tx, no, segment))
        }
        Entry::Telemetry(segment) if again && has_segment(tx, no, segment)? => Ok(()),
        Entry::Telemetry(segment) => insert_segment(tx, no, segment),
        Entry::Note { kind, text, at_ns } if again && has_note(tx, no, kind, text, *at_ns)? => Ok(()),
        Entry::Note { kind, text, at_ns } => insert_note(tx, no, kind, text, *at_ns),
        Entry::Finish { status, seconds, cost } => {
            write_finish(tx, no, status, Some(*seconds), cost.as_ref())
        }
    }
}

pub(crate) fn write_finish(
    tx: &Transaction<'_>,
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
    tx.execute(sql, params![status, seconds, agent, telemetry, span, no])?;
    Ok(())
}

/// False when a take of this number is there already.
pub(crate) fn insert_take_head(tx: &Transaction<'_>, no: i64, take: &Take) -> Sql<bool> {
    let refusals =
        if take.refusals.is_empty() { None } else { Some(to_json(&value::stored_findings(&take.refusals))?) };
    let sql =
        "INSERT INTO take (run, seq, block, warm_up, cell, arm, start_ns, end_ns, repeats, fault, refusals)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING";
    let rows = tx.prepare_cached(sql)?.execute(params![
        no,
        take.seq.cast_signed(),
        take.block,
        take.phase == Phase::WarmUp,
        take.cell,
        take.arm,
        take.start_ns.cast_signed(),
        take.end_ns.cast_signed(),
        take.repeats.cast_signed(),
        take.fault,
        refusals
    ])?;
    Ok(rows > 0)
}

fn insert_readings(tx: &Transaction<'_>, no: i64, take: &Take, series: &mut Series) -> Sql<()> {
    let mut ords = std::collections::HashMap::<i64, i64>::new();
    for reading in &take.readings {
        let of = series.number(tx, no, &reading.key, reading.better)?;
        let ord = ords.entry(of).or_default();
        let Reading { at_ns, window_ns, value, .. } = reading;
        let place = Place { seq: take.seq, ord: *ord, block: take.block, phase: take.phase };
        insert_reading(tx, of, &place, (*at_ns, *window_ns), value)?;
        *ord += 1;
    }
    Ok(())
}

/// Where a reading stands within its series.
pub(crate) struct Place {
    pub seq: u64,
    pub ord: i64,
    pub block: u32,
    pub phase: Phase,
}

pub(crate) fn insert_reading(
    tx: &Transaction<'_>,
    series: i64,
    place: &Place,
    (at_ns, window_ns): (u64, u64),
    value: &Value,
) -> Sql<()> {
    let sql =
        "INSERT INTO reading (series, seq, ord, block, warm_up, at_ns, window_ns, value, bits, histogram)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING";
    let ((number, bits), histogram) = match value {
        Value::Number(number) => (value::split(*number), None),
        Value::Histogram(histogram) => ((None, None), Some(histogram.to_bytes())),
    };
    tx.prepare_cached(sql)?.execute(params![
        series,
        place.seq.cast_signed(),
        place.ord,
        place.block,
        place.phase == Phase::WarmUp,
        at_ns.cast_signed(),
        window_ns.cast_signed(),
        number,
        bits,
        histogram
    ])?;
    Ok(())
}

pub(crate) fn insert_note(
    tx: &Transaction<'_>,
    no: i64,
    kind: &str,
    text: &str,
    at_ns: Option<u64>,
) -> Sql<()> {
    let ord = next_ord(tx, "note", no)?;
    let sql = "INSERT INTO note (run, ord, kind, text, at_ns) VALUES ($1, $2, $3, $4, $5)";
    tx.prepare_cached(sql)?.execute(params![no, ord, kind, text, at_ns.map(u64::cast_signed)])?;
    Ok(())
}

pub(crate) fn has_note(
    tx: &Transaction<'_>,
    no: i64,
    kind: &str,
    text: &str,
    at_ns: Option<u64>,
) -> Sql<bool> {
    let sql =
        "SELECT count(*) FROM note WHERE run = $1 AND kind = $2 AND text = $3 AND coalesce(at_ns, -1) = $4";
    let at = at_ns.map_or(-1, u64::cast_signed);
    let there: i64 = tx.prepare_cached(sql)?.query_row(params![no, kind, text, at], |row| row.get(0))?;
    Ok(there > 0)
}

pub(crate) fn has_segment(tx: &Transaction<'_>, no: i64, segment: &Segment) -> Sql<bool> {
    let sql = "SELECT count(*) FROM telemetry WHERE run = $1 AND source = $2 AND segment = $3";
    let columns = params![no, segment.source, segment_bytes(segment)?];
    let there: i64 = tx.prepare_cached(sql)?.query_row(columns, |row| row.get(0))?;
    Ok(there > 0)
}

pub(crate) fn insert_segment(tx: &Transaction<'_>, no: i64, segment: &Segment) -> Sql<()> {
    let bytes = segment_bytes(segment)?;
    let ord = next_ord(tx, "telemetry", no)?;
    let sql = "INSERT INTO telemetry (run, ord, source, segment) VALUES ($1, $2, $3, $4)";
    tx.prepare_cached(sql)?.execute(params![no, ord, segment.source, bytes])?;
    Ok(())
}

pub(crate) fn segment_bytes(segment: &Segment) -> Sql<Vec<u8>> {
    postcard::to_stdvec(segment).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}
