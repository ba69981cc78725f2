//! Documents that boxscore prints on nodes: each node's, or why it has none.

use lab::ssh::{Exit, Host};
use model::shell::word;
use serde::de::DeserializeOwned;

use super::on::{self, Nodes};
use crate::cli::lab::on::OnArgs;
use crate::error::CliError;
use crate::out;
use crate::study::stop_signal::StopSignal;

/// The documents of nodes, in the order of the expression.
pub struct Documents<T> {
    pub of: Vec<(Host, T)>,
    nodes: Nodes,
    /// False if a node answered with something else.
    is_whole: bool,
}

impl<T: DeserializeOwned> Documents<T> {
    /// Runs boxscore with these words on every node. Says of each node that has no document why. Fails where none has.
    pub fn ask(args: &OnArgs, words: &[&str]) -> Result<Documents<T>, CliError> {
        let stop = StopSignal::listen_with_message("ended at once")?;
        let nodes = on::ready(args, &stop)?;
        let mut documents = Documents { of: Vec::new(), nodes, is_whole: true };
        let words: Vec<String> = words.iter().map(|one| word(one)).collect();
        let command = |path: &str| format!("{} {}", word(path), words.join(" "));
        for outcome in documents.nodes.run(&stop, command)? {
            let why = match outcome.result {
                Ok(Exit::Code(0)) => match serde_json::from_slice(&outcome.stdout.bytes) {
                    Ok(document) => {
                        documents.of.push((outcome.host, document));
                        continue;
                    }
                    Err(error) => format!("what it printed is no document: {error}"),
                },
                Ok(Exit::Code(code)) => {
                    let said = String::from_utf8_lossy(&outcome.stderr.bytes).trim().to_owned();
                    format!("exit code {code}: {}", said.escape_debug())
                }
                Ok(Exit::Signal) => "it was killed by a signal".to_owned(),
                Err(failure) => failure.to_string(),
            };
            documents.is_whole = false;
            out::say(&format!("{}: no answer: {why}", outcome.host));
        }
        match documents.of.is_empty() {
            true => Err(CliError::data("no node answered").hint("the lines above say why")),
            false => Ok(documents),
        }
    }

    /// Ends the work on the nodes. The exit code is 3 where one of them gave no document.
    pub fn end(&self) -> Result<u8, CliError> {
        self.nodes.end(true)?;
        Ok(if self.is_whole { self.nodes.code(0) } else { crate::error::Kind::Faults.exit_code() })
    }
}
