//! Where the page of a decision is written, and the command that makes it again.

use std::path::{Path, PathBuf};

use model::doc::DecideDoc;
use model::format::Moment;
use model::shell::word;

use super::asked::Asked;
use crate::cli::agent::BUILD;
use crate::cli::decide::DecideArgs;
use crate::error::CliError;
use crate::lookup::paths;

/// Writes the page, completely or not at all.
pub fn write(doc: &DecideDoc, asked: &Asked, args: &DecideArgs, store: &Path) -> Result<PathBuf, CliError> {
    let command = command(asked, args);
    let to = args.out.clone().unwrap_or_else(|| beside(store, args, &command));
    let today = Moment::at(super::now().floor()).map_or_else(String::new, |now| now.date());
    let html = report::decide::page(doc, &command, (BUILD, &today));
    paths::write(&to, html.as_bytes())?;
    Ok(to)
}

/// The file and what was typed, as the shell takes it.
fn command(asked: &Asked, args: &DecideArgs) -> String {
    let mut words = vec!["boxscore decide".to_owned()];
    words.extend(args.file.as_ref().map(|file| word(&file.display().to_string())));
    for (key, said) in asked.typed() {
        words.push(format!("--{} {}", key.word(), word(&said.given)));
    }
    words.join(" ")
}

/// Beside the store, with an id made of what was asked: another question is another page.
fn beside(store: &Path, args: &DecideArgs, command: &str) -> PathBuf {
    let seed = stats::Rng::derive(0, command).bits();
    let stem = args.file.as_ref().and_then(|file| file.file_stem()).and_then(|stem| stem.to_str());
    let plain: String = stem
        .unwrap_or("boxes")
        .chars()
        .map(|c| if c.is_alphanumeric() || c == '_' { c } else { '-' })
        .take(24)
        .collect();
    paths::beside(store).join(format!("decide-{plain}-{:06x}.html", seed >> 40))
}
