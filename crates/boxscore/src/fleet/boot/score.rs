//! `lab boot --score`: a quick score of each node that is up, all at once. Each run comes into the store when it is
//! done.

use std::path::PathBuf;

use lab::boot::watch::Stage;
use lab::ranges::fold;
use lab::stop::Stop;
use model::data::Status;
use model::format::count;
use model::plan::{Plan, Takes, Via};

use super::follow::Follow;
use crate::cli::Global;
use crate::cli::lab::boot::BootArgs;
use crate::error::CliError;
use crate::fleet::score;
use crate::lookup::ids::short;
use crate::lookup::paths;
use crate::study::stop_signal::StopSignal;
use crate::{out, study};

/// Nodes that are measured at once.
const WIDTH: usize = 256;

/// A score that is wanted of every node.
pub struct Score {
    plan: Plan,
    store: PathBuf,
}

impl Score {
    /// Plans it, so that what cannot be measured is said before anything is done. `None` without `--score`.
    pub fn read(args: &BootArgs, global: &Global) -> Result<Option<Score>, CliError> {
        if !args.score {
            return match args.quick.given() {
                None => Ok(None),
                Some(flag) => Err(CliError::usage(format!(
                    "{flag} is of --score, which takes a quick score of each node"
                ))),
            };
        }
        let store = paths::store(global)?;
        let (plan, notes) = study::planned(&score::asked(&args.quick), &store)?;
        notes.iter().for_each(|note| out::say(&format!("note: {note}")));
        Ok(Some(Score { plan, store }))
    }

    /// The figures and takes, in words.
    fn shown(&self) -> String {
        let figures = count(self.plan.cells.len(), "figure");
        match &self.plan.takes {
            Takes::Fixed(takes) => format!("{figures}, {} each", count(*takes as usize, "take")),
            _ => figures,
        }
    }

    /// Measures the nodes that are up by these commands of `--via`, and gives the run of each. Fails where the store
    /// cannot be written.
    pub fn take(
        &self,
        follow: &mut Follow<'_>,
        ways: &[String],
        stop: &Stop,
    ) -> Result<Vec<Option<String>>, CliError> {
        let mut runs = vec![None; ways.len()];
        let via = |(place, way): (usize, &String)| {
            let track = follow.tracks.get(place).filter(|track| track.is_at(Stage::Inspected))?;
            Some((place, Via { name: track.name.clone(), command: Some(way.clone()) }))
        };
        let ready: Vec<(usize, Via)> = ways.iter().enumerate().filter_map(via).collect();
        if ready.is_empty() || stop.is_requested() {
            return Ok(runs);
        }
        out::say(&format!("score of {}: {}", count(ready.len(), "node"), self.shown()));
        let signal = StopSignal::listen_with_message("ended at once; scores that were shown are stored")?;
        let mut store = paths::create(&self.store)?;
        let mut stored = Ok(());
        let mut waiting: Vec<&(usize, Via)> = ready.iter().collect();
        follow.open_canvas();
        follow.draw(&measuring(&waiting));
        score::each(&ready, &self.plan, WIDTH, &signal, |place, result| {
            match result {
                Ok(run) if stored.is_ok() => {
                    stored = store.import(std::slice::from_ref(run), &[]).map(drop);
                    if let (Ok(()), Some(own)) = (&stored, runs.get_mut(*place)) {
                        *own = Some(run.head.id.clone());
                        match run.head.status {
                            Status::Complete => follow.reach(*place, Stage::Scored),
                            status => follow.fail(*place, &unwhole(&run.head.id, status)),
                        }
                    }
                }
                Ok(_) => {}
                Err(error) => follow.fail(*place, &format!("it has no score: {}", error.message)),
            }
            waiting.retain(|one| one.0 != *place);
            follow.draw(&measuring(&waiting));
        })?;
        follow.close_canvas();
        stored?;
        Ok(runs)
    }
}

/// The sentence about a score that is stored and lacks figures.
fn unwhole(run: &str, status: Status) -> String {
    format!("its score is {}: boxscore show {}", status.word(), short(run))
}

fn measuring(nodes: &[&(usize, Via)]) -> String {
    format!("measuring: {}", fold(nodes.iter().map(|(_, via)| via.name.as_str())))
}
