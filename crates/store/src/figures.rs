//! Which figures a run has, without reading it: runs with the same ones share a set, as text in the table `figure_set`.
//!
//! A figure counts where it has a direction and a measured reading, in whatever arm. A run refers to its set from its
//! end until a take is added; of other runs, and of those that an earlier schema stored, the series are read.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use crate::engine::{Arg, Row, Sql, ToArg, Tx, args};
use crate::value::to_json;
use crate::{Result, Store, value};
use model::Better;
use model::reading::SeriesKey;

/// Instrument, metric, unit, parameters and direction, and the definition.
type Figure = ([String; 5], u32);

const FIGURES: &str = "SELECT DISTINCT instrument, metric, unit, params, better, definition FROM series
    WHERE run = $1 AND participant = 0 AND better <> $2
    AND EXISTS (SELECT 1 FROM reading WHERE reading.series = series.no AND warm_up = 0)";

fn figure(row: &Row<'_>) -> Sql<Figure> {
    Ok(([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?], row.get(5)?))
}

/// Notes which figures a run has, now that it has ended.
pub(crate) fn write_set(tx: &Tx<'_>, run: i64) -> Sql<()> {
    let neither = Better::Neither.word();
    let figures: BTreeSet<Figure> = tx.query(FIGURES, args![run, neither], figure)?.into_iter().collect();
    let set = set_number(tx, &to_json(&figures)?)?;
    tx.execute("UPDATE run SET figure_set = $1 WHERE no = $2", args![set, run])?;
    Ok(())
}

/// The number of a set, which is added where no run had it.
fn set_number(tx: &Tx<'_>, figures: &str) -> Sql<i64> {
    let hash = value::hash([figures.as_bytes()]).cast_signed();
    let known = "SELECT no FROM figure_set WHERE hash = $1 AND figures = $2";
    if let Some(no) = tx.first(known, args![hash, figures])? {
        return Ok(no);
    }
    let no = tx.next_number("figure_set")?;
    let sql = "INSERT INTO figure_set (no, hash, figures) VALUES ($1, $2, $3)";
    tx.execute(sql, args![no, hash, figures])?;
    Ok(no)
}

/// A figure while runs are counted: how many have it, and if it counts.
struct Counted {
    have: usize,
    counts: bool,
}

/// The figures that were seen so far, each by its place.
#[derive(Default)]
struct Seen {
    places: HashMap<Figure, usize>,
    counted: Vec<Counted>,
    /// Places of the figures of a set.
    sets: HashMap<i64, Rc<[usize]>>,
}

impl Store {
    /// Of these runs, given newest first, those among which every figure finds the newest `most` runs that measured it;
    /// `keys` are the figures that count, in any arm, or all. Fails if one is missing or cannot be read.
    pub fn newest_with(
        &self,
        runs: &[String],
        keys: Option<&[SeriesKey]>,
        most: usize,
    ) -> Result<Vec<String>> {
        let counts =
            |key: &SeriesKey| keys.is_none_or(|keys| keys.iter().any(|wanted| wanted.is_same_but_arm(key)));
        self.newest_where(runs, &counts, most)
    }

    /// The same of the figures for which `counts` is true; their arm is empty there. Fails if a run is missing or
    /// cannot be read.
    pub fn newest_where(
        &self,
        runs: &[String],
        counts: &dyn Fn(&SeriesKey) -> bool,
        most: usize,
    ) -> Result<Vec<String>> {
        let mut seen = Seen::default();
        let mut chosen = Vec::new();
        let sets = self.sets_of(runs)?;
        for run in runs {
            let (number, set) = match sets.get(run) {
                Some(known) => *known,
                // Where it is missing, or only an index lacks it, this says so.
                None => (self.number(run)?, None),
            };
            let mut is_wanted = false;
            for &place in self.places(number, set, counts, &mut seen)?.iter() {
                let figure = &mut seen.counted[place];
                figure.have += 1;
                is_wanted |= figure.counts && figure.have <= most;
            }
            chosen.extend(is_wanted.then(|| run.clone()));
        }
        Ok(chosen)
    }

    /// The numbers of runs, and of their sets of figures.
    fn sets_of(&self, runs: &[String]) -> Result<HashMap<String, (i64, Option<i64>)>> {
        let ids: Vec<Arg<'_>> = runs.iter().map(ToArg::arg).collect();
        let sql = "SELECT id, no, figure_set FROM run WHERE id IN ({})";
        let found =
            self.rows_of_many(sql, &ids, |row| Ok((row.get::<String>(0)?, (row.get(1)?, row.get(2)?))))?;
        Ok(found.into_iter().collect())
    }

    /// The places of the figures of a run, which has this set of them, or none.
    fn places(
        &self,
        number: i64,
        set: Option<i64>,
        counts: &dyn Fn(&SeriesKey) -> bool,
        seen: &mut Seen,
    ) -> Result<Rc<[usize]>> {
        if let Some(places) = set.and_then(|set| seen.sets.get(&set)) {
            return Ok(Rc::clone(places));
        }
        let figures = match set {
            Some(set) => self.figures_of_set(set)?,
            None => self.rows(FIGURES, args![number, Better::Neither.word()], figure)?,
        };
        let places = figures.into_iter().map(|figure| self.place(figure, counts, seen));
        let places: Rc<[usize]> = places.collect::<Result<Vec<usize>>>()?.into();
        if let Some(set) = set {
            seen.sets.insert(set, Rc::clone(&places));
        }
        Ok(places)
    }

    fn place(&self, figure: Figure, counts: &dyn Fn(&SeriesKey) -> bool, seen: &mut Seen) -> Result<usize> {
        if let Some(place) = seen.places.get(&figure) {
            return Ok(*place);
        }
        let ([instrument, metric, unit, params, better], definition) = figure.clone();
        let (key, _) = self.key_of([instrument, metric, unit, params, String::new(), better], definition)?;
        seen.counted.push(Counted { have: 0, counts: counts(&key) });
        let place = seen.counted.len() - 1;
        seen.places.insert(figure, place);
        Ok(place)
    }

    fn figures_of_set(&self, set: i64) -> Result<Vec<Figure>> {
        let sql = "SELECT figures FROM figure_set WHERE no = $1";
        let text = self.rows(sql, args![set], |row| row.get::<String>(0))?.into_iter().next();
        let text = text.ok_or_else(|| self.data(format!("the set {set} of figures is missing")))?;
        serde_json::from_str(&text).map_err(|_| self.data(format!("the set {set} of figures cannot be read")))
    }
}
