//! Takes of one instrument on one CPU: the values of its first metric, one a take.

use std::error::Error;

use instruments::workload::guard;
use model::{Fact, Finding, Histogram, MetricInfo, Params, Record, Seconds, Setup};

/// Long enough for a take; the conductor's own default.
const AT_LEAST: Seconds = Seconds(0.05);

/// Values of the metric of this name.
struct Values(&'static str, Vec<f64>);

impl Record for Values {
    fn value(&mut self, metric: &MetricInfo, value: f64) {
        if metric.name == self.0 {
            self.1.push(value);
        }
    }
    fn value_of(&mut self, metric: &MetricInfo, _: &Params, value: f64) {
        self.value(metric, value);
    }
    fn histogram(&mut self, _: &MetricInfo, _: Histogram) {}
    fn fact(&mut self, _: Fact) {}
    fn note(&mut self, note: model::NoteBody) {
        eprintln!("{}: {}", note.kind(), note.text());
    }
    fn refuse(&mut self, finding: Finding) {
        eprintln!("doubtful: {}", finding.text());
    }
}

pub fn run(name: &str, set: &str, cpu: &str, takes: &str, repeats: &str) -> Result<String, Box<dyn Error>> {
    let instrument = instruments::find(name).ok_or_else(|| format!("no instrument {name}"))?;
    let params = instrument.card().resolve(&Params::parse(set)?)?;
    let (cpu, takes, repeats): (u32, usize, u64) = (cpu.parse()?, takes.parse()?, repeats.parse()?);
    guard::set_program("/proc/self/exe");
    let _pinned = sys::affinity::pin(usize::try_from(cpu)?)?;
    // The comparison states its sizes; chains stay warm on both sides.
    let bare = Setup::bare(params, vec![cpu], std::env::temp_dir());
    let setup = Setup { llc: None, memory: Some(1 << 40), ..bare };
    let mut probe = instrument.prepare(&setup)?;
    let repeats = if repeats == 0 { probe.calibrate(AT_LEAST)? } else { repeats };
    let first = instrument.card().metrics.first().ok_or_else(|| format!("{name} has no metric"))?;
    let mut values = Values(first.name, Vec::new());
    for _ in 0..takes {
        probe.take(repeats, &mut values)?;
    }
    Ok(serde_json::to_string(&values.1)?)
}
