//! Output of RAMCloud's clusterperf as a run: its figures beside the published ones of the same studies.
//!
//! Seconds, bytes a second, operations a second. The text says neither where it was measured nor over what: the machine
//! and what else tells it apart (transport, replicas) come with the call. A test that stands several times in a text is
//! as many takes. When it was measured is taken to be when the file was last written; how long it took is not known.

use std::collections::BTreeMap;

use instruments::clusterperf::{self, PrintedFigure};
use model::data::{CLUSTERPERF, Origin, Point, RunData, RunHead, Series, Status, TakeHead};
use model::plan::{Takes, Via};
use model::reading::{Phase, SeriesKey, Value};
use model::{Cell, Note, NoteBody, Params, Plan};
use uuid::Builder;

use crate::error::CliError;
use crate::lookup::labels;

/// The store that was measured, unless `--set store=` names another.
const STORE: (&str, &str) = ("store", "ramcloud");

/// Facts about a text that the text itself lacks.
#[derive(Clone, Debug, Default)]
pub struct About {
    pub machine: Option<String>,
    pub label: Option<String>,
    pub set: Params,
}

impl About {
    /// From the flags of `import`.
    pub fn new(machine: Option<&str>, label: Option<&str>, set: &[String]) -> Result<About, CliError> {
        if let Some(machine) = machine {
            labels::check_name(machine).map_err(|why| CliError::usage(format!("--machine {why}")))?;
        }
        labels::check_label(label)?;
        let mut params = Params::default();
        for one in set {
            let wrong = |why: &str| {
                CliError::usage(format!("--set {one}: {why}")).hint("for example --set transport=kernel-tcp")
            };
            let (name, value) = one.split_once('=').ok_or_else(|| wrong("not NAME=VALUE"))?;
            let plain = |text: &str| {
                let fits = |c: char| !c.is_control() && !c.is_whitespace() && !matches!(c, ';' | '=' | ',');
                !text.is_empty() && text.chars().all(fits)
            };
            if !plain(name) || !plain(value) {
                return Err(wrong("a name and a value are words without `;`, `=` and `,`"));
            }
            if name == "definition" {
                return Err(wrong("the words of the output say which definition it is"));
            }
            params.set(name, value);
        }
        Ok(About { machine: machine.map(str::to_owned), label: label.map(str::to_owned), set: params })
    }

    pub fn is_empty(&self) -> bool {
        self.machine.is_none() && self.label.is_none() && self.set.is_empty()
    }
}

/// The run of a text, and a line for each part of it that is not read. `name` is for errors, `started_ns` is since
/// 1970.
pub fn parse(
    name: &str,
    text: &str,
    started_ns: i64,
    about: &About,
) -> Result<(RunData, Vec<String>), CliError> {
    let output = clusterperf::parse(text).map_err(|wrong| CliError::data(format!("{name}:{wrong}")))?;
    let Some(machine) = &about.machine else {
        let text = format!("{name}: clusterperf's output does not say which machine it was measured on");
        let hint = format!(
            "boxscore import {name} --machine NAME, with --set transport=kernel-tcp --set replicas=0 or as it was"
        );
        return Err(CliError::data(text).hint(hint));
    };
    let said = |(line, test): &(usize, String)| format!("{name}:{line}: the test `{test}` is not read");
    let said: Vec<String> = output.skipped.iter().map(said).collect();
    if output.figures.is_empty() {
        return Err(CliError::data(format!("{}, and nothing else is in it", said.join(", "))));
    }
    let mut common = Params::default();
    common.set(STORE.0, STORE.1);
    let common = common.with(&about.set);
    let (series, takes) = series(&output.figures, &common);
    let count = takes.len() as u64;
    let label = about.label.clone();
    let plan = Plan {
        machines: [Via { name: machine.clone(), command: None }].into(),
        label: label.clone(),
        ..Plan::bare(
            cells(&output.figures, &common),
            Takes::Fixed(takes.iter().map(|take| take.block.saturating_add(1)).max().unwrap_or(1)),
        )
    };
    let (study, id) = ids(&format!("{machine}\n{label:?}\n{common}\n{text}"));
    let note = format!("{name}: clusterperf's output, {} figures", output.figures.len());
    let run = RunData {
        head: head(id, study, machine, label, started_ns, count),
        origin: Origin { build: CLUSTERPERF.to_owned(), ..Origin::default() },
        clock_offsets: Vec::new(),
        plan: plan.into(),
        facts: Vec::new(),
        takes,
        series,
        notes: vec![Note::of_run(NoteBody::remark("source", note))],
        telemetry: Vec::new(),
        target_telemetry: Vec::new(),
        traffic: None,
        own_cost: None,
    };
    Ok((run, said))
}

/// A cell for each instrument; its figures are all headlines but those that stand beside another.
fn cells(figures: &[PrintedFigure], common: &Params) -> Vec<Cell> {
    instruments_of(figures)
        .into_iter()
        .map(|instrument| {
            let own = figures.iter().filter(|figure| figure.instrument() == instrument);
            let mut headline: Vec<String> = Vec::new();
            for figure in own.filter(|figure| figure.better != model::Better::Neither) {
                if !headline.contains(&figure.metric) {
                    headline.push(figure.metric.clone());
                }
            }
            Cell { instrument: instrument.to_owned(), params: common.clone(), headline }
        })
        .collect()
}

/// In the order of the text.
fn instruments_of(figures: &[PrintedFigure]) -> Vec<&'static str> {
    let mut all = Vec::new();
    for figure in figures {
        if !all.contains(&figure.instrument()) {
            all.push(figure.instrument());
        }
    }
    all
}

fn head(
    id: String,
    study: String,
    machine: &str,
    label: Option<String>,
    started_ns: i64,
    takes: u64,
) -> RunHead {
    RunHead {
        id,
        study,
        status: Status::Complete,
        machine_id: format!("sheet {machine}"),
        machine: machine.to_owned(),
        label,
        started_ns,
        seconds: None,
        build: CLUSTERPERF.to_owned(),
        config_class: String::new(),
        price: None,
        watts: None,
        takes,
        faults: 0,
        measured: takes,
        hidden: false,
    }
}

/// The `again`-th time that a cell's figures stand in the text.
fn take(seq: u64, cell: u32, again: u32) -> TakeHead {
    TakeHead {
        seq,
        block: again,
        sitting: 0,
        phase: Phase::Measured,
        cell,
        arm: 0,
        start_ns: 0,
        end_ns: 0,
        repeats: 1,
        fault: None,
        refusals: Vec::new(),
    }
}

/// A series for each figure, in the order of the text, and the takes that they are of.
fn series(figures: &[PrintedFigure], common: &Params) -> (Vec<Series>, Vec<TakeHead>) {
    let cells = instruments_of(figures);
    let mut all: Vec<Series> = Vec::new();
    let mut places: BTreeMap<SeriesKey, usize> = BTreeMap::new();
    let (mut takes, mut numbers) = (Vec::new(), BTreeMap::new());
    for figure in figures {
        let key = SeriesKey {
            instrument: figure.instrument().to_owned(),
            metric: figure.metric.clone(),
            unit: figure.unit,
            params: common.with(&figure.params),
            arm: String::new(),
            definition: instruments::find(figure.instrument()).map_or(1, |one| one.card().definition),
        };
        let place = *places.entry(key.clone()).or_insert_with(|| {
            all.push(Series { key, better: figure.better, points: Vec::new() });
            all.len() - 1
        });
        let points = &mut all[place].points;
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let cell = number(cells.iter().position(|name| *name == figure.instrument()).unwrap_or(0));
        let again = number(points.len());
        let seq = *numbers.entry((cell, again)).or_insert_with(|| {
            takes.push(take(takes.len() as u64, cell, again));
            takes.len() as u64 - 1
        });
        points.push(Point {
            seq,
            block: again,
            sitting: 0,
            phase: Phase::Measured,
            at_ns: 0,
            window_ns: 0,
            value: Value::Number(figure.value),
        });
    }
    (all, takes)
}

/// Ids that depend on the content alone, so that importing twice changes nothing.
fn ids(content: &str) -> (String, String) {
    let mut rng = stats::Rng::derive(0, content);
    let mut id = || {
        let bits = (u128::from(rng.bits()) << 64) | u128::from(rng.bits());
        Builder::from_custom_bytes(bits.to_be_bytes()).into_uuid().simple().to_string()
    };
    (id(), id())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figures of three instruments, one of them twice.
    const SEVERAL: &str = "\
readNotFound          14.4 us     read object that doesn't exist
basic.read100          5.1 us     read single 100B object with 30B key
netBandwidth          97.1 MB/s   many clients reading from different servers
readNotFound          14.6 us     read object that doesn't exist
";
    const TEXT: &str = "\
basic.read100          5.1 us     read single 100B object with 30B key
basic.readBw100       18.6 MB/s   bandwidth reading 100B object with 30B key
basic.read100          5.3 us     read single 100B object with 30B key
";

    fn about(set: &[&str]) -> About {
        let set: Vec<String> = set.iter().map(|one| (*one).to_owned()).collect();
        About::new(Some("xeon"), Some("ib"), &set).unwrap()
    }

    #[test]
    fn a_text_is_a_run_with_the_published_keys() {
        let given = about(&["transport=infiniband", "replicas=0"]);
        let (run, said) = parse("a.txt", TEXT, 1_400_000_000_000_000_000, &given).unwrap();
        assert!(said.is_empty());
        let machines = crate::lookup::catalogue::machines().unwrap();
        let published = machines.iter().flat_map(|machine| &machine.figures);
        let same: Vec<f64> =
            published.filter(|figure| figure.key == run.series[0].key).map(|figure| figure.value).collect();
        let near = |values: &[f64], expected: &[f64]| {
            let near = values.iter().zip(expected).all(|(a, b)| (a / b - 1.0).abs() < 1e-12);
            assert!(near && values.len() == expected.len(), "{values:?} {expected:?}");
        };
        near(&same, &[5.2e-6]);
        near(&run.series[0].measured(), &[5.1e-6, 5.3e-6]);
        assert_eq!((run.takes.len(), run.series.len(), run.head.label.as_deref()), (2, 2, Some("ib")));
        assert_eq!(run.plan.cells[0].headline, ["basic.read100"]);
        super::super::own::checked("a.txt", std::slice::from_ref(&run)).unwrap();
        let several = parse("b.txt", SEVERAL, 0, &given).unwrap().0;
        super::super::own::checked("b.txt", std::slice::from_ref(&several)).unwrap();
        let takes: Vec<_> = several.takes.iter().map(|take| (take.seq, take.cell, take.block)).collect();
        assert_eq!(takes, [(0, 0, 0), (1, 1, 0), (2, 2, 0), (3, 0, 1)]);
        // The same again has the same id, another transport another one.
        let id = |about: &About| parse("b.txt", TEXT, 0, about).unwrap().0.head.id;
        assert_eq!(id(&given), run.head.id);
        assert_ne!(id(&about(&["transport=kernel-tcp"])), run.head.id);
    }

    #[test]
    fn what_is_missing_or_wrong_says_what_to_do() {
        let said = |text: &str, about: &About| parse("a.txt", text, 0, about).unwrap_err();
        let unknown = said(TEXT, &About::default());
        assert!(unknown.message.contains("which machine") && unknown.to_string().contains("--machine NAME"));
        let wrong = said(&TEXT.replace("5.3", "x"), &about(&[])).message;
        assert!(wrong.starts_with("a.txt:3: `basic.read100"), "{wrong}");
        let set = |one: &str| About::new(None, None, &[one.to_owned()]).unwrap_err().to_string();
        assert!(set("transport").contains("NAME=VALUE"));
        assert!(set("a=b;c=d").contains("without `;`"));
        assert!(set("definition=era1").contains("words of the output"));
    }
}
