//! The loads on web servers of a run, gathered from its rows: one load is a cell in one arm, a sweep is several that
//! differ in connections and generators, or in the offered load.
//!
//! Figures are those of the document; nothing is computed here. Times are seconds, rates 1/s.

use model::doc::{Binding, BottleneckDoc, CurveDoc, CurvePointDoc, RunDoc, SeriesDoc};
use model::{NoteBody, Params, Validity};

use model::names::load::{OWN_SERVER, server, unusual};
use model::{Card, Role, names};

use crate::section::sentence;

/// Loads of a run beyond which single rows tell less than a table of their own.
pub const MANY: usize = 3;
/// Parameters in which the loads of one sweep may differ.
const SWEPT: [&str; 4] = ["connections", "generators", "load", "rate"];

/// One load: the rows of one cell in one arm.
#[derive(Clone, Debug)]
pub struct Load<'a> {
    pub card: Option<&'static Card>,
    pub instrument: &'a str,
    pub params: &'a Params,
    pub arm: &'a str,
    rows: Vec<&'a SeriesDoc>,
}

/// Loads that differ in connections, generators or the offered load alone.
#[derive(Clone, Debug)]
pub struct Sweep<'a> {
    /// By load, connections, generators.
    pub loads: Vec<Load<'a>>,
}

impl<'a> Load<'a> {
    pub fn row(&self, metric: &str) -> Option<&'a SeriesDoc> {
        self.rows.iter().find(|row| row.metric == metric).copied()
    }

    /// Good answers per second: what the load is about.
    pub fn rate(&self) -> Option<&'a SeriesDoc> {
        self.row(self.card?.role.rate()?)
    }

    /// A median that is not refused.
    pub fn value(&self, metric: &str) -> Option<f64> {
        let held = |row: &&SeriesDoc| row.validity != Validity::Invalid;
        self.row(metric).filter(held)?.median.filter(|value| value.is_finite())
    }

    /// A number of a parameter, `50%` as 50.
    pub fn number(&self, param: &str) -> Option<f64> {
        self.params.get(param)?.trim_end_matches('%').parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// A search for the highest rate.
    pub fn is_search(&self) -> bool {
        self.card.is_some_and(|card| matches!(card.role, Role::Search { .. }))
    }

    pub fn is_open(&self) -> bool {
        !matches!(self.params.get("arrivals"), None | Some("closed"))
    }

    /// True where the load generator, not the server, set the figures.
    pub fn is_lower_bound(&self, run: &RunDoc) -> bool {
        bottleneck(run, self).is_some_and(|found| found.kind == Binding::Generator)
    }

    fn rest(&self) -> Params {
        let mut rest = self.params.clone();
        rest.retain(|name, _| !SWEPT.contains(&name));
        rest
    }

    fn alike(&self, other: &Load<'_>) -> bool {
        self.instrument == other.instrument && self.arm == other.arm && self.rest() == other.rest()
    }

    fn order(&self) -> (u64, u64, u64, u64) {
        let whole = |param: &str| self.number(param).map_or(0, |number| number.max(0.0) as u64);
        (whole("load"), whole("rate"), whole("generators"), whole("connections"))
    }
}

/// Parameters that the first words of a title tell.
const SAID: [&str; 3] = ["arrivals", "percentile", "limit"];

impl<'a> Sweep<'a> {
    /// True where the loads have different values of a parameter.
    pub fn varies(&self, param: &str) -> bool {
        self.loads.iter().any(|load| load.params.get(param) != self.loads[0].params.get(param))
    }

    /// The label of the instrument: `web`, `kv load`.
    pub fn topic(&self) -> &'static str {
        self.loads.first().and_then(|load| names::says(load.card)).unwrap_or("load")
    }

    /// The same as a heading.
    pub fn heading(&self, run: &RunDoc) -> String {
        let server = self.loads.first().map(|load| served(run, load.params)).unwrap_or_default();
        heading(&server, &self.title(run))
    }

    /// `nginx, closed loop, no keep-alive [event]`
    pub fn title(&self, run: &RunDoc) -> String {
        let Some(first) = self.loads.first() else { return String::new() };
        let mut words = vec![served(run, first.params)];
        words.retain(|word| !word.is_empty());
        words.push(match first.params.get("arrivals") {
            _ if first.is_search() => {
                let given = |name: &str| first.params.get(name).unwrap_or("its limit");
                format!("search for {} within {}", given("percentile"), given("limit"))
            }
            None | Some("closed") => "closed loop".to_owned(),
            Some(arrivals) => format!("open loop ({arrivals})"),
        });
        let varied = |param: &str| self.loads.len() > 1 && self.varies(param);
        let never: Vec<&str> = SWEPT.into_iter().filter(|param| varied(param)).chain(SAID).collect();
        words.extend(unusual(first.card, first.params, &[], &never));
        let arm = if first.arm.is_empty() { String::new() } else { format!(" [{}]", first.arm) };
        format!("{}{arm}", words.join(", "))
    }
}

/// The loads of a run, in the order of its rows.
pub fn loads(run: &RunDoc) -> Vec<Load<'_>> {
    let mut out: Vec<Load<'_>> = Vec::new();
    for row in run.series.iter().filter(|row| names::is_load(row.card)) {
        let same = |load: &&mut Load<'_>| {
            load.instrument == row.instrument && load.arm == row.arm && *load.params == row.params
        };
        match out.iter_mut().find(same) {
            Some(load) => load.rows.push(row),
            None => out.push(Load {
                card: row.card,
                instrument: &row.instrument,
                params: &row.params,
                arm: &row.arm,
                rows: vec![row],
            }),
        }
    }
    // Of a run that was cut, some had a warm-up alone.
    out.retain(|load| load.rate().is_some_and(|rate| rate.n > 0 || rate.faults > 0));
    out
}

/// True for a run with so many loads that they are shown as tables of sweeps.
pub fn has_sweeps(run: &RunDoc) -> bool {
    loads(run).len() > MANY
}

/// True where text shows the loads of a run as tables: many loads, or few of which none has an interval.
pub fn are_tabled(run: &RunDoc) -> bool {
    let loads = loads(run);
    let bounded = |load: &Load<'_>| load.rows.iter().any(|row| row.low.is_some());
    !loads.is_empty() && (loads.len() > MANY || !loads.iter().any(bounded))
}

/// The loads of a run by sweep: arm by arm, closed loops first, large files and single loads after the others.
pub fn sweeps(run: &RunDoc) -> Vec<Sweep<'_>> {
    let mut out: Vec<Sweep<'_>> = Vec::new();
    for load in loads(run) {
        match out.iter_mut().find(|sweep| sweep.loads[0].alike(&load)) {
            Some(sweep) => sweep.loads.push(load),
            None => out.push(Sweep { loads: vec![load] }),
        }
    }
    for sweep in &mut out {
        sweep.loads.sort_by_key(Load::order);
    }
    let few = |sweep: &Sweep<'_>| sweep.loads.len() < 2;
    let is_large = |sweep: &Sweep<'_>| sweep.loads[0].params.get("content") == Some("large");
    out.sort_by_cached_key(|sweep| {
        let first = &sweep.loads[0];
        (first.arm.to_owned(), first.is_open(), is_large(sweep), few(sweep), first.rest().to_string())
    });
    out
}

/// The server's name: by the parameters, else by the note of its setup, `nginx/1.22.1`.
pub fn served(run: &RunDoc, params: &Params) -> String {
    let named = server(params);
    if !named.is_empty() {
        return named;
    }
    let noted = run.notes.iter().find_map(|note| match &note.body {
        NoteBody::WebSetup(setup) => Some(setup),
        _ => None,
    });
    noted.and_then(|setup| setup.name.clone()).unwrap_or_default()
}

/// A heading that begins with `name`: names of programs, machines and arms keep their letters, words begin large.
pub fn heading(name: &str, text: &str) -> String {
    if name.is_empty() || name == OWN_SERVER { sentence(text) } else { text.to_owned() }
}

/// The bottleneck of a load.
pub fn bottleneck<'r>(run: &'r RunDoc, load: &Load<'_>) -> Option<&'r BottleneckDoc> {
    run.bottlenecks.iter().find(|found| {
        found.instrument == load.instrument && found.arm == load.arm && found.params == *load.params
    })
}

/// The curves over one thing.
pub fn curves<'r>(run: &'r RunDoc, over: &'r str) -> impl Iterator<Item = &'r CurveDoc> {
    run.curves.iter().filter(move |curve| curve.over == over && curve.points.len() > 1)
}

/// The time of a percentile of a point: response or service.
pub fn percentile(of: &[model::doc::PercentileDoc], quantile: f64) -> Option<&model::doc::EstimateDoc> {
    of.iter().find(|one| (one.quantile - quantile).abs() < 1e-9).map(|one| &one.time)
}

/// True for a refused point, which is not drawn.
pub fn is_refused(point: &CurvePointDoc) -> bool {
    point.validity == Validity::Invalid
}

#[cfg(test)]
mod tests {
    use model::note::WebSetup;

    use super::*;
    use crate::common::web;
    use crate::plot::check;
    use crate::section::ReportInput;
    use crate::sections::ALL;

    fn drawn(input: &ReportInput) -> String {
        ALL.iter().filter_map(|section| section.draw(input)).map(maud::Markup::into_string).collect()
    }

    #[test]
    fn figures_of_web_runs_are_sound() {
        let two = || {
            let mut other = web::web();
            other.0.machine.name = "a machine with a very long name indeed".to_owned();
            vec![web::web(), other]
        };
        for runs in [vec![web::web()], two(), vec![web::one_load()], vec![web::arms()]] {
            let runs = web::shared(runs);
            let text = drawn(&ReportInput { runs, ..ReportInput::default() });
            check::balanced(&text);
            check::finite(&text);
            check::inside(&text);
        }
    }

    #[test]
    fn loads_become_sweeps_in_the_order_of_what_they_are_about() {
        let (run, _) = web::web();
        let titles: Vec<String> = sweeps(&run).iter().map(|sweep| sweep.title(&run)).collect();
        let agreed = [
            "nginx, closed loop",
            "nginx, closed loop, no keep-alive",
            "nginx, closed loop, large files",
            "nginx, open loop (poisson), 200 connections",
        ];
        assert_eq!(titles, agreed);
        let counts: Vec<usize> = sweeps(&run).iter().map(|sweep| sweep.loads.len()).collect();
        assert_eq!(counts.iter().sum::<usize>(), loads(&run).len());
        assert!(has_sweeps(&run) && !has_sweeps(&web::one_load().0));
    }

    #[test]
    fn a_server_is_named_by_the_note_where_the_program_chose_it() {
        let (mut run, _) = web::web();
        let auto = Params::parse("server=auto;url=none").expect("pairs");
        assert_eq!(served(&run, &auto), "");
        let named = |name: Option<&str>| WebSetup { name: name.map(str::to_owned), ..WebSetup::default() };
        let note = |name| model::Note::of_run(NoteBody::WebSetup(named(name)));
        run.notes = vec![note(Some("nginx/1.22.1"))];
        assert_eq!(served(&run, &auto), "nginx/1.22.1");
        run.notes = vec![note(None)];
        assert_eq!(served(&run, &auto), "");
    }
}
