//! The text of a study, from the catalogue or from a file, and that text checked against the cards and the machines
//! that it names.

use std::path::Path;

use model::doc::RunDoc;
use model::study_file::{self, FileError, HERE, KnownMachine, StudyFile};
use verdict::{RunContext, run_doc};

use crate::error::CliError;
use crate::lookup::resolve::{Loaded, Resolver};

/// A study as text.
pub struct Source {
    /// The path of a file, or the name in the catalogue.
    pub name: String,
    pub text: String,
}

/// The studies of the catalogue: name and text.
const CATALOGUE: [(&str, &str); 5] = [
    ("atom-2009", include_str!("../../catalogue/studies/atom-2009.toml")),
    ("ramcloud-2010", include_str!("../../catalogue/studies/ramcloud-2010.toml")),
    ("serving-2010", include_str!("../../catalogue/studies/serving-2010.toml")),
    ("arm-2012", include_str!("../../catalogue/studies/arm-2012.toml")),
    ("ramcloud-2014", include_str!("../../catalogue/studies/ramcloud-2014.toml")),
];

/// A machine of a column with all that is known of it.
pub struct ColumnMachine {
    pub name: String,
    pub loaded: Loaded,
    /// In the order of its runs.
    pub runs: Vec<RunDoc>,
}

pub fn catalogue() -> impl Iterator<Item = Source> {
    let source = |(name, text): (&str, &str)| Source { name: name.to_owned(), text: text.to_owned() };
    CATALOGUE.into_iter().map(source)
}

/// The study of that name, or of that file.
pub fn find(name: &str) -> Result<Source, CliError> {
    if let Some(source) = catalogue().find(|source| source.name == name) {
        return Ok(source);
    }
    if !Path::new(name).exists() {
        let names: Vec<String> = catalogue().map(|source| source.name).collect();
        let known = names.iter().map(String::as_str);
        let error = CliError::usage(format!("`{name}` is no study and no file"));
        return Err(error.hint(format!("the studies: {}", names.join(", "))).did_you_mean(name, known));
    }
    let text = std::fs::read_to_string(name).map_err(|error| CliError::data(format!("{name}: {error}")))?;
    Ok(Source { name: name.to_owned(), text })
}

/// The study without a look at what it names.
pub fn read(source: &Source) -> Result<StudyFile, CliError> {
    study_file::read(&source.text).map_err(|error| wrong(source, &error))
}

/// The study and its machines. Fails at the first thing that it names and that is not there.
pub fn checked(
    source: &Source,
    resolver: &mut Resolver,
) -> Result<(StudyFile, Vec<ColumnMachine>), CliError> {
    let file = read(source)?;
    let machines = machines(&file, resolver);
    let known: Vec<KnownMachine<'_>> = machines
        .iter()
        .map(|machine| KnownMachine { name: &machine.name, figures: &machine.loaded.published })
        .collect();
    let file =
        study_file::check(file, instruments::cards(), &known).map_err(|error| wrong(source, &error))?;
    Ok((file, machines))
}

/// `FILE:LINE: what is wrong`, and what to do.
fn wrong(source: &Source, error: &FileError) -> CliError {
    CliError::data(format!("{}:{error}", source.name)).hint(error.hint.clone())
}

/// The machines of the columns that are there, each once; the check names the others.
fn machines(file: &StudyFile, resolver: &mut Resolver) -> Vec<ColumnMachine> {
    let mut names: Vec<&str> = Vec::new();
    for column in file.tables.iter().flat_map(|table| &table.columns).filter(|column| !column.is_here()) {
        if !names.contains(&column.machine.as_str()) {
            names.push(&column.machine);
        }
    }
    names.retain(|name| *name != HERE);
    let loaded = names.into_iter().filter_map(|name| Some((name, resolver.resolve(name).ok()?)));
    loaded.map(|(name, loaded)| column_machine(name, loaded)).collect()
}

fn column_machine(name: &str, loaded: Loaded) -> ColumnMachine {
    let context = RunContext { cards: instruments::cards(), with_takes: true, ..RunContext::default() };
    let runs = loaded.runs.iter().map(|run| run_doc(run, &context)).collect();
    ColumnMachine { name: name.to_owned(), loaded, runs }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_list_of_tables_names_every_table_of_the_studies_and_no_other() {
        const LIST: &str = include_str!("../../catalogue/TABLES.md");
        let files: Vec<StudyFile> = catalogue().map(|source| read(&source).unwrap()).collect();
        let of = |file: &StudyFile| -> Vec<String> {
            file.tables.iter().map(|table| format!("{}/{}", file.name, table.name)).collect()
        };
        let there: BTreeSet<String> = files.iter().flat_map(of).collect();
        let code = LIST.split('`').skip(1).step_by(2);
        let is_table = |word: &&str| files.iter().any(|file| word.starts_with(&format!("{}/", file.name)));
        let named: BTreeSet<String> = code.filter(is_table).map(str::to_owned).collect();
        assert_eq!(named, there);
        let lines = LIST.lines().filter(|line| line.starts_with('|'));
        lines.for_each(|line| assert_eq!(line.matches('|').count(), 4, "three cells: {line}"));
    }
}
