//! `boxscore lab`: many hosts at once. The work is in the crate `lab`; here are arguments, documents and exit codes.

mod copy;
mod reach;
mod run;

use crate::cli::Global;
use crate::cli::lab::{Lab, LabArgs};
use crate::error::CliError;

pub fn run(args: &LabArgs, global: &Global) -> Result<u8, CliError> {
    match &args.what {
        Lab::Run(args) => run::run(args, global),
        Lab::Push(args) => copy::push(args, global),
        Lab::Pull(args) => copy::pull(args, global),
    }
}
