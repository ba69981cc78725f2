//! The meter of cells of power, and how long a level is held: chosen where the user does not say.
//!
//! A reading that somebody types takes longer than one of a counter. A quick run holds levels for a shorter time.

use model::plan::TARGET_MARK;
use model::power::{COMMAND_FLAG, METER, Meter, TYPED_FLAG};
use model::{Card, Cell, Role, card};

use super::host::Host;
use super::settings::Settings;
use crate::cli::run::RunArgs;
use crate::error::CliError;
use crate::study::readings::has_terminal;

/// Seconds of a level: those of a quick run, and those in which somebody reads a meter.
const QUICK: &str = "3";
const QUICK_SETTLE: &str = "1";
const TYPED: &str = "30";
const QUICK_TYPED: &str = "16";

/// The command that prints watts. Fails where it is empty.
pub fn command(args: &RunArgs) -> Result<Option<String>, CliError> {
    match args.given.value(COMMAND_FLAG) {
        Some(text) if text.trim().is_empty() => {
            Err(CliError::usage(format!("--{COMMAND_FLAG} is empty"))
                .hint("give a command that prints watts"))
        }
        Some(text) if args.on.targets.len() > 1 && !text.contains(TARGET_MARK) => Err(CliError::usage(format!(
            "--{COMMAND_FLAG} would read the power of one machine for every target"
        ))
        .hint(format!("write {TARGET_MARK} where the command names it: 'ssh bmc-{TARGET_MARK} ipmitool dcmi power reading'"))),
        text => Ok(text.map(str::to_owned)),
    }
}

/// Chooses the meter and the times of cells of power, and says what it chose. Fails where there is no meter.
pub fn settle(
    cells: &mut [Cell],
    args: &RunArgs,
    settings: &Settings,
    host: &Host,
) -> Result<Vec<String>, CliError> {
    let mut notes = Vec::new();
    for cell in cells {
        let card = card::find(instruments::cards(), &cell.instrument);
        let Some(card) = card.filter(|card| matches!(card.role, Role::Power { .. })) else { continue };
        let is_free = |key: &str| !settings.fixes(card, key);
        if is_free(METER) && args.lab.have_bmcs {
            cell.params.set(METER, Meter::Bmc.word());
            notes
                .push("the BMCs of the nodes read the power (--set meter=rapl: their processors)".to_owned());
        }
        if cell.params.get(METER) == Some(Meter::Bmc.word()) && args.lab.on.is_empty() {
            return Err(CliError::usage("the meter bmc is of nodes").hint("--on EXPR names them"));
        }
        if is_free(METER) && lacks_rapl(card, cell, host) {
            if !has_terminal() {
                return Err(no_meter());
            }
            cell.params.set(METER, Meter::Typed.word());
            notes.push(
                "this machine has no RAPL that can be read: you are asked for the watts in each take"
                    .to_owned(),
            );
        }
        let is_typed = cell.params.get(METER) == Some(Meter::Typed.word());
        if cell.params.get(METER) == Some(Meter::Command.word()) && !args.given.has(COMMAND_FLAG) {
            return Err(CliError::usage("meter=command needs a command that prints watts")
                .hint(format!("--{COMMAND_FLAG} 'ipmitool dcmi power reading'")));
        }
        let (long, settled) = match (is_typed, args.usual.quick) {
            (true, true) => (Some(QUICK_TYPED), Some(QUICK_SETTLE)),
            (true, false) => (Some(TYPED), None),
            (false, true) => (Some(QUICK), Some(QUICK_SETTLE)),
            (false, false) => (None, None),
        };
        for (key, value) in [("duration", long), ("settle", settled)] {
            if let Some(value) = value.filter(|_| is_free(key)) {
                cell.params.set(key, value);
            }
        }
    }
    notes.dedup();
    Ok(notes)
}

/// True where RAPL would be read and this machine, which is the one that is measured, does not have it.
fn lacks_rapl(card: &Card, cell: &Cell, host: &Host) -> bool {
    let is_rapl = cell.params.get(METER).or_else(|| card.param(METER).map(|spec| spec.default));
    is_rapl == Some(Meter::Rapl.word())
        && host.setup.is_some()
        && instruments::workload::levels::rapl::Rapl::open().is_err()
}

fn no_meter() -> CliError {
    let why =
        instruments::workload::levels::rapl::Rapl::open().err().map_or_else(String::new, |unfit| unfit.why);
    CliError::usage(format!("nothing to read the power by: {why}")).hint(format!(
        "boxscore run ... --{COMMAND_FLAG} 'ipmitool dcmi power reading', or --{TYPED_FLAG} - with a reading a line"
    ))
}
