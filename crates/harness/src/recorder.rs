//! Collects the readings and notes of one take. After a fault the caller drops it, and nothing is kept.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use model::finding::{About, FigureName};
use model::frame::Live;
use model::instrument::Record;
use model::{Card, Fact, Finding, Histogram, MetricInfo, NoteBody, Params, Reading, SeriesKey, Value};

/// Live progress of a take, and the flag that cuts it short.
#[derive(Default)]
pub struct Watch {
    /// Sends live progress; `None` where nobody watches.
    pub tell: Option<Box<dyn FnMut(Live)>>,
    /// Set when the user wants the take to end early.
    pub cut: Arc<AtomicBool>,
}

impl fmt::Debug for Watch {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Watch").field("watched", &self.tell.is_some()).field("cut", &self.cut).finish()
    }
}

/// The record of one take.
#[derive(Debug, Default)]
pub struct Recorder {
    pub readings: Vec<Reading>,
    pub facts: Vec<Fact>,
    pub notes: Vec<NoteBody>,
    pub refusals: Vec<Finding>,
    /// Errors of an instrument: a metric that its card does not list, or a unit of another kind.
    pub undeclared: Vec<String>,
    pub watch: Watch,
    instrument: &'static str,
    definition: u32,
    params: Params,
    arm: String,
    at_ns: u64,
    known: &'static [MetricInfo],
}

impl Recorder {
    /// Everything pushed from now on belongs to this card, with these parameters and this arm.
    pub fn open(&mut self, card: &'static Card, params: &Params, arm: &str, at_ns: u64) {
        self.instrument = card.name;
        self.definition = card.definition;
        self.params = params.clone();
        arm.clone_into(&mut self.arm);
        self.at_ns = at_ns;
        self.known = card.metrics;
    }

    /// Sets the time window of the readings pushed since `from`.
    pub fn close(&mut self, from: usize, start_ns: u64, end_ns: u64) {
        for reading in self.readings.iter_mut().skip(from) {
            reading.at_ns = start_ns;
            reading.window_ns = end_ns.saturating_sub(start_ns);
        }
    }

    fn push(&mut self, metric: &MetricInfo, extra: Option<&Params>, value: Value) {
        if !self.known.iter().any(|known| known.name == metric.name && known.unit == metric.unit) {
            self.undeclared.push(format!("{} pushed `{}`, not on its card", self.instrument, metric.name));
        }
        let params = extra.map_or_else(|| self.params.clone(), |extra| self.params.with(extra));
        let key = SeriesKey {
            instrument: self.instrument.to_owned(),
            metric: metric.name.to_owned(),
            unit: metric.unit,
            params,
            arm: self.arm.clone(),
            definition: self.definition,
        };
        let (at_ns, better) = (self.at_ns, metric.better);
        self.readings.push(Reading { key, better, at_ns, window_ns: 0, value });
    }
}

impl Record for Recorder {
    fn value(&mut self, metric: &MetricInfo, value: f64) {
        self.push(metric, None, Value::Number(value));
    }

    fn value_of(&mut self, metric: &MetricInfo, extra: &Params, value: f64) {
        self.push(metric, Some(extra), Value::Number(value));
    }

    fn histogram(&mut self, metric: &MetricInfo, histogram: Histogram) {
        self.push(metric, None, histogram.into());
    }

    fn fact(&mut self, fact: Fact) {
        self.facts.push(fact);
    }

    fn note(&mut self, note: NoteBody) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    fn refuse(&mut self, finding: Finding) {
        self.refusals.push(finding);
    }

    fn refuse_of(&mut self, metric: &MetricInfo, extra: &Params, finding: Finding) {
        let figure = FigureName {
            instrument: self.instrument.to_owned(),
            metric: metric.name.to_owned(),
            params: self.params.with(extra),
            arm: self.arm.clone(),
        };
        self.refusals.push(finding.about(About::Figure(figure)));
    }

    fn is_watched(&self) -> bool {
        self.watch.tell.is_some()
    }

    fn live(&mut self, live: Live) {
        if let Some(tell) = &mut self.watch.tell {
            tell(live);
        }
    }

    fn is_cut(&self) -> bool {
        self.watch.cut.load(Ordering::Relaxed)
    }
}
