//! `boxscore hide`: keeps runs, but leaves them out of noise, of pools of a machine or label, of `latest` and of
//! `history`. Their ids still name them.

use model::doc::RunsDoc;
use store::{Mode, Store};

use crate::cli::Global;
use crate::error::CliError;
use crate::lookup::{paths, runs};
use crate::out;

const AFTER: &str = "\
Examples:
  boxscore hide latest             it was spoiled, and shall not count
  boxscore history --all           hidden runs too
  boxscore hide --undo 01a2c3d4    it counts again";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER)]
pub struct HideArgs {
    /// Runs: an id or its beginning, a label of one run, latest, latest~N
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<String>,
    /// Let them count again
    #[arg(long)]
    pub undo: bool,
}

pub fn run(args: &HideArgs, global: &Global) -> Result<u8, CliError> {
    let path = paths::store(global)?;
    let mut store = Store::open(&path, Mode::ReadWrite)?;
    let heads = runs::ended(&args.runs, &store, ("hide", "hidden"))?;
    for head in &heads {
        store.set_hidden(&head.id, !args.undo)?;
    }
    if global.json {
        out::json(&RunsDoc {
            schema: "boxscore.hide/1".to_owned(),
            ok: true,
            paths: vec![path.display().to_string()],
            runs: runs::ids_of(&heads),
            hidden: Some(!args.undo),
        });
        return Ok(0);
    }
    for head in &heads {
        let word = if args.undo { "counts again" } else { "hidden" };
        out::say(&format!("{word}: {}", runs::in_one_line(head, &store)?));
    }
    Ok(0)
}
