//! `boxscore resume`: continues an interrupted run, by default the newest one.

use crate::cli::Global;
use crate::error::CliError;
use crate::{out, paths, present, resolve, runs, study};

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = "Examples:\n  boxscore resume\n  boxscore resume 019d2f6a1b2c")]
pub struct Args {
    /// A run of the store [default: the newest interrupted one]
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// Say a line on stderr for each take, once it is stored
    #[arg(long, hide = true)]
    pub show_takes: bool,
}

pub fn run(args: &Args, global: &Global) -> Result<u8, CliError> {
    let path = paths::store(global)?;
    let study = {
        let store = resolve::open(&path)?;
        let heads = store.heads(&store::Filter::default()).map_err(present::store_error)?;
        let interrupted = |head: &&model::data::RunHead| head.status == model::data::Status::Interrupted;
        match &args.run {
            Some(name) => {
                let id = runs::run_id(name, &store)?;
                let head = heads.iter().find(|head| head.id == id);
                let head = head.ok_or_else(|| CliError::data(format!("no run is called `{name}`")))?;
                if head.status != model::data::Status::Interrupted {
                    return Err(CliError::data(format!(
                        "run {name} is {}: only an interrupted run can be resumed",
                        head.status.word()
                    )));
                }
                head.study.clone()
            }
            None => match heads.iter().filter(interrupted).max_by_key(|head| head.started_ns) {
                Some(head) => head.study.clone(),
                None => {
                    return Err(CliError::data("no run of this store was interrupted")
                        .hint("`boxscore history` lists the runs"));
                }
            },
        }
    };
    out::say(&format!("resuming study {}", crate::ids::short(&study)));
    study::resume(&study, args.show_takes, global)
}
