//! Writing a run, take by take: each one transaction, on the disk when the call returns.

use crate::engine::{Db, Sql, SqlError, ToArg, Tx, args};
use crate::error::StoreError;
use crate::journal::Entry;
use crate::rows;
use crate::{Live, Result, Store};
use model::data::{ClockOffset, Origin, Price, Status};
use model::frame::{OwnCost, Segment, TargetTelemetry};
use model::plan::Plan;
use model::reading::Take;
use model::{Fact, Note};

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

/// Where something went.
#[derive(Debug)]
pub enum Appended {
    Stored,
    /// The database refused, for this reason; it is in the journal, and goes into the store with the next append
    /// that succeeds, or at the next open.
    Spilled(StoreError),
}

impl Store {
    /// Stores a plan under the study's id; a study that is there already stays as it is. Fails if the plan cannot be
    /// written as JSON, or the store cannot be written.
    pub fn begin_study(&mut self, id: &str, plan: &Plan) -> Result<()> {
        self.must_write()?;
        rows::insert_study(&self.db, id, plan)
            .map_err(|error| self.sql(&error))?
            .map_err(|what| self.data(what))
    }

    /// Stores the run as `running` and takes hold of it: until [`Store::finish`] or the end of this process. Fails if
    /// the store or the journal cannot be written.
    pub fn begin_run(&mut self, run: &NewRun) -> Result<()> {
        self.must_write()?;
        let path = self.path.clone();
        let fail = |error: SqlError| StoreError::sql(&path, &error);
        let tx = self.db.begin().map_err(fail)?;
        let no = tx.next_number("run").map_err(fail)?;
        rows::insert_run(&tx, no, run, Status::Running).map_err(fail)?;
        // While the transaction keeps others out: a run without a held journal counts as interrupted.
        let journal = self.hold(no, &run.id)?;
        if let Err(error) = tx.commit() {
            let side = journal.path.clone();
            journal.remove().map_err(|error| StoreError::io(&side, &error))?;
            // Where the session is gone, its lock is too.
            let _ = self.let_go(no);
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
        let path = self.path.clone();
        let fail = |error: SqlError| StoreError::sql(&path, &error);
        let no = self.number(run)?;
        let tx = self.db.begin().map_err(fail)?;
        let journal = self.hold(no, run)?;
        tx.execute("UPDATE run SET status = $1 WHERE no = $2", args![Status::Running.word(), no])
            .map_err(fail)?;
        tx.commit().map_err(fail)?;
        self.live.insert(run.to_owned(), Live { no, journal });
        let drained = self.drain(run);
        if drained.is_err() {
            self.live.remove(run);
        }
        drained
    }

    /// Stores the machine's facts for this run; a key that is there already gets the new value. Fails if there is no
    /// such run, or the store cannot be written.
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
        self.transact(|tx| rows::write_facts(tx, no, &all))
    }

    /// Stores one take with the telemetry and notes that came with it: all of it, or none. A take whose number is there
    /// already changes nothing. Fails only if neither the store nor the journal can be written.
    pub fn append_take(
        &mut self,
        run: &str,
        take: &Take,
        telemetry: &[Segment],
        notes: &[Note],
    ) -> Result<Appended> {
        let entry = Entry::Take { take: take.clone(), telemetry: telemetry.to_vec(), notes: notes.to_vec() };
        self.append(run, entry)
    }

    /// Stores telemetry that belongs to no take. Fails only if neither the store nor the journal can be written.
    pub fn append_telemetry(&mut self, run: &str, segment: &Segment) -> Result<Appended> {
        self.append(run, Entry::Telemetry(segment.clone()))
    }

    /// Stores telemetry of the host of a target. Fails only if neither the store nor the journal can be written.
    pub fn append_target_telemetry(&mut self, run: &str, telemetry: &TargetTelemetry) -> Result<Appended> {
        self.append(run, Entry::OfTarget(telemetry.clone()))
    }

    /// Adds a note to a run, at any time. Fails if there is no such run, or the store cannot be written.
    pub fn note(&mut self, run: &str, note: &Note) -> Result<Appended> {
        if self.live.contains_key(run) {
            return self.append(run, Entry::Note(note.clone()));
        }
        self.must_write()?;
        let no = self.number(run)?;
        self.transact(|tx| rows::insert_note(tx, no, &note.body, note.at_ns))?;
        Ok(Appended::Stored)
    }

    /// Ends the run and lets go of it. Fails only if neither the store nor the journal can be written.
    pub fn finish(
        &mut self,
        run: &str,
        status: Status,
        seconds: f64,
        cost: Option<OwnCost>,
    ) -> Result<Appended> {
        let appended = self.append(run, Entry::Finish { status: status.word().to_owned(), seconds, cost })?;
        if let Some(live) = self.live.remove(run) {
            self.series.forget(live.no);
            if matches!(appended, Appended::Stored) {
                let path = live.journal.path.clone();
                live.journal.remove().map_err(|error| StoreError::io(&path, &error))?;
                self.let_go(live.no)?;
            }
        }
        Ok(appended)
    }

    /// Takes out a study of which nothing was taken: its runs, with their facts, notes and telemetry. False, and
    /// everything stays, where one of them has a take or has not ended.
    pub fn discard(&mut self, study: &str) -> Result<bool> {
        self.must_write()?;
        self.transact(|tx| rows::discard(tx, study))
    }

    /// Takes a run out with everything of it, for good; refused while a process writes it. Fails if there is no such
    /// run, or the store cannot be written.
    pub fn remove(&mut self, run: &str) -> Result<()> {
        self.must_write()?;
        let no = self.number(run)?;
        if self.live.contains_key(run) {
            return Err(StoreError::Busy { run: run.to_owned() });
        }
        // Held until it is gone, so that nobody resumes it meanwhile.
        let journal = self.hold(no, run)?;
        let path = journal.path.clone();
        let removed = self.transact(|tx| rows::remove(tx, no));
        let let_go = journal.remove().map_err(|error| StoreError::io(&path, &error));
        removed.and(let_go).and_then(|()| self.let_go(no))
    }

    /// The highest number that a run of this store has; 0 where there is none.
    pub fn last_number(&self) -> Result<u64> {
        let sql = "SELECT coalesce(max(no), 0) FROM run";
        let last = self.rows(sql, &[], |row| row.get::<i64>(0))?;
        Ok(last.first().map_or(0, |no| no.unsigned_abs()))
    }

    /// Hides a run, or shows it again. Fails if there is no such run, or the store cannot be written.
    pub fn set_hidden(&mut self, run: &str, hidden: bool) -> Result<()> {
        self.update_run(run, "UPDATE run SET hidden = $1 WHERE no = $2", hidden)
    }

    /// Sets or removes the label of a run. Fails if there is no such run, or the store cannot be written.
    pub fn set_label(&mut self, run: &str, label: Option<&str>) -> Result<()> {
        self.update_run(run, "UPDATE run SET label = $1 WHERE no = $2", label)
    }

    /// Sets or removes the watts of a run's machine. Fails if there is no such run, or the store cannot be written.
    pub fn set_watts(&mut self, run: &str, watts: Option<f64>) -> Result<()> {
        self.update_run(run, "UPDATE run SET watts = $1 WHERE no = $2", watts)
    }

    /// Sets or removes the price of a run's machine. Fails if there is no such run, or the store cannot be written.
    pub fn set_price(&mut self, run: &str, price: Option<&Price>) -> Result<()> {
        self.must_write()?;
        let no = self.number(run)?;
        let sql = "UPDATE run SET price = $1, price_per = $2, currency = $3 WHERE no = $4";
        let (amount, per, currency) = rows::price_columns(price);
        self.db.execute(sql, args![amount, per, currency, no]).map_err(|error| self.sql(&error))?;
        Ok(())
    }

    /// Adds an offset of a run's clock. Fails if there is no such run, or the store cannot be written.
    pub fn add_clock_offset(&mut self, run: &str, offset: &ClockOffset) -> Result<()> {
        self.must_write()?;
        let no = self.number(run)?;
        self.transact(|tx| rows::insert_clock_offset(tx, no, offset))
    }

    fn update_run(&mut self, run: &str, sql: &str, with: impl ToArg) -> Result<()> {
        self.must_write()?;
        let no = self.number(run)?;
        self.db.execute(sql, args![with, no]).map_err(|error| self.sql(&error))?;
        Ok(())
    }

    /// The local number of a run.
    pub(crate) fn number(&self, run: &str) -> Result<i64> {
        if let Some(live) = self.live.get(run) {
            return Ok(live.no);
        }
        let sql = "SELECT no FROM run WHERE id = $1";
        let found = self.db.first(sql, args![run]).map_err(|error| self.sql(&error))?;
        if let Some(no) = found {
            return Ok(no);
        }
        if matches!(self.db, Db::Postgres(_)) {
            return Err(StoreError::NoRun { what: run.to_owned() });
        }
        // The plus keeps the index out: what stands in the table alone was changed by no one.
        let unindexed =
            self.rows("SELECT no FROM run WHERE +id = $1", args![run], |row| row.get::<i64>(0))?;
        if unindexed.is_empty() {
            return Err(StoreError::NoRun { what: run.to_owned() });
        }
        let what = format!("the index of its runs lacks run {run}");
        Err(StoreError::Corrupt { path: self.path.clone(), what })
    }

    /// One immediate transaction around `work`.
    pub(crate) fn transact<T>(&mut self, work: impl FnOnce(&Tx<'_>) -> Sql<T>) -> Result<T> {
        let path = self.path.clone();
        let fail = |error: SqlError| StoreError::sql(&path, &error);
        let tx = self.db.begin().map_err(fail)?;
        let done = work(&tx).map_err(fail)?;
        tx.commit().map_err(fail)?;
        Ok(done)
    }

    fn append(&mut self, run: &str, entry: Entry) -> Result<Appended> {
        self.must_write()?;
        if !self.live.contains_key(run) {
            return Err(StoreError::Unclaimed { run: run.to_owned() });
        }
        let stored =
            self.revive().and_then(|()| self.drain(run)).and_then(|()| self.apply(run, &entry, false));
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
        // Asked before all of them are read again for each take.
        self.check_writable()?;
        let Some(live) = self.live.get_mut(run) else { return Ok(()) };
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
        let mut series = std::mem::take(&mut self.series);
        let done = self.transact(|tx| rows::apply(tx, no, entry, &mut series, again));
        if done.is_ok() {
            series.keep()
        } else {
            series.drop_fresh()
        }
        self.series = series;
        done
    }
}
