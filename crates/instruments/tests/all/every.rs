//! Checks of every instrument, present and future: a smoke take yields finite values of declared metrics (or there is
//! a reason why it cannot run here), and the registry is what the folders hold.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use model::card::Card;
use model::{
    Cadence, Fact, Fault, Finding, Histogram, Instrument, MetricInfo, Params, Probe, Record, Seconds, Setup,
    Size,
};

/// Keeps what a take pushed, and complains about what the card does not declare.
#[derive(Default)]
struct Sheet {
    card_metrics: Vec<MetricInfo>,
    seen: BTreeSet<&'static str>,
    facts: usize,
    refused: usize,
    wrong: Vec<String>,
}

impl Sheet {
    fn declared(&mut self, metric: &MetricInfo) {
        self.seen.insert(metric.name);
        match self.card_metrics.iter().find(|known| known.name == metric.name) {
            None => self.wrong.push(format!("{} is not on the card", metric.name)),
            Some(known) if known != metric => {
                self.wrong.push(format!("{} differs from the card: {metric:?}", metric.name));
            }
            Some(_) => {}
        }
    }
}

impl Record for Sheet {
    fn value(&mut self, metric: &MetricInfo, value: f64) {
        self.declared(metric);
        if !value.is_finite() {
            self.wrong.push(format!("{} is {value}", metric.name));
        }
    }

    fn value_of(&mut self, metric: &MetricInfo, extra: &Params, value: f64) {
        if extra.is_empty() {
            self.wrong.push(format!("{}: extra parameters without any", metric.name));
        }
        self.value(metric, value);
    }

    fn histogram(&mut self, metric: &MetricInfo, _: Histogram) {
        self.declared(metric);
    }

    fn fact(&mut self, _: Fact) {
        self.facts += 1;
    }

    fn note(&mut self, note: model::NoteBody) {
        let (kind, text) = (note.kind(), &*note.text());
        if kind.is_empty() || kind.contains(char::is_whitespace) || text.is_empty() {
            self.wrong.push(format!("the note `{kind}`: `{text}` is not a word and a text"));
        }
    }

    fn refuse(&mut self, _: Finding) {
        self.refused += 1;
    }
}

fn cpus() -> Vec<u32> {
    let allowed = sys::affinity::allowed().unwrap();
    allowed.into_iter().map(|cpu| u32::try_from(cpu).unwrap()).collect()
}

fn setup(params: Params, dir: &Path) -> Setup {
    // Two CPUs show what several threads do; a large machine must not make a test long.
    let cpus = cpus().into_iter().take(2).collect();
    Setup { size: Size::Smoke, llc: Some(1 << 20), memory: Some(1 << 30), ..Setup::bare(params, cpus, dir) }
}

/// The default parameters and every variant, without repeats; with the headline metrics of each.
fn sets(card: &Card, cpus: u32) -> BTreeMap<Params, Vec<&'static str>> {
    let mut sets = BTreeMap::from([(card.resolve(&Params::default()).unwrap(), Vec::new())]);
    for variant in card.variants {
        for params in card.expand(variant, cpus, &[]).unwrap() {
            sets.entry(params).or_default().extend(variant.headline);
        }
    }
    sets
}

/// Takes twice (a telemetry source shows differences from its second tick on).
fn takes(probe: &mut dyn Probe, sheet: &mut Sheet) -> Result<(), Fault> {
    let repeats = probe.calibrate(Seconds(1e-4))?;
    assert!(repeats > 0, "calibration found no repeats");
    probe.take(repeats, sheet)?;
    probe.take(repeats, sheet)
}

fn smoke(instrument: &dyn Instrument, dir: &Path) {
    let card = instrument.card();
    let mut shown = BTreeSet::new();
    let mut all_ran = true;
    for (params, headline) in sets(card, 2) {
        let what = format!("{} {params}", card.name);
        let setup = setup(params, dir);
        let prepared = instrument.fit(&setup).and_then(|()| instrument.prepare(&setup));
        let mut probe = match prepared {
            Ok(probe) => probe,
            Err(unfit) => {
                assert!(unfit.why.len() > 3, "{what}: unfit without a reason");
                all_ran = false;
                continue;
            }
        };
        let mut sheet = Sheet { card_metrics: card.metrics.to_vec(), ..Sheet::default() };
        if let Err(fault) = takes(probe.as_mut(), &mut sheet) {
            panic!("{what}: {fault}");
        }
        assert!(sheet.wrong.is_empty(), "{what}: {:?}", sheet.wrong);
        assert!(probe.cpus().iter().all(|cpu| setup.cpus.contains(cpu)), "{what}: uses other CPUs");
        if card.cadence == Cadence::Repeat {
            let something = !sheet.seen.is_empty() || sheet.refused > 0;
            assert!(something, "{what}: nothing was read");
            for metric in &headline {
                assert!(sheet.seen.contains(metric) || sheet.refused > 0, "{what}: no {metric}");
            }
        }
        if card.cadence == Cadence::Once {
            assert!(sheet.facts > 0 || !sheet.seen.is_empty(), "{what}: neither a fact nor a value");
        }
        shown.extend(sheet.seen);
        drop(probe);
        let left: Vec<_> = fs::read_dir(dir).unwrap().collect();
        assert!(left.is_empty(), "{what}: left files behind: {left:?}");
    }
    if all_ran && card.cadence == Cadence::Repeat {
        // A smoke take has too few events for the last percentiles.
        for metric in card.metrics.iter().filter(|metric| !metric.name.ends_with("p999")) {
            assert!(shown.contains(metric.name), "{}: no variant shows {}", card.name, metric.name);
        }
    }
}

#[test]
fn every_instrument_smokes() {
    for instrument in instruments::all() {
        let dir = tempfile::tempdir().unwrap();
        smoke(instrument, dir.path());
    }
}

#[test]
fn every_card_is_sound() {
    let mut names = BTreeSet::new();
    for instrument in instruments::all() {
        let card = instrument.card();
        assert!(names.insert(card.name), "two instruments are called {}", card.name);
        assert!(card.definition >= 1, "{}: definitions count from 1", card.name);
        assert!(!card.says.is_empty() && !card.source.is_empty(), "{}: says nothing", card.name);
        let metrics: BTreeSet<_> = card.metrics.iter().map(|metric| metric.name).collect();
        assert_eq!(metrics.len(), card.metrics.len(), "{}: a metric stands twice", card.name);
        for metric in card.metrics {
            assert!(!metric.definition.is_empty(), "{} {}: no definition", card.name, metric.name);
        }
        for param in card.params {
            let canonical = param.canonical(param.default).unwrap();
            assert_eq!(canonical, param.default, "{} {}: default", card.name, param.name);
            assert!(!param.says.is_empty(), "{} {}: says nothing", card.name, param.name);
        }
        for (params, headline) in sets(card, 4) {
            for metric in headline {
                assert!(metrics.contains(metric), "{} {params}: headline {metric} unknown", card.name);
            }
        }
    }
}

/// Folders whose every file is an instrument, and others where helpers may stand beside.
const FOLDERS: [(&str, bool); 10] = [
    ("bench/cpu", true),
    ("bench/memory", true),
    ("bench/disk", true),
    ("bench/machine", true),
    ("bench/net", false),
    ("bench/kv", false),
    ("bench/runtime", false),
    ("workload", false),
    ("telemetry", false),
    ("inventory", false),
];

/// The files of a folder that export an instrument, by the name that the card must have.
fn files(folder: &Path, all: bool) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path: PathBuf = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let inner = path.join("mod.rs");
        let is_folder = inner.is_file();
        let path = if is_folder { inner } else { path };
        if path.extension().is_none_or(|ext| ext != "rs") || stem == "mod" {
            continue;
        }
        let exports = fs::read_to_string(&path).unwrap().contains("\npub static INSTRUMENT: ");
        assert!(
            exports || !all || is_folder,
            "{} has no `pub static INSTRUMENT`; move it to a sub-folder",
            path.display()
        );
        if exports {
            names.insert(stem.replace('_', "-"));
        }
    }
    names
}

#[test]
fn the_registry_is_what_the_folders_hold() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let on_disk: BTreeSet<String> =
        FOLDERS.iter().flat_map(|(folder, all)| files(&src.join(folder), *all)).collect();
    let registered: BTreeSet<String> =
        instruments::all().iter().map(|instrument| instrument.card().name.to_owned()).collect();
    assert_eq!(
        registered, on_disk,
        "the registry is stale or a card is not named after its file: run `cargo xtask gen`"
    );
}
