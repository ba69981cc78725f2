//! Arguments that several verbs share.

use std::path::PathBuf;

use model::data::Price;
use model::{Note, NoteBody};

use crate::error::CliError;

/// Flags of every verb.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Global {
    /// Database file, or the URL of a PostgreSQL database [default: that of the environment's BOXSCORE_STORE, else
    /// boxscore/store.db in the XDG data directory]
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

/// A price as the user gave it.
#[derive(Clone, Debug, PartialEq)]
pub struct Quoted {
    pub price: Price,
    /// The words for a band, of which the price is the middle.
    pub band: Option<String>,
}

/// Says in a run that its price is the middle of a band.
pub fn price_note(band: &str) -> Note {
    Note::of_run(NoteBody::User(format!("the price is {band}")))
}

/// Fails for a power that is not above 0.
pub fn check_watts(watts: f64) -> Result<f64, CliError> {
    if watts.is_finite() && watts > 0.0 {
        return Ok(watts);
    }
    Err(CliError::usage(format!("--watts {watts}: must be above 0")))
}

/// Parses a price: `0.192/h` is hourly, `429` is bought, `2000..2500` and `2000-2500` are bands. Fails for anything
/// that is no number above 0.
pub fn parse_price(text: &str, currency: &str) -> Result<Quoted, CliError> {
    let (amounts, hourly) = match text.trim().strip_suffix("/h") {
        Some(amounts) => (amounts, true),
        None => (text.trim(), false),
    };
    let wrong = |what: &str| {
        CliError::usage(format!("--price {text}: {what}"))
            .hint("write 0.192/h (hourly), 429 (bought) or 2000..2500 (a band, whose middle counts)")
    };
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|one| one.is_finite() && *one > 0.0);
    let quoted = |amount: f64| Price { amount, hourly, currency: currency.to_owned() };
    if let Some(amount) = number(amounts) {
        return Ok(Quoted { price: quoted(amount), band: None });
    }
    let ends = amounts.split_once("..").or_else(|| amounts.split_once('-'));
    let ends = ends.map(|(low, high)| (low.trim().trim_end_matches("/h"), high));
    match ends.and_then(|(low, high)| number(low).zip(number(high))) {
        None => Err(wrong("not a price")),
        Some((low, high)) if low > high => Err(wrong("the band ends below its beginning")),
        Some((low, high)) => {
            let band = Some(format!("the middle of {low}..{high}"));
            Ok(Quoted { price: quoted(f64::midpoint(low, high)), band })
        }
    }
}
