//! `boxscore hadoop explain`: names of earlier versions, one of them, or a configuration.

use std::path::Path;

use instruments::workload::hadoop::old_names::{self, folder};
use model::doc::{HadoopNameDoc, HadoopNamesDoc};
use report::text::hadoop;

use crate::cli::Global;
use crate::cli::hadoop::ExplainArgs;
use crate::error::{CliError, Kind};
use crate::out;

pub fn run(args: &ExplainArgs, global: &Global) -> Result<u8, CliError> {
    let what = args.what.join(" ");
    if what.is_empty() {
        let names = if args.all { old_names::all() } else { old_names::guides().to_vec() };
        return Ok(names_told(names, global, |names| hadoop::names(names, args.all, out::look())));
    }
    if let [only] = args.what.as_slice()
        && is_path(only)
    {
        return configuration(only, global);
    }
    let Some(name) = old_names::find(&what) else {
        let near = old_names::near(&what).map(|near| format!("did you mean `{near}`?"));
        let usual = "`boxscore hadoop explain` lists the names of old guides, --all every renamed property";
        return Err(CliError::usage(format!("`{what}` is no name of Hadoop's that is known here"))
            .hint(near.unwrap_or_else(|| usual.to_owned())));
    };
    Ok(names_told(vec![name], global, |names| {
        names.iter().map(|name| hadoop::name(name, out::look())).collect()
    }))
}

/// True for what is there as a folder, or as a file that is named with its folder; and for what can only be meant as a
/// path.
fn is_path(text: &str) -> bool {
    let path = Path::new(text);
    let is_far = text.starts_with(['/', '.', '~']) || text.ends_with('/');
    // An address of a page names a port.
    let is_far = is_far && !text.contains("://");
    path.is_dir() || is_far || (text.contains('/') && path.is_file())
}

fn names_told(names: Vec<HadoopNameDoc>, global: &Global, text: impl Fn(&[HadoopNameDoc]) -> String) -> u8 {
    match global.json {
        true => out::json(&HadoopNamesDoc { schema: "boxscore.hadoop-names/1".to_owned(), names }),
        false => out::print(&text(&names)),
    }
    0
}

fn configuration(path: &str, global: &Global) -> Result<u8, CliError> {
    if !Path::new(path).exists() {
        return Err(CliError::data(format!("{path}: there is no such folder")));
    }
    let document = folder::read(Path::new(path)).map_err(CliError::data)?;
    match global.json {
        true => out::json(&document),
        false => out::print(&hadoop::configuration(&document, out::look())),
    }
    Ok(if document.unread.is_empty() { 0 } else { Kind::Faults.exit_code() })
}
