//! `boxscore resume`: continues an interrupted run, by default the newest one. Of a run that is named and had come to
//! its end it measures again what failed there until the end, such as a target that died.
//!
//! A run that loads a server of the user's is continued only where it is named: whoever says `resume` alone may have
//! ended that load for the server's sake.

use model::Plan;
use model::data::{RunHead, Status};
use store::Store;

use crate::cli::Global;
use crate::error::CliError;
use crate::lookup::ids::short;
use crate::lookup::{paths, runs};
use crate::study::outages;
use crate::{out, study};

const AFTER: &str = "\
Examples:
  boxscore resume
  boxscore resume 019d2f6a1b2c
Takes that are stored are not repeated; the one that was under way is.
Nodes of a run with --on are reached anew, and one that was down joins it.
What failed until the end of the run is measured again: a target that died, once it is back. All targets or arms of such
a block are measured again, so that they are compared side by side; the first takes are kept and count no longer. A take
that failed between good ones stays a failed take. A run that had ended is resumed only where you name it.
A run that loads a server of yours (`load URL`, `run web --url URL`) is resumed only where you name it: the load would
begin anew on that server. Without a name, resume says which URL it is and ends.";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER)]
pub struct ResumeArgs {
    /// A run of the store, interrupted or with takes that failed until its end [default: the newest interrupted one, if
    /// it loads no server of yours]
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// Say a line on stderr for each take, once it is stored
    #[arg(long, hide = true)]
    pub show_takes: bool,
}

pub fn run(args: &ResumeArgs, global: &Global) -> Result<u8, CliError> {
    let path = paths::store(global)?;
    let head = {
        let store = paths::open(&path)?;
        let head = chosen(args.run.as_deref(), &store)?;
        let plan = store.plan(&head.study)?;
        let urls = loaded_urls(&plan);
        match (args.run.is_some(), urls.as_slice()) {
            (_, []) => {}
            (true, urls) => out::say(&format!("this loads {} again", urls.join(", "))),
            (false, urls) => return Err(unasked(&head, urls)),
        }
        announced(&head, &store)?.iter().for_each(|said| out::say(&format!("note: {said}")));
        head
    };
    out::say(&format!("resuming run {}", short(&head.id)));
    study::resume(&head.study, args.show_takes, global)
}

/// The run that was named, or the newest that was interrupted.
fn chosen(name: Option<&str>, store: &Store) -> Result<RunHead, CliError> {
    let heads = store.heads(&store::Filter::default())?;
    let Some(name) = name else {
        let newest = heads.iter().filter(|head| !head.hidden).max_by_key(|head| head.started_ns);
        if let Some(newest) = newest
            && lacks_node(newest, &heads, store)?
        {
            return Ok(newest.clone());
        }
        let interrupted = heads.into_iter().filter(|head| head.status == Status::Interrupted && !head.hidden);
        return interrupted.max_by_key(|head| head.started_ns).ok_or_else(|| {
            CliError::data("no run of this store was interrupted").hint("`boxscore history` lists the runs")
        });
    };
    let id = runs::run_id(name, store)?;
    let head = heads.iter().find(|head| head.id == id).cloned();
    let head = head.ok_or_else(|| CliError::data(format!("no run is called `{name}`")))?;
    if lacks_node(&head, &heads, store)? {
        return Ok(head);
    }
    let refused = |why: String| {
        CliError::data(format!("run {name} is {why}"))
            .hint(format!("boxscore run --plan {name} measures the same again"))
    };
    match head.status {
        Status::Interrupted => Ok(head),
        Status::Faulty if !announced(&head, store)?.is_empty() => Ok(head),
        Status::Faulty => {
            Err(refused("faulty, but nothing failed until its end: nothing is left to measure".to_owned()))
        }
        other => Err(refused(format!("{}: only an interrupted run can be resumed", other.word()))),
    }
}

/// True if a node of its study has no run: it was not reached.
fn lacks_node(head: &RunHead, all: &[RunHead], store: &Store) -> Result<bool, CliError> {
    let plan = store.plan(&head.study)?;
    let (machines, nodes) = (&plan.machines, plan.nodes.as_ref());
    let has_run = |name: &String| all.iter().any(|run| run.study == head.study && run.machine == *name);
    // A study of one machine has its run, whatever that is called.
    Ok(machines.len() > 1 && nodes.is_some_and(|nodes| !nodes.names.iter().all(has_run)))
}

/// Says of each run of the same study which blocks it measures again.
fn announced(head: &RunHead, store: &Store) -> Result<Vec<String>, CliError> {
    let of_study = store.heads(&store::Filter { study: Some(head.study.clone()), ..Default::default() })?;
    let has_ended = of_study.iter().all(|one| matches!(one.status, Status::Complete | Status::Faulty));
    let mut all = Vec::new();
    for one in of_study {
        all.extend(outages::announced(&store.load_light(&one.id)?, has_ended));
    }
    Ok(all)
}

/// The user's servers that a plan loads; a planted world loads none.
fn loaded_urls(plan: &Plan) -> Vec<String> {
    let params = plan.cells.iter().map(|cell| &cell.params).chain(plan.arms.iter().map(|arm| &arm.set));
    let given = params.filter_map(|params| params.get("url")).filter(|url| !matches!(*url, "" | "none"));
    let mut urls: Vec<String> = Vec::new();
    for url in given.filter(|_| plan.fake.is_none()) {
        if !urls.iter().any(|known| known == url) {
            urls.push(url.to_owned());
        }
    }
    urls
}

/// Nobody named it, so its load does not begin again.
fn unasked(head: &RunHead, urls: &[String]) -> CliError {
    let run = short(&head.id);
    CliError::usage(format!(
        "not resumed: the newest interrupted run, {run}, loads {}, and such a run must be named",
        urls.join(", ")
    ))
    .hint(format!("boxscore resume {run} loads it again; `boxscore history` lists other runs"))
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::cli::{Cli, Verb};

    fn planned(args: &[&str]) -> Vec<String> {
        let all = ["boxscore", "run"].iter().chain(args);
        let Verb::Run(args) = Cli::from_words(all).unwrap().verb else { panic!("a run") };
        let host = crate::plan::Host { cpus: 2, server: "nginx", ..Default::default() };
        let cards = instruments::cards();
        loaded_urls(&crate::plan::plan(&args, cards, &host, 1).unwrap().0)
    }

    #[test]
    fn only_servers_of_the_user_are_not_loaded_unasked() {
        assert!(planned(&["web", "--quick"]).is_empty());
        assert!(planned(&["crc32c"]).is_empty());
        assert_eq!(planned(&["web", "--url", "http://127.0.0.1:9/"]), ["http://127.0.0.1:9/"]);
        assert_eq!(planned(&["web", "--url", "http://127.0.0.1:9/", "--slo", "p99=10ms"]).len(), 1);
    }
}
