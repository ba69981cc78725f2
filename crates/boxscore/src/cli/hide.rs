//! `boxscore hide`: keeps runs, but leaves them out of noise, of pools of a machine or label, of `latest` and of
//! `history`. Their ids still name them.

use model::data::Status;
use model::doc::RunsDoc;
use store::{Mode, Store};

use crate::cli::{Global, remove};
use crate::error::CliError;
use crate::lookup::ids::short;
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
    let heads = remove::named(&args.runs, &store)?;
    if let Some(head) = heads.iter().find(|head| head.status == Status::Running) {
        return Err(CliError::data(format!("run {} is in progress, so nothing was hidden", short(&head.id)))
            .hint("wait until it ends, or stop it with Ctrl-C; then hide it"));
    }
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
        out::say(&format!("{word}: {}", remove::in_one_line(head, &store)?));
    }
    Ok(0)
}
