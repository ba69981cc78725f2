//! `boxscore study`: the studies of the catalogue and those of users' own files, which are read alike.
//!
//! 1. `source`: the text of a study, and that text checked against what it names.
//! 2. `places`: this machine or the nodes that are measured, and how long that may last.
//! 3. `schedule`: each run as a plan, what of it cannot be measured here, and how long it lasts.
//! 4. `measure`: the runs, one after the other, each stored under its label.
//! 5. `gather`: stored runs into the study's tables.

mod gather;
mod measure;
mod places;
mod schedule;
mod source;

use model::doc::{StudiesDoc, StudyDoc, StudySummaryDoc};
use model::study_file::StudyFile;

use crate::cli::Global;
use crate::cli::study::StudyArgs;
use crate::error::CliError;
use crate::lookup::paths;
use crate::lookup::resolve::Resolver;
use crate::out;
use measure::Sequence;
use places::Places;
use source::Source;

const SCHEMA: &str = "boxscore.study/1";

pub fn run(args: &StudyArgs, global: &Global) -> Result<u8, CliError> {
    let Some(name) = &args.name else { return list(args, global) };
    args.wait.seconds()?;
    let source = source::find(name)?;
    if let Some(to) = &args.write {
        paths::write(to, source.text.as_bytes())?;
        match global.json {
            true => out::done("study", [to], None),
            false => out::say(&format!("wrote {}; give the study in it a name of its own", to.display())),
        }
        return Ok(0);
    }
    let mut resolver = Resolver::new(global)?;
    let (file, machines) = source::checked(&source, &mut resolver)?;
    let file = only(file, &args.tables, &source)?;
    let places = Places::read(&file, args)?;
    let scheduled = schedule::schedule(&file, args.quick, &places.all, &resolver, global)?;
    if args.dry_run {
        let doc = gather::planned(&file, &scheduled, &places, args.quick);
        print(&doc, global, |doc| report::study::schedule(doc, out::look()));
        return Ok(0);
    }
    let code = match args.show {
        true => 0,
        false => {
            let all = Sequence { name, file: &file, scheduled: &scheduled, places: &places };
            measure::measure(&all, args, &resolver, global)?
        }
    };
    let doc = gather::gathered(&file, &scheduled, &places, &machines, args.quick, global)?;
    if args.markdown {
        let quick = if args.quick { " --quick" } else { "" };
        let command = format!("boxscore study {}{quick}", model::shell::word(name));
        out::print(&report::study::page(&doc, &command));
    } else {
        print(&doc, global, |doc| report::study::screen(doc, out::look()));
    }
    Ok(code)
}

fn print(doc: &StudyDoc, global: &Global, text: impl Fn(&StudyDoc) -> String) {
    if global.json { out::json(doc) } else { out::print(&text(doc)) }
}

/// The study with these tables alone and the runs that they need; all of it where none is named.
fn only(file: StudyFile, names: &[String], source: &Source) -> Result<StudyFile, CliError> {
    let known: Vec<&str> = file.tables.iter().map(|table| table.name.as_str()).collect();
    if let Some(name) = names.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(CliError::usage(format!("{} has no table `{name}`", source.name))
            .hint(format!("its tables: {}", known.join(", "))));
    }
    if names.is_empty() {
        return Ok(file);
    }
    let mut file = file;
    file.tables.retain(|table| names.contains(&table.name));
    let needed = schedule::needed(&file);
    file.runs.retain(|run| needed.contains(&run.name));
    Ok(file)
}

/// The studies of the catalogue.
fn list(args: &StudyArgs, global: &Global) -> Result<u8, CliError> {
    let needs = [
        ("--dry-run", args.dry_run),
        ("--show", args.show),
        ("--rest", args.rest),
        ("--quick", args.quick),
        ("--table", !args.tables.is_empty()),
        ("--write", args.write.is_some()),
        ("--markdown", args.markdown),
        ("--for", args.span.is_some()),
        ("--budget", args.budget.is_some()),
        ("--on", !args.lab.on.is_empty()),
    ];
    if let Some((flag, _)) = needs.iter().find(|(_, is_given)| *is_given) {
        return Err(CliError::usage(format!("{flag} needs a study"))
            .hint(format!("boxscore study NAME {flag}; `boxscore study` lists them")));
    }
    let studies = source::catalogue().map(|source| Ok(summary(&source::read(&source)?)));
    let studies = studies.collect::<Result<Vec<_>, CliError>>()?;
    let doc = StudiesDoc { schema: "boxscore.studies/1".to_owned(), studies };
    match global.json {
        true => out::json(&doc),
        false => out::print(&report::study::list(&doc, out::look())),
    }
    Ok(0)
}

fn summary(file: &StudyFile) -> StudySummaryDoc {
    let most = |is_quick: bool| {
        let own = file.runs.iter().filter(|run| run.by_hand.is_none());
        own.map(|run| run.extent(is_quick).most_seconds).sum()
    };
    StudySummaryDoc {
        name: file.name.clone(),
        title: file.title.clone(),
        runs: file.runs.len() as u64,
        tables: file.tables.iter().map(|table| table.name.clone()).collect(),
        most_seconds: most(false),
        most_seconds_quick: most(true),
    }
}
