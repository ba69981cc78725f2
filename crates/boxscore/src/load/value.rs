//! Values of flags of `load` as the parameters of a load, in the spelling of its card.

use instruments::workload::kv_load::{self};
use instruments::workload::web::{self};
use model::{Instrument, ParamKind};

use crate::error::CliError;

/// The value of a flag as its parameter spells it. Fails when the card does not allow it; `flag` is for the error.
pub fn value(flag: &str, key: &str, text: &str) -> Result<String, CliError> {
    // Parameters that both kinds of load have are the same.
    let spec = web::INSTRUMENT.card().param(key).or_else(|| kv_load::INSTRUMENT.card().param(key));
    let spec = spec.ok_or_else(|| CliError::usage(format!("{flag}: a load has no {key}")))?;
    // Leaving the flag out is how "not given" is written.
    let kind = match spec.kind {
        ParamKind::Or(_, kind) => *kind,
        kind => kind,
    };
    let wrong = || CliError::usage(format!("{flag} {text} is not possible: {}", kind.wanted()));
    kind.canonical(text).ok_or_else(wrong)
}

pub fn number(flag: &str, key: &str, text: &str) -> Result<u64, CliError> {
    let number = value(flag, key, text)?;
    number.parse().map_err(|_| CliError::usage(format!("{flag} {text} is not a whole number")))
}
