//! The values that a take pushed, for tests of `web`: a metric that is on no card fails.

use std::collections::BTreeMap;

use model::{Fact, Finding, Histogram, MetricInfo, Params, Record};

#[derive(Debug, Default)]
pub struct Sheet {
    /// Whose metrics may be pushed.
    pub instrument: &'static str,
    /// The last value of each metric, by name and extra parameters; of a histogram its count.
    pub values: BTreeMap<String, f64>,
    pub notes: Vec<(String, String)>,
    pub refusals: Vec<Finding>,
}

impl Sheet {
    pub fn of(instrument: &'static str) -> Sheet {
        Sheet { instrument, ..Sheet::default() }
    }

    #[track_caller]
    pub fn get(&self, name: &str) -> f64 {
        *self.values.get(name).unwrap_or_else(|| panic!("no {name}: {:?} {:?}", self.values, self.notes))
    }

    #[track_caller]
    fn declared(&self, metric: &MetricInfo) {
        let card = instruments::find(self.instrument).unwrap().card();
        let known = card.metric(metric.name);
        assert_eq!(known, Some(metric), "{} is not on the card of {}", metric.name, card.name);
    }
}

impl Record for Sheet {
    fn value(&mut self, metric: &MetricInfo, value: f64) {
        self.declared(metric);
        self.values.insert(metric.name.to_owned(), value);
    }
    fn value_of(&mut self, metric: &MetricInfo, extra: &Params, value: f64) {
        self.declared(metric);
        self.values.insert(format!("{} {extra}", metric.name), value);
    }
    fn histogram(&mut self, metric: &MetricInfo, histogram: Histogram) {
        self.values.insert(metric.name.to_owned(), histogram.count() as f64);
    }
    fn fact(&mut self, _: Fact) {}
    fn note(&mut self, note: model::NoteBody) {
        let (kind, text) = (note.kind(), &*note.text());
        self.notes.push((kind.to_owned(), text.to_owned()));
    }
    fn refuse(&mut self, finding: Finding) {
        self.refusals.push(finding);
    }
}
