//! Reading runs back, as much of them as a caller wants.

use std::collections::BTreeSet;

use crate::engine::{Arg, Row, Sql, ToArg, args};
use crate::error::StoreError;
use crate::value::{self, FactColumns};
use crate::{Result, Store};
use model::data::{ClockOffset, Origin, Point, Price, RunData, RunHead, Series, Status, TakeHead};
use model::fact::{CONFIG_CLASS, PROCESS_CPUS};
use model::frame::{OwnCost, Segment, TargetTelemetry};
use model::plan::{Level, Plan};
use model::reading::{Phase, SeriesKey, Value};
use model::traffic::Traffic;
use model::{Better, Fact, FactLine, Fault, Histogram, Note, Params, Shared};

/// The fewest letters at the end of an id that name it.
const SHORTEST_END: usize = 4;

/// The most values of a list in one statement.
const VALUES_AT_ONCE: usize = 200;

/// The most facts that an open store remembers: those that differ between 1,000 like machines are a few thousand.
const FACTS: usize = 10_000;

/// The most plans that an open store remembers.
const PLANS: usize = 8;

/// Which runs [`Store::heads`] lists; empty fields do not filter.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    pub machine_id: Option<String>,
    pub label: Option<String>,
    pub study: Option<String>,
    /// The label, the machine's name, or its id.
    pub named: Option<String>,
    /// In the order in which they were stored, which imports and logs of earlier days make another than that of time.
    pub as_stored: bool,
}

/// Which series of a run are loaded.
#[derive(Clone, Copy, Debug)]
pub enum Which<'a> {
    All,
    /// Metrics with a direction: no conditions.
    Rows,
    /// These, in whatever arm they were measured.
    Keys(&'a [SeriesKey]),
}

/// How much of a run is loaded.
#[derive(Clone, Copy, Debug)]
pub struct Want<'a> {
    pub series: Which<'a>,
    /// Of the machine that measured.
    pub telemetry: bool,
    /// Facts, takes, notes, traffic, and telemetry of the hosts of targets.
    pub rest: bool,
}

/// Takes of the run `r`, of whatever kind.
pub(crate) const TAKES: &str = "(SELECT count(*) FROM take WHERE take.run = r.no)";

/// Takes of the run `r` that measured something.
pub(crate) const MEASURED: &str =
    "(SELECT count(*) FROM take WHERE take.run = r.no AND fault IS NULL AND warm_up = 0)";

/// Takes of the run `r` that failed, without those of whose place a later sitting has another.
pub(crate) const FAULTS: &str =
    "(SELECT count(*) FROM take WHERE take.run = r.no AND fault IS NOT NULL AND NOT EXISTS (
                SELECT 1 FROM take AS later WHERE later.run = take.run AND later.cell = take.cell
                    AND later.arm = take.arm AND later.block = take.block AND later.warm_up = take.warm_up
                    AND later.sitting > take.sitting))";

impl Store {
    /// Runs without their readings, oldest first. Fails if the store cannot be read.
    pub fn heads(&self, filter: &Filter) -> Result<Vec<RunHead>> {
        let sql = format!(
            "SELECT r.no, id, study, status, config_class, label, price, price_per, currency, watts, started_ns,
                seconds, coalesce(r.takes, {TAKES}), coalesce(r.faults, {FAULTS}),
                p.machine_id, p.machine, p.build, coalesce(r.measured, {MEASURED}), hidden
            FROM run r JOIN participant p ON p.run = r.no AND p.no = 0
            WHERE (CAST($1 AS TEXT) IS NULL OR p.machine_id = $1) AND (CAST($2 AS TEXT) IS NULL OR label = $2)
                AND (CAST($3 AS TEXT) IS NULL OR study = $3)
                AND (CAST($4 AS TEXT) IS NULL OR p.machine = $4 OR p.machine_id = $4 OR label = $4)"
        );
        let with = args![filter.machine_id, filter.label, filter.study, filter.named];
        let mut rows = self.rows(&sql, with, head)?;
        // Not by the engine: it would write rows as wide as these to a temporary file.
        match filter.as_stored {
            true => rows.sort_by_key(|(no, ..)| *no),
            false => rows.sort_by(|(_, a, _), (_, b, _)| (a.started_ns, &a.id).cmp(&(b.started_ns, &b.id))),
        }
        rows.into_iter().map(|row| self.head_of(row)).collect()
    }

    /// A run without its readings. Fails if there is no such run, or if it cannot be read.
    pub fn head(&self, run: &str) -> Result<RunHead> {
        self.head_and_cost(self.number(run)?).map(|(head, _)| head)
    }

    /// The runs that were stored last, at most `most`, oldest first. Fails if the store cannot be read.
    pub fn last_heads(&self, most: usize) -> Result<Vec<RunHead>> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let sql = "SELECT no FROM run ORDER BY no DESC LIMIT $1";
        let last = self.rows(sql, args![most], |row| row.get::<i64>(0))?;
        last.into_iter().rev().map(|no| self.head_and_cost(no).map(|(head, _)| head)).collect()
    }

    /// True before the first run. Fails if the store cannot be read.
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.rows("SELECT no FROM run LIMIT 1", &[], |row| row.get::<i64>(0))?.is_empty())
    }

    /// The id that `what` names: the whole id, or its beginning or end (hyphens and case do not matter). Fails if no
    /// run, or more than one, has it.
    pub fn resolve(&self, what: &str) -> Result<String> {
        let ids = self.rows("SELECT id, started_ns FROM run", &[], |row| {
            Ok((row.get::<String>(0)?, row.get::<i64>(1)?))
        })?;
        resolve_among(what, ids.iter().map(|(id, started_ns)| (id.as_str(), *started_ns)))
    }

    /// Everything of a run. Fails if there is no such run, or if it cannot be read.
    pub fn load(&self, run: &str) -> Result<RunData> {
        self.load_with(run, Want { series: Which::All, telemetry: true, rest: true })
    }

    /// Everything of several runs. Fails if one is missing or cannot be read.
    pub fn load_many(&self, runs: &[String]) -> Result<Vec<RunData>> {
        runs.iter().map(|run| self.load(run)).collect()
    }

    /// Everything of a run but the telemetry of its machine. Fails if there is no such run, or if it cannot be read.
    pub fn load_light(&self, run: &str) -> Result<RunData> {
        self.load_with(run, Want { series: Which::All, telemetry: false, rest: true })
    }

    /// Facts and these series of a run only: what a comparison needs of earlier runs. Takes, notes and telemetry are
    /// empty.
    pub fn load_rows(&self, run: &str, keys: &[SeriesKey]) -> Result<RunData> {
        self.load_with(run, Want { series: Which::Keys(keys), telemetry: false, rest: false })
    }

    /// As much of a run as `want` says. Fails if there is no such run, or if it cannot be read.
    pub fn load_with(&self, run: &str, want: Want<'_>) -> Result<RunData> {
        let no = self.number(run)?;
        let (head, own_cost) = self.head_and_cost(no)?;
        let plan = self.plan(&head.study)?;
        // Of most runs there is none, and looking for it would read all their telemetry.
        let is_watched = want.rest && plan.targets.iter().any(|target| target.at.is_some());
        let target_telemetry = if is_watched { self.target_telemetry_of(no)? } else { Vec::new() };
        let mut series = self.series_of(no, want.series)?;
        let repeated = self.repeated(no)?;
        let points = series.iter_mut().flat_map(|one| &mut one.points);
        points.filter(|point| repeated.contains(&point.seq)).for_each(|point| point.phase = Phase::Repeated);
        Ok(RunData {
            origin: self.origin(run)?,
            clock_offsets: if want.rest { self.clock_offsets(run)? } else { Vec::new() },
            plan,
            facts: self.facts_of(no)?,
            series,
            takes: if want.rest { self.takes_of(no, &repeated)? } else { Vec::new() },
            notes: if want.rest { self.notes_of(no)? } else { Vec::new() },
            traffic: if want.rest { self.traffic_of(no)? } else { None },
            telemetry: if want.telemetry { self.telemetry_of(no)? } else { Vec::new() },
            target_telemetry,
            own_cost,
            head,
        })
    }

    /// The plan of a study. Fails if there is none, or if it cannot be read.
    pub fn plan(&self, study: &str) -> Result<Shared<Plan>> {
        // Runs of a few studies are read in turns, and a plan never changes.
        if let Some((_, plan)) = self.plans.borrow().iter().find(|(known, _)| known == study) {
            return Ok(plan.clone());
        }
        let found =
            self.rows("SELECT plan FROM study WHERE id = $1", args![study], |row| row.get::<String>(0))?;
        let text = found.first().ok_or_else(|| self.data(format!("no plan of study {study}")))?;
        let plan = Shared::from(value::plan(text).map_err(|what| self.data(what))?);
        let mut plans = self.plans.borrow_mut();
        plans.truncate(PLANS - 1);
        plans.push_front((study.to_owned(), plan.clone()));
        Ok(plan)
    }

    /// Studies whose plan has a text as one of its values, in whatever place. Fails if the store cannot be read.
    pub fn studies_that_name(&self, text: &str) -> Result<BTreeSet<String>> {
        let quoted = serde_json::Value::from(text).to_string();
        let escaped = quoted.replace('!', "!!").replace('%', "!%").replace('_', "!_");
        let sql = "SELECT id FROM study WHERE plan LIKE $1 ESCAPE '!'";
        let found = self.rows(sql, args![format!("%{escaped}%")], |row| row.get(0))?;
        Ok(found.into_iter().collect())
    }

    /// Those of these studies whose plan is of this level. Fails if the store cannot be read.
    pub fn studies_of_level(&self, studies: &[&str], level: Level) -> Result<BTreeSet<String>> {
        // As a plan is written; in a text of its own, quotation marks have backslashes before them.
        let sql = format!(
            r#"SELECT id FROM study WHERE plan LIKE '%"level":"{}"%' AND id IN ({{}})"#,
            level.word()
        );
        let studies: Vec<Arg<'_>> = studies.iter().map(ToArg::arg).collect();
        Ok(self.rows_of_many(&sql, &studies, |row| row.get(0))?.into_iter().collect())
    }

    /// Facts of a run. Fails if there is no such run, or if they cannot be read.
    pub fn facts(&self, run: &str) -> Result<Vec<Fact>> {
        self.facts_of(self.number(run)?)
    }

    /// The facts of the config class only, with the CPUs that were allowed.
    pub fn class_facts(&self, run: &str) -> Result<Vec<Fact>> {
        let mut facts = self.facts(run)?;
        facts.retain(|fact| fact.key == PROCESS_CPUS || CONFIG_CLASS.contains(&fact.key.as_str()));
        Ok(facts)
    }

    /// The numbers of the takes that are stored, in order: what a resumed run need not repeat.
    pub fn finished_takes(&self, run: &str) -> Result<Vec<TakeHead>> {
        let no = self.number(run)?;
        self.takes_of(no, &self.repeated(no)?)
    }

    /// Interrupted runs that are not hidden, newest first. Fails if the store cannot be read.
    pub fn interrupted(&self) -> Result<Vec<RunHead>> {
        let mut heads = self.heads(&Filter::default())?;
        heads.retain(|head| head.status == Status::Interrupted && !head.hidden);
        heads.reverse();
        Ok(heads)
    }

    /// Notes of a run, in order. Fails if there is no such run, or if they cannot be read.
    pub fn notes(&self, run: &str) -> Result<Vec<Note>> {
        self.notes_of(self.number(run)?)
    }

    /// The instruments of a run's figures with their definitions, each once. Fails if there is no such run, or if it
    /// cannot be read.
    pub fn definitions(&self, run: &str) -> Result<Vec<(String, u32)>> {
        let sql = "SELECT DISTINCT instrument, definition FROM series WHERE run = $1 AND better <> $2 \
                   ORDER BY instrument, definition";
        let neither = Better::Neither.word();
        self.rows(sql, args![self.number(run)?, neither], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// The traffic of a run of logs; `None` for other runs. Fails if the store cannot be read.
    pub fn traffic(&self, run: &str) -> Result<Option<Traffic>> {
        self.traffic_of(self.number(run)?)
    }

    /// Host, build and clock of a run. Fails if there is no such run, or if it cannot be read.
    pub fn origin(&self, run: &str) -> Result<Origin> {
        let sql = "SELECT hostname, boot_id, build, target, clock_source FROM participant WHERE run = $1 AND no = 0";
        let found = self.rows(sql, args![self.number(run)?], |row| {
            Ok(Origin {
                hostname: row.get(0)?,
                boot_id: row.get(1)?,
                build: row.get(2)?,
                target: row.get(3)?,
                clock_source: row.get(4)?,
            })
        })?;
        found.into_iter().next().ok_or_else(|| self.data(format!("run {run} without a machine")))
    }

    /// Offsets of the run's clock, in order of time. Fails if there is no such run, or if they cannot be read.
    pub fn clock_offsets(&self, run: &str) -> Result<Vec<ClockOffset>> {
        let sql = "SELECT at_ns, offset_ns, error_ns FROM clock_offset WHERE run = $1 ORDER BY at_ns";
        self.rows(sql, args![self.number(run)?], |row| {
            Ok(ClockOffset { at_ns: unsigned(row, 0)?, offset_ns: row.get(1)?, error_ns: unsigned(row, 2)? })
        })
    }

    pub(crate) fn rows<T>(
        &self,
        sql: &str,
        with: &[Arg<'_>],
        each: impl FnMut(&Row<'_>) -> Sql<T>,
    ) -> Result<Vec<T>> {
        self.db.query(sql, with, each).map_err(|error| self.sql(&error))
    }

    /// The rows of a statement with a list of values, `IN ({})`; long lists are asked for a part at a time.
    pub(crate) fn rows_of_many<T>(
        &self,
        sql: &str,
        values: &[Arg<'_>],
        mut each: impl FnMut(&Row<'_>) -> Sql<T>,
    ) -> Result<Vec<T>> {
        let mut all = Vec::new();
        for some in values.chunks(VALUES_AT_ONCE) {
            let places: Vec<String> = (1..=some.len()).map(|place| format!("${place}")).collect();
            all.extend(self.rows(&sql.replace("{}", &places.join(", ")), some, &mut each)?);
        }
        Ok(all)
    }

    fn head_and_cost(&self, no: i64) -> Result<(RunHead, Option<OwnCost>)> {
        let sql = format!(
            "SELECT r.no, id, study, status, config_class, label, price, price_per, currency, watts, started_ns,
                seconds, coalesce(r.takes, {TAKES}), coalesce(r.faults, {FAULTS}),
                p.machine_id, p.machine, p.build, coalesce(r.measured, {MEASURED}), hidden,
                agent_cpu_seconds, telemetry_cpu_seconds, cost_seconds
            FROM run r JOIN participant p ON p.run = r.no AND p.no = 0 WHERE r.no = $1"
        );
        let found = self.rows(&sql, args![no], |row| {
            let cost: (Option<f64>, Option<f64>, Option<f64>) = (row.get(19)?, row.get(20)?, row.get(21)?);
            Ok((head(row)?, cost))
        })?;
        let (row, cost) = found.into_iter().next().ok_or_else(|| self.data(format!("no run number {no}")))?;
        let cost = match cost {
            (Some(agent_cpu_seconds), Some(telemetry_cpu_seconds), Some(seconds)) => {
                Some(OwnCost { agent_cpu_seconds, telemetry_cpu_seconds, seconds })
            }
            _ => None,
        };
        Ok((self.head_of(row)?, cost))
    }

    /// A run that says `running` and that no living process holds was interrupted.
    fn head_of(&self, (no, mut head, status): (i64, RunHead, String)) -> Result<RunHead> {
        head.status = Status::parse(&status).ok_or_else(|| self.data(format!("the status `{status}`")))?;
        if head.status == Status::Running && !self.live.contains_key(&head.id) && !self.is_held(no)? {
            head.status = Status::Interrupted;
        }
        Ok(head)
    }

    pub(crate) fn facts_of(&self, no: i64) -> Result<Vec<Fact>> {
        let sql = "SELECT key, kind, value, unit, source, why FROM fact JOIN fact_value ON no = fact_value
            WHERE run = $1 AND participant = 0 ORDER BY ord";
        let rows = self.rows(sql, args![no], fact_columns)?;
        rows.into_iter().map(|row| self.fact_of(row)).collect()
    }

    /// The fact that a row says; runs share those that are equal.
    pub(crate) fn fact_of(&self, row: FactColumns) -> Result<Fact> {
        let mut known = self.facts.borrow_mut();
        if let Some(fact) = known.get(&row) {
            return Ok(fact.clone());
        }
        let (key, kind, text, unit, source, why) = row.clone();
        let value = value::fact_value(&kind, text).map_err(|what| self.data(what))?;
        let unit = value::unit(&unit).map_err(|what| self.data(what))?;
        let fact = Fact::from(FactLine { key, value, unit, source, why });
        if known.len() >= FACTS {
            known.clear();
        }
        known.insert(row, fact.clone());
        Ok(fact)
    }

    fn series_of(&self, no: i64, which: Which<'_>) -> Result<Vec<Series>> {
        let sql = "SELECT no, instrument, metric, unit, params, arm, definition, better FROM series
            WHERE run = $1 AND participant = 0 ORDER BY no";
        let rows = self.rows(sql, args![no], |row| {
            let names: [String; 6] =
                [row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?, row.get(7)?];
            Ok((row.get(0)?, names, row.get(6)?))
        })?;
        let (mut numbers, mut all) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
        for (number, names, definition) in rows {
            let (key, better) = self.key_of(names, definition)?;
            let wanted = match which {
                Which::All => true,
                Which::Rows => key.is_row(better),
                Which::Keys(keys) => keys.iter().any(|wanted| wanted.is_same_but_arm(&key)),
            };
            if wanted {
                numbers.push(number);
                all.push(Series { key, better, points: Vec::new() });
            }
        }
        self.add_points(&numbers, &mut all)?;
        Ok(all)
    }

    pub(crate) fn key_of(&self, names: [String; 6], definition: u32) -> Result<(SeriesKey, Better)> {
        let [instrument, metric, unit, params, arm, better] = names;
        let wrong = |what: String| self.data(what);
        let params = self.params_of(params)?;
        let unit =
            value::unit(&unit).map_err(wrong)?.ok_or_else(|| wrong("a series without unit".to_owned()))?;
        let better = value::better(&better).map_err(wrong)?;
        Ok((SeriesKey { instrument, metric, unit, params, arm, definition }, better))
    }

    /// The parameters that a text says; series of many runs share those of one text.
    fn params_of(&self, text: String) -> Result<Params> {
        if let Some(known) = self.params.borrow().get(&text) {
            return Ok(known.clone());
        }
        let params: Params = serde_json::from_str(&text)
            .map_err(|_| self.data("the parameters of a series cannot be read".to_owned()))?;
        self.params.borrow_mut().insert(text, params.clone());
        Ok(params)
    }

    /// Adds their readings to series with these numbers, which ascend.
    fn add_points(&self, numbers: &[i64], series: &mut [Series]) -> Result<()> {
        let sql = "SELECT series, seq, block, sitting, warm_up, at_ns, window_ns, value, bits, histogram
            FROM reading WHERE series IN ({}) ORDER BY series, seq, ord";
        let with: Vec<Arg<'_>> = numbers.iter().map(ToArg::arg).collect();
        let rows = self.rows_of_many(sql, &with, |row| {
            let number = value::join(row.get(7)?, row.get(8)?);
            let place = (unsigned(row, 1)?, row.get(2)?, row.get(3)?, phase(row, 4)?);
            let place = (place, unsigned(row, 5)?, unsigned(row, 6)?);
            let histogram: Option<Vec<u8>> = row.get(9)?;
            Ok((row.get::<i64>(0)?, place, number, histogram))
        })?;
        for (of, ((seq, block, sitting, phase), at_ns, window_ns), number, histogram) in rows {
            let value = match (number, histogram) {
                (Some(number), _) => Value::Number(number),
                (None, Some(bytes)) => Histogram::from_bytes(&bytes)
                    .map_err(|_| self.data(format!("the histogram of take {seq} cannot be read")))?
                    .into(),
                (None, None) => {
                    return Err(self.data(format!("reading {seq} of series {of} without a value")));
                }
            };
            let point = Point { seq, block, sitting, phase, at_ns, window_ns, value };
            let place = numbers.binary_search(&of);
            let place =
                place.map_err(|_| self.data(format!("a reading of series {of}, which nobody asked for")))?;
            series[place].points.push(point);
        }
        Ok(())
    }

    /// The measured takes of whose place a later sitting has another.
    fn repeated(&self, no: i64) -> Result<BTreeSet<u64>> {
        let sql = "SELECT seq FROM (
                SELECT seq, sitting, max(sitting) OVER (PARTITION BY cell, arm, block) AS last
                FROM take WHERE run = $1 AND warm_up = 0
            ) AS place WHERE sitting < last";
        Ok(self.rows(sql, args![no], |row| unsigned(row, 0))?.into_iter().collect())
    }

    fn takes_of(&self, no: i64, repeated: &BTreeSet<u64>) -> Result<Vec<TakeHead>> {
        let sql =
            "SELECT seq, block, sitting, warm_up, cell, arm, start_ns, end_ns, repeats, fault, fault_kind, refusals
            FROM take WHERE run = $1 ORDER BY seq";
        let rows = self.rows(sql, args![no], |row| {
            let (kind, refusals): (Option<String>, Option<String>) = (row.get(10)?, row.get(11)?);
            let take = TakeHead {
                seq: unsigned(row, 0)?,
                block: row.get(1)?,
                sitting: row.get(2)?,
                phase: phase(row, 3)?,
                cell: row.get(4)?,
                arm: row.get(5)?,
                start_ns: unsigned(row, 6)?,
                end_ns: unsigned(row, 7)?,
                repeats: unsigned(row, 8)?,
                fault: row.get::<Option<String>>(9)?.map(Fault::new),
                refusals: Vec::new(),
            };
            Ok((take, kind, refusals))
        })?;
        rows.into_iter()
            .map(|(mut take, kind, refusals)| {
                if repeated.contains(&take.seq) {
                    take.phase = Phase::Repeated;
                }
                if let Some((fault, text)) = take.fault.as_mut().zip(kind) {
                    let wrong = |_| self.data(format!("the fault of take {} cannot be read", take.seq));
                    fault.kind = serde_json::from_str(&text).map_err(wrong)?;
                }
                if let Some(text) = refusals {
                    take.refusals = value::findings(&text).map_err(|what| self.data(what))?;
                }
                Ok(take)
            })
            .collect()
    }

    pub(crate) fn notes_of(&self, no: i64) -> Result<Vec<Note>> {
        let sql = "SELECT body, at_ns FROM note WHERE run = $1 ORDER BY ord";
        let rows: Vec<(String, Option<i64>)> =
            self.rows(sql, args![no], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let note = |(body, at_ns): (String, Option<i64>)| {
            let body = serde_json::from_str(&body).map_err(|_| self.data("a note cannot be read"))?;
            Ok(Note { body, at_ns: at_ns.map(i64::cast_unsigned) })
        };
        rows.into_iter().map(note).collect()
    }

    fn traffic_of(&self, no: i64) -> Result<Option<Traffic>> {
        let sql = "SELECT document FROM traffic WHERE run = $1";
        let found = self.rows(sql, args![no], |row| row.get::<String>(0))?;
        let wrong = |_| self.data("the traffic of a run cannot be read");
        found.first().map(|text| serde_json::from_str(text).map_err(wrong)).transpose()
    }

    pub(crate) fn telemetry_of(&self, no: i64) -> Result<Vec<Segment>> {
        let sql = "SELECT segment FROM telemetry WHERE run = $1 AND target IS NULL ORDER BY ord";
        let blobs = self.rows(sql, args![no], |row| row.get::<Vec<u8>>(0))?;
        blobs.iter().map(|blob| self.segment(blob)).collect()
    }

    fn target_telemetry_of(&self, no: i64) -> Result<Vec<TargetTelemetry>> {
        let sql = "SELECT target, segment FROM telemetry WHERE run = $1 AND target IS NOT NULL ORDER BY ord";
        let columns = |row: &Row<'_>| Ok((row.get::<String>(0)?, row.get::<Vec<u8>>(1)?));
        let each = self.rows(sql, args![no], columns)?.into_iter();
        each.map(|(target, blob)| Ok(TargetTelemetry { target, segment: self.segment(&blob)? })).collect()
    }

    fn segment(&self, blob: &[u8]) -> Result<Segment> {
        postcard::from_bytes(blob).map_err(|_| self.data("a segment of telemetry cannot be read"))
    }
}

/// The id among those of runs, each with its start, that `what` names, as [`Store::resolve`] has it.
pub fn resolve_among<'a>(what: &str, runs: impl Iterator<Item = (&'a str, i64)> + Clone) -> Result<String> {
    if runs.clone().any(|(id, _)| id == what) {
        return Ok(what.to_owned());
    }
    let part: Vec<u8> = letters(what).collect();
    let starts = |id: &str| !part.is_empty() && letters(id).take(part.len()).eq(part.iter().copied());
    let ends = |id: &str| {
        part.len() >= SHORTEST_END && letters(id).rev().take(part.len()).eq(part.iter().rev().copied())
    };
    let mut found: Vec<(&str, i64)> = runs.clone().filter(|(id, _)| starts(id)).collect();
    if found.is_empty() {
        found.extend(runs.filter(|(id, _)| ends(id)));
    }
    found.sort_by_key(|(id, started_ns)| (*started_ns, *id));
    match found[..] {
        [] => Err(StoreError::NoRun { what: what.to_owned() }),
        [(one, _)] => Ok(one.to_owned()),
        _ => {
            let runs = found.into_iter().map(|(id, _)| id.to_owned()).collect();
            Err(StoreError::Ambiguous { what: what.to_owned(), runs })
        }
    }
}

/// The letters of an id by which it is found: without hyphens, and small.
fn letters(id: &str) -> impl DoubleEndedIterator<Item = u8> + '_ {
    id.bytes().filter(|letter| *letter != b'-').map(|letter| letter.to_ascii_lowercase())
}

pub(crate) fn fact_columns(row: &Row<'_>) -> Sql<FactColumns> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?))
}

/// A `u64` was stored as the `i64` of the same bits.
fn unsigned(row: &Row<'_>, at: usize) -> Sql<u64> {
    row.get::<i64>(at).map(i64::cast_unsigned)
}

fn phase(row: &Row<'_>, at: usize) -> Sql<Phase> {
    row.get::<i64>(at).map(|warm_up| if warm_up == 0 { Phase::Measured } else { Phase::WarmUp })
}

/// Number, head and the status' word.
fn head(row: &Row<'_>) -> Sql<(i64, RunHead, String)> {
    let amount: Option<f64> = row.get(6)?;
    let per: Option<String> = row.get(7)?;
    let currency: Option<String> = row.get(8)?;
    let price = amount.map(|amount| Price {
        amount,
        hourly: per.as_deref() == Some("hour"),
        currency: currency.unwrap_or_default(),
    });
    let head = RunHead {
        id: row.get(1)?,
        study: row.get(2)?,
        status: Status::Running,
        config_class: row.get(4)?,
        label: row.get(5)?,
        price,
        watts: row.get(9)?,
        started_ns: row.get(10)?,
        seconds: row.get(11)?,
        takes: unsigned(row, 12)?,
        faults: unsigned(row, 13)?,
        machine_id: row.get(14)?,
        machine: row.get(15)?,
        build: row.get(16)?,
        measured: unsigned(row, 17)?,
        hidden: row.get(18)?,
    };
    Ok((row.get(0)?, head, row.get(3)?))
}
