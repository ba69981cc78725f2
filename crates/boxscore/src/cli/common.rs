//! Arguments that several verbs share.

use std::path::PathBuf;

use model::data::Price;

use crate::error::CliError;

/// Flags of every verb.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Global {
    /// Database file [default: that of the environment's BOXSCORE_STORE, else boxscore/store.db in the XDG data
    /// directory]
    // Not read by the parser: it would call the variable an argument that was given.
    #[arg(long, global = true, value_name = "FILE")]
    pub store: Option<PathBuf>,
    /// Print one JSON document on stdout
    #[arg(long, global = true)]
    pub json: bool,
    /// Use colour: auto, always or never (NO_COLOR is obeyed)
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_default_value = true)]
    pub color: Color,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

/// Layout in which figures are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Layout {
    #[default]
    Text,
    /// RAMCloud's clusterperf layout, for runs of key-value stores alone
    Clusterperf,
}

/// Parses a price: `0.192/h` is hourly, `429` is bought. Fails for anything that is no number above 0.
pub fn parse_price(text: &str, currency: &str) -> Result<Price, CliError> {
    let (number, hourly) = match text.trim().strip_suffix("/h") {
        Some(number) => (number, true),
        None => (text.trim(), false),
    };
    match number.trim().parse::<f64>() {
        Ok(amount) if amount.is_finite() && amount > 0.0 => {
            Ok(Price { amount, hourly, currency: currency.to_owned() })
        }
        _ => Err(CliError::usage(format!("--price {text}: not a price"))
            .hint("write 0.192/h (hourly) or 429 (bought)")),
    }
}
