//! A record for tests: the last value of each metric, by name and extra parameters.

#![cfg(test)]

use std::collections::BTreeMap;

use model::{Fact, Finding, Histogram, MetricInfo, NoteBody, Params, Record};

#[derive(Debug, Default)]
pub struct Values {
    pub values: BTreeMap<String, f64>,
    pub refusals: Vec<Finding>,
    pub notes: Vec<(String, String)>,
}

impl Values {
    /// `metric`, or `metric k=v`.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.values.get(name).copied()
    }
}

impl Record for Values {
    fn value(&mut self, metric: &MetricInfo, value: f64) {
        self.values.insert(metric.name.to_owned(), value);
    }

    fn value_of(&mut self, metric: &MetricInfo, extra: &Params, value: f64) {
        self.values.insert(format!("{} {extra}", metric.name), value);
    }

    fn histogram(&mut self, _: &MetricInfo, _: Histogram) {}

    fn fact(&mut self, _: Fact) {}

    fn note(&mut self, note: NoteBody) {
        self.notes.push((note.kind().to_owned(), note.text().into_owned()));
    }

    fn refuse(&mut self, finding: Finding) {
        self.refusals.push(finding);
    }
}
