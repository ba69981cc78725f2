//! A stored run with its document, and the command that repeats it.

use std::ops::Deref;
use std::rc::Rc;

use model::data::RunData;
use model::doc::RunDoc;
use model::id::Called;
use model::plan::{Level, Plan};
use model::shell::word;
use verdict::{RunContext, run_doc};

use crate::error::CliError;
use crate::lookup::ceilings;
use crate::lookup::ids::short;
use crate::lookup::resolve::{Loaded, Resolver};
use crate::lookup::sides::of_runs;

/// A run as it is stored, with the earlier ones of its machine.
pub struct Stored {
    pub data: Rc<RunData>,
    pub earlier: Vec<Rc<RunData>>,
}

/// One run with its document. Sides, nodes and the page share both.
pub struct Shown {
    pub doc: Rc<RunDoc>,
    pub stored: Stored,
}

impl Deref for Shown {
    type Target = Stored;

    fn deref(&self) -> &Stored {
        &self.stored
    }
}

impl Stored {
    /// The run as one side of a comparison, with the same noise as `compare` takes: earlier runs of its machine,
    /// whichever are shown here. Fails when it has no run.
    pub fn side(&self, name: String) -> Result<Loaded, CliError> {
        let own = of_runs(vec![Rc::clone(&self.data)], &self.data.head.machine)?;
        Ok(Loaded { name, earlier: self.earlier.clone(), ..own })
    }
}

/// Each run as a side, no two of which are called alike. Fails as [`Stored::side`] does.
pub fn sides_of(runs: &[&Stored]) -> Result<Vec<Loaded>, CliError> {
    let heads = runs.iter().map(|one| &one.data.head);
    let called: Vec<Called<'_>> = heads
        .map(|head| Called { label: head.label.as_deref(), machine: &head.machine, id: &head.id })
        .collect();
    runs.iter().zip(model::id::apart(&called)).map(|(one, name)| one.side(name)).collect()
}

/// Loads a run with the earlier ones of its machine. Fails when the store does not have it or cannot be read.
fn stored(run: &str, resolver: &mut Resolver) -> Result<Stored, CliError> {
    let data = resolver.store()?.load(run)?;
    let earlier = resolver.earlier(&data.head, &[run.to_owned()], std::slice::from_ref(&data))?;
    Ok(Stored { data: Rc::new(data), earlier })
}

/// Loads runs, each with the earlier ones of its machine. Fails as loading one does.
pub fn all_stored(runs: &[String], resolver: &mut Resolver) -> Result<Vec<Stored>, CliError> {
    runs.iter().map(|run| stored(run, resolver)).collect()
}

/// Loads a run with all that its document needs. Fails when the store does not have it or cannot be read.
pub fn shown(run: &str, schema: &str, with_takes: bool, resolver: &mut Resolver) -> Result<Shown, CliError> {
    let stored = stored(run, resolver)?;
    with_document(stored, schema, with_takes, resolver)
}

fn with_document(
    stored: Stored,
    schema: &str,
    with_takes: bool,
    resolver: &mut Resolver,
) -> Result<Shown, CliError> {
    let Stored { data, earlier } = &stored;
    let run = data.head.id.as_str();
    let cards = instruments::cards();
    let ceilings = ceilings::of_run(data, cards, resolver)?;
    let context = RunContext {
        earlier: earlier.iter().map(Rc::as_ref).collect(),
        cards,
        ceilings: ceilings.as_deref(),
        siblings: resolver.siblings(&data.head),
        command: logs_command(data).unwrap_or_else(|| command(&data.plan, run)),
        with_takes,
    };
    let doc = RunDoc { schema: schema.to_owned(), ..run_doc(data, &context) };
    Ok(Shown { doc: Rc::new(doc), stored })
}

/// The runs of one study with their documents. The first has what all machines come to together, where they served
/// loads.
pub fn of_study(stored: Vec<Stored>, resolver: &mut Resolver) -> Result<Vec<Shown>, CliError> {
    let each = stored.into_iter().map(|one| with_document(one, "boxscore.run/1", false, resolver));
    let mut all: Vec<Shown> = each.collect::<Result<_, _>>()?;
    let together = verdict::together(&all.iter().map(|one| &*one.doc).collect::<Vec<_>>());
    if let Some(first) = all.first_mut() {
        Rc::make_mut(&mut first.doc).together = together;
    }
    Ok(all)
}

/// The command that repeats a run.
fn command(plan: &Plan, run: &str) -> String {
    let plain =
        plan.machines.iter().all(|via| via.command.is_none()) && plan.cpus.is_none() && plan.fake.is_none();
    match plan.level {
        Level::Quick if plain => "boxscore run --quick".to_owned(),
        Level::Default if plain => "boxscore run".to_owned(),
        Level::Soak if plain => match plan.budget_seconds {
            Some(seconds) => format!("boxscore run --soak {seconds}s"),
            None => format!("boxscore run --plan {}", short(run)),
        },
        Level::Full if plain => "boxscore run --full".to_owned(),
        _ => format!("boxscore run --plan {}", short(run)),
    }
}

/// The command that repeats a run of logs, with FILE for each file, since a run does not name its files.
fn logs_command(data: &RunData) -> Option<String> {
    let labels = |names: &mut dyn Iterator<Item = &str>| {
        names.map(|name| word(&format!("{name}=FILE"))).collect::<Vec<_>>().join(" ")
    };
    Some(match &data.traffic.as_ref()?.cut {
        Some(cut) => {
            format!("boxscore logs {} --cut {}", labels(&mut [cut.of.as_str()].into_iter()), word(&cut.given))
        }
        None => {
            let mut names = data.plan.machines.iter().map(|one| one.name.as_str());
            format!("boxscore logs {}", labels(&mut names))
        }
    })
}
