//! Arguments that several verbs share.

use std::path::PathBuf;

use model::data::Price;
use model::decision::{self, PriceText, Term};
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
    /// The words for a band, of which the price is the middle, and for a rent that is not by the hour.
    pub band: Option<String>,
}

/// Says in a run how its price was given.
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

/// Parses a price: `0.192/h`, `95/month` and `1200/y` are rents, which are kept by the hour; `429` is bought,
/// `2000..2500` and `2000-2500` are bands. Fails for anything that is no number above 0.
pub fn parse_price(text: &str, currency: &str) -> Result<Quoted, CliError> {
    let PriceText { amount, term } = decision::parse_price(text.trim()).ok_or_else(|| {
        let what = if ends_below(text) { "the band ends below its beginning" } else { "not a price" };
        CliError::usage(format!("--price {text}: {what}"))
            .hint("write 0.192/h, 35/month, 1200/y, 429 (bought) or 2000..2500 (a band, whose middle counts)")
    })?;
    let hourly = term.per_hour();
    let middle = if amount.low < amount.high { "the middle of " } else { "" };
    let is_as_given = middle.is_empty() && matches!(term, Term::Once | Term::Hour);
    let band = (!is_as_given).then(|| {
        let ends = if middle.is_empty() {
            amount.low.to_string()
        } else {
            format!("{}..{}", amount.low, amount.high)
        };
        format!("{middle}{ends} {currency}{}", term.suffix())
    });
    let amount = f64::midpoint(amount.low, amount.high) * hourly.unwrap_or(1.0);
    Ok(Quoted { price: Price { amount, hourly: hourly.is_some(), currency: currency.to_owned() }, band })
}

/// True for a band of two numbers, the larger one first.
fn ends_below(text: &str) -> bool {
    let amounts = text.split('/').next().unwrap_or(text);
    let ends = amounts.split_once("..").or_else(|| amounts.split_once('-'));
    let number = |text: &str| text.trim().parse::<f64>().ok();
    ends.and_then(|(low, high)| Some(number(low)? > number(high)?)).unwrap_or(false)
}
