//! `boxscore lab import`: a list of machines that another tool keeps, as `lab.toml` on stdout.

use std::io::Read;
use std::path::Path;

use clap::builder::PossibleValuesParser;
use lab::import::{Form, import};
use lab::inventory::write;
use model::doc::LabImportDoc;

use crate::cli::Global;
use crate::error::CliError;
use crate::lookup::inventory;
use crate::out;

const AFTER: &str = "\
Examples:
  boxscore lab import /etc/hosts > lab.toml
  boxscore lab import inventory.yml > lab.toml     Ansible's, in YAML or INI
  boxscore lab import ~/.ssh/config > lab.toml
  boxscore lab import machines.csv > lab.toml      columns: name,address,user,roles,groups,price,watts,rack,...
  getent hosts | boxscore lab import - --format hosts
Passwords are never taken. What was left out is told on stderr.";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER)]
pub struct LabImportArgs {
    /// An Ansible inventory, an OpenSSH configuration, /etc/hosts or CSV; - is stdin
    #[arg(value_name = "FILE")]
    pub file: String,
    /// The form of the list [default: by its name, else by its first line]
    #[arg(long, value_name = "FORM", value_parser = PossibleValuesParser::new(Form::WORDS))]
    pub format: Option<String>,
}

pub fn run(args: &LabImportArgs, global: &Global) -> Result<u8, CliError> {
    let text = match args.file.as_str() {
        "-" => stdin()?,
        path => inventory::file(Path::new(path))?,
    };
    let given = args.format.as_deref().and_then(Form::parse);
    let form = given.or_else(|| Form::guess(&args.file, &text)).ok_or_else(|| {
        let hint = format!("say --format {}", Form::WORDS.join("|"));
        CliError::data(format!("{}: its form is not known", args.file)).hint(hint)
    })?;
    let imported = import(&text, form).map_err(|error| inventory::at(&args.file, &error))?;
    let document = LabImportDoc {
        schema: "boxscore.lab-import/1".to_owned(),
        form: form.word().to_owned(),
        count: imported.inventory.nodes().len() as u64,
        toml: write(&imported.inventory),
        notes: imported.notes.iter().map(ToString::to_string).collect(),
    };
    if global.json {
        out::json(&document);
        return Ok(0);
    }
    for note in &document.notes {
        out::say(&format!("note: {}: {note}", args.file));
    }
    out::print(&document.toml);
    Ok(0)
}

fn stdin() -> Result<String, CliError> {
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text);
    read.map_err(|error| CliError::data(format!("stdin: {error}")))?;
    Ok(text)
}
