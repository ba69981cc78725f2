//! `boxscore import`: exported runs, other stores and machine sheets into this store; all of them or nothing.
//!
//! Formats are told by their content; each has its file in `importers`. Importing twice changes nothing.

use std::path::{Path, PathBuf};

use model::data::RunData;
use model::format;
use model::older::{self, Older};
use model::shell::word;
use store::{Filter, MachineSheet, Store, StoreError};

use crate::cli::Global;
use crate::error::CliError;
use crate::import::clusterperf::About;
use crate::import::{Read, check, own};
use crate::lookup::paths;
use crate::{import, out};

const AFTER: &str = "\
Examples:
  boxscore import box1.json            runs that `boxscore export` wrote
  boxscore import other/store.db       every run of another store
  boxscore import machines.csv         spec sheets: a column `machine`, then facts (cpu, cores, ram_gb, cpu.mhz.max)
  boxscore import ib.txt --machine rc1 --set transport=infiniband --set replicas=0
                                       what RAMCloud's clusterperf printed, of any of its years
A file that is wrong says where, and then nothing of any file is imported.";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER)]
pub struct ImportArgs {
    /// Exported runs (JSON), machine sheets (CSV), other stores, or clusterperf's output
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// The machine that clusterperf's output is of
    #[arg(long, value_name = "NAME")]
    pub machine: Option<String>,
    /// Label of the run that clusterperf's output becomes
    #[arg(long, value_name = "LABEL")]
    pub label: Option<String>,
    /// A parameter that clusterperf's output lacks, such as transport=kernel-tcp or replicas=3; repeatable
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
}

pub fn run(args: &ImportArgs, global: &Global) -> Result<u8, CliError> {
    let path = paths::store(global)?;
    let about = About::new(args.machine.as_deref(), args.label.as_deref(), &args.set)?;
    let mut all = All::default();
    for file in &args.files {
        if same_file(file, &path) {
            return Err(CliError::usage(format!("{} is the store itself", file.display())));
        }
        all.add(file, import::read(file, &about)?)?;
    }
    let mut store = paths::create(&path)?;
    all.date(&store)?;
    let done = store.import(&all.runs, &all.machines).map_err(|error| all.named(error))?;
    for said in &all.said {
        out::say(&format!("note: {said}"));
    }
    if global.json {
        out::done("import", &args.files, all.runs.first().map(|run| run.head.id.clone()));
        return Ok(0);
    }
    if !all.runs.is_empty() {
        let there = all.runs.len() as u64 - done.runs.min(all.runs.len() as u64);
        out::say(&format!("runs: {} added with {} takes, {there} were there", done.runs, done.takes));
        if let Some(planted) = all.planted() {
            out::say(&planted);
        }
        if let Some(older) = all.older() {
            out::say(&older);
        }
        out::say(&all.next());
    }
    if !all.machines.is_empty() {
        let names: Vec<&str> = all.machines.iter().map(|machine| machine.name.as_str()).collect();
        out::say(&format!("machines: {}", names.join(", ")));
    }
    Ok(0)
}

/// The content of all files, and the file of each run.
#[derive(Default)]
struct All {
    runs: Vec<RunData>,
    machines: Vec<MachineSheet>,
    files: Vec<String>,
    said: Vec<String>,
    /// Runs whose start is only that of their file.
    undated: Vec<String>,
}

impl All {
    fn add(&mut self, file: &Path, read: Read) -> Result<(), CliError> {
        let name = file.display().to_string();
        let now_ns = i64::try_from(sys::clock::wall_ns()).unwrap_or(i64::MAX);
        self.said.extend(read.said);
        for run in read.runs {
            if read.undated {
                self.undated.push(run.head.id.clone());
            }
            check::started(&run, now_ns).map_err(|what| own::refused(&name, &run, what))?;
            for (known, of) in self.runs.iter().zip(&self.files) {
                if let Some(what) = store::conflict(known, &run) {
                    let text = format!("run {}: differs between {of} and {name}: {what}", run.head.id);
                    return Err(CliError::data(text).hint(DIFFERS));
                }
            }
            self.runs.push(run);
            self.files.push(name.clone());
        }
        self.machines.extend(read.machines);
        Ok(())
    }

    /// A copy of a file has another date than the file: what is stored already keeps its own.
    fn date(&mut self, store: &Store) -> Result<(), CliError> {
        let known = store.heads(&Filter::default())?;
        for run in self.runs.iter_mut().filter(|run| self.undated.contains(&run.head.id)) {
            if let Some(there) = known.iter().find(|there| there.id == run.head.id) {
                run.head.started_ns = there.started_ns;
            }
        }
        Ok(())
    }

    /// The machines whose runs were planted: `north and south are planted by --fake: no measurement`.
    fn planted(&self) -> Option<String> {
        let mut names: Vec<String> = Vec::new();
        for run in self.runs.iter().filter(|run| run.plan.fake.is_some()) {
            if !names.contains(&run.head.machine) {
                names.push(run.head.machine.clone());
            }
        }
        model::fake::planted(&names)
    }

    /// The instruments whose figures are of an older definition than that of today.
    fn older(&self) -> Option<String> {
        let series = self.runs.iter().flat_map(|run| &run.series);
        let figures = series.filter(|one| one.key.is_row(one.better)).map(|one| &one.key);
        let figures = figures.map(|key| (key.instrument.as_str(), key.definition));
        Older::sentence(&Older::among(figures, instruments::cards()), older::OF_RUN)
    }

    /// The machines of the runs, and the command that shows or compares them.
    fn next(&self) -> String {
        let mut machines: Vec<(&str, usize)> = Vec::new();
        for run in &self.runs {
            let name = run.head.machine.as_str();
            match machines.iter_mut().find(|(known, _)| *known == name) {
                Some((_, count)) => *count += 1,
                None => machines.push((name, 1)),
            }
        }
        let list: Vec<String> =
            machines.iter().map(|(name, runs)| format!("{name} ({})", format::count(*runs, "run"))).collect();
        let names: Vec<String> = machines.iter().map(|(name, _)| word(name)).collect();
        let verb = if names.len() == 1 { "show" } else { "compare" };
        format!("of {}: boxscore {verb} {}", format::list(&list), names.join(" "))
    }

    /// The store's refusal, with the file that holds the run.
    fn named(&self, error: StoreError) -> CliError {
        let StoreError::Differs { run, .. } = &error else { return CliError::from(error) };
        let at = self.runs.iter().position(|one| one.head.id == *run);
        let file = at.and_then(|at| self.files.get(at)).map_or("", String::as_str);
        CliError::data(format!("{file}: {error}")).hint(DIFFERS)
    }
}

const DIFFERS: &str =
    "one of the two was changed: leave out the wrong one, or name another store with --store";

fn same_file(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}
